# SPDX-License-Identifier: Apache-2.0
"""Random legal traffic of every op: the entry point for tests.

Blocks have ops of one family with all the memory, ops of all families with chains from pipe to
pipe, or sometimes very many tiny ops that saturate every queue. Write-backs have a separate
generator and are merged with copies on disjoint parts of the memories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

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
from sequences.draw.copies import COPY_FORMS, CopyGenerator
from sequences.draw.legacy import RegisterFile
from sequences.draw.shapes import Bools
from sequences.fixpipe.generator import FixGenerator
from sequences.op_filter import forms
from sequences.place.merge import meet_in_gm, merge, partition
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.l0.table import LOADS
from tb.isa.op import replace
from tb.isa.ops import LEGACY_FORMS, OPS

ROUND = 8192
"""Ops drawn at once."""

SATURATION_OPS = 64
"""Ops per slot of a saturating block."""

SATURATION_BYTES = 64
"""Most bytes of an op in a saturating block."""

QUEUEING_OPS = 40
"""Most ops of a block that fills the queues of one unit: more than an engine holds."""

QUEUEING_SIZES = (SizeClass(1, 64, 0.6), SizeClass(65, 1024, 0.4))
"""Sizes of its ops where queues of data are to be filled, too: single words and many lines."""

FEW = 64
"""Ops per name of a choice: random draws of fewer may miss one of the names."""

PARTED = 2048
"""Ops drawn with one division of the memories between two generators."""

INSIDE_WEIGHTS = {**dict.fromkeys(LOADS, 0.4), "raw_fill_l1": 0.2}
"""Weights among the ops of on-chip memories: these have the fewest bins."""

MIXED_WEIGHTS = {
    "mte_gm_ub": 3.2, "mte_ub_gm": 3.2, "copy_gm_to_ubuf": 0.6, "copy_ubuf_to_gm": 0.6,
    **INSIDE_WEIGHTS,
}  # fmt: skip
"""Weights among all copies: alignments of the v0.6 forms between GM and UB need the most ops."""


def _parts(count: int, parts: int) -> list[int]:
    """Returns sizes of ``parts`` parts with the sum ``count``."""
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
        pad=0.0,
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


def queueing_block(
    rng: np.random.Generator,
    name: str,
    limits: OpConstraints,
    *,
    sizes: tuple[SizeClass, ...] = (),
    most: int = QUEUEING_OPS,
) -> OpBlock:
    """Returns a block of ops of one v0.6 name, as they fill the queues of its unit.

    It has up to ``most`` ops, fewer where its memories are too small for them.

    Args:
        rng: Source of everything random.
        name: The name.
        limits: Constraints that the ops obey.
        sizes: Sizes of the ops; by default all are tiny, so that reports and op numbers are the
            first to run out.
        most: Most ops.
    """
    small = saturation_constraints(limits, 1)
    small = replace(
        small,
        block_ops=min(limits.block_ops, most),
        nop=0.1 if limits.nop else 0.0,
        legacy=0.0,
    )
    if sizes:
        largest = min(limits.max_bytes, max(size.high for size in sizes))
        small = replace(
            small,
            sizes=sizes,
            max_bytes=largest,
            max_rows=16,
            tile_columns=32,
            loops=limits.loops,
            pad=limits.pad,
        )
    kind = FixGenerator if name in FIX_NAMES else CopyGenerator
    return max(kind(rng, (name,), small).draw(most), key=len)


def _moving(block: OpBlock) -> Bools:
    """Returns ``bool[N]``: which legal ops of a block are not NOPs."""
    return np.array([not block.issued(k).is_nop for k in range(len(block))], dtype=bool)


def _drawn(
    generator: CopyGenerator | FixGenerator, count: int, limits: OpConstraints
) -> list[OpBlock]:
    """Returns the draw of a generator under other constraints than its own."""
    usual, generator.constraints = generator.constraints, limits
    blocks = generator.draw(count)
    generator.constraints = usual
    return blocks


def _paired(rng: np.random.Generator, first: list[OpBlock], second: list[OpBlock]) -> list[OpBlock]:
    """Returns blocks of both lists merged where they are disjoint, in the order of each list."""
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

    A block is a batch, see :class:`sequences.draw.copies.CopyGenerator`. Legacy registers persist
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
        gm_ub, on_chip, nz, copies, fix = (
            tuple(name for name in names if name in self.ops)
            for names in (GM_UB_NAMES, COPY_NAMES, NZ_NAMES, COPY_FORMS, FIX_NAMES)
        )
        alignments, self._file = AlignmentCounts(limits.bus_bytes), RegisterFile()

        def generator(
            names: tuple[str, ...],
            limits: OpConstraints = limits,
            weights: dict[str, float] | None = None,
        ) -> CopyGenerator:
            return CopyGenerator(rng, names, limits, weights, alignments, self._file)

        self._families: list[CopyGenerator | FixGenerator] = [
            generator(names, weights=INSIDE_WEIGHTS) for names in (gm_ub, on_chip, nz) if names
        ]
        self._fix = FixGenerator(rng, fix, limits, self.ops) if fix else None
        if self._fix:
            self._families.append(self._fix)
        # Their alignments need more ops than all others, also with write-backs in the block.
        inside = sum(INSIDE_WEIGHTS.get(name, 1.0) for name in on_chip)
        shares = (len(gm_ub) * (2.5 if fix else 1), inside, len(nz), len(fix))
        self._weights = [share for share in shares if share]
        self._chains = generator(copies, weights=MIXED_WEIGHTS) if copies else None
        slots = [OPS[LEGACY_FORMS.get(name, name)].slot for name in self.ops]
        weights = {
            name: 1.0 / slots.count(slot) for name, slot in zip(self.ops, slots, strict=True)
        }
        self._tiny = saturation_constraints(limits, len(set(slots)))
        self._saturating = generator(copies, self._tiny, weights) if copies else None
        # Saturating blocks fill every queue equally, so write-backs get the share of one slot.
        self._fix_saturation = sum(weights[name] for name in fix) / len(set(slots))
        self._fix_share = len(fix) / len(self.ops)

    @property
    def registers(self) -> DmaRegisters:
        """Legacy registers after the last op drawn."""
        return self._file.registers

    def blocks(self, count: int) -> Iterator[OpBlock]:
        """Yields blocks that hold ``count`` ops in all, drawn in rounds.

        Where ``count`` allows, each op of the choice moves bytes at least once.
        """
        if len(self.ops) <= count < FEW * len(self.ops):
            yield from self._few(count)
            return
        left = count
        while left > 0:
            batch = min(left, ROUND)
            yield from self.draw(batch)
            left -= batch

    def _few(self, count: int) -> list[OpBlock]:
        """Returns blocks of ``count`` ops in all; starts with one of each op if one is missing.

        Constraints that exclude an op, or allow only NOPs, are obeyed.
        """
        before = deepcopy(vars(self))
        found = self.draw(count)
        limits = self.constraints
        excluded = {limits.legacy, limits.store} & {0.0, 1.0} or limits.nop == 1.0
        moved = {form for block in found for form in forms(block, _moving(block))}
        if excluded or moved >= set(self.ops):
            return found
        vars(self).update(before)
        each = [block for name in self.ops for block in self._one(name)]
        return [*each, *self.draw(count - len(each))]

    def _one(self, name: str) -> list[OpBlock]:
        """Returns a block of one op of a choice that moves bytes."""
        limits = replace(self.constraints, nop=0.0, far=0.0)
        if name in FIX_NAMES:
            return FixGenerator(self._rng, (name,), limits).draw(1)
        return CopyGenerator(self._rng, (name,), limits, registers=self._file).draw(1)

    def draw(self, count: int) -> list[OpBlock]:
        """Returns blocks that hold ``count`` ops in all, of all kinds in random order.

        Raises:
            ValueError: ``count`` is negative.
        """
        if count < 0:
            raise ValueError(f"count is {count}: at least 0")
        many, mixed = self._shares(count)
        blocks = []
        for generator, number in zip(
            self._families, self._split(count - many - mixed), strict=True
        ):
            blocks += generator.draw(number)
        blocks += self._saturated(many)
        blocks += self._mixed(mixed)
        return self._shuffled(blocks)

    def _shares(self, count: int) -> tuple[int, int]:
        """Returns the numbers of ``count`` ops in saturating and in mixed blocks."""
        rng, limits = self._rng, self.constraints
        several = len(self._families) > 1
        # A saturating block is big: small draws sometimes have one instead of parts of one.
        many = int(count * limits.saturate)
        whole = self._tiny.block_ops
        if many < whole:
            many = min(whole, count // 2) if rng.random() < many / whole else 0
        mixed = int(count * limits.mixed) if several else 0
        return many, min(mixed, count - many)

    def _split(self, count: int) -> list[int]:
        """Returns the number of ``count`` ops for each family."""
        weights = np.array(self._weights, dtype=np.float64)
        parts: list[int] = self._rng.multinomial(count, weights / weights.sum()).tolist()
        return parts

    def _saturated(self, count: int) -> list[OpBlock]:
        """Returns saturating blocks of all ops."""
        limits = self._tiny
        if self._saturating is None or self._fix is None:
            only = self._saturating or self._fix
            assert only is not None
            return _drawn(only, count, limits)
        parts = partition(self._rng, limits, saturating=True)
        if parts is None:
            return self._saturating.draw(count)
        ours = round(count * self._fix_saturation)
        size = max(1, round(limits.block_ops * self._fix_saturation))
        first = _drawn(self._fix, ours, replace(parts[0], block_ops=size))
        rest = max(1, limits.block_ops - size)
        second = _drawn(self._saturating, count - ours, replace(parts[1], block_ops=rest))
        return _paired(self._rng, first, second)

    def _mixed(self, count: int) -> list[OpBlock]:
        """Returns blocks of several families."""
        if self._fix is None or self._chains is None:
            only = self._chains or self._fix
            assert only is not None
            return only.draw(count)
        found = []
        parts = -(-count // PARTED)
        for share, batch in zip(
            _parts(round(count * self._fix_share), parts), _parts(count, parts), strict=True
        ):
            sides = partition(self._rng, self.constraints)
            if sides is None:
                found += self._chains.draw(batch - share) + self._fix.draw(share)
                continue
            first = _drawn(self._chains, batch - share, sides[1])
            found += _paired(self._rng, first, _drawn(self._fix, share, sides[0]))
        return found

    def _shuffled(self, blocks: list[OpBlock]) -> list[OpBlock]:
        """Returns the blocks in random order; those that use registers in the order of the draw."""
        keeps_order = [bool(block.legacy_forms) for block in blocks]
        in_order = [block for block, keeps in zip(blocks, keeps_order, strict=True) if keeps]
        others = [block for block, keeps in zip(blocks, keeps_order, strict=True) if not keeps]
        fixed = np.zeros(len(blocks), dtype=bool)
        fixed[self._rng.choice(len(blocks), len(in_order), replace=False)] = True
        rest = [others[int(k)] for k in self._rng.permutation(len(others))]
        sources = iter(in_order), iter(rest)
        return [next(sources[0] if keeps else sources[1]) for keeps in fixed.tolist()]
