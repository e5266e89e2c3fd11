# SPDX-License-Identifier: Apache-2.0
"""Reads written pages: their texts, identifiers, links, and tags that do not match."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}
"""Elements of HTML that have no end tag; those of SVG end themselves."""


class Parsed(HTMLParser):
    """A page taken apart.

    Attributes:
        links: Values of ``href`` and ``src``.
        ids: Identifiers with how often they occur.
        words: Text without tags, styles and scripts.
        wrong: End tags that end nothing, and elements that do not end.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._texts: list[str] = []
        self._open: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        self.wrong += [f"<{tag}> is not ended" for tag in self._open]

    @property
    def words(self) -> str:
        """The page's text with single blanks."""
        return " ".join(" ".join(self._texts).replace("\u202f", " ").split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # An element that ends itself comes by the other method alone.
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            if name == "id" and value:
                self.ids[value] += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.wrong.append(f"</{tag}> in {self._open[-1:]}")

    def handle_data(self, data: str) -> None:
        if self._open[-1:] not in (["style"], ["script"]):
            self._texts.append(data)


def malformed(folder: Path) -> list[str]:
    """Returns tags that do not match and identifiers that repeat in the pages below ``folder``."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        page = Parsed(path)
        found += [f"{path.name}: {text}" for text in page.wrong]
        found += [
            f"{path.name}: id {name} repeats" for name, times in page.ids.items() if times > 1
        ]
    return found


def broken_links(report: Path) -> list[str]:
    """Returns what leads nowhere or out of the report, ``page: address``.

    An address that needs a network does, too. Anchors with ``=`` are states of filters.
    """
    report = report.resolve()
    pages = {path: Parsed(path) for path in sorted(report.rglob("*.html"))}
    return [
        f"{path.relative_to(report)}: {address}"
        for path, page in pages.items()
        for address in page.links
        if not address.startswith("data:") and not _leads(path, address, report, pages)
    ]


def _leads(page: Path, address: str, report: Path, pages: dict[Path, Parsed]) -> bool:
    parts = urlsplit(address)
    if not address or parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    anchor = unquote(parts.fragment)
    if anchor and "=" not in anchor and target in pages and anchor not in pages[target].ids:
        return False
    return target.exists() and target.is_relative_to(report)
