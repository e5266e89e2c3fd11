# SPDX-License-Identifier: Apache-2.0
"""`pto-dv coverage-table` prints what the coverage defines."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from tb.cli.main import app
from tb.coverage.functional import FunctionalCoverage

pytestmark = pytest.mark.long


def printed() -> str:
    done = CliRunner().invoke(app, ["coverage-table"])
    assert done.exit_code == 0
    return done.stdout


def test_table_names_every_point_and_cross() -> None:
    text = printed()
    for counts in FunctionalCoverage(illegal=True).groups.values():
        assert f"| [`{counts.group.name}`](#{counts.group.name}) |" in text
        for item in counts.group.points:
            assert re.search(rf"^\| `{item.name}` \|", text, re.MULTILINE), item.name
        for cross in counts.group.crosses:
            assert re.search(rf"^\| {re.escape(cross.name)} \|", text, re.MULTILINE), cross.name


def test_table_gives_the_reason_of_every_exclusion() -> None:
    text = printed()
    for counts in FunctionalCoverage(illegal=True).groups.values():
        reasons = [one.reason for cross in counts.group.crosses for one in cross.exclude]
        reasons += [one.unreachable for item in counts.group.points for one in item.bins]
        assert all(reason in text for reason in reasons)
