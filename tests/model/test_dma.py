# SPDX-License-Identifier: Apache-2.0
"""The vectorised model against the spec's pseudo code executed byte by byte."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoreboards.model.dma import DmaOp, ReferenceModel
from scoreboards.model.outcome import NOTHING, Outcome
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, SetLoopSize, SetLoopStride, SetMovPadVal
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.profile import current, parse_profile, use
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.model import naive
from tests.model.conftest import PROFILE_TEXTS, Bench, addresses, noise
from tests.model.naive_rules import lowest_rule

GM_BYTES, UB_BYTES = 3072, 1536
TYPES = {1: "i8", 2: "f16", 4: "f32"}
SMALL = {Space.GM: GM_BYTES, Space.UB0: UB_BYTES, Space.UB1: UB_BYTES}


def pointers(size: int, to_ub: bool) -> tuple[Ptr, Ptr]:
    gm, ub = Ptr(TYPES[size], "gm"), Ptr(TYPES[size], "ub")
    return (gm, ub) if to_ub else (ub, gm)


def check(copy: naive.Copy, regs: naive.Regs, before: tuple[DmaOp, ...]) -> bool:
    """Runs one copy on model and pseudo code; False when it leaves the small memories."""
    expected = {space: bytearray(noise(space, 0, size).tobytes()) for space, size in SMALL.items()}
    actual = {space: noise(space, 0, size) for space, size in SMALL.items()}
    plain = naive.plain(copy, regs)
    try:
        effect = naive.copy(plain, expected)
    except IndexError:
        return False
    if current().tail == "fill" and (effect.twice or plain.len < plain.element):
        return False  # undefined: DMA-L18, DMA-L19
    if plain.group and plain.pads and (effect.twice or lowest_rule(plain)):
        return False  # a group has no left pad, and begins with a block
    model = ReferenceModel(actual)
    for op in before:
        assert model.execute(op).status is Status.OK
    outcome = model.execute(copy, legal=True)
    assert outcome.status is Status.OK
    for space in SMALL:
        assert actual[space].tobytes() == bytes(expected[space]), (space, copy)
    assert addresses(outcome.written) == effect.written
    assert addresses(outcome.read) == effect.read
    if outcome.written is not None:
        assert outcome.written.space is (plain.target)
        assert outcome.read is not None
        assert outcome.bytes_read == plain.len * outcome.read.rows
    return True


def draw(rng: np.random.Generator) -> tuple[naive.Copy, naive.Regs, tuple[DmaOp, ...]]:
    """One copy with small operands, not necessarily legal, of any of the four ops."""

    def pick(*values: int) -> int:
        return int(rng.choice(values))

    to_ub = bool(rng.integers(2))
    legacy = bool(rng.integers(2))
    size = pick(1, 2, 4)
    aligned = bool(rng.integers(4))  # strides and bases in elements of 32 bytes, mostly
    unit = 32 if aligned else 1
    length = pick(0, 1, 2, 4, 12, 31, 32, 33, 60, 64)
    n = pick(0, 1, 1, 2, 3, 5)
    ub_base = int(rng.integers(0, 10)) * unit
    gm_base = int(rng.integers(0, 200))

    def stride(local: bool) -> int:
        return int(rng.integers(0, 9)) * unit if local else int(rng.integers(0, 150))

    padded = to_ub and bool(rng.integers(2))
    left = pick(0, 0, 1, 2, 4) if padded else 0
    src_stride, dst_stride = stride(not to_ub), stride(to_ub)
    packed = pick(0, 0, 1)
    if packed and to_ub:
        left, dst_stride = 0, length  # rows without a gap
    elif packed:
        src_stride = length
    elif padded:
        dst_stride = left * size + length + int(rng.integers(0, 40))
        if aligned:
            dst_stride = -(-dst_stride // 32) * 32
    loops = [
        (pick(0, 1, 2, 2, 3), stride(not to_ub), stride(to_ub))
        for _ in range(2 if legacy else pick(0, 0, 1, 2, 3, 4))
    ]
    value = int(rng.integers(0, 256**size))
    ub_sub = int(rng.integers(2))
    types = pointers(size, to_ub)
    regs = naive.Regs()
    if not legacy:
        groups = tuple(Loop(*loop) for loop in loops)
        if not to_ub:
            op: naive.Copy = MteUbGm(
                ub_base, gm_base, length, n, src_stride, dst_stride, groups, 0, *types, ub_sub
            )
        else:
            pad = Pad(TYPES[size], value, left, 0) if padded else None
            op = MteGmUb(
                gm_base, ub_base, length, n, src_stride, dst_stride, groups, pad, 0, *types, ub_sub
            )
        return op, regs, ()
    direction = "outtoub" if to_ub else "ubtoout"
    wide = int(rng.integers(0, 2**32))
    before: tuple[DmaOp, ...] = (
        SetMovPadVal("i32", wide),
        SetLoopSize(direction, loops[0][0], loops[1][0]),
        SetLoopStride(direction, 1, *loops[0][1:]),
        SetLoopStride(direction, 2, *loops[1][1:]),
    )
    regs.pad = wide
    if to_ub:
        regs.outtoub = loops
        if current().legacy_pad_unit == "bytes":
            left *= size
        selected = padded and not (left and current().pad_unselected == "register" and pick(0, 1))
        op = CopyGmToUbuf(
            gm_base, ub_base, 0, n, length, left, 0, int(selected), 0, src_stride, dst_stride,
            *types, ub_sub,
        )  # fmt: skip
    else:
        regs.ubtoout = loops
        op = CopyUbufToGm(ub_base, gm_base, 0, n, length, 0, dst_stride, src_stride, *types, ub_sub)
    return op, regs, before


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("profile", PROFILE_TEXTS)
def test_random_copies_match_the_pseudo_code(profile: str, seed: int) -> None:
    use(parse_profile(profile))
    rng = np.random.default_rng(seed)
    checked = sum(check(*draw(rng)) for _ in range(1000))
    assert checked > 350


COUNT = st.integers(0, 4)
GM_STRIDE = st.integers(0, 200)
UB_STRIDE = st.integers(0, 8).map(lambda k: 32 * k)


@st.composite
def padded_ops(make: st.DrawFn) -> MteGmUb:
    size = make(st.sampled_from([1, 2, 4]))
    left = make(st.integers(0, 32 // size))
    elements = make(st.integers(1, 24))
    least = (left + elements) * size
    stride = -(-least // 32) * 32 + make(st.sampled_from([0, 0, 32]))
    pad = Pad(TYPES[size], make(st.integers(0, 256**size - 1)), left, 0)
    loops = tuple(
        Loop(make(COUNT), make(GM_STRIDE), make(UB_STRIDE)) for _ in range(make(st.integers(0, 3)))
    )
    return MteGmUb(
        make(st.integers(0, 99)),
        make(UB_STRIDE),
        elements * size,
        make(COUNT),
        make(GM_STRIDE),
        stride,
        loops,
        pad,
        0,
        *pointers(size, True),
    )


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(padded_ops())
def test_padded_rows_match_the_pseudo_code(op: MteGmUb) -> None:
    check(op, naive.Regs(), ())


@pytest.mark.parametrize(
    ("pad", "size", "expected"),
    [
        (Pad("i8", 0x5A), 1, "5a5a5a5a"),
        (Pad("f16", 0x3C00), 2, "003c003c"),
        (Pad("f32", 0x3F800000), 4, "0000803f"),
        (Pad("bf16", 0x3F80), 2, "803f803f"),
        (Pad("i16", 0x1234), 2, "34123412"),
        (Pad("i32", 0x12345678), 4, "78563412"),
    ],
)
def test_pad_patterns_of_the_spec(bench: Bench, pad: Pad, size: int, expected: str) -> None:
    op = MteGmUb(0, 0, 32, 2, 32, 64, (), pad, 0, *pointers(size, True))
    assert bench.model.execute(op).status is Status.OK
    ub = bench.golden[Space.UB0]
    for row in (0, 64):
        assert ub[row + 32 : row + 64].tobytes() == bytes.fromhex(expected) * 8
        assert np.array_equal(ub[row : row + 32], noise(Space.GM, row // 2, 32))
    assert ub[128:].tobytes() == noise(Space.UB0, 128, ub.size - 128).tobytes()


def test_pad_phase_is_that_of_the_absolute_address() -> None:
    ub = np.zeros(64, dtype=np.uint8)
    model = ReferenceModel({Space.GM: np.full(64, 0xEE, np.uint8), Space.UB0: ub})
    pad = Pad("i32", 0x44332211)
    model.execute(MteGmUb(0, 3, 2, 1, 0, 12, (), pad, 0, *pointers(4, True)), legal=True)
    assert ub[:16].tobytes().hex() == "000000eeee" + "223344" + "11223344" + "112233" + "00"


def test_without_padding_the_tail_of_the_row_is_kept(bench: Bench) -> None:
    bench.model.execute(MteGmUb(0, 0, 5, 3, 5, 32))
    ub = bench.golden[Space.UB0]
    for row in range(3):
        assert np.array_equal(ub[32 * row : 32 * row + 5], noise(Space.GM, 5 * row, 5))
        assert np.array_equal(ub[32 * row + 5 : 32 * row + 32], noise(Space.UB0, 32 * row + 5, 27))


def test_nothing_is_written_between_loop_footprints(bench: Bench) -> None:
    op = MteGmUb(0, 0, 40, 2, 40, 64, (Loop(2, 80, 256),), Pad("i8", 0x77))
    bench.model.execute(op)
    ub = bench.golden[Space.UB0]
    assert np.array_equal(ub[128:256], noise(Space.UB0, 128, 128))
    assert np.array_equal(ub[384:512], noise(Space.UB0, 384, 128))
    assert (ub[256 + 64 + 40 : 384] == 0x77).all()


@pytest.mark.parametrize(
    "op",
    [
        MteGmUb(0, 0, 0, 4, 64, 64),
        MteGmUb(0, 0, 64, 0, 64, 64),
        MteGmUb(0, 0, 64, 2, 64, 64, (Loop(0, 0, 0),)),
        MteGmUb(0, 0, 64, 2, 64, 64, (Loop(2, 0, 128), Loop(2, 0, 256), Loop(0, 0, 0))),
        MteGmUb(0, 0, 0, 2, 64, 64, (), Pad("i8", 1)),
        MteGmUb(2**40 + 5, 1 << 18, 64, 0, 64, 64),
        MteUbGm(0, 0, 0, 1, 64, 64),
        MteUbGm(0, 2**50, 64, 1, 64, 64, (Loop(0, 64, 64),)),
        CopyGmToUbuf(0, 0, 0, 0, 64, 0, 0, 0, 0, 64, 64),
        CopyUbufToGm(0, 0, 0, 1, 0, 0, 64, 64),
    ],
)
def test_zero_counts_are_nops(bench: Bench, op: DmaOp) -> None:
    assert bench.model.execute(op) == NOTHING
    assert bench.unchanged()


def test_a_broken_rule_comes_before_the_zero_count(bench: Bench) -> None:
    assert bench.model.execute(MteGmUb(0, 1, 0, 1, 0, 0)).rule == 6


def test_forty_bit_addresses_and_strides(bench: Bench) -> None:
    top = 2**40
    golden, model = bench.golden, bench.model
    outcome = model.execute(MteGmUb(top - 1, 64, 1, 1, 2**40 - 1, 0))
    assert outcome.status is Status.OK
    assert golden[Space.UB0][64] == noise(Space.GM, top - 1, 1)[0]
    stride = 2**39 - 7
    far = MteUbGm(0, 11, 3, 2, 32, stride, (Loop(2, 64, 2**39 - 20),))
    outcome = model.execute(far)
    assert outcome.status is Status.OK
    for source, target in (
        (0, 11),
        (32, 11 + stride),
        (64, 11 + 2**39 - 20),
        (96, 11 + stride + 2**39 - 20),
    ):
        gm = golden[Space.GM][target : target + 3]
        assert gm.tobytes() == golden[Space.UB0][source : source + 3].tobytes()
        edges = golden[Space.GM][target - 1 : target + 4 : 4].tobytes()
        assert edges == noise(Space.GM, target - 1, 5)[::4].tobytes()
    pages = {a >> 12 for a in (11, 11 + stride, 2**39 - 9, 11 + stride + 2**39 - 20)}
    assert golden.written_pages() == sorted(pages)


def test_an_unused_stride_may_have_any_value(bench: Bench) -> None:
    op = MteUbGm(0, 0, 9, 1, 2**21 - 1, 2**40 - 1, (Loop(1, 2**21 - 1, 2**40 - 1),))
    assert bench.model.execute(op).bytes_written == 9


@pytest.mark.long
def test_two_million_iterations(bench: Bench) -> None:
    count = 2**21 - 1
    outcome = bench.model.execute(MteUbGm(0, 1000, 1, 1, 0, 0, (Loop(count, 0, 3),)))
    assert outcome.bytes_written == count
    gm = bench.golden[Space.GM]
    first = int(bench.golden[Space.UB0][0])
    assert (gm[1000 : 1000 + 3 * count : 3] == first).all()
    assert np.array_equal(gm[1001:4000:3], noise(Space.GM, 1001, 2999)[::3])


def test_sub_blocks_are_separate(bench: Bench) -> None:
    outcome = bench.model.execute(MteGmUb(0, 0, 64, 1, 0, 0, ub_sub=1))
    assert outcome.written is not None
    assert outcome.written.space is Space.UB1
    assert np.array_equal(bench.golden[Space.UB0], noise(Space.UB0, 0, 1 << 18))
    assert np.array_equal(bench.golden[Space.UB1][:64], noise(Space.GM, 0, 64))


def test_issue_moves_no_data_before_apply(bench: Bench) -> None:
    outcome = bench.model.issue(MteGmUb(0, 0, 64, 1, 0, 0))
    assert bench.unchanged()
    bench.model.apply(outcome)
    assert np.array_equal(bench.golden[Space.UB0][:64], noise(Space.GM, 0, 64))
    bench.model.apply(NOTHING)


def test_legal_ops_that_leave_a_small_memory_are_refused() -> None:
    model = ReferenceModel({Space.GM: np.zeros(64, np.uint8), Space.UB0: np.zeros(64, np.uint8)})
    with pytest.raises(ValueError, match="leaves its memory"):
        model.execute(MteGmUb(0, 32, 64, 1, 0, 0), legal=True)
    with pytest.raises(ValueError, match="leaves its memory"):
        model.execute(MteGmUb(0, 32, 20, 3, 10, 10), legal=True)


def test_eight_byte_elements_cannot_be_padded(bench: Bench) -> None:
    types = Ptr("i64", "gm"), Ptr("i64", "ub")
    for n, ub_dst in ((1, 0), (0, 16)):
        copy = CopyGmToUbuf(0, ub_dst, 0, n, 16, 0, 0, 1, 0, 16, 32, *types)
        assert bench.model.execute(copy) == Outcome(Status.RULE, 3)
    assert bench.unchanged()


@pytest.mark.parametrize(
    "memory", [np.zeros(8, np.uint16), np.zeros((2, 8), np.uint8), np.zeros(8, np.uint8)[::2]]
)
def test_memories_of_wrong_shape_are_refused(memory: NDArray[np.uint8]) -> None:
    with pytest.raises(ValueError, match="UB0"):
        ReferenceModel({Space.UB0: memory})


def test_read_only_memories_are_refused() -> None:
    memory = np.zeros(8, np.uint8)
    memory.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ReferenceModel({Space.UB0: memory})


def test_other_objects_are_refused(bench: Bench) -> None:
    with pytest.raises(TypeError, match="str"):
        bench.model.execute(cast(DmaOp, "mte_gm_ub"))
