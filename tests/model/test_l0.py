# SPDX-License-Identifier: Apache-2.0
"""Loads of L0 against the formulas of docs/spec/l0_loads.md, sections 2 to 4, value by value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import NOTHING, Outcome
from tb.isa.dtypes import Ptr
from tb.isa.footprint import destination, source
from tb.isa.l0.op import LOAD_CLASSES, L0Load, Shape, shaped
from tb.isa.lower import lower
from tb.isa.spaces import L0_SEGMENTS, SIZES, Space, segment_base
from tb.isa.status import Status
from tests.model.conftest import addresses, noise
from tests.model.naive_loads import half_bytes, nibbles_of

BITS = {"f4E2M1x2": 4, "i8": 8, "f16": 16, "f32": 32}
L0A, L0B = "mte_l1_l0a", "mte_l1_l0b"

step = st.integers(0, 5)
start = st.integers(0, 3)
stride = st.integers(1, 20)


def background(space: Space, first: int, length: int) -> NDArray[np.uint8]:
    """The content that docs/spec/examples_v2.md gives the memories; L1 is P(6)."""
    if space is Space.L1:
        offset = np.arange(first, first + length, dtype=np.int64)
        return ((7 * offset + 13 * (offset >> 8) + 29 * 6 + 3) % 256).astype(np.uint8)
    return np.full(length, 0xAA, dtype=np.uint8)


def load(
    name: str,
    dtype: str,
    control: tuple[int, ...],
    *,
    transpose: int = 0,
    src: int = 0,
    dst: int = 0,
) -> L0Load:
    memory = name.removeprefix("mte_l1_").removesuffix("_mx")
    types = (Ptr(dtype, "l1"), Ptr(dtype, memory))
    m_start, k_start, m_step, k_step, src_stride, dst_stride = control
    return LOAD_CLASSES[name](
        src, dst, m_start, k_start, m_step, k_step, src_stride, dst_stride, transpose, *types
    )


def tile(name: str, dtype: str, shape: Shape, *, transpose: int = 0, dst: int = 0) -> L0Load:
    memory = name.removeprefix("mte_l1_").removesuffix("_mx")
    return shaped(name, 0, dst, shape, Ptr(dtype, "l1"), Ptr(dtype, memory), transpose)


def executed(op: L0Load, memories: GoldenMemory) -> Outcome:
    return ReferenceModel(memories).execute(op)


@st.composite
def loads(draw: st.DrawFn) -> L0Load:
    name = draw(st.sampled_from(list(LOAD_CLASSES)))
    scales = name.endswith("_mx")
    dtype = "f8E8M0" if scales else draw(st.sampled_from(list(BITS)))
    transpose = 0 if scales else draw(st.integers(0, 1))
    m_step, k_step = draw(step), draw(step)
    if transpose:
        bits = BITS[dtype]
        m_step *= {4: 4, 8: 2}.get(bits, 1)
        k_step *= 2 if bits == 32 else 1
    control = (draw(start), draw(start), m_step, k_step, draw(stride), draw(stride))
    src, dst = 32 * draw(st.integers(0, 40)), 512 * draw(st.integers(0, 5))
    return load(name, dtype, control, transpose=transpose, src=src, dst=dst)


@pytest.mark.long
@given(op=loads())
def test_values_against_the_formulas(op: L0Load) -> None:
    expected_moves = nibbles_of(op)
    desc = lower(op)
    written = destination(desc)
    assume(not expected_moves or written.outside is None)
    assume(written.bytes * 2 == len(expected_moves))  # LD-L07
    memories = GoldenMemory(noise)
    expected = half_bytes(memories[Space.L0].copy())
    if expected_moves:
        goes = np.fromiter(expected_moves, dtype=np.int64)
        came = np.fromiter(expected_moves.values(), dtype=np.int64)
        expected[goes] = half_bytes(memories[Space.L1])[came]
    before = {space: memories[space].copy() for space in (Space.L1, Space.L0C)}
    outcome = executed(op, memories)
    assert outcome.status is Status.OK
    assert np.array_equal(half_bytes(memories[Space.L0]), expected)
    assert all(np.array_equal(memories[space], kept) for space, kept in before.items())
    if not expected_moves:
        assert outcome == NOTHING
        return
    # The footprints of the model, those of the descriptor and the formulas name the same bytes.
    assert addresses(outcome.written) == {goes // 2 for goes in expected_moves}
    assert addresses(outcome.read) == {came // 2 for came in expected_moves.values()}
    assert addresses(written) == addresses(outcome.written)
    assert addresses(source(desc)) == addresses(outcome.read)


@pytest.mark.parametrize("dtype", BITS)
def test_explanation_of_each_byte_of_a_transposed_load(dtype: str) -> None:
    op = load(L0B, dtype, (1, 2, 4, 2, 7, 9), transpose=1, src=64, dst=1024)
    expected = nibbles_of(op)
    outcome = executed(op, GoldenMemory(noise))
    assert outcome.transfer is not None
    assert outcome.written is not None
    for column, base in enumerate(outcome.written.row_starts()):
        for byte in range(outcome.written.length):
            told = outcome.transfer.explain((column,), byte)
            assert told.source == expected[2 * (int(base) + byte)] // 2
    assert "element" in told.label if BITS[dtype] > 4 else "values" in told.label
    assert outcome.transfer.explain((1,), None).label.startswith("C0 column 1 of ")


@pytest.mark.long
@given(
    name=st.sampled_from([L0A, L0B]),
    dtype=st.sampled_from(list(BITS)),
    transpose=st.integers(0, 1),
    rows=st.integers(0, 300),
    columns=st.integers(0, 300),
)
def test_shape_form_is_the_control_form_it_stands_for(
    name: str, dtype: str, transpose: int, rows: int, columns: int
) -> None:
    op = tile(name, dtype, Shape(rows, columns), transpose=transpose)
    control = (op.m_start, op.k_start, op.m_step, op.k_step, op.src_stride, op.dst_stride)
    plain = load(name, dtype, control, transpose=transpose)
    one, two = GoldenMemory(noise), GoldenMemory(noise)
    shape, expected = executed(op, one), executed(plain, two)
    assert (shape.status, shape.rule) == (expected.status, expected.rule)
    assert np.array_equal(one[Space.L0], two[Space.L0])


@pytest.mark.parametrize(
    ("op", "came", "goes"),
    [
        (tile(L0B, "f16", Shape(32, 16), transpose=1), 0x226, 0x262),
        (tile(L0B, "i8", Shape(64, 32), transpose=1), 0x514, 0x688),
        (tile(L0B, "f32", Shape(16, 16), transpose=1), 0x328, 0x344),
        (tile(L0A, "f16", Shape(40, 50)), 0xA28, 0xA28),
        (load(L0A, "f16", (2, 2, 2, 3, 5, 3)), 0x1800, 0x000),
        (load(L0A, "f16", (2, 2, 2, 3, 5, 3)), 0x2E00, 0xE00),
        (tile(f"{L0A}_mx", "f8E8M0", Shape(16, 64)), 11, 11),
    ],
)
def test_worked_elements(op: L0Load, came: int, goes: int) -> None:
    """docs/spec/l0_loads.md, section 7."""
    memories = GoldenMemory(noise)
    executed(op, memories)
    where = segment_base(op.spec.memory) + goes
    assert memories[Space.L0][where] == memories[Space.L1][came]
    assert nibbles_of(op)[2 * where] == 2 * came


FULL = (0, 0, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (load(L0A, "f16", (65536, 0, 1, 1, 1, 1)), 3),
        (load(L0A, "f16", (0, 0, 256, 1, 1, 1)), 3),
        (load(L0A, "f16", (0, 0, 1, 1, 0, 1)), 3),
        (load(L0A, "f16", (0, 0, 0, 1, 1, 0)), 3),
        (load(L0A, "f16", FULL, src=16), 4),
        (load(L0B, "f16", FULL, dst=256), 4),
        (load(f"{L0B}_mx", "f8E8M0", FULL, dst=256), 4),
        (load(L0A, "i8", (0, 0, 3, 1, 3, 3), transpose=1), 5),
        (load(L0A, "f4E2M1x2", (0, 0, 6, 1, 6, 6), transpose=1), 5),
        (load(L0A, "f32", (0, 0, 1, 3, 1, 3), transpose=1), 5),
        (load(L0A, "f16", (0, 0, 129, 1, 129, 129)), 6),
        (load(L0A, "f16", (0, 0, 1, 1, 1, 1), dst=65536), 6),
        (load(L0A, "f16", (1023, 0, 2, 1, 2, 2)), 6),
        (load(f"{L0A}_mx", "f8E8M0", (0, 0, 129, 1, 1, 1)), 6),
    ],
)
def test_rules(op: L0Load, rule: int) -> None:
    memories = GoldenMemory(noise)
    before = memories[Space.L0].copy()
    outcome = executed(op, memories)
    assert (outcome.status, outcome.rule) == (Status.RULE, rule)
    assert np.array_equal(memories[Space.L0], before)


@pytest.mark.parametrize("name", [L0A, L0B])
def test_a_load_fills_its_memory_to_the_last_byte(name: str) -> None:
    memories = GoldenMemory(background)
    assert executed(load(name, "f16", (0, 0, 128, 1, 128, 128)), memories).status is Status.OK
    base = segment_base(name.removeprefix("mte_l1_"))
    assert np.array_equal(memories[Space.L0][base : base + 65536], memories[Space.L1][:65536])
    assert (memories[Space.L0][base + 65536 : base + 65568] == 0xAA).all()


@pytest.mark.parametrize("dtype", ["i4", "si4", "i64"])
def test_elements_of_eight_bytes_or_half_a_byte_are_refused(dtype: str) -> None:
    with pytest.raises(ValueError, match="LD-L01"):
        executed(load(L0A, dtype, FULL), GoldenMemory(background))


def test_the_memories_of_l0_do_not_overlap() -> None:
    bases = sorted(segment_base(name) for name in L0_SEGMENTS)
    assert len(set(bases)) == 4
    assert SIZES[Space.L0] > bases[-1]
