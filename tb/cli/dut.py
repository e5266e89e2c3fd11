# SPDX-License-Identifier: Apache-2.0
"""Commands about a user's engines: ``check-dut``, ``prove``, ``qualify`` and ``new-dut``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tb.cli import options as opt
from tb.common.errors import PtoError
from tb.common.text import comma_list

LEAST_BUDGET = 30
"""Least seconds of a budget of ``qualify``."""


def check_dut(
    manifests: Annotated[list[str], typer.Argument(help="manifests, or folders with a dut.toml")],
) -> None:
    """Check the ports of a DUT against the contract (no simulator)."""
    from tb.dut.ports import check_command

    raise typer.Exit(check_command(manifests))


def prove(
    manifest: Annotated[str, typer.Argument(help="a manifest, or a folder with a dut.toml")],
    depth: Annotated[str, typer.Option("--depth", help="clocks after the reset")] = "14",
    seconds: Annotated[
        str, typer.Option("--seconds", help="limit of the circuit, and of the search")
    ] = "300",
    rules: Annotated[
        str, typer.Option("--rules", help="rules of docs/protocol.md, separated by commas")
    ] = "",
    gm_width: opt.GmWidth = "",
    local_width: opt.LocalWidth = "",
    tag_width: opt.TagWidth = "",
    outstanding: opt.Outstanding = "2",
) -> None:
    """Search for protocol violations in every behaviour of the first clocks (bounded)."""
    from tb.dut.manifest import load_manifest
    from tb.prove.dut import narrow, prove_command

    widths = opt.width_numbers(gm_width, local_width, tag_width)
    loaded = load_manifest(Path(manifest))
    code = prove_command(
        loaded,
        narrow(loaded, *widths),
        opt.integer("--outstanding", outstanding, 1, 64, "leave it out for --outstanding 2"),
        opt.integer("--depth", depth, 1, 1000, "leave it out for --depth 14"),
        opt.integer("--seconds", seconds, 1, 1 << 20, "leave it out for --seconds 300"),
        rules,
    )
    raise typer.Exit(code)


def qualify(
    dut: opt.Dut = None,
    count: Annotated[str, typer.Option("--n", help="mutants, of all engines together")] = "400",
    seed: opt.Seed = str(opt.DEFAULT_SEED),
    budget: Annotated[
        str, typer.Option("--budget", help="time after which no other one begins, such as 30m")
    ] = "",
    jobs: Annotated[str, typer.Option("--jobs", help="processes")] = "",
    tests: Annotated[
        str, typer.Option("--tests", help="tests to run, separated by commas, in this order")
    ] = "",
    profile: opt.Profile = "",
    gm_width: opt.GmWidth = "",
    local_width: opt.LocalWidth = "",
    tag_width: opt.TagWidth = "",
) -> None:
    """Inject faults into a DUT, or the reference engines, and report the detection rate."""
    from tb.dut.manifest import load_manifests, reference_manifests
    from tb.dut.widths import run_widths
    from tb.qualify.command import qualify_command
    from tb.qualify.mutants import MOST

    widths = opt.width_numbers(gm_width, local_width, tag_width)
    manifests = load_manifests(opt.manifest_names(dut)) or reference_manifests()
    cores = os.cpu_count() or 1
    code = qualify_command(
        manifests,
        run_widths(manifests, *widths),
        profile,
        opt.integer("--n", count, 1, MOST, "leave it out for --n 400"),
        opt.integer("--seed", seed, 0, (1 << 31) - 1, "leave it out for --seed 1"),
        least_budget(budget),
        opt.integer("--jobs", jobs or str(cores), 1, 256, "leave it out for one for each core"),
        comma_list(tests, "--tests", "--tests", "tests of --help, separated by commas"),
    )
    raise typer.Exit(code)


def least_budget(budget: str) -> float:
    """Returns the seconds of ``--budget`` of ``qualify``; 0 for none.

    Raises:
        PtoError: it is not a time, or too short for one mutant.
    """
    from tb.nightly.command import seconds

    found = seconds(budget) if budget else 0.0
    if 0 < found < LEAST_BUDGET:
        raise PtoError(
            f"BUDGET is {budget!r}: {found:.0f} s end before the first mutant is judged",
            where="BUDGET= or --budget",
            legal=f"{LEAST_BUDGET} s or more",
            remedy="give more time, such as BUDGET=30m, or fewer mutants with N=",
        )
    return found


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
    profile: Annotated[
        str, typer.Option("--profile", help="profile that it will follow: seed, a5, single knobs")
    ] = "",
) -> None:
    """Write manifest, wrapper and README of a new engine, which builds and fails its first op."""
    from tb.dut.scaffold import new_dut_command

    raise typer.Exit(new_dut_command(name, slot, ops, folder, language, profile))
