# SPDX-License-Identifier: Apache-2.0
"""`doctor` over made-up findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.setup import doctor, tools

GOOD = tools.Tool("make", "4.3", "/usr/bin/make")
BAD = tools.Tool("perl", missing="no perl on the PATH", remedy="Install perl.")
OPTIONAL = tools.Tool("Icarus", "10.3", "/x", "10.3 is too old", "Get 11.", required=False)


@pytest.mark.parametrize(("found", "code"), [((GOOD,), 0), ((GOOD, OPTIONAL), 0), ((GOOD, BAD), 1)])
def test_exit_code_and_json(
    found: tuple[tools.Tool, ...],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "survey", lambda: found)
    place = tmp_path / "new" / "doctor.json"
    assert doctor.doctor_command(place) == code
    record = json.loads(place.read_text())
    assert record["ok"] == (code == 0)
    facts = [(tool["name"], tool["found"], tool["ok"]) for tool in record["tools"]]
    assert facts == [(tool.name, bool(tool.path), tool.ok) for tool in found]
    assert "\x1b" not in capsys.readouterr().out, "plain text when not a terminal"


def test_table_has_missing_tools_and_their_remedies() -> None:
    table = doctor.plain_table((GOOD, BAD, OPTIONAL))
    assert "MISSING   perl    -        no perl on the PATH" in table
    assert "perl: Install perl." in table
    assert "optional  Icarus  10.3     10.3 is too old" in table
    assert "cannot run yet, missing: perl" in table


def test_unwritable_json_record(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PtoError, match="cannot write the JSON record"):
        doctor.write_json((GOOD,), tmp_path / "file" / "doctor.json")
