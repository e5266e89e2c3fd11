# SPDX-License-Identifier: Apache-2.0
"""Issue of the strided DMA ops, v0.6 and legacy (docs/spec/dma.md, sections 2 to 4).

Legacy copies are read from their own operands and registers, not through the lowering of
:mod:`tb.isa.dma.legacy`, which the engine's descriptors come from: the two must agree.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from scoreboards.model.atomic_store import atomic_fields, atomic_store
from scoreboards.model.outcome import NOTHING, Outcome, PadPattern
from scoreboards.model.registers import Registers
from scoreboards.model.tail import filled
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm
from tb.isa.dma.op import DmaOp, Loop, MteGmUb, MteUbGm
from tb.isa.dma.table import SOURCE_SIDE
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.footprint import Footprint, space_of
from tb.isa.op import replace
from tb.isa.ops import OPS
from tb.isa.profile import current
from tb.isa.rules import first_d_violation
from tb.isa.spaces import UB_BLOCK, Space, block_end, ub_space
from tb.isa.status import Status

_Steps = tuple[int, ...]


@cache
def _sides(name: str, ub_sub: int) -> tuple[Any, ...]:
    """Returns of each side the values with its address and with its rows' step; both memories."""
    row = OPS[name]
    sides = ("ext", "loc") if SOURCE_SIDE[name] == "ext" else ("loc", "ext")
    spaces = (space_of(memory, ub_sub) for memory in (row.source, row.destination))
    return (*(f"{side}_addr" for side in sides), *(f"{side}_stride" for side in sides), *spaces)


def copy(op: DmaOp, legal: bool, state: Registers) -> Outcome:
    """Returns the outcome of a v0.6 copy; lengths and gaps of bursts count units (A-12)."""
    spec, pad = op.spec, op.pad
    length = op.len_burst * spec.unit
    values = op.values
    first, second, src, dst, read, written = _sides(spec.name, op.ub_sub)
    steps = values[src], values[dst]
    if spec.gaps:
        steps = length + steps[0] * spec.unit, length + steps[1] * spec.unit
    counts, src_strides, dst_strides = _nest(op, *steps)
    source = Footprint(read, values[first], length, counts, src_strides)
    target = Footprint(written, values[second], length, counts, dst_strides)
    if not legal:
        rule = _verdict(replace(op, **atomic_fields(state)) if spec.updates else op)
        if rule:
            return Outcome(Status.RULE, rule)
    if pad is not None:
        size = element_bytes(pad.dtype)
        ends = ((pad.left or 0) * size, (pad.right or 0) * size)
        return _padded(source, target, ends, PadPattern(pad.value, size))
    if spec.updates:
        return _store(source, target, state)
    if spec.source != "gm":
        return _rows(source, target)
    return _load(source, target, op.src_type if spec.destination == "ub" else None)


def gm_to_ubuf(op: CopyGmToUbuf, legal: bool, state: Registers) -> Outcome:
    """Returns the outcome of a ``copy_gm_to_ubuf`` with the current registers."""
    registers = state.outtoub
    counts = registers.counts(op.n_burst)
    src_strides = registers.src_strides(op.src_stride)
    dst_strides = registers.dst_strides(op.dst_stride)
    source = Footprint(Space.GM, op.gm_src, op.len_burst, counts, src_strides)
    target = Footprint(ub_space(op.ub_sub), op.ub_dst, op.len_burst, counts, dst_strides)
    size = element_bytes(op.src_type.dtype)
    # The register holds a value of any pad type; a copy takes the low bytes of an element.
    pattern = PadPattern(state.pad_value & ((1 << 8 * size) - 1), size)
    if not legal:
        rule = _broken_rule(
            MteGmUb,
            op,
            source,
            target,
            pad_en=op.data_select_bit,
            pad_legacy=1,
            pad_value=pattern.value,
            pad_left=op.left_padding,
            pad_right=op.right_padding,
        )
        if rule:
            return Outcome(Status.RULE, rule)
    # Of a legal copy counts without the bit select padding too (knob ``pad_unselected``; A-16).
    if not (op.data_select_bit or op.left_padding or op.right_padding):
        return _load(source, target, op.src_type)
    unit = size if current().legacy_pad_unit == "elements" else 1
    return _padded(source, target, (unit * op.left_padding, unit * op.right_padding), pattern)


def ubuf_to_gm(op: CopyUbufToGm, legal: bool, state: Registers) -> Outcome:
    """Returns the outcome of a ``copy_ubuf_to_gm`` with the current registers."""
    registers = state.ubtoout
    counts = registers.counts(op.n_burst)
    src_strides = registers.src_strides(op.src_stride)
    dst_strides = registers.dst_strides(op.dst_stride)
    source = Footprint(ub_space(op.ub_sub), op.ub_src, op.len_burst, counts, src_strides)
    target = Footprint(Space.GM, op.gm_dst, op.len_burst, counts, dst_strides)
    if not legal:
        rule = _broken_rule(MteUbGm, op, source, target, **atomic_fields(state))
        if rule:
            return Outcome(Status.RULE, rule)
    return _store(source, target, state)


def _nest(op: DmaOp, src: int, dst: int) -> tuple[_Steps, _Steps, _Steps]:
    """Returns counts, source strides and destination strides; rows first, outermost loop last."""
    loops = op.loops
    if not loops:
        return (op.n_burst,), (src,), (dst,)
    return (
        (op.n_burst, *[loop.count for loop in loops]),
        (src, *[loop.src_stride for loop in loops]),
        (dst, *[loop.dst_stride for loop in loops]),
    )


def _padded(
    source: Footprint, target: Footprint, ends: tuple[int, int], pattern: PadPattern
) -> Outcome:
    """Returns the outcome of a legal load with padding (docs/spec/dma.md, section 3).

    Args:
        source: Rows in GM.
        target: The data of these rows at the destination, at the start of each.
        ends: Pad bytes before and, at least, after the data of a row.
        pattern: Pad element.
    """
    length, counts = source.length, source.counts
    if not length or 0 in counts:
        return NOTHING
    if _grouped(target):
        if not length % UB_BLOCK:
            return Outcome(Status.OK, 0, source, target)
        return filled(source, target, 0, compact=True, pad=pattern)
    row = target.strides[0]
    if current().pad_end == "block":
        row = block_end(ends[0] + length + ends[1])
    return Outcome(Status.OK, 0, source, target._replace(length=row), ends[0], pattern)


def _grouped(target: Footprint) -> bool:
    """Returns whether rows on the chip form a compact group (knob ``compact``; A-60)."""
    several = target.counts[0] > 1 and target.strides[0] == target.length
    return several and current().compact == "legal"


def _load(source: Footprint, target: Footprint, of_ub: Ptr | None = None) -> Outcome:
    """Returns the outcome of a legal load without padding (knob ``tail``; A-59, A-60).

    Args:
        source: Rows in GM.
        target: Rows of the same length at the destination.
        of_ub: Pointer type with the element that fills a block of UB; without it blocks of L1 are
            filled with 0.
    """
    length, counts = source.length, source.counts
    if not length or 0 in counts:
        return NOTHING
    if current().tail == "keep":
        return Outcome(Status.OK, 0, source, target)
    compact = _grouped(target)
    if not (length * counts[0] if compact else length) % UB_BLOCK:
        return Outcome(Status.OK, 0, source, target)
    element = 0 if of_ub is None else element_bytes(of_ub.dtype)
    return filled(source, target, element, compact=compact)


def _rows(source: Footprint, target: Footprint) -> Outcome:
    """Returns the outcome of a legal copy without padding; a zero count makes it a NOP."""
    if not source.length or 0 in source.counts:
        return NOTHING
    return Outcome(Status.OK, 0, source, target)


def _store(source: Footprint, target: Footprint, state: Registers) -> Outcome:
    """Returns the outcome of a legal store: plain, or the atomic update of CTRL."""
    if not state.atomic_type or not source.length or 0 in source.counts:
        return _rows(source, target)
    update = atomic_store(source, target, state)
    return Outcome(Status.OK, 0, source, target, transfer=update, also_read=(target,))


def _verdict(op: DmaOp) -> int:
    """Returns the lowest D rule the op breaks, or 0: the verdict is that of the rule table."""
    violation = first_d_violation(op)
    return 0 if violation is None else violation.rule.number


def _broken_rule(
    kind: type[DmaOp],
    op: CopyGmToUbuf | CopyUbufToGm,
    read: Footprint,
    written: Footprint,
    **rest: int,
) -> int:
    """Returns the same of a legacy copy, which is an op of ``kind`` with rows of its registers.

    Where rows are padded the length is that of the source.
    """
    loops = zip(read.counts[1:], read.strides[1:], written.strides[1:], strict=True)
    rows = read.length, read.counts[0], read.strides[0], written.strides[0]
    lowered = kind(
        read.base, written.base, *rows, tuple([Loop(*loop) for loop in loops]),
        l2_cache_ctl=op.l2_cache_ctl, src_type=op.src_type, dst_type=op.dst_type,
    )  # fmt: skip
    return _verdict(replace(lowered, **rest))
