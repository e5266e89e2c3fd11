# SPDX-License-Identifier: Apache-2.0
"""What the design itself reports decides the verdict, alike on both simulators."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.run.launch import Launcher
from tests.sim.runs import run

MANIFEST = """
module = "complaining_mte2"
slot = "mte2"
sources = ["complaining_mte2.sv", "complaints.sv", "rtl/pto_mte2/*.sv", "rtl/common/**/*.sv"]
include_dirs = ["rtl/common"]
expected_messages = ["an expected one"]

[capabilities]
ops = ["mte_gm_ub"]
"""

SIMULATORS = ("icarus", "verilator")


@dataclass(frozen=True)
class Row:
    """A construct of complaints.sv and its verdict.

    Attributes:
        number: Its number.
        status: The verdict.
        severity: Severity of the message, empty for none.
        text: Part of it, the same on each simulator; empty for none.
        ends: It ends the simulation.
        simulators: Those that compile it.
    """

    number: int
    status: str
    severity: str = ""
    text: str = ""
    ends: bool = False
    simulators: tuple[str, ...] = SIMULATORS


TABLE = {
    "nothing": Row(0, "pass"),
    "$error": Row(1, "fail", "error", "seen, 3 dones"),
    "$error, often": Row(2, "fail", "error", "each time"),
    "$fatal": Row(3, "fail", "fatal", "too bad", ends=True),
    "$warning": Row(4, "pass", "warning", "a little bad"),
    "$info": Row(5, "pass"),
    "$stop": Row(6, "fail", "$stop", ends=True),
    "$finish": Row(7, "fail", "$finish", ends=True),
    "assert": Row(8, "fail", "error"),
    "assert else $error": Row(9, "fail", "error", "no way"),
    "assert else $warning": Row(10, "pass", "warning", "not this way"),
    "$display": Row(11, "pass"),
    "unique case": Row(12, "fail", "error", "unique"),
    "initial $error": Row(13, "fail", "error", "before the first clock"),
    "$error of two lines": Row(14, "fail", "error", "first line\nsecond line"),
    "expected $error": Row(15, "pass", "error", "seen, an expected one"),
    "final $error": Row(16, "fail", "error", "after the last clock"),
    "assert property": Row(17, "fail", "error", simulators=("verilator",)),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the manifest of the reference engine with complaints.sv inside."""
    folder = tmp_path_factory.mktemp("complaining")
    here = Path(__file__).parent
    (folder / "rtl").symlink_to(ROOT / "rtl_stubs")
    (folder / "complaints.sv").symlink_to(here / "complaints.sv")
    text = (ROOT / "rtl_stubs/pto_mte2/pto_mte2.sv").read_text()
    text = text.replace("module pto_mte2 ", "module complaining_mte2 ", 1)
    head, _, tail = text.rpartition("endmodule")
    text = (
        f"{head}  complaints u_complaints (.clk_i(clk_i), .done_i(done_valid_o && done_ready_i));\n"
        f"endmodule{tail}"
    )
    (folder / "complaining_mte2.sv").write_text(text)
    (folder / "dut.toml").write_text(MANIFEST)
    return folder / "dut.toml"


@pytest.mark.long
@pytest.mark.sim
@pytest.mark.parametrize("sim", SIMULATORS)
@pytest.mark.parametrize("name", TABLE)
def test_a_complaint_of_the_design(name: str, sim: str, engine: Path, tmp_path: Path) -> None:
    row = TABLE[name]
    if sim not in row.simulators:
        pytest.skip(f"{sim} does not compile concurrent assertions")
    record = run(
        "random", sim=sim, transactions=40, ops=("mte_gm_ub",), duts=(str(engine),), seed=3,
        folder=tmp_path, fast_build=True, launcher=Launcher((f"+complaint={row.number}",)),
    )  # fmt: skip
    assert record.status == row.status, record.message
    assert record.passed == (record.design_errors == 0)
    assert record.mismatches == record.protocol_errors == 0
    if name != "$error, often":  # it may end before it is seen
        assert (record.transactions < 40) == row.ends
    assert [one.severity for one in record.messages] == ([row.severity] if row.severity else [])
    for one in record.messages:
        assert row.text in one.text
        assert Path(one.file).name == "complaints.sv"
        assert "complaints" in one.scope or row.severity.startswith("$")
        assert (ROOT / one.file).read_text().splitlines()[one.line - 1].strip()
        assert one.expected == name.startswith("expected")
        assert one.count == 1 or name == "$error, often"
        clocked = not name.startswith(("initial", "final"))
        assert 10 < one.clock < 2000 if clocked else one.clock == 0 or one.clock >= record.clocks
    failures = [one for one in record.details if one.kind == "design"]
    assert len(failures) == (row.status == "fail")
    for failure in failures:
        assert failure.text in record.failures
        assert "complaints.sv:" in failure.text
        assert failure.slot == (
            "" if row.severity.startswith("$") and sim == "verilator" else "mte2"
        )
    if row.ends:
        assert "the design ended the simulation" in record.message
    if name == "$error, often":
        assert record.design_errors >= 10
