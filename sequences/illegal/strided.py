# SPDX-License-Identifier: Apache-2.0
"""Every D rule of the strided copies broken in many ways, and legal ops at the limits.

All cases are made from a table of the properties of the ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from sequences.blocks import Op
from sequences.constraints import GM_SIZE, L1_SIZE, UB_SIZE
from sequences.illegal.cases import (
    EXCESS,
    Break,
    Case,
    Change,
    chain,
    changed,
    make_cases,
    put,
    shift,
    too_wide,
)
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dma.table import (
    BLOCK_COUNT_BITS,
    BLOCK_GAP_BITS,
    BLOCK_LEN_BITS,
    GM_STRIDE_BITS,
    LEN_BITS,
    LOCAL_STRIDE_BITS,
    LOOP_COUNT_BITS,
    MAX_LOOPS,
    PAD_COUNT_BITS,
    PAD_LIMIT,
)
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, Ptr
from tb.isa.footprint import destination, source
from tb.isa.lower import lower
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK

Strided = MteGmUb | MteUbGm | MteGmL1 | MteL1Ub

MANY_LOOPS = (1 << LOOP_COUNT_BITS) - 1


@dataclass(frozen=True)
class Side:
    """One side of a copy.

    Attributes:
        address: Name of the address operand.
        row: Name of the operand that steps from row to row: a stride, or a gap.
        size: Bytes of the memory.
        row_bits: Width of ``row``.
        bits: Width of a stride of loops.
        unit: Alignment of addresses and strides.
        bases: Addresses outside the memory, near its end and beyond the descriptor field.
    """

    address: str
    row: str
    size: int
    row_bits: int
    bits: int
    unit: int
    bases: tuple[int, ...]

    @property
    def gaps(self) -> bool:
        """Rows are apart by a gap in blocks, not by a stride in bytes."""
        return self.row.endswith("gap")

    @property
    def loop(self) -> str:
        """Name of the stride of loops."""
        return f"{self.row[:3]}_stride"

    @property
    def top(self) -> int:
        """Longest stride or gap of rows."""
        return (1 << self.row_bits) - 1

    @property
    def longest(self) -> int:
        """Longest stride or gap of rows that is used."""
        return self.top if self.gaps else self.top // self.unit * self.unit

    @property
    def loop_top(self) -> int:
        """Longest stride of loops."""
        return (1 << self.bits) - 1

    @property
    def loop_longest(self) -> int:
        """Longest stride of loops that is used."""
        return self.loop_top // self.unit * self.unit


def _gm(address: str, row: str) -> Side:
    bases = (GM_SIZE, GM_SIZE + 1, (1 << 41) + 5, (1 << 44) + 7, (1 << 63) + 1, (1 << 64) + 64)
    return Side(address, row, GM_SIZE, GM_STRIDE_BITS, GM_STRIDE_BITS, 1, bases)


def _local(address: str, row: str, size: int, bits: int = LOCAL_STRIDE_BITS) -> Side:
    bases = (size, size + UB_BLOCK, 1 << 24, (1 << 32) + 64, 1 << 44, 1 << 64)
    return Side(address, row, size, bits, LOCAL_STRIDE_BITS, UB_BLOCK, bases)


@dataclass(frozen=True)
class Kind:
    """Properties of a strided copy.

    Attributes:
        make: Op class.
        source, destination: Sides.
        keywords: Memories in pointer types.
        hint_bits: Width of the L2 cache hint, 0 where there is none.
        pads: Rows may be padded.
    """

    make: type[Strided]
    source: Side
    destination: Side
    keywords: tuple[str, str]
    hint_bits: int = 0
    pads: bool = False

    @property
    def sides(self) -> tuple[Side, Side]:
        """Source and destination."""
        return self.source, self.destination

    @property
    def gaps(self) -> bool:
        """Lengths and distances of rows count blocks of 32 bytes."""
        return self.source.gaps

    @property
    def loads(self) -> bool:
        """It reads GM."""
        return self.source.unit == 1

    @property
    def most_rows(self) -> int:
        """Most rows that the field and the profile allow."""
        return (1 << BLOCK_COUNT_BITS) - 1 if self.gaps else current().longest

    @property
    def longest(self) -> int:
        """Longest row that the field and the profile allow, in bytes or blocks."""
        return (1 << BLOCK_LEN_BITS) - 1 if self.gaps else current().longest


KINDS: Mapping[str, Kind] = {
    "mte_gm_ub": Kind(
        MteGmUb, _gm("gm_src", "src_stride"), _local("ub_dst", "dst_stride", UB_SIZE),
        ("gm", "ub"), 2, True,
    ),
    "mte_ub_gm": Kind(
        MteUbGm, _local("ub_src", "src_stride", UB_SIZE), _gm("gm_dst", "dst_stride"),
        ("ub", "gm"), 4,
    ),
    "mte_gm_l1": Kind(
        MteGmL1, _gm("gm_src", "src_stride"), _local("l1_dst", "dst_stride", L1_SIZE), ("gm", "l1")
    ),
    "mte_l1_ub": Kind(
        MteL1Ub, _local("l1_src", "src_gap", L1_SIZE, BLOCK_GAP_BITS),
        _local("ub_dst", "dst_gap", UB_SIZE, BLOCK_GAP_BITS), ("l1", "ub"),
    ),
}  # fmt: skip


def _up(value: int) -> int:
    return -(-value // UB_BLOCK) * UB_BLOCK


def base_op(rng: np.random.Generator, kind: Kind, n_loops: int = MAX_LOOPS) -> Strided:
    """Returns a small legal op with iterating rows and loops, so that every stride matters.

    On-chip rows leave at least 64 bytes free and GM rows at least 4. Lengths are one element above
    a multiple of 32 where the op allows.
    """
    dtype = str(rng.choice(list(DTYPES)))
    elem = ELEMENT_BYTES[dtype]
    length = UB_BLOCK * int(rng.integers(1, 5)) + (0 if kind.gaps else elem)
    pad = _pad(rng, elem) if kind.pads and elem < 8 and rng.random() < 0.3 else None
    need = length + ((pad.left or 0) + (pad.right or 0)) * elem if pad else length
    rows = int(rng.integers(2, 5))
    strides, hulls = [], []
    for side in kind.sides:
        on_gm = side.unit == 1
        free = int(rng.integers(4, 100)) if on_gm else UB_BLOCK * int(rng.integers(2, 5))
        strides.append((length if on_gm else _up(need)) + free)
        hulls.append(strides[-1] * rows)
    loops = []
    for _ in range(n_loops):
        count = int(rng.integers(2, 4))
        steps = [
            hull + side.unit * int(rng.integers(0, 50 if side.unit == 1 else 3))
            for side, hull in zip(kind.sides, hulls, strict=True)
        ]
        loops.append(Loop(count, *steps))
        hulls = [step * count for step in steps]
    values: dict[str, object] = {
        side.address: side.unit
        * int(rng.integers(0, (min(side.size, 1 << 20) - (side.unit > 1) * hull) // side.unit))
        for side, hull in zip(kind.sides, hulls, strict=True)
    }
    if kind.hint_bits:
        values["l2_cache_ctl"] = int(rng.integers(0, 1 << kind.hint_bits))
    if pad:
        values["pad"] = pad
    if "ub" in kind.keywords:
        values["ub_sub"] = int(rng.integers(0, 2))
    if kind.gaps:
        strides = [(stride - length) // UB_BLOCK for stride in strides]
        length //= UB_BLOCK
    op = kind.make(0, 0, length, rows, strides[0], strides[1], tuple(loops))
    types = [Ptr(dtype, keyword) for keyword in kind.keywords]
    return changed(op, src_type=types[0], dst_type=types[1], **values)


def _pad(rng: np.random.Generator, elem: int) -> Pad:
    left, right = (int(x) for x in rng.integers(0, PAD_LIMIT // elem + 1, 2))
    return Pad(f"i{8 * elem}", int(rng.integers(0, 1 << 8 * elem)), left, right)


def padded(op: MteGmUb) -> MteGmUb:
    """Returns ``op`` with pads, of elements of 4 bytes where its own cannot be padded."""
    if op.pad:
        return op
    elem = min(_elem(op), 4)
    dtype = "i32" if _elem(op) > 4 else op.src_type.dtype
    types = {"src_type": Ptr(dtype, "gm"), "dst_type": Ptr(dtype, "ub")}
    most = PAD_LIMIT // elem
    return changed(op, pad=Pad(f"i{8 * elem}", 0x5A, most // 2, most), **types)


def spans(op: Strided) -> tuple[int, int]:
    """Returns the bytes from the first to the last one at the source and at the destination."""
    desc = lower(op)
    src, dst = source(desc), destination(desc)
    return src.end - src.base, dst.end - dst.base


def _elem(op: Strided) -> int:
    return ELEMENT_BYTES[op.src_type.dtype]


def _at_end(op: Strided, kind: Kind, over: tuple[int, int] = (0, 0)) -> Strided:
    """Returns ``op`` ending with its memories, or ``over`` bytes past their ends."""
    values = {
        side.address: (side.size - span) // side.unit * side.unit + by
        for side, span, by in zip(kind.sides, spans(op), over, strict=True)
    }
    return changed(op, **values)


def _widths(kind: Kind) -> list[Break]:
    found: list[Break] = []
    bits = current().len_bits
    fields = [("len_burst", bits), ("n_burst", bits)]
    if kind.gaps:
        fields = [("len_burst", BLOCK_LEN_BITS), ("n_burst", BLOCK_COUNT_BITS)]
    elif bits < LEN_BITS:
        # Values that fit the field, but not the profile, and the first that fits neither.
        found = [
            Break(f"{name} = {value}", 5, put(name, value))
            for name, _ in fields
            for value in ((1 << LEN_BITS) - 1, 1 << LEN_BITS)
        ]
    found += too_wide([*fields, *((side.row, side.row_bits) for side in kind.sides)], 5)
    loops = [(f"loop{k}.count", LOOP_COUNT_BITS) for k in range(MAX_LOOPS)]
    loops += [(f"loop{k}.{side.loop}", side.bits) for k in range(MAX_LOOPS) for side in kind.sides]
    # Registers reject values too wide for a loop.
    found += too_wide(loops, 5, v06_only=True)
    if kind.hint_bits:
        found += too_wide([("l2_cache_ctl", kind.hint_bits)], 5)
    if kind.pads:
        for factor, more in EXCESS:
            value = (factor << PAD_COUNT_BITS) + more
            found += [
                Break(f"{side} padding {value}", 5, _pads(**{side: value}))
                for side in ("left", "right")
            ]
            wide = partial(_wide_value, factor=factor, more=more)
            found.append(Break(f"pad value x{factor}", 5, chain(padded, wide), v06_only=True))
    return found


def _wide_value(op: MteGmUb, *, factor: int, more: int) -> MteGmUb:
    return _padded_with(op, value=(factor << 8 * _elem(op)) + more)


def _pads(**values: int) -> Change:
    """Returns a change of the pads of an op, which gets some where it has none."""
    return lambda op: _padded_with(op, **values)


def _padded_with(op: MteGmUb, **values: int) -> MteGmUb:
    op = padded(op)
    assert op.pad is not None
    return changed(op, pad=changed(op.pad, **values))


def _alignment(kind: Kind) -> list[Break]:
    found = []
    for side in kind.sides:
        if side.unit == 1:
            continue
        found += [
            Break(f"{side.address} + {by}", 6, shift(side.address, by)) for by in (1, 2, 8, 16, 31)
        ]
        found += [
            Break(f"{name} + {by}", 7, shift(name, by), v06_only=name.startswith("loop2"))
            for name in (f"loop{k}.{side.loop}" for k in range(MAX_LOOPS))
            for by in (1, 4, 16, 31)
        ]
        if side.gaps:
            continue
        found += [Break(f"{side.row} + {by}", 7, shift(side.row, by)) for by in (1, 4, 16, 31)]
        # No length is a multiple of 32: rows without a gap, and one byte apart.
        found.append(Break(f"{side.row} len + 1", 7, chain(_unpadded, _over(side.row, 1))))
        if current().compact == "error":
            found.append(Break(f"{side.row} len", 7, chain(_unpadded, _over(side.row, 0))))
    if kind.pads:
        if current().pad_end == "stride":
            lone = chain(padded, shift("dst_stride", 8), put("n_burst", 1))
            found.append(Break("dst_stride + 8, one padded row", 7, lone))
        # In a group there is no room for the pads.
        rule = 7 if current().compact == "error" else 10
        tight = chain(padded, _over("dst_stride", 0))
        found.append(Break("padded rows, dst_stride len", rule, tight))
    return found


def _over(name: str, by: int) -> Change:
    return lambda op: changed(op, **{name: op.len_burst + by})


def _below(name: str, by: int) -> Change:
    return lambda op: changed(op, **{name: max(op.len_burst - by, 0)})


def _block_short(name: str) -> Change:
    return lambda op: changed(op, **{name: _up(op.len_burst) - UB_BLOCK})


def _short(kind: Kind) -> list[Break]:
    found = []
    for side in () if kind.gaps else kind.sides:
        name = side.row
        if side.unit > 1:
            found += [
                Break(f"{name} 0", 8, put(name, 0)),
                Break(f"{name} one block short", 8, _block_short(name)),
            ]
        elif not kind.loads or current().row_repeat == "error":
            found.append(Break(f"{name} 0", 8, put(name, 0)))
            found += [Break(f"{name} len - {by}", 8, _below(name, by)) for by in (1, UB_BLOCK)]
        else:
            # The source may be read again, the destination may not be written again.
            far = kind.destination.row
            found += [
                Break(f"{name} 0, {far} 0", 8, chain(put(name, 0), put(far, 0))),
                Break(f"{name} 1, {far} short", 8, chain(put(name, 1), _block_short(far))),
            ]
    return found


def _bad_pads(kind: Kind) -> list[Break]:
    if not kind.pads:
        return []

    def part(op: MteGmUb) -> MteGmUb:
        # Only wider elements can be cut; a byte element gets one pad byte too many instead.
        op = padded(op)
        if _elem(op) == 1:
            return _padded_with(op, left=PAD_LIMIT + 1)
        return changed(op, len_burst=op.len_burst - 1)

    def count(side: str, over: int) -> Change:
        return lambda op: _padded_with(op, **{side: PAD_LIMIT // _elem(padded(op)) + over})

    def no_room(op: MteGmUb) -> MteGmUb:
        most = PAD_LIMIT // _elem(padded(op))
        return changed(_padded_with(op, left=most, right=most), dst_stride=_up(op.len_burst))

    def one_over(op: MteGmUb) -> MteGmUb:
        # The row stride is a whole block: grow the data to one element more than fits.
        op = _padded_with(op, left=1, right=1)
        row = _up(op.len_burst)
        return changed(
            op, len_burst=row - _elem(op), dst_stride=row, src_stride=op.src_stride + UB_BLOCK
        )

    found = [Break("len is no whole element", 9, part)]
    for side in ("left", "right"):
        found += [Break(f"{side} 32 B + {n} el", 9, count(side, n)) for n in (1, 3)]
        found.append(Break(f"{side} 255 elements", 9, _pads(**{side: 255}), v06_only=True))
    found += [
        Break("row one element too long", 10, one_over),
        Break("both pads full, no room", 10, no_room),
    ]
    if current().pad_end == "stride":
        found += [
            Break("one row, both pads full, no room", 10, chain(no_room, put("n_burst", 1))),
            Break(
                "one padded row, stride 0",
                10,
                chain(padded, put("n_burst", 1), put("dst_stride", 0)),
            ),
        ]
    return found


def _outside(kind: Kind) -> list[Break]:
    end = partial(_at_end, kind=kind)
    found = []
    for number, side in enumerate(kind.sides):
        steps = (1, 2, 4096) if side.unit == 1 else (UB_BLOCK, 4096)
        found += [Break(f"{side.address} {x:#x}", 12, put(side.address, x)) for x in side.bases]
        for by in steps:
            over = (0, by) if number else (by, 0)
            name = f"{side.address}: ends {by} too far"
            found.append(Break(name, 12, partial(end, over=over)))
        far = side.loop_longest
        found += [
            Break(f"last row far out, {side.row}", 12, put(side.row, side.longest)),
            Break(f"iterations far out, {side.loop}", 12, put(f"loop0.{side.loop}", far)),
            Break(
                f"last loop far out, {side.loop}", 12, put(f"loop2.{side.loop}", far),
                v06_only=True,
            ),
        ]  # fmt: skip
    found += [
        Break("many rows", 12, put("n_burst", kind.most_rows)),
        Break("many iterations", 12, put("loop0.count", MANY_LOOPS)),
    ]
    if kind.pads:
        over_end = partial(end, over=(0, UB_BLOCK))
        found.append(Break("padded row ends in the next block", 12, chain(padded, over_end)))
        found.append(Break("only pads in the next block", 12, _pads_over))
        if current().pad_end == "stride":
            found.append(Break("padded row, stride past the end", 12, _stride_over))
    if kind.longest > kind.destination.size and kind.loads:
        row = chain(put("n_burst", 1), put("len_burst", kind.destination.size + 1))
        found.append(Break("row longer than the memory", 12, chain(row, _unpadded)))
    return found


def _unpadded(op: Strided) -> Strided:
    return changed(op, pad=None) if isinstance(op, MteGmUb) else op


def _pads_over(op: MteGmUb) -> MteGmUb:
    """One row whose data ends in the last block, and whose pads end behind it."""
    op = _padded_with(op, left=0, right=PAD_LIMIT // _elem(padded(op)))
    values = {"ub_dst": UB_SIZE - UB_BLOCK, "len_burst": 2 * _elem(op), "dst_stride": 2 * UB_BLOCK}
    return changed(op, n_burst=1, loops=(), **values)


def _stride_over(op: MteGmUb) -> MteGmUb:
    """One padded row that ends in the last block; its stride ends behind the memory."""
    op = _padded_with(op, left=0, right=1)
    values = {"ub_dst": UB_SIZE - UB_BLOCK, "len_burst": 2 * _elem(op), "dst_stride": 2 * UB_BLOCK}
    return changed(op, n_burst=1, loops=(), **values)


def _idle(kind: Kind) -> list[Break]:
    """An op that moves nothing can break the same rules as others, except DMA-L12."""
    local = kind.destination if kind.destination.unit > 1 else kind.source
    zero_rows, zero_loop = put("n_burst", 0), put("loop0.count", 0)
    found = [
        Break(f"no rows, {side.row} too wide", 5, chain(put(side.row, side.top + 1), zero_rows))
        for side in kind.sides
    ]
    length, rows = put("len_burst", kind.longest + 1), put("n_burst", kind.most_rows + 1)
    found += [
        Break("no rows, len too wide", 5, chain(length, zero_rows)),
        Break("no bytes, n too wide", 5, chain(rows, put("len_burst", 0))),
        Break("no bytes, base + 16", 6, chain(shift(local.address, 16), put("len_burst", 0))),
        Break(
            "no iterations, loop stride + 4", 7, chain(shift(f"loop1.{local.loop}", 4), zero_loop)
        ),
    ]
    if not kind.gaps:
        found += [
            Break("no iterations, stride + 4", 7, chain(shift(local.row, 4), zero_loop)),
            Break("no iterations, stride 0", 8, chain(put(local.row, 0), zero_loop)),
        ]
    return found


def _combined(kind: Kind) -> dict[int, Change]:
    """Returns changes that can be applied to one op together, one for each rule."""
    local = kind.destination if kind.destination.unit > 1 else kind.source
    other = kind.source if local is kind.destination else kind.destination
    changes: dict[int, Change] = {
        5: put("loop2.count", 1 << LOOP_COUNT_BITS),
        6: shift(local.address, 16),
        7: shift(f"loop0.{local.loop}", 1),
        12: put(other.address, other.size + (64 if other.unit > 1 else 3)),
    }
    if kind.pads:
        changes[9] = lambda op: _padded_with(op, right=PAD_LIMIT // _elem(padded(op)) + 1)
        changes[10] = lambda op: changed(
            _padded_with(op, left=PAD_LIMIT // _elem(padded(op))), dst_stride=_up(op.len_burst)
        )
    if not kind.gaps:
        again = kind.loads and current().row_repeat == "legal"
        changes[8] = _block_short(local.row) if again else _below(other.row, 1)
    return changes


def near(rng: np.random.Generator, kind: Kind, n_loops: int = MAX_LOOPS) -> dict[str, Op]:
    """Returns legal ops at a limit, by the name of the limit."""
    op = base_op(rng, kind, n_loops)
    if isinstance(op, MteGmUb):
        op = changed(op, pad=None)
    if kind.gaps:
        return _near_loops(op, kind, n_loops) | _near_gaps(op, kind)
    source, destination = kind.sides
    place = partial(_placed, kind=kind)
    empty = changed(op, len_burst=0, src_stride=64, dst_stride=64)
    lone = changed(op, n_burst=1, loops=())
    blocks = changed(op, len_burst=op.len_burst // UB_BLOCK * UB_BLOCK)
    longest = min(kind.longest, *(side.size for side in kind.sides))
    found: dict[str, Op] = {
        "n_burst at its limit": changed(empty, n_burst=kind.most_rows),
        "len_burst at its limit, no rows": changed(op, n_burst=0, len_burst=kind.longest),
        "NOP outside": place(empty, [side.size + (side.unit == 1) for side in kind.sides]),
        "NOP far outside": place(
            changed(op, n_burst=0),
            [(1 << 44) - 1 if side.unit == 1 else (1 << 24) - UB_BLOCK for side in kind.sides],
        ),
        "one row, longest strides": changed(
            lone, src_stride=source.top, dst_stride=destination.top
        ),
        "one row, strides 0": changed(lone, src_stride=0, dst_stride=0),
        "one row, strides unaligned": changed(lone, src_stride=33, dst_stride=47),
        "longest row": changed(place(lone, [0, 0]), len_burst=longest),
        "last byte of both, whole blocks": _at_end(blocks, kind),
    }
    ends = _at_end(op, kind)
    for number, side in enumerate(kind.sides):
        name = side.row
        low = [getattr(ends, x.address) if x is side else 0 for x in kind.sides]
        tight = op.len_burst if side.unit == 1 else _up(op.len_burst)
        found |= {
            f"NOP, longest {name}": changed(empty, **{name: side.longest}),
            f"one row, longest {name}": changed(lone, **{name: side.top}),
            f"last byte of side {number}": place(op, low),
            f"{name} as short as may be": changed(op, loops=(), **{name: tight}),
        }
    found |= _near_loops(op, kind, n_loops)
    if kind.hint_bits:
        found["l2 at its limit"] = changed(op, l2_cache_ctl=(1 << kind.hint_bits) - 1)
    found |= _near_knobs(op, kind)
    if isinstance(op, MteGmUb):
        found |= _near_pads(op, kind)
    return found


def _near_loops(op: Strided, kind: Kind, n_loops: int) -> dict[str, Op]:
    """Legal ops with loops at a limit."""
    strides = [side.loop_longest for side in kind.sides]
    rows = {} if kind.gaps else {side.row: 64 for side in kind.sides}
    empty = changed(op, len_burst=0, **rows)
    found: dict[str, Op] = {
        "all strides of all loops": changed(empty, loops=(Loop(MANY_LOOPS, *strides),) * n_loops)
    }
    for k in range(n_loops):
        once = put(f"loop{k}.count", 1)(op)
        found |= {
            f"loop {k} once, longest {side.loop}": put(f"loop{k}.{side.loop}", side.loop_top)(once)
            for side in kind.sides
        }
        found[f"loop {k} once, stride 80"] = put(f"loop{k}.{kind.destination.loop}", 80)(once)
        found[f"loop {k} count 0"] = put(f"loop{k}.count", 0)(op)
        found[f"loop {k}, most iterations of nothing"] = put(f"loop{k}.count", MANY_LOOPS)(empty)
    return found


def _near_gaps(op: Strided, kind: Kind) -> dict[str, Op]:
    """Legal ops of blocks and gaps at a limit (A-12)."""
    place = partial(_placed, kind=kind)
    lone = changed(op, n_burst=1, loops=())
    most = UB_SIZE // UB_BLOCK
    gaps = {side.row: side.top for side in kind.sides}
    none = {side.row: 0 for side in kind.sides}
    ends = _at_end(op, kind)
    found: dict[str, Op] = {
        "n_burst at its limit": changed(op, len_burst=0, n_burst=kind.most_rows),
        "len_burst at its limit, no bursts": changed(op, n_burst=0, len_burst=kind.longest),
        "gaps at their limit, no bursts": changed(op, n_burst=0, **gaps),
        "gaps at their limit, no bytes": changed(op, len_burst=0, n_burst=kind.most_rows, **gaps),
        "gaps after a single burst": changed(lone, **gaps),
        "NOP outside": changed(place(op, [side.size for side in kind.sides]), len_burst=0),
        "NOP far outside": changed(place(op, [(1 << 24) - UB_BLOCK] * 2), n_burst=0),
        "one burst over all of UB": changed(place(lone, [0, 0]), len_burst=most),
        "most bursts that run": changed(
            place(lone, [0, 0]), len_burst=1, n_burst=kind.most_rows, src_gap=0, dst_gap=1
        ),
        "bursts of three blocks side by side": changed(
            op, len_burst=3, n_burst=2, loops=(), **none
        ),
        "last byte of both": ends,
    }
    for number, side in enumerate(kind.sides):
        low = [getattr(ends, x.address) if x is side else 0 for x in kind.sides]
        wide = {**none, side.row: side.size // UB_BLOCK - 2}
        found |= {
            f"last byte of side {number}": place(op, low),
            f"first and last block of side {number}": changed(
                place(lone, [0, 0]), len_burst=1, n_burst=2, **wide
            ),
        }
    return found


def _near_knobs(op: Strided, kind: Kind) -> dict[str, Op]:
    """Legal copies that another value of a knob makes illegal."""
    found: dict[str, Op] = {}
    if kind.loads and current().row_repeat == "legal":
        found |= {
            "src_stride 0": changed(op, src_stride=0),
            "src_stride 1": changed(op, src_stride=1),
            "src_stride len - 1": changed(op, src_stride=op.len_burst - 1),
        }
    if current().compact == "legal":
        local, gm = (kind.destination, kind.source)[:: 1 if kind.loads else -1]
        bare = changed(op, **{local.row: op.len_burst}, loops=())
        found |= {
            "rows without gaps": bare,
            "rows without gaps on both sides": changed(bare, **{gm.row: op.len_burst}),
            "tiny rows without gaps": changed(
                bare, len_burst=_elem(op), **{local.row: _elem(op)}, n_burst=33
            ),
            "rows without gaps in loops": changed(op, **{local.row: op.len_burst}),
        }
    return found


def _placed(op: Strided, bases: list[int], *, kind: Kind) -> Strided:
    names = [side.address for side in kind.sides]
    return changed(op, **dict(zip(names, bases, strict=True)))


def _near_pads(op: MteGmUb, kind: Kind) -> dict[str, Op]:
    op = padded(op)
    elem = _elem(op)
    most = PAD_LIMIT // elem
    length = op.len_burst // UB_BLOCK * UB_BLOCK
    full = changed(_padded_with(op, left=most, right=most), len_burst=length, loops=())
    exact = changed(full, dst_stride=length + 2 * PAD_LIMIT)
    bare, lone = _padded_with(op, left=0, right=0), changed(full, n_burst=1)
    found: dict[str, Op] = {}
    if current().compact == "legal":
        found["padded rows without gaps"] = changed(bare, dst_stride=op.len_burst)
    if current().pad_end == "block":
        found["stride past the end"] = _stride_over(op)
        found |= {
            f"one padded row, stride {stride}": changed(lone, dst_stride=stride)
            for stride in (0, 33, kind.destination.top)
        }
    return {
        **found,
        "both pads 32 B, no tail": exact,
        "both pads 32 B, one row": changed(exact, n_burst=1),
        "no pads, no tail": changed(_padded_with(full, left=0, right=0), dst_stride=length),
        "pad value all ones": _padded_with(full, value=(1 << 8 * elem) - 1),
        "padded row to the last UB byte": _at_end(exact, kind),
    }


def strided_breaks(kind: Kind) -> list[Break]:
    """Returns every way to break a rule."""
    return [
        *_widths(kind), *_alignment(kind), *_short(kind), *_bad_pads(kind),
        *_outside(kind), *_idle(kind),
    ]  # fmt: skip


def strided_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of a strided copy."""
    kind = KINDS[form]
    return make_cases(
        rng, form, partial(base_op, kind=kind), strided_breaks(kind), [_combined(kind)],
        partial(near, kind=kind),
    )  # fmt: skip
