# SPDX-License-Identifier: Apache-2.0
"""Port check of a DUT: one fault at a time in a correct wrapper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.contract import PAGE, PORTS, parameters_of, ports_of, renewed
from tb.dut.manifest import (
    Capabilities,
    Manifest,
    load_manifest,
    reference_manifests,
)
from tb.dut.ports import SHOWN, check_command, check_ports, require_ports
from tb.dut.scaffold import new_dut
from tb.dut.widths import Widths
from tb.isa.ops import SLOTS
from tb.record.record import RunRecord
from tb.record.settings import SIMULATOR_NAMES, RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.command import pto_dv
from tests.wording import pattern, says

PLUG_IN = (ROOT / "docs/plug-in.md").read_text()


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The manifest of a wrapper without a fault, at every width of the GM side."""
    path = new_dut("demo", "mte2", folder=tmp_path / "demo")
    text = path.read_text()
    text = re.sub(r"gm_data_widths = .*", "gm_data_widths = [128, 256]", text)
    path.write_text(re.sub(r"tag_widths = .*", "tag_widths = [1, 16]", text))
    return path


def change(manifest: Path, old: str, new: str, *, count: int = 1) -> None:
    """Replaces a text that the wrapper must have."""
    source = manifest.parent / "demo.sv"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new, count))


def drop_port(manifest: Path, name: str) -> None:
    """Removes the declaration of a port from the wrapper."""
    source = manifest.parent / "demo.sv"
    kept = [line for line in source.read_text().splitlines() if not re.search(rf" {name},", line)]
    source.write_text("\n".join([*kept, ""]))


def found(manifest: Path) -> list[str]:
    """Returns the findings without their folder."""
    folder = str(manifest.parent.resolve())
    return [str(item).replace(f"{folder}/", "") for item in check_ports(load_manifest(manifest))]


@pytest.mark.parametrize("slot", SLOTS)
def test_reference_engines_and_scaffolds_keep_the_contract(slot: str, tmp_path: Path) -> None:
    (engine,) = (manifest for manifest in reference_manifests() if manifest.slot == slot)
    assert check_ports(engine) == []
    assert check_ports(load_manifest(new_dut("a", slot, folder=tmp_path / "a"))) == []
    assert check_ports(load_manifest(new_dut("b", slot, (), tmp_path / "b", "v"))) == []


@pytest.mark.parametrize("name", [port.name for port in ports_of("mte2")])
def test_a_missing_port_is_one_error(name: str, demo: Path) -> None:
    if name == "m_axi_bready":  # the last has no comma
        change(demo, "m_axi_bvalid,", "m_axi_bvalid")
        change(demo, "  output wire                        m_axi_bready ", "  // ")
    else:
        drop_port(demo, name)
    (error,) = (text for text in found(demo) if ": error: " in text)
    assert error.startswith("demo.sv:")
    assert says(error, rf"demo\.sv:\d+ error port {name} missing (in|out)put")


SUB = "module sub(output wire o); endmodule\n"
GNT = "input  wire                        src_gnt_i"
STATUS = "output wire [{}:0]                  done_status_o"
STROBE = "[GmDataWidth/8-1:0]    m_axi_wstrb"
COUNT = "parameter int NumOutstanding = 16,"
TIED = "assign m_axi_arvalid = 1'd0;"
HELD = "logic held_q;"


@pytest.mark.parametrize(
    ("severity", "old", "new", "facts"),
    [
        ("error", "src_rvalid_i,", "src_rvld_i,", "src_rvld_i not contract mean src_rvalid_i"),
        ("error", "m_axi_arready,", "ARREADY,", "ARREADY not contract mean m_axi_arready"),
        ("error", GNT, GNT.replace("input ", "output"), "port src_gnt_i output input expected"),
        ("error", GNT, "inout wire src_gnt_i", "inout input"),
        ("error", STATUS.format(2), STATUS.format(1), "port done_status_o 2 bits 3 expected"),
        ("error", STROBE, "[31:0] m_axi_wstrb", "32 bits GmDataWidth 128 16 GmDataWidth/8"),
        (
            "error", "[TagWidth-1:0]         desc_tag_i", "[7:0] desc_tag_i",
            "port desc_tag_i 8 bits TagWidth 1 1 expected TagWidth",
        ),
        (
            "error", "GmAddrWidth = 40,", "GmAddrWidth = 48,",
            "port done_addr_o 48 bits 40 expected GmAddrWidth",
        ),
        (
            "error", "[GmDataWidth-1:0]      m_axi_rdata", "[7:0] m_axi_rdata [GmDataWidth/8]",
            "port m_axi_rdata type",
        ),
        ("error", "busy_o, ", "busy_o, input wire scan_i, ", "scan_i input contract not float"),
        ("error", COUNT, "", "parameter NumOutstanding missing harness sets AXI bursts"),
        ("error", COUNT, f"localparam{COUNT[9:]}", "parameter NumOutstanding local cannot set"),
        (
            "error", COUNT, COUNT.replace("ing", ""),
            "parameter NumOutstanding missing mean NumOutstand",
        ),
        ("error", TIED, "", "port m_axi_arvalid never driven"),
        ("error", "assign done_rule_o   = 8'd0;", "assign done_rule_o[5:0] = 6'd0;", "bits 7:6"),
        ("error", TIED, "sub u_sub (.o(m_axi_arvalid));", "port m_axi_arvalid from o of sub"),
        (
            "error", TIED, "wire q; assign m_axi_arvalid = q;",
            "port m_axi_arvalid assigned q never driven",
        ),
        ("error", TIED, "nowhere u_sub (.o(m_axi_arvalid));", "module nowhere none sources"),
        ("error", "module demo #(", "module demo2 #(", "module demo none sources mean demo2"),
        ("error", TIED, "assign m_axi_arvalid = ;", "expected expression"),
        ("error", "`default_nettype none", '`include "gone.vh"', "'gone.vh' No such file"),
        ("warning", "busy_o, ", "busy_o, output wire irq_o, ", "port irq_o output contract"),
        ("warning", HELD, f"{HELD} wire q; wire r = !q;", "'q' never driven"),
        ("warning", HELD, f"{HELD} wire [7:0] q = absent;", "undeclared 'absent'"),
        (
            "warning", HELD, f"{HELD} wire [7:0] q; assign q[3:0] = 4'd0; wire r = ^q;",
            r"demo\.sv:\d+ warning 'q' driven in part nothing drives bits 7:4",
        ),
        ("warning", HELD, f"{HELD} wire q = clk_i; wire q = clk_i;", "redefinition 'q'"),
        (
            "warning", HELD, f"{HELD} wire [3:0] q = desc_i[7:0];",
            r"demo\.sv:\d+ warning truncates 8 4 bits desc_i",
        ),
        (
            "warning", HELD, f"{HELD} wire [7:0] q = desc_i[3:0];",
            r"demo\.sv:\d+ warning expands 4 8 bits desc_i",
        ),
        (
            "warning", HELD, f"{HELD} wire [7:0] q; sub u_sub (.o(q));",
            r"demo\.sv:\d+ warning port expands 1 8 bits q",
        ),
        (
            "warning", TIED, "wire p = q; wire q = 1'b0; assign m_axi_arvalid = p;",
            r"demo\.sv:\d+ warning 'q' used before its declaration",
        ),
        # A loop is not a finding of this check, and it ends.
        ("", TIED, "wire p; wire q = p; assign p = q; assign m_axi_arvalid = q;", ""),
        ("", "busy_o, ", "busy_o, input wire scan_i = 1'b0, ", ""),
    ],
)  # fmt: skip
def test_one_fault(severity: str, old: str, new: str, facts: str, demo: Path) -> None:
    change(demo, old, new)
    source = demo.parent / "demo.sv"
    source.write_text(source.read_text() + SUB)
    texts = found(demo)
    assert bool(texts) == bool(severity)
    for text in texts[:1]:  # Errors come first.
        assert re.match(rf"(demo\.sv:\d+|dut\.toml): {severity}: ", text)
    assert any(says(text, facts) for text in (texts[:1] if severity == "error" else texts or [""]))


def test_names_and_widths_are_reported_by_place_and_not_all(demo: Path) -> None:
    """Ports come before assignments; the wrapper has other widths at each tag width."""
    lines = [f"wire [3:0] q{at} = {{1'b0, desc_tag_i, 16'd0}};" for at in range(7)]
    change(demo, HELD, "\n".join([HELD, *lines, "wire [7:0] q; sub u_sub (.o(q));"]))
    sub = SUB.replace("endmodule", "assign r = 1'b0, o = {r, r}; endmodule")
    (demo.parent / "sub.sv").write_text(f"`default_nettype wire\n{sub}")
    demo.write_text(demo.read_text().replace('"demo.sv"', '"demo.sv", "sub.sv"'))
    name, first, *others, last = found(demo)
    assert says(name, "sub.sv:2 warning implicit net 'r'")
    assert says(first, "port expands 1 8 bits q")
    assert len(others) == SHOWN - 1
    assert all(says(text, "demo.sv truncates 25 4 bits") for text in others)
    assert says(last, "warning 4 more 3 in demo.sv, 1 in sub.sv")
    drop_port(demo, "clk_i")
    assert ": error: " in found(demo)[0]


def test_one_fault_has_one_finding(demo: Path) -> None:
    change(demo, "  parameter int GmDataWidth = 256, ", "  // ")
    change(demo, "[GmDataWidth-1:0]", "[255:0]", count=9)
    change(demo, "[GmDataWidth/8-1:0]", "[31:0]", count=9)
    change(demo, "{GmDataWidth{1'b0}}", "256'd0", count=9)
    change(demo, "{GmDataWidth/8{1'b0}}", "32'd0", count=9)
    (text,) = found(demo)
    assert "parameter GmDataWidth is missing" in text


BOX = "wire v; wire [3:0] w; enc u_enc (.p(v), .o({w[3:1], w[0]}), .n(never)); wire never;"
ENC = "module enc(output wire p, output wire [3:0] o, input wire n); wire x = y; wire y;"


@pytest.mark.parametrize("there", ["", f"{ENC} nowhere u(); endmodule\n"], ids=["gone", "there"])
def test_black_boxes_are_not_looked_into(
    there: str, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(demo, TIED, f"{BOX} wire [1:0] z = w; assign m_axi_arvalid = v;")
    source = demo.parent / "demo.sv"
    source.write_text(source.read_text() + there)
    text = demo.read_text()
    assert says(found(demo)[0], "error module nowhere" if there else "error module enc black_boxes")
    demo.write_text(f'black_boxes = ["enc"]\n{text}')
    *never, declared, width = found(demo)
    assert says(declared, "demo.sv warning 'never' before its declaration")
    assert says(width, "demo.sv warning truncates 4 2 bits w")
    assert len(never) == bool(there)  # The direction of an unknown port is unknown.
    assert check_command([str(demo)]) == 0
    assert "did not look into black boxes enc" in capsys.readouterr().out


def test_a_module_without_any_port_of_the_contract(demo: Path) -> None:
    source = demo.parent / "demo.sv"
    source.write_text("module demo(input logic clk, output logic done); endmodule\n")
    (text,) = found(demo)
    assert says(text, "demo.sv:1 error module demo no port contract")


@pytest.mark.parametrize(
    ("key", "facts"),
    [("parameters", "{name} = 4"), ("knob_parameters", 'tail = "{name}"')],
)
def test_parameters_of_the_manifest(key: str, facts: str, demo: Path) -> None:
    text = demo.read_text()
    change(demo, "parameter int NumOut", "parameter int Depth = 2, parameter int NumOut")
    for name, findings in (("Depht", 1), ("Depth", 0)):
        table = f"[{key}]\n{facts.format(name=name)}\n[capabilities]"
        demo.write_text(text.replace("[capabilities]", table))
        texts = found(demo)
        assert len(texts) == findings
        for one in texts:
            assert says(one, rf"dut.toml error \[{key}\] Depht demo mean Depth")


def test_a_check_says_which_profile_a_manifest_claims(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = demo.read_text()
    for profile, facts in (
        ('profile = "a5, tail = keep"', "claims profile a5, tail keep len_bits 21"),
        ("", "names no profile claims seed len_bits 16"),
    ):
        demo.write_text(text.replace('profile = "seed"', profile))
        assert check_command([str(demo)]) == 0
        assert says(capsys.readouterr().out, facts)


def test_sources_are_read_with_the_keys_of_the_manifest(demo: Path) -> None:
    """Macros, include folders and parameters reach the module."""
    folder = demo.parent / "include"
    folder.mkdir()
    (folder / "extra.vh").write_text("`ifdef EXTRA\noutput wire [Extra-1:0] busy_o,\n`endif\n")
    line = "  output wire                        busy_o, "
    change(demo, line, '`include "extra.vh"\n// ')
    change(demo, "parameter int TagWidth", "parameter int Extra = 3, parameter int TagWidth")
    keys = 'include_dirs = ["include"]\ndefines = { EXTRA = "" }\nparameters = { Extra = 1 }\n'
    demo.write_text(demo.read_text().replace("[capabilities]", f"{keys}[capabilities]"))
    assert found(demo) == []
    demo.write_text(demo.read_text().replace("EXTRA = ", "OTHER = "))
    assert "port busy_o is missing" in found(demo)[0]


def test_a_run_is_refused_before_the_build(demo: Path, tmp_path: Path) -> None:
    drop_port(demo, "src_rvalid_i")
    drop_port(demo, "dst_err_i")
    settings = RunSettings(duts=(str(demo),), transactions=1, ops=("mte_gm_ub",))
    target = tmp_path / "record.json"
    with pytest.raises(PtoError) as refused:
        run_once(settings, planned_test("random"), target, console=Console(quiet=True))
    message = str(refused.value)
    assert says(message, "demo mte2 slot port src_rvalid_i missing input 1 bit")
    assert "1 more" in message
    assert "port dst_err_i is missing" in message
    assert "check-dut" in message
    record = RunRecord.model_validate_json(target.read_text())
    assert (record.status, record.message) == ("error", message)


def test_a_run_is_checked_at_its_own_widths(demo: Path) -> None:
    change(demo, "[GmDataWidth/8-1:0]    m_axi_wstrb", "[31:0]                 m_axi_wstrb")
    change(demo, "m_axi_wstrb = {GmDataWidth/8{1'b0}}", "m_axi_wstrb = 32'd0")
    change(demo, "busy_o, ", "busy_o, output wire irq_o, ")
    manifest = load_manifest(demo)
    (warning,) = require_ports([manifest], Widths(256, 256, 8))[:1]
    assert "irq_o" in warning.what
    with pytest.raises(PtoError, match=pattern("m_axi_wstrb 32 bits GmDataWidth 128")):
        require_ports([manifest], Widths(128, 256, 8))


def test_the_command(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_command([str(demo)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert says(lines[0], "demo mte2 56 ports contract 6 combinations widths")
    assert lines[-1].startswith("next: make SIM=verilator TEST=directed DUT=")
    text = demo.read_text()
    demo.write_text('simulators = ["icarus", "questa"]\n' + text)
    assert check_command([str(demo)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "demo (mte2): builds on icarus, questa alone" in lines
    assert lines[-1].startswith("next: make SIM=icarus TEST=directed DUT=")
    demo.write_text(text.replace("gm_data_widths = [128, 256]", "gm_data_widths = [128]"))
    other = new_dut("other", "mte3", folder=demo.parent / "other")
    assert check_command([str(demo), str(other)]) == 0
    *_, why, claimed, following = capsys.readouterr().out.splitlines()
    assert says(why, "demo and other no GM_WIDTH")
    assert claimed == "claimed: demo (mte2) claims GM_WIDTH 128, not 256; this run has 128"
    assert following == f"next: make SIM=verilator TEST=directed DUT={demo}"
    demo.write_text(text)
    assert check_command([str(demo), str(demo.parent)]) == 0
    assert capsys.readouterr().out.endswith(f"DUT={demo}\n")
    drop_port(demo, "src_rvalid_i")
    change(demo, "busy_o, ", "busy_o, output wire irq_o, ")
    assert check_command([str(demo)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "demo (mte2): 1 error, 1 warning" in lines
    assert lines[-1].startswith("next: correct these")


@pytest.mark.long
def test_the_command_line(demo: Path) -> None:
    assert pto_dv("check-dut", str(demo.parent)).returncode == 0
    drop_port(demo, "clk_i")
    done = pto_dv("check-dut", str(demo), "rtl_stubs/pto_mte3/manifest.toml")
    assert done.returncode == 1
    assert "port clk_i is missing" in done.stdout
    assert "pto_mte3 (mte3): 56 ports" in done.stdout
    done = pto_dv("check-dut", str(demo.parent / "none.toml"))
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot read the manifest")


# --- the tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("slot", ["mte2", "fix"])
def test_the_harness_connects_the_ports_of_the_table(slot: str) -> None:
    text = (ROOT / "tb/hdl/pto_slot.vh").read_text()
    text = text[text.index("`PTO_SLOT_MODULE #(") : text.index("pto_desc_feeder #(")]
    if slot != "fix":
        text = re.sub(r"`ifdef PTO_SLOT_(SRC|PAR).*?`endif", "", text, flags=re.DOTALL)
    names = re.findall(r"\s\.(\w+)", text)
    passed = [item.name for item in parameters_of(slot) if item.passed]
    assert sorted(names) == sorted([*passed, *(port.name for port in ports_of(slot))])


def test_the_contract_page_has_the_tables() -> None:
    text = (ROOT / PAGE).read_text()
    assert renewed(text) == text, "stale: run python -m tb.dut.contract"
    assert renewed(text.replace("| `busy_o` | output", "| `busy` | output")) == text
    with pytest.raises(ValueError, match="table of ports"):
        renewed(text.replace("<!-- End of the table of ports. -->", ""))
    # The hand-written table of rules has all groups, too.
    rules = text[text.index("## Ports") : text.index("### All ports")]
    for port in PORTS:
        assert f"`{port.name}" in rules or port.name.startswith("m_axi_")


def documented_keys(heading: str) -> dict[str, str]:
    """Returns the default of each key in the table after a line of docs/plug-in.md."""
    table = PLUG_IN[PLUG_IN.index(heading) :].split("\n\n")[1]
    return dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", table, re.MULTILINE))


@pytest.mark.parametrize(
    ("model", "heading"),
    [
        (Manifest, 'errors = ["read"]\noutstanding = 8\n```'),
        (Capabilities, "Of `[capabilities]`"),
    ],
)
def test_every_key_of_a_manifest_is_documented(
    model: type[Manifest] | type[Capabilities], heading: str
) -> None:
    keys = documented_keys(heading)
    assert list(keys) == [name for name in model.model_fields if name != "path"]
    texts = {"name": "the module", "profile": "`seed`"}
    for name, default in keys.items():
        value = model.model_fields[name].get_default(call_default_factory=True)
        if model.model_fields[name].is_required():
            expected = "required"
        elif value == SIMULATOR_NAMES:
            expected = "all"
        elif isinstance(value, tuple):
            expected = ", ".join(map(str, value)) or "none"
        elif isinstance(value, dict | str):
            expected = texts.get(name, "none")
        else:
            expected = str(value).lower()
        assert default == expected, name


def test_the_documented_manifest_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PLUG_IN, re.DOTALL)
    (tmp_path / "rtl").mkdir()
    (tmp_path / "dut").mkdir()
    (tmp_path / "rtl/dma.f").write_text("dma.sv\n")
    for name in ("rtl/dma.sv", "dut/top.sv", "dut/lint.vlt"):
        (tmp_path / name).write_text("")
    (tmp_path / "dut/dut.toml").write_text(text)
    assert load_manifest(tmp_path / "dut").title == "my_dma"


def test_messages_of_the_table_exist() -> None:
    table = PLUG_IN[PLUG_IN.index("## Messages") :]
    quoted = [
        text
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for text in re.findall(r"`([^`]+)`", row)
    ]
    assert len(quoted) > 10
    sources = "".join(
        path.read_text()
        for folder in ("tb", "scoreboards")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "scaffold.py"
    )
    for text in quoted:
        for piece in text.removesuffix("=").split(" ... "):
            assert piece in sources, piece
