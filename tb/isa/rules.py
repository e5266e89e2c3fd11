# SPDX-License-Identifier: Apache-2.0
"""All numbered rules and their checks: the entry point to the rules of all families.

S rules check the op as written, D rules its descriptor; the engine also checks D rules, on the
packed bits, and the two must agree. T rules concern whole footprints: stimulus obeys them and no
checker reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tb.isa.burst import rules as burst_rules
from tb.isa.burst.op import BurstDescriptor, BurstOp
from tb.isa.dma import rules as dma_rules
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.table import LEN_BITS, LOCAL_STRIDE_BITS, N_BURST_BITS
from tb.isa.fix import rules as fix_rules
from tb.isa.fix.op import FixDescriptor, FixOp
from tb.isa.lower import Descriptor, V06Op
from tb.isa.nz import rules as nz_rules
from tb.isa.nz.op import MteGmL1Frac, NzDescriptor
from tb.isa.rule import Breach, Rule, Violation, below_length, too_wide, unaligned
from tb.isa.spaces import UB_BLOCK

_DMA: dict[int, Rule] = {
    rule.number: rule for rule in (*dma_rules.S_RULES, *dma_rules.D_RULES, *dma_rules.T_RULES)
}

_FIX = sorted(
    (*fix_rules.S_RULES, *fix_rules.D_RULES, *fix_rules.T_RULES, fix_rules.PARAMETER_RULE),
    key=lambda rule: rule.number,
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        *(_DMA[number] for number in sorted(_DMA)),
        *nz_rules.S_RULES,
        *nz_rules.D_RULES,
        *nz_rules.T_RULES,
        *burst_rules.S_BT,
        *burst_rules.D_BT,
        *burst_rules.S_FB,
        *burst_rules.D_FB,
        *_FIX,
    )
}
"""Every rule by name, family by family, ascending."""

_Predicate = Callable[[Any], "str | None"]
_Predicates = Mapping[Rule, _Predicate]


def d_predicates(desc: Descriptor) -> _Predicates:
    """Returns the D rules of the descriptor's op in ascending number."""
    if isinstance(desc, NzDescriptor):
        return nz_rules.D_RULES
    if isinstance(desc, BurstDescriptor):
        return burst_rules.d_predicates(desc, _DMA)
    return _of_spec(isinstance(desc, FixDescriptor), tuple(desc.spec.d_rules))


@cache
def _of_spec(fix: bool, numbers: tuple[int, ...]) -> _Predicates:
    """Returns the D rules with these numbers, of the write-back or of the strided copies."""
    rules: _Predicates = fix_rules.D_RULES if fix else dma_rules.D_RULES
    return {rule: holds for rule, holds in rules.items() if rule.number in numbers}


def first_d_violation(desc: Descriptor) -> Violation | None:
    """Returns the violated D rule with the lowest number, or None."""
    for rule, predicate in d_predicates(desc).items():
        message = predicate(desc)
        if message:
            return Violation(rule, message)
    return None


def d_violations(desc: Descriptor) -> tuple[Violation, ...]:
    """Returns every D rule the descriptor breaks, in ascending number."""
    found = []
    for rule, predicate in d_predicates(desc).items():
        message = predicate(desc)
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def _s_predicates(op: V06Op) -> Mapping[Rule, Any]:
    """Returns the S rules of the op; None for a rule that only text can break."""
    if isinstance(op, MteGmL1Frac):
        return nz_rules.S_RULES
    if isinstance(op, BurstOp):
        return burst_rules.s_predicates(op, _DMA)
    if isinstance(op, FixOp):
        return fix_rules.S_RULES
    return dma_rules.S_RULES


def s_violations(op: V06Op) -> tuple[Violation, ...]:
    """Returns every S rule the op breaks, in ascending number."""
    found = []
    for rule, predicate in _s_predicates(op).items():
        message = predicate(op) if predicate else None
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def t_violations(desc: Descriptor) -> tuple[Violation, ...]:
    """Returns every T rule the descriptor breaks: such an op must not be scored."""
    rules: _Predicates = dma_rules.T_RULES
    if isinstance(desc, NzDescriptor):
        rules = nz_rules.T_RULES
    elif isinstance(desc, BurstDescriptor):
        rules = {_DMA[14]: burst_rules.disjoint}
    elif isinstance(desc, FixDescriptor):
        rules = fix_rules.T_RULES
    found = []
    for rule, predicate in rules.items():
        message = predicate(desc)
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def lowering_violation(op: CopyUbufToUbuf) -> Violation | None:
    """Returns the lowest rule for which ``copy_ubuf_to_ubuf`` is not issued, or None.

    DMA-L05, L07, L08 and L11 of this op concern bytes and strides that its descriptor does not
    hold, so they are checked here (spec/dma.md, section 4; A-15). The engine decides the others.
    """
    strides = (("src_stride", op.src_stride), ("dst_stride", op.dst_stride))
    widths = [("n_burst", op.n_burst, N_BURST_BITS), ("len_burst", op.len_burst, LEN_BITS)]
    widths += [(name, value, LOCAL_STRIDE_BITS) for name, value in strides]
    for name, value, bits in widths:
        message = too_wide(name, value, bits)
        if message:
            return Violation(_DMA[5], message)
    if op.n_burst > 1:
        for name, value in strides:
            if value % UB_BLOCK:
                return Violation(_DMA[7], unaligned(name, value, UB_BLOCK))
        for name, value in strides:
            if value < op.len_burst:
                return Violation(_DMA[8], below_length(name, value, op.len_burst))
    if op.len_burst % UB_BLOCK:
        what = f"len_burst {op.len_burst} is not a multiple of {UB_BLOCK}"
        return Violation(_DMA[11], Breach(what, f"a multiple of {UB_BLOCK}", what))
    return None
