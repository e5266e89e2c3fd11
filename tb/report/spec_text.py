# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/spec as HTML, with an anchor for each section, rule, ambiguity and example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tb.common.paths import ROOT

_ID = re.compile(r"([A-Z]+-[A-Z]?\d+)\b")
_SECTION = re.compile(r"(\d+)\. ")


def address(page: str) -> str:
    """Returns the path in a report of a page of the specification, such as docs/spec/dma.md."""
    return f"spec/{PurePath(page).stem}.html"


@cache
def rendered(page: str) -> tuple[str, str, frozenset[str]]:
    """Returns title, HTML and anchors of a page; all empty where it is not installed."""
    path = ROOT / page
    if not path.is_file():
        return "", "", frozenset()
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(path.read_text(encoding="utf-8"))
    title = ""
    if tokens and tokens[0].tag == "h1":
        title, tokens = tokens[1].content, tokens[3:]
    anchors: set[str] = set()
    for token, name in _named(tokens):
        if name not in anchors:
            anchors.add(name)
            token.attrSet("id", name)
    return title, markdown.renderer.render(tokens, markdown.options, {}), frozenset(anchors)


def _named(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Yields the tokens that get an anchor: headings, rows of tables, paragraphs."""
    row: Token | None = None
    for at, token in enumerate(tokens):
        if token.type == "tr_open":
            row = token
        elif token.type == "heading_open" and (found := _SECTION.match(tokens[at + 1].content)):
            yield token, f"section-{found[1]}"
        elif token.type in ("td_open", "paragraph_open"):
            target = token if row is None or token.type == "paragraph_open" else row
            if found := _ID.match(tokens[at + 1].content):
                yield target, found[1]
            row = None


def anchor(page: str, name: str, where: str) -> str:
    """Returns the anchor of an entry in its page: its own, that of its section, or none.

    Args:
        page: Such as docs/spec/dma.md.
        name: The entry, such as DMA-L05 or "A-40 deqs32".
        where: Its place, such as ``docs/spec/dma.md, section 5``.
    """
    *_, anchors = rendered(page)
    section = re.search(r"section (\d+)", where)
    own = _ID.match(name)
    names = (own[1] if own else "", f"section-{section[1]}" if section else "")
    return next((one for one in names if one in anchors), "")
