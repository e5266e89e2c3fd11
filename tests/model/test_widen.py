# SPDX-License-Identifier: Apache-2.0
"""Widening over all inputs, and the classes of the widened values."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.model.widen import WIDENINGS, bf16_to_f32, classify, f16_to_f32
from tb.isa.burst.op import MteL1Bt
from tb.isa.dtypes import Ptr
from tb.isa.events import BiasEvent
from tb.isa.op import replace
from tb.isa.spaces import Space
from tests.model import naive_ops
from tests.model.conftest import Bench

ALL = np.arange(1 << 16, dtype=np.uint16)


def test_every_f16_matches_numpy_and_nan_keeps_its_payload() -> None:
    halves = ALL.view(np.float16)
    nan = np.isnan(halves)
    ours = f16_to_f32(ALL)
    assert ours.dtype == np.uint32
    assert np.array_equal(ours[~nan], halves[~nan].astype(np.float32).view(np.uint32))
    payload = (ALL[nan].astype(np.uint32) & 0x3FF) << 13
    sign = (ALL[nan].astype(np.uint32) >> 15) << 31
    assert np.array_equal(ours[nan], sign | 0x7F800000 | payload)
    assert int(nan.sum()) == 2 * 1023


def test_every_f16_matches_the_second_reading() -> None:
    assert f16_to_f32(ALL).tolist() == [naive_ops.widen("f16", bits) for bits in range(1 << 16)]


def test_every_bf16_is_the_upper_half() -> None:
    ours = bf16_to_f32(ALL)
    assert ours.tolist() == [naive_ops.widen("bf16", bits) for bits in range(1 << 16)]
    bytes_up = np.stack((np.zeros_like(ALL), ALL), axis=1).astype("<u2").view("<u4")[:, 0]
    assert np.array_equal(ours, bytes_up)


@pytest.mark.parametrize(
    ("half", "word"),
    [
        (0x3C00, 0x3F800000),
        (0xC100, 0xC0200000),
        (0x3555, 0x3EAAA000),
        (0x7BFF, 0x477FE000),
        (0x0400, 0x38800000),
        (0x03FF, 0x387FC000),
        (0x0001, 0x33800000),
        (0x8000, 0x80000000),
        (0x7C00, 0x7F800000),
        (0x7E01, 0x7FC02000),
        (0xFC01, 0xFF802000),
    ],
)
def test_check_values_of_the_spec(half: int, word: int) -> None:
    assert int(f16_to_f32(np.array([half]))[0]) == word


with np.errstate(invalid="ignore"):  # signalling NaNs
    F16 = ALL.view(np.float16).astype(np.float64)
    BF16 = (ALL.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    ("exponent", "fraction", "values", "tiny", "largest"),
    [(5, 10, F16, 2.0**-14, 65504.0), (8, 7, BF16, 2.0**-126, (2 - 2.0**-7) * 2.0**127)],
)
def test_classes_of_every_half(
    exponent: int, fraction: int, values: NDArray[np.float64], tiny: float, largest: float
) -> None:
    nan, magnitude = np.isnan(values), np.abs(values)
    quiet = ALL >> (fraction - 1) & 1 == 1
    expected = np.zeros(1 << 16, dtype=np.int64)
    for event, holds in (
        (BiasEvent.ZERO, values == 0),
        (BiasEvent.SUBNORMAL, (magnitude > 0) & (magnitude < tiny)),
        (BiasEvent.NORMAL, np.isfinite(values) & (magnitude >= tiny)),
        (BiasEvent.INF, np.isinf(values)),
        (BiasEvent.QUIET_NAN, nan & quiet),
        (BiasEvent.SIGNALLING_NAN, nan & ~quiet),
        (BiasEvent.NEGATIVE, ALL >= 1 << 15),
        (BiasEvent.MAX_FINITE, magnitude == largest),
    ):
        expected += np.where(holds, int(event), 0)
    assert np.array_equal(classify(ALL, exponent, fraction), expected)


def test_classes_of_f32_are_those_of_bf16_with_low_bits() -> None:
    rng = np.random.default_rng(2)
    words = rng.integers(0, 1 << 32, 100000, dtype=np.uint32)
    edges = [0x7F7FFFFF, 0x7F7FFFFE, 0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 1, 0x7FFFFF]
    words = np.concatenate(
        (words, np.array(edges, np.uint32), np.array(edges, np.uint32) | 1 << 31)
    )
    with np.errstate(invalid="ignore"):
        magnitude = np.abs(words.view(np.float32).astype(np.float64))
    found = classify(words, 8, 23).astype(np.int64)

    def has(event: BiasEvent) -> NDArray[np.bool_]:
        holds: NDArray[np.bool_] = (found & int(event)) != 0
        return holds

    tiny = float(np.finfo(np.float32).tiny)
    assert np.array_equal(has(BiasEvent.SUBNORMAL), (magnitude > 0) & (magnitude < tiny))
    assert np.array_equal(has(BiasEvent.NORMAL), np.isfinite(magnitude) & (magnitude >= tiny))
    assert np.array_equal(has(BiasEvent.INF), np.isinf(magnitude))
    nan = np.isnan(magnitude)
    assert np.array_equal(has(BiasEvent.QUIET_NAN), nan & (words >> 22 & 1 == 1))
    assert np.array_equal(has(BiasEvent.SIGNALLING_NAN), nan & (words >> 22 & 1 == 0))
    assert np.array_equal(has(BiasEvent.MAX_FINITE), words & 0x7FFFFFFF == 0x7F7FFFFF)
    assert np.array_equal(has(BiasEvent.NEGATIVE), words >> 31 == 1)


def test_the_four_pairs() -> None:
    assert {name: w.target for name, w in WIDENINGS.items()} == {
        "f32": "f32",
        "i32": "i32",
        "bf16": "f32",
        "f16": "f32",
    }


OP = MteL1Bt(64, 128, 4, 2, 1, 3, Ptr("f16", "l1"), Ptr("f32", "bt"))


def load(bench: Bench, op: MteL1Bt, elements: list[int], size: int) -> int:
    data = np.array(elements, f"<u{size}").tobytes()
    bench.golden.write(Space.L1, op.l1_src, data)
    issued = bench.model.issue(op)
    assert issued.events == 0
    applied = bench.model.apply(issued)
    assert applied._replace(events=0) == issued
    return applied.events


def test_events_are_those_of_the_elements_read(bench: Bench) -> None:
    # The element in the gap and those after the last burst do not count.
    elements = [0x0000, 0x3C00, 0x0001, 0x3C00, 0xFC00, 0x7BFF, 0x3C00, 0x7E00, 0x3C00, 0x7C01]
    events = load(bench, OP, elements, 2)
    assert events == (
        BiasEvent.ZERO
        | BiasEvent.SUBNORMAL
        | BiasEvent.NORMAL
        | BiasEvent.MAX_FINITE
        | BiasEvent.QUIET_NAN
    )
    one = replace(OP, len_burst=1, n_burst=1)
    for half, event in (
        (0x7C01, BiasEvent.SIGNALLING_NAN),
        (0xFC00, BiasEvent.INF | BiasEvent.NEGATIVE),
        (0x8000, BiasEvent.ZERO | BiasEvent.NEGATIVE),
        (0x3C00, BiasEvent.NORMAL),
    ):
        assert load(bench, one, [half], 2) == event


def test_events_by_type(bench: Bench) -> None:
    one = replace(OP, len_burst=1, n_burst=1)
    bf16 = replace(one, src_type=Ptr("bf16", "l1"))
    assert load(bench, bf16, [0xFF7F], 2) == (
        BiasEvent.NORMAL | BiasEvent.MAX_FINITE | BiasEvent.NEGATIVE
    )
    f32 = replace(one, src_type=Ptr("f32", "l1"))
    assert load(bench, f32, [0x7F800001], 4) == BiasEvent.SIGNALLING_NAN
    i32 = replace(one, src_type=Ptr("i32", "l1"), dst_type=Ptr("i32", "bt"))
    assert load(bench, i32, [0x7F800001], 4) == 0
    assert bench.golden[Space.BT][128:132].tobytes() == b"\x01\0\x80\x7f"
    assert bench.model.execute(replace(OP, len_burst=0)).events == 0
