# SPDX-License-Identifier: Apache-2.0
"""Products that read bytes which nothing has written (MD-L05)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tb.language.order.loaded import Written, unloaded
from tb.language.order.order import order
from tb.language.reader import read
from tb.language.run.walk import trace
from tests.programs.copies import refused
from tests.programs.test_program import replay
from tests.programs.test_replay_sim import MATMUL, line_of, program
from tests.wording import line_says

TYPES = "F16_L0A, F16_L0B, F32_L0C, I64x3"
LOADS = """
  %l1 = pto.castptr %c0 : i64 -> F16_L1
  %a = pto.castptr %c0 : i64 -> F16_L0A
  %b = pto.castptr %c512 : i64 -> F16_L0B
  %c = pto.castptr %c1024 : i64 -> F32_L0C
  pto.mte_l1_l0a %l1, %a, %c16, %c32, %c0, %c0 : F16_L1, F16_L0A, I64x4
  pto.mte_l1_l0b %l1, %b, %c32, %c16, %c0, %c0 : F16_L1, F16_L0B, I64x4
  pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
"""
"""Writes l0a 0..0x3ff and l0b 0x200..0x5ff."""


def without(name: str) -> str:
    return "\n".join(line for line in LOADS.split("\n") if f"pto.{name} " not in line)


def mad(name: str = "mad", n: int = 16, more: str = "", kinds: str = TYPES) -> str:
    return f"  pto.{name} %a, %b, %c{more}, %c16, %c{n}, %c32 : {kinds}"


BIAS = f"""  %t = pto.castptr %c64 : i64 -> !pto.ptr<f32, bt>
{mad("mad_bias", 16, ", %t", "F16_L0A, F16_L0B, F32_L0C, !pto.ptr<f32, bt>, I64x3")}"""

SCALED = program("""
  %l1 = pto.castptr %c0 : i64 -> !pto.ptr<f8E4M3FN, l1>
  %a = pto.castptr %c0 : i64 -> !pto.ptr<f8E4M3FN, l0a>
  %b = pto.castptr %c0 : i64 -> !pto.ptr<f8E4M3FN, l0b>
  %c = pto.castptr %c0 : i64 -> F32_L0C
  pto.mte_l1_l0a %l1, %a, %c16, %c64, %c0, %c0
    : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0a>, I64x4
  pto.mte_l1_l0b %l1, %b, %c64, %c16, %c0, %c0
    : !pto.ptr<f8E4M3FN, l1>, !pto.ptr<f8E4M3FN, l0b>, I64x4
  pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.mad_mx %a, %b, %c, %c16, %c16, %c64
    : !pto.ptr<f8E4M3FN, l0a>, !pto.ptr<f8E4M3FN, l0b>, F32_L0C, I64x3
""")

CASES = {
    "left": (program(without("mte_l1_l0a") + mad()), "l0a", "0x0..0x3ff (1024 B), lhs"),
    "right, a part": (program(LOADS + mad(n=32)), "l0b", "0x600..0x9ff (1024 B), rhs"),
    "accumulators": (
        program(LOADS + mad("mad_acc")), "l0c", "0x400..0x7ff (1024 B), old accumulators",
    ),
    "bias": (program(LOADS + BIAS), "bt", "0x40..0x7f (64 B), bias"),
    "scales": (SCALED, "l0a_mx", "0x0..0x1f (32 B), scales of lhs"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_product_of_bytes_that_nothing_wrote_is_a_warning(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, _, where = CASES[name]
    (tmp_path / "x.pto").write_text(text)
    monkeypatch.chdir(tmp_path)
    message = refused(capsys, monkeypatch, "x.pto", "--strict")
    line = line_of(text, "pto.mad")
    assert line_says(message, f"x.pto:{line}:3 MD-L05 reads {where.split(' ')[0]} no op written")
    assert where in message
    (one,) = replay("x.pto").files.programs
    assert [x.rule for x in one.warnings] == ["MD-L05"]


GIVEN = {
    "left": "[backgrounds]\nl0 = 0",
    "right, a part": '[[load]]\nspace = "l0b"\naddress = 1536\ndata = "zeros:1024"',
    "accumulators": "[backgrounds]\nl0c = 7",
    "bias": '[[load]]\nspace = "bt"\naddress = 64\ndata = "zeros:64"',
    "scales": "[backgrounds]\nl0 = 127",
}


@pytest.mark.parametrize("name", GIVEN)
def test_contents_of_the_setup_file_count(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.pto").write_text(CASES[name][0])
    (tmp_path / "x.toml").write_text(GIVEN[name] + "\n")
    monkeypatch.chdir(tmp_path)
    (one,) = replay("x.pto").files.programs
    assert one.warnings == ()


@pytest.mark.parametrize("body", [LOADS + mad(), f"{LOADS}{mad()}\n  pto.barrier <PIPE_M>\n"
                                  + mad("mad_acc")])  # fmt: skip
def test_what_was_loaded_or_computed_is_no_finding(body: str) -> None:
    for text, arguments in ((program(body), 0), (MATMUL, 3)):
        found = trace(read(text, "x.pto"), arguments={n: n << 20 for n in range(arguments)})
        assert unloaded(found, order(found), {}) == []


@pytest.mark.parametrize("seed", range(20))
def test_ranges_join(seed: int) -> None:
    rng = random.Random(seed)
    found, known = Written(), set()
    for _ in range(30):
        start = rng.randrange(90)
        end = start + rng.randrange(1, 9)
        found.add(start, end)
        known |= set(range(start, end))
        first = next((x for x in range(10, 80) if x not in known), None)
        gap = found.missing(10, 80)
        assert (gap is None) == (first is None)
        if gap is not None:
            assert gap[0] == first
            assert set(range(*gap)).isdisjoint(known)
            assert gap[1] == 80 or gap[1] in known
    ranges = list(zip(found.starts, found.ends, strict=True))
    assert ranges == sorted(ranges)
