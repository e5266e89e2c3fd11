# SPDX-License-Identifier: Apache-2.0
"""Coverage taken apart and put together again: nothing gets lost, and what is wrong is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tb.coverage.export.exchange import from_json, to_json
from tb.coverage.model import CoverageError
from tb.regress.results.hits import (
    Definition,
    GroupHits,
    Sums,
    coverage_of,
    names,
    pack_hits,
    pack_scope,
    split,
    unpack_hits,
    unpack_scope,
)
from tests.regress.samples import coverage, group, text


def add(sums: Sums, parts: Sequence[GroupHits]) -> None:
    for number, part in enumerate(parts):
        sums.add(number, pack_hits(part.hits), pack_scope(part.scope))


@pytest.mark.parametrize("seed", [1, 3])
def test_a_coverage_is_the_same_when_put_together_again(seed: int) -> None:
    given = coverage(seed)
    sums = Sums()
    parts = split(text(given))
    add(sums, parts)
    found = {
        number: Definition(part.name, part.digest, 256, json.loads(part.definition))
        for number, part in enumerate(parts)
    }
    read = coverage_of(found, names(found, sums.rows), sums)
    assert to_json(read) == to_json(given)
    assert [counts.group for counts in read.groups.values()] == [
        counts.group for counts in given.groups.values()
    ]


def test_sums_are_those_of_coverages_merged() -> None:
    """Counts up to 2**44, scopes on some runs alone."""
    merged = coverage(0)
    sums = Sums()
    for seed in range(20):
        if seed:
            merged.merge(coverage(seed))
        add(sums, split(text(coverage(seed))))
    for number, counts in enumerate(merged.groups.values()):
        flat = np.concatenate(list(counts.hits.values()))
        assert (sums.hits[number] == flat).all()
        assert flat.max() > 2**40
        assert sums.scope[number] is None
        assert not counts.scope


def test_scopes_are_united() -> None:
    sums, hits = Sums(), pack_hits(np.zeros(3, dtype=np.int64))
    for scope in ([True, False, False], [False, True, False]):
        sums.add(1, hits, pack_scope(np.array(scope)))
    assert sums.scope[1] is not None
    assert sums.scope[1].tolist() == [True, True, False]
    sums.add(1, hits, b"")
    assert sums.scope[1] is None


def test_packing_keeps_every_bit() -> None:
    hits = np.array([0, 1, 2**62, 255, 256], dtype=np.int64)
    assert (unpack_hits(pack_hits(hits)) == hits).all()
    mask = np.array([True, False, True] * 7)
    unpacked = unpack_scope(pack_scope(mask), len(mask))
    assert unpacked is not None
    assert (unpacked == mask).all()
    assert pack_scope(np.ones(9, dtype=bool)) == b""


def test_digest_is_of_the_definition_alone() -> None:
    first, second = split(text(coverage(1))), split(text(coverage(3)))
    assert [part.digest for part in first] == [part.digest for part in second]
    wide = split(text(coverage(1, [group(bus_bytes=64)])))
    assert wide[0].digest != first[0].digest


def test_names_tell_definitions_apart() -> None:
    found = {
        1: Definition("mte_gm_ub", "aaaaaaaa", 128, {}),
        2: Definition("mte_gm_ub", "bbbbbbbb", 256, {}),
        3: Definition("mte_gm_ub", "cccccccc", 128, {}),
        4: Definition("traffic", "a", 256, {}),
    }
    assert names(found, {1: 3, 2: 9, 3: 1, 4: 1}) == {
        2: "mte_gm_ub",
        1: "mte_gm_ub (gm 128)",
        3: "mte_gm_ub (gm 128, cccccc)",
        4: "traffic",
    }


BROKEN: dict[str, tuple[tuple[str | int, ...], object]] = {
    "another schema": (("schema",), "pto-dv-coverage-9"),
    "no points": (("groups", 0), {"name": "mte_gm_ub"}),
    "a cross without cells": (("groups", 0, "crosses", 0, "hits"), [1]),
    "a word for a number": (("groups", 0, "points", 0, "bins", 0, "hits"), "many"),
}


@pytest.mark.parametrize(("place", "value"), BROKEN.values(), ids=BROKEN)
def test_broken_coverage_is_an_error(place: tuple[str | int, ...], value: object) -> None:
    data = to_json(coverage(1))
    from_json(data)
    *outer, last = place
    at: Any = data
    for key in outer:
        at = at[key]
    at[last] = value
    with pytest.raises(CoverageError):
        split(json.dumps(data))


@pytest.mark.parametrize("cut", ["", "[]", "null", text(coverage(1))[:-200]])
def test_truncated_coverage_is_an_error(cut: str) -> None:
    with pytest.raises(CoverageError):
        split(cut)
