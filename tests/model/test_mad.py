# SPDX-License-Identifier: Apache-2.0
"""Products against docs/spec/l0_loads.md, section 6: worked rows, and exact sums of fractions."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model import mad as model
from scoreboards.model.mad import product, tf32
from tb.isa.dtypes import Ptr
from tb.isa.mad import Mad, accumulators, flag_blocks, problems
from tb.isa.spaces import SIZES, Space, segment_base
from tests.model.naive_fix import f32, hif8_values, power

BITS = {"i8": 8, "f16": 16, "bf16": 16, "f32": 32, "f8E4M3FN": 8, "f8E5M2": 8, "hif8": 8,
        "f4E2M1x2": 4, "f4E1M2x2": 4}  # fmt: skip
FP8, FP4 = ("f8E4M3FN", "f8E5M2"), ("f4E2M1x2", "f4E1M2x2")
FLOATS = ("f16", "bf16", "f32", "hif8")

PLAIN = [("i8", "i8"), *((x, x) for x in FLOATS), *((x, y) for x in FP8 for y in FP8)]
SCALED = [*((x, y) for x in FP8 for y in FP8), *((x, y) for x in FP4 for y in FP4)]
LEGAL = [*((*pair, False) for pair in PLAIN), *((*pair, True) for pair in SCALED)]
"""Element types of the factors, and whether they are scaled."""

F32_INF, F32_NAN, F32_MAX = 0x7F800000, 0x7FC00000, 0x7F7FFFFF
MINUS = 0x80000000
NOSAT, TF32, AWAY = 1 << 48, 1 << 46, 1 << 47
"""Bits of CTRL."""


# --- memories by the formulas ---------------------------------------------------------------------


def nz(row: int, column: int, rows: int, bits: int) -> int:
    """Returns the half-byte address of an element in a tile of so many rows (section 1)."""
    c0 = 256 // bits
    fractal = column // c0 * -(-rows // 16) + row // 16
    return 2 * (fractal * 512 + row % 16 * 32) + column % c0 * bits // 4


def place_of(op: Mad, row: int, column: int) -> int:
    """Returns the byte address of an element of C."""
    rows = 16 * -(-op.m // 16)
    return op.dst + 4 * ((column // 16 * rows + row) * 16 + column % 16)


@dataclass
class Tile:
    """Memories of a product.

    Attributes:
        op: The product.
        golden: Its memories: noise where a test writes nothing.
    """

    op: Mad
    golden: GoldenMemory

    def _store(self, memory: str, at: int, code: int, bits: int) -> None:
        """Writes an element at a half-byte address."""
        l0 = self.golden[Space.L0]
        byte = segment_base(memory) + at // 2
        if bits == 4:
            high = at % 2
            l0[byte] = (int(l0[byte]) & (0x0F if high else 0xF0)) | code << 4 * high
        else:
            size = bits // 8
            l0[byte : byte + size] = np.frombuffer(code.to_bytes(size, "little"), np.uint8)

    def left(self, row: int, column: int, code: int) -> None:
        """Writes A[row, column]."""
        bits = BITS[self.op.lhs_type.dtype]
        plain = self.op.m == 1 and not self.op.disable_gemv
        at = column * bits // 4 if plain else nz(row, column, self.op.m, bits)
        self._store("l0a", 2 * self.op.lhs + at, code, bits)

    def right(self, row: int, column: int, code: int) -> None:
        """Writes B[row, column]."""
        bits = BITS[self.op.rhs_type.dtype]
        self._store("l0b", 2 * self.op.rhs + nz(column, row, self.op.n, bits), code, bits)

    def scale(self, memory: str, base: int, row: int, group: int, code: int) -> None:
        """Writes the scale of a group of a row of A, or of a column of B (section 4)."""
        fragment = row // 16 * -(-self.op.k // 64) + group // 2
        at = base // 16 + fragment * 32 + row % 16 * 2 + group % 2
        self._store(memory, 2 * at, code, 8)

    def accumulator(self, row: int, column: int, word: int) -> None:
        """Writes C[row, column]."""
        self.golden[Space.L0C].view("<u4")[place_of(self.op, row, column) // 4] = word

    def bias(self, column: int, word: int) -> None:
        """Writes the bias of a column."""
        self.golden[Space.BT].view("<u4")[self.op.bias // 4 + column] = word

    def result(self) -> NDArray[np.uint8]:
        """Returns L0C after the product; no other memory changes."""
        before = {x: self.golden[x].copy() for x in self.golden if x is not Space.GM}
        rows = product(self.op, self.golden)
        assert rows is not None
        rows.put(self.golden[Space.L0C])
        after = {x: self.golden[x] for x in before}
        assert all(np.array_equal(after[x], before[x]) for x in before if x is not Space.L0C)
        return after[Space.L0C]


def noise(space: Space, start: int, length: int) -> NDArray[np.uint8]:
    """Bytes that show where a product reads too much."""
    return np.random.default_rng((int(space), start)).integers(0, 256, length, np.uint8)


def blank(space: Space, start: int, length: int) -> NDArray[np.uint8]:
    """The memories of the worked rows: L0C is 0, all else 0xAA."""
    return np.full(length, 0 if space is Space.L0C else 0xAA, np.uint8)


def tile(
    left: str, right: str, m: int, n: int, k: int, *,
    background: Callable[[Space, int, int], NDArray[np.uint8]] = noise, **more: Any,
) -> Tile:  # fmt: skip
    """Returns a legal product of two types, on new memories."""
    dst = "i32" if left == "i8" else "f32"
    if more.get("initial") == "bias":
        more["bias_type"] = Ptr(dst, "bt")
    places: dict[str, Any] = {"lhs": 0, "rhs": 0, "dst": 0, **more}
    types: dict[str, Any] = {
        "lhs_type": Ptr(left, "l0a"), "rhs_type": Ptr(right, "l0b"), "dst_type": Ptr(dst, "l0c"),
    }  # fmt: skip
    op = Mad(m=m, n=n, k=k, **types, **places)
    assert problems(op) == []
    return Tile(op, GoldenMemory(background))


def f32_code(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def f16_code(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


# --- worked rows ----------------------------------------------------------------------------------

Factor = Callable[[int, int], int]


@dataclass(frozen=True)
class Worked:
    """A row MD-E of docs/spec/examples_v2.md: bits of A[m][k] and B[k][n], and the image of L0C.

    Attributes:
        shape: Element type, m, n, k.
        a, b: Bits of the elements.
        length, crc: The image.
        words: Words of it by element, where the text of the row fixes them.
        more: Other operands.
    """

    shape: tuple[str, int, int, int]
    a: Factor
    b: Factor
    length: int
    crc: int
    words: Mapping[tuple[int, int], int]
    more: Mapping[str, Any]


def worked(
    shape: tuple[str, int, int, int], a: Factor, b: Factor, image: tuple[int, int],
    words: Mapping[tuple[int, int], int], **more: Any,
) -> Worked:  # fmt: skip
    return Worked(shape, a, b, *image, words, more)


def cut(m: int, k: int) -> int:
    return 0x3F800000 + 0x800 * (2 * m + k + 1)


def steep(k: int, n: int) -> int:
    return 0x3F800000 + 0x1000 * (k + n)


SPECIAL_A = ((0x7F7FFFFF, 0x7F800000), (0x7FC00000, 0x3F800000))
E5 = ("f32", 2, 2, 3)
E6 = ("f32", 2, 2, 2)

WORKED: dict[str, Worked] = {
    "MD-E1": worked(
        ("f16", 16, 16, 16),
        lambda m, k: f16_code(m - k / 4), lambda k, n: f16_code((n + k) % 5 - 2),
        (1024, 0xB28CDF35),
        {(0, 0): f32_code(sum(-k / 4 * (k % 5 - 2) for k in range(16)))},
    ),
    "MD-E2": worked(
        ("i8", 20, 18, 33),
        lambda m, k: (7 * m + 3 * k) % 256, lambda k, n: (5 * k - 11 * n) % 256,
        (4096, 0xC15C9932), {}, initial="acc",
    ),
    "MD-E3": worked(
        ("f32", 5, 20, 10),
        lambda m, k: f32_code(2.0**24 * (m + 1) if k == 0 else m + 1),
        lambda k, n: f32_code(1 + n / 8),
        # C[0][0] is 2^24 + 9, half way between two numbers: the even one.
        (2048, 0x717DC6F5), {(0, 0): f32_code(2.0**24 + 8)}, initial="bias",
    ),
    "MD-E4": worked(
        ("bf16", 1, 16, 40),
        lambda m, k: 0x3F80 + k, lambda k, n: 0x3F80 if (n + k) % 2 else 0xBF80,
        # Each pair of neighbours differs by 2^-7.
        (1024, 0xB3644A55),
        {(0, 0): f32_code(20 / 128), (0, 1): f32_code(-20 / 128)},
    ),
    "MD-E5": worked(E5, cut, steep, (1024, 0x2D64BE12), {}),
    "MD-E5b": worked(E5, cut, steep, (1024, 0x28BFFC7E), {}, tf32="round_even"),
    "MD-E5c": worked(E5, cut, steep, (1024, 0x863F53AD), {}, tf32="round_away"),
    "MD-E6": worked(
        E6, lambda m, k: SPECIAL_A[m][k], lambda k, n: f32_code(2.0 - n), (1024, 0xED781269),
        # 2 max + 2 max and max + max overflow; NaN counts as 0.
        {(0, 0): F32_MAX, (0, 1): F32_MAX, (1, 0): f32_code(2.0), (1, 1): f32_code(1.0)},
    ),
    "MD-E6b": worked(
        E6, lambda m, k: SPECIAL_A[m][k], lambda k, n: f32_code(2.0 - n), (1024, 0x1EA91604),
        {(0, 0): F32_INF, (0, 1): F32_INF, (1, 0): F32_NAN, (1, 1): F32_NAN}, sat="nosat",
    ),
}  # fmt: skip


def image_of(name: str) -> NDArray[np.uint8]:
    """Returns L0C after a worked row."""
    row = WORKED[name]
    dtype, m, n, k = row.shape
    made = tile(dtype, dtype, m, n, k, background=blank, **row.more)
    for j in range(k):
        for i in range(m):
            made.left(i, j, row.a(i, j))
        for i in range(n):
            made.right(j, i, row.b(j, i))
    if name == "MD-E2":
        words = made.golden[Space.L0C].view("<u4")
        words[:] = (2**31 - 1 - np.arange(len(words), dtype=np.int64)).astype(np.uint32)
    for i in range(n if row.more.get("initial") == "bias" else 0):
        made.bias(i, f32_code(i / 2))
    return made.result()


@pytest.mark.parametrize("name", WORKED)
def test_worked_rows(name: str) -> None:
    row, image = WORKED[name], image_of(name)
    words = image.view("<u4")
    dtype, m, n, k = row.shape
    op = tile(dtype, dtype, m, n, k, **row.more).op
    for (i, j), word in row.words.items():
        assert words[place_of(op, i, j) // 4] == word, (i, j)
    assert zlib.crc32(image[: row.length].tobytes()) == row.crc


def test_sums_of_i8_wrap_and_leave_the_other_rows_and_columns() -> None:
    """The text of MD-E2."""
    words = image_of("MD-E2").view("<u4")
    old = (2**31 - 1 - np.arange(len(words), dtype=np.int64)).astype(np.uint32)
    op = tile("i8", "i8", 20, 18, 33).op
    inside = {place_of(op, i, j) // 4: (i, j) for i in range(20) for j in range(18)}
    wrapped = 0
    for at in range(1024):
        if at not in inside:
            assert words[at] == old[at]
            continue
        i, j = inside[at]
        terms = [((7 * i + 3 * k) % 256, (5 * k - 11 * j) % 256) for k in range(33)]
        total = sum(((x ^ 128) - 128) * ((y ^ 128) - 128) for x, y in terms) + int(old[at])
        assert words[at] == total % 2**32
        wrapped += total >= 2**31
    assert wrapped, "some sums are beyond 2^31"
    assert np.array_equal(words[1024:], old[1024:])


def test_a_vector_writes_row_0_alone() -> None:
    """The text of MD-E4."""
    assert not image_of("MD-E4")[64:].any()


# --- exact sums -----------------------------------------------------------------------------------

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f8E4M3FN": (4, 3), "f8E5M2": (5, 2),
           "f4E2M1x2": (2, 1), "f4E1M2x2": (1, 2)}  # fmt: skip
"""Bits of exponent and fraction."""


@cache
def hif8_codes() -> dict[int, Fraction]:
    positive = {code: value for value, code in hif8_values().items()}
    return positive | {code | 0x80: -value for code, value in positive.items() if code}


@cache
def value_of(dtype: str, code: int) -> Fraction | None:
    """Returns the number of a code; None for one that is none."""
    if dtype == "i8":
        return Fraction((code ^ 0x80) - 0x80)
    if dtype == "hif8":
        return hif8_codes().get(code)
    exponent_bits, fraction_bits = FORMATS[dtype]
    sign, exponent = code >> (BITS[dtype] - 1), code >> fraction_bits & (1 << exponent_bits) - 1
    fraction = Fraction(code & (1 << fraction_bits) - 1, 1 << fraction_bits)
    if dtype == "f8E4M3FN":
        special = code & 0x7F == 0x7F
    else:
        special = exponent == (1 << exponent_bits) - 1 and BITS[dtype] > 4
    if special:
        return None
    bias = max((1 << exponent_bits - 1) - 1, 1)
    value = (fraction + (exponent > 0)) * power(max(exponent, 1) - bias)
    return -value if sign else value


def drawn(rng: random.Random, dtype: str) -> int:
    """Returns a code that is a number; of wide types half are near 1, half are any."""
    while True:
        code = rng.getrandbits(BITS[dtype])
        if BITS[dtype] > 8 and rng.random() < 0.7:
            fraction_bits = FORMATS[dtype][1]
            bias = (1 << FORMATS[dtype][0] - 1) - 1
            kept = code & ~(((1 << FORMATS[dtype][0]) - 1) << fraction_bits)
            code = kept | (bias + rng.randint(-6, 6)) << fraction_bits
        if value_of(dtype, code) is not None:
            return code


def small_f32(rng: random.Random) -> int:
    return drawn(rng, "f32")


def rounded(total: Fraction, *, saturate: bool = True) -> int:
    """Returns f32 bits: MD-1, and the largest number for an overflow."""
    bits = f32(total)
    return bits - 1 if saturate and bits & 0x7FFFFFFF == F32_INF else bits


def cut_to_tf32(code: int, mode: str) -> int:
    """Returns an f32 rounded to ten fraction bits, as its fraction is."""
    if not mode:
        return code
    units = Fraction(code & 0x7FFFFFFF, 1 << 13)
    whole = int(units + Fraction(1, 2)) if mode == "round_away" else round(units)
    return code & MINUS | whole << 13


def checked(
    lhs: str, rhs: str, seed: int, *, size: tuple[int, int, int] | None = None, **more: Any
) -> None:
    """Compares a product of random factors with exact sums, and that it leaves the rest."""
    rng = random.Random(f"{lhs} {rhs} {seed} {sorted(more.items(), key=str)}")
    mx = bool(more.get("mx"))
    m, n = rng.choice([(2, 3), (1, 2), (17, 1), (3, 18), (16, 16)])
    k = 64 if mx else rng.choice([1, 3, 8, 17, 33, 40])
    m, n, k = size or (m, n, k)
    places: dict[str, Any] = {
        "lhs": 512 * rng.randrange(3),
        "rhs": 1024,
        "dst": 64 * rng.randrange(20),
        "bias": 64,
    }
    made = tile(lhs, rhs, m, n, k, **places, **more)
    op = made.op
    a = {(i, j): drawn(rng, lhs) for i in range(m) for j in range(k)}
    b = {(j, i): drawn(rng, rhs) for i in range(n) for j in range(k)}
    for (i, j), code in a.items():
        made.left(i, j, code)
    for (j, i), code in b.items():
        made.right(j, i, code)
    groups = range(-(-k // 32)) if mx else range(0)
    up = {(i, g): rng.randint(100, 150) for i in range(m) for g in groups}
    down = {(i, g): rng.randint(100, 150) for i in range(n) for g in groups}
    for (i, g), code in up.items():
        made.scale("l0a_mx", op.lhs, i, g, code)
    for (i, g), code in down.items():
        made.scale("l0b_mx", op.rhs, i, g, code)

    def start(i: int, j: int) -> int:
        if not op.initial:
            return 0
        code = rng.getrandbits(32) if lhs == "i8" else small_f32(rng)
        if op.initial == "acc":
            made.accumulator(i, j, code)
            return code
        return biases[j]

    biases = [rng.getrandbits(32) if lhs == "i8" else small_f32(rng) for _ in range(n)]
    for i, code in enumerate(biases):
        made.bias(i, code)
    first = {(i, j): start(i, j) for i in range(m) for j in range(n)}
    expected = made.golden[Space.L0C].copy()
    words = expected.view("<u4")

    def number(dtype: str, code: int) -> Fraction:
        found = value_of(dtype, cut_to_tf32(code, op.rounding))
        assert found is not None
        return found

    left = {at: number(lhs, code) for at, code in a.items()}
    right = {at: number(rhs, code) for at, code in b.items()}
    for i in range(m):
        for j in range(n):
            terms = [left[i, x] * right[x, j] for x in range(k)]
            if mx:
                terms = [
                    term * power(up[i, x // 32] + down[j, x // 32] - 254)
                    for x, term in enumerate(terms)
                ]
            old = first[i, j]
            if lhs == "i8":
                words[place_of(op, i, j) // 4] = (int(sum(terms)) + old) % 2**32
                continue
            whole = value_of("f32", old)
            assert whole is not None
            words[place_of(op, i, j) // 4] = rounded(sum(terms, whole), saturate=op.saturates)
    assert np.array_equal(made.result(), expected)


@pytest.mark.long
@pytest.mark.parametrize(("lhs", "rhs", "mx"), LEGAL)
@pytest.mark.parametrize("initial", ["", "acc", "bias"])
def test_exact_sums_with_one_rounding(lhs: str, rhs: str, mx: bool, initial: str) -> None:
    for seed in range(3):
        checked(lhs, rhs, seed, mx=mx, initial=initial)


@pytest.mark.parametrize("mode", ["round_even", "round_away"])
def test_tf32_of_a_clause(mode: str) -> None:
    for seed in range(4):
        checked("f32", "f32", seed, tf32=mode)


@pytest.mark.parametrize(
    ("ctrl", "mode"), [(0, ""), (TF32, "round_even"), (TF32 | AWAY, "round_away"), (AWAY, "")]
)
def test_tf32_of_ctrl(ctrl: int, mode: str) -> None:
    op = tile("f32", "f32", 2, 2, 2, ctrl=ctrl, raw=True).op
    assert op.rounding == mode
    assert tile("f16", "f16", 2, 2, 2, ctrl=ctrl, raw=True).op.rounding == "", "of f32 alone"
    checked("f32", "f32", 9, ctrl=ctrl, raw=True)


@pytest.mark.parametrize("ctrl", [0, TF32, TF32 | AWAY])
def test_a_text_op_sets_the_bits_of_tf32_for_itself(ctrl: int) -> None:
    op = tile("f32", "f32", 2, 2, 2, ctrl=ctrl).op
    assert op.rounding == "", "CT-07: never TF32 without tf32_mode"
    assert replace(op, tf32="round_even").rounding == "round_even"
    assert replace(op, tf32="round_away").rounding == "round_away"
    checked("f32", "f32", 9, ctrl=ctrl)


@pytest.mark.parametrize(
    ("code", "even", "away"),
    [
        (0x3F801000, 0x3F800000, 0x3F802000),
        (0x3F803000, 0x3F804000, 0x3F804000),
        (0x3F800FFF, 0x3F800000, 0x3F800000),
        (0x3F801001, 0x3F802000, 0x3F802000),
        (0xBF801000, 0xBF800000, 0xBF802000),
        (0x00001000, 0x00000000, 0x00002000),
        (0x7F7FFFFF, 0x7F800000, 0x7F800000),
        (0x7F800000, 0x7F800000, 0x7F800000),
        (0xFF800000, 0xFF800000, 0xFF800000),
        (0x7F800001, 0x7F800001, 0x7F800001),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
    ],
)
def test_tf32_of_single_numbers(code: int, even: int, away: int) -> None:
    bits = np.array([code], np.uint32)
    assert int(tf32(bits, "round_even")[0]) == even
    assert int(tf32(bits, "round_away")[0]) == away


# --- single products: infinities, NaN, zeros ------------------------------------------------------


def one(a: list[int], b: list[int], dtype: str = "f32", old: int | None = None, **more: Any) -> int:
    """Returns the bits of C[0][0], a sum of the products of codes."""
    initial: dict[str, Any] = {} if old is None else {"initial": "acc"}
    made = tile(dtype, dtype, 2, 1, len(a), **initial, **more)
    for j, (x, y) in enumerate(zip(a, b, strict=True)):
        made.left(0, j, x)
        made.left(1, j, 0)
        made.right(j, 0, y)
    if old is not None:
        made.accumulator(0, 0, old)
        made.accumulator(1, 0, 0)
    return int(made.result().view("<u4")[0])


ONE, TWO, HALF = 0x3F800000, 0x40000000, 0x3F000000
ZERO, NEGATIVE_ZERO = 0, MINUS
TINY = 1
"""2^-149."""

VALUES: list[tuple[str, list[int], list[int], int | None, int, int]] = [
    ("infinity", [F32_INF, ONE], [ONE, ONE], None, F32_MAX, F32_INF),
    ("negative infinity", [F32_INF], [ONE | MINUS], None, F32_MAX | MINUS, F32_INF | MINUS),
    ("opposite infinities", [F32_INF, F32_INF | MINUS], [ONE, ONE], None, ZERO, F32_NAN),
    ("infinity times zero", [F32_INF], [ZERO], None, ZERO, F32_NAN),
    ("NaN", [0xFF812345, TWO], [ONE, ONE], None, TWO, F32_NAN),
    ("NaN of C", [TWO], [ONE], 0x7F800001, TWO, F32_NAN),
    ("infinity of C", [ONE | MINUS], [ONE], F32_INF, F32_MAX, F32_INF),
    ("overflow", [F32_MAX], [TWO], None, F32_MAX, F32_INF),
    ("negative overflow", [F32_MAX], [TWO | MINUS], None, F32_MAX | MINUS, F32_INF | MINUS),
    ("no overflow of the sum", [F32_MAX, F32_MAX], [TWO, TWO | MINUS], ONE, ONE, ONE),
    ("half of the smallest", [TINY], [HALF], None, ZERO, ZERO),
    ("three quarters of it", [TINY, TINY], [HALF, 0x3E800000], None, TINY, TINY),
    ("a subnormal", [TINY, 3], [ONE, ONE], 5, 9, 9),
    ("cancelled", [ONE, ONE | MINUS], [TWO, TWO], None, ZERO, ZERO),
    ("zeros after 0", [NEGATIVE_ZERO], [ONE], None, ZERO, ZERO),
    ("zeros after +0", [NEGATIVE_ZERO], [ONE], ZERO, ZERO, ZERO),
    ("zeros after -0", [ZERO], [ONE], NEGATIVE_ZERO, ZERO, ZERO),
    ("only -0", [NEGATIVE_ZERO, ZERO], [ONE, ONE | MINUS], MINUS, MINUS, MINUS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "old", "sat", "nosat"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES]
)
def test_special_values(a: list[int], b: list[int], old: int | None, sat: int, nosat: int) -> None:
    """``sat`` and ``nosat``, written or by CTRL[48]: a clause goes first."""
    for kept in ({"sat": "sat"}, {"ctrl": 0}, {"sat": "sat", "ctrl": NOSAT}):
        assert one(a, b, old=old, **kept) == sat
    for passed in ({"sat": "nosat"}, {"ctrl": NOSAT}, {"sat": "nosat", "ctrl": 0}):
        assert one(a, b, old=old, **passed) == nosat


@pytest.mark.parametrize(
    ("dtype", "code", "unit", "most"),
    [
        ("f16", 0x7C00, 0x3C00, 65504.0),
        ("bf16", 0x7F80, 0x3F80, 255 * 2.0**120),
        ("f8E5M2", 0x7C, 0x3C, 57344.0),
        ("hif8", 0x6F, 0x08, 32768.0),
    ],
)
def test_an_infinity_becomes_the_largest_number_of_its_type(
    dtype: str, code: int, unit: int, most: float
) -> None:
    sign = 1 << BITS[dtype] - 1
    assert one([code], [unit], dtype) == f32_code(most)
    assert one([code | sign], [unit], dtype) == f32_code(-most)
    assert one([code], [unit], dtype, sat="nosat") == F32_INF


@pytest.mark.parametrize(
    ("dtype", "code", "unit"),
    [
        ("f16", 0xFE01, 0x3C00), ("bf16", 0x7F81, 0x3F80), ("f8E4M3FN", 0x7F, 0x38),
        ("f8E5M2", 0x7E, 0x3C), ("hif8", 0x80, 0x08),
    ],
)  # fmt: skip
def test_nan_of_each_type(dtype: str, code: int, unit: int) -> None:
    assert one([code, unit], [unit, unit], dtype) == ONE
    assert one([code, unit], [unit, unit], dtype, sat="nosat") == F32_NAN


def test_tf32_is_cut_before_saturation() -> None:
    """The largest number becomes an infinity, and that the largest number."""
    clause: dict[str, Any] = {"tf32": "round_even"}
    assert one([F32_MAX], [ONE], **clause) == F32_MAX
    assert one([F32_MAX], [ONE], sat="nosat", **clause) == F32_INF


def test_a_scale_of_nan() -> None:
    for sat, word in (("", 0), ("nosat", F32_NAN)):
        made = tile("f8E4M3FN", "f8E4M3FN", 2, 1, 64, mx=True, sat=sat)
        for j in range(64):
            made.left(0, j, 0x38)
            made.left(1, j, 0x38)
            made.right(j, 0, 0x38 if j < 32 else 0)
        for g in (0, 1):
            made.scale("l0a_mx", 0, 0, g, 255)
            made.scale("l0a_mx", 0, 1, g, 128)
            made.scale("l0b_mx", 0, 0, g, 126)
        words = made.result().view("<u4")
        assert [int(words[0]), int(words[16])] == [word, f32_code(32.0)]


def test_sums_are_not_rounded_twice() -> None:
    """A sum just above the middle of two f32, by less than an f64 holds."""
    small = 0x30800000  # 2^-30
    half_step = 0x33800000  # 2^-24
    assert one([ONE, half_step, small], [ONE, ONE, small]) == ONE + 1
    assert one([ONE, half_step, small], [ONE, ONE, small | MINUS]) == ONE
    assert one([ONE, half_step], [ONE, ONE]) == ONE, "the even one"
    assert one([ONE + 1, half_step], [ONE, ONE]) == ONE + 2, "the even one"
    large = 0x71800000  # 2^100
    assert one([large, ONE, large], [ONE, ONE, ONE | MINUS]) == ONE, "nothing is lost"


# --- operands -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i8", *FLOATS, *FP8])
@pytest.mark.parametrize("disable_gemv", [False, True])
def test_one_row_is_a_vector_unless_that_is_disabled(dtype: str, disable_gemv: bool) -> None:
    """The tile class places a vector as the section on GEMV says."""
    checked(dtype, dtype, 1, size=(1, 18, 70), disable_gemv=disable_gemv)
    checked(dtype, dtype, 2, size=(2, 3, 70), disable_gemv=disable_gemv)


@pytest.mark.parametrize("disable_gemv", [False, True])
def test_one_row_of_scaled_factors(disable_gemv: bool) -> None:
    for lhs, rhs in SCALED:
        checked(lhs, rhs, 1, size=(1, 2, 128), disable_gemv=disable_gemv, mx=True)


def test_sums_of_i8_are_modulo_2_to_32() -> None:
    """(-128)^2 33 times, on top of 2^31 - 1 and of -1."""
    for old in (0x7FFFFFFF, 0xFFFFFFFF, 0x80000000):
        assert one([0x80] * 33, [0x80] * 33, "i8", old) == (old + 33 * 2**14) % 2**32
        assert one([0x80] * 33, [0x7F] * 33, "i8", old) == (old - 33 * 128 * 127) % 2**32


def test_directions_and_flags_change_no_value() -> None:
    plain = one([TWO, ONE], [ONE, HALF])
    for more in ({"n_dir": True}, {"unit_flag": "check_only"}, {"unit_flag": "check_and_set"}):
        assert one([TWO, ONE], [ONE, HALF], **more) == plain


@pytest.mark.parametrize("extent", ["m", "n", "k"])
def test_an_extent_of_0_is_a_nop(extent: str) -> None:
    none: dict[str, Any] = {extent: 0}
    op = replace(tile("f16", "f16", 16, 16, 16).op, **none)
    assert product(op, GoldenMemory(noise)) is None
    assert (problems(op), flag_blocks(op)) == ([], [])


def test_flags_are_those_of_the_blocks_with_an_element() -> None:
    """8 rows of a column group are a block; rows 20 to 31 of the fractals have no element."""
    op = tile("f16", "f16", 20, 18, 16, dst=1024).op
    written = {
        place_of(op, i, j) // 512 for i in range(20) for j in range(18)
    }  # fmt: skip
    assert flag_blocks(op) == sorted(written) == [2, 3, 4, 6, 7, 8]


# --- rules ----------------------------------------------------------------------------------------


LAST_BIAS = SIZES[Space.BT] - 64
"""Of 16 columns; one more does not fit."""


def rules(**changes: Any) -> set[str]:
    """Returns the rules that a product breaks."""
    op = tile("f16", "f16", 16, 16, 16).op
    return {found.rule for found in problems(replace(op, **changes))}


def test_the_table_of_types() -> None:
    every = (*BITS, "i16", "f4E3M0", "i32")
    for mx in (False, True):
        found = {(x, y) for x in every for y in every if accumulators(x, y, mx=mx)}
        assert found == {(x, y) for x, y, scaled in LEGAL if scaled is mx}
    assert accumulators("i8", "i8") == "i32"


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("MD-L01", {"lhs_type": Ptr("f16", "l0b")}),
        ("MD-L01", {"rhs_type": Ptr("bf16", "l0b")}),
        ("MD-L01", {"dst_type": Ptr("f16", "l0c")}),
        ("MD-L01", {"bias_type": Ptr("f16", "bt"), "initial": "bias"}),
        ("MD-L01", {"bias_type": Ptr("f32", "l1"), "initial": "bias"}),
        ("MD-L02", {"m": 4096}),
        ("MD-L02", {"n": 4096}),
        ("MD-L02", {"k": 4096}),
        ("MD-L03", {"lhs": 256}),
        ("MD-L03", {"rhs": 32}),
        ("MD-L03", {"dst": 32}),
        ("MD-L03", {"bias_type": Ptr("f32", "bt"), "initial": "bias", "bias": 32}),
        ("MD-L04", {"lhs": 0x10000}),
        ("MD-L04", {"m": 2048, "k": 17}),
        ("MD-L04", {"n": 2048, "k": 17}),
        ("MD-L04", {"dst": SIZES[Space.L0C] - 64}),
        ("MD-L04", {"bias_type": Ptr("f32", "bt"), "initial": "bias", "bias": LAST_BIAS, "n": 17}),
    ],
)
def test_rules(rule: str, changes: dict[str, Any]) -> None:
    assert rules(**changes) == {rule}


def test_rules_hold_up_to_their_limits() -> None:
    assert rules(m=2048, k=16, n=16, dst=SIZES[Space.L0C] - 2048 * 64) == set()
    assert rules(lhs=0x10000 - 512, rhs=0x10000 - 512) == set()
    assert rules(m=1, k=2000, lhs=0x10000 - 4096) == set(), "a vector is 512-byte units"
    assert rules(m=1, k=2000, lhs=0x10000 - 3584) == {"MD-L04"}
    scaled = tile("f8E4M3FN", "f8E5M2", 16, 16, 128, mx=True).op
    assert {found.rule for found in problems(replace(scaled, k=96))} == {"MD-L02"}


@pytest.mark.filterwarnings("error")
def test_nan_in_elements_that_do_not_count_warns_of_nothing() -> None:
    """The rest of a fractal is whatever was there, also signalling NaN."""
    for dtype, half in (("f16", 0x7D01), ("bf16", 0x7F81), ("f32", 0x7F81)):
        made = tile(dtype, dtype, 1, 1, 1)
        made.golden[Space.L0].view("<u2")[:] = half
        made.left(0, 0, 0)
        made.right(0, 0, 0)
        assert made.result().view("<u4")[0] == 0


# --- a wrong rule fails ---------------------------------------------------------------------------


def rounded_twice(terms: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Sums in f64, then rounded to f32."""
    found: NDArray[np.uint32] = terms.sum(axis=0).astype(np.float32).view(np.uint32)
    return found


def chained(terms: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Sums rounded to f32 after each k, as the CPU model has them."""
    total = np.zeros(terms.shape[1:], np.float32)
    for term in terms:
        total = (total.astype(np.float64) + term).astype(np.float32)
    return np.ascontiguousarray(total).view(np.uint32)


@pytest.mark.parametrize("wrong", [rounded_twice, chained])
def test_a_second_rounding_is_found(
    wrong: Callable[..., NDArray[np.uint32]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "exact_sums", wrong)
    with pytest.raises(AssertionError):
        test_sums_are_not_rounded_twice()


def test_rounding_after_each_k_changes_a_worked_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "exact_sums", chained)
    row = WORKED["MD-E3"]
    assert zlib.crc32(image_of("MD-E3")[: row.length].tobytes()) != row.crc
