# SPDX-License-Identifier: Apache-2.0
"""Footprints against sets of byte addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.isa.footprint import Footprint, footprints_overlap, row_overlap
from tb.isa.spaces import Space

FOOTPRINTS = st.integers(1, 3).flatmap(
    lambda levels: st.builds(
        Footprint,
        st.just(Space.UB0),
        st.integers(0, 200),
        st.integers(1, 20),
        st.tuples(*[st.integers(1, 4)] * levels),
        st.tuples(*[st.integers(0, 90)] * levels),
    )
)


def addresses(footprint: Footprint) -> list[int]:
    starts = [footprint.base]
    for count, stride in zip(footprint.counts, footprint.strides, strict=True):
        starts = [start + k * stride for k in range(count) for start in starts]
    return [start + byte for start in starts for byte in range(footprint.length)]


@pytest.mark.long
@given(FOOTPRINTS)
def test_extent_and_self_overlap(footprint: Footprint) -> None:
    touched = addresses(footprint)
    assert footprint.end == max(touched) + 1
    assert footprint.bytes == len(touched)
    assert row_overlap(footprint) == (len(set(touched)) != len(touched))
    assert sorted(footprint.row_starts().tolist()) == sorted(touched[:: footprint.length])


@pytest.mark.long
@given(FOOTPRINTS, FOOTPRINTS)
def test_overlap_of_two(one: Footprint, other: Footprint) -> None:
    assert footprints_overlap(one, other) == bool(set(addresses(one)) & set(addresses(other)))


def test_other_memory_never_overlaps() -> None:
    one = Footprint(Space.UB0, 0, 32, (1,), (0,))
    assert not footprints_overlap(one, Footprint(Space.UB1, 0, 32, (1,), (0,)))
