# SPDX-License-Identifier: Apache-2.0
"""Generates ``docs/coverage-table.md`` from the coverage: ``python -m tb.coverage.document``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from tb.coverage.dma import DmaCoverage
from tb.coverage.dma_view import FORMS
from tb.coverage.model import CoverGroup, Coverpoint, Cross

PAGE = Path("docs/coverage-table.md")
"""Where the generated page stands, from the top of the project."""

GM_BYTES = 32
"""GM bus width of the page, the default of ``GM_WIDTH``."""

_LISTED = 8


def _labels(labels: Sequence[str]) -> str:
    """Returns bin names in a row; a long row of successive numbers by its ends."""
    numbers = [int(label) for label in labels if label.isdigit()]
    if len(numbers) == len(labels) > _LISTED and all(b - a == 1 for a, b in pairwise(numbers)):
        return f"`{labels[0]}` `{labels[1]}` ... `{labels[-1]}`"
    return " ".join(f"`{label}`" for label in labels)


def _where(groups: Sequence[str], every: Sequence[str]) -> str:
    return "all" if list(groups) == list(every) else ", ".join(f"`{name}`" for name in groups)


def _point_rows(groups: Sequence[CoverGroup], every: Sequence[str]) -> list[str]:
    """Returns a row for each definition of a point, with the groups that have it."""
    owners: dict[Coverpoint, list[str]] = {}
    for group in groups:
        for item in group.points:
            owners.setdefault(item, []).append(group.name)
    order = list(dict.fromkeys(item.name for item in owners))
    several = len(every) > 1
    rows = [
        "| point | reachable | bins | what it asks |" + (" in |" if several else ""),
        "|---|---|---|---|" + ("---|" if several else ""),
    ]
    for item, names in sorted(owners.items(), key=lambda pair: order.index(pair[0].name)):
        line = (
            f"| `{item.name}` | {int(item.reachable.sum())} | {_labels(item.labels)} | {item.doc} |"
        )
        rows.append(line + (f" {_where(names, every)} |" if several else ""))
    return rows


def _unreachable_rows(groups: Iterable[CoverGroup]) -> list[str]:
    """Returns the bins that cannot be hit, each with its reason and the groups it is in."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for group in groups:
        for item in group.points:
            for one in item.bins:
                if one.unreachable:
                    key = (item.name, one.name, one.unreachable)
                    found.setdefault(key, []).append(f"`{group.name}`")
    rows = ["| point | bin | in | reason |", "|---|---|---|---|"]
    rows += [
        f"| `{name}` | `{label}` | {', '.join(owners)} | {reason} |"
        for (name, label, reason), owners in found.items()
    ]
    return rows if found else []


def _reachable_cells(group: CoverGroup, cross: Cross) -> str:
    mask = group.reachable[cross.name]
    return f"{int(mask.sum())} of {len(mask)}"


def _cross_rows(groups: Sequence[CoverGroup]) -> list[str]:
    rows = ["| cross | points | reachable cells |", "|---|---|---|"]
    cells: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for group in groups:
        for cross in group.crosses:
            text = _reachable_cells(group, cross)
            cells.setdefault((cross.name, cross.of), []).append(
                f"`{group.name}` {text}" if len(groups) > 1 else text
            )
    for (name, of), counts in cells.items():
        points = ", ".join(f"`{point}`" for point in of)
        rows.append(f"| {name} | {points} | {'; '.join(counts)} |")
    return rows


def _exclusion_rows(groups: Iterable[CoverGroup]) -> list[str]:
    found: dict[tuple[str, str, str], None] = {}
    for group in groups:
        for cross in group.crosses:
            for item in cross.exclude:
                order = {axis: group.by_name[axis].labels for axis in item.where}
                where = " and ".join(
                    f"`{axis}` {_labels(sorted(bins, key=order[axis].index))}"
                    for axis, bins in item.where.items()
                )
                found.setdefault((cross.name, where, item.reason))
    rows = ["| cross | cells | reason |", "|---|---|---|"]
    rows += [f"| {name} | {where} | {reason} |" for name, where, reason in found]
    return rows


def _section(title: str, text: str, groups: Sequence[CoverGroup]) -> list[str]:
    every = [group.name for group in groups]
    lines = [f"## {title}", "", text, "", *_point_rows(groups, every)]
    unreachable = _unreachable_rows(groups)
    if unreachable:
        lines += ["", "Bins that are never hit and do not count:", "", *unreachable]
    if any(group.crosses for group in groups):
        lines += ["", *_cross_rows(groups)]
    if any(cross.exclude for group in groups for cross in group.crosses):
        lines += ["", "Cells that are never hit and do not count:", "", *_exclusion_rows(groups)]
    return [*lines, ""]


def page_text() -> str:
    """Returns the page: every group with its points, crosses and what is unreachable."""
    coverage = DmaCoverage(GM_BYTES, FORMS, illegal=True)
    counts = coverage.groups
    lines = [
        "<!-- Generated by `python -m tb.coverage.document` from tb/coverage. Do not edit. -->",
        "# Coverage table",
        "",
        "Every group, point and cross of the DMA coverage, as the code defines them, for a GM bus",
        f"of {8 * GM_BYTES} bits. How they are counted and read: [coverage.md](coverage.md).",
        "",
        "| group | points | crosses | reachable bins and cells |",
        "|---|---|---|---|",
        *(
            f"| `{name}` | {len(one.group.points)} | {len(one.group.crosses)} | {one.total} |"
            for name, one in counts.items()
        ),
        f"| all | | | {coverage.total} |",
        "",
    ]
    forms = [one.group for name, one in counts.items() if name in FORMS]
    lines += _section(
        "The forms",
        "One group for each form of an op; legal ops of that form are counted.",
        forms,
    )
    lines += _section(
        "`traffic`",
        "Legal ops of every form and how they follow each other.",
        [counts["traffic"].group],
    )
    lines += _section(
        "`rules`",
        "Illegal ops, and legal ones beside them. Only in runs that send illegal ops.",
        [counts["rules"].group],
    )
    return "\n".join(lines)


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page_text())
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
