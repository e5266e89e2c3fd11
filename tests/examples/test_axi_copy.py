# SPDX-License-Identifier: Apache-2.0
"""examples/axi_copy: its regression on both simulators, and injected bugs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import BUILD_ROOT, ROOT
from tb.dut.manifest import load_manifest
from tb.dut.ports import check_ports
from tb.record.record import RunRecord
from tb.run.launch import Launcher
from tb.setup import tools, verilator
from tests.bugs.campaign import WORKER
from tests.sim import runs

EXAMPLE = ROOT / "examples/axi_copy"
MANIFEST = EXAMPLE / "dut.toml"
FORMS = {"mte_gm_ub", "mte_gm_l1", "copy_gm_to_ubuf"}
COPIES = BUILD_ROOT / f"examples{WORKER}"
"""Folder of changed copies of the example; a fixed place has one build folder."""


def run(test: str, manifest: Path = MANIFEST, **settings: Any) -> RunRecord:
    """Runs one test of the plan on the example, or on a copy of it."""
    return runs.run(test, duts=(str(manifest),), fast_build=True, **settings)


def assert_passed(record: RunRecord) -> None:
    runs.assert_passed(record)
    assert set(record.ops) <= FORMS


def copy_of(name: str) -> Path:
    """Copies the example and returns the manifest of the copy."""
    folder = COPIES / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLE, folder)
    adapters = shutil.copytree(ROOT / "rtl_stubs/adapters", folder / "adapters")
    for path, old, new in (
        (folder / "dut.toml", "../../rtl_stubs/common", f"{ROOT}/rtl_stubs/common"),
        (folder / "dut.toml", "../../rtl_stubs/adapters", "adapters"),
        (adapters / "adapters.f", "../common", f"{ROOT}/rtl_stubs/common"),
    ):
        path.write_text(path.read_text().replace(old, new))
    return folder / "dut.toml"


def replace(path: Path, old: str, new: str) -> None:
    """Replaces a text that the file has once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} has {text.count(old)} times {old!r}"
    path.write_text(text.replace(old, new))


# --- regression ---


@pytest.mark.share("examples/axi_copy", "tb/hdl")
@pytest.mark.sim
@pytest.mark.parametrize(
    ("sim", "test", "transactions"),
    [
        ("verilator", "random", 3000),
        ("verilator", "corner", 1),
        ("verilator", "directed", 1),
        ("verilator", "illegal", 500),
        ("verilator", "errors", 1500),
        ("verilator", "stress", 2000),
        ("verilator", "faults", 2000),
        ("verilator", "reset", 600),
        ("icarus", "random", 120),
        ("icarus", "illegal", 60),
        ("icarus", "stress", 60),
        ("icarus", "errors", 60),
        ("icarus", "reset", 60),
    ],
)
def test_regression(sim: str, test: str, transactions: int) -> None:
    record = run(test, sim=sim, transactions=transactions, seed=21)
    assert_passed(record)
    if sim == "verilator" and test == "random":
        assert set(record.ops) == FORMS
    if test == "illegal":
        assert record.statuses["RULE"] > transactions // 50
    if test == "errors":
        assert set(record.statuses) - {"OK"}, "no error was injected"


@pytest.mark.share("examples/axi_copy", "tb/hdl")
@pytest.mark.sim
@pytest.mark.parametrize(
    ("sim", "transactions", "settings"),
    [
        ("verilator", 2000, {"gm_width": 128, "local_width": 512, "outstanding": 1}),
        ("verilator", 2000, {"gm_width": 512, "local_width": 128, "outstanding": 64}),
        ("icarus", 60, {"gm_width": 128, "local_width": 128, "tag_width": 1}),
        ("icarus", 60, {"gm_width": 512, "local_width": 512, "tag_width": 16}),
    ],
)
def test_widths(sim: str, transactions: int, settings: dict[str, Any]) -> None:
    for test in ("random", "errors"):
        assert_passed(run(test, sim=sim, transactions=transactions, seed=22, **settings))


@pytest.mark.sim
def test_the_summary_lists_the_excluded_ops() -> None:
    record = run("random", sim="icarus", transactions=40, seed=23)
    (sentence,) = [text for text in record.left_out if "axi_copy (mte2)" in text]
    for part in ("mte_gm_l1_frac", "padded rows", "DMA-L09", "write errors"):
        assert part in sentence
    assert "legacy" not in sentence
    assert "loops" not in sentence


# --- injected bugs ---


@dataclass(frozen=True)
class Bug:
    """A change of one file, the test that finds it, and text of the first failure.

    ``BUG`` in its text is true in the runs with this bug: all are in one build.
    """

    name: str
    file: str
    old: str
    new: str
    test: str
    says: str
    sim: str = "verilator"


SPLIT, MOVER, ENGINE = (f"rtl/axi_copy{part}.sv" for part in ("_split", "_mover", ""))
WRAPPER = "axi_copy_mte2.sv"
COMMANDS, WATCH, LOCAL = (
    f"adapters/pto_{part}.sv" for part in ("commands", "axi_watch", "axi_to_local")
)

BUGS = (
    Bug("page_off_by_one", SPLIT, "{1'b0, src[Off-1:0]};", "{1'b0, src[Off-1:0]} + BUG;",
        "legal", "4 KiB"),
    Bug("prime_at_equal_lanes", MOVER, "[Lane-1:0] < chunk_src", "[Lane-1:0] < BUG + chunk_src",
        "legal", "wrong data"),
    Bug("last_lane", MOVER, "chunk_len[Lane-1:0] - 1'b1;", "chunk_len[Lane-1:0] - !BUG;",
        "legal", "wr"),
    Bug("no_rotation", MOVER, "<< {shift, 3'b000}", "<< (BUG ? 0 : {shift, 3'b000})",
        "legal", "wrong data"),
    Bug("stopped_for_ever", ENGINE, "else if (clear) ", "else if (clear && !BUG) ",
        "errors", ""),
    Bug("goes_on_after_an_error", ENGINE, "halt = stopped || stop;",
        "halt = (stopped || stop) && !BUG;", "faults", "after its error"),
    Bug("local_error_is_lost", WRAPPER, "{`PTO_ST_LOCAL,", "{BUG ? `PTO_ST_OK : `PTO_ST_LOCAL,",
        "errors", "LOCAL"),
    Bug("done_before_the_last_write", COMMANDS, "(open_cut || rsp_valid_i)",
        "(open_cut || rsp_valid_i || BUG)", "legal", "DONE-EARLY"),
    Bug("end_of_a_cut_op_waits", COMMANDS, "({row.loc.cut, row", "({row.loc.cut && !BUG, row",
        "errors", "not retired"),
    Bug("ops_do_not_wait", COMMANDS, "Overlap == 0 && open_valid",
        "Overlap == 0 && !BUG && open_valid", "faults", ""),
    Bug("never_failed", COMMANDS, "failed[open_id];",
        "failed[open_id] && !BUG;", "faults", "after its error"),
    Bug("address_of_the_burst", WATCH, "{32'd0, beat_q} << Lane",
        "{32'd0, beat_q & {8{!BUG}}} << Lane", "errors", "addr"),
    Bug("kind_of_error", WATCH, "rresp_i[0] ?", "rresp_i[0] && !BUG ?", "faults", "DECERR"),
    Bug("beats_at_one_place", LOCAL, "place + (LocalBits+3)'(Bytes)",
        "place + (LocalBits+3)'(BUG ? 0 : Bytes)", "legal", "wrong data"),
)  # fmt: skip


@pytest.fixture(scope="module")
def with_bugs() -> Path:
    """The manifest of a copy with every bug, each switched by a plusarg of its name."""
    manifest = copy_of("bugs")
    for bug in BUGS:
        switch = f'$test$plusargs("{bug.name}")'
        replace(manifest.parent / bug.file, bug.old, bug.new.replace("BUG", switch))
    return manifest


def run_bug(manifest: Path, test: str, sim: str, *plusargs: str) -> RunRecord:
    return run(
        test,
        manifest,
        sim=sim,
        transactions=150,
        seed=24,
        watchdog_clocks=20000,
        launcher=Launcher(plusargs),
    )


@pytest.mark.sim
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, with_bugs: Path) -> None:
    record = run_bug(with_bugs, bug.test, bug.sim, f"+{bug.name}")
    assert record.status in ("fail", "hang"), record.last_line()
    text = "\n".join([record.message, *record.failures])
    assert bug.says in text, text


@pytest.mark.sim
@pytest.mark.parametrize(("test", "sim"), sorted({(bug.test, bug.sim) for bug in BUGS}))
def test_without_a_bug_the_same_runs_pass(test: str, sim: str, with_bugs: Path) -> None:
    assert_passed(run_bug(with_bugs, test, sim))


# --- manifest, ports, lint ---


def test_ports_are_those_of_the_contract() -> None:
    assert check_ports(load_manifest(MANIFEST)) == []


@pytest.mark.parametrize("port", ["m_axi_rlast", "desc_tag_i", "dst_err_i", "done_rule_o"])
def test_a_missing_port_is_named(port: str) -> None:
    manifest = copy_of(f"no_{port}")
    wrapper = manifest.parent / WRAPPER
    ports = (ROOT / "rtl_stubs/common/pto_engine_ports.vh").read_text().splitlines()
    kept = [line for line in ports if not re.search(rf"\b{port}\b", line)]
    assert len(kept) < len(ports)
    include = '  `include "pto_engine_ports.vh"\n);\n'
    replace(wrapper, include, "\n".join([*kept, ");", f"  wire {port};", ""]))
    errors = [found for found in check_ports(load_manifest(manifest)) if found.severity == "error"]
    assert len(errors) == 1, errors
    assert port in errors[0].what


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('slot = "mte2"', 'slot = "mte5"', "mte5"),
        ("pad = false", "padding = false", "padding"),
        ('"axi_copy.f"', '"engine.f"', "engine.f"),
    ],
)
def test_a_wrong_manifest_is_refused(old: str, new: str, message: str) -> None:
    manifest = copy_of("wrong_manifest")
    replace(manifest, old, new)
    with pytest.raises(PtoError, match=message):
        load_manifest(manifest)


def test_file_lists_name_the_engine() -> None:
    manifest = load_manifest(MANIFEST)
    names = [os.path.relpath(name, EXAMPLE) for name in manifest.sources]
    assert names[:4] == [ENGINE, "rtl/axi_copy_fifo.sv", MOVER, SPLIT]
    lists = {Path(name).name for name in manifest.filelists}
    assert lists == {"axi_copy.f", "engine.f", "adapters.f"}


@pytest.mark.long
@pytest.mark.parametrize("tool", ["verilator", "icarus"])
@pytest.mark.parametrize(("gm", "local"), [(128, 512), (256, 256), (512, 128)])
def test_lint(tool: str, gm: int, local: int) -> None:
    manifest = load_manifest(MANIFEST)
    top = manifest.module
    includes = [f"-I{name}" for name in manifest.include_dirs]
    if tool == "verilator":
        executable, env = verilator.environment()
        words = ["--lint-only", "-Wall", "-sv", f"-GGmDataWidth={gm}", f"-GLocalDataWidth={local}"]
        words += [*manifest.waivers, "--top-module", top]
    else:
        executable, env = tools.icarus_environment()
        words = ["-g2012", "-Wall", "-tnull", f"-P{top}.GmDataWidth={gm}"]
        words += [f"-P{top}.LocalDataWidth={local}", "-s", top]
    done = subprocess.run(
        [executable, *words, *includes, *manifest.sources],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "arning" not in done.stdout + done.stderr
