# SPDX-License-Identifier: Apache-2.0
"""The coverage as a page of Markdown: ``pto-dv coverage-table``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import CoverGroup
from tb.coverage.stress import GROUPS
from tb.coverage.view import FORMS
from tb.isa.profile import PROFILES, using

GM_BYTES = 32
"""GM bus width of the page, the default of ``GM_WIDTH``."""

_LISTED = 8


def _labels(labels: Sequence[str]) -> str:
    """Returns bin names in a row; a long row of successive numbers by its ends."""
    numbers = [int(label) for label in labels if label.isdigit()]
    if len(numbers) == len(labels) > _LISTED and all(b - a == 1 for a, b in pairwise(numbers)):
        return f"`{labels[0]}` `{labels[1]}` ... `{labels[-1]}`"
    return " ".join(f"`{label}`" for label in labels)


def _point_rows(group: CoverGroup) -> list[str]:
    rows = ["| point | reachable | bins | question |", "|---|---|---|---|"]
    rows += [
        f"| `{item.name}` | {int(item.reachable.sum())} | {_labels(item.labels)} | {item.doc} |"
        for item in group.points
    ]
    return rows


def _unreachable_rows(group: CoverGroup) -> list[str]:
    """Returns the bins that cannot be hit, each with its reason."""
    rows = [
        f"| `{item.name}` | `{one.name}` | {one.unreachable} |"
        for item in group.points
        for one in item.bins
        if one.unreachable
    ]
    return ["| point | bin | reason |", "|---|---|---|", *rows] if rows else []


def _knob_rows(group: CoverGroup) -> list[str]:
    """Returns the bins that exist only under some values of knobs."""
    rows = []
    for item in group.points:
        for needs in dict.fromkeys(item.limited):
            names = [one.name for one in item.bins if one.needs == needs]
            if needs:
                rows.append(f"| `{item.name}` | {_labels(names)} | {needs} |")
    return ["| point | bins | knobs |", "|---|---|---|", *rows] if rows else []


def _cross_rows(group: CoverGroup) -> list[str]:
    rows = ["| cross | points | reachable cells |", "|---|---|---|"]
    for cross in group.crosses:
        points = ", ".join(f"`{point}`" for point in cross.of)
        mask = group.reachable[cross.name]
        rows.append(f"| {cross.name} | {points} | {int(mask.sum())} of {len(mask)} |")
    return rows


def _exclusion_rows(group: CoverGroup) -> list[str]:
    rows = ["| cross | cells | reason |", "|---|---|---|"]
    for cross in group.crosses:
        for item in cross.exclude:
            order = {axis: group.by_name[axis].labels for axis in item.where}
            where = " and ".join(
                f"`{axis}` {_labels(sorted(bins, key=order[axis].index))}"
                for axis, bins in item.where.items()
            )
            rows.append(f"| {cross.name} | {where} | {item.reason} |")
    return rows


def _section(group: CoverGroup) -> list[str]:
    lines = [f"## `{group.name}`", "", group.doc, "", *_point_rows(group)]
    unreachable = _unreachable_rows(group)
    if unreachable:
        lines += ["", "Bins that are never hit and do not count:", "", *unreachable]
    knobs = _knob_rows(group)
    if knobs:
        lines += ["", "Bins that are in scope with these values of knobs only:", "", *knobs]
    lines += ["", *_cross_rows(group)]
    if any(cross.exclude for cross in group.crosses):
        lines += ["", "Cells that are never hit and do not count:", "", *_exclusion_rows(group)]
    return [*lines, ""]


def page_text() -> str:
    """Returns the page: every group with its points, crosses and unreachable bins."""
    totals: dict[str, list[int]] = {}
    for profile in PROFILES.values():
        with using(profile):
            coverage = FunctionalCoverage(GM_BYTES, FORMS, illegal=True, stress=GROUPS)
        for name, one in coverage.groups.items():
            totals.setdefault(name, []).append(one.total)
    counts = coverage.groups
    sums = " | ".join(str(sum(column)) for column in zip(*totals.values(), strict=True))
    lines = [
        "# Coverage table",
        "",
        "Every group, point and cross of the coverage, as the code defines them, for a GM bus",
        f"of {8 * GM_BYTES} bits. How they are counted and read: docs/coverage.md. The last",
        "columns are the bins and cells that can be reached under each profile.",
        "",
        f"| group | points | crosses | {' | '.join(PROFILES)} |",
        "|---" * (3 + len(PROFILES)) + "|",
        *(
            f"| [`{name}`](#{name}) | {len(one.group.points)} | {len(one.group.crosses)} "
            f"| {' | '.join(map(str, totals[name]))} |"
            for name, one in counts.items()
        ),
        f"| all | | | {sums} |",
        "",
    ]
    for one in counts.values():
        lines += _section(one.group)
    return "\n".join(lines)
