# SPDX-License-Identifier: Apache-2.0
"""The files of worked values of the specification: ``data/*.toml``.

Each file begins with a description of its rows. Values come from the specification and from
nothing else; all that checks an implementation against them reads these files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "data"

EXAMPLES = ("copies", "loads", "write_backs")
"""Files of rows with ops and an image."""

Row = Mapping[str, Any]
"""A row: its keys, and those of its group that it does not have."""


@dataclass(frozen=True, slots=True)
class Item:
    """A worked value.

    Attributes:
        name: Its name.
        text: What it shows.
        where: File of the specification, and section.
    """

    name: str
    text: str
    where: str


@cache
def table(name: str) -> Mapping[str, Any]:
    """Returns a file of worked values, ``data/<name>.toml``."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def rows(name: str) -> Iterator[tuple[str, Row]]:
    """Yields name and row of each value of a file with groups."""
    for group in table(name)["group"]:
        shared = {key: value for key, value in group.items() if key != "values"}
        for title, row in group["values"].items():
            yield title, {**shared, **row}


def items() -> tuple[Item, ...]:
    """Returns every worked value that has a row."""
    found = [
        Item(name, row["text"], row["where"])
        for file in EXAMPLES
        for name, row in rows(file)
        if "text" in row and not all(isinstance(row.get(key), str) for key in ("seed", "a5"))
    ]
    found += [
        Item(name, text, where)
        for where, texts in table("conversions")["text"].items()
        for name, text in texts.items()
    ]
    refused = [(name, row, row["rule"]) for name, row in rows("rules") if "text" in row]
    refused += [
        (name, row, ", ".join(f"{row[key]} under {key}" for key in refusing))
        for file in EXAMPLES
        for name, row in rows(file)
        if (refusing := [key for key in ("seed", "a5") if isinstance(row.get(key), str)])
    ]
    found += [
        Item(f"rule check {name}", f"{row['text']}: {rule}", row["where"])
        for name, row, rule in refused
    ]
    return tuple(found)
