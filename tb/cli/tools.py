# SPDX-License-Identifier: Apache-2.0
"""Commands about the bench itself: ``doctor``, ``bench``, ``prove-arith``, ``outside``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tb.cli import options as opt
from tb.common.errors import PtoError


def doctor(
    json: opt.Json = None,
    op: Annotated[
        str, typer.Option("--op", help="list the places that lack an op with a row", metavar="NAME")
    ] = "",
) -> None:
    """List the tools found, their versions, and how to install what is missing."""
    if op:
        if json:
            raise PtoError(
                "--json with --op", where="--json", legal="--json alone, or --op NAME alone",
                remedy="leave one of them out",
            )  # fmt: skip
        from tb.dut.op_places import op_command

        raise typer.Exit(op_command(op))
    from tb.setup.doctor import doctor_command

    raise typer.Exit(doctor_command(json))


def bench(
    seed: opt.Seed = str(opt.DEFAULT_SEED),
    json: opt.Json = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="end with 3 where a must of the budget is missed")
    ] = False,
) -> None:
    """Measure the bench against the bare simulation and a per-beat Python AXI memory."""
    from tb.benchmark.measure import bench_command

    path = json or Path("sim_build/bench.json")
    number = opt.integer("SEED", seed, 0, 2**63 - 1, "any integer")
    raise typer.Exit(bench_command(number, path, strict=strict))


def prove_arith(
    unit: Annotated[str, typer.Option("--unit", help="units, separated by commas")] = "",
    begin: Annotated[str, typer.Option("--begin", help="first index of the sweeps")] = "0",
    end: Annotated[str, typer.Option("--end", help="index to stop before")] = str(1 << 32),
    stride: Annotated[str, typer.Option("--stride", help="try every so many")] = "1",
    jobs: Annotated[str | None, typer.Option("--jobs", help="processes at a time")] = None,
) -> None:
    """Compare the write-back arithmetic with the reference of tb/prove over all inputs."""
    from tb.prove.prove import prove_command

    first = opt.integer("--begin", begin, 0, (1 << 32) - 1, "0x10000 is one way to write it")
    last = opt.integer("--end", end, first + 1, 1 << 32, "--end is above --begin")
    step = opt.integer("--stride", stride, 1, 1 << 32, "--stride 1 tries everything")
    count = os.cpu_count() or 1
    if jobs is not None:
        count = opt.integer("--jobs", jobs, 1, 256, "--jobs 2 uses two processor cores")
    raise typer.Exit(prove_command(unit, range(first, last, step), count))


def outside(
    profile: opt.Profile = "",
    writeback: Annotated[
        Path | None,
        typer.Option("--writeback", help="a whole writeback.csv, in place of the one kept here"),
    ] = None,
    json: opt.Json = None,
) -> None:
    """Compare the reference model with results of reference code of others."""
    from tb.dut.profiles import profile_text
    from tb.outside.command import outside_command

    raise typer.Exit(outside_command(profile_text(profile), writeback, json))
