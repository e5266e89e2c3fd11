# SPDX-License-Identifier: Apache-2.0
"""Where the links of a report lead, read off its pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Read(HTMLParser):
    """The addresses and anchors of one page."""

    addresses: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes note of one element."""
        for name, value in attrs:
            if name in ("href", "src"):
                self.addresses.append(value or "")
            if name == "id":
                self.anchors.add(value or "")


def read(page: Path) -> Read:
    """Returns the addresses and anchors of a page."""
    found = Read()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def broken_links(report: Path) -> list[str]:
    """Returns what leads nowhere, ``page: address``; an address that needs a network does, too.

    Anchors with ``=`` are states of filters, not places.
    """
    pages = {page.resolve(): read(page) for page in sorted(report.rglob("*.html"))}
    broken = []
    for page, found in pages.items():
        for address in found.addresses:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            target = page.parent / unquote(parts.path) if parts.path else page
            target = target.resolve()
            anchor = unquote(parts.fragment)
            lost = bool(anchor) and "=" not in anchor and target in pages
            if (
                not address
                or parts.scheme
                or parts.netloc
                or not target.exists()
                or (lost and anchor not in pages[target].anchors)
            ):
                broken.append(f"{page.relative_to(report.resolve())}: {address}")
    return broken
