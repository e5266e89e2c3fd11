# SPDX-License-Identifier: Apache-2.0
"""A build is current only while no file that it was made from has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.dut.manifest import Manifest, load_manifest
from tb.nightly.command import engine_digest
from tb.run import plan as plan_module
from tb.run import products, reads
from tb.run.build import Build, build
from tb.run.plan import BuildPlan
from tests.hdl.mini import COMMON, HERE

MANIFEST = """
module = "copy_dma"
slot = "mte2"
sources = ["copy_dma.v"]
filelists = ["files.f"]
include_dirs = ["first", "second", "{common}"]
waivers = ["waive.vlt"]
defines = {{ IMAGE = '"{folder}/define.hex"' }}
parameters = {{ Table = '"{folder}/parameter.hex"' }}

[simulator_args]
icarus = ["-c", "{folder}/command.f"]
verilator = ["-f", "{folder}/command.f", "{folder}/model.cpp", "-CFLAGS", "-I{folder}"]

[capabilities]
ops = ["mte_gm_ub"]
"""

FILES = {
    "first/deep/er/mask.vh": '`include "value.vh"\n',
    "second/value.vh": "`define VALUE 1\n",
    "files.f": "part.v -y library +define+LISTED=1\n",
    "part.v": "module part; listed u_listed (); endmodule\n",
    "library/listed.v": '`include "deep/other.vh"\nmodule listed; endmodule\n',
    "first/deep/other.vh": "`define OTHER 1\n",
    "command.f": "-f {folder}/nested.f\n",
    "nested.f": "+define+NESTED=1\n",
    "define.hex": "00\n",
    "parameter.hex": "00\n",
    "readmem.hex": "00\n",
    "waive.vlt": '`verilator_config\nlint_off -rule UNUSED -file "*/part.v"\n',
    "model.cpp": '#include "model.h"\nint model() { return MODEL; }\n',
    "model.h": "#define MODEL 1\n",
}

INSIDE = """
`include "deep/er/mask.vh"
  part u_part ();
  reg [7:0] image[0:0];
  initial $readmemh("{folder}/readmem.hex", image);
  initial if (`VALUE == `LISTED) $readmemh(`IMAGE, image);
endmodule
"""

ONLY_VERILATOR = {"model.h", "model.cpp"}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """Returns an engine whose build reads a file in each way that there is."""
    objects, cache = products.builds_folder() / "objects", tmp_path / "cache"
    objects.mkdir(parents=True, exist_ok=True)
    cache.mkdir()
    (cache / "objects").symlink_to(objects)  # of Verilator's runtime
    monkeypatch.setenv(products.BUILDS_ENV, str(cache))
    monkeypatch.setattr(plan_module, "BUILD_ROOT", tmp_path / "builds")
    folder = tmp_path / "dut"
    text = (HERE / "verilog/copy_dma.v").read_text()
    head, _, tail = text.rpartition("endmodule")
    text = f"{head}{INSIDE.format(folder=folder)}{tail}"
    text = text.replace("module copy_dma #(", 'module copy_dma #(parameter Table = "",', 1)
    for name, content in {**FILES, "copy_dma.v": text}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content = content if name == "copy_dma.v" else content.replace("{folder}", str(folder))
        (folder / name).write_text(content)
    (folder / "dut.toml").write_text(MANIFEST.format(folder=folder, common=COMMON))
    return load_manifest(folder)


def is_current(plan: BuildPlan, done: Build) -> bool:
    """Returns whether a finished build would be used again."""
    try:
        return build(plan, inputs=done.inputs).inputs == done.inputs
    except PtoError as error:
        if "the sources have changed" not in error.what:
            raise
        return False


@pytest.mark.long
@pytest.mark.sim
@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_each_file_that_a_build_has_read_counts(
    sim: str, engine: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = BuildPlan(sim, (engine,), fast_build=True)
    folder = Path(engine.path).parent
    done = build(plan)
    assert is_current(plan, done)
    night = engine_digest([engine])
    stale, unlike = [], []
    for name in (*FILES, "copy_dma.v"):
        text = (folder / name).read_text()
        (folder / name).write_text(f"{text}\n")
        if is_current(plan, done):
            stale.append(name)
        if engine_digest([load_manifest(folder)]) == night:
            unlike.append(name)
        (folder / name).write_text(text)
        assert is_current(plan, done)
    # Icarus reads none of the files of Verilator, and no list of ours after the manifest has.
    assert set(stale) == {"files.f", *(ONLY_VERILATOR if sim == "icarus" else ())}
    # The header of a C++ model is known when it was compiled.
    assert unlike == ["model.h"]
    # A new file that is read in place of another one counts, too.
    (folder / "first/value.vh").write_text("`define VALUE 2\n")
    assert not is_current(plan, done)
    assert engine_digest([engine]) != night
    (folder / "first/value.vh").unlink()
    # Without the kept builds the list in the build folder serves.
    monkeypatch.setenv(products.BUILDS_ENV, str(folder / "dut.toml"))
    assert is_current(plan, done)
    (folder / "second/value.vh").unlink()
    assert not is_current(plan, done)


@pytest.mark.long
@pytest.mark.sim
def test_an_edited_header_is_compiled(engine: Manifest) -> None:
    plan = BuildPlan("icarus", (engine,))
    header = Path(engine.path).parent / "second/value.vh"
    done = [build(plan)]
    for text in ("`define VALUE 2\n", FILES["second/value.vh"]):
        header.write_text(text)
        done.append(build(plan))
    programs = [one.folder.joinpath("sim.vvp").read_bytes() for one in done]
    assert programs[0] != programs[1]
    assert done[0].folder == done[2].folder


def test_a_source_that_was_edited_while_it_was_compiled_is_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "a.v"
    file.touch()
    written = file.stat().st_mtime_ns
    assert reads.changed_since(file, written)
    assert not reads.changed_since(file, written + 1)
    assert reads.changed_since(tmp_path / "gone.v", written)


def test_the_lists_of_the_simulators_are_read(tmp_path: Path) -> None:
    folder, root = tmp_path / "build", tmp_path / "verilator"
    folder.mkdir()
    (folder / reads.ICARUS_READS).write_text(f"../a.v\n{tmp_path}/b.vh\n{folder}/pto_dut.vh\n")
    (folder / "Vtop__verFiles.dat").write_text(
        f'C "x"\nS  1 2 3 4 5 6 "h" "../a.v"\nS  1 2 3 4 5 6 "h" "{root}/std.sv"\nT 1 "Vtop.h"\n'
    )
    (folder / "model.d").write_text("model.o: ../model.cpp \\\n ../model.h\n")
    (folder / "Vtop.d").write_text("Vtop.o: ../unrelated.h\n")
    names = [path.name for path in reads.files_read(folder, [root])]
    assert names == ["a.v", "b.vh", "model.cpp", "model.h"]


def test_files_among_arguments(tmp_path: Path) -> None:
    for name in ("libmodel.a", "libmodel.txt", "model.o", "args.f", "more.f"):
        (tmp_path / name).touch()
    (tmp_path / "args.f").write_text(f"-f {tmp_path}/more.f // {tmp_path}/model.o\n")
    (tmp_path / "more.f").write_text(f"-F{tmp_path}/args.f\n")
    words = (
        "-LDFLAGS",
        f"-L{tmp_path} -lmodel -lother",
        "-f",
        f"{tmp_path}/args.f",
        "--trace",
        "-f",
    )
    found = [path.name for path in reads.named_files((), words)]
    assert found == ["args.f", "more.f", "libmodel.a"]
    assert [path.name for path in reads.named_files((), [f"{tmp_path}/model.o"])] == ["model.o"]


def test_a_broken_list_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(products.BUILDS_ENV, str(tmp_path / "cache"))
    assert reads.reads_of(tmp_path, "base") is None
    reads.write_reads(tmp_path, "base", [tmp_path / "a.v"])
    assert reads.reads_of(tmp_path, "base") == [tmp_path / "a.v"]
    assert reads.reads_of(tmp_path, "other") is None
    kept = products.place("base") / reads.READS
    for text in ("", "[]", json.dumps({"base": "base"})):
        for place in (kept, tmp_path / reads.READS):
            place.write_text(text)
        assert reads.reads_of(tmp_path, "base") is None
