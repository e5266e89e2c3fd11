# SPDX-License-Identifier: Apache-2.0
"""Rows of ops: code depends on their properties, not on the identity of one op.

A comparison with a row or a mnemonic, and a list of mnemonics, is a property that a new op cannot
have. The files below have a reason for theirs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from types import ModuleType
from typing import Any

import pytest

from scoreboards.model import dma
from tb.common.paths import ROOT
from tb.explain import layouts, maps
from tb.isa import nest, rules
from tb.isa.lower import OP_CLASSES
from tb.isa.ops import LAYOUTS, LEGACY_FORMS, OPS, TEXT_FORMS
from tb.regress.plan import spec

ROOMS = ("tb", "sequences", "scoreboards")

REASONS = {
    "tb/isa/": "the tables",
    "tb/language/": "forms of the PTO text with rules of their own (docs/spec/dialect.md)",
    "tb/explain/words.py": "phrases of fields of named ops",
    "tb/explain/forms.py": "forms of the PTO text, as the language has them",
    "tb/benchmark/measure.py": "the ops that the benchmark measures",
    "tb/prove/dut.py": "the ops that tb/prove/protocol.sv drives",
    "sequences/constraints.py": "constraints of the copies between GM and UB, which users have",
    "sequences/draw/traffic.py": "weights of the default mix",
    "sequences/corner/blocks.py": "corners of the copies with legacy forms",
    "sequences/corner/atomics.py": "corners of the stores with a legacy form",
    "sequences/fixpipe/links.py": "ops around write-backs",
    "sequences/fixpipe/layout.py": "ops around write-backs",
    "sequences/illegal/": "register forms, which are legacy alone",
    "sequences/outside/elements.py": "results of other projects, by op",
}
"""File or folder to the reason why it names ops."""

_ROW = re.compile(r"(?:MTE|RAW)_[A-Z0-9_]+$")
_CLASS = re.compile(r"Mte[A-Z]\w*$|RawFill\w*$")


def identities(source: str) -> Iterator[int]:
    """Yields the lines of a source that compare with one op, or list ops."""
    names = {*OPS, *LEGACY_FORMS, *TEXT_FORMS}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(_is_op(side, names) for side in sides):
                yield node.lineno
        elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            members = node.keys if isinstance(node, ast.Dict) else node.elts
            if sum(isinstance(x, ast.Constant) and x.value in names for x in members) > 1:
                yield node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            kinds = [x for x in ast.walk(node.args[1]) if isinstance(x, ast.Name)]
            if sum(bool(_CLASS.match(kind.id)) for kind in kinds) > 1:
                yield node.lineno


def _is_op(side: ast.expr, names: set[str]) -> bool:
    if isinstance(side, ast.Attribute):
        side = side.value
    if isinstance(side, ast.Constant):
        return side.value in names
    return isinstance(side, ast.Name) and bool(_ROW.match(side.id))


@pytest.mark.parametrize("room", ROOMS)
def test_no_op_is_meant_by_its_identity(room: str) -> None:
    found = []
    for path in sorted((ROOT / room).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(tuple(REASONS)):
            found += [f"{name}:{line}" for line in identities(path.read_text())]
    assert found == [], "make it a property of the row: tb/isa/fields.py, OpSpec"


@pytest.mark.parametrize("name", REASONS)
def test_every_reason_is_needed(name: str) -> None:
    path = ROOT / name
    files = path.rglob("*.py") if path.is_dir() else [path]
    assert any(list(identities(file.read_text())) for file in files)


@pytest.mark.parametrize(
    "line",
    [
        "if spec is MTE_L1_UB: pass",
        "if spec is not RAW_FILL_L1: pass",
        "x = opcode == MTE_UB_GM.opcode",
        "x = name == 'mte_gm_ub'",
        "x = ('mte_gm_ub', 'mte_gm_l1')",
        "x = {'mte_gm_ub': 1, 'mte_gm_l1': 2}",
        "isinstance(op, MteGmUb | MteUbGm)",
    ],
)
def test_an_identity_is_found(line: str) -> None:
    assert list(identities(f"\n{line}")) == [2]


@pytest.mark.parametrize(
    "line", ["if spec.gaps: pass", "isinstance(op, DmaOp)", "x = {'mte_gm_ub': 1}", "x = OPS[name]"]
)
def test_a_property_is_none(line: str) -> None:
    assert list(identities(line)) == []


TABLES = (
    *(
        (nest, "NESTS", LAYOUTS),
        (rules, "_FAMILIES", {*LAYOUTS} - {"burst"}),
        (maps, "MAPS", LAYOUTS),
    ),
    *((layouts, "LAYOUTS", LAYOUTS), (spec, "FILES", {row.rules for row in OPS.values()})),
    (dma, "_ISSUE", OP_CLASSES.values()),
)
"""Tables with an entry for each family, rule family or op: module, name, and the keys. Rules of a
burst copy are by its row."""


@pytest.mark.parametrize(("module", "name", "keys"), TABLES, ids=[row[1] for row in TABLES])
def test_every_family_is_in_every_table(
    module: ModuleType, name: str, keys: Collection[Any]
) -> None:
    lost = [key for key in keys if key not in getattr(module, name)]
    assert not lost, f"{name} of {module.__file__} has no entry for {lost}"
