# SPDX-License-Identifier: Apache-2.0
"""Pages of coverage, code and failures in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.regress.queries.views import RegressionView
from tb.report.code_pages import not_covered
from tb.report.page import bucket_path, group_path, source_path
from tests.report.browser import VARIANTS, Scheme, Visitor, contrast_problems, too_wide

pytestmark = pytest.mark.long


def looked_at(view: RegressionView) -> list[str]:
    """One page of each template, with what it can show."""
    assert view.code
    # The shortest with something missing.
    missing = [file for file in view.code.files if any(not_covered(file))]
    sources = [min(missing, key=lambda file: len(file.lines))]
    flaky = next(item for item in view.buckets if item.example_run.state == "flaky")
    return [
        *("coverage.html", "code.html", "failures.html"),
        *(group_path(name) for name in ("rules", "faults")),
        *(source_path(file.engine, file.path) for file in sources),
        *(bucket_path(item.id) for item in (view.buckets[0], flaky)),
    ]


@pytest.mark.parametrize(("size", "scheme"), VARIANTS)
def test_each_page_is_readable(
    view: RegressionView, site: Path, visit: Visitor, size: tuple[int, int], scheme: Scheme
) -> None:
    for path in looked_at(view):
        page = visit(site / path, size=size, scheme=scheme)
        assert too_wide(page) <= 0, path
        assert contrast_problems(page) == [], path
        page.context.close()


def test_keys_scroll_what_is_wider_than_the_page(
    view: RegressionView, site: Path, visit: Visitor
) -> None:
    for path in looked_at(view):
        page = visit(site / path, size=(390, 844))
        stuck = page.evaluate(
            """() => [...document.querySelectorAll("main *")].filter((each) => {
              const style = getComputedStyle(each);
              return each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0
                && ["auto", "scroll"].includes(style.overflowX)
                && (each.tabIndex < 0 || !each.getAttribute("aria-label"));
            }).map((each) => each.outerHTML.slice(0, 80))"""
        )
        assert stuck == [], path
        page.context.close()


def test_the_repro_command_can_be_copied(view: RegressionView, site: Path, visit: Visitor) -> None:
    bucket = view.buckets[0]
    page = visit(site / bucket_path(bucket.id))
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    page.get_by_role("button", name="Copy command").first.click()
    assert page.evaluate("window.copied") == bucket.example_run.command


def test_a_hole_leads_to_its_cross(view: RegressionView, site: Path, visit: Visitor) -> None:
    page = visit(site / group_path("mte_gm_l1_frac"))
    link = page.locator(".holes tbody a", has_text=" x ").first
    name = link.inner_text()
    link.click()
    heading = page.locator(":target")
    assert heading.inner_text().startswith(name)
    box = heading.bounding_box()
    assert box
    assert 0 <= box["y"] < 768


def test_lists_of_what_is_missing_lead_to_the_line(
    view: RegressionView, site: Path, visit: Visitor
) -> None:
    path = next(path for path in looked_at(view) if path.startswith("code/"))
    page = visit(site / path)
    link = page.locator(".missing tbody a").first
    number = link.inner_text()
    link.click()
    row = page.locator(":target")
    assert row.locator("td").first.inner_text() == number
    assert row.get_attribute("class") in {"miss", "part"}
