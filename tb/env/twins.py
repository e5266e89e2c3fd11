# SPDX-License-Identifier: Apache-2.0
"""Twins on the engines: one copy in two legal forms, compared without the model.

The first form of some copies is sent, the bytes that it has left are saved, the contents before it
are restored, and the second form is sent to the same place. Both must leave the same bytes. A
mistake that engine and model share is found, if it is not the same in both forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequences.twins.forms import Twin, TwinDraw, blocks
from sequences.uvm import BlockItem
from tb.env.context import RunContext
from tb.isa.block import Fill, OpBlock
from tb.isa.spaces import SIZES
from tb.isa.text import to_text

GUARD = 64
"""Bytes before and after a destination that are compared, too."""

MOST_TWINS = 6
"""Copies of a pair of batches at most."""

_Bytes = NDArray[np.uint8]


class TwinCheck:
    """Sends twins and compares what they leave.

    Args:
        run: The run.
        draw: Generator of the twins.
        may_send: Tells whether all ops of a block may be sent.
        share: Share of the transactions of a run that are ops of twins.
    """

    def __init__(
        self, run: RunContext, draw: TwinDraw, may_send: Callable[[OpBlock], bool], share: float
    ) -> None:
        self._run, self._draw, self._may_send, self._share = run, draw, may_send, share
        self._sent = self._all = 0

    def items(self, block: OpBlock, left: int) -> Iterator[BlockItem]:
        """Yields both forms of some ops of a block that has been sent, when twins are due.

        Args:
            block: The ops; their batch has ended.
            left: Transactions that may still be sent.
        """
        self._all += len(block)
        if not self._share or self._sent > self._share * self._all:
            return
        with self._run.stopwatch.phase("generate"):
            twins = self._affordable(self._draw.twins(block, MOST_TWINS), left)
            pair = blocks(twins) if twins else None
        if pair is None or not all(map(self._may_send, pair)):
            return
        self._sent += sum(map(len, pair))
        self._all += sum(map(len, pair))
        first, wrong = self._run.counts.transactions, self._differences()
        before = self._contents(twins)
        yield BlockItem(pair[0], isolated=True)
        if self._run.aborted:
            return
        wanted = self._contents(twins)
        restored = tuple(
            Fill(twin.space, _bounds(twin)[0], data)
            for twin, data in zip(twins, before, strict=True)
        )
        yield BlockItem(replace(pair[1], fills=restored), isolated=True)
        if not self._run.aborted:
            with self._run.stopwatch.phase("compare"):
                self._compare(twins, wanted, first, agreed=self._differences() == wrong)

    def _differences(self) -> int:
        """Returns how many differences of engines and model there were so far."""
        counts = self._run.counts
        return counts.mismatches - counts.agreed + counts.protocol_errors

    def _affordable(self, twins: Sequence[Twin], left: int) -> list[Twin]:
        found: list[Twin] = []
        for twin in twins:
            if twin.cost <= left:
                found.append(twin)
                left -= twin.cost
        return found

    def _contents(self, twins: Sequence[Twin]) -> list[_Bytes]:
        """Returns the bytes at the destinations in the memories under test."""
        memory: Any = self._run.memory
        found = []
        for twin in twins:
            start, stop = _bounds(twin)
            memory.ensure(twin.space, start, stop - start)
            found.append(memory.view(twin.space)[start:stop].copy())
        return found

    def _compare(
        self, twins: Sequence[Twin], wanted: Sequence[_Bytes], first: int, *, agreed: bool
    ) -> None:
        """Compares the bytes of the second forms with those of the first.

        Args:
            twins: The twins.
            wanted: Bytes that their first forms have left.
            first: Transaction number of the first op.
            agreed: Engines and model have agreed on every op.
        """
        counts = self._run.counts
        starts = [first, first + sum(len(twin.forms[0].items) for twin in twins)]
        for twin, mine, found in zip(twins, wanted, self._contents(twins), strict=True):
            counts.twins[twin.op] += 1
            for form in twin.forms:
                counts.twin_forms[form.name] += 1
            if not np.array_equal(mine, found):
                numbers = starts[0], starts[1]
                text = report(twin, mine, found, numbers, self._run.command, agreed=agreed)
                self._run.fail(text, agreed=agreed)
            for number, form in enumerate(twin.forms):
                starts[number] += len(form.items)


def _bounds(twin: Twin) -> tuple[int, int]:
    return max(0, twin.start - GUARD), min(SIZES[twin.space], twin.stop + GUARD)


def report(
    twin: Twin,
    first: _Bytes,
    second: _Bytes,
    numbers: tuple[int, int],
    command: str,
    *,
    agreed: bool,
) -> str:
    """Returns the report of a twin whose forms leave different bytes.

    Args:
        twin: The twin.
        first: Bytes that the first form has left, guards included.
        second: The same of the second form.
        numbers: Transaction number of the first op of each form.
        command: Command that repeats the run.
        agreed: Engines and model have agreed on every op.
    """
    wrong = np.flatnonzero(first != second)
    start, _ = _bounds(twin)
    at = int(wrong[0])
    names = [form.name for form in twin.forms]
    count = "1 byte differs" if wrong.size == 1 else f"{wrong.size} bytes differ"
    lines = [
        f"MISMATCH: twins: {twin.op} leaves other bytes as {names[1]!r} than as {names[0]!r}",
        f"  {count}, the first at {twin.space.name.lower()} {start + at:#x}: "
        f"{first[at]:#04x} and {second[at]:#04x}",
        "  model and engine agree on each form: both have the same mistake"
        if agreed
        else "  model and engine differ, too: see the report of the op",
    ]
    repro = []
    for form, number in zip(twin.forms, numbers, strict=True):
        last = number + len(form.items) - 1
        repro += [str(number + k) for k in range(len(form.items))]
        which = f"transaction {number}" if last == number else f"transactions {number}..{last}"
        lines.append(f"  {form.name}, {which}:")
        lines += [f"    {to_text(op)}" for entry in form.entries for op in entry]
    lines.append(f"  repeat: {command}; REPRO={','.join(repro)} prints these ops as programs")
    return "\n".join(lines)
