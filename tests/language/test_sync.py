# SPDX-License-Identifier: Apache-2.0
"""Buffers, flags of the scalar unit, computed numbers, and signals between cores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.pipes import EVENT_TYPES, Pipe
from tb.language.dialect.sync import ORDERING, BufferOp, DynamicFlagOp, SignalOp, SyncAllOp
from tb.language.order.order import Order, order
from tb.language.place import ProgramError
from tb.language.printer import program_text
from tb.language.reader import read
from tb.language.run.walk import trace
from tb.language.trace import (
    Barrier,
    GetBuf,
    Move,
    RlsBuf,
    SetFlag,
    SetSignal,
    Step,
    WaitFlag,
    WaitSignal,
)
from tb.language.verify import Verified, verify_file
from tests.language.programs import FORMS, in_form, program
from tests.language.steps import barrier, bracket, get_buf, move, rls_buf, set_flag, sync, wait_flag
from tests.language.steps import program as steps_of
from tests.wording import says

MTE1, MTE2, MTE3, V, M = Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V, Pipe.M


def load(ub: int = 0) -> Move:
    return move(MteGmUb(0, ub, 256, 1, 0, 0))


def store(ub: int = 0) -> Move:
    return move(MteUbGm(ub, 0x10000, 256, 1, 0, 0))


def ordered(*steps: Step) -> Order:
    return order(steps_of(steps), hazard="error")


def lines(found: Order) -> list[tuple[int, str, str]]:
    """Returns line, rule and first word of each finding."""
    return [(f.place.line, f.rule, f.message.partition(":")[0]) for f in found.findings]


def body(*ops: str) -> str:
    text = "\n".join(ops)
    return f"func.func @k() {{\n{text}\nfunc.return\n}}\n"


def steps(*ops: str) -> tuple[Step, ...]:
    return trace(read(body(*ops), "x.pto")).steps


def refused(text: str, foreign: Literal["refuse", "skip"] = "refuse") -> str:
    with pytest.raises(ProgramError) as caught:
        trace(read(text, "x.pto"), foreign=foreign)
    return str(caught.value)


def verified(text: str, folder: Path) -> Verified:
    path = folder / "x.pto"
    path.write_text(text)
    return verify_file(path)


# --- buffers --------------------------------------------------------------------------------------


def test_brackets_of_a_buffer_keep_the_order_of_the_program() -> None:
    """BF-01 and BF-02: the later bracket starts when the ops of the earlier one have completed."""
    found = ordered(*bracket(MTE2, load()), *bracket(MTE3, store()), *bracket(MTE2, load()))
    assert (found.findings, found.notes, found.held) == ((), (), {})
    assert dict(found.after) == {4: (1,), 7: (4,)}


@pytest.mark.parametrize(
    "between",
    [
        [],
        [rls_buf(MTE2), get_buf(MTE3, 1)],
        [rls_buf(MTE2), get_buf(MTE3, 0, 1)],
        [rls_buf(MTE2), get_buf(V), rls_buf(V)],
    ],
)
def test_other_brackets_order_nothing(between: Sequence[Step]) -> None:
    """None at all, of another buffer, of mode 1, of a third pipe."""
    found = ordered(get_buf(MTE2), load(), *between, store())
    assert (len(between) + 2, "", "hazard") in lines(found)


@pytest.mark.parametrize("mode", [0, 1])
def test_a_chain_of_brackets_orders(mode: int) -> None:
    """Over a third pipe, and there and back on one pipe (OR-04)."""
    chain = [*bracket(MTE2, load(), mode=mode), *bracket(V, buffer=0), get_buf(V, 1), rls_buf(V, 1)]
    assert ordered(*chain, get_buf(MTE3, 1), store(), rls_buf(MTE3, 1)).findings == ()
    back = [*bracket(MTE2, load()), *bracket(V), *bracket(MTE2, load())]
    assert ordered(*back).findings == ()
    assert ordered(*bracket(MTE2, load()), *bracket(MTE2, load())).findings == ()


def test_a_release_covers_what_its_pipe_had_before_the_bracket() -> None:
    assert ordered(load(), *bracket(MTE2), *bracket(MTE3, store())).findings == ()
    late = ordered(*bracket(MTE2), load(), *bracket(MTE3, store()))
    assert lines(late) == [(4, "", "hazard")]


def test_a_release_of_mode_1_follows_every_user() -> None:
    """BF-04: the release of V signals when the load of MTE2, which has used the buffer, is done."""
    before: list[Step] = [*bracket(MTE2), load(), get_buf(V, 0, 1)]
    after: list[Step] = [get_buf(MTE3), store(), rls_buf(MTE3)]
    assert ordered(*before, rls_buf(V, 0, 1), *after).findings == ()
    assert lines(ordered(*before, rls_buf(V, 0, 0), *after)) == [(6, "", "hazard")]
    other = ordered(load(), get_buf(V, 0, 1), rls_buf(V, 0, 1), *after)
    assert lines(other) == [(4, "", "hazard")], "MTE2 has not used it"
    late = ordered(*before, rls_buf(V, 0, 1), load(0x400), get_buf(MTE3), store(0x400))
    assert lines(late) == [(7, "", "hazard")], "the load is after the release"
    joined = ordered(*before[:2], load(), barrier(), get_buf(V, 0, 1), rls_buf(V, 0, 1), *after)
    assert joined.findings == ()


def test_each_place_has_one_finding() -> None:
    again = order(steps_of([rls_buf(V)] * 3, [4, 4, 5]))
    assert lines(again) == [(4, "BF-03", "buffer"), (5, "BF-03", "buffer")]


def test_a_buffer_that_is_kept_is_a_note() -> None:
    found = ordered(get_buf(MTE2, 7), load())
    assert found.findings == ()
    assert says(found.notes[0], "x.pto:0:3 note buffer 7 held PIPE_MTE2 at the end")


def test_a_buffer_and_a_flag_wait_for_one_another() -> None:
    """The release comes after a wait whose set comes after the get."""
    found = ordered(
        *(get_buf(MTE2), wait_flag(MTE3, MTE2), rls_buf(MTE2)),
        *(get_buf(MTE3), set_flag(MTE3, MTE2), rls_buf(MTE3)),
    )
    assert len(found.findings) == 1
    assert says(found.findings[0].message, "deadlock waits set_flag after get_buf rls_buf")


# --- pipe S ---------------------------------------------------------------------------------------


def test_a_flag_for_the_scalar_unit_stops_the_stream() -> None:
    """FL-03: whatever comes later, of any pipe, starts after what has set the flag."""
    found = ordered(load(), *sync(MTE2, Pipe.S), store(), move(MteGmUb(0, 0x400, 256, 1, 0, 0)))
    assert found.findings == ()
    assert found.after[3] == (0,)
    issued = ordered(load(), set_flag(MTE2, Pipe.S), store(), wait_flag(MTE2, Pipe.S))
    assert lines(issued) == [(2, "", "hazard")], "it was issued before the wait"


def test_the_stream_cannot_wait_for_what_it_has_not_issued() -> None:
    waits = ordered(wait_flag(MTE2, Pipe.S), load(), set_flag(MTE2, Pipe.S))
    assert says(waits.findings[0].message, "deadlock")
    queued = ordered(wait_flag(MTE2, V), load(), set_flag(MTE2, V))
    assert queued.findings == (), "only V waits"


def test_a_buffer_of_the_scalar_unit_stops_the_stream() -> None:
    found = ordered(*bracket(MTE2, load()), *bracket(Pipe.S), store())
    assert found.findings == ()


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("word", [*EVENT_TYPES, *(pipe.value for pipe in Pipe)])
def test_buffers_take_pipes_and_event_types(word: str, form: str) -> None:
    pipe = EVENT_TYPES.get(word) or Pipe(word)
    written = [
        *(f'pto.get_buf "{word}", 3, 0', f'pto.rls_buf "{word}", 3'),
        *(f"pto.get_buf [#pto.pipe_event_type<{word}>, 3]", f"pto.rls_buf [<{word}>, 3, 0]"),
    ]
    made = trace(read(in_form(body(*written), form), "x.pto")).steps
    assert [(type(x), x.pipe) for x in made] == [(GetBuf, pipe), (RlsBuf, pipe)] * 2
    assert all(isinstance(x, GetBuf | RlsBuf) and (x.buffer, x.mode) == (3, 0) for x in made)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_and_pipes_are_those_of_the_text(form: str) -> None:
    text = (
        'pto.get_buf_dyn "PIPE_MTE2", %i, 1\npto.rls_buf <TVEC>, 0\n'
        "pto.set_flag_dyn[<PIPE_V>, #pto.pipe<PIPE_FIX>, %i]\n"
        "pto.sync.set <PIPE_FIX>, 0 {ffts_mode = 0 : i32}\npto.wait_intra_block <PIPE_V>, %i\n"
        "pto.syncall(%gm : !pto.ptr<f16, gm>) mode = <soft>, core_type = <mix>"
    )
    ops = [*read(in_form(program(text).text, form), "x.pto").functions()[0].body.block.ops][:-1]
    buffers = [(x.pipe, x.mode, bool(x.number)) for x in ops if isinstance(x, BufferOp)]
    assert buffers == [(MTE2, 1, True), (V, 0, False)]
    assert [(x.src, x.dst) for x in ops if isinstance(x, DynamicFlagOp)] == [(V, Pipe.FIX)]
    assert [len(x.operands) for x in ops if isinstance(x, SignalOp)] == [0, 1]
    assert [len(x.operands) for x in ops if isinstance(x, SyncAllOp)] == [1]


def test_events_of_tile_ops_are_flags_of_their_pipes() -> None:
    made = steps(
        "pto.record_event [#pto.pipe_event_type<TLOAD>, <TMATMUL>, #pto.event<EVENT_ID5>]",
        'pto.wait_event["TLOAD", TMATMUL, EVENT_ID5]',
        "pto.barrier_sync [<TMOV_M2L>]",
    )
    places = [x.place for x in made]
    assert made == (
        SetFlag(places[0], MTE2, M, 5),
        WaitFlag(places[1], M, MTE2, 5),
        Barrier(places[2], MTE1),
    )


def test_brackets_are_printed_with_pipe_id_and_mode() -> None:
    text = program_text([get_buf(MTE2, 3), rls_buf(V, 31, 1), set_flag(MTE2, V, 4)])
    assert 'pto.get_buf "PIPE_MTE2", 3, 0\n' in text
    assert 'pto.rls_buf "PIPE_V", 31, 1\n' in text
    assert [type(x) for x in trace(read(text, "x.pto")).steps] == [GetBuf, RlsBuf, SetFlag]


# --- numbers --------------------------------------------------------------------------------------

LOOP = """func.func @k(%n: index) {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i2 = arith.constant {end} : index
  scf.for %i = %i0 to {bound} step %i1 {{
    pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.get_buf_dyn "PIPE_V", %i
    pto.rls_buf_dyn "PIPE_V", %i
  }}
  func.return
}}
"""


def test_a_number_is_read_when_the_op_is_issued() -> None:
    made = trace(read(LOOP.format(end=3, bound="%i2"), "x.pto")).steps
    assert [x.event for x in made if isinstance(x, SetFlag)] == [0, 1, 2]
    assert [x.buffer for x in made if isinstance(x, RlsBuf)] == [0, 1, 2]


def test_numbers_out_of_range_are_reported_once_each(tmp_path: Path) -> None:
    found = verified(LOOP.format(end=40, bound="%i2"), tmp_path)
    assert [(x.place.line, x.rule) for x in found.findings] == [
        *((6, "FL-01"), (7, "FL-01"), (8, "BF-06"), (9, "BF-06"))
    ]
    assert not any("not known" in note for note in found.notes)


def test_an_unknown_number_is_a_note(tmp_path: Path) -> None:
    found = verified(LOOP.format(end=3, bound="%n"), tmp_path)
    assert found.findings == ()
    notes = [x for x in found.notes if "flag or buffer is not known" in x]
    assert [note.split(":")[1] for note in notes] == ["6", "7", "8", "9"]


# --- ops that are not executed --------------------------------------------------------------------

UNEXECUTED = body('pto.get_buf "PIPE_V", 3, 2')


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["refuse", "skip"])
def test_no_run_leaves_out_a_signal(mode: Literal["refuse", "skip"], form: str) -> None:
    text = refused(in_form(UNEXECUTED, form), mode)
    assert says(text, "pto.get_buf op known and not executed")
    assert not any(words in text for words in ("one block runs", "deadlock", "did you mean"))


def test_a_check_accepts_a_signal_with_a_note(tmp_path: Path) -> None:
    found = verified(UNEXECUTED, tmp_path)
    assert found.findings == ()
    assert found.notes == (f"{tmp_path}/x.pto:2:1: note: pto.get_buf is known and not executed",)


SIGNALS = ("{}_intra_block <PIPE_FIX>, 17", "sync.{} <PIPE_FIX>, 3")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("signal", SIGNALS)
def test_a_signal_is_a_step_of_a_run_alone(signal: str, form: str, tmp_path: Path) -> None:
    """A check of one file does not know what the other cores of its block do."""
    text = in_form(body("pto." + signal.format("set")), form)
    (step,) = trace(read(text, "x.pto")).steps
    assert isinstance(step, SetSignal)
    waits = in_form(body("pto." + signal.format("wait")), form)
    (step,) = trace(read(waits, "x.pto")).steps
    assert isinstance(step, WaitSignal)
    for one in (text, waits):
        assert verified(one, tmp_path).findings == ()


@pytest.mark.parametrize("name", sorted(ORDERING))
def test_no_foreign_op_hides_what_orders(name: str) -> None:
    inside = refused(body(f"pto.vloop {{\n  {name} %u\n}}"), "skip")
    assert says(inside, "data movement flag inside op")


def test_fences_are_neither_foreign_nor_steps(tmp_path: Path) -> None:
    text = body(
        *('pto.mem_bar "VST_VLD"', "pto.dsb <DDR>", "pto.dcci", "pto.fence.barrier_all"),
        *("pto.cmo.cacheinvalid all", "pto.barrier <PIPE_V>"),
    )
    found = trace(read(text, "x.pto"))
    assert (len(found.steps), found.skipped) == (1, ())
    assert verified(text, tmp_path).notes == ()
