# SPDX-License-Identifier: Apache-2.0
"""Commands about a user's engines: ``check-dut``, ``prove`` and ``new-dut``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tb.cli import options as opt


def check_dut(
    manifests: Annotated[list[str], typer.Argument(help="manifests, or folders with a dut.toml")],
) -> None:
    """Hold the ports of your engines against the contract; needs no simulator."""
    from tb.dut.ports import check_command

    raise typer.Exit(check_command(manifests))


def prove(
    manifest: Annotated[str, typer.Argument(help="a manifest, or a folder with a dut.toml")],
    depth: Annotated[str, typer.Option("--depth", help="clocks after the reset")] = "14",
    seconds: Annotated[str, typer.Option("--seconds", help="limit of the search")] = "60",
    rules: Annotated[
        str, typer.Option("--rules", help="rules of docs/protocol.md, separated by commas")
    ] = "",
    gm_width: opt.GmWidth = "",
    local_width: opt.LocalWidth = "",
    tag_width: opt.TagWidth = "",
    outstanding: opt.Outstanding = "2",
) -> None:
    """Search violations of the protocol by your engine in all behaviours of a few clocks."""
    from tb.dut.manifest import load_manifest
    from tb.prove.dut import narrow, prove_command

    widths = [
        opt.integer(name, text, low, high, f"leave {name} out for the narrowest") if text else None
        for name, text, low, high in (
            ("--gm-width", gm_width, 128, 512),
            ("--local-width", local_width, 128, 512),
            ("--tag-width", tag_width, 1, 16),
        )
    ]
    loaded = load_manifest(Path(manifest))
    code = prove_command(
        loaded,
        narrow(loaded, *widths),
        opt.integer("--outstanding", outstanding, 1, 64, "--outstanding 2 is the default"),
        opt.integer("--depth", depth, 1, 1000, "--depth 14 is the default"),
        opt.integer("--seconds", seconds, 1, 1 << 20, "--seconds 300 searches longer"),
        rules,
    )
    raise typer.Exit(code)


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
