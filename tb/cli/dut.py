# SPDX-License-Identifier: Apache-2.0
"""Commands about a user's engines: ``check-dut`` and ``new-dut``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def check_dut(
    manifests: Annotated[list[str], typer.Argument(help="manifests, or folders with a dut.toml")],
) -> None:
    """Hold the ports of your engines against the contract; needs no simulator."""
    from tb.dut.ports import check_command

    raise typer.Exit(check_command(manifests))


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
