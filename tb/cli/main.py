# SPDX-License-Identifier: Apache-2.0
"""The command line of the Makefile: ``pto-dv`` or ``python -m tb``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tb.cli.options import (
    DEFAULT_SEED,
    CodeCoverageOption,
    ConstraintsOption,
    CountOption,
    DutOption,
    GmOption,
    GmWidthOption,
    JsonOption,
    LocalWidthOption,
    MismatchLimitOption,
    OpsOption,
    OutstandingOption,
    ReproOption,
    SeedOption,
    SimOption,
    TagWidthOption,
    TestOption,
    TimelineOption,
    WallLimitOption,
    WatchdogOption,
    WavesFromOption,
    WavesOption,
    WavesToOption,
    integer,
    machine,
    settings_errors,
    transaction_numbers,
)
from tb.common.errors import PtoError

app = typer.Typer(
    name="pto-dv",
    help="Co-verification of PTO DMA and FIXPIPE engines against a reference model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def run(
    sim: SimOption = "verilator",
    test: TestOption = "random",
    seed: SeedOption = str(DEFAULT_SEED),
    n: CountOption = None,
    ops: OpsOption = "",
    waves: WavesOption = False,
    waves_from: WavesFromOption = "0",
    waves_to: WavesToOption = "0",
    timeline: TimelineOption = False,
    code_coverage: CodeCoverageOption = False,
    gm_width: GmWidthOption = "256",
    local_width: LocalWidthOption = "256",
    tag_width: TagWidthOption = "8",
    outstanding: OutstandingOption = "16",
    dut: DutOption = None,
    gm: GmOption = "hdl",
    constraints: ConstraintsOption = "",
    repro: ReproOption = "",
    json: JsonOption = None,
    wall_limit: WallLimitOption = 120.0,
    watchdog_clocks: WatchdogOption = 200_000,
    mismatch_limit: MismatchLimitOption = 10,
) -> None:
    """Build, run one test, print a summary; exit code 0 only when everything matched."""
    from tb.dut.selection import parse_ops
    from tb.record.settings import RunSettings
    from tb.run.plan import planned_test
    from tb.run.run import run_once

    planned = planned_test(test)
    fields = machine(
        sim, gm_width, local_width, tag_width, outstanding, dut, gm, waves_from, waves_to
    )
    count = planned.transactions
    if n is not None:
        count = integer("N", n, 1, 100_000_000, "N is the number of transactions")
    with settings_errors():
        settings = RunSettings.model_validate(
            {
                **fields,
                "test": planned.name,
                "seed": integer("SEED", seed, 0, 2**63 - 1, "SEED=7 repeats run 7"),
                "transactions": count,
                "ops": parse_ops(ops),
                "constraints": constraints,
                "repro": transaction_numbers(repro),
                "waves": waves,
                "timeline": timeline,
                "code_coverage": code_coverage,
                "wall_limit": wall_limit,
                "watchdog_clocks": watchdog_clocks,
                "mismatch_limit": mismatch_limit,
                "options": planned.options,
            }
        )
    record = run_once(settings, planned, json)
    raise typer.Exit(record.exit_code)


@app.command()
def program(
    files: Annotated[
        list[str] | None, typer.Argument(help="programs, or folders with programs")
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            help="N=VALUE for argument N: a number, a file, zeros:BYTES, ones:BYTES, empty:BYTES, "
            "random:BYTES, pattern:SEED:BYTES or hex:DIGITS; @ADDRESS after it fixes a buffer",
        ),
    ] = None,
    out: Annotated[
        list[str] | None, typer.Option("--out", help="N=FILE: where the buffer of N is written")
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option("--load", help="MEMORY@ADDRESS=DATA, data as of --arg")
    ] = None,
    dump: Annotated[
        list[str] | None, typer.Option("--dump", help="MEMORY@ADDRESS:LENGTH=FILE")
    ] = None,
    knobs: Annotated[
        list[str] | None, typer.Option("--knobs", help="a=1,b=2: latencies and stalls")
    ] = None,
    function: Annotated[str, typer.Option("--function", help="the function to run")] = "",
    foreign: Annotated[str, typer.Option("--foreign", help="refuse or skip foreign ops")] = "",
    illegal: Annotated[
        str, typer.Option("--illegal", help="refuse or send ops that break a D rule")
    ] = "",
    setup: Annotated[
        str, typer.Option("--setup", help="setup file; otherwise NAME.toml beside NAME.pto")
    ] = "",
    sim: SimOption = "verilator",
    seed: Annotated[
        str, typer.Option("--seed", help="seed; otherwise that of the setup file, or 1")
    ] = "",
    waves: WavesOption = False,
    waves_from: WavesFromOption = "0",
    waves_to: WavesToOption = "0",
    timeline: TimelineOption = False,
    code_coverage: CodeCoverageOption = False,
    gm_width: GmWidthOption = "256",
    local_width: LocalWidthOption = "256",
    tag_width: TagWidthOption = "8",
    outstanding: OutstandingOption = "16",
    dut: DutOption = None,
    gm: GmOption = "hdl",
    json: JsonOption = None,
    wall_limit: WallLimitOption = 120.0,
    watchdog_clocks: WatchdogOption = 200_000,
    mismatch_limit: MismatchLimitOption = 10,
) -> None:
    """Replay programs on engines and model; exit code 0 only when everything matched."""
    from tb.programs.command import program_command
    from tb.programs.options import ProgramOptions

    fields = machine(
        sim, gm_width, local_width, tag_width, outstanding, dut, gm, waves_from, waves_to
    )
    fields.update(
        waves=waves,
        timeline=timeline,
        code_coverage=code_coverage,
        wall_limit=wall_limit,
        watchdog_clocks=watchdog_clocks,
        mismatch_limit=mismatch_limit,
    )
    options = ProgramOptions(
        args=tuple(arg or ()),
        outs=tuple(out or ()),
        loads=tuple(load or ()),
        dumps=tuple(dump or ()),
        knobs=tuple(knobs or ()),
        function=function,
        foreign=foreign,
        illegal=illegal,
        setup=setup,
        seed=integer("SEED", seed, 0, 2**63 - 1, "SEED=7 repeats run 7") if seed else None,
    )
    with settings_errors():
        code = program_command(files or (), options, fields, json)
    raise typer.Exit(code)


@app.command()
def verify(
    files: Annotated[list[str], typer.Argument(help=".pto files, or folders that hold some")],
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", help="N=VALUE: argument N of the functions that have it"),
    ] = None,
    foreign: Annotated[
        str, typer.Option("--foreign", help="skip: foreign ops are no errors")
    ] = "refuse",
    json: JsonOption = None,
) -> None:
    """Check programs without a simulator: text, rules, flags and hazards that constants decide."""
    from tb.programs.verify import verify_command

    raise typer.Exit(verify_command(files, arg or (), foreign, json))


@app.command()
def tests() -> None:
    """List the tests that --test and TEST= take."""
    from tb.run.plan import load_plan

    for test in load_plan().values():
        length = "fixed" if test.fixed_length else f"N={test.transactions}"
        typer.echo(f"{test.name:<10} {length:<9} {test.doc}")


@app.command("check-dut")
def check_dut(
    manifests: Annotated[list[str], typer.Argument(help="manifests, or folders with a dut.toml")],
) -> None:
    """Hold the ports of your engines against the contract; needs no simulator."""
    from tb.dut.ports import check_command

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
    from tb.dut.scaffold import new_dut_command

    raise typer.Exit(new_dut_command(name, slot, ops, folder, language))


@app.command()
def doctor(json: JsonOption = None) -> None:
    """Say what tools are found, which versions, what is missing and how to get it."""
    from tb.setup.doctor import doctor_command

    raise typer.Exit(doctor_command(json))


@app.command()
def bench(seed: SeedOption = str(DEFAULT_SEED), json: JsonOption = None) -> None:
    """Measure the bench against the bare simulation and a per-beat Python AXI memory."""
    from tb.benchmark.measure import bench_command

    path = json or Path("sim_build/bench.json")
    raise typer.Exit(bench_command(integer("SEED", seed, 0, 2**63 - 1, "any integer"), path))


@app.command("prove-arith")
def prove_arith(
    unit: Annotated[str, typer.Option("--unit", help="units, separated by commas")] = "",
    begin: Annotated[str, typer.Option("--begin", help="first index of the sweeps")] = "0",
    end: Annotated[str, typer.Option("--end", help="index to stop before")] = str(1 << 32),
    stride: Annotated[str, typer.Option("--stride", help="try every so many")] = "1",
    jobs: Annotated[str | None, typer.Option("--jobs", help="processes at a time")] = None,
) -> None:
    """Compare the write-back arithmetic with the reference of tests/prove over all inputs."""
    from tb.prove.prove import prove_command

    first = integer("--begin", begin, 0, (1 << 32) - 1, "0x10000 is one way to write it")
    last = integer("--end", end, first + 1, 1 << 32, "--end is above --begin")
    step = integer("--stride", stride, 1, 1 << 32, "--stride 1 tries everything")
    count = os.cpu_count() or 1
    if jobs is not None:
        count = integer("--jobs", jobs, 1, 256, "--jobs 2 uses two processor cores")
    raise typer.Exit(prove_command(unit, range(first, last, step), count))


RegressionOption = Annotated[
    str, typer.Option("--regression", help="regression of tb/regress/plan/testplan.toml")
]
FarmOption = Annotated[
    Path | None, typer.Option("--farm", help="workers and database, see docs/farm.md")
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
        bool, typer.Option("--fresh", help="begin a new regression run, do not resume one")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="keep folders of passing runs")] = False,
    plan: PlanOption = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="folder of results")] = None,
) -> None:
    """Run a regression over many seeds and write a page about it; exit code 0 if all passed."""
    from tb.nightly.command import NIGHTLY, TESTPLAN, NightlyOptions, nightly_command, seconds

    options = NightlyOptions(
        regression=regression,
        seeds=integer("SEEDS", seeds, 1, 9999, "SEEDS=20 runs 20 seeds of each test"),
        jobs=integer("JOBS", jobs, 0, 1024, "JOBS=2 uses two processor cores"),
        budget=seconds(budget) if budget else 0.0,
        base_seed=integer("SEED", seed, 0, 2**63 - 1, "any integer") if seed else None,
        duts=tuple(name for text in dut or () for name in text.split(",") if name),
        farm=farm,
        db=db,
        fresh=fresh,
        keep=keep,
        plan=plan or TESTPLAN,
        folder=folder or NIGHTLY,
    )
    raise typer.Exit(nightly_command(options))


NightArgument = Annotated[str, typer.Argument(help="regression run, such as 2026-11-21.1")]


@app.command()
def report(
    night: NightArgument = "latest",
    farm: FarmOption = None,
    db: DbOption = "",
    plan: PlanOption = None,
) -> None:
    """Write the pages of a regression run again, from the database, and print their path."""
    from tb.nightly.history import report_command

    raise typer.Exit(report_command(night, farm, db, plan))


@app.command()
def history(
    limit: Annotated[str, typer.Option("--limit", help="regression runs to list")] = "20",
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """List regression runs, the latest first: results, coverage, throughput."""
    from tb.nightly.history import history_command

    count = integer("--limit", limit, 1, 10_000, "--limit 20 lists the last 20")
    raise typer.Exit(history_command(count, farm, db))


@app.command()
def diff(
    before: NightArgument, after: NightArgument, farm: FarmOption = None, db: DbOption = ""
) -> None:
    """Print the changes between two regression runs: failures, coverage, throughput."""
    from tb.nightly.history import diff_command

    raise typer.Exit(diff_command(before, after, farm, db))


@app.command()
def rerun(
    run_id: Annotated[str, typer.Argument(help="number of a run, as pages and tables show it")],
    waves: WavesOption = False,
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """Repeat a run of the database as it was; --waves records the failure."""
    from tb.nightly.history import rerun_command

    number = integer("RUN_ID", run_id, 1, 2**63 - 1, "the report shows the number of each run")
    raise typer.Exit(rerun_command(number, waves, farm, db))


@app.command("farm")
def farm_check(
    file: Annotated[Path, typer.Argument(help="a farm file")],
    script: Annotated[bool, typer.Option("--script", help="print the job script")] = False,
) -> None:
    """Check a file that says who works, see docs/farm.md; print a cluster's job script."""
    from tb.regress.workers.farm import farm_command

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
