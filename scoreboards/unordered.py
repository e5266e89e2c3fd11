# SPDX-License-Identifier: Apache-2.0
"""Finds ops of a block that touch the same bytes though nothing orders them.

An engine need not order the ops that it has accepted (docs/contract.md): a block orders them by
``after`` and ``also_after``. The result of two ops that share bytes without is not defined, so a
failure of one of them is not evidence against the engine.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from scoreboards.repro_ops import Item, items_of
from tb.isa.block import OpBlock
from tb.isa.footprint import footprints_overlap


def unordered(block: OpBlock, index: int) -> int | None:
    """Returns an op of the block that shares bytes with op ``index``, unordered; None without one.

    At least one of the two writes the bytes. Illegal ops touch none.
    """
    items = items_of(block)
    before = _before(block, index)
    for other, item in enumerate(items):
        if other == index or other in before or not _meet(items[index], item):
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


def _meet(one: Item, other: Item) -> bool:
    """Returns whether two ops share bytes that one of them writes."""
    pairs = [*product(one.writes, other.touches), *product(one.reads, other.writes)]
    return any(footprints_overlap(a, b) for a, b in pairs)
