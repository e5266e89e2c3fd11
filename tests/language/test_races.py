# SPDX-License-Identifier: Apache-2.0
"""Races: every pair without an order, against a naive reading, and what depends on them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tb.isa.burst.op import MteUbUb
from tb.isa.pipes import Pipe
from tb.language.lowered import Region
from tb.language.order.order import order
from tb.language.order.races import Race, affected, common, intervals, races, remedy
from tb.language.trace import Move, SetFlag, Step, WaitFlag
from tests.language.steps import barrier, move, program, sync
from tests.language.test_order import bytes_of, clash, load, reach, some_steps, store

MTE2, MTE3, V = Pipe.MTE2, Pipe.MTE3, Pipe.V


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


@pytest.mark.parametrize("seed", range(100))
def test_races_agree_with_a_naive_reading(seed: int) -> None:
    trace = program(some_steps(random.Random(seed)))
    steps = trace.steps
    sets = {(s.pipe, s.other, s.event): i for i, s in enumerate(steps) if isinstance(s, SetFlag)}
    before = reach(
        steps,
        {i: sets[s.other, s.pipe, s.event] for i, s in enumerate(steps) if isinstance(s, WaitFlag)},
    )
    ops = [i for i, step in enumerate(steps) if isinstance(step, Move)]
    wanted = {
        (i, j)
        for j in ops
        for i in ops
        if i < j
        and i not in before[j]
        and clash(steps[i], steps[j])
        and not steps[i].pipe is steps[j].pipe is V
    }
    assert {(one.earlier, one.later) for one in races(trace, order(trace))} == wanted


def test_ranges_of_strided_rows() -> None:
    rng = random.Random(3)

    def some() -> Region:
        stride = rng.randrange(5, 12)
        return Region("gm", rng.randrange(40), rng.randrange(1, 5), (4, 3), (stride, 4 * stride))

    for _ in range(50):
        one, other = some(), some()
        sets = bytes_of(one), bytes_of(other)
        for region, mine in zip((one, other), sets, strict=True):
            assert {x for a, b in intervals(region).tolist() for x in range(a, b)} == mine
        both = common(intervals(one), intervals(other))
        assert (np.diff(both.ravel()) >= 0).all()
        assert {x for a, b in both.tolist() for x in range(a, b)} == sets[0] & sets[1]
