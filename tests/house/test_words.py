# SPDX-License-Identifier: Apache-2.0
"""Wording of help texts, messages, docstrings, comments and pages: patterns to avoid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb.common.paths import ROOT

ROOMS = ("tb", "scoreboards", "sequences")
SUFFIXES = (".py", ".j2", ".toml")

PATTERNS = {
    "is not a X, not: is no X": r"(?<!here )(?<!here\n)\b(?:is|are) no (?!longer\b)\w",
    "Returns whether, not: Tells whether": r"\b[Tt]ells? (?:whether|if|you|us)\b",
    "requests, not: asks for": r"\bask(?:s|ed)? for\b",
    "the noun, not: what is said of": r"\bis (?:to be )?said\b",
    "the standard verb, not: said, told, asked, tells": (
        r"(?<!\.)\b(?:said|told|asked|[Tt]ells)\b"
    ),
    "lists, names, prints, not: says": r"\b[Ss]ays?\b(?![(`])",
    "after, not: behind": r"\bbehind (?:the last|its|them|it|unpadded|a bracket)\b",
    "an action, not a fact, as remedy": r'remedy=f?"[^"]*\bis (?:the default|an example)"',
}
"""What to write, and the pattern that is not written."""


def texts() -> dict[str, str]:
    """Returns the sources of the bench and the pages, by path."""
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*"))]
    paths += [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for path in paths
        if path.suffix in (*SUFFIXES, ".md")
    }


def found(pattern: str, sources: dict[str, str]) -> list[str]:
    """Returns the places that match."""
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}"
        for path, text in sources.items()
        for match in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize("rule", PATTERNS)
def test_words(rule: str) -> None:
    assert found(PATTERNS[rule], texts()) == [], f"write: {rule}"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("is not a X, not: is no X", "x.png is no picture"),
        ("is not a X, not: is no X", "20 bytes are no whole number"),
        ("Returns whether, not: Tells whether", "Tells whether an op is legal."),
        ("requests, not: asks for", "mte2 asks for nothing"),
        ("the noun, not: what is said of", "what is to be said of an op"),
        ("the standard verb, not: said, told, asked, tells", "told: set[str] = set()"),
        ("lists, names, prints, not: says", "the note says what is assumed"),
        ("after, not: behind", "a byte behind the last row"),
        ("an action, not a fact, as remedy", 'remedy="N=20 is the default"'),
    ],
)
def test_a_pattern_is_found(rule: str, text: str) -> None:
    (place,) = found(PATTERNS[rule], {"x": f"first line\n{text}"})
    assert place.startswith("x:2: ")


@pytest.mark.parametrize("text", ["there is no op", "it is no longer there", "There are no runs"])
def test_what_may_be_written(text: str) -> None:
    assert found(PATTERNS["is not a X, not: is no X"], {"x": text}) == []


def test_the_sources_are_read() -> None:
    assert len(texts()) > 400
    assert all((ROOT / Path(path)).is_file() for path in texts())
