# SPDX-License-Identifier: Apache-2.0
"""Hazards, links and races against a naive reading: reachability of steps, sets of bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

import tb.language.order.clusters
from tb.isa.burst.op import MteUbUb
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.footprint import Footprint
from tb.isa.pipes import Pipe
from tb.isa.spaces import Space
from tb.language.lowered import Region, region
from tb.language.order.order import order
from tb.language.order.races import Race, affected, common, intervals, races, remedy
from tb.language.order.touched import touches
from tb.language.trace import Barrier, Compute, Move, SetFlag, Step, WaitFlag
from tests.language.steps import (
    barrier,
    lines,
    load,
    move,
    program,
    set_flag,
    store,
    sync,
    wait_flag,
)

MTE2, MTE3, V = Pipe.MTE2, Pipe.MTE3, Pipe.V


def reach(steps: Sequence[Step]) -> list[set[int]]:
    """Returns, per step, the steps that have completed when it starts, by a walk over a graph.

    Node 2i is the start of step i, 2i + 1 its end; a step without duration has both at once.
    """
    sets = {(s.pipe, s.other, s.event): i for i, s in enumerate(steps) if isinstance(s, SetFlag)}
    edges: dict[int, set[int]] = {node: set() for node in range(2 * len(steps))}
    for i, step in enumerate(steps):
        edges[2 * i].add(2 * i + 1)
        if isinstance(step, WaitFlag):
            edges[2 * sets[step.other, step.pipe, step.event] + 1].add(2 * i)
        for j, later in enumerate(steps[i + 1 :], i + 1):
            if step.pipe is None or later.pipe is None or step.pipe is later.pipe:
                if not isinstance(step, SetFlag):  # A set delays no later step.
                    edges[2 * i].add(2 * j)
                if isinstance(later, SetFlag | Barrier) or isinstance(step, Barrier | WaitFlag):
                    edges[2 * i + 1].add(2 * j)
    before = []
    for target in range(len(steps)):
        seen, grown = {2 * target}, True
        while grown:
            more = {node for node, others in edges.items() if node not in seen and others & seen}
            seen, grown = seen | more, bool(more)
        before.append({node // 2 for node in seen if node % 2})
    return before


def bytes_of(found: Region | Footprint) -> set[int]:
    """Returns the bytes of a region, or of a footprint."""
    starts = {found.base}
    for count, stride in zip(found.counts, found.strides, strict=True):
        starts = {start + k * stride for k in range(count) for start in starts}
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


def moves_of(steps: Sequence[Step]) -> list[int]:
    return [i for i, step in enumerate(steps) if isinstance(step, Move)]


def unordered(steps: Sequence[Step], before: list[set[int]]) -> set[tuple[int, int]]:
    """Returns the pairs of ops that share bytes and have no order."""
    ops = moves_of(steps)
    return {
        (i, j)
        for j in ops
        for i in ops
        if i < j and i not in before[j] and clash(steps[i], steps[j])
    }


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
def memory_of_accesses(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accesses are held in lists, or all of them in arrays."""
    if request.param == "arrays":
        monkeypatch.setattr(tb.language.order.clusters, "FEW_ROWS", 0)


@pytest.mark.parametrize("seed", range(150))
def test_hazards_links_and_races_agree_with_a_naive_reading(
    seed: int, memory_of_accesses: None
) -> None:
    trace = program(some_steps(random.Random(seed)))
    found = order(trace, hazard="error")
    assert {x.message.partition(":")[0] for x in found.findings} <= {"hazard"}
    assert found.warnings == ()
    steps = trace.steps
    before, ops = reach(steps), moves_of(steps)
    assert found.sequence == tuple(ops), "program order keeps every dependency here"
    wrong = unordered(steps, before)
    raced = {(i, j) for i, j in wrong if not steps[i].pipe is steps[j].pipe is V}
    assert {(one.earlier, one.later) for one in races(trace, found)} == raced
    bad = {j for _, j in raced}
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


@pytest.mark.parametrize("seed", range(60))
def test_lists_and_arrays_have_the_same_words(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which bytes are shared, and with which step."""
    trace = program(some_steps(random.Random(1000 + seed)))
    lists = order(trace)
    monkeypatch.setattr(tb.language.order.clusters, "FEW_ROWS", 0)
    assert order(trace) == lists


def test_rows_that_overlap_are_the_same_bytes() -> None:
    """The bytes of a few rows are exact for all strides."""
    rng = random.Random(4)
    for _ in range(500):
        counts = tuple(rng.randint(1, 5) for _ in range(3))
        strides = tuple(rng.choice((0, 1, 2, 3, 4, 6, 8, 12, 24)) for _ in range(3))
        rows = Footprint(Space.GM, 7, rng.randint(1, 4), counts, strides)
        assert bytes_of(region(rows)) == bytes_of(rows), rows


@pytest.mark.parametrize("wide", [1 << 36, 1 << 22])
def test_far_strides_of_gm(wide: int, memory_of_accesses: None) -> None:
    """Extents too large for an array are compared by rows."""
    near = move(MteUbGm(0, 5, 16, 8, 32, wide))
    between = move(MteUbGm(0, 5 + 16, 16, 8, 32, wide))
    on = move(MteUbGm(0, 5 + 3 * wide + 15, 1, 1, 32, wide))
    assert order(program([near, between])).findings == ()
    found = order(program([near, between, on]))
    assert lines(found) == ["2 A-14"]
    assert f"{5 + 3 * wide + 15:#x}.." in found.warnings[0].message


# --- races


def found_in(*steps: Step) -> tuple[Race, ...]:
    trace = program(steps)
    return races(trace, order(trace))


def test_a_race_has_both_ops_their_bytes_and_what_orders_them() -> None:
    steps = load(64), store(0)
    (race,) = found_in(*steps)
    assert (race.earlier, race.later, race.space) == (0, 1, "ub0")
    assert (race.shared.first, race.shared.end, race.shared.bytes) == (64, 256, 192)
    assert (race.wrote, race.writes) == (True, False)
    text = remedy(program(steps), race)
    assert 'pto.set_flag["PIPE_MTE2", "PIPE_MTE3"' in text
    assert 'pto.wait_flag["PIPE_MTE2", "PIPE_MTE3"' in text
    assert found_in(load(64), *sync(MTE2, MTE3), store(0)) == ()


def test_one_pipe_needs_a_barrier_but_for_the_vector_pipe() -> None:
    steps = load(0), load(0)
    (race,) = found_in(*steps)
    assert (race.wrote, race.writes) == (True, True)
    assert "pto.barrier of PIPE_MTE2" in remedy(program(steps), race)
    assert not race.pipes_differ(program(steps))
    assert found_in(load(0), barrier(MTE2), load(0)) == ()
    copy = move(MteUbUb(0, 512, 1, 1, 0, 0))
    assert found_in(copy, copy) == ()


def test_what_reads_a_byte_of_a_race_depends_on_it() -> None:
    steps = [
        load(0),
        move(MteUbUb(0, 512, 1, 8, 0, 0)),  # races with the load
        *sync(V, MTE3),
        store(512),  # stores what the copy has left
        store(1024, 0x20000),
        *sync(V, MTE2, 1),
        load(512),  # overwrites it
    ]
    trace = program(steps)
    found = order(trace)
    pairs = [one for one in races(trace, found) if one.earlier == 0]
    assert {(one.earlier, one.later) for one in pairs} == {(0, 1)}
    assert affected(trace, found, pairs) == {1, 4}


def test_a_reader_of_a_race_depends_on_it_and_the_writer_does_not() -> None:
    for steps, late in (([load(0), store(0)], 1), ([store(0), load(0)], 0)):
        trace = program(steps)
        found = order(trace)
        assert affected(trace, found, races(trace, found)) == {late}
    trace = program([load(0), move(MteUbUb(512, 0, 1, 1, 0, 0))])
    found = order(trace)
    assert affected(trace, found, races(trace, found)) == {0, 1}


def test_ranges_of_strided_rows() -> None:
    rng = random.Random(3)

    def some() -> Region:
        stride = rng.randrange(5, 12)
        return Region("gm", rng.randrange(40), rng.randrange(1, 5), (4, 3), (stride, 4 * stride))

    for _ in range(50):
        one, other = some(), some()
        sets = bytes_of(one), bytes_of(other)
        for rows, mine in zip((one, other), sets, strict=True):
            assert {x for a, b in intervals(rows).tolist() for x in range(a, b)} == mine
        both = common(intervals(one), intervals(other))
        assert (np.diff(both.ravel()) >= 0).all()
        assert {x for a, b in both.tolist() for x in range(a, b)} == sets[0] & sets[1]
