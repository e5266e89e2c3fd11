# SPDX-License-Identifier: Apache-2.0
"""A page of the report: its path, its links, and what its template may call."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tb.common.paths import ROOT
from tb.common.text import percent_text
from tb.regress.queries.views import RegressionView
from tb.report import formats
from tb.report.charts import trend

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


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        path: From the top of the report, such as ``coverage/mte_gm_ub.html``.
        title: Its heading.
        template: File of ``templates/``.
        data: All that the page shows, besides the regression run; written as JSON beside it.
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


def existing(path: str) -> str:
    """Returns the path of a file or folder outside the report, empty if it does not exist.

    Pages show it as text: a link would be dead in a copy of the report.
    """
    return path if path and (ROOT / path).exists() else ""


@dataclass(frozen=True)
class Links:
    """Addresses as one page writes them.

    Attributes:
        path: The page's, from the top of the report.
        pages: Paths of all pages.
    """

    path: str
    pages: frozenset[str]

    @property
    def top(self) -> str:
        """The way from the page to the top of the report, empty or ending in ``/``."""
        return "../" * self.path.count("/")

    def href(self, path: str, anchor: str = "") -> str:
        """Returns the address of a page, empty if there is no such page."""
        if path not in self.pages:
            return ""
        return f"{self.top}{quote(path)}" + (f"#{anchor}" if anchor else "")


def combined(first: Mapping[str, str], *more: Mapping[str, str]) -> dict[str, str]:
    """Returns heads of a table as one mapping, in order."""
    return dict(chain(first.items(), *(heads.items() for heads in more)))


def environment(*more: Path) -> Environment:
    """Returns what templates are rendered by: texts are escaped, unknown names are errors.

    Args:
        more: Further folders of templates.
    """
    made = Environment(
        loader=FileSystemLoader([TEMPLATES, *more]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = ("number", "short", "duration", "signed", "moment", "plural", "breakable")
    made.filters.update({name: getattr(formats, name) for name in named})
    made.filters.update(percent=percent_text, slug=slug, combined=combined)
    made.globals.update(
        bucket_path=bucket_path,
        group_path=group_path,
        source_path=source_path,
        filter_state=filter_state,
        trend=trend,
    )
    return made
