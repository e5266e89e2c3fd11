# SPDX-License-Identifier: Apache-2.0
"""The generated coverage table page is what the coverage defines."""

from __future__ import annotations

import re

from tb.common.paths import ROOT
from tb.coverage.document import PAGE, page_text
from tb.coverage.functional import FunctionalCoverage


def test_page_is_not_stale() -> None:
    assert (ROOT / PAGE).read_text() == page_text(), "run python -m tb.coverage.document"


def test_page_names_every_point_and_cross() -> None:
    text = page_text()
    for counts in FunctionalCoverage(illegal=True).groups.values():
        assert f"| [`{counts.group.name}`](#{counts.group.name}) |" in text
        for item in counts.group.points:
            assert re.search(rf"^\| `{item.name}` \|", text, re.MULTILINE), item.name
        for cross in counts.group.crosses:
            assert re.search(rf"^\| {re.escape(cross.name)} \|", text, re.MULTILINE), cross.name


def test_page_gives_the_reason_of_every_exclusion() -> None:
    text = page_text()
    for counts in FunctionalCoverage(illegal=True).groups.values():
        reasons = [one.reason for cross in counts.group.crosses for one in cross.exclude]
        reasons += [one.unreachable for item in counts.group.points for one in item.bins]
        assert all(reason in text for reason in reasons)
