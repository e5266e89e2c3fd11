# SPDX-License-Identifier: Apache-2.0
"""Other forms of an op: v0.6, legacy, and the register forms that the compiler expands it to.

``RAW_FORMS`` has a row for each register form (docs/spec/dialect.md, section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tb.explain.words import GM_UB, value_of, words_of
from tb.isa.burst.op import BurstOp
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LoopRegisters,
    SetMovPadVal,
    lower_ubuf_copy,
    to_v06,
    writes_between,
)
from tb.isa.dma.op import DmaOp, Loop
from tb.isa.nz.table import DN2NZ
from tb.isa.op import Op
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
        note: Note, or empty.
        text: Whether the lines are read by the other commands.
    """

    title: str
    lines: tuple[str, ...]
    source: str
    note: str = ""
    text: bool = True


_MAPPING = "docs/spec/README.md, legacy mapping"
RAW = "docs/spec/dialect.md, section 5"
"""Place of the register forms in the specification."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A register form of the compiler.

    Attributes:
        name, op: Its name, and the op that it is an expansion of.
        text: Its operands; each has the value of the field of its name, or of that after ``=``.
        words: Ops that set a word before it, and the word; of an operand no op.
        fixed: Fields of the descriptor that every op with this form has.
        when: Whether an op with these fields has this form.
        note: Note, or empty.
        without: Note on an op that does not have it, or empty.
    """

    name: str
    op: str
    text: str
    words: tuple[tuple[str, str], ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)
    when: Callable[[Any], bool] = lambda _: True
    note: str = ""
    without: str = ""

    @property
    def operands(self) -> tuple[tuple[str, str], ...]:
        """Names of the operands, and the fields of the descriptor that have their values."""
        pairs = (one.partition("=") for one in self.text.split())
        return tuple((name, value or name) for name, _, value in pairs)

    def fits(self, desc: Op) -> bool:
        """Returns whether an op has this form."""
        return self.when(desc) and all(getattr(desc, x) == y for x, y in self.fixed.items())


def _unlooped(desc: DmaOp) -> bool:
    return all(loop.count == 1 for loop in desc.loops)


_ENDS = "src=src_addr dst=dst_addr"
_SIDES = "src=ext_addr dst=loc_addr"
_GAPS = "n_burst len src_gap dst_gap"
_BURST = f"{_ENDS} sid=0 {_GAPS}"
_FRAC = f"{_SIDES} sid=0 loop1_src_stride=inner_stride l2 n=n_value d=d_value"
_STEPS = "m_step k_step src_stride dst_stride"
_SCALES = "x_start=m_start y_start=k_start x_step=m_step y_step=k_step src_stride dst_stride"
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


def _loads(to: str, op: str) -> tuple[Raw, ...]:
    """Returns the register forms of the loads of a factor and of its scales."""
    name, load = f"load_cbuf_to_{to}", f"{_ENDS} m_start k_start {_STEPS}"
    turned = "with the attribute transpose = true"
    return (
        Raw(name, op, load, when=lambda x: x.elem_bits != 4 and not x.transpose),
        Raw(name, op, load, when=lambda x: x.elem_bits != 4 and bool(x.transpose), note=turned),
        Raw(f"{name}_s4", op, f"{load} transpose", when=lambda x: x.elem_bits == 4),
        Raw(
            f"{name}_mx", f"{op}_mx", f"src=src_addr dst=scale_addr {_SCALES}",
            note="dst is that of the scales",
        ),
    )  # fmt: skip


def _repacks(mode: str, code: int) -> Raw:
    return Raw(
        f"copy_gm_to_cbuf_multi_{mode}", "mte_gm_l1_frac",
        f"{_FRAC} loop4_src_stride=outer_stride smallc0=small_c0",
        (("set_mte2_nz_para", "MTE2_NZ_PARA"),), {"mode": code},
    )  # fmt: skip


RAW_FORMS: tuple[Raw, ...] = (
    Raw(
        "copy_gm_to_cbuf", "mte_gm_l1",
        f"{_SIDES} n_burst len src_stride=ext_stride dst_stride=loc_stride",
        when=_unlooped, without=_LOOPS_L1,
    ),
    Raw(
        "copy_cbuf_to_ubuf", "mte_l1_ub",
        f"{_SIDES} sid=ub_sub n_burst len src_gap=ext_stride dst_gap=loc_stride",
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
        "copy_cbuf_to_bt", "mte_l1_bt", f"{_ENDS} conv=f16 {_GAPS}",
        note="conv is 1 for an f16 source",
    ),
    Raw("copy_cbuf_to_fbuf", "mte_l1_fb", f"{_ENDS} {_GAPS}", note="64 B units"),
    _repacks("nd2nz", 0),
    _repacks("dn2nz", DN2NZ),
    Raw(
        "create_cbuf_matrix", "raw_fill_l1", "dst=first raw repeat=n_burst blocks=len gap=dst_gap",
        when=lambda x: x.first >= 0,
        note="dst points to ui16 or ui32, by fill_word_bits",
    ),
    *_loads("ca", "mte_l1_l0a"),
    *_loads("cb", "mte_l1_l0b"),
    *(
        Raw(f"copy_matrix_cc_to_{to}", op, _ENDS, _CC_WORDS, note=_CC_NOTE)
        for to, op in (("gm", "mte_l0c_gm"), ("cbuf", "mte_l0c_l1"), ("ub", "mte_l0c_ub"))
    ),
)  # fmt: skip
"""Forms that the compiler expands ops to, in the order of output."""


def forms_of(op: AnyOp, desc: Op, registers: DmaRegisters) -> tuple[OpForm, ...]:
    """Returns the other forms of an op: its v0.6 form, legacy forms, expansions of the compiler."""
    found = []
    if isinstance(op, CopyGmToUbuf | CopyUbufToGm | CopyUbufToUbuf):
        found.append(_new_form(op, registers))
    elif isinstance(desc, DmaOp | BurstOp):
        found += _legacy_form(op, desc)
    for raw in RAW_FORMS:
        if raw.op == desc.spec.name:
            found += _expansion(raw, desc)
    return tuple(found)


def _expansion(raw: Raw, desc: Op) -> list[OpForm]:
    """Returns the register form of an op: the ops that set words, and the copy itself."""
    title = "expansion of the compiler"
    if not raw.fits(desc):
        return [OpForm(title, (), RAW, raw.without)] if raw.without else []
    values = {word.name: word.value for word in words_of(desc)}
    before = [
        f"{name} {_operands(name, values[word])}"
        for name, word in raw.words
        if name and word in values
    ]
    names = [f"{name} {_shown(name, value_of(desc, source))}" for name, source in raw.operands]
    names += [f"{word} {values[word]:#018x}" for name, word in raw.words if not name]
    return [OpForm(title, (*before, f"{raw.name} {', '.join(names)}"), RAW, raw.note, text=False)]


def _operands(name: str, word: int) -> str:
    """Returns the operands of an op that sets a word: one, or its low 40 and its high 24 bits."""
    if name not in HALVES:
        return f"{word:#x}"
    return f"low {word & (1 << LOW_BITS) - 1:#x}, high {word >> LOW_BITS:#x}"


def _shown(name: str, value: int) -> str:
    return f"{value:#x}" if name in ("src", "dst", "raw") else str(value)


def _new_form(op: CopyGmToUbuf | CopyUbufToGm | CopyUbufToUbuf, registers: DmaRegisters) -> OpForm:
    try:
        v06 = lower_ubuf_copy(op) if isinstance(op, CopyUbufToUbuf) else to_v06(op, registers)
    except ValueError as error:
        return OpForm("v0.6", (), _MAPPING, str(error))
    return OpForm("v0.6", (to_text(v06),), _MAPPING)


def _legacy_form(op: Any, desc: DmaOp | BurstOp) -> list[OpForm]:
    """Returns the form of before v0.6 of a copy that has one; its bytes are the same."""
    types: dict[str, Any] = {name: getattr(op, name) for name in ("src_type", "dst_type", "ub_sub")}
    if isinstance(desc, BurstOp) and desc.spec.name == "mte_ub_ub":
        size = desc.len * UB_BLOCK
        steps = (size + desc.src_gap * UB_BLOCK, size + desc.dst_gap * UB_BLOCK)
        copy = CopyUbufToUbuf(desc.src_addr, desc.dst_addr, 0, desc.n_burst, size, *steps, **types)
        return [OpForm("legacy", (to_text(copy),), _MAPPING, "bytes and strides")]
    if desc.spec.name not in GM_UB or not isinstance(desc, DmaOp):
        return []
    if len(desc.loops) > 2:
        note = f"none: {len(desc.loops)} loops, the registers have 2"
        return [OpForm("legacy", (), _MAPPING, note)]
    way = UBTOOUT if desc.spec.name == "mte_ub_gm" else OUTTOUB
    ops: list[AnyOp] = [*writes_between(DmaRegisters(), _registers(desc, way))]
    gm, ub, rows = desc.ext_addr, desc.loc_addr, (desc.n_burst, desc.len)
    strides = desc.ext_stride, desc.loc_stride
    if way == UBTOOUT:
        ops.append(CopyUbufToGm(ub, gm, 0, *rows, desc.l2, *strides, **types))
    else:
        if desc.padded:
            dtype = op.pad.dtype if getattr(op, "pad", None) else f"i{8 * desc.elem_bytes}"
            ops.append(SetMovPadVal(dtype, desc.pad_value))
        unit = desc.elem_bytes if current().legacy_pad_unit == "elements" else 1
        pads = desc.left_bytes // unit, desc.right_bytes // unit, int(desc.padded)
        ops.append(CopyGmToUbuf(gm, ub, 0, *rows, *pads, desc.l2, *strides, **types))
    note = "from the registers as after reset: counts 1, strides 0, pad value 0"
    return [OpForm("legacy", tuple(map(to_text, ops)), _MAPPING, note)]


def _registers(desc: DmaOp, way: str) -> DmaRegisters:
    """Returns registers with the loops of a copy in one direction, the others as after reset."""
    first, second = (*desc.loops, *[Loop(1, 0, 0)] * 2)[:2]
    strides = (first.src_stride, first.dst_stride), (second.src_stride, second.dst_stride)
    loops = LoopRegisters((first.count, second.count), strides)
    return DmaRegisters(ubtoout=loops) if way == UBTOOUT else DmaRegisters(outtoub=loops)
