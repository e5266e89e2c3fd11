# SPDX-License-Identifier: Apache-2.0
"""Cores of a block: streams, signals between them, deadlocks, and stores to the same bytes.

Source: docs/spec/order_and_atomics.md, sections 4 and 6. No engine runs here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from tb.isa.ctrl import SetAtomic
from tb.isa.dma.op import MteUbGm
from tb.isa.pipes import Pipe
from tb.isa.spaces import Space
from tb.isa.status import Status
from tb.language.order.order import Order, order
from tb.language.order.races import races, remedy
from tb.language.place import Finding, ProgramError
from tb.language.reader import read
from tb.language.run.stream import streams
from tb.language.run.walk import trace
from tb.language.trace import CORES, Move, SetSignal, Trace, WaitSignal
from tb.language.verify import verify_file
from tb.programs.schedules import Basis, scheduled
from tests.language.corpus.short import complete
from tests.language.programs import FORMS, in_form
from tests.model.conftest import noise
from tests.wording import line_says, says

GM = 0x10_0000

HEAD = "func.func @kernel(%g: F32_GM) {\n"
STORE = "pto.mte_ub_gm %ub, %g, %c64 nburst(%c1, %c64, %c64) : F32_UB, F32_GM, I64x4"
LOAD = "pto.mte_gm_ub %g, %ub, %c0, %c64 nburst(%c1, %c64, %c64) : F32_GM, F32_UB, I64x5"
BACK = "pto.mte_l0c_{} %acc, {}, %c16, %c16, %c16, %c16{}, nz2nd{} : F32_L0C, F32_{}, I64x{}"
SPLIT = BACK.format("ub", "%ub", ", dst_mode(split_m)", "", "UB", 4)


def to_gm(clause: str = "") -> str:
    """Returns a write-back of 16 x 16 elements to GM."""
    return BACK.format("gm", "%g", ", %c0, %c0", clause, "GM", 6)


def text_of(cube: str = "", vector: str = "", outside: str = "") -> str:
    """Returns a program with a section for each part, whose lines begin in column 5; short form."""
    parts = [("cube", cube), ("vector", vector)]
    body = "".join(
        f"  pto.section.{name} {{\n" + "".join(f"    {x}\n" for x in ops.splitlines()) + "  }\n"
        for name, ops in parts
        if ops
    )
    return complete("kernel", f"{HEAD}{outside}{body}  func.return\n}}\n")[0]


def walked(cube: str = "", vector: str = "", *, form: str = "pretty", outside: str = "") -> Trace:
    """Returns the trace of a program."""
    source = read(in_form(text_of(cube, vector, outside), form), "x.pto")
    return trace(source, arguments={0: GM})


def lines(*ops: str) -> str:
    return "\n".join(ops)


def raised(pipe: str, number: object) -> str:
    return f"pto.set_intra_block <PIPE_{pipe}>, {number}"


def awaited(pipe: str, number: object) -> str:
    return f"pto.wait_intra_block <PIPE_{pipe}>, {number}"


SUB = "%sub = pto.get_subblock_idx"
BOTH = f"{SUB}\n"
"""Lets sub-block 1 take part."""

ROW = f"""{SUB}
%at = arith.index_cast %sub : i64 to index
%row = arith.muli %at, %c32 : index
%mine = pto.addptr %g, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""
"""Address of the row of a core, 128 bytes after that of the other one."""

STORE_ROW = STORE.replace("%g,", "%mine,")


def raised_for_both(pipe: str, number: int) -> str:
    return lines(raised(pipe, number), raised(pipe, number + 16))


def cores_of(found: Trace) -> list[int]:
    """Returns the cores with steps, ascending."""
    return sorted({step.core for step in found.steps})


def signals_of(found: Trace) -> list[str]:
    """Returns each signal: core and op, source and target, number."""
    return [
        f"{step.core} {step.name} {step.source}>{step.target} {step.number}"
        for step in found.steps
        if isinstance(step, SetSignal | WaitSignal)
    ]


def at_line(part: str, text: str) -> int:
    """Returns the line of the only occurrence of a part."""
    assert text.count(part) == 1, part
    return text[: text.index(part)].count("\n") + 1


def only(found: Order) -> Finding:
    """Returns the only finding."""
    (finding,) = found.findings
    return finding


# --- streams --------------------------------------------------------------------------------------


def test_a_program_with_sections_has_three_streams() -> None:
    """Each has the code of its sections and what is outside; sub-block 1 has its own index."""
    found = walked(to_gm(), ROW + STORE_ROW)
    assert cores_of(found) == [0, 1, 2]
    assert found.cores
    assert found.not_executed == ()
    named = [(CORES[step.core], step.name) for step in found.steps if isinstance(step, Move)]
    assert named == [
        ("cube core", "mte_l0c_gm"), ("vector core 0", "mte_ub_gm"), ("vector core 1", "mte_ub_gm"),
    ]  # fmt: skip
    stores = [step.op for step in found.steps if isinstance(step, Move) and step.core]
    assert [op.gm_dst for op in stores if isinstance(op, MteUbGm)] == [GM, GM + 128]
    spaces = [
        {region.space for region, write in step.lowering.touches if not write}
        for step in found.steps
        if isinstance(step, Move) and step.core
    ]
    assert spaces == [{"ub0"}, {"ub1"}], "each has its own UB"


def test_a_split_tile_is_in_both_ub() -> None:
    (step,) = walked(SPLIT).steps
    assert isinstance(step, Move)
    written = {region.space for region, write in step.lowering.touches if write}
    assert written == {"ub0", "ub1"}


def back_to(number: str) -> str:
    """Returns a write-back to the UB of a sub-block."""
    back = BACK.format("ub", "%ub", f", dst_mode({number})", "", "UB", 5)
    return lines("%sum = arith.addi %c0, %c0 : i64", back)


COPY = "pto.copy_cbuf_to_ubuf %l1, %ub, %c1, %c1, %c1, %c0, %c0 : F32_L1, F32_UB, I64x5"
COMMENT = "// get_subblock_idx, split_m and copy_cbuf_to_ubuf"

TAKE_PART = {
    "its index": (to_gm(), lines(SUB, STORE), [0, 1, 2]),
    "a split tile": (SPLIT, STORE, [0, 1, 2]),
    "a signal to it": (lines(raised("FIX", 2), raised("FIX", 18)), awaited("MTE3", 2), [0, 1, 2]),
    "a signal of it": (awaited("MTE1", 18), raised("MTE3", 2), [0, 1, 2]),
    "a comment": (to_gm(), lines(COMMENT, STORE), [0, 1]),
    "a name": (to_gm(), STORE.replace("%ub,", "%split_m,"), [0, 1]),
    "a write-back to sub-block 0": (back_to("%c0"), raised("MTE3", 3), [0, 1]),
    "a write-back to sub-block 1": (back_to("%c1"), raised("MTE3", 3), [0, 1, 2]),
    "a number that is not the constant 0": (back_to("%sum"), raised("MTE3", 3), [0, 1, 2]),
    "a copy from L1": (COPY, raised("MTE3", 3), [0, 1, 2]),
}
"""What is in the text; the cores that run."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TAKE_PART)
def test_sub_block_1_takes_part_where_the_text_has_it(name: str, form: str) -> None:
    cube, vector, cores = TAKE_PART[name]
    assert cores_of(walked(cube, vector, form=form)) == cores


# --- sections of one sub-block --------------------------------------------------------------------

HALVES = complete(
    "kernel",
    f"""{HEAD}  pto.section.vector {{
    %sub = pto.get_subblock_idx
    {STORE}
  }} {{pto.ub_sub = 0}}
  pto.section.vector {{
    {LOAD}
  }} {{pto.ub_sub = 1}}
  func.return
}}
""",
)[0]


def test_a_section_of_one_sub_block_is_executed_by_its_core() -> None:
    found = trace(read(HALVES, "x.pto"), arguments={0: GM})
    assert [(step.core, step.name) for step in found.steps if isinstance(step, Move)] == [
        (1, "mte_ub_gm"), (2, "mte_gm_ub"),
    ]  # fmt: skip
    touched = [
        {region.space for region, _ in step.lowering.touches} - {"gm"}
        for step in found.steps
        if isinstance(step, Move)
    ]
    assert touched == [{"ub0"}, {"ub1"}]


def test_a_section_of_sub_block_1_alone() -> None:
    text = HALVES[: HALVES.index("  pto.section")] + HALVES[HALVES.rindex("  pto.section") :]
    found = trace(read(text, "x.pto"), arguments={0: GM})
    assert cores_of(found) == [2]
    assert found.not_executed == ()


def test_a_function_that_names_its_sub_block() -> None:
    text = text_of("", STORE).replace(") {", ") attributes {pto.ub_sub = 1} {", 1)
    assert cores_of(trace(read(text, "x.pto"), arguments={0: GM})) == [2]


def test_a_called_function_has_the_ub_of_its_core() -> None:
    inner = text_of(outside=f"  {STORE}\n").replace("@kernel", "@inner")
    call = "func.call @inner(%g) : (!pto.ptr<f32, gm>) -> ()"
    text = inner + text_of("pto.barrier <PIPE_M>", BOTH + call)
    found = trace(read(text, "x.pto"), function="kernel", arguments={0: GM})
    spaces = [
        next(region.space for region, write in step.lowering.touches if not write)
        for step in found.steps
        if isinstance(step, Move)
    ]
    assert spaces == ["ub0", "ub1"]


@pytest.mark.parametrize(("second", "numbers"), [(SUB, [2, 2]), ("", [1])])
def test_the_number_of_sub_blocks(second: str, numbers: list[int]) -> None:
    """``get_subblock_num`` counts the vector cores that run; it is 1 on the cube core."""
    ask = "%count = pto.get_subblock_num : i64"
    store = STORE.replace("nburst(%c1,", "nburst(%count,")
    back = to_gm().replace("%c16, %c16, %c16, %c16", "%count, %c16, %c16, %c16")
    found = walked(lines(ask, back), lines(second, ask, store))
    ops = [step.op for step in found.steps if isinstance(step, Move)]
    assert [op.n_burst for op in ops if isinstance(op, MteUbGm)] == numbers
    assert next(getattr(op, "m", 0) for op in ops) == 1


def test_one_sub_block_alone_is_noted() -> None:
    found = walked(to_gm(), STORE)
    assert cores_of(found) == [0, 1]
    assert says(found.not_executed[0], "sub-block 1 vector section x.pto:5:3")


def test_a_program_without_sections_has_one_stream() -> None:
    found = walked(outside=f"  {STORE}\n")
    assert not found.cores
    assert streams(read(text_of(outside=f"  {STORE}\n"), "x.pto")) == ()


def test_every_core_has_its_own_flags_and_registers() -> None:
    """FL-04 and section 5: the flag that the cube core sets orders nothing on a vector core."""
    flag = "pto.{}_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
    crossed = order(walked(lines(flag.format("set")), lines(LOAD, flag.format("wait"), STORE)))
    (finding,) = [one for one in crossed.findings if "wait_flag" in one.op]
    assert says(finding.message, "deadlock no set_flag event 0 PIPE_MTE2 vector core 0")
    vector = lines(SUB, LOAD, flag.format("set"), flag.format("wait"), STORE)
    found = walked(lines("pto.set_atomic_f32", to_gm()), vector)
    stores = [
        step
        for step in found.steps
        if isinstance(step, Move) and step.pipe in (Pipe.FIX, Pipe.MTE3)
    ]
    kinds = [getattr(step.lowering.descriptor, "atomic_type", 0) for step in stores]
    assert kinds == [1, 0, 0]
    after = order(found).after
    chains = {found.steps[late].core: [found.steps[x].core for x in links]
              for late, links in after.items()}  # fmt: skip
    assert chains == {1: [1], 2: [2]}


# --- numbers of signals ---------------------------------------------------------------------------


def sync(op: str, pipe: str, mode: int = 2) -> str:
    attribute = "" if mode == 2 else f" {{ffts_mode = {mode} : i32}}"
    return f"pto.sync.{op} <PIPE_{pipe}>, 4{attribute}"


CHOSEN = lines(
    SUB,
    "%id = arith.addi %sub, %c16_i64 : i64",
    "%at = arith.index_cast %id : i64 to index",
    awaited("MTE3", "%at"),
)
"""Sub-block s waits for id 16 + s."""

SIGNALS = {
    **{
        f"IB-01, IB-05: id {n} of the cube core for sub-block 0, {n + 16} for sub-block 1": (
            raised_for_both("FIX", n), BOTH + awaited("MTE3", n),
            f"0 set_intra_block 0>1 {n}, 0 set_intra_block 0>2 {n}, "
            f"1 wait_intra_block 0>1 {n}, 2 wait_intra_block 0>2 {n}",
        )
        for n in (0, 3, 15)
    },
    "IB-05: 17 and 1 are one id of a vector core": (
        lines(raised("FIX", 0), raised("FIX", 17)), CHOSEN,
        "0 set_intra_block 0>1 0, 0 set_intra_block 0>2 1, "
        "1 wait_intra_block 0>1 0, 2 wait_intra_block 0>2 1",
    ),
    "IB-02: sub-block s raises counter 16 s + p of the cube core": (
        lines(awaited("MTE1", 5), awaited("MTE1", 21)), BOTH + raised("MTE3", 5),
        "0 wait_intra_block 1>0 5, 0 wait_intra_block 2>0 21, "
        "1 set_intra_block 1>0 5, 2 set_intra_block 2>0 21",
    ),
    "a sync of mode 2 from the cube core to both": (
        sync("set", "FIX"), BOTH + sync("wait", "MTE3"),
        "0 sync.set 0>1 4, 0 sync.set 0>2 4, 1 sync.wait 0>1 4, 2 sync.wait 0>2 4",
    ),
    "a sync of mode 2 from both to the cube core": (
        sync("wait", "MTE1"), BOTH + sync("set", "MTE3"),
        "0 sync.wait 1>0 4, 0 sync.wait 2>0 4, 1 sync.set 1>0 4, 2 sync.set 2>0 4",
    ),
    "a sync of mode 1 of both": (
        to_gm(), BOTH + lines(sync("set", "MTE3", 1), sync("wait", "MTE2", 1)),
        "1 sync.set 1>1 4, 1 sync.set 1>2 4, 1 sync.wait 1>1 4, 1 sync.wait 2>1 4, "
        "2 sync.set 2>1 4, 2 sync.set 2>2 4, 2 sync.wait 1>2 4, 2 sync.wait 2>2 4",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNALS)
def test_signals_are_between_these_cores(name: str) -> None:
    cube, vector, signals = SIGNALS[name]
    found = walked(cube, vector)
    assert ", ".join(signals_of(found)) == signals
    checked = order(found)
    assert (checked.findings, checked.notes) == ((), ())


# --- order ----------------------------------------------------------------------------------------


def test_a_signal_orders_a_write_back_and_the_store_of_each_core() -> None:
    """IB-03 and IB-04: the store starts when the write-back has completed."""
    found = walked(
        lines(SPLIT, raised_for_both("FIX", 2)), ROW + lines(awaited("MTE3", 2), STORE_ROW)
    )
    checked = order(found)
    assert checked.findings == ()
    steps = {index: step for index, step in enumerate(found.steps) if isinstance(step, Move)}
    back, one, other = steps
    assert checked.after[one] == checked.after[other] == (back,)
    assert races(found, checked) == ()


def test_without_signals_the_stores_of_both_cores_race() -> None:
    """A finding and a race for each core."""
    found = walked(SPLIT, ROW + STORE_ROW)
    checked = order(found)
    assert len(checked.findings) == 2
    for core, finding in enumerate(checked.findings):
        assert finding.op == "pto.mte_ub_gm"
        assert says(finding.message, f"hazard reads ub{core} pto.mte_l0c_ub x.pto:3:5 writes")
        assert says(finding.message, f"PIPE_FIX cube core PIPE_MTE3 vector core {core}")
        assert says(finding.legal, "set_intra_block PIPE_FIX wait_intra_block PIPE_MTE3")
    assert [each.space for each in races(found, checked)] == ["ub0", "ub1"]


def many(*ops: str, count: int) -> str:
    return lines(*ops * count)


def nothing_sets(pipe: str, signal: str) -> str:
    return f"error pto.wait_intra_block deadlock {pipe} waits for ever nothing sets signal {signal}"


FLAG = "pto.{}_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID3>]"
HANDED = lines(SPLIT, raised_for_both("FIX", 2))
LATE_LOADS = [f"pto.mte_gm_ub hazard writes ub{core} pto.mte_l0c_ub" for core in (0, 1)]
LATE_STORES = [f"hazard reads ub{core}" for core in (0, 1)]
MEET = "pto.syncall() mode = <hard>, core_type = <mix>"
CROSS = "pto.{}_cross_block <PIPE_FIX>, 3"

ORDERED: dict[str, tuple[str, str, list[str]]] = {
    "IB-04: a wait stops its own pipe": (HANDED, BOTH + lines(awaited("MTE2", 2), LOAD), []),
    "IB-04: a wait of MTE3 does not stop MTE2": (
        HANDED, BOTH + lines(awaited("MTE3", 2), LOAD), LATE_LOADS,
    ),
    "IB-04: a wait of V does not stop MTE2": (
        HANDED, BOTH + lines(awaited("V", 2), LOAD), LATE_LOADS,
    ),
    "IB-03: set before the op": (
        lines(raised_for_both("FIX", 2), SPLIT), ROW + lines(awaited("MTE3", 2), STORE_ROW),
        LATE_STORES,
    ),
    "IB-03: set on another pipe": (
        lines(SPLIT, raised_for_both("MTE1", 2)), ROW + lines(awaited("MTE3", 2), STORE_ROW),
        LATE_STORES,
    ),
    "OR-04: FIX to MTE2 by a signal, MTE2 to MTE3 by a flag": (
        HANDED,
        ROW + lines(awaited("MTE2", 2), FLAG.format("set"), FLAG.format("wait"), STORE_ROW), [],
    ),
    "IB-04: two sets, two waits": (
        many(raised("FIX", 2), count=2), many(awaited("MTE3", 2), count=2), [],
    ),
    "IB-04: two sets, three waits": (
        many(raised("FIX", 2), count=2), many(awaited("MTE3", 2), count=3),
        ["deadlock wait 3 signal 2 cube core vector core 0 set 2 times"],
    ),
    "nothing sets it for vector core 0": (
        "pto.barrier <PIPE_M>", awaited("MTE3", 7),
        [nothing_sets("PIPE_MTE3 vector core 0", "7 cube core")],
    ),
    "nothing sets it for the cube core": (
        awaited("MTE1", 7), STORE, [nothing_sets("PIPE_MTE1 cube core", "7 vector core 0")],
    ),
    "sub-block 1 does not set it": (
        awaited("MTE1", 23), SUB, [nothing_sets("PIPE_MTE1 cube core", "23 vector core 1")],
    ),
    **{
        f"IB-01: no broadcast of {numbers}": (
            lines(*(raised("FIX", number) for number in numbers)), BOTH + awaited("MTE3", 2),
            [nothing_sets(f"PIPE_MTE3 vector core {core}", "2") for core in stuck],
        )
        for numbers, stuck in (((2,), (1,)), ((18,), (0,)), ((3, 19), (0, 1)))
    },
    "both set before they wait": (
        lines(raised("MTE1", 4), awaited("MTE1", 3)), lines(raised("MTE3", 3), awaited("MTE3", 4)),
        [],
    ),
    "a set on another pipe does not wait": (
        lines(awaited("MTE1", 3), raised("FIX", 4)), lines(awaited("MTE3", 4), raised("MTE3", 3)),
        [],
    ),
    "IB-07: a counter holds 15": (
        many(raised("FIX", 2), count=15), many(awaited("MTE3", 2), count=15), [],
    ),
    "IB-07: the waits may all come after set 16": (
        many(raised("FIX", 2), count=16), many(awaited("MTE3", 2), count=16),
        ["IB-07 set 16 signal 2 cube core vector core 0 not known waited for more than 0"],
    ),
    "an answer of each signal bounds its counter": (
        many(raised("FIX", 2), awaited("FIX", 3), count=40),
        many(awaited("MTE3", 2), raised("MTE3", 3), count=40), [],
    ),
    "IB-07: an id set on two pipes": (
        lines(raised("FIX", 2), raised("MTE1", 2)), many(awaited("MTE3", 2), count=2),
        ["pto.set_intra_block IB-07"],
    ),
    "IB-07: an id waited for on two pipes": (
        many(raised("FIX", 2), count=2), lines(awaited("MTE3", 2), awaited("V", 2)),
        ["pto.wait_intra_block IB-07"],
    ),
    "a core does not come to the barrier": (
        "pto.barrier <PIPE_ALL>", MEET, ["deadlock waits for ever nothing sets syncall cube core"],
    ),
    "signals between blocks": (lines(CROSS.format("set"), CROSS.format("wait")), "", []),
    "signals between blocks that the block does not set": (
        CROSS.format("wait"), "", ["deadlock nothing sets cross_block signal 3"],
    ),
}  # fmt: skip
"""Ops of the cube core, ops of the vector cores; severity, op, rule and facts of each finding."""


@pytest.mark.parametrize("name", ORDERED)
def test_signals_order_ops_of_two_cores(name: str) -> None:
    cube, vector, facts = ORDERED[name]
    found = order(walked(cube, vector)).findings
    assert len(found) == len(facts), found
    for one, words in zip(found, facts, strict=True):
        assert says(f"{one.severity} {one.op} {one.rule} {one.message}", words), one


def test_a_signal_that_is_still_set_is_noted() -> None:
    found = order(walked(many(raised("FIX", 2), count=2), awaited("MTE3", 2)))
    assert found.findings == ()
    assert says(found.notes[0], "note signal 2 cube core vector core 0 still set at the end")


# --- deadlocks ------------------------------------------------------------------------------------


def test_cores_that_wait_for_one_another() -> None:
    cube = lines(awaited("MTE1", 3), raised("MTE1", 4))
    vector = lines(awaited("MTE3", 4), raised("MTE3", 3))
    finding = only(order(walked(cube, vector)))
    text = text_of(cube, vector)
    places = {
        part: f"x.pto:{at_line(part, text)}:5" for part in (*cube.split("\n"), *vector.split("\n"))
    }
    assert str(finding.place) == places[awaited("MTE1", 3)]
    message = finding.message
    assert says(
        message,
        f"deadlock waits set_intra_block {places[raised('MTE3', 3)]} PIPE_MTE3 vector core 0 "
        f"after wait_intra_block {places[awaited('MTE3', 4)]} waits set_intra_block "
        f"{places[raised('MTE1', 4)]} PIPE_MTE1 cube core after this one",
    )


def test_a_deadlock_over_three_cores_names_each() -> None:
    """Cube waits for sub-block 1, which waits for a flag of its own after a wait for the cube."""
    cube = lines(awaited("MTE1", 21), raised("MTE1", 2), raised("MTE1", 18))
    vector = BOTH + lines(awaited("MTE3", 2), raised("MTE3", 5))
    finding = only(order(walked(cube, vector)))
    assert says(finding.message, "deadlock vector core 1 cube core")
    assert "vector core 0" not in finding.message, "it is not part of the circle"


TO_INDEX = "%id = arith.index_cast %n : i64 to index"
LOOP = lines("%i0 = arith.constant 0 : index", TO_INDEX,
             "scf.for %i = %i0 to %id step %c32 {", raised("FIX", 2), "}")  # fmt: skip
NO_SET = ["pto.wait_intra_block deadlock"]

WITHOUT_A_RUN: dict[str, tuple[str, str, str, list[str]]] = {
    "met": (raised("FIX", 2), awaited("MTE3", 2), "", []),
    "one too many": (raised("FIX", 2), many(awaited("MTE3", 2), count=2), "", NO_SET),
    "of no set": (raised("FIX", 2), awaited("MTE3", 3), "", NO_SET),
    "an id that is not known": (raised("FIX", 2), lines(TO_INDEX, awaited("MTE3", "%id")), "", []),
    "a loop of unknown bounds": (LOOP, many(awaited("MTE3", 2), count=3), "", []),
    "set by another function": (awaited("MTE1", 3), "", raised("MTE3", 3), []),
    "a circle": (
        lines(awaited("MTE1", 3), raised("MTE1", 4)), lines(awaited("MTE3", 4), raised("MTE3", 3)),
        "", ["deadlock waits set_intra_block vector core 0 cube core this one"],
    ),
}  # fmt: skip
"""Ops of both cores, ops of a vector core in another function; op and facts of each finding."""


@pytest.mark.parametrize("name", WITHOUT_A_RUN)
def test_a_deadlock_of_cores_is_found_without_a_run(name: str, tmp_path: Path) -> None:
    """What is not known leaves the cores unchecked."""
    cube, vector, other, facts = WITHOUT_A_RUN[name]
    text = text_of(cube, vector).replace("gm>)", "gm>, %n: i64)", 1)
    if other:
        text += text_of(vector=other).replace("@kernel", "@other")
    path = tmp_path / "x.pto"
    path.write_text(text)
    found = verify_file(path).findings
    assert len(found) == len(facts), found
    assert all(says(f"{x.op} {x.message}", y) for x, y in zip(found, facts, strict=True))


def test_a_number_out_of_range_is_refused() -> None:
    for number in (32, -1):
        with pytest.raises(ProgramError) as caught:
            walked(raised("FIX", number), STORE)
        assert line_says(str(caught.value), f"pto.set_intra_block id is {number}")
        assert "0..31" in str(caught.value)


# --- both cores store to the same bytes -----------------------------------------------------------


def stores(*before: str) -> Order:
    """Returns the order of stores of both sub-blocks to one tile, each after ``set_*`` ops."""
    return order(walked("pto.barrier <PIPE_M>", lines(SUB, *before, STORE)))


@pytest.mark.parametrize("kind", ["s32", "s16", "s8"])
def test_integer_adds_of_both_sub_blocks_need_no_order(kind: str) -> None:
    """AT-05."""
    found = stores(f"pto.set_atomic_{kind}", "pto.set_atomic_add")
    assert (found.findings, found.warnings) == ((), ())
    assert found.after == {}, "nothing orders them"


@pytest.mark.parametrize("before", [(), ("pto.set_atomic_f32", "pto.set_atomic_max"),
                                    ("pto.set_atomic_f32", "pto.set_atomic_min"),
                                    ("pto.set_atomic_f32", "pto.set_atomic_add"),
                                    ("pto.set_atomic_add",)])  # fmt: skip
def test_other_stores_of_both_sub_blocks_race(before: tuple[str, ...]) -> None:
    """Plain ones, maxima, adds of floats, and an op without a type, which is plain."""
    found = stores(*before)
    finding = only(found)
    assert finding.severity == "error"
    cores = "PIPE_MTE3 vector core 0 PIPE_MTE3 vector core 1"
    assert says(finding.message, f"hazard writes gm {GM:#x} same op of the vector core 0 {cores}")
    assert "iteration" not in finding.message
    assert says(finding.legal, "pto.sync.set <PIPE_MTE3> pto.sync.wait <PIPE_MTE3> ffts_mode = 1")
    assert "intra_block" not in finding.legal, "vector cores have no counters of each other"


@pytest.mark.parametrize(
    ("before", "free"),
    [((SetAtomic("s32"), SetAtomic("add")), True), ((SetAtomic("none"),), False)],
)
def test_sums_of_both_orders_are_equal(before: tuple[SetAtomic, ...], free: bool) -> None:
    """What AT-05 rests on: sums of integers in either order, and plain stores in none."""
    found = walked("pto.barrier <PIPE_M>", lines(SUB, STORE))
    ops = [step.op for step in found.steps if isinstance(step, Move)]
    images = []
    for chosen in (ops, ops[::-1]):
        golden = GoldenMemory(noise)
        model = ReferenceModel(
            golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
        )
        for op in (*before, *chosen):
            assert model.execute(op).status is Status.OK
        images.append(golden[Space.GM][GM : GM + 64].tobytes())
    assert (images[0] == images[1]) is free


def pair(first: str, second: str) -> Order:
    """Returns the order of a write-back of the cube core and a store of sub-block 0."""
    return order(walked(to_gm(first), lines(*second.split(", "), STORE)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (", atomic(type = f32, op = add)", "pto.set_atomic_f32"),
        (", atomic(type = f32, op = add)", "pto.set_atomic_s32"),
        (", atomic(type = f32, op = add)", "pto.set_atomic_f32, pto.set_atomic_max"),
        (", atomic(type = f32, op = max)", "pto.set_atomic_f32, pto.set_atomic_max"),
        (", atomic(type = f32, op = add)", "pto.set_atomic_f32, pto.set_atomic_none"),
        ("", "pto.set_atomic_f32"),
    ],
)
def test_an_add_of_a_write_back_and_one_of_a_store(first: str, second: str) -> None:
    """Only adds of one integer type on both sides need no order."""
    finding = only(pair(first, second))
    assert finding.op == "pto.mte_ub_gm"
    assert says(finding.message, "hazard writes gm pto.mte_l0c_gm writes cube core")


TURNS = f"""{SUB}
%zero = arith.constant 0 : i64
%first = arith.cmpi eq, %sub, %zero : i64
scf.if %first {{
{STORE}
}}
pto.sync.set <PIPE_MTE3>, 4 {{ffts_mode = 1 : i32}}
pto.sync.wait <PIPE_MTE3>, 4 {{ffts_mode = 1 : i32}}
scf.if %first {{
}} else {{
{STORE}
}}
"""
"""Both cores store to one tile, one after the other."""


def test_a_race_of_the_vector_cores_has_a_remedy_that_works() -> None:
    found = walked("pto.barrier <PIPE_M>", lines(SUB, STORE))
    (race,) = races(found, order(found))
    text = remedy(found, race)
    assert says(text, "pto.sync.set <PIPE_MTE3> both vector cores vector core 0 after the first")
    assert says(text, "pto.sync.wait <PIPE_MTE3> vector core 1 before the second ffts_mode = 1")
    fixed = walked("pto.barrier <PIPE_M>", TURNS)
    assert [step.core for step in fixed.steps if isinstance(step, Move)] == [1, 2]
    assert (order(fixed).findings, races(fixed, order(fixed))) == ((), ())


def test_a_schedule_swaps_the_vector_cores() -> None:
    found = walked("pto.barrier <PIPE_M>", lines(SUB, STORE))
    checked = order(found)
    cores = [
        [found.steps[index].core for index in scheduled(found, checked, basis).sequence]
        for basis in map(Basis(7, 11).schedule, (0, 1, 2, 3, 4))
    ]
    assert cores[0] == [1, 2]
    assert sorted(cores[1:3]) == sorted(cores[3:]) == [[1, 2], [2, 1]]


def test_a_race_of_two_cores_has_a_remedy_that_works() -> None:
    cube, vector = to_gm(), STORE
    found = walked(cube, vector)
    (race,) = races(found, order(found))
    text = remedy(found, race)
    ops = re.findall(r"pto\.(\w+) <(\w+)> on the ([\w ]+?) (?:after|before)", text)
    assert ops == [
        ("set_intra_block", "PIPE_FIX", "cube core"),
        ("wait_intra_block", "PIPE_MTE3", "vector core 0"),
    ]
    fixed = walked(lines(cube, raised("FIX", 1)), lines(awaited("MTE3", 1), vector))
    assert (order(fixed).findings, races(fixed, order(fixed))) == ((), ())


FIRST = f"{SUB}\n%z = arith.cmpi eq, %sub, %c0 : i64\nscf.if %z {{\n{STORE}\n}}"
OTHER = f"scf.if %z {{\n}} else {{\n{LOAD}\n}}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["aiv_only", "mix", "aic_only", ""])
def test_a_barrier_of_cores_orders_those_of_its_kind(kind: str, form: str) -> None:
    """Vector core 1 loads what vector core 0 has stored."""
    meets = f"pto.syncall() mode = <hard>, core_type = <{kind}>" if kind else ""
    cube = meets if kind != "aiv_only" else ""
    found = order(walked(cube or "pto.barrier <PIPE_ALL>", lines(FIRST, meets, OTHER), form=form))
    assert bool(found.findings) == (kind in ("", "aic_only"))
