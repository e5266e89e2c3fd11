# SPDX-License-Identifier: Apache-2.0
"""Pages of failures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tb.record.failure import Picture, PictureRow
from tb.record.shrunk import Shrunk
from tb.regress.plan.testplan import Known
from tb.regress.queries.views import Bucket, RegressionView
from tb.report.failure_pages import MOST_RUNS, failure_pages
from tb.report.page import Page, bucket_path
from tb.report.site import write
from tests.regress.made import SHRUNK
from tests.report.pages import Parsed
from tests.report.sample import NOTHING, sample_view

pytestmark = pytest.mark.long


def lean(view: RegressionView) -> RegressionView:
    """The regression run without what has pages of its own elsewhere."""
    return replace(view, code=None, plan=(), spec=(), coverage=NOTHING, all_time=NOTHING)


@pytest.fixture(scope="module")
def view() -> RegressionView:
    return lean(sample_view())


def bucket(view: RegressionView, kind: str) -> Bucket:
    return next(item for item in view.buckets if item.kind == kind)


def alone(view: RegressionView, item: Bucket) -> RegressionView:
    return replace(view, buckets=[item])


def page_of(view: RegressionView, item: Bucket) -> Page:
    return next(page for page in failure_pages(view) if page.path == bucket_path(item.id))


def words_of(view: RegressionView, item: Bucket, folder: Path) -> str:
    return Parsed(write(alone(view, item), folder / "report").parent / bucket_path(item.id)).words


def test_the_list_has_every_bucket(view: RegressionView, site: Path) -> None:
    words = Parsed(site / "failures.html").words
    for item in view.buckets:
        assert item.title in words
        assert item.example_run.command in words


def test_runs_without_a_bucket_are_listed(view: RegressionView, tmp_path: Path) -> None:
    (loose,) = [run for run in view.runs if run.state == "error"]
    kept = [bucket for bucket in view.buckets if loose.id not in bucket.runs]
    found = replace(view, runs=[replace(loose, bucket="")], buckets=kept)
    words = Parsed(write(found, tmp_path / "report").parent / "failures.html").words
    assert loose.key in words
    assert loose.message in words


def test_a_bucket_nobody_has_a_page_for_is_not_lost(view: RegressionView) -> None:
    kept = replace(view, buckets=view.buckets[1:])
    listed = next(iter(failure_pages(kept))).data["loose"]
    assert {run.id for run in listed} >= set(view.buckets[0].runs)


def test_a_page_says_how_to_repeat_and_what_it_is(view: RegressionView, site: Path) -> None:
    for item in view.buckets:
        page = Parsed(site / bucket_path(item.id))
        assert item.example_run.command in page.words
        assert f"pto-dv rerun {item.example_run.id}" in page.words
        assert f'data-copy="{item.example_run.command}"' in page.source
        for value in (item.kind, item.slot, item.op, item.field, item.rule, item.address_class):
            assert value in page.words
        for line in item.example.text.splitlines():
            assert " ".join(line.split()) in page.words
        assert len(item.runs) == sum(f'runs.html#r{run}"' in page.source for run in item.runs)


def test_new_and_known_are_told_apart(view: RegressionView, site: Path) -> None:
    for item in view.buckets:
        page = Parsed(site / bucket_path(item.id))
        new = item.first_regression == view.regression_run.name
        assert ('<span class="tag bad">new</span>' in page.source) == new
        assert (f"known since {item.first_regression}" in page.words) != new


def test_what_is_known_and_what_followed_is_shown(view: RegressionView, tmp_path: Path) -> None:
    item = bucket(view, "data")
    known = Known(bucket=item.id, reason="<pad>", owner="DMA", link="https://issues.example/4")
    later = ((item.id, "mte3: stray write", 3), ("B0123456789", "gone", 1))
    made = replace(alone(view, replace(item, later=later)), noted={item.id: known})
    folder = write(made, tmp_path / "report").parent
    page = Parsed(folder / bucket_path(item.id))
    for shown in (page, Parsed(folder / "failures.html")):
        assert "<pad>, DMA https://issues.example/4" in shown.words
        assert '<a href="https://issues.example/4"' in shown.source
    assert f'<a href="../{bucket_path(item.id)}">mte3: stray write</a>' in page.source
    assert '<th scope="row">gone</th><td class="num">1</td>' in page.source


def test_a_bucket_that_follows_stands_below_its_cause(view: RegressionView, tmp_path: Path) -> None:
    cause, effect = bucket(view, "data"), bucket(view, "status")
    shown = replace(view, buckets=[cause, replace(effect, follows=cause.id)])
    folder = write(shown, tmp_path / "report").parent
    words = f"follows from {cause.title}"
    pages = [Parsed(folder / name) for name in ("failures.html", bucket_path(effect.id))]
    assert all(page.words.count(words) == 1 for page in pages)
    assert pages[0].source.count('<article class="bucket effect">') == 1
    assert "follows from" not in Parsed(folder / bucket_path(cause.id)).words


def test_a_flaky_run_shows_both_outcomes(view: RegressionView, site: Path) -> None:
    item = bucket(view, "crash")
    results = page_of(view, item).data["results"]
    assert [result.state for result in results] == ["crash", "pass"]
    words = Parsed(site / bucket_path(item.id)).words
    assert "equal runs ended differently" in words
    steady = Parsed(site / bucket_path(bucket(view, "data").id)).words
    assert "equal runs ended differently" not in steady


def test_a_rerun_by_hand_makes_nothing_flaky(view: RegressionView, tmp_path: Path) -> None:
    item = bucket(view, "data")
    again = replace(item.reruns[0], state="pass")
    other = replace(again, run=item.runs[1], state="hang")
    made = alone(view, replace(item, reruns=(again, other)))
    folder = write(made, tmp_path / "report").parent
    page = Parsed(folder / bucket_path(item.id))
    assert "equal runs ended differently" not in page.words
    results = page_of(made, made.buckets[0]).data["results"]
    assert [(result.who, result.state) for result in results] == [
        (f"run {item.runs[0]}", "fail"),
        (f"run {item.runs[0]} again", "pass"),
        (f"run {item.runs[1]} again", "hang"),
    ]
    (listed,) = (folder / "failures.html").read_text().split("<article")[1:]
    assert "s-flaky" not in page.source
    assert "s-flaky" not in listed.split("</article>")[0]


def test_paths_of_files_are_shown(view: RegressionView, tmp_path: Path) -> None:
    item = bucket(view, "data")
    waves = tmp_path / "regression" / "runs" / "a b" / "waves.fst"
    waves.parent.mkdir(parents=True)
    waves.write_bytes(b"x")
    again = replace(item.reruns[0], waves=str(waves), timeline=str(tmp_path / "gone.json"))
    words = words_of(view, replace(item, reruns=(again,)), tmp_path)
    assert f"surfer '{waves}'" in words
    assert "gone.json (not there)" in words


def test_a_failure_is_shown_made_small_or_the_reason_why_not(
    view: RegressionView, tmp_path: Path
) -> None:
    item = bucket(view, "data")
    words = words_of(view, item, tmp_path / "small")
    for word in ("12 ops to 1", SHRUNK.program, SHRUNK.text, SHRUNK.command, SHRUNK.differs):
        assert word in words
    again = replace(item.reruns[0], shrunk=Shrunk(error="no program <repeats> it"))
    words = words_of(view, replace(item, reruns=(again,)), tmp_path / "none")
    assert "Made small no program <repeats> it" in words
    assert SHRUNK.command not in words


def test_the_picture_shows_each_wrong_byte(view: RegressionView, site: Path) -> None:
    item = bucket(view, "data")
    page = Parsed(site / bucket_path(item.id))
    picture = item.example.picture
    assert picture
    drawing = page_of(view, item).data["drawing"]
    wrong = sum(
        a != b
        for row in picture.rows
        for a, b in zip(bytes.fromhex(row.expected), bytes.fromhex(row.actual), strict=True)
    )
    assert sum(row.wrong for row in drawing.rows) == wrong
    assert page.source.count("<mark>") > 0
    marked = sum(len(text.split()) for line in drawing.lines for text, bad in line.actual if bad)
    assert marked == wrong
    assert picture.left_out in page.words


def test_a_failure_without_bytes_has_no_picture(view: RegressionView, site: Path) -> None:
    page = Parsed(site / bucket_path(bucket(view, "status").id))
    assert "picture" not in page.ids


def test_a_damaged_picture_costs_the_picture_alone(view: RegressionView, tmp_path: Path) -> None:
    item = bucket(view, "data")
    rows = [PictureRow(address=0, expected="00", actual="0")]
    example = item.example.model_copy(update={"picture": Picture(space="ub0", rows=rows)})
    words = words_of(view, replace(item, example=example), tmp_path)
    assert "a picture that cannot be read" in words
    assert item.example_run.command in words


def test_of_many_runs_the_first_are_listed(view: RegressionView, tmp_path: Path) -> None:
    item = bucket(view, "data")
    many = [replace(item.example_run, id=5000 + number) for number in range(MOST_RUNS + 7)]
    made = replace(item, runs=tuple(run.id for run in many))
    words = words_of(replace(view, runs=[*view.runs, *many]), made, tmp_path)
    assert "and 7 more in the table of runs" in words


def test_a_regression_run_without_failures_says_so(tmp_path: Path) -> None:
    made = lean(sample_view(regression_runs=1, runs=60, failing=False))
    folder = write(made, tmp_path / "report").parent
    assert "no run failed" in Parsed(folder / "failures.html").words
    assert not (folder / "failures").exists()
