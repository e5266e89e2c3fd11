# SPDX-License-Identifier: Apache-2.0
"""Illegal blocks of a mixed run: of a few forms at a time where it is short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any

from sequences.constraints import OP_NAMES
from tb.env.tests.traffic import GROUP, GROUP_BLOCKS, SHORT, RandomTest


class Run:
    """The part of a run that draws: blocks are the forms that they are drawn from."""

    def __init__(self, ops: Sequence[str], transactions: int) -> None:
        settings = SimpleNamespace(ops=tuple(ops), transactions=transactions)
        self.run = SimpleNamespace(settings=settings)
        self.asked: list[tuple[str, ...]] = []

    def illegal_blocks(self, _seed: Any, cases: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
        self.asked.append(tuple(cases))
        while True:
            yield tuple(cases)

    def blocks(self, count: int, seed: int = 3) -> list[Any]:
        return list(islice(RandomTest.illegal_in_groups(self, seed), count))  # type: ignore[arg-type]


def test_a_short_run_searches_few_forms_and_in_the_end_all() -> None:
    run = Run(OP_NAMES, SHORT - 1)
    run.blocks(GROUP_BLOCKS)
    assert [len(forms) for forms in run.asked] == [GROUP]
    groups = -(-len(OP_NAMES) // GROUP)
    blocks = run.blocks(2 * groups * GROUP_BLOCKS)
    assert sorted({form for forms in blocks for form in forms}) == sorted(OP_NAMES)
    assert blocks[: groups * GROUP_BLOCKS] == blocks[groups * GROUP_BLOCKS :]
    assert Run(OP_NAMES, SHORT - 1).blocks(1, seed=4) != blocks[:1]


def test_a_long_run_and_one_of_few_forms_search_all_at_once() -> None:
    for run in (Run(OP_NAMES, SHORT), Run(OP_NAMES[:GROUP], 1)):
        run.blocks(3 * GROUP_BLOCKS)
        assert run.asked == [()]
