# SPDX-License-Identifier: Apache-2.0
"""Commands about regressions: what is planned and counted, ``nightly``, and its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tb.cli import options as opt

FarmOption = Annotated[
    Path | None, typer.Option("--farm", help="workers and database, see docs/farm.md")
]
PlanOption = Annotated[Path | None, typer.Option("--plan", help="a testplan of your own")]
DbOption = Annotated[
    str, typer.Option("--db", help="URL of the results database", callback=opt.given)
]
RegressionArgument = Annotated[str, typer.Argument(help="regression run, such as 2026-11-21.1")]


def testplan() -> None:
    """Print what is to be verified, by which tests, in which regressions, as Markdown."""
    from tb.regress.queries.document import page_text

    typer.echo(page_text(), nl=False)


def coverage_table() -> None:
    """Print every group, point, bin and cross of the functional coverage, as Markdown."""
    from tb.coverage.document import page_text

    typer.echo(page_text(), nl=False)


def nightly(
    regression: Annotated[
        str, typer.Option("--regression", help="regression of tb/regress/plan/testplan.toml")
    ] = "nightly",
    seeds: Annotated[str, typer.Option("--seeds", help="seeds of each random test")] = "5",
    jobs: Annotated[str, typer.Option("--jobs", help="runs at a time, 0 for one a core")] = "0",
    budget: Annotated[str, typer.Option("--budget", help="time for all, such as 30m")] = "",
    seed: Annotated[str, typer.Option("--seed", help="seed that all seeds come from")] = "",
    dut: opt.Dut = None,
    profile: opt.Profile = "",
    farm: FarmOption = None,
    db: DbOption = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="begin a new regression run, do not resume one")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="keep folders of passing runs")] = False,
    plan: PlanOption = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="folder of results")] = None,
    items: Annotated[
        str, typer.Option("--items", help="runs to do, a comma list of names with * and ?")
    ] = "",
    max_fail: Annotated[
        str, typer.Option("--max-fail", help="failing runs after which no other begins")
    ] = "0",
    retain: Annotated[
        str, typer.Option("--retain", help="regression runs to keep of each regression, 0 for all")
    ] = "0",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="list the runs, run nothing")] = False,
) -> None:
    """Run a regression over many seeds and write a page about it; exit code 0 if all passed."""
    from tb.dut.profiles import profile_text
    from tb.nightly.command import NIGHTLY, TESTPLAN, NightlyOptions, nightly_command, seconds

    options = NightlyOptions(
        regression=regression,
        seeds=opt.integer("SEEDS", seeds, 1, 9999, "SEEDS=20 runs 20 seeds of each test"),
        jobs=opt.integer("JOBS", jobs, 0, 1024, "JOBS=2 uses two processor cores"),
        budget=seconds(budget) if budget else 0.0,
        base_seed=opt.integer("SEED", seed, 0, 2**63 - 1, "any integer") if seed else None,
        duts=opt.manifest_names(dut),
        profile=profile_text(profile),
        farm=farm,
        db=db,
        fresh=fresh,
        keep=keep,
        plan=plan or TESTPLAN,
        folder=folder or NIGHTLY,
        items=tuple(filter(None, map(str.strip, items.split(",")))),
        most_failed=opt.integer("MAX_FAIL", max_fail, 0, 10**6, "MAX_FAIL=10 ends after ten"),
        retain=opt.integer("RETAIN", retain, 0, 10**6, "RETAIN=30 keeps the newest thirty"),
        dry_run=dry_run,
    )
    raise typer.Exit(nightly_command(options))


def report(
    regression_run: RegressionArgument = "latest",
    farm: FarmOption = None,
    db: DbOption = "",
    plan: PlanOption = None,
    tests: Annotated[
        Path | None, typer.Option("--tests", help="JUnit XML of pytest, for the testplan")
    ] = None,
    faults: Annotated[
        Path | None, typer.Option("--faults", help="qualify.json, for the rate of planted faults")
    ] = None,
) -> None:
    """Write the pages of a regression run again, from the database, and print their path."""
    from tb.nightly.history import report_command

    raise typer.Exit(report_command(regression_run, farm, db, plan, tests, faults))


def course(
    records: Annotated[list[Path], typer.Argument(help="record.json of long runs")],
    out: Annotated[
        Path | None, typer.Option("--out", help="the picture, SVG; sim_build/course.svg")
    ] = None,
) -> None:
    """Print and draw the memory and the speed of long runs over their transactions."""
    from tb.common.paths import BUILD_ROOT
    from tb.report.course import course_command

    raise typer.Exit(course_command(records, out or BUILD_ROOT / "course.svg"))


def history(
    limit: Annotated[str, typer.Option("--limit", help="regression runs to list")] = "20",
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """List regression runs, the latest first: results, coverage, throughput."""
    from tb.nightly.history import history_command

    count = opt.integer("--limit", limit, 1, 10_000, "--limit 20 lists the last 20")
    raise typer.Exit(history_command(count, farm, db))


def diff(
    before: RegressionArgument,
    after: RegressionArgument,
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """Print the changes between two regression runs: failures, coverage, throughput."""
    from tb.nightly.history import diff_command

    raise typer.Exit(diff_command(before, after, farm, db))


def prune(
    keep: Annotated[str, typer.Argument(help="regression runs to keep of each regression")],
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """Remove all but the newest regression runs of each regression, with their folders."""
    from tb.nightly.history import prune_command

    number = opt.integer("KEEP", keep, 1, 10**6, "pto-dv prune 30 keeps the newest thirty")
    raise typer.Exit(prune_command(number, farm, db))


def rerun(
    run_id: Annotated[str, typer.Argument(help="number of a run, as pages and tables show it")],
    waves: opt.Waves = False,
    farm: FarmOption = None,
    db: DbOption = "",
) -> None:
    """Repeat a run of the database as it was; --waves records the failure."""
    from tb.nightly.history import rerun_command

    number = opt.integer("RUN_ID", run_id, 1, 2**63 - 1, "the report shows the number of each run")
    raise typer.Exit(rerun_command(number, waves, farm, db))


def farm_check(
    file: Annotated[Path, typer.Argument(help="a farm file")],
    script: Annotated[bool, typer.Option("--script", help="print the job script")] = False,
) -> None:
    """Check a farm file (docs/farm.md); print the job script of a cluster."""
    from tb.regress.workers.farm import farm_command

    raise typer.Exit(farm_command(file, script))
