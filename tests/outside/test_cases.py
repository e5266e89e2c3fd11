# SPDX-License-Identifier: Apache-2.0
"""Outside results as cases: every row of the files is there, and ops are as the rows say."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sequences.outside import facts
from sequences.outside.case import Bytes, Case, Element, Kept, Row, Written, is_nan
from sequences.outside.catalog import outside_cases
from sequences.outside.elements import writeback_cases
from sequences.outside.files import DATA, project
from tb.common.errors import PtoError
from tb.isa.fix.op import FbPtr, MteL0cGm, Scalar
from tb.isa.lower import lower
from tb.isa.op import Op
from tb.isa.profile import A5, SEED, Profile, using
from tb.isa.rules import t_violations
from tb.isa.spaces import SIZES, Space
from tb.outside.verdict import check
from tests.wording import says

ROWS = {"dma_facts": 34, "layout": 10, "nz": 14, "formats": 4 * 300, "writeback": 512}
"""File to its rows; each of formats.csv has the codes of four encoders."""


@pytest.mark.long
def test_every_row_of_the_files_is_in_one_case() -> None:
    rows = [row for case in outside_cases() for row in case.rows]
    assert Counter(row.file for row in rows) == ROWS
    for name, count in ROWS.items():
        with (DATA / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) * (4 if name == "formats" else 1) == count
    names = Counter((row.file, row.source, row.name) for row in rows)
    assert max(names.values()) == 1


def test_no_data_of_the_sources_are_in_the_repository() -> None:
    with (DATA / "writeback.csv").open() as file:
        assert {row["input"] for row in csv.DictReader(file)} == {"probe"}
    assert {path.name for path in DATA.iterdir()} == {"README.md", *(f"{n}.csv" for n in ROWS)}


@pytest.mark.long
@pytest.mark.parametrize("profile", [SEED, A5], ids=str)
def test_ops_break_no_front_end_rule_and_are_defined(profile: Profile) -> None:
    with using(profile):
        for case in outside_cases():
            assert not case.refused, case.name
            for op in case.ops:
                if isinstance(op, Op):
                    assert t_violations(lower(op)) == (), case.name


@pytest.mark.long
def test_ops_that_break_engine_rules() -> None:
    def broken() -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for case in outside_cases():
            for block in case.blocks():
                assert block.expected_rule is not None
                if rule := int(block.expected_rule[0]):
                    found.setdefault(case.name, set()).add(rule)
        return found

    assert broken() == {
        **{key: {7} for key in ("CMP-1", "CMP-2", "CMP-3", "CMP-6")},
        "CMP-4": {8}, "PAD-4": {5}, "PAD-10": {10},
    }  # fmt: skip
    with using(A5):
        assert broken() == {"layout ub_nz512": {20}}


def test_elements_have_the_clauses_of_their_rows() -> None:
    seen = set()
    for case in writeback_cases():
        (op,) = case.ops
        assert isinstance(op, MteL0cGm)
        quant, relu = op.pre_quant, op.pre_relu
        assert quant is not None
        seen.add((quant.mode, relu.mode if relu else "", op.sat_name))
        if quant.mode.endswith("_vec"):
            assert isinstance(quant.payload, FbPtr)
            record = case.fills[1]
            assert record.space is Space.FB
            assert record.length == 8 * len(case.rows)
        else:
            assert isinstance(quant.payload, Scalar)
    assert ("qf322f16_pre_scalar", "scalar_relu", "") in seen
    assert ("qf322fp8_pre_vec", "", "nosat") in seen


def test_clauses_of_rows_that_the_repository_lacks(tmp_path: Path) -> None:
    """Atomic, clip, vector alpha, a double rounding and other destinations, in a made file."""
    with (DATA / "writeback.csv").open() as file:
        head = next(csv.reader(file))
    base = dict.fromkeys(head, "") | {
        "source": "made:up", "case": "one", "input": "case", "acc": "f32", "dst": "f32",
        "mode": "none", "m": "3", "n": "5", "acc_bits": "3F800000",
    }  # fmt: skip
    rows = [
        {**base, "op": "mte_l0c_gm", "atomic": "f32.add", "old_bits": "40000000",
         "out_bits": "40400000"},
        {**base, "op": "mte_l0c_ub", "dst": "f16", "mode": "qf322f16_pre", "param": "f32",
         "scale_bits": "40800000", "relu": "no_relu", "clip_bits": "4000", "out_bits": "4000"},
        {**base, "op": "mte_l0c_l1", "dst": "f16", "mode": "qf322f16_pre", "param": "f32",
         "scale_bits": "3F800000", "relu": "vector_relu", "alpha_bits": "3F000000",
         "acc_bits": "C0000000", "out_bits": "BC00"},
        {**base, "op": "mte_l0c_gm", "dst": "hif8", "mode": "qf322hif8_pre", "param": "fb",
         "scale_bits": "000000003F800000", "out_bits": "00", "note": "round_twice:single=08"},
    ]  # fmt: skip
    path = tmp_path / "made.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, head)
        writer.writeheader()
        writer.writerows(rows)
    (group,) = check(writeback_cases(path))
    assert (group.source, group.agrees, group.rows) == ("made", 4, [])
    assert [case.rows[0].name for case in writeback_cases(path)] == [
        f"up one line {line}" for line in (2, 3, 4, 5)
    ]


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PtoError) as error:
        writeback_cases(tmp_path / "none.csv")
    assert "none.csv" in str(error.value)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(PtoError) as error:
        writeback_cases(tmp_path / "other.csv")
    assert says(str(error.value), "lack source case op other.csv CSV header columns source")


@pytest.mark.long
def test_a_fact_without_a_translation_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    path = tmp_path / "data/dma_facts.csv"
    path.write_text(path.read_text() + "NEW-1,mte_gm_ub,x,x,x,x,x,x,H\n")
    monkeypatch.setattr(facts, "DATA", tmp_path / "data")
    with pytest.raises(ValueError, match="NEW-1"):
        facts.fact_cases()


def test_bytes_that_change_are_told_from_bytes_that_do_not() -> None:
    memory = np.full(SIZES[Space.UB0], 0xAA, dtype=np.uint8)
    memory[4:8] = 1, 2, 3, 4
    case = Case("x", (Row("f", "s", "n", "t", unknown="none"),))

    def holds(one: Bytes | Kept | Written | Element) -> bool:
        return one.holds(lambda _: memory, case)

    assert holds(Bytes(Space.UB0, 4, b"\1\2\3\4"))
    assert not holds(Bytes(Space.UB0, 4, b"\1\2\3\5"))
    assert holds(Kept(Space.UB0, 0, 4))
    assert not holds(Kept(Space.UB0, 0, 5))
    assert holds(Written(Space.UB0, 4, 4))
    assert not holds(Written(Space.UB0, 4, 5))
    assert holds(Element(Space.UB0, 4, "bf16", 0x0201))
    assert not holds(Element(Space.UB0, 4, "bf16", 0x0202))


def test_any_nan_equals_a_nan_and_nothing_else_does() -> None:
    nans = {
        "f32": (0x7FC00000, 0xFF800001, 0x7F800000), "f16": (0x7E00, 0xFC01, 0xFC00),
        "bf16": (0x7FC0, 0xFFC0, 0x7F80), "f8E4M3FN": (0x7F, 0xFF, 0xFE), "hif8": (0x80, 0x80, 0),
    }  # fmt: skip
    case = Case("x", (Row("f", "s", "n", "t", unknown="none"),))
    for dtype, (nan, other, number) in nans.items():
        assert is_nan(dtype, nan)
        assert is_nan(dtype, other)
        assert not is_nan(dtype, number)
        for found, same in ((other, True), (number, False)):
            memory = np.frombuffer(found.to_bytes(4, "little"), dtype=np.uint8)
            assert Element(Space.GM, 0, dtype, nan).holds(lambda _, m=memory: m, case) == same  # type: ignore[misc]
        memory = np.frombuffer(nan.to_bytes(4, "little"), dtype=np.uint8)
        assert not Element(Space.GM, 0, dtype, number).holds(lambda _, m=memory: m, case)  # type: ignore[misc]
    assert not is_nan("i8", 0x80)


def test_a_row_states_bytes_or_a_reason() -> None:
    with pytest.raises(ValueError, match="n: a row"):
        Row("f", "s", "n", "t")
    with pytest.raises(ValueError, match="n: a row"):
        Row("f", "s", "n", "t", (Kept(Space.GM, 0, 1),), "both")


def test_projects_of_sources() -> None:
    assert project("PTOAS:test/vpto; lib/x.cpp") == "PTOAS"
    assert project("PTOAS issue #1431 (hw-native-sys)") == "PTOAS"
    assert project("asc-devkit DataCopyPad, x.md") == "asc-devkit"
    assert project("ml_dtypes 0.6.0") == "ml_dtypes 0.6.0"
    assert project("seed documents") == "seed documents"
