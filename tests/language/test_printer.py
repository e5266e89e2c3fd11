# SPDX-License-Identifier: Apache-2.0
"""Printed programs: definitions, links between transactions, and op to text to op, in both forms.

Random ops come from the generators of the random tests, legal and illegal. These never write
``sat``, the default, so :func:`spread` does. Ops drawn by hypothesis have any operands that a front
end accepts. Values without a text are omitted and counted: typed constants wider than their type,
and addresses of more than 63 bits.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FixOp, MteL0cGm, PreQuant, PreRelu, Scalar
from tb.isa.fix.table import SAT_MODES
from tb.isa.l0.op import Shape, shaped
from tb.isa.mad import Mad
from tb.isa.op import Op, replace
from tb.isa.pipes import Pipe
from tb.isa.profile import using
from tb.isa.text import AnyOp
from tb.language.linked import NOWHERE, Linked, linked_steps
from tb.language.order.order import order
from tb.language.place import ProgramError
from tb.language.printer import Note, UnprintableError, program_text, unprintable
from tb.language.reader import read
from tb.language.run.walk import arguments_of, trace
from tb.language.trace import (
    Barrier,
    Compute,
    Move,
    SetFlag,
    SetSignal,
    Step,
    Trace,
    WaitFlag,
    WaitSignal,
)
from tests.isa.strategies import v06_ops
from tests.language.corpus import Case, cases, parts
from tests.language.programs import FORMS, in_form
from tests.wording import line_says

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

LOAD = MteGmUb(0, 0, 32, 1, 0, 0)
STORE = MteUbGm(0, 64, 32, 1, 0, 0)


def run(text: str) -> Trace:
    return trace(read(text, "x.pto"), limit=10 * COUNT)


def ops_of(text: str) -> list[AnyOp]:
    found = run(text)
    assert not found.unknown
    return [step.op for step in found.steps if isinstance(step, Move)]


def alone(step: Step) -> Step:
    """Returns a step without its place in the text."""
    return replace(step, place=NOWHERE)


def test_a_program_defines_each_name_once() -> None:
    op = MteGmUb(64, 64, 32, 2, 64, 64, (Loop(2, 64, 64),), Pad("f16", 0x3C00), 0,
                 Ptr("f16", "gm"), Ptr("f16", "ub"), 1)  # fmt: skip
    steps = linked_steps([Linked((op,), 5, note="the first"), Linked((op,))])
    text = program_text(steps, function="twice", header="what\nit is")
    assert (
        text
        == """\
// what
// it is
module {
  func.func @twice() {
    %c64_i64 = arith.constant 64 : i64
    %c0_i64 = arith.constant 0 : i64
    %c32_i64 = arith.constant 32 : i64
    %c2_i64 = arith.constant 2 : i64
    %f16_0x3C00 = arith.constant 1.0 : f16
    %gm_f16_0x40 = pto.castptr %c64_i64 : i64 -> !pto.ptr<f16, gm>
    %ub_f16_0x40 = pto.castptr %c64_i64 : i64 -> !pto.ptr<f16, ub>
    // the first
    pto.mte_gm_ub %gm_f16_0x40, %ub_f16_0x40, %c0_i64, %c32_i64 \
nburst(%c2_i64, %c64_i64, %c64_i64) loop(%c2_i64, %c64_i64, %c64_i64) pad(%f16_0x3C00) \
{ub_sub = 1 : i64, pto_dv.gap = 5 : i64} : \
!pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64, i64, i64, loop i64, i64, i64, pad f16
    pto.mte_gm_ub %gm_f16_0x40, %ub_f16_0x40, %c0_i64, %c32_i64 \
nburst(%c2_i64, %c64_i64, %c64_i64) loop(%c2_i64, %c64_i64, %c64_i64) pad(%f16_0x3C00) \
{ub_sub = 1 : i64} : \
!pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64, i64, i64, loop i64, i64, i64, pad f16
    func.return
  }
}
"""
    )
    assert ops_of(text) == [op, op]


@pytest.mark.parametrize("form", FORMS)
def test_steps_of_every_kind_are_read_back(form: str) -> None:
    l1, l0a, l0b, l0c = Ptr("f16", "l1"), Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c")
    steps: list[Step] = [
        Move(NOWHERE, "mte_gm_ub", Pipe.MTE2, LOAD, gap=7),
        SetFlag(NOWHERE, Pipe.MTE2, Pipe.MTE3, 3),
        WaitFlag(NOWHERE, Pipe.MTE3, Pipe.MTE2, 3),
        Move(NOWHERE, "mte_ub_gm", Pipe.MTE3, STORE),
        Barrier(NOWHERE, Pipe.MTE3),
        Barrier(NOWHERE, None),
        Move(NOWHERE, "mte_l1_l0a", Pipe.MTE1, shaped("mte_l1_l0a", 64, 0, Shape(16, 32), l1, l0a)),
        Move(NOWHERE, "mte_l1_l0b", Pipe.MTE1,
             shaped("mte_l1_l0b", 64, 0, Shape(32, 16), l1, l0b, 1)),
        Compute(NOWHERE, "mad", Pipe.M, Mad(0, 0, 1024, 16, 16, 32, l0a, l0b, l0c, ctrl=1 << 48)),
        Move(NOWHERE, "mte_l0c_gm", Pipe.FIX, MteL0cGm(0, 0, 16, 16, 16, 16, unit_flag=2),
             flag_delay=0),
    ]  # fmt: skip
    assert list(map(alone, run(in_form(program_text(steps), form)).steps)) == steps


@pytest.mark.long
@given(st.lists(st.tuples(st.sampled_from(("f32", "f16", "bf16")), st.integers(0, 2**32 - 1))))
@settings(max_examples=30)
def test_numbers_keep_their_bits(drawn: list[tuple[str, int]]) -> None:
    special = [0, 1, 0x7F800001, 0x7FC00000, 0x80000000, 0x7F7FFFFF, 0x3DCCCCCD, 0x7C01, 0x0001]
    numbers = [*drawn, *(("f32", bits) for bits in special), *(("f16", x) for x in special)]
    scalars = [Scalar(dtype, bits & (2**32 - 1 if dtype == "f32" else 0xFFFF))
               for dtype, bits in numbers]  # fmt: skip
    ops: list[AnyOp] = [
        MteL0cGm(0, 0, 16, 32, 16, 32, pre_quant=PreQuant("qf322f32_pre_scalar", x))
        for x in scalars
    ]
    text = program_text(linked_steps([Linked((op,)) for op in ops]))
    for form in FORMS:
        assert ops_of(in_form(text, form)) == ops


CLIPS = [
    PreRelu("no_relu", clip=Scalar(dtype, bits))
    for dtype, width in (
        *(("i4", 4), ("si4", 4), ("i8", 8), ("si8", 8)),
        *(("i16", 16), ("si16", 16), ("ui16", 16), ("f16", 16)),
    )
    for bits in (0, 1, (1 << (width - 1)) - 1, 1 << (width - 1), (1 << width) - 1)
]
NUMBERS = (2**31, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**127, 2**128 + 3)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_of_every_type_and_size_are_read_back(form: str) -> None:
    """Clips, counts, registers at their limits, and types of legacy copies."""
    ops: list[AnyOp] = [
        *(MteL0cGm(0, 0, 16, 32, 16, 32, pre_relu=clip) for clip in CLIPS),
        *(replace(LOAD, len_burst=value) for value in NUMBERS),
        SetLoopSize("ubtoout", 0, (1 << 21) - 1),
        SetLoopStride("outtoub", 1, 1 << 39, 2048),
        SetLoopStride("ubtoout", 2, 32, 1 << 39),
        SetMovPadVal("f16", 0x3C00),
        CopyGmToUbuf(5, 64, 0, 3, 40, 2, 4, 1, 3, 64, 96, Ptr("f16", "gm"), Ptr("f16", "ub"), 1),
        CopyGmToUbuf(5, 64, 0, 3, 40, 0, 0, 2, 3, 64, 96),
        CopyUbufToGm(64, 5, 0, 3, 40, 0, 128, 96, Ptr("f32", "ub"), Ptr("f32", "gm")),
        CopyUbufToUbuf(4096, 0, 0, 3, 64, 96, 128, Ptr("f32", "ub"), Ptr("f32", "ub"), 1),
    ]
    text = program_text(linked_steps([Linked((op,)) for op in ops]))
    assert ops_of(in_form(text, form)) == ops


def test_values_without_a_text() -> None:
    wide = replace(LOAD, pad=Pad("i8", 256))
    assert unprintable(wide) == "0x100 is not a value of type i8"
    assert "pointers have 64 bits" in unprintable(replace(LOAD, gm_src=1 << 63))
    assert line_says(unprintable(SetMovPadVal("f16", 0x10000)), "0x10000 not a value type f16")
    assert not unprintable(replace(LOAD, len_burst=1 << 80, gm_src=(1 << 63) - 1))
    with pytest.raises(UnprintableError):
        program_text(linked_steps([Linked((wide,))]))


# --- links ---------------------------------------------------------------------------------------


def kinds(linked: list[Linked]) -> list[str]:
    """Returns a word for each step of the transactions."""
    words = []
    for step in linked_steps(linked):
        if isinstance(step, Move):
            words.append(step.name)
        elif isinstance(step, SetFlag | WaitFlag):
            words.append(f"{'set' if isinstance(step, SetFlag) else 'wait'} {step.event}")
        elif isinstance(step, Barrier):
            words.append(step.pipe.value if step.pipe else "all")
        elif isinstance(step, Note):
            words.append(f"// {step.text}")
    return words


def test_a_link_between_pipes_is_an_event_and_one_on_a_pipe_a_barrier() -> None:
    found = kinds([Linked((LOAD,)), Linked((STORE,), after=(0,)), Linked((STORE,), after=(1,))])
    assert found == ["mte_gm_ub", "set 0", "wait 0", "mte_ub_gm", "PIPE_MTE3", "mte_ub_gm"]


def test_implied_links_are_omitted() -> None:
    linked = [
        Linked((LOAD,)),
        Linked((LOAD,)),
        Linked((STORE,), after=(1, 0)),
        Linked((STORE,), after=(0,)),
    ]
    assert kinds(linked) == ["mte_gm_ub", "mte_gm_ub", "set 0", "wait 0", "mte_ub_gm", "mte_ub_gm"]


def test_omitted_transactions_have_no_links() -> None:
    linked = [Linked((), note="gone"), Linked((STORE,), after=(0,))]
    assert kinds(linked) == ["// gone", "mte_ub_gm"]
    text = program_text([Note("gone"), *linked_steps(linked[1:])])
    assert "    // gone\n" in text


def test_without_a_free_event_a_barrier_over_all_pipes_is_printed() -> None:
    pairs = [x for k in range(9) for x in (Linked((LOAD,)), Linked((STORE,), after=(2 * k,)))]
    found = kinds([*pairs, Linked((LOAD,)), Linked((STORE,), after=(18,))])
    assert found.count("all") == 1
    assert found[found.index("all") :] == [
        *("all", "mte_ub_gm", "mte_gm_ub", "set 0", "wait 0", "mte_ub_gm")
    ]
    assert [word for word in found if word.startswith("set")] == [
        *(f"set {event}" for event in range(8)), "set 0"
    ]  # fmt: skip


@pytest.mark.long
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.floats(0.05, 1.0))
@settings(max_examples=60, deadline=None)
def test_every_link_is_kept(seed: int, count: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    pool: list[AnyOp] = [
        LOAD,
        STORE,
        CopyUbufToUbuf(0, 4096, 0, 1, 32, 32, 32),
        MteL0cGm(0, 1 << 30, 16, 16, 16, 16),
    ]
    linked = []
    for index in range(count):
        op = pool[int(rng.integers(len(pool)))]
        after = tuple(k for k in range(index) if rng.random() < density / 3)
        linked.append(Linked((op,), after=after))
    found = run(program_text(linked_steps(linked)))
    plan = order(found)
    assert not [x for x in plan.findings if not x.message.startswith("hazard: ")]
    moves = [at for at, step in enumerate(found.steps) if isinstance(step, Move)]
    assert [plan.sequence.index(at) for at in moves] == sorted(map(plan.sequence.index, moves))
    pipes = {at: found.steps[at].pipe for at in moves}
    done: dict[int, set[int]] = {}
    for number, at in enumerate(moves):
        earlier = [one for one in moves[:number] if pipes[one] is pipes[at]]
        # Links of earlier ops of the pipe hold, too.
        ready = set().union(*(done[one] - {one} for one in earlier)) if earlier else set()
        for other in plan.after.get(at, ()):
            for one in [x for x in moves[:number] if pipes[x] is pipes[other] and x <= other]:
                ready |= done[one] | {one}
        done[at] = ready
        for link in linked[number].after:
            assert moves[link] in ready


# --- op to text to op ---


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


@pytest.mark.long
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


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(v06_ops(), min_size=20, max_size=60), st.sampled_from(FORMS))
def test_ops_with_any_operands_are_read_back_unchanged(drawn_ops: list[Op], form: str) -> None:
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
    """Returns whether steps are of several cores, or signal to another one."""
    return any(
        step.core != found.steps[0].core or isinstance(step, SetSignal | WaitSignal)
        for step in found.steps
    )


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_legal_programs_print_as_themselves(part: str) -> None:
    """Whatever the spelling, the printed form is the same program, and prints as itself."""
    wrong = []
    for case in PARTS[part]:
        with using(case.profile):
            wrong += [f"{case.name}: {words}"] if (words := difference(case)) else []
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_most_legal_programs_are_printed() -> None:
    """Few cases have arguments that are not given, or ops that are not executed."""
    printed_cases = 0
    for case in LEGAL:
        with using(case.profile), suppress(ProgramError):
            printed_cases += bool(walked(case).steps)
    assert printed_cases > 0.8 * len(LEGAL)
