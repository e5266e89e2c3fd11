# SPDX-License-Identifier: Apache-2.0
"""Twins: two legal forms of one copy, drawn from the ops of a block.

Both forms write the same bytes, each once, by their footprints; what the bytes are is left to the
engines. No form comes from the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from sequences.blocks import Lowered, block_of, lower_program
from sequences.twins.copy import copy_of, grouped, legacy
from sequences.twins.shapes import MOST_OPS, NZ_SHAPES, SHAPES
from tb.isa.block import OpBlock
from tb.isa.burst.op import BurstDescriptor
from tb.isa.descriptor import unpack
from tb.isa.dma.legacy import CopyUbufToUbuf, DmaRegisters
from tb.isa.dma.op import DmaDescriptor
from tb.isa.dtypes import ALL_DTYPES, Ptr
from tb.isa.footprint import Footprint, destination, without_fill
from tb.isa.lower import Descriptor
from tb.isa.nz.op import MteGmL1Frac, NzDescriptor
from tb.isa.nz.table import MODES
from tb.isa.program import Entry, moving
from tb.isa.rules import first_d_violation, lowering_violation, s_violations
from tb.isa.spaces import Space

MOST_BYTES = 1 << 15
"""Bytes from the first to the last of a destination at most; these are saved and compared."""

MOST_ROWS = 256
"""Rows of a destination at most."""


@dataclass(frozen=True)
class Form:
    """A way to write a copy.

    Attributes:
        name: Its name, such as ``legacy, unrolled``.
        items: Its ops.
    """

    name: str
    items: tuple[Lowered, ...]

    @property
    def entries(self) -> list[Entry]:
        """Its ops as they are written."""
        return [item.program for item in self.items]


@dataclass(frozen=True)
class Twin:
    """One copy in two forms.

    Attributes:
        op: Name of the op.
        forms: Both.
        space: Memory of the destination.
        start, stop: The bytes to compare: the destination from its first to its last byte, gaps
            between rows included.
    """

    op: str
    forms: tuple[Form, Form]
    space: Space
    start: int
    stop: int

    @property
    def cost(self) -> int:
        """Ops of both forms."""
        return sum(len(form.items) for form in self.forms)


def ranges(footprints: Sequence[Footprint]) -> tuple[NDArray[np.int64], int]:
    """Returns the bytes of footprints as ranges ``first, end``, and the sum of all rows."""
    starts = np.concatenate([each.row_starts() for each in footprints])
    ends = starts + np.concatenate([np.full(each.rows, each.length) for each in footprints])
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    first = np.concatenate(([True], starts[1:] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return np.stack((starts[first], reach[last]), axis=1), sum(each.bytes for each in footprints)


def eligible(block: OpBlock) -> list[int]:
    """Returns the ops of a block without a link to another: these may be sent again alone."""
    linked = {int(one) for one in block.after if one >= 0}
    linked.update(*block.also_after.values())
    return [
        index
        for index in range(len(block))
        if not block.links(index)
        and index not in linked
        and not (block.expected_rule is not None and block.expected_rule[index])
        and index not in block.descriptors
    ]


class TwinDraw:
    """Draws twins of the ops of blocks.

    Args:
        seed: Of the draw.
        ops: Ops and legacy forms that may be sent.
    """

    def __init__(self, seed: int, ops: Sequence[str]) -> None:
        self._rng = Random(seed)
        self._ops = frozenset(ops)

    def twins(self, block: OpBlock, most: int) -> list[Twin]:
        """Returns twins of some ops of a block, ``most`` at most, on disjoint bytes."""
        indices = eligible(block)
        self._rng.shuffle(indices)
        words = block.pack() if indices else None
        found: list[Twin] = []
        for index in indices:
            if len(found) >= most:
                break
            assert words is not None
            desc = unpack(words[index])
            types = [ALL_DTYPES[int(kind[index])] for kind in (block.dtype, block.pad_dtype)]
            twin = self.twin(desc, types[0], types[1])
            if twin is not None:
                found.append(twin)
        return found

    def twin(self, desc: Descriptor, dtype: str, pad_dtype: str) -> Twin | None:
        """Returns a twin of one op, or None for an op that has none or is too large for it."""
        if desc.is_nop or not isinstance(desc, DmaDescriptor | BurstDescriptor | NzDescriptor):
            return None
        whole = destination(desc)
        if whole.end - whole.base > MOST_BYTES or whole.rows > MOST_ROWS:
            return None
        wanted, size = ranges([whole])
        if size != int((wanted[:, 1] - wanted[:, 0]).sum()):
            return None
        chosen: list[Form] = []
        for form in self._forms(desc, dtype, pad_dtype):
            written, own = ranges([destination(item.descriptor) for item in form.items])
            if own == size and np.array_equal(written, wanted):
                chosen.append(form)
            if len(chosen) == 2:
                name = desc.spec.name
                return Twin(name, (chosen[0], chosen[1]), whole.space, whole.base, whole.end)
        return None

    def _forms(self, desc: Descriptor, dtype: str, pad_dtype: str) -> Iterator[Form]:
        """Yields legal forms of a copy in random order."""
        for name, entries in self._written(desc, dtype, pad_dtype):
            if not entries or len(entries) > MOST_OPS or not all(map(self._may_send, entries)):
                continue
            items = tuple(map(_lowered, entries))
            if None not in items:
                yield Form(name, tuple(item for item in items if item is not None))

    def _written(
        self, desc: Descriptor, dtype: str, pad_dtype: str
    ) -> Iterator[tuple[str, list[Entry]]]:
        rng = self._rng
        if isinstance(desc, NzDescriptor):
            repack = _repack(desc, dtype)
            for name in rng.sample(sorted(NZ_SHAPES), len(NZ_SHAPES)):
                yield name, [(op,) for op in NZ_SHAPES[name](repack, rng)]
            return
        assert isinstance(desc, DmaDescriptor | BurstDescriptor)
        copy = copy_of(desc, dtype, pad_dtype)
        if copy is None:
            return
        # Fill bytes behind a row repeat the first element of the op's own row (DMA-L19).
        fills = isinstance(desc, DmaDescriptor) and without_fill(desc) != destination(desc)
        shapes = [name for name in SHAPES if not (fills and name == "split by bytes")]
        names = [(name, old) for name in shapes for old in (False, True)]
        for name, old in rng.sample(names, len(names)):
            copies = SHAPES[name](copy, rng)
            if old:
                yield f"legacy, {name}", [legacy(one) for one in copies]
            else:
                yield name, [() if (op := grouped(one)) is None else (op,) for one in copies]

    def _may_send(self, entry: Entry) -> bool:
        if not entry:
            return False
        op = moving(entry)
        name = _LEGACY_NAMES.get(type(op).__name__) or op.spec.name
        return name in self._ops


_LEGACY_NAMES = {
    "CopyGmToUbuf": "copy_gm_to_ubuf",
    "CopyUbufToGm": "copy_ubuf_to_gm",
    "CopyUbufToUbuf": "copy_ubuf_to_ubuf",
}


def _lowered(entry: Entry) -> Lowered | None:
    """Returns an op with its descriptor, None for one that is not legal."""
    op = moving(entry)
    if isinstance(op, CopyUbufToUbuf):
        if lowering_violation(op) is not None:
            return None
    elif len(entry) == 1 and s_violations(op):
        return None
    try:
        item, _ = lower_program(entry, DmaRegisters())
    except ValueError:
        return None
    return None if first_d_violation(item.descriptor) else item


def _repack(desc: NzDescriptor, dtype: str) -> MteGmL1Frac:
    return MteGmL1Frac(
        desc.ext_addr,
        desc.loc_addr,
        MODES[desc.mode],
        desc.n_value,
        desc.d_value,
        desc.inner_stride,
        desc.group_count,
        desc.dst_loop2,
        desc.dst_loop3,
        desc.dst_loop4,
        desc.outer_stride or None,
        desc.l2,
        desc.small_c0,
        Ptr(dtype, "gm"),
        Ptr(dtype, "l1"),
    )


def blocks(twins: Sequence[Twin]) -> tuple[OpBlock, OpBlock]:
    """Returns the blocks of the first and of the second forms; each is a program of its own."""
    first, second = (
        block_of([item for twin in twins for item in twin.forms[number].items]) for number in (0, 1)
    )
    return first, second
