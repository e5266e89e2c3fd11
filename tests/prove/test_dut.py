# SPDX-License-Identifier: Apache-2.0
"""``pto-dv prove``: both examples hold to a depth, and planted bugs violate the rule they break."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tb.common.errors import PtoError, ToolError
from tb.common.paths import ROOT
from tb.dut.contract import ports_of
from tb.dut.manifest import load_manifest
from tb.harness.protocol import RULES
from tb.prove import dut, rtl
from tb.prove.rtl import REACH
from tb.run import console
from tests.command import pto_dv

COPY, DMA = "examples/axi_copy", "examples/reg_dma"


def copy_of(example: str, tmp_path: Path, file: str = "", old: str = "", new: str = "") -> Path:
    """Copies an example, with one text replaced, and returns the folder of the copy."""
    folder = tmp_path / Path(example).name
    shutil.copytree(ROOT / example, folder)
    manifest = folder / "dut.toml"
    manifest.write_text(manifest.read_text().replace("../../rtl_stubs", str(ROOT / "rtl_stubs")))
    if file:
        text = (folder / file).read_text()
        assert text.count(old) == 1
        (folder / file).write_text(text.replace(old, new))
    return folder


@pytest.mark.parametrize("slot", ["mte1", "mte2", "mte3", "fix"])
def test_every_rule_is_asserted_assumed_or_named(slot: str) -> None:
    labels = {label for label in dut.labels_of(slot) if not label.startswith(REACH)}
    named = {dut.label_of(name) for name in RULES}
    assert labels <= named
    if slot == "fix":
        left = [rule for rule in RULES.values() if dut.label_of(rule.name) not in labels]
        assert {rule.name for rule in left if rule.who == "engine" and not rule.needs_x} == {
            name for name in dut.UNJUDGED if RULES[name].who == "engine"
        }
    assert {label for label in dut.labels_of(slot) if label.startswith(REACH)} <= set(dut.REACHED)


@pytest.mark.usefixtures("yosys")
@pytest.mark.long
@pytest.mark.parametrize(("slot", "op"), [("mte3", "mte_ub_gm"), ("fix", "mte_l0c_gm")])
def test_a_block_that_does_anything_violates_every_rule(slot: str, op: str, tmp_path: Path) -> None:
    """Its outputs are free. Every state is reached, too."""
    widths = dut.Widths(128, 128, 4)
    values = widths.parameters(slot)
    names = ", ".join(f"parameter {name} = {value}" for name, value in values.items())
    ports = ", ".join(
        f"{port.direction} wire [{port.bits(slot, values) - 1}:0] {port.name}"
        for port in ports_of(slot)
    )
    free = "\n".join(
        f"(* anyseq *) reg [{port.bits(slot, values) - 1}:0] any_{port.name};\n"
        f"assign {port.name} = any_{port.name};"
        for port in ports_of(slot)
        if port.direction == "output"
    )
    source = f"module free #({names}) ({ports});\n{free}\nendmodule\n"
    (tmp_path / "free.sv").write_text(source)
    manifest = tmp_path / "dut.toml"
    manifest.write_text(
        f'module = "free"\nslot = "{slot}"\nsources = ["free.sv"]\n[capabilities]\nops = ["{op}"]\n'
    )
    labels, result, _ = dut.prove_dut(load_manifest(manifest), widths, 2, 5, 300, stories=False)
    assert set(labels) == set(dut.labels_of(slot))
    assert sorted(set(labels) - set(result.broken) - result.reached) == []


@pytest.mark.usefixtures("yosys")
@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "depth", "missed"),
    [
        pytest.param(
            COPY, 10, "a done with status 0 after an access", marks=pytest.mark.share(COPY)
        ),
        pytest.param(DMA, 12, "a local read is granted", marks=pytest.mark.share(DMA)),
    ],
)
def test_an_example_holds_to_a_depth(example: str, depth: int, missed: str) -> None:
    done = pto_dv("prove", str(ROOT / example), "--depth", str(depth), "--seconds", "300")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert sum(line.startswith(f"holds to depth {depth}  ") for line in lines) == 51
    (covered,) = [line for line in lines if line.startswith(f"not covered within {depth} clocks: ")]
    assert missed in covered
    assert "a done with status 0;" not in covered
    assert f"BOUNDED 51 of 51 rules hold to depth {depth}, which is not a proof" in lines[-1]


@pytest.mark.usefixtures("yosys")
@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "file", "old", "new", "rule", "depth"),
    [
        pytest.param(*row, id=f"{Path(row[0]).name}-{row[4]}", marks=pytest.mark.share(row[0]))
        for row in (
            (
                *(COPY, "rtl/axi_copy.sv", "else if (arready) arvalid <= 1'b0;"),
                *("else arvalid <= 1'b0;", "AR-HELD", 13),
            ),
            (
                *(COPY, "rtl/axi_copy_split.sv", "{1'b0, src[Off-1:0]};"),
                *("{1'b0, src[Off-1:0]} + 1'b1;", "AR-4K", 14),
            ),
            (
                *(COPY, "rtl/axi_copy.sv", "if (tail_take && tail_last) rsp_valid"),
                *("if (chunk_valid && chunk_ready) rsp_valid", "DONE-EARLY-READ", 12),
            ),
            (
                *(DMA, "reg_dma_mte3.sv", ".done_valid_o, .done_ready_i, .done_tag_o,"),
                *(".done_valid_o, .done_ready_i(1'b1), .done_tag_o,", "DONE-HELD", 9),
            ),
            (
                *(DMA, "reg_dma_writer.v", "limit    = (page < most) ? page : most;"),
                *("limit    = most;", "AW-4K", 36),
            ),
            (
                *(DMA, "reg_dma_writer.v", "wlast_q <= ends;"),
                *("wlast_q <= 1'b1;", "W-LAST-EARLY", 40),
            ),
        )
    ],
)
def test_a_planted_bug_violates_its_rule(
    example: str, file: str, old: str, new: str, rule: str, depth: int, tmp_path: Path
) -> None:
    manifest = load_manifest(copy_of(example, tmp_path, file, old, new))
    labels, result, stories = dut.prove_dut(manifest, dut.narrow(manifest), 2, depth, 300, rule)
    assert labels == (dut.label_of(rule),)
    assert list(result.broken) == list(labels)
    clock = result.broken[labels[0]]
    assert 0 < clock <= depth
    text = stories[labels[0]]
    assert text is not None
    assert (ROOT / text).read_text().count("\n") >= clock
    wave = (ROOT / text).with_suffix(".vcd").read_text()
    assert f"#{10 * clock}\n" in wave
    about = {"DONE": "done_valid_o", "BUSY": "busy_o"}
    channel = rule.split("-")[0]
    assert f" {about.get(channel, f'm_axi_{channel.lower()}valid')} $end" in wave
    (line, _) = dut.verdicts(labels, result, stories)
    assert line == f"VIOLATED at clock {clock}  {rule}: {RULES[rule].text}"


@pytest.mark.usefixtures("yosys")
@pytest.mark.long
def test_a_source_that_yosys_cannot_read_is_named(tmp_path: Path) -> None:
    folder = copy_of(DMA, tmp_path, "reg_dma_regs.v", "\nmodule", "\nclass c; endclass\nmodule")
    manifest = load_manifest(folder)
    with pytest.raises(PtoError, match=r"Yosys cannot read reg_dma: .*reg_dma_regs.v:") as error:
        dut.prove_dut(manifest, dut.narrow(manifest), 2, 2, 60, "")
    assert "Traceback" not in str(error.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["examples/none"], "examples/none"),
        ([DMA, "--rules", "AW-5K"], "rule 'AW-5K' is not judged; did you mean AW-4K?"),
        ([DMA, "--depth", "0"], "--depth is '0'"),
        ([DMA, "--gm-width", "200"], "GM_WIDTH is '200'"),
    ],
)
def test_what_cannot_be_judged_is_refused(words: list[str], message: str) -> None:
    done = pto_dv("prove", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


YOSYS = """#!/bin/sh
case "$1" in
-V) [ -e compiled ] || echo "Preparing to run yosys. This might take a while..." >&2
    sleep 0.4; touch compiled; echo Yosys 0.40; exit;;
esac
sleep 47.1231 & wait
"""
"""Compiles itself once, then hangs with a child of its own."""


@pytest.mark.long
def test_yosys_that_compiles_itself_and_hangs_is_named_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "yosys"
    program.write_text(YOSYS)
    program.chmod(0o755)
    monkeypatch.setattr(rtl, "yosys_program", lambda: program)
    monkeypatch.setattr(console, "PLAIN_INTERVAL_SECONDS", 0.1)
    monkeypatch.chdir(tmp_path)
    manifest = load_manifest(ROOT / COPY)
    begin = time.monotonic()
    with pytest.raises(dut.LateError) as found:
        dut.prove_command(manifest, dut.narrow(manifest), 2, 5, 1, "")
    assert time.monotonic() - begin < 10
    assert found.value.exit_code == 3
    assert "UNDECIDED Yosys was ended after 1 s" in str(found.value)
    assert "--seconds 5" in found.value.remedy
    lines = capsys.readouterr().out.splitlines()
    (first,) = [line for line in lines if "first call of Yosys compiles it" in line]
    assert any("the compilation of Yosys, 0 s" in line for line in lines[lines.index(first) :])
    assert any("Yosys, the circuit, 1 s" in line for line in lines)
    assert (
        "sleep 47.1231"
        not in subprocess.run(
            ["ps", "-eo", "args"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    )
    assert rtl.compile_wheel(console.Console(quiet=True)) == 0.0, "compiled by now"


def test_yosys_that_does_not_start_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "yosys"
    program.write_text("#!/bin/sh\necho no share folder >&2; exit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(rtl, "yosys_program", lambda: program)
    with pytest.raises(ToolError, match="no share folder") as found:
        rtl.compile_wheel(console.Console(quiet=True))
    assert str(program) in found.value.where
