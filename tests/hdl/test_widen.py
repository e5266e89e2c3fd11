# SPDX-License-Identifier: Apache-2.0
"""The widening functions of the bias unit (pto_widen.vh), over all their inputs, bit by bit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tb.setup import tools, verilator

pytestmark = pytest.mark.sim

HERE = Path(__file__).parent
HEADER = tools.ROOT / "rtl_stubs" / "common" / "pto_widen.vh"
INPUTS = np.arange(1 << 16, dtype=np.uint16)

CHECK_VALUES = {
    0x3C00: 0x3F800000,
    0xC100: 0xC0200000,
    0x3555: 0x3EAAA000,
    0x7BFF: 0x477FE000,
    0x0400: 0x38800000,
    0x03FF: 0x387FC000,
    0x0001: 0x33800000,
    0x8000: 0x80000000,
    0x7C00: 0x7F800000,
    0x7E01: 0x7FC02000,
    0xFC01: 0xFF802000,
}
"""f16 bits and their f32 bits, from docs/spec/bias_fb.md section 2."""

BUGS = {
    "f16 NaN quieted": ("{8'd255, f, 13'd0}", "{8'd255, f[9] || f != 0, f[8:0], 13'd0}"),
    "f16 NaN payload lost": ("{8'd255, f, 13'd0}", "{8'd255, f != 0, 22'd0}"),
    "f16 subnormals flushed": ("{8'd108, f[4:0], 18'd0}", "31'd0"),
    "f16 bias of one binade": ("{8'd103, 23'd0}", "{8'd104, 23'd0}"),
    "f16 zero without sign": ("{s, value}", "{s && value != 0, value}"),
    "bf16 NaN quieted": (
        "{bits, 16'd0}",
        "{bits[15:7], bits[6] || (&bits[14:7] && bits[5:0] != 0), bits[5:0], 16'd0}",
    ),
}
"""Bugs to inject: a text of the header and its replacement."""


def widen_all(sim: str, folder: Path, header: Path) -> NDArray[np.uint32]:
    """Simulate the functions of ``header``.

    Args:
        sim: ``"verilator"`` or ``"icarus"``.
        folder: Where to build; made if it is not there.
        header: A file with the functions of ``pto_widen.vh``, of any folder but that name.

    Returns:
        f32 bits, uint32[65536, 2]: of each input as f16, and as bf16.
    """
    folder.mkdir(exist_ok=True)
    program = folder / "widen_all"
    wrapper, include = str(HERE / "verilog/widen_all.v"), f"-I{header.parent}"
    if sim == "verilator":
        executable, env = verilator.environment()
        options = [
            *("--cc", "--exe", "--build", "--main", "-Wall", "-Wno-DECLFILENAME"),
            *("--language", "1364-2005", "-CFLAGS", "-O0", "--top-module", "widen_all"),
            *("--Mdir", str(folder)),
        ]
    else:
        executable, env = tools.icarus_environment()
        options = ["-g2005", "-Wall", "-s", "widen_all"]
    done = subprocess.run(
        [str(executable), *options, include, wrapper, "-o", str(program)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    run = subprocess.run(
        [str(program)], env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    # Simulators add lines of their own about $finish.
    words = [line.split() for line in run.stdout.splitlines() if len(line) == len("01234567 ") + 8]
    return np.array([[int(word, 16) for word in pair] for pair in words], dtype=np.uint32)


def expected() -> NDArray[np.uint32]:
    """Return the values of the spec in the layout of ``widen_all``, without code shared with it.

    numpy converts f16, bf16 is a shift; of a NaN the rule of docs/spec/bias_fb.md section 2 holds,
    as numpy may quiet it.
    """
    wide = INPUTS.astype(np.uint32)
    f16 = INPUTS.view(np.float16).astype(np.float32).view(np.uint32)
    nan = np.isnan(INPUTS.view(np.float16))
    kept = (wide >> 15 << 31) | np.uint32(0x7F800000) | ((wide & 0x3FF) << 13)
    return np.stack([np.where(nan, kept, f16), wide << 16], axis=1)


def mismatches(result: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the inputs, f16 first, then bf16 from 65536 on, that came out wrong."""
    assert result.shape == (1 << 16, 2)
    return np.flatnonzero((result != expected()).T)


@pytest.fixture(scope="module", params=["verilator", "icarus"])
def result(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> NDArray[np.uint32]:
    return widen_all(request.param, tmp_path_factory.mktemp("widen"), HEADER)


def test_every_input(result: NDArray[np.uint32]) -> None:
    wrong = mismatches(result)
    assert wrong.size == 0, [hex(value) for value in wrong[:10]]


def test_values_of_the_spec(result: NDArray[np.uint32]) -> None:
    assert {bits: int(result[bits, 0]) for bits in CHECK_VALUES} == CHECK_VALUES


def test_the_oracle_follows_the_spec() -> None:
    want = expected()
    signalling = want[[0x7C01, 0xFD55, 0x7DFF], 0]
    assert not (signalling & 0x400000).any()
    assert np.isnan(signalling.view(np.float32)).all()
    assert int(want[0x7F81, 1]) == 0x7F810000


@pytest.mark.parametrize(
    ("sim", "bug"),
    [("verilator", "f16 NaN quieted"), *(("icarus", bug) for bug in BUGS)],  # Icarus builds faster
)
def test_a_bug_is_found(sim: str, bug: str, tmp_path: Path) -> None:
    text = HEADER.read_text()
    before, after = BUGS[bug]
    assert text.count(before) == 1
    copy = tmp_path / "bug" / HEADER.name
    copy.parent.mkdir()
    copy.write_text(text.replace(before, after))
    wrong = mismatches(widen_all(sim, tmp_path / "build", copy))
    assert 0 < wrong.size <= 1 << 12
    assert ((wrong >> 16) == bug.startswith("bf16")).all()
