# SPDX-License-Identifier: Apache-2.0
"""Op to text to op is the identity, in both forms.

Ops come from the generators of the random tests, legal and illegal. These never write ``sat``,
the default, so :func:`spread` does. Ops drawn by hypothesis have any
operands that a front end accepts. Values without a text are omitted and counted: typed constants
wider than their type, and addresses of more than 63 bits.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.isa.dma.op import MteUbGm
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import SAT_MODES
from tb.isa.lower import V06Op
from tb.isa.profile import using
from tb.isa.text import AnyOp
from tb.language.linked import Linked, linked_steps
from tb.language.place import ProgramError
from tb.language.printer import UnprintableError, program_text, unprintable
from tb.language.reader import read
from tb.language.run.walk import arguments_of, trace
from tb.language.trace import Compute, Move, SetSignal, Trace, WaitSignal
from tests.isa.strategies import v06_ops
from tests.language.corpus import Case, cases, parts
from tests.language.programs import FORMS, in_form

pytestmark = pytest.mark.long

LEGAL = [case for case in cases() if not case.expected]
PARTS = parts(LEGAL)

COUNT = 1500
"""Ops of each family in each form."""

BATCH = 750
"""Ops of one module."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "dma": ("mte_gm_ub", "mte_ub_gm", "mte_gm_l1", "mte_l1_ub"),
    "burst": ("mte_ub_ub", "mte_ub_l1", "mte_l1_bt", "mte_l1_fb"),
    "nz": ("mte_gm_l1_frac",),
    "fix": ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub"),
    "legacy": ("copy_gm_to_ubuf", "copy_ubuf_to_gm", "copy_ubuf_to_ubuf"),
}


def ops_of(text: str) -> list[AnyOp]:
    """Returns the ops of a program."""
    found = trace(read(text, "x.pto"), foreign="refuse", limit=10 * COUNT)
    assert not found.unknown
    return [step.op for step in found.steps if isinstance(step, Move)]


def spread(ops: Iterator[AnyOp], seed: int) -> Iterator[AnyOp]:
    """Yields ops, write-backs with every keyword of saturation."""
    rng = np.random.default_rng(seed)
    words = tuple(SAT_MODES)
    for op in ops:
        if isinstance(op, FixOp):
            yield replace(op, sat=words[int(rng.integers(len(words)))])
        else:
            yield op


def drawn(family: str) -> Iterator[AnyOp]:
    """Yields ops of a family endlessly, two legal ones for each illegal one."""
    names = FAMILIES[family]
    legal = TrafficGenerator(7, names).blocks(1 << 40)
    illegal = IllegalGenerator(7, names).blocks(1 << 40)
    while True:
        for block in (next(legal), next(legal), next(illegal)):
            for program in block.program():
                yield from program


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Pauses the garbage collector, which would traverse all ops repeatedly."""
    gc.disable()
    yield
    gc.enable()
    gc.collect()


def printed(ops: Sequence[AnyOp], form: str = "pretty") -> str:
    return in_form(program_text(linked_steps([Linked((op,)) for op in ops])), form)


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_random_ops_are_read_back_unchanged(family: str, form: str) -> None:
    ops = spread(drawn(family), 3)
    seen = unsaid = 0
    while seen < COUNT:
        batch = list(islice(ops, BATCH))
        printable = [op for op in batch if not unprintable(op)]
        assert ops_of(printed(printable, form)) == printable
        seen += len(printable)
        unsaid += len(batch) - len(printable)
    assert unsaid < seen // 50


@settings(max_examples=15)
@given(st.lists(v06_ops(), min_size=20, max_size=60), st.sampled_from(FORMS))
def test_ops_with_any_operands_are_read_back_unchanged(drawn_ops: list[V06Op], form: str) -> None:
    printable = list(spread((op for op in drawn_ops if not unprintable(op)), 5))
    assert ops_of(printed(printable, form)) == printable


def walked(case: Case) -> Trace:
    """Returns the steps of a legal case, with its buffers at addresses of their own.

    Raises:
        ProgramError: it cannot be executed: scalar arguments are not given, or it has known ops.
    """
    source = read(case.text, "x.pto")
    known = {x.number: 0x100000 * (x.number + 1) for x in arguments_of(source, "") if x.in_gm}
    return trace(source, arguments=known | case.arguments, foreign="skip", ubuf_to_ubuf=case.unit)


def plain_steps(found: Trace) -> list[tuple[object, ...]]:
    """Returns the steps without their places and without what places decide."""
    steps: list[tuple[object, ...]] = []
    for step in found.steps:
        if isinstance(step, Move):
            steps.append((step.pipe, step.op, step.gap, step.flag_delay, step.registers, step.ctrl))
        elif isinstance(step, Compute):
            steps.append((step.pipe, step.op))
        else:
            steps.append((type(step), *(getattr(step, x.name) for x in fields(step)[1:])))
    return steps


def difference(case: Case) -> str:
    """Returns what differs once a legal case is printed and read again; empty if nothing does."""
    try:
        found = walked(case)
    except ProgramError as error:
        messages = " ".join(x.message for x in error.findings)
        known = re.search("not given|not known|known and not executed|candidate", messages)
        return "" if known else messages
    try:
        text = program_text(found.steps)
    except UnprintableError as error:
        return "" if of_several_cores(found) and "cores" in str(error) else str(error)
    again = read(text, "y.pto")
    steps = trace(again)
    differences = {
        "printed in spite of its cores": of_several_cores(found),
        "another program": plain_steps(steps) != plain_steps(found),
        "another text": program_text(steps.steps) != text,
        "in an older form": re.search("older form|ignored", " ".join(again.notes)),
    }
    return ", ".join(words for words, wrong in differences.items() if wrong)


def of_several_cores(found: Trace) -> bool:
    """Tells whether steps are of several cores, or signal to another one."""
    return any(
        step.core != found.steps[0].core or isinstance(step, SetSignal | WaitSignal)
        for step in found.steps
    )


@pytest.mark.parametrize("part", PARTS)
def test_legal_programs_print_as_themselves(part: str) -> None:
    """Whatever the spelling, the printed form is the same program, and prints as itself."""
    wrong = []
    for case in PARTS[part]:
        with using(case.profile):
            wrong += [f"{case.name}: {words}"] if (words := difference(case)) else []
    assert not wrong, "\n".join(wrong)


def test_most_legal_programs_are_printed() -> None:
    """Few cases have arguments that are not given, or ops that are not executed."""
    printed_cases = 0
    for case in LEGAL:
        with using(case.profile), suppress(ProgramError):
            printed_cases += bool(walked(case).steps)
    assert printed_cases > 0.8 * len(LEGAL)


def test_every_operand_is_compared() -> None:
    op = next(op for op in drawn("dma") if isinstance(op, MteUbGm) and op.loops)
    text = printed([op])
    name = f"%c{op.loops[0].dst_stride}_i64"
    changed = text.replace(f"constant {op.loops[0].dst_stride} :", "constant 77 :")
    assert name in text
    assert changed != text
    assert ops_of(text) == [op]
    assert ops_of(changed) != [op]
