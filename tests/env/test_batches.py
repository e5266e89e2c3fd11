# SPDX-License-Identifier: Apache-2.0
"""Batches for one purpose: what each kind draws, and how they come among others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.faults import READS, WRITES
from sequences.constraints import OP_NAMES, UB_SIZE, OpConstraints
from sequences.draw.joins import joined_block
from sequences.draw.traffic import QUEUEING_OPS
from tb.env.batches import (
    DONE,
    KINDS,
    MEETINGS,
    SHORT,
    AimDraw,
    BatchDraw,
    LongDraw,
    MeetingDraw,
    QueueDraw,
    sinks,
)
from tb.env.stress import FaultDraw
from tb.harness.channels import events
from tb.harness.knobs import RANGES, mixed_stalls, near_latencies
from tb.harness.layout import EVENTS, HIT, KNOBS
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.footprint import destinations
from tb.isa.op import replace
from tb.isa.ops import OPS, OPS_BY_CODE, SLOTS
from tb.isa.rules import first_d_violation

WORD = 32


def draw_of(kind: type[BatchDraw], fraction: float = 0.1) -> BatchDraw:
    faults = FaultDraw(np.random.default_rng(5), lambda _slot, _kind: True)
    return kind(3, OP_NAMES, OpConstraints(), fraction, faults)


@dataclass
class Result:
    """What a batch has left."""

    hits: NDArray[Any]
    cut_at: int = 0


def hits(*clocks: int) -> NDArray[Any]:
    """Returns a log of errors, one of each fault."""
    found = np.zeros(len(clocks), dtype=HIT)
    found["cycle"], found["fault"] = clocks, range(len(clocks))
    return found


def name_of(block: OpBlock) -> str:
    (name,) = {OPS_BY_CODE[int(code)].name for code in block.opcode}
    return name


def test_the_sinks_of_an_op_are_those_of_its_memories() -> None:
    assert sinks("mte_gm_ub") == ["stall_ar", "stall_r", "stall_dst_gnt"]
    assert sinks("mte_l0c_gm") == ["stall_src_gnt", "stall_aw", "stall_w", "stall_b"]
    assert sinks("raw_fill_l1") == ["stall_dst_gnt"]
    assert {DONE, *(sink for name in OPS for sink in sinks(name))} == {
        name for name in RANGES if name.startswith("stall_")
    }


def test_every_form_comes_with_a_slow_done_and_with_another_slow_sink() -> None:
    draw, again = draw_of(QueueDraw), draw_of(QueueDraw)
    met, lengths = set(), []
    for number in range(2 * len(OPS)):
        special = draw.draw()
        block, profile = special.block, special.profile
        assert profile == again.draw().profile
        moved = {k: v for k, v in profile.knobs.items() if v != RANGES[k].rest}
        ((sink, stall),) = moved.items()
        assert stall == RANGES[sink].high <= KNOBS[sink].high
        assert (sink == DONE) == (number % 2 == 0)
        assert sink == DONE or sink in sinks(name_of(block))
        met.add((name_of(block), sink == DONE))
        lengths.append(len(block))
        assert block.gap.sum() == 0
    assert met == {(name, done) for name in OPS for done in (False, True)}
    assert max(lengths) == QUEUEING_OPS
    assert min(lengths) >= 8


@pytest.mark.parametrize("kind", KINDS.values())
def test_the_fraction_says_how_often_they_come(kind: type[BatchDraw]) -> None:
    draw = draw_of(kind)
    due = [draw.due() for _ in range(4000)]
    assert any(due[:10])
    assert 340 < sum(due) < 480
    legacy = kind(1, ("copy_gm_to_ubuf",), OpConstraints(), 1.0)
    assert not any(legacy.due() for _ in range(20))


@pytest.mark.parametrize("kind", KINDS.values())
def test_the_ops_are_legal_and_of_one_form(kind: type[BatchDraw]) -> None:
    draw = draw_of(kind)
    for _ in range(6):
        block = draw.draw().block
        assert name_of(block) in OPS
        assert not any(first_d_violation(unpack(words)) for words in block.pack())


def test_constraints_of_the_run_hold() -> None:
    limits = OpConstraints(block_ops=12, nop=0.0, max_loops=0, loops=(1.0, 0.0, 0.0, 0.0))
    draw = QueueDraw(1, ("mte_gm_ub",), limits, 1.0)
    for _ in range(4):
        assert len(draw.draw().block) <= 12


# --- stores that join words ---


def test_rows_and_ops_meet_inside_words_without_sharing_a_byte() -> None:
    shared = apart = 0
    for seed in range(8):
        block = joined_block(np.random.default_rng(seed), OpConstraints())
        bytes_of: Counter[int] = Counter()
        last: set[int] = set()
        for words in block.pack():
            (region,) = destinations(unpack(words))
            touched: set[int] = set()
            for start in region.row_starts().tolist():
                touched.update(range(start, start + region.length))
            bytes_of.update(touched)
            now = {byte // WORD for byte in touched}
            shared += bool(now & last)
            apart += not now & last
            last = now
        assert set(bytes_of.values()) == {1}
    assert shared > apart > 0


def test_every_type_of_an_atomic_store_joins_and_a_limit_forbids_it() -> None:
    kinds = Counter(
        int(kind)
        for seed in range(40)
        for kind in joined_block(np.random.default_rng(seed), OpConstraints()).column("atomic_type")
    )
    assert len(kinds) == 7
    plain = joined_block(np.random.default_rng(1), OpConstraints(update=0.0))
    assert not plain.column("atomic_type").any()


def test_stalls_of_the_channels_are_independent_of_each_other() -> None:
    drawn = [mixed_stalls(np.random.default_rng(seed)).knobs for seed in range(300)]
    for one, other in (("stall_aw", "stall_w"), ("stall_b", "stall_r"), ("stall_w", "stall_b")):
        assert len({(knobs[one], knobs[other]) for knobs in drawn}) == 9
    assert all(set(knobs) == set(KNOBS) - {"seed"} for knobs in drawn)


# --- long rows ---


def test_long_ops_reach_the_upper_bits_of_a_word_counter() -> None:
    draw = draw_of(LongDraw)
    longest: Counter[str] = Counter()
    for _ in range(6 * len(OPS)):
        block = draw.draw().block
        assert len(block) == 1
        (desc,) = map(unpack, block.pack())
        longest[name_of(block)] = max(
            longest[name_of(block)], *(region.bytes for region in destinations(desc))
        )
    assert set(longest) == set(OPS)
    assert sum(most > 1 << 16 for most in longest.values()) >= 8
    limits = OpConstraints(max_bytes=4096)
    small = LongDraw(1, ("mte_gm_ub",), limits, 1.0).draw().block
    assert max(region.bytes for region in destinations(unpack(small.pack()[0]))) <= UB_SIZE // 16


# --- errors that meet ---


@pytest.mark.long
def test_two_errors_are_near_each_other_and_on_each_kind_of_access() -> None:
    draw = draw_of(MeetingDraw)
    sides, both = set(), 0
    for _ in range(8 * len(OPS)):
        special = draw.draw()
        assert len(special.block) <= SHORT
        assert len(special.faults) in (0, 2)
        slot = 1 << int(special.block.slot[0])
        assert all(fault.slots == slot and fault.size == 32 for fault in special.faults)
        sides |= {(name_of(special.block), fault.sides) for fault in special.faults}
        both += len({fault.sides for fault in special.faults}) == 2
    for name, spec in OPS.items():
        assert (name, WRITES) in sides
        assert ((name, READS) in sides) == bool(spec.source)
    assert both > len(OPS)


def test_the_second_op_is_offered_later_until_the_errors_meet() -> None:
    draw = draw_of(MeetingDraw)
    special = next(one for one in iter(draw.draw, None) if one.faults and one.pair[1] > one.pair[0])
    _, second = special.pair
    apart = []
    for _ in range(MEETINGS):
        gap = int(special.block.gap[second])
        clocks = (500, 470 + gap)  # each clock of the gap comes as one of the second error
        follows = draw.follow(special, Result(hits(*clocks)))
        if follows is None:  # the second error came last, and the gap is as small as it can be
            break
        special = follows
        apart.append(470 + int(special.block.gap[second]) - 500)
        assert special.block.gap.sum() == special.block.gap[second]
    assert set(apart) <= {-1, 0, 1}
    assert len(apart) == MEETINGS
    assert draw.follow(special, Result(hits(500, 470))) is None, "enough"
    short = replace(special, block=special.block.take(0, second), again=1)
    assert draw.follow(short, Result(hits(500, 470))) is None, "a run ends before the second op"
    again = draw.draw()
    assert draw.follow(again, Result(hits(500))) is None, "one of them was not met"
    assert draw.follow(again, Result(hits(400, 500))) is None, "it would have to come earlier"


def test_latencies_of_the_ports_cross_each_other() -> None:
    drawn = [near_latencies(np.random.default_rng(seed)).knobs for seed in range(400)]
    differences = {knobs["axi_read_latency"] - knobs["axi_write_latency"] for knobs in drawn}
    assert set(range(-16, 17)) <= differences


# --- aimed resets ---


@pytest.mark.long
def test_every_event_that_a_form_may_cause_is_aimed_at() -> None:
    draw = draw_of(AimDraw)
    pairs = {(spec.slot, event) for name, spec in OPS.items() for event in events(name)}
    assert {event for _, event in pairs} == set(EVENTS)
    seen, without = set(), 0
    for _ in range(len(pairs) + 2 * len(SLOTS)):
        special = draw.draw()
        assert special.reset is not None
        aim = special.reset.aim
        name = name_of(special.block)
        assert aim is not None
        assert aim.slot == SLOTS.index(OPS[name].slot)
        assert aim.event in events(name)
        assert aim.count >= 1
        without += aim.event == "error" and not special.faults
        seen.add((OPS[name].slot, aim.event))
    assert seen == pairs
    special = replace(special, again=0)
    late = [draw.follow(special, Result(hits())) for _ in range(60)]
    assert 10 < sum(bool(again and again.faults) for again in late) < 40
    assert without < 3
    good = AimDraw(1, OP_NAMES, OpConstraints(), 0.1)
    assert "error" not in {good.draw().reset.aim.event for _ in range(len(pairs))}  # type: ignore[union-attr]
