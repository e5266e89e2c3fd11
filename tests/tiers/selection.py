# SPDX-License-Identifier: Apache-2.0
"""Which tests of a tier run, and in which order two workers take them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from zlib import crc32

import pytest

from tests.tiers.reach import SIMULATED, within

SHARE_ENV = "PTO_SHARE"
"""Environment variable with the share of the rows marked ``share``: ``3/8``, or ``all``."""


@dataclass(frozen=True)
class Share:
    """One share of several, number 1 to ``count``."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Share:
        """Returns the share of a text like ``3/8``; empty and ``all`` are everything.

        Raises:
            pytest.UsageError: the text is neither.
        """
        if text in ("", "all"):
            return cls()
        found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise pytest.UsageError(
                f"{SHARE_ENV} is {text!r}: write all, or a share like 3/8, from 1/8 to 8/8"
            )
        return cls(number, count)

    def __str__(self) -> str:
        """Returns the text that :meth:`parse` reads."""
        return f"{self.number}/{self.count}" if self.count > 1 else "all"

    def has(self, file: str, row: int) -> bool:
        """Returns whether the share has a row of a file; neighbours are in different shares."""
        return (crc32(file.encode()) + row) % self.count == self.number - 1


def shared(
    items: Sequence[pytest.Item], share: Share, changed: Collection[str]
) -> list[pytest.Item]:
    """Returns the items of a share.

    Those without the mark are in every share, and so are those whose mark names a changed file or
    a folder around one. Items of one ``group`` in a file are one row.
    """
    rows: defaultdict[str, dict[str, int]] = defaultdict(dict)
    kept = []
    for item in items:
        marks = list(item.iter_markers("share"))
        folders = {str(folder) for mark in marks for folder in mark.args}
        file = file_of(item)
        groups = [str(mark.kwargs["group"]) for mark in marks if "group" in mark.kwargs]
        row = rows[file].setdefault("".join(groups) or item.nodeid, len(rows[file])) if marks else 0
        concerned = any(within(name, folders) for name in changed)
        if not marks or concerned or share.has(file, row):
            kept.append(item)
    return kept


def file_of(item: pytest.Item) -> str:
    """Returns the file of a test, relative to the project."""
    return item.nodeid.partition("::")[0]


def is_long(item: pytest.Item) -> bool:
    """Returns whether a test is left out of ``make check``."""
    return any(item.get_closest_marker(name) for name in ("long", "sim"))


def quick(items: Sequence[pytest.Item], changed: Collection[str]) -> list[pytest.Item]:
    """Returns the short items, and short runs of the simulators if the change reaches a run."""
    runs = any(within(file, SIMULATED) for file in changed)
    return [
        item for item in items
        if (runs if item.get_closest_marker("smoke") else not is_long(item))
    ]  # fmt: skip


def balanced(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Returns the items so that both halves begin with half of the files with long tests.

    Each of two workers begins with one half, file by file, and a worker that is done takes over
    tests from the end of the other's, where the short ones are.
    """
    files: Counter[str] = Counter(file_of(item) for item in items if is_long(item))
    half_of: dict[str, int] = {}
    counts = [0, 0]
    for file, count in files.most_common():
        half_of[file] = counts.index(min(counts))
        counts[half_of[file]] += count
    short = [item for item in items if not is_long(item)]
    first, second = (
        [item for item in items if is_long(item) and half_of[file_of(item)] == half]
        for half in (0, 1)
    )
    middle = max(0, len(items) // 2 - len(first))
    return [*first, *short[:middle], *second, *short[middle:]]
