# SPDX-License-Identifier: Apache-2.0
"""The other ops of the family against the spec's formulas executed byte by byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import NOTHING
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.dma.op import Loop, MteGmL1, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.footprint import Footprint, destination, source
from tb.isa.lower import lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.profile import parse_profile, use
from tb.isa.rules import lowering_violation
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.model import naive_ops
from tests.model.conftest import PROFILE_TEXTS, Bench, addresses, noise

SMALL = {
    Space.GM: 3000,
    Space.L1: 4096,
    Space.UB0: 3072,
    Space.UB1: 3072,
    Space.BT: 1024,
    Space.FB: 1536,
}
TYPES = {1: "i8", 2: "f16", 4: "i32"}

few = st.integers(0, 4)
block = st.integers(0, 12).map(lambda k: 32 * k)
gap = st.integers(0, 4)


def check(op: naive_ops.Copy) -> None:
    """Runs an op on model and formulas, where it is legal and stays in the small memories."""
    effect = naive_ops.effect(op)
    assume(not effect.twice)
    assume(effect.source is not effect.target or not effect.read & set(effect.made_from))
    expected = {space: bytearray(noise(space, 0, size).tobytes()) for space, size in SMALL.items()}
    try:
        effect.apply(expected)
    except IndexError:
        assume(False)
    actual = {space: noise(space, 0, size) for space, size in SMALL.items()}
    hooks: list[tuple[str, Footprint]] = []
    model = ReferenceModel(
        actual,
        before_read=lambda region: hooks.append(("read", region)),
        before_write=lambda region: hooks.append(("write", region)),
    )
    outcome = model.execute(op, legal=True)
    assert outcome.status is Status.OK
    for space in SMALL:
        assert actual[space].tobytes() == bytes(expected[space]), (space, op)
    assert addresses(outcome.read) == effect.read
    assert addresses(outcome.written) == set(effect.made_from)
    assert outcome.bytes_written == len(effect.made_from)
    if not effect.made_from:
        assert outcome == NOTHING
        return
    assert outcome.read is not None
    assert outcome.written is not None
    assert (outcome.read.space, outcome.written.space) == (effect.source, effect.target)
    assert hooks == [("read", outcome.read), ("write", outcome.written)]
    if not isinstance(op, CopyUbufToUbuf):
        # The descriptors of engines and the model give the same bytes.
        desc = lower(op)
        assert addresses(source(desc)) == effect.read
        assert addresses(destination(desc)) == set(effect.made_from)


def pointers(dtype: str, one: str, other: str) -> tuple[Ptr, Ptr]:
    return Ptr(dtype, one), Ptr(dtype, other)


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILE_TEXTS)
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_strided_copies(profile: str, data: st.DataObject) -> None:
    use(parse_profile(profile))
    draw = data.draw
    if draw(st.booleans()):
        loops = tuple(
            Loop(draw(few), draw(st.integers(0, 300)), draw(block))
            for _ in range(draw(st.integers(0, 3)))
        )
        length = draw(st.sampled_from([0, 1, 31, 32, 33, 64, 100]))
        step = length if draw(st.booleans()) else draw(block)
        check(
            MteGmL1(draw(st.integers(0, 99)), draw(block), length, draw(few),
                    draw(st.integers(0, 300)), step, loops)
        )  # fmt: skip
        return
    loops = tuple(Loop(draw(few), draw(block), draw(block)) for _ in range(draw(few) % 4))
    check(
        MteL1Ub(draw(block), draw(block), draw(few), draw(few), draw(gap), draw(gap), loops,
                ub_sub=draw(st.integers(0, 1)))
    )  # fmt: skip


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_gap_copies(data: st.DataObject) -> None:
    draw = data.draw
    kind = draw(st.sampled_from([MteUbUb, MteUbL1, MteL1Fb]))
    rest = (draw(few), draw(few), draw(gap), draw(gap))
    if kind is MteL1Fb:
        check(MteL1Fb(draw(block), 64 * draw(few), *rest))
    elif kind is MteUbL1:
        check(MteUbL1(draw(block), draw(block), *rest, ub_sub=draw(st.integers(0, 1))))
    else:
        check(MteUbUb(draw(block), 1536 + draw(block), *rest, ub_sub=draw(st.integers(0, 1))))


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_bias_loads(data: st.DataObject) -> None:
    draw = data.draw
    dtype = draw(st.sampled_from(["f32", "i32", "bf16", "f16"]))
    types = Ptr(dtype, "l1"), Ptr("i32" if dtype == "i32" else "f32", "bt")
    length, count = draw(st.integers(0, 20)), draw(few)
    check(MteL1Bt(draw(block), 64 * draw(few), length, count, draw(gap), draw(gap), *types))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_fills(data: st.DataObject) -> None:
    draw = data.draw
    first, raw = draw(block), draw(st.integers(0, 2**32 - 1))
    offset, bits = draw(st.integers(0, first)), draw(st.sampled_from([16, 32]))
    op = RawFillL1(first - offset, offset, raw, draw(few), draw(few), draw(gap), bits)
    assert naive_ops.lowest_rule(op) == 0
    written = naive_ops.fill(op)
    expected = noise(Space.L1, 0, SMALL[Space.L1])
    actual = {Space.L1: expected.copy()}
    for address, byte in written.items():
        expected[address] = byte
    outcome = ReferenceModel(actual).execute(op)
    assert outcome.status is Status.OK
    assert actual[Space.L1].tobytes() == expected.tobytes()
    assert addresses(outcome.written) == set(written)
    assert addresses(source(lower(op))) == addresses(outcome.read) == set()
    if written:
        assert addresses(destination(lower(op))) == set(written)


@pytest.mark.long
@settings(max_examples=600, deadline=None)
@given(st.data())
def test_nz_repacks(data: st.DataObject) -> None:
    draw = data.draw
    size = draw(st.sampled_from([1, 2, 4]))
    small = draw(st.integers(0, 3)) == 0
    mode = draw(st.sampled_from(["nd2nz", "dn2nz"]))
    n = draw(st.integers(0, 9))
    d = draw(st.integers(0, 4) if small else st.integers(0, 3 * 32 // size + 1))
    groups = draw(st.integers(1, 3))
    least = size * (d if mode == "nd2nz" else n)
    inner = draw(st.one_of(st.just(least), st.integers(0, least + 9)))
    outer = draw(st.one_of(st.none(), st.integers(0, 400)))
    loop2 = draw(st.sampled_from([1, 1, 2, 5]))
    columns = -(-d * size // 32)
    if draw(st.booleans()):
        loop3 = loop2 * max(n, 1) + draw(st.integers(0, 3))
        loop4 = loop3 * max(columns, 1)
    else:  # columns innermost, or groups
        loop3, loop4 = draw(st.integers(1, 3)), draw(st.integers(1, 30))
        loop2 = draw(st.integers(1, 30))
    types = pointers(TYPES[size], "gm", "l1")
    check(
        MteGmL1Frac(draw(st.integers(0, 40)), draw(block), mode, n, d, inner, groups, loop2, loop3,
                    loop4, outer, 0, int(small), *types)
    )  # fmt: skip


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_legacy_ub_copy_equals_the_new_form(data: st.DataObject) -> None:
    draw = data.draw
    length, n = 32 * draw(few), draw(few)
    src_stride = length + 32 * draw(gap) if n > 1 else draw(st.integers(0, 99))
    dst_stride = length + 32 * draw(gap) if n > 1 else draw(st.integers(0, 99))
    sub = draw(st.integers(0, 1))
    src, dst = draw(block), 1536 + draw(block)
    op = CopyUbufToUbuf(src, dst, 7, n, length, src_stride, dst_stride, ub_sub=sub)
    check(op)
    assert lowering_violation(op) is None
    assert naive_ops.lowest_rule(op) == 0
    effect = naive_ops.effect(op)
    lowered = lower_ubuf_copy(op)
    if effect.made_from:
        assert addresses(source(lowered)) == effect.read
        assert addresses(destination(lowered)) == set(effect.made_from)
    images = []
    for form in (op, lower_ubuf_copy(op)):
        memory = noise(Space.UB0, 0, 3072)
        ReferenceModel({Space.UB0: memory, Space.UB1: memory}).execute(form, legal=True)
        images.append(memory)
    assert np.array_equal(images[0], images[1])


@pytest.mark.parametrize(
    "op",
    [
        MteGmL1(0, 0, 0, 1, 64, 64),
        MteGmL1(2**41, 0, 64, 1, 64, 64, (Loop(0, 0, 0),)),
        MteL1Ub(0, 0, 2, 0, 1, 1),
        MteUbUb(0, 1 << 20, 0, 5, 1, 1),
        MteUbL1(1 << 20, 0, 4, 0, 1, 1),
        MteL1Bt(0, 1 << 20, 0, 4, 0, 0),
        MteL1Fb(0, 0xFFC0, 4, 0, 0, 0),
        MteGmL1Frac(2**41, 1 << 20, "nd2nz", 0, 16, 2, 1, 1, 1, 1),
        MteGmL1Frac(2**41, 1 << 20, "dn2nz", 16, 0, 2, 1, 1, 1, 1, smallc0_en=1),
        CopyUbufToUbuf(1 << 20, 0, 0, 0, 64, 64, 64),
        CopyUbufToUbuf(1 << 20, 0, 0, 2, 0, 64, 64),
    ],
)
def test_zero_counts_are_nops_after_the_rules(bench: Bench, op: naive_ops.Op) -> None:
    assert bench.model.execute(op) == NOTHING
    assert bench.unchanged()


def test_types_that_every_front_end_refuses(bench: Bench) -> None:
    execute = bench.model.execute
    for types in ((Ptr("f16", "l1"), Ptr("f16", "bt")), (Ptr("i8", "l1"), Ptr("i32", "bt"))):
        with pytest.raises(ValueError, match="BT-L01"):
            execute(MteL1Bt(0, 0, 1, 1, 0, 0, *types))
    with pytest.raises(ValueError, match="ND-L01"):
        execute(MteGmL1Frac(0, 0, "nd2nz", 1, 1, 8, 1, 1, 1, 1, None, 0, 0, Ptr("i64", "gm")))
    with pytest.raises(ValueError, match="mode"):
        execute(MteGmL1Frac(0, 0, "nz2nd", 1, 1, 8, 1, 1, 1, 1))
    assert bench.unchanged()


@pytest.mark.parametrize(
    "op",
    [
        MteL1Fb(0, 4032, 2, 1, 0, 0),
        MteL1Fb(0, 3968, 1, 3, 0, 0),
        MteL1Bt(0, 4032, 17, 1, 0, 0),
        MteUbL1(0, 524288 - 32, 1, 2, 0, 0),
        MteGmL1Frac(0, 524288 - 32, "nd2nz", 2, 16, 32, 1, 1, 1, 1),
    ],
)
def test_ops_marked_legal_that_leave_a_memory_are_refused(bench: Bench, op: naive_ops.Op) -> None:
    with pytest.raises(ValueError, match="leaves its memory"):
        bench.model.execute(op, legal=True)


def test_the_far_end_of_gm(bench: Bench) -> None:
    """Two matrices a terabyte apart, the last byte of GM among them."""
    top = 2**40
    inner = 3
    first = top - 3 - 3 * inner - (top - 100000)
    op = MteGmL1Frac(first, 64, "nd2nz", 4, 3, inner, 2, 1, 1, 4, top - 100000, 0, 0,
                     *pointers("i8", "gm", "l1"))  # fmt: skip
    assert bench.model.execute(op).status is Status.OK
    last = bench.golden[Space.L1][64 + 4 * 32 + 3 * 32 :][:32]
    assert last.tobytes() == noise(Space.GM, top - 3, 3).tobytes() + bytes(29)
    assert bench.golden.written_pages() == []


def test_largest_counts(bench: Bench) -> None:
    types = pointers("i8", "gm", "l1")
    rows = MteGmL1Frac(0, 0, "nd2nz", 16384, 1, 5, 1, 1, 1, 1, None, 0, 0, *types)
    assert bench.model.execute(rows).bytes_written == 524288
    l1 = bench.golden[Space.L1].reshape(16384, 32)
    assert np.array_equal(l1[:, 0], noise(Space.GM, 0, 5 * 16384)[::5])
    assert not l1[:, 1:].any()
    columns = MteGmL1Frac(0, 0, "dn2nz", 1, 65535, 1, 8, 1, 1, 2048, 0, 0, 0, *types)
    assert bench.model.execute(columns).bytes_written == 524288
    group = np.append(noise(Space.GM, 0, 65535), 0).astype(np.uint8)
    assert all(np.array_equal(part, group) for part in bench.golden[Space.L1].reshape(8, 65536))
    groups = MteGmL1Frac(0, 0, "nd2nz", 8, 4, 4, 4095, 0, 0, 4, 7, 0, 1, *types)
    assert bench.model.execute(groups).bytes_written == 4095 * 32
