# SPDX-License-Identifier: Apache-2.0
"""Places of buffers in GM: inside, disjoint, repeatable, or an error."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.common.errors import PtoError
from tb.language.order.loaded import Written
from tb.programs.placement import GM_BYTES, GUARD, Taken, Wanted, draw, place

WANTED = st.lists(
    st.builds(
        Wanted,
        st.just("a buffer"),
        st.one_of(st.integers(1, 1 << 20), st.integers(1, GM_BYTES >> 6)),
        st.sampled_from((1, 2, 4, 8, 32, 512)),
    ),
    max_size=8,
)


@pytest.mark.long
@given(WANTED, st.integers(0, 1 << 62))
def test_buffers_are_inside_aligned_and_apart(wanted: list[Wanted], seed: int) -> None:
    addresses = place(wanted, (seed,))
    ranges = sorted(
        (address, address + one.length) for address, one in zip(addresses, wanted, strict=True)
    )
    for address, one in zip(addresses, wanted, strict=True):
        assert 0 <= address <= GM_BYTES - one.length
        assert address % one.align == 0
    for (_, stop), (start, _) in pairwise(ranges):
        assert start - stop >= GUARD


def test_equal_seeds_give_equal_places_and_others_do_not() -> None:
    wanted = [Wanted("a", 4096), Wanted("b", 4096)]
    assert place(wanted, (1,)) == place(wanted, (1,))
    assert place(wanted, (1,)) != place(wanted, (2,))


def test_places_are_anywhere_in_40_bits() -> None:
    drawn = [place([Wanted("a", 16)], (seed,))[0] for seed in range(64)]
    assert max(drawn) > 0xF0_0000_0000
    assert min(drawn) < 0x10_0000_0000
    assert len({one % 32 for one in drawn}) > 16, "not aligned unless asked"


def test_drawn_buffers_are_disjoint_from_taken_ranges() -> None:
    half = GM_BYTES // 2
    for seed in range(20):
        (address,) = place([Wanted("a", 64)], (seed,), avoided=[(0, half)])
        assert address >= half + GUARD
        (address,) = place([Wanted("a", 64)], (seed,), taken=[Taken(half, GM_BYTES, "x")])
        assert address + 64 <= half - GUARD


def test_fixed_addresses_are_kept() -> None:
    wanted = [Wanted("a", 64, address=0x1000), Wanted("b", 64, address=0x1040), Wanted("c", 64)]
    addresses = place(wanted, (1,), avoided=[(0x1000, 0x1001)])
    assert addresses[:2] == (0x1000, 0x1040), "a program may name its buffers by address"


@pytest.mark.parametrize(
    ("wanted", "taken", "words"),
    [
        ([Wanted("a", 64, address=0), Wanted("b", 64, address=63)], [], ["b, 64 bytes at 0x3f"]),
        ([Wanted("a", 64, address=GM_BYTES - 63)], [], ["leaves GM", "0..0xffffffffff"]),
        ([Wanted("a", 64, address=0)], [Taken(10, 11, "a load")], ["overlaps a load at 0xa..0xa"]),
        ([Wanted("a", GM_BYTES + 1)], [], ["no place in GM for a"]),
        ([Wanted("a", 64)], [Taken(0, GM_BYTES, "x")], ["no place in GM for a"]),
    ],
)
def test_buffers_that_cannot_be_placed(
    wanted: list[Wanted], taken: list[Taken], words: list[str]
) -> None:
    with pytest.raises(PtoError) as error:
        place(wanted, (1,), taken=taken)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("drawn", "taken"),
    [
        ([0x20000, 0x20000 + GUARD - 1, 0x20000 + GUARD], 0x20000 + GUARD),
        ([0x10000 - 64, 0x10000 - 63 - GUARD, 0x10000 - 64 - GUARD], 0x10000 - 64 - GUARD),
    ],
)
def test_a_draw_too_near_to_another_buffer_is_drawn_again(drawn: list[int], taken: int) -> None:
    class Drawn:
        def integers(self, _low: int, _high: int) -> int:
            return drawn.pop(0)

    used = Written([0x10000], [0x20000])
    assert draw(Wanted("a", 64), used, Drawn()) == taken  # type: ignore[arg-type]
    assert used.missing(taken, taken + 64) is None, "the next one is drawn apart from it"
