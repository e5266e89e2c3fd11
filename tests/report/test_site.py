# SPDX-License-Identifier: Apache-2.0
"""The report as files: contents of its pages, targets of links, and errors."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.record.outside import OutsideGroup, OutsideRow
from tb.regress.queries.views import (
    FAILED,
    Figures,
    OutsideView,
    RegressionStatus,
    RegressionView,
    RunState,
)
from tb.report import site as module
from tb.report.coverage_pages import group_rows
from tb.report.overview import _code, run_sets, verdict
from tb.report.page import TEMPLATES, bucket_path, group_path
from tb.report.site import write
from tests.regress.made import COMMAND
from tests.report.pages import Parsed, broken_links, malformed
from tests.report.sample import NOTHING, sample_view

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def report(site: Path) -> Path:
    """The first page of the report."""
    return site / "index.html"


@pytest.fixture(scope="module")
def few(view: RegressionView) -> RegressionView:
    """The same without coverage, which has most of the pages."""
    return replace(view, coverage=NOTHING, all_time=NOTHING, code=None)


@pytest.fixture(scope="module")
def good() -> RegressionView:
    """The first regression run of a database, all passed, without coverage."""
    view = sample_view(regression_runs=1, runs=60, failing=False)
    return replace(view, coverage=NOTHING, all_time=NOTHING, code=None)


def text_of(page: Path) -> str:
    """Returns the words of a page, one space between them."""
    return Parsed(page).words


def table_rows(index: Path, name: str) -> list[list[str]]:
    """The cells of a table of a page as words, the head first."""
    table = index.read_text().split(f'id="{name}"')[1].split("</table>")[0]
    rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.split(r"</t[hd]>", row)[:-1]]
        for row in rows
    ]


@pytest.fixture(scope="module")
def with_files(few: RegressionView, tmp_path_factory: pytest.TempPathFactory) -> RegressionView:
    """The regression run with exports, and with files of its failed runs and of a rerun."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "a b").mkdir()
    for name in ("junit.xml", "waves.fst"):
        (folder / name).write_text("")
    runs = [replace(row, folder=str(folder / "a b")) for row in few.runs]
    again = replace(few.buckets[0].reruns[0], waves=str(folder / "waves.fst"))
    buckets = [replace(few.buckets[0], reruns=(again,)), *few.buckets[1:]]
    regression_run = replace(few.regression_run, folder=str(folder))
    return replace(few, runs=runs, buckets=buckets, regression_run=regression_run)


def test_pages_are_well_formed_and_their_links_lead_somewhere(site: Path) -> None:
    assert malformed(site) == []
    assert broken_links(site) == []


def test_a_copied_report_has_no_dead_links(with_files: RegressionView, tmp_path: Path) -> None:
    folder = write(with_files, tmp_path / "regression" / "report").parent
    copied = shutil.copytree(folder, tmp_path / "elsewhere" / "deep" / "copy")
    shutil.rmtree(folder.parent)
    assert broken_links(copied) == []
    words = {path.name: text_of(path) for path in copied.rglob("*.html")}
    path = with_files.regression_run.folder
    assert f"{path}/junit.xml" in words["index.html"]
    assert "merged.dat.gz" not in words["index.html"]
    failed = sum(row.state in FAILED for row in with_files.runs)
    assert words["runs.html"].count(f"{path}/a b") == failed
    bucket = copied / bucket_path(with_files.buckets[0].id)
    assert f"surfer {path}/waves.fst" in text_of(bucket)
    assert f"{path}/a b" in text_of(bucket)


def leaves(data: Any, name: str) -> Iterator[Any]:
    """Yields the values of a key anywhere in a page's data."""
    if isinstance(data, dict):
        yield from (value for key, value in data.items() if key == name)
    for item in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from leaves(item, name)


def test_each_page_has_its_data_beside_it(view: RegressionView, report: Path) -> None:
    pages = sorted(report.parent.rglob("*.html"))
    assert sorted(report.parent.rglob("*.json")) == [page.with_suffix(".json") for page in pages]
    for page in pages:
        data, words = json.loads(page.with_suffix(".json").read_text()), text_of(page)
        for text in (data["title"], data["regression_run"]["name"]):
            assert " ".join(text.split()) in words
    runs = json.loads(report.with_name("runs.json").read_text())["rows"]
    assert {run["id"]: run["command"] for run in runs} == {run.id: run.command for run in view.runs}
    for name, counts in view.coverage.groups.items():
        group = json.loads((report.parent / group_path(name)).with_suffix(".json").read_text())
        hits = {point["name"]: list(leaves(point, "hits")) for point in group["points"]}
        assert hits == {point: counts.hits[point].tolist() for point in hits}


def test_commands_that_repeat_failures_are_whole_and_can_be_copied(
    view: RegressionView, report: Path
) -> None:
    commands = {row.command for row in view.runs if row.state in FAILED}
    for page in report.parent.rglob("*.html"):
        source = page.read_text()
        shown = re.findall(r'<code>([^<]*)</code><button type="button" class="copy"', source)
        copied = re.findall(r'</code><button [^>]*data-copy="([^"]*)"', source)
        assert shown == copied
        if page.name == "runs.html":
            assert set(shown) == commands
    for bucket in view.buckets:
        data = json.loads((report.parent / bucket_path(bucket.id)).with_suffix(".json").read_text())
        assert data["row"]["command"] == bucket.example_run.command in commands


@pytest.mark.parametrize(
    "address",
    [
        "none.html",
        "index.html#nowhere",
        "#nowhere",
        "https://example.org/x.css",
        "//example.org/x",
        "",
        "static/none.css",
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, address: str) -> None:
    (tmp_path / "index.html").write_text(f'<h1 id="here">x</h1><a href="{address}">y</a>')
    assert broken_links(tmp_path) == [f"index.html: {address}"]


def test_the_overview_says_what_matters(view: RegressionView, report: Path) -> None:
    moved = view.difference
    assert moved
    text = text_of(report)
    for words in (
        "FAIL 18 of 290 runs failed in 7 buckets, 5 of them new; 10 of 300 planned did not run: "
        "the budget of 10 min was used up.",
        "Pass rate 93.8 %",
        "since last trend all regression runs %",
        "Newly failing 6",
        "Buckets new 5",
        f"Bins won {len(moved.won)}",
        COMMAND,
        "with changes that are not committed",
        "directed-icarus-gm256-local256-s0000: the record is missing",
        "Icarus Verilog 12.0, Verilator 5.036",
    ):
        assert words in text, words


def test_what_needs_a_look_comes_first(view: RegressionView, report: Path) -> None:
    _, *rows = table_rows(report, "groups")
    percents = [float(row[1]) for row in rows]
    assert len(percents) == 12
    assert percents == sorted(percents), "groups with most holes"
    page = report.with_name("runs.html").read_text()
    states = re.findall(r'<tr id="r\d+".*?class="state s-([a-z]+)', page)
    order = [{"pass": 1, "planned": 2}.get(state, 0) for state in states]
    assert len(states) == 300
    assert order == sorted(order), "failing runs"
    page = report.with_name("spec.html").read_text()
    by = re.findall(r'</th><td><span class="state[^"]*">([a-z ]+)<', page.split('id="spec"')[1])
    who = ["nothing", "unit tests", "regression"]
    assert len(by) == len(view.spec)
    assert by == sorted(by, key=who.index), "what nobody exercised"


def test_each_entry_of_the_specification_links_to_its_text(
    view: RegressionView, report: Path
) -> None:
    page = report.with_name("spec.html").read_text()
    links = set(re.findall(r'href="(spec/[^"]+)"', page))
    assert page.count('href="spec/') == len(view.spec)
    for row in view.spec:
        if row.kind == "rule":
            assert f"spec/{Path(row.where).stem}.html#{row.name}" in links
    text = text_of(report.with_name("spec") / "nd2nz.html")
    assert "ND-L08" in text
    assert "<table>" not in text, "rendered, not escaped"
    assert '<tr id="ND-L08">' in (report.with_name("spec") / "nd2nz.html").read_text()


def test_a_first_regression_run_has_nothing_to_compare_with(
    good: RegressionView, tmp_path: Path
) -> None:
    folder = write(good, tmp_path / "report").parent
    assert malformed(folder) == []
    assert broken_links(folder) == []
    text = text_of(folder / "index.html")
    assert "PASS all 60 runs passed." in text
    assert "This is the first run of this regression" in text
    assert "What failed Nothing." in text
    assert "since last" not in text


def test_a_regression_run_without_anything_is_a_page(good: RegressionView, tmp_path: Path) -> None:
    regression_run = replace(
        good.regression_run, status="complete", ended=None, figures=Figures(), commit="", host=""
    )
    failed = "the build verilator-gm256-local256 failed"
    empty = replace(good, regression_run=replace(regression_run, code={}), notes=[failed])
    empty = replace(empty, runs=[], plan=[], spec=[], trend=[])
    index = write(empty, tmp_path / "report")
    assert broken_links(index.parent) == []
    text = text_of(index)
    assert "FAIL no run was done." in text
    assert failed in text
    assert not (index.parent / "testplan.html").exists()
    assert 'href="testplan.html"' not in index.read_text()


def uncounted(view: RegressionView, *places: int) -> RegressionView:
    """The regression run with points of its trend that have no coverage."""
    nothing: dict[str, Any] = {"coverage": None, "groups": {}, "code": {}}
    trend = list(view.trend)
    for place in places:
        trend[place] = replace(trend[place], **nothing)
    return replace(view, trend=trend)


def test_a_regression_run_without_coverage_is_no_point_of_a_line(
    few: RegressionView, tmp_path: Path
) -> None:
    gap = uncounted(few, -2)
    index = write(gap, tmp_path / "report")
    head, _, missing, before = table_rows(index, "trend")[:4]
    at = head.index("coverage %")
    kinds = 1 + len(few.regression_run.code)
    assert missing[at : at + kinds] == ["-"] * kinds
    assert before[at] == f"{few.trend[-3].coverage:.1f}"
    (label,) = re.findall(r'aria-label="(Functional coverage over [^"]*)"', index.read_text())
    assert few.trend[-2].name not in label
    assert few.trend[-3].name in label
    last, counted = few.trend[-1], few.trend[-3]
    assert last.coverage
    assert counted.coverage
    moved = f"{last.coverage - counted.coverage:+.1f}"
    assert f"Functional coverage {last.coverage:.1f} % {moved} " in text_of(index)
    assert {row.kind: row.change for row in _code(gap) if row.kind in counted.code} == {
        kind: pytest.approx(last.code[kind] - counted.code[kind]) for kind in counted.code
    }


@pytest.mark.parametrize(("gaps", "before"), [((), -2), ((-2,), -3), ((0, 1, 2, 3), None)])
def test_groups_move_since_the_last_regression_run_that_counted_them(
    view: RegressionView, gaps: tuple[int, ...], before: int | None
) -> None:
    old = {} if before is None else view.trend[before].groups
    for row in group_rows(uncounted(view, *gaps)):
        assert row.move == (pytest.approx(row.percent - old[row.name]) if old else None)


def test_a_regression_run_that_counted_nothing_says_so(few: RegressionView, tmp_path: Path) -> None:
    regression_run = replace(few.regression_run, coverage=None, groups={}, code={})
    index = write(replace(uncounted(few, -1), regression_run=regression_run), tmp_path / "report")
    text = text_of(index)
    assert "Functional coverage - no run counted it" in text
    assert "100.0 % over all regression runs" not in text
    lead = text_of(index.with_name("coverage.html"))
    assert "no run counted it" in lead
    assert "bins hit in this regression run" not in lead
    assert "No run of this regression run counted functional coverage." in lead


def test_runs_that_count_code_coverage_are_a_configuration(
    good: RegressionView, tmp_path: Path
) -> None:
    plain = replace(
        good.runs[0], sim="verilator", gm_width=256, local_width=256, test="both",
        code_coverage=False,
    )  # fmt: skip
    bad = replace(plain, id=9001, code_coverage=True, state="fail")
    view = replace(good, runs=[plain, bad, replace(plain, id=9002, profile="a5")])
    assert {item.widths: item.state for item in run_sets(view.runs)} == {
        "256/256": "pass",
        "256/256 a5": "pass",
        "256/256 code": "fail",
    }
    index = write(view, tmp_path / "report")
    assert 'href="runs.html#test=both&amp;sim=verilator&amp;widths=256%2F256+code"' in (
        index.read_text()
    )
    page = index.with_name("runs.html").read_text()
    for cell in ("<option>256/256 code</option>", "<td>256/256 a5</td>", "<td>256/256 code</td>"):
        assert cell in page


@pytest.mark.parametrize(
    ("status", "not_run", "word", "words"),
    [
        ("complete", 0, "PASS", "all 60 runs passed"),
        ("budget", 5, "PASS", "5 of 65 planned did not run: the budget of 10 min was used up"),
        ("interrupted", 5, "INCOMPLETE", "did not run: the regression run was interrupted"),
        ("running", 5, "INCOMPLETE", "did not run yet: the regression run is still active"),
    ],
)
def test_the_verdict_of_a_regression_run(
    good: RegressionView, status: RegressionStatus, not_run: int, word: str, words: str
) -> None:
    figures = replace(good.regression_run.figures, not_run=not_run, planned=60 + not_run)
    regression_run = replace(
        good.regression_run, status=status, figures=figures, budget_seconds=600.0
    )
    view = replace(good, regression_run=regression_run)
    found = verdict(view)
    assert found.word == word
    assert words in found.text.replace("\u202f", " ")
    states: tuple[RunState, ...] = ("fail", "flaky", "lost", "error", "crash", "hang")
    for state in states:
        bad = replace(good.runs[0], state=state)
        found = verdict(replace(view, runs=[bad, *good.runs[1:]]))
        assert found.word == "FAIL", state
        assert found.text.startswith("1 of 60 runs failed")


@pytest.mark.parametrize(
    ("new", "words"), [(0, "7 buckets, none of them new"), (1, "1 of them new"), (7, "all new")]
)
def test_the_verdict_says_how_much_is_new(view: RegressionView, new: int, words: str) -> None:
    buckets = [
        replace(bucket, first_regression=view.regression_run.name if number < new else "before")
        for number, bucket in enumerate(view.buckets)
    ]
    assert words in verdict(replace(view, buckets=buckets)).text


def test_the_testplan_shows_the_worst_first(few: RegressionView, tmp_path: Path) -> None:
    counts = {"fail": (2, 1, 3), "not-run": (0, 0, 2), "partial": (1, 1, 3), "pass": (3, 3, 3)}
    order = [*counts]
    mixed = [
        replace(
            row, tests={"random": counts[state]}, failed={"random": int(state == "fail")},
            missing=("a run",) * (state == "partial"),
        )
        for row, state in zip(few.plan, cycle(order[::-1]), strict=False)
    ]  # fmt: skip
    page = write(replace(few, plan=mixed), tmp_path / "report").with_name("testplan.html")
    states = re.findall(r'<tr id="[^"]+"><td><span class="state s-([a-z-]+)', page.read_text())
    assert set(states) == set(order)
    assert [order.index(state) for state in states] == sorted(map(order.index, states))
    assert "random 1/1 of 3" in text_of(page)
    assert "Missing: a run" in text_of(page)


def test_results_of_others_by_source_and_profile(few: RegressionView, tmp_path: Path) -> None:
    fact = "mte_gm_ub len=72, no pad: 96 B = GM for 0..71, rest not stated"
    rows = [
        OutsideRow(name="TAIL-1", verdict="differs", why="tail = fill", text=fact),
        OutsideRow(name="PAD-4", verdict="unknown", why="breaks DMA-L05 (A-16)", text="fill 3C00"),
    ]
    wrong = OutsideRow(name="tstore_acc2gm fn_qf2b8_pre", verdict="unexplained", why="", text="")
    facts = OutsideGroup(file="dma_facts", source="PTOAS", agrees=9, rows=rows)
    good = OutsideGroup(file="dma_facts", source="PTOAS", agrees=10, rows=rows[1:])
    bad = OutsideGroup(file="writeback", source="pto-isa", agrees=1205, rows=[wrong])
    lone = [OutsideView("seed", 2, [facts, bad]), OutsideView("a5", 0)]
    text = text_of(write(replace(few, outside=lone), tmp_path / "bad").with_name("spec.html"))
    assert "a5 not run: no run" in text
    assert "seed 2 dma_facts PTOAS 11 9 1 1 0" in text
    assert "seed 2 writeback pto-isa 1 206 1 205 0 0 1" in text
    places = [text.index(word) for word in ("fn_qf2b8_pre", "TAIL-1 differs", "PAD-4 unknown")]
    assert places == sorted(places), "the unexplained come first"
    assert "TAIL-1 differs tail = fill seed PTOAS" in text
    pair = [OutsideView("seed", 2, [facts]), OutsideView("a5", 1, [good])]
    both = text_of(write(replace(few, outside=pair), tmp_path / "good").with_name("spec.html"))
    assert "PTOAS 11 9 1 1 0 a5 1 dma_facts PTOAS 11 10 0 1 0" in both
    assert "PAD-4 unknown breaks DMA-L05 (A-16) seed, a5 PTOAS" in both
    assert "unexplained tstore" not in both


def test_the_overview_of_a_bad_regression_run_stays_short(
    few: RegressionView, tmp_path: Path
) -> None:
    many = replace(
        few,
        buckets=[replace(few.buckets[0], id=f"B{number}") for number in range(40)],
        notes=[f"note {number}" for number in range(50)],
    )
    index = write(many, tmp_path / "report")
    text = text_of(index)
    assert index.read_text().count("runs.html#bucket=") == 12
    assert "37 more" in text
    assert "38 more note 12" in text


def test_texts_are_never_taken_for_markup(few: RegressionView, tmp_path: Path) -> None:
    unescaped = [path.name for path in TEMPLATES.iterdir() if "safe" in path.read_text()]
    assert unescaped == ["specification.html.j2"], "pages of docs/spec, without HTML of their own"
    bad = "\"><script>alert('x')</script>&amp;"
    row = replace(
        few.runs[0], state="error", message=bad, key=bad, command=bad, test=bad, worker=bad
    )
    view = replace(
        few,
        runs=[row, *few.runs[1:]],
        notes=[bad],
        plan=[replace(few.plan[0], name=bad, description=bad), *few.plan[1:]],
        spec=[replace(few.spec[0], text=bad), *few.spec[1:]],
        regression_run=replace(few.regression_run, command=bad, host=bad),
    )
    index = write(view, tmp_path / "report")
    for page in index.parent.rglob("*.html"):
        assert "<script>" not in page.read_text(), page.name
    assert bad in text_of(index)
    assert broken_links(index.parent) == []


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_report_is_replaced_as_a_whole_or_stays(
    good: RegressionView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "regression" / "report"
    write(good, folder)
    before = contents(folder)
    (folder / "gone.html").write_text("of another time")
    write(good, folder)
    assert contents(folder).keys() == before.keys()
    before = contents(folder)
    write_text, rename, calls = Path.write_text, Path.rename, []

    def full_disk(self: Path, *args: str, **options: str) -> int:
        calls.append(self)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(self, *args, **options)

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(errno.EACCES, "Permission denied")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full_disk)
        with pytest.raises(PtoError, match="No space left on device") as caught:
            write(good, folder)
    assert "make room" in str(caught.value)
    assert contents(folder.parent) == before, "and nothing beside it"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(PtoError, match="Permission denied"):
            write(good, folder)
    assert contents(folder) == before
    with pytest.raises(PtoError, match="cannot write the report") as caught:
        write(good, folder / "index.html" / "report")
    assert str(folder / "index.html") in str(caught.value)


def test_two_pages_in_one_place_are_refused(
    good: RegressionView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAKERS", (*module.MAKERS, module.MAKERS[0]))
    with pytest.raises(ValueError, match=r"index\.html"):
        write(good, tmp_path / "report")
