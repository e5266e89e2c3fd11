# SPDX-License-Identifier: Apache-2.0
"""Every worked value of spec/fixpipe.md, and the write-backs of spec/examples.md."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.fixpipe_atomic import combine
from scoreboards.model.fixpipe_float import (
    BF16,
    E4M3,
    F16,
    Saturation,
    from_i32,
    to_float,
    to_hif8,
)
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
from tb.isa.spaces import Space
from tb.isa.status import Status

ONE = 0x3F800000


def memory(background: int = 0x55) -> tuple[GoldenMemory, ReferenceModel]:
    golden = GoldenMemory(lambda _space, _start, length: bytes([background]) * length)
    return golden, ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )


def bits(value: float) -> int:
    return int(np.array(value, dtype=np.float32).view(np.uint32))


def record(scale: float, offset: int, signed: bool, target: str = "i8") -> int:
    """Returns a record of section 5, without bits that the destination ignores."""
    width = {"i4": 5, "si4": 5, "i16": 17, "si16": 17}.get(target, 9)
    sign = int(signed and target in ("i8", "si8", "ui8")) << 46
    return sign | (offset & (1 << width) - 1) << 37 | bits(scale)


def one(
    accumulator: float,
    mode: str,
    target: str,
    scale: float = 1.0,
    offset: int | None = None,
    signed: bool = True,
    relu: PreRelu | None = None,
    sat: str = "",
) -> int:
    """Writes one accumulator back to GM; with an offset the scale comes from a record."""
    golden, model = memory()
    integer = mode in ("deqs32_int", "req8", "req4", "deqf16", "deqs16", "qf162s16_pre",
                       "qs322bf16_pre")  # fmt: skip
    if integer:
        golden[Space.L0C][:4].view("<i4")[0] = int(accumulator)
    else:
        golden[Space.L0C][:4].view("<f4")[0] = accumulator
    if offset is None:
        quant = PreQuant(f"{mode}_scalar", Scalar("f32", bits(scale)))
    else:
        golden[Space.FB][:8].view("<u8")[0] = record(scale, offset, signed, target)
        quant = PreQuant(f"{mode}_vec", FbPtr("f32", 0))
    # 4-bit rows have two elements; the second one comes from the next accumulator.
    n = 2 if target in ("i4", "si4") else 1
    op = MteL0cGm(
        0, 0, 1, n, 1, 2, pre_quant=quant, pre_relu=relu, sat=sat,
        src_type=Ptr("i32" if integer else "f32", "l0c"), dst_type=Ptr(target, "gm"),
    )  # fmt: skip
    outcome = model.execute(op)
    assert outcome.status is Status.OK
    size = max(1, outcome.bytes_written)
    return int.from_bytes(golden[Space.GM][:size].tobytes(), "little") & (0xF if n == 2 else -1)


def integers(
    accumulators: list[float], expected: list[int], mode: str, target: str, scale: float,
    offset: int | None = None, signed: bool = True, relu: PreRelu | None = None,
) -> None:  # fmt: skip
    width = {"4": 4, "8": 8, "16": 16, "32": 32}[target.lstrip("siu")]
    for accumulator, want in zip(accumulators, expected, strict=True):
        found = one(accumulator, mode, target, scale, offset, signed, relu)
        assert found == want & (1 << width) - 1, f"{mode} of {accumulator}"


ALPHA = PreRelu("scalar_relu", Scalar("f32", bits(0.25)))

INTEGERS = [
    ("qf322b8_pre", "i8", [5.0, 7.0], [2, 4], 0.5, 0, True),
    ("qf322b8_pre", "i8", [-5.0, 5.0], [1, 5], 0.5, 3, True),
    ("qf322b8_pre", "i8", [1000], [55], 1.0, -200, True),
    ("qf322b8_pre", "i8", [-1000], [-56], 1.0, 200, True),
    ("qf322b8_pre", "i8", [300], [255], 1.0, 100, False),
    ("qf322b8_pre", "i8", [-3], [125], 1.0, 128, False),
    ("qf322b8_pre", "i8", [100], [3], 0.1, -7, True),
    ("qf322b8_pre", "i8", [np.nan], [0], 1.0, 5, True),
    ("qf322b8_pre", "i8", [np.inf], [127], 1.0, 0, True),
    ("qf322b8_pre", "i8", [np.inf], [127], 1.0, -200, True),
    ("qf322b8_pre", "ui8", [-np.inf], [0], 1.0, 200, False),
    ("qf322b8_pre", "i8", [3e38], [55], 2.0, -200, True),
    ("qf322b8_pre", "i8", [2.5, 3.5], [3, 5], 1.0, 1, True),
    ("qf322s4_pre", "i4", [3.5, 4.5, 100], [4, 4, 7], 1.0, 0, True),
    ("qf322s4_pre", "si4", [-300], [-1], 1.0, 15, True),
    ("qf322s4_pre", "i4", [100], [-1], 1.0, -16, True),
    ("qf322s4_pre", "i4", [-300], [-8], 1.0, 255, True),
    ("qf322s4_pre", "i4", [np.nan], [0], 1.0, 3, True),
    ("qf322s4_pre", "i4", [np.inf], [7], 1.0, -16, True),
    ("qf322s4_pre", "si4", [6.4], [7], 1.0, 2, True),
    ("qf162b8_pre", "si8", [2049], [127], 1 / 16, 0, True),
    ("qf162b8_pre", "si8", [1e6], [64], 1 / 1024, 0, True),
    ("qf162b8_pre", "i8", [np.nan], [5], 1.0, 5, True),
    ("qf162b8_pre", "i8", [np.inf], [69], 1 / 1024, 5, True),
    ("req8", "si8", [1000], [100], 0.1, 0, True),
    ("req8", "i8", [-1000], [-90], 0.1, 10, True),
    ("req8", "ui8", [513, -513], [128, 0], 0.25, 0, False),
    ("deqs16", "i16", [100000], [25005], 0.25, 5, True),
    ("deqs16", "si16", [1e6, 7, 5], [32767, 4, 2], 0.5, 0, True),
    ("deqs16", "i16", [-1e6], [-32768], 0.5, -3, True),
    ("deqs16", "i16", [1e6], [25535], 0.5, -40000, True),
    ("deqs16", "i16", [-1e6], [-1], 0.5, 65535, True),
    ("deqs16", "i16", [100000], [-32768], 0.25, -65536, True),
    ("deqs32_int", "i32", [16777217], [16777216], 1.0, 0, True),
    ("deqs32_int", "si32", [2147483647], [2147483647], 2.0, 0, True),
    ("deqs32_int", "i32", [-(2**31)], [-(2**31)], 1.0, -1, True),
    ("deqs32_int", "i32", [1001], [507], 0.5, 7, True),
    ("qf162s16_pre", "i16", [2049], [2048], 1.0, 0, True),
    ("qf162s16_pre", "i16", [70000], [32752], 0.5, 0, True),
    ("qf162s16_pre", "i16", [-2051], [-4103], 2.0, 1, True),
]


@pytest.mark.parametrize(("mode", "target", "accs", "want", "scale", "offset", "signed"), INTEGERS)
def test_integer_rows_of_the_conversions(
    mode: str, target: str, accs: list[float], want: list[int], scale: float, offset: int,
    signed: bool,
) -> None:  # fmt: skip
    integers(accs, want, mode, target, scale, offset, signed)


def test_scalar_forms_have_no_offset_and_the_sign_of_the_type() -> None:
    integers([5.0, 7.0], [2, 4], "qf322b8_pre", "i8", 0.5)
    integers([-3.0, 300.0], [0, 255], "qf322b8_pre", "ui8", 1.0)
    integers([-300.0, 300.0], [-128, 127], "qf322b8_pre", "si8", 1.0)
    integers([513, -513], [128, 0], "req8", "ui8", 0.25)


def test_relu_rows_of_the_conversions() -> None:
    integers([-5.0], [3], "qf322b8_pre", "i8", 0.5, 3, relu=PreRelu("normal_relu"))
    integers([-50.0], [-3], "qf322b8_pre", "i8", 0.5, 3, relu=ALPHA)


FLOATS = [
    ("deqf16", "f16", 1000, 0.5, 0x5FD0),
    ("deqf16", "f16", -7, 0.1, 0xB999),
    ("deqf16", "f16", 200000, 1.0, 0x7BFF),
    ("deqf16", "f16", 16777217, 1 / 256, 0x7BFF),
    ("qs322bf16_pre", "bf16", 1000, 0.1, 0x42C8),
    ("qs322bf16_pre", "bf16", 16777217, 1.0, 0x4B80),
    ("qs322bf16_pre", "bf16", -7, 0.5, 0xC060),
    ("qf322f32_pre", "f32", 3.0, 0.1, 0x3E999000),
    ("qf322f16_pre", "f16", 3.14159265, 0.1, 0x3506),
    ("qf322bf16_pre", "bf16", 3.14159265, 0.1, 0x3EA1),
    ("qf322fp8_pre", "f8E4M3FN", 3.14159265, 0.1, 0x2A),
    ("qf322hif8_pre", "hif8", 3.14159265, 0.1, 0x32),
    ("qf322hif8_pre_hybrid", "hif8", 3.14159265, 0.1, 0x32),
]


@pytest.mark.parametrize(("mode", "target", "acc", "scale", "code"), FLOATS)
def test_float_rows_of_the_conversions(
    mode: str, target: str, acc: float, scale: float, code: int
) -> None:
    assert one(acc, mode, target, scale) == code
    assert one(acc, mode, target, scale, offset=77) == code  # offsets are for integers


def test_nosat_overflows_to_inf() -> None:
    assert one(200000, "deqf16", "f16", sat="nosat") == 0x7C00
    assert one(200000, "deqf16", "f16", sat="preserve_nan") == 0x7BFF


def test_i32_accumulators_become_f32_by_nearest_even() -> None:
    values = np.array([16777217, -16777219, 123456789, 2147483647], dtype=np.int32)
    found = from_i32(values.view(np.uint32)).view(np.uint32)
    assert [f"{x:08X}" for x in found.tolist()] == ["4B800000", "CB800002", "4CEB79A3", "4F000000"]


TO = [
    ("f16", 65519.996, 0x7BFF, None, None),
    ("f16", 65520.0, 0x7BFF, 0x7BFF, 0x7C00),
    ("f16", np.nan, 0x0000, 0x7E00, 0x7E00),
    ("f16", 2.0**-25, 0x0000, None, None),
    ("f16", 1.00146484375, 0x3C02, None, None),
    ("bf16", 3.4e38, 0x7F7F, 0x7F7F, 0x7F80),
    ("bf16", 1.00390625, 0x3F80, None, None),
    ("bf16", 1.01171875, 0x3F82, None, None),
    ("bf16", np.nan, 0x0000, 0x7FC0, 0x7FC0),
    ("f8E4M3FN", 1.0, 0x38, None, None),
    ("f8E4M3FN", 448.0, 0x7E, None, None),
    ("f8E4M3FN", 464.0, 0x7E, None, None),
    ("f8E4M3FN", 464.1, 0x7E, 0x7E, 0x7F),
    ("f8E4M3FN", -1e6, 0xFE, 0xFE, 0x7F),
    ("f8E4M3FN", np.inf, 0x7E, 0x7E, 0x7F),
    ("f8E4M3FN", np.nan, 0x00, 0x7F, 0x7F),
    ("f8E4M3FN", 2.0**-9, 0x01, None, None),
    ("f8E4M3FN", 2.0**-10, 0x00, None, None),
    ("f8E4M3FN", 1.5 * 2.0**-10, 0x01, None, None),
    ("f8E4M3FN", -0.0, 0x80, None, None),
    ("f8E4M3FN", 0.3, 0x2A, None, None),
    ("f8E4M3FN", 17.0, 0x58, None, None),
    ("f8E4M3FN", 19.0, 0x5A, None, None),
    ("hif8", 40959.0, 0x6E, None, None),
    ("hif8", 40960.0, 0x6E, 0x6E, 0x6F),
    ("hif8", -np.inf, 0xEE, 0xEE, 0xEF),
    ("hif8", np.nan, 0x00, 0x80, 0x80),
]


@pytest.mark.parametrize(("form", "value", "sat", "preserve", "nosat"), TO)
def test_to_table(
    form: str, value: float, sat: int, preserve: int | None, nosat: int | None
) -> None:
    number = np.array([value], dtype=np.float32)
    wanted = {Saturation.SAT: sat, Saturation.PRESERVE_NAN: preserve, Saturation.NOSAT: nosat}
    for mode, code in wanted.items():
        if form == "hif8":
            found, _ = to_hif8(number, mode)
        else:
            found, _ = to_float(number, {"f16": F16, "bf16": BF16, "f8E4M3FN": E4M3}[form], mode)
        assert int(found[0]) == (sat if code is None else code)


@pytest.mark.parametrize(
    ("value", "away", "hybrid"),
    [
        (1.0, 0x08, 0x08), (3.14159, 0x15, 0x15), (-100.0, 0xCA, 0xCB), (0.1, 0x52, 0x53),
        (17.0, 0x40, 0x41), (20.0, 0x41, 0x41), (300.0, 0x60, 0x61), (2.0**-22, 0x01, 0x01),
        (2.0**-23, 0x01, 0x01), (2.0**-24, 0x00, 0x00), (0.001, 0x74, 0x74), (1000.7, 0x64, 0x64),
        (-0.0, 0x00, 0x00), (40959.0, 0x6E, 0x6E),
    ],
)  # fmt: skip
def test_hif8_row_of_the_to_table(value: float, away: int, hybrid: int) -> None:
    number = np.array([value], dtype=np.float32)
    found = [int(to_hif8(number, Saturation.SAT, hybrid=mode)[0][0]) for mode in (False, True)]
    assert found == [away, hybrid]


# --- payloads (section 5) ---


@pytest.mark.parametrize(
    ("word", "used"),
    [(0x3F800000, 0x3F800000), (0x3F801FFF, 0x3F800000), (0x3DCCCCCD, 0x3DCCC000),
     (0x40490FDB, 0x40490000), (0x3E99999A, 0x3E998000)],
)  # fmt: skip
def test_scales_lose_their_low_13_bits(word: int, used: int) -> None:
    scale = float(np.array([word], dtype=np.uint32).view(np.float32)[0])
    assert one(1.0, "qf322f32_pre", "f32", scale) == used
    assert one(1.0, "qf322f32_pre", "f32", scale, offset=0) == used
    assert one(-1.0, "qf322f32_pre", "f32", relu=PreRelu("scalar_relu", Scalar("f32", word))) == (
        used | 0x80000000
    )


@pytest.mark.parametrize(
    ("scale", "offset", "target", "word"),
    [(0.5, 3, "i8", 0x0000_4060_3F00_0000), (0.1, -7, "i8", 0x0000_7F20_3DCC_CCCD),
     (2.0, 128, "ui8", 0x0000_1000_4000_0000), (1.0, 15, "i4", 0x0000_01E0_3F80_0000),
     (1.0, -16, "i4", 0x0000_0200_3F80_0000), (0.5, -40000, "i16", 0x002C_7800_3F00_0000),
     (0.25, 5, "i16", 0x0000_00A0_3E80_0000)],
)  # fmt: skip
def test_records_of_the_spec(scale: float, offset: int, target: str, word: int) -> None:
    assert record(scale, offset, target != "ui8", target) == word


@pytest.mark.parametrize(("dtype", "number"), [("f16", 0x3800), ("bf16", 0x3F00), ("f16", 0x0001)])
def test_narrow_scalars_widen_exactly(dtype: str, number: int) -> None:
    golden, model = memory()
    golden[Space.L0C][:4].view("<f4")[0] = 2.0**24
    quant = PreQuant("qf322f32_pre_scalar", Scalar(dtype, number))
    model.execute(MteL0cGm(0, 0, 1, 1, 1, 1, pre_quant=quant))
    expected = 2.0**23 if number != 1 else 1.0
    assert golden[Space.GM][:4].view("<f4")[0] == expected


def test_ignored_bits_of_a_record_and_of_an_alpha_are_ignored() -> None:
    for noise in (0, 0x8000_0000_0000_0000, 0xFFFF_801F_0000_1FFF):
        golden, model = memory()
        golden[Space.L0C][:4].view("<f4")[0] = -8.0
        golden[Space.FB][:8].view("<u8")[0] = record(0.5, 3, True) | noise
        golden[Space.FB][64:68].view("<u4")[0] = 0x3F000000 | noise & 0x1FFF
        op = MteL0cGm(
            0, 0, 1, 1, 1, 1, pre_quant=PreQuant("qf322b8_pre_vec", FbPtr("bf16", 0)),
            pre_relu=PreRelu("vector_relu", FbPtr("f16", 64)), dst_type=Ptr("i8", "gm"),
        )  # fmt: skip
        model.execute(op)
        assert golden[Space.GM][:1].view("i1")[0] == -2 + 3


# --- layouts ---

Fill = Callable[[int, int], float]


def tile(golden: GoldenMemory, op: FixOp, fill: Fill = lambda m, n: 100 * m + n) -> None:
    accumulators = golden[Space.L0C].view("<f4")
    for m in range(op.m):
        for n in range(op.n):
            word = n // 16 * op.src_stride + m * (op.k or 1)
            accumulators[word * 16 + n % 16] = fill(m, n)


E1 = MteL0cGm(0, 0, 18, 40, 32, 48, layout="nz2nd")
LAYOUTS = {
    "FX-E1": (E1, 3456, 0xE68AB8DA, 0xD5C),
    "FX-E1 omitted": (replace(E1, layout=""), 3456, 0xE68AB8DA, 0xD5C),
    "FX-E2": (MteL0cGm(0, 0, 18, 40, 32, 24, layout="nz2dn", k=1), 3840, 0x4545339C, 0xEE4),
    "FX-E3": (MteL0cGm(0, 0, 18, 32, 32, 320, layout="nz2nz", split=0), 2560, 0xEA66D9FB, 0x97C),
    "FX-E3 omitted": (MteL0cGm(0, 0, 18, 32, 32, 320, layout="nz2nz"), 2560, 0xEA66D9FB, 0x97C),
    "FX-E4": (MteL0cGm(0, 0, 18, 32, 32, 160, layout="nz2nz", split=1), 2560, 0xD88630E0, 0x9BC),
    "FX-E5": (MteL0cGm(0, 0, 8, 16, 16, 8, layout="nz2dn", k=2), 512, 0xCBFB1EBB, 0x1FC),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_has_the_crc_of_the_spec(name: str) -> None:
    op, size, crc, last = LAYOUTS[name]
    golden, model = memory()
    tile(golden, op)
    model.execute(op)
    image = golden[Space.GM][:size]
    assert zlib.crc32(image.tobytes()) == crc
    assert image[last : last + 4].view("<f4")[0] == 100 * (op.m - 1) + op.n - 1


def test_loop3_has_the_crc_of_the_spec() -> None:
    golden, model = memory()
    golden[Space.L0C].view("<f4")[:] = np.arange(65536)
    model.execute(MteL0cGm(0, 0, 4, 16, 16, 20, layout="nz2nd", loop3=Loop3(2, 16, 80)))
    image = golden[Space.GM][:640]
    assert zlib.crc32(image.tobytes()) == 0x6F667AA9
    elements = image.view("<f4")
    assert (elements[80], elements[80 + 3 * 20 + 15]) == (256, 319)


def test_4_bit_rows_have_the_crc_of_the_spec() -> None:
    golden, model = memory()
    quant = PreQuant("qf322s4_pre_scalar", Scalar("f32", ONE))
    op = MteL0cGm(0, 0, 2, 16, 16, 32, pre_quant=quant, dst_type=Ptr("si4", "gm"), layout="nz2nd")
    tile(golden, op, lambda m, n: ((n + 3 * m) % 16) - 8)
    model.execute(op)
    assert golden[Space.GM][:8].tobytes() == bytes.fromhex("98BADCFE10325476")
    assert zlib.crc32(golden[Space.GM][:32].tobytes()) == 0x88673715


@pytest.mark.parametrize(
    ("split", "stride", "crcs"),
    [("split_m", 32, (0x9E06A9D1, 0xA91F88DD)), ("split_n", 16, (0x03FEBDBC, 0x42E921E8))],
)
def test_split_has_the_crcs_of_the_spec(split: str, stride: int, crcs: tuple[int, int]) -> None:
    golden, model = memory()
    op = MteL0cUb(0, 0, 8, 32, 16, stride, ub_split=split)
    tile(golden, op)
    outcome = model.execute(op)
    images = [golden[space][:512] for space in (Space.UB0, Space.UB1)]
    assert tuple(zlib.crc32(image.tobytes()) for image in images) == crcs
    first: NDArray[np.float32] = images[1].view("<f4")
    assert first[0] == (400 if split == "split_m" else 16)
    assert [region.space for region in outcome.regions] == [Space.UB0, Space.UB1]
    assert outcome.bytes_written == 1024


# --- atomics ---

ATOMICS = [
    ("f16", 0x7BFF, 0x7BFF, 0x7C00), ("f16", 0x3C00, 0x1000, 0x3C00),
    ("f16", 0x3C00, 0x1001, 0x3C01), ("f16", 0x8000, 0x0000, 0x0000),
    ("f16", 0x8000, 0x8000, 0x8000), ("f16", 0x7C00, 0xFC00, 0x7E00),
    ("bf16", 0x3F80, 0x3B80, 0x3F80), ("bf16", 0x3F81, 0x3B80, 0x3F82),
    ("bf16", 0x7F7F, 0x7F7F, 0x7F80),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "one", "two", "total"), ATOMICS)
def test_atomic_examples(kind: str, one: int, two: int, total: int) -> None:
    for old, new in ((one, two), (two, one)):
        found, _ = combine(
            kind, "add", np.array([old], dtype=np.uint16), np.array([new], dtype=np.uint16)
        )
        assert int(found[0]) == total


def test_seed_example_has_the_crc_of_the_spec() -> None:
    golden, model = memory()
    op = MteL0cGm(
        0, 0, 16, 32, 16, 32, pre_quant=PreQuant("qf322f16_pre_scalar", Scalar("f32", ONE)),
        layout="nz2nd", atomic=Atomic("f16", "add"), dst_type=Ptr("f16", "gm"),
    )  # fmt: skip
    tile(golden, op, lambda m, n: m - 0.25 * n)
    golden.ensure(Space.GM, 0, 1024)
    halves = golden[Space.GM][:1024].view("<f2")
    halves[:] = (np.arange(512) % 7) * 0.5
    outcome = model.execute(op)
    for (m, n), result in {(0, 0): 0.0, (0, 31): -6.25, (15, 0): 17.0, (15, 31): 7.25,
                           (7, 16): 4.0}.items():  # fmt: skip
        assert halves[m * 32 + n] == result
    assert zlib.crc32(golden[Space.GM][:1024].tobytes()) == 0xD6863E31
    assert [region.space for region in outcome.reads] == [Space.L0C, Space.GM]


# --- rules ---

RULES: dict[str, FixOp] = {
    "FIX-L14": MteL0cGm(0, 0, 4, 16, 16, 0),
    "FIX-L15": MteL0cGm(0, 0, 4, 32, 20, 32),
    "FIX-L17": MteL0cL1(
        0, 0, 4, 16, 16, 24, pre_quant=PreQuant("f32_f16", Scalar("f32", 0)),
        dst_type=Ptr("f16", "l1"),
    ),
    "FIX-L19": MteL0cGm(0, 0, 4, 24, 16, 64, layout="nz2nz"),
    "FIX-L20": MteL0cGm(0, 0, 4, 16, 16, 16, layout="nz2dn", k=2, unit_flag=2),
    "FIX-L21": MteL0cUb(0, 0, 7, 16, 16, 16, ub_split="split_m"),
    "FIX-L22": MteL0cGm(
        0, 0, 4, 16, 16, 16, pre_quant=PreQuant("qf322f32_pre_vec", FbPtr("f32", 64))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rule_rows_of_the_examples(name: str) -> None:
    golden, model = memory()
    golden.ensure(Space.GM, 0, 8192)
    outcome = model.execute(RULES[name])
    assert (outcome.status, outcome.rule) == (Status.RULE, int(name[-2:]))
    assert outcome.regions == ()
    assert outcome.reads == ()
    assert not golden.written_pages()
    for space, image in golden.items():
        assert bool(np.all(image[: 1 << 12] == 0x55)), space
