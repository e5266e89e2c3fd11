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
    LOCAL_LATENCY,
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
from tb.common.text import columns, counted
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

TIMED_BYTES = 2 << 20
"""Bytes that the ops of one repetition of an overhead write."""

LONG_ROWS = (
    *("mte_gm_ub long rows", "mte_gm_ub unaligned rows"),
    *("mte_ub_gm 8 KiB", "mte_ub_gm unaligned rows"),
)
SHORT_ROWS = ("mte_gm_ub short rows", "mte_ub_gm short rows")
"""Streams of the budget's rows of GM, long ones and those of one word."""

NZ_TARGET = ("nd2nz 64 x 512 f16", 1)
"""Stream and latency of the NZ repack's budget."""

FIX_TARGET = ("nz2nd f16 to UB", 1)
"""Stream and latency of the write-back's budget: 16-bit results, contiguous rows."""

FIX_OVERHEADS = (("32 x 32 f16 to GM", 2, 1.5), ("256 x 256 f16 to GM", 1.3, 1.15))
"""Write-backs of the budget, with must and aim."""

MODULES = {
    "HarnessBench": "tb.benchmark.workload",
    "PythonAxiBench": "tb.benchmark.workload",
    "OpsBench": "tb.benchmark.workload_ops",
}
"""Module of each measurement."""

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
        """Returns whether the value is at least as good as ``bound``."""
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
    """Returns the lines of the budget that were measured: of several values the worst."""
    rates = measured.rates
    overheads = _overheads(measured.overheads)
    budget: tuple[tuple[str, list[float], float, float, bool], ...] = (
        ("2 KiB, checked, times faster than with the Python AXI memory",
         [ratios["Python AXI / checked"]["2048"]], 25, 60, True),
        ("the same with all engines in the build", _everything(measured), 35, 60, True),
        ("16 KiB, checked, time over self-driven unchecked",
         [ratios["checked / self-driven"]["16384"]], 3, 1.5, False),
        *((f"{name}, checked, time over self-driven unchecked",
           [row.checked / row.self_driven for row in overheads if row.name == name],
           must, aim, False)
          for name, must, aim in FIX_OVERHEADS),
        ("2 KiB, Python time per transaction, us", [sum(python["2048"].values())], 150, 60, False),
        ("long rows, words per cycle, worst of engines, latencies, alignments",
         [row.per_cycle for row in rates if row.name in LONG_ROWS], 0.95, 0.99, True),
        ("short rows, cycles lost per row at latency 1, worst",
         [1 / row.per_cycle - 1 for row in rates if row.name in SHORT_ROWS and row.latency == 1],
         1, 0, False),
        (f"{FIX_TARGET[0]}, elements per cycle at latency {FIX_TARGET[1]}",
         [row.per_cycle for row in rates if (row.name, row.latency) == FIX_TARGET], 8, 16, True),
        (f"{NZ_TARGET[0]}, C0 blocks per cycle at latency {NZ_TARGET[1]}",
         [row.alone for row in rates if (row.name, row.latency) == NZ_TARGET], 0.9, 0.99, True),
    )  # fmt: skip
    return [
        Target(
            name=name,
            value=min(values) if higher else max(values),
            must=must,
            aim=aim,
            higher_is_better=higher,
        )
        for name, values, must, aim, higher in budget
        if values
    ]


def render(report: BenchReport) -> str:
    """Returns the report as text."""
    python = report.python_microseconds
    parts = (
        (
            f"Copies GM -> UB by {LOAD_UNIT}, one row, random GM alignment, memory latency 1",
            [*columns(_copy_rows(report)), *_everything_lines(report)],
        ),
        (
            "Python time of the checked copies, us per transaction",
            columns(
                [
                    ["bytes", *next(iter(python.values())), "total"],
                    *([size, *_tenths(*x.values(), sum(x.values()))] for size, x in python.items()),
                ]
            ),
        ),
        (
            "Streams, units per cycle: streaming / one op alone, latency and all",
            [
                *columns(_rate_rows(report.measurements.rates), left=3),
                f"Local ports answer after the same latency, at most {LOCAL_LATENCY} clocks. Rows "
                "of GM have a limit at",
                "long latencies: min(1, outstanding x words / (latency + 1)), with 16 bursts in "
                "flight.",
            ],
        ),
        ("Ops, us per op at latency 1", columns(_overhead_rows(report.measurements.overheads))),
        ("Budget", _budget_lines(report.targets)),
    )
    lines = [
        line for title, body in parts for line in (title, "", *(f"  {row}" for row in body), "")
    ]
    ways = [f"  {way:<12} {text}" for way, text in report.ways.items()]
    return "\n".join([*lines, "Ways:", *ways, f"Memory: {report.memory_model}"])


def _tenths(*values: float) -> list[str]:
    return [f"{value:.1f}" for value in values]


def _copy_rows(report: BenchReport) -> list[list[str]]:
    return [
        ["us per transaction", *(f"{size} B" for size in SIZES)],
        *([way, *_tenths(*row.values())] for way, row in report.microseconds.items()),
        *(
            [f"MB/s, {way}", *_tenths(*row.values())]
            for way, row in report.megabytes_per_second.items()
        ),
        *(
            [name, *(f"{value:.2f}x" for value in row.values())]
            for name, row in report.ratios.items()
        ),
    ]


def _everything_times(measured: Measurements) -> list[float]:
    """Returns the us of a checked copy of 2 KiB with all engines in the build, if measured."""
    found = measured.everything
    return [median_of(found, CHECKED, 2048).microseconds] if found else []


def _everything(measured: Measurements) -> list[float]:
    """Returns how many times faster that is than with the Python AXI memory."""
    axi = median_of(measured.copies, PYTHON_AXI, 2048).microseconds
    return [axi / time for time in _everything_times(measured)]


def _everything_lines(report: BenchReport) -> list[str]:
    """Returns the cost of one size with all engines in the build, all but one idle."""
    measured, lines = report.measurements, []
    for time, ratio in zip(_everything_times(measured), _everything(measured), strict=True):
        lines += [
            f"With all engines in the build a checked copy of 2048 B takes {time:.1f} us,",
            f"{ratio:.1f} times faster than with the Python AXI memory with the load unit alone.",
        ]
    return lines


def _rate_rows(rates: Sequence[Rate]) -> list[list[str]]:
    streams: dict[tuple[str, str, str], dict[int, str]] = {}
    for row in rates:
        cells = streams.setdefault((row.name, row.engine, row.unit), {})
        cells[row.latency] = f"{row.per_cycle:.3f} / {row.alone:.3f}"
    latencies = sorted({row.latency for row in rates})
    head = ["stream", "engine", "unit", *(f"latency {latency}" for latency in latencies)]
    return [
        head,
        *([*key, *(cells.get(at, "") for at in latencies)] for key, cells in streams.items()),
    ]


def _overheads(overheads: Sequence[Overhead]) -> list[Overhead]:
    """Returns the median repetition of each op."""
    found = []
    for name in dict.fromkeys(row.name for row in overheads):
        rows = sorted((row for row in overheads if row.name == name), key=lambda x: x.checked)
        found.append(rows[(len(rows) - 1) // 2])
    return found


def _overhead_rows(overheads: Sequence[Overhead]) -> list[list[str]]:
    rows = [["op", "bytes", "checked", "self-driven", "ratio", "Python", "model"]]
    for row in _overheads(overheads):
        ratio = f"{row.checked / row.self_driven:.2f}x"
        times = _tenths(row.checked, row.self_driven)
        rows.append([row.name, str(row.bytes), *times, ratio, *_tenths(row.python, row.model)])
    return rows


def _budget_lines(targets: Sequence[Target]) -> list[str]:
    lines = columns([[target.name, f"{target.value:.2f}"] for target in targets])
    for number, target in enumerate(targets):
        bound = ">=" if target.higher_is_better else "<="
        goal = f"must {bound} {target.must:g}, aim {bound} {target.aim:g}"
        lines[number] += f"   {goal}: {target.verdict}"
    return lines


def measure(
    name: str,
    class_name: str,
    seed: int,
    options: dict[str, Any],
    manifests: tuple[Manifest, ...],
    *,
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
            "axi_pins": class_name == "PythonAxiBench",
            "doc": "measurement",
        }
    )
    all_options = {"illegal": 0.0, "faults": 0.0, **options, "file": str(file)}
    record = run_once(
        settings.model_copy(update={"options": all_options}),
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


def bench_command(seed: int, json_path: Path | None = None, *, strict: bool = False) -> int:
    """Measures, prints, writes the report.

    Returns:
        0 when everything ran and was correct, else 1; if ``strict``, 3 where a must is missed.
    """
    console = Console()
    target = json_path or BUILD_ROOT / "bench.json"
    engines = reference_manifests()
    load = (load_unit(engines),)
    ops = {"latencies": LATENCIES, "bytes": TIMED_BYTES}
    steps: tuple[tuple[str, str, dict[str, Any], tuple[Manifest, ...]], ...] = (
        ("copies through the bench", "HarnessBench", {"copies": HARNESS_COPIES}, load),
        (
            "the same with all engines in the build",
            "HarnessBench",
            {"copies": EVERYTHING_COPIES},
            engines,
        ),
        ("streams and other ops", "OpsBench", ops, engines),
        ("copies with the Python AXI memory", "PythonAxiBench", {"copies": AXI_COPIES}, load),
    )
    whole = Measurements()
    for number, (doc, class_name, options, manifests) in enumerate(steps, 1):
        console.say(f"bench    {number} of {len(steps)}: {doc} (builds first where needed)")
        name = f"bench-{class_name.lower()}"
        options = {**options, "repetitions": REPETITIONS}
        part, wrong = measure(name, class_name, seed, options, manifests)
        if wrong:
            console.say(f"FAIL bench: {doc}: {wrong}")
            return 1
        if manifests is engines:
            whole.everything += part.copies
        else:
            whole.copies += part.copies
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
    missed = [target.name for target in report.targets if not target.reached(target.must)]
    if strict and missed:
        console.say(f"FAIL bench: {counted(len(missed), 'must')} missed: {'; '.join(missed)}")
        return 3
    return 0


def _spread(copies: Sequence[Copies]) -> float:
    """Returns the widest distance between repetitions of one figure, in percent of its median."""
    groups: dict[tuple[str, int], list[float]] = {}
    for item in copies:
        groups.setdefault((item.way, item.bytes), []).append(item.microseconds)
    return max(
        100 * (max(values) - min(values)) / statistics.median(values) for values in groups.values()
    )
