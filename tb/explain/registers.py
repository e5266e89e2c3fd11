# SPDX-License-Identifier: Apache-2.0
"""Register words and register forms of an op, as far as the specification has them.

``WORDS`` and ``FORMS`` have a row for each word and for each form: an op that is added costs a row
in each where it has one (spec/dma.md, section 4; spec/nd2nz.md, section 1; spec/fixpipe.md,
section 12; spec/dialect.md, section 5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tb.isa.burst.op import BurstDescriptor
from tb.isa.burst.table import WIDEN_F16
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacySet,
    LoopRegisters,
    SetMovPadVal,
    to_v06,
    ubuf_copy_to_v06,
    writes_between,
)
from tb.isa.dma.op import DmaDescriptor, DmaLoop
from tb.isa.fix.table import NZ2DN, SAT_MODES
from tb.isa.lower import Descriptor
from tb.isa.spaces import FB_SEGMENT_SHIFT, UB_BLOCK
from tb.isa.text import AnyOp, to_text

Get = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Bits:
    """A field of a register word: its bits, its name, and its value of a descriptor."""

    msb: int
    lsb: int
    name: str
    get: Get


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


def _loop(desc: DmaDescriptor, number: int) -> DmaLoop:
    return desc.loops[number] if number < len(desc.loops) else DmaLoop(1, 0, 0)


def _stride(number: int) -> tuple[Bits, ...]:
    return (
        Bits(60, 40, "ub stride", lambda x: _loop(x, number).loc_stride),
        Bits(39, 0, "gm stride", lambda x: _loop(x, number).ext_stride),
    )


def _few(desc: DmaDescriptor) -> bool:
    """Returns whether the two loops of the registers are enough."""
    return len(desc.loops) <= 2


def _unlooped(desc: DmaDescriptor) -> bool:
    return all(loop.count == 1 for loop in desc.loops)


def _offset(address: int) -> int:
    return address & ((1 << FB_SEGMENT_SHIFT) - 1)


_DMA4 = "spec/dma.md, section 4"
_FIX12 = "spec/fixpipe.md, section 12"
_GM_UB = ("mte_gm_ub", "mte_ub_gm")
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
_CODES = "codes of clip enable and dual mode are not specified: those of the descriptor are shown"

WORDS: tuple[Word, ...] = (
    Word(
        "LOOP_SIZE", _GM_UB, _DMA4,
        (
            Bits(41, 21, "loop2 count", lambda x: _loop(x, 1).count),
            Bits(20, 0, "loop1 count", lambda x: _loop(x, 0).count),
        ),
        _few,
    ),
    Word("LOOP1_STRIDE", _GM_UB, _DMA4, _stride(0), _few),
    Word("LOOP2_STRIDE", _GM_UB, _DMA4, _stride(1), _few),
    Word(
        "MOV_PAD_VAL", ("mte_gm_ub",), "spec/dma.md, section 3",
        (Bits(63, 0, "pad value", lambda x: x.pad_value),),
        lambda x: bool(x.pad_en),
    ),
    Word(
        "copy configuration", _GM_UB, "spec/profiles.md, evidence of len_bits",
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
            Bits(15, 8, "quant offset / 128", lambda x: _offset(x.quant_addr) // 128),
            Bits(7, 0, "relu offset / 64", lambda x: _offset(x.relu_addr) // 64),
        ),
        lambda x: x.vector_quant or x.vector_relu,
        "the segments of fb are not in the word",
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
    found = []
    for word in WORDS:
        if desc.spec.name not in word.ops or not word.when(desc):
            continue
        total, fields, cut = 0, [], []
        for bits in word.fields:
            value, width = bits.get(desc), bits.msb - bits.lsb + 1
            if value >> width:
                cut.append(bits.name)
            total |= (value & ((1 << width) - 1)) << bits.lsb
            place = f"{bits.msb}:{bits.lsb}" if width > 1 else f"{bits.lsb}"
            fields.append((bits.name, place, value))
        note = word.note
        if cut:
            note = "; ".join(filter(None, (note, f"{', '.join(cut)}: more than the bits hold")))
        found.append(WordValue(word.name, total, tuple(fields), word.source, note))
    return tuple(found)


# --- forms ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpForm:
    """Another way to write an op.

    Attributes:
        title: Which form.
        lines: The instructions; as PTO text where ``text`` is true, else names and values.
        source: Place in the specification.
        note: What else is to be said.
        text: Whether the lines are read by the other commands.
    """

    title: str
    lines: tuple[str, ...]
    source: str
    note: str = ""
    text: bool = True


_MAPPING = "spec/README.md, legacy mapping"
_RAW = "spec/dialect.md, section 5"

Values = tuple[tuple[str, Get], ...]


@dataclass(frozen=True, slots=True)
class Raw:
    """A register form of the compiler.

    Attributes:
        name, op: Its name, and the op that it is an expansion of.
        operands: Names and values of its operands.
        words: Ops that set a word before it, and the word; of an operand no op.
        when: Whether an op has this form.
        note: What else is to be said.
        without: What is to be said of an op that does not have it, or empty.
    """

    name: str
    op: str
    operands: Values
    words: tuple[tuple[str, str], ...] = ()
    when: Callable[[Any], bool] = lambda _: True
    note: str = ""
    without: str = ""


_BURST: Values = (
    ("src", lambda x: x.src_addr),
    ("dst", lambda x: x.dst_addr),
    ("sid", lambda _: 0),
    ("n_burst", lambda x: x.n_burst),
    ("len", lambda x: x.len),
    ("src_gap", lambda x: x.src_gap),
    ("dst_gap", lambda x: x.dst_gap),
)
_FRAC: Values = (
    ("src", lambda x: x.ext_addr),
    ("dst", lambda x: x.loc_addr),
    ("sid", lambda _: 0),
    ("loop1_src_stride", lambda x: x.inner_stride),
    ("l2", lambda x: x.l2),
    ("n", lambda x: x.n_value),
    ("d", lambda x: x.d_value),
    ("loop4_src_stride", lambda x: x.outer_stride),
    ("smallc0", lambda x: x.small_c0),
)
_CC: Values = (("src", lambda x: x.src_addr), ("dst", lambda x: x.dst_addr))
_CC_WORDS = (
    ("set_loop3_para", "LOOP3_PARA"),
    ("set_channel_para", "CHANNEL_PARA"),
    ("set_fpc", "FPC"),
    ("set_ctrl", "CTRL"),
    ("", "Xm"),
    ("", "Xt"),
)
_CC_NOTE = "bits of set_quant_pre, set_relu_alpha and set_fix_clip_relu are not specified"
_LOOPS_L1 = "of an op with loops: bits of the registers *_outtol1 are not specified"
_LOOPS_UB = "none with loops: the specification has no loop registers from L1 to UB"

RAW_FORMS: tuple[Raw, ...] = (
    Raw(
        "copy_gm_to_cbuf", "mte_gm_l1",
        (
            ("src", lambda x: x.ext_addr), ("dst", lambda x: x.loc_addr),
            ("n_burst", lambda x: x.n_burst), ("len", lambda x: x.len),
            ("src_stride", lambda x: x.ext_stride), ("dst_stride", lambda x: x.loc_stride),
        ),
        when=_unlooped, without=_LOOPS_L1,
    ),
    Raw(
        "copy_cbuf_to_ubuf", "mte_l1_ub",
        (
            ("src", lambda x: x.ext_addr), ("dst", lambda x: x.loc_addr),
            ("sid", lambda x: x.ub_sub),
            ("n_burst", lambda x: x.n_burst), ("len", lambda x: x.len),
            ("src_gap", lambda x: x.ext_stride), ("dst_gap", lambda x: x.loc_stride),
        ),
        when=_unlooped,
        note="bit 0 of sid is the sub-block; 32 B units",
        without=_LOOPS_UB,
    ),
    Raw(
        "copy_ubuf_to_ubuf", "mte_ub_ub", _BURST,
        note="as the compiler prints it, 32 B units: option --ubuf-to-ubuf blocks",
    ),
    Raw("copy_ubuf_to_cbuf", "mte_ub_l1", _BURST, note="32 B units"),
    Raw(
        "copy_cbuf_to_bt", "mte_l1_bt",
        (
            *_BURST[:2], ("conv", lambda x: int(x.widen == WIDEN_F16)), *_BURST[3:],
        ),
        note="conv is 1 for an f16 source",
    ),
    Raw("copy_cbuf_to_fbuf", "mte_l1_fb", (*_BURST[:2], *_BURST[3:]), note="64 B units"),
    Raw(
        "copy_gm_to_cbuf_multi_nd2nz", "mte_gm_l1_frac", _FRAC,
        (("set_mte2_nz_para", "MTE2_NZ_PARA"),), lambda x: not x.mode,
    ),
    Raw(
        "copy_gm_to_cbuf_multi_dn2nz", "mte_gm_l1_frac", _FRAC,
        (("set_mte2_nz_para", "MTE2_NZ_PARA"),), lambda x: bool(x.mode),
    ),
    Raw("copy_matrix_cc_to_gm", "mte_l0c_gm", _CC, _CC_WORDS, note=_CC_NOTE),
    Raw("copy_matrix_cc_to_cbuf", "mte_l0c_l1", _CC, _CC_WORDS, note=_CC_NOTE),
    Raw("copy_matrix_cc_to_ub", "mte_l0c_ub", _CC, _CC_WORDS, note=_CC_NOTE),
)  # fmt: skip
"""Forms that the compiler expands ops to, in the order of output."""


def forms_of(op: AnyOp, desc: Descriptor, registers: DmaRegisters) -> tuple[OpForm, ...]:
    """Returns the other forms of an op: its v0.6 form, legacy forms, expansions of the compiler."""
    found = []
    if isinstance(op, CopyGmToUbuf | CopyUbufToGm):
        found += _new_form(op, registers)
    elif isinstance(op, CopyUbufToUbuf):
        found.append(OpForm("v0.6", (to_text(ubuf_copy_to_v06(op)),), _MAPPING))
    elif isinstance(desc, DmaDescriptor | BurstDescriptor):
        found += _legacy_form(op, desc)
    values = {word.name: word.value for word in words_of(desc)}
    for raw in RAW_FORMS:
        if raw.op != desc.spec.name:
            continue
        if not raw.when(desc):
            if raw.without:
                found.append(OpForm("expansion of the compiler", (), _RAW, raw.without))
            continue
        before = [
            f"{name} {values[word]:#x}" for name, word in raw.words if name and word in values
        ]
        names = [f"{name} {_shown(name, get(desc))}" for name, get in raw.operands]
        names += [f"{word} {values[word]:#018x}" for name, word in raw.words if not name]
        lines = (*before, f"{raw.name} {', '.join(names)}")
        found.append(OpForm("expansion of the compiler", lines, _RAW, raw.note, text=False))
    return tuple(found)


def _shown(name: str, value: int) -> str:
    return f"{value:#x}" if name in ("src", "dst") else str(value)


def _new_form(op: CopyGmToUbuf | CopyUbufToGm, registers: DmaRegisters) -> list[OpForm]:
    try:
        return [OpForm("v0.6", (to_text(to_v06(op, registers)),), _MAPPING)]
    except ValueError as error:
        return [OpForm("v0.6", (), _MAPPING, str(error))]


def _legacy_form(op: Any, desc: DmaDescriptor | BurstDescriptor) -> list[OpForm]:
    """Returns the form of before v0.6 of a copy that has one; its bytes are the same."""
    if desc.spec.name == "mte_ub_ub" and isinstance(desc, BurstDescriptor):
        size = desc.len * UB_BLOCK
        steps = (size + desc.src_gap * UB_BLOCK, size + desc.dst_gap * UB_BLOCK)
        copy = CopyUbufToUbuf(
            desc.src_addr, desc.dst_addr, 0, desc.n_burst, size, *steps, op.src_type, op.dst_type,
            desc.ub_sub,
        )  # fmt: skip
        return [OpForm("legacy", (to_text(copy),), _MAPPING, "bytes and strides")]
    if desc.spec.name not in _GM_UB or not isinstance(desc, DmaDescriptor):
        return []
    if len(desc.loops) > 2:
        return [
            OpForm("legacy", (), _MAPPING, f"none: {len(desc.loops)} loops, the registers have 2")
        ]
    load = desc.spec.name == "mte_gm_ub"
    pairs = [(_loop(desc, k).ext_stride, _loop(desc, k).loc_stride) for k in (0, 1)]
    first, second = pairs if load else [pair[::-1] for pair in pairs]
    loops = LoopRegisters((_loop(desc, 0).count, _loop(desc, 1).count), (first, second))
    after = DmaRegisters(outtoub=loops) if load else DmaRegisters(ubtoout=loops)
    way = (OUTTOUB if load else UBTOOUT,)
    writes: list[LegacySet] = list(writes_between(DmaRegisters(), after, way))
    copy_: AnyOp
    if load:
        if desc.pad_en:
            dtype = op.pad.dtype if getattr(op, "pad", None) else f"i{8 * desc.elem_bytes}"
            writes.append(SetMovPadVal(dtype, desc.pad_value))
        copy_ = CopyGmToUbuf(
            desc.ext_addr, desc.loc_addr, 0, desc.n_burst, desc.len, desc.left_bytes,
            desc.right_bytes, desc.pad_en, desc.l2, desc.ext_stride, desc.loc_stride,
            op.src_type, op.dst_type, desc.ub_sub,
        )  # fmt: skip
    else:
        copy_ = CopyUbufToGm(
            desc.loc_addr, desc.ext_addr, 0, desc.n_burst, desc.len, desc.l2, desc.ext_stride,
            desc.loc_stride, op.src_type, op.dst_type, desc.ub_sub,
        )  # fmt: skip
    note = "from the registers as after reset: counts 1, strides 0, pad value 0"
    return [OpForm("legacy", tuple(map(to_text, (*writes, copy_))), _MAPPING, note)]
