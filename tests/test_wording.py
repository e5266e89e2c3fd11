# SPDX-License-Identifier: Apache-2.0
"""A message that lacks a fact is found."""

from __future__ import annotations

import pytest

from tests.wording import line_says, pattern, says

TEXT = "mte2: AR is offered (valid since 120 clocks) and the memory does not take it: 64 B of %p\n"
NUMBERS = "offset -4 (0..255, 5.036)"


@pytest.mark.parametrize(
    "facts",
    ["mte2", r"mte2 AR valid \d+ clocks memory not take", "64 B %p", "12. clocks", "since 120"],
)
def test_facts_in_their_order(facts: str) -> None:
    assert says(TEXT, facts)
    with pytest.raises(ValueError, match=pattern(facts)):
        raise ValueError(TEXT.replace(" and ", "\n"))


@pytest.mark.parametrize(
    "facts",
    ["mte", "mte3 AR", "AR mte2", "12 clocks", "20 clocks", "taken", "64 B %q", "6 B", "not not"],
)
def test_missing_facts(facts: str) -> None:
    assert not says(TEXT, facts)


def test_facts_of_one_line() -> None:
    text = "ub: 3 bytes differ\ngm: 4 bytes differ\n"
    assert line_says(text, "gm 4 differ")
    assert says(text, "ub 4 differ")
    assert not line_says(text, "ub 4 differ")


@pytest.mark.parametrize("fact", ["-4", "0", "255", "5.036"])
def test_whole_numbers(fact: str) -> None:
    assert says(NUMBERS, fact)


@pytest.mark.parametrize("fact", ["4", "036", "5", "25"])
def test_parts_of_numbers(fact: str) -> None:
    assert not says(NUMBERS, fact)
