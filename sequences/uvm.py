# SPDX-License-Identifier: Apache-2.0
"""The pyuvm side of the sequences: an item is a whole block, a sequence sends blocks.

Sequences take their settings as constructor arguments and keep them as attributes, so that a
factory override or a test may change them before ``start``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from pyuvm import uvm_sequence, uvm_sequence_item

from sequences.constraints import OP_NAMES, DmaConstraints
from sequences.corner import corner_blocks
from sequences.directed import example_blocks
from sequences.examples import EXAMPLES, Example
from sequences.illegal import IllegalGenerator
from sequences.keep import Keeper
from sequences.traffic import TrafficGenerator
from tb.isa.block import OpBlock

_ids = count()


class DmaBlockItem(uvm_sequence_item):
    """One block: an epoch whose ops may all be in flight at once.

    Attributes:
        block: The ops.
        number: Unique in the process, ascending.
        faults: Memory errors to inject while the block runs.
        reset: Reset in the middle of the block, or None.
        isolated: The block is a program of its own: legacy registers are as before behind it.
    """

    def __init__(
        self,
        block: OpBlock,
        name: str = "",
        *,
        faults: Sequence[Any] = (),
        reset: Any = None,
        isolated: bool = False,
    ) -> None:
        """Wraps ``block``; the name defaults to one with the number in it."""
        self.number = next(_ids)
        super().__init__(name or f"block_{self.number}")
        self.block = block
        self.faults = tuple(faults)
        self.reset = reset
        self.isolated = isolated


class DmaBlockSeq(uvm_sequence):
    """Sends blocks in order, one item each.

    Attributes:
        source: Where the blocks come from unless :meth:`blocks` is overridden.
        sent: Ops sent so far.
    """

    def __init__(self, name: str = "dma_blocks", source: Iterable[OpBlock] = ()) -> None:
        """Makes a sequence over ``source``."""
        super().__init__(name)
        self.source = source
        self.sent = 0

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks to send; drawn while the sequence runs."""
        yield from self.source

    async def body(self) -> None:
        """Sends one item per block."""
        for block in self.blocks():
            item = DmaBlockItem(block)
            await self.start_item(item)
            await self.finish_item(item)
            self.sent += len(block)


class DmaItemSeq(uvm_sequence):
    """Sends items that somebody else made, for runs that inject faults or mix generators.

    Attributes:
        items: The items, drawn while the sequence runs.
        sent: Ops sent so far.
    """

    def __init__(self, name: str = "dma_items", items: Iterable[DmaBlockItem] = ()) -> None:
        """Makes a sequence over ``items``."""
        super().__init__(name)
        self.items = items
        self.sent = 0

    async def body(self) -> None:
        """Sends the items."""
        for item in self.items:
            await self.start_item(item)
            await self.finish_item(item)
            self.sent += len(item.block)


class RandomDmaSeq(DmaBlockSeq):
    """``transactions`` random legal ops (:class:`sequences.traffic.TrafficGenerator`)."""

    def __init__(
        self,
        name: str = "random_dma",
        *,
        seed: int = 1,
        transactions: int = 1000,
        ops: Sequence[str] = OP_NAMES,
        constraints: DmaConstraints | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        """Keeps the settings; the generator is made when the sequence starts.

        What the ``keeper`` drops does not count: it is drawn on until ``transactions`` are sent.
        """
        super().__init__(name)
        self.seed = seed
        self.transactions = transactions
        self.ops = ops
        self.constraints = constraints
        self.keeper = keeper

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of a generator of its own."""
        source = TrafficGenerator(self.seed, self.ops, self.constraints)
        yield from (self.keeper or Keeper(())).blocks(source.blocks, self.transactions)


class IllegalDmaSeq(RandomDmaSeq):
    """``transactions`` ops, about half of them illegal (:mod:`sequences.illegal`)."""

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of a generator of its own."""
        source = IllegalGenerator(self.seed, self.ops, self.constraints)
        keeper = self.keeper or Keeper(())
        yield from keeper.blocks(source.blocks, self.transactions, isolated=True)


class DirectedDmaSeq(DmaBlockSeq):
    """One form of one example, or all of them; memories must hold the example's fills."""

    def __init__(
        self,
        name: str = "directed_dma",
        *,
        examples: Sequence[Example] = EXAMPLES,
        form: str = "",
    ) -> None:
        """Keeps the examples and the form; an empty form sends every one."""
        super().__init__(name)
        self.examples = examples
        self.form = form

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of each example in turn."""
        for example in self.examples:
            for form, blocks in example_blocks(example).items():
                if self.form in ("", form):
                    yield from blocks


class CornerDmaSeq(DmaBlockSeq):
    """Every corner (:mod:`sequences.corner`)."""

    def __init__(
        self, name: str = "corner_dma", *, bus_bytes: int = 32, ops: Sequence[str] = OP_NAMES
    ) -> None:
        """Keeps the GM bus width in bytes and the ops."""
        super().__init__(name)
        self.bus_bytes = bus_bytes
        self.ops = ops

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the corner blocks."""
        yield from corner_blocks(self.bus_bytes, self.ops)
