# SPDX-License-Identifier: Apache-2.0
"""Programs of examples/programs: every worked image, both simulators, what verify says."""

from __future__ import annotations

import re
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sequences.examples import EXAMPLES, Example, pattern
from sequences.examples_fix import CONVERSIONS, FORMATS
from tb.dut import ROOT
from tb.program_setup_file import load_setup

FOLDER = ROOT / "examples/programs"
PROGRAMS = sorted(FOLDER.glob("*.pto"))
REFUSED = sorted((FOLDER / "rules").glob("*.pto"))
EVERY = (*PROGRAMS, *REFUSED)
README = (FOLDER / "README.md").read_text()

VALUES = {example.name for example in (*CONVERSIONS, *FORMATS)}
"""Tables of single values, which have no image of the specification."""


def name_of(path: Path) -> str:
    """Returns what pytest calls a program."""
    return path.relative_to(FOLDER).as_posix()


def checks(program: Path) -> list[dict[str, Any]]:
    """Returns the checks of a program's setup file."""
    found: list[dict[str, Any]] = tomllib.loads(program.with_suffix(".toml").read_text())["check"]
    return found


@pytest.mark.parametrize("program", EVERY, ids=name_of)
def test_every_program_has_a_setup_that_checks_something(program: Path) -> None:
    assert load_setup(program.with_suffix(".toml")).check


def test_the_readme_lists_every_program() -> None:
    listed = set(re.findall(r"`([\w/*]+\.pto)`", README))
    assert listed == {*map(name_of, PROGRAMS), "rules/*.pto"}


def test_the_readme_makes_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snippet = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert snippet
    monkeypatch.chdir(tmp_path)
    exec(snippet[1], {})
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in (FOLDER / "data").iterdir()}
    assert made == kept


def images(example: Example) -> set[tuple[int, int]]:
    """Returns length and CRC-32 of every image of a worked example."""
    return {(image.length, image.crc) for image in example.images}


def test_every_worked_image_is_checked() -> None:
    checked = {(check["length"], check["crc32"]) for path in PROGRAMS for check in checks(path)}
    missing = {
        example.name
        for example in EXAMPLES
        if example.name not in VALUES and not images(example) <= checked
    }
    assert not missing


def crc_of(name: str) -> int:
    """Returns the one CRC-32 that a setup file names."""
    (check,) = checks(FOLDER / name)
    crc: int = check["crc32"]
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


def test_the_other_images_are_what_their_setups_say() -> None:
    rows = pattern(6, 25600).reshape(128, 200)[:, :160]
    assert crc_of("double_buffer.pto") == zlib.crc32(rows.tobytes())
    assert crc_of("vector_kernel.pto") == zlib.crc32(pattern(3, 4096).tobytes())
    for path in REFUSED:
        for check in checks(path):
            background = bytes([0xAA]) * check["length"]
            assert check["crc32"] == zlib.crc32(background)


def announced(program: Path) -> list[tuple[int, str]]:
    """Returns line and rule of each op that a comment calls illegal."""
    lines = program.read_text().splitlines()
    found = []
    for number, line in enumerate(lines):
        comment = re.match(r"\s*// ([A-Z]+-L\d\d):", line)
        if comment:
            below = range(number + 1, len(lines))
            op = next(at for at in below if re.match(r"\s*pto\.mte_", lines[at]))
            found.append((op + 1, comment[1]))
    return found
