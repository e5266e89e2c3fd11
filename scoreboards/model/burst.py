# SPDX-License-Identifier: Apache-2.0
"""Issue of the gap-based copies and of ``copy_ubuf_to_ubuf``.

``mte_ub_ub`` and ``mte_ub_l1`` are those of docs/spec/dma.md, section 2. ``mte_l1_bt``, which
widens elements of 16 bits, and ``mte_l1_fb`` are those of docs/spec/bias_fb.md, sections 2 and 3.
The legacy copy is read from its own bytes and strides, not through the lowering that the engine's
descriptor comes from: the two must agree (A-15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoreboards.model.outcome import NOTHING, Explanation, Memory, Outcome
from scoreboards.model.registers import Registers, fits
from scoreboards.model.widen import WIDENINGS
from tb.isa.burst.op import BurstOp
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.footprint import Footprint
from tb.isa.rules import first_d_violation
from tb.isa.spaces import SIZES, Space, ub_space
from tb.isa.status import Status

LOWERING_RULES = frozenset({5, 6, 7, 8, 11, 12})
"""Numbers of the rules for which a ``copy_ubuf_to_ubuf`` is not issued (docs/spec/dma.md, 4)."""

_UB_UNIT = 32
_FB_UNIT = 64
_SLOT_BYTES = 4
_SLOT = np.dtype("<u4")


def bursts(op: BurstOp, legal: bool, _state: Registers) -> Outcome:
    """Returns the outcome of a raw copy of bursts: units of 32 bytes, to fb of 64 (A-24).

    Pointer types do not matter.
    """
    if not legal:
        rule = broken_rule(op)
        if rule:
            return Outcome(Status.RULE, rule)
    if not op.len_burst or not op.n_burst:
        return NOTHING
    unit = _FB_UNIT if op.spec.destination == "fb" else _UB_UNIT
    size, counts = op.len_burst * unit, (op.n_burst,)
    source, target = _space(op, op.spec.source), _space(op, op.spec.destination)
    read = Footprint(source, op.src_addr, size, counts, (size + op.src_gap * unit,))
    written = Footprint(target, op.dst_addr, size, counts, (size + op.dst_gap * unit,))
    if target is Space.FB and written.outside is not None:
        raise ValueError(f"FB {written.base:#x}..{written.end:#x} leaves its memory, a segment")
    return Outcome(Status.OK, 0, read, written)


@dataclass(frozen=True, slots=True)
class BiasTransfer:
    """Moves bias elements; ``read`` and ``written`` have the same bursts."""

    read: Footprint
    written: Footprint
    dtype: str

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Widens every element into its slot; returns the classes of what was read."""
        read, written, rule = self.read, self.written, WIDENINGS[self.dtype]
        size = rule.element.itemsize
        shape = (*read.counts, read.length // size)
        memory, target = memories[read.space].data, memories[written.space].data
        elements = np.ndarray(shape, rule.element, memory, read.base, (*read.strides, size))
        slots: np.ndarray[tuple[int, ...], np.dtype[np.uint32]] = np.ndarray(
            shape, _SLOT, target, written.base, (*written.strides, _SLOT_BYTES)
        )
        slots[...] = elements if rule.words is None else rule.words[elements]
        return rule.events(elements)

    def explain(self, index: tuple[int, ...], byte: int | None, _region: int = 0) -> Explanation:
        """Names the slot, counted from the op's destination, and the element it holds."""
        (burst,) = index
        if byte is None:
            return Explanation(f"burst {burst} of {self.written.counts[0]}")
        rule = WIDENINGS[self.dtype]
        element, part = divmod(byte, _SLOT_BYTES)
        slot = (burst * self.written.strides[0] + byte) // _SLOT_BYTES
        source = self.read.base + burst * self.read.strides[0] + element * rule.element.itemsize
        how = self.dtype if rule.words is None else f"{self.dtype} widened"
        return Explanation(
            f"bias slot {slot} = burst {burst}, element {element} ({how}), byte {part} of "
            f"{_SLOT_BYTES}",
            source,
        )


def biases(op: BurstOp, legal: bool, _state: Registers) -> Outcome:
    """Returns the outcome of an ``mte_l1_bt``: slots of 4 bytes, whatever the element (A-22).

    Raises:
        ValueError: the types are none of the four pairs (BT-L01).
    """
    source_type = op.src_type.dtype
    widening = WIDENINGS.get(source_type)
    if widening is None or widening.target != op.dst_type.dtype:
        pairs = ", ".join(f"{name} -> {w.target}" for name, w in WIDENINGS.items())
        raise ValueError(
            f"BT-L01: mte_l1_bt from {source_type} to {op.dst_type.dtype}: one of {pairs}"
        )
    if not legal:
        rule = broken_rule(op)
        if rule:
            return Outcome(Status.RULE, rule)
    if not op.len_burst or not op.n_burst:
        return NOTHING
    length, counts, size = op.len_burst, (op.n_burst,), widening.element.itemsize
    read = Footprint(Space.L1, op.src_addr, length * size, counts, ((length + op.src_gap) * size,))
    pitch = (length + op.dst_gap) * _SLOT_BYTES
    written = Footprint(Space.BT, op.dst_addr, length * _SLOT_BYTES, counts, (pitch,))
    transfer = BiasTransfer(read, written, source_type)
    return Outcome(Status.OK, 0, read, written, transfer=transfer)


def ubuf_to_ubuf(op: CopyUbufToUbuf, legal: bool, _state: Registers) -> Outcome:
    """Returns the outcome of a ``copy_ubuf_to_ubuf``: bytes and start-to-start strides.

    It is judged once; if it breaks a rule the front end does not issue it (A-67).
    """
    if not legal:
        rule = _broken_copy(op)
        if rule:
            return Outcome(Status.RULE, rule)
    if not op.len_burst or not op.n_burst:
        return NOTHING
    space, counts = ub_space(op.ub_sub), (op.n_burst,)
    return Outcome(
        Status.OK,
        0,
        Footprint(space, op.src, op.len_burst, counts, (op.src_stride,)),
        Footprint(space, op.dst, op.len_burst, counts, (op.dst_stride,)),
    )


def broken_rule(op: BurstOp) -> int:
    """Returns the lowest D rule the op breaks, or 0: the verdict is that of the rule table."""
    violation = first_d_violation(op)
    return 0 if violation is None else violation.rule.number


def _space(op: BurstOp, keyword: str) -> Space:
    return ub_space(op.ub_sub) if keyword == "ub" else Space[keyword.upper()]


def _broken_copy(op: CopyUbufToUbuf) -> int:
    """Returns the lowest rule that the copy breaks, or 0; all are judged on its operands (A-67)."""
    strides = (op.src_stride, op.dst_stride)
    several = op.n_burst > 1
    if not (fits(op.len_burst, 16) and fits(op.n_burst, 16) and all(fits(s, 21) for s in strides)):
        return 5
    if op.src % _UB_UNIT or op.dst % _UB_UNIT:
        return 6
    if several and any(stride % _UB_UNIT for stride in strides):
        return 7
    if several and min(strides) < op.len_burst:
        return 8
    if op.len_burst % _UB_UNIT:
        return 11
    if not op.len_burst or not op.n_burst:
        return 0
    size, last = SIZES[ub_space(op.ub_sub)], op.n_burst - 1
    ends = (op.src + last * op.src_stride, op.dst + last * op.dst_stride)
    return 12 if max(ends) + op.len_burst > size else 0
