# SPDX-License-Identifier: Apache-2.0
"""The arithmetic and the table of ``make bench``, not the measured values."""

from __future__ import annotations

import json

import pytest

from tb.benchmark.figures import WAYS, Copies, LongRow, Measurements, ShortRows, Way
from tb.benchmark.measure import (
    LOAD_OPS,
    SIZES,
    BenchReport,
    Target,
    load_unit,
    measure,
    median_of,
    render,
    report_of,
)
from tb.dut.manifest import reference_manifests

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
        long_rows=[
            LongRow(
                engine="mte2", latency=1, offset=offset, beats=98, cycles=110, fixed=10, single=30
            )
            for offset in (0, 13)
        ],
        short_rows=[
            ShortRows(
                engine="mte2",
                latency=1,
                row_beats=2,
                contiguous=contiguous,
                rows=100,
                cycles=260,
                fixed=10,
            )
            for contiguous in (True, False)
        ],
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
    assert values == pytest.approx([40.0, 2.5, 25.0, 0.98, 0.5])
    assert [target.reached(target.must) for target in report.targets] == [True] * 5
    assert [target.reached(target.aim) for target in report.targets] == [
        False,
        False,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("value", "higher", "verdict"),
    [
        (60.0, True, "aim reached"),
        (30.0, True, "must reached, aim 2.00x off"),
        (10.0, True, "MUST MISSED, aim 6.00x off"),
        (24.0, False, "aim reached"),
        (61.0, False, "MUST MISSED, aim 1.02x off"),
    ],
)
def test_verdict(value: float, higher: bool, verdict: str) -> None:
    must, aim = (25, 60) if higher else (30, 60)
    target = Target(name="x", value=value, must=must, aim=aim, higher_is_better=higher)
    assert target.verdict == verdict


def test_verdict_without_a_target() -> None:
    target = Target(name="x", value=0.0, must=1, aim=0, higher_is_better=False)
    assert target.verdict == "aim reached"
    short = target.model_copy(update={"value": 0.25})
    assert short.verdict == "must reached, 0.25 above the aim"


def test_table_has_every_row(measured: Measurements) -> None:
    text = render(report_of(measured))
    for word in (*WAYS, "256 B", "16384 B", "must >= 25", "aim <= 1.5", "mte2", "Memory:"):
        assert word in text
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
    ("name", "kind"),
    [
        ("HarnessBench", "copies"),
        ("OpsBench", "overheads"),
        ("FixBench", "overheads"),
        ("PythonAxiBench", "copies"),
    ],
)
def test_each_bench_runs(name: str, kind: str) -> None:
    """Short runs, on builds that other tests use too; the measured values are not checked."""
    options = {
        "repetitions": 1,
        "illegal": 0.0,
        "faults": 0.0,
        "copies": ((256, 8),) if kind == "copies" else (),
        "latencies": (),
        "rounds": 1,
    }
    pins = name == "PythonAxiBench"
    engines = reference_manifests()
    run = f"test-{name.lower()}"
    found, wrong = measure(run, name, 1, options, engines, axi_pins=pins, fast_build=True)
    assert not wrong
    assert getattr(found, kind)
