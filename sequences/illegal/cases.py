# SPDX-License-Identifier: Apache-2.0
"""Cases of illegal tests: what is sent, and the rule that it breaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sequences.blocks import Program, lower_program
from sequences.constraints import FIX_NAMES
from sequences.fixpipe.plain_ops import fb_rows
from sequences.illegal.bases import REGISTER_FORMS
from sequences.illegal.factors import factors
from sequences.illegal.legacy import register_programs, to_program
from sequences.illegal.neighbours import Neighbour, can_be_scored, neighbours
from tb.isa.block import Fill
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.rules import first_d_violation


@dataclass(frozen=True)
class Case:
    """One op to send.

    Attributes:
        name: Its property.
        form: Form it is written in, out of ``OP_NAMES``.
        rule: D rule it breaks, 0 when it is legal.
        program: The op, or a legacy copy with every register it reads written before.
        fills: Bytes to write to memories before it.
    """

    name: str
    form: str
    rule: int
    program: Program
    fills: tuple[Fill, ...] = ()


def all_cases(rng: np.random.Generator, form: str, most: int = 0) -> list[Case]:
    """Returns illegal and near-limit ops of ``form``, those of each rule in the order to send.

    Args:
        rng: Source of randomness.
        form: Form, out of ``OP_NAMES``.
        most: Illegal ops with high bits among small operands, in addition to the others.
    """
    found = neighbours(rng, form)
    if form == "copy_ubuf_to_ubuf":
        return _copies(rng, form, found)
    if form in REGISTER_FORMS:
        return [*_registers(rng, form, found)]
    if most:
        found += factors(rng, form, most)
    parameters = fb_rows(rng) if form in FIX_NAMES else ()
    return [_case(form, rule, one, () if rule else parameters) for rule, one in found]


def _case(form: str, rule: int, one: Neighbour, fills: tuple[Fill, ...]) -> Case:
    """Returns the case of a v0.6 op after its parameters."""
    program = (SetCtrl(one.ctrl), one.op, SetCtrl(0)) if one.ctrl else (one.op,)
    return Case(one.name, form, rule, program, fills)


def _copies(rng: np.random.Generator, form: str, found: list[tuple[int, Neighbour]]) -> list[Case]:
    """Returns the cases of ``copy_ubuf_to_ubuf``; one that is refused precedes a legal one."""
    legal = [one for rule, one in found if not rule]
    cases = [Case(one.name, form, 0, (one.op,)) for one in legal]
    for rule, one in found:
        if rule:
            good = legal[int(rng.integers(0, len(legal)))]
            name = f"refused by rule {rule}: {one.name}"
            cases.append(Case(name, form, 0, (one.op, good.op)))
    return cases


def _registers(
    rng: np.random.Generator, form: str, found: list[tuple[int, Neighbour]]
) -> list[Case]:
    """Returns the cases of a register form; rules are those of the copy with its registers."""
    programs = []
    for _, one in found:
        assert isinstance(one.op, MteGmUb | MteUbGm)
        program = to_program(one.op, one.ctrl)
        if program:
            programs.append((one.name, program))
    cases = []
    for name, program in [*register_programs(rng, form), *programs]:
        desc = lower_program(program, DmaRegisters())[0].descriptor
        violation = first_d_violation(desc)
        if violation or can_be_scored(desc):
            cases.append(Case(name, form, violation.rule.number if violation else 0, program))
    return cases
