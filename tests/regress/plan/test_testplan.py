# SPDX-License-Identifier: Apache-2.0
"""The testplan claims everything there is; a broken entry is named with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tb.cli.main import app
from tb.common.errors import PtoError
from tb.isa.rules import RULES
from tb.regress.plan.testplan import PYTEST, TestPlan, coverage_groups, load_testplan, unclaimed
from tb.run.testlist import load_plan

GOOD = """\
[[behaviour]]
name = "rows"
milestone = "V1"
description = "Rows go where they belong."
tests = [
  "random",
  "pytest:tests/test_rows.py::test_all_of_them",
]
groups = ["mte_gm_ub"]
rules = ["DMA-L05"]

[[behaviour]]
name = "flags"
milestone = "V2"
description = "Flags are waited for."
tests = ["stress"]

[[regression]]
name = "short"
doc = "a few runs"

[[regression.runs]]
tests = ["random"]

[[regression.runs]]
tests = ["stress"]
sims = ["verilator", "icarus"]
widths = [[128, 512]]
ops = ["mte_gm_ub"]
"""


def read(tmp_path: Path, text: str) -> TestPlan:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_rows.py").write_text("def test_all_of_them() -> None: ...\n")
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return load_testplan(path, load_plan(), tmp_path)


def line_of(text: str, wanted: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if wanted in line)


def test_everything_is_claimed_by_a_behaviour() -> None:
    assert unclaimed(load_testplan(), load_plan()) == []


def test_what_is_not_claimed_is_named(tmp_path: Path) -> None:
    found = unclaimed(read(tmp_path, GOOD), load_plan())
    assert "test corner is claimed by no behaviour" in found
    assert "coverage group resets is claimed by no behaviour" in found
    assert "rule FIX-L25 is claimed by no behaviour" in found
    # Two tests, a group and a rule are claimed.
    assert len(found) == len(load_plan()) + len(coverage_groups()) + len(RULES) - 4


@pytest.mark.parametrize("regression", ["nightly", "weekly"])
def test_regressions_run_every_test_on_both_simulators(regression: str) -> None:
    runs = load_testplan().find(regression).runs
    assert {test for one in runs for test in one.tests} == set(load_plan())
    assert {sim for one in runs for sim in one.sims} == {"verilator", "icarus"}
    assert any(one.code_coverage for one in runs)
    assert len({pair for one in runs for pair in one.widths}) > 1
    under_a5 = {test for one in runs if "a5" in one.profiles for test in one.tests}
    assert under_a5 >= {"random", "corner", "directed", "illegal", "stress"}


def test_a_good_plan_is_read(tmp_path: Path) -> None:
    plan = read(tmp_path, GOOD)
    assert [one.name for one in plan.behaviour] == ["rows", "flags"]
    runs = plan.find("short").runs[1]
    assert runs.widths == ((128, 512),)
    assert runs.seeds == "all"


BEHAVIOURS = [
    ('"random",', '"randm",', "'randm' is unknown; did you mean random", "randm", "random, legal"),
    ("::test_all_of", "::test_some_of", "has no function 'test_some_of_them'", "some_of", ""),
    ("test_rows.py", "test_no.py", "test file tests/test_no.py does not exist", "test_no.py", ""),
    ('["mte_gm_ub"]\nr', '["mte_gm"]\nr', "coverage group 'mte_gm'", "mte_gm", "fixpipe"),
    ("DMA-L05", "DMA-L99", "rule 'DMA-L99' is unknown", "DMA-L99", "DMA-L05"),
    ('"V1"', '"V9"', "milestone is 'V9'", "milestone", ""),
    ("rules =", "rule =", "key rule is unknown; did you mean rules?", "rule =", "groups, rules"),
    ('description = "R', 'about = "R', "key description is missing", "[[behaviour]]", ""),
    ('tests = [\n', "tests = []\nx = [\n", "key tests: Tuple should have at least 1", "tests", ""),
]  # fmt: skip

RUNS = [
    (
        '"icarus"',
        '"icarsu"',
        "simulator 'icarsu' is unknown; did you mean icarus",
        "icarsu",
        "questa",
    ),
    ("128, 512", "128, 384", "key widths is 384", "384", ""),
    ('ops = ["mte_gm_ub"]', 'ops = ["mte"]', "op 'mte' is unknown", '"mte"', "mte_ub_gm"),
    ('["stress"]\ns', '["strss"]\ns', "test 'strss' is unknown", "strss", "stress"),
    ("ops =", "code_coverage = true\nops =", "icarus counts no code", '"icarus"', "verilator"),
    ("ops =", "seeds = 0\nops =", "seeds is 0", "seeds = 0", '"all", or a number from 1'),
    ("ops =", 'seeds = "few"\nops =', "key seeds is 'few'", "seeds", ""),
    (
        "ops =",
        "seed = 3\nops =",
        "key seed is unknown; did you mean seeds?",
        "seed = 3",
        "tests, sims",
    ),
    ("ops =", 'profiles = ["a6"]\nops =', "profile 'a6' is unknown: seed or a5", "profiles", ""),
    ("ops =", 'profiles = ["a5, tail = kept"]\nops =', "tail is keep or fill", "profiles", ""),
    ("ops =", 'seeds = "3"\nops =', "key seeds", "seeds", ""),
    (
        "ops =",
        'transactions = "5"\nops =',
        "transactions is '5'",
        "tra",
        "an integer",
    ),
    (
        "ops =",
        "outstanding = 4.0\nops =",
        "outstanding is 4.0",
        "outs",
        "an integer",
    ),
    (
        "ops =",
        "code_coverage = 0\nops =",
        "code_coverage is 0",
        "code",
        "true or false",
    ),
    (
        "ops =",
        'seconds = "3"\nops =',
        "seconds is '3'",
        "seconds",
        "a number",
    ),
    (
        "ops =",
        "tag_width = 17\nops =",
        "tag_width is 17",
        "tag_wid",
        "1..16",
    ),
]


@pytest.mark.parametrize(
    ("entry", "old", "new", "what", "line", "legal"),
    [("behaviour 'rows'", *one) for one in BEHAVIOURS]
    + [("regression 'short', runs 2", *one) for one in RUNS],
)
def test_a_broken_entry_is_named_with_its_line(
    tmp_path: Path, entry: str, old: str, new: str, what: str, line: str, legal: str
) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(PtoError) as caught:
        read(tmp_path, text)
    assert what in caught.value.what
    assert legal in caught.value.legal
    found = re.search(r"plan\.toml, line (\d+), (.*)$", caught.value.where)
    assert found, caught.value.where
    assert found.group(2) == entry
    assert line in text.splitlines()[int(found.group(1)) - 1]


def test_two_behaviours_of_one_name_are_refused(tmp_path: Path) -> None:
    text = GOOD.replace('"flags"', '"rows"')
    with pytest.raises(PtoError, match="two behaviours are called 'rows'") as caught:
        read(tmp_path, text)
    assert f"line {line_of(text, 'Flags are') - 2}, behaviour 'rows'" in caught.value.where


def test_the_line_is_that_of_the_word(tmp_path: Path) -> None:
    text = GOOD.replace("DMA-L05", "DMA-L99")
    with pytest.raises(PtoError, match=f"line {line_of(text, 'DMA-L99')}, behaviour 'rows'"):
        read(tmp_path, text)


def test_runs_that_are_planned_twice_are_refused(tmp_path: Path) -> None:
    again = '\n[[regression.runs]]\ntests = ["legal", "random"]\n'
    with pytest.raises(PtoError, match="random on verilator at GM 256, local 256 are planned twi"):
        read(tmp_path, GOOD + again)
    (tmp_path / "labelled").mkdir()
    plan = read(tmp_path / "labelled", GOOD + again + 'label = "long"\n')
    assert plan.find("short").runs[2].label == "long"


def test_two_regressions_of_one_name_are_refused(tmp_path: Path) -> None:
    again = GOOD[GOOD.index("[[regression]]") :]
    with pytest.raises(PtoError, match="two regressions are called 'short'"):
        read(tmp_path, GOOD + again)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[behaviour", "the testplan is not TOML"),
        ("", "key behaviour is missing"),
        ("behaviour = 1\nregression = 2\n", "key behaviour is 1"),
        ('colour = "red"\n' + GOOD, "key colour is unknown"),
        ("behaviour = [{}]\n" + GOOD[GOOD.index("[[reg") :], "key name is missing"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(PtoError) as caught:
        read(tmp_path, text)
    assert what in caught.value.what
    assert "plan.toml" in caught.value.where


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match="cannot read the testplan: No such file"):
        load_testplan(tmp_path / "no.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PtoError, match="not UTF-8"):
        load_testplan(tmp_path / "bytes.toml")


def test_an_unknown_regression_is_answered_with_those_there_are() -> None:
    with pytest.raises(PtoError, match="nightly, smoke, weekly"):
        load_testplan().find("monthly")


def test_the_printed_testplan_has_every_entry() -> None:
    done = CliRunner().invoke(app, ["testplan"])
    assert done.exit_code == 0
    text, plan = done.stdout, load_testplan()
    headings = re.findall(r"^### (.*)$", text, re.MULTILINE)
    names = [one.name for one in plan.behaviour] + [one.name for one in plan.regression]
    assert sorted(headings) == sorted(names)
    assert all(one.description in text for one in plan.behaviour)
    assert all(
        f"`{name.removeprefix(PYTEST)}`" in text for one in plan.behaviour for name in one.tests
    )
    assert set(re.findall(r"\b(?:DMA|ND|BT|FB|FIX|LD|RF)-L\d\d\b", text)) == set(RULES)
