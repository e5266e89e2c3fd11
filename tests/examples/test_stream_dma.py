# SPDX-License-Identifier: Apache-2.0
"""examples/stream_dma: widths of the stream, and injected bugs."""

from __future__ import annotations

import pytest

from tests.examples.planted import Bug, assert_caught, copy_of, manifests, plant, run, run_bug
from tests.sim import runs

pytestmark = [
    pytest.mark.share("examples/stream_dma", "rtl_stubs/adapters", "tb/hdl"),
    pytest.mark.sim,
]


@pytest.mark.parametrize(
    ("width", "gm_width", "local_width"), [(32, 128, 512), (256, 512, 128), (512, 256, 256)]
)
def test_streams_of_another_width(width: int, gm_width: int, local_width: int) -> None:
    folder = copy_of("stream_dma", f"stream_{width}")
    for path in folder.glob("dut*.toml"):
        path.write_text(f"{path.read_text()}read_bytes = 64\n[parameters]\nStreamWidth = {width}\n")
    for test in ("legal", "errors"):
        record = run(
            test,
            manifests(folder),
            sim="verilator",
            transactions=1500,
            seed=22,
            gm_width=gm_width,
            local_width=local_width,
        )
        runs.assert_passed(record)


STORE = "examples/stream_dma/stream_dma_mte3.sv"
READS, WRITES, NUMBERS, FROM_GM, RESET, TO_LOCAL, TO_STREAM = (
    f"rtl_stubs/adapters/pto_{part}.sv"
    for part in (
        *(
            "axi_reads",
            "axi_writes",
            "axi_bursts",
            "axi_from_gm",
            "reset",
            "stream_to_local",
            "local_to_stream",
        ),
    )
)
MM2S, S2MM = (f"examples/stream_dma/rtl/sdma_{way}.v" for way in ("mm2s", "s2mm"))

BUGS = (
    Bug("answers_too_soon", WRITES, "{4'd0, fin_valid_i}", "{4'd0, BUG ? take : fin_valid_i}",
        "legal", "wrote"),
    Bug("lane_of_the_word", READS, "word_i[part*DataWidth", "word_i[(part & ~BUG)*DataWidth",
        "legal", "wrong data"),
    Bug("lane_of_the_beat", WRITES, "<< (part * DataBytes)", "<< ((part & ~BUG) * DataBytes)",
        "legal", "wr"),
    Bug("packet_in_lane_0", TO_LOCAL, "cmd_space_i, cmd_addr_i, cmd_len_i",
        "cmd_space_i, cmd_addr_i ^ {16'd0, BUG != 0, 3'd0}, cmd_len_i", "legal", "wr"),
    Bug("written_error_is_lost", TO_LOCAL, "dst_gnt_i && dst_err_i)",
        "dst_gnt_i && dst_err_i && !BUG)", "errors", "LOCAL"),
    Bug("parts_go_on", TO_STREAM, "part_q <= tlast_o ?", "part_q <= tlast_o && !BUG ?",
        "legal", ""),
    Bug("reset_of_the_contract", RESET, "rst_o  = !out_q[1];", "rst_o  = !out_q[1] && !BUG;",
        "reset", ""),
    Bug("local_error_is_lost", TO_STREAM, "err_o       = err.valid ?",
        "err_o       = err.valid && !BUG ?", "errors", "LOCAL"),
    Bug("read_error_is_lost", NUMBERS, "err_o       = err_i.valid ?",
        "err_o       = err_i.valid && !BUG ?", "errors", "RD_"),
    Bug("goes_on_after_an_error", STORE, ".stop_i(failed_o)", ".stop_i(failed_o && !BUG)",
        "faults", "after its error"),
    Bug("reads_after_an_error", FROM_GM, "(drop),", "(BUG ? 16'd0 : drop),", "faults", "after"),
    Bug("bad_realignment", MM2S, "hold >> shift", "hold >> (shift & ~(BUG << 3))",
        "legal", "wrong data"),
    Bug("no_flush", S2MM, ">= BYTES[LB:0];", "> BYTES[LB:0] - !BUG;",
        "legal", ""),
)  # fmt: skip


@pytest.fixture(scope="module")
def with_bugs() -> tuple[str, ...]:
    return manifests(plant("stream_dma", BUGS))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, with_bugs: tuple[str, ...]) -> None:
    assert_caught(bug, with_bugs)


@pytest.mark.parametrize("test", sorted({bug.test for bug in BUGS}))
def test_without_a_bug_the_same_runs_pass(test: str, with_bugs: tuple[str, ...]) -> None:
    runs.assert_passed(run_bug(with_bugs, test))
