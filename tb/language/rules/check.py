# SPDX-License-Identifier: Apache-2.0
"""Checks the ops of a program against the rules of the specification.

S rules forbid an op, D rules make an engine retire it with an error, T rules leave its result
undefined. A rule is decided with the operands that are known; the others are not reported. Of
an op that runs several times each rule is reported once, with the first run that breaks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tb.isa.burst.op import BurstOp, MteUbUb
from tb.isa.ctrl import CtrlOp
from tb.isa.dma import rules as dma_rules
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacyCopy,
    LegacySet,
    lower_copy,
    lower_ubuf_copy,
    operand_widths,
)
from tb.isa.dma.op import DmaOp, MteGmUb, MteUbGm
from tb.isa.dma.rules import PAD_TYPE
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.fill.op import FillOp
from tb.isa.fix import rules as fix_rules
from tb.isa.fix.op import FixOp, MteL0cGm
from tb.isa.fix.rules import PARAMETER_RULE
from tb.isa.fix.table import SCALAR_RELU, SCALE_MASK
from tb.isa.footprint import Footprint, destinations, without_fill
from tb.isa.l0 import rules as load_rules
from tb.isa.l0.op import L0Load
from tb.isa.lower import lower
from tb.isa.mad import problems
from tb.isa.op import Op, replace
from tb.isa.profile import KNOBS, PROFILES, current, using
from tb.isa.rule import Breach, Rule, Violation, too_wide
from tb.isa.rules import (
    RULES,
    d_predicates,
    lowering_predicates,
    lowering_violation,
    s_violations,
    t_violations,
)
from tb.language.lowered import Lowering
from tb.language.place import Finding, Place
from tb.language.rules.assume import (
    PARAMETERS,
    SOURCE,
    assume,
    harmless,
    has_unknown,
    like,
    unknown_parts,
)
from tb.language.rules.compiler import ATOMIC_RULE, unchecked, undefined
from tb.language.trace import Compute, Move, Trace
from tb.language.unknown import UndecidedError

HINT_RULES = ("DMA-L15", "FIX-L13")
"""S rules of constant hints; the engine decides the same operands by their width."""

_WIDTHS = ("DMA-L05", "ND-L03", "BT-L02", "FB-L02", "FIX-L14", "LD-L03", "RF-L02")
_RANGES = ("DMA-L12", "ND-L08", "BT-L04", "FB-L04", "FIX-L23", "LD-L06")
"""Rules about extents, which mean nothing when an operand of them does not fit."""

_Problem = tuple[str, str, str]
"""Rule or nothing, what is wrong, and what is legal."""

MOST_ROWS = 1 << 20
"""Rows up to which the rows of a destination are compared one by one."""


def check(trace: Trace, *, d_rules: bool = True) -> list[Finding]:
    """Returns every rule that an op of the program breaks, by the op and in its order.

    ``d_rules`` is false for programs whose illegal ops are sent: engines have to refuse ops that
    break a D rule, so these are not reported. Undefined results of ops that break none are.
    """
    doubts = trace.doubtful()
    again = {index for index, doubt in doubts.items() if doubt.again}
    runs = Counter(
        step.place
        for index, step in enumerate(trace.steps)
        if isinstance(step, Move | Compute) and index not in again
    )
    run: Counter[Place] = Counter()
    found: dict[tuple[Place, str, str], Finding] = {}
    known: dict[Lowering, list[_Problem]] = {}
    for index, step in enumerate(trace.steps):
        if not isinstance(step, Move | Compute):
            continue
        run[step.place] += index not in again
        condition = doubts[index].condition if index in doubts else ""
        if isinstance(step, Compute):
            problems = _of_product(step)
        else:
            if step.lowering not in known:
                known[step.lowering] = _problems(step.lowering, d_rules)
            problems = known[step.lowering]
        for rule, what, legal in problems:
            where = step.place, rule, "" if rule else what
            if where not in found or (found[where].condition and not condition):
                if runs[step.place] > 1 and index not in again:
                    what += f", in iteration {run[step.place]} of {runs[step.place]}"
                what += trace.called(index)
                found[where] = _finding(step, rule, what, legal, condition)
    for step in trace.dead:
        for rule, what, legal in _without_a_run(step):
            where = step.place, rule, "" if rule else what
            what += ", in code that is never reached"
            found[where] = _finding(step, rule, what, legal)
    return list(found.values())


def _finding(
    step: Move | Compute, rule: str, what: str, legal: str, condition: str = ""
) -> Finding:
    """Returns what is wrong: a warning where the compiler accepts it (OR-03)."""
    ours = unchecked(step.name, step.op, rule)
    accepted = undefined(step.name, step.op, rule)
    return Finding(
        step.place, f"pto.{step.name}", rule, what, legal, condition, ours,
        severity="warning" if accepted else "error", undefined=accepted,
    )  # fmt: skip


def _of_product(step: Compute) -> list[_Problem]:
    try:
        return [(one.rule, one.message, one.legal) for one in problems(step.op)]
    except UndecidedError:
        return []


def _without_a_run(step: Move | Compute) -> list[_Problem]:
    """Returns what is wrong with an op that is never executed: its types, and S rules."""
    if isinstance(step, Compute):
        return _of_product(step)
    if isinstance(step.op, LegacySet | CtrlOp):
        return []
    return [(one.rule.name, one.what, one.legal) for one in s_broken(step.op, True)]


def _legal(found: Violation, lowering: Lowering, d_rules: bool) -> str:
    """Returns what a rule permits, with the value of a knob under which it permits the op."""
    for knob in KNOBS.values():
        for name, value in zip(PROFILES, knob.values, strict=True):
            if found.rule.name not in knob.rules or value == getattr(current(), knob.name):
                continue
            again = Lowering(lowering.op, lowering.registers, lowering.ctrl)
            with using(replace(current(), **{knob.name: value})):
                broken = {one.rule for one in _violations(again, d_rules)}
            if found.rule not in broken:
                here = f"this op with knob {knob.name} = {value} (profile {name})"
                return f"{found.legal}; {here}" if found.legal else here
    return found.legal


def _problems(lowering: Lowering, d_rules: bool) -> list[_Problem]:
    """Returns what is wrong with an op."""
    op = lowering.op
    found = _violations(lowering, d_rules)
    problems = [(one.rule.name, one.what, _legal(one, lowering, d_rules)) for one in found]
    if isinstance(op, DmaOp) and len(op.loops) > MAX_LOOPS:
        what = f"has {len(op.loops)} loop groups, more than a descriptor holds: split the op"
        problems.append(("A-08", what, f"0..{MAX_LOOPS}"))
    return problems


def _violations(lowering: Lowering, d_rules: bool) -> tuple[Violation, ...]:
    """Returns every rule that an op breaks; of D rules those of T where it breaks none."""
    op = lowering.op
    if isinstance(op, CtrlOp):
        return ()
    found = set_violations(op) if isinstance(op, LegacySet) else _of_op(op, lowering)
    if any(one.rule.name == ATOMIC_RULE for one in found):  # The type is not that of CTRL.
        found = tuple(one for one in found if one.rule.name != "FIX-L27")
    if d_rules:
        return found
    # An engine refuses an op with a hint that does not fit.
    if isinstance(op, CopyGmToUbuf):
        found = tuple(one for one in found if one.rule is not PAD_TYPE)  # a D rule, too
    hints = any(one.rule.name in HINT_RULES for one in found)
    kinds = "S" if hints else "ST"
    return tuple(one for one in found if one.rule.kind in kinds)


def _of_op(op: Op | LegacyCopy | CopyUbufToUbuf, lowering: Lowering) -> tuple[Violation, ...]:
    s_rules = s_broken(op, lowering.unknown)
    if any(one.rule.name not in (*HINT_RULES, ATOMIC_RULE) for one in s_rules):
        return s_rules
    if s_rules:
        op = _without_hints(op)
        lowering = Lowering(op, lowering.registers, lowering.ctrl)
    if lowering.unknown:
        undecided = _d_undecided(op, lowering.registers, assume(lowering.ctrl, _zero))
        return (*s_rules, *(undecided or _shape_broken(op)))
    if isinstance(op, CopyUbufToUbuf):
        refused = lowering_violation(op)
        if refused:
            return (*s_rules, refused)
    desc = lowering.descriptor
    if desc is None:  # Types that no descriptor holds, or too many loops, which others report.
        return s_rules
    return (*s_rules, *(_reported(lowering.broken) or (*t_broken(desc), *_shape_broken(op))))


def _reported(violations: tuple[Violation, ...]) -> tuple[Violation, ...]:
    """Leaves out extents where an operand does not fit its width."""
    if any(one.rule.name in _WIDTHS for one in violations):
        return tuple(one for one in violations if one.rule.name not in _RANGES)
    return violations


def set_violations(op: LegacySet) -> tuple[Violation, ...]:
    """Returns the rule that an op breaks which writes registers, or nothing."""
    for name, value, bits in operand_widths(assume(op, harmless("DMA-L05"))):
        message = too_wide(name, value, bits)
        if message:
            return (Violation(RULES["DMA-L05"], message),)
    return ()


def _s_told(found: tuple[Violation, ...]) -> tuple[Violation, ...]:
    """Leaves out the row of section 4 where its type or its mode is none."""
    if any(one.rule.name in ("FIX-L02", "FIX-L03") for one in found):
        return tuple(one for one in found if one.rule.name != "FIX-L04")
    return found


def s_broken(op: Op | LegacyCopy | CopyUbufToUbuf, unknown: bool) -> tuple[Violation, ...]:
    """Returns the S rules an op breaks; of a legacy copy those of the op that it is lowered to."""
    src, dst = op.src_type, op.dst_type
    if isinstance(op, CopyGmToUbuf):
        found = s_violations(MteGmUb(0, 0, 0, 0, 0, 0, src_type=src, dst_type=dst))
        if not found and ELEMENT_BYTES[op.src_type.dtype] > 4:
            padded = assume(op, harmless("DMA-L03")).data_select_bit
            if padded == 1:
                what = f"elements of {op.src_type.dtype} cannot be padded"
                found = (Violation(RULES["DMA-L03"], Breach(what, "1, 2 or 4 bytes")),)
        return _renamed(found, "mte_gm_ub", "copy_gm_to_ubuf")
    if isinstance(op, CopyUbufToGm):
        found = s_violations(MteUbGm(0, 0, 0, 0, 0, 0, src_type=src, dst_type=dst))
        return _renamed(found, "mte_ub_gm", "copy_ubuf_to_gm")
    if isinstance(op, CopyUbufToUbuf):
        found = s_violations(MteUbUb(0, 0, 0, 0, 0, 0, src_type=src, dst_type=dst))
        return _renamed(found, "mte_ub_ub", "copy_ubuf_to_ubuf")
    return _s_told(s_violations(assume(op, harmless("")) if unknown else op))


def _renamed(found: tuple[Violation, ...], name: str, legacy: str) -> tuple[Violation, ...]:
    return tuple(one.renamed(name, legacy) for one in found)


def _without_hints(
    op: Op | LegacyCopy | CopyUbufToUbuf,
) -> Op | LegacyCopy | CopyUbufToUbuf:
    """Returns the op with legal hints: the rules that they break are reported already."""
    if isinstance(op, MteL0cGm):
        return replace(op, sid=0, l2_cache_ctrl=0)
    return replace(op, l2_cache_ctl=0) if isinstance(op, MteGmUb | MteUbGm) else op


def _lower(op: Op | LegacyCopy | CopyUbufToUbuf, registers: DmaRegisters, ctrl: int) -> Op:
    if isinstance(op, CopyUbufToUbuf):
        return lower_ubuf_copy(op)
    if isinstance(op, CopyGmToUbuf | CopyUbufToGm):
        return lower_copy(op, registers, ctrl)
    return lower(op, ctrl)


def _d_undecided(
    op: Op | LegacyCopy | CopyUbufToUbuf, registers: DmaRegisters, ctrl: int
) -> tuple[Violation, ...]:
    """Returns the D rules that the known operands of an op break."""
    if isinstance(op, CopyUbufToUbuf):
        return _copy_undecided(op)
    found = []
    rules = _rules(op, registers)
    if not rules:
        return ()
    made: dict[str, tuple[Op, dict[Rule, Any]]] = {}
    # An address is the sum of two operands of a fill: either may bring it to a block.
    parts = (op.dst, op.byte_offset) if isinstance(op, FillOp) else ()
    for rule in rules:
        if rule.name == "RF-L03" and any(map(has_unknown, parts)):
            continue
        same = like(rule.name)
        if same not in made:
            chosen = harmless(same)
            desc = _lower(assume(op, chosen), assume(registers, chosen), ctrl)
            made[same] = desc, dict(d_predicates(desc))
        desc, predicates = made[same]
        message = predicates[rule](desc)
        if message:
            found.append(Violation(rule, message))
    broken = _reported(tuple(found))
    if broken or unknown_parts(registers):
        return broken
    # Where rows fall on one another does not depend on where they come from; where a burst goes
    # inside one memory does.
    if not isinstance(op, BurstOp) and _rows_known(op):
        return t_broken(_lower(assume(op, _zero), registers, ctrl))
    return ()


def _copy_undecided(op: CopyUbufToUbuf) -> tuple[Violation, ...]:
    """Returns the lowest rule that the known operands of a copy inside UB break (A-67)."""
    for rule, holds in lowering_predicates().items():
        message = holds(assume(op, _zero if rule.name in _RANGES else _copy_operand))
        if message:
            return (Violation(rule, message),)
    return ()


def _rows_known(op: Op | LegacyCopy) -> bool:
    """Returns whether all is known of the destination, but perhaps its address in GM."""
    rest = op
    if isinstance(op, MteUbGm | CopyUbufToGm):
        rest = replace(op, gm_dst=0)
    elif isinstance(op, MteL0cGm):
        rest = replace(op, dst=0)
    return unknown_parts(rest) <= {"", SOURCE, PARAMETERS}


def _copy_operand(name: str) -> int:
    """Returns a value of an operand of ``copy_ubuf_to_ubuf`` that breaks nothing."""
    return 1 << 20 if "stride" in name else 0


def _rules(op: Op | LegacyCopy | CopyUbufToUbuf, registers: DmaRegisters) -> list[Rule]:
    """Returns the D rules of an op; none where no descriptor holds it."""
    try:
        return list(d_predicates(_lower(assume(op, _zero), assume(registers, _zero), 0)))
    except ValueError:
        return []


def _zero(_: str) -> int:
    return 0


# --- T rules -------------------------------------------------------------------------------------


def t_broken(desc: Op) -> tuple[Violation, ...]:
    """Returns the T rules that a legal op breaks."""
    found: tuple[Violation, ...] = ()
    if not desc.is_nop:
        if isinstance(desc, BurstOp | L0Load | FillOp):
            found = t_violations(desc)
        else:
            found = _overlaps(desc)
        found += _of_operands(desc)
    if isinstance(desc, FixOp):
        found += _parameters(desc)
    return found


def _shape_broken(op: Op | LegacyCopy | CopyUbufToUbuf) -> tuple[Violation, ...]:
    """Returns the T rule that the known extents of a load break."""
    message = load_rules.l08(assume(op, _zero)) if isinstance(op, L0Load) else None
    return (Violation(load_rules.SHAPE_RULE, message),) if message else ()


_OF_OPERANDS: dict[Rule, Callable[[Any], str | None]] = {
    RULES["DMA-L19"]: dma_rules.l19,
    RULES["FIX-L27"]: fix_rules.l27,
}
"""T rules that need no footprint."""


def _of_operands(desc: Op) -> tuple[Violation, ...]:
    """Returns the T rules that an op breaks whatever its rows are."""
    families = {"DMA": "dma", "FIX": "fix"}
    found = []
    for rule, holds in _OF_OPERANDS.items():
        message = holds(desc) if desc.family == families[rule.family] else None
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def _overlaps(desc: Op) -> tuple[Violation, ...]:
    """Returns the rule about rows that overlap; very many rows are counted, not compared."""
    footprint = destinations(desc)[0]
    if _nested(footprint):
        return ()
    if footprint.rows <= MOST_ROWS:
        return tuple(one for one in t_violations(desc) if one.rule not in _OF_OPERANDS)
    if footprint.bytes <= footprint.end - footprint.base:
        return ()
    rule = {"dma": "DMA-L13", "nz": "ND-L09", "fix": "FIX-L24"}[desc.family]
    if isinstance(desc, DmaOp) and _nested(without_fill(desc)):
        rule = "DMA-L18"
    message = f"{footprint.bytes} B are written to {footprint.end - footprint.base} addresses"
    return (Violation(RULES[rule], message),)


def _nested(footprint: Footprint) -> bool:
    """Returns whether every stride steps over what is inside it, so that no rows can overlap."""
    reach = footprint.length
    pairs = zip(footprint.strides, footprint.counts, strict=True)
    for stride, count in sorted(pair for pair in pairs if pair[1] > 1):
        if stride < reach:
            return False
        reach += stride * (count - 1)
    return True


def _parameters(desc: FixOp) -> tuple[Violation, ...]:
    """Returns what is wrong with a scalar scale or alpha (FIX-L25)."""
    scalars = []
    if desc.mode.scale and not desc.mode.vector:
        scalars.append(("scale", desc.quant_scale))
    if desc.relu == SCALAR_RELU:
        scalars.append(("alpha", desc.relu_alpha))
    return tuple(
        Violation(PARAMETER_RULE, f"{name} is {bits:#010x} as f32 bits, no finite number")
        for name, bits in scalars
        if (bits & SCALE_MASK) >> 23 & 0xFF == 0xFF
    )
