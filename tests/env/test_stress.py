# SPDX-License-Identifier: Apache-2.0
"""Drawn knobs, faults and resets: legal, reproducible, over their whole ranges."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from scoreboards.faults import READS, WRITES, Fault, FaultKind
from sequences.draw.traffic import TrafficGenerator
from tb.common.errors import PtoError
from tb.env.base_test import PtoTestBase
from tb.env.stress import LONGEST_WAIT, FaultDraw, draw_reset
from tb.harness.knobs import (
    PACE,
    PROFILES,
    RANGES,
    AfterValid,
    draw_profile,
    paced,
    slowdown,
    without_axi,
)
from tb.harness.layout import AFTER_VALID, FAULTS, KNOBS, after_valid
from tb.isa.block import OpBlock, from_ops
from tb.isa.burst.op import MteUbUb
from tb.isa.descriptor import unpack
from tb.isa.dma.op import MteGmL1
from tb.isa.fill.op import RawFillL1
from tb.isa.footprint import Footprint, destinations, source
from tb.isa.op import replace
from tb.isa.ops import SLOTS
from tb.isa.spaces import SIZES, Space
from tests.wording import pattern

LOAD = MteGmL1(1001, 4096, 50, 4, 60, 96)
COPY = MteUbUb(0, 131072, 2, 4, 1, 2)
FILL = RawFillL1(4096, 32, 1, 4, 2, 1)
NOP = MteUbUb(0, 131072, 0, 4, 1, 2)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def everywhere(_slot: int, _kind: str) -> bool:
    return True


# --- knobs ---


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_inside_that_of_the_knob(name: str) -> None:
    one = RANGES[name]
    assert list(one.lows) == sorted(set(one.lows))
    assert one.lows[-1] <= one.high
    assert len(one.names) == len(one.lows) == len(one.weights)
    assert sum(one.weights) == pytest.approx(1.0)
    assert [one.index(low) for low in one.lows] == list(range(len(one.lows)))
    assert one.index(one.high) == len(one.lows) - 1
    if name in KNOBS:
        assert KNOBS[name].low <= one.lows[0]
        assert one.high <= KNOBS[name].high
    else:
        assert one.meaning


def test_every_knob_but_the_seed_is_drawn() -> None:
    assert set(RANGES) == {*KNOBS, *PACE} - {"seed"}
    assert RANGES["axi_read_latency"].high == RANGES["axi_write_latency"].high == 200
    assert RANGES["stall_r"].high / 256 == pytest.approx(0.9, abs=0.01)


def test_every_class_is_drawn_and_the_seed_decides() -> None:
    drawn = [draw_profile(one).values for one in (rng(7),) for _ in range(400)]
    for name, one in RANGES.items():
        values = [profile[name] for profile in drawn]
        assert {one.index(value) for value in values} == set(range(len(one.lows))), name
        assert min(values) >= one.lows[0]
        assert max(values) <= one.high
    again = rng(7)
    assert drawn[:5] == [draw_profile(again).values for _ in range(5)]


@pytest.mark.long
@pytest.mark.parametrize("name", RANGES)
def test_both_ends_of_every_class_are_drawn(name: str) -> None:
    """The last value of a class stands before the first one of the next."""
    one = RANGES[name]
    for number, low in enumerate(one.lows):
        only = np.zeros(len(one.lows))
        only[number] = 1.0
        sure, source = replace(one, weights=tuple(only)), rng(8)
        values = {sure.draw(source) for _ in range(4000)}
        high = one.lows[number + 1] - 1 if number + 1 < len(one.lows) else one.high
        assert (min(values), max(values)) == (low, high)


def test_named_profiles_set_every_knob() -> None:
    for profile in PROFILES:
        assert set(profile.knobs) == set(KNOBS) - {"seed"}
        assert set(profile.pace) == set(PACE)


def test_rows_of_descriptors_have_gaps_between_them() -> None:
    block = from_ops([LOAD, COPY, LOAD, COPY, LOAD, LOAD])
    assert paced(block, {"burst_ops": 2, "burst_gap": 0}) is block
    gaps = paced(block, {"burst_ops": 2, "burst_gap": 9}).gap - block.gap
    assert gaps.tolist() == [9, 9, 0, 0, 9, 0]


def test_stalls_slow_down() -> None:
    assert slowdown({}) == 1.0
    assert slowdown({"stall_r": 128, "stall_b": 192}) == 4.0
    assert slowdown({"stall_r": 128, "ready_after_valid": 1}) == 3.0


def test_each_channel_soon_waits_for_valid_and_later_in_half_of_the_profiles() -> None:
    apart, again = AfterValid(3), AfterValid(3)
    found = [apart.applied(PROFILES[n % len(PROFILES)]) for n in range(5 * len(AFTER_VALID))]
    channels = [after_valid(one.knobs["ready_after_valid"]) for one in found]
    one_each: set[tuple[str, ...]] = {(name,) for name in AFTER_VALID}
    first = channels[: len(AFTER_VALID)]
    assert set(first) == one_each
    assert len(first) == len(one_each)
    assert Counter(channels[len(AFTER_VALID) :]) == dict.fromkeys(one_each, 2) | {(): 16}
    assert [again.applied(PROFILES[0]).knobs["ready_after_valid"] for _ in range(40)] == [
        one.knobs["ready_after_valid"] for one in found
    ]
    assert found[1].knobs == {
        **PROFILES[1].knobs,
        "ready_after_valid": found[1].knobs["ready_after_valid"],
    }


def test_a_gm_in_python_is_not_told_to_wait_for_valid() -> None:
    profile = replace(PROFILES[0], knobs={**PROFILES[0].knobs, "ready_after_valid": 255})
    assert after_valid(without_axi(profile).knobs["ready_after_valid"]) == AFTER_VALID[3:]


def test_ready_after_valid_leaves_the_other_draws() -> None:
    one, other = rng(7), rng(7)
    drawn = draw_profile(one).values
    expected = {name: RANGES[name].draw(other) for name in RANGES if name != "ready_after_valid"}
    assert {name: drawn[name] for name in expected} == expected


# --- faults ---


def drawn(seed: int, blocks: list[OpBlock]) -> list[Fault]:
    draw = FaultDraw(rng(seed), everywhere)
    return [fault for block in blocks for fault in draw.draw(block, FAULTS)]


@pytest.mark.long
def test_faults_are_of_every_kind_and_fit_their_memory() -> None:
    blocks = list(TrafficGenerator(3).blocks(1500))
    found = drawn(5, blocks)
    assert found == drawn(5, blocks)
    for fault in found:
        assert 0 <= fault.start < fault.start + fault.size <= SIZES[fault.space]
        assert (fault.kind is FaultKind.LOCAL) == (fault.space is not Space.GM)
    sorts = Counter((fault.nth > 0, fault.size > 32, fault.sides) for fault in found)
    assert {(True, True), (False, True), (False, False)} <= {sort[:2] for sort in sorts}
    assert {sort[2] for sort in sorts} == {READS, WRITES, READS | WRITES}
    assert {fault.space for fault in found} == set(Space)
    assert {fault.kind for fault in found} == set(FaultKind)


def test_a_fault_is_on_bytes_that_an_op_accesses() -> None:
    block = from_ops([LOAD])
    desc = unpack(block.pack()[0])
    regions = {region.space: region for region in (source(desc), *destinations(desc))}
    for fault in drawn(2, [block] * 50):
        region = regions[fault.space]
        assert region.base // 32 * 32 <= fault.start < region.end
        assert fault.sides & (READS if fault.space is Space.GM else WRITES)


@pytest.mark.long
@pytest.mark.parametrize("words", [1, 2, 64, 65, 100, 4096, 5000])
def test_any_of_the_words_up_to_the_last_may_fail(words: int) -> None:
    """Up to the 4096th word of 64 bytes."""
    draw = FaultDraw(rng(6), everywhere)
    region = Footprint(Space.GM, 0, 64 * words, (), ())
    numbers = {draw._window(region)[2] for _ in range(30_000)} - {0}
    assert min(numbers) == 1
    last = min(words, 4096)
    assert last - last // 200 <= max(numbers) <= last


def test_a_fault_of_a_fill_is_on_a_write() -> None:
    found = drawn(2, [from_ops([FILL])] * 40)
    assert found
    assert all(fault.sides & WRITES and fault.length for fault in found)


def test_no_fault_is_drawn_for_nops() -> None:
    assert drawn(1, [from_ops([NOP])] * 20) == []
    illegal = from_ops([MteUbUb(1, 131072, 2, 4, 1, 2)], expected_rule=[1])
    assert drawn(1, [illegal] * 20) == []


@pytest.mark.parametrize("kind", ["read", "local"])
def test_unsupported_errors_are_never_injected(kind: str) -> None:
    mte2 = SLOTS.index("mte2")
    draw = FaultDraw(rng(4), lambda slot, one: slot != mte2 or one != kind)
    found = [fault for _ in range(100) for fault in draw.draw(from_ops([LOAD, COPY]), FAULTS)]
    assert found
    for fault in found:
        concerned = (fault.space is Space.GM) == (kind == "read")
        if concerned and (kind == "local" or fault.sides & READS):
            assert not fault.slots >> mte2 & 1
    # Other engines may touch the window as well; without any no fault is armed.
    alone = FaultDraw(rng(4), lambda slot, one: False)
    assert [alone.draw(from_ops([LOAD]), FAULTS) for _ in range(20)] == [[]] * 20
    assert sum(alone.left_out.values()) > 20
    assert any("mte2 survives no errors of GM reads" in why for why in alone.left_out)


# --- resets ---


def test_resets_come_at_any_time() -> None:
    one = rng(3)
    resets = [draw_reset(one) for _ in range(500)]
    assert min(reset.after for reset in resets) < 10
    assert LONGEST_WAIT // 2 < max(reset.after for reset in resets) <= LONGEST_WAIT
    assert {reset.phase for reset in resets} == set(range(10))
    assert {len(reset.again) for reset in resets} == {0, 1, 2}
    assert all(min((reset.hold, reset.quiet, *reset.again)) >= 1 for reset in resets)


# --- The base class of the simulator tests


def test_the_error_of_a_test_without_stimulus_names_the_method() -> None:
    unfinished = PtoTestBase.stimulate(cast("Any", SimpleNamespace()))
    with pytest.raises(PtoError, match=pattern("not sends async def stimulate")):
        unfinished.send(None)
