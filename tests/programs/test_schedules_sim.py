# SPDX-License-Identifier: Apache-2.0
"""Replays under schedules: one image without a race, named ops with one, faults without one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import pyuvm

from tb.common.paths import ROOT
from tb.harness.knobs import KnobProfile
from tb.isa.spaces import Space
from tb.programs.job import ProgramJob
from tb.programs.replay_test import ProgramTest
from tb.record.record import RunRecord
from tests.bugs.campaign import load_bugs, plant
from tests.programs.test_replay_sim import (
    IN,
    LEGACY,
    MATMUL,
    OUT,
    SHARED_SLOT,
    load,
    program,
    run,
    write,
)

pytestmark = pytest.mark.sim

RACE = program(
    """
  pto.mte_gm_ub %a0, %u0, %c0, %c1024 nburst(%c1, %c1024, %c1024) : I8_GM, I8_UB, I64x5
  pto.mte_ub_ub %u0, %u1_at_4096, %c32 nburst(%c1, %c0, %c0) : I8_UB, I8_UB, I64x4
  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.mte_ub_gm %u1_at_4096, %a1, %c1024 nburst(%c1, %c1024, %c1024) : I8_UB, I8_GM, I64x4
""",
    "I8_GM",
    "I8_GM",
)
"""The copy in UB does not wait for the load; the store waits for the copy."""

SEED = 77


def replay(
    folder: Path,
    text: str,
    count: int | tuple[int, ...],
    *arguments: int,
    test: str = "tb.programs.replay_test:ProgramTest",
    duts: tuple[str, ...] = (),
) -> RunRecord:
    """Replays a program under schedules; its inputs are random bytes."""
    path = write(folder, "x.pto", text)
    data = bytes((7 * n + n // 256) % 256 for n in range(8192))
    job = ProgramJob(
        path=path,
        title="x.pto",
        arguments=dict(enumerate(arguments)),
        loads=tuple(load(address, data) for address in arguments[:-1]),
        schedules=tuple(range(count)) if isinstance(count, int) else count,
    )
    return run(
        [job],
        folder / "run",
        test,
        sim="icarus" if duts else "verilator",  # a build of its own is short by Icarus
        seed=SEED,
        programs=("x.pto",),
        duts=duts,
        mismatch_limit=1000,
    )


@pytest.mark.parametrize(
    ("text", "arguments"),
    [(SHARED_SLOT, (IN, OUT)), (LEGACY, (IN, OUT)), (MATMUL, (IN, IN + 0x10000, OUT + 0xFF))],
    ids=["pipes that share a slot", "registers", "host"],
)
def test_ops_in_order_leave_one_image(
    text: str, arguments: tuple[int, ...], tmp_path: Path
) -> None:
    record = replay(tmp_path, text, 9, *arguments)
    assert record.passed, record.failures
    assert [one.number for one in record.schedules] == list(range(9))
    assert len({one.image for one in record.schedules}) == 1
    assert all(one.same for one in record.schedules)
    assert len({one.clocks for one in record.schedules}) > 5, "the schedules do differ"
    assert record.transactions % 9 == 0
    assert record.exercised["x.pto"] == 9


BOTH = program(
    """
  pto.section.vector {
  %sub = pto.get_subblock_idx
  pto.mte_ub_gm %ub, %a0, %c1024 nburst(%c1, %c1024, %c1024) : I8_UB, I8_GM, I64x4
  }
""",
    "I8_GM",
)
"""Both vector cores store their tile to the same bytes."""


@pytest.mark.parametrize("numbers", [(0, 1, 2), (0, 3, 4)], ids=["one at a time", "overlap"])
def test_the_vector_cores_are_swapped(numbers: tuple[int, ...], tmp_path: Path) -> None:
    """They share an engine, in issue order: another schedule issues sub-block 1's op first."""
    record = replay(tmp_path, BOTH, numbers, OUT)
    assert record.message == "the schedules of a program leave different bytes"
    assert [one.same for one in record.schedules].count(False) == 1
    (report,) = record.failures
    for part in (
        "pto.mte_ub_gm on PIPE_MTE3 of the vector core 0",
        "pto.mte_ub_gm on PIPE_MTE3 of the vector core 1",
        "of one pipe cores in the order ",
        "pto.sync.wait <PIPE_MTE3>",
    ):
        assert part in report, report


def test_a_race_is_named_with_both_ops_and_their_order(tmp_path: Path) -> None:
    record = replay(tmp_path, RACE, 5, IN, OUT)
    assert record.status == "fail"
    assert record.message == "the schedules of a program leave different bytes"
    assert not all(one.same for one in record.schedules)
    assert "x.pto" not in record.exercised, "the program has not passed"
    (report,) = record.failures
    for part in (
        "MISMATCH: x.pto: schedules 0 and ",
        "race: two ops that nothing orders touch ub0 0x0..0x3ff (1024 B)",
        "pto.mte_gm_ub on PIPE_MTE2",
        "pto.mte_gm_ub %a0, %u0",
        "pto.mte_ub_ub on PIPE_V",
        'pto.set_flag["PIPE_MTE2", "PIPE_V", ...] after the first',
        'pto.wait_flag["PIPE_MTE2", "PIPE_V", ...] before the second',
    ):
        assert part in report, report
    assert "mte_ub_gm" not in report, "the store is ordered"
    assert "no race" not in report


ADDS = program(
    """
  pto.set_atomic_s32
  pto.mte_ub_gm %u0, %a0, %c1024 nburst(%c1, %c1024, %c1024) : I32_UB, I32_GM, I64x4
  pto.mte_l0c_gm %c, %a0, %c16, %c16, %c16, %c16, %c0, %c0, nz2nd : I32_L0C, I32_GM, I64x6
""",
    "I32_GM",
)
"""Two pipes add integers to the same tile, which is not a hazard (AT-05)."""


def test_integer_atomic_adds_of_two_pipes_leave_one_image(tmp_path: Path) -> None:
    record = replay(tmp_path, ADDS, 9, OUT + 0xFF)
    assert record.passed, record.failures
    assert len({one.image for one in record.schedules}) == 1


@pytest.mark.parametrize("numbers", [(0, 1, 2), (3, 4)], ids=["one at a time", "overlap"])
def test_a_write_back_that_does_not_wait_for_the_product(
    numbers: tuple[int, ...], tmp_path: Path
) -> None:
    """The host computes the product before it in one schedule of a pair, after it in the other."""
    text = MATMUL
    for way in ("set", "wait"):
        text = text.replace(f'  pto.{way}_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]\n', "")
    record = replay(tmp_path, text, numbers, IN, IN + 0x10000, OUT + 0xFF)
    assert record.message == "the schedules of a program leave different bytes"
    (report,) = record.failures
    for part in (
        "pto.mad on PIPE_M",
        "pto.mte_l0c_gm on PIPE_FIX",
        "touch l0c 0x400..",
        '"PIPE_M",',
    ):
        assert part in report, report
    assert "no race" not in report


def test_a_schedule_is_repeated_alone(tmp_path: Path) -> None:
    whole = replay(tmp_path, RACE, 6, IN, OUT)
    for number in (2, 3, 4):
        again = replay(tmp_path, RACE, (number,), IN, OUT)
        assert again.passed, again.failures
        (one,) = again.schedules
        assert one.image == whole.schedules[number].image
        # An engine may start at another phase of its clock gate.
        free = {"same", "clocks"}
        assert one.model_dump(exclude=free) == whole.schedules[number].model_dump(exclude=free)


@pyuvm.test()
class WrongUnderStalls(ProgramTest):
    """Engine and model are wrong alike when reads stall: a byte of the output changes."""

    def restart(self, job: ProgramJob, profile: KnobProfile) -> None:
        """Notes the knobs."""
        super().restart(job, profile)
        self.slow = profile.knobs["axi_read_latency"] > 1

    def wrong(self) -> int:
        """Is called before images are taken."""
        if self.schedule is not None and self.slow:
            for memory in (
                self.run.memory.view(Space.UB0),
                self.env.scoreboard.expected.golden[Space.UB0],
            ):
                memory[5000] = 0x5A
        return super().wrong()


def test_a_fault_that_engine_and_model_share_is_found(tmp_path: Path) -> None:
    record = replay(
        tmp_path, LEGACY, 5, IN, OUT, test="tests.programs.test_schedules_sim:WrongUnderStalls"
    )
    assert record.status == "fail"
    (report,) = record.failures
    assert "1 byte differs: ub0 0x1388..0x1388 (1 B)" in report
    assert "no race" in report
    assert "an engine or the harness" in report


BACK = program(
    """
  pto.mte_gm_ub %a0, %u0, %c0, %c1024 nburst(%c1, %c1024, %c1024) : I8_GM, I8_UB, I64x5
  pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.mte_ub_gm %u0, %a1, %c1024 nburst(%c1, %c1024, %c1024) : I8_UB, I8_GM, I64x4
  pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
  pto.mte_gm_ub %a1, %u1_at_4096, %c0, %c1024 nburst(%c1, %c1024, %c1024) : I8_GM, I8_UB, I64x5
""",
    "I8_GM",
    "I8_GM",
)
"""Loads what it has just stored."""


def test_an_engine_that_is_done_too_early_is_no_race(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "rtl_stubs", tmp_path / "rtl_stubs")
    bug = next(one for one in load_bugs() if one.name == "done_before_response")
    plant(bug, tmp_path)
    duts = tuple(
        str(tmp_path / "rtl_stubs" / f"pto_{slot}" / "manifest.toml") for slot in ("mte2", "mte3")
    )
    record = replay(tmp_path, BACK, 7, IN, OUT, duts=duts)
    assert record.status == "fail"
    assert record.message == "the DUT differs from the model"
    (report,) = [text for text in record.failures if "leave different images" in text]
    assert "no race" in report
    assert "an engine or the harness" in report
    assert "  race:" not in report
