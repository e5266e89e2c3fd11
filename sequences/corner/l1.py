# SPDX-License-Identifier: Apache-2.0
"""Corners of the ops around L1, of UB to UB, BT and FB; those of NZ repacks are in ``nz``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product, starmap

from sequences.constraints import GM_UB_NAMES, UB_SIZE
from sequences.corner.fills import fill_spots
from sequences.corner.knobs import knob_shapes
from sequences.corner.nz import nz_corners
from sequences.corner.spots import PARAM_UNIT, Spot, of_row, packed
from tb.isa.block import OpBlock
from tb.isa.burst.op import BURST_CLASSES, BurstOp
from tb.isa.burst.table import BIAS_TYPES
from tb.isa.dma.op import DMA_CLASSES, DmaOp, Loop
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import FILL_CLASSES
from tb.isa.nz.op import NZ_CLASSES
from tb.isa.op import Op, replace
from tb.isa.spaces import UB_BLOCK

PAGE = 4096


def strided(
    make: type[DmaOp], length: int, rows: int, src: int, dst: int, loops: tuple[Loop, ...] = ()
) -> DmaOp:
    """Returns a copy at address 0 from lengths and row strides in bytes, whatever its units are."""
    unit = make.spec.unit
    if not make.spec.gaps:
        return make(0, 0, length, rows, src, dst, loops)
    gap = [max(stride - length, 0) // unit if rows > 1 else 0 for stride in (src, dst)]
    return make(0, 0, length // unit, rows, gap[0], gap[1], loops)


def _loops(make: type[DmaOp]) -> Iterator[Spot]:
    """Every small combination of loop groups and counts, and levels between each other's rows."""
    unit = make.spec.unit
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


def row_spots(bus_bytes: int, make: type[DmaOp]) -> Iterator[Spot]:
    """Rows of bytes from GM: every alignment, 4 KiB edges, loops."""
    for address, rest in product(range(bus_bytes), repeat=2):
        length = rest + bus_bytes * ((address + rest) % 3) or bus_bytes
        yield Spot(make(0, 0, length, 1, 0, 0), (bus_bytes, address))
    for before in range(67):
        yield Spot(make(0, 0, 66, 1, 0, 0), (PAGE, -before % PAGE))
    for length, offset in product((PAGE - 1, PAGE, PAGE + 1, 2 * PAGE + 1), (0, 1, 31, 4095)):
        yield Spot(make(0, 0, length, 1, 0, 0), (PAGE, offset))
    yield Spot(make(0, 0, 64, 16, PAGE - 1, 64), (PAGE, 7))
    yield Spot(make(0, 0, 33, 16, PAGE + 1, 64), (PAGE, PAGE - 20))
    yield from _loops(make)
    yield from map(Spot, knob_shapes(make))


def gap_spots(make: type[DmaOp]) -> Iterator[Spot]:
    """Bursts with gaps and loops: every pair of places in a word of 128 bytes, lengths, loops."""
    for src, dst, blocks in product(range(4), range(4), range(1, 6)):
        op = make(0, 0, blocks, 1 + blocks % 2, 5 - blocks, 6 - blocks)
        yield Spot(op, (128, src * UB_BLOCK), (128, dst * UB_BLOCK))
    for blocks in range(1, 20):
        yield Spot(make(0, 0, blocks, 2, 0, 0))
    for count, src_gap, dst_gap in product((1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)):
        yield Spot(make(0, 0, 1 + src_gap % 3, count, src_gap, dst_gap))
    yield from _loops(make)


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
    most = UB_SIZE // UB_BLOCK // (2 if make.spec.within else 1)
    yield Spot(make(0, 0, most, 1, 0, 0))
    yield Spot(make(0, 0, 1, most, 0, 0))


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


def burst_spots(make: type[BurstOp]) -> Iterator[Spot]:
    """Returns the corners of a burst copy."""
    if make.spec.destination not in ("bt", "fb"):
        return block_spots(make)
    return bias_spots(make) if make.spec.widens else param_spots(make)


def _of_row(make: type[Op], spots: Iterable[Spot]) -> Iterator[Spot]:
    """Yields corners as ops of a row of their family."""
    return (replace(one, op=of_row(make, one.op)) for one in spots)


def l1_blocks(bus_bytes: int, names: Collection[str]) -> Iterator[OpBlock]:
    """Yields the corners of every op of ``names`` but those between GM and UB."""
    spots: dict[str, Iterable[Spot]] = {
        **{
            make.spec.name: gap_spots(make) if make.spec.gaps else row_spots(bus_bytes, make)
            for make in DMA_CLASSES
            if make.spec.name not in GM_UB_NAMES
        },
        **{name: burst_spots(make) for name, make in BURST_CLASSES.items()},
        **{make.spec.name: _of_row(make, map(Spot, fill_spots())) for make in FILL_CLASSES},
        **{
            make.spec.name: _of_row(make, starmap(Spot, nz_corners(bus_bytes)))
            for make in NZ_CLASSES
        },
    }
    for name in spots:
        if name in names:
            yield from packed(spots[name])
