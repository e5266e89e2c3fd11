# SPDX-License-Identifier: Apache-2.0
"""Coverage of the specification: tests that exercised each rule and worked value.

Runs count what they exercised (``RunRecord.exercised``); which tests of pytest name a rule or a
value is read off their sources, without running them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tb.common.paths import ROOT
from tb.isa.fields import rule_name
from tb.isa.rules import RULES
from tb.regress.plan.spec_values import values
from tb.regress.queries.views import SpecRow

FILES: Mapping[str, str] = {
    "DMA": "docs/spec/dma.md",
    "ND": "docs/spec/nd2nz.md",
    "BT": "docs/spec/bias_fb.md",
    "FB": "docs/spec/bias_fb.md",
    "FIX": "docs/spec/fixpipe.md",
    "LD": "docs/spec/l0_loads.md",
    "RF": "docs/spec/dma.md",
}
"""Family of a rule to its file of the specification."""

CLASSES: Mapping[str, str] = {
    "S": "refused before it is issued",
    "D": "reported by the engine",
    "T": "never sent",
}
"""Class of a rule to what becomes of an op that breaks it."""

_REGISTRIES: Mapping[str, str] = {
    "EXAMPLES": "",
    "CONVERSIONS": "",
    "FORMATS": "",
    "RULE_EXAMPLES": "rule check ",
}
"""Lists of :mod:`sequences.examples.catalog`, to how their names begin in the catalogue: a
test that goes through one names all of it."""

_FOLDERS = ("isa", "model", "sequences", "scoreboards", "arith", "hdl", "sim", "examples")
"""Folders of ``tests`` that check the specification; others name rules in passing."""

_CORPUS = "tests/language/corpus/illegal"
_CORPUS_TEST = "tests/language/test_corpus.py::test_every_case_has_the_expected_findings"
"""Programs that are refused, each with its rule in the first line, and the test that tries them."""

_STIMULUS = "sequences.examples.catalog"


@dataclass(frozen=True)
class SpecItem:
    """A rule or worked value; ``unit_tests`` check it without naming it."""

    name: str
    kind: str
    text: str
    where: str
    unit_tests: tuple[str, ...] = ()


@cache
def catalogue() -> tuple[SpecItem, ...]:
    """Returns every rule and worked value of the specification."""
    rules = [
        SpecItem(rule.name, "rule", f"{rule.title} ({CLASSES[rule.kind]})", FILES[rule.family])
        for rule in RULES.values()
    ]
    worked = [SpecItem(v.name, "value", v.text, v.where, v.unit_tests) for v in values()]
    return (*rules, *worked)


def item_of(name: str) -> str | None:
    """Returns the catalogue's name for an item that a run reports as exercised, or None.

    Examples of one worked value have more words after its name; the longest name that fits counts.
    """
    fits = [
        item.name
        for item in catalogue()
        if name == item.name or name.startswith((f"{item.name} ", f"{item.name},"))
    ]
    return max(fits, key=len, default=None)


def spec_rows(exercised: Mapping[str, Mapping[str, int]], root: Path = ROOT) -> list[SpecRow]:
    """Returns the catalogue with the tests that exercised each item.

    Args:
        exercised: Test of the plan to name to count, summed over all runs of a regression run,
            failed ones included: a run counts only what was checked and right.
        root: Top of the project; its ``tests`` folder is read.
    """
    counts: dict[str, dict[str, int]] = {}
    for test, names in exercised.items():
        for name, count in names.items():
            item = item_of(name)
            if item is not None:
                mine = counts.setdefault(item, {})
                mine[test] = mine.get(test, 0) + count
    named = _tests_by_item(root)
    return [
        SpecRow(
            name=item.name,
            kind=item.kind,
            text=item.text,
            where=item.where,
            tests=counts.get(item.name, {}),
            unit_tests=tuple(sorted({*named.get(item.name, ()), *item.unit_tests})),
        )
        for item in catalogue()
    ]


@cache
def _tests_by_item(root: Path) -> Mapping[str, tuple[str, ...]]:
    """Returns name of the catalogue to the tests of pytest that name it, ``file::function``.

    A test names what its source contains, with its decorators and the constants of its module that
    it uses, comments included. Where it makes names of rules from their numbers, as in
    ``f"FIX-L{number:02d}"``, the numbers that end the tuples of its cases count.
    """
    found: dict[str, list[str]] = {}
    files = [path for name in _FOLDERS for path in (root / "tests" / name).rglob("test_*.py")]
    for path in sorted(files):
        file = path.relative_to(root).as_posix()
        for function, names in _names_in(path.read_text()):
            for name in names:
                found.setdefault(name, []).append(f"{file}::{function}")
    for name in _refused_in(root / _CORPUS):
        found.setdefault(name, []).append(_CORPUS_TEST)
    return {name: tuple(tests) for name, tests in found.items()}


def _refused_in(corpus: Path) -> set[str]:
    """Returns the rules that the corpus expects (``// expected:``, ``// warns:``)."""
    lines = [line for path in corpus.rglob("*.pto") for line in path.read_text().splitlines()]
    marks = ("// expected:", "// warns:")
    expected = [line for line in lines if line.lstrip().startswith(marks)]
    return {name for line in expected for name in _mentioned(line)}


def _names_in(source: str) -> Iterator[tuple[str, set[str]]]:
    """Yields each test function of a module with what it names."""
    tree = ast.parse(source)
    lines = source.splitlines()
    constants = {
        target.id: node
        for node in tree.body
        for target in _targets(node)
        if isinstance(target, ast.Name)
    }
    lists = {
        alias.asname or alias.name: alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == _STIMULUS
        for alias in node.names
        if alias.name in _REGISTRIES
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            parts, used = _reach(node, constants)
            text = "\n".join(_text(part, lines) for part in parts)
            names = _mentioned(text) | _numbered(parts)
            for word, registry in lists.items():
                if word in used:
                    names |= _all_of(registry)
            yield node.name, names


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def _reach(
    test: ast.FunctionDef, constants: Mapping[str, ast.stmt]
) -> tuple[list[ast.stmt], set[str]]:
    """Returns a test with the constants that it uses, directly or not, and all words in them."""
    parts: list[ast.stmt] = [test]
    words: set[str] = set()
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and node.id not in words:
                words.add(node.id)
                constant = constants.get(node.id)
                if constant is not None and constant not in parts:
                    parts.append(constant)
    return parts, words


def _text(node: ast.stmt, lines: list[str]) -> str:
    decorators: Iterable[ast.expr] = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(one.lineno for one in decorators)])
    return "\n".join(lines[first - 1 : node.end_lineno])


@cache
def _pattern() -> re.Pattern[str]:
    # Names of our own are common words; their tests are in the catalogue.
    items = [item.name for item in catalogue() if not item.unit_tests]
    names = sorted(items, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")


def _mentioned(text: str) -> set[str]:
    return set(_pattern().findall(text))


def _numbered(parts: Iterable[ast.stmt]) -> set[str]:
    """Returns the rules that a test makes from their numbers."""
    nodes = [node for part in parts for node in ast.walk(part)]
    families = {
        found.group(1)
        for node in nodes
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant)
        if (found := re.fullmatch(r"(\w+)-L", str(node.values[0].value)))
    }
    numbers = {
        node.elts[-1].value
        for node in nodes
        if isinstance(node, ast.Tuple) and node.elts and isinstance(node.elts[-1], ast.Constant)
        if type(node.elts[-1].value) is int
    }
    names = {rule_name(family, number) for family in families for number in numbers}
    return names & set(RULES)


def _all_of(registry: str) -> set[str]:
    """Returns the items of the catalogue that a list of the stimulus has."""
    from sequences.examples import catalog

    prefix = _REGISTRIES[registry]
    names = (item_of(prefix + example.name) for example in getattr(catalog, registry))
    return {name for name in names if name}
