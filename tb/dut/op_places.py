# SPDX-License-Identifier: Apache-2.0
"""``doctor --op``: the places that no row of an op can fill, and those that lack the op."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from tb.common.errors import PtoError
from tb.common.paths import ROOT, relative
from tb.common.text import columns, meant
from tb.isa.fields import OpSpec
from tb.isa.ops import OPS
from tb.isa.verilog import HEADER, header_text


@dataclass(frozen=True)
class Place:
    """A concern of an op outside its row.

    Attributes:
        name: The concern.
        files: Glob below the project, with ``{slot}``.
        pattern: Regular expression of the op there, with ``{op}`` and ``{code}``, the name of its
            opcode in Verilog.
        remedy: What to add.
    """

    name: str
    files: str
    pattern: str
    remedy: str


PLACES = (
    Place("unit", "rtl_stubs/pto_{slot}/**/*.sv", r"{code}\b",
          "give the opcode to a unit: Ops, or UnitOneOps of the engine"),
    Place("rule check", "rtl_stubs/**/*_check.sv", r"{code}\b", "add the row of its D rules"),
    Place("manifest", "rtl_stubs/pto_{slot}/manifest.toml", r'"{op}"', "add it to ops"),
    Place("testplan", "tb/regress/plan/testplan.toml", r'"{op}"',
          "add its coverage group to groups of its behaviours"),
    Place("worked example", "sequences/examples/data/*.toml", r"\b{op}\b",
          "add an image of docs/spec"),
    Place("text", "tests/language/corpus/**/*.pto", r"\b{op}\b",
          "add a legal and an illegal case"),
)  # fmt: skip

BY_HAND = (
    ("second reading", "tests/model", "a naive model of its bytes, from docs/spec alone"),
    ("injected bugs", "tests/bugs/bugs.toml", "one for each thing that its Verilog can get wrong"),
    ("speed", "sequences/streams", "a stream, and its clocks in the manifest"),
)
"""Concerns that a name does not show: where, and what."""


def _holders(place: Place, spec: OpSpec) -> list[str]:
    names = {"op": re.escape(spec.name), "code": f"`PTO_OP_{spec.name.upper()}"}
    pattern = re.compile(place.pattern.format(**names))
    paths = sorted(ROOT.glob(place.files.format(slot=spec.slot)))
    return [
        relative(path)
        for path in paths
        if path.is_file() and pattern.search(path.read_text(encoding="utf-8", errors="ignore"))
    ]


def _rows(spec: OpSpec) -> Iterator[tuple[str, str, str]]:
    """Yields status, concern, and where the op is or what to do."""
    header = ROOT / HEADER
    fresh = header.is_file() and header.read_text(encoding="utf-8") == header_text()
    stale = f"{HEADER}: python -m tb.isa.verilog"
    yield ("ok", "header", str(HEADER)) if fresh else ("MISSING", "header", stale)
    for place in PLACES:
        found = _holders(place, spec)
        where = place.files.format(slot=spec.slot)
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield (
            ("ok", place.name, f"{found[0]}{more}")
            if found
            else ("MISSING", place.name, f"{where}: {place.remedy}")
        )
    manifest = ROOT / f"rtl_stubs/pto_{spec.slot}/manifest.toml"
    if manifest.is_file():
        can = tomllib.loads(manifest.read_text(encoding="utf-8"))["capabilities"]
        lost = [name for name in spec.rule_names if name not in can["d_rules"]]
        remedy = f"{relative(manifest)}: add {', '.join(lost)} to d_rules"
        yield ("MISSING", "rules", remedy) if lost else ("ok", "rules", relative(manifest))
    for name, where, what in BY_HAND:
        yield "by hand", name, f"{where}: {what}"


def op_command(name: str) -> int:
    """Prints where an op is, and what its row does not give it; 1 where something is missing.

    Raises:
        PtoError: there is no such op.
    """
    if name not in OPS:
        raise PtoError(
            f"op {name!r} has no row{meant(name, OPS)}",
            where="--op",
            legal=", ".join(OPS),
            remedy="a new op begins with its row: docs/architecture.md, Adding an op",
        )
    rows = list(_rows(OPS[name]))
    print("\n".join(columns([("status", "place", "where or what to do"), *rows], left=3)))
    return 1 if any(row[0] == "MISSING" for row in rows) else 0
