# SPDX-License-Identifier: Apache-2.0
"""Other forms of an op: v0.6, legacy, and the register forms that the compiler expands it to.

``RAW_FORMS`` has a row for each register form (spec/dialect.md, section 5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tb.explain.words import GM_UB, Get, loop_of, words_of
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
from tb.isa.dma.op import DmaDescriptor
from tb.isa.lower import Descriptor
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK
from tb.isa.text import AnyOp, to_text


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
RAW = "spec/dialect.md, section 5"
"""Place of the register forms in the specification."""

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


def _unlooped(desc: DmaDescriptor) -> bool:
    return all(loop.count == 1 for loop in desc.loops)


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
    ("set_quant_pre", "QUANT_PRE"),
    ("set_relu_alpha", "RELU_ALPHA"),
    ("set_ctrl", "CTRL"),
    ("", "Xm"),
    ("", "Xt"),
)
HALVES, LOW_BITS = ("set_loop3_para", "set_channel_para"), 40
"""Ops that set a word by its low 40 and its high 24 bits."""
_CC_NOTE = "bits of set_fix_clip_relu are not specified"
_LOOPS_L1 = "of an op with loops: bits of the registers *_outtol1 are not specified"
_LOOPS_UB = "none with loops: the specification has no loop registers from L1 to UB"

_STEPS: Values = (
    ("m_step", lambda x: x.m_step), ("k_step", lambda x: x.k_step),
    ("src_stride", lambda x: x.src_stride), ("dst_stride", lambda x: x.dst_stride),
)  # fmt: skip
_LOAD: Values = (
    ("src", lambda x: x.src_addr), ("dst", lambda x: x.dst_addr),
    ("m_start", lambda x: x.m_start), ("k_start", lambda x: x.k_start), *_STEPS,
    ("transpose", lambda x: x.transpose),
)  # fmt: skip


def _loads(to: str, op: str) -> tuple[Raw, ...]:
    """Returns the register forms of the loads of a factor and of its scales."""
    scales = tuple(
        (name.replace("m_", "x_").replace("k_", "y_"), get)
        for name, get in (("src", _LOAD[0][1]), ("dst", lambda x: x.scale_addr), *_LOAD[2:-1])
    )
    return (
        Raw(
            f"load_cbuf_to_{to}", op, _LOAD[:-1],
            when=lambda x: x.elem_bits != 4 and not x.transpose,
        ),
        Raw(
            f"load_cbuf_to_{to}", op, _LOAD[:-1],
            when=lambda x: x.elem_bits != 4 and bool(x.transpose),
            note="with the attribute transpose = true",
        ),
        Raw(f"load_cbuf_to_{to}_s4", op, _LOAD, when=lambda x: x.elem_bits == 4),
        Raw(f"load_cbuf_to_{to}_mx", f"{op}_mx", scales, note="dst is that of the scales"),
    )  # fmt: skip


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
    Raw(
        "create_cbuf_matrix", "raw_fill_l1",
        (
            ("dst", lambda x: x.first), ("raw", lambda x: x.raw), ("repeat", lambda x: x.n_burst),
            ("blocks", lambda x: x.len), ("gap", lambda x: x.dst_gap),
        ),
        when=lambda x: x.first >= 0,
        note="dst points to ui16 or ui32, as fill_word_bits says",
    ),
    *_loads("ca", "mte_l1_l0a"),
    *_loads("cb", "mte_l1_l0b"),
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
                found.append(OpForm("expansion of the compiler", (), RAW, raw.without))
            continue
        before = [
            f"{name} {_operands(name, values[word])}"
            for name, word in raw.words
            if name and word in values
        ]
        names = [f"{name} {_shown(name, get(desc))}" for name, get in raw.operands]
        names += [f"{word} {values[word]:#018x}" for name, word in raw.words if not name]
        lines = (*before, f"{raw.name} {', '.join(names)}")
        found.append(OpForm("expansion of the compiler", lines, RAW, raw.note, text=False))
    return tuple(found)


def _operands(name: str, word: int) -> str:
    """Returns the operands of an op that sets a word: one, or its low 40 and its high 24 bits."""
    if name not in HALVES:
        return f"{word:#x}"
    return f"low {word & (1 << LOW_BITS) - 1:#x}, high {word >> LOW_BITS:#x}"


def _shown(name: str, value: int) -> str:
    return f"{value:#x}" if name in ("src", "dst", "raw") else str(value)


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
    if desc.spec.name not in GM_UB or not isinstance(desc, DmaDescriptor):
        return []
    if len(desc.loops) > 2:
        return [
            OpForm("legacy", (), _MAPPING, f"none: {len(desc.loops)} loops, the registers have 2")
        ]
    load = desc.spec.name == "mte_gm_ub"
    pairs = [(loop_of(desc, k).ext_stride, loop_of(desc, k).loc_stride) for k in (0, 1)]
    first, second = pairs if load else [pair[::-1] for pair in pairs]
    loops = LoopRegisters((loop_of(desc, 0).count, loop_of(desc, 1).count), (first, second))
    after = DmaRegisters(outtoub=loops) if load else DmaRegisters(ubtoout=loops)
    way = (OUTTOUB if load else UBTOOUT,)
    writes: list[LegacySet] = list(writes_between(DmaRegisters(), after, way))
    copy_: AnyOp
    if load:
        unit = desc.elem_bytes if current().legacy_pad_unit == "elements" else 1
        if desc.padded:
            dtype = op.pad.dtype if getattr(op, "pad", None) else f"i{8 * desc.elem_bytes}"
            writes.append(SetMovPadVal(dtype, desc.pad_value))
        copy_ = CopyGmToUbuf(
            desc.ext_addr, desc.loc_addr, 0, desc.n_burst, desc.len, desc.left_bytes // unit,
            desc.right_bytes // unit, int(desc.padded), desc.l2, desc.ext_stride, desc.loc_stride,
            op.src_type, op.dst_type, desc.ub_sub,
        )  # fmt: skip
    else:
        copy_ = CopyUbufToGm(
            desc.loc_addr, desc.ext_addr, 0, desc.n_burst, desc.len, desc.l2, desc.ext_stride,
            desc.loc_stride, op.src_type, op.dst_type, desc.ub_sub,
        )  # fmt: skip
    note = "from the registers as after reset: counts 1, strides 0, pad value 0"
    return [OpForm("legacy", tuple(map(to_text, (*writes, copy_))), _MAPPING, note)]
