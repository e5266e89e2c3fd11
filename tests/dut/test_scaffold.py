# SPDX-License-Identifier: Apache-2.0
"""A new DUT compiles and fails as its README says; wrong arguments are errors."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import BUILD_ROOT, ROOT
from tb.dut.contract import ports_of
from tb.dut.manifest import load_manifest
from tb.dut.ports import check_ports
from tb.dut.scaffold import LANGUAGES, new_dut, new_dut_command
from tb.dut.selection import parse_ops
from tb.isa.ops import OPS, SLOTS
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tb.setup import tools, verilator
from tests.wording import says


def fences(page: Path) -> list[str]:
    """Returns the code blocks of a page."""
    return re.findall(r"^```\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def ops_of(slot: str) -> list[str]:
    return [op.name for op in OPS.values() if op.slot == slot]


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("slot", SLOTS)
def test_a_new_dut_compiles(slot: str, language: str, tmp_path: Path) -> None:
    """With all ops, on both front ends, without a warning; Verilog as of 2005."""
    path = new_dut("demo", slot, ops_of(slot), tmp_path / "demo", language)
    manifest = load_manifest(path)
    assert manifest.ops == tuple(ops_of(slot))
    assert check_ports(manifest) == []
    (source,) = manifest.sources
    executable, variables = verilator.environment()
    icarus, _ = tools.icarus_environment()
    standard = "1800-2017" if language == "sv" else "1364-2005"
    level = "-g2012" if language == "sv" else "-g2005"
    quiet = ("-Wno-UNUSEDSIGNAL", "-Wno-UNUSEDPARAM")  # the user will read the fields
    commands: tuple[list[str | Path], ...] = (
        [executable, "--lint-only", "-Wall", *quiet, "--language", standard, source],
        [icarus, "-Wall", level, "-t", "null", source],
    )
    for command in commands:
        done = subprocess.run(
            command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_every_port_has_its_comment(tmp_path: Path) -> None:
    text = (new_dut("demo", "fix", folder=tmp_path / "demo").parent / "demo.sv").read_text()
    for port in ports_of("fix"):
        line = rf"^  {port.direction} +wire .*?\b{port.name},? +// {re.escape(port.doc)}$"
        assert re.search(line, text, re.MULTILINE), port.name


def test_the_manifest_declares_the_minimum(tmp_path: Path) -> None:
    manifest = load_manifest(new_dut("demo", "mte3", folder=tmp_path / "deep" / "demo"))
    can = manifest.capabilities
    assert (can.ops, can.loops, can.errors, can.d_rules) == (("mte_ub_gm",), 0, (), ())
    assert not can.legacy
    # The keys in comments are correct, too.
    path = Path(manifest.path)
    offered = re.sub(r"^(ops|d_rules) .*\n", "", path.read_text(), flags=re.MULTILINE)
    path.write_text(re.sub(r"^# (ops|d_rules) ", r"\1 ", offered, flags=re.MULTILINE))
    can = load_manifest(path).capabilities
    assert list(can.ops) == ops_of("mte3")
    assert can.d_rules == OPS["mte_ub_gm"].rule_names


OPTIONAL = {"loops", "pad", "legacy", "transpose", "element_bits", "atomic_stores"}


@pytest.mark.parametrize(
    ("slot", "ops", "keys"),
    [
        ("mte1", [], {"loops"}),
        ("mte1", ["mte_l1_bt"], set()),
        ("mte1", ["mte_l1_l0a"], {"transpose", "element_bits"}),
        ("mte1", ["mte_l1_l0a_mx"], set()),
        ("mte1", ["mte_l1_ub", "mte_l1_l0b"], {"loops", "transpose", "element_bits"}),
        ("mte2", [], {"loops", "pad", "legacy"}),
        ("mte2", ["mte_gm_l1"], {"loops"}),
        ("mte2", ["mte_gm_l1_frac"], set()),
        ("mte3", [], {"loops", "legacy", "atomic_stores"}),
        ("mte3", ["mte_ub_ub"], {"legacy"}),
        ("fix", [], set()),
        ("fix", ["mte_l0c_ub"], {"loops"}),
    ],
)
def test_the_manifest_has_the_keys_of_its_ops_alone(
    slot: str, ops: list[str], keys: set[str], tmp_path: Path
) -> None:
    path = new_dut("demo", slot, ops, tmp_path / "demo")
    can = load_manifest(path).capabilities
    assert can.model_fields_set & OPTIONAL == keys
    least = {"loops": 0, "element_bits": (16,)}
    assert all(getattr(can, key) == least.get(key, False) for key in keys)


@pytest.mark.parametrize(
    ("name", "options", "facts"),
    [
        ("2fast", {}, "'2fast' cannot name module letters, digits _"),
        ("a-b", {}, "'a-b' cannot name module"),
        ("a/b", {}, "'a/b' cannot name module --folder PATH"),
        ("always_ff", {}, "'always_ff' SystemVerilog my_always_ff"),
        ("pto_mte2", {}, "'pto_mte2' bench names my_mte2"),
        ("demo", {"slot": "mte4"}, r"slot 'mte4' mte1,\smte2,\smte3,\sfix"),
        ("demo", {"ops": ("mte_ub_gm",)}, "op 'mte_ub_gm' not slot mte2 mte_gm_ub"),
        ("demo", {"language": "vhdl"}, r"language 'vhdl' sv,\sv"),
    ],
)
def test_wrong_arguments(
    name: str, options: dict[str, str], facts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PtoError) as refused:
        new_dut(name, **{"slot": "mte2", **options})  # type: ignore[arg-type]
    assert says(str(refused.value), facts), refused.value
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    with pytest.raises(PtoError, match="demo is there already"):
        new_dut("demo", "mte2")
    assert list((tmp_path / "demo").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(PtoError, match="cannot write the new DUT"):
        new_dut("demo", "mte2", folder=tmp_path / "file" / "demo")


def test_the_command_prints_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert new_dut_command("demo", "mte2", "mte_gm_l1, mte_gm_ub") == 0
    wrote, following = capsys.readouterr().out.splitlines()
    assert says(wrote, "demo README.md, demo.sv, dut.toml")
    assert says(following, "next demo/README.md")
    assert load_manifest(Path("demo")).ops == ("mte_gm_ub", "mte_gm_l1")


def test_the_readme_names_paths_from_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    new_dut("demo", "mte2")
    assert f"DUT={tmp_path / 'demo/dut.toml'} " in Path("demo/README.md").read_text()
    text = Path("demo/README.md").read_text()
    for page in re.findall(r"`(docs/[\w-]+\.md)`", text):
        assert (ROOT / page).exists(), page


@pytest.mark.sim
def test_the_first_failure_is_the_one_of_the_readme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The README's commands, its failure word for word, and the documentation's."""
    folder = BUILD_ROOT / "new-dut" / "demo"  # one place, for one build folder
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "tb", "new-dut", "demo", "--slot", "mte2"]
    subprocess.run([*command, "--folder", str(folder)], cwd=ROOT, check=True, capture_output=True)
    commands, promise = fences(folder / "README.md")
    check, make = (shlex.split(line) for line in commands.splitlines())
    assert check[0] == ".venv/bin/pto-dv"
    subprocess.run([sys.executable, "-m", "tb", *check[1:]], cwd=ROOT, check=True)
    assert check[-1] == "sim_build/new-dut/demo/dut.toml"
    values = dict(word.split("=", 1) for word in make[1:])
    planned = planned_test(values["TEST"])
    settings = RunSettings(
        sim="icarus",  # builds in a second, the message is the same
        test=planned.name,
        transactions=planned.transactions,
        duts=(str(ROOT / values["DUT"]),),
        ops=parse_ops(values["OPS"]),
        options=planned.options,
    )
    record = run_once(settings, planned, tmp_path / "r.json", console=Console())
    assert values["SIM"] in ("verilator", "icarus")
    assert record.status == "fail"
    assert record.failures[0].startswith(promise)
    first = capsys.readouterr().out.split("MISMATCH: ", 1)[1]
    assert f"MISMATCH: {first}".startswith(promise)
    assert first.splitlines()[2].strip().startswith("pto.")
    assert any("demo (mte2)" in text and "loops" in text for text in record.left_out)
    assert all(line in (ROOT / "docs/plug-in.md").read_text() for line in promise.splitlines())
