# SPDX-License-Identifier: Apache-2.0
"""Order of steps against a naive reading: reachability between starts and ends, sets of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from tb.common.errors import PtoError
from tb.isa.burst.op import MteL1Fb, MteUbUb
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, SetLoopSize, SetLoopStride
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import Atomic, FbPtr, MteL0cGm, MteL0cUb, PreQuant
from tb.isa.l0.op import Shape, shaped
from tb.isa.mad import Mad
from tb.isa.pipes import Pipe
from tb.language.order.order import Order, order
from tb.language.order.verdict import Hazard, hazard_option
from tb.language.trace import Compute, Move, Step
from tb.language.unknown import UNKNOWN
from tests.language.steps import (
    barrier,
    compute,
    lines,
    load,
    move,
    program,
    set_flag,
    store,
    sync,
    wait_flag,
)
from tests.processor import processor_seconds
from tests.wording import line_says, says

MTE1, MTE2, MTE3, V, M, FIX = Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V, Pipe.M, Pipe.FIX


def ordered(steps: Sequence[Step]) -> Order:
    return ordered_by("error", steps)


def ordered_by(hazard: Hazard, steps: Sequence[Step]) -> Order:
    return order(program(steps), hazard=hazard)


PADDED = move(MteGmUb(0, 0, 40, 1, 0, 96, pad=Pad("i8", 0)))
INSIDE = move(MteUbUb(0, 1024, 8, 1, 0, 0))
SUB_BLOCK_1 = move(MteUbGm(0, 0x10000, 64, 1, 0, 0, ub_sub=1))
SPLIT = move(MteL0cUb(0, 0, 2, 16, 0, 16, ub_split="split_m"))
FAR = move(MteGmUb(UNKNOWN, 0, UNKNOWN, 1, 0, 0))
COPY = move(CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 32, 32))
LOADED, BROUGHT = sync(MTE2, MTE3)
STORED, TAKEN = sync(MTE3, MTE2)

OUT = move(CopyUbufToGm(0, 0x10000, 0, 1, 32, 0, 32, 32))
SIZE = move(SetLoopSize("ubtoout", 1, 1))
WAITED = sync(MTE2, Pipe.S)
PARAMETERS = move(MteL1Fb(0, 0, 2, 1, 0, 0))
QUANT = PreQuant("qf322b8_pre_vec", FbPtr("f32", 0))
READER = move(MteL0cGm(0, 0, 1, 16, 0, 16, pre_quant=QUANT, dst_type=Ptr("i8", "gm")))
ITSELF: list[Step] = [set_flag(V, V), set_flag(V, V), wait_flag(V, V), wait_flag(V, V)]


def updates(kind: str, what: str, element: str = "f32") -> Move:
    """Returns an atomic update of one place of GM."""
    src, dst = Ptr(element, "l0c"), Ptr(element, "gm")
    return move(MteL0cGm(0, 0, 1, 16, 0, 16, src_type=src, dst_type=dst, atomic=Atomic(kind, what)))


ADD, MOST, WHOLE = updates("f32", "add"), updates("f32", "max"), updates("s32", "add", "i32")
PLAIN = move(MteL0cGm(0, 0, 1, 16, 0, 16))
UPDATES = ([ADD, ADD], [ADD, MOST], [MOST, MOST], [ADD, WHOLE], [ADD, PLAIN])

FOUND: dict[str, tuple[list[Step], list[str], str]] = {
    # What the corpus lacks: steps, findings, facts of the first of them.
    "no flag": (
        [load(64), store(0)],
        ["1 hazard"],
        "hazard reads ub0 0x40..0xff 192 B pto.mte_gm_ub x.pto:0:3 writes",
    ),
    "stores to one byte": ([store(0, 0), store(0, 255)], ["1 A-14"], ""),
    "a fill inside another": (
        [move(RawFillL1(0, 0, 1, 1, 4, 0)), move(RawFillL1(32, 0, 1, 1, 1, 0))],
        ["1 A-14"],
        "",
    ),
    "wait without a set": (
        [load(0), wait_flag(MTE2, MTE3, 3), store(0)],
        ["1 deadlock", "2 hazard"],
        "event 3 of PIPE_MTE2 -> PIPE_MTE3",
    ),
    "second wait": (
        [load(0), *sync(MTE2, MTE3), wait_flag(MTE2, MTE3), store(0)],
        ["3 deadlock"],
        "wait 2",
    ),
    "waits for one another": (
        [TAKEN, load(0), LOADED, BROUGHT, store(0), STORED],
        ["0 deadlock"],
        "deadlock waits set_flag x.pto:5:3 wait_flag x.pto:3:3 waits set_flag x.pto:2:3 this",
    ),
    "circle through a barrier": (
        [BROUGHT, barrier(), load(0), LOADED],
        ["0 deadlock"],
        "barrier at x.pto:1:3",
    ),
    "event set twice": (
        [load(0), LOADED, load(512), LOADED, BROUGHT, BROUGHT],
        ["3 FL-02"],
        "x.pto:1:3",
    ),
    "padding": ([PADDED, store(64, size=1)], ["1 hazard"], ""),
    "after the padding": ([PADDED, store(96, size=1)], [], ""),
    "two sub-blocks": ([load(0), SUB_BLOCK_1], [], ""),
    "split into both sub-blocks": ([SPLIT, SUB_BLOCK_1], ["1 hazard"], ""),
    "unknown addresses": ([FAR, store(0)], [], ""),
    "unknown registers": ([move(SetLoopSize("outtoub", UNKNOWN, 1)), COPY, store(0)], [], ""),
    "op that retires with an error": ([load(1), store(0)], [], ""),
    # Ops that pipe S has waited for precede a copy: the scalar stream stopped (FL-03).
    "set before a register": ([load(0), *WAITED, SIZE, OUT], [], ""),
    "set after a register": ([load(0), SIZE, *WAITED, OUT], [], ""),
    "wait after the copy": ([load(0), WAITED[0], SIZE, OUT, WAITED[1]], ["3 hazard"], ""),
    "parameters of a write-back": ([PARAMETERS, READER], ["1 A-14"], ""),
    "parameters and a barrier": ([PARAMETERS, barrier(FIX), READER], [], ""),
    # Two atomic updates need a barrier, but for two adds of one integer type (AT-05).
    **{f"updates {n}": (list(pair), ["1 A-14"], "") for n, pair in enumerate(UPDATES)},
    **{f"updates {n}, barrier": ([a, barrier(FIX), b], [], "") for n, (a, b) in enumerate(UPDATES)},
    # Events of a pipe to itself are set one at a time.
    "event of a pipe to itself": (ITSELF, ["1 FL-02"], ""),
    "twice one after the other": ([*sync(V, V), *sync(V, V)], [], ""),
    "two events of a pipe to itself": (
        [set_flag(V, V), set_flag(V, V, 1), wait_flag(V, V), wait_flag(V, V, 1)],
        [],
        "",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found(name: str) -> None:
    steps, expected, facts = FOUND[name]
    found = ordered(steps)
    assert lines(found) == expected
    assert not facts or says((*found.findings, *found.warnings)[0].message, facts)


ORDERED: dict[str, tuple[list[Step], tuple[int, ...], dict[int, tuple[int, ...]]]] = {
    # What: steps, sequence, which steps each of them follows.
    "flag": ([load(0), *sync(MTE2, MTE3), store(0)], (0, 3), {3: (0,)}),
    "flags over a third pipe": (
        [load(0), *sync(MTE2, V), *sync(V, MTE3), store(0)],
        (0, 5),
        {5: (0,)},
    ),
    "barrier": ([load(0), barrier(MTE2), load(128)], (0, 2), {2: (0,)}),
    "barrier of all pipes": (
        [load(0), store(512), barrier(), store(0), load(512)],
        (0, 1, 3, 4),
        {3: (0, 1), 4: (0, 1)},
    ),
    "implied links are omitted": (
        [
            *(load(0), *sync(MTE2, V), INSIDE, set_flag(V, MTE3), LOADED),
            *(wait_flag(V, MTE3), BROUGHT, store(1024), store(2048, 0x20000)),
        ],
        (0, 3, 8, 9),
        {3: (0,), 8: (3,)},
    ),
    # Pipes have separate queues.
    "wait before its set": ([BROUGHT, store(0), load(0), LOADED], (2, 1), {1: (2,)}),
}


@pytest.mark.parametrize("name", ORDERED)
def test_flags_and_barriers_order(name: str) -> None:
    steps, sequence, after = ORDERED[name]
    found = ordered(steps)
    assert (found.findings, found.sequence, found.after) == ((), sequence, after)


def test_a_hazard_names_the_flag_and_a_deadlock_runs_nothing() -> None:
    found = ordered([load(64), store(0)])
    assert "PIPE_MTE2 to PIPE_MTE3" in found.findings[0].legal
    assert found.after == {}
    assert ordered(FOUND["waits for one another"][0]).sequence == ()
    adds = ordered([WHOLE, WHOLE])
    assert adds.waits(1) == (0,), "they run one after the other all the same"


def test_a_loop_needs_a_flag_on_the_way_back() -> None:
    body: list[Step] = [load(0), *sync(MTE2, MTE3), store(0)]
    there = order(program(body * 4, [*range(4)] * 4))
    assert sorted(lines(there)) == ["0 A-14", "0 hazard", "1 FL-02", "3 A-14"]
    assert line_says(there.warnings[-1].message, "same op earlier iteration")
    back = [wait_flag(MTE3, MTE2), *body, set_flag(MTE3, MTE2), barrier(MTE3)]
    steps: list[Step] = [set_flag(MTE3, MTE2), *back * 4, wait_flag(MTE3, MTE2)]
    assert ordered(steps).findings == ()


def test_events_left_set_are_a_note() -> None:
    found = ordered([load(0), set_flag(MTE2, MTE3, 2)])
    assert found.findings == ()
    (note,) = found.notes
    assert says(note, r"x.pto:1:3 note event 2 PIPE_MTE2 PIPE_MTE3 set end")


def test_legacy_copies_read_the_registers_of_program_order() -> None:
    steps: list[Step] = [
        move(SetLoopSize("outtoub", 2, 1)),
        move(SetLoopStride("outtoub", 1, 32, 64)),
        COPY,
        move(SetLoopSize("outtoub", 1, 1)),
        move(CopyGmToUbuf(0, 96, 0, 1, 32, 0, 0, 0, 0, 32, 32)),
        *sync(MTE2, MTE3),
        store(64, size=32),
    ]
    found = ordered(steps)
    assert found.findings == ()
    assert found.after == {7: (4,)}
    made = program(steps)
    assert [made.steps[index].registers.outtoub.counts for index in (2, 4)] == [(2, 1), (1, 1)]  # type: ignore[union-attr]
    hazard = ordered([*steps[:3], store(64, size=32)])
    assert lines(hazard) == ["3 hazard"], "the second iteration of the loop"


L1 = Ptr("f16", "l1")
L0A_TILE = shaped("mte_l1_l0a", 0, 0, Shape(16, 16), L1, Ptr("f16", "l0a"))
PRODUCT = Mad(0, 0, 0, 16, 16, 16, Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c"))


def test_the_matrix_unit() -> None:
    left = move(L0A_TILE)
    right = move(shaped("mte_l1_l0b", 1024, 0, Shape(16, 16), L1, Ptr("f16", "l0b"), 1))
    mad = compute(PRODUCT)
    back = move(MteL0cGm(0, 0x10000, 16, 16, 16, 16))
    fill = move(MteGmL1(0, 0, 2048, 1, 0, 0))
    steps: list[Step] = [
        *(fill, *sync(MTE2, MTE1), left, right),
        *(*sync(MTE1, M), mad, *sync(M, FIX), back),
    ]
    found = ordered(steps)
    assert found.findings == ()
    assert found.after == {3: (0,), 7: (4,), 10: (7,)}
    bare = [step for step in steps if isinstance(step, Move | Compute)]
    assert lines(ordered(bare)) == [f"{n} hazard" for n in (1, 2, 3, 3, 4)]


# --- verdicts -----------------------------------------------------------------------------------


def test_a_hazard_inside_a_pipe_is_a_warning_by_default() -> None:
    left, mad = move(L0A_TILE), compute(PRODUCT)
    found = {
        step.pipe: (len(one.findings), len(one.warnings))
        for step in (load(0), store(0), INSIDE, PARAMETERS, left, mad)
        for one in [ordered_by("", [step, step])]
    }
    assert found == {**dict.fromkeys((MTE1, MTE2, MTE3, M, FIX), (0, 1)), V: (0, 0)}
    across = ordered_by("", [load(0), store(0)])
    assert (lines(across), across.warnings) == (["1 hazard"], ())


@pytest.mark.parametrize(
    ("hazard", "errors", "warnings"),
    [("", [5], [1, 3]), ("error", [1, 3, 5], []), ("warn", [], [1, 3, 5]), ("off", [], [])],
)
def test_the_option_sets_the_verdict(
    hazard: Hazard, errors: list[int], warnings: list[int]
) -> None:
    """Of two loads, two write-backs, two copies of UB, and a load with a store."""
    back = move(MteL0cGm(0, 0x30000, 1, 16, 0, 16))
    inside = move(MteUbUb(0x8000, 0x9000, 8, 1, 0, 0))
    found = ordered_by(
        hazard, [load(0), load(0), back, back, load(512), store(512), inside, inside]
    )
    assert [one.place.line for one in found.findings] == errors
    assert [one.place.line for one in found.warnings] == warnings
    assert all(str(one).startswith(f"{one.place}: warning: pto.") for one in found.warnings)
    assert found.sequence == tuple(range(8))
    assert found.after == {}
    assert found.held == {1: (0,), 3: (2,), 5: (4,), 7: (6,)}


@pytest.mark.parametrize("pipe", [MTE2, MTE3, FIX])
def test_a_chain_of_flags_orders_one_pipe(pipe: Pipe) -> None:
    """There and back, or over a third pipe (OR-04)."""
    step = {MTE2: load(0), MTE3: store(0), FIX: move(MteL1Fb(0, 0, 2, 1, 0, 0))}[pipe]
    for chain in (
        [*sync(pipe, V), *sync(V, pipe)],
        [*sync(pipe, M), *sync(M, MTE1), *sync(MTE1, pipe)],
        [*sync(pipe, Pipe.S), *sync(Pipe.S, pipe)],
        [barrier()],
        [barrier(pipe)],
    ):
        found = ordered_by("error", [step, *chain, step])
        assert (found.findings, found.held) == ((), {}), chain
    for broken in (
        [*sync(pipe, V)],
        [*sync(V, pipe)],
        [*sync(V, pipe), *sync(pipe, V)],
        [*sync(pipe, V), *sync(M, pipe)],
        [barrier(V)],
    ):
        assert lines(ordered_by("error", [step, *broken, step]))[0].endswith(" A-14")


def test_a_value_that_is_none_is_refused() -> None:
    with pytest.raises(PtoError, match="--hazard is 'maybe'") as caught:
        hazard_option("maybe")
    assert caught.value.legal == "error, warn, off"
    assert [hazard_option(x) for x in ("", "error", "warn", "off")] == ["", "error", "warn", "off"]


# --- sizes -------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_hundred_thousand_steps() -> None:
    back = [wait_flag(MTE3, MTE2), load(0, size=8192), *sync(MTE2, MTE3), store(0, size=8192)]
    body: list[Step] = [*back, set_flag(MTE3, MTE2), barrier(MTE3)]
    steps: list[Step] = [set_flag(MTE3, MTE2), *body * 14_000, wait_flag(MTE3, MTE2)]
    with processor_seconds(30):
        found = order(program(steps))
    assert found.findings == ()
    assert all(a < b for a, b in pairwise(found.sequence))


ONE = MteGmUb(0, 0, 1, 1, 0, 0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("loops", "extent"),
    [
        ((Loop(2_000_000, 3, 0), Loop(2_000_000, 5, 0)), 3 * 1_999_999 + 5 * 1_999_999 + 1),
        ((Loop(60_000, 3, 0), Loop(60_000, 5, 0), Loop(60_000, 7, 0)), 15 * 59_999 + 1),
        ((Loop(500_000, 1 << 14, 0), Loop(500_000, 3 << 14, 0)), (4 * 499_999 << 14) + 1),
    ],
)
def test_very_many_rows_that_overlap_take_no_time(loops: tuple[Loop, ...], extent: int) -> None:
    """10^12 rows or more, with an extent of at most 34 GB."""
    many = MteGmUb(0, 0, 1, 1, 0, 0, loops)
    store = MteUbGm(32, extent - 1, 1, 1, 0, 0)
    with processor_seconds(5):
        found = ordered([move(many), move(ONE), move(store)])
        assert lines(found) == ["1 A-14", "2 hazard"]
        assert lines(ordered([move(many), move(MteUbGm(32, extent, 1, 1, 0, 0))])) == []


def test_too_many_rows_are_a_note() -> None:
    """8 million rows that are far apart."""
    many = MteGmUb(0, 0, 1, 1, 0, 0, (Loop(2_000_000, 64, 0), Loop(4, 1 << 28, 0)))
    found = ordered([move(ONE), barrier(), move(many), move(MteUbGm(32, 64, 1, 1, 0, 0))])
    assert found.findings == ()
    (note,) = found.notes
    assert says(note, "x.pto:0:3 note rows too many")
