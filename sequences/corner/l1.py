# SPDX-License-Identifier: Apache-2.0
"""Corners of the ops around L1, of UB to UB, BT and FB; those of NZ repacks are in ``nz``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, product

from sequences.blocks import changed
from sequences.constraints import GM_SIZE, L1_SIZE, UB_SIZE
from sequences.corner.fills import fill_limits, fill_spots
from sequences.corner.knobs import knob_limits, knob_shapes
from sequences.corner.nz import nz_corners, nz_limits
from sequences.corner.spots import PARAM_UNIT, Spot, at, block, packed, spans, up
from tb.isa.block import OpBlock
from tb.isa.burst.op import BURST_CLASSES, BurstOp
from tb.isa.burst.table import BIAS_TYPES
from tb.isa.dma.op import DmaOp, Loop, MteGmL1, MteL1Ub
from tb.isa.dma.table import BLOCK_COUNT_BITS, MAX_LOOPS
from tb.isa.dtypes import Ptr
from tb.isa.footprint import source, space_of
from tb.isa.lower import V06Op, lower
from tb.isa.profile import current
from tb.isa.spaces import SEGMENTS, SIZES, UB_BLOCK, Space

PAGE = 4096
MAX_GAP = 65535
MAX_LOOP = (1 << 21) - 1
GM_MAX, LOCAL_MAX = (1 << 40) - 1, (1 << 21) - 1
PARAM_SIZE = SIZES[Space.BT]


def strided(
    make: type[DmaOp], length: int, rows: int, src: int, dst: int, loops: tuple[Loop, ...] = ()
) -> DmaOp:
    """Returns a copy at address 0 from lengths and row strides in bytes, whatever its units are."""
    if make is not MteL1Ub:
        return make(0, 0, length, rows, src, dst, loops)
    gap = [max(stride - length, 0) // UB_BLOCK if rows > 1 else 0 for stride in (src, dst)]
    return make(0, 0, length // UB_BLOCK, rows, gap[0], gap[1], loops)


def _loops(unit: int, make: type[DmaOp]) -> Iterator[Spot]:
    """Every small combination of loop groups and counts, and levels between each other's rows."""
    row = 33 if unit == 1 else 64
    step = 37 if unit == 1 else 96
    for depth in range(MAX_LOOPS + 1):
        for rows, *outer in product((1, 2, 3), repeat=depth + 1):
            src, dst = step * rows, 96 * rows
            loops = []
            for count in outer:
                loops.append(Loop(count, src + 5 * unit, dst))
                src, dst = (src + 5 * unit) * count, dst * count
            yield Spot(strided(make, row, rows, step, 96, tuple(loops)))
    nested = (Loop(2, 192, 256), Loop(2, 96, 128), Loop(4, 32, 32))
    yield Spot(strided(make, 32, 2, 384, 512, nested))
    yield Spot(strided(make, 32, 4, 128, 128, (Loop(4, 32 * 16, 32),)))
    yield Spot(strided(make, 32, 1, 0, 0, (Loop(64, 32, 32),)))
    # A source may be read again and again; a destination may not be written again.
    yield Spot(strided(make, 32, 2, 64, 64, (Loop(3, 0, 128), Loop(2, 32, 384))))


def gm_l1_spots(bus_bytes: int) -> Iterator[Spot]:
    """``mte_gm_l1``: every alignment, 4 KiB edges, loops."""
    for address, rest in product(range(bus_bytes), repeat=2):
        length = rest + bus_bytes * ((address + rest) % 3) or bus_bytes
        yield Spot(MteGmL1(0, 0, length, 1, 0, 0), (bus_bytes, address))
    for before in range(67):
        yield Spot(MteGmL1(0, 0, 66, 1, 0, 0), (PAGE, -before % PAGE))
    for length, offset in product((PAGE - 1, PAGE, PAGE + 1, 2 * PAGE + 1), (0, 1, 31, 4095)):
        yield Spot(MteGmL1(0, 0, length, 1, 0, 0), (PAGE, offset))
    yield Spot(MteGmL1(0, 0, 64, 16, PAGE - 1, 64), (PAGE, 7))
    yield Spot(MteGmL1(0, 0, 33, 16, PAGE + 1, 64), (PAGE, PAGE - 20))
    yield from _loops(1, MteGmL1)


def l1_ub_spots() -> Iterator[Spot]:
    """``mte_l1_ub``: every pair of places in a word of 128 bytes, lengths, loops."""
    for src, dst, blocks in product(range(4), range(4), range(1, 6)):
        op = MteL1Ub(0, 0, blocks, 1 + blocks % 2, 5 - blocks, 6 - blocks)
        yield Spot(op, (128, src * UB_BLOCK), (128, dst * UB_BLOCK))
    for blocks in range(1, 20):
        yield Spot(MteL1Ub(0, 0, blocks, 2, 0, 0))
    for count, src_gap, dst_gap in product((1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)):
        yield Spot(MteL1Ub(0, 0, 1 + src_gap % 3, count, src_gap, dst_gap))
    yield from _loops(UB_BLOCK, MteL1Ub)


def l1_ub_limits() -> Iterator[V06Op]:
    """``mte_l1_ub``: the largest counts, lengths and gaps that the memories allow, and ends."""
    most, bursts = UB_SIZE // UB_BLOCK, (1 << BLOCK_COUNT_BITS) - 1
    loop_max = LOCAL_MAX // UB_BLOCK * UB_BLOCK
    yield MteL1Ub(0, 0, most, 1, 0, 0)
    yield MteL1Ub(0, 0, most, 1, MAX_GAP, MAX_GAP)
    yield MteL1Ub(L1_SIZE - UB_SIZE, 0, most // 2, 2, 0, 0)
    yield MteL1Ub(0, 0, most // 4, 2, most // 4, most // 2)
    yield MteL1Ub(0, 0, 1, bursts, 0, 0)
    yield MteL1Ub(0, 0, 1, bursts, 3, 1)
    yield MteL1Ub(0, 0, 1, 2, L1_SIZE // UB_BLOCK - 2, most - 2)
    yield MteL1Ub(0, 0, 1, bursts, 0, 0, (Loop(2, 0, bursts * UB_BLOCK),))
    yield MteL1Ub(0, 0, 1, 1, 0, 0, (Loop(most, UB_BLOCK, UB_BLOCK),))
    yield MteL1Ub(0, 0, 1, 1, 0, 0, (Loop(most, 0, UB_BLOCK),))
    yield MteL1Ub(0, 0, 1, 1, 0, 0, (Loop(2, L1_SIZE - UB_BLOCK, UB_SIZE - UB_BLOCK),))
    yield MteL1Ub(0, 0, 1, 1, MAX_GAP, MAX_GAP, (Loop(1, LOCAL_MAX, LOCAL_MAX),) * 3)
    for length in (1, 31, 33, 128, 129):
        for gap in (0, 1):
            op = MteL1Ub(0, 0, length, 2, gap, 0)
            src, dst = spans(op)
            yield at(op, L1_SIZE - src, UB_SIZE - dst)
            yield at(op, 0, UB_SIZE - dst)
            yield at(op, L1_SIZE - src, 0)
    for zero in range(2 + MAX_LOOPS):
        counts = [0 if zero == 2 + k else MAX_LOOP for k in range(MAX_LOOPS)]
        loops = tuple(Loop(count, loop_max, 1 << 10) for count in counts)
        length, rows = 65535 * (zero != 0), bursts * (zero != 1)
        op = MteL1Ub(0, 0, length, rows, MAX_GAP, MAX_GAP, loops)
        yield op
        yield at(op, L1_SIZE + 32, UB_SIZE)


def gm_l1_limits() -> Iterator[V06Op]:
    """``mte_gm_l1``: the largest counts, lengths and strides that the memories allow, and ends."""
    make = MteGmL1
    src_size, dst_size = GM_SIZE, L1_SIZE
    unit, src_max, longest = 1, GM_MAX, 65535
    most = dst_size // UB_BLOCK
    yield make(0, 0, UB_BLOCK, most, UB_BLOCK, UB_BLOCK)
    yield make(0, 0, unit, most, unit, UB_BLOCK)
    yield make(0, 0, unit, 1, 0, 0, (Loop(most, unit, UB_BLOCK),))
    yield make(0, 0, longest, 1, 0, 0)
    yield make(0, 0, longest, 4, longest, 65536)
    yield make(0, 0, longest, 2, longest, 131072, (Loop(2, 131072, 65536),))
    yield make(0, 0, unit, 2, src_size - unit, dst_size - UB_BLOCK)
    yield make(0, 0, unit, 1, 0, 0, (Loop(2, src_size - unit, dst_size - UB_BLOCK),))
    yield make(0, 0, unit, 1, src_max, LOCAL_MAX, (Loop(1, src_max, LOCAL_MAX),) * 3)
    yield make(0, 0, unit, 1, 0, 0, (Loop(most, 0, UB_BLOCK),))
    far = (Loop(2, 1 << 36, 64), Loop(2, 1 << 38, 128), Loop(2, 1 << 39, 256))
    yield MteGmL1(0, 0, 9, 2, 1 << 32, 32, far)
    yield MteGmL1((1 << 32) - 5, 0, 9, 3, (1 << 38) + 1, 32)
    for length in (unit, 31 * unit, 33 * unit, PAGE, PAGE + unit):
        op = make(0, 0, length, 2, length + unit, up(length))
        src, dst = spans(op)
        yield at(op, src_size - src, (dst_size - dst) // UB_BLOCK * UB_BLOCK)
        yield at(op, 0, (dst_size - dst) // UB_BLOCK * UB_BLOCK)
        yield at(op, src_size - src, 0)
    for zero in range(2 + MAX_LOOPS):
        counts = [0 if zero == 2 + k else MAX_LOOP for k in range(MAX_LOOPS)]
        loops = tuple(Loop(count, 1 << 20, 1 << 10) for count in counts)
        op = make(0, 0, 64 * (zero != 0), current().longest * (zero != 1), 64, 64, loops)
        yield op
        yield at(op, src_size + 32, dst_size)


def block_spots(make: type[BurstOp]) -> Iterator[Spot]:
    """Copies of blocks: places in a word of 128 bytes, lengths, counts, gaps."""
    for src, dst, length in product(range(4), range(4), range(1, 6)):
        op = make(0, 0, length, 1 + length % 3, 1, 2)
        yield Spot(op, (128, src * UB_BLOCK), (128, dst * UB_BLOCK))
    small = (0, 1, 2, 3)
    for length, count, src_gap, dst_gap in product((1, 2, 3, 5), (1, 2, 3), small, small):
        yield Spot(make(0, 0, length, count, src_gap, dst_gap))
    for length in range(1, 34):
        yield Spot(make(0, 0, length, 2, 0, 0))


def block_limits(make: type[BurstOp]) -> Iterator[V06Op]:
    """The largest bursts, counts and gaps of a copy of blocks, the ends, and NOPs."""
    inside = make.spec.within
    src_size, dst_size = (SIZES[space_of(x)] for x in (make.spec.source, make.spec.destination))
    most = UB_SIZE // UB_BLOCK // (2 if inside else 1)
    half = UB_SIZE // 2 if inside else 0
    yield make(0, half, most, 1, MAX_GAP, MAX_GAP)
    yield make(half, 0, most, 1, 0, 0)
    yield make(0, half, 1, most, 0, 0)
    # Two bursts at both ends of the memories.
    reach = UB_SIZE // UB_BLOCK
    inner = dst_size // UB_BLOCK - 2 - 2 * inside
    yield make(0, UB_BLOCK * inside, 1, 2, reach - 2, inner)
    if inside:
        yield make(0, 32, 1, reach // 2, 1, 1)
        yield make(32, 0, 1, reach // 2, 1, 1)
        yield make(96, 0, 3, reach // 6, 3, 3)
        yield make(64, 32, 1, 1000, 3, 3)
    else:
        # More bursts than 12 bits count, and nothing that runs as one burst.
        yield make(0, 0, 1, reach, 0, 1)
    for length, count, gap in ((1, 1, 0), (3, 2, 1), (2, 5, 0)):
        span = ((count - 1) * (length + gap) + length) * UB_BLOCK
        yield make(0, dst_size - span, length, count, gap, gap)
        yield make(src_size - span, 0, length, count, gap, gap)
    yield make(0, 0, 0, 65535, MAX_GAP, MAX_GAP)
    yield make(src_size, dst_size + 32, 65535, 0, MAX_GAP, 0)
    yield make(0, 0, 0, 0, 0, 0)


def bias_spots(make: type[BurstOp]) -> Iterator[Spot]:
    """Loads that widen: every type with every small length, gaps of odd sizes, places in a word."""
    for dtype, (result, _) in BIAS_TYPES.items():
        types = Ptr(dtype, "l1"), Ptr(result, "bt")
        for length in (*range(1, 36), 63, 64, 65, 127, 128, 129):
            yield Spot(make(0, 0, length, 1, 0, 0, *types))
        for length, count, *gaps in product((1, 2, 3, 7), (2, 3, 5), (0, 1, 2, 5), (0, 1, 3)):
            yield Spot(make(0, 0, length, count, gaps[0], gaps[1], *types))
        for src, dst in product(range(4), range(2)):
            op = make(0, 0, 21, 2, 3, 1, *types)
            yield Spot(op, (128, src * UB_BLOCK), (128, dst * PARAM_UNIT))


def param_spots(make: type[BurstOp]) -> Iterator[Spot]:
    """Loads of parameters: every length, small counts and gaps, places in a word."""
    for length in range(1, 65):
        yield Spot(make(0, 0, length, 1, 0, 0))
    for length, count, *gaps in product((1, 2, 3), (2, 3, 4), (0, 1, 2, 5), (0, 1, 2)):
        yield Spot(make(0, 0, length, count, gaps[0], gaps[1]))
    for src, dst, length in product(range(4), range(2), (1, 2, 3)):
        yield Spot(make(0, 0, length, 2, 1, 1), (128, src * UB_BLOCK), (128, dst * PARAM_UNIT))


def param_limits(make: type[BurstOp]) -> Iterator[V06Op]:
    """The largest bias vectors or parameter rows, their ends, and NOPs."""
    ops, most = [make(0, 0, 1, 1, 0, 0)], PARAM_SIZE // make.spec.unit
    if make.spec.widens:
        pairs = BIAS_TYPES.items()
        ops = [make(0, 0, 1, 1, 0, 0, Ptr(t, "l1"), Ptr(u, "bt")) for t, (u, _) in pairs]
    starts = [one.start for one in SEGMENTS[space_of(make.spec.destination)]]
    for op, start in product(ops, starts):
        for limit in _param_limits(op, most):
            src, dst = (getattr(limit, each.name) for each in limit.spec.operands[:2])
            yield at(limit, src, start + dst)


def _param_limits(op: BurstOp, most: int) -> Iterator[V06Op]:
    """The same for an op at address 0 of a memory of ``most`` units."""
    yield changed(op, len_burst=most)
    yield changed(op, n_burst=most)
    yield changed(op, n_burst=most // 2, dst_gap=1, src_gap=3)
    yield changed(op, n_burst=2, dst_gap=most - 2, src_gap=7)
    yield changed(op, len_burst=3, src_gap=MAX_GAP, dst_gap=MAX_GAP)
    yield changed(op, n_burst=2, src_gap=MAX_GAP if most > 64 else L1_SIZE // PARAM_UNIT - 2)
    yield at(changed(op, len_burst=8), L1_SIZE - 8 * lower_units(op), 0)
    yield at(changed(op, len_burst=PARAM_UNIT // 4 if most > 64 else 1), 0, PARAM_SIZE - 64)
    yield changed(op, len_burst=0, n_burst=4095, src_gap=MAX_GAP, dst_gap=MAX_GAP)
    yield at(changed(op, len_burst=65535, n_burst=0), L1_SIZE, PARAM_SIZE + 64)
    yield changed(op, len_burst=0, n_burst=0)


def lower_units(op: BurstOp) -> int:
    """Returns the bytes of a unit at the source; 8 of them are whole 32-byte blocks or half ones.

    Bias elements of 2 bytes count as 4, so that the address stays aligned.
    """
    side = source(lower(changed(op, len_burst=1)))
    return max(side.length, 4)


def burst_corners(make: type[BurstOp]) -> tuple[Iterator[Spot], Iterator[V06Op]]:
    """Returns the corners of a burst copy, those to pack and those that take a block each."""
    if make.spec.destination not in ("bt", "fb"):
        return block_spots(make), block_limits(make)
    return (bias_spots if make.spec.widens else param_spots)(make), param_limits(make)


def l1_blocks(bus_bytes: int, names: Collection[str]) -> Iterator[OpBlock]:
    """Yields the corners of every op of ``names`` but those between GM and UB."""
    kinds: dict[str, tuple[Iterator[Spot], Iterator[V06Op]]] = {
        "mte_gm_l1": (
            chain(gm_l1_spots(bus_bytes), (Spot(op) for op in knob_shapes(MteGmL1))),
            chain(gm_l1_limits(), knob_limits(MteGmL1)),
        ),
        "mte_l1_ub": (l1_ub_spots(), l1_ub_limits()),
        **{name: burst_corners(make) for name, make in BURST_CLASSES.items()},
        "raw_fill_l1": ((Spot(op) for op in fill_spots()), fill_limits()),
        "mte_gm_l1_frac": (
            (Spot(op, wish) for op, wish in nz_corners(bus_bytes)),
            nz_limits(),
        ),
    }
    for name, (spots, limits) in kinds.items():
        if name in names:
            yield from packed(spots)
            for op in limits:
                yield block([op])
