# SPDX-License-Identifier: Apache-2.0
"""The fill of L1: its row and the op ``raw_fill_l1`` (docs/spec/dma.md, section 9).

``create_cbuf_matrix``, into which the compiler expands it, is a form of its text alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.isa.dtypes import Ptr
from tb.isa.fields import Field, Layout, Operand, OpSpec
from tb.isa.op import Op, Values, op_class

if TYPE_CHECKING:
    from tb.isa.operands import FillOpValues as _Values
else:
    _Values = Op

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


FILLS: tuple[OpSpec, ...] = (RAW_FILL_L1,)
"""Rows of the family."""


class FillOp(_Values):
    """Runs of blocks of 32 bytes filled with a pattern.

    ``dst`` and ``byte_offset``, which is signed, are bytes; ``fill_word_bits`` of ``raw`` count, 16
    or 32 (RF-L01). There is one pointer type alone, whose element plays no part.
    """

    __slots__ = ()

    @classmethod
    def _clause(cls, name: str, value: Any, values: Values) -> None:
        if name == "byte_offset":
            below = type(value) is int and value < 0  # one that is not known is not a plain int
            values |= {"below": int(below), "offset": -value if below else value}
        elif name == "fill_word_bits":
            legal = value in WORD_BITS
            values["word32"] = WORD_BITS.index(value) if legal else 0
            values["odd_bits"] = 0 if legal else value
        else:
            super()._clause(name, value, values)

    @classmethod
    def fitting(cls, values: Values) -> tuple[str, str]:
        """Returns the type of the pattern."""
        dtype = f"ui{WORD_BITS[values['word32']]}"
        return dtype, dtype

    @property
    def fill_word_bits(self) -> int:
        """Bits of the pattern as they are given."""
        return self.odd_bits or self.word_bits

    @property
    def word_bits(self) -> int:
        """Bits of the pattern that count."""
        return WORD_BITS[self.word32]

    @property
    def byte_offset(self) -> int:
        """Bytes from ``dst`` to the first block."""
        return -self.offset if self.below else self.offset

    @property
    def first(self) -> int:
        """Address of the first block."""
        return self.dst_addr + self.byte_offset

    @property
    def is_nop(self) -> bool:
        """Nothing is written (A-03)."""
        return not (self.len and self.n_burst)

    @property
    def unencodable(self) -> str:
        """A pattern with neither 16 nor 32 bits (RF-L01)."""
        return f"RF-L01: fill_word_bits is {self.odd_bits}: 16 or 32" if self.odd_bits else ""


_DEFAULTS: dict[str, Any] = {"fill_word_bits": 16, "dst_type": Ptr("ui16", "l1")}
_NAMES = ("dst", "byte_offset", "raw", "repeat", "blocks", "gap", *_DEFAULTS)

FILL_CLASSES: tuple[type[FillOp], ...] = tuple(
    op_class(FillOp, row, _NAMES, _DEFAULTS, {"odd_bits": 0}, ("byte_offset",)) for row in FILLS
)
"""Op classes in the order of the rows."""

if TYPE_CHECKING:
    from tb.isa.operands import RawFillL1 as RawFillL1
