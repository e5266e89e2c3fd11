# SPDX-License-Identifier: Apache-2.0
"""``pto-dv program``: runs and written files; bad input runs and writes nothing."""

from __future__ import annotations

import shlex
import zlib
from pathlib import Path

import numpy as np
import pytest

import tb.programs.command
from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.manifest import Capabilities, Manifest, reference_manifests
from tb.language.verify import verify_file
from tb.programs.command import Replay, prepare_all, report
from tb.programs.options import ProgramOptions
from tb.programs.prepare import prepare
from tb.programs.request import Layer, option_layer, request
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.folder import run_folder
from tb.run.testlist import planned_test
from tests.programs.copies import ARGS, COPY, files_of, refused, run_command
from tests.wording import line_says, says

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A program in the current folder, which has no other file."""
    (tmp_path / "copy.pto").write_text(COPY)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "copy.pto"


# --- bad input -----------------------------------------------------------------------------------

TOO_SMALL = ("--arg", "0=zeros:4096", "--arg", "1=empty:4095", "--arg", "2=32")

REFUSED = {
    "no program": ((), ["no program named", "PROGRAM= make"]),
    "no arguments": (
        ("copy.pto",),
        [
            r"arguments 0 \(%in\) !pto.ptr<f32 gm> 1 \(%out\) !pto.ptr<f32 gm> 2 \(%rows\) i64",
            "no value",
            "--arg 0=zeros:BYTES --arg 1=zeros:BYTES --arg 2=VALUE",
        ],
    ),
    "one missing": (
        ("copy.pto", *ARGS[:4]),
        [r"argument 2 \(%rows\) i64 no value", "--arg 2=VALUE", r"1 \(%out\)"],
    ),
    "one too many": (("copy.pto", *ARGS, "--arg", "3=1"), ["no argument 3", r"0 \(%in\)"]),
    "output of none": (("copy.pto", *ARGS, "--out", "5=x.bin"), ["no argument 5", "--out 5"]),
    "output of a number": (
        ("copy.pto", *ARGS, "--out", "2=x.bin"),
        ["argument 2 no buffer", r"arguments buffer 0,\s1"],
    ),
    "too small": (
        ("copy.pto", *TOO_SMALL),
        [
            "copy.pto:10:3 error pto.mte_ub_gm",
            r"bytes 0..4095 buffer argument 1 \(%out\) 4095 bytes",
            "least 4096 bytes",
        ],
    ),
    "both too small": (
        ("copy.pto", "--arg", "0=zeros:128", "--arg", "1=empty:128", "--arg", "2=2"),
        ["copy.pto:6:3 error pto.mte_gm_ub", "copy.pto:10:3 error pto.mte_ub_gm", "256 bytes"],
    ),
    "number for a buffer": (
        ("copy.pto", "--arg", "0=4096", *ARGS[2:]),
        [r"argument 0 \(%in\) !pto.ptr<f32 gm> number not a buffer", "--arg 0=zeros:65536"],
    ),
    "buffer for a number": (
        ("copy.pto", *ARGS[:4], "--arg", "2=zeros:64"),
        ["'zeros:64' not an i64", "--arg 2=zeros:64"],
    ),
    "rule": (
        ("copy.pto", *ARGS[:4], "--arg", "2=70000"),
        ["copy.pto:6:3", "pto.mte_gm_ub", "DMA-L05"],
    ),
    "negative": (
        ("copy.pto", *ARGS[:4], "--arg", "2=-1"),
        ["copy.pto:6:3", "pto.mte_gm_ub", "-1", "DMA-L05"],
    ),
    "other type": (
        ("copy.pto", "--arg", "0=half.npy", *ARGS[2:]),
        ["half.npy holds float16 elements f32", "legal float32", "--arg 0=half.npy"],
    ),
    "overlap": (
        ("copy.pto", "--arg", "0=zeros:4096@0", "--arg", "1=empty:4096@4095", *ARGS[4:]),
        [r"buffer argument 1 \(%out\) 4096 bytes 0xfff overlaps buffer argument 0"],
    ),
    "outside of GM": (
        ("copy.pto", "--arg", "0=zeros:4096@0xffffffffff", *ARGS[2:]),
        [r"buffer argument 0 \(%in\) 4096 bytes 0xffffffffff leaves GM"],
    ),
    "load on a buffer": (
        ("copy.pto", "--arg", "0=zeros:4096@0", *ARGS[2:], "--load", "gm@8=zeros:4"),
        [r"buffer argument 0 \(%in\) 4096 bytes 0x0 overlaps --load gm@8=zeros:4 loads"],
    ),
    "load beside a buffer": (
        ("copy.pto", *ARGS, "--load", "arg0@4095=zeros:2"),
        [r"2 bytes offset 0xfff leave buffer argument 0 \(%in\)", "4096 bytes"],
    ),
    "load of nothing": (("copy.pto", *ARGS, "--load", "ub0=empty:4"), ["load nothing"]),
    "load placed twice": (("copy.pto", *ARGS, "--load", "ub0=zeros:4@8"), ["address own"]),
    "output into a file": (
        ("copy.pto", *ARGS, "--out", "1=copy.pto/x.bin"),
        ["cannot write copy.pto/x.bin", r"--out 1=\S+"],
    ),
    "output into no folder": (
        ("copy.pto", *ARGS, "--out", "1=nowhere/x.bin"),
        ["cannot write nowhere/x.bin no folder", "nowhere"],
    ),
    "output over a protected file": (
        ("copy.pto", *ARGS, "--out", "1=protected.bin"),
        ["cannot write protected.bin write-protected"],
    ),
    "output is a folder": (("copy.pto", *ARGS, "--out", "1=empty"), ["empty folder"]),
    "output over the program": (
        ("copy.pto", *ARGS, "--out", "1=copy.pto"),
        ["copy.pto read program"],
    ),
    "output over an input": (
        ("copy.pto", "--arg", "0=in.bin", *ARGS[2:], "--out", "1=in.bin"),
        ["in.bin read program", "another file"],
    ),
    "two outputs in one file": (
        ("copy.pto", *ARGS, "--out", "0=x.bin", "--out", "1=./x.bin"),
        ["x.bin twice"],
    ),
    "output of two programs": (
        ("copy.pto", "other.pto", *ARGS, "--out", "1=x.bin"),
        ["--out 2 programs"],
    ),
    "setup of two programs": (
        ("copy.pto", "other.pto", "--setup", "x.toml"),
        ["--setup 2 programs"],
    ),
    "missing setup": (
        ("copy.pto", "--setup", "no.toml"),
        ["cannot read setup file No such file", "no.toml"],
    ),
    "function": (("copy.pto", *ARGS, "--function", "paste"), ["@paste", "copy"]),
    "simulator": (("copy.pto", *ARGS, "--sim", "spice"), ["spice", r"verilator,\sicarus"]),
    "width": (("copy.pto", *ARGS, "--gm-width", "64"), ["GM_WIDTH '64'"]),
    "seed": (("copy.pto", *ARGS, "--seed", "-1"), ["SEED '-1'"]),
    "one schedule": (("copy.pto", "--schedules", "1"), ["--schedules '1'", "2..10000"]),
    "many schedules": (("copy.pto", "--schedules", "many"), ["--schedules 'many'", "2..10000"]),
    "negative schedule": (("copy.pto", "--schedule", "-1"), ["--schedule '-1'", "0..9999"]),
    "schedules and one": (
        ("copy.pto", "--schedules", "4", "--schedule", "1"),
        ["--schedules --schedule", "alone"],
    ),
    "limit": (("copy.pto", *ARGS, "--watchdog-clocks", "1"), ["watchdog-clocks"]),
    "manifest": (("copy.pto", *ARGS, "--dut", "no.toml"), ["cannot read manifest"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_runs_nothing(copy: Path, capsys: Capture, monkeypatch: Patch, name: str) -> None:
    folder = copy.parent
    (folder / "empty").mkdir()
    (folder / "other.pto").write_text(COPY)
    (folder / "in.bin").write_bytes(bytes(4096))
    (folder / "protected.bin").touch(0o444)
    np.save(folder / "half.npy", np.zeros(2048, np.float16))
    before = files_of(folder)
    words, messages = REFUSED[name]
    message = refused(capsys, monkeypatch, *words, "--json", "record.json")
    for facts in messages:
        assert line_says(message, facts), message
    assert files_of(folder) == before, "neither outputs nor a record"


TEXTS = {
    "syntax": ("func.func @f( {", ":1:"),
    "foreign": (COPY.replace("  return", "  pto.vadd %ub, %ub : i64\n  return"), ":12:3"),
    "deadlock": (COPY.replace("EVENT_ID0", "EVENT_ID1", 1), ":9:3"),
    "endless loop": (
        COPY.replace(
            "  return",
            "  %b = arith.constant 1000000000 : index\n  %a = arith.constant 0 : index\n"
            "  %s = arith.constant 1 : index\n  scf.for %i = %a to %b step %s {\n"
            '    pto.pipe_barrier "PIPE_ALL"\n  }\n  return',
        ),
        ":15:3",
    ),
    "before the buffer": (
        COPY.replace(
            "  pto.mte_gm_ub %in",
            "  %m = arith.constant -4 : index\n"
            "  %low = pto.addptr %in, %m : !pto.ptr<f32, gm>, index -> !pto.ptr<f32, gm>\n"
            "  pto.mte_gm_ub %low",
        ),
        ":8:3",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_bad_programs_run_nothing(
    copy: Path, capsys: Capture, monkeypatch: Patch, name: str
) -> None:
    text, place = TEXTS[name]
    copy.write_text(text)
    message = refused(capsys, monkeypatch, "copy.pto", *ARGS)
    assert f"copy.pto{place}" in message, message


def test_rules_come_before_arguments_that_are_missing(
    copy: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    copy.write_text(COPY.replace("constant 0 : i64", "constant 16 : i64"))
    message = refused(capsys, monkeypatch, "copy.pto")
    assert "copy.pto:6:3: error: pto.mte_gm_ub: DMA-L06" in message
    assert line_says(message, r"correct program copy.pto arguments 0 \(%in\)")


def test_programs_that_are_not_text(copy: Path, capsys: Capture, monkeypatch: Patch) -> None:
    copy.write_bytes(b"\xff\xfe\0")
    assert "copy.pto" in refused(capsys, monkeypatch, "copy.pto", *ARGS)


def test_errors_of_all_programs_are_reported(copy: Path, capsys: Capture) -> None:
    """Where none can run; the record says why."""
    (copy.parent / "b.pto").write_text("x")
    copy.write_text("")
    done = run_command(capsys, ".", "nowhere.pto", *ARGS, "--json", "record.json")
    assert done.code == 2
    assert done.out == ""
    for words in ("b.pto:1:1: error: ", "copy.pto:1:1: error: the file is empty",
                  "nowhere.pto: error: nowhere.pto does not exist", "error: no program can run\n",
                  "0 run, 0 passed; 3 refused, 0 failed", "     1  the file is empty, such as "
                  "copy.pto:1:1"):  # fmt: skip
        assert words in done.err
    record = RunRecord.model_validate_json(Path("record.json").read_text())
    assert (record.status, record.exit_code) == ("error", 2)
    assert record.counts is not None
    assert record.counts.reasons["the file is empty"] == 1
    assert {one.path for one in record.refused} == {"b.pto", "copy.pto", "nowhere.pto"}


@pytest.mark.long
@pytest.mark.parametrize("wrong", ["", "no.bin", "broken"])
def test_programs_that_are_refused_do_not_stop_the_others(
    copy: Path, capsys: Capture, monkeypatch: Patch, wrong: str
) -> None:
    """For their text, their data, their setup file, or an error of the checks themselves."""
    other = copy.parent / "b.pto"
    other.write_text(COPY if wrong else COPY.replace("PIPE_MTE3", "PIPE_V"))
    if wrong:
        text = '[args]\n0 = "no.bin"\n' if wrong == "no.bin" else "args = 7"
        other.with_suffix(".toml").write_text(text)
    copy.with_suffix(".toml").write_text(
        '[args]\n0 = "random:4096"\n1 = "empty:4096"\n2 = 32\n[out]\n1 = "out.bin"\n'
    )
    made: list[Replay] = []
    real = tb.programs.command.Replay.make

    def remembered(*words: object) -> Replay:
        made.append(real(*words))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(Replay, "make", remembered)
    ran = run_command(
        capsys, "--sim", "icarus", "b.pto", "copy.pto", "nowhere.pto", "--json", "record.json"
    )
    (one,) = made
    assert [program.job.title for program in one.files.programs] == ["copy.pto"]
    assert ran.code == 2, ran
    assert "b.p" in ran.err or "b.toml" in ran.err
    assert "nowhere.pto: error: nowhere.pto does not exist" in ran.err
    last = ran.out.splitlines()[-1]
    assert last.startswith("FAIL (error) 1 run, 1 passed; 2 refused, 0 failed; 2 transactions")
    assert "  programs          1 run, 1 passed; 2 refused, 0 failed" in ran.out
    assert "2 of 3 programs could not run; the others passed" in ran.out
    assert Path("out.bin").stat().st_size == 4096, "the outputs of the others are written"
    record = RunRecord.model_validate_json(Path("record.json").read_text())
    assert [(one.path, one.verdict) for one in record.programs] == [("copy.pto", "pass")]
    assert {one.path for one in record.refused} == {"b.pto", "nowhere.pto"}
    assert record.counts is not None
    assert sum(record.counts.reasons.values()) == 2


def test_an_internal_error_is_one_of_its_program(
    copy: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("slip")

    monkeypatch.setattr(tb.programs.command, "prepare", fails)
    message = refused(capsys, monkeypatch, "copy.pto", *ARGS)
    assert message.startswith("error: internal error of pto-dv: ZeroDivisionError in test_program")
    (copy.parent / "b.pto").write_text(COPY)
    done = run_command(capsys, "copy.pto", "b.pto", *ARGS)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "0 run, 0 passed; 0 refused, 2 failed" in done.err


def test_the_test_of_programs_needs_a_program() -> None:
    with pytest.raises(PtoError, match="needs a program") as error:
        planned_test("program")
    assert "make program PROGRAM=x.pto" in str(error.value)


# --- engines -------------------------------------------------------------------------------------


def engine(slot: str, **can: object) -> Manifest:
    return Manifest(
        module="m", slot=slot, capabilities=Capabilities.model_validate(can), path=f"{slot}.toml"
    )


def refused_by(path: Path, engines: list[Manifest], *args: str) -> str:
    """Returns the message about ops that engines do not take."""
    options = ProgramOptions(args=args, illegal="send")
    with pytest.raises(PtoError) as error:
        prepare(request(path, Layer(), option_layer(options)), 0, engines)
    return str(error.value)


@pytest.mark.parametrize(
    ("ops", "facts"),
    [
        ({"mte2": "mte_gm_ub"}, "copy.pto:10:3 no engine mte_ub_gm"),
        (
            {"mte2": "mte_gm_l1", "mte3": "mte_ub_gm"},
            "copy.pto:6:3 no engine mte_gm_ub mte_gm_l1",
        ),
    ],
)
def test_ops_that_no_engine_takes(copy: Path, ops: dict[str, str], facts: str) -> None:
    engines = [engine(slot, ops=(name,)) for slot, name in ops.items()]
    assert says(refused_by(copy, engines, *ARGS[1::2]), facts)


SHAPES = (
    COPY.replace("%c0 : i64 -> !pto.ptr<f32, ub>", "%c16 : i64 -> !pto.ptr<f32, ub>")
    .replace(
        "  %ub =", "  %c16 = arith.constant 16 : i64\n  %pad = arith.constant 1 : i32\n  %ub ="
    )
    .replace("%c128, %c128)\n", "%c128, %c128) loop(%rows, %c128, %c128) pad(%pad)\n", 1)
    .replace("i64, i64, i64, i64, i64", "i64, i64, i64, i64, i64, loop i64, i64, i64, pad i32")
)
"""A load with a loop and pad that breaks DMA-L06, in line 8."""


@pytest.mark.parametrize(
    ("text", "can", "facts"),
    [
        (SHAPES, {"loops": 0}, "x.pto:8:3 error pto.mte_gm_ub engine m mte2 most 0 loops op 1"),
        (SHAPES, {"pad": False}, "x.pto:8:3 error pto.mte_gm_ub engine m mte2 no padded rows"),
        (
            SHAPES, {"d_rules": ("DMA-L05", "DMA-L07")},
            "x.pto:8:3 error pto.mte_gm_ub engine m mte2 not report DMA-L06",
        ),
        ("", {"transpose": False}, "error pto.mte_l1_l0b engine m mte1 no transposed loads"),
        ("", {"element_bits": [16]}, "error pto.mte_l1_l0b engine m mte1 no loads 8-bit"),
    ],
)  # fmt: skip
def test_shapes_that_an_engine_does_not_take(
    tmp_path: Path, text: str, can: dict[str, object], facts: str
) -> None:
    path = tmp_path / "x.pto"
    path.write_text(text or (ROOT / "examples/programs/gemm_i8.pto").read_text())
    able = {one.slot: one.capabilities.model_dump() for one in reference_manifests()}
    engines = [engine(slot, **{**whole, **can}) for slot, whole in able.items()]
    numbers = ("0=zeros:65536", "1=zeros:65536", "2=4" if text else "2=zeros:65536")
    assert line_says(refused_by(path, engines, *numbers), facts)


# --- jobs of the simulation ----------------------------------------------------------------------


def replay(*words: str, **options: object) -> Replay:
    return Replay.make(words, ProgramOptions(**options), {})  # type: ignore[arg-type]


def test_equal_seeds_give_equal_jobs(copy: Path) -> None:
    jobs = [replay(str(copy), args=ARGS[1::2], seed=n).files.programs[0].job for n in (3, 3, 4)]
    assert jobs[0] == jobs[1]
    assert jobs[0].arguments != jobs[2].arguments


def test_each_program_of_a_run_has_its_own_places(copy: Path) -> None:
    (copy.parent / "other.pto").write_text(COPY)
    runs = [replay("copy.pto", "other.pto", args=ARGS[1::2]).files.programs for _ in range(2)]
    one, other = (program.job.arguments for program in runs[0])
    assert one[2] == other[2] == 32
    assert abs(one[0] - other[0]) > 1 << 20
    assert abs(one[1] - other[1]) > 1 << 20
    assert [program.job.arguments for program in runs[1]] == [one, other]


def test_the_command_line_overrides_the_setup_file(copy: Path) -> None:
    copy.with_suffix(".toml").write_text(
        'seed = 9\nillegal = "send"\n[args]\n0 = "zeros:4096@0"\n1 = "zeros:8192"\n2 = 2\n'
        "[knobs]\nstall_r = 3\nstall_w = 4\n[backgrounds]\nub = 1\n[[load]]\narg = 0\naddress = 4\n"
        'data = "hex:01"\n'
    )
    one = replay(str(copy), args=("2=32",), knobs=("stall_r=5",))
    job = one.files.programs[0].job
    assert one.settings.seed == job.seed == 9
    assert job.arguments[0] == 0
    assert job.arguments[2] == 32
    assert job.knobs == {"stall_r": 5, "stall_w": 4}
    assert job.backgrounds == {"ub0": 1}
    assert job.illegal == "send"
    assert [(x.address, len(x.data)) for x in job.loads][::2] == [(0, 4096), (4, 1)]
    again = replay(str(copy), illegal="refuse", seed=2)
    assert (again.settings.seed, again.files.programs[0].job.illegal) == (2, "refuse")


@pytest.mark.long
def test_drawn_buffers_avoid_the_addresses_of_the_program(copy: Path) -> None:
    """The program touches half of GM by address; buffers of any seed are in the other half."""
    copy.write_text(
        COPY.replace(
            "  pto.mte_gm_ub %in",
            "  %g = pto.castptr %c0 : i64 -> !pto.ptr<f32, gm>\n"
            "  %n = arith.constant 2 : i64\n  %far = arith.constant 0x7fffffff00 : i64\n"
            "  pto.mte_gm_ub %g, %ub, %c0, %c128 nburst(%n, %far, %c128)\n"
            "    : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n"
            '  pto.pipe_barrier "PIPE_MTE2"\n  pto.mte_gm_ub %in',
        )
    )
    for seed in range(8):
        job = replay(str(copy), args=ARGS[1::2], seed=seed).files.programs[0].job
        assert job.arguments[0] > 0x7F_FFFF_FF00
        assert job.arguments[1] > 0x7F_FFFF_FF00


def test_checks_may_be_given_as_bytes(copy: Path) -> None:
    copy.with_suffix(".toml").write_text('[[check]]\narg = 1\naddress = 8\ndata = "hex:0102"\n')
    one = replay(str(copy), args=ARGS[1::2]).files.programs[0].job
    assert one.checks[0].crc32 == zlib.crc32(b"\1\2")
    assert one.checks[0].address == one.arguments[1] + 8


def test_moves_of_tiles_that_are_skipped_are_reported(copy: Path) -> None:
    copy.write_text(COPY.replace("  return", "  pto.tstore\n  pto.vadd\n  return"))
    (one,) = replay("copy.pto", args=ARGS[1::2], foreign="skip").files.programs
    (phrase,) = report(one).not_executed
    assert "pto.tstore at copy.pto:" in phrase


def test_text_of_another_architecture_runs_with_a_warning(
    copy: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    module = f'module attributes {{pto.target_arch = "a3"}} {{\n{COPY}}}\n'
    copy.write_text(module)
    (one,) = replay("copy.pto", args=ARGS[1::2]).files.programs
    (warning,) = report(one).warnings
    assert ":1:20: warning: module: " in warning
    with pytest.raises(PtoError, match=":1:20: error: module: "):
        replay("copy.pto", args=ARGS[1::2], strict=True)
    copy.write_text(module.replace("PIPE_MTE3", "PIPE_V"))
    message = refused(capsys, monkeypatch, "copy.pto", *ARGS)
    assert message.index("error: pto.mte_ub_gm: hazard") < message.index(":1:20: warning: module: ")


ATOMIC = """func.func @k(%out: !pto.ptr<f16, gm>) {
  %c = arith.constant 16 : i64
  %z = arith.constant 0 : i64
  %s = arith.constant 1.0 : f32
  %acc = pto.castptr %z : i64 -> !pto.ptr<f32, l0c>
  pto.mte_l0c_gm %acc, %out, %c, %c, %c, %c, %z, %z,
    pre_quant(%s, mode = f32_f16), atomic(type = f32, op = add)
    : !pto.ptr<f32, l0c>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64, f32
  return
}
"""


WRITE_BACK = """func.func @f(%out: !pto.ptr<i8, gm>) {
  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  %one = arith.constant 1.0 : f32
  %src = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
  pto.mte_l0c_gm %src, %out, %c16, %c16, %c16, %c16, %c0, %c0,
    pre_quant(%one, mode = qf322b8_pre_scalar), nz2nd
    : !pto.ptr<f32, l0c>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64, i64, f32
  return
}
"""


def test_an_update_without_a_definition_does_not_run(copy: Path) -> None:
    """FIX-L11 is a warning of verify: the compiler accepts the type of another element."""
    copy.write_text(ATOMIC)
    with pytest.raises(PtoError, match=r"FIX-L11: .*; no result is defined that engine and model"):
        replay("copy.pto", args=("0=zeros:512",))
    (warning,) = verify_file(copy).warnings
    assert says(str(warning), "warning FIX-L11 note compiler accepts result undefined")
    assert verify_file(copy).findings == ()


def test_ctrl_of_the_option_and_of_the_setup_file(copy: Path) -> None:
    def given(**options: object) -> object:
        return replay("copy.pto", args=ARGS[1::2], **options).files.programs[0].request.setup.ctrl

    assert (given(), given(ctrl="0"), given(ctrl="0x1000000000000")) == (None, 0, 1 << 48)
    setup = copy.with_suffix(".toml")
    for text, value in (("0", 0), ("0x40", 64), ('"0xFFFF000000000000"', 0xFFFF << 48)):
        setup.write_text(f"ctrl = {text}\n")
        assert (given(), given(ctrl="1")) == (value, 1)
    for text in ("-1", '"x"', "true", "1.5", '"0x10000000000000000"'):
        setup.write_text(f"ctrl = {text}\n")
        with pytest.raises(PtoError, match=r"is not a value of CTRL\n") as caught:
            given()
        assert caught.value.legal == "an integer 0..0xffffffffffffffff"


@pytest.mark.parametrize(("profile", "count"), [("seed", 0), ("a5", 1)])
def test_unsigned_bytes_of_a_signed_destination_have_a_note(
    copy: Path, profile: str, count: int
) -> None:
    """docs/spec/fixpipe.md, section 5 (A-37)."""
    copy.write_text(WRITE_BACK)
    copy.with_suffix(".toml").write_text("[backgrounds]\nl0c = 1\n")
    options = ProgramOptions(args=("0=empty:256",))
    (one,) = Replay.make(("copy.pto",), options, {"profile": profile}).files.programs
    notes = [note for note in report(one).notes if "low 8 bits of 0..255" in note]
    assert len(notes) == count
    assert all(note.startswith("copy.pto:6:3: note: pto.mte_l0c_gm: ") for note in notes)


def test_hazards_are_refused_unless_the_option_allows_them(
    copy: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    """The setup file has the verdict, the option overrides it."""
    copy.write_text(COPY.replace("PIPE_MTE3", "PIPE_V"))
    message = refused(capsys, monkeypatch, "copy.pto", *ARGS)
    assert "copy.pto:10:3: error: pto.mte_ub_gm: hazard: reads ub0" in message
    for hazard, warnings in (("warn", 1), ("off", 0)):
        (one,) = replay("copy.pto", args=ARGS[1::2], hazard=hazard).files.programs
        assert len(report(one).warnings) == warnings
        assert one.order.held == {3: (0,)}
    copy.with_suffix(".toml").write_text('hazard = "off"\n')
    assert replay("copy.pto", args=ARGS[1::2]).files.programs
    with pytest.raises(PtoError, match="and nothing orders them"):
        replay("copy.pto", args=ARGS[1::2], hazard="error")
    copy.with_suffix(".toml").write_text('hazard = "warn"\nstrict = true\n')
    with pytest.raises(PtoError, match=r"error: pto\.mte_ub_gm: hazard"):
        replay("copy.pto", args=ARGS[1::2])
    options = ProgramOptions(hazard="warn", ctrl="0x40", strict=True)
    assert options.words() == ("--hazard", "warn", "--ctrl", "0x40", "--strict")


def test_the_command_that_repeats_a_run() -> None:
    settings = RunSettings(
        programs=("a b.pto",), program_options=("--arg", "0=$x y.npy", "--seed", "7"), gm_width=512
    )
    make, target, *variables = shlex.split(settings.command())
    assert (make, target) == ("make", "program")
    values = dict(variable.split("=", 1) for variable in variables)
    assert shlex.split(values["PROGRAM"]) == ["a b.pto"]
    assert shlex.split(values["ARGS"].replace("$$", "$")) == list(settings.program_options)
    assert values["GM_WIDTH"] == "512"
    assert values.keys() == {"PROGRAM", "ARGS", "SIM", "GM_WIDTH"}


def test_programs_have_folders_of_their_own() -> None:
    folders = {
        run_folder(RunSettings(test="program", programs=(name,), program_options=words))
        for name in ("a/x.pto", "b/x.pto")
        for words in ((), ("--arg", "0=1"))
    }
    assert len(folders) == 4


# --- outputs -------------------------------------------------------------------------------------


def test_outputs_of_a_failed_run_are_not_written(copy: Path) -> None:
    one = replay(str(copy), args=ARGS[1::2], out=("1=out.npy",))
    record = RunRecord(settings=one.settings, status="fail", message="it differs")
    one.files.collect(record, copy.parent)
    assert record.message == "it differs; not written: out.npy"
    assert record.programs[0].ops == {"MTE2": 1, "MTE3": 1}
    assert not record.programs[0].outputs
    assert not (copy.parent / "out.npy").exists()


@pytest.mark.parametrize("left", [None, bytes(4095)])
def test_a_run_without_output_bytes_does_not_pass(copy: Path, left: bytes | None) -> None:
    one = replay(str(copy), args=ARGS[1::2], out=("1=out.npy",))
    if left is not None:
        (copy.parent / "out-0-1.bin").write_bytes(left)
    record = RunRecord(settings=one.settings, status="pass")
    one.files.collect(record, copy.parent)
    assert record.status == "error"
    assert "the run left" in record.message
    assert not (copy.parent / "out.npy").exists()


def test_prepared_programs_have_checked_outputs(copy: Path) -> None:
    options = ProgramOptions(args=ARGS[1::2], out=("1=/dev/full/x",))
    with pytest.raises(PtoError, match="cannot write /dev/full/x"):
        prepare_all((copy,), options, reference_manifests())


# --- whole runs ----------------------------------------------------------------------------------


@pytest.mark.long
def test_a_program_runs_and_its_outputs_are_the_copied_data(copy: Path, capsys: Capture) -> None:
    np.save(copy.parent / "in.npy", np.arange(1024, dtype=np.float32))
    done = run_command(
        capsys, "--sim", "icarus", "copy.pto", "--arg", "0=in.npy", "--arg", "1=empty:4096",
        "--arg", "2=32", "--out", "1=out.npy", "--out", "0=in.bin", "--dump", "ub0:4096=ub.bin",
        "--json", "record.json",
    )  # fmt: skip
    assert done.code == 0, done
    assert np.array_equal(np.load("out.npy"), np.arange(1024, dtype=np.float32))
    expected = np.arange(1024, dtype=np.float32).tobytes()
    assert Path("in.bin").read_bytes() == Path("ub.bin").read_bytes() == expected
    record = RunRecord.model_validate_json(Path("record.json").read_text())
    assert record.programs[0].ops == {"MTE2": 1, "MTE3": 1}
    assert len(record.programs[0].outputs) == 3
    for words in ("MTE2 1, MTE3 1", "argument 0 (%in: !pto.ptr<f32, gm>), 4096 bytes at 0x",
                  "written         out.npy, 4096 bytes", "\nPASS 2 transactions"):  # fmt: skip
        assert words in done.out
    assert done.out.splitlines()[-1].endswith(record.command)


@pytest.mark.long
def test_a_check_that_fails_writes_no_output(copy: Path, capsys: Capture) -> None:
    copy.with_suffix(".toml").write_text("[[check]]\narg = 1\nlength = 4\ncrc32 = 1\n")
    done = run_command(
        capsys, "--sim", "icarus", "copy.pto", *ARGS, "--out", "1=out.npy", "--json", "r.json"
    )
    assert done.code == 1
    assert "CRC-32 of 4 bytes of gm" in done.out
    assert line_says(done.out, r"check copy.toml:1 buffer argument 1 \(%out\)")
    assert says(done.out, "engine and model agree program data check wrong")
    assert says(done.out, "DUT and model agree check fails")
    assert "differs from the model" not in done.out
    assert "not written: out.npy" in done.out
    assert not Path("out.npy").exists()
    assert done.out.splitlines()[-1].startswith("FAIL (fail)")


def test_run_folders_are_in_the_project() -> None:
    assert run_folder(RunSettings(programs=("x.pto",))).is_relative_to(ROOT)
