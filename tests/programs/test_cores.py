# SPDX-License-Identifier: Apache-2.0
"""Cores of a block: streams, signals between them, deadlocks, and stores to the same bytes.

Source: spec/order_and_atomics.md, sections 4 and 6. No engine runs here.
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
from tb.language.run.walk import streams, trace
from tb.language.trace import CORES, Move, SetSignal, Trace, WaitSignal
from tb.language.verify import verify_file
from tb.programs.schedules import Basis, scheduled
from tests.language.programs import FORMS, in_form
from tests.model.conftest import noise
from tests.wording import line_says, says

GM = 0x10_0000

HEAD = """func.func @kernel(%g: !pto.ptr<f32, gm>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %i32 = arith.constant 32 : index
  %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
  %acc = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
"""

STORE = (
    "pto.mte_ub_gm %ub, %g, %c64 nburst(%c1, %c64, %c64)"
    " : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
)
LOAD = (
    "pto.mte_gm_ub %g, %ub, %c0, %c64 nburst(%c1, %c64, %c64)"
    " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)
BACK = (
    "pto.mte_l0c_{} %acc, {}, %c16, %c16, %c16, %c16{}, nz2nd{}"
    " : !pto.ptr<f32, l0c>, !pto.ptr<f32, {}>, i64, i64, i64, i64{}"
)
SPLIT = BACK.format("ub", "%ub", ", dst_mode(split_m)", "", "ub", "")


def to_gm(clause: str = "") -> str:
    """Returns a write-back of 16 x 16 elements to GM."""
    return BACK.format("gm", "%g", ", %c0, %c0", clause, "gm", ", i64, i64")


def text_of(cube: str = "", vector: str = "", outside: str = "") -> str:
    """Returns a program with a section for each part, whose lines begin in column 5."""
    parts = [("cube", cube), ("vector", vector)]
    body = "".join(
        f"  pto.section.{name} {{\n" + "".join(f"    {x}\n" for x in ops.splitlines()) + "  }\n"
        for name, ops in parts
        if ops
    )
    return f"{HEAD}{outside}{body}  func.return\n}}\n"


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
%row = arith.muli %at, %i32 : index
%mine = pto.addptr %g, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
"""
"""Address of the row of a core, 128 bytes after that of the other one."""

STORE_ROW = STORE.replace("%g,", "%mine,")


def raised_for_both(pipe: str, number: int) -> str:
    return lines(raised(pipe, number), raised(pipe, number + 16))


def cores_of(found: Trace) -> list[int]:
    """Returns the cores with steps, ascending."""
    return sorted({step.core for step in found.steps})


def signals_of(found: Trace) -> list[tuple[str, int, int, int, int]]:
    """Returns op, core, source, target and number of each signal."""
    return [
        (step.name, step.core, step.source, step.target, step.number)
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", [SUB, SPLIT])
def test_sub_block_1_takes_part_where_the_text_has_it(what: str, form: str) -> None:
    cube = what if what is SPLIT else to_gm()
    vector = lines(SUB, STORE) if what is SUB else STORE
    assert cores_of(walked(cube, vector, form=form)) == [0, 1, 2]


@pytest.mark.parametrize("form", FORMS)
def test_a_signal_to_sub_block_1_makes_it_take_part(form: str) -> None:
    cube = lines(raised("FIX", 2), raised("FIX", 18))
    checked = order(walked(cube, awaited("MTE3", 2), form=form))
    assert (checked.findings, checked.notes) == ((), ())
    assert cores_of(walked(awaited("MTE1", 18), raised("MTE3", 2), form=form)) == [0, 1, 2]


def test_a_comment_brings_no_sub_block_1() -> None:
    comment = "// get_subblock_idx, split_m and copy_cbuf_to_ubuf"
    assert cores_of(walked(to_gm(), lines(comment, STORE))) == [0, 1]
    named = STORE.replace("%ub,", "%split_m,")
    vector = lines("%split_m = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>", named)
    assert cores_of(walked(to_gm(), vector)) == [0, 1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("number", "cores"), [("%c0", [0, 1]), ("%c1", [0, 1, 2]),
                                               ("%sum", [0, 1, 2])])  # fmt: skip
def test_a_write_back_to_the_ub_of_sub_block_1(number: str, cores: list[int], form: str) -> None:
    """A number that is not the constant 0 may be 1."""
    back = BACK.format("ub", "%ub", f", dst_mode({number})", "", "ub", ", i64")
    cube = lines("%sum = arith.addi %c0, %c0 : i64", back)
    assert cores_of(walked(cube, raised("MTE3", 3), form=form)) == cores


COPY = (
    "pto.copy_cbuf_to_ubuf %l1, %ub, {}, %c1, %c1, %c0, %c0"
    " : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)


def test_a_copy_from_l1_that_selects_a_sub_block() -> None:
    l1 = "%l1 = pto.castptr %c0 : i64 -> !pto.ptr<f32, l1>"
    assert cores_of(walked(lines(l1, COPY.format("%c1")), raised("MTE3", 3))) == [0, 1, 2]


# --- sections of one sub-block --------------------------------------------------------------------

HALVES = f"""{HEAD}  pto.section.vector {{
    %sub = pto.get_subblock_idx
    {STORE}
  }} {{pto.ub_sub = 0}}
  pto.section.vector {{
    {LOAD}
  }} {{pto.ub_sub = 1}}
  func.return
}}
"""


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
    text = text_of("", STORE).replace(") {\n", ") attributes {pto.ub_sub = 1} {\n", 1)
    assert cores_of(trace(read(text, "x.pto"), arguments={0: GM})) == [2]


def test_a_called_function_has_the_ub_of_its_core() -> None:
    inner = HEAD.replace("@kernel", "@inner") + f"  {STORE}\n  func.return\n}}\n"
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
    assert says(found.not_executed[0], "sub-block 1 vector section x.pto:12:3")


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


@pytest.mark.parametrize("number", [0, 3, 15])
def test_signals_of_the_cube_core(number: int) -> None:
    """IB-01 and IB-05: id p for sub-block 0, p + 16 for sub-block 1; each waits for its own."""
    cube = lines(raised("FIX", number), raised("FIX", number + 16))
    found = walked(cube, BOTH + awaited("MTE3", number))
    assert signals_of(found) == [
        ("set_intra_block", 0, 0, 1, number),
        ("set_intra_block", 0, 0, 2, number),
        ("wait_intra_block", 1, 0, 1, number),
        ("wait_intra_block", 2, 0, 2, number),
    ]
    checked = order(found)
    assert (checked.findings, checked.notes) == ((), ())


def test_sub_block_1_may_wait_for_the_number_of_the_cube_core() -> None:
    """IB-05: 17 and 1 are one id of a vector core."""
    chosen = lines(
        SUB,
        "%id = arith.addi %sub, %c16 : i64",
        "%at = arith.index_cast %id : i64 to index",
        awaited("MTE3", "%at"),
    )
    found = walked(lines(raised("FIX", 0), raised("FIX", 17)), chosen)
    assert [each[1:] for each in signals_of(found)[2:]] == [(1, 0, 1, 0), (2, 0, 2, 1)]
    assert order(found).findings == ()


def test_signals_of_the_vector_cores() -> None:
    """IB-02: sub-block s raises counter 16 s + p of the cube core."""
    cube = lines(awaited("MTE1", 5), awaited("MTE1", 21))
    found = walked(cube, BOTH + raised("MTE3", 5))
    assert signals_of(found) == [
        ("wait_intra_block", 0, 1, 0, 5),
        ("wait_intra_block", 0, 2, 0, 21),
        ("set_intra_block", 1, 1, 0, 5),
        ("set_intra_block", 2, 2, 0, 21),
    ]
    assert order(found).findings == ()


def test_signals_are_counted() -> None:
    """IB-04: two sets let two waits pass, and a third one waits for ever."""
    two = lines(raised("FIX", 2), raised("FIX", 2))
    assert order(walked(two, lines(*[awaited("MTE3", 2)] * 2))).findings == ()
    finding = only(order(walked(two, lines(*[awaited("MTE3", 2)] * 3))))
    assert says(finding.message, "deadlock wait 3 signal 2 cube core vector core 0 set 2 times")
    spare = order(walked(two, awaited("MTE3", 2)))
    assert spare.findings == ()
    assert says(spare.notes[0], "note signal 2 cube core vector core 0 still set at the end")


def test_a_sync_of_mode_2_is_of_the_cube_core_and_both_sub_blocks() -> None:
    down = walked("pto.sync.set <PIPE_FIX>, 4", BOTH + "pto.sync.wait <PIPE_MTE3>, 4")
    assert order(down).findings == ()
    assert sorted(each[3] for each in signals_of(down) if each[0] == "sync.set") == [1, 2]
    up = walked("pto.sync.wait <PIPE_MTE1>, 4", BOTH + "pto.sync.set <PIPE_MTE3>, 4")
    assert order(up).findings == ()
    assert sorted(each[2] for each in signals_of(up) if each[0] == "sync.wait") == [1, 2]


def test_a_sync_of_mode_1_is_of_both_sub_blocks() -> None:
    mode = " {ffts_mode = 1 : i32}"
    meet = lines("pto.sync.set <PIPE_MTE3>, 4" + mode, "pto.sync.wait <PIPE_MTE2>, 4" + mode)
    found = walked(to_gm(), BOTH + meet)
    assert order(found).findings == ()
    waits = [each[1:4] for each in signals_of(found) if each[0] == "sync.wait"]
    assert {(1, 2, 1), (2, 1, 2)} <= set(waits)


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
        assert says(finding.message, f"hazard reads ub{core} pto.mte_l0c_ub x.pto:10:5 writes")
        assert says(finding.message, f"PIPE_FIX cube core PIPE_MTE3 vector core {core}")
        assert says(finding.legal, "set_intra_block PIPE_FIX wait_intra_block PIPE_MTE3")
    assert [each.space for each in races(found, checked)] == ["ub0", "ub1"]


@pytest.mark.parametrize(("pipe", "free"), [("MTE2", True), ("MTE3", False), ("V", False)])
def test_a_wait_stops_its_pipe_alone(pipe: str, free: bool) -> None:
    """IB-04: a load on another pipe of the core goes on, and is a hazard."""
    found = order(
        walked(lines(SPLIT, raised_for_both("FIX", 2)), BOTH + lines(awaited(pipe, 2), LOAD))
    )
    assert [one.op for one in found.findings] == ([] if free else ["pto.mte_gm_ub"] * 2)
    for core, finding in enumerate(found.findings):
        assert says(finding.message, f"hazard writes ub{core} pto.mte_l0c_ub")


@pytest.mark.parametrize(
    "cube",
    [lines(raised_for_both("FIX", 2), SPLIT), lines(SPLIT, raised_for_both("MTE1", 2))],
    ids=["before", "other pipe"],
)
def test_a_signal_covers_the_earlier_ops_of_its_pipe(cube: str) -> None:
    """IB-03."""
    found = order(walked(cube, ROW + lines(awaited("MTE3", 2), STORE_ROW)))
    for core, finding in enumerate(found.findings):
        assert says(finding.message, f"hazard reads ub{core}")
    assert len(found.findings) == 2


def test_signals_and_flags_chain_over_cores() -> None:
    """OR-04: FIX to MTE2 by a signal, MTE2 to MTE3 by a flag."""
    flag = "pto.{}_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID3>]"
    vector = ROW + lines(awaited("MTE2", 2), flag.format("set"), flag.format("wait"), STORE_ROW)
    assert order(walked(lines(SPLIT, raised_for_both("FIX", 2)), vector)).findings == ()


# --- deadlocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cube", "vector", "who", "for_whom"),
    [
        ("pto.barrier <PIPE_M>", awaited("MTE3", 7), "PIPE_MTE3 vector core 0", "7 cube core"),
        (awaited("MTE1", 7), STORE, "PIPE_MTE1 cube core", "7 vector core 0"),
        (awaited("MTE1", 23), SUB, "PIPE_MTE1 cube core", "23 vector core 1"),
    ],
)
def test_a_wait_that_nothing_sets_is_refused(
    cube: str, vector: str, who: str, for_whom: str
) -> None:
    finding = only(order(walked(cube, vector)))
    assert (finding.op, finding.severity) == ("pto.wait_intra_block", "error")
    assert says(finding.message, f"deadlock {who} waits for ever nothing sets signal {for_whom}")


@pytest.mark.parametrize(("numbers", "stuck"), [([2], [1]), ([18], [0]), ([3, 19], [0, 1])])
def test_a_signal_of_the_other_sub_block_does_not_help(
    numbers: list[int], stuck: list[int]
) -> None:
    """IB-01: no broadcast."""
    cube = lines(*(raised("FIX", number) for number in numbers))
    found = order(walked(cube, BOTH + awaited("MTE3", 2)))
    assert len(found.findings) == len(stuck)
    for core, finding in zip(stuck, found.findings, strict=True):
        assert says(finding.message, f"deadlock PIPE_MTE3 vector core {core} nothing sets signal 2")


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


def test_cores_that_set_before_they_wait_go_on() -> None:
    cube = lines(raised("MTE1", 4), awaited("MTE1", 3))
    vector = lines(raised("MTE3", 3), awaited("MTE3", 4))
    assert order(walked(cube, vector)).findings == ()
    # On another pipe the set does not wait.
    other = lines(awaited("MTE1", 3), raised("FIX", 4))
    waits = lines(awaited("MTE3", 4), raised("MTE3", 3))
    assert order(walked(other, waits)).findings == ()


def test_a_deadlock_over_three_cores_names_each() -> None:
    """Cube waits for sub-block 1, which waits for a flag of its own after a wait for the cube."""
    cube = lines(awaited("MTE1", 21), raised("MTE1", 2), raised("MTE1", 18))
    vector = BOTH + lines(awaited("MTE3", 2), raised("MTE3", 5))
    finding = only(order(walked(cube, vector)))
    assert says(finding.message, "deadlock vector core 1 cube core")
    assert "vector core 0" not in finding.message, "it is no part of the circle"


def test_a_circle_of_cores_is_found_without_a_run(tmp_path: Path) -> None:
    path = tmp_path / "x.pto"
    path.write_text(text_of(lines(awaited("MTE1", 3), raised("MTE1", 4)),
                            lines(awaited("MTE3", 4), raised("MTE3", 3))))  # fmt: skip
    (finding,) = verify_file(path).findings
    assert says(finding.message, "deadlock waits set_intra_block vector core 0 cube core this one")


@pytest.mark.parametrize(
    ("vector", "found"),
    [
        (awaited("MTE3", 2), []),
        (lines(awaited("MTE3", 2), awaited("MTE3", 2)), ["pto.wait_intra_block"]),
        (awaited("MTE3", 3), ["pto.wait_intra_block"]),
        (lines("%id = arith.index_cast %n : i64 to index", awaited("MTE3", "%id")), []),
    ],
    ids=["met", "one too many", "of no set", "unknown"],
)
def test_a_wait_that_nothing_sets_is_found_without_a_run(
    vector: str, found: list[str], tmp_path: Path
) -> None:
    """An id that is not known leaves the cores unchecked."""
    path = tmp_path / "x.pto"
    text = text_of(raised("FIX", 2), lines(vector, raised("MTE3", 9)))
    text = text.replace("%g: !pto.ptr<f32, gm>", "%g: !pto.ptr<f32, gm>, %n: i64")
    path.write_text(text)
    assert [one.op for one in verify_file(path).findings] == found


def test_a_function_of_one_core_waits_for_another_function(tmp_path: Path) -> None:
    path = tmp_path / "x.pto"
    other = text_of(vector=raised("MTE3", 3)).replace("@kernel", "@other")
    path.write_text(text_of(awaited("MTE1", 3)) + other)
    assert verify_file(path).findings == ()


def test_a_loop_of_unknown_bounds_leaves_the_cores_unchecked(tmp_path: Path) -> None:
    loop = lines("%i0 = arith.constant 0 : index", "%n = arith.index_cast %many : i64 to index",
                 "scf.for %i = %i0 to %n step %i32 {", raised("FIX", 2), "}")  # fmt: skip
    path = tmp_path / "x.pto"
    text = text_of(loop, lines(*[awaited("MTE3", 2)] * 3))
    path.write_text(text.replace("gm>)", "gm>, %many: i64)", 1))
    assert verify_file(path).findings == ()


# --- counters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "full"), [(15, False), (16, True)])
def test_a_counter_holds_15(count: int, full: bool) -> None:
    """IB-07: the waits may all come after the last set."""
    cube, vector = [raised("FIX", 2)] * count, [awaited("MTE3", 2)] * count
    found = order(walked(lines(*cube), lines(*vector)))
    assert [one.rule for one in found.findings] == ["IB-07"] * full
    if full:
        assert says(found.findings[0].message, "set 16 signal 2 cube core vector core 0 nothing")
        assert says(found.findings[0].message, "waited for more than 0")


def test_an_answer_of_each_signal_bounds_its_counter() -> None:
    cube = [raised("FIX", 2), awaited("FIX", 3)] * 40
    vector = [awaited("MTE3", 2), raised("MTE3", 3)] * 40
    assert order(walked(lines(*cube), lines(*vector))).findings == ()


@pytest.mark.parametrize(
    ("sets", "waits", "op"),
    [
        (("FIX", "FIX"), ("MTE3", "MTE3"), ""),
        (("FIX", "MTE1"), ("MTE3", "MTE3"), "pto.set_intra_block"),
        (("FIX", "FIX"), ("MTE3", "V"), "pto.wait_intra_block"),
    ],
)
def test_an_id_is_of_one_pipe(sets: tuple[str, ...], waits: tuple[str, ...], op: str) -> None:
    """IB-07."""
    cube, vector = ([raised(pipe, 2) for pipe in sets], [awaited(pipe, 2) for pipe in waits])
    found = order(walked(lines(*cube), lines(*vector)))
    assert [(one.op, one.rule) for one in found.findings] == ([(op, "IB-07")] if op else [])


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
    ("first", "second", "free"),
    [
        (", atomic(type = f32, op = add)", "pto.set_atomic_f32", False),
        (", atomic(type = f32, op = add)", "pto.set_atomic_s32", False),
        (", atomic(type = f32, op = add)", "pto.set_atomic_f32, pto.set_atomic_max", False),
        (", atomic(type = f32, op = max)", "pto.set_atomic_f32, pto.set_atomic_max", False),
        (", atomic(type = f32, op = add)", "pto.set_atomic_f32, pto.set_atomic_none", False),
        ("", "pto.set_atomic_f32", False),
    ],
)
def test_an_add_of_a_write_back_and_one_of_a_store(first: str, second: str, free: bool) -> None:
    """Equal types and adds on both sides need no order; all else does."""
    found = pair(first, second)
    assert [one.op for one in found.findings] == ([] if free else ["pto.mte_ub_gm"])
    if not free:
        assert says(found.findings[0].message, "hazard writes gm pto.mte_l0c_gm writes cube core")


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


def test_a_core_that_does_not_come_to_the_barrier_is_named() -> None:
    meets = "pto.syncall() mode = <hard>, core_type = <mix>"
    (finding,) = order(walked("pto.barrier <PIPE_ALL>", meets)).findings
    assert says(finding.message, "deadlock waits for ever nothing sets syncall cube core")


def test_signals_between_blocks_need_those_of_the_block_alone() -> None:
    pair = "pto.set_cross_block <PIPE_FIX>, 3\npto.wait_cross_block <PIPE_FIX>, 3"
    assert order(walked(pair)).findings == ()
    (finding,) = order(walked("pto.wait_cross_block <PIPE_FIX>, 3")).findings
    assert says(finding.message, "deadlock nothing sets cross_block signal 3")
