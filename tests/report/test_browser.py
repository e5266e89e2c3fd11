# SPDX-License-Identifier: Apache-2.0
"""The pages in a browser: filters, order, keyboard, copying, contrast, narrow screens."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tb.regress.queries.views import RegressionView
from tb.report.code_pages import not_covered
from tb.report.page import SECTIONS, bucket_path, group_path, source_path
from tb.report.site import write
from tests.regress.made import COMMAND
from tests.report.browser import (
    PHONE,
    TABLET,
    VARIANTS,
    Locator,
    Page,
    Scheme,
    Visitor,
    contrast_problems,
    out_of_sight,
    outside,
    too_wide,
)
from tests.report.sample import NOTHING, sample_view

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a regression run of 2000 runs; what else there is does not matter."""
    made = replace(sample_view(), coverage=NOTHING, all_time=NOTHING, code=None)
    runs = [replace(made.runs[at % 300], id=5000 + at) for at in range(2000)]
    view = replace(made, runs=runs)
    return write(view, tmp_path_factory.mktemp("regression") / "report").parent


def choice(page: Page, name: str) -> Locator:
    """Returns the field that filters a column."""
    return page.locator(f"select[name={name}]")


def shown(page: Page, column: int) -> list[str]:
    """Returns the texts of a column of the run table in the rows that are shown."""
    return list(
        page.evaluate(
            """(column) => [...document.querySelectorAll("form ~ .scroll tbody tr")]
              .filter((row) => row.checkVisibility())
              .map((row) => row.cells[column - 1].textContent.trim())""",
            column,
        )
    )


def said(page: Page) -> str:
    """Returns the text next to the filters, once the page's script has written it."""
    return page.locator("output.shown:not(:empty)").inner_text()


def looked_at(view: RegressionView) -> list[str]:
    """One page of each template, with what it can show."""
    assert view.code
    # The shortest with something missing.
    missing = [file for file in view.code.files if any(not_covered(file))]
    sources = [min(missing, key=lambda file: len(file.lines))]
    flaky = next(item for item in view.buckets if item.example_run.state == "flaky")
    return [
        *(path for path, _ in SECTIONS),
        *(group_path(name) for name in ("rules", "faults")),
        *(source_path(file.engine, file.path) for file in sources),
        *(bucket_path(item.id) for item in (view.buckets[0], flaky)),
    ]


# What is wider than the window and cannot be scrolled by keys.
_STUCK = """() => [...document.querySelectorAll("main *")].filter((each) => {
  const style = getComputedStyle(each);
  return each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0
    && ["auto", "scroll"].includes(style.overflowX)
    && (each.tabIndex < 0 || !each.getAttribute("aria-label"));
}).map((each) => each.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("size", "scheme"), VARIANTS)
def test_each_page_is_readable(
    view: RegressionView, site: Path, visit: Visitor, size: tuple[int, int], scheme: Scheme
) -> None:
    for path in looked_at(view):
        page = visit(site / path, size=size, scheme=scheme)
        assert too_wide(page) <= 0, path
        assert contrast_problems(page) == [], path
        assert outside(page, "nav a") == [], path
        if size == PHONE:
            assert outside(page, ".scroll, form, h1") == [], path
            assert page.locator("table").count() == page.locator(".scroll table").count(), path
            assert page.evaluate(_STUCK) == [], path
            assert [found for found in out_of_sight(page) if not found[2]] == [], path
        page.context.close()


def test_a_narrow_window_has_all_columns_of_lists(
    view: RegressionView, site: Path, visit: Visitor
) -> None:
    for path in looked_at(view):
        page = visit(site / path, size=TABLET)
        assert too_wide(page) <= 0, path
        # A cross is as wide as its bins are many.
        wide = [found for found in out_of_sight(page) if not found[0].startswith("Cross ")]
        assert wide == [], path
        page.context.close()


def test_a_table_fades_at_the_edges_with_columns_out_of_sight(site: Path, visit: Visitor) -> None:
    page = visit(site / "runs.html", size=PHONE)
    for left, sides in ((0, ["right"]), (200, ["left", "right"]), (9999, ["left"])):
        page.evaluate(f"document.querySelector('.scroll').scrollLeft = {left}")
        page.wait_for_function(
            f"document.querySelector('.scroll').matches('{''.join('.more-' + x for x in sides)}')"
        )
        assert out_of_sight(page) == [("Runs", side, True) for side in sides]
    page.set_viewport_size({"width": 1366, "height": 768})
    page.wait_for_function("!document.querySelector('.more-left, .more-right')")
    assert not page.get_by_text("scroll sideways").is_visible()


def test_what_goes_wrong_on_a_page_is_seen(tmp_path: Path, visit: Visitor) -> None:
    (tmp_path / "bad.html").write_text(
        "<!doctype html><p style='color:#999;background:#fff'>pale</p>"
        "<div style='width:2000px'>wide</div><div class=scroll aria-label=cut style='width:9px'>"
        "<table><td>122</table></div><script>console.error('said')</script>"
        "<script>nothing.there()</script><img src='none.png'>"
    )
    page = visit(tmp_path / "bad.html")
    assert contrast_problems(page) == ["p.: 2.85 pale"]
    assert too_wide(page) > 600
    assert out_of_sight(page) == [("cut", "right", False)]
    text = " ".join(visit.errors)
    assert "console: said" in text
    assert "nothing is not defined" in text
    assert "none.png" in text
    visit.errors.clear()


def test_filters_and_searched_words_narrow_the_runs_and_stand_in_the_address(
    site: Path, visit: Visitor
) -> None:
    page = visit(site / "runs.html")
    assert said(page) == "300 rows"
    choice(page, "state").select_option("fail")
    page.wait_for_function("location.hash === '#state=fail'")
    assert set(shown(page, 1)) == {"fail"}
    choice(page, "test").select_option("stress")
    page.wait_for_function("location.hash === '#state=fail&test=stress'")
    assert said(page) == "3 of 300 rows"
    assert set(shown(page, 2)) == {"stress"}
    page.reload()
    assert said(page) == "3 of 300 rows"
    assert choice(page, "test").input_value() == "stress"
    page.get_by_role("button", name="Clear").click()
    page.wait_for_function("location.hash === ''")
    assert said(page) == "300 rows"
    for text, found in (
        ("4 kib CROSS", ["errors"]),
        ("icarus-gm128-local128-s0003", ["corner"]),  # the key of a run is in no column
        ("no such words", []),
    ):
        page.get_by_label("search").fill(text)
        page.wait_for_function(f"location.hash.includes('{text.split()[-1]}')")
        assert shown(page, 2) == found
        assert said(page) == f"{len(found)} of 300 rows"


def test_a_state_of_the_filters_can_be_linked(site: Path, visit: Visitor) -> None:
    page = visit(site / "runs.html", "test=random&widths=128%2F512+a5&sort=-seconds")
    assert said(page) == "25 of 300 rows"
    assert set(shown(page, 4)) == {"128/512 a5"}
    seconds = [float(text or 0) for text in shown(page, 8)]
    assert seconds == sorted(seconds, reverse=True)
    page.evaluate("location.hash = '#state=hang'")
    page.wait_for_function("document.querySelector('output.shown').value.startsWith('1 of')")
    # A value that no row has is shown as chosen, with no row.
    page.evaluate("location.hash = '#test=gone'")
    page.wait_for_function("document.querySelector('output.shown').value.startsWith('0 of')")
    assert choice(page, "test").input_value() == "gone"


def test_links_of_the_overview_lead_to_runs(site: Path, visit: Visitor) -> None:
    page = visit(site / "index.html")
    page.locator("#failed ~ .scroll tbody a", has_text=re.compile("^9$")).click()
    assert said(page) == "9 of 300 rows"
    page.go_back()
    page.locator(".num.s-fail a").first.click()
    assert "of 300 rows" in said(page)


def test_a_click_or_key_sorts(site: Path, visit: Visitor) -> None:
    page = visit(site / "runs.html")
    before = shown(page, 5)
    head = page.locator("th[data-column=seed]")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    seeds = [int(text) for text in shown(page, 5)]
    assert seeds == sorted(seeds, reverse=True)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert [int(text) for text in shown(page, 5)] == seeds[::-1]
    assert page.evaluate("location.hash") == "#sort=seed"
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None
    assert shown(page, 5) == before
    # Equal rows stay where they were.
    page.evaluate("location.hash = '#test=random&sort=test'")
    page.wait_for_function("document.querySelector('th[aria-sort]')")
    first = shown(page, 5)
    page.evaluate("location.hash = '#test=random'")
    page.wait_for_function("!document.querySelector('th[aria-sort]')")
    assert shown(page, 5) == first


def test_numbers_sort_as_numbers(site: Path, visit: Visitor) -> None:
    """Counts have spaces, changes have signs, cells may be empty."""
    page = visit(site / "index.html")

    def column(number: int) -> list[str]:
        return page.locator(f"#groups tbody tr > :nth-child({number})").all_inner_texts()

    page.locator("#groups thead th", has_text="bins").get_by_role("button").click()
    bins = [int(text.replace("\u202f", "")) for text in column(4)]
    assert bins == sorted(bins, reverse=True)
    assert bins[0] > 600
    page.locator("#groups thead th", has_text="since last").get_by_role("button").click()
    moves = [float(text.replace("\u2212", "-")) for text in column(5)]
    assert moves == sorted(moves, reverse=True)
    page.locator("#trend thead th", has_text="duration").get_by_role("button").click()
    names = page.locator("#trend tbody th").all_inner_texts()
    assert names == sorted(names, reverse=True)


@pytest.mark.parametrize("name", ["index", "runs"])
def test_keys_reach_everything_and_leave_again(site: Path, visit: Visitor, name: str) -> None:
    page = visit(site / f"{name}.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = page.evaluate(
        """() => [...document.querySelectorAll('a[href], button, select, input, summary, div')]
          .filter((each) => each.tabIndex >= 0 && each.checkVisibility()).length"""
    )
    page.evaluate("document.activeElement.blur()")
    page.evaluate(
        """() => { window.met = []; document.addEventListener('focusin', (event) => {
          const style = getComputedStyle(event.target);
          window.met.push([[...document.querySelectorAll('*')].indexOf(event.target),
            style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]); }); }"""
    )
    for _ in range(30):
        page.keyboard.press("Tab")
    met = page.evaluate("window.met")
    seen, outlines = {place for place, _ in met}, {outline for _, outline in met}
    assert outlines == {True}
    assert len(seen) >= min(28, reached)


def test_keys_filter_and_a_run_number_copies_its_command(site: Path, visit: Visitor) -> None:
    page = visit(site / "runs.html")
    choice(page, "state").focus()
    page.keyboard.type("hang")
    page.wait_for_function("location.hash === '#state=hang'")
    assert shown(page, 1) == ["hang"]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("tbody tr:visible td > button.copy").click()
    page.get_by_text("copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("make SIM=icarus TEST=pins SEED=")


def test_copying_works_without_the_clipboard_interface(
    view: RegressionView, site: Path, visit: Visitor
) -> None:
    bucket = view.buckets[0]
    page = visit(site / bucket_path(bucket.id))
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy command").first.click()
    page.get_by_text("copied").wait_for()
    read = visit(site / "index.html")
    read.context.grant_permissions(["clipboard-read"])
    assert read.evaluate("navigator.clipboard.readText()") == bucket.example_run.command


def test_what_cannot_be_copied_is_selected(site: Path, visit: Visitor) -> None:
    page = visit(site / "index.html")
    page.evaluate(
        """() => { Object.defineProperty(navigator, 'clipboard', { value: undefined });
          document.execCommand = () => false; }"""
    )
    page.get_by_role("button", name="Copy command").click()
    page.get_by_text("not copied").wait_for()
    assert page.evaluate("getSelection().toString()") == COMMAND


def test_pages_are_whole_without_scripts(site: Path, visit: Visitor) -> None:
    page = visit(site / "runs.html", scripts=False)
    assert page.locator("tbody tr:visible").count() == 300
    assert page.locator("form.filters").is_hidden()


def test_an_anchor_is_not_taken_for_a_filter(site: Path, visit: Visitor) -> None:
    page = visit(site / "spec.html", "FIX-L17")
    assert page.locator("#FIX-L17").is_visible()
    page.wait_for_function(
        "document.getElementById('FIX-L17').getBoundingClientRect().top < innerHeight"
    )
    assert page.evaluate("location.hash") == "#FIX-L17"


def test_two_thousand_runs_stay_usable(many: Path, visit: Visitor) -> None:
    assert (many / "runs.html").stat().st_size < 3_000_000
    page = visit(many / "runs.html", size=PHONE)
    took = page.evaluate(
        """() => { const from = performance.now();
          const field = document.querySelector('input[name=q]');
          field.value = 'verilator'; field.form.dispatchEvent(new Event('input'));
          return new Promise((done) => { const look = () => {
            if (location.hash.includes('verilator')) done(performance.now() - from);
            else setTimeout(look, 5); }; look(); }); }"""
    )
    assert took < 5000
    assert "of 2000 rows" in said(page)


def test_lists_of_what_is_missing_lead_to_the_line_and_to_the_cross(
    view: RegressionView, site: Path, visit: Visitor
) -> None:
    path = next(path for path in looked_at(view) if path.startswith("code/"))
    page = visit(site / path)
    link = page.locator("#not-covered tbody a").first
    number = link.inner_text()
    link.click()
    row = page.locator(":target")
    assert row.locator("td").first.inner_text() == number
    assert row.get_attribute("class") in {"miss", "part"}
    page = visit(site / group_path("mte_gm_l1_frac"))
    link = page.locator("#hole-list tbody a", has_text=" x ").first
    name = link.inner_text()
    link.click()
    heading = page.locator(":target")
    assert heading.inner_text().startswith(name)
    box = heading.bounding_box()
    assert box
    assert 0 <= box["y"] < 768
