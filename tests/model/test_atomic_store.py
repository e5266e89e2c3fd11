# SPDX-License-Identifier: Apache-2.0
"""Atomic stores of UB (docs/spec/order_and_atomics.md, 6; docs/spec/examples_v2.md, 5)."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import NOTHING, Outcome
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dma.legacy import CopyUbufToGm
from tb.isa.dma.op import Loop, MteUbGm
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.model import naive
from tests.model.conftest import noise


def ctrl(kind: int, op: int = 0, nosat: int = 0) -> int:
    return kind << 6 | op << 9 | nosat << 48


def bench(gm: bytes, ub: bytes) -> tuple[GoldenMemory, ReferenceModel]:
    content = {Space.GM: gm, Space.UB0: ub}

    def background(space: Space, start: int, length: int) -> NDArray[np.uint8]:
        fill = np.full(length, 0x55 if space is Space.GM else 0xAA, dtype=np.uint8)
        part = np.frombuffer(content.get(space, b"")[start : start + length], dtype=np.uint8)
        fill[: len(part)] = part
        return fill

    golden = GoldenMemory(background)
    golden.ensure(Space.GM, 0, 4096)
    return golden, ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )


def store(
    length: int, *, rows: tuple[int, int, int] = (1, 0, 0), loops: tuple[Loop, ...] = ()
) -> MteUbGm:
    return MteUbGm(0, 0, length, *rows, loops=loops)


def legacy(length: int, rows: tuple[int, int, int]) -> CopyUbufToGm:
    count, src_stride, dst_stride = rows
    return CopyUbufToGm(0, 0, 0, count, length, 0, dst_stride, src_stride)


def pattern(seed: int, length: int) -> bytes:
    return bytes((7 * i + 13 * (i >> 8) + 29 * seed + 3) % 256 for i in range(length))


def i32(values: range) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


Words = bytes.fromhex


def run(golden: GoldenMemory, value: int, op: MteUbGm) -> Outcome:
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    model.execute(SetCtrl(value))
    return model.execute(op)


@pytest.mark.long
@given(
    kind=st.integers(1, 6),
    what=st.integers(0, 2),
    nosat=st.integers(0, 1),
    elements=st.integers(0, 9),
    first=st.integers(0, 20),
    counts=st.tuples(*[st.integers(0, 3)] * 3),
    gaps=st.tuples(*[st.integers(0, 3)] * 3),
)
def test_elements_one_by_one(
    kind: int,
    what: int,
    nosat: int,
    elements: int,
    first: int,
    counts: tuple[int, int, int],
    gaps: tuple[int, int, int],
) -> None:
    size = naive.ATOMIC_BYTES[kind]
    length = elements * size
    steps = [length + gaps[0] * size]
    for level in (1, 2):
        steps.append(max(counts[level - 1], 1) * steps[-1] + gaps[level] * size)
    loops = tuple(Loop(counts[i], 512 * i, steps[i]) for i in (1, 2))
    op = MteUbGm(64, first * size, length, counts[0], 96, steps[0], loops=loops)
    golden = GoldenMemory(noise)
    golden.ensure(Space.GM, 0, 8192)
    expected = golden[Space.GM][:8192].copy()
    plain = naive.plain(op, naive.Regs())
    plain.atomic_type, plain.atomic_op, plain.nosat = kind, what, nosat
    naive.copy(plain, {Space.GM: expected, Space.UB0: golden[Space.UB0]})
    outcome = run(golden, ctrl(kind, what, nosat), op)
    assert outcome.status is Status.OK
    assert np.array_equal(golden[Space.GM][:8192], expected)
    moved = length * counts[0] * counts[1] * counts[2]
    assert outcome.bytes_written == moved
    assert outcome.bytes_read == 2 * moved  # GM is read as well
    if not moved:
        assert outcome == NOTHING


def test_rows_that_meet_in_one_element_are_added_in_order() -> None:
    golden, model = bench(struct.pack("<f", 1.0), pattern(1, 64))
    golden[Space.UB0][0:4] = np.frombuffer(struct.pack("<f", 2.0**24), np.uint8)
    golden[Space.UB0][32:36] = np.frombuffer(struct.pack("<f", -(2.0**24)), np.uint8)
    model.execute(SetCtrl(ctrl(1)))
    model.execute(store(4, rows=(1, 0, 0), loops=(Loop(2, 32, 0),)), legal=True)
    # 1 + 2^24 is rounded to 2^24 before the second row is added.
    assert struct.unpack("<f", golden[Space.GM][:4].tobytes()) == (0.0,)


def test_ctrl_is_sampled_when_the_store_is_issued() -> None:
    golden, model = bench(b"\x01\0\0\0", b"\x02\0\0\0")
    model.execute(SetAtomic("s32"))
    model.execute(SetAtomic("add"))
    issued = model.issue(store(4))
    model.execute(SetAtomic("none"))
    model.apply(issued)
    assert golden[Space.GM][0] == 3
    model.execute(store(4))
    assert golden[Space.GM][0] == 2


@pytest.mark.parametrize(
    ("value", "op", "rule"),
    [
        (ctrl(1), store(6), 16),  # DW-8
        (ctrl(2), MteUbGm(0, 1, 2, 1, 0, 0), 16),
        (ctrl(2), store(2, rows=(2, 32, 3)), 16),
        (ctrl(1), store(4, loops=(Loop(2, 32, 6),)), 16),
        (ctrl(7), store(4), 17),
        (ctrl(1, 3), store(4), 17),
        (ctrl(1, 3), store(0), 17),
    ],
)
def test_rules(value: int, op: MteUbGm, rule: int) -> None:
    golden = GoldenMemory(noise)
    golden.ensure(Space.GM, 0, 4096)
    before = golden[Space.GM][:4096].copy()
    outcome = run(golden, value, op)
    assert (outcome.status, outcome.rule) == (Status.RULE, rule)
    assert np.array_equal(golden[Space.GM][:4096], before)


@pytest.mark.parametrize("op", [store(2, rows=(1, 32, 3)), store(4, loops=(Loop(1, 32, 3),))])
def test_strides_that_are_not_used_may_be_any(op: MteUbGm) -> None:
    golden = GoldenMemory(noise)
    golden.ensure(Space.GM, 0, 4096)
    assert run(golden, ctrl(2), op).status is Status.OK


def test_no_rule_of_atomics_without_a_type() -> None:
    golden = GoldenMemory(noise)
    golden.ensure(Space.GM, 0, 4096)
    outcome = run(golden, ctrl(0, 3), MteUbGm(0, 1, 3, 1, 0, 0))
    assert outcome.status is Status.OK
    assert np.array_equal(golden[Space.GM][1:4], golden[Space.UB0][:3])


def test_explanation_of_a_byte() -> None:
    op = store(4, rows=(2, 32, 16), loops=(Loop(2, 64, 64),))
    golden, model = bench(bytes(512), pattern(8, 256))
    model.execute(SetCtrl(ctrl(3)))
    outcome = model.execute(op)
    assert outcome.transfer is not None
    told = outcome.transfer.explain((1, 1), 3)
    assert told.source == 64 + 32 + 3
    assert told.label == "element 1 of s16, byte 1 of 2"
    new = int(golden[Space.UB0][98:100].view("<u2")[0])
    assert told.values == (f"s16 add of {new:#06x} to 0x0000: {new:#06x}",)
    assert outcome.transfer.explain((0, 0), None).label == "row of elements of s16"
