# SPDX-License-Identifier: Apache-2.0
"""Verdicts of the model about outside results, and of wrong ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sequences.examples.example import Image
from sequences.outside.case import Bytes, Case, Crc, Element, Expected, Kept, Written, is_nan
from sequences.outside.catalog import outside_cases
from sequences.outside.files import DATA
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm
from tb.isa.op import replace
from tb.isa.profile import A5, SEED, Profile, parse_profile, using
from tb.isa.spaces import Space
from tb.outside.verdict import Judge, Tally, check, run
from tb.record.outside import VERDICTS, OutsideGroup, OutsideRow, merged
from tests.command import pto_dv
from tests.wording import line_says

UNKNOWN = {"L1UB-3", "L1UB-7"}
SEED_DIFFERS = {
    **dict.fromkeys(("TAIL-1", "TAIL-2", "TAIL-4", "TAIL-5", "TAIL-6", "PAD-11"), "tail = fill"),
    "PAD-4": "pad_end = block, pad_unselected = register",
    **dict.fromkeys(("PAD-5", "PAD-10"), "pad_end = block"),
    "PAD-9": "legacy_pad_unit = elements",
    **dict.fromkeys(("CMP-1", "CMP-2", "CMP-3", "CMP-6"), "compact = legal"),
    "CMP-4": "row_repeat = legal",
}
A5_DIFFERS = {
    **dict.fromkeys(("PAD-6", "PAD-8"), "pad_end = stride"),
    "TAIL-7": "tail = keep",
    "ub_nz512": "modes = all",
    **dict.fromkeys(
        (
            *(f"bf16 of {sign}F{bits}" for sign in "7F" for bits in ("800000", "C00000", "7FFFFF")),
            "bf16 of 7F7F8000",
            "bf16 of 7F7F8001",
            *(f"encoder line {line}" for line in (468, 469, 474, 475, 476)),
        ),
        "sat_scope = all",
    ),
}
CASES = outside_cases()


@pytest.mark.parametrize(
    ("profile", "differs"),
    [
        (SEED, SEED_DIFFERS),
        (A5, A5_DIFFERS),
        (
            parse_profile("a5, pad_end = stride"),
            {
                **{key: why for key, why in A5_DIFFERS.items() if why != "pad_end = stride"},
                **dict.fromkeys(("PAD-4", "PAD-5", "PAD-10"), "pad_end = block"),
            },
        ),
    ],
    ids=str,
)
def test_no_row_is_unexplained(profile: Profile, differs: dict[str, str]) -> None:
    with using(profile):
        groups = check(CASES)
    rows = [row for group in groups for row in group.rows]
    assert {row.name for row in rows if row.verdict == "unknown"} == UNKNOWN
    assert {row.name: row.why for row in rows if row.verdict == "differs"} == differs
    assert not [row.name for row in rows if row.verdict not in ("unknown", "differs")]
    assert sum(group.total for group in groups) == sum(len(case.rows) for case in CASES) == 1770


def _spoiled(one: Expected) -> Iterator[Expected]:
    """Yields expectations that no memory fulfils which fulfils ``one``."""
    if isinstance(one, Bytes):
        for place in {0, len(one.data) // 2, len(one.data) - 1}:
            data = bytearray(one.data)
            data[place] ^= 1
            yield replace(one, data=bytes(data))
    elif isinstance(one, Element):
        yield replace(one, code=0 if is_nan(one.dtype, one.code) else one.code ^ 1)
    elif isinstance(one, Crc):
        yield Crc(replace(one.image, crc=one.image.crc ^ 1))
        yield Crc(Image(one.image.space, one.image.length - 1, one.image.crc))
    elif isinstance(one, Kept):
        yield Written(one.space, one.start, one.length)
    else:
        yield Kept(one.space, one.start, one.length)


def test_a_wrong_byte_of_any_row_is_found() -> None:
    """Each row of each case with one expectation changed is held against the model's memories."""
    changed = 0
    for profile in (SEED, A5):
        with using(profile):
            for case in CASES:
                memories = run(case)
                for row in case.rows:
                    for number, one in enumerate(row.expected):
                        if not one.holds(memories.view, case):
                            continue
                        for bad in _spoiled(one):
                            wrong = list(row.expected)
                            wrong[number] = bad
                            spoiled = replace(row, expected=tuple(wrong))
                            assert not spoiled.holds(memories.view, case), (row.name, bad)
                            changed += 1
    assert changed > 3000


@pytest.mark.long
@pytest.mark.parametrize("name", ["PAD-1", "TAIL-4", "CMP-3", "TAIL-1"])
def test_a_changed_fact_is_unexplained(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    (row,) = case.rows
    for bad in _spoiled(row.expected[0]):
        wrong = replace(row, expected=(bad, *row.expected[1:]))
        (found,) = Tally().add(replace(case, rows=(wrong,)))
        assert (found.name, found.verdict) == (name, "unexplained")
        assert "knob" in found.why


def test_a_changed_element_is_unexplained_and_its_neighbours_agree() -> None:
    case = next(case for case in CASES if case.rows[0].file == "writeback")
    one = case.rows[3].expected[0]
    assert isinstance(one, Bytes)
    rows = list(case.rows)
    rows[3] = replace(rows[3], expected=(replace(one, data=bytes([one.data[0] ^ 0x80])),))
    (group,) = check([replace(case, rows=tuple(rows))])
    assert (group.agrees, group.count("unexplained")) == (len(rows) - 1, 1)
    assert group.rows[0].name == case.rows[3].name


def test_two_knobs_explain_a_row() -> None:
    """A filled tail and a block of pads in one program: each knob alone gives one of them."""
    tail, pad = (next(case for case in CASES if case.name == name) for name in ("TAIL-6", "PAD-5"))
    (row,) = pad.rows
    both = Case(
        "both",
        (replace(row, expected=(*row.expected, *tail.rows[0].expected)),),
        (*pad.ops, *tail.ops),
        pad.fills,
    )
    assert Judge(both).of(both.rows[0]) == ("differs", "pad_end = block, tail = fill")


def test_a_knob_does_not_excuse_a_design_that_differs_from_the_model() -> None:
    case = next(case for case in CASES if case.name == "TAIL-4")
    (row,) = case.rows
    with using(A5):
        filled = run(case)
    kept = run(case)
    assert Judge(case, kept.view).of(row)[0] == "differs"
    assert Judge(case, filled.view).of(row)[0] == "unexplained", "the stated bytes, under seed"
    with using(A5):
        assert Judge(case, filled.view).of(row)[0] == "agrees"
        filled[Space.UB0][40] ^= 1
        verdict, why = Judge(case, filled.view).of(row)
        assert (verdict, why) == ("unexplained", "the design has not the bytes of the model")
        assert Judge(case, kept.view).of(row)[0] == "unexplained"


def test_a_refused_op_is_not_executed() -> None:
    """A mode outside of the list of A5 is issued under ``modes = all`` alone."""
    case = next(case for case in CASES if case.name.endswith("req8"))
    op = case.ops[0]
    assert isinstance(op, MteL0cGm)
    assert op.pre_quant is not None
    quant = replace(op.pre_quant, mode="deqs32_int_vec")
    other = replace(op, pre_quant=quant, dst_type=Ptr("i32", "gm"))
    made = replace(case, ops=(other,), rows=(case.rows[0],))
    memory = run(made)[Space.GM][:4].tobytes()
    made = replace(made, rows=(replace(case.rows[0], expected=(Bytes(Space.GM, 0, memory),)),))
    assert Judge(made).of(made.rows[0])[0] == "agrees"
    with using(A5):
        assert made.refused
        assert Judge(made).of(made.rows[0]) == ("differs", "modes = all")


def _row(name: str, verdict: str) -> OutsideRow:
    return OutsideRow.model_validate({"name": name, "verdict": verdict, "why": "w", "text": "t"})


def test_runs_are_merged_to_the_worst_of_each_row() -> None:
    one = OutsideGroup(file="f", source="s", agrees=8, rows=[_row("a", "unknown")])
    bad = OutsideGroup(
        file="f", source="s", agrees=7, rows=[_row("a", "unknown"), _row("b", "unexplained")]
    )
    for runs in ([[one], [bad]], [[bad], [one]]):
        (group,) = merged(runs)
        assert [group.count(verdict) for verdict in VERDICTS] == [7, 0, 1, 1]
        assert group.total == 9
    assert merged([]) == []


# --- ``pto-dv outside``: its lines, its file and its exit code


@pytest.mark.long
@pytest.mark.parametrize(("profile", "counts"), [("seed", (1753, 15)), ("a5", (1751, 17))])
def test_counts(profile: str, counts: tuple[int, int], tmp_path: Path) -> None:
    target = tmp_path / "verdicts.json"
    done = pto_dv("outside", "--profile", profile, "--json", str(target))
    assert done.returncode == 0, done.stderr
    agrees, differs = counts
    last = done.stdout.splitlines()[-1]
    assert last == (
        f"PASS 1770 rows: {agrees} agrees, {differs} differs, 2 unknown, 0 unexplained, "
        f"profile {profile}"
    )
    assert line_says(done.stdout, "L1UB-7 unknown refute")
    data = json.loads(target.read_text())
    assert data["profile"] == profile
    assert data["counts"] == {
        "agrees": agrees, "differs": differs, "unknown": 2, "unexplained": 0
    }  # fmt: skip
    assert sum(group["agrees"] for group in data["groups"]) == agrees


@pytest.mark.long
def test_a_changed_byte_fails(tmp_path: Path) -> None:
    lines = (DATA / "writeback.csv").read_text().splitlines()
    cells = lines[5].split(",")
    place = lines[0].split(",").index("out_bits")
    cells[place] = f"{int(cells[place], 16) ^ 1:02X}"
    lines[5] = ",".join(cells)
    path = tmp_path / "changed.csv"
    path.write_text("\n".join(lines) + "\n")
    done = pto_dv("outside", "--writeback", str(path))
    assert done.returncode == 1
    assert line_says(done.stdout, "fn_qf2b8_pre line 6 unexplained no value knob")
    assert done.stdout.splitlines()[-1].startswith("FAIL 1770 rows")


@pytest.mark.long
def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    done = pto_dv("outside", "--writeback", str(tmp_path / "none.csv"))
    assert done.returncode == 2
    assert "none.csv" in done.stderr
    done = pto_dv("outside", "--profile", "a6")
    assert done.returncode == 2
    (tmp_path / "file").write_text("")
    done = pto_dv("outside", "--json", str(tmp_path / "file/x.json"))
    assert done.returncode == 2
    assert f"cannot write {tmp_path / 'file/x.json'}" in done.stderr
