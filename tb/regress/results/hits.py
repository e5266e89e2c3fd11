# SPDX-License-Identifier: Apache-2.0
"""Coverage of runs as rows: definitions once, hits packed, sums exact.

A run's coverage file holds definitions and counts side by side. Here they are taken apart, so that
a definition is kept once, however many runs have it, and counts are one array for each group: all
points and then all crosses, in the order of the definition.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.coverage.export.exchange import SCHEMA, from_json
from tb.coverage.model import Coverage, CoverageError, CoverGroup, GroupCounts, Ints

Bits = NDArray[np.bool_]

_LEVEL = 1
"""Of zlib: counts are mostly zeros, and higher levels take more time than they save room."""


@dataclass(frozen=True)
class GroupHits:
    """Hits of one group in one run.

    Attributes:
        name: The group's.
        digest: Of the definition, in hexadecimal digits.
        definition: JSON text of the group without counts.
        hits: ``int64[bins]``, all points and then all crosses.
        scope: ``bool[bins]``, or None where all bins are in scope.
    """

    name: str
    digest: str
    definition: str
    hits: Ints
    scope: Bits | None


def split(text: str) -> list[GroupHits]:
    """Takes the JSON text of a run's coverage apart, one part for each group.

    Raises:
        CoverageError: it is not JSON, of another schema, a key is missing, or counts do not fit.
    """
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise CoverageError(f"coverage has schema {data['schema']!r}: {SCHEMA} wanted")
        return [_split(item) for item in data["groups"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, CoverageError):
            raise
        raise CoverageError(f"coverage cannot be read: {error!r}") from error


def _split(data: dict[str, Any]) -> GroupHits:
    """Takes counts out of a group; what is left of ``data`` is its definition."""
    hits: list[int] = []
    outside: list[int] = []
    sizes: dict[str, int] = {}
    for item in data["points"]:
        bins = item["bins"]
        outside += [at for at, one in enumerate(bins, len(hits)) if one.pop("out_of_scope", False)]
        hits += [one.pop("hits") for one in bins]
        sizes[item["name"]] = len(bins)
    for item in data["crosses"]:
        counts = item.pop("hits")
        cells = math.prod([sizes[name] for name in item["of"]])
        if len(counts) != cells:
            raise CoverageError(
                f"{data['name']}.{item['name']} has {cells} cells, counts have {len(counts)}"
            )
        outside += [len(hits) + at for at in item.pop("out_of_scope", ())]
        hits += counts
    definition = {key: data[key] for key in ("name", "doc", "points", "crosses")}
    words = json.dumps(definition, separators=(",", ":"), sort_keys=True)
    scope = None
    if outside:
        scope = np.ones(len(hits), dtype=bool)
        scope[outside] = False
    digest = hashlib.sha256(words.encode()).hexdigest()
    return GroupHits(data["name"], digest, words, np.array(hits, dtype=np.int64), scope)


def pack_hits(hits: Ints) -> bytes:
    """Returns ``int64[bins]`` as bytes for the database."""
    return zlib.compress(hits.astype("<i8").tobytes(), _LEVEL)


def unpack_hits(data: bytes) -> Ints:
    """Returns what :func:`pack_hits` was given."""
    return np.frombuffer(zlib.decompress(data), dtype="<i8").astype(np.int64, copy=False)


def pack_scope(scope: Bits | None) -> bytes:
    """Returns ``bool[bins]`` as bytes for the database; None is all of them."""
    return b"" if scope is None or scope.all() else np.packbits(scope).tobytes()


def unpack_scope(data: bytes, bins: int) -> Bits | None:
    """Returns what :func:`pack_scope` was given, None for all bins."""
    if not data:
        return None
    return np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=bins).astype(bool)


@dataclass
class Sums:
    """Sums of hits by definition.

    Attributes:
        hits: Definition to ``int64[bins]``.
        scope: Definition to ``bool[bins]``, the scopes united; None for all bins.
        rows: Definition to how many runs were added up.
    """

    hits: dict[int, Ints] = field(default_factory=dict)
    scope: dict[int, Bits | None] = field(default_factory=dict)
    rows: Counter[int] = field(default_factory=Counter)

    def add(self, group: int, hits: bytes, scope: bytes, rows: int = 1) -> None:
        """Adds packed hits of the definition ``group``."""
        counts = unpack_hits(hits)
        self.rows[group] += rows
        if group not in self.hits:
            self.hits[group] = counts.copy()
            self.scope[group] = unpack_scope(scope, len(counts))
            return
        self.hits[group] += counts
        mine = self.scope[group]
        if mine is not None:
            theirs = unpack_scope(scope, len(counts))
            self.scope[group] = None if theirs is None else mine | theirs

    def keep(self, groups: Collection[int]) -> None:
        """Drops all definitions but these."""
        for group in set(self.hits) - set(groups):
            del self.hits[group], self.scope[group], self.rows[group]

    def packed(self) -> Iterable[tuple[int, int, bytes, bytes]]:
        """Yields definition, number of runs, hits and scope as the database has them."""
        for group, hits in self.hits.items():
            yield group, self.rows[group], pack_hits(hits), pack_scope(self.scope[group])


@dataclass(frozen=True)
class Definition:
    """A group as the database has it.

    Attributes:
        name: The group's.
        digest: Of the definition.
        gm_width: GM bus width in bits of the first run that had it.
        data: The definition as JSON.
    """

    name: str
    digest: str
    gm_width: int
    data: Mapping[str, Any]


def names(found: Mapping[int, Definition], rows: Mapping[int, int]) -> dict[int, str]:
    """Names definitions so that no two share a name.

    The commonest of a name keeps it; others have their bus width, and their digest where that does
    not separate them.
    """
    named: dict[int, str] = {}
    taken: set[str] = set()
    # Ties go to the older definition, so that a name keeps its meaning over regression runs.
    for group in sorted(found, key=lambda key: (-rows[key], key)):
        item = found[group]
        label = item.name
        if label in taken:
            label = f"{item.name} (gm {item.gm_width})"
        if label in taken:
            label = f"{item.name} (gm {item.gm_width}, {item.digest[:6]})"
        taken.add(label)
        named[group] = label
    return named


def coverage_of(found: Mapping[int, Definition], named: Mapping[int, str], sums: Sums) -> Coverage:
    """Returns sums as a coverage; groups in the order of their definitions.

    Args:
        found: Definitions; those without sums have no hits and are left out.
        named: What they are called in the result.
        sums: Hits.
    """
    coverage = Coverage(())
    for key in sorted(sums.hits):
        counts = _counts(_group(found[key].data), sums.hits[key])
        scope = sums.scope[key]
        if scope is not None:
            masks = _parts(counts.group, scope)
            counts.scope = {name: mask for name, mask in masks.items() if not mask.all()}
        counts.group = replace(counts.group, name=named[key])
        coverage.groups[named[key]] = counts
    return coverage


def _counts(group: CoverGroup, hits: Ints) -> GroupCounts:
    return GroupCounts(group, {key: part.copy() for key, part in _parts(group, hits).items()})


def _parts(group: CoverGroup, flat: NDArray[Any]) -> dict[str, NDArray[Any]]:
    found = {}
    at = 0
    for name, mask in group.reachable.items():
        found[name] = flat[at : at + len(mask)]
        at += len(mask)
    if at != len(flat):
        raise CoverageError(f"group {group.name} has {at} bins, counts have {len(flat)}")
    return found


def _group(definition: Mapping[str, Any]) -> CoverGroup:
    sizes = {item["name"]: len(item["bins"]) for item in definition["points"]}
    points = [
        {**item, "bins": [{**one, "hits": 0} for one in item["bins"]]}
        for item in definition["points"]
    ]
    crosses = [
        {**item, "hits": [0] * math.prod(sizes[name] for name in item["of"])}
        for item in definition["crosses"]
    ]
    data = {**definition, "points": points, "crosses": crosses}
    return from_json({"schema": SCHEMA, "groups": [data]}).groups[definition["name"]].group
