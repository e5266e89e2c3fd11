# SPDX-License-Identifier: Apache-2.0
"""Programs of legacy copies: the ``set_*`` ops that a copy needs, and a few more.

The registers persist from copy to copy and from block to block (docs/spec/ambiguities.md, A-09), so
a copy with the same loops as the one before needs no ``set_*`` op at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sequences.draw.moves import Moves
from sequences.draw.shapes import Ints
from sequences.place.allocator import Places
from tb.isa.burst.table import BLOCK_UNIT
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacyOp,
    LoopRegisters,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.table import GM_STRIDE_BITS, LOCAL_STRIDE_BITS, LOOP_COUNT_BITS
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, PAD_DTYPES, Ptr
from tb.isa.spaces import UB_BLOCK

_GM = tuple(Ptr(dtype, "gm") for dtype in DTYPES)
_UB = tuple(Ptr(dtype, "ub") for dtype in DTYPES)

KEEP = 0.75
"""Chance that a loop of count 1 takes its strides from the registers instead of setting them."""

REDUNDANT = 0.08
"""Chance of a ``set_*`` op that writes the value the register already holds."""

FOREIGN = 0.06
"""Chance of a ``set_*`` op on the registers of the other direction."""

_NAMES = (
    "ext_addr", "loc_addr", "len", "n_burst", "ext_stride", "loc_stride", "loop0_count",
    "loop1_count", "loop0_ext_stride", "loop0_loc_stride", "loop1_ext_stride", "loop1_loc_stride",
    "pad_en", "pad_left", "pad_right", "pad_value", "l2", "ub_sub",
)  # fmt: skip


class RegisterFile:
    """The registers after the program so far, and the programs built on them."""

    def __init__(self) -> None:
        # Counts, then strides of loops 1 and 2 as (src, dst); reset values of A-09.
        self._counts: dict[str, tuple[int, int]] = {OUTTOUB: (1, 1), UBTOOUT: (1, 1)}
        self._strides: dict[str, list[tuple[int, int]]] = {
            OUTTOUB: [(0, 0), (0, 0)],
            UBTOOUT: [(0, 0), (0, 0)],
        }
        self._pad = 0

    @property
    def registers(self) -> DmaRegisters:
        """The registers in the form of :mod:`tb.isa.dma.legacy`."""
        sets = [
            LoopRegisters(self._counts[side], (self._strides[side][0], self._strides[side][1]))
            for side in (OUTTOUB, UBTOOUT)
        ]
        return DmaRegisters(sets[0], sets[1], self._pad)

    def programs(
        self,
        rng: np.random.Generator,
        index: Ints,
        columns: dict[str, Ints],
        store: NDArray[np.bool_],
        dtype: Ints,
        pad_dtype: Ints,
    ) -> dict[int, tuple[LegacyOp, ...]]:
        """Returns op number to program for the ops ``index``, in program order.

        Strides of loops that take no step, and pad values that the registers already hold, are
        copied into ``columns``.
        """
        if not len(index):
            return {}
        chances = rng.random((len(index), 8)).tolist()
        names = _NAMES
        rows = np.stack([columns[name][index] for name in names], axis=1).tolist()
        types = zip(
            store[index].tolist(), dtype[index].tolist(), pad_dtype[index].tolist(), strict=True
        )
        strides: list[tuple[int, int, int, int]] = []
        pads: list[int] = []
        programs: dict[int, tuple[LegacyOp, ...]] = {}
        for number, row, (is_store, elem, pad_type), chance in zip(
            index.tolist(), rows, types, chances, strict=True
        ):
            side = UBTOOUT if is_store else OUTTOUB
            program: list[LegacyOp] = []
            if chance[0] < FOREIGN:
                program.append(self._foreign(rng, OUTTOUB if is_store else UBTOOUT))
            ext0, loc0, ext1, loc1 = row[8:12]
            wanted = [(loc0, ext0), (loc1, ext1)] if is_store else [(ext0, loc0), (ext1, loc1)]
            held = self._set_loops(program, side, (row[6], row[7]), wanted, chance)
            (src0, dst0), (src1, dst1) = held
            strides.append((dst0, src0, dst1, src1) if is_store else (src0, dst0, src1, dst1))
            pad = row[15]
            if row[12] or row[13] or row[14]:
                pad = self._set_pad(program, DTYPES[pad_type], pad, chance)
            pads.append(pad)
            sid = 0 if chance[4] < 0.9 else int(chance[5] * 16)
            if is_store:
                program.append(
                    CopyUbufToGm(
                        row[1], row[0], sid, row[3], row[2], row[16], row[4], row[5],
                        _UB[elem], _GM[elem], row[17],
                    )
                )  # fmt: skip
            else:
                program.append(
                    CopyGmToUbuf(
                        row[0], row[1], sid, row[3], row[2], row[13], row[14], row[12], row[16],
                        row[4], row[5], _GM[elem], _UB[elem], row[17],
                    )
                )  # fmt: skip
            programs[number] = tuple(program)
        if strides:
            table = np.array(strides, dtype=np.int64)
            for column, name in enumerate(names[8:12]):
                columns[name][index] = table[:, column]
            columns["pad_value"][index] = pads
        return programs

    def _set_loops(
        self,
        program: list[LegacyOp],
        side: str,
        counts: tuple[int, int],
        wanted: list[tuple[int, int]],
        chance: list[float],
    ) -> list[tuple[int, int]]:
        if self._counts[side] != counts or chance[1] < REDUNDANT:
            program.append(SetLoopSize(side, *counts))
            self._counts[side] = counts
        held = self._strides[side]
        for level in (0, 1):
            if counts[level] <= 1 and chance[2 + level] < KEEP:
                continue
            if held[level] != wanted[level] or chance[6] < REDUNDANT:
                program.append(SetLoopStride(side, level + 1, *wanted[level]))
                held[level] = wanted[level]
        return list(held)

    def _set_pad(self, program: list[LegacyOp], dtype: str, value: int, chance: list[float]) -> int:
        mask = (1 << 8 * ELEMENT_BYTES[dtype]) - 1
        if chance[7] < 0.4:
            return self._pad & mask
        program.append(SetMovPadVal(dtype, value))
        self._pad = value
        return value

    def _foreign(self, rng: np.random.Generator, side: str) -> LegacyOp:
        kind = int(rng.integers(0, 4))
        if kind == 0:
            counts = tuple(int(x) for x in rng.integers(0, 1 << LOOP_COUNT_BITS, 2))
            self._counts[side] = (counts[0], counts[1])
            return SetLoopSize(side, *counts)
        if kind == 3:
            dtype = PAD_DTYPES[int(rng.integers(0, len(PAD_DTYPES)))]
            self._pad = int(rng.integers(0, 1 << 8 * ELEMENT_BYTES[dtype]))
            return SetMovPadVal(dtype, self._pad)
        bits = (GM_STRIDE_BITS, LOCAL_STRIDE_BITS)
        if side == UBTOOUT:
            bits = (LOCAL_STRIDE_BITS, GM_STRIDE_BITS)
        pair = (int(rng.integers(0, 1 << bits[0])), int(rng.integers(0, 1 << bits[1])))
        self._strides[side][kind - 1] = pair
        return SetLoopStride(side, kind, *pair)


def ubuf_copies(
    rng: np.random.Generator,
    moves: Moves,
    placed: Places,
    mine: NDArray[np.bool_],
    *,
    always: bool,
) -> dict[int, tuple[LegacyOp, ...]]:
    """Writes the ``mte_ub_ub`` of ``mine`` as ``copy_ubuf_to_ubuf``: bytes and strides (A-15).

    Lengths of 16 bits in bytes hold fewer blocks than lengths in blocks do. An op that is longer
    becomes shorter with ``always``, and keeps its v0.6 form without.
    """
    x = moves.columns
    most = (1 << 16) // BLOCK_UNIT
    if always and mine.any():
        x["len"][mine] = np.minimum(x["len"][mine], most - 1)
    index = np.flatnonzero(mine)
    if not len(index):
        return {}
    longest = (x["n_burst"][index] == 0) & (rng.random(len(index)) < 0.3)
    x["len"][index[longest]] = most - 1
    index = index[x["len"][index] < most]
    length = x["len"][index] * BLOCK_UNIT
    lone = x["n_burst"][index] <= 1
    limit = ((1 << LOCAL_STRIDE_BITS) - 1) // UB_BLOCK * UB_BLOCK
    strides = []
    for name in ("src_gap", "dst_gap"):
        stride = np.minimum(length + x[name][index] * BLOCK_UNIT, limit)
        # With one burst the strides are not used, may hold anything, and the gaps are 0.
        x[name][index] = np.where(lone, 0, (stride - length) // BLOCK_UNIT)
        bits = np.where(rng.random(len(index)) < 0.5, 7, LOCAL_STRIDE_BITS)
        anything = rng.integers(0, np.left_shift(1, bits))
        strides.append(np.where(lone, anything, stride).tolist())
    sids = np.where(rng.random(len(index)) < 0.9, 0, rng.integers(0, 16, len(index)))
    rows = zip(
        index.tolist(), placed.read[index].tolist(), placed.write[index].tolist(),
        sids.tolist(), x["n_burst"][index].tolist(), length.tolist(), *strides,
        moves.dtype[index].tolist(), placed.ub_sub[index].tolist(), strict=True,
    )  # fmt: skip
    return {
        number: (CopyUbufToUbuf(src, dst, sid, n, size, ss, ds, _UB[t], _UB[t], sub),)
        for number, src, dst, sid, n, size, ss, ds, t, sub in rows
    }
