# SPDX-License-Identifier: Apache-2.0
"""Buffers, flags of the scalar unit, unit flags of L0C, computed numbers, signals between cores."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm
from tb.isa.mad import Mad
from tb.isa.pipes import EVENT_TYPES, Pipe
from tb.language.dialect.sync import ORDERING, BufferOp, DynamicFlagOp, SignalOp, SyncAllOp
from tb.language.order.flags import own_blocks
from tb.language.order.order import Order, order
from tb.language.place import ProgramError
from tb.language.printer import program_text
from tb.language.reader import read
from tb.language.run.walk import trace
from tb.language.trace import (
    Barrier,
    GetBuf,
    RlsBuf,
    SetFlag,
    SetSignal,
    Step,
    WaitFlag,
    WaitSignal,
)
from tb.language.verify import Verified, verify_file
from tests.language.corpus.short import complete
from tests.language.programs import FORMS, in_form, program
from tests.language.steps import (
    barrier,
    bracket,
    compute,
    get_buf,
    lines,
    load,
    move,
    rls_buf,
    set_flag,
    store,
    sync,
    wait_flag,
)
from tests.language.steps import program as steps_of
from tests.wording import says

MTE1, MTE2, MTE3, V, M, FIX, S = (
    *(Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V, Pipe.M, Pipe.FIX),
    Pipe.S,
)


def ordered(*steps: Step, preset: tuple[int, ...] = ()) -> Order:
    return order(steps_of(steps), hazard="error", unit_flags=preset)


def body(*ops: str) -> str:
    text = "\n".join(ops)
    return f"func.func @k() {{\n{text}\nfunc.return\n}}\n"


def refused(text: str, foreign: Literal["refuse", "skip"] = "refuse") -> str:
    with pytest.raises(ProgramError) as caught:
        trace(read(text, "x.pto"), foreign=foreign)
    return str(caught.value)


def verified(text: str, folder: Path) -> Verified:
    path = folder / "x.pto"
    path.write_text(text)
    return verify_file(path)


# --- buffers and pipe S ---------------------------------------------------------------------------

LOADED, STORED = bracket(MTE2, load()), bracket(MTE3, store())
KEPT = [*bracket(MTE2), load(), get_buf(V, 0, 1)]
"""A buffer that MTE2 has used, its load, and a get of mode 1."""

BUFFERS: dict[str, tuple[list[Step], list[str]]] = {
    # BF-01 and BF-02: the later bracket starts when the ops of the earlier one have completed.
    "brackets": ([*LOADED, *STORED, *LOADED], []),
    "brackets of one pipe": ([*LOADED, *LOADED], []),
    "no other bracket": ([get_buf(MTE2), load(), store()], ["2 hazard"]),
    "a third pipe": (
        [get_buf(MTE2), load(), rls_buf(MTE2), get_buf(V), rls_buf(V), store()],
        ["5 hazard"],
    ),
    # OR-04.
    **{
        f"chain over a third pipe, mode {mode}": (
            [
                *(*bracket(MTE2, load(), mode=mode), *bracket(V), get_buf(V, 1), rls_buf(V, 1)),
                *bracket(MTE3, store(), buffer=1),
            ],
            [],
        )
        for mode in (0, 1)
    },
    "chain back to one pipe": ([*LOADED, *bracket(V), *LOADED], []),
    "ops before the bracket": ([load(), *bracket(MTE2), *STORED], []),
    "ops after the bracket": ([*bracket(MTE2), load(), *STORED], ["4 hazard"]),
    # BF-04: the release of V signals when the load of MTE2, which has used the buffer, is done.
    "release of mode 1": ([*KEPT, rls_buf(V, 0, 1), *STORED], []),
    "release of mode 0": ([*KEPT, rls_buf(V, 0, 0), *STORED], ["6 hazard"]),
    "no user": ([load(), get_buf(V, 0, 1), rls_buf(V, 0, 1), *STORED], ["4 hazard"]),
    "after the release": (
        [*KEPT, rls_buf(V, 0, 1), load(0x400), *bracket(MTE3, store(0x400))],
        ["7 hazard"],
    ),
    "joined": (
        [*bracket(MTE2), load(), barrier(), get_buf(V, 0, 1), rls_buf(V, 0, 1), *STORED],
        [],
    ),
    "buffer of the scalar unit": ([*LOADED, *bracket(S), store()], []),
    # FL-03: whatever comes later, of any pipe, starts after what has set the flag.
    "flag for the scalar unit": ([load(), *sync(MTE2, S), store(), load(0x400)], []),
    "issued before the wait": (
        [load(), set_flag(MTE2, S), store(), wait_flag(MTE2, S)],
        ["2 hazard"],
    ),
    "stream that waits for what it has not issued": (
        [wait_flag(MTE2, S), load(), set_flag(MTE2, S)],
        ["0 deadlock"],
    ),
    "pipe that waits": ([wait_flag(MTE2, V), load(), set_flag(MTE2, V)], []),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_buffers_and_the_scalar_unit(name: str) -> None:
    steps, expected = BUFFERS[name]
    assert lines(ordered(*steps)) == expected


def test_links_of_brackets_and_of_the_scalar_unit() -> None:
    found = ordered(*BUFFERS["brackets"][0])
    assert (found.notes, found.held, dict(found.after)) == ((), {}, {4: (1,), 7: (4,)})
    assert ordered(*BUFFERS["flag for the scalar unit"][0]).after[3] == (0,)


def test_each_place_has_one_finding() -> None:
    again = order(steps_of([rls_buf(V)] * 3, [4, 4, 5]))
    assert lines(again) == ["4 BF-03", "5 BF-03"]


def test_a_buffer_that_is_kept_is_a_note() -> None:
    found = ordered(get_buf(MTE2, 7), load())
    assert found.findings == ()
    assert says(found.notes[0], "x.pto:0:3 note buffer 7 held PIPE_MTE2 at the end")


def test_a_buffer_and_a_flag_wait_for_one_another() -> None:
    """The release comes after a wait whose set comes after the get."""
    (finding,) = ordered(
        *bracket(MTE2, wait_flag(MTE3, MTE2)), *bracket(MTE3, set_flag(MTE3, MTE2))
    ).findings
    assert says(finding.message, "deadlock waits set_flag after get_buf rls_buf")


# --- unit flags of L0C: who waits for whom, and for ever (fixpipe.md 8, l0_loads.md 6) ---

L0A, L0B, L0C = Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c")
ONLY, SETS, CLEARS, CHECKS = "check_only", "check_and_set", 3, 2


def product(flag: str = SETS, dst: int = 0) -> Step:
    """Returns a product of blocks 0 and 1, or of those at ``dst``."""
    return compute(Mad(0, 0, dst, 16, 16, 32, L0A, L0B, L0C, unit_flag=flag))


def back(flag: int = CLEARS, src: int = 0, dst: int = 0) -> Step:
    """Returns a write-back of these blocks."""
    return move(MteL0cGm(src, dst, 16, 16, 16, 16, unit_flag=flag, layout="nz2nd"))


LATE = back(dst=0x10000)
NEVER_SET = "deadlock PIPE_FIX waits for ever unit flag L0C block 0 to be set no product sets it"
NEVER_CLEAR = (
    "deadlock PIPE_M waits for ever unit flag L0C block 0 to be clear no write-back clears it"
)
STUCK: list[tuple[list[Step], tuple[int, ...], int, str, str]] = [
    # Steps, blocks set at the begin, line of the only finding, its op and facts.
    (
        [back(), *sync(FIX, M), product()],
        *((), 0, "mte_l0c_gm", "deadlock waits mad x.pto:3:3 after wait_flag set_flag this one"),
    ),
    ([product(ONLY), back()], (), 1, "mte_l0c_gm", NEVER_SET),
    ([product(), product()], (), 1, "mad", f"{NEVER_CLEAR} pto.mad at x.pto:0:3 sets it"),
    (
        [product(), back(CHECKS), product()],
        *((), 2, "mad", f"{NEVER_CLEAR} pto.mad at x.pto:0:3 sets it"),
    ),
    ([product(), product(ONLY)], (), 1, "mad", f"{NEVER_CLEAR} pto.mad at x.pto:0:3 sets it"),
    (
        [product(), back(), LATE],
        *((), 2, "mte_l0c_gm"),
        "block 0 to be set no product sets it after that pto.mte_l0c_gm at x.pto:1:3 clears it",
    ),
    (
        [product()],
        *((0, 1), 0, "mad", "block 0 to be clear no write-back clears it set at the begin"),
    ),
    (
        [product(), back()],
        *((1,), 0, "mad"),
        "deadlock waits for mte_l0c_gm at x.pto:1:3 waits for this one",
    ),
]


@pytest.mark.parametrize(("steps", "preset", "line", "op", "facts"), STUCK)
def test_ops_that_wait_for_ever(
    steps: list[Step], preset: tuple[int, ...], line: int, op: str, facts: str
) -> None:
    """What never starts has no hazards."""
    (finding,) = ordered(*steps, preset=preset).findings
    assert (finding.place.line, finding.op) == (line, f"pto.{op}")
    assert says(finding.message, facts)


@pytest.mark.parametrize(
    ("steps", "preset", "sequence", "after"),
    [
        ([product(), back(), product(), back()], (), (0, 1, 2, 3), {1: (0,), 2: (1,), 3: (2,)}),
        # FIX alone waits: the matrix unit goes on and sets the flag.
        ([back(), product()], (), (1, 0), {0: (1,)}),
        # Without a clause of a product the harness sets flags.
        ([product(""), *sync(M, FIX), back()], (), (0, 3), {3: (0,)}),
        ([product(), back(src=2048), LATE], (), (0, 1, 2), {2: (0,)}),
        ([product(), back(CHECKS), LATE], (), (0, 1, 2), {1: (0,)}),
        # The write-back finds its flags set, and goes before the product.
        ([product(), back()], (0, 1), (1, 0), {0: (1,)}),
    ],
)
def test_unit_flags_order_products_and_write_backs(
    steps: list[Step],
    preset: tuple[int, ...],
    sequence: tuple[int, ...],
    after: dict[int, tuple[int, ...]],
) -> None:
    found = ordered(*steps, preset=preset)
    assert (found.findings, found.warnings) == ((), ())
    assert (found.sequence, dict(found.after)) == (sequence, after)


def test_blocks_that_no_product_checks_are_set_by_the_harness() -> None:
    """A-48."""
    assert own_blocks(steps_of([product(), back(src=2048), LATE]).steps) == {0, 1}


PAIR = """pto.mad %a, %b, %c, %c16, %c16, %c32 unit_flag({flag}) : F16_L0A, F16_L0B, F32_L0C, I64x3
pto.mte_l0c_gm %c, %out, %c16, {n}, %c16, %c16, %c0, %c0, unit_flag(check_and_clear), nz2nd
  : F32_L0C, F32_GM, I64x6
"""


@pytest.mark.parametrize(
    ("flag", "n", "stuck"),
    [(SETS, "%c16", False), (ONLY, "%c16", True), (SETS, "%n", False), (ONLY, "%n", False)],
)
def test_unknown_blocks_are_no_deadlock(tmp_path: Path, flag: str, n: str, stuck: bool) -> None:
    """The unknown address in GM does not decide which blocks a write-back waits for."""
    found = verified(complete("k", PAIR.format(flag=flag, n=n))[0], tmp_path).findings
    assert [one.message.partition(":")[0] for one in found][:1] == ["deadlock"] * stuck


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
    assert [(x.src, x.dst) for x in ops if isinstance(x, DynamicFlagOp)] == [(V, FIX)]
    assert [len(x.operands) for x in ops if isinstance(x, SignalOp | SyncAllOp)] == [0, 1, 1]


def test_events_of_tile_ops_are_flags_of_their_pipes() -> None:
    text = body(
        "pto.record_event [#pto.pipe_event_type<TLOAD>, <TMATMUL>, #pto.event<EVENT_ID5>]",
        'pto.wait_event["TLOAD", TMATMUL, EVENT_ID5]',
        "pto.barrier_sync [<TMOV_M2L>]",
    )
    made = trace(read(text, "x.pto")).steps
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

LOOP = """scf.for %i = %c0 to {} step %c1 {{
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
  pto.get_buf_dyn "PIPE_V", %i
  pto.rls_buf_dyn "PIPE_V", %i
}}
"""


def loop(bound: str) -> tuple[str, list[str]]:
    """Returns a program of computed numbers, and the lines of its four ops."""
    text, before = complete("k", LOOP.format(bound))
    return text, [str(before + number) for number in range(2, 6)]


def test_a_number_is_read_when_the_op_is_issued() -> None:
    made = trace(read(loop("%c3")[0], "x.pto")).steps
    assert [x.event for x in made if isinstance(x, SetFlag)] == [0, 1, 2]
    assert [x.buffer for x in made if isinstance(x, RlsBuf)] == [0, 1, 2]


def test_numbers_out_of_range_are_reported_once_each(tmp_path: Path) -> None:
    text, at = loop("%c40")
    found = verified(text, tmp_path)
    expected = [*zip(at, ("FL-01", "FL-01", "BF-06", "BF-06"), strict=True)]
    assert [(str(x.place.line), x.rule) for x in found.findings] == expected
    assert not any("not known" in note for note in found.notes)


def test_an_unknown_number_is_a_note(tmp_path: Path) -> None:
    text, at = loop("%n")
    found = verified(text, tmp_path)
    assert found.findings == ()
    notes = [x for x in found.notes if "flag or buffer is not known" in x]
    assert [note.split(":")[1] for note in notes] == at


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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("signal", ["{}_intra_block <PIPE_FIX>, 17", "sync.{} <PIPE_FIX>, 3"])
def test_a_signal_is_a_step_of_a_run_alone(signal: str, form: str, tmp_path: Path) -> None:
    """A check of one file does not know what the other cores of its block do."""
    for word, kind in (("set", SetSignal), ("wait", WaitSignal)):
        text = in_form(body("pto." + signal.format(word)), form)
        (step,) = trace(read(text, "x.pto")).steps
        assert isinstance(step, kind)
        assert verified(text, tmp_path).findings == ()


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
