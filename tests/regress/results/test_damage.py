# SPDX-License-Identifier: Apache-2.0
"""Commands on a results database that is damaged: the message has the table and the column."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import JSON

from tb.common.errors import PtoError
from tb.nightly.history import diff_command, prune_command, report_command, rerun_command
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.regress.results.database import Base
from tb.regress.results.store import Store
from tests.regress import made

LEAST = {"report": 30, "diff": 20, "prune": 10, "rerun": 8}
"""Damages that a command must find: it does not read every column."""

TABLES = [name for name in Base.metadata.tables if name != "schema_version"]
COLUMNS = [
    (table.name, column.name)
    for table in Base.metadata.tables.values()
    for column in table.columns
    if isinstance(column.type, JSON)
]
DAMAGES = [
    *((f"DROP TABLE {table}", f"table {table} is missing") for table in TABLES),
    *(
        (f"ALTER TABLE {table} RENAME COLUMN {column} TO x_", f"column {column} of table {table}")
        for table, column in COLUMNS
    ),
    *(
        (f"UPDATE {table} SET {column} = {value}", f"column {column} of table {table}, id 1")
        for table, column in COLUMNS
        for value in ("'{'", "'7'", "'\"text\"'")
    ),
    *((f"UPDATE {table} SET {column} = '{{}}'", "") for table, column in COLUMNS),
    ("UPDATE coverage_hits SET hits = 'x'", ""),
    ("UPDATE coverage_hits SET scope = 'x'", ""),
    ("UPDATE regression SET started = 'x'", ""),
]
COMMANDS: dict[str, Callable[[str, list[str]], int]] = {
    "report": lambda url, names: report_command(names[1], None, url, None, None, None),
    "diff": lambda url, names: diff_command(names[0], names[1], None, url),
    "prune": lambda url, _: prune_command(1, None, url),
    "rerun": lambda url, _: rerun_command(1, False, None, url),
}


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_the_damage_of_a_database(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or they do not read what is damaged, and end well."""
    monkeypatch.chdir(tmp_path)  # Folders of regression runs are relative.
    whole = tmp_path / "whole.db"
    with Store.open(f"sqlite:///{whole}") as store:
        names = [made.add_regression(store, made.START, runs=2) for _ in range(2)]
    for path in whole.parent.glob("whole.db-*"):
        path.unlink()
    again = RunRecord(settings=RunSettings(), command="make", status="pass")
    monkeypatch.setattr("tb.run.run.run_once", lambda *_, **__: again)
    ends = {}
    for damage, fact in [("", ""), *DAMAGES]:
        file = tmp_path / "results.db"
        shutil.copy(whole, file)
        with sqlite3.connect(file) as connection:
            connection.execute(damage)
        connection.close()
        ends[damage] = _end(command, f"sqlite:///{file}", names, fact)
    assert [(damage, end) for damage, end in ends.items() if end not in ("", "damaged")] == []
    assert ends[""] == ""
    assert list(ends.values()).count("damaged") >= LEAST[command]


def _end(command: str, url: str, names: list[str], fact: str) -> str:
    """Returns nothing, ``damaged`` for a message as it should be, or what is wrong with it."""
    try:
        COMMANDS[command](url, names)
    except PtoError as error:
        facts = ["\n  where: ", "\n  legal: ", "\n  do: ", "damaged", fact]
        missing = [one for one in facts if one not in str(error)]
        return f"{missing}: {error}" if missing or "server" in error.remedy else "damaged"
    except Exception as error:
        return repr(error)
    return ""
