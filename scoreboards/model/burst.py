# SPDX-License-Identifier: Apache-2.0
"""Issue of the gap-based raw copies and of ``copy_ubuf_to_ubuf``.

``mte_ub_ub`` and ``mte_ub_l1`` are those of spec/dma.md, section 2, ``mte_l1_fb`` that of
spec/bias_fb.md, section 3. The legacy copy is read from its own bytes and strides, not through
the lowering that the engine's descriptor comes from: the two must agree (A-15).
"""

from __future__ import annotations

from scoreboards.model.outcome import NOTHING, Outcome
from scoreboards.model.registers import Registers, fits
from tb.isa.burst.op import BurstDescriptor, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.burst.table import MTE_L1_FB, MTE_UB_L1, MTE_UB_UB
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.footprint import Footprint
from tb.isa.rules import first_d_violation
from tb.isa.spaces import SIZES, Space, ub_space
from tb.isa.status import Status

LOWERING_RULES = frozenset({5, 7, 8, 11})
"""Numbers of the DMA rules for which a ``copy_ubuf_to_ubuf`` is not issued (spec/dma.md, 4)."""

_UB_UNIT = 32
_FB_UNIT = 64


def ub_ub(op: MteUbUb, legal: bool, _state: Registers) -> Outcome:
    """Returns what an ``mte_ub_ub`` does."""
    if not legal:
        rule = broken_rule(
            BurstDescriptor(
                MTE_UB_UB,
                op.ub_src,
                op.ub_dst,
                op.len_burst,
                op.n_burst,
                op.src_gap,
                op.dst_gap,
                ub_sub=op.ub_sub,
            )
        )
        if rule:
            return Outcome(Status.RULE, rule)
    space = ub_space(op.ub_sub)
    return _bursts(op, _UB_UNIT, space, op.ub_src, space, op.ub_dst)


def ub_l1(op: MteUbL1, legal: bool, _state: Registers) -> Outcome:
    """Returns what an ``mte_ub_l1`` does."""
    if not legal:
        rule = broken_rule(
            BurstDescriptor(
                MTE_UB_L1,
                op.ub_src,
                op.l1_dst,
                op.len_burst,
                op.n_burst,
                op.src_gap,
                op.dst_gap,
                ub_sub=op.ub_sub,
            )
        )
        if rule:
            return Outcome(Status.RULE, rule)
    return _bursts(op, _UB_UNIT, ub_space(op.ub_sub), op.ub_src, Space.L1, op.l1_dst)


def l1_fb(op: MteL1Fb, legal: bool, _state: Registers) -> Outcome:
    """Returns what an ``mte_l1_fb`` does: units of 64 bytes, whatever the pointer type (A-24)."""
    if not legal:
        rule = broken_rule(
            BurstDescriptor(
                MTE_L1_FB,
                op.l1_src,
                op.fb_dst,
                op.len_burst,
                op.n_burst,
                op.src_gap,
                op.dst_gap,
            )
        )
        if rule:
            return Outcome(Status.RULE, rule)
    return _bursts(op, _FB_UNIT, Space.L1, op.l1_src, Space.FB, op.fb_dst)


def ubuf_to_ubuf(op: CopyUbufToUbuf, legal: bool, _state: Registers) -> Outcome:
    """Returns what a ``copy_ubuf_to_ubuf`` does: bytes and start-to-start strides.

    With a rule of ``LOWERING_RULES`` the front end does not issue it and no engine sees it.
    """
    if not legal:
        rule = _refusal(op) or _engine_rule(op)
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


def broken_rule(desc: BurstDescriptor) -> int:
    """Returns the lowest D rule the op breaks, or 0: the verdict is that of the rule table."""
    violation = first_d_violation(desc)
    return 0 if violation is None else violation.rule.number


def _bursts(
    op: MteUbUb | MteUbL1 | MteL1Fb, unit: int, space: Space, src: int, target: Space, dst: int
) -> Outcome:
    if not op.len_burst or not op.n_burst:
        return NOTHING
    size, counts = op.len_burst * unit, (op.n_burst,)
    return Outcome(
        Status.OK,
        0,
        Footprint(space, src, size, counts, (size + op.src_gap * unit,)),
        Footprint(target, dst, size, counts, (size + op.dst_gap * unit,)),
    )


def _refusal(op: CopyUbufToUbuf) -> int:
    """Returns the lowest rule decided at lowering that the copy breaks, or 0."""
    strides = (op.src_stride, op.dst_stride)
    several = op.n_burst > 1
    if not (fits(op.len_burst, 16) and fits(op.n_burst, 16) and all(fits(s, 21) for s in strides)):
        return 5
    if several and any(stride % _UB_UNIT for stride in strides):
        return 7
    if several and min(strides) < op.len_burst:
        return 8
    return 11 if op.len_burst % _UB_UNIT else 0


def _engine_rule(op: CopyUbufToUbuf) -> int:
    """Returns the lowest of the other D rules that the copy breaks, or 0."""
    if op.src % _UB_UNIT or op.dst % _UB_UNIT:
        return 6
    if not op.len_burst or not op.n_burst:
        return 0
    size, last = SIZES[ub_space(op.ub_sub)], op.n_burst - 1
    ends = (op.src + last * op.src_stride, op.dst + last * op.dst_stride)
    return 12 if max(ends) + op.len_burst > size else 0
