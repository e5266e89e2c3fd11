# SPDX-License-Identifier: Apache-2.0
"""Writes the report of a regression run: static pages that need no network.

A page is drawn from its data as JSON, which is written beside it: both have the same contents.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic_core import to_jsonable_python

from tb.common.errors import PtoError
from tb.regress.queries.views import RegressionView
from tb.report.code_pages import code_pages
from tb.report.coverage_pages import coverage_pages
from tb.report.failure_pages import failure_pages
from tb.report.overview import overview_pages
from tb.report.page import SECTIONS, STATIC, Links, Page, PageMaker, environment
from tb.report.tables import run_pages, spec_pages, testplan_pages

MAKERS: tuple[PageMaker, ...] = (
    overview_pages,
    run_pages,
    testplan_pages,
    spec_pages,
    failure_pages,
    coverage_pages,
    code_pages,
)
"""Who makes the pages; each gives its section's page first."""


def write(view: RegressionView, folder: Path) -> Path:
    """Writes the report of a regression run and returns the path of its first page.

    A reader sees the report that was there before or the whole new one.

    Args:
        view: The data.
        folder: Folder of the report; a report there is replaced.

    Raises:
        PtoError: the folder cannot be written.
    """
    pages = [page for make in MAKERS for page in make(view)]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
            fresh = Path(name) / "new"
            shutil.copytree(STATIC, fresh / "static")
            _render(view, pages, fresh)
            _replace(folder, fresh, Path(name) / "old")
    except OSError as error:
        raise PtoError(
            f"cannot write the report: {error.strerror}",
            where=str(folder),
            remedy="make room there or give another place, then write it again: pto-dv report",
        ) from None
    return folder / "index.html"


def _replace(folder: Path, fresh: Path, old: Path) -> None:
    """Puts ``fresh`` where ``folder`` is; what was there stays if that fails."""
    if not folder.exists():
        fresh.rename(folder)
        return
    folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _render(view: RegressionView, pages: Sequence[Page], fresh: Path) -> None:
    """Writes all pages into ``fresh``, each with its data beside it."""
    made = environment()
    paths = frozenset(page.path for page in pages)
    if len(paths) < len(pages):
        twice = sorted(path for path, times in Counter(p.path for p in pages).items() if times > 1)
        raise ValueError(f"two pages in one place: {', '.join(twice)}")
    counts = {page.path: page.count for page in pages}
    sections = [(path, label, counts[path]) for path, label in SECTIONS if path in paths]
    for page in pages:
        links = Links(page.path, paths)
        data = to_jsonable_python(
            {"title": page.title, "regression_run": view.regression_run, **page.data}
        )
        text = made.get_template(page.template).render(
            section=page.section or page.path,
            sections=sections,
            href=links.href,
            top=links.top,
            **data,
        )
        target = fresh / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.with_suffix(".json").write_text(json.dumps(data) + "\n", encoding="utf-8")
