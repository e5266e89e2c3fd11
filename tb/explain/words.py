# SPDX-License-Identifier: Apache-2.0
"""Register words of an op, as far as the specification has their bits.

``WORDS`` has a row for each word (docs/spec/dma.md, section 4; docs/spec/nd2nz.md, section 1;
docs/spec/fixpipe.md, section 12; docs/spec/order_and_atomics.md, section 5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tb.isa.burst.table import WIDEN_F16
from tb.isa.dma.op import DmaOp
from tb.isa.fix.table import NZ2DN, SAT_MODES, SCALAR_RELU
from tb.isa.op import Op


@dataclass(frozen=True, slots=True)
class Bits:
    """A field of a register word.

    Attributes:
        msb, lsb, name: Its bits and its name.
        field: Field of the descriptor with its value, one of ``DERIVED``, or a constant.
        high, low: Bits of that field that it holds; of all bits ``high`` is None.
    """

    msb: int
    lsb: int
    name: str
    field: str
    high: int | None = None
    low: int = 0

    @property
    def width(self) -> int:
        """How many bits it has."""
        return self.msb - self.lsb + 1

    @property
    def place(self) -> str:
        """Its bits as text."""
        return f"{self.msb}:{self.lsb}" if self.width > 1 else f"{self.lsb}"

    def within(self, word: int) -> int:
        """Returns its value in a word."""
        return word >> self.lsb & (1 << self.width) - 1

    def of(self, desc: Op) -> int:
        """Returns its value for an op, which may be more than it holds."""
        value = value_of(desc, self.field)
        return value if self.high is None else (value & (2 << self.high) - 1) >> self.low


@dataclass(frozen=True, slots=True)
class Word:
    """A register word.

    Attributes:
        name: Its name.
        ops: Ops that use it.
        source: Place in the specification.
        fields: Its fields.
        when: Whether an op that has it uses it.
        note: Note, or empty.
    """

    name: str
    ops: tuple[str, ...]
    source: str
    fields: tuple[Bits, ...]
    when: Callable[[Any], bool] = lambda _: True
    note: str = ""


DERIVED: dict[str, Callable[[Any], int]] = {
    "f16": lambda x: int(x.widen == WIDEN_F16),
    "nz2dn": lambda x: int(x.layout == NZ2DN),
    "nz2nd": lambda x: int(x.layout in (0, 1)),
    "sat_nan": lambda x: int(x.sat == SAT_MODES["preserve_nan"]),
    "sat_off": lambda x: int(x.sat == SAT_MODES["nosat"]),
}
"""Values of registers and operands that are made of fields of a descriptor."""


def value_of(desc: Any, field: str) -> int:
    """Returns a field of a descriptor, one that is derived, or a constant."""
    if field in DERIVED:
        return DERIVED[field](desc)
    value: int = int(field) if field.isdigit() else getattr(desc, field)
    return value


_BITS = re.compile(r"(\d+)(?::(\d+))? ([^=]+?)(?: = (\w+)(?:\[(\d+):(\d+)\])?)?")


def _bits(text: str) -> tuple[Bits, ...]:
    """Returns fields of a word as ``msb:lsb name = field[high:low]``.

    The name may be the field's own, and all bits are those of a field without ``[high:low]``.
    """
    found = []
    for one in text.split(", "):
        match = _BITS.fullmatch(one)
        assert match is not None, one
        msb, lsb, name, field, high, low = match.groups()
        cut = (int(high), int(low)) if high else ()
        found.append(Bits(int(msb), int(lsb or msb), name, field or name, *cut))
    return tuple(found)


def _few(desc: DmaOp) -> bool:
    """Returns whether the two loops of the registers are enough."""
    return len(desc.loops) <= 2


_DMA4 = "docs/spec/dma.md, section 4"
_FIX12 = "docs/spec/fixpipe.md, section 12"
GM_UB = ("mte_gm_ub", "mte_ub_gm")
_FIX = ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")

_XT = (
    "62 nz2dn, 43 nz2nd, 42 split, 41:39 relu, 38:34 quant code 4:0 = quant[4:0], "
    "33:32 unit_flag, 31:30 clip enable = clip_en, 29 quant code 5 = quant[15:5]"
)
_ATOMIC = "10:9 atomic op = atomic_op, 8:6 atomic type = atomic_type"
_CODES = "codes of clip enable and dual mode are not specified; of an op, those of its descriptor"

WORDS: tuple[Word, ...] = (
    Word(
        "LOOP_SIZE", GM_UB, _DMA4,
        _bits("41:21 loop2 count = loop1_count, 20:0 loop1 count = loop0_count"), _few,
    ),
    *(
        Word(
            f"LOOP{k + 1}_STRIDE", GM_UB, _DMA4,
            _bits(f"60:40 ub stride = loop{k}_loc_stride, 39:0 gm stride = loop{k}_ext_stride"),
            _few,
        )
        for k in (0, 1)
    ),
    Word(
        "MOV_PAD_VAL", ("mte_gm_ub",), "docs/spec/dma.md, section 3",
        _bits("63:0 pad value = pad_value"), lambda x: x.padded,
    ),
    Word(
        "copy configuration", GM_UB, "docs/spec/profiles.md, evidence of len_bits",
        _bits("45:25 len_burst = len, 24:4 n_burst"), note="its other bits are not specified",
    ),
    Word(
        "MTE2_NZ_PARA", ("mte_gm_l1_frac",), "docs/spec/nd2nz.md, section 1",
        _bits("63:48 loop4 = dst_loop4, 47:32 loop3 = dst_loop3, 31:16 loop2 = dst_loop2, "
              "15:0 group_count"),
    ),
    Word(
        "fill configuration", ("raw_fill_l1",), "docs/spec/ambiguities.md, A-79",
        _bits("46:32 gap = dst_gap, 30:16 blocks = len, 14:0 repeat = n_burst"),
    ),
    Word("Xm", _FIX, _FIX12, _bits("63:32 dst_stride, 31:16 m, 15:4 n, 3:0 sid")),
    Word(
        "Xt", ("mte_l0c_gm", "mte_l0c_l1"), _FIX12,
        _bits(f"{_XT}, 19:16 l2, 15:0 src_stride"), note=_CODES,
    ),
    Word(
        "Xt", ("mte_l0c_ub",), _FIX12,
        _bits(f"{_XT}, 18 sub-block = ub_sub, 17:16 dual mode = ub_mode, 15:0 src_stride"),
        note=_CODES,
    ),
    Word(
        "LOOP3_PARA", _FIX, _FIX12,
        _bits("63:32 dst stride = loop3_dst, 31:16 src stride = loop3_src, "
              "15:0 count = loop3_count"),
        lambda x: bool(x.loop3_en),
    ),
    Word("CHANNEL_PARA", _FIX, _FIX12, _bits("63:48 K = k"), lambda x: x.layout == NZ2DN),
    Word(
        "FPC", _FIX, _FIX12,
        _bits("63 reset of unit flags = 0, 15:8 quant offset / 128 = quant_addr[15:7], "
              "7:0 relu offset / 64 = relu_addr[15:6]"),
        lambda x: x.vector_quant or x.vector_relu,
        "the segments of fb are not in the word",
    ),
    Word(
        "QUANT_PRE", _FIX, _FIX12,
        _bits("46 sign = 0, 45:37 offset = 0, 31:13 scale = quant_scale[31:13], "
              "12:0 unused = quant_scale[12:0]"),
        lambda x: x.mode.scale and not x.mode.vector,
    ),
    Word(
        "RELU_ALPHA", _FIX, _FIX12,
        _bits("31:13 alpha = relu_alpha[31:13], 12:0 unused = relu_alpha[12:0]"),
        lambda x: x.relu == SCALAR_RELU,
    ),
    Word(
        "CTRL", _FIX, _FIX12, _bits(f"50 keep NaN = sat_nan, 48 nosat = sat_off, {_ATOMIC}"),
        note="as for this op: of its clauses, else as sampled at issue",
    ),
    Word(
        "CTRL", ("mte_ub_gm",), "docs/spec/order_and_atomics.md, section 5",
        _bits(f"48 nosat, {_ATOMIC}"), lambda x: bool(x.atomic_type),
        "as sampled at issue; its other forms need it too",
    ),
)  # fmt: skip
"""Every register word, in the order of output."""


@dataclass(frozen=True, slots=True)
class BitsValue:
    """A field of a word with its value."""

    name: str
    bits: str
    value: int


@dataclass(frozen=True, slots=True)
class WordValue:
    """A word of an op: name, value, fields, place in the specification, note."""

    name: str
    value: int
    fields: tuple[BitsValue, ...]
    source: str
    note: str


def words_of(desc: Op) -> tuple[WordValue, ...]:
    """Returns the register words of an op; a note names a value that is cut."""
    return tuple(
        coded(word, [bits.of(desc) for bits in word.fields])
        for word in WORDS
        if desc.spec.name in word.ops and word.when(desc)
    )


def word_named(name: str, op: str = "") -> Word:
    """Returns the word of a name; ``op`` is the v0.6 op, where the fields depend on it."""
    return next(word for word in WORDS if word.name == name and (not op or op in word.ops))


def coded(word: Word, values: Sequence[int]) -> WordValue:
    """Returns a word with these values of its fields."""
    pairs = list(zip(word.fields, values, strict=True))
    cut = [bits.name for bits, value in pairs if value >> bits.width]
    note = f"{', '.join(cut)}: more than the bits hold" if cut else ""
    total = sum(bits.within(value << bits.lsb) << bits.lsb for bits, value in pairs)
    return _valued(word, total, values, note)


def decoded(word: Word, value: int) -> WordValue:
    """Returns the fields of a word with a value; bits in no field have their value."""
    values = [bits.within(value) for bits in word.fields]
    rest = value - sum(x << bits.lsb for bits, x in zip(word.fields, values, strict=True))
    return _valued(word, value, values, f"bits {rest:#x} are in no field" if rest else "")


def fields_in(word: Word, value: int) -> dict[str, int]:
    """Returns the fields of an op of which a word has bits, derived ones, constants by name."""
    found: dict[str, int] = {}
    for bits in word.fields:
        name = bits.name if bits.field.isdigit() else bits.field
        found[name] = found.get(name, 0) | bits.within(value) << bits.low
    return found


def _valued(word: Word, total: int, values: Sequence[int], note: str) -> WordValue:
    pairs = zip(word.fields, values, strict=True)
    fields = tuple(BitsValue(bits.name, bits.place, value) for bits, value in pairs)
    notes = "; ".join(filter(None, (word.note, note)))
    return WordValue(word.name, total, fields, word.source, notes)
