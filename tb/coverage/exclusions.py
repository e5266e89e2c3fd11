# SPDX-License-Identifier: Apache-2.0
"""Exclusions: reachable bins that a project does not count, each with its reason, in TOML.

An entry takes bins of one coverpoint or cross out of every percentage::

    [[exclude]]
    group = "mte_gm_ub"
    item = "alignment"              # a coverpoint or a cross of the group
    bins = ["gm_mod=3 x *"]         # names as in tables; * and ? are wildcards
    reason = "no op starts there: the bus is aligned to 4 bytes"

An entry for a coverpoint also excludes the bin in every cross of that point. A hit of an excluded
bin is reported: either the reason or the engine is wrong.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tb.common.errors import PtoError
from tb.common.files import read_toml
from tb.common.schema import breach
from tb.common.text import one_of
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import Coverage, CoverGroup, GroupCounts
from tb.coverage.stress import GROUPS

GM_BYTES = (16, 32, 64)
"""GM bus widths that groups are defined for."""

KEYS = ("exclude", "code")
"""Kinds of entries: bins, and code coverage (:mod:`tb.coverage.export.code_exclusions`)."""

_Entry = TypeVar("_Entry", bound=BaseModel)


class Excluded(BaseModel):
    """An entry of the file.

    Attributes:
        group: Name of the coverage group, the same for every width.
        item: Coverpoint or cross in it.
        bins: Patterns of bin names.
        reason: Why they do not count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str
    item: str
    bins: tuple[str, ...] = Field(min_length=1)
    reason: str = Field(min_length=1)

    def matching(self, group: CoverGroup) -> list[int]:
        """Returns the indices of the reachable bins of ``item`` that a pattern names."""
        wanted = re.compile("|".join(pattern(text) for text in self.bins))
        return [
            index
            for index in np.flatnonzero(group.reachable[self.item]).tolist()
            if wanted.fullmatch(group.label(self.item, index))
        ]


def pattern(text: str) -> str:
    """Returns the regular expression of a text in which ``*`` and ``?`` are wildcards."""
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


@cache
def known_groups() -> Mapping[str, tuple[CoverGroup, ...]]:
    """Returns every group of the ops and of stress, as defined for each bus width."""
    found: dict[str, list[CoverGroup]] = {}
    for gm_bytes in GM_BYTES:
        for name, counts in FunctionalCoverage(
            gm_bytes, illegal=True, stress=GROUPS
        ).groups.items():
            same = found.setdefault(name, [])
            if counts.group not in same:
                same.append(counts.group)
    return {name: tuple(groups) for name, groups in found.items()}


def load_exclusions(
    path: Path, groups: Mapping[str, Sequence[CoverGroup]] | None = None
) -> tuple[Excluded, ...]:
    """Reads a file of exclusions.

    Args:
        path: The file; one that does not exist excludes nothing.
        groups: Definitions that names are looked up in, by default :func:`known_groups`.

    Raises:
        PtoError: it cannot be read, or an entry has an unknown name.
    """
    return tuple(
        _entry(entry, where, known_groups() if groups is None else groups)
        for where, entry in entries(path, "exclude")
    )


def entries(path: Path, key: str) -> Iterator[tuple[str, Any]]:
    """Yields place and contents of the entries of a file of exclusions.

    Args:
        path: The file; one that does not exist has none.
        key: Which entries, one of :data:`KEYS`.

    Raises:
        PtoError: it cannot be read, or has other entries than those of :data:`KEYS`.
    """
    if not path.exists():
        return
    text, data = read_toml(path, "the file of exclusions", "make it readable")
    header = re.compile(rf"^\s*\[\[\s*{key}\s*\]\]")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if header.match(line)]
    wrong = [
        name for name, value in data.items() if name not in KEYS or not isinstance(value, list)
    ]
    if wrong:
        raise PtoError(
            f"{', '.join(wrong)} is not part of a file of exclusions",
            where=str(path),
            legal="entries that begin with [[exclude]] or [[code]]",
        )
    for number, entry in enumerate(data.get(key, [])):
        yield f"{path}:{lines[number]}" if number < len(lines) else str(path), entry


def checked(kind: type[_Entry], data: Any, where: str, legal: str) -> _Entry:
    """Returns an entry as its class.

    Raises:
        PtoError: a key is missing, unknown or of a wrong type; ``legal`` describes the keys.
    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        what, range_ = breach(first, f"key {name}" if name else "the entry", kind)
        raise PtoError(what, where=where, legal=f"{range_}; {legal}" if range_ else legal) from None


def _entry(data: Any, where: str, groups: Mapping[str, Sequence[CoverGroup]]) -> Excluded:
    entry = checked(Excluded, data, where, "group, item, bins (a list), reason")
    remedy = "mend the name; pto-dv coverage-table lists all of them"
    if entry.group not in groups:
        unknown("coverage group", entry.group, groups, where, remedy)
    definitions = groups[entry.group]
    items = dict.fromkeys(name for group in definitions for name in group.reachable)
    if entry.item not in items:
        unknown(f"coverpoint or cross of {entry.group}", entry.item, items, where, remedy)
    defined = [group for group in definitions if entry.item in group.reachable]
    for text in entry.bins:
        one = entry.model_copy(update={"bins": (text,)})
        if not any(one.matching(group) for group in defined):
            count = len(defined[0].reachable[entry.item])
            labels = dict.fromkeys(defined[0].label(entry.item, index) for index in range(count))
            why = " that can be reached" if _names(text, labels) else ""
            unknown(f"bin{why} of {entry.group}.{entry.item}", text, labels, where, remedy)
    return entry


def _names(text: str, labels: Iterable[str]) -> bool:
    wanted = re.compile(pattern(text))
    return any(wanted.fullmatch(label) for label in labels)


def unknown(kind: str, name: str, legal: Iterable[str], where: str, remedy: str) -> NoReturn:
    """Refuses a name of an entry.

    Raises:
        PtoError: with the names that resemble it first.
    """
    names = list(legal)
    near = difflib.get_close_matches(name, names, 3, 0.5)
    shown = [*near, *(one for one in names if one not in near)]
    more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
    raise PtoError(
        f"{name!r} is not {one_of(kind)}",
        where=where,
        legal=", ".join(shown[:12]) + more,
        remedy=f"take the entry out, or {remedy}",
    )


def apply_exclusions(exclusions: Sequence[Excluded], coverage: Coverage) -> None:
    """Takes the excluded bins out of a coverage, in place; groups that it lacks are ignored."""
    for counts in coverage.groups.values():
        # Merged over bus widths a group may be called `traffic (gm 128)`.
        name = counts.group.name.partition(" (")[0]
        for entry in exclusions:
            if entry.group == name and entry.item in counts.group.reachable:
                _exclude(counts, entry)


def _exclude(counts: GroupCounts, entry: Excluded) -> None:
    group, found = counts.group, entry.matching(counts.group)
    if not found:
        return
    for index in found:
        counts.excluded.setdefault(entry.item, {}).setdefault(index, entry.reason)
    if entry.item not in group.by_name:
        return
    chosen = np.isin(np.arange(len(group.by_name[entry.item].bins)), found)
    for cross in group.crosses:
        if entry.item in cross.of:
            cells = group.cells(cross, {entry.item: chosen}) & group.reachable[cross.name]
            for index in np.flatnonzero(cells).tolist():
                counts.excluded.setdefault(cross.name, {}).setdefault(index, entry.reason)
