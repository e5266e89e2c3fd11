# SPDX-License-Identifier: Apache-2.0
"""Sequences send every block once, in order, as items with unique ids."""

from __future__ import annotations

import asyncio

import pytest

from sequences.examples.blocks import example_blocks
from sequences.examples.catalog import EXAMPLES
from sequences.uvm import (
    BlockItem,
    BlockSeq,
    CornerSeq,
    DirectedSeq,
    IllegalSeq,
    RandomSeq,
)
from tb.isa.profile import A5, using

pytestmark = pytest.mark.long


class Recorder:
    """A fake sequencer."""

    def __init__(self) -> None:
        self.started: list[BlockItem] = []
        self.finished: list[BlockItem] = []

    async def start_item(self, item: BlockItem) -> None:
        self.started.append(item)

    async def finish_item(self, item: BlockItem) -> None:
        self.finished.append(item)


def send(sequence: BlockSeq) -> list[BlockItem]:
    recorder = Recorder()
    sequence.sequencer = recorder
    asyncio.run(sequence.body())
    assert recorder.started == recorder.finished
    return recorder.finished


@pytest.mark.parametrize("kind", [RandomSeq, IllegalSeq])
def test_transactions(kind: type[RandomSeq]) -> None:
    sequence = kind(seed=3, transactions=400)
    items = send(sequence)
    assert sum(len(item.block) for item in items) == sequence.sent == 400
    numbers = [item.number for item in items]
    assert numbers == sorted(set(numbers))
    assert items[0].get_name() == f"block_{numbers[0]}"


def test_directed_form() -> None:
    assert len(send(DirectedSeq(form="legacy"))) == 13
    applying = [example for example in EXAMPLES if example.applies]
    for form, least in (("v06", 70), ("ctrl", 8), ("vector", 25), ("scalar", 10)):
        assert len(send(DirectedSeq(form=form))) >= least
    every = sum(len(blocks) for each in applying for blocks in example_blocks(each).values())
    assert len(send(DirectedSeq())) == every > 150
    with using(A5):
        assert 100 < len(send(DirectedSeq())) < every


def test_corner() -> None:
    assert sum(len(item.block) for item in send(CornerSeq(bus_bytes=16))) > 1000


def test_given_blocks() -> None:
    blocks = list(RandomSeq(transactions=100).blocks())
    assert [item.block for item in send(BlockSeq(source=blocks))] == blocks
