# SPDX-License-Identifier: Apache-2.0
"""Coverage as JSON: written by one run, read and merged by reports.

Schema ``pto-dv-coverage-1``::

    {"schema": "pto-dv-coverage-1", "covered": int, "total": int, "percent": float,
     "groups": [{"name": str, "doc": str, "covered": int, "total": int, "percent": float,
       "points": [{"name": str, "doc": str,
                   "bins": [{"name": str, "hits": int, "unreachable": str?,
                             "needs": str?, "out_of_scope": true?}]}],
       "crosses": [{"name": str, "doc": str, "of": [point name],
                    "exclude": [{"reason": str, "where": {point name: [bin name]}}],
                    "hits": [int], "out_of_scope": [int]?}]}]}

``hits`` of a cross lists its cells in row-major order of ``of``, unreachable ones included;
``out_of_scope`` holds positions in it. Bins and cells out of scope are of forms that the run did
not send, or of values of knobs that its profile does not have (``needs``): they do not count in
its percentage.
``covered``, ``total`` and ``percent`` are for readers; import computes them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.coverage.model import (
    Bin,
    Coverage,
    CoverageError,
    CoverGroup,
    Coverpoint,
    Cross,
    Exclusion,
    GroupCounts,
)

SCHEMA = "pto-dv-coverage-1"


def _point(item: Coverpoint, counts: GroupCounts) -> dict[str, Any]:
    bins: list[dict[str, Any]] = []
    scope = counts.scope.get(item.name)
    for at, (one, hits) in enumerate(zip(item.bins, counts.hits[item.name].tolist(), strict=True)):
        entry: dict[str, Any] = {"name": one.name, "hits": hits}
        if one.unreachable:
            entry["unreachable"] = one.unreachable
        if one.needs:
            entry["needs"] = one.needs
        if scope is not None and not scope[at]:
            entry["out_of_scope"] = True
        bins.append(entry)
    return {"name": item.name, "doc": item.doc, "bins": bins}


def _cross(item: Cross, counts: GroupCounts) -> dict[str, Any]:
    exclude = [
        {"reason": one.reason, "where": {key: sorted(bins) for key, bins in one.where.items()}}
        for one in item.exclude
    ]
    found = {
        "name": item.name,
        "doc": item.doc,
        "of": list(item.of),
        "exclude": exclude,
        "hits": counts.hits[item.name].tolist(),
    }
    scope = counts.scope.get(item.name)
    if scope is not None:
        found["out_of_scope"] = np.flatnonzero(~scope).tolist()
    return found


def to_json(coverage: Coverage) -> dict[str, Any]:
    """Returns ``coverage`` as a JSON object of the schema above."""
    groups = [
        {
            "name": name,
            "doc": counts.group.doc,
            "covered": counts.covered,
            "total": counts.total,
            "percent": round(counts.percent, 3),
            "points": [_point(item, counts) for item in counts.group.points],
            "crosses": [_cross(item, counts) for item in counts.group.crosses],
        }
        for name, counts in coverage.groups.items()
    ]
    return {
        "schema": SCHEMA,
        "covered": coverage.covered,
        "total": coverage.total,
        "percent": round(coverage.percent, 3),
        "groups": groups,
    }


def _group(data: dict[str, Any]) -> GroupCounts:
    points = tuple(
        Coverpoint(
            item["name"],
            tuple(
                Bin(one["name"], one.get("unreachable", ""), one.get("needs", ""))
                for one in item["bins"]
            ),
            item["doc"],
        )
        for item in data["points"]
    )
    crosses = tuple(
        Cross(
            item["name"],
            tuple(item["of"]),
            tuple(
                Exclusion(one["reason"], {key: frozenset(v) for key, v in one["where"].items()})
                for one in item["exclude"]
            ),
            item["doc"],
        )
        for item in data["crosses"]
    )
    hits = {
        item["name"]: np.array([one["hits"] for one in item["bins"]], dtype=np.int64)
        for item in data["points"]
    }
    hits |= {item["name"]: np.array(item["hits"], dtype=np.int64) for item in data["crosses"]}
    group = CoverGroup(data["name"], points, crosses, data["doc"])
    return GroupCounts(group, hits, _scope(data))


def _scope(data: dict[str, Any]) -> dict[str, NDArray[np.bool_]]:
    found = {}
    for item in data["points"]:
        mask = np.array([not one.get("out_of_scope", False) for one in item["bins"]])
        if not mask.all():
            found[item["name"]] = mask
    for item in data["crosses"]:
        if item.get("out_of_scope"):
            mask = np.ones(len(item["hits"]), dtype=bool)
            mask[item["out_of_scope"]] = False
            found[item["name"]] = mask
    return found


def from_json(data: dict[str, Any]) -> Coverage:
    """Returns the coverage in a JSON object, with its definitions.

    Raises:
        CoverageError: the schema is another one, a key is missing, or counts do not fit.
    """
    if data.get("schema") != SCHEMA:
        raise CoverageError(f"schema is {data.get('schema')!r}: {SCHEMA} wanted")
    coverage = Coverage(())
    try:
        for item in data["groups"]:
            counts = _group(item)
            coverage.groups[counts.group.name] = counts
    except (KeyError, TypeError) as error:
        raise CoverageError(f"coverage JSON lacks or misplaces {error}") from error
    return coverage
