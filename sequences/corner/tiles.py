# SPDX-License-Identifier: Apache-2.0
"""Write-backs of a few operands, side by side in blocks with the data that they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from sequences.blocks import block_of, lower_program
from sequences.constraints import FB_SIZE, FIX_NAMES, L0C_SIZE
from sequences.corner.spots import up
from sequences.fixpipe.data import Pools
from sequences.fixpipe.parameters import Records, offset_bits
from sequences.fixpipe.plain_ops import ALPHAS, MAKERS, space_of
from sequences.fixpipe.tiles import draw_tile, tile_of
from tb.isa.block import Fill, OpBlock
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    FbPtr,
    FixOp,
    MteL0cUb,
    PreQuant,
    Scalar,
)
from tb.isa.fix.table import (
    DST_BITS,
    DST_CODES,
    FLAG_BLOCK,
    QUANT_BY_CODE,
)
from tb.isa.footprint import destinations, source
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.spaces import SEGMENTS, SIZES, UB_BLOCK, Space

GM_ORIGIN = 1 << 20
BLOCK_OPS = 32
"""Most corners in a block."""

_HALF = Scalar("f32", 0x3F000000)
Wish = tuple[int, int]
"""Modulus and residue of a GM address."""

RECORDS: dict[int, int] = {9: 0, 17: FB_SIZE // 2, 5: FB_SIZE * 3 // 4}
"""Width of an offset to the place of the records made for it, up to the next one or the end."""

ANY: Wish = (1, 0)
Corner = tuple[FixOp, Wish]


def bits_of(dtype: str) -> int:
    """Returns the bits of an element at the destination."""
    return DST_BITS[DST_CODES[dtype]]


def tile(
    form: str, m: int, n: int, code: int = 0, dtype: str = "f32", acc: str = "f32", **parts: Any
) -> FixOp:
    """Returns a write-back at address 0 with tight source and rows as close as they may be.

    Args:
        form: Name of the op.
        m: Rows.
        n: Columns.
        code: pre_quant code; parameters of vector modes are those of ``RECORDS``, scalars are 0.5.
        dtype: Destination type.
        acc: Accumulator type.
        parts: Other operands and clauses.
    """
    mode = QUANT_BY_CODE[code]
    quant = None
    if code:
        records = FbPtr("f32", RECORDS[offset_bits(mode.narrow)])
        quant = PreQuant(mode.name, records if mode.vector else _HALF)
    step = parts.get("k") or 1
    layout = parts.get("layout", "")
    row = m if layout == "nz2dn" else n
    if layout == "nz2nz":
        row = m * (8 if parts.get("split") else 16)
    unit = 1 if form == FIX_NAMES[0] else UB_BLOCK * 8 // bits_of(dtype)
    parts.setdefault("dst_stride", up(row, max(unit, 2 if bits_of(dtype) == 4 else 1)))
    parts.setdefault("src_stride", up((m - 1) * step + 1, 16))
    return MAKERS[form](
        0, 0, m, n, pre_quant=quant, src_type=Ptr(acc, "l0c"), dst_type=Ptr(dtype, form[-2:]),
        **parts,
    )  # fmt: skip


class Builder:
    """Makes blocks of ops and their source data."""

    def __init__(self, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self._pools = Pools(rng)
        self._random = Random(seed)
        records = Records(rng)
        self._image = np.zeros(SIZES[Space.FB] // 4, dtype=np.uint32)
        for width, start in RECORDS.items():
            end = min((at for at in RECORDS.values() if at > start), default=FB_SIZE)
            self._image[start // 4 : end // 4] = records.quant[width].view(np.uint32)[
                : (end - start) // 4
            ]
        self._image[ALPHAS // 4 :] = records.alpha[: FB_SIZE // 4]

    def block(
        self,
        ops: Sequence[FixOp],
        after: Sequence[int] = (),
        delay: Sequence[int] = (),
        ctrl: Sequence[int] = (),
    ) -> OpBlock:
        """Returns a block of ops at the addresses they have, each issued with its CTRL."""
        image = self._image.view(np.uint8)
        fills = [
            Fill(Space.FB, part.start, image[part.start : part.stop]) for part in SEGMENTS[Space.FB]
        ]
        filled: set[tuple[int, int]] = set()
        values = ctrl or [0] * len(ops)
        made = [lower(op, value) for op, value in zip(ops, values, strict=True)]
        live = [desc for desc in made if not desc.is_nop]
        # Large tiles first: small ones may be parts of them.
        live.sort(key=lambda desc: source(desc).base - source(desc).end)
        for desc in live:
            side = source(desc)
            if (side.base, side.end) not in filled and not any(
                low < side.end and side.base < high for low, high in filled
            ):
                filled.add((side.base, side.end))
                data = draw_tile(tile_of(desc, self._image), self._pools, self._random)
                fills.append(Fill(Space.L0C, side.base, data))
            if desc.atomic_type and not any(
                f.space is Space.GM and f.start == desc.dst_addr for f in fills
            ):
                pool = self._pools.old[desc.atomic_type].view(np.uint8)
                write = destinations(desc)[0]
                fills.append(Fill(Space.GM, write.base, pool[: write.end - write.base]))
        programs = [
            (SetCtrl(value), op, SetCtrl(0)) if value else (op,)
            for op, value in zip(ops, values, strict=True)
        ]
        block = block_of([lower_program(each, DmaRegisters())[0] for each in programs])
        waits = np.array(after or [-1] * len(ops), dtype=np.int64)
        late = np.array(delay or [-1] * len(ops), dtype=np.int64)
        plain = OpBlock(
            block.opcode, block.columns, block.dtype, block.pad_dtype, block.gap, waits,
            block.legacy, expected_rule=block.expected_rule,
        )  # fmt: skip
        return replace(plain, fills=tuple(fills), flag_delay=late)

    def packed(self, corners: Iterable[Corner], ctrls: Iterable[int] = ()) -> Iterator[OpBlock]:
        """Places ops side by side, up to ``BLOCK_OPS`` in a block, each with its CTRL or 0."""
        ops: list[FixOp] = []
        values = iter(ctrls)
        ctrl: list[int] = []
        src, dst = 0, {"gm": GM_ORIGIN, "l1": 0, "ub": 0}
        for op, (modulus, residue) in corners:
            desc = lower(op)
            read = up(source(desc).end, FLAG_BLOCK)
            written = destinations(desc)
            write, size = max(side.end for side in written), SIZES[written[0].space]
            space = space_of(op)
            full = space != "gm" and dst[space] + write > size
            if len(ops) == BLOCK_OPS or src + read > L0C_SIZE or full:
                yield self.block(ops, ctrl=ctrl)
                ctrl = []
                ops, src, dst = [], 0, {"gm": GM_ORIGIN, "l1": 0, "ub": 0}
            base = dst[space]
            if space == "gm":
                base += 4 if modulus == 1 and len(ops) % 2 else 0
                base = up(base, 4 if modulus == 1 else 1)
                base += (residue - base) % modulus
            op = replace(op, src=src, dst=base)
            if isinstance(op, MteL0cUb) and not op.ub_split:
                op = replace(op, sub_block=len(ops) % 2)
            ops.append(op)
            ctrl.append(next(values, 0))
            src += read
            dst[space] = base + (write if space == "gm" else up(write, UB_BLOCK))
        if ops:
            yield self.block(ops, ctrl=ctrl)
