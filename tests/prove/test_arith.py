# SPDX-License-Identifier: Apache-2.0
"""The write-back arithmetic against its reference: corners and a part of every input space.

``make prove-arith`` tries them in full with the same program (tb/prove). Here one build holds
the functions as they are and once more with each fault of faults.py, which must be found.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.prove import prove
from tests.prove import faults, values

pytestmark = pytest.mark.sim

QUICK = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0")
TRIED = 400_000
"""Inputs of each sweep, in addition to all corners."""

NUMBERS = {
    name.lower(): int(number)
    for name, number in re.findall(
        r"REF_(\w+) = (\d+)", (prove.SOURCES / "reference.h").read_text()
    )
}
UNITS = (
    *("f16", "bf16", "e4m3", "hif8", "h", "hi", "f16_f32", "i32_f32", "s5", "s9", "s17", "wide"),
    *("s4", "u8", "s8", "s16", "s32"),
    *("tail_s4", "tail_u8", "tail_s8", "tail_s16", "tail_s32"),
    *("relu", "relu_i32", "clip_f16", "mul"),
    *("atomic_f32", "atomic_f16", "atomic_bf16", "atomic_s32", "atomic_s16", "atomic_s8"),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> prove.ProofProgram:
    folder = tmp_path_factory.mktemp("prove")
    planted = faults.plant(prove.HEADERS, folder, NUMBERS)
    return prove.build(folder / "build", faults=planted, options=QUICK)


@pytest.fixture(scope="module")
def units(program: prove.ProofProgram) -> dict[str, prove.Unit]:
    return {unit.name: unit for unit in program.units()}


def subset(program: prove.ProofProgram, unit: prove.Unit, variant: int = 0) -> prove.Outcome:
    """Compare on the corners and a part of the sweep, up to the first difference."""
    found = program.outcome("corners", unit.name, str(variant))
    if variant and found.wrong:
        return found
    stride = max(1, unit.sweep // TRIED | 1)  # odd: every low bit is seen
    return found + program.outcome(
        "sweep", unit.name, "0", str(unit.sweep), str(stride), str(variant)
    )


def test_the_units_of_the_program(units: dict[str, prove.Unit]) -> None:
    assert tuple(units) == UNITS
    assert {name for name in NUMBERS if name not in UNITS} == {"narrow", "tail"}


@pytest.mark.parametrize("name", UNITS)
def test_corners_and_a_part_of_every_input(
    program: prove.ProofProgram, units: dict[str, prove.Unit], name: str
) -> None:
    found = subset(program, units[name])
    assert found.inputs >= min(units[name].sweep, TRIED / 2) + units[name].corners
    assert found.compared == found.inputs * units[name].modes
    assert found.wrong == 0, [str(difference) for difference in found.differences]


def test_the_reference_agrees_with_integer_arithmetic(program: prove.ProofProgram) -> None:
    found = program.outcome("check", "300000")
    assert (found.inputs, found.wrong) == (300_000, 0)


@pytest.mark.parametrize("side", ["RTL", "reference"])
def test_worked_values_of_the_spec(program: prove.ProofProgram, side: str) -> None:
    inputs = [(*value[:4], 0) for value in values.VALUES]
    got = [pair[side == "reference"] for pair in program.evaluate(inputs)]
    wrong = [
        (value, hex(code))
        for value, code in zip(values.VALUES, got, strict=True)
        if value[4] != code
    ]
    assert not wrong


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("side", ["RTL", "reference"])
def test_worked_conversions_of_the_spec(
    program: prove.ProofProgram, side: str, whole: bool
) -> None:
    def evaluate(steps: list[values.Step]) -> list[int]:
        return [pair[side == "reference"] for pair in program.evaluate(steps)]

    got = zip(values.CASES, values.run(values.CASES, whole, evaluate), strict=True)
    assert not [(case, value) for case, value in got if value != case.want]


def test_scales_lose_their_low_bits_as_in_the_spec() -> None:
    assert {bits: bits & 0xFFFFE000 for bits in values.SCALES} == values.SCALES
    assert values.parameter(0.1) == 0x3DCCC000


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(
    program: prove.ProofProgram, units: dict[str, prove.Unit], fault: faults.Fault
) -> None:
    found = subset(program, units[fault.unit], faults.FAULTS.index(fault) + 1)
    assert found.wrong > 0
    first = found.differences[0]
    assert first.unit == fault.unit
    assert first.rtl != first.reference


def test_every_unit_has_a_fault() -> None:
    assert {fault.unit for fault in faults.FAULTS} == set(UNITS)


def test_a_header_that_does_not_build_is_reported(tmp_path: Path) -> None:
    for name in faults.MACROS:
        (tmp_path / name).write_text("function broken;\n")
    with pytest.raises(PtoError, match="does not build"):
        prove.build(tmp_path / "build", headers=tmp_path)
