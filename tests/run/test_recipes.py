# SPDX-License-Identifier: Apache-2.0
"""Command lines of simulators that are not installed: fakes on the PATH log their arguments."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tb.common.errors import PtoError, ToolError
from tb.record.settings import MIXED_LANGUAGES
from tb.run import plan
from tb.run.build import build
from tb.run.launch import BuildError, new_runner
from tb.run.plan import BuildPlan
from tb.run.recipes import SIMULATORS, VHDL_ONLY, simulator
from tb.run.simulate import simulate
from tb.setup import tools
from tests.hdl.mini import manifest

FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >>"$PTO_FAKE_LOG"
out=
previous=
for word in "$@"; do
  [ "$previous" = -do ] && [ -f "$word" ] && cat "$word" >>"$PTO_FAKE_LOG"
  [ "$previous" = -o ] && out=$word
  previous=$word
done
[ -z "$out" ] || cp "$0" "$out"
"""

UNTESTED = tuple(name for name, item in SIMULATORS.items() if not item.tested)
"""Simulators that these tests cannot run."""


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a fake of every program of the simulators on the PATH; returns its log."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("vsim", "vlib", "vlog", "vcom", "qrun", "xrun", "vcs", "vsimsa", "dsim"):
        (folder / name).write_text(FAKE)
        (folder / name).chmod(0o755)
    compiler = tools.c_compiler().path
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin:{Path(compiler).parent}")
    monkeypatch.setenv("PTO_FAKE_LOG", str(log))
    monkeypatch.setattr(plan, "BUILD_ROOT", tmp_path / "builds")
    return log


@pytest.mark.long
@pytest.mark.parametrize("name", UNTESTED)
def test_the_c_memory_and_cocotb_reach_the_simulator(
    name: str, fakes: Path, tmp_path: Path
) -> None:
    plan = BuildPlan(name, (manifest("mte2"),))
    done = build(plan)
    built = fakes.read_text()
    for text in ("pto_harness.v", "copy_dma.v", f"{plan.folder}"):
        assert text in built
    assert done.library is not None
    assert done.library.stat().st_size > 10000
    fakes.write_text("")
    run = tmp_path / "run"
    run.mkdir()
    simulate(done, module="a.module", class_name="ATest", seed=7, run_dir=run, env={})
    ran = fakes.read_text()
    assert "-sv_lib" in ran
    assert str(done.library.with_suffix("")) in ran
    assert "cocotbvpi" in built + ran


@pytest.mark.long
def test_an_unchanged_build_is_only_run(fakes: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.so"
    args = {"simulator_args": {"questa": (str(model),)}}
    plan = BuildPlan("questa", (manifest("mte2").model_copy(update=args),))
    for text, builds in (("1", True), ("1", False), ("2", True)):
        model.write_text(text)
        fakes.write_text("")
        build(plan)
        assert ("vlog" in fakes.read_text()) == builds


@pytest.mark.parametrize("name", MIXED_LANGUAGES)
def test_vhdl_and_unusual_suffixes_reach_the_simulator(
    name: str, fakes: Path, tmp_path: Path
) -> None:
    files = [tmp_path / file for file in ("one.vhd", "two.VHDL", "three.vlib")]
    for file in files:
        file.touch()
    mini = manifest("mte2")
    sources = (*mini.sources, *map(str, files))
    build(BuildPlan(name, (mini.model_copy(update={"sources": sources}),)))
    built = fakes.read_text()
    assert all(str(file) in built for file in files)


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in UNTESTED:
        with pytest.raises(ToolError, match=f"SIM={name}: {SIMULATORS[name].program} executable"):
            new_runner(name)


@pytest.mark.parametrize("name", [*VHDL_ONLY, "modelsim5"])
def test_simulators_without_verilog_are_refused(name: str) -> None:
    with pytest.raises(PtoError, match=r"VHDL alone|is unknown"):
        simulator(name)


def test_every_simulator_of_cocotb_is_named() -> None:
    from cocotb_tools.runner import SUPPORTED_RUNNERS

    assert set(SIMULATORS) | set(VHDL_ONLY) == set(SUPPORTED_RUNNERS)


def test_the_page_names_every_simulator() -> None:
    page = (Path(__file__).parents[2] / "docs/simulators.md").read_text()
    for name, item in SIMULATORS.items():
        row = next(line for line in page.splitlines() if f"| `{name}` |" in line)
        assert ("run by the tests" in row) == item.tested


def test_the_harness_names_simulators_only_in_its_backends() -> None:
    """Differences between simulators are in pto_backend.vh only."""
    words = ("VERILATOR", "__ICARUS__", "MODEL_TECH", "VCS", "XCELIUM", "verilator public")
    for path in sorted((Path(__file__).parents[2] / "tb/hdl").glob("*.v*")):
        if path.suffix in (".v", ".vh") and path.name != "pto_backend.vh":
            found = [word for word in words if word in path.read_text()]
            assert not found, f"{path.name}: {found}"


def test_the_fakes_are_run(fakes: Path) -> None:
    assert str(fakes.parent) in (shutil.which("vsim") or "")


# --- Builds that fail say what to do


@pytest.mark.parametrize(
    ("program", "end", "verilator"),
    [
        ("iverilog", "kill -ABRT $$", True),
        ("iverilog", "exit 139", True),  # as its driver hands on a segmentation fault
        ("iverilog", "exit 2", False),
        ("other", "exit 139", False),
    ],
)
def test_a_compiler_that_dies_on_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, end: str, *, verilator: bool
) -> None:
    for fake in (tmp_path / "iverilog", tmp_path / program):
        fake.write_text(f"#!/bin/sh\necho 'assert: elab_type.cc: failed assertion'\n{end}\n")
        fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    runner = new_runner("icarus")
    runner.env = dict(os.environ)
    with pytest.raises(BuildError) as refused:
        runner._execute_build([[str(tmp_path / program)]], tmp_path)
    assert "elab_type.cc" in refused.value.what
    assert ("SIM=verilator" in refused.value.remedy) == verilator
    assert "read the log" in refused.value.remedy
