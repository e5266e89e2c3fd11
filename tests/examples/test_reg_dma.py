# SPDX-License-Identifier: Apache-2.0
"""The register-programmed DMA with its adapter: the DMA regression, widths, injected bugs."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cocotb_tools.runner import get_results

from tb.common.paths import BUILD_ROOT, ROOT
from tb.dut.manifest import Manifest, load_manifest
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.launch import Launcher
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tb.setup import lint
from tests.bugs.campaign import WORKER, Bug, Outcome
from tests.bugs.switched import SWITCH, plant_switched
from tests.examples.by_pins import by_pins
from tests.sim import runs
from tests.sim.runs import assert_passed

pytestmark = pytest.mark.sim

FOLDER = "examples/reg_dma"
DUT = f"{FOLDER}/dut.toml"
BOTH = ("examples/axi_copy/dut.toml", DUT)
FORMS = {"mte_ub_gm", "copy_ubuf_to_gm"}
ERRORS = {"WR_SLVERR", "WR_DECERR", "LOCAL"}
QUIET = Console(quiet=True)
FILES = [Path(name) for name in load_manifest(ROOT / DUT).sources]


def run(test: str, *, duts: tuple[str, ...] = (DUT,), **settings: Any) -> RunRecord:
    """Runs one test of the plan on the example, named by its folder."""
    paths = tuple(str(ROOT / name) for name in duts)
    return runs.run(test, duts=paths, fast_build=True, **settings)


@pytest.mark.share("examples/reg_dma", "tb/hdl")
@pytest.mark.parametrize(
    ("sim", "test", "transactions", "seed"),
    [
        ("verilator", "random", 4000, 21),
        ("verilator", "illegal", 1500, 22),
        ("verilator", "errors", 2000, 23),
        ("verilator", "reset", 1000, 24),
        ("verilator", "corner", 1, 25),
        ("verilator", "directed", 1, 26),
        ("verilator", "pins", 100, 27),
        ("icarus", "random", 120, 21),
        ("icarus", "errors", 60, 23),
        ("icarus", "reset", 60, 24),
    ],
)
def test_regression(sim: str, test: str, transactions: int, seed: int) -> None:
    record = run(test, sim=sim, transactions=transactions, seed=seed)
    assert_passed(record)
    assert set(record.ops) <= FORMS
    if test in ("random", "illegal"):
        assert set(record.ops) == FORMS
        assert record.transactions == transactions
    if test == "illegal":
        assert record.statuses["RULE"] > transactions // 8
    if test == "errors" and sim == "verilator":
        assert set(record.statuses) >= ERRORS
    if test == "reset":
        assert 0 < record.transactions < transactions


@pytest.mark.share("examples/reg_dma", "tb/hdl")
@pytest.mark.parametrize(
    ("sim", "widths", "transactions"),
    [
        ("verilator", {"gm_width": 512, "local_width": 128, "tag_width": 16}, 2000),
        ("icarus", {"gm_width": 128, "local_width": 512, "tag_width": 1}, 60),
        ("icarus", {"gm_width": 128, "local_width": 128, "outstanding": 1}, 60),
        ("icarus", {"gm_width": 512, "local_width": 512, "outstanding": 3}, 60),
        ("icarus", {"gm_width": 256, "local_width": 512, "outstanding": 64}, 60),
    ],
)
def test_widths(sim: str, widths: dict[str, Any], transactions: int) -> None:
    assert_passed(run("random", sim=sim, transactions=transactions, seed=31, **widths))


def test_both_examples_together() -> None:
    """Each in its slot, in one run."""
    record = run("random", duts=BOTH, transactions=1500, seed=41)
    assert_passed(record)
    assert record.transactions == 1500
    assert set(record.ops) > FORMS


def test_sources_are_lint_clean() -> None:
    top = Path(FOLDER) / "reg_dma_mte3.sv"
    sources = tuple(path.relative_to(ROOT) for path in FILES)
    engine = lint.Top("reg_dma_mte3", top, sources)
    findings = [*lint.verilator_findings(engine), *lint.icarus_findings(engine)]
    assert len(findings) == 18
    assert [finding.problem for finding in findings if finding.problem] == []


def on_pins(test: str, folder: Path, find: str = "", replace: str = "") -> str:
    """Runs a cocotb test of the example on one module alone, changed or not; returns its log."""
    top = {"registers_test": "reg_dma_regs", "adapter_test": "reg_dma_mte3"}[test]
    change = (top if find else "", find, replace)
    return by_pins(ROOT / FOLDER / f"{test}.py", top, FILES, folder, change)


@pytest.mark.parametrize("test", ["registers_test", "adapter_test"])
def test_by_pins(test: str, tmp_path: Path) -> None:
    log = on_pins(test, tmp_path)
    assert get_results(tmp_path / "results.xml") == (1, 0), log


@pytest.mark.parametrize(
    ("test", "find", "replace", "message"),
    [
        ("registers_test", "(busy_q || done_q)", "done_q", "04: PSLVERR 0"),
        ("registers_test", "busy_q <= 1'b1;", "busy_q <= !empty;", "08: 00000040, not 00000042"),
        ("registers_test", "irq        = done_q && irq_en_q", "irq        = done_q", "not enabled"),
        ("adapter_test", "{ROWS, 11'd0, cmd_rows + 21'd1};", "{ROWS, 12'd0, cmd_len};", "28: 96"),
        ("adapter_test", "`PTO_OP_MTE_UB_GM", "`PTO_OP_MTE_UB_UB", "(5, 1, 0)"),
        (
            *("registers_test", "begin known = 1'b0; writable = 1'b0; end", "known = 1'b1;"),
            "38: PSLVERR 0",
        ),
    ],
)
def test_pins_show_a_bug(test: str, find: str, replace: str, message: str, tmp_path: Path) -> None:
    log = on_pins(test, tmp_path, find, replace)
    assert get_results(tmp_path / "results.xml") == (1, 1)
    assert message in log


DMA_BUGS = (
    Bug(
        name="stride_low_half",
        file=f"{FOLDER}/reg_dma_regs.v",
        find="DST_STRIDE_HI: dst_stride_q[AddrWidth-1:32] <= pwdata[AddrWidth-33:0];",
        replace="DST_STRIDE_HI: dst_stride_q[AddrWidth-1:32] <= {(AddrWidth - 32){1'b0}};",
        models="the high word of the stride has no flip-flops",
    ),
    Bug(
        name="page_forgotten",
        file=f"{FOLDER}/reg_dma_writer.v",
        find="limit    = (page < most) ? page : most;",
        replace="limit    = most;",
        models="bursts are cut by length only, not at 4 KiB",
    ),
    Bug(
        name="interrupt_before_b",
        file=f"{FOLDER}/reg_dma_writer.v",
        find="(rows_q == 16'd0 || abort) && open == {(RingBits + 1){1'b0}};",
        replace="rows_q == 16'd0 && !active_q && !wvalid_q && begun_q == offered_q;",
        models="a job ends with its last beat, not with the last response",
    ),
    Bug(
        name="answers_without_room",
        file=f"{FOLDER}/reg_dma_reader.v",
        find="wire full  = asked_q - passed_q == DEPTH;",
        replace="wire full  = answered_q - passed_q == DEPTH;",
        models="room is counted for words that have come, not for those on their way",
    ),
)
ADAPTER_BUGS = (
    Bug(
        name="interrupt_lost",
        file=f"{FOLDER}/reg_dma_mte3.sv",
        find="if (running_q && irq) begin",
        replace="if (running_q && irq && job) begin",
        models="the interrupt is looked at only while there is a next job",
    ),
    Bug(
        name="sub_block_lost",
        file=f"{FOLDER}/reg_dma_mte3.sv",
        find="src_space_o = mem_addr[UbBits] ?",
        replace="src_space_o = (cmd_space == `PTO_SPACE_UB1) ?",
        models="the space is that of the job being programmed, not of the one that runs",
    ),
    Bug(
        name="jobs_after_an_error",
        file=f"{FOLDER}/reg_dma_mte3.sv",
        find="skip = cmd_valid && failed && !running_q;",
        replace="skip = 1'b0;",
        models="the jobs of a failed descriptor go on",
        test="errors",
    ),
    Bug(
        name="error_address_of_job",
        file=f"{FOLDER}/reg_dma_mte3.sv",
        find="if (read && paddr == ERR_ADDR_LO) error_addr_q[31:0] <= prdata;",
        replace="if (read && paddr == ERR_ADDR_LO) error_addr_q[31:0] <= cmd_gm[31:0];",
        models="the address of an error is that of the job",
        test="errors",
    ),
    Bug(
        name="running_without_reset",
        file=f"{FOLDER}/reg_dma_mte3.sv",
        find="if (!rst_ni) begin\n      running_q <= 1'b0;\n",
        replace="if (!rst_ni) begin\n",
        models="a flip-flop is left out of reset",
    ),
    Bug(
        name="next_op_fails_with_one_that_was_cut",
        file="rtl_stubs/adapters/pto_commands.sv",
        find="open_valid && !open_cut && failed",
        replace="open_valid && failed",
        models="while the end of a failed op is noted, the job of the next one counts as failed",
        test="faults",
    ),
    Bug(
        name="reads_count_as_writes",
        file="rtl_stubs/adapters/pto_apb.sv",
        find="wrote_o = ends && pwrite_o;",
        replace="wrote_o = ends;",
        models="the end of a read is taken for that of a write",
    ),
    Bug(
        name="strides_of_the_next_op",
        file="rtl_stubs/adapters/pto_commands.sv",
        find="if (start_valid && start_ready) begin",
        replace="if (start_valid) begin",
        models="rows and strides are those of the op that waits for the loops",
    ),
)


BUGS = (*DMA_BUGS, *ADAPTER_BUGS)


def sim_of(bug: Bug) -> str:
    """Returns the simulator that shows a bug: Icarus has X before a reset."""
    return "icarus" if "reset" in bug.name else "verilator"


@cache
def with_bugs(sim: str) -> Manifest:
    """Returns the manifest of a copy with the bugs of a simulator, each switched by its number."""
    top = BUILD_ROOT / "examples" / f"reg_dma_bugs_{sim}{WORKER}"
    shutil.rmtree(top, ignore_errors=True)
    for folder in (FOLDER, "rtl_stubs"):
        shutil.copytree(ROOT / folder, top / folder)
    numbered = [(number, bug) for number, bug in enumerate(BUGS, 1) if sim_of(bug) == sim]
    plant_switched(top, ((number, bug.file, bug.find, bug.replace) for number, bug in numbered))
    manifest = load_manifest(ROOT / DUT)
    sources = tuple(str(top / Path(name).relative_to(ROOT)) for name in manifest.sources)
    return manifest.model_copy(update={"sources": sources})


def run_with(number: int, test: str, sim: str) -> RunRecord:
    """Runs the example with a bug, or with none: 0."""
    planned = planned_test(test)
    settings = RunSettings(
        sim=sim,
        test=test,
        seed=4715,
        transactions=400,
        mismatch_limit=1,
        watchdog_clocks=20_000,
        options={**planned.options, "illegal": 0.0},
    )
    return run_once(
        settings,
        planned,
        manifests=(with_bugs(sim),),
        variant=f"reg-dma-bugs{WORKER}",
        fast_build=True,
        console=QUIET,
        launcher=Launcher((f"+{SWITCH}={number}",)),
    )


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug) -> None:
    outcome = Outcome(run_with(1 + BUGS.index(bug), bug.test, sim_of(bug)), 0.0)
    print(f"{bug.name}: transaction {outcome.transactions}, {outcome.check}")
    record = outcome.record
    assert outcome.caught, f"{record.status} {record.message}\n" + "\n".join(record.failures)


@pytest.mark.parametrize(("test", "sim"), sorted({(bug.test, sim_of(bug)) for bug in BUGS}))
def test_without_a_bug_the_same_runs_pass(test: str, sim: str) -> None:
    assert_passed(run_with(0, test, sim))
