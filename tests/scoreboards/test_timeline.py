# SPDX-License-Identifier: Apache-2.0
"""The trace of the transactions: contents and length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoreboards.faults import Fault, FaultKind
from sequences.illegal.generator import IllegalGenerator
from tb.common.paths import RESULT_ENV
from tb.env.timeline import TIMELINE, Lanes, Timeline, TraceWriter
from tb.harness.items import Reset
from tb.isa.dma.op import MteGmL1, MteL1Ub
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space
from tests.scoreboards.bench import Bench

OPS = [MteGmL1(1001, 4096 * k, 50, 4, 60, 96) for k in range(3)] + [
    MteL1Ub(65536, 1024, 64, 4, 96, 160)
]


@pytest.fixture(autouse=True)
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RESULT_ENV, str(tmp_path / "result.json"))


@pytest.fixture
def timeline(bench: Bench) -> Timeline:
    made = Timeline("timeline", None)
    made.build_phase()
    return made


def events(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / TIMELINE).read_text())
    return found


def slices(folder: Path) -> list[dict[str, Any]]:
    return [event for event in events(folder) if event["ph"] == "X"]


def test_each_transaction_is_a_slice_of_its_slot(
    bench: Bench, timeline: Timeline, tmp_path: Path
) -> None:
    batch = bench.batch(OPS)
    bench.corrupt(Space.L1, 4096 + 3)
    timeline.write(bench.write(batch))
    timeline.final_phase()
    found = slices(tmp_path)
    assert [event["args"]["transaction"] for event in found] == [3, 0, 1, 2]
    assert [SLOTS[event["pid"]] for event in found] == ["mte1", "mte2", "mte2", "mte2"]
    assert [(event["ts"], event["dur"]) for event in found] == [(100, 900)] + [
        (100 + k, 900) for k in range(3)
    ]
    first = found[1]["args"]
    assert first["pto"].startswith("pto.mte_gm_l1 ")
    assert (first["tag"], first["status"], first["bytes"], first["passed"]) == (0, "OK", 200, True)
    failed = [event for event in found if event["cat"] == "failed"]
    assert [event["args"]["transaction"] for event in failed] == [1]
    assert not failed[0]["args"]["passed"]


def test_slices_of_a_lane_do_not_overlap(bench: Bench, timeline: Timeline, tmp_path: Path) -> None:
    timeline.write(bench.check(OPS))
    timeline.final_phase()
    lanes = [(event["pid"], event["tid"]) for event in slices(tmp_path)]
    assert len(set(lanes)) == len(lanes)
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events(tmp_path)
        if event["name"] == "thread_name"
    }
    assert {names[lane] for lane in lanes} == {"mte1 0", "mte2 0", "mte2 1", "mte2 2"}


def test_a_lane_is_free_when_its_transaction_has_retired() -> None:
    lanes = Lanes()
    assert [lanes.take(*span) for span in ((0, 10), (2, 5), (5, 9), (10, 12), (10, 11))] == [
        0, 1, 1, 0, 1
    ]  # fmt: skip
    assert len(lanes) == 2


def test_batches_faults_and_resets_are_instants(
    bench: Bench, timeline: Timeline, tmp_path: Path
) -> None:
    batch = bench.batch(OPS)
    batch.faults = (Fault(Space.GM, 4096, FaultKind.DECERR),)
    bench.cut(batch, "mte2", 3, 3)
    bench.cut(batch, "mte1", 1, 1)
    batch.reset = Reset(300)
    timeline.write(bench.write(batch))
    timeline.final_phase()
    instants = {event["name"]: event for event in events(tmp_path) if event["ph"] == "i"}
    assert set(instants) == {"batch 0", "fault DECERR", "reset"}
    assert instants["batch 0"]["ts"] == 100
    assert instants["reset"]["ts"] == 400


def test_legacy_forms_have_their_name_and_whole_sequence(
    bench: Bench, timeline: Timeline, tmp_path: Path
) -> None:
    blocks = IllegalGenerator(3, ("copy_ubuf_to_gm",)).blocks(200)
    block = next(block for block in blocks if 0 in block.legacy)
    timeline.write(bench.check(block))
    timeline.final_phase()
    first = next(event for event in slices(tmp_path) if event["args"]["transaction"] == 0)
    assert first["name"] == "copy_ubuf_to_gm"
    assert "pto.copy_ubuf_to_gm" in first["args"]["pto"]


def test_a_hang_is_marked_and_a_passed_batch_is_written_once(
    bench: Bench, timeline: Timeline, tmp_path: Path
) -> None:
    batch = bench.batch(OPS)
    timeline.write(batch)
    batch.hung = True
    batch.done[SLOTS.index("mte2")] = batch.done[SLOTS.index("mte2")][:1]
    timeline.write(batch)
    timeline.final_phase()
    assert [event["args"]["transaction"] for event in slices(tmp_path)] == [3, 0]
    assert all("passed" not in event["args"] for event in slices(tmp_path))
    (hang,) = [event for event in events(tmp_path) if event["name"] == "hang"]
    assert hang["ts"] == bench.mailbox.cycles


@pytest.mark.parametrize("count", [0, 1, 10, 11, 20, 21, 95])
def test_the_last_events_are_kept(tmp_path: Path, count: int) -> None:
    path = tmp_path / TIMELINE
    with TraceWriter(path, most=10) as trace:
        trace.head({"name": "process_name", "ph": "M"})
        for number in range(count):
            trace.write({"name": "op", "ph": "X", "ts": number})
    found = events(tmp_path)
    assert found[0]["name"] == "process_name"
    kept = [event["ts"] for event in found if event["ph"] == "X"]
    assert kept == list(range(count - len(kept), count))
    assert min(count, 10) <= len(kept) <= 20
    dropped = count - len(kept)
    label = found[-1]["args"]["labels"]
    assert label == (f"the first {dropped} events were dropped" if dropped else "all events")
    assert [file.name for file in tmp_path.iterdir()] == [TIMELINE]


def test_a_trace_that_was_not_closed_lacks_only_its_end(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / TIMELINE)
    trace.write({"ts": 1})
    trace.flush()
    assert json.loads((tmp_path / TIMELINE).read_text().rstrip(",\n") + "]") == [{"ts": 1}]
    trace.close()
    trace.close()
