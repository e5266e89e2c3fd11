# SPDX-License-Identifier: Apache-2.0
"""Each bad input of the table ends with one clear error, and nothing is written or started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.bad_inputs import Outcome, Row, files, outcome, rows, stage


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("bad")
    with stage(folder):
        yield folder


@pytest.mark.long
@pytest.mark.share("tb/cli")
@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in rows()])
def test_a_bad_input_is_refused(row: Row, place: Path) -> None:
    before = files(place)
    found = outcome(row)
    assert found.kind.startswith("refused"), found.text
    assert "was started" not in found.kind, found.started
    assert found.kind != "refused, without legal and do", found.text
    assert "without where" not in found.kind, found.text
    for fact in row.facts:
        assert fact in found.text
    assert files(place) == before


def test_the_table_is_long() -> None:
    assert len({str(row) for row in rows()}) >= 500


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (Outcome(2, "", "error: x\n  where: a\n  legal: b\n  do: c\n", ()), "refused"),
        (Outcome(2, "", "error: x\n  where: a\n  legal: b\n", ()), "refused, without do"),
        (Outcome(2, "", "error: x\n", ()), "refused, without where and legal and do"),
        (Outcome(1, "x.pto:1:2: error: y", "", ()), "refused, with the place in a program"),
        (Outcome(0, "", "error: x\n  where: a\n  legal: b\n  do: c\n", ()), "accepted"),
        (Outcome(1, "", "Traceback (most recent call last):\n", ()), "traceback"),
        (Outcome(2, "", "error: x\n", ("/usr/bin/make",)), "refused after make was started"),
        (Outcome(2, "", "Usage: x\n", ()), "another text"),
    ],
)
def test_outcomes(found: Outcome, kind: str) -> None:
    assert found.kind == kind
