# SPDX-License-Identifier: Apache-2.0
"""UCIS XML: counts and totals survive, and the file follows the schema of UCIS 1.0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from tb.common.errors import PtoError
from tb.coverage.exclusions import Excluded, apply_exclusions
from tb.coverage.export.ucis import Origin, read_ucis, write_ucis
from tb.coverage.model import Coverage, CoverGroup, Cross, excluding, point

ORIGIN = Origin(
    "2026-11-21.1",
    datetime(2026, 11, 21, 7, 30, tzinfo=timezone(timedelta(hours=1))),
    passed=False,
    command="make nightly SEEDS=2",
    seed="1",
)

# The schema of the written elements: required attributes, and the children in
# order; `*` for any number of one, else exactly one.
SCHEMA: dict[str, tuple[set[str], list[str]]] = {
    "UCIS": (
        {"ucisVersion", "writtenBy", "writtenTime"},
        ["sourceFiles*", "historyNodes*", "instanceCoverages*"],
    ),
    "sourceFiles": ({"fileName", "id"}, []),
    "historyNodes": (
        {
            *("historyNodeId", "logicalName", "testStatus", "date", "toolCategory"),
            *("ucisVersion", "vendorId", "vendorTool", "vendorToolVersion"),
        },
        [],
    ),
    "instanceCoverages": ({"name", "key"}, ["id", "covergroupCoverage*"]),
    "id": ({"file", "line", "inlineCount"}, []),
    "covergroupCoverage": (set(), ["cgInstance*"]),
    "cgInstance": ({"name", "key"}, ["options", "cgId", "coverpoint*", "cross*"]),
    "options": (set(), []),
    "cgId": ({"cgName", "moduleName"}, ["cginstSourceId", "cgSourceId"]),
    "cginstSourceId": ({"file", "line", "inlineCount"}, []),
    "cgSourceId": ({"file", "line", "inlineCount"}, []),
    "coverpoint": ({"name", "key"}, ["options", "coverpointBin*"]),
    "coverpointBin": ({"name", "key", "type"}, ["range*", "userAttr*"]),
    "range": ({"from", "to"}, ["contents"]),
    "contents": ({"coverageCount"}, []),
    "cross": ({"name", "key"}, ["options", "crossExpr*", "crossBin*"]),
    "crossExpr": (set(), []),
    "crossBin": ({"name", "key"}, ["index*", "contents", "userAttr*"]),
    "index": (set(), []),
    "userAttr": ({"key", "type"}, []),
}


def offences(element: Element) -> list[str]:
    """Returns the violations of the schema in an element and all below it."""
    if element.tag not in SCHEMA:
        return [f"unknown element {element.tag}"]
    required, children = SCHEMA[element.tag]
    found = [f"{element.tag} lacks {name}" for name in sorted(required - set(element.keys()))]
    tags = [child.tag for child in element]
    at = 0
    for child in children:
        name, many = child.removesuffix("*"), child.endswith("*")
        count = 0
        while at < len(tags) and tags[at] == name:
            at, count = at + 1, count + 1
        if not many and count != 1:
            found.append(f"{element.tag} has {count} of {name}")
    if at < len(tags):
        found.append(f"{element.tag} has {tags[at]} out of order")
    return [*found, *(text for child in element for text in offences(child))]


def coverage() -> Coverage:
    """Two groups with bins excluded for every reason."""
    groups = [
        CoverGroup(
            "first",
            (
                point("a", ["a0", "a1", "a2"], 'of <a> & "b"', a2="cannot be"),
                point("b", ["b0", "b1"]),
            ),
            (Cross("a x b", ("a", "b"), (excluding("never", a="a1", b="b0"),), "both"),),
            "a group",
        ),
        CoverGroup("second", (point("c", ["c0", "c1", "c2"]),)),
    ]
    made = Coverage(groups)
    made.groups["first"].sample({"a": np.array([0, 0, 1, 2, 1]), "b": np.array([0, 1, 1, 1, 1])})
    made.groups["second"].sample({"c": np.array([0, 1, 1])})
    made.groups["second"].scope["c"] = np.array([True, True, False])
    entry = Excluded(group="first", item="b", bins=("b1",), reason="not <ours>")
    apply_exclusions([entry], made)
    return made


def test_counts_and_totals_are_read_back(tmp_path: Path) -> None:
    before = coverage()
    write_ucis(before, tmp_path / "coverage.ucis.xml", ORIGIN)
    after = read_ucis(tmp_path / "coverage.ucis.xml")
    assert list(after.groups) == list(before.groups)
    assert (after.covered, after.total) == (before.covered, before.total) == (6, 6)
    for name, counts in before.groups.items():
        again = after.groups[name]
        assert (again.covered, again.total) == (counts.covered, counts.total)
        assert again.group.points == counts.group.points
        for item, hits in counts.hits.items():
            assert again.hits[item].tolist() == hits.tolist()
            assert again.wanted(item).tolist() == counts.wanted(item).tolist()
    assert after.groups["first"].excluded["b"] == {1: "not <ours>"}
    assert before.impossible[0] == after.impossible[0] == "first.a: a2"


def test_wrong_counts_are_found(tmp_path: Path) -> None:
    path = tmp_path / "coverage.ucis.xml"
    write_ucis(coverage(), path, ORIGIN)
    text = path.read_text()
    path.write_text(text.replace('coverageCount="2"', 'coverageCount="0"', 1))
    assert read_ucis(path).covered != coverage().covered


def test_the_file_follows_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "coverage.ucis.xml"
    write_ucis(coverage(), path, ORIGIN)
    root = ElementTree.parse(path).getroot()
    assert offences(root) == []
    kinds = {entry.get("type") for entry in root.iter("coverpointBin")}
    assert kinds == {"bins", "ignore"}
    keys = {entry.get("key") for entry in root.iter("userAttr")}
    assert keys == {"unreachable", "excluded", "scope"}
    node = next(root.iter("historyNodes"))
    assert node.attrib["date"] == "2026-11-21T06:30:00"
    assert node.attrib["testStatus"] == "false"
    assert datetime.fromisoformat(root.attrib["writtenTime"]).replace(tzinfo=UTC) == ORIGIN.when


def test_the_check_of_the_schema_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "coverage.ucis.xml"
    write_ucis(coverage(), path, ORIGIN)
    root = ElementTree.parse(path).getroot()
    del root.attrib["writtenBy"]
    group = next(root.iter("cgInstance"))
    group.append(group[0])
    group.remove(group[0])
    assert offences(root) == [
        "UCIS lacks writtenBy",
        "cgInstance has 0 of options",
        "cgInstance has options out of order",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<UCIS", "no XML"),
        ("<other/>", "this is other"),
        ('<UCIS ucisVersion="2.0"/>', "version 2.0"),
        (
            '<UCIS ucisVersion="1.0"><instanceCoverages><covergroupCoverage><cgInstance/>'
            "</covergroupCoverage></instanceCoverages></UCIS>",
            "lacks something",
        ),
    ],
)
def test_unreadable_files(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "coverage.ucis.xml"
    path.write_text(text)
    with pytest.raises(PtoError) as caught:
        read_ucis(path)
    assert what in caught.value.what
    with pytest.raises(PtoError, match="cannot be read"):
        read_ucis(tmp_path / "none.xml")


def test_unwritable_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PtoError, match="cannot write"):
        write_ucis(coverage(), tmp_path / "file/coverage.ucis.xml", ORIGIN)
