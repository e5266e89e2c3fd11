# SPDX-License-Identifier: Apache-2.0
"""What a regression run has to reach beside runs that pass, and failures that are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from tb.common.text import counted, percent_text
from tb.coverage.model import Coverage
from tb.regress.plan.testplan import TestPlan
from tb.regress.queries.views import Bucket, Difference, PlanRow


def broken(
    plan: TestPlan,
    regression: str,
    coverage: Coverage,
    rows: Sequence[PlanRow],
    moved: Difference | None,
) -> Iterator[str]:
    """Yields a sentence for each gate of a regression that does not hold.

    Args:
        plan: The testplan; a regression that it does not have has no gates.
        regression: Name of the regression.
        coverage: Functional coverage, exclusions applied.
        rows: The testplan with results.
        moved: Changes since the last complete regression run, None without one.
    """
    gates = next((one.gates for one in plan.regression if one.name == regression), None)
    if gates is None:
        return
    percent = coverage.percent if coverage.total else 0.0
    if percent < gates.coverage:
        yield f"coverage is {percent_text(percent, 2)} %: at least {gates.coverage:g} %"
    proven = 100.0 * sum(row.state == "pass" for row in rows) / max(len(rows), 1)
    if proven < gates.proven:
        yield f"{percent_text(proven)} % of the testplan is proven: at least {gates.proven:g} %"
    if gates.lost_bins is not None and moved and len(moved.lost) > gates.lost_bins:
        lost = counted(len(moved.lost), "bin")
        yield f"{lost} lost since {moved.before}: at most {gates.lost_bins}"


def known(plan: TestPlan, today: date) -> dict[str, str]:
    """Returns the buckets that fail no regression run today, with the reasons."""
    return {one.bucket: one.text for one in plan.known if one.until and today <= one.until}


def notes(plan: TestPlan, buckets: Sequence[Bucket], today: date) -> Iterator[str]:
    """Yields notes on known failures that are over, or that were not seen."""
    seen = {bucket.id for bucket in buckets}
    for one in plan.known:
        if one.bucket not in seen:
            yield f"known failure {one.bucket} was not seen: {one.text}"
        elif one.until and today > one.until:
            yield f"known failure {one.bucket} counts again: {one.text}"
