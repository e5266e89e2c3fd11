# SPDX-License-Identifier: Apache-2.0
"""The testplan claims only what a regression run has done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.coverage.view import FORMS
from tb.regress.plan.testplan import Behaviour, Need, TestPlan, load_testplan
from tb.regress.queries.junit import read_suites
from tb.regress.queries.plan import NOT_TAKEN, Culprits, Suites, left_out, plan_rows
from tb.regress.queries.views import Culprit, PlanRow, RunRow, RunState

FILE = "tests/model/test_dma.py"
NOBODY: Culprits = {}
PASSED: Suites = {FILE: {"test_rows": [3, 0], "test_pads": [1, 0]}}


def row(number: int, test: str, state: RunState, **more: Any) -> RunRow:
    return RunRow(number, f"{test}-{number}", state, test, "verilator", number, 100, **more)


def of(
    runs: list[RunRow],
    suites: Suites,
    *more: str,
    needs: tuple[Need, ...] = (),
    groups: tuple[str, ...] = ("mte_gm_ub", "rules"),
    rules: tuple[str, ...] = (),
    culprits: Culprits = NOBODY,
) -> PlanRow:
    """The row of a behaviour with tests ``random`` and ``stress``."""
    one = Behaviour(
        name="rows", milestone="V1", description="Rows.", tests=("random", "stress", *more),
        groups=groups, rules=rules, needs=needs,
    )  # fmt: skip
    plan = TestPlan.model_construct(behaviour=(one,), regression=())
    (found,) = plan_rows(plan, runs, {"mte_gm_ub": 97.5}, suites, culprits)
    return found


BOTH = [row(0, "random", "pass"), row(1, "stress", "pass")]


@pytest.mark.parametrize(
    ("runs", "state", "missing"),
    [
        ([], "not run", ("test random", "test stress")),
        ([("random", "planned"), ("stress", "planned")], "not run", ("test random", "test stress")),
        ([("random", "pass")], "partial", ("test stress",)),
        ([("random", "pass"), ("stress", "planned")], "partial", ("test stress",)),
        ([("random", "pass"), ("random", "planned"), ("stress", "pass")], "partial",
         ("1 run of random",)),
        ([("random", "pass"), ("stress", "pass"), ("corner", "fail")], "pass", ()),
        ([("random", "pass"), ("random", "flaky"), ("stress", "pass")], "fail", ()),
        ([("random", "pass"), ("stress", "lost")], "fail", ()),
        ([("random", "hang"), ("stress", "planned")], "fail", ("test stress",)),
    ],
)  # fmt: skip
def test_results_are_mapped_onto_behaviours(
    runs: list[tuple[str, RunState]], state: str, missing: tuple[str, ...]
) -> None:
    found = of([row(number, *one) for number, one in enumerate(runs)], {})
    assert (found.state, found.missing) == (state, missing)
    assert found.groups == {"mte_gm_ub": 97.5, "rules": None}
    mine = [one for test, one in runs if test == "random"]
    done = [one for one in mine if one != "planned"]
    assert found.tests["random"] == (len(done), done.count("pass"), len(mine))


LOADS, RULES = ("mte_gm_ub",), ("DMA-L05", "DMA-L06")
LOAD, STORE = Culprit("mte2", "mte_gm_ub"), Culprit("mte3", "mte_ub_gm")


@pytest.mark.parametrize(
    ("groups", "rules", "culprits", "fails"),
    [
        # Its op, also as a legacy form, also among others; and another op of the same slot.
        (LOADS, (), [LOAD], True),
        (LOADS, (), [Culprit("mte2", "copy_gm_to_ubuf")], True),
        (LOADS, (), [STORE, LOAD], True),
        (LOADS, (), [Culprit("mte2", "mte_gm_l1")], False),
        (LOADS, (), [STORE], False),
        (("copy_gm_to_ubuf",), (), [LOAD], False),
        (("copy_gm_to_ubuf",), (), [Culprit("mte2", "copy_gm_to_ubuf")], True),
        (("fixpipe",), (), [Culprit("fix", "mte_l0c_l1")], True),
        (("fixpipe",), (), [Culprit("fix", "mte_l1_fb")], False),
        # A slot without an op, of a violation of the protocol; neither; nothing that is known.
        (LOADS, (), [Culprit("mte2")], True),
        (LOADS, (), [Culprit("mte3")], False),
        (("mte_ub_gm", "mte_gm_ub"), (), [Culprit("mte3")], True),
        (LOADS, (), [STORE, Culprit()], True),
        (LOADS, (), [], True),
        # All ops; of those that break a rule the ones of its rules.
        ((), (), [LOAD], True),
        (("traffic",), (), [STORE], True),
        (("mte_gm_ub", "rules"), (), [STORE], True),
        (("rules",), RULES, [Culprit("mte2", "mte_gm_ub", "DMA-L06")], True),
        (("rules",), RULES, [Culprit("mte2", "mte_gm_ub", "DMA-L07")], False),
        (("rules",), RULES, [LOAD], True),
        (("rules",), RULES, [Culprit("mte2", rule="axi_4k")], True),
        (("rules",), (), [Culprit("mte2", "mte_gm_ub", "DMA-L07")], True),
    ],
)  # fmt: skip
def test_a_behaviour_fails_with_the_ops_of_its_scope(
    groups: tuple[str, ...], rules: tuple[str, ...], culprits: list[Culprit], fails: bool
) -> None:
    """A run in which others failed proves nothing, and shows no fault."""
    runs = [*BOTH, row(2, "random", "fail")]
    found = of(runs, {}, groups=groups, rules=rules, culprits={2: culprits})
    assert found.state == ("fail" if fails else "partial")
    assert found.tests["random"] == (2, 1, 2)
    assert found.failed == {"random": int(fails), "stress": 0}
    other = "1 run of random without failures of other ops"
    assert found.missing == (() if fails else (other,))


@pytest.mark.parametrize(
    ("suites", "name", "state", "counts", "missing"),
    [
        ({}, FILE, "partial", (0, 0, 0), (NOT_TAKEN,)),
        ({"tests/other.py": {"test_x": [1, 0]}}, FILE, "partial", (0, 0, 0), (f"pytest:{FILE}",)),
        (PASSED, FILE, "pass", (4, 4, 4), ()),
        (PASSED, f"{FILE}::test_pads", "pass", (1, 1, 1), ()),
        (PASSED, f"{FILE}::test_gone", "partial", (0, 0, 0), (f"pytest:{FILE}::test_gone",)),
        ({FILE: {"test_rows": [3, 1]}}, FILE, "fail", (4, 3, 4), ()),
    ],
)
def test_pytest_counts_when_its_results_were_taken_in(
    suites: Suites, name: str, state: str, counts: tuple[int, int, int], missing: tuple[str, ...]
) -> None:
    found = of(BOTH, suites, f"pytest:{name}")
    assert (found.state, found.missing) == (state, missing)
    assert found.tests[f"pytest:{name}"] == counts


NEEDS = (Need(gm="cocotbext"), Need(gm_width=128, local_width=512))


@pytest.mark.parametrize(
    ("extra", "missing"),
    [
        ([], ("a run with gm = cocotbext", "a run with gm_width = 128, local_width = 512")),
        ([row(2, "random", "pass", gm="cocotbext")],
         ("a run with gm_width = 128, local_width = 512",)),
        ([row(2, "random", "pass", gm="cocotbext", gm_width=128, local_width=512)], ()),
        ([row(2, "random", "pass", gm="cocotbext"), row(3, "stress", "pass", gm_width=128)],
         ("a run with gm_width = 128, local_width = 512",)),
        ([row(2, "corner", "pass", gm="cocotbext", gm_width=128, local_width=512)],
         ("a run with gm = cocotbext", "a run with gm_width = 128, local_width = 512")),
    ],
)  # fmt: skip
def test_a_behaviour_needs_a_pass_with_each_of_its_settings(
    extra: list[RunRow], missing: tuple[str, ...]
) -> None:
    found = of([*BOTH, *extra], {}, needs=NEEDS)
    assert found.missing == missing
    assert found.state == ("partial" if missing else "pass")
    failed = [replace(run, state="fail") for run in extra]
    assert len(of([*BOTH, *failed], {}, needs=NEEDS).missing) == 2, "a failing run meets no need"


def test_what_is_left_out_is_counted() -> None:
    rows = [of([], {}), of(BOTH, {}, f"pytest:{FILE}"), of(BOTH[:1], {}, f"pytest:{FILE}")]
    assert left_out(rows) == [
        "test stress (2 behaviours)", f"{NOT_TAKEN} (2 behaviours)", "test random (1 behaviour)",
    ]  # fmt: skip


def test_the_project_s_plan_has_behaviours_of_some_ops_and_of_all() -> None:
    scopes = {one.name: one.scope for one in load_testplan().behaviour}
    assert scopes["fills"] == frozenset({"raw_fill_l1"})
    assert scopes["quantization"] == frozenset({"mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub"})
    assert scopes["zero_counts"] == frozenset(FORMS)
    assert scopes["mixed_traffic"] is scopes["axi_protocol"] is None


def test_the_project_s_plan_needs_what_its_sentences_say() -> None:
    needs = {one.name: {need.text for need in one.needs} for one in load_testplan().behaviour}
    assert needs["second_axi_memory"] == {"gm = cocotbext"}
    assert len(needs["bus_widths"]) == 13
    assert needs["profile_alpha"] == {"profile = seed", "profile = a5"}


REPORT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.model.test_dma" name="test_rows[a]"/>
<testcase classname="tests.model.test_dma" name="test_rows[b]"><failure message="x"/></testcase>
<testcase classname="tests.model.test_dma" name="test_broken"><error message="x"/></testcase>
<testcase classname="tests.model.test_dma" name="test_left"><skipped message="x"/></testcase>
<testcase classname="tests.sim.test_runs.TestEqual" name="test_both"/>
</testsuite></testsuites>"""


def test_results_of_pytest_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tests.xml"
    path.write_text(REPORT)
    assert read_suites(path) == {
        FILE: {"test_rows": [1, 1], "test_broken": [0, 1]},
        "tests/sim/test_runs.py": {"test_both": [1, 0]},
    }


@pytest.mark.parametrize("text", [None, "", "<html/>", "no xml"])
def test_other_files_are_refused(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "tests.xml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PtoError, match="results of pytest cannot be read") as caught:
        read_suites(path)
    assert caught.value.where == str(path)
