# SPDX-License-Identifier: Apache-2.0
"""The arithmetic and the table of ``make bench``, not the measured values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb.benchmark.figures import WAYS, Copies, Measurements, Overhead, Rate, Way
from tb.benchmark.measure import (
    LOAD_OPS,
    SIZES,
    BenchReport,
    Target,
    bench_command,
    load_unit,
    measure,
    median_of,
    render,
    report_of,
)
from tb.dut.manifest import reference_manifests
from tests.wording import line_says

MICROSECONDS: dict[Way, float] = {"self-driven": 20.0, "checked": 50.0, "Python AXI": 2000.0}


def copies(way: Way, size: int, seconds: float) -> Copies:
    python = {"model": seconds / 4, "other": seconds / 4} if way == "checked" else {}
    return Copies(
        way=way,
        bytes=size,
        transactions=1000,
        seconds=seconds,
        wall=seconds,
        clocks=1,
        python=python,
    )


def rate(name: str, unit: str, units: int, clocks: int, latency: int = 1) -> Rate:
    """Returns the rate of a stream of two ops of ``units`` each, ``clocks`` apart."""
    return Rate(
        name=name,
        engine="x",
        latency=latency,
        unit=unit,
        units=2 * units,
        ops=2,
        cycles=250 + clocks,
        single=250,
    )


@pytest.fixture
def measured() -> Measurements:
    """Three repetitions of everything; the middle one has the round figures."""
    return Measurements(
        copies=[
            copies(way, size, factor * MICROSECONDS[way] / 1000)
            for factor in (0.5, 3.0, 1.0)
            for way in WAYS
            for size in SIZES
        ],
        rates=[
            rate("mte_gm_ub long rows", "words", 98, 108),
            rate("mte_ub_gm 8 KiB", "words", 98, 110, latency=40),
            rate("mte_ub_gm short rows", "rows", 100, 150),
            rate("mte_gm_ub short rows", "rows", 100, 200, latency=40),
            rate("nz2nd f16 to UB", "elements", 1500, 100),
        ],
        overheads=[
            Overhead(name="op", bytes=64, checked=t, self_driven=2.0, python=1.0, model=0.5)
            for t in (9.0, 1.0, 5.0)
        ],
        everything=[copies("checked", 2048, factor / 20) for factor in (3.0, 1.0, 0.5)],
    )


def test_median_repetition_counts(measured: Measurements) -> None:
    assert median_of(measured.copies, "checked", 2048).microseconds == pytest.approx(50.0)
    with pytest.raises(ValueError, match="64 bytes"):
        median_of(measured.copies, "checked", 64)


def test_ratios_and_targets(measured: Measurements) -> None:
    report = report_of(measured)
    assert report.ratios["checked / self-driven"]["16384"] == pytest.approx(2.5)
    assert report.ratios["Python AXI / checked"]["2048"] == pytest.approx(40.0)
    assert report.megabytes_per_second["checked"]["256"] == pytest.approx(5.12)
    values = [target.value for target in report.targets]
    assert values == pytest.approx([40.0, 40.0, 2.5, 25.0, 98 / 110, 0.5, 15.0], rel=1e-3)
    musts = [target.reached(target.must) for target in report.targets]
    assert musts == [True, True, True, True, False, True, True]
    assert [target.reached(target.aim) for target in report.targets] == [
        *(False, False, False, True, False, False, False)
    ]


def test_a_missed_must_ends_a_strict_bench(
    measured: Measurements,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Long rows miss theirs: 98 words in 110 clocks."""
    found = {"HarnessBench": "copies", "OpsBench": "rates", "PythonAxiBench": ""}

    def parts(name: str, class_name: str, *_: Any) -> tuple[Measurements, str]:
        fields = {found[class_name]} - {""}
        return measured.model_copy(
            update={key: [] for key in ("copies", "rates", "overheads") if key not in fields}
        ), ""

    monkeypatch.setattr("tb.benchmark.measure.measure", parts)
    report = tmp_path / "bench.json"
    assert bench_command(1, report) == 0
    assert bench_command(1, report, strict=True) == 3
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("FAIL bench: 1 must missed: long rows, words per cycle")
    measured.rates = [row for row in measured.rates if "short" in row.name]
    assert bench_command(1, report, strict=True) == 0


@pytest.mark.parametrize(
    ("value", "must", "aim", "higher", "verdict"),
    [
        (60.0, 25, 60, True, "aim reached"),
        (30.0, 25, 60, True, "must reached, aim 2.00x off"),
        (10.0, 25, 60, True, "MUST MISSED, aim 6.00x off"),
        (24.0, 30, 60, False, "aim reached"),
        (61.0, 30, 60, False, "MUST MISSED, aim 1.02x off"),
        (0.0, 1, 0, False, "aim reached"),
        (0.25, 1, 0, False, "must reached, 0.25 above the aim"),
    ],
)
def test_verdict(value: float, must: float, aim: float, higher: bool, verdict: str) -> None:
    target = Target(name="x", value=value, must=must, aim=aim, higher_is_better=higher)
    assert target.verdict == verdict


def test_table_has_every_row(measured: Measurements) -> None:
    text = render(report_of(measured))
    for word in (*WAYS, "256 B", "16384 B", "must >= 25", "aim <= 1.5", "Memory:"):
        assert word in text
    for facts in (
        "mte_gm_ub long rows x words 0.907 / 0.392",
        "op 64 5.0 2.0 2.50x 1.0 0.5",  # the median of three
        "16384 12.5 12.5 25.0",
    ):
        assert line_says(text, facts), facts
    assert max(map(len, text.splitlines()[:40])) <= 150


def test_report_survives_json(measured: Measurements) -> None:
    report = report_of(measured)
    again = BenchReport.model_validate(json.loads(report.model_dump_json()))
    assert again == report


def test_the_load_unit_has_loads_only() -> None:
    unit = load_unit(reference_manifests())
    assert unit.ops == LOAD_OPS
    assert unit.slot == "mte2"


@pytest.mark.sim
@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("HarnessBench", "copies", {"copies": ((256, 8),)}),
        ("OpsBench", "overheads", {"latencies": (), "bytes": 1}),
        ("PythonAxiBench", "copies", {"copies": ((256, 8),)}),
    ],
)
def test_each_bench_runs(name: str, kind: str, options: dict[str, object]) -> None:
    """Short runs, on builds that other tests use too; the measured values are not checked."""
    engines, options = reference_manifests(), {**options, "repetitions": 1}
    found, wrong = measure(f"test-{name.lower()}", name, 1, options, engines, fast_build=True)
    assert not wrong
    assert getattr(found, kind)
