# SPDX-License-Identifier: Apache-2.0
"""examples/axi_copy: widths, injected bugs, manifest and ports."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.manifest import load_manifest
from tb.dut.ports import check_ports
from tests.examples.planted import (
    EXAMPLES,
    Bug,
    assert_caught,
    copy_of,
    manifests,
    plant,
    replace,
    run,
    run_bug,
)
from tests.sim import runs

EXAMPLE = EXAMPLES / "axi_copy"
MANIFEST = EXAMPLE / "dut.toml"


# --- widths ---


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
        record = run(
            test, manifests(EXAMPLE), sim=sim, transactions=transactions, seed=22, **settings
        )
        runs.assert_passed(record)


def with_bus(folder: Path, width: int) -> tuple[str, ...]:
    """Returns the manifests of a copy that has a bus of its own width in bits in slot mte3."""
    replace(folder / "axi_copy_mte3.sv", "CopyWidth = GmDataWidth;", f"CopyWidth = {width};")
    replace(folder / "dut_mte3.toml", "read_bytes = 64 ", "read_bytes = 128 ")
    return manifests(folder)


@pytest.mark.share("examples/axi_copy", "tb/hdl")
@pytest.mark.sim
@pytest.mark.parametrize(
    ("width", "gm_width", "local_width"), [(64, 256, 128), (64, 128, 512), (1024, 128, 256)]
)
def test_bus_of_another_width(width: int, gm_width: int, local_width: int) -> None:
    duts = with_bus(copy_of("axi_copy", f"bus_{width}"), width)
    for test in ("legal", "errors"):
        record = run(
            test,
            duts,
            sim="verilator",
            transactions=1500,
            seed=28,
            gm_width=gm_width,
            local_width=local_width,
        )
        runs.assert_passed(record)


@pytest.mark.sim
def test_the_summary_lists_the_excluded_ops() -> None:
    record = run("random", (str(MANIFEST),), sim="icarus", transactions=40, seed=23)
    (sentence,) = [text for text in record.left_out if "axi_copy (mte2)" in text]
    for part in ("mte_gm_l1_frac", "padded rows", "DMA-L09", "write errors"):
        assert part in sentence
    assert "legacy" not in sentence
    assert "loops" not in sentence


# --- injected bugs ---


def in_example(name: str) -> str:
    return f"examples/axi_copy/{name}"


def in_adapter(name: str) -> str:
    return f"rtl_stubs/adapters/pto_{name}.sv"


SPLIT, MOVER, ENGINE = (in_example(f"rtl/axi_copy{part}.sv") for part in ("_split", "_mover", ""))
WRAPPER = in_example("axi_copy_mte2.sv")
COMMANDS, READS, WRITES = (in_adapter(part) for part in ("commands", "axi_reads", "axi_writes"))
TO_GM, TO_LOCAL, WATCH = (in_adapter(part) for part in ("axi_to_gm", "axi_to_local", "axi_watch"))
NUMBERS = in_adapter("axi_bursts")

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
    Bug("done_before_the_last_write", COMMANDS, "(open_cut || rsp_valid_i)",
        "(open_cut || rsp_valid_i || BUG)", "legal", "DONE-EARLY"),
    Bug("end_of_a_cut_op_waits", COMMANDS, "({row.loc.cut, row", "({row.loc.cut && !BUG, row",
        "errors", "not retired"),
    Bug("ops_do_not_wait", COMMANDS, "Overlap == 0 && open_valid",
        "Overlap == 0 && !BUG && open_valid", "faults", ""),
    Bug("writes_after_an_error", TO_GM, "(drop[cmd.id])", "(drop[cmd.id] && !BUG)",
        "faults", "after its error"),
    Bug("never_failed", COMMANDS, "failed[open_id];", "failed[open_id] && !BUG;",
        "faults", "after its error"),
    Bug("no_answer", ENGINE, "if (tail_take && tail_last) rsp_valid",
        "if (tail_take && tail_last && !BUG) rsp_valid", "legal", "HANG"),
    Bug("goes_on_after_an_error", ENGINE, "halt = stopped || stop;",
        "halt = (stopped || stop) && !BUG;", "faults", "after its error"),
    Bug("address_of_the_burst", WATCH, "{32'd0, beat_q} << Lane",
        "{32'd0, beat_q & {8{!BUG}}} << Lane", "errors", "addr"),
    Bug("kind_of_error", WATCH, "rresp_i[0] ?", "rresp_i[0] && !BUG ?", "faults", "DECERR"),
    Bug("words_are_not_taken", READS, "step && (word_end || burst_end)",
        "step && ((word_end && !BUG) || burst_end)", "legal", ""),
    Bug("first_beat_is_whole", NUMBERS, "bytes - {9'd0, below}", "bytes - {9'd0, below} + BUG",
        "errors", ""),
    Bug("word_is_put_twice", WRITES, "put ? {WordBytes{1'b0}} : merged_be",
        "(put && !BUG) ? {WordBytes{1'b0}} : merged_be", "legal", "wr"),
    Bug("place_of_the_burst", WRITES, "place_q <= next;", "if (!BUG) place_q <= next;",
        "legal", "wr"),
    Bug("local_page_of_16_words", TO_LOCAL, "= word_addr[22:0]", "= word_addr[22:0] & ~(BUG << 12)",
        "legal", "wr"),
    Bug("local_error_is_lost", TO_LOCAL, "({dst_req_o && dst_gnt_i && dst_err_i,",
        "({dst_req_o && dst_gnt_i && dst_err_i && !BUG,", "errors", "LOCAL"),
    Bug("longest_burst", TO_GM, "count == MOST", "count == MOST + 9'd240 * BUG", "legal", "hang"),
    Bug("last_beat_early", TO_GM, "sent_q == length", "sent_q == length - (BUG && length != 1)",
        "legal", "W-LAST"),
)  # fmt: skip


@pytest.fixture(scope="module")
def with_bugs() -> tuple[str, ...]:
    """A copy with all bugs, whose bus is twice as wide as those of the bench."""
    return with_bus(plant("axi_copy", BUGS), 512)


@pytest.mark.sim
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, with_bugs: tuple[str, ...]) -> None:
    assert_caught(bug, with_bugs)


@pytest.mark.sim
def test_a_hang_of_directed_is_all_that_it_reports(with_bugs: tuple[str, ...]) -> None:
    record = run_bug(with_bugs, "directed", "+no_answer")
    assert (record.status, record.mismatches, len(record.failures)) == ("hang", 0, 1)
    assert record.failures[0].startswith("HANG: no descriptor accepted or retired by mte2 for ")


@pytest.mark.sim
@pytest.mark.parametrize("test", sorted({bug.test for bug in BUGS}))
def test_without_a_bug_the_same_runs_pass(test: str, with_bugs: tuple[str, ...]) -> None:
    runs.assert_passed(run_bug(with_bugs, test))


# --- manifest, ports, lint ---


def test_ports_are_those_of_the_contract() -> None:
    assert check_ports(load_manifest(MANIFEST)) == []


@pytest.mark.parametrize("port", ["m_axi_rlast", "desc_tag_i", "dst_err_i", "done_rule_o"])
def test_a_missing_port_is_named(port: str) -> None:
    folder = copy_of("axi_copy", f"no_{port}")
    manifest, wrapper = folder / "dut.toml", folder / "axi_copy_mte2.sv"
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
    manifest = copy_of("axi_copy", "wrong_manifest") / "dut.toml"
    replace(manifest, old, new)
    with pytest.raises(PtoError, match=message):
        load_manifest(manifest)


def test_file_lists_name_the_engine() -> None:
    manifest = load_manifest(MANIFEST)
    names = [os.path.relpath(name, EXAMPLE) for name in manifest.sources]
    assert names[:4] == [f"rtl/axi_copy{part}.sv" for part in ("", "_fifo", "_mover", "_split")]
    lists = {Path(name).name for name in manifest.filelists}
    assert lists == {"axi_copy.f", "engine.f", "adapters.f"}
