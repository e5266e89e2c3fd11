# SPDX-License-Identifier: Apache-2.0
"""Random legal traffic of every op: the one entry for tests.

Blocks come from one family with all the memory to itself, from all families at once with chains
from pipe to pipe, from the GM <-> UB generator beside the others on disjoint parts of the
memories, and, now and then, as a block of very many tiny ops that saturates every queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sequences.constraints import (
    COPY_NAMES,
    FIX_NAMES,
    GM_UB_NAMES,
    NZ_NAMES,
    OP_NAMES,
    OpConstraints,
    SizeClass,
    check_ops,
)
from sequences.draw.alignments import AlignmentCounts
from sequences.draw.copies import CHAIN_NAMES, CopyGenerator
from sequences.draw.generator import DmaGenerator
from sequences.fixpipe.generator import FixGenerator
from sequences.place.merge import meet_in_gm, merge, partition, partition_all
from tb.isa.block import OpBlock
from tb.isa.legacy import DmaRegisters
from tb.isa.ops import LEGACY_FORMS, OPS

ROUND = 8192
"""Ops drawn at once."""

SATURATION_OPS = 64
"""Ops per slot of a saturating block."""

SATURATION_BYTES = 64
"""Most bytes of an op in a saturating block."""


PARTED = 1024
"""Ops that share one division of the memories between two generators."""


def _batches(count: int, size: int, parts: int = 0) -> list[int]:
    """Returns sizes of ``parts`` parts that make ``count``, or of parts of about ``size``."""
    parts = parts or -(-count // size)
    return [count * (k + 1) // parts - count * k // parts for k in range(parts)]


def saturation_constraints(limits: OpConstraints, slots: int) -> OpConstraints:
    """Returns constraints of blocks in which far more ops are in flight than queues hold."""
    return replace(
        limits,
        sizes=(SizeClass(1, SATURATION_BYTES, 1.0),),
        max_bytes=SATURATION_BYTES,
        max_rows=4,
        block_ops=min(SATURATION_OPS, limits.block_ops) * slots,
        loops=(0.8, 0.2, 0.0, 0.0) if limits.max_loops else (1.0, 0.0, 0.0, 0.0),
        far=0.0,
        dependent=0.0,
        nop=0.02,
        gap=0.0,
        stretch=0.0,
        interleave=0.0,
        edge=0.0,
        big_nz=0.0,
        tile_rows=4,
        tile_columns=16,
        big_tile=0.0,
        loop3=min(limits.loop3, 0.1),
        late_flag=0.0,
        share_fb=max(limits.share_fb, 0.8),
        legacy=min(limits.legacy, 0.1),
    )


def _drawn(
    generator: DmaGenerator | CopyGenerator | FixGenerator, count: int, limits: OpConstraints
) -> list[OpBlock]:
    """Returns what the generator draws under other constraints than its own."""
    usual, generator.constraints = generator.constraints, limits
    blocks = generator.draw(count)
    generator.constraints = usual
    return blocks


def _paired(rng: np.random.Generator, first: list[OpBlock], second: list[OpBlock]) -> list[OpBlock]:
    """Returns blocks of both lists in one where they meet nowhere, in the order of each list."""
    found = []
    for one, other in zip(first, second, strict=False):
        if meet_in_gm(one, other):
            found += [one, other]
        else:
            found.append(merge(rng, one, other))
    paired = min(len(first), len(second))
    return [*found, *first[paired:], *second[paired:]]


class TrafficGenerator:
    """Draws blocks of legal ops of every form.

    A block is an epoch, see :class:`sequences.draw.copies.CopyGenerator`. Legacy registers persist
    over the life of the generator, so blocks must be sent in the order they were drawn.

    Args:
        seed: Seed; the same seed, ops and constraints draw the same blocks.
        ops: Names out of ``sequences.constraints.OP_NAMES``.
        constraints: What to draw.

    Raises:
        ConstraintError: an op is unknown or none is given.
    """

    def __init__(
        self,
        seed: int | np.random.Generator,
        ops: Sequence[str] = OP_NAMES,
        constraints: OpConstraints | None = None,
    ) -> None:
        self.ops = tuple(ops)
        check_ops(self.ops)
        self.constraints = limits = constraints or OpConstraints()
        self._rng = rng = np.random.default_rng(seed)
        gm_ub, copies, nz, chain = (
            tuple(name for name in names if name in self.ops)
            for names in (GM_UB_NAMES, COPY_NAMES, NZ_NAMES, CHAIN_NAMES)
        )
        fix = tuple(name for name in FIX_NAMES if name in self.ops)
        alignments = AlignmentCounts(limits.bus_bytes)
        self._dma = DmaGenerator(rng, gm_ub, limits, alignments) if gm_ub else None
        self._families: list[CopyGenerator | FixGenerator] = [
            CopyGenerator(rng, names, limits) for names in (copies, nz) if names
        ]
        # Their alignments need more ops than anything else, also beside the write-backs.
        self._weights = [len(gm_ub) * (2 if fix else 1)] + [
            len(names) for names in (copies, nz, fix) if names
        ]
        self._chains = CopyGenerator(rng, chain, limits, alignments=alignments) if chain else None
        self._fix = FixGenerator(rng, fix, limits, self.ops) if fix else None
        if self._fix:
            self._families.append(self._fix)
        slots = [OPS[LEGACY_FORMS.get(name, name)].slot for name in self.ops]
        shares = {name: 1.0 / slots.count(slot) for name, slot in zip(self.ops, slots, strict=True)}
        self._tiny = saturation_constraints(limits, len(set(slots)))
        self._saturating = (
            CopyGenerator(rng, chain, self._tiny, shares, alignments) if chain else None
        )
        # Saturating blocks fill every queue alike, so write-backs get their part of one slot.
        self._fix_saturation = sum(shares[name] for name in fix) / len(set(slots))
        self._fix_share = len(fix) / len(self.ops)

    @property
    def registers(self) -> DmaRegisters:
        """Legacy registers behind the last op drawn."""
        return self._dma.registers if self._dma else DmaRegisters()

    def blocks(self, count: int) -> Iterator[OpBlock]:
        """Yields blocks that hold ``count`` ops in all, drawn in rounds."""
        left = count
        while left > 0:
            batch = min(left, ROUND)
            yield from self.draw(batch)
            left -= batch

    def draw(self, count: int) -> list[OpBlock]:
        """Returns blocks that hold ``count`` ops in all, of all kinds in random order.

        Raises:
            ValueError: ``count`` is negative.
        """
        if count < 0:
            raise ValueError(f"count is {count}: at least 0")
        many, mixed = self._shares(count)
        alone = self._split(count - many - mixed)
        # Blocks with register forms keep their order; all others find a place between them.
        ordered: list[list[OpBlock]] = []
        others: list[OpBlock] = []
        if self._dma is not None:
            ordered.append(self._dma.draw(alone[0]))
        for generator, number in zip(self._families, alone[1:], strict=True):
            others += generator.draw(number)
        if self._saturating is not None or self._fix is not None:
            others += self._saturated(many)
        elif self._dma is not None:
            ordered.append(_drawn(self._dma, many, saturation_constraints(self.constraints, 2)))
        ordered.append(self._mixed(mixed))
        # What is drawn from the one register file keeps the order of the draws.
        in_order = [block for blocks in ordered for block in blocks]
        return self._shuffle(in_order, others)

    def _shares(self, count: int) -> tuple[int, int]:
        """Returns how many of ``count`` ops come in saturating and in mixed blocks."""
        rng, limits = self._rng, self.constraints
        several = len(self._families) + (self._dma is not None) > 1
        # A saturating block is big: small draws have one now and then instead of parts of one.
        many = int(count * limits.saturate)
        whole = self._tiny.block_ops
        if many < whole:
            many = min(whole, count // 2) if rng.random() < many / whole else 0
        mixed = int(count * limits.mixed) if several else 0
        return many, min(mixed, count - many)

    def _split(self, count: int) -> list[int]:
        """Returns how many of ``count`` ops each family draws, GM <-> UB first."""
        weights = np.array(self._weights, dtype=np.float64)
        parts: list[int] = self._rng.multinomial(count, weights / weights.sum()).tolist()
        return parts

    def _saturated(self, count: int) -> list[OpBlock]:
        """Returns saturating blocks of everything but what needs register forms."""
        limits = self._tiny
        if self._saturating is None or self._fix is None:
            only = self._saturating or self._fix
            assert only is not None
            return _drawn(only, count, limits)
        parts = partition_all(self._rng, limits, saturating=True)
        if parts is None:
            return self._saturating.draw(count)
        ours = round(count * self._fix_saturation)
        size = max(1, round(limits.block_ops * self._fix_saturation))
        first = _drawn(self._fix, ours, replace(parts[0], block_ops=size))
        rest = max(1, limits.block_ops - size)
        second = _drawn(self._saturating, count - ours, replace(parts[1], block_ops=rest))
        return _paired(self._rng, first, second)

    def _mixed(self, count: int) -> list[OpBlock]:
        """Returns blocks of several families; those with register forms in their order."""
        if self._fix is None or not count:
            return self._without_fix(count, self.constraints)
        ours = round(count * self._fix_share)
        found = []
        parts = _batches(count, 2 * PARTED)
        for share, batch in zip(_batches(ours, 0, len(parts)), parts, strict=True):
            sides = partition_all(self._rng, self.constraints)
            if sides is None:
                found += self._without_fix(batch - share, self.constraints)
                found += self._fix.draw(share)
                continue
            first = self._without_fix(batch - share, sides[1])
            found += _paired(self._rng, first, _drawn(self._fix, share, sides[0]))
        return found

    def _without_fix(self, count: int, limits: OpConstraints) -> list[OpBlock]:
        """Returns blocks of all but the write-backs."""
        if self._chains is None:
            return [] if self._dma is None else _drawn(self._dma, count, limits)
        beside = 0 if self._dma is None else count // 2
        merged = []
        for batch in _batches(beside, PARTED):
            merged += self._beside(batch, limits)
        return self._shuffle(merged, _drawn(self._chains, count - beside, limits))

    def _beside(self, count: int, limits: OpConstraints) -> list[OpBlock]:
        """Returns blocks of chains and of the GM <-> UB generator on disjoint parts of memory."""
        assert self._dma is not None
        assert self._chains is not None
        parts = partition(self._rng, limits)
        if parts is None:
            return _drawn(self._chains, count, limits)
        ours = count // 2
        first = _drawn(self._dma, ours, parts[0])
        return _paired(self._rng, first, _drawn(self._chains, count - ours, parts[1]))

    def _shuffle(self, in_order: list[OpBlock], others: list[OpBlock]) -> list[OpBlock]:
        total = len(in_order) + len(others)
        fixed = np.zeros(total, dtype=bool)
        fixed[self._rng.choice(total, len(in_order), replace=False)] = True
        rest = [others[int(k)] for k in self._rng.permutation(len(others))]
        sources = iter(in_order), iter(rest)
        return [next(sources[0] if keeps else sources[1]) for keeps in fixed.tolist()]
