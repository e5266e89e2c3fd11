# SPDX-License-Identifier: Apache-2.0
"""The fill of L1: its row, ``raw_fill_l1`` and the descriptor it becomes (spec/dma.md, section 9).

``create_cbuf_matrix``, into which the compiler expands it, is a form of its text alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tb.isa.dtypes import Ptr
from tb.isa.fields import Field, Layout, Operand, OpSpec

COUNT_BITS = 15
"""Bits of the repeats, of the blocks in one and of the gap between two."""

RAW_BITS = 32
WORD_BITS = (16, 32)
"""Widths of the pattern, ``fill_word_bits``; their places are the values of field ``word32``."""

FILL_LAYOUT = Layout(
    "fill",
    (
        Field("word32", 1, "bits of the pattern: 0 the low 16 of raw, 1 all 32"),
        Field("below", 1, "byte_offset is negative: offset is its magnitude"),
        Field("len", COUNT_BITS + 1, "32-byte blocks of a repeat"),
        Field("n_burst", COUNT_BITS + 1, "repeats"),
        Field("dst_gap", COUNT_BITS + 1, "32-byte blocks between two repeats"),
        Field("dst_addr", 24, "L1 base byte address", keep_low=5),
        Field("offset", 24, "bytes from the base to the first block", keep_low=5),
        Field("raw", RAW_BITS + 1, "bits of the pattern"),
    ),
)

RAW_FILL_L1 = OpSpec(
    name="raw_fill_l1",
    opcode=17,
    slot="mte2",
    source="",
    destination="l1",
    operands=(
        Operand("dst", None, "B", "dst_addr", "L1 address; with the offset a multiple of 32"),
        Operand("byte_offset", None, "B", "offset", "bytes from it to the first block, signed"),
        Operand(
            "raw", RAW_BITS, "bits", "raw", "pattern, of which the low 16 bits may count alone"
        ),
        Operand("repeat", COUNT_BITS, "repeats", "n_burst", "runs of blocks"),
        Operand("blocks", COUNT_BITS, "32 B", "len", "blocks of a run"),
        Operand("gap", COUNT_BITS, "32 B", "dst_gap", "blocks from the end of a run to the next"),
    ),
    layout=FILL_LAYOUT,
    rules="RF",
    d_rules=(2, 3, 4),
    doc="runs of L1 blocks filled with a pattern of 16 or 32 bits",
)

L1_UI16 = Ptr("ui16", "l1")


@dataclass(frozen=True, slots=True)
class RawFillL1:
    """``pto.raw_fill_l1``: runs of blocks of 32 bytes filled with a pattern.

    Attributes:
        spec: Table row of the op.
        dst: Byte address.
        byte_offset: Bytes from it to the first block.
        raw: Bits of the pattern.
        repeat, blocks, gap: Runs, blocks in a run, and blocks between two.
        fill_word_bits: Bits of the pattern that count, 16 or 32 (RF-L01).
        dst_type: Pointer type; its element plays no part.
    """

    spec: ClassVar[OpSpec] = RAW_FILL_L1
    dst: int
    byte_offset: int
    raw: int
    repeat: int
    blocks: int
    gap: int
    fill_word_bits: int = 16
    dst_type: Ptr = L1_UI16

    @property
    def src_type(self) -> Ptr:
        """The pointer type: there is one alone."""
        return self.dst_type


@dataclass(frozen=True, slots=True)
class FillDescriptor:
    """Field values of a fill before they are packed; they may break any width."""

    word32: int
    below: int
    len: int
    n_burst: int
    dst_gap: int
    dst_addr: int
    offset: int
    raw: int
    spec: ClassVar[OpSpec] = RAW_FILL_L1
    ub_sub: ClassVar[int] = 0

    @property
    def first(self) -> int:
        """Address of the first block."""
        return self.dst_addr + (-self.offset if self.below else self.offset)

    @property
    def word_bits(self) -> int:
        """Bits of the pattern that count."""
        return WORD_BITS[self.word32]

    @property
    def is_nop(self) -> bool:
        """Nothing is written (A-03)."""
        return not (self.len and self.n_burst)


def lower_fill(op: RawFillL1) -> FillDescriptor:
    """Returns the descriptor of a fill.

    Raises:
        ValueError: the pattern has neither 16 nor 32 bits (RF-L01).
    """
    if op.fill_word_bits not in WORD_BITS:
        raise ValueError(f"RF-L01: fill_word_bits is {op.fill_word_bits}: 16 or 32")
    return FillDescriptor(
        WORD_BITS.index(op.fill_word_bits),
        int(op.byte_offset < 0),
        op.blocks,
        op.repeat,
        op.gap,
        op.dst,
        abs(op.byte_offset),
        op.raw,
    )
