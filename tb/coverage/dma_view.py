# SPDX-License-Identifier: Apache-2.0
"""Many DMA ops side by side, with the derived quantities that coverage classifies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tb.coverage.model import NOT_SAMPLED, Ints
from tb.isa.block import OpBlock
from tb.isa.dma_table import DMA_LAYOUT, MAX_LOOPS, MTE_GM_UB
from tb.isa.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
    fits,
)
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.spaces import UB_BLOCK

Bools = NDArray[np.bool_]

FORMS: tuple[str, ...] = (*OPS, *LEGACY_FORMS)
"""Forms an op is written in: ``mte_gm_ub``, ``mte_ub_gm`` and their legacy copies."""

LEGACY, SET_SIZE, SET_STRIDE1, SET_STRIDE2, SET_PAD, FOREIGN, SID, TOO_WIDE = (
    1 << bit for bit in range(8)
)
"""Bits of :attr:`View.program`: what the legacy program of an op holds."""


def program_bits(program: Sequence[LegacyOp], *, check: bool = True) -> int:
    """Returns the ``LEGACY`` ... ``TOO_WIDE`` bits of a legacy program ending in its copy.

    Without ``check`` every ``set_*`` op is taken to fit its registers.
    """
    copy = program[-1]
    side = OUTTOUB if isinstance(copy, CopyGmToUbuf) else UBTOOUT
    bits = LEGACY
    if getattr(copy, "sid", 0):
        bits |= SID
    for item in program[:-1]:
        if isinstance(item, SetMovPadVal):
            bits |= SET_PAD if side == OUTTOUB else FOREIGN
        elif isinstance(item, SetLoopSize):
            bits |= SET_SIZE if item.direction == side else FOREIGN
        else:
            assert isinstance(item, SetLoopStride)
            own = SET_STRIDE1 if item.level == 1 else SET_STRIDE2
            bits |= own if item.direction == side else FOREIGN
        if check and not fits(item):
            bits |= TOO_WIDE
    return bits


_ARRAYS = (
    "opcode", "dtype", "pad_dtype", "gap", "after", "rule", "first", "program", "counted", "load",
    "form", "previous", "slot_rule",
)  # fmt: skip


class View:
    """N ops of several blocks, one array per quantity, each ``int64[N]`` or ``bool[N]``.

    Illegal ops keep their place for what depends on order; ``rule`` tells them apart and their
    other quantities are those of an empty op.

    Attributes:
        size: N.
        opcode, dtype, pad_dtype, gap, after: As in the blocks.
        rule: Lowest D rule broken, 0 when legal.
        raw: Descriptor columns as they are.
        first: The op is the first of its block.
        program: Bits of :func:`program_bits`, 0 for v0.6 ops.
        counted: The mask.
        load: GM to UB.
        form: Index into ``FORMS``.
        previous: Form of the op before in its block, or ``NOT_SAMPLED``.
        slot_rule: ``rule`` of the op before on the same slot, or ``NOT_SAMPLED``.
    """

    def __init__(
        self, blocks: Sequence[OpBlock], masks: Sequence[Bools | None], *, check: bool = True
    ) -> None:
        """Lays ``blocks`` behind one another; ``masks`` select the ops to be counted."""
        self.size = sum(len(block) for block in blocks)
        self.opcode = _join([block.opcode for block in blocks])
        self.dtype = _join([block.dtype for block in blocks])
        self.pad_dtype = _join([block.pad_dtype for block in blocks])
        self.gap = _join([block.gap for block in blocks])
        self.after = _join([block.after for block in blocks])
        zero = [np.zeros(len(block), np.int64) for block in blocks]
        self.rule = _join(
            [
                none if block.expected_rule is None else block.expected_rule
                for block, none in zip(blocks, zero, strict=True)
            ]
        )
        self.raw: Mapping[str, Ints] = {
            name: _join([block.columns[name] for block in blocks]) for name in DMA_LAYOUT
        }
        self.first = np.zeros(self.size, dtype=bool)
        self.program = np.zeros(self.size, dtype=np.int64)
        self.counted = np.ones(self.size, dtype=bool)
        start = 0
        for block, mask in zip(blocks, masks, strict=True):
            if len(block):
                self.first[start] = True
            if mask is not None:
                self.counted[start : start + len(block)] = mask
            if block.legacy:
                self.program[[start + at for at in block.legacy]] = [
                    program_bits(program, check=check) for program in block.legacy.values()
                ]
            start += len(block)
        self.load = self.opcode == MTE_GM_UB.opcode
        self.form = np.where(self.load, 0, 1) + np.where(self.program > 0, 2, 0)
        self.previous = np.where(self.first, NOT_SAMPLED, np.roll(self.form, 1))
        self.slot_rule = np.full(self.size, NOT_SAMPLED)
        for side in (self.load, ~self.load):
            mine = np.flatnonzero(side)
            self.slot_rule[mine[1:]] = self.rule[mine[:-1]]

    def rows(self, index: Ints) -> View:
        """Returns the ops ``index`` (``int64[M]``) alone; what they followed is kept."""
        part = View((), ())
        part.size = len(index)
        for name in _ARRAYS:
            setattr(part, name, getattr(self, name)[index])
        part.raw = {name: column[index] for name, column in self.raw.items()}
        return part

    def __getitem__(self, name: str) -> Ints:
        """Returns a descriptor column; 0 where the op is illegal."""
        return self.raw[name] if self.all_legal else np.where(self.legal, self.raw[name], 0)

    @cached_property
    def all_legal(self) -> bool:
        """No op breaks a D rule."""
        return bool(self.legal.all())

    @cached_property
    def legal(self) -> Bools:
        """No D rule is broken."""
        return np.equal(self.rule, 0)

    @cached_property
    def length(self) -> Ints:
        """Bytes of data in a row."""
        return self["len"]

    @cached_property
    def counts(self) -> list[Ints]:
        """Rows, then iterations of loops 0, 1, 2; absent loops count 1."""
        loops = [np.where(self.n_loops > k, self[f"loop{k}_count"], 1) for k in range(MAX_LOOPS)]
        return [self["n_burst"], *loops]

    @cached_property
    def n_loops(self) -> Ints:
        """Loop groups present."""
        return self["n_loops"]

    @cached_property
    def live(self) -> Bools:
        """Legal and moves at least one byte."""
        busy = self.legal & (self.length > 0)
        for count in self.counts:
            busy &= count > 0
        return busy

    @cached_property
    def pad(self) -> Bools:
        """Rows are padded, and the op moves bytes."""
        return self.live & (self["pad_en"] > 0)

    @cached_property
    def elem(self) -> Ints:
        """Element size in bytes."""
        return np.left_shift(1, self["elem_log2"])

    def pad_bytes(self, side: str) -> Ints:
        """Returns the bytes of ``"left"`` or ``"right"`` padding."""
        return self[f"pad_{side}"] * np.where(self["pad_in_bytes"] > 0, 1, self.elem)

    @cached_property
    def need(self) -> Ints:
        """UB bytes a row must have, in whole UB blocks."""
        pads = np.where(self.pad, self.pad_bytes("left") + self.pad_bytes("right"), 0)
        return -(-(self.length + pads) // UB_BLOCK) * UB_BLOCK

    def stride(self, side: str, level: int) -> Ints:
        """Returns strides of ``"ext"`` (GM) or ``"loc"`` (UB); level 0 is the rows."""
        return self[f"{side}_stride" if level == 0 else f"loop{level - 1}_{side}_stride"]

    @cached_property
    def hulls(self) -> dict[str, list[Ints]]:
        """Per side, bytes from first to last: of a row, with rows, with loop 0, ... loop 2."""
        found = {}
        for side in ("ext", "loc"):
            hull = self.length
            if side == "loc":
                hull = np.where(self.pad, self["loc_stride"], hull)
            steps = [hull]
            for level, count in enumerate(self.counts):
                used = np.where(self.live, (count - 1) * self.stride(side, level), 0)
                hull = hull + used
                steps.append(hull)
            found[side] = steps
        return found

    @cached_property
    def bytes(self) -> Ints:
        """Bytes of data moved."""
        total = np.where(self.live, self.length, 0)
        for count in self.counts:
            total = total * np.where(self.live, count, 1)
        return total


def _join(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
