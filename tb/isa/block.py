# SPDX-License-Identifier: Apache-2.0
"""Blocks of DMA ops as columns: what sequences draw and drivers pack, thousands at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tb.isa.descriptor import field_values, pack, pack_columns
from tb.isa.dma import DmaDescriptor, Loop, MteGmUb, MteUbGm, Pad, lower
from tb.isa.dma_table import DMA_LAYOUT, MAX_LOOPS, MTE_GM_UB
from tb.isa.dtypes import DTYPE_INDEX, DTYPES, Ptr
from tb.isa.legacy import LegacyOp
from tb.isa.ops import OPS_BY_CODE, SLOTS

SLOT_OF_OPCODE: dict[int, int] = {
    code: SLOTS.index(spec.slot) for code, spec in OPS_BY_CODE.items()
}
"""Slot number of each opcode."""

_GM = tuple(Ptr(dtype, "gm") for dtype in DTYPES)
_UB = tuple(Ptr(dtype, "ub") for dtype in DTYPES)
_COMMON = (
    "ext_addr", "loc_addr", "len", "n_burst", "ext_stride", "loc_stride", "n_loops", "l2", "ub_sub",
)  # fmt: skip
_Operands = tuple[int, ...]
_Lists = Mapping[str, list[int]]
_LOOP_NAMES = tuple(
    (f"loop{k}_count", f"loop{k}_ext_stride", f"loop{k}_loc_stride") for k in range(MAX_LOOPS)
)


@dataclass(frozen=True)
class OpBlock:
    """N ops of the strided DMA family in program order.

    Attributes:
        opcode: ``int64[N]``.
        columns: Name of a ``DMA_LAYOUT`` field to ``int64[N]``, every field present.
        dtype: ``int64[N]``, element type as an index into ``DTYPES``.
        pad_dtype: ``int64[N]``, type of the pad value as an index; any where padding is off.
        gap: ``int64[N]`` clocks of idle before the descriptor is offered.
        after: ``int64[N]`` index of an earlier op of this block that must have retired before
            this one is offered, or -1. Ops of one slot retire in order anyway.
        legacy: Index of an op to its legacy form: the ``set_*`` ops before it and the copy.
            Its columns then hold the lowered descriptor.
        descriptors: Index of an op to the descriptor to pack instead of its columns, for
            values that exceed a container (illegal ops).
        expected_rule: ``int64[N]``, number of the D rule the op breaks, 0 when legal.
    """

    opcode: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.int64]]
    dtype: NDArray[np.int64]
    pad_dtype: NDArray[np.int64]
    gap: NDArray[np.int64]
    after: NDArray[np.int64]
    legacy: Mapping[int, tuple[LegacyOp, ...]] = field(default_factory=dict)
    descriptors: Mapping[int, DmaDescriptor] = field(default_factory=dict)
    expected_rule: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.opcode)

    @property
    def slot(self) -> NDArray[np.int64]:
        """Slot number of each op, ``int64[N]``."""
        table = np.full(max(SLOT_OF_OPCODE) + 1, -1, dtype=np.int64)
        for code, slot in SLOT_OF_OPCODE.items():
            table[code] = slot
        return table[self.opcode]

    def pack(self) -> NDArray[np.uint32]:
        """Returns the descriptors, ``uint32[N, 16]``."""
        if not self.descriptors:
            return pack_columns(self.opcode, self.columns, DMA_LAYOUT)
        safe = {
            name: np.minimum(column, DMA_LAYOUT[name].field.limit)
            for name, column in self.columns.items()
        }
        words = pack_columns(self.opcode, safe, DMA_LAYOUT)
        for index, descriptor in self.descriptors.items():
            words[index] = pack(descriptor)
        return words

    def take(self, start: int, stop: int) -> OpBlock:
        """Returns ops ``start`` to ``stop - 1`` as a block; ``after`` is made relative to it.

        Raises:
            ValueError: an op waits for one before ``start``, which the new block cannot name.
        """
        after = self.after[start:stop].copy()
        named = after >= 0
        if (after[named] < start).any():
            raise ValueError(f"ops {start}..{stop - 1} wait for an op before {start}")
        after[named] -= start
        return OpBlock(
            self.opcode[start:stop],
            {name: column[start:stop] for name, column in self.columns.items()},
            self.dtype[start:stop],
            self.pad_dtype[start:stop],
            self.gap[start:stop],
            after,
            {k - start: ops for k, ops in self.legacy.items() if start <= k < stop},
            {k - start: desc for k, desc in self.descriptors.items() if start <= k < stop},
            None if self.expected_rule is None else self.expected_rule[start:stop],
        )

    def program(self) -> list[tuple[MteGmUb | MteUbGm | LegacyOp, ...]]:
        """Returns per op what was written in the program: one v0.6 op, or a legacy sequence."""
        lists = {name: column.tolist() for name, column in self.columns.items()}
        common = zip(*(lists[name] for name in _COMMON), strict=True)
        types = zip(self.opcode.tolist(), self.dtype.tolist(), strict=True)
        program: list[tuple[MteGmUb | MteUbGm | LegacyOp, ...]] = []
        for index, ((opcode, dtype), operands) in enumerate(zip(types, common, strict=True)):
            legacy = self.legacy.get(index)
            if legacy is not None:
                program.append(legacy)
            elif opcode == MTE_GM_UB.opcode:
                program.append((self._load(index, dtype, operands, lists),))
            else:
                program.append((_store(index, dtype, operands, lists),))
        return program

    def _load(self, index: int, dtype: int, operands: _Operands, lists: _Lists) -> MteGmUb:
        gm, ub, length, rows, gm_stride, ub_stride, n_loops, l2, ub_sub = operands
        loops: tuple[Loop, ...] = ()
        if n_loops:
            loops = tuple(
                [
                    Loop(lists[count][index], lists[ext][index], lists[loc][index])
                    for count, ext, loc in _LOOP_NAMES[:n_loops]
                ]
            )
        pad = None
        if lists["pad_en"][index]:
            pad = Pad(
                DTYPES[self.pad_dtype[index]],
                lists["pad_value"][index],
                lists["pad_left"][index],
                lists["pad_right"][index],
            )
        return MteGmUb(
            gm, ub, length, rows, gm_stride, ub_stride, loops, pad, l2, _GM[dtype], _UB[dtype],
            ub_sub,
        )  # fmt: skip


def _store(index: int, dtype: int, operands: _Operands, lists: _Lists) -> MteUbGm:
    gm, ub, length, rows, gm_stride, ub_stride, n_loops, l2, ub_sub = operands
    loops: tuple[Loop, ...] = ()
    if n_loops:
        loops = tuple(
            [
                Loop(lists[count][index], lists[loc][index], lists[ext][index])
                for count, ext, loc in _LOOP_NAMES[:n_loops]
            ]
        )
    return MteUbGm(
        ub, gm, length, rows, ub_stride, gm_stride, loops, l2, _UB[dtype], _GM[dtype], ub_sub
    )


def from_descriptors(
    descriptors: Sequence[DmaDescriptor],
    *,
    legacy: Mapping[int, tuple[LegacyOp, ...]] | None = None,
    dtypes: Sequence[str] | None = None,
    pad_dtypes: Sequence[str] | None = None,
    expected_rule: Sequence[int] | None = None,
) -> OpBlock:
    """Builds a block from descriptors, legal or not; no gaps, no waits.

    ``dtypes`` defaults to the integer type of each element size. Illegal v0.6 ops whose
    operands exceed their containers keep their exact values in ``columns`` and ``descriptors``.
    """
    count = len(descriptors)
    values = [field_values(desc) for desc in descriptors]
    columns = {
        name: np.array([min(value[name], 2**62) for value in values], dtype=np.int64)
        for name in DMA_LAYOUT
    }
    names = dtypes or [f"i{8 * desc.elem_bytes}" for desc in descriptors]
    pads = pad_dtypes or names
    index = [DTYPE_INDEX[name] for name in names]
    return OpBlock(
        np.array([desc.spec.opcode for desc in descriptors], dtype=np.int64),
        columns,
        np.array(index, dtype=np.int64),
        np.array([DTYPE_INDEX[name] for name in pads], dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.full(count, -1, dtype=np.int64),
        dict(legacy or {}),
        dict(enumerate(descriptors)),
        None if expected_rule is None else np.array(expected_rule, dtype=np.int64),
    )


def from_ops(ops: Sequence[MteGmUb | MteUbGm], **kwargs: Sequence[int] | None) -> OpBlock:
    """Builds a block from v0.6 ops in program order; no gaps, no waits."""
    pads = [op.pad.dtype if isinstance(op, MteGmUb) and op.pad else op.src_type.dtype for op in ops]
    return from_descriptors(
        [lower(op) for op in ops],
        dtypes=[op.src_type.dtype for op in ops],
        pad_dtypes=pads,
        expected_rule=kwargs.get("expected_rule"),
    )
