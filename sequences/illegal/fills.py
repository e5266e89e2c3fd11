# SPDX-License-Identifier: Apache-2.0
"""Every D rule of the fill of L1 broken in many ways, and legal ops at the limits."""

from __future__ import annotations

from functools import partial

import numpy as np

from sequences.blocks import Op
from sequences.constraints import L1_SIZE
from sequences.illegal.cases import Break, Case, chain, changed, make_cases, put, shift, too_wide
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.fill.op import COUNT_BITS, RAW_BITS, WORD_BITS, RawFillL1
from tb.isa.spaces import UB_BLOCK

MOST = (1 << COUNT_BITS) - 1
WIDTH, ALIGNMENT, BOUNDS = 2, 3, 4
"""Rules by number (spec/dma.md, section 9)."""

_COUNTS = ("repeat", "blocks", "gap")


def _base(rng: np.random.Generator) -> RawFillL1:
    """Returns a small legal fill in which every operand matters."""
    first = UB_BLOCK * int(rng.integers(8, 4096))
    offset = int(rng.integers(0, 200))
    repeat, blocks, gap = (int(x) for x in rng.integers(2, 5, 3))
    kind = Ptr(str(rng.choice(list(DTYPES))), "l1")
    raw, bits = int(rng.integers(0, 1 << RAW_BITS)), int(rng.choice(WORD_BITS))
    return RawFillL1(first - offset, offset, raw, repeat, blocks, gap, bits, kind)


def _ends(op: RawFillL1, over: int) -> RawFillL1:
    """Returns the op with its last block ``over`` bytes past the end of L1."""
    span = ((op.repeat - 1) * (op.blocks + op.gap) + op.blocks) * UB_BLOCK
    return changed(op, dst=L1_SIZE - span + over - op.byte_offset)


def _breaks() -> list[Break]:
    found = too_wide([*((name, COUNT_BITS) for name in _COUNTS), ("raw", RAW_BITS)], WIDTH)
    for name, other in (("blocks", "repeat"), ("gap", "repeat"), ("repeat", "blocks")):
        nop = chain(put(name, MOST + 1), put(other, 0))
        found.append(Break(f"{name} too wide, no {other}", WIDTH, nop))
    for offset in (-1, -UB_BLOCK, -(1 << 24), -(1 << 63)):
        found.append(Break(f"byte_offset {offset}", WIDTH, put("byte_offset", offset)))
    nop = chain(put("byte_offset", -UB_BLOCK), put("repeat", 0))
    found.append(Break("byte_offset -32, no repeats", WIDTH, nop))
    for by in (1, 2, 8, 16, 31):
        for name in ("dst", "byte_offset"):
            found.append(Break(f"{name} + {by}", ALIGNMENT, shift(name, by)))
        nop = chain(shift("dst", by), put("blocks", 0))
        found.append(Break(f"dst + {by}, no blocks", ALIGNMENT, nop))
    found.append(Break("both + 8", ALIGNMENT, chain(shift("dst", 8), shift("byte_offset", 8))))
    for name in ("dst", "byte_offset"):
        for far in (L1_SIZE, 1 << 24, (1 << 32) + 64, 1 << 61):  # columns end at 1 << 62
            found.append(Break(f"{name} {far:#x} further", BOUNDS, shift(name, far)))
    halves = chain(put("dst", L1_SIZE // 2), put("byte_offset", L1_SIZE // 2))
    found.append(Break("half of L1 twice", BOUNDS, halves))
    for over in (UB_BLOCK, 4096):
        found.append(Break(f"ends {over} too far", BOUNDS, partial(_ends, over=over)))
    for name in _COUNTS:
        found.append(Break(f"{name} at its limit", BOUNDS, put(name, MOST)))
    whole = chain(put("dst", 0), put("byte_offset", 0))
    found.append(Break("a block more than L1", BOUNDS, chain(
        whole, put("repeat", 1), put("blocks", L1_SIZE // UB_BLOCK + 1))))  # fmt: skip
    return found


def _near(rng: np.random.Generator) -> dict[str, Op]:
    op = _base(rng)
    lone, whole = changed(op, repeat=1), changed(op, dst=0, byte_offset=0)
    blocks = L1_SIZE // UB_BLOCK
    return {
        "last byte": _ends(op, 0),
        "gap behind the end": _ends(changed(lone, gap=0), 0),
        "lone, largest gap": changed(lone, gap=MOST),
        "all of L1": changed(whole, repeat=1, blocks=blocks),
        "all of L1, block by block": changed(whole, repeat=blocks, blocks=1, gap=0),
        "first and last block": changed(whole, repeat=2, blocks=1, gap=blocks - 2),
        "no repeats, largest counts": changed(op, repeat=0, blocks=MOST, gap=MOST),
        "no blocks, largest counts": changed(op, repeat=MOST, blocks=0, gap=MOST),
        "NOP outside": changed(op, repeat=0, dst=L1_SIZE + 32 - op.byte_offset),
        "NOP far outside": changed(op, blocks=0, dst=(1 << 24) - 32, byte_offset=1 << 23),
        "odd parts": changed(op, dst=op.dst + 11, byte_offset=op.byte_offset + 21),
        "largest pattern": changed(op, raw=(1 << RAW_BITS) - 1),
    }


def fill_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of the fill."""
    combined = {
        WIDTH: put("gap", MOST + 1),
        ALIGNMENT: shift("dst", 16),
        BOUNDS: shift("byte_offset", L1_SIZE),
    }
    return make_cases(rng, form, _base, _breaks(), [combined], _near)
