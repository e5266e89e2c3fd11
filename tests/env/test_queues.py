# SPDX-License-Identifier: Apache-2.0
"""Batches that fill the queues of one unit, and how they come among others."""

from __future__ import annotations

from sequences.constraints import OP_NAMES, OpConstraints
from sequences.draw.traffic import QUEUEING_OPS
from tb.env.queues import DONE, QueueDraw, sinks
from tb.harness.knobs import RANGES
from tb.harness.layout import KNOBS
from tb.isa.ops import OPS, OPS_BY_CODE


def test_the_sinks_of_an_op_are_those_of_its_memories() -> None:
    assert sinks("mte_gm_ub") == ("stall_ar", "stall_r", "stall_dst_gnt")
    assert sinks("mte_l0c_gm") == ("stall_src_gnt", "stall_aw", "stall_w", "stall_b")
    assert sinks("raw_fill_l1") == ("stall_dst_gnt",)
    assert {DONE, *(sink for name in OPS for sink in sinks(name))} == {
        name for name in RANGES if name.startswith("stall_")
    }


def test_every_form_comes_with_a_slow_done_and_with_another_slow_sink() -> None:
    draw, again = (QueueDraw(3, OP_NAMES, OpConstraints(), 0.1) for _ in range(2))
    met, lengths = set(), []
    for number in range(2 * len(OPS)):
        block, profile = draw.draw()
        assert profile == again.draw()[1]
        (name,) = {OPS_BY_CODE[int(code)].name for code in block.opcode}
        moved = {k: v for k, v in profile.knobs.items() if v != RANGES[k].rest}
        ((sink, stall),) = moved.items()
        assert stall == RANGES[sink].high <= KNOBS[sink].high
        assert (sink == DONE) == (number % 2 == 0)
        assert sink == DONE or sink in sinks(name)
        met.add((name, sink == DONE))
        lengths.append(len(block))
        assert block.gap.sum() == 0
    assert met == {(name, done) for name in OPS for done in (False, True)}
    assert max(lengths) == QUEUEING_OPS
    assert min(lengths) >= 8


def test_the_fraction_says_how_often_they_come() -> None:
    draw = QueueDraw(1, OP_NAMES, OpConstraints(), 0.1)
    due = [draw.due() for _ in range(4000)]
    assert any(due[:10])
    assert 360 < sum(due) < 480
    legacy = QueueDraw(1, ("copy_gm_to_ubuf",), OpConstraints(), 1.0)
    assert not any(legacy.due() for _ in range(20))


def test_constraints_of_the_run_hold() -> None:
    limits = OpConstraints(block_ops=12, nop=0.0, max_loops=0, loops=(1.0, 0.0, 0.0, 0.0))
    draw = QueueDraw(1, ("mte_gm_ub",), limits, 1.0)
    for _ in range(4):
        block, _profile = draw.draw()
        assert len(block) <= 12
