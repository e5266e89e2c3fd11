# SPDX-License-Identifier: Apache-2.0
"""Commands about one run: ``run`` and the list of its ``tests``."""

from __future__ import annotations

import typer

from tb.cli import options as opt


def run(
    sim: opt.Sim = "verilator",
    test: opt.Test = "random",
    seed: opt.Seed = str(opt.DEFAULT_SEED),
    n: opt.Count = None,
    ops: opt.Ops = "",
    waves: opt.Waves = False,
    waves_from: opt.WavesFrom = "0",
    waves_to: opt.WavesTo = "0",
    timeline: opt.Timeline = False,
    code_coverage: opt.CodeCoverage = False,
    gm_width: opt.GmWidth = "",
    local_width: opt.LocalWidth = "",
    tag_width: opt.TagWidth = "",
    outstanding: opt.Outstanding = "16",
    dut: opt.Dut = None,
    profile: opt.Profile = "",
    gm: opt.Gm = "hdl",
    constraints: opt.Constraints = "",
    repro: opt.Repro = "",
    json: opt.Json = None,
    wall_limit: opt.WallLimit = 120.0,
    watchdog_clocks: opt.Watchdog = None,
    mismatch_limit: opt.MismatchLimit = 10,
) -> None:
    """Build, run one test, print a summary; exit code 0 only when everything matched."""
    from tb.dut.selection import parse_ops
    from tb.record.settings import RunSettings
    from tb.run.run import run_once
    from tb.run.testlist import planned_test

    planned = planned_test(test)
    fields = opt.machine(
        sim,
        gm_width,
        local_width,
        tag_width,
        outstanding,
        dut,
        gm,
        waves_from,
        waves_to,
        profile,
        waves=waves,
    )
    count = planned.transactions
    if n is not None:
        count = opt.integer("N", n, 1, 100_000_000, f"leave it out for N={planned.transactions}")
    numbers = opt.transaction_numbers(repro, None if planned.fixed_length else count)
    with opt.settings_errors():
        settings = RunSettings.model_validate(
            {
                **fields,
                "test": planned.name,
                "seed": opt.integer("SEED", seed, 0, 2**63 - 1, "SEED=7 repeats run 7"),
                "transactions": count,
                "ops": parse_ops(ops),
                "constraints": constraints,
                "repro": numbers,
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
