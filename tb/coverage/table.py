# SPDX-License-Identifier: Apache-2.0
"""Coverage as a plain-text table with its holes."""

from __future__ import annotations

from tb.common.text import percent_text
from tb.coverage.model import Coverage, GroupCounts

WIDTH = 100
"""Columns of a line; long lists of holes are broken here."""


def _line(counts: GroupCounts, name: str, kind: str) -> str:
    mask = counts.wanted(name)
    total = int(mask.sum())
    covered = int(((counts.hits[name] > 0) & mask).sum())
    percent = 100.0 * covered / total if total else 100.0
    return f"  {kind:5} {name:28} {covered:6d} / {total:<6d} {percent_text(percent):>6} %"


def _holes(counts: GroupCounts, name: str, most: int) -> list[str]:
    holes = counts.holes(name)
    lines: list[str] = []
    text = "        holes:"
    for hole in holes[:most]:
        if len(text) + len(hole) + 2 > WIDTH:
            lines.append(text)
            text = "              "
        text += f" {hole};"
    if len(holes) > most:
        text += f" and {len(holes) - most} more"
    return [*lines, text] if holes else []


def odd(coverage: Coverage) -> list[str]:
    """Returns a line for each hit that no run should have."""
    return [
        *(f"hit though declared unreachable: {text}" for text in coverage.impossible),
        *(f"hit though excluded: {text}" for text in coverage.excluded_hits),
    ]


def table(coverage: Coverage, *, holes: int = 12, complete: bool = True) -> str:
    """Returns one line per coverpoint and cross, under a line per group, and the total.

    Args:
        coverage: What to print.
        holes: Most holes named per coverpoint or cross.
        complete: Also print items without holes.
    """
    lines: list[str] = []
    for name, counts in coverage.groups.items():
        lines.append(
            f"{name}: {counts.covered} of {counts.total} bins, {percent_text(counts.percent, 2)} %"
        )
        items = [(item.name, "point") for item in counts.group.points]
        items += [(item.name, "cross") for item in counts.group.crosses]
        for item, kind in items:
            missing = _holes(counts, item, holes)
            if missing or (complete and counts.wanted(item).any()):
                lines.append(_line(counts, item, kind))
                lines.extend(missing)
    lines += odd(coverage)
    lines.append(
        f"total: {coverage.covered} of {coverage.total} bins, {percent_text(coverage.percent, 2)} %"
    )
    return "\n".join(lines)
