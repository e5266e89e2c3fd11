# SPDX-License-Identifier: Apache-2.0
"""The failures in the summary of a run: causes before effects, each kind once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb.record.failure import Failure
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.summary import LISTED, causes_first, kinds_of
from tb.run.console import SHOWN_KINDS, Console


def of_op(transaction: int, kind: str = "early", retired: int = 0, **fields: Any) -> Failure:
    """Returns a failure of an op that retired at a clock, by default at ten times its number."""
    clock = retired or 10 * transaction
    text = f"{kind} of {transaction}"
    return Failure(
        kind=kind, transaction=transaction, begin_clock=1, end_clock=clock, text=text, **fields
    )


EARLY = of_op(1, slot="mte1")


def at_clock(clock: int, kind: str = "protocol", rule: str = "AR-4K") -> Failure:
    """Returns a failure of no op."""
    return Failure(kind=kind, rule=rule, begin_clock=clock, end_clock=clock, text=f"{rule} {clock}")


def record_of(*failures: Failure, past_limit: dict[str, int] | None = None) -> RunRecord:
    """Returns a record with reports of failures, and numbers of others by title."""
    record = RunRecord(settings=RunSettings(), past_limit=Counter(past_limit or {}))
    for failure in failures:
        record.note(failure)
    return record


def printed(record: RunRecord, capsys: pytest.CaptureFixture[str]) -> str:
    """Returns the part of a summary that is about failures."""
    Console().show(record, (), Path("record.json"), Path())
    return capsys.readouterr().out.partition("\n  profile")[0]


def test_a_mismatch_of_an_earlier_transaction_comes_first() -> None:
    status, second, first = of_op(34, "status"), of_op(5, "data"), of_op(2, "guard")
    assert causes_first([status, second, first]) == [first, second, status]


def test_failures_of_one_transaction_stay_in_their_order() -> None:
    found = [of_op(2, "status"), of_op(2, "data"), of_op(2, "stray")]
    assert causes_first(found) == found


def test_a_violation_comes_before_the_ops_that_had_not_retired() -> None:
    """Also before a later transaction that retired first, of another slot."""
    before, slow, quick = of_op(1), of_op(2, retired=50), of_op(3, retired=30)
    violation = at_clock(40)
    assert causes_first([quick, slow, before, violation]) == [before, violation, slow, quick]
    same = at_clock(50)
    assert causes_first([slow, same]) == [same, slow]


@pytest.mark.parametrize("kind", ["hang", "crash"])
def test_the_end_of_a_run_is_last(kind: str) -> None:
    end = of_op(3, kind, retired=9)
    error, mismatch = at_clock(100), of_op(20)
    assert causes_first([end, mismatch, error]) == [error, mismatch, end]


def test_a_failure_of_a_batch_comes_before_the_ops_of_the_batch() -> None:
    access = Failure(kind="access", begin_clock=15, end_clock=90, text="access")
    assert causes_first([of_op(2), of_op(1), access]) == [of_op(1), access, of_op(2)]


def test_a_check_without_a_begin_has_the_clock_of_its_end() -> None:
    check = Failure(kind="check", end_clock=70, text="check")
    assert causes_first([check, of_op(9), of_op(1)]) == [of_op(1), check, of_op(9)]


@pytest.mark.parametrize(
    "fields", [{"slot": "fix"}, {"op": "mte_ub_gm"}, {"field": "left pad"}, {"rule": "DMA-L05"}]
)
def test_a_kind_has_one_slot_op_field_and_rule(fields: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "slot": "mte2",
        "op": "mte_gm_ub",
        "field": "row data",
        "rule": "DMA-L08",
    }
    alike, other = of_op(2, "data", **usual), of_op(3, "data", **{**usual, **fields})
    kinds = kinds_of(record_of(of_op(1, "data", **usual), alike, other, of_op(4, **usual)))
    assert [len(kind.failures) for kind in kinds] == [2, 1, 1]


def test_a_kind_is_printed_once_with_the_others_in_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ops = [of_op(number) for number in (40, 12, 7, 19, 12)]
    out = printed(record_of(at_clock(600), *ops, at_clock(500), of_op(3, "hang")), capsys)
    assert out.splitlines() == [
        *("", "early of 7", "  ... and 4 more like it: transactions 12, 19, 40"),
        *("", "AR-4K 500", "  ... and 1 more like it: clock 600"),
        *("", "hang of 3"),
    ]


def test_failures_past_the_limit_are_counted() -> None:
    past_limit = {"mte1: done too early": 60, "mte2: done too early": 9}
    (kind, _) = kinds_of(record_of(EARLY, of_op(2, slot="mte1"), past_limit=past_limit))
    assert kind.more == "... and 61 more like it: transactions 2 ..."
    (kind, other) = kinds_of(record_of(EARLY, past_limit=past_limit))
    assert kind.more == "... and 60 more like it"
    assert other.line == "mte2: done too early: 9, past the mismatch limit"


def test_a_long_list_ends_with_dots() -> None:
    (kind,) = kinds_of(record_of(*(of_op(number) for number in range(1, LISTED + 3))))
    assert kind.more.endswith(f" {LISTED}, {LISTED + 1} ...")
    (kind,) = kinds_of(record_of(*(of_op(number) for number in range(1, LISTED + 2))))
    assert kind.more.endswith(f" {LISTED}, {LISTED + 1}")


def test_further_kinds_have_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    slots = ("mte1", "mte2", "mte3", "fix")
    failures = [of_op(number, slot=slots[number]) for number in range(SHOWN_KINDS)]
    failures += [of_op(9, slot="fix"), of_op(11, slot="fix")]
    out = printed(record_of(*failures, past_limit={"mte1: stray write": 3}), capsys)
    assert [f"early of {number}" in out for number in (0, 1, 2, 9)] == [True, True, True, False]
    head, *lines = out.splitlines()[-3:]
    assert head.endswith("reports are in record.json:")
    assert lines == [
        "  fix: done too early: 2, transactions 9, 11",
        "  mte1: stray write: 3, past the mismatch limit",
    ]


def test_a_single_failure_has_no_further_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(record_of(of_op(1)), capsys) == "\nearly of 1\n"


def test_waves_have_their_path_and_the_command_that_opens_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Console().show(record_of(), (), Path("record.json"), tmp_path)
    assert "  waves " not in capsys.readouterr().out
    path = tmp_path / "waves.fst"
    for unclosed in (b"", bytes(9), bytes(7) + b"\1\x48"):
        path.write_bytes(unclosed)
        Console().show(record_of(), (), Path("record.json"), tmp_path)
        assert f"  waves             {path}: lost" in capsys.readouterr().out
    path.write_bytes(bytes(7) + b"\1\x49")
    Console().show(record_of(), (), Path("record.json"), tmp_path)
    assert f"  waves             {path}: surfer {path}, or gtkwave\n" in capsys.readouterr().out
