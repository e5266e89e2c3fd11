# SPDX-License-Identifier: Apache-2.0
"""Worked values of the FIXPIPE write-back (spec/fixpipe.md, section 11; spec/examples.md, 6, 7).

Each row of the conversion tables is an op of one row, its values side by side: with parameters
per channel, and as a scalar too if all channels have the same value.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequences.examples.example import Data, Example, Image, Op, RuleExample
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
    name: str, forms: Mapping[str, tuple[Op, ...]], fills: tuple[Data, ...], expected: bytes
) -> Example:
    crc = zlib.crc32(expected)
    return Example(name, forms, fills, Space.GM, len(expected), crc)


def record(scale: float, offset: int = 0, signed: bool = True) -> int:
    """Returns the 64-bit record of a channel (spec/fixpipe.md, section 5)."""
    return _f32(scale) | (offset & 0x1FF) << 37 | int(signed) << 46


Worked = tuple[Number, float, int, Number]
"""Accumulator, scale, offset, result."""


def _conversion(
    name: str,
    mode: str,
    dtype: str,
    rows: Sequence[Worked],
    sat: str = "",
    relu: PreRelu | None = None,
) -> Example:
    """Returns an example of one op: the values of ``rows`` side by side in GM."""
    acc = QUANT_MODES[f"{mode}_vec"].acc or "f32"
    bits = _BITS.get(dtype, 32)
    count = len(rows)
    if bits == 4 and count % 2:
        rows, count = [*rows, rows[-1]], count + 1
    types = {"src_type": Ptr(acc, "l0c"), "dst_type": Ptr(dtype, "gm")}
    records = [record(scale, offset, dtype != "ui8") for _, scale, offset, _ in rows]
    fills = (
        Data(Space.L0C, _accumulators([row[0] for row in rows], acc)),
        Data(Space.FB, np.array(records, dtype="<u8").tobytes()),
    )
    parts: dict[str, Any] = {"sat": sat, "pre_relu": relu, **types}
    quant = PreQuant(f"{mode}_vec", FbPtr("f32", 0))
    forms: dict[str, tuple[Op, ...]] = {
        "vector": (MteL0cGm(0, 0, 1, count, 16, count, pre_quant=quant, **parts),)
    }
    if len({row[1] for row in rows}) == 1 and not any(row[2] for row in rows):
        quant = PreQuant(f"{mode}_scalar", Scalar("f32", _f32(rows[0][1])))
        forms["scalar"] = (MteL0cGm(0, 0, 1, count, 16, count, pre_quant=quant, **parts),)
    return _image(name, forms, fills, _pack([int(row[3]) for row in rows], bits))


_RELU = PreRelu("normal_relu")
_QUARTER = PreRelu("scalar_relu", Scalar("f32", _f32(0.25)))
_PI = 3.14159265

CONVERSIONS: tuple[Example, ...] = (
    _conversion("FX-V qf322b8 signed", "qf322b8_pre", "i8", (
        (5.0, 0.5, 0, 2), (7.0, 0.5, 0, 4), (-5.0, 0.5, 3, 1), (5.0, 0.5, 3, 5),
        (1000.0, 1.0, -200, 55), (-1000.0, 1.0, 200, -56), (100.0, 0.1, -7, 3), (NAN, 1.0, 5, 5),
        (INF, 1.0, 0, 127), (2.5, 1.0, 1, 3), (3.5, 1.0, 1, 5),
    )),
    _conversion("FX-V qf322b8 unsigned", "qf322b8_pre", "ui8", (
        (300.0, 1.0, 100, 255), (-3.0, 1.0, 128, 125),
    )),
    _conversion("FX-V qf322b8 normal_relu", "qf322b8_pre", "i8", ((-5.0, 0.5, 3, 3),), relu=_RELU),
    _conversion(
        "FX-V qf322b8 scalar_relu", "qf322b8_pre", "i8", ((-50.0, 0.5, 3, -3),), relu=_QUARTER
    ),
    _conversion("FX-V qf322s4", "qf322s4_pre", "i4", (
        (3.5, 1.0, 0, 4), (4.5, 1.0, 0, 4), (100.0, 1.0, 0, 7), (-300.0, 1.0, 255, -1),
        (6.4, 1.0, 2, 7),
    )),
    _conversion("FX-V qf322s4 without offset", "qf322s4_pre", "i4", (
        (3.5, 1.0, 0, 4), (4.5, 1.0, 0, 4), (100.0, 1.0, 0, 7),
    )),
    _conversion("FX-V qf162b8", "qf162b8_pre", "i8", (
        (2049.0, 1 / 16, 0, 127), (1e6, 1 / 1024, 0, 64),
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
        (7, 0.5, 0, 4), (5, 0.5, 0, 2),
    )),
    _conversion("FX-V deqs32", "deqs32_int", "i32", (
        (16777217, 1.0, 0, 16777216), (2147483647, 2.0, 0, 2147483647),
        (-(2**31), 1.0, -1, -(2**31)), (1001, 0.5, 7, 507),
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
    return _image(name, {"v06": tuple(ops)}, fills, bytes(expected))


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
        (-1e6, (0xFE, 0xFE, 0xFF)), (2.0**-9, 0x01), (2.0**-10, 0x00), (1.5 * 2.0**-10, 0x01),
        (-0.0, 0x80), (0.3, 0x2A), (17.0, 0x58), (19.0, 0x5A),
    )),
    _to("FX-T hif8", "qf322hif8_pre_scalar", "hif8", [(x, half) for x, half, _ in _HIF8]),
    _to("FX-T hif8 hybrid", "qf322hif8_pre_hybrid_scalar", "hif8", [(x, y) for x, _, y in _HIF8]),
)  # fmt: skip
"""Second table of section 11: a value per column, a saturation mode per row."""


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
    return Example(name, {"v06": (op,)}, (fill,), Space.GM, length, crc, backgrounds)


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


FIX_EXAMPLES: tuple[Example, ...] = (
    _seed(),
    *LAYOUTS,
    *(moved for example in LAYOUTS[:4] for moved in _elsewhere(example)),
    *CONVERSIONS,
    *FORMATS,
)
"""Every worked value of the write-backs."""

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
)  # fmt: skip
"""Rows of section 7 of spec/examples.md about write-backs."""
