# SPDX-License-Identifier: Apache-2.0
"""Reads written pages: texts, identifiers, and links that lead nowhere."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

VOID = {"meta", "link", "br", "input", "img", "hr", "line", "rect", "circle", "polyline"}
"""Elements that have no end tag here."""


class Parsed(HTMLParser):
    """A page taken apart.

    Attributes:
        links: Values of ``href`` and ``src``.
        ids: Identifiers with how often they occur.
        words: Text without tags.
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
        return " ".join(" ".join(self._texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
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
        self._texts.append(data)


def parsed(folder: Path) -> dict[Path, Parsed]:
    """Returns the pages below ``folder``."""
    return {path.resolve(): Parsed(path) for path in sorted(folder.rglob("*.html"))}


def broken(pages: dict[Path, Parsed]) -> list[str]:
    """Returns what is wrong with pages: links that lead nowhere, identifiers that repeat, tags."""
    found = []
    for path, page in pages.items():
        found += [f"{path.name}: {text}" for text in page.wrong]
        found += [
            f"{path.name}: id {name} repeats" for name, times in page.ids.items() if times > 1
        ]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                found.append(f"{path.name}: {link} needs a network")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{path.name}: {link} leads nowhere")
            # An anchor with "=" is the state of a table's filters.
            elif parts.fragment and "=" not in parts.fragment and target in pages:
                known = unquote(parts.fragment) in pages[target].ids
                found += [] if known else [f"{path.name}: {link} has no such place"]
    return found
