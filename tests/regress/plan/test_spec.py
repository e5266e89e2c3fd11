# SPDX-License-Identifier: Apache-2.0
"""Coverage of the specification: the catalogue is whole, and what exercises it is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scoreboards.counts import refused
from scoreboards.verdict import retired
from sequences.examples.blocks import named_rule_blocks
from sequences.examples.catalog import EXAMPLES, RULE_EXAMPLES
from tb.common.paths import ROOT
from tb.harness.items import Batch
from tb.harness.layout import DONE
from tb.isa.rules import RULES
from tb.regress.plan.spec import FILES, catalogue, item_of, spec_rows
from tb.regress.queries.views import SpecRow


def rows_of(root: Path, source: str) -> dict[str, SpecRow]:
    (root / "tests/isa/deep").mkdir(parents=True)
    (root / "tests/isa/deep/test_made.py").write_text(source)
    (root / "tests/report").mkdir()
    (root / "tests/report/test_page.py").write_text("def test_page():\n    assert 'DMA-L01'\n")
    return {row.name: row for row in spec_rows({}, root)}


def named(rows: dict[str, SpecRow], test: str) -> set[str]:
    place = f"tests/isa/deep/test_made.py::{test}"
    return {name for name, row in rows.items() if place in row.unit_tests}


def test_names_are_unique_and_everything_is_said() -> None:
    items = catalogue()
    assert len({item.name for item in items}) == len(items)
    assert all(item.text and item.where.startswith("docs/spec/") for item in items)
    assert {item.name for item in items if item.kind == "rule"} == set(RULES)
    assert {RULES[item.name].family for item in items if item.kind == "rule"} == set(FILES)


def test_every_example_is_in_the_catalogue_and_every_value_is_one_or_has_a_test() -> None:
    names = [example.name for example in EXAMPLES]
    names += [f"rule check {example.name}" for example in RULE_EXAMPLES]
    assert [name for name in names if item_of(name) is None] == []
    used = {item_of(name) for name in names}
    left = [item for item in catalogue() if item.kind == "value" and item.name not in used]
    assert [item.name for item in left if not item.unit_tests] == []
    assert len(left) == 6


def test_tests_that_the_catalogue_names_exist() -> None:
    for item in catalogue():
        for test in item.unit_tests:
            file, _, function = test.partition("::")
            assert f"def {function}(" in (ROOT / file).read_text(), test


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("DMA-L05", "DMA-L05"),
        ("FX-E1", "FX-E1"),
        ("FX-E1 in UB1", "FX-E1"),
        ("FX-V qf322b8 unsigned", "FX-V qf322b8"),
        ("FX-V qf322b8 scalar_relu", "FX-V qf322b8 scalar_relu"),
        ("FX-V qf322hif8 hybrid", "FX-V qf322hif8 hybrid"),
        ("ND-E10", "ND-E10"),
        ("ND-E11", None),
        ("a user's own", None),
    ],
)
def test_the_longest_name_that_fits_wins(name: str, item: str | None) -> None:
    assert item_of(name) == item


@pytest.mark.long
def test_counts_of_one_value_add_up_by_test() -> None:
    exercised = {
        "directed": {"FX-E1": 1, "FX-E1 in L1": 2, "DMA-L06": 3, "no such thing": 9},
        "illegal": {"DMA-L06": 70},
    }
    rows = {row.name: row for row in spec_rows(exercised)}
    assert rows["FX-E1"].tests == {"directed": 3}
    assert rows["DMA-L06"].tests == {"directed": 3, "illegal": 70}
    assert rows["DMA-L07"].tests == {}
    assert len(rows) == len(catalogue())


MADE = '''\
"""Rules DMA-L01 and others."""
from sequences.examples.catalog import EXAMPLES

# DMA-L02 is of nobody
CASES = [
    # DMA-L05
    (1, 5),
]
MORE = {"GU-E1": CASES, "ND-E10": 0}
NUMBERS = [(16, 7), (32, 0), (8, 99)]


def helper():
    return "DMA-L03"


def test_text():
    """BT-L01 is here."""
    assert helper() == "FX-E2" + "xFIX-L02" + "FIX-L011"


@pytest.mark.parametrize("case", MORE)
def test_constants(case):
    pass


@pytest.mark.parametrize(
    "case", [("ND-L04", 0)]
)
def test_decorator(case):
    pass


def test_list():
    assert EXAMPLES


@pytest.mark.parametrize(("bytes", "number"), NUMBERS)
def test_numbers(bytes, number):
    assert found == f"FIX-L{number:02d}"


class TestClass:
    def test_method(self):
        assert "FB-L02"
'''


def test_who_names_a_rule_is_read_off_the_sources(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, MADE)
    assert named(rows, "test_text") == {"BT-L01", "FX-E2"}
    assert named(rows, "test_constants") == {"DMA-L05", "GU-E1", "ND-E10"}
    assert named(rows, "test_decorator") == {"ND-L04"}
    assert named(rows, "test_numbers") == {"FIX-L07"}
    assert named(rows, "test_method") == {"FB-L02"}
    assert {"EX1", "FX-E9", "FX-V qf322b8"} <= named(rows, "test_list")
    assert "DMA-L01" not in named(rows, "test_list")
    assert rows["DMA-L01"].unit_tests == rows["DMA-L02"].unit_tests == ()
    assert rows["DMA-L03"].unit_tests == ()


@pytest.mark.long
def test_rows_have_text_and_place() -> None:
    rows = {row.name: row for row in spec_rows({})}
    assert [row.name for row in rows.values() if not row.unit_tests] == []
    assert rows["DMA-L05"].kind == "rule"
    assert rows["DMA-L05"].text == "every field fits its width (reported by the engine)"
    assert rows["DMA-L05"].where == "docs/spec/dma.md"
    assert rows["ND-E3"].kind == "value"
    assert rows["ND-E3"].where == "docs/spec/nd2nz.md, section 5"
    assert "tests/model/test_worked_values.py::test_listed_values" in rows["ND-E3"].unit_tests
    assert "tests/isa/test_rules.py::test_lowest_violated_rule" in rows["DMA-L05"].unit_tests


# --- what the scoreboard counts -------------------------------------------------------------------


def test_refused_ops_are_counted_by_rule_when_they_passed() -> None:
    blocks = named_rule_blocks()
    block = blocks["small-C0 with d 5"]
    slot = int(block.slot[0])
    done = np.zeros(2, dtype=DONE)  # one more than was sent
    done["rule"] = 5
    batch = Batch.__new__(Batch)
    batch.block, batch.order, batch.done = block, {slot: np.array([0])}, {slot: done}

    def names(passed: bool = True) -> list[str]:
        return list(refused(block, retired(batch), np.array([passed])))

    assert names() == ["ND-L05"]
    assert names(passed=False) == []
    done["rule"] = 0
    assert names() == []
    batch.done = {}
    assert names() == []
