# SPDX-License-Identifier: Apache-2.0
"""A page of the report: its path, and formats of numbers."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from tb.common.text import percent_text
from tb.record.settings import DEFAULT_PROFILE
from tb.regress.queries.views import RegressionView, RunRow

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"

SECTIONS: tuple[tuple[str, str], ...] = (
    ("index.html", "Overview"),
    ("failures.html", "Failures"),
    ("runs.html", "Runs"),
    ("testplan.html", "Testplan"),
    ("coverage.html", "Coverage"),
    ("code.html", "Code"),
    ("spec.html", "Specification"),
)
"""Path and label of the pages that every page links; those that do not exist are left out."""

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        path: From the top of the report, such as ``coverage/mte_gm_ub.html``.
        title: Its heading.
        template: File of ``templates/``.
        data: Data of the template, in addition to the regression run.
        section: Path of the section it belongs to; its own when empty.
        count: Shown next to the label of a section's own page, such as a number of failures.
    """

    path: str
    title: str
    template: str
    data: Mapping[str, Any] = field(default_factory=dict)
    section: str = ""
    count: int | None = None


PageMaker = Callable[[RegressionView], Iterable[Page]]
"""Makes the pages of one concern; none if the regression run has no data for it."""


def slug(text: str) -> str:
    """Returns ``text`` as a file name: different texts give different names."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")
    if plain and plain == text and len(plain) <= 80:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{plain[:60]}-{digest}" if plain else digest


def bucket_path(bucket: str) -> str:
    """Returns the path of the page of a failure bucket."""
    return f"failures/{slug(bucket)}.html"


def group_path(group: str) -> str:
    """Returns the path of the page of a coverage group."""
    return f"coverage/{slug(group)}.html"


def source_path(engine: str, path: str) -> str:
    """Returns the path of the page of a source of an engine."""
    return f"code/{slug(engine)}/{slug(path)}.html"


def filter_state(**wanted: str) -> str:
    """Returns a state of a table's filters as an anchor of its page."""
    return urlencode(wanted)


@dataclass(frozen=True)
class Links:
    """Addresses as one page writes them.

    Attributes:
        path: The page's, from the top of the report.
        pages: Paths of all pages.
        folder: Folder of the report.
        project: Base of relative paths of files.
    """

    path: str
    pages: frozenset[str]
    folder: Path
    project: Path

    @property
    def top(self) -> str:
        """The way from the page to the top of the report, empty or ending in ``/``."""
        return "../" * self.path.count("/")

    def href(self, path: str, anchor: str = "") -> str:
        """Returns the address of a page, empty if there is no such page."""
        if path not in self.pages:
            return ""
        return f"{self.top}{quote(path)}" + (f"#{anchor}" if anchor else "")

    def file(self, path: str) -> str:
        """Returns the address of a file or folder outside the report, empty if there is none."""
        if not path:
            return ""
        target = self.project / path
        if not target.exists():
            return ""
        # Of the real places, as a browser takes them: a link on the way may lead elsewhere.
        base = (self.folder.parent.resolve() / self.folder.name / self.path).parent
        return quote(os.path.relpath(target.resolve(), base))


def number(value: float) -> str:
    """Returns a count with thousands apart, or one below 100 that is no whole one with a digit."""
    if value < 100 and value != int(value):
        return f"{value:.1f}"
    return f"{round(value):,}".replace(",", NARROW_SPACE)


def compact(value: float) -> str:
    """Returns a large count in three figures: ``2.01 M``."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            scaled = value / size
            digits = 2 if scaled < 10 else 1 if scaled < 100 else 0
            return f"{scaled:.{digits}f}{NARROW_SPACE}{unit}"
    return number(value)


def duration(seconds: float) -> str:
    """Returns a time as ``24 min 20 s``: of a short one tenths, of a long one hours and minutes."""
    if seconds < 9.95:
        return f"{seconds:.1f}{NARROW_SPACE}s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole}{NARROW_SPACE}s"
    if minutes < 60:
        return f"{minutes}{NARROW_SPACE}min" + (f" {rest:02}{NARROW_SPACE}s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NARROW_SPACE}h" + (f" {minutes:02}{NARROW_SPACE}min" if minutes else "")


def signed(value: float, digits: int = 1) -> str:
    """Returns a change with its sign; no change is ``0``, a large one is in three figures."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0.0:
        return "0"
    if abs(value) >= 10_000:
        text = compact(abs(value))
    return f"{'+' if value > 0 else MINUS}{text}"


def moment(when: datetime | None) -> str:
    """Returns a time as ``2026-11-21 02:00 UTC``, and nothing for none."""
    return f"{when:%Y-%m-%d %H:%M %Z}".strip() if when else ""


def plural(count: int, one: str, many: str = "") -> str:
    """Returns a count with its noun."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def widths(run: RunRow) -> str:
    """Returns widths and profile of a run as ``256/256 a5 code``, the last with code coverage.

    The profile ``seed`` is not named.
    """
    profile = "" if run.profile == DEFAULT_PROFILE else f" {run.profile}"
    return f"{run.gm_width}/{run.local_width}{profile}" + (" code" if run.code_coverage else "")


def breakable(text: str) -> Markup:
    """Returns a path or name that may be broken where its parts meet."""
    return Markup(re.sub(r"(::|[/_.])", r"\1<wbr>", str(escape(text))))


def environment() -> Environment:
    """Returns what templates are rendered by: texts are escaped, unknown names are errors."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=number,
        compact=compact,
        duration=duration,
        signed=signed,
        moment=moment,
        percent=percent_text,
        plural=plural,
        slug=slug,
        breakable=breakable,
        widths=widths,
    )
    made.globals.update(
        bucket_path=bucket_path,
        group_path=group_path,
        source_path=source_path,
        filter_state=filter_state,
    )
    return made
