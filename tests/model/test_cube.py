# SPDX-License-Identifier: Apache-2.0
"""Host ops against a reading of them element by element."""

from __future__ import annotations

import struct
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from scoreboards.model.cube import CANONICAL_NAN, CubeModel, Rows, multiply
from scoreboards.model.dma import ReferenceModel
from tb.isa.cube import L0_BYTES, MAD_TYPES, Mad, MteL1L0a, MteL1L0b
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.spaces import SIZES, Space

SHAPES = ((1, 1, 1), (16, 16, 16), (17, 33, 5), (3, 40, 31), (48, 16, 64))
"""M, N, K."""


def memories() -> dict[Space, np.ndarray]:
    sizes = {**SIZES, Space.GM: 1 << 20}
    return {space: np.zeros(size, dtype=np.uint8) for space, size in sizes.items()}


def nz_place(row: int, column: int, rows: int, size: int) -> int:
    """spec/l0_loads.md, section 1, with rows rounded up to 16."""
    c0 = 32 // size
    loop3 = (rows + 15) // 16 * 16
    return 32 * ((column // c0) * loop3 + row) + (column % c0) * size


def l0c_place(row: int, column: int, m: int) -> int:
    """spec/fixpipe.md, section 2, with src_stride = M rounded up to 16."""
    return 64 * ((column // 16) * ((m + 15) // 16 * 16) + row) + 4 * (column % 16)


def number(raw: bytes, dtype: str) -> Fraction | int:
    if dtype == "i8":
        return int.from_bytes(raw, "little", signed=True)
    if dtype == "f16":
        return Fraction(struct.unpack("<e", raw)[0])
    if dtype == "bf16":
        return Fraction(struct.unpack("<f", b"\0\0" + raw)[0])
    return Fraction(struct.unpack("<f", raw)[0])


def draw(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    """Returns ``uint8[rows, columns, size]``: numbers with exact sums in float64."""
    small = rng.integers(-64, 64, size=shape)
    if dtype == "i8":
        small = rng.integers(-128, 128, size=shape)
        return small.astype(np.int8).view(np.uint8)[..., None]
    numbers = small / 16.0
    if dtype == "f16":
        return numbers.astype("<f2").view(np.uint8).reshape(*shape, 2)
    wide = numbers.astype("<f4").view(np.uint8).reshape(*shape, 4)
    return np.ascontiguousarray(wide[..., 2:]) if dtype == "bf16" else wide


def mad(m: int, n: int, k: int, dtype: str, dst: int = 0) -> Mad:
    types = Ptr(dtype, "l0a"), Ptr(dtype, "l0b"), Ptr(MAD_TYPES[dtype], "l0c")
    return Mad(0, 0, dst, m, n, k, *types, disable_gemv=m == 1)


def load(model: CubeModel, memory: dict[Space, np.ndarray], a: np.ndarray, b: np.ndarray) -> None:
    """Puts row-major factors into L1 as NZ, by the model of the engine, and on to L0A and L0B.

    The right factor has whole squares of rows, which a transposing load steps over.
    """
    engine = ReferenceModel(memory)
    size = a.shape[2]
    dtype = f"i{8 * size}"
    for base, matrix, unit in ((0, a, 16), (0x20000, b, 32 if size == 1 else 16)):
        rows, columns = matrix.shape[:2]
        memory[Space.GM][: matrix.size] = matrix.ravel()
        op = MteGmL1Frac(
            0, base, "nd2nz", rows, columns, columns * size, 1, 1, -(-rows // unit) * unit, 0,
            None, 0, 0, Ptr(dtype, "gm"), Ptr(dtype, "l1"),
        )  # fmt: skip
        assert engine.execute(op).rule == 0
    m, k = a.shape[:2]
    n = b.shape[1]
    types = Ptr(dtype, "l1")
    assert model.execute(MteL1L0a(0, 0, m, k, types, Ptr(dtype, "l0a"))) is None
    assert model.execute(MteL1L0b(0x20000, 0, k, n, types, Ptr(dtype, "l0b"))) is None


@pytest.mark.parametrize("dtype", MAD_TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_is_that_of_the_elements(dtype: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(m * n + k)
    memory = memories()
    model = CubeModel(memory)
    a, b = draw(rng, (m, k), dtype), draw(rng, (k, n), dtype)
    load(model, memory, a, b)
    size = element_bytes(dtype)
    for row, column in ((0, 0), (m - 1, k - 1)):
        at = nz_place(row, column, m, size)
        assert model.l0a[at : at + size].tobytes() == a[row, column].tobytes()
    for row, column in ((0, 0), (k - 1, n - 1)):
        at = nz_place(column, row, n, size)
        assert model.l0b[at : at + size].tobytes() == b[row, column].tobytes()
    background = 0x5A
    memory[Space.L0C][:] = background
    found = model.execute(mad(m, n, k, dtype, dst=0x400))
    assert isinstance(found, Rows)
    found.put(memory[Space.L0C])
    expected = np.full(SIZES[Space.L0C], background, dtype=np.uint8)
    for row in range(m):
        for column in range(n):
            total = sum(
                number(a[row, x].tobytes(), dtype) * number(b[x, column].tobytes(), dtype)
                for x in range(k)
            )
            at = 0x400 + l0c_place(row, column, m)
            raw = struct.pack("<i", total) if dtype == "i8" else struct.pack("<f", float(total))
            expected[at : at + 4] = np.frombuffer(raw, dtype=np.uint8)
    assert (memory[Space.L0C] == expected).all()


def put(model: CubeModel, a: np.ndarray, b: np.ndarray) -> None:
    """Puts one row and one column of raw elements into L0A and L0B, NZ of 1 x K twice."""
    k, size = len(a), a.itemsize
    for index in range(k):
        at = nz_place(0, index, 1, size)
        model.l0a[at : at + size] = a[index : index + 1].view(np.uint8)
        model.l0b[at : at + size] = b[index : index + 1].view(np.uint8)


def result(a: list[float], b: list[float]) -> int:
    """Returns the bits of a dot product of f32."""
    model = CubeModel(memories())
    put(model, np.array(a, dtype="<f4"), np.array(b, dtype="<f4"))
    found = model.execute(mad(1, 1, len(a), "f32"))
    assert found is not None
    return int(found.data.view("<u4")[0, 0])


def test_sums_are_rounded_once() -> None:
    # In f32 each step would lose the small one; their sum is half a unit above, and more.
    tiny = 2.0**-24
    assert result([1.0, tiny, tiny], [1.0, 1.0, 1.0]) == 0x3F800001
    assert result([1.0, tiny], [1.0, 1.0]) == 0x3F800000  # a tie goes to even
    # The product needs 48 bits.
    assert result([1 + 2.0**-23, -1.0], [1 + 2.0**-23, 1.0]) == 0x34800000


def test_overflow_and_nan() -> None:
    huge, inf = 3.0e38, float("inf")
    assert result([huge, huge], [2.0, 1.0]) == 0x7F800000
    assert result([huge, huge], [2.0, -2.0]) == 0  # in float64 it does not overflow on the way
    assert result([inf, 1.0], [0.0, 1.0]) == CANONICAL_NAN
    assert result([inf, -inf], [1.0, 1.0]) == CANONICAL_NAN
    assert result([-float("nan")], [1.0]) == CANONICAL_NAN


def test_integers_wrap() -> None:
    steps = 1 << 17  # more than L0A holds, so that 2^31 is reached
    row = np.full((1, steps, 1), 0x80, dtype=np.uint8)
    found = multiply(row, row.reshape(steps, 1, 1), "i8")
    assert found.tolist() == [[1 << 31]]


def test_nothing_is_computed_beyond_a_memory() -> None:
    model = CubeModel(memories())
    ptr = Ptr("f16", "l1")
    for op, why in (
        (MteL1L0a(0x7FF00, 0, 64, 64, ptr, Ptr("f16", "l0a")), "source of mte_l1_l0a"),
        (MteL1L0b(0, 0xFF00, 64, 64, ptr, Ptr("f16", "l0b")), "destination of mte_l1_l0b"),
        (mad(512, 16, 128, "f16"), "lhs of mad"),
        (mad(16, 512, 128, "f16"), "rhs of mad"),
        (mad(256, 256, 16, "f16", dst=64), "dst of mad"),
    ):
        with pytest.raises(ValueError, match=why):
            model.execute(op)
    wrong = Mad(0, 0, 0, 1, 1, 1, Ptr("f16", "l0a"), Ptr("bf16", "l0b"), Ptr("f32", "l0c"))
    with pytest.raises(ValueError, match="f16 x bf16 to f32"):
        model.execute(wrong)


def test_nothing_is_multiplied_without_elements() -> None:
    model = CubeModel(memories())
    assert model.execute(mad(0, 16, 16, "f16")) is None
    assert model.execute(mad(1, 1, 0, "f16")) is None


def test_the_elements_of_the_worked_examples() -> None:
    """Section 7 of spec/l0_loads.md: offsets in L1 and in L0B."""
    for dtype, k, n, source, place in (
        ("f16", 32, 16, 0x226, 0x262),
        ("i8", 64, 32, 0x514, 0x688),
        ("f32", 16, 16, 0x328, 0x344),
    ):
        size = element_bytes(dtype)
        memory = memories()
        model = CubeModel(memory)
        model.l0b[:] = 0
        memory[Space.L1][source : source + size] = 0x5A
        op = MteL1L0b(0, 0, k, n, Ptr(dtype, "l1"), Ptr(dtype, "l0b"))
        assert model.execute(op) is None
        assert np.flatnonzero(model.l0b).tolist() == [*range(place, place + size)]


def test_one_row_is_a_vector_unless_the_op_says_otherwise() -> None:
    model = CubeModel(memories())
    model.l0a[:] = 0
    model.l0b[:] = 0
    model.l0a[64:66] = np.array([3.0], "<f2").view(np.uint8)  # k = 32 of a vector
    for k in (1, 32):
        at = nz_place(0, k, 1, 2)
        model.l0b[at : at + 2] = np.array([2.0 * k], "<f2").view(np.uint8)
    vector = replace(mad(1, 1, 40, "f16"), disable_gemv=False)
    found = model.execute(vector)
    assert found is not None
    assert found.data.view("<f4")[0, 0] == 3.0 * 64.0
    fractals = model.execute(replace(vector, disable_gemv=True))
    assert fractals is not None
    assert fractals.data.view("<f4")[0, 0] == 0.0, "byte 64 is of row 2"
    with pytest.raises(ValueError, match="lhs of mad"):
        model.execute(replace(vector, lhs=L0_BYTES - 256))
