# SPDX-License-Identifier: Apache-2.0
"""Failures that one fault causes have one signature, and other faults have others."""

from __future__ import annotations

import pytest

from tb.record.failure import Failure
from tb.record.record import RunRecord, RunStatus
from tb.record.settings import RunSettings
from tb.record.signature import (
    Signature,
    bucket_id,
    message_signature,
    phrase,
    signature,
    signature_of,
    title,
)
from tb.regress.plan.rerun import (
    CLOCKS_BEFORE,
    CLOCKS_BEHIND,
    CLOCKS_OF_A_CRASH,
    rerun_settings,
    window,
)

DATA = Failure(
    kind="data",
    slot="mte2",
    op="copy_gm_to_ubuf",
    field="row data",
    space="ub1",
    address=0x1234,
    address_class="later row",
    transaction=17,
    begin_clock=5000,
    end_clock=6000,
    text="MISMATCH: ...",
)


def record(status: RunStatus, *details: Failure, message: str = "", clocks: int = 0) -> RunRecord:
    return RunRecord(
        status=status,
        message=message,
        settings=RunSettings(),
        failures=[failure.text for failure in details],
        details=list(details),
        clocks=clocks,
    )


def test_the_first_failure_gives_the_signature() -> None:
    other = Failure(kind="tag", slot="mte3", op="mte_ub_gm")
    found = signature(record("fail", DATA, other))
    assert found == signature_of(DATA)
    assert found != signature_of(other)
    assert bucket_id(found) != bucket_id(signature_of(other))
    assert bucket_id(found)[0] == "B"
    assert len(bucket_id(found)) == 11


def test_what_differs_between_seeds_is_left_out() -> None:
    same = DATA.model_copy(
        update={
            "op": "mte_gm_ub",
            "space": "ub0",
            "address": 3,
            "transaction": 400,
            "begin_clock": 9,
            "end_clock": 12,
            "text": "other",
        }
    )
    assert signature_of(same) == signature_of(DATA)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "guard"},
        {"slot": "mte1"},
        {"op": "mte_gm_l1"},
        {"field": "left pad"},
        {"rule": "DMA-L05"},
        {"space": "l1"},
        {"address_class": "first row"},
    ],
)
def test_what_tells_faults_apart_is_kept(change: dict[str, str]) -> None:
    other = signature_of(DATA.model_copy(update=change))
    assert other != signature_of(DATA)
    assert bucket_id(other) != bucket_id(signature_of(DATA))


def test_before_and_behind_a_row_are_one_guard() -> None:
    guards = [
        DATA.model_copy(update={"kind": "guard", "field": field})
        for field in ("before the row", "behind the row")
    ]
    assert len({signature_of(guard) for guard in guards}) == 1


def test_a_title_is_a_phrase() -> None:
    assert title(signature_of(DATA)) == "mte2 mte_gm_ub: wrong data, row data, in UB, later row"
    assert title(signature_of(DATA.model_copy(update={"space": "l1"}))).endswith("in L1, later row")
    rule = Failure(kind="protocol", slot="fix", field="AR-4K", rule="AR-4K")
    assert title(signature_of(rule)) == "fix: protocol, AR-4K"
    status = Failure(kind="status", slot="mte2", op="mte_gm_ub", field="OK not RULE",
                     rule="DMA-L12")  # fmt: skip
    assert title(signature_of(status)) == "mte2 mte_gm_ub: wrong status, OK not RULE, DMA-L12"
    assert title(Signature("new kind")) == "new kind"


def test_crashes_are_grouped_by_how_they_end_and_not_by_the_op_in_flight() -> None:
    crashes = [
        Failure(kind="crash", slot=slot, op=op, field="signal SIGSEGV")
        for slot, op in (("mte1", "mte_l1_bt"), ("fix", "mte_l0c_gm"))
    ]
    assert len({signature(record("crash", crash)) for crash in crashes}) == 1
    other = Failure(kind="crash", field="signal SIGKILL")
    assert signature(record("crash", other)) != signature(record("crash", crashes[0]))


def test_an_error_of_the_bench_is_its_message_whatever_came_before() -> None:
    first = "the test ended with ValueError: 17 at 0x20 (/a/b/bench.py, line 93); see the log"
    other = "the test ended with ValueError: 4 at 0xff (/c/bench.py, line 93); see the log"
    found = signature(record("error", DATA, message=first))
    assert found == signature(record("error", message=other))
    assert found.kind == "error"
    assert "bench.py" in found.field
    assert "/a/b" not in found.field


def test_old_records_without_details_are_grouped_by_their_first_report() -> None:
    old = RunRecord(status="fail", settings=RunSettings(), failures=["MISMATCH: at 0x12, 3 bytes"])
    assert signature(old) == Signature("fail", field="MISMATCH: at N, N bytes")


def test_what_left_no_record_is_grouped_by_why() -> None:
    lost = message_signature("lost", "killed by SIGKILL")
    assert title(lost) == "worker lost, killed by SIGKILL"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cleared unit flags 12 bytes early", "cleared unit flags N bytes early"),
        ("status OK not RULE", "status OK not RULE"),
        ("nd2nz of i32, rule L05", "nd2nz of i32, rule L05"),
        ("first\nsecond 3", "first"),
        ("x" * 500, "x" * 120),
    ],
)
def test_phrases_drop_numbers_and_keep_names(text: str, expected: str) -> None:
    assert phrase(text) == expected


def test_a_rerun_shows_the_first_failure_and_stops() -> None:
    failing = record("fail", DATA, clocks=900_000)
    again = rerun_settings(failing)
    assert (again.waves, again.timeline, again.mismatch_limit) == (True, True, 1)
    assert (again.waves_from, again.waves_to) == (5000 - CLOCKS_BEFORE, 6000 + CLOCKS_BEHIND)
    assert again.seed == failing.settings.seed
    assert again.transactions == failing.settings.transactions


def test_a_rerun_does_not_count_code_coverage_and_takes_the_time_it_takes() -> None:
    counting = record("fail", DATA)
    counting.settings = RunSettings(code_coverage=True, time_limit=100)
    again = rerun_settings(counting)
    assert not again.code_coverage
    assert again.time_limit == 0


def test_windows_of_failures_without_an_op() -> None:
    early = DATA.model_copy(update={"begin_clock": 10, "end_clock": 20})
    assert window(record("fail", early)) == (0, 20 + CLOCKS_BEHIND)
    unknown = Failure(kind="check", end_clock=100_000)
    assert window(record("fail", unknown)) == (
        100_000 - CLOCKS_OF_A_CRASH - CLOCKS_BEFORE,
        100_000 + CLOCKS_BEHIND,
    )
    assert window(record("crash", clocks=50_000)) == (50_000 - CLOCKS_OF_A_CRASH, 0)
    assert window(record("error")) == (0, 0)


def test_a_hang_is_seen_from_its_beginning_and_not_to_its_end() -> None:
    hang = Failure(kind="hang", begin_clock=10_000, end_clock=300_000)
    assert window(record("hang", hang)) == (10_000 - CLOCKS_BEFORE, 10_000 + CLOCKS_OF_A_CRASH)
