# SPDX-License-Identifier: Apache-2.0
"""Worked values of the write-back (spec/fixpipe.md, 9, 11; examples.md, 6, 7; examples_v2.md).

Each row of the conversion tables is an op of one row, its values side by side: with parameters
per channel, and as a scalar too if all channels have the same value.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequences.examples.example import Data, Example, Image, Knobs, Op, RuleExample
from tb.isa.ctrl import SetCtrl
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.fix.table import QUANT_MODES
from tb.isa.spaces import Space

_WORD = 64
_BACKGROUND = 0x55

Number = float | int

NAN, INF = float("nan"), float("inf")


def _f32(value: float) -> int:
    return int(np.array([value], dtype=np.float32).view(np.uint32)[0])


def _accumulators(values: Sequence[Number], acc: str) -> bytes:
    if acc == "i32":
        return np.array(values, dtype=np.int64).astype("<i4").tobytes()
    return np.array(values, dtype=np.float64).astype("<f4").tobytes()


def _pack(values: Sequence[int], bits: int) -> bytes:
    """Returns elements as stored: little-endian, 4-bit ones two per byte."""
    low = [value & ((1 << bits) - 1) for value in values]
    if bits == 4:
        return bytes(a | b << 4 for a, b in zip(low[0::2], low[1::2], strict=True))
    return b"".join(value.to_bytes(bits // 8, "little") for value in low)


_BITS = {"f16": 16, "bf16": 16, "i16": 16, "i8": 8, "ui8": 8, "i4": 4, "f8E4M3FN": 8, "hif8": 8}


def _image(
    name: str,
    forms: Mapping[str, tuple[Op, ...]],
    fills: tuple[Data, ...],
    expected: bytes,
    knobs: Knobs,
) -> Example:
    crc = zlib.crc32(expected)
    return Example(name, forms, fills, Space.GM, len(expected), crc, knobs=knobs)


_OFFSET_BITS = {"i4": 5, "si4": 5, "i16": 17, "si16": 17}


def record(scale: float, offset: int = 0, signed: bool = True, dtype: str = "i8") -> int:
    """Returns the 64-bit record of a channel (spec/fixpipe.md, section 5).

    Args:
        scale: M1.
        offset: Offset; of a 4-bit destination also one of nine bits, whose low five count.
        signed: Sign bit of b8 destinations.
        dtype: Destination type.
    """
    bits = _OFFSET_BITS.get(dtype, 9)
    if not -(1 << bits) <= 2 * offset < 1 << bits:
        bits = max(bits, 9)
    sign = int(signed) << 46 if dtype in ("i8", "si8", "ui8") else 0
    return _f32(scale) | (offset & ((1 << bits) - 1)) << 37 | sign


def _records(scale: float, offsets: Sequence[int], signs: Sequence[int], dtype: str) -> Data:
    """Returns records of one scale in segment 0 of fb."""
    words = [record(scale, o, bool(s), dtype) for o, s in zip(offsets, signs, strict=True)]
    return Data(Space.FB, np.array(words, dtype="<u8").tobytes())


def _modes(mode: str) -> Knobs:
    """Returns the value of knob ``modes`` that an op of this mode needs."""
    return {} if QUANT_MODES[mode].a5 else {"modes": "all"}


Worked = tuple[Number, float, int, Number] | tuple[Number, float, int, Number, str]
"""Accumulator, scale, offset, result; ``"s"`` or ``"u"`` where the sign is not that of the type."""


def _conversion(
    name: str,
    mode: str,
    dtype: str,
    rows: Sequence[Worked],
    sat: str = "",
    relu: PreRelu | None = None,
    knobs: Knobs | None = None,
) -> Example:
    """Returns an example of one op: the values of ``rows`` side by side in GM."""
    knobs = {**_modes(f"{mode}_vec"), **(knobs or {})}
    acc = QUANT_MODES[f"{mode}_vec"].acc or "f32"
    bits = _BITS.get(dtype, 32)
    count = len(rows)
    if bits == 4 and count % 2:
        rows, count = [*rows, rows[-1]], count + 1
    types = {"src_type": Ptr(acc, "l0c"), "dst_type": Ptr(dtype, "gm")}
    natural = "u" if dtype == "ui8" else "s"
    signs = [(*row, natural)[4] for row in rows]
    records = [
        record(row[1], row[2], sign == "s", dtype) for row, sign in zip(rows, signs, strict=True)
    ]
    fills = (
        Data(Space.L0C, _accumulators([row[0] for row in rows], acc)),
        Data(Space.FB, np.array(records, dtype="<u8").tobytes()),
    )
    parts: dict[str, Any] = {"sat": sat, "pre_relu": relu, **types}
    quant = PreQuant(f"{mode}_vec", FbPtr("f32", 0))
    forms: dict[str, tuple[Op, ...]] = {
        "vector": (MteL0cGm(0, 0, 1, count, 16, count, pre_quant=quant, **parts),)
    }
    alike = len({row[1] for row in rows}) == 1 and set(signs) == {natural}
    if alike and not any(row[2] for row in rows):
        quant = PreQuant(f"{mode}_scalar", Scalar("f32", _f32(rows[0][1])))
        forms["scalar"] = (MteL0cGm(0, 0, 1, count, 16, count, pre_quant=quant, **parts),)
    return _image(name, forms, fills, _pack([int(row[3]) for row in rows], bits), knobs)


_RELU = PreRelu("normal_relu")
_QUARTER = PreRelu("scalar_relu", Scalar("f32", _f32(0.25)))
_CLIP = PreRelu("no_relu", None, Scalar("i16", 100))
_SEQUENTIAL: Knobs = {"alpha": "sequential"}
_REPLACE: Knobs = {"alpha": "replace"}
_PI = 3.14159265

CONVERSIONS: tuple[Example, ...] = (
    _conversion("FX-V qf322b8 signed", "qf322b8_pre", "i8", (
        (5.0, 0.5, 0, 2), (7.0, 0.5, 0, 4), (-5.0, 0.5, 3, 1), (5.0, 0.5, 3, 5),
        (1000.0, 1.0, -200, 55), (-1000.0, 1.0, 200, -56), (100.0, 0.1, -7, 3), (NAN, 1.0, 5, 0),
        (INF, 1.0, 0, 127), (INF, 1.0, -200, 127), (3e38, 2.0, -200, 55), (2.5, 1.0, 1, 3),
        (3.5, 1.0, 1, 5),
    )),
    _conversion("FX-V qf322b8 clip 100", "qf322b8_pre", "i8", (
        (INF, 1.0, -200, 100), (NAN, 1.0, -200, 0),
    ), relu=_CLIP),
    _conversion("FX-V qf322b8 unsigned", "qf322b8_pre", "ui8", (
        (300.0, 1.0, 100, 255), (-3.0, 1.0, 128, 125), (-INF, 1.0, 200, 0),
    )),
    _conversion("FX-V qf322b8 normal_relu", "qf322b8_pre", "i8", (
        (-5.0, 0.5, 3, 3), (-INF, 1.0, 3, 3), (NAN, 1.0, 3, 0),
    ), relu=_RELU),
    _conversion(
        "FX-V qf322b8 scalar_relu", "qf322b8_pre", "i8", ((-50.0, 0.5, 3, -3),), relu=_QUARTER,
        knobs=_SEQUENTIAL,
    ),
    _conversion(
        "FX-V qf322b8 scalar_relu, alpha = replace", "qf322b8_pre", "i8", ((-50.0, 0.5, 3, -9),),
        relu=_QUARTER, knobs=_REPLACE,
    ),
    _conversion("FX-V qf322s4", "qf322s4_pre", "i4", (
        (3.5, 1.0, 0, 4), (4.5, 1.0, 0, 4), (100.0, 1.0, 0, 7), (-300.0, 1.0, 15, -1),
        (6.4, 1.0, 2, 7), (100.0, 1.0, -16, -1), (-300.0, 1.0, 255, -8), (NAN, 1.0, 3, 0),
        (INF, 1.0, -16, 7),
    )),
    _conversion("FX-V qf322s4 without offset", "qf322s4_pre", "i4", (
        (3.5, 1.0, 0, 4), (4.5, 1.0, 0, 4), (100.0, 1.0, 0, 7),
    )),
    _conversion("FX-V qf162b8", "qf162b8_pre", "i8", (
        (2049.0, 1 / 16, 0, 127), (1e6, 1 / 1024, 0, 64), (NAN, 1.0, 5, 5),
        (INF, 1 / 1024, 5, 69),
    )),
    _conversion("FX-V req8 signed", "req8", "i8", ((1000, 0.1, 0, 100), (-1000, 0.1, 10, -90))),
    _conversion("FX-V req8 unsigned", "req8", "ui8", ((513, 0.25, 0, 128), (-513, 0.25, 0, 0))),
    _conversion("FX-V deqf16", "deqf16", "f16", (
        (1000, 0.5, 0, 0x5FD0), (-7, 0.1, 0, 0xB999), (200000, 1.0, 0, 0x7BFF),
        (16777217, 1 / 256, 0, 0x7BFF),
    )),
    _conversion("FX-V deqf16 nosat", "deqf16", "f16", ((200000, 1.0, 0, 0x7C00),), "nosat"),
    _conversion("FX-V deqs16", "deqs16", "i16", (
        (100000, 0.25, 5, 25005), (1000000, 0.5, 0, 32767), (-1000000, 0.5, -3, -32768),
        (7, 0.5, 0, 4), (5, 0.5, 0, 2), (1000000, 0.5, -40000, 25535),
        (-1000000, 0.5, 65535, -1), (100000, 0.25, -65536, -32768),
    )),
    _conversion("FX-V deqs32", "deqs32_int", "i32", (
        (16777217, 1.0, 0, 16777216), (2147483647, 2.0, 0, 2147483647),
        (-(2**31), 1.0, -1, -(2**31)), (1001, 0.5, 7, 507),
    )),
    # An infinite product of a finite value: a limit of the destination, then the offset.
    _conversion("A-76 deqs32 product overflow", "deqs32_int", "i32", (
        (-33554432, 1.5e38, 4, -(2**31) + 4), (33554432, 1.5e38, -256, 2**31 - 257),
        (33554432, 1.5e38, 255, 2**31 - 1), (-33554432, 1.5e38, -1, -(2**31)),
    )),
    # The f32 value of an i32, as an integer of the same value.
    _conversion("FX-V i32 to f32", "deqs32_int", "si32", (
        (16777217, 1.0, 0, 16777216), (-16777219, 1.0, 0, -16777220),
        (123456789, 1.0, 0, 123456792), (2147483647, 1.0, 0, 2147483647),
    )),
    _conversion("FX-V qf162s16", "qf162s16_pre", "i16", (
        (2049, 1.0, 0, 2048), (70000, 0.5, 0, 32752), (-2051, 2.0, 1, -4103),
    )),
    _conversion("FX-V qs322bf16", "qs322bf16_pre", "bf16", (
        (1000, 0.1, 0, 0x42C8), (16777217, 1.0, 0, 0x4B80), (-7, 0.5, 0, 0xC060),
    )),
    _conversion("FX-V qf322f32", "qf322f32_pre", "f32", ((3.0, 0.1, 0, 0x3E999000),)),
    _conversion("FX-V qf322f16", "qf322f16_pre", "f16", ((_PI, 0.1, 0, 0x3506),)),
    _conversion("FX-V qf322bf16", "qf322bf16_pre", "bf16", ((_PI, 0.1, 0, 0x3EA1),)),
    _conversion("FX-V qf322fp8", "qf322fp8_pre", "f8E4M3FN", ((_PI, 0.1, 0, 0x2A),)),
    _conversion("FX-V qf322hif8", "qf322hif8_pre", "hif8", ((_PI, 0.1, 0, 0x32),)),
    _conversion("FX-V qf322hif8 hybrid", "qf322hif8_pre_hybrid", "hif8", ((_PI, 0.1, 0, 0x32),)),
)  # fmt: skip
"""First table of section 11: the rows of a mode together."""

_S4: tuple[Worked, ...] = (
    (3.5, 1.0, 0, 4), (4.5, 1.0, 0, 4), (100.0, 1.0, 0, 7), (-300.0, 1.0, 15, 0xF),
    (6.4, 1.0, 2, 7), (100.0, 1.0, -16, 0xF), (-300.0, 1.0, 255, 8), (12.0, 1.0, -9, 3),
    (NAN, 1.0, 3, 0), (INF, 1.0, -16, 7), (-INF, 1.0, 15, 8),
)  # fmt: skip

NEW_CONVERSIONS: tuple[Example, ...] = (
    _conversion("FV-S4 1 to 11", "qf322s4_pre", "i4", _S4),
    _conversion("FV-S16 1 to 9", "deqs16", "i16", (
        (100000, 0.25, 5, 0x61AD), (1000000, 0.5, 0, 0x7FFF), (-1000000, 0.5, -3, 0x8000),
        (1000000, 0.5, -40000, 0x63BF), (-1000000, 0.5, 65535, 0xFFFF),
        (100000, 0.25, -65536, 0x8000), (7, 0.5, 0, 4), (5, 0.5, 0, 2),
        (1073741824, 1.329227995784916e36, -65536, 0xFFFF),
    )),
    _conversion("FV-S16 10 to 13", "qf162s16_pre", "i16", (
        (2049, 1.0, 0, 0x0800), (70000, 0.5, 0, 0x7FF0), (-2051, 2.0, 1, 0xEFF9),
        (70000, 1.0, -60000, 0x1580),
    )),
    _conversion("FV-B8 1 to 6", "qf322b8_pre", "i8", (
        (NAN, 1.0, 5, 0), (INF, 1.0, 0, 0x7F), (INF, 1.0, -200, 0x7F), (-INF, 1.0, 200, 0, "u"),
        (-INF, 1.0, 200, 0x80), (3e38, 2.0, -200, 0x37),
    )),
    _conversion("FV-B8 7 and 8", "qf322b8_pre", "i8", (
        (INF, 1.0, -200, 0x64), (NAN, 1.0, -200, 0),
    ), relu=_CLIP),
    _conversion("FV-B8 9 and 10", "qf322b8_pre", "i8", (
        (-INF, 1.0, 3, 3), (NAN, 1.0, 3, 0),
    ), relu=_RELU),
    _conversion("FV-B8 11 and 12", "qf162b8_pre", "i8", (
        (NAN, 1.0, 5, 5), (INF, 1 / 1024, 5, 0x45),
    )),
)  # fmt: skip
"""spec/examples_v2.md, section 3: values of integer destinations, those of a mode together."""

_SATS = ("sat", "preserve_nan", "nosat")
Results = tuple[float, int | tuple[int, int, int]]


def _to(name: str, mode: str, dtype: str, values: Sequence[Results]) -> Example:
    """Returns an example of three ops, one per saturation mode, 64 bytes apart."""
    count, size = len(values), _BITS[dtype] // 8
    quant = PreQuant(mode, Scalar("f32", _f32(1.0)))
    ops, expected = [], bytearray([_BACKGROUND]) * (3 * _WORD)
    for row, sat in enumerate(_SATS):
        op = MteL0cGm(
            0, _WORD * row, 1, count, 16, count, pre_quant=quant, sat=sat,
            dst_type=Ptr(dtype, "gm"),
        )  # fmt: skip
        ops.append(op)
        codes = [code if isinstance(code, int) else code[row] for _, code in values]
        expected[_WORD * row : _WORD * row + count * size] = _pack(codes, 8 * size)
    fills = (Data(Space.L0C, _accumulators([value for value, _ in values], "f32")),)
    return _image(name, {"v06": tuple(ops)}, fills, bytes(expected), _modes(mode))


_HIF8: tuple[tuple[float, Any, Any], ...] = (
    (1.0, 0x08, 0x08), (3.14159, 0x15, 0x15), (-100.0, 0xCA, 0xCB), (0.1, 0x52, 0x53),
    (17.0, 0x40, 0x41), (20.0, 0x41, 0x41), (300.0, 0x60, 0x61), (40959.0, 0x6E, 0x6E),
    (40960.0, (0x6E, 0x6E, 0x6F), (0x6E, 0x6E, 0x6F)), (2.0**-22, 0x01, 0x01),
    (2.0**-23, 0x01, 0x01), (2.0**-24, 0x00, 0x00), (0.001, 0x74, 0x74), (1000.7, 0x64, 0x64),
)  # fmt: skip

FORMATS: tuple[Example, ...] = (
    _to("FX-T f16", "f32_f16", "f16", (
        (65519.996, 0x7BFF), (65520.0, (0x7BFF, 0x7BFF, 0x7C00)), (NAN, (0, 0x7E00, 0x7E00)),
        (2.0**-25, 0), (1.00146484375, 0x3C02),
    )),
    _to("FX-T bf16", "f32_bf16", "bf16", (
        (3.4e38, (0x7F7F, 0x7F7F, 0x7F80)), (1.00390625, 0x3F80), (1.01171875, 0x3F82),
    )),
    _to("FX-T e4m3fn", "qf322fp8_pre_scalar", "f8E4M3FN", (
        (1.0, 0x38), (448.0, 0x7E), (464.0, 0x7E), (464.1, (0x7E, 0x7E, 0x7F)),
        (-1e6, (0xFE, 0xFE, 0x7F)), (-464.1, (0xFE, 0xFE, 0x7F)), (-INF, (0xFE, 0xFE, 0x7F)),
        (2.0**-9, 0x01), (2.0**-10, 0x00), (1.5 * 2.0**-10, 0x01),
        (-0.0, 0x80), (0.3, 0x2A), (17.0, 0x58), (19.0, 0x5A),
    )),
    _to("FX-T hif8", "qf322hif8_pre_scalar", "hif8", [(x, half) for x, half, _ in _HIF8]),
    _to("FX-T hif8 hybrid", "qf322hif8_pre_hybrid_scalar", "hif8", [(x, y) for x, _, y in _HIF8]),
)  # fmt: skip
"""Second table of section 11: a value per column, a saturation mode per row."""

_E4M3 = _to("FV-E4 1 to 21", "qf322fp8_pre_scalar", "f8E4M3FN", (
    (464.0, 0x7E), (464.1, (0x7E, 0x7E, 0x7F)), (-464.1, (0xFE, 0xFE, 0x7F)),
    (-1000000.0, (0xFE, 0xFE, 0x7F)), (INF, (0x7E, 0x7E, 0x7F)), (-INF, (0xFE, 0xFE, 0x7F)),
    (-448.0, 0xFE),
))  # fmt: skip

_C48, _C50 = 1 << 48, 1 << 50
_F16_ADD, _F16_MAX = 2 << 6, 2 << 6 | 1 << 9
_TO_F16 = PreQuant("f32_f16", Scalar("f32", 0))
_TO_BF16 = PreQuant("f32_bf16", Scalar("f32", 0))
Issued = tuple[MteL0cGm, int, Sequence[int]]
"""An op, CTRL when it is issued, and its results."""


def _issued(
    name: str, accumulators: Sequence[Number], ops: Sequence[Issued], old: Sequence[int] = ()
) -> Example:
    """Returns an example of ops under CTRL, 64 bytes apart, on the same accumulators.

    Args:
        name: Identifier.
        accumulators: One row, of the type that the first op reads.
        ops: One-row ops to two-byte or four-byte elements, at address 0 each.
        old: Elements of GM before each op, for atomics.
    """
    first = ops[0][0]
    size = _BITS.get(first.dst_type.dtype, 32) // 8
    program: list[Op] = []
    fills = [Data(Space.L0C, _accumulators(accumulators, first.src_type.dtype))]
    expected = bytearray([_BACKGROUND]) * (_WORD * len(ops))
    for row, (op, ctrl, results) in enumerate(ops):
        op = replace(op, dst=_WORD * row)
        program += [SetCtrl(ctrl), op, SetCtrl(0)] if ctrl else [op]
        expected[_WORD * row : _WORD * row + size * len(results)] = _pack(results, 8 * size)
        if old:
            fills.append(Data(Space.GM, _pack(old, 8 * size), _WORD * row))
    form = "ctrl" if any(ctrl for _, ctrl, _ in ops) else "v06"
    return _image(name, {form: tuple(program)}, tuple(fills), bytes(expected), {})


def _row(n: int, dtype: str, acc: str = "f32", **parts: Any) -> MteL0cGm:
    return MteL0cGm(
        0, 0, 1, n, 16, 16, src_type=Ptr(acc, "l0c"), dst_type=Ptr(dtype, "gm"), **parts
    )


def _f16(n: int, sat: str = "", what: str = "") -> MteL0cGm:
    atomic = Atomic("f16", what) if what else None
    return _row(n, "f16", pre_quant=_TO_F16, sat=sat, atomic=atomic)


_HALF_SUMS = ((0x7BFF, 0xFBFF, 0x7BFF, 0x7BFF, 0x0000, 0x4000),
              (0x7C00, 0xFC00, 0x7C00, 0x7C00, 0x7E00, 0x4000))  # fmt: skip
_TINY = 2.0**-11

CTRL_EXAMPLES: tuple[Example, ...] = (
    _issued("FV-CT 1 to 6", (70000.0, NAN), (
        (_f16(2), 0, (0x7BFF, 0)), (_f16(2), _C48, (0x7C00, 0x7E00)),
        (_f16(2), _C50, (0x7BFF, 0x7E00)), (_f16(2, "sat"), _C48, (0x7BFF, 0)),
    )),
    _issued("FV-AT 1 to 18", (65504.0, -65504.0, 1.0, -65504.0, 1.0, 1.0), (
        (_f16(6, "", "add"), 0, _HALF_SUMS[0]), (_f16(6, "", "add"), _C48, _HALF_SUMS[1]),
        (_f16(6, "nosat", "add"), 0, _HALF_SUMS[1]),
    ), (0x7BFF, 0xFBFF, 0x7C00, 0x7C00, 0x7E00, 0x3C00)),
    _issued("FV-I32 1", (-5,), ((_row(1, "si32", "i32"), 0, (0xFFFFFFFB,)),)),
    _issued("FV-I32 2 and 3", (-5,), (
        (_row(1, "ui32", "i32"), 0, (0xFFFFFFFB,)),
        (_row(1, "ui32", "i32", pre_relu=_RELU), 0, (0,)),
    )),
    _issued("FX-A f16 add", (_TINY, _TINY * (1 + 2.0**-10), 0.0, -0.0), (
        (_f16(4, "", "add"), 0, (0x3C00, 0x3C01, 0x0000, 0x8000)),
        (_f16(4), _C48 | _F16_ADD, (0x3C00, 0x3C01, 0x0000, 0x8000)),
    ), (0x3C00, 0x3C00, 0x8000, 0x8000)),
    _issued("FX-A f16 max", (1.0,), (
        (_f16(1, "", "max"), 0, (0,)), (_f16(1), _C48 | _F16_MAX, (0x7E00,)),
    ), (0x7E00,)),
    _issued("FX-A bf16 add", (2.0**-8, 2.0**-8, 3.3895313892515355e38), (
        (_row(3, "bf16", pre_quant=_TO_BF16, atomic=Atomic("bf16", "add")), 0,
         (0x3F80, 0x3F82, 0x7F80)),
    ), (0x3F80, 0x3F81, 0x7F7F)),
)  # fmt: skip
"""spec/examples_v2.md, section 3: values under CTRL; spec/fixpipe.md, section 9: sums."""


def _tile(values: NDArray[np.floating[Any]], src_stride: int, k: int = 1) -> Data:
    """Returns ``float64[m, n]`` as accumulators in L0C."""
    rows, columns = values.shape
    groups = -(-columns // 16)
    size = (groups - 1) * src_stride + (rows - 1) * k + 1
    words = np.zeros((size, 16), dtype="<f4")
    for group in range(groups):
        part = values[:, 16 * group : 16 * group + 16]
        at = group * src_stride + k * np.arange(rows)
        words[at, : part.shape[1]] = part
    return Data(Space.L0C, words.tobytes())


def _counted(rows: int, columns: int) -> NDArray[np.floating[Any]]:
    return 100.0 * np.arange(rows)[:, None] + np.arange(columns)


def _layout(name: str, op: FixOp, fill: Data, length: int, crc: int) -> Example:
    backgrounds = dict.fromkeys((*BACKED, Space.L0C), _BACKGROUND)
    knobs = _modes(op.pre_quant.mode) if op.pre_quant else {}
    return Example(name, {"v06": (op,)}, (fill,), Space.GM, length, crc, backgrounds, knobs=knobs)


BACKED = (Space.GM, Space.UB0, Space.UB1, Space.L1, Space.BT, Space.FB)

_TALL, _EVEN = _tile(_counted(18, 40), 32), _tile(_counted(18, 32), 32)
_NIBBLES = (np.arange(16) + 3 * np.arange(2)[:, None]) % 16 - 8.0


def _halves(name: str, op: MteL0cUb, crcs: tuple[int, int]) -> Example:
    return Example(
        name, {"v06": (op,)}, (_tile(_counted(8, 32), 16),), Space.UB0, 512, crcs[0],
        dict.fromkeys((*BACKED, Space.L0C), _BACKGROUND), (Image(Space.UB1, 512, crcs[1]),),
    )  # fmt: skip


LAYOUTS: tuple[Example, ...] = (
    _layout("FX-E1", MteL0cGm(0, 0, 18, 40, 32, 48, layout="nz2nd"), _TALL, 3456, 0xE68AB8DA),
    _layout("FX-E2", MteL0cGm(0, 0, 18, 40, 32, 24, layout="nz2dn", k=1), _TALL, 3840, 0x4545339C),
    _layout(
        "FX-E3", MteL0cGm(0, 0, 18, 32, 32, 320, layout="nz2nz", split=0), _EVEN, 2560, 0xEA66D9FB
    ),
    _layout(
        "FX-E4", MteL0cGm(0, 0, 18, 32, 32, 160, layout="nz2nz", split=1), _EVEN, 2560, 0xD88630E0
    ),
    _layout(
        "FX-E5", MteL0cGm(0, 0, 8, 16, 16, 8, layout="nz2dn", k=2), _tile(_counted(8, 16), 16, 2),
        512, 0xCBFB1EBB,
    ),
    _layout(
        "FX-E6", MteL0cGm(0, 0, 4, 16, 16, 20, layout="nz2nd", loop3=Loop3(2, 16, 80)),
        Data(Space.L0C, np.arange(512, dtype="<f4").tobytes()), 640, 0x6F667AA9,
    ),
    _layout(
        "FX-E7",
        MteL0cGm(
            0, 0, 2, 16, 16, 32, layout="nz2nd", dst_type=Ptr("si4", "gm"),
            pre_quant=PreQuant("qf322s4_pre_scalar", Scalar("f32", _f32(1.0))),
        ),
        _tile(_NIBBLES, 16), 32, 0x88673715,
    ),
    _halves("FX-E8", MteL0cUb(0, 0, 8, 32, 16, 32, ub_split="split_m"), (0x9E06A9D1, 0xA91F88DD)),
    _halves("FX-E9", MteL0cUb(0, 0, 8, 32, 16, 16, ub_split="split_n"), (0x03FEBDBC, 0x42E921E8)),
)  # fmt: skip
"""Third table of section 11."""


def _elsewhere(example: Example) -> tuple[Example, ...]:
    """Returns the example with its image in L1 and in sub-block 1 of UB."""
    (op,) = example.forms["v06"]
    assert isinstance(op, MteL0cGm)
    shared: dict[str, Any] = {"layout": op.layout, "k": op.k, "split": op.split}
    head = (0, 0, op.m, op.n, op.src_stride, op.dst_stride)
    places: tuple[tuple[FixOp, Space], ...] = (
        (MteL0cL1(*head, **shared), Space.L1),
        (MteL0cUb(*head, 1, **shared), Space.UB1),
    )
    return tuple(
        Example(
            f"{example.name} in {space.name}", {"v06": (moved,)}, example.fills, space,
            example.length, example.crc, example.backgrounds,
        )
        for moved, space in places
    )  # fmt: skip


def _seed() -> Example:
    """The example of the seed document: an atomic sum in f16."""
    m, n = np.arange(16)[:, None], np.arange(32)
    op = MteL0cGm(
        0, 0, 16, 32, 16, 32, layout="nz2nd", atomic=Atomic("f16", "add"),
        pre_quant=PreQuant("qf322f16_pre_scalar", Scalar("f32", _f32(1.0))),
        dst_type=Ptr("f16", "gm"),
    )  # fmt: skip
    before = ((np.arange(512) % 7) * 0.5).astype("<f2")
    fills = (_tile(m - 0.25 * n, 16), Data(Space.GM, before.tobytes()))
    return Example("S-L0CGM", {"v06": (op,)}, fills, Space.GM, 1024, 0xD6863E31)


_N = np.arange(16)


def _new(
    name: str,
    size: int,
    crc: int,
    op: MteL0cGm,
    values: Sequence[Number] | NDArray[Any],
    *fills: Data,
    ctrl: int = 0,
    knobs: Knobs | None = None,
) -> Example:
    """Returns an example of one row of 16 channels."""
    cells = Data(Space.L0C, _accumulators(list(values), op.src_type.dtype))
    program: tuple[Op, ...] = (SetCtrl(ctrl), op, SetCtrl(0)) if ctrl else (op,)
    mode = op.pre_quant.mode if op.pre_quant else "no_convert"
    return Example(
        name, {"ctrl" if ctrl else "v06": program}, (cells, *fills), Space.GM, size, crc,
        knobs={**_modes(mode), **(knobs or {})},
    )  # fmt: skip


def _one(mode: str, dtype: str, acc: str = "f32", **parts: Any) -> MteL0cGm:
    payload = parts.pop("payload", FbPtr("f32", 0))
    return _row(16, dtype, acc, pre_quant=PreQuant(mode, payload), layout="nz2nd", **parts)


_TWO_TO_15 = Data(Space.GM, np.full(16, 0x7800, dtype="<u2").tobytes())
_SPECIAL = (NAN, INF, -INF, -0.0) * 4
_F16_ONE = _one("f32_f16", "f16", payload=Scalar("f32", 0))
_SIGNED = [1] * 16

IMAGES: tuple[Example, ...] = (
    _new(
        "FX-E10", 32, 0xD91B0130, _one("qf322s4_pre_vec", "i4"), 40.0 * (_N - 8) + 0.5,
        _records(1.0, [2 * n - 16 for n in range(16)], _SIGNED, "i4"),
    ),
    _new(
        "FX-E10b", 32, 0x8600D9E3, _one("qf322s4_pre_vec", "i4"), _N - 7.5,
        _records(1.0, [n % 5 - 2 for n in range(16)], _SIGNED, "i4"),
    ),
    _new(
        "FX-E11", 64, 0x94B2A1CB, _one("deqs16_vec", "i16", "i32"), 20000 * (_N - 8),
        _records(1.0, [8000 * (n - 8) for n in range(16)], _SIGNED, "i16"),
    ),
    _new(
        "FX-E12", 32, 0xF9FCD98B, _one("qf322b8_pre_vec", "i8"), _SPECIAL,
        _records(1.0, [16 * n - 120 for n in range(16)], [n % 2 for n in range(16)], "i8"),
    ),
    _new(
        "FX-E13", 32, 0xDC1F75BF,
        _one("qf322fp8_pre_scalar", "f8E4M3FN", payload=Scalar("f32", _f32(1.0)), sat="nosat"),
        (-1.0) ** _N * (440 + 4 * _N),
    ),
    _new("FX-E14", 64, 0xE20FD03B, _F16_ONE, 8192.0 * _N, _TWO_TO_15, ctrl=_F16_ADD),
    _new("FX-E14b", 64, 0x20D006A5, _F16_ONE, 8192.0 * _N, _TWO_TO_15, ctrl=_F16_ADD | _C48),
    _new(
        "FX-E15", 64, 0x25ECE6A1,
        _row(16, "f32", layout="nz2nd", pre_relu=PreRelu("vector_relu", FbPtr("f32", 0x10040))),
        -1.0 - _N, Data(Space.FB, (_N / 4).astype("<f4").tobytes(), 0x10040),
    ),
)  # fmt: skip
"""spec/examples_v2.md, section 4."""


def _by_knob(
    name: str, size: int, crcs: tuple[int, int], op: MteL0cGm, values: NDArray[Any], fill: Data
) -> tuple[Example, ...]:
    """Returns the examples of both values of knob ``alpha``."""
    ends = (("", _SEQUENTIAL), (", alpha = replace", _REPLACE))
    return tuple(
        _new(name + end, size, crc, op, values, fill, knobs=knobs)
        for crc, (end, knobs) in zip(crcs, ends, strict=True)
    )


KNOB_EXAMPLES: tuple[Example, ...] = (
    *_by_knob(
        "PK-12", 16, (0x98F4079F, 0xCF3FCACD), _one("qf322b8_pre_vec", "i8", pre_relu=_QUARTER),
        -50.0 + 0 * _N, _records(0.5, [3] * 16, _SIGNED, "i8"),
    ),
    *_by_knob(
        "PK-12b", 16, (0x74CEEA68, 0x679DBE5B), _one("req8_vec", "i8", "i32", pre_relu=_QUARTER),
        40 * (_N - 8),
        _records(0.5, [n - 8 for n in range(16)], [n % 2 for n in range(16)], "i8"),
    ),
    *_by_knob(
        "PK-12c", 64, (0x86F878CB, 0x5E45961F),
        _one("qf322f32_pre_vec", "f32", pre_relu=_QUARTER), _N - 8.0,
        _records(-0.3, [0] * 16, _SIGNED, "f32"),
    ),
    _new(
        "PK-13", 32, 0xE72BB963, _one("deqs16_vec", "i16", "i32"), 1000 * (_N - 8),
        _records(0.5, list(range(16)), _SIGNED, "i16"),
    ),
    _new(
        "PK-13b", 16, 0x22855697, _one("qf162b8_pre_vec", "i8"), 9.0 * (_N - 8),
        _records(0.5, [0] * 16, _SIGNED, "i8"),
    ),
)  # fmt: skip
"""spec/examples_v2.md, section 7."""

_FOUR = (1.0, 2.5, -3.0, 4.0)

LEGAL: tuple[Example, ...] = (
    _issued("legal: no_convert with an fb pointer", _FOUR, (
        (_row(4, "f32", pre_quant=PreQuant("no_convert", FbPtr("f32", 0x20))), 0,
         [_f32(x) for x in _FOUR]),
    )),
    _issued("legal: alphas in segment 0", (1.0, 2.5), (
        (_row(2, "f32", pre_relu=PreRelu("vector_relu", FbPtr("f32", 0x40))), 0,
         [_f32(1.0), _f32(2.5)]),
    )),
    _issued("legal: i32 to ui32", (7, -1), ((_row(2, "ui32", "i32"), 0, (7, 0xFFFFFFFF)),)),
    _issued("legal: atomic clause with CTRL 7", (1.0,), (
        (_row(1, "f32", atomic=Atomic("f32", "add")), 7 << 6, (_f32(3.0),)),
    ), (_f32(2.0),)),
)  # fmt: skip
"""Legal rows of spec/examples_v2.md, section 8, with values that need no arithmetic."""


def _by_ctrl() -> Example:
    """AS-E6: the example of the seed document without its atomic clause."""
    seed = _seed()
    (op,) = seed.forms["v06"]
    assert isinstance(op, MteL0cGm)
    program = (SetCtrl(_F16_ADD), replace(op, atomic=None), SetCtrl(0))
    return replace(seed, name="AS-E6", forms={"ctrl": program})


FIX_EXAMPLES: tuple[Example, ...] = (
    _seed(),
    _by_ctrl(),
    *LAYOUTS,
    *(moved for example in LAYOUTS[:4] for moved in _elsewhere(example)),
    *CONVERSIONS,
    *FORMATS,
    *NEW_CONVERSIONS,
    _E4M3,
    *CTRL_EXAMPLES,
    *IMAGES,
    *KNOB_EXAMPLES,
    *LEGAL,
)
"""Every worked value of the write-backs."""


def _channels(n: int, quant: int | None = None, relu: int | None = None) -> MteL0cGm:
    """Returns an op with parameters per channel at these pointers."""
    parts: dict[str, Any] = {}
    if quant is not None:
        parts["pre_quant"] = PreQuant("qf322f32_pre_vec", FbPtr("f32", quant))
    if relu is not None:
        parts["pre_relu"] = PreRelu("vector_relu", FbPtr("f32", relu))
    op = _row(n, "f32", **parts)
    return replace(op, dst_stride=32)


FIX_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    RuleExample("l0c_gm DS 0", MteL0cGm(0, 0, 16, 16, 16, 0), 14),
    RuleExample("l0c_gm n 32, src_stride 20", MteL0cGm(0, 0, 16, 32, 20, 32), 15),
    RuleExample(
        "l0c_l1 f16, DS 24",
        MteL0cL1(
            0, 0, 16, 16, 16, 24, pre_quant=PreQuant("f32_f16", Scalar("f32", 0)),
            dst_type=Ptr("f16", "l1"),
        ),
        17,
    ),
    RuleExample(
        "l0c_gm nz2nz n 24", MteL0cGm(0, 0, 16, 24, 16, 256, layout="nz2nz", split=0), 19
    ),
    RuleExample(
        "l0c_gm check_only, K 2", MteL0cGm(0, 0, 8, 16, 16, 8, layout="nz2dn", k=2, unit_flag=2), 20
    ),
    RuleExample("l0c_ub split_m m 7", MteL0cUb(0, 0, 7, 32, 16, 32, ub_split="split_m"), 21),
    RuleExample(
        "l0c_gm fb pointer 64",
        MteL0cGm(
            0, 0, 16, 16, 16, 16, pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f32", 64)),
            dst_type=Ptr("f16", "gm"),
        ),
        22,
    ),
    RuleExample("l0c_gm fb pointer 0x10000", _channels(1, quant=0x10000), 22),
    RuleExample("l0c_gm fb pointer 0xF80, n 17", _channels(17, quant=0xF80), 22),
    RuleExample("l0c_gm vector_relu pointer 0x20000", _channels(1, relu=0x20000), 22),
    RuleExample("l0c_gm vector_relu pointer 0x10020", _channels(1, relu=0x10020), 22),
    RuleExample("l0c_gm CTRL type 1, op 3", _row(1, "f32"), 26, 1 << 6 | 3 << 9),
    RuleExample("l0c_gm CTRL type 7", _row(1, "f32"), 26, 7 << 6),
    RuleExample("l0c_gm CTRL type 7, n 0", _row(0, "f32"), 26, 7 << 6),
)  # fmt: skip
"""Rows about write-backs of section 7 of spec/examples.md and section 8 of spec/examples_v2.md."""
