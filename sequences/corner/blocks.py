# SPDX-License-Identifier: Apache-2.0
"""Hand-written corners of the GM <-> UB ops, which random stimulus reaches late or never."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product

from sequences.blocks import Program, block_of, lower_program
from sequences.constraints import (
    BUS_BYTES,
    FIX_NAMES,
    OP_NAMES,
    ConstraintError,
    check_ops,
)
from sequences.corner.atomics import atomic_blocks
from sequences.corner.fixpipe import fix_blocks
from sequences.corner.knobs import knob_shapes, neighbours, packed_stores
from sequences.corner.l0 import l0_blocks
from sequences.corner.l1 import l1_blocks
from sequences.corner.limits import limit_ops
from sequences.corner.spots import Spot, block, packed, up
from sequences.illegal.legacy import to_legacy
from tb.isa.block import OpBlock
from tb.isa.burst.op import MteUbUb
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToUbuf, DmaRegisters
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dma.table import LOCAL_STRIDE_BITS, MAX_LOOPS, PAD_LIMIT
from tb.isa.dtypes import ELEMENT_BYTES, PAD_DTYPES, Ptr
from tb.isa.op import replace
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import current
from tb.isa.program import moving
from tb.isa.spaces import UB_BLOCK
from tb.isa.text import AnyOp

V06 = MteGmUb | MteUbGm

PAGE = 4096
SMALL_COUNTS = (1, 2, 3)
LEGACY_LOOPS = 2
"""Loops that the registers of a legacy copy hold."""


def spot(op: V06, modulus: int = 1, residue: int = 0) -> Spot:
    """Returns an op to be placed so that its GM address is ``residue`` modulo ``modulus``."""
    wish = (modulus, residue)
    return Spot(op, source=wish) if isinstance(op, MteGmUb) else Spot(op, destination=wish)


def copy(
    store: bool,
    length: int,
    rows: int = 1,
    gm_stride: int = 0,
    ub_stride: int = 0,
    loops: Iterable[tuple[int, int, int]] = (),
) -> V06:
    """Returns an op at address 0 of both memories; ``loops`` are (count, GM, UB) strides."""
    if store:
        groups = tuple(Loop(count, ub, gm) for count, gm, ub in loops)
        return MteUbGm(0, 0, length, rows, ub_stride, gm_stride, groups)
    groups = tuple(Loop(count, gm, ub) for count, gm, ub in loops)
    return MteGmUb(0, 0, length, rows, gm_stride, ub_stride, groups)


def alignments(bus_bytes: int) -> Iterator[Spot]:
    """Every pair of GM address and length modulo the bus width, in both directions."""
    for address, rest, store in product(range(bus_bytes), range(bus_bytes), (False, True)):
        # One word more for some, so that first, middle and last words all occur.
        length = rest + bus_bytes * ((address + rest) % 3) or bus_bytes
        yield spot(copy(store, length), bus_bytes, address)


def page_edges() -> Iterator[Spot]:
    """A 4 KiB boundary of GM after each of the first 66 bytes of a row, and in long rows."""
    for before, store in product(range(67), (False, True)):
        yield spot(copy(store, 66), PAGE, -before % PAGE)
        yield spot(copy(store, max(before, 1)), PAGE, -before % PAGE)
    for length, offset in product((PAGE - 1, PAGE, PAGE + 1, 2 * PAGE + 1), (0, 1, 31, 4095)):
        for store in (False, True):
            yield spot(copy(store, length), PAGE, offset)
    for store in (False, True):
        # Rows that start just before, at and just after boundaries.
        yield spot(copy(store, 64, 16, PAGE - 1, 64), PAGE, 7)
        yield spot(copy(store, 33, 16, PAGE + 1, 64), PAGE, PAGE - 20)


def pads() -> Iterator[Spot]:
    """Every pad type, left count, some right counts, tight and loose rows."""
    for dtype in PAD_DTYPES:
        elem = ELEMENT_BYTES[dtype]
        most = PAD_LIMIT // elem
        for left, right, loose in product(range(most + 1), sorted({0, 1, most}), (0, UB_BLOCK)):
            length = elem * (1 + (7 * left + right) % 40)
            stride = up(left * elem + length + right * elem) + loose
            value = 0xA1B2C3D4 >> 8 * (4 - elem)
            yield spot(
                MteGmUb(
                    0, 0, length, 1 + left % 3, length + 3, stride, (),
                    Pad(dtype, value, left, right), 0, Ptr(dtype, "gm"), Ptr(dtype, "ub"),
                )
            )  # fmt: skip


def loop_counts() -> Iterator[Spot]:
    """Every small combination of loop groups and counts, and small rows below them."""
    for store in (False, True):
        for depth in range(MAX_LOOPS + 1):
            for counts in product(SMALL_COUNTS, repeat=depth + 1):
                rows, *outer = counts
                gm, ub = 37 * rows, 64 * rows
                loops = []
                for count in outer:
                    loops.append((count, gm + 5, ub))
                    gm, ub = (gm + 5) * count, ub * count
                yield spot(copy(store, 33, rows, 37, 64, loops))
        # Iterations between the rows of other ones, and the outer loop inside the inner one.
        yield spot(copy(store, 32, 4, 100, 128, [(4, 25 * 16, 32)]))
        yield spot(copy(store, 20, 2, 400, 512, [(2, 200, 256), (2, 100, 128), (4, 20, 32)]))
        yield spot(copy(store, 1, 64, 1, 32))
        yield spot(copy(store, 1, 1, 0, 0, [(64, 1, 32)]))
        yield spot(copy(store, 2, 3, 2, 32, [(5, 6, 96), (7, 30, 480)]))
    # A source may be read again and again; a destination may not.
    yield spot(copy(False, 50, 2, 60, 64, [(3, 0, 128), (2, 10, 384)]))
    yield spot(copy(True, 50, 2, 60, 64, [(3, 120, 0), (2, 360, 32)]))
    # Only a store may iterate more often than UB has blocks, by reading bytes again.
    yield spot(copy(True, 1, 1, 0, 0, [(65537, 1, 0)]))


def in_turns(spots: Iterable[Spot]) -> Iterator[Spot]:
    """Yields the corners, every other one in the other sub-block of UB."""
    for number, one in enumerate(spots):
        yield replace(one, op=replace(one.op, ub_sub=number % 2))


def legacy_program(op: AnyOp) -> Program | None:
    """Returns the legacy form of an op; None where its fields and registers cannot hold it."""
    if isinstance(op, MteGmUb | MteUbGm):
        if len(op.loops) > LEGACY_LOOPS:
            return None
        sets, copy = to_legacy(op)
        return (*sets, copy)
    assert isinstance(op, MteUbUb)
    length = op.len_burst * UB_BLOCK
    src, dst = (length + gap * UB_BLOCK for gap in (op.src_gap, op.dst_gap))
    if max(length >> 16, src >> LOCAL_STRIDE_BITS, dst >> LOCAL_STRIDE_BITS):
        return None
    return (
        CopyUbufToUbuf(op.ub_src, op.ub_dst, 0, op.n_burst, length, src, dst, ub_sub=op.ub_sub),
    )


def in_legacy_forms(blocks: Iterable[OpBlock]) -> Iterator[OpBlock]:
    """Yields blocks of corners in legacy forms, without the ops that have none.

    Every other padded copy has its counts alone where these select padding.
    """
    counts_alone = current().pad_unselected == "register"
    for modern in blocks:
        programs = [legacy_program(moving(ops)) for ops in modern.program()]
        for number, program in enumerate(programs[1::2] if counts_alone else ()):
            *sets, copy = program or (None,)
            if isinstance(copy, CopyGmToUbuf) and copy.left_padding + copy.right_padding:
                programs[2 * number + 1] = (*sets, replace(copy, data_select_bit=0))
        found = [lower_program(each, DmaRegisters())[0] for each in programs if each]
        if found:
            yield block_of(found)


def gm_ub_blocks(
    bus_bytes: int, names: Collection[str], aligned: Collection[str]
) -> Iterator[OpBlock]:
    """Yields the corners of those copies between GM and UB that ``names`` has.

    Args:
        bus_bytes: Width of the GM bus.
        names: The copies.
        aligned: Those of them that are sent at every alignment.
    """
    groups = (
        (one for one in alignments(bus_bytes) if one.op.spec.name in aligned),
        *(
            (one for one in made if one.op.spec.name in names)
            for made in (page_edges(), pads(), loop_counts())
        ),
        (Spot(op) for op in knob_shapes(MteGmUb) if "mte_gm_ub" in names),
    )
    for group in groups:
        yield from packed(in_turns(group))
    if "mte_gm_ub" in names:
        yield from map(block, neighbours())
    if "mte_ub_gm" in names:
        yield from packed(in_turns(map(spot, packed_stores())))


def corner_blocks(bus_bytes: int = 32, ops: Sequence[str] = OP_NAMES) -> Iterator[OpBlock]:
    """Yields all corners of ``ops`` for a GM bus of ``bus_bytes``; thousands of ops for 32 bytes.

    A legacy form has the corners of its v0.6 form that its fields and registers can hold. Where
    both are sent, the alignments, which do not depend on the form, are those of the v0.6 form.

    Raises:
        ConstraintError: no engine has such a bus, or an op is unknown.
    """
    if bus_bytes not in BUS_BYTES:
        raise ConstraintError(
            f"bus_bytes is {bus_bytes}", where="corner_blocks", legal=", ".join(map(str, BUS_BYTES))
        )
    check_ops(tuple(ops))
    names = set(ops) - set(LEGACY_FORMS)
    legacy = {LEGACY_FORMS[name] for name in ops if name in LEGACY_FORMS}
    for name in OPS:
        if name in names - set(FIX_NAMES):
            yield from (block([op]) for op in limit_ops(name))
        if name in legacy:
            limits = limit_ops(name, lambda op: legacy_program(op) is not None)
            yield from in_legacy_forms(block([op]) for op in limits)
    yield from gm_ub_blocks(bus_bytes, names, names)
    yield from in_legacy_forms(gm_ub_blocks(bus_bytes, legacy, legacy - names))
    yield from l1_blocks(bus_bytes, names)
    yield from in_legacy_forms(l1_blocks(bus_bytes, legacy))
    yield from atomic_blocks(bus_bytes, set(ops))
    yield from l0_blocks(names)
    yield from fix_blocks(bus_bytes, names)
