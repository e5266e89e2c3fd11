# SPDX-License-Identifier: Apache-2.0
"""Register words of an op, as far as the specification has their bits.

``WORDS`` has a row for each word (spec/dma.md, section 4; spec/nd2nz.md, section 1;
spec/fixpipe.md, section 12; spec/order_and_atomics.md, section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tb.isa.dma.op import DmaDescriptor, DmaLoop
from tb.isa.fix.table import NZ2DN, SAT_MODES, SCALAR_RELU
from tb.isa.lower import Descriptor
from tb.isa.spaces import FB_SEGMENT_SHIFT

Get = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Bits:
    """A field of a register word: its bits, its name, and its value of a descriptor."""

    msb: int
    lsb: int
    name: str
    get: Get

    @property
    def width(self) -> int:
        """How many bits it has."""
        return self.msb - self.lsb + 1

    @property
    def place(self) -> str:
        """Its bits as text."""
        return f"{self.msb}:{self.lsb}" if self.width > 1 else f"{self.lsb}"

    def of(self, value: int) -> int:
        """Returns the bits of a value that it holds."""
        return value & ((1 << self.width) - 1)


@dataclass(frozen=True, slots=True)
class Word:
    """A register word.

    Attributes:
        name: Its name.
        ops: Ops that use it.
        source: Place in the specification.
        fields: Its fields.
        when: Whether an op that has it uses it.
        note: What else is to be said.
    """

    name: str
    ops: tuple[str, ...]
    source: str
    fields: tuple[Bits, ...]
    when: Callable[[Any], bool] = lambda _: True
    note: str = ""


def loop_of(desc: DmaDescriptor, number: int) -> DmaLoop:
    """Returns a loop; one that is absent has one iteration."""
    return desc.loops[number] if number < len(desc.loops) else DmaLoop(1, 0, 0)


def _stride(number: int) -> tuple[Bits, ...]:
    return (
        Bits(60, 40, "ub stride", lambda x: loop_of(x, number).loc_stride),
        Bits(39, 0, "gm stride", lambda x: loop_of(x, number).ext_stride),
    )


def _few(desc: DmaDescriptor) -> bool:
    """Returns whether the two loops of the registers are enough."""
    return len(desc.loops) <= 2


def _offset(address: int) -> int:
    return address & ((1 << FB_SEGMENT_SHIFT) - 1)


_DMA4 = "spec/dma.md, section 4"
_FIX12 = "spec/fixpipe.md, section 12"
GM_UB = ("mte_gm_ub", "mte_ub_gm")
_FIX = ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")

_XT = (
    Bits(62, 62, "nz2dn", lambda x: int(x.layout == NZ2DN)),
    Bits(43, 43, "nz2nd", lambda x: int(x.layout in (0, 1))),
    Bits(42, 42, "split", lambda x: x.split),
    Bits(41, 39, "relu", lambda x: x.relu),
    Bits(38, 34, "quant code 4:0", lambda x: x.quant & 31),
    Bits(33, 32, "unit_flag", lambda x: x.unit_flag),
    Bits(31, 30, "clip enable", lambda x: x.clip_en),
    Bits(29, 29, "quant code 5", lambda x: x.quant >> 5),
)
_SRC = Bits(15, 0, "src_stride", lambda x: x.src_stride)
_CODES = "codes of clip enable and dual mode are not specified; of an op, those of its descriptor"

CUT = 13
"""Low bits of a number that play no part; the compiler writes them, too."""

WORDS: tuple[Word, ...] = (
    Word(
        "LOOP_SIZE", GM_UB, _DMA4,
        (
            Bits(41, 21, "loop2 count", lambda x: loop_of(x, 1).count),
            Bits(20, 0, "loop1 count", lambda x: loop_of(x, 0).count),
        ),
        _few,
    ),
    Word("LOOP1_STRIDE", GM_UB, _DMA4, _stride(0), _few),
    Word("LOOP2_STRIDE", GM_UB, _DMA4, _stride(1), _few),
    Word(
        "MOV_PAD_VAL", ("mte_gm_ub",), "spec/dma.md, section 3",
        (Bits(63, 0, "pad value", lambda x: x.pad_value),),
        lambda x: x.padded,
    ),
    Word(
        "copy configuration", GM_UB, "spec/profiles.md, evidence of len_bits",
        (
            Bits(45, 25, "len_burst", lambda x: x.len),
            Bits(24, 4, "n_burst", lambda x: x.n_burst),
        ),
        note="its other bits are not specified",
    ),
    Word(
        "MTE2_NZ_PARA", ("mte_gm_l1_frac",), "spec/nd2nz.md, section 1",
        (
            Bits(63, 48, "loop4", lambda x: x.dst_loop4),
            Bits(47, 32, "loop3", lambda x: x.dst_loop3),
            Bits(31, 16, "loop2", lambda x: x.dst_loop2),
            Bits(15, 0, "group_count", lambda x: x.group_count),
        ),
    ),
    Word(
        "fill configuration", ("raw_fill_l1",), "spec/ambiguities.md, A-79",
        (
            Bits(46, 32, "gap", lambda x: x.dst_gap),
            Bits(30, 16, "blocks", lambda x: x.len),
            Bits(14, 0, "repeat", lambda x: x.n_burst),
        ),
    ),
    Word(
        "Xm", _FIX, _FIX12,
        (
            Bits(63, 32, "dst_stride", lambda x: x.dst_stride),
            Bits(31, 16, "m", lambda x: x.m),
            Bits(15, 4, "n", lambda x: x.n),
            Bits(3, 0, "sid", lambda x: x.sid),
        ),
    ),
    Word(
        "Xt", ("mte_l0c_gm", "mte_l0c_l1"), _FIX12,
        (*_XT, Bits(19, 16, "l2", lambda x: x.l2), _SRC), note=_CODES,
    ),
    Word(
        "Xt", ("mte_l0c_ub",), _FIX12,
        (
            *_XT,
            Bits(18, 18, "sub-block", lambda x: x.ub_sub),
            Bits(17, 16, "dual mode", lambda x: x.ub_mode),
            _SRC,
        ),
        note=_CODES,
    ),
    Word(
        "LOOP3_PARA", _FIX, _FIX12,
        (
            Bits(63, 32, "dst stride", lambda x: x.loop3_dst),
            Bits(31, 16, "src stride", lambda x: x.loop3_src),
            Bits(15, 0, "count", lambda x: x.loop3_count),
        ),
        lambda x: bool(x.loop3_en),
    ),
    Word(
        "CHANNEL_PARA", _FIX, _FIX12, (Bits(63, 48, "K", lambda x: x.k),),
        lambda x: x.layout == NZ2DN,
    ),
    Word(
        "FPC", _FIX, _FIX12,
        (
            Bits(63, 63, "reset of unit flags", lambda _: 0),
            Bits(15, 8, "quant offset / 128", lambda x: _offset(x.quant_addr) // 128),
            Bits(7, 0, "relu offset / 64", lambda x: _offset(x.relu_addr) // 64),
        ),
        lambda x: x.vector_quant or x.vector_relu,
        "the segments of fb are not in the word",
    ),
    Word(
        "QUANT_PRE", _FIX, _FIX12,
        (
            Bits(46, 46, "sign", lambda _: 0),
            Bits(45, 37, "offset", lambda _: 0),
            Bits(31, CUT, "scale", lambda x: x.quant_scale >> CUT),
            Bits(CUT - 1, 0, "unused", lambda x: x.quant_scale & (1 << CUT) - 1),
        ),
        lambda x: x.mode.scale and not x.mode.vector,
    ),
    Word(
        "RELU_ALPHA", _FIX, _FIX12,
        (
            Bits(31, CUT, "alpha", lambda x: x.relu_alpha >> CUT),
            Bits(CUT - 1, 0, "unused", lambda x: x.relu_alpha & (1 << CUT) - 1),
        ),
        lambda x: x.relu == SCALAR_RELU,
    ),
    Word(
        "CTRL", _FIX, _FIX12,
        (
            Bits(50, 50, "keep NaN", lambda x: int(x.sat == SAT_MODES["preserve_nan"])),
            Bits(48, 48, "nosat", lambda x: int(x.sat == SAT_MODES["nosat"])),
            Bits(10, 9, "atomic op", lambda x: x.atomic_op),
            Bits(8, 6, "atomic type", lambda x: x.atomic_type),
        ),
        note="as for this op: of its clauses, else as sampled at issue",
    ),
    Word(
        "CTRL", ("mte_ub_gm",), "spec/order_and_atomics.md, section 5",
        (
            Bits(48, 48, "nosat", lambda x: x.nosat),
            Bits(10, 9, "atomic op", lambda x: x.atomic_op),
            Bits(8, 6, "atomic type", lambda x: x.atomic_type),
        ),
        lambda x: bool(x.atomic_type),
        "as sampled at issue; its other forms need it too",
    ),
)  # fmt: skip
"""Every register word, in the order of output."""


@dataclass(frozen=True, slots=True)
class WordValue:
    """A word of an op: name, value, (name, bits, value) of its fields, place, note."""

    name: str
    value: int
    fields: tuple[tuple[str, str, int], ...]
    source: str
    note: str


def words_of(desc: Descriptor) -> tuple[WordValue, ...]:
    """Returns the register words of an op; a value that does not fit is said to be cut."""
    return tuple(
        coded(word, [bits.get(desc) for bits in word.fields])
        for word in WORDS
        if desc.spec.name in word.ops and word.when(desc)
    )


def coded(word: Word, values: Sequence[int]) -> WordValue:
    """Returns a word with these values of its fields."""
    pairs = list(zip(word.fields, values, strict=True))
    cut = [bits.name for bits, value in pairs if value >> bits.width]
    note = f"{', '.join(cut)}: more than the bits hold" if cut else ""
    return _valued(word, sum(bits.of(value) << bits.lsb for bits, value in pairs), values, note)


def word_named(name: str, op: str = "") -> Word:
    """Returns the word of a name; ``op`` is the v0.6 op, where the fields depend on it."""
    return next(word for word in WORDS if word.name == name and (not op or op in word.ops))


def decoded(word: Word, value: int) -> WordValue:
    """Returns the fields of a word with a value; of bits in no field the value is told."""
    values = [bits.of(value >> bits.lsb) for bits in word.fields]
    known = sum(bits.of(-1) << bits.lsb for bits in word.fields)
    rest = value & ~known
    note = f"bits {rest:#x} are in no field" if rest else ""
    return _valued(word, value, values, note)


def _valued(word: Word, total: int, values: Sequence[int], note: str) -> WordValue:
    fields = zip(word.fields, values, strict=True)
    return WordValue(
        word.name,
        total,
        tuple((bits.name, bits.place, value) for bits, value in fields),
        word.source,
        "; ".join(filter(None, (word.note, note))),
    )
