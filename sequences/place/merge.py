# SPDX-License-Identifier: Apache-2.0
"""Merging of two generators' blocks on disjoint parts of the memories, with a check.

On chip the parts are ranges. In GM dense traffic has separate windows; far rows may be anywhere, so
overlaps are checked row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np

from sequences.constraints import MIN_RANGE, GmWindow, OpConstraints
from sequences.draw.moves import marked
from sequences.draw.shapes import Bools, Ints
from tb.isa.block import OpBlock
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.fix.table import DST_BITS
from tb.isa.nest import NESTS
from tb.isa.op import replace
from tb.isa.ops import OPS_BY_CODE

_ROUND = 64
"""Sizes of parts are multiples of this, for every alignment."""

_FIX_REACH = 1 << 17
"""Most bytes of GM from the first to the last of a write-back in a mixed block."""

_FB_UNIT = 128
_FB_LEAST = 512
"""Rows of parameters, and the least bytes of them for a generator."""


_IN_GM = marked(lambda row: "gm" in (row.source, row.destination))


def _part(
    rng: np.random.Generator, window: GmWindow, low: int, high: int, unit: int
) -> tuple[GmWindow, GmWindow]:
    """Cuts ``low`` to ``high`` bytes from one end of a window; returns them and the rest."""
    size = low + int(rng.random() * (high - low + 1)) // unit * unit
    if rng.random() < 0.5:
        return GmWindow(window.start, size), GmWindow(window.start + size, window.size - size)
    return GmWindow(window.end - size, size), GmWindow(window.start, window.size - size)


def partition(
    rng: np.random.Generator, limits: OpConstraints, *, saturating: bool = False
) -> tuple[OpConstraints, OpConstraints] | None:
    """Returns ``limits`` twice, over disjoint parts of all memories; None where too small.

    The first one is for write-backs: it has all of L0C, most of FB, and as much of the GM windows
    as a few ops need; others may divide the rest again. With ``saturating`` the others have
    most of FB and BT: there are many of them, and write-backs share their parameters.
    """
    reach = max(limits.max_bytes, min(limits.max_gm_bytes, _FIX_REACH))
    small, whole = 2 * (reach + 8192), 2 * (limits.max_gm_bytes + 8192)
    ub = max(MIN_RANGE, min(limits.ub_range.size // 4, 64 * 1024)) // _ROUND * _ROUND
    l1 = max(MIN_RANGE, min(limits.l1_range.size // 4, 128 * 1024)) // _ROUND * _ROUND
    fb, bt = limits.fb_range, limits.bt_range
    rest = (
        limits.ub_range.size - 2 * ub - MIN_RANGE, limits.l1_range.size - 2 * l1 - MIN_RANGE,
        fb.size - 4 * _FB_LEAST, bt.size - 4 * _FB_LEAST,
        *(window.size - small - whole for window in limits.windows),
    )  # fmt: skip
    if min(rest) < 0:
        return None
    windows = [
        _part(rng, window, small, small + min(spare, window.size // 8), 1)
        for window, spare in zip(limits.windows, rest[4:], strict=True)
    ]
    ubs = _part(rng, limits.ub_range, ub, 2 * ub, _ROUND)
    l1s = _part(rng, limits.l1_range, l1, 2 * l1, _ROUND)
    eighth = fb.size // 8 // _FB_UNIT * _FB_UNIT
    least, most = (2 * eighth, 3 * eighth) if saturating else (5 * eighth, fb.size - _FB_LEAST)
    fbs = _part(rng, fb, max(least, _FB_LEAST), max(most, _FB_LEAST), _FB_UNIT)
    bts = _part(rng, bt, _FB_LEAST, _FB_LEAST if saturating else bt.size // 2, _ROUND)
    first, second = (
        replace(
            limits,
            windows=tuple(pair[side] for pair in windows),
            max_gm_bytes=(reach, limits.max_gm_bytes)[side],
            ub_range=ubs[side],
            max_ub_bytes=min(limits.max_ub_bytes, ubs[side].size),
            l1_range=l1s[side],
            max_l1_bytes=min(limits.max_l1_bytes, l1s[side].size),
            fb_range=fbs[side],
            bt_range=bts[side],
        )
        for side in (0, 1)
    )
    return first, second


def _gm_rows(block: OpBlock) -> tuple[Ints, Ints, Ints, Bools]:
    """Returns counts and strides ``int64[M, 4]``, then base and length, of ops that touch GM."""
    tables, bases, lengths, writes = [], [], [], []
    for code in np.unique(block.opcode[_IN_GM[block.opcode]]).tolist():
        spec = OPS_BY_CODE[code]
        mine = np.flatnonzero(block.opcode == code)
        v = SimpleNamespace(spec=spec, **{name: block.column(name)[mine] for name in spec.layout})
        if spec.family == "fix":
            v.dst_bits = np.array(DST_BITS)[v.dst_type]
        write = spec.destination == "gm"
        rows = NESTS[spec.family].written(v) if write else NESTS[spec.family].read(v)
        levels = len(rows.counts)
        table = np.zeros((len(mine), 2 * (1 + MAX_LOOPS)), dtype=np.int64)
        table[:, levels : 1 + MAX_LOOPS] = 1
        for level, (count, stride) in enumerate(zip(rows.counts, rows.strides, strict=True)):
            table[:, level], table[:, 1 + MAX_LOOPS + level] = count, stride
        live = (table[:, :levels] > 0).all(axis=1) & (rows.length > 0)
        tables.append(table[live])
        bases.append(rows.base[live])
        lengths.append(rows.length[live])
        writes.append(np.full(int(live.sum()), write))
    if not tables:
        none = np.zeros(0, dtype=np.int64)
        return none.reshape(0, 2 * (1 + MAX_LOOPS)), none, none, none > 0
    joined = np.concatenate
    return joined(tables), joined(bases), joined(lengths), joined(writes)


def gm_intervals(block: OpBlock, most_rows: int = 64) -> tuple[Ints, Ints, Bools]:
    """Returns start, end and whether it is written, of each GM region of a legal block.

    Ops of more than ``most_rows`` rows have one region from their first to their last byte.
    """
    table, base, length, write = _gm_rows(block)
    counts, strides = table[:, : 1 + MAX_LOOPS], table[:, 1 + MAX_LOOPS :]
    reach = ((counts - 1) * strides).sum(axis=1) + length
    rows = counts.prod(axis=1)
    # A short extent needs no rows: only far rows may lie between other ops.
    exact = (rows <= most_rows) & (reach > 1 << 18)
    times = np.where(exact, rows, 1)
    op = np.repeat(np.arange(len(base)), times)
    number = np.arange(len(op)) - np.repeat(np.cumsum(times) - times, times)
    start = base[op]
    for level in range(1 + MAX_LOOPS):
        start = start + number % counts[op, level] * strides[op, level]
        number = number // counts[op, level]
    return start, start + np.where(exact, length, reach)[op], write[op]


def meet_in_gm(one: OpBlock, other: OpBlock) -> bool:
    """Returns whether two blocks may share a byte of GM that one of them writes."""
    sides = gm_intervals(one), gm_intervals(other)
    for mine, yours in (sides, sides[::-1]):
        low, high = mine[0][mine[2]], mine[1][mine[2]]
        order = np.argsort(low)
        low, high = low[order], np.maximum.accumulate(high[order]) if len(order) else high
        first = np.searchsorted(high, yours[0], side="right")
        last = np.searchsorted(low, yours[1], side="left")
        if (first < last).any():
            return True
    return False


def _delays(block: OpBlock) -> Ints:
    if block.flag_delay is None:
        return np.full(len(block), -1, dtype=np.int64)
    return block.flag_delay


def merge(rng: np.random.Generator, one: OpBlock, other: OpBlock) -> OpBlock:
    """Returns the ops of both blocks in one, shuffled together; each keeps its own order."""
    total = len(one) + len(other)
    second = np.zeros(total, dtype=bool)
    second[rng.choice(total, len(other), replace=False)] = True
    return interleave(one, other, second)


def interleave(one: OpBlock, other: OpBlock, second: Bools) -> OpBlock:
    """Returns the ops of both blocks in one, each in its order.

    Args:
        one: Block of N ops.
        other: Block of M ops.
        second: ``bool[N + M]``, true for the ops of ``other`` in the result.
    """
    total = len(one) + len(other)
    to_one, to_other = np.flatnonzero(~second), np.flatnonzero(second)
    source = np.empty(total, dtype=np.int64)
    source[to_one], source[to_other] = np.arange(len(one)), len(one) + np.arange(len(other))

    def mix(first: Ints, then: Ints) -> Ints:
        return np.concatenate((first, then))[source]

    def moved(after: Ints, places: Ints) -> Ints:
        return np.where(after >= 0, places[np.maximum(after, 0)], -1) if len(after) else after

    def both(a: Mapping[int, object], b: Mapping[int, object]) -> dict[int, object]:
        return {int(to_one[k]): v for k, v in a.items()} | {
            int(to_other[k]): v for k, v in b.items()
        }

    rules = [
        np.zeros(len(block), np.int64) if block.expected_rule is None else block.expected_rule
        for block in (one, other)
    ]
    names = dict.fromkeys((*one.columns, *other.columns))
    return OpBlock(
        mix(one.opcode, other.opcode),
        {name: mix(one.column(name), other.column(name)) for name in names},
        mix(one.dtype, other.dtype),
        mix(one.pad_dtype, other.pad_dtype),
        mix(one.gap, other.gap),
        mix(moved(one.after, to_one), moved(other.after, to_other)),
        both(one.legacy, other.legacy),  # type: ignore[arg-type]
        both(one.descriptors, other.descriptors),  # type: ignore[arg-type]
        mix(rules[0], rules[1]),
        (*one.fills, *other.fills),
        None if one.flag_delay is other.flag_delay is None else mix(_delays(one), _delays(other)),
    )
