# SPDX-License-Identifier: Apache-2.0
"""The pyuvm side of the sequences: an item is a whole block, a sequence sends blocks.

Sequences take their settings as constructor arguments and keep them as attributes, so that a
factory override or a test may change them before ``start``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from pyuvm import uvm_sequence, uvm_sequence_item

from sequences.constraints import OP_NAMES, OpConstraints
from sequences.corner.blocks import corner_blocks
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from sequences.op_filter import FilterChain
from tb.isa.block import OpBlock

if TYPE_CHECKING:
    from sequences.examples.example import Example

_ids = count()


class BlockItem(uvm_sequence_item):
    """One block: ops that may all be in flight at once.

    Attributes:
        block: The ops.
        number: Unique in the process, ascending.
        faults: Memory errors to inject while the block runs.
        reset: Reset in the middle of the block, or None.
        isolated: The block is a separate program: legacy registers are restored after it.
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


class BlockSeq(uvm_sequence):
    """Sends blocks in order, one item each.

    Attributes:
        source: Source of the blocks unless :meth:`blocks` is overridden.
        sent: Ops sent so far.
    """

    def __init__(self, name: str = "blocks", source: Iterable[OpBlock] = ()) -> None:
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
            item = BlockItem(block)
            await self.start_item(item)
            await self.finish_item(item)
            self.sent += len(block)


class ItemSeq(uvm_sequence):
    """Sends given items, for runs that inject faults or mix generators.

    Attributes:
        items: The items, drawn while the sequence runs.
        sent: Ops sent so far.
    """

    def __init__(self, name: str = "items", items: Iterable[BlockItem] = ()) -> None:
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


class RandomSeq(BlockSeq):
    """``transactions`` random legal ops (:class:`sequences.draw.traffic.TrafficGenerator`)."""

    def __init__(
        self,
        name: str = "random",
        *,
        seed: int = 1,
        transactions: int = 1000,
        ops: Sequence[str] = OP_NAMES,
        constraints: OpConstraints | None = None,
        filter_chain: FilterChain | None = None,
    ) -> None:
        """Keeps the settings; the generator is made when the sequence starts.

        Ops that the ``filter_chain`` drops do not count: more are drawn until ``transactions`` are
        sent.
        """
        super().__init__(name)
        self.seed = seed
        self.transactions = transactions
        self.ops = ops
        self.constraints = constraints
        self.filter_chain = filter_chain

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of a new generator."""
        source = TrafficGenerator(self.seed, self.ops, self.constraints)
        yield from (self.filter_chain or FilterChain(())).blocks(source.blocks, self.transactions)


class IllegalSeq(RandomSeq):
    """``transactions`` ops, about half of them illegal (:mod:`sequences.illegal.generator`)."""

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of a new generator."""
        source = IllegalGenerator(self.seed, self.ops, self.constraints)
        filter_chain = self.filter_chain or FilterChain(())
        yield from filter_chain.blocks(source.blocks, self.transactions, isolated=True)


class DirectedSeq(BlockSeq):
    """One form of one example, or all of them; memories must hold the example's fills.

    The examples are imported when they are sent: to read all takes a tenth of a second.
    """

    def __init__(
        self,
        name: str = "directed",
        *,
        examples: Sequence[Example] | None = None,
        form: str = "",
    ) -> None:
        """Keeps the examples, all by default, and the form; an empty form sends every one."""
        super().__init__(name)
        self.examples = examples
        self.form = form

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of each example that holds under the profile in turn."""
        from sequences.examples import blocks, catalog

        chosen = catalog.EXAMPLES if self.examples is None else self.examples
        for example in filter(lambda each: each.applies, chosen):
            for form, found in blocks.example_blocks(example).items():
                if self.form in ("", form):
                    yield from found


class CornerSeq(BlockSeq):
    """Every corner (:mod:`sequences.corner.blocks`)."""

    def __init__(
        self, name: str = "corner", *, bus_bytes: int = 32, ops: Sequence[str] = OP_NAMES
    ) -> None:
        """Keeps the GM bus width in bytes and the ops."""
        super().__init__(name)
        self.bus_bytes = bus_bytes
        self.ops = ops

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the corner blocks."""
        yield from corner_blocks(self.bus_bytes, self.ops)
