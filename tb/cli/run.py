# SPDX-License-Identifier: Apache-2.0
"""Commands about one run: ``run`` and the list of its ``tests``."""

from __future__ import annotations

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
    ProfileOption,
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
    profile: ProfileOption = "",
    gm: GmOption = "hdl",
    constraints: ConstraintsOption = "",
    repro: ReproOption = "",
    json: JsonOption = None,
    wall_limit: WallLimitOption = 120.0,
    watchdog_clocks: WatchdogOption = None,
    mismatch_limit: MismatchLimitOption = 10,
) -> None:
    """Build, run one test, print a summary; exit code 0 only when everything matched."""
    from tb.dut.selection import parse_ops
    from tb.record.settings import RunSettings
    from tb.run.run import run_once
    from tb.run.testlist import planned_test

    planned = planned_test(test)
    fields = machine(
        sim, gm_width, local_width, tag_width, outstanding, dut, gm, waves_from, waves_to, profile
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


def tests() -> None:
    """List the tests that --test and TEST= take."""
    from tb.run.testlist import load_plan

    for test in load_plan().values():
        length = "fixed" if test.fixed_length else f"N={test.transactions}"
        typer.echo(f"{test.name:<10} {length:<9} {test.doc}")
