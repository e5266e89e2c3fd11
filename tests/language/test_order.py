# SPDX-License-Identifier: Apache-2.0
"""Order of steps against a naive reading: reachability between starts and ends, sets of bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

import tb.language.order.clusters
from tb.common.errors import PtoError
from tb.isa.burst.op import MteL1Fb, MteUbUb
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, SetLoopSize, SetLoopStride
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, FbPtr, MteL0cGm, MteL0cUb, PreQuant
from tb.isa.footprint import Footprint
from tb.isa.l0.op import Shape, shaped
from tb.isa.mad import Mad
from tb.isa.pipes import Pipe
from tb.isa.spaces import Space
from tb.language.lowered import Region, region
from tb.language.order.order import Order, order
from tb.language.order.touched import touches
from tb.language.order.verdict import Hazard, hazard_option
from tb.language.trace import Barrier, Compute, Move, SetFlag, Step, WaitFlag
from tb.language.unknown import UNKNOWN
from tests.language.steps import barrier, compute, move, program, set_flag, sync, wait_flag
from tests.processor import processor_seconds
from tests.wording import line_says, says

MTE1, MTE2, MTE3, V, M, FIX = Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V, Pipe.M, Pipe.FIX


def load(ub: int, gm: int = 0, size: int = 256) -> Move:
    return move(MteGmUb(gm, ub, size, 1, 0, 0))


def store(ub: int, gm: int = 0x10000, size: int = 256) -> Move:
    return move(MteUbGm(ub, gm, size, 1, 0, 0))


def ordered(steps: Sequence[Step]) -> Order:
    return ordered_by("error", steps)


def ordered_by(hazard: Hazard, steps: Sequence[Step]) -> Order:
    return order(program(steps), hazard=hazard)


def lines(found: Order) -> list[tuple[int, str, str]]:
    """Returns line, rule and first word of each error and warning."""
    both = sorted((*found.findings, *found.warnings), key=lambda x: x.place.line)
    return [(f.place.line, f.rule, f.message.partition(":")[0]) for f in both]


def hazard(line: int) -> tuple[int, str, str]:
    """Returns a hazard between two pipes."""
    return line, "", "hazard"


def same_pipe(line: int) -> tuple[int, str, str]:
    """Returns a hazard between two ops of one pipe."""
    return line, "A-14", "hazard"


def waits(line: int) -> tuple[int, str, str]:
    return line, "", "deadlock"


PADDED = move(MteGmUb(0, 0, 40, 1, 0, 96, pad=Pad("i8", 0)))
INSIDE = move(MteUbUb(0, 1024, 8, 1, 0, 0))
SUB_BLOCK_1 = move(MteUbGm(0, 0x10000, 64, 1, 0, 0, ub_sub=1))
SPLIT = move(MteL0cUb(0, 0, 2, 16, 0, 16, ub_split="split_m"))
FAR = move(MteGmUb(UNKNOWN, 0, UNKNOWN, 1, 0, 0))
COPY = move(CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 32, 32))
LOADED, BROUGHT = sync(MTE2, MTE3)
STORED, TAKEN = sync(MTE3, MTE2)

FOUND: dict[str, tuple[list[Step], list[tuple[int, str, str]], str]] = {
    # What the corpus lacks: steps, findings, facts of the first of them.
    "no flag": (
        [load(64), store(0)],
        [hazard(1)],
        "hazard reads ub0 0x40..0xff 192 B pto.mte_gm_ub x.pto:0:3 writes",
    ),
    "barrier of the later pipe": ([store(0), barrier(MTE2), load(0)], [hazard(2)], ""),
    "loads of two places": ([load(0), load(512)], [], ""),
    "stores to one byte": ([store(0, 0), store(0, 255)], [same_pipe(1)], ""),
    "load after a store": ([store(0), load(0)], [hazard(1)], ""),
    "wait without a set": (
        [load(0), wait_flag(MTE2, MTE3, 3), store(0)],
        [waits(1), hazard(2)],
        "event 3 of PIPE_MTE2 -> PIPE_MTE3",
    ),
    "second wait": (
        [load(0), *sync(MTE2, MTE3), wait_flag(MTE2, MTE3), store(0)],
        [waits(3)],
        "wait 2",
    ),
    "waits for one another": (
        [TAKEN, load(0), LOADED, BROUGHT, store(0), STORED],
        [waits(0)],
        "deadlock waits set_flag x.pto:5:3 wait_flag x.pto:3:3 waits set_flag x.pto:2:3 this",
    ),
    "circle through a barrier": (
        [BROUGHT, barrier(), load(0), LOADED],
        [waits(0)],
        "barrier at x.pto:1:3",
    ),
    "event set twice": (
        [load(0), LOADED, load(512), LOADED, BROUGHT, BROUGHT],
        [(3, "FL-02", "flag")],
        "x.pto:1:3",
    ),
    "two events": ([*sync(MTE2, MTE3, 0), *sync(MTE2, MTE3, 1)], [], ""),
    "padding": ([PADDED, store(64, size=1)], [hazard(1)], ""),
    "after the padding": ([PADDED, store(96, size=1)], [], ""),
    "two sub-blocks": ([load(0), SUB_BLOCK_1], [], ""),
    "split into both sub-blocks": ([SPLIT, SUB_BLOCK_1], [hazard(1)], ""),
    "unknown addresses": ([FAR, store(0)], [], ""),
    "unknown registers": ([move(SetLoopSize("outtoub", UNKNOWN, 1)), COPY, store(0)], [], ""),
    "op that retires with an error": ([load(1), store(0)], [], ""),
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


def test_a_loop_needs_a_flag_on_the_way_back() -> None:
    body: list[Step] = [load(0), *sync(MTE2, MTE3), store(0)]
    there = order(program(body * 4, [*range(4)] * 4))
    assert sorted(lines(there)) == [
        (0, "", "hazard"),
        (0, "A-14", "hazard"),
        (1, "FL-02", "flag"),
        (3, "A-14", "hazard"),
    ]
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
    assert lines(hazard) == [(3, "", "hazard")], "the second iteration of the loop"


def test_a_copy_is_ordered_after_the_set_ops_before_it() -> None:
    """Ops that pipe S has waited for precede the copy: the scalar stream stopped (FL-03)."""
    copy = move(CopyUbufToGm(0, 0x10000, 0, 1, 32, 0, 32, 32))
    size = move(SetLoopSize("ubtoout", 1, 1))
    assert ordered([load(0), *sync(MTE2, Pipe.S), size, copy]).findings == ()
    assert ordered([load(0), size, *sync(MTE2, Pipe.S), copy]).findings == ()
    set_, wait = sync(MTE2, Pipe.S)
    assert lines(ordered([load(0), set_, size, copy, wait])) == [(3, "", "hazard")]


def test_write_backs_read_their_parameters() -> None:
    rows = move(MteL1Fb(0, 0, 2, 1, 0, 0))
    quant = PreQuant("qf322b8_pre_vec", FbPtr("f32", 0))
    back = MteL0cGm(0, 0, 1, 16, 0, 16, pre_quant=quant, dst_type=Ptr("i8", "gm"))
    (warning,) = ordered_by("warn", [rows, move(back)]).warnings
    assert (warning.place.line, warning.rule) == (1, "A-14")
    assert ordered([rows, barrier(FIX), move(back)]).findings == ()


def test_two_atomic_updates_of_one_place_need_a_barrier() -> None:
    """But for two adds of one integer type (AT-05)."""

    def back(kind: str, what: str, element: str = "f32") -> Move:
        src, dst = Ptr(element, "l0c"), Ptr(element, "gm")
        atomic = Atomic(kind, what)
        return move(MteL0cGm(0, 0, 1, 16, 0, 16, src_type=src, dst_type=dst, atomic=atomic))

    add, most, whole = back("f32", "add"), back("f32", "max"), back("s32", "add", "i32")
    plain = move(MteL0cGm(0, 0, 1, 16, 0, 16))
    for pair in ([add, add], [add, most], [most, most], [add, whole], [add, plain]):
        assert lines(ordered_by("error", pair)) == [(1, "A-14", "hazard")], pair
        assert ordered_by("error", [pair[0], barrier(FIX), pair[1]]).findings == ()
    found = ordered_by("error", [whole, whole])
    assert (found.findings, found.warnings) == ((), ())
    assert found.waits(1) == (0,), "they run one after the other all the same"


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
    assert lines(ordered(bare)) == [(n, "", "hazard") for n in (1, 2, 3, 3, 4)]


# --- verdicts -----------------------------------------------------------------------------------


def test_a_hazard_inside_a_pipe_is_a_warning_by_default() -> None:
    inside = move(MteUbUb(0, 1024, 8, 1, 0, 0))
    rows = move(MteL1Fb(0, 0, 2, 1, 0, 0))
    left = move(L0A_TILE)
    mad = compute(PRODUCT)
    found = {
        step.pipe: (len(one.findings), len(one.warnings))
        for step in (load(0), store(0), inside, rows, left, mad)
        for one in [ordered_by("", [step, step])]
    }
    assert found == {**dict.fromkeys((MTE1, MTE2, MTE3, M, FIX), (0, 1)), V: (0, 0)}
    across = ordered_by("", [load(0), store(0)])
    assert (lines(across), across.warnings) == ([hazard(1)], ())


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
        assert lines(ordered_by("error", [step, *broken, step]))[0][1:] == ("A-14", "hazard")


def test_a_value_that_is_none_is_refused() -> None:
    with pytest.raises(PtoError, match="--hazard is 'maybe'") as caught:
        hazard_option("maybe")
    assert caught.value.legal == "error, warn, off"
    assert [hazard_option(x) for x in ("", "error", "warn", "off")] == ["", "error", "warn", "off"]


# --- against a naive reading ---------------------------------------------------------------------


def reach(steps: Sequence[Step], sets_of: dict[int, int]) -> list[set[int]]:
    """Returns, per step, the steps that have completed when it starts, by a walk over a graph.

    Node 2i is the start of step i, 2i + 1 its end; a step without duration has both at once.
    """
    size = len(steps)
    edges: dict[int, set[int]] = {node: set() for node in range(2 * size)}
    for i, step in enumerate(steps):
        edges[2 * i].add(2 * i + 1)
        for j in range(i + 1, size):
            later = steps[j]
            same = step.pipe is None or later.pipe is None or step.pipe is later.pipe
            if not same:
                continue
            if not isinstance(step, SetFlag):  # A set delays no later step.
                edges[2 * i].add(2 * j)
            ends = isinstance(later, SetFlag | Barrier) or isinstance(step, Barrier | WaitFlag)
            if ends:
                edges[2 * i + 1].add(2 * j)
    for wait, sets in sets_of.items():
        edges[2 * sets + 1].add(2 * wait)
    before = []
    for target in range(size):
        seen = {2 * target}
        grown = True
        while grown:
            grown = False
            for node, others in edges.items():
                if node not in seen and others & seen:
                    seen.add(node)
                    grown = True
        before.append({node // 2 for node in seen if node % 2})
    return before


def bytes_of(found: Region) -> set[int]:
    starts = [found.base]
    for count, stride in zip(found.counts, found.strides, strict=True):
        starts = [start + k * stride for k in range(count) for start in starts]
    return {start + byte for start in starts for byte in range(found.length)}


def clash(one: Step, other: Step) -> bool:
    assert isinstance(one, Move | Compute)
    assert isinstance(other, Move | Compute)
    return any(
        (first_writes or second_writes)
        and first.space == second.space
        and bool(bytes_of(first) & bytes_of(second))
        for first, first_writes in touches(one)
        for second, second_writes in touches(other)
    )


def some_steps(rng: random.Random) -> list[Step]:
    pipes = (MTE2, MTE3, V)
    steps: list[Step] = []
    pending: list[tuple[Pipe, Pipe, int]] = []
    free = [(a, b, e) for a in pipes for b in pipes if a is not b for e in range(8)]
    rng.shuffle(free)
    for _ in range(rng.randrange(4, 22)):
        kind = rng.random()
        address = 32 * rng.randrange(8)
        rows, stride = rng.choice([(1, 32), (2, 64), (3, 96), (2, 32)])
        if kind < 0.25:
            steps.append(move(MteGmUb(rng.randrange(64), address, rng.choice([8, 20, 32]),
                                      rows, 40, stride)))  # fmt: skip
        elif kind < 0.45:
            steps.append(move(MteUbGm(address, rng.randrange(64), rng.choice([8, 20, 32]),
                                      rows, stride, 40)))  # fmt: skip
        elif kind < 0.55:
            steps.append(move(MteUbUb(address, address + 512, 1, rows, 0, rng.randrange(3))))
        elif kind < 0.65:
            steps.append(barrier(rng.choice([*pipes, *pipes, None])))
        elif kind < 0.85 and free:
            pending.append(free.pop())
            steps.append(set_flag(*pending[-1]))
        elif pending:
            steps.append(wait_flag(*pending.pop(rng.randrange(len(pending)))))
    return steps


@pytest.fixture(params=["lists", "arrays"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accesses are held in lists, or all of them in arrays."""
    if request.param == "arrays":
        monkeypatch.setattr(tb.language.order.clusters, "FEW_ROWS", 0)


@pytest.mark.parametrize("seed", range(150))
def test_hazards_and_links_agree_with_a_naive_reading(seed: int, memory: None) -> None:
    rng = random.Random(seed)
    trace = program(some_steps(rng))
    found = order(trace, hazard="error")
    assert not {word for _, _, word in lines(found)} - {"hazard"}
    assert found.warnings == ()
    steps = trace.steps
    sets = {(s.pipe, s.other, s.event): i for i, s in enumerate(steps) if isinstance(s, SetFlag)}
    sets_of = {
        i: sets[s.other, s.pipe, s.event] for i, s in enumerate(steps) if isinstance(s, WaitFlag)
    }
    before = reach(steps, sets_of)
    ops = [i for i, step in enumerate(steps) if isinstance(step, Move)]
    assert found.sequence == tuple(ops), "program order keeps every dependency here"
    wrong = {
        (i, j)
        for j in ops
        for i in ops
        if i < j and i not in before[j] and clash(steps[i], steps[j])
    }
    bad = {j for i, j in wrong if not steps[i].pipe is steps[j].pipe is V}
    assert {finding.place.line for finding in found.findings} == bad
    # Whatever the verdict, the later op waits until the earlier one has completed.
    assert set(found.held) == {j for _, j in wrong}
    for i, j in wrong:
        assert any(i <= link and steps[link].pipe is steps[i].pipe for link in found.waits(j))
    for hazard in ("error", "warn", "off"):
        judged = order(trace, hazard=hazard)
        assert (judged.sequence, judged.after, judged.held) == (
            found.sequence, found.after, found.held
        )  # fmt: skip
        assert bool(judged.warnings) == (hazard == "warn" and bool(bad))
        assert {one.place.line for one in judged.findings} == (bad if hazard == "error" else set())
    # The completed steps are the closure of the links, with queues in order.
    implied: dict[int, set[int]] = {}
    for j in ops:
        implied[j] = set()
        for earlier in [i for i in ops if i < j and steps[i].pipe is steps[j].pipe][-1:]:
            implied[j] |= implied[earlier]
        for link in found.after.get(j, ()):
            same = {i for i in ops if i <= link and steps[i].pipe is steps[link].pipe}
            implied[j] |= same | implied[link]
        assert implied[j] == before[j] & set(ops), j


def test_waits_before_their_sets_agree_too() -> None:
    rng = random.Random(7)
    for _ in range(60):
        steps = some_steps(rng)
        if any(isinstance(step, Barrier) and step.pipe is None for step in steps):
            continue
        trace = program(steps)
        lanes = {pipe: [s for s in trace.steps if s.pipe is pipe] for pipe in (V, MTE3, MTE2)}
        apart = tuple(step for lane in lanes.values() for step in lane)
        other = order(type(trace)(trace.file, trace.function, apart, ()))
        pairs = [
            {
                frozenset((f.place.line, int(f.message.split("x.pto:")[1].split(":")[0])))
                for f in found.findings
            }
            for found in (order(trace), other)
        ]
        # Which of several clashing steps is named depends on the order taken.
        assert bool(pairs[0]) == bool(pairs[1])
        done = [s.place.line for i in other.sequence for s in [apart[i]]]
        assert sorted(done) == sorted(trace.steps[i].place.line for i in order(trace).sequence)


@pytest.mark.long
def test_a_hundred_thousand_steps() -> None:
    back = [wait_flag(MTE3, MTE2), load(0, size=8192), *sync(MTE2, MTE3), store(0, size=8192)]
    body: list[Step] = [*back, set_flag(MTE3, MTE2), barrier(MTE3)]
    steps: list[Step] = [set_flag(MTE3, MTE2), *body * 14_000, wait_flag(MTE3, MTE2)]
    with processor_seconds(30):
        found = order(program(steps))
    assert found.findings == ()
    assert all(a < b for a, b in pairwise(found.sequence))


@pytest.mark.parametrize("seed", range(60))
def test_lists_and_arrays_have_the_same_words(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which bytes are shared, and with which step."""
    trace = program(some_steps(random.Random(1000 + seed)))
    lists = order(trace)
    monkeypatch.setattr(tb.language.order.clusters, "FEW_ROWS", 0)
    assert order(trace) == lists


@pytest.mark.parametrize("wide", [1 << 36, 1 << 22])
def test_far_strides_of_gm(wide: int, memory: None) -> None:
    """Extents too large for an array are compared by rows."""
    near = move(MteUbGm(0, 5, 16, 8, 32, wide))
    between = move(MteUbGm(0, 5 + 16, 16, 8, 32, wide))
    on = move(MteUbGm(0, 5 + 3 * wide + 15, 1, 1, 32, wide))
    assert ordered([near, between]).findings == ()
    found = ordered([near, between, on])
    assert lines(found) == [(2, "A-14", "hazard")]
    assert f"{5 + 3 * wide + 15:#x}.." in found.findings[0].message


def test_events_of_a_pipe_to_itself_are_set_one_at_a_time() -> None:
    twice: list[Step] = [set_flag(V, V), set_flag(V, V), wait_flag(V, V), wait_flag(V, V)]
    assert lines(ordered(twice)) == [(1, "FL-02", "flag")]
    assert ordered(twice).findings == ()
    assert lines(ordered([*sync(V, V), *sync(V, V)])) == []
    assert (
        lines(ordered([set_flag(V, V), set_flag(V, V, 1), *twice[2:3], wait_flag(V, V, 1)])) == []
    )


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
        assert lines(found) == [(1, "A-14", "hazard"), (2, "", "hazard")]
        assert lines(ordered([move(many), move(MteUbGm(32, extent, 1, 1, 0, 0))])) == []


def test_too_many_rows_are_a_note() -> None:
    """8 million rows that are far apart."""
    many = MteGmUb(0, 0, 1, 1, 0, 0, (Loop(2_000_000, 64, 0), Loop(4, 1 << 28, 0)))
    found = ordered([move(ONE), barrier(), move(many), move(MteUbGm(32, 64, 1, 1, 0, 0))])
    assert found.findings == ()
    (note,) = found.notes
    assert says(note, "x.pto:0:3 note rows too many")


def expanded(at: Region | Footprint) -> set[int]:
    """Returns the bytes of a region, or of a footprint."""
    starts = {at.base}
    for count, stride in zip(at.counts, at.strides, strict=True):
        starts = {start + stride * number for start in starts for number in range(count)}
    return {start + number for start in starts for number in range(at.length)}


def test_rows_that_overlap_are_the_same_bytes() -> None:
    """The bytes of a few rows are exact for all strides."""
    rng = random.Random(4)
    for _ in range(500):
        counts = tuple(rng.randint(1, 5) for _ in range(3))
        strides = tuple(rng.choice((0, 1, 2, 3, 4, 6, 8, 12, 24)) for _ in range(3))
        rows = Footprint(Space.GM, 7, rng.randint(1, 4), counts, strides)
        assert expanded(region(rows)) == expanded(rows), rows
