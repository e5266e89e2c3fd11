# SPDX-License-Identifier: Apache-2.0
"""Sequences hand over every block once, in order, as items with ids of their own."""

from __future__ import annotations

import asyncio

import pytest

from sequences.uvm import (
    CornerDmaSeq,
    DirectedDmaSeq,
    DmaBlockItem,
    DmaBlockSeq,
    IllegalDmaSeq,
    RandomDmaSeq,
)


class Recorder:
    """Stands in for a sequencer."""

    def __init__(self) -> None:
        self.started: list[DmaBlockItem] = []
        self.finished: list[DmaBlockItem] = []

    async def start_item(self, item: DmaBlockItem) -> None:
        self.started.append(item)

    async def finish_item(self, item: DmaBlockItem) -> None:
        self.finished.append(item)


def send(sequence: DmaBlockSeq) -> list[DmaBlockItem]:
    recorder = Recorder()
    sequence.sequencer = recorder
    asyncio.run(sequence.body())
    assert recorder.started == recorder.finished
    return recorder.finished


@pytest.mark.parametrize("kind", [RandomDmaSeq, IllegalDmaSeq])
def test_transactions(kind: type[RandomDmaSeq]) -> None:
    sequence = kind(seed=3, transactions=400)
    items = send(sequence)
    assert sum(len(item.block) for item in items) == sequence.sent == 400
    numbers = [item.number for item in items]
    assert numbers == sorted(set(numbers))
    assert items[0].get_name() == f"block_{numbers[0]}"


def test_directed_form() -> None:
    assert len(send(DirectedDmaSeq(form="legacy"))) == 12
    assert len(send(DirectedDmaSeq())) == 44 + 65


def test_corner() -> None:
    assert sum(len(item.block) for item in send(CornerDmaSeq(bus_bytes=16))) > 1000


def test_given_blocks() -> None:
    blocks = list(RandomDmaSeq(transactions=100).blocks())
    assert [item.block for item in send(DmaBlockSeq(source=blocks))] == blocks
