# SPDX-License-Identifier: Apache-2.0
"""The worked values of write-backs (sequences/examples/data), and the pipeline that yields them.

The pipeline is that of docs/spec/fixpipe.md, section 3: the order of the functions is defined here;
the results of the functions come from the proof program.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from sequences.examples.catalog import CONVERSIONS, FORMATS, Conversion
from sequences.examples.conversions import SATS
from sequences.examples.worked import table

FUNCTIONS = table("functions")


def bits(value: float) -> int:
    """Return the bits of the f32 nearest to a value."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def parameter(value: float) -> int:
    """Return the f32 bits that a scale or alpha has after its low 13 bits are cleared (A-34)."""
    return bits(value) & 0xFFFFE000


SCALES = dict(FUNCTIONS["scales"])
"""f32 bits of a payload and M1, from section 5."""


@dataclass(frozen=True)
class Case:
    """A value of a conversion.

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


def _want(conversion: Conversion, code: int, signed: bool) -> int:
    """Return a result as the pipeline has it: of an integer its value."""
    mode = _mode(conversion)
    if mode not in INTEGERS:
        return code
    kind = INTEGERS[mode].replace("b8", "s8" if signed else "u8")
    width = BITS_OF[kind]
    code &= (1 << width) - 1
    return code - (1 << width) if kind != "u8" and code >> (width - 1) else code


def _mode(conversion: Conversion) -> str:
    return conversion.mode.replace("_pre", "").removesuffix("_int")


def _cases() -> Iterator[Case]:
    for each in CONVERSIONS:
        for x in each.values:
            yield Case(
                _mode(each), x.acc, x.scale, _want(each, x.result, x.signed), x.offset, x.signed,
                ("", "normal_relu", "scalar_relu").index(each.relu), each.alpha, each.clip,
                SATS.index(each.sat or "sat"), (each.knobs or {}).get("alpha") == "replace",
            )  # fmt: skip


CASES = (
    *_cases(),
    Case("qf322b8", 50.0, 1.0, 20, offset=3, clip=20),
    Case("deqf16", 200000, 1.0, 0x3C00, clip=0x3C00, sat=2),
)
"""The conversions of the specification. The clips of 20 and 1.0 follow from section 6."""

Value = tuple[str, int, int, int, int]
"""Unit, mode, operands a and b, result; operand c is 0."""

_HYBRID = 4
"""Mode of unit hif8 for hybrid rounding, to which the code of the sat clause is added."""


def _formats() -> Iterator[Value]:
    """Yield the codes of all formats; of hif8 without an op in both roundings."""
    for form in FORMATS:
        unit = {"f8E4M3FN": "e4m3"}.get(form.to, form.to)
        roundings = [_HYBRID if "hybrid" in form.mode else 0]
        if form.to == "hif8" and not form.mode:
            roundings.append(_HYBRID)
        for value, codes in form.codes:
            for rounding in roundings:
                for sat, code in enumerate(codes):
                    yield unit, rounding + sat, bits(value), 0, code


def _atomics() -> Iterator[Value]:
    for kind, op, old, new, finite, ieee in FUNCTIONS["atomics"]:
        code = ("add", "max", "min").index(op)
        yield f"atomic_{kind}", code, old, new, finite
        if kind == "f16":
            yield f"atomic_{kind}", code + 4, old, new, ieee


def _offsets() -> Iterator[Value]:
    """Yield inputs of 0 that show the offset of a record, as far as the kind has it."""
    for to, _, offset, record in FUNCTIONS["records"]:
        kind = {"i4": "s4", "i8": "s8", "ui8": "u8", "i16": "s16"}[to]
        low, high = LIMITS[kind]
        want = min(max(offset, low), high) & (1 << BITS_OF[kind]) - 1
        yield f"tail_{kind}", KINDS.index(kind), 0, record >> 37 & 0x1FFFF, want


VALUES: tuple[Value, ...] = (
    *_formats(),
    *(("h", 0, bits(value), 0, code) for value, code in FUNCTIONS["half_stage"]),
    *(("i32_f32", 0, x & 0xFFFFFFFF, 0, code) for x, code in FUNCTIONS["i32_to_f32"]),
    *_atomics(),
    ("relu", 1, 0x80000000, 0, 0x00000000),
    ("relu", 2, 0x80000000, 0x3E800000, 0x80000000),
    ("relu", 0, 0x7F800001, 0, 0x7F800001),
    *_offsets(),
)
"""Values of single functions; those of relu follow from section 6."""
