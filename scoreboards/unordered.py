# SPDX-License-Identifier: Apache-2.0
"""Finds ops of a block that touch the same bytes though nothing orders them.

An engine need not order the ops that it has accepted (docs/contract.md): a block orders them by
``after`` and ``also_after``. The result of two ops that share bytes without is not defined, so a
failure of one of them says nothing about the engine.
"""

from __future__ import annotations

import numpy as np

from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.footprint import Footprint, destinations, footprints_overlap, source
from tb.isa.rules import first_d_violation


def unordered(block: OpBlock, index: int) -> int | None:
    """Returns an op of the block that shares bytes with op ``index``, unordered; None without one.

    At least one of the two writes the bytes. Illegal ops touch none.
    """
    words = block.pack()
    mine = _sides(words[index])
    before = _before(block, index)
    for other in range(len(block)):
        if other == index or other in before or not _meet(mine, _sides(words[other])):
            continue
        if other < index or index not in _before(block, other):
            return other
    return None


def _before(block: OpBlock, index: int) -> set[int]:
    """Returns the ops that have retired before op ``index`` is offered.

    Ops of a slot are offered and retire in order: what one waits for, the later ones wait for, too,
    and with one that retires those before it have retired.
    """
    found: set[int] = set()
    left = [link for at in _slot_until(block, index) for link in block.links(at)]
    while left:
        last = left.pop()
        if last in found:
            continue
        mine = _slot_until(block, last)
        left += [link for at in mine if at not in found for link in block.links(at)]
        found.update(mine)
    return found


def _slot_until(block: OpBlock, index: int) -> list[int]:
    """Returns the ops of a slot up to op ``index``."""
    return np.flatnonzero(block.slot[: index + 1] == block.slot[index]).tolist()


def _sides(words: object) -> tuple[list[Footprint], list[Footprint]]:
    """Returns what a descriptor reads and what it writes."""
    desc = unpack(words)  # type: ignore[arg-type]
    if desc.is_nop or first_d_violation(desc) is not None:
        return [], []
    return [source(desc)], list(destinations(desc))


def _meet(
    one: tuple[list[Footprint], list[Footprint]], other: tuple[list[Footprint], list[Footprint]]
) -> bool:
    (reads, writes), (also_reads, also_writes) = one, other
    pairs = [(a, b) for a in writes for b in (*also_reads, *also_writes)]
    pairs += [(a, b) for a in reads for b in also_writes]
    return any(footprints_overlap(a, b) for a, b in pairs)
