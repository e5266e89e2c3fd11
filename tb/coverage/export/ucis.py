# SPDX-License-Identifier: Apache-2.0
"""Functional coverage as UCIS XML, the interchange format of Accellera's UCIS 1.0, and back.

Every coverage group is a ``cgInstance`` below one instance, its coverpoints and crosses with all
bins. Bins that do not count have the type ``ignore`` and a ``userAttr`` that says why; its key is
``unreachable``, ``excluded`` or ``scope``. The range of a bin is its position, since UCIS bins are
numbers and these have names. Times are UTC. Code coverage is exported by lcov.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.coverage.model import (
    Bin,
    Coverage,
    CoverGroup,
    Coverpoint,
    Cross,
    GroupCounts,
    Ints,
)

VERSION = "1.0"
SOURCE = "tb/coverage/functional.py"
INSTANCE = "pto_harness"
IGNORED, COUNTED = "ignore", "bins"


@dataclass(frozen=True)
class Origin:
    """Origin of the counts, a history node in UCIS.

    Attributes:
        name: Name of the run or regression run.
        when: Its end, with a time zone.
        passed: Whether all of it passed.
        command: Command that repeats it.
        seed: Base of its seeds.
        version: Version of this project.
    """

    name: str
    when: datetime
    passed: bool = True
    command: str = ""
    seed: str = ""
    version: str = "0"


def write_ucis(coverage: Coverage, path: Path, origin: Origin) -> None:
    """Writes a coverage with its definitions and exclusions.

    Raises:
        PtoError: the file cannot be written.
    """
    # Without a zone: some readers accept no other form.
    when = origin.when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    root = Element("UCIS", ucisVersion=VERSION, writtenBy="pto-dv", writtenTime=when)
    SubElement(root, "sourceFiles", fileName=SOURCE, id="1")
    optional = {"cmd": origin.command, "seed": origin.seed}
    SubElement(
        root,
        "historyNodes",
        {
            "historyNodeId": "0",
            "logicalName": origin.name,
            "kind": "UCIS:Merge",
            "testStatus": _boolean(origin.passed),
            "date": when,
            "toolCategory": "UCIS:Simulator",
            "ucisVersion": VERSION,
            "vendorId": "PTO-DV",
            "vendorTool": "pto-dv",
            "vendorToolVersion": origin.version,
            **{key: text for key, text in optional.items() if text},
        },
    )
    instance = SubElement(
        root, "instanceCoverages", name=INSTANCE, key="0", instanceId="0", moduleName=INSTANCE
    )
    _source(instance, "id")
    groups = SubElement(instance, "covergroupCoverage")
    for number, counts in enumerate(coverage.groups.values()):
        _group(groups, counts, number)
    ElementTree.indent(root, " ")
    write_bytes(path, ElementTree.tostring(root, "utf-8", xml_declaration=True) + b"\n")


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _source(parent: Element, tag: str) -> None:
    SubElement(parent, tag, file="1", line="1", inlineCount="1")


def _group(parent: Element, counts: GroupCounts, number: int) -> None:
    group = counts.group
    element = SubElement(parent, "cgInstance", name=group.name, key=str(number))
    SubElement(element, "options", comment=group.doc)
    place = SubElement(element, "cgId", cgName=group.name, moduleName=INSTANCE)
    _source(place, "cginstSourceId")
    _source(place, "cgSourceId")
    for at, item in enumerate(group.points):
        _point(element, counts, item, at)
    for at, cross in enumerate(group.crosses):
        _cross(element, counts, cross, at)


def _point(parent: Element, counts: GroupCounts, item: Coverpoint, number: int) -> None:
    element = SubElement(parent, "coverpoint", name=item.name, key=str(number))
    SubElement(element, "options", comment=item.doc)
    ignored = _ignored(counts, item.name)
    for at, (one, hits) in enumerate(zip(item.bins, counts.hits[item.name].tolist(), strict=True)):
        kind = IGNORED if at in ignored else COUNTED
        entry = SubElement(element, "coverpointBin", name=one.name, key=str(at), type=kind)
        inside = SubElement(entry, "range", {"from": str(at), "to": str(at)})
        SubElement(inside, "contents", coverageCount=str(hits))
        _reason(entry, ignored.get(at))


def _cross(parent: Element, counts: GroupCounts, cross: Cross, number: int) -> None:
    element = SubElement(parent, "cross", name=cross.name, key=str(number))
    SubElement(element, "options", comment=cross.doc)
    for name in cross.of:
        SubElement(element, "crossExpr").text = name
    ignored, shape = _ignored(counts, cross.name), counts.group.shape(cross)
    for at, hits in enumerate(counts.hits[cross.name].tolist()):
        kind = IGNORED if at in ignored else COUNTED
        label = counts.group.label(cross.name, at)
        entry = SubElement(element, "crossBin", name=label, key=str(at), type=kind)
        for index in np.unravel_index(at, shape):
            SubElement(entry, "index").text = str(index)
        SubElement(entry, "contents", coverageCount=str(hits))
        _reason(entry, ignored.get(at))


def _ignored(counts: GroupCounts, name: str) -> dict[int, tuple[str, str]]:
    """Returns the index of each bin that does not count to (key, reason)."""
    group, wanted = counts.group, counts.wanted(name)
    found: dict[int, tuple[str, str]] = {}
    for at in np.flatnonzero(~wanted).tolist():
        if not group.reachable[name][at]:
            reason = group.by_name[name].bins[at].unreachable if name in group.by_name else ""
            found[at] = "unreachable", reason or "the combination cannot be"
        elif at in counts.excluded.get(name, {}):
            found[at] = "excluded", counts.excluded[name][at]
        else:
            needs = group.by_name[name].bins[at].needs if name in group.by_name else ""
            found[at] = (
                "scope",
                (f"only with {needs}" if needs else "no run sent the ops that it is about"),
            )
    return found


def _reason(entry: Element, why: tuple[str, str] | None) -> None:
    if why is not None:
        SubElement(entry, "userAttr", key=why[0], type="str").text = why[1]


# ---- import ----


def read_ucis(path: Path) -> Coverage:
    """Reads a file of :func:`write_ucis`: the same counts, totals and bins that do not count.

    Unreachable cells of crosses become excluded ones.

    Raises:
        PtoError: the file cannot be read, is no UCIS XML, or is incomplete.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise PtoError(f"the file cannot be read: {error.strerror}", where=str(path)) from None
    except ElementTree.ParseError as error:
        raise PtoError(
            f"this is no XML: {error}", where=str(path), remedy="export the coverage again"
        ) from None
    if root.tag != "UCIS" or root.get("ucisVersion") != VERSION:
        raise PtoError(
            f"this is {root.tag} of version {root.get('ucisVersion')}",
            where=str(path),
            legal=f"UCIS of version {VERSION}",
        )
    coverage = Coverage(())
    try:
        for element in root.iterfind("instanceCoverages/covergroupCoverage/cgInstance"):
            counts = _read_group(element)
            coverage.groups[counts.group.name] = counts
    except (KeyError, ValueError, AttributeError) as error:
        raise PtoError(
            f"the file lacks something or contradicts itself: {error}",
            where=str(path),
            remedy="read files that this project wrote",
        ) from None
    return coverage


def _comment(element: Element) -> str:
    options = element.find("options")
    return "" if options is None else options.get("comment", "")


def _why(entry: Element) -> tuple[str, str]:
    """Returns key and reason of a bin that does not count, empty for one that does."""
    if entry.attrib["type"] != IGNORED:
        return "", ""
    attribute = entry.find("userAttr")
    if attribute is None:
        return "excluded", "ignored"
    return attribute.attrib["key"], attribute.text or "ignored"


def _count(entry: Element) -> int:
    contents = next(entry.iter("contents"))
    return int(contents.attrib["coverageCount"])


def _read_group(element: Element) -> GroupCounts:
    points, crosses = [], []
    hits: dict[str, Ints] = {}
    why: dict[str, list[tuple[str, str]]] = {}
    for item in element.iterfind("coverpoint"):
        name, entries = item.attrib["name"], item.findall("coverpointBin")
        why[name] = [_why(entry) for entry in entries]
        bins = tuple(
            Bin(entry.attrib["name"], reason if key == "unreachable" else "")
            for entry, (key, reason) in zip(entries, why[name], strict=True)
        )
        points.append(Coverpoint(name, bins, _comment(item)))
        hits[name] = np.array([_count(entry) for entry in entries], dtype=np.int64)
    for item in element.iterfind("cross"):
        name, entries = item.attrib["name"], item.findall("crossBin")
        why[name] = [_why(entry) for entry in entries]
        of = tuple(part.text or "" for part in item.iterfind("crossExpr"))
        crosses.append(Cross(name, of, (), _comment(item)))
        hits[name] = np.array([_count(entry) for entry in entries], dtype=np.int64)
    group = CoverGroup(element.attrib["name"], tuple(points), tuple(crosses), _comment(element))
    counts = GroupCounts(group, hits)
    for name, reachable in group.reachable.items():
        _leave_out(counts, name, reachable.tolist(), why[name])
    return counts


def _leave_out(
    counts: GroupCounts, name: str, reachable: list[bool], why: list[tuple[str, str]]
) -> None:
    """Marks the bins that do not count, where the definition does not."""
    scope = np.array([key != "scope" for key, _ in why])
    if not scope.all():
        counts.scope[name] = scope
    reasons: Mapping[int, str] = {
        at: reason
        for at, (key, reason) in enumerate(why)
        if key in ("excluded", "unreachable") and reachable[at]
    }
    if reasons:
        counts.excluded[name] = dict(reasons)
