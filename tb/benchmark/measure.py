# SPDX-License-Identifier: Apache-2.0
"""``make bench``: runs the measurements of workload.py and prints the ratios and budgets.

Three ways for the same copies, in one run of one command: (a) self-driven in the simulator and
unchecked, (b) the full bench, (c) a per-beat Python AXI memory. Figures are processor time, so that
other work on the machine does not count, and the median of several repetitions. The exit code does
not depend on speed: it is 0 if everything ran and every copy was correct.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from tb.benchmark.figures import (
    MEMORY_MODEL,
    REPORT_VERSION,
    WAYS,
    Copies,
    Measurements,
    Overhead,
    Rate,
    Way,
)
from tb.common.files import write_json
from tb.common.paths import BUILD_ROOT, relative
from tb.dut.manifest import Manifest, reference_manifests
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.folder import run_folder
from tb.run.run import run_once
from tb.run.testlist import PlannedTest

REPETITIONS = 5
SIZES = (256, 2048, 16384)
HARNESS_COPIES = ((256, 4096), (2048, 4096), (16384, 1024))
EVERYTHING_COPIES = ((2048, 4096),)
AXI_COPIES = ((256, 60), (2048, 30), (16384, 8))
LATENCIES = (1, 40, 100)

FIX_LATENCIES = (1, 40)
"""Latencies that the write-backs are measured at; local ports are measured up to 63 clocks."""

OPS_ROUNDS = 16
"""Times that a block of one of the other ops is sent per repetition."""

NZ_TARGET = ("nd2nz 64 x 512 f16", 1)
"""Shape and latency of the NZ repack's budget."""

FIX_ROUNDS = 4
"""The same for tiles of write-backs, which are larger."""

FIX_TARGET = ("nz2nd f16 to UB", 1)
"""Tile and latency of the write-back's budget: 16-bit results, contiguous rows."""

MODULES = {
    "HarnessBench": "tb.benchmark.workload",
    "PythonAxiBench": "tb.benchmark.workload",
    "OpsBench": "tb.benchmark.workload_ops",
    "FixBench": "tb.benchmark.workload_fix",
}
"""Key of each measurement."""

LOAD_UNIT = "pto_gm_load"
LOAD_OPS = ("mte_gm_ub", "mte_gm_l1")
"""The unit that the copies run on, and its options."""

CHECKED: Way = "checked"
SELF_DRIVEN: Way = "self-driven"
PYTHON_AXI: Way = "Python AXI"


class Target(BaseModel):
    """A line of the performance budget: ``must`` and ``aim`` are lower or upper bounds."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float
    must: float
    aim: float
    higher_is_better: bool

    def reached(self, bound: float) -> bool:
        """Tells whether the value is at least as good as ``bound``."""
        return self.value >= bound if self.higher_is_better else self.value <= bound

    @property
    def verdict(self) -> str:
        """``aim reached``, or how far it is."""
        if self.reached(self.aim):
            return "aim reached"
        must = "must reached" if self.reached(self.must) else "MUST MISSED"
        if not self.aim:
            return f"{must}, {self.value:.2f} above the aim"
        off = self.value / self.aim if not self.higher_is_better else self.aim / self.value
        return f"{must}, aim {off:.2f}x off"


class BenchReport(BaseModel):
    """Contents of ``sim_build/bench.json``."""

    version: int = REPORT_VERSION
    memory_model: str = MEMORY_MODEL
    ways: dict[str, str]
    microseconds: dict[str, dict[str, float]]
    megabytes_per_second: dict[str, dict[str, float]]
    ratios: dict[str, dict[str, float]]
    python_microseconds: dict[str, dict[str, float]]
    targets: list[Target]
    measurements: Measurements


def median_of(copies: Sequence[Copies], way: Way, size: int) -> Copies:
    """Returns the repetition with the median time of one way and size.

    Raises:
        ValueError: nothing was measured for it.
    """
    found = sorted(
        (item for item in copies if item.way == way and item.bytes == size),
        key=lambda item: item.microseconds,
    )
    if not found:
        raise ValueError(f"no copies of {size} bytes were measured {way}")
    return found[(len(found) - 1) // 2]


def report_of(measured: Measurements) -> BenchReport:
    """Returns the figures that follow from the measurements."""
    table = {way: {size: median_of(measured.copies, way, size) for size in SIZES} for way in WAYS}
    micro = {way: {str(n): x.microseconds for n, x in row.items()} for way, row in table.items()}
    python = {
        str(size): {
            name: 1e6 * seconds / item.transactions for name, seconds in item.python.items()
        }
        for size, item in table[CHECKED].items()
    }
    ratios = {
        "checked / self-driven": _ratio(micro[CHECKED], micro[SELF_DRIVEN]),
        "Python AXI / checked": _ratio(micro[PYTHON_AXI], micro[CHECKED]),
    }
    return BenchReport(
        ways=dict(WAYS),
        microseconds=micro,
        megabytes_per_second={
            way: {size: int(size) / value for size, value in row.items()}
            for way, row in micro.items()
        },
        ratios=ratios,
        python_microseconds=python,
        targets=_targets(measured, ratios, python),
        measurements=measured,
    )


def _ratio(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {size: one[size] / other[size] for size in one}


def _targets(
    measured: Measurements, ratios: dict[str, dict[str, float]], python: dict[str, dict[str, float]]
) -> list[Target]:
    targets = [
        Target(
            name="2 KiB, checked, times faster than with the Python AXI memory",
            value=ratios["Python AXI / checked"]["2048"],
            must=25,
            aim=60,
            higher_is_better=True,
        ),
        Target(
            name="16 KiB, checked, time over self-driven unchecked",
            value=ratios["checked / self-driven"]["16384"],
            must=3,
            aim=1.5,
            higher_is_better=False,
        ),
        Target(
            name="2 KiB, Python time per transaction, us",
            value=sum(python["2048"].values()),
            must=150,
            aim=60,
            higher_is_better=False,
        ),
    ]
    if measured.long_rows:
        worst = min(row.beats_per_cycle for row in measured.long_rows)
        targets.append(
            Target(
                name="long rows, data beats per cycle, worst of engines, latencies, alignments",
                value=worst,
                must=0.95,
                aim=0.99,
                higher_is_better=True,
            )
        )
    ideal = [row.lost_per_row for row in measured.short_rows if row.latency == 1]
    if ideal:
        targets.append(
            Target(
                name="short rows, cycles lost per row at latency 1, worst",
                value=max(ideal),
                must=1,
                aim=0,
                higher_is_better=False,
            )
        )
    tiles = [row for row in measured.rates if (row.name, row.latency) == FIX_TARGET]
    if tiles:
        targets.append(
            Target(
                name=f"{FIX_TARGET[0]}, elements per cycle at latency {FIX_TARGET[1]}",
                value=tiles[0].per_cycle,
                must=8,
                aim=16,
                higher_is_better=True,
            )
        )
    nd2nz = [row for row in measured.rates if (row.name, row.latency) == NZ_TARGET]
    if nd2nz:
        targets.append(
            Target(
                name=f"{NZ_TARGET[0]}, C0 blocks per cycle at latency {NZ_TARGET[1]}",
                value=nd2nz[0].alone,
                must=0.9,
                aim=0.99,
                higher_is_better=True,
            )
        )
    return targets


def render(report: BenchReport) -> str:
    """Returns the report as text."""
    lines = [f"Copies GM -> UB by {LOAD_UNIT}, one row, random GM alignment, memory latency 1", ""]
    lines.append(f"  {'us per transaction':<24}" + "".join(f"{f'{n} B':>12}" for n in SIZES))
    for way, row in report.microseconds.items():
        lines.append(f"  {way:<24}" + "".join(f"{value:12.1f}" for value in row.values()))
    for way, row in report.megabytes_per_second.items():
        cells = "".join(f"{value:12.1f}" for value in row.values())
        lines.append(f"  {f'MB/s, {way}':<24}{cells}")
    for name, row in report.ratios.items():
        lines.append(f"  {name:<24}" + "".join(f"{value:11.2f}x" for value in row.values()))
    lines += _everything_lines(report)
    lines += ["", "Python time of the checked copies, us per transaction", ""]
    phases = list(next(iter(report.python_microseconds.values())))
    lines.append(f"  {'bytes':<10}" + "".join(f"{name:>10}" for name in [*phases, "total"]))
    for size, split in report.python_microseconds.items():
        values = [*split.values(), sum(split.values())]
        lines.append(f"  {size:<10}" + "".join(f"{value:10.1f}" for value in values))
    lines += ["", *_engine_lines(report.measurements)]
    lines += ["", *_rate_lines(report.measurements.rates)]
    lines += ["", *_overhead_lines(report.measurements.overheads), "", "Budget", ""]
    for target in report.targets:
        bound = ">=" if target.higher_is_better else "<="
        lines.append(
            f"  {target.name:<72} {target.value:8.2f}   must {bound} {target.must:g}, "
            f"aim {bound} {target.aim:g}: {target.verdict}"
        )
    lines += ["", "Ways:"]
    lines += [f"  {way:<12} {text}" for way, text in report.ways.items()]
    lines += [f"Memory: {report.memory_model}"]
    return "\n".join(lines)


def _everything_lines(report: BenchReport) -> list[str]:
    """Returns the cost of one size with all engines in the build, all but one idle."""
    if not report.measurements.everything:
        return []
    size = report.measurements.everything[0].bytes
    micro = median_of(report.measurements.everything, CHECKED, size).microseconds
    ratio = report.microseconds[PYTHON_AXI][str(size)] / micro
    return [
        f"  With all engines in the build a checked copy of {size} B takes {micro:.1f} us,",
        f"  {ratio:.1f} times faster than with the Python AXI memory with the load unit alone.",
    ]


def _engine_lines(measured: Measurements) -> list[str]:
    lines = ["Engines, data beats per cycle on rows of 16 KiB", ""]
    lines.append(f"  {'engine':<8}{'latency':>8}{'aligned':>10}{'unaligned':>11}")
    keys = dict.fromkeys((row.engine, row.latency) for row in measured.long_rows)
    for engine, latency in keys:
        found = {
            bool(row.offset): row.beats_per_cycle
            for row in measured.long_rows
            if (row.engine, row.latency) == (engine, latency)
        }
        lines.append(f"  {engine:<8}{latency:>8}{found[False]:>10.3f}{found[True]:>11.3f}")
    lines += ["", "Engines, cycles lost per row of n beats (contiguous / with gaps)", ""]
    beats = sorted({row.row_beats for row in measured.short_rows})
    lines.append(f"  {'engine':<8}{'latency':>8}" + "".join(f"{n:>16}" for n in beats))
    for engine, latency in keys:
        cells = ""
        for count in beats:
            lost = {
                row.contiguous: row.lost_per_row
                for row in measured.short_rows
                if (row.engine, row.latency, row.row_beats) == (engine, latency, count)
            }
            cells += f"{f'{lost[True]:.2f} / {lost[False]:.2f}':>16}"
        lines.append(f"  {engine:<8}{latency:>8}{cells}")
    lines.append(
        "  At long latencies short rows follow min(1, outstanding x beats / (latency + 1)): 16 "
        "bursts\n  may be in flight (docs/contract.md), whatever the engine."
    )
    return lines


def _rate_lines(rates: Sequence[Rate]) -> list[str]:
    latencies = sorted({row.latency for row in rates})
    lines = ["Other ops, units per cycle: streaming / one op alone, latency and all", ""]
    cells = "".join(f"{f'latency {n}':>18}" for n in latencies)
    lines.append(f"  {'op':<22}{'engine':<8}{'unit':<11}{cells}")
    for name in dict.fromkeys(row.name for row in rates):
        mine = {row.latency: row for row in rates if row.name == name}
        first = next(iter(mine.values()))
        cells = "".join(f"{f'{row.per_cycle:.3f} / {row.alone:.3f}':>18}" for row in mine.values())
        lines.append(f"  {name:<22}{first.engine:<8}{first.unit:<11}{cells}")
    lines.append("  Local ports answer after the same latency, at most 63 clocks.")
    return lines


def _overhead_lines(overheads: Sequence[Overhead]) -> list[str]:
    lines = ["Other ops, us per op at latency 1", ""]
    lines.append(
        f"  {'op':<22}{'bytes':>8}{'checked':>10}{'self-driven':>13}{'ratio':>8}{'Python':>9}"
        f"{'model':>9}"
    )
    for name in dict.fromkeys(row.name for row in overheads):
        found = sorted((row for row in overheads if row.name == name), key=lambda x: x.checked)
        row = found[(len(found) - 1) // 2]
        lines.append(
            f"  {row.name:<22}{row.bytes:>8}{row.checked:>10.1f}{row.self_driven:>13.1f}"
            f"{row.checked / row.self_driven:>7.2f}x{row.python:>9.1f}{row.model:>9.1f}"
        )
    return lines


def measure(
    name: str,
    class_name: str,
    seed: int,
    options: dict[str, Any],
    manifests: tuple[Manifest, ...],
    *,
    axi_pins: bool,
    fast_build: bool = False,
) -> tuple[Measurements, str]:
    """Runs one bench test; returns its measurements and, if it failed, the reason."""
    settings = RunSettings(test=name, seed=seed, transactions=1)
    file = run_folder(settings) / "measurements.json"
    planned = PlannedTest.model_validate(
        {
            "name": name,
            "module": MODULES[class_name],
            "class": class_name,
            "transactions": 1,
            "fixed_length": True,
            "axi_pins": axi_pins,
            "doc": "measurement",
        }
    )
    settings = settings.model_copy(update={"options": {**options, "file": str(file)}})
    record = run_once(
        settings,
        planned,
        manifests=manifests,
        variant="" if len(manifests) > 1 else manifests[0].module,
        fast_build=fast_build,
        console=Console(quiet=True),
    )
    if not record.passed:
        return Measurements(), "\n".join([record.message, *record.failures[:1]])
    return Measurements.model_validate_json(file.read_text()), ""


def load_unit(engines: Sequence[Manifest]) -> Manifest:
    """Returns the unit for GM loads as a separate engine: units have an engine's ports.

    The copies are loads: in all three ways everything else is left out of the build.
    """
    pipe = next(manifest for manifest in engines if manifest.slot == "mte2")
    able = pipe.capabilities.model_copy(update={"ops": LOAD_OPS})
    return pipe.model_copy(update={"module": LOAD_UNIT, "capabilities": able})


def bench_command(seed: int, json_path: Path | None = None) -> int:
    """Measures, prints, writes the report; returns 0 when everything ran and was correct."""
    console = Console()
    target = json_path or BUILD_ROOT / "bench.json"
    engines = reference_manifests()
    load = (load_unit(engines),)
    common = {"repetitions": REPETITIONS, "illegal": 0.0, "faults": 0.0}
    steps: list[tuple[str, str, dict[str, Any], tuple[Manifest, ...], bool]] = [
        (
            "copies through the bench",
            "HarnessBench",
            {**common, "copies": HARNESS_COPIES, "latencies": ()},
            load,
            False,
        ),
        (
            "the same with all engines in the build",
            "HarnessBench",
            {**common, "copies": EVERYTHING_COPIES, "latencies": ()},
            engines,
            False,
        ),
        (
            "engine figures",
            "HarnessBench",
            {**common, "copies": (), "latencies": LATENCIES},
            engines,
            False,
        ),
        (
            "the other ops",
            "OpsBench",
            {**common, "copies": (), "latencies": LATENCIES, "rounds": OPS_ROUNDS},
            engines,
            False,
        ),
        (
            "write-backs",
            "FixBench",
            {**common, "copies": (), "latencies": FIX_LATENCIES, "rounds": FIX_ROUNDS},
            engines,
            False,
        ),
        (
            "copies with the Python AXI memory",
            "PythonAxiBench",
            {**common, "copies": AXI_COPIES, "latencies": ()},
            load,
            True,
        ),
    ]
    whole = Measurements()
    for number, (doc, class_name, options, manifests, pins) in enumerate(steps, 1):
        console.say(f"bench    {number} of {len(steps)}: {doc} (builds first where needed)")
        name = f"bench-{class_name.lower()}"
        part, wrong = measure(name, class_name, seed, options, manifests, axi_pins=pins)
        if wrong:
            console.say(f"FAIL bench: {doc}: {wrong}")
            return 1
        if manifests is engines:
            whole.everything += part.copies
        else:
            whole.copies += part.copies
        whole.long_rows += part.long_rows
        whole.short_rows += part.short_rows
        whole.rates += part.rates
        whole.overheads += part.overheads
    report = report_of(whole)
    write_json(target, report)
    console.say()
    console.say(render(report))
    spread = _spread(whole.copies)
    console.say(
        f"\n{REPETITIONS} repetitions, medians shown; widest spread {spread:.0f} %; "
        f"seed {seed}; report in {relative(target)}"
    )
    return 0


def _spread(copies: Sequence[Copies]) -> float:
    """Returns the widest distance between repetitions of one figure, in percent of its median."""
    groups: dict[tuple[str, int], list[float]] = {}
    for item in copies:
        groups.setdefault((item.way, item.bytes), []).append(item.microseconds)
    return max(
        100 * (max(values) - min(values)) / statistics.median(values) for values in groups.values()
    )
