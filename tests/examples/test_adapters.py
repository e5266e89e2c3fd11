# SPDX-License-Identifier: Apache-2.0
"""The adapters by their pins, and bugs in what the blocks of the examples do not exercise."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cocotb_tools.runner import get_results

from tb.common.paths import ROOT
from tb.dut.filelist import read_file_list
from tb.dut.manifest import load_manifest
from tb.setup import tools, verilator
from tests.examples.by_pins import by_pins

pytestmark = [pytest.mark.sim, pytest.mark.share("rtl_stubs/adapters", "tests/examples")]

HERE = Path(__file__).parent
TOP = HERE / "adapter_top.sv"
TESTS = HERE / "adapter_pins.py"
SOURCES = [*read_file_list(ROOT / "rtl_stubs/adapters/adapters.f").sources, TOP]


@pytest.mark.parametrize("bus", [32, 64, 128, 1024])
def test_by_pins(bus: int, tmp_path: Path) -> None:
    log = by_pins(TESTS, TOP.stem, SOURCES, tmp_path, Bus=bus)
    assert get_results(tmp_path / "results.xml") == (4, 0), log


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("Bus = 64", "Bus = 2048", "data_width_must_be_a_power_of_two_from_8_to_1024"),
        ("Bus = 64", "Bus = 48", "data_width_must_be_a_power_of_two_from_8_to_1024"),
        ("MaxBeats(4)", "MaxBeats(12)", "max_beats_must_be_a_power_of_two_from_1_to_128"),
        (
            *("pto_local_to_stream #(.DataWidth(64)", "pto_local_to_stream #(.DataWidth(1024)"),
            "data_width_must_be_a_power_of_two_from_8_to_512",
        ),
        (
            *(
                "  assign {m_axil_awprot",
                "  pto_stream_to_local #(.DataWidth(16)) u (); assign {m_axil_awprot",
            ),
            "data_width_must_be_a_power_of_two_from_32_to_512",
        ),
    ],
)
def test_a_parameter_out_of_range(old: str, new: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Command failed"):
        by_pins(TESTS, TOP.stem, SOURCES, tmp_path, (TOP.stem, old, new))
    assert f"pto_error_{error}" in (tmp_path / "build.log").read_text()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pto_axi_bursts", "burst_i != 2'b01 ||", ""),
        ("pto_axi_reads", "(size < WordLane[2:0]) ? size", "1 ? WordLane[2:0]"),
        ("pto_axi_writes", "- {4'd0, bvalid_o && bready_i}", "- {4'd0, bvalid_o}"),
        ("pto_axi_writes", ".wr_data_i  (awid_i)", ".wr_data_i  (~awid_i)"),
        ("pto_axi_to_gm", ": count_q != 9'd0)", ": 1'b0)"),
        ("pto_axi_to_gm", "put && live)", "put)"),
        ("pto_local_to_stream", "({cmd_addr_i[5:0], 6'd0", "({6'd0, 6'd0"),
        ("pto_local_to_stream", "left <= BEAT", "left < BEAT"),
        ("pto_local_to_stream", "<< left[$clog2(Bytes):0]", "<< 8"),
        ("pto_axi_lite", "|| (wvalid_o && !wready_i);", "|| (wvalid_o && !awready_i);"),
        ("pto_axi_lite", "busy_q ? !(read_o || wrote_o)", "busy_q ? !(rvalid_i || awready_i)"),
    ],
)
def test_a_bug_is_shown(file: str, old: str, new: str, tmp_path: Path) -> None:
    by_pins(TESTS, TOP.stem, SOURCES, tmp_path, (file, old, new))
    tests, failed = get_results(tmp_path / "results.xml")
    assert 1 <= failed < tests, "one test finds it, and others pass"


@pytest.mark.long
@pytest.mark.parametrize("tool", ["verilator", "icarus"])
@pytest.mark.parametrize(("gm", "local"), [(128, 512), (256, 256), (512, 128)])
@pytest.mark.parametrize("example", ["axi_copy", "stream_dma"])
@pytest.mark.parametrize("name", ["dut.toml", "dut_mte3.toml"])
def test_lint(example: str, name: str, tool: str, gm: int, local: int) -> None:
    manifest = load_manifest(ROOT / "examples" / example / name)
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
