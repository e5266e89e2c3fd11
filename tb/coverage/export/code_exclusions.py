# SPDX-License-Identifier: Apache-2.0
"""Exclusions of code coverage: points that a project does not count, each with its reason, in TOML.

An entry of the file of exclusions (:mod:`tb.coverage.exclusions`) takes points out of the totals::

    [[code]]
    file = "rtl_stubs/common/gm/pto_gm_combine.sv"
    text = "default: combined = y;"  # of one line; or function = "combined" for all of its lines
    kind = "line"
    reason = "no op has another type: D rules refuse it"
    # optional: engine = "mte3", point = "(a==1 && *) => 1"

An excluded point that was covered is reported, and so is an entry without a point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tb.common.errors import PtoError
from tb.coverage.exclusions import checked, entries, pattern, unknown
from tb.coverage.export.code import CodeCounts, CodePoint, line_point

_FUNCTION = re.compile(r"^\s*function\b[^;(]*?(\w+)\s*[;(]")

LEGAL = "file, text or function, kind (line, branch, expression, toggle), reason; engine, point"
"""Keys of an entry, those after the semicolon optional."""


class CodeEntry(BaseModel):
    """An entry of the file.

    Attributes:
        file: Source, from the top of the project or absolute.
        text: Text of one line of it; empty with ``function``.
        function: Name of a function of it; empty with ``text``.
        kind: Kind of the points.
        engine: Slot, empty for all.
        point: Pattern of Verilator's descriptions, of kinds other than ``line``.
        reason: Why they do not count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(min_length=1)
    text: str = ""
    function: str = ""
    kind: Literal["line", "branch", "expression", "toggle"]
    engine: Literal["", "mte1", "mte2", "mte3", "fix"] = ""
    point: str = "*"
    reason: str = Field(min_length=1)

    @model_validator(mode="after")
    def _place(self) -> CodeEntry:
        if bool(self.text.strip()) == bool(self.function):
            raise ValueError("an entry has either text or function")
        if self.kind == "line" and self.point != "*":
            raise ValueError("a line has no point")
        return self


@dataclass(frozen=True)
class CodeExclusion:
    """An entry with its lines.

    Attributes:
        entry: The entry.
        where: File and line of the entry.
        lines: Numbers of the lines of the source.
    """

    entry: CodeEntry
    where: str
    lines: frozenset[int] = field(repr=False)

    def points(self, counts: CodeCounts) -> dict[CodePoint, int]:
        """Returns the points of the entry with their counts."""
        entry = self.entry
        if entry.kind == "line":
            found = {
                line_point(*place, number): count
                for place, lines in counts.lines().items()
                if place[1] == entry.file
                for number, count in lines.items()
            }
        else:
            found = {p: n for p, n in counts.counts.items() if p.path == entry.file}
        text = re.compile(pattern(entry.point))
        return {
            point: count
            for point, count in found.items()
            if point.kind == entry.kind
            and point.line in self.lines
            and point.engine in (entry.engine or point.engine)
            and text.fullmatch(point.text)
        }


def load_code_exclusions(path: Path, root: Path) -> tuple[CodeExclusion, ...]:
    """Reads the entries of code coverage from a file of exclusions.

    Args:
        path: The file; one that does not exist excludes nothing.
        root: Top of the project, where sources are read.

    Raises:
        PtoError: it cannot be read, an entry is wrong, or its source has no such text or function.
    """
    found = []
    for where, data in entries(path, "code"):
        entry = checked(CodeEntry, data, where, LEGAL)
        try:
            source = (root / entry.file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise PtoError(
                f"the source {entry.file} cannot be read: {error.strerror}",
                where=where,
                legal="a path from the top of the project",
                remedy="take the entry out, or correct the path",
            ) from None
        lines = _function(entry, source, where) if entry.function else _line(entry, source, where)
        found.append(CodeExclusion(entry, where, frozenset(lines)))
    return tuple(found)


def _line(entry: CodeEntry, source: Sequence[str], where: str) -> Iterable[int]:
    wanted = " ".join(entry.text.split())
    lines = [at for at, line in enumerate(source, 1) if wanted in " ".join(line.split())]
    if len(lines) != 1:
        places = f"lines {', '.join(map(str, lines[:8]))}" if lines else "no line"
        raise PtoError(
            f"{entry.text!r} is in {places} of {entry.file}",
            where=where,
            legal="a text that is in one line of the source",
            remedy="take the entry out, or give more of the text of the line",
        )
    return lines


def _function(entry: CodeEntry, source: Sequence[str], where: str) -> Iterable[int]:
    functions: dict[str, list[int]] = {}
    inside = ""
    for number, line in enumerate(source, 1):
        if begin := _FUNCTION.match(line):
            inside = begin[1]
        if inside:
            functions.setdefault(inside, []).append(number)
        if re.match(r"\s*endfunction\b", line):
            inside = ""
    if entry.function not in functions:
        unknown(f"function of {entry.file}", entry.function, functions, where, "correct the name")
    return functions[entry.function]


def apply_code_exclusions(exclusions: Sequence[CodeExclusion], counts: CodeCounts) -> list[str]:
    """Takes the excluded points out of the totals, in place.

    Returns:
        Messages about excluded points that were covered, and about entries without a point in a
        source that was counted.
    """
    notes = []
    paths = {(point.engine, point.path) for point in counts.counts}
    for one in exclusions:
        entry = one.entry
        found = one.points(counts)
        counts.excluded |= dict.fromkeys(found, entry.reason)
        covered = sorted(point for point, count in found.items() if count)
        if covered:
            first, more = covered[0], f" and {len(covered) - 1} more" if covered[1:] else ""
            text = f"{first.path}:{first.line} {first.kind} {first.text}".rstrip()
            notes.append(
                f"covered though excluded: {text} of {first.engine}{more} ({entry.reason})"
            )
        if not found and any(
            path == entry.file and engine in (entry.engine or engine) for engine, path in paths
        ):
            notes.append(f"nothing to exclude: {one.where}, no {entry.kind} point of {entry.file}")
    return notes
