# SPDX-License-Identifier: Apache-2.0
"""The one command line behind the Makefile: ``pto-dv`` or ``python -m tb``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from tb.errors import PtoError

app = typer.Typer(
    name="pto-dv",
    help="Co-verification of PTO DMA and FIXPIPE engines against a reference model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DEFAULT_SEED = 1

SimOption = Annotated[str, typer.Option("--sim", help="simulator, such as verilator or icarus")]
TestOption = Annotated[
    str, typer.Option("--test", help="a test of tests/plan.toml, or path/to/file.py:ClassName")
]
DutOption = Annotated[
    list[str] | None, typer.Option("--dut", help="manifests of your engines, separated by commas")
]
SeedOption = Annotated[str, typer.Option("--seed", help="seed of everything random")]
CountOption = Annotated[str | None, typer.Option("--n", help="transactions to send")]
OpsOption = Annotated[str, typer.Option("--ops", help="ops to draw from, separated by commas")]
WavesOption = Annotated[bool, typer.Option("--waves", help="record waveforms")]
GmWidthOption = Annotated[str, typer.Option("--gm-width", help="128, 256 or 512 bits")]
LocalWidthOption = Annotated[str, typer.Option("--local-width", help="128, 256 or 512 bits")]
TagWidthOption = Annotated[str, typer.Option("--tag-width", help="1 to 16 bits")]
OutstandingOption = Annotated[
    str, typer.Option("--outstanding", help="most AXI bursts in flight in each direction, 1 to 64")
]
GmOption = Annotated[str, typer.Option("--gm", help="who plays the GM: hdl or cocotbext")]
ConstraintsOption = Annotated[
    str, typer.Option("--constraints", help="Python file that narrows or reweights random ops")
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="where to write the record")]


def _integer(name: str, text: str, low: int, high: int, remedy: str) -> int:
    """Returns ``text`` as an integer within ``low..high``.

    Raises:
        PtoError: it is none, or out of range.
    """
    try:
        value = int(text, 0)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise PtoError(
            f"{name} is {text!r}", where=name, legal=f"an integer {low}..{high}", remedy=remedy
        )
    return value


@app.command()
def run(
    sim: SimOption = "verilator",
    test: TestOption = "random",
    seed: SeedOption = str(DEFAULT_SEED),
    n: CountOption = None,
    ops: OpsOption = "",
    waves: WavesOption = False,
    waves_from: Annotated[str, typer.Option(help="clock that waves begin with")] = "0",
    waves_to: Annotated[str, typer.Option(help="clock that waves end with, 0 for the end")] = "0",
    timeline: Annotated[
        bool, typer.Option("--timeline", help="write a timeline of all transactions")
    ] = False,
    code_coverage: Annotated[
        bool, typer.Option("--code-coverage", help="count code coverage of the engines")
    ] = False,
    gm_width: GmWidthOption = "256",
    local_width: LocalWidthOption = "256",
    tag_width: TagWidthOption = "8",
    outstanding: OutstandingOption = "16",
    dut: DutOption = None,
    gm: GmOption = "hdl",
    constraints: ConstraintsOption = "",
    json: JsonOption = None,
    wall_limit: Annotated[
        float, typer.Option(help="seconds without progress after which the simulator is ended")
    ] = 120.0,
    watchdog_clocks: Annotated[
        int, typer.Option(help="clocks without progress that count as a hang")
    ] = 200_000,
    mismatch_limit: Annotated[
        int, typer.Option(help="stop after so many mismatching transactions")
    ] = 10,
) -> None:
    """Build, run one test, print a summary; exit code 0 only when everything matched."""
    from tb.plan import planned_test
    from tb.record import RunSettings
    from tb.runner import run_once
    from tb.selection import parse_ops
    from tb.simulators import simulator

    planned = planned_test(test)
    simulator(sim)
    count = planned.transactions
    if n is not None:
        count = _integer("N", n, 1, 100_000_000, "N is the number of transactions")
    widths = {}
    for name, text in (("GM_WIDTH", gm_width), ("LOCAL_WIDTH", local_width)):
        if text not in ("128", "256", "512"):
            raise PtoError(f"{name} is {text!r}", where=name, legal="128, 256, 512")
        widths[name.lower()] = int(text)
    if gm not in ("hdl", "cocotbext"):
        raise PtoError(f"GM is {gm!r}", where="GM= or --gm", legal="hdl, cocotbext")
    try:
        settings = RunSettings.model_validate(
            {
                "sim": sim,
                "test": planned.name,
                "seed": _integer("SEED", seed, 0, 2**63 - 1, "SEED=7 repeats run 7"),
                "transactions": count,
                "ops": parse_ops(ops),
                **widths,
                "tag_width": _integer("TAG_WIDTH", tag_width, 1, 16, "the default is 8"),
                "outstanding": _integer("OUTSTANDING", outstanding, 1, 64, "the default is 16"),
                "duts": [name for text in dut or () for name in text.split(",") if name],
                "gm": gm,
                "constraints": constraints,
                "waves": waves,
                "waves_from": _integer("WAVES_FROM", waves_from, 0, 2**63 - 1, "0 is the start"),
                "waves_to": _integer("WAVES_TO", waves_to, 0, 2**63 - 1, "0 is the end"),
                "timeline": timeline,
                "code_coverage": code_coverage,
                "wall_limit": wall_limit,
                "watchdog_clocks": watchdog_clocks,
                "mismatch_limit": mismatch_limit,
                "options": planned.options,
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise PtoError(
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}", where="the options"
        ) from None
    record = run_once(settings, planned, json)
    raise typer.Exit(record.exit_code)


@app.command()
def tests() -> None:
    """List the tests that --test and TEST= take."""
    from tb.plan import load_plan

    for test in load_plan().values():
        length = "fixed" if test.fixed_length else f"N={test.transactions}"
        typer.echo(f"{test.name:<10} {length:<9} {test.doc}")


@app.command("check-dut")
def check_dut(
    manifests: Annotated[list[str], typer.Argument(help="manifests, or folders with a dut.toml")],
) -> None:
    """Hold the ports of your engines against the contract; needs no simulator."""
    from tb.ports import check_command

    raise typer.Exit(check_command(manifests))


@app.command("new-dut")
def new_dut(
    name: Annotated[str, typer.Argument(help="name of the engine and of its module")],
    slot: Annotated[str, typer.Option("--slot", help="mte1, mte2, mte3 or fix")],
    ops: Annotated[
        str, typer.Option("--ops", help="ops to begin with; otherwise the slot's first")
    ] = "",
    folder: Annotated[
        Path | None, typer.Option("--folder", help="where to write it; otherwise ./NAME")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="of the wrapper: sv or v (Verilog-2005)")
    ] = "sv",
) -> None:
    """Write manifest, wrapper and README of a new engine, which builds and fails its first op."""
    from tb.scaffold import new_dut_command

    raise typer.Exit(new_dut_command(name, slot, ops, folder, language))


@app.command()
def doctor(json: JsonOption = None) -> None:
    """Say what tools are found, which versions, what is missing and how to get it."""
    from tb.doctor import doctor_command

    raise typer.Exit(doctor_command(json))


@app.command()
def bench(seed: SeedOption = str(DEFAULT_SEED), json: JsonOption = None) -> None:
    """Measure the bench against the bare simulation and a per-beat Python AXI memory."""
    from tb.bench import bench_command

    path = json or Path("sim_build/bench.json")
    raise typer.Exit(bench_command(_integer("SEED", seed, 0, 2**63 - 1, "any integer"), path))


@app.command("prove-arith")
def prove_arith(
    unit: Annotated[str, typer.Option("--unit", help="units, separated by commas")] = "",
    begin: Annotated[str, typer.Option("--begin", help="first index of the sweeps")] = "0",
    end: Annotated[str, typer.Option("--end", help="index to stop before")] = str(1 << 32),
    stride: Annotated[str, typer.Option("--stride", help="try every so many")] = "1",
    jobs: Annotated[str | None, typer.Option("--jobs", help="processes at a time")] = None,
) -> None:
    """Compare the write-back arithmetic with the reference of tests/arith over all inputs."""
    from tb.prove import prove_command

    first = _integer("--begin", begin, 0, (1 << 32) - 1, "0x10000 is one way to write it")
    last = _integer("--end", end, first + 1, 1 << 32, "--end is above --begin")
    step = _integer("--stride", stride, 1, 1 << 32, "--stride 1 tries everything")
    count = os.cpu_count() or 1
    if jobs is not None:
        count = _integer("--jobs", jobs, 1, 256, "--jobs 2 uses two processor cores")
    raise typer.Exit(prove_command(unit, range(first, last, step), count))


RegressionOption = Annotated[
    str, typer.Option("--regression", help="regression of tests/testplan.toml")
]
FarmOption = Annotated[
    Path | None, typer.Option("--farm", help="file that says who works, see docs/farm.md")
]
PlanOption = Annotated[Path | None, typer.Option("--plan", help="a testplan of your own")]
DbOption = Annotated[str, typer.Option("--db", help="URL of the results database")]


@app.command()
def nightly(
    regression: RegressionOption = "nightly",
    seeds: Annotated[str, typer.Option("--seeds", help="seeds of each random test")] = "5",
    jobs: Annotated[str, typer.Option("--jobs", help="runs at a time, 0 for one a core")] = "0",
    budget: Annotated[str, typer.Option("--budget", help="time for all, such as 30m")] = "",
    seed: Annotated[str, typer.Option("--seed", help="seed that all seeds come from")] = "",
    dut: DutOption = None,
    farm: FarmOption = None,
    db: DbOption = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="begin a new night, finish none that is unfinished")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="keep folders of passing runs")] = False,
    plan: PlanOption = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="where nights are kept")] = None,
) -> None:
    """Run a regression over many seeds and write a page about it; exit code 0 if all passed."""
    from tb.nightly import NIGHTLY, TESTPLAN, NightlyOptions, nightly_command, seconds

    options = NightlyOptions(
        regression=regression,
        seeds=_integer("SEEDS", seeds, 1, 9999, "SEEDS=20 runs 20 seeds of each test"),
        jobs=_integer("JOBS", jobs, 0, 1024, "JOBS=2 uses two processor cores"),
        budget=seconds(budget) if budget else 0.0,
        base_seed=_integer("SEED", seed, 0, 2**63 - 1, "any integer") if seed else None,
        duts=tuple(name for text in dut or () for name in text.split(",") if name),
        farm=farm,
        db=db,
        fresh=fresh,
        keep=keep,
        plan=plan or TESTPLAN,
        folder=folder or NIGHTLY,
    )
    raise typer.Exit(nightly_command(options))


NightArgument = Annotated[str, typer.Argument(help="name of a night, such as 2026-11-21.1")]


@app.command()
def report(
    night: NightArgument = "latest",
    farm: FarmOption = None,
    db: DbOption = "",
    plan: PlanOption = None,
) -> None:
    """Write the pages of a night anew, from the database, and print where they are."""
    from tb.looking_back import report_command

    raise typer.Exit(report_command(night, farm, db, plan))


@app.command()
def history(
    limit: Annotated[str, typer.Option("--limit", help="nights to list")] = "20",
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """List nights, the latest first: results, coverage, throughput."""
    from tb.looking_back import history_command

    count = _integer("--limit", limit, 1, 10_000, "--limit 20 lists the last 20")
    raise typer.Exit(history_command(count, farm, db))


@app.command()
def diff(
    before: NightArgument, after: NightArgument, farm: FarmOption = None, db: DbOption = ""
) -> None:
    """Say what moved between two nights: failures, coverage won and lost, throughput."""
    from tb.looking_back import diff_command

    raise typer.Exit(diff_command(before, after, farm, db))


@app.command()
def rerun(
    run_id: Annotated[str, typer.Argument(help="number of a run, as pages and tables show it")],
    waves: WavesOption = False,
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """Repeat a run of the database as it was; --waves records the failure."""
    from tb.looking_back import rerun_command

    number = _integer("RUN_ID", run_id, 1, 2**63 - 1, "the report shows the number of each run")
    raise typer.Exit(rerun_command(number, waves, farm, db))


@app.command("farm")
def farm_check(
    file: Annotated[Path, typer.Argument(help="a farm file")],
    script: Annotated[bool, typer.Option("--script", help="print the job script")] = False,
) -> None:
    """Check a file that says who works, see docs/farm.md; print a cluster's job script."""
    from tb.regress.farm import farm_command

    raise typer.Exit(farm_command(file, script))


def main() -> None:
    """Entry point: user errors end with one clear message and their exit code."""
    try:
        app()
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
