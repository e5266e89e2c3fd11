# SPDX-License-Identifier: Apache-2.0
"""Programs of examples/programs: every worked image, both simulators, findings of verify."""

from __future__ import annotations

import re
import shutil
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sequences.examples.catalog import RULE_EXAMPLES, pattern
from tb.common.paths import ROOT
from tb.isa.dma.op import MteUbGm
from tb.isa.l0.op import L0Load
from tb.isa.op import Op
from tb.language.order.order import order
from tb.language.place import Finding
from tb.language.reader import read
from tb.language.rules.check import check
from tb.language.run.stream import EVERY_STREAM, running
from tb.language.run.walk import merged, trace
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.programs.request import read_setup
from tb.record.record import RunRecord
from tb.run.console import Console
from tb.run.run import run_once
from tests.wording import line_says

FOLDER = ROOT / "examples/programs"
PROGRAMS = sorted(FOLDER.glob("*.pto"))
REFUSED = sorted((FOLDER / "rules").glob("*.pto"))
EVERY = (*PROGRAMS, *REFUSED)
README = (FOLDER / "README.md").read_text()


def name_of(path: Path) -> str:
    """Returns the pytest id of a program."""
    return path.relative_to(FOLDER).as_posix()


def checks(program: Path) -> list[dict[str, Any]]:
    """Returns the checks of a program's setup file."""
    found: list[dict[str, Any]] = tomllib.loads(program.with_suffix(".toml").read_text())["check"]
    return found


@pytest.mark.parametrize("program", EVERY, ids=name_of)
def test_every_program_has_a_setup_that_checks_something(program: Path) -> None:
    assert read_setup(program.with_suffix(".toml")).setup.check


def test_the_readme_lists_every_program() -> None:
    listed = set(re.findall(r"`([\w/*]+\.pto)`", README))
    patterns = {name for name in listed if "*" in name}
    assert listed - patterns == {*map(name_of, PROGRAMS)}
    assert "rules/*.pto" in patterns
    assert all(any(FOLDER.glob(one)) for one in patterns)


def test_the_readme_makes_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snippet = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert snippet
    monkeypatch.chdir(tmp_path)
    exec(snippet[1], {})
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in (FOLDER / "data").iterdir()}
    assert made == kept


def crc_of(name: str) -> int:
    """Returns the one CRC-32 that a setup file names."""
    (entry,) = checks(FOLDER / name)
    crc: int = entry["crc32"]
    return crc


def test_the_product_is_that_of_numpy() -> None:
    """Sums of these factors are exact in f32, and so are their products with the scales."""
    a, b = (np.load(FOLDER / f"data/{name}.npy").astype(np.float64) for name in "ab")
    records = np.fromfile(FOLDER / "data/records.bin", dtype="<u8")
    scales = (records & np.uint64(0xFFFFE000)).astype("<u4").view("<f4").astype(np.float64)
    offsets = ((records >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    offsets -= (offsets & 0x100) << 1
    scaled = (a @ b) * scales
    assert np.array_equal(scaled, scaled.astype(np.float32))
    rounded = np.rint(np.clip(scaled, -256, 255)) + offsets
    expected = np.clip(rounded, -128, 127).astype(np.int8)
    assert (expected == 127).any()
    assert (expected < 0).any()
    assert crc_of("matmul.pto") == zlib.crc32(expected.tobytes())
    assert crc_of("cube_kernel.pto") == zlib.crc32((a @ b).astype("<f4").tobytes())


def test_the_other_images_have_the_crc_of_their_setups() -> None:
    rows = pattern(6, 25600).reshape(128, 200)[:, :160]
    assert crc_of("double_buffer.pto") == zlib.crc32(rows.tobytes())
    assert crc_of("vector_kernel.pto") == zlib.crc32(pattern(3, 4096).tobytes())
    for path in REFUSED:
        for entry in checks(path):
            background = bytes([0xAA]) * entry["length"]
            assert entry["crc32"] == zlib.crc32(background)


def announced(program: Path) -> list[tuple[int, str]]:
    """Returns line and rule of each op with a comment that names a rule."""
    lines = program.read_text().splitlines()
    found = []
    for number, line in enumerate(lines):
        comment = re.match(r"\s*// ([A-Z]+-L\d\d):", line)
        if comment:
            below = range(number + 1, len(lines))
            op = next(at for at in below if re.match(r"\s*pto\.(mte|copy|raw)_", lines[at]))
            found.append((op + 1, comment[1]))
    return found


def findings_of(text: str) -> list[Finding]:
    """Returns the findings of a program with all arguments unknown, every hazard an error."""
    found: list[Finding] = []
    source = read(text, "x.pto", found)
    cores = running(source) or (EVERY_STREAM,)
    each = [
        trace(source, static=True, foreign="skip", stream=core, signals=len(cores) > 1)
        for core in cores
    ]
    steps = merged(each, cores)
    return [*found, *steps.findings, *check(steps), *order(steps, hazard="error").findings]


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_a_program_has_no_finding(program: Path) -> None:
    assert findings_of(program.read_text()) == []


@pytest.mark.parametrize("program", REFUSED, ids=name_of)
def test_every_illegal_op_breaks_the_rule_of_its_comment(program: Path) -> None:
    found = findings_of(program.read_text())
    assert sorted((one.place.line, one.rule) for one in found) == announced(program)


def rule_family(op: object) -> str:
    """Returns the family of the rules that an op of a rule example breaks."""
    return op.spec.rules if isinstance(op, Op) else "DMA"


def test_every_rule_of_a_rule_example_is_among_them() -> None:
    comments = {rule for program in REFUSED for _, rule in announced(program)}
    # Loads to L0 and atomic stores, of docs/spec/examples_v2.md, are sent by TEST=directed.
    others = (one for one in RULE_EXAMPLES if not isinstance(one.op, L0Load))
    shown = [one for one in others if not (one.ctrl and isinstance(one.op, MteUbGm))]
    expected = {f"{rule_family(one.op)}-L{one.rule:02}" for one in shown}
    assert comments == expected


def lines_that_order(program: Path) -> list[int]:
    """Returns the numbers of the lines with a flag or barrier, from 0, but the last ones."""
    lines = program.read_text().splitlines()
    last = max(n for n, line in enumerate(lines) if re.match(r"\s*pto\.mte_", line))
    pattern_of = re.compile(r"\s*pto\.(set_flag|wait_flag|pipe_barrier)")
    loop = [n for n, line in enumerate(lines) if line == "  }"]
    return [n for n in range(max([last, *loop])) if pattern_of.match(lines[n])]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (name, line)
        for name in ("matmul.pto", "double_buffer.pto")
        for line in lines_that_order(FOLDER / name)
    ],
)
def test_every_flag_and_barrier_is_needed(name: str, line: int) -> None:
    """Two iterations of the loop, since one of unknown length is walked once."""
    lines = (FOLDER / name).read_text().replace("to %pairs", "to %two").splitlines()
    lines[line] = ""
    assert findings_of("\n".join(lines))


def replay(names: list[str], **settings: Any) -> RunRecord:
    """Replays programs with their setup files."""
    made = Replay.make(names, ProgramOptions(), settings)
    return run_once(made.settings, made.planned, files=made.files, console=Console(quiet=True))


@pytest.mark.sim
@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_every_program_passes(sim: str) -> None:
    record = replay([str(FOLDER)], sim=sim, seed=5)
    assert record.passed, "\n\n".join([record.message, *record.failures[:2]])
    titles = {program.path for program in record.programs}
    assert len(titles) == len(EVERY)
    assert {name: record.exercised.get(name) for name in titles} == dict.fromkeys(titles, 1)
    assert record.statuses["RULE"] == sum(len(announced(path)) for path in REFUSED)


@pytest.mark.sim
def test_a_wrong_image_fails(tmp_path: Path) -> None:
    """One byte of an expected image is changed; model and engine agree."""
    shutil.copytree(FOLDER / "data", tmp_path / "data")
    for name in ("matmul", "quantize"):
        for suffix in (".pto", ".toml"):
            text = (FOLDER / f"{name}{suffix}").read_text()
            text = text.replace("0x2200BFFF", "0x2200BFFE").replace("02 04 01 05", "02 04 01 04")
            (tmp_path / f"{name}{suffix}").write_text(text)
    record = replay([str(tmp_path / "matmul.pto"), str(tmp_path / "quantize.pto")], sim="icarus")
    assert record.status == "fail"
    assert record.mismatches == len(record.failures) == 2
    assert all("CRC-32" in failure for failure in record.failures)
    assert all("engine and model agree" in failure for failure in record.failures)
    assert line_says(record.failures[1], "1 byte differs first offset 0x3 0x05 expected 0x04")
