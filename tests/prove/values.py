# SPDX-License-Identifier: Apache-2.0
"""The worked values of spec/fixpipe.md sections 4, 5, 9 and 11, and the pipeline that yields them.

The pipeline is that of section 3: the order of the functions is defined here; the
results of the functions come from the proof program.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

NAN = float("nan")
INF = float("inf")
PI = 3.14159265


def bits(value: float) -> int:
    """Return the bits of the f32 nearest to a value."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def parameter(value: float) -> int:
    """Return the f32 bits that a scale or alpha has after its low 13 bits are cleared (A-34)."""
    return bits(value) & 0xFFFFE000


SCALES = {0x3F800000: 0x3F800000, 0x3F801FFF: 0x3F800000, 0x3DCCCCCD: 0x3DCCC000}
"""f32 bits of a payload and M1, from section 5."""


@dataclass(frozen=True)
class Case:
    """A row of the table of conversions.

    Attributes:
        mode: Name without ``_pre`` and suffix.
        x: The accumulator, f32 or i32 as the mode has it.
        scale: M1 before its low bits are cleared.
        want: The destination element, integers as their value, floats as their code.
        offset: Signed offset; its low 17 bits are in the record from bit 37 on.
        signed: Sign bit of b8 destinations.
        relu: Code of pre_relu.
        alpha: Its factor.
        clip: Clip payload: a number for integers, f16 bits for f16; None without clip.
        sat: Code of the sat clause.
        replace: Knob ``alpha``: alpha is in place of the scale where x < 0.
    """

    mode: str
    x: float
    scale: float
    want: int
    offset: int = 0
    signed: bool = True
    relu: int = 0
    alpha: float = 0.0
    clip: int | None = None
    sat: int = 0
    replace: bool = False


SOURCE = {
    **dict.fromkeys(("qf162b8", "qf162s4"), "h"),
    **dict.fromkeys(("deqs32", "req8", "req4", "deqf16", "deqs16", "qs322bf16"), "i32_f32"),
    "qf162s16": "hi",
}
"""Unit of the source stage, where there is one."""

INTEGERS = {
    **dict.fromkeys(("qf322s4", "qf162s4", "req4"), "s4"),
    **dict.fromkeys(("qf322b8", "qf162b8", "req8"), "b8"),
    **dict.fromkeys(("deqs16", "qf162s16"), "s16"),
    "deqs32": "s32",
}
"""Destination of the modes with one of integers."""

FLOATS = {
    "qf322f16": ("f16", 0),
    "deqf16": ("f16", 0),
    "qf322bf16": ("bf16", 0),
    "qs322bf16": ("bf16", 0),
    "qf322fp8": ("e4m3", 0),
    "qf322hif8": ("hif8", 0),
    "qf322hif8_hybrid": ("hif8", 4),
}
"""Unit of the conversion of the other modes, and its operand in addition to the sat clause."""

BITS_OF = {"s4": 4, "u8": 8, "s8": 8, "s16": 16, "s32": 32}
KINDS = ("s4", "u8", "s8", "s16", "s32")


STAGES = {"s4": "s5", "u8": "s9", "s8": "s9", "s16": "s17", "s32": "wide"}
"""Unit of the integer stage of each kind."""

LIMITS = {
    "s4": (-8, 7),
    "u8": (0, 255),
    "s8": (-128, 127),
    "s16": (-32768, 32767),
    "s32": (-(2**31), 2**31 - 1),
}
"""Range of each kind."""

INFINITY = 0x7F800000

Step = tuple[str, int, int, int, int]
"""An input: unit, mode, operands a, b and c."""


def field(case: Case, kind: str) -> int:
    """Return bits 53..37 of a case's record: the offset, and bit 46, the sign of b8."""
    if kind in ("u8", "s8"):
        return case.offset & 0x1FF | case.signed << 9
    return case.offset & 0x1FFFF


def pipeline(case: Case, whole: bool) -> Generator[Step, int, int]:
    """Yield the steps of a case in order; each receives the result of the one before.

    Args:
        case: The case.
        whole: Use the unit that does everything from t on, else those of stage and narrowing.

    Returns:
        The destination element: the value of an integer, the code of a float.
    """
    source = SOURCE.get(case.mode)
    t = int(case.x) & 0xFFFFFFFF if source in ("i32_f32", "hi") else bits(case.x)
    negative = case.x < 0
    if source:
        t = yield source, 0, t, 0, 0
    if source in ("h", "hi"):
        t = yield "f16_f32", 0, t, 0, 0
    s, scale, alpha = t, parameter(case.scale), parameter(case.alpha)
    if case.replace:
        t = yield "mul", 0, s, alpha if negative else scale, 0
    else:
        t = yield "mul", 0, s, scale, 0
        t = yield "relu", case.relu, t, alpha, 0
    kind = INTEGERS.get(case.mode)
    if kind is None:
        if case.mode == "qf322f32":
            return t
        unit, rounding = FLOATS[case.mode]
        if case.clip is not None:
            t = yield "clip_f16", 0, t, case.clip, 0
        return (yield unit, case.sat + rounding, t, 0, 0)
    if kind == "b8":
        kind = "s8" if case.signed else "u8"
    number, clip = KINDS.index(kind), case.clip or 0
    infinite = s & 0x7FFFFFFF == INFINITY
    offset = case.offset
    if whole:
        y = yield f"tail_{kind}", number, t, field(case, kind) | infinite << 17, clip
    else:
        q = yield STAGES[kind], 0, t, 0, 0
        if kind != "s32" and q & 0x80000000:
            q |= 0xFFFFFFFF00000000
        if t & 0x7FFFFFFF > INFINITY:
            q = offset = 0
        elif infinite and t & 0x7FFFFFFF == INFINITY:
            q, offset = LIMITS[kind][t >> 31 == 0] & 0xFFFFFFFFFFFFFFFF, 0
        elif kind == "s4":
            offset = (offset + 16) % 32 - 16
        y = yield kind, number, q & 0xFFFFFFFF, (q >> 32 & 7) | (offset & 0x1FFFF) << 3, clip
    width = BITS_OF[kind]
    return y - (1 << width) if kind != "u8" and y >> (width - 1) else y


def run(
    cases: Sequence[Case], whole: bool, evaluate: Callable[[list[Step]], list[int]]
) -> list[int]:
    """Return the result of the pipeline for each case; equal steps are evaluated together."""
    running = {number: pipeline(case, whole) for number, case in enumerate(cases)}
    steps = {number: next(steps) for number, steps in running.items()}
    values = [0] * len(cases)
    while steps:
        numbers = list(steps)
        for number, value in zip(numbers, evaluate(list(steps.values())), strict=True):
            try:
                steps[number] = running[number].send(value)
            except StopIteration as end:
                values[number] = end.value
                del steps[number]
    return values


CASES = (
    Case("qf322b8", 5.0, 0.5, 2),
    Case("qf322b8", 7.0, 0.5, 4),
    Case("qf322b8", -5.0, 0.5, 1, offset=3),
    Case("qf322b8", 5.0, 0.5, 5, offset=3),
    Case("qf322b8", 1000, 1.0, 55, offset=-200),
    Case("qf322b8", -1000, 1.0, -56, offset=200),
    Case("qf322b8", 300, 1.0, 255, offset=100, signed=False),
    Case("qf322b8", -3, 1.0, 125, offset=128, signed=False),
    Case("qf322b8", 100, 0.1, 3, offset=-7),
    Case("qf322b8", NAN, 1.0, 0, offset=5),
    Case("qf322b8", INF, 1.0, 127),
    Case("qf322b8", INF, 1.0, 127, offset=-200),
    Case("qf322b8", -INF, 1.0, 0, offset=200, signed=False),
    Case("qf322b8", -INF, 1.0, -128, offset=200),
    Case("qf322b8", 3e38, 2.0, 55, offset=-200),
    Case("qf322b8", INF, 1.0, 100, offset=-200, clip=100),
    Case("qf322b8", NAN, 1.0, 0, offset=-200, clip=100),
    Case("qf322b8", -INF, 1.0, 3, offset=3, relu=1),
    Case("qf322b8", NAN, 1.0, 0, offset=3, relu=1),
    Case("qf322b8", 2.5, 1.0, 3, offset=1),
    Case("qf322b8", 3.5, 1.0, 5, offset=1),
    Case("qf322b8", -5.0, 0.5, 3, offset=3, relu=1),
    Case("qf322b8", -50.0, 0.5, -3, offset=3, relu=2, alpha=0.25),
    Case("qf322b8", -50.0, 0.5, -9, offset=3, relu=2, alpha=0.25, replace=True),
    Case("qf322b8", 50.0, 1.0, 20, offset=3, clip=20),
    Case("qf322s4", 3.5, 1.0, 4),
    Case("qf322s4", 4.5, 1.0, 4),
    Case("qf322s4", 100, 1.0, 7),
    Case("qf322s4", -300, 1.0, -1, offset=15),
    Case("qf322s4", 6.4, 1.0, 7, offset=2),
    Case("qf322s4", 100, 1.0, -1, offset=-16),
    Case("qf322s4", -300, 1.0, -8, offset=255),
    Case("qf322s4", 12, 1.0, 3, offset=-9),
    Case("qf322s4", NAN, 1.0, 0, offset=3),
    Case("qf322s4", INF, 1.0, 7, offset=-16),
    Case("qf322s4", -INF, 1.0, -8, offset=15),
    Case("qf162b8", 2049, 1 / 16, 127),
    Case("qf162b8", 1e6, 1 / 1024, 64),
    Case("qf162b8", NAN, 1.0, 5, offset=5),
    Case("qf162b8", INF, 1 / 1024, 69, offset=5),
    Case("req8", 1000, 0.1, 100),
    Case("req8", -1000, 0.1, -90, offset=10),
    Case("req8", 513, 0.25, 128, signed=False),
    Case("req8", -513, 0.25, 0, signed=False),
    Case("deqf16", 1000, 0.5, 0x5FD0),
    Case("deqf16", -7, 0.1, 0xB999),
    Case("deqf16", 200000, 1.0, 0x7BFF),
    Case("deqf16", 200000, 1.0, 0x7C00, sat=2),
    Case("deqf16", 200000, 1.0, 0x3C00, clip=0x3C00, sat=2),
    Case("deqf16", 16777217, 1 / 256, 0x7BFF),
    Case("deqs16", 100000, 0.25, 25005, offset=5),
    Case("deqs16", 1e6, 0.5, 32767),
    Case("deqs16", -1e6, 0.5, -32768, offset=-3),
    Case("deqs16", 7, 0.5, 4),
    Case("deqs16", 5, 0.5, 2),
    Case("deqs16", 1e6, 0.5, 25535, offset=-40000),
    Case("deqs16", -1e6, 0.5, -1, offset=65535),
    Case("deqs16", 100000, 0.25, -32768, offset=-65536),
    Case("deqs16", 1073741824, 1.329227995784916e36, -1, offset=-65536),
    Case("deqs32", 16777217, 1.0, 16777216),
    Case("deqs32", 2147483647, 2.0, 2147483647),
    Case("deqs32", -(2**31), 1.0, -(2**31), offset=-1),
    Case("deqs32", 1001, 0.5, 507, offset=7),
    Case("qf162s16", 2049, 1.0, 2048),
    Case("qf162s16", 70000, 0.5, 32752),
    Case("qf162s16", -2051, 2.0, -4103, offset=1),
    Case("qf162s16", 70000, 1.0, 5504, offset=-60000),
    Case("qs322bf16", 1000, 0.1, 0x42C8),
    Case("qs322bf16", 16777217, 1.0, 0x4B80),
    Case("qs322bf16", -7, 0.5, 0xC060),
    Case("qf322f32", 3.0, 0.1, 0x3E999000),
    Case("qf322f16", PI, 0.1, 0x3506),
    Case("qf322bf16", PI, 0.1, 0x3EA1),
    Case("qf322fp8", PI, 0.1, 0x2A),
    Case("qf322hif8", PI, 0.1, 0x32),
    Case("qf322hif8_hybrid", PI, 0.1, 0x32),
)
"""Section 11, table of conversions, and those of examples_v2.md, section 3, that it does not have.

The clips of 20 and 1.0 follow from section 6.
"""

Value = tuple[str, int, int, int, int]
"""Unit, mode, operands a and b, result; operand c is 0."""


def _all_sats(unit: str, value: float, *codes: int) -> list[Value]:
    sat, preserve, nosat = codes * 3 if len(codes) == 1 else codes
    return [(unit, mode, bits(value), 0, code) for mode, code in enumerate((sat, preserve, nosat))]


def _hif8(value: float, away: int, hybrid: int | None = None) -> list[Value]:
    return [
        *(("hif8", sat, bits(value), 0, away) for sat in range(3)),
        *(
            ("hif8", 4 + sat, bits(value), 0, away if hybrid is None else hybrid)
            for sat in range(3)
        ),
    ]


def _both_c48(op: str, old: int, new: int, finite: int, ieee: int) -> list[Value]:
    code = ("add", "max", "min").index(op)
    return [("atomic_f16", code, old, new, finite), ("atomic_f16", code + 4, old, new, ieee)]


def _offset(kind: str, record: int, offset: int) -> Value:
    """Return an input of 0 that shows the offset of a record, as far as the kind has it."""
    low, high = LIMITS[kind]
    want = min(max(offset, low), high) & (1 << BITS_OF[kind]) - 1
    return (f"tail_{kind}", KINDS.index(kind), 0, record >> 37 & 0x1FFFF, want)


VALUES: tuple[Value, ...] = (
    *_all_sats("f16", 65519.996, 0x7BFF),
    *_all_sats("f16", 65520, 0x7BFF, 0x7BFF, 0x7C00),
    *_all_sats("f16", NAN, 0x0000, 0x7E00, 0x7E00),
    *_all_sats("f16", 2.0**-25, 0x0000),
    *_all_sats("f16", 1.00146484375, 0x3C02),
    *_all_sats("f16", -0.0, 0x8000),
    *_all_sats("f16", -INF, 0xFBFF, 0xFBFF, 0xFC00),
    *_all_sats("bf16", 3.4e38, 0x7F7F, 0x7F7F, 0x7F80),
    *_all_sats("bf16", 1.00390625, 0x3F80),
    *_all_sats("bf16", 1.01171875, 0x3F82),
    *_all_sats("bf16", NAN, 0x0000, 0x7FC0, 0x7FC0),
    *_all_sats("e4m3", 1, 0x38),
    *_all_sats("e4m3", 448, 0x7E),
    *_all_sats("e4m3", 464, 0x7E),
    *_all_sats("e4m3", 464.1, 0x7E, 0x7E, 0x7F),
    *_all_sats("e4m3", -448, 0xFE),
    *_all_sats("e4m3", -464.1, 0xFE, 0xFE, 0x7F),
    *_all_sats("e4m3", -1e6, 0xFE, 0xFE, 0x7F),
    *_all_sats("e4m3", INF, 0x7E, 0x7E, 0x7F),
    *_all_sats("e4m3", -INF, 0xFE, 0xFE, 0x7F),
    *_all_sats("e4m3", 2.0**-9, 0x01),
    *_all_sats("e4m3", 2.0**-10, 0x00),
    *_all_sats("e4m3", 1.5 * 2.0**-10, 0x01),
    *_all_sats("e4m3", -0.0, 0x80),
    *_all_sats("e4m3", 0.3, 0x2A),
    *_all_sats("e4m3", 17, 0x58),
    *_all_sats("e4m3", 19, 0x5A),
    *_all_sats("e4m3", NAN, 0x00, 0x7F, 0x7F),
    *_hif8(1, 0x08),
    *_hif8(2, 0x10),
    *_hif8(0.5, 0x18),
    *_hif8(16, 0x40),
    *_hif8(256, 0x60),
    *_hif8(32768, 0x6E),
    *_hif8(0.013671875, 0x5F),
    *_hif8(2.0**-16, 0x07),
    *_hif8(2.0**-15, 0x7E),
    *_hif8(3.14159, 0x15),
    *_hif8(-100, 0xCA, 0xCB),
    *_hif8(0.1, 0x52, 0x53),
    *_hif8(17, 0x40, 0x41),
    *_hif8(20, 0x41),
    *_hif8(300, 0x60, 0x61),
    *_hif8(2.0**-22, 0x01),
    *_hif8(2.0**-23, 0x01),
    *_hif8(2.0**-24, 0x00),
    *_hif8(0.001, 0x74),
    *_hif8(1000.7, 0x64),
    *_hif8(-0.0, 0x00),
    *_all_sats("hif8", 40959, 0x6E),
    *_all_sats("hif8", 40960, 0x6E, 0x6E, 0x6F),
    *_all_sats("hif8", -INF, 0xEE, 0xEE, 0xEF),
    *_all_sats("hif8", NAN, 0x00, 0x80, 0x80),
    ("h", 0, bits(2049), 0, 0x6800),
    ("h", 0, bits(1e6), 0, 0x7BFF),
    ("i32_f32", 0, 16777217, 0, 0x4B800000),
    ("i32_f32", 0, -16777219 & 0xFFFFFFFF, 0, 0xCB800002),
    ("i32_f32", 0, 123456789, 0, 0x4CEB79A3),
    ("i32_f32", 0, 2147483647, 0, 0x4F000000),
    *_both_c48("add", 0x7BFF, 0x7BFF, 0x7BFF, 0x7C00),
    *_both_c48("add", 0xFBFF, 0xFBFF, 0xFBFF, 0xFC00),
    *_both_c48("add", 0x7C00, 0x3C00, 0x7BFF, 0x7C00),
    *_both_c48("add", 0x7C00, 0xFC00, 0x0000, 0x7E00),
    *_both_c48("add", 0x7C00, 0xFBFF, 0x7BFF, 0x7C00),
    *_both_c48("add", 0x7E00, 0x3C00, 0x0000, 0x7E00),
    *_both_c48("max", 0x7E00, 0x3C00, 0x0000, 0x7E00),
    *_both_c48("min", 0x3C00, 0x7E00, 0x0000, 0x7E00),
    *_both_c48("max", 0x7C00, 0x3C00, 0x7C00, 0x7C00),
    *_both_c48("min", 0xFC00, 0x3C00, 0xFC00, 0xFC00),
    *_both_c48("add", 0x3C00, 0x3C00, 0x4000, 0x4000),
    *_both_c48("add", 0x3C00, 0x1000, 0x3C00, 0x3C00),
    *_both_c48("add", 0x3C00, 0x1001, 0x3C01, 0x3C01),
    *_both_c48("add", 0x8000, 0x0000, 0x0000, 0x0000),
    *_both_c48("add", 0x8000, 0x8000, 0x8000, 0x8000),
    ("atomic_bf16", 0, 0x3F80, 0x3B80, 0x3F80),
    ("atomic_bf16", 0, 0x3F81, 0x3B80, 0x3F82),
    ("atomic_bf16", 0, 0x7F7F, 0x7F7F, 0x7F80),
    ("atomic_f32", 1, 0x80000000, 0x00000000, 0x00000000),
    ("atomic_f32", 2, 0x00000000, 0x80000000, 0x80000000),
    ("atomic_f32", 1, 0x7F800001, 0x3F800000, 0x7FC00000),
    ("relu", 1, 0x80000000, 0, 0x00000000),
    ("relu", 2, 0x80000000, 0x3E800000, 0x80000000),
    ("relu", 0, 0x7F800001, 0, 0x7F800001),
    _offset("s8", 0x0000_4060_3F00_0000, 3),
    _offset("s8", 0x0000_7F20_3DCC_CCCD, -7),
    _offset("u8", 0x0000_1000_4000_0000, 128),
    _offset("s4", 0x0000_01E0_3F80_0000, 15),
    _offset("s4", 0x0000_0200_3F80_0000, -16),
    _offset("s16", 0x002C_7800_3F00_0000, -40000),
    _offset("s16", 0x0000_00A0_3E80_0000, 5),
)
"""Section 11, table "To"; sections 4, 6, 7 and 9 in between."""
