# SPDX-License-Identifier: Apache-2.0
"""Every test of the plan on both simulators, the data widths, repeatability."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sequences.examples.catalog import EXAMPLES, RULE_EXAMPLES
from sequences.examples.long_rows import LONG_ROWS
from tb.common.paths import HDL, ROOT
from tb.dut.manifest import reference_manifests
from tb.dut.selection import SELECTABLE
from tb.harness.layout import CHANNELS
from tb.isa.rules import RULES
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.build import build
from tb.run.console import Console
from tb.run.folder import run_folder
from tb.run.plan import BuildPlan
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.sim.runs import assert_passed, run

pytestmark = pytest.mark.sim


QUIET = Console(quiet=True)

FORMS = set(SELECTABLE)


def assert_exercised(record: RunRecord) -> None:
    """Every form of every worked example passed, and every rule example was refused."""
    expected = {each.name: len(each.forms) for each in (*EXAMPLES, *LONG_ROWS) if each.applies}
    expected |= {f"rule check {each.name}": 1 for each in RULE_EXAMPLES if each.applies}
    rules = {name: count for name, count in record.exercised.items() if name in RULES}
    assert record.exercised == {**expected, **rules}
    refused = sum(each.applies for each in RULE_EXAMPLES)
    assert sum(rules.values()) == refused == record.statuses["RULE"]


ICARUS = pytest.mark.share("tb/hdl", "tb/harness", "rtl_stubs")
"""Runs of Verilator again; test_smoke.py has a short one on Icarus for any change."""


@pytest.mark.parametrize(
    ("sim", "test", "transactions"),
    [
        ("verilator", "random", 5000),
        ("verilator", "legal", 2000),
        ("verilator", "illegal", 2000),
        ("verilator", "errors", 2000),
        ("verilator", "corner", 1),
        ("verilator", "directed", 1),
        ("verilator", "outside", 1),
        ("verilator", "pins", 150),
        pytest.param("icarus", "random", 500, marks=ICARUS),
        pytest.param("icarus", "illegal", 300, marks=ICARUS),
        pytest.param("icarus", "errors", 80, marks=ICARUS),
        pytest.param("icarus", "directed", 1, marks=ICARUS),
        pytest.param("icarus", "outside", 1, marks=ICARUS),
        pytest.param("icarus", "pins", 60, marks=ICARUS),
    ],
)
def test_plan(sim: str, test: str, transactions: int) -> None:
    # The pins have a build of their own, which few transactions need.
    fast = test == "pins"
    record = run(test, sim=sim, transactions=transactions, seed=11, fast_build=fast)
    assert_passed(record)
    if not planned_test(test).fixed_length:
        assert record.transactions == transactions
    if test in ("random", "legal", "illegal"):
        assert set(record.ops) == FORMS
    if test == "illegal":
        assert record.statuses["RULE"] > transactions // 3
        assert sum(record.exercised.values()) == record.statuses["RULE"]
    if test == "directed":
        assert_exercised(record)
    if test == "errors":
        assert set(record.statuses) - {"OK", "RULE"}, "no error was injected"


@pytest.mark.share("tb/hdl", "rtl_stubs")
@pytest.mark.parametrize(
    ("sim", "gm_width", "local_width", "tag_width", "outstanding", "transactions"),
    [
        ("verilator", 128, 512, 16, 64, 3000),
        ("verilator", 512, 128, 1, 1, 3000),
        ("icarus", 128, 128, 1, 64, 80),
        ("icarus", 512, 512, 16, 1, 80),
        ("icarus", 256, 128, 4, 2, 80),
    ],
)
def test_widths(
    sim: str, gm_width: int, local_width: int, tag_width: int, outstanding: int, transactions: int
) -> None:
    for test, count in (("random", transactions), ("directed", 1)):
        record = run(
            test,
            sim=sim,
            gm_width=gm_width,
            local_width=local_width,
            tag_width=tag_width,
            outstanding=outstanding,
            transactions=count,
            seed=5,
            fast_build=True,
        )
        assert_passed(record)
        assert f"TAG_WIDTH={tag_width} OUTSTANDING={outstanding}" in record.command


def test_fresh_seed() -> None:
    """One new seed, when CI gives one."""
    seed = int(os.environ.get("PTO_FRESH_SEED", "4242"))
    record = run("random", transactions=10000, seed=seed)
    print(record.last_line())
    assert_passed(record)


def test_default_run_covers_the_ops() -> None:
    record = run("random")
    assert_passed(record)
    assert record.transactions >= 20000
    assert set(record.ops) == FORMS
    assert record.coverage.percent >= 96.0
    table = run_folder(record.settings) / "coverage.txt"
    assert f"{record.coverage.percent:.2f} %" in table.read_text()


@pytest.mark.share("tb/hdl", "sequences")
@pytest.mark.parametrize("form", SELECTABLE)
def test_every_form_alone_is_covered(form: str) -> None:
    record = run("random", transactions=5000, ops=(form,), seed=1)
    assert_passed(record)
    assert set(record.ops) == {form}
    assert record.ops[form].passed == 5000
    table = (run_folder(record.settings) / "coverage.txt").read_text()
    found = re.search(rf"^{form}: .* bins, ([0-9.]+) %", table, re.M)
    assert found, table
    assert float(found[1]) >= 95.0, table


def test_write_backs_together_are_covered() -> None:
    """Every mode of the write-back is covered, and nearly every other bin of the family."""
    forms = ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")
    record = run("random", transactions=10000, ops=forms, seed=2)
    assert_passed(record)
    table = (run_folder(record.settings) / "coverage.txt").read_text()
    groups = dict(re.findall(r"^(\w+): .* bins, ([0-9.]+) %", table, re.M))
    assert {name for name in (*forms, "fixpipe") if float(groups[name]) < 95.0} == set(), table
    modes = re.search(r"^  point mode +(\d+) / (\d+)", table, re.M)
    assert modes, table
    assert modes[1] == modes[2], "a mode is missing"


def test_same_seed_same_record() -> None:
    records = [run("random", transactions=2000, seed=7).model_dump() for _ in range(2)]
    for record in records:
        del record["times"]
    assert records[0] == records[1]


def test_other_seed_other_traffic() -> None:
    one, other = (run("random", transactions=500, seed=seed) for seed in (7, 8))
    assert one.clocks != other.clocks
    assert one.bytes_checked != other.bytes_checked


def test_record_is_read_back(tmp_path: Path) -> None:
    target = tmp_path / "record.json"
    planned = planned_test("directed")
    settings = RunSettings(test="directed", transactions=planned.transactions)
    record = run_once(settings, planned, target, console=QUIET)
    assert RunRecord.model_validate_json(target.read_text()) == record


# --- Exercised items of the specification: only those checked without a failure


BUGS = (
    ("{2{pad_val[15:0]}} : pad_val[31:0];", "{4{pad_val[7:0]}} : pad_val[31:0];"),
    ("l06 = |loc_addr[4:0] ||", "l06 = |loc_addr[3:0] ||"),
)
"""16-bit pads are written wrongly, and a UB address of 16 passes DMA-L06."""


def test_failures_are_not_counted(tmp_path: Path) -> None:
    engines = tmp_path / "rtl_stubs"
    shutil.copytree(ROOT / "rtl_stubs", engines)
    source = engines / "common/dma/pto_dma_check.sv"
    text = source.read_text()
    for find, replace in BUGS:
        assert text.count(find) == 1, find
        text = text.replace(find, replace)
    source.write_text(text)
    settings = RunSettings(
        sim="icarus",
        test="directed",
        duts=(str(engines / "pto_mte2/manifest.toml"),),
        ops=("mte_gm_ub",),
        mismatch_limit=1000,
    )
    record = run_once(settings, planned_test("directed"), console=Console(quiet=True))
    assert record.status == "fail"
    assert {"EX1", "EX3", "EX3c", "GU-E3", "GU-E4"} <= set(record.exercised)
    assert not {"EX3b", "GU-E1", "GU-E2"} & set(record.exercised)
    assert "rule check ub_dst 16" not in record.exercised
    assert "DMA-L06" not in record.exercised
    assert record.exercised["rule check dst_stride 40"] == 1
    assert record.exercised["DMA-L07"] >= 1


# --- GM by cocotbext-axi: the engines with a third-party memory and protocol check


@pytest.mark.parametrize(
    ("sim", "test", "transactions"),
    [
        ("verilator", "random", 120),
        ("verilator", "illegal", 60),
        ("verilator", "errors", 120),
        ("verilator", "directed", 1),
        ("verilator", "reset", 60),
        ("icarus", "random", 30),
    ],
)
def test_the_same_tests_pass(sim: str, test: str, transactions: int) -> None:
    record = run(test, sim=sim, gm="cocotbext", transactions=transactions, seed=2, fast_build=True)
    assert_passed(record)
    assert "GM=cocotbext" in record.command
    if test == "errors":
        assert {"RD_SLVERR", "RD_DECERR", "WR_SLVERR", "WR_DECERR"} & set(record.statuses)


def test_a_byte_without_strobe_may_be_unknown() -> None:
    """WDATA of the first beat has X on lanes that no strobe enables."""
    assert_passed(run("random", gm="cocotbext", transactions=60, seed=1507566116, sim="icarus"))


# --- Stress, errors and resets on the reference engines: they pass, and the injections are counted


ERRORS = {"LOCAL", "RD_DECERR", "RD_SLVERR", "WR_DECERR", "WR_SLVERR"}
KINDS = {
    f"{kind} of {side}" for kind in ("SLVERR", "DECERR", "local errors")
    for side in ("reads", "writes")
}  # fmt: skip
STALLS = {f"stalls {channel}" for channel in CHANNELS if channel != "desc"}
FRESH = int(os.environ.get("PTO_FRESH_SEED", "4242"))


def checked(record: RunRecord, test: str, transactions: int) -> RunRecord:
    """Asserts that a run passed, and that it counts what it injected."""
    assert_passed(record)
    injected = record.injected
    assert "faults" in injected or not set(record.statuses) & ERRORS
    # Ops dropped by a reset are not counted.
    assert record.transactions == transactions or "resets" in injected
    assert test != "faults" or "resets" not in injected
    assert any(name.startswith("stalls") for name in injected)
    return record


@pytest.mark.parametrize("seed", [1, FRESH])
@pytest.mark.parametrize("test", ["stress", "faults", "reset"])
def test_engines_survive(test: str, seed: int) -> None:
    record = checked(run(test, seed=seed, transactions=4000), test, 4000)
    # Few write-backs wait for flags or parameters, and only `faults` has errors by the hundred.
    assert set(record.injected) >= STALLS - {"stalls flag", "stalls par"} | {"faults"}
    if test == "faults":
        assert set(record.injected) >= KINDS
    if test == "faults" and seed == 1:
        assert set(record.injected) >= STALLS
    assert (record.injected.get("resets", 0) > 0) == (test != "faults")
    table = (run_folder(record.settings) / "coverage.txt").read_text()
    groups = set(re.findall(r"^(knobs|faults|resets|rules):", table, re.M))
    expected = {"stress": {"knobs", "faults", "resets", "rules"}, "faults": {"knobs", "faults"}}
    assert groups == expected.get(test, {"knobs", "faults", "resets"})
    assert "hit though declared unreachable" not in table


@pytest.mark.share("tb/hdl", "rtl_stubs")
@pytest.mark.parametrize("test", ["stress", "faults", "reset"])
def test_engines_survive_four_state(test: str) -> None:
    # Of 200 some seeds draw one setting of the knobs, without a stall.
    checked(run(test, sim="icarus", seed=FRESH, transactions=600), test, 600)


def test_same_seed_same_stress() -> None:
    one, other = (run("stress", seed=9, transactions=600) for _ in range(2))
    assert one.injected == other.injected
    assert one.clocks == other.clocks


def test_the_model_has_the_function_that_is_declared_cold(tmp_path: Path) -> None:
    declared = HDL / "pto_cold.h"
    found = re.search(r"void (\w+)", declared.read_text())
    assert found
    (tmp_path / "call.cpp").write_text(
        f'#include "{declared}"\nvoid call() {{ {found[1]}(0, "", 0, 0); }}\n'
    )
    subprocess.run(["c++", "-c", "call.cpp"], cwd=tmp_path, check=True)
    called = re.search(rf"{found[1]}\w+".encode(), (tmp_path / "call.o").read_bytes())
    assert called
    done = build(BuildPlan("verilator", reference_manifests()))
    assert called[0] in (done.folder / "pto_harness").read_bytes()
