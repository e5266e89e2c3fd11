# SPDX-License-Identifier: Apache-2.0
"""Ops in the form that reports print, read without the reader of programs, which loads slowly.

Only a text that :func:`tb.isa.text.to_text` prints for the very op that is made of it, but for the
names of its operands, is read here. Every other spelling goes to the reader of programs, so that
there is one grammar (:mod:`tb.explain.steps`).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tb.isa.burst.table import BURSTS
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import Loop, Pad
from tb.isa.dma.table import STRIDED
from tb.isa.dtypes import PAD_DTYPES, Ptr
from tb.isa.fill.op import RAW_FILL_L1, RawFillL1
from tb.isa.fix.op import Atomic, FbPtr, Loop3, PreQuant, PreRelu, Scalar
from tb.isa.fix.table import FLAG_NAMES, WRITE_BACKS
from tb.isa.l0.op import LOAD_CLASSES, Shape, shaped
from tb.isa.l0.table import LOADS
from tb.isa.lower import OP_CLASSES
from tb.isa.nz.table import MODES, MTE_GM_L1_FRAC
from tb.isa.ops import OPS
from tb.isa.text import AnyOp, op_parts
from tb.language.literal.operands import Operand
from tb.language.literal.statements import Names, Statement, element_types, split, statement

_POINTER = re.compile(r"!pto\.ptr<\s*([\w.!]+)\s*,\s*(\w+)\s*>")
_WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "f16": 16, "bf16": 16, "f32": 32}
_STRIDED = {spec.name for spec in (*STRIDED, *BURSTS.values())}
_SHAPE_OPERANDS = 6
"""Operands of a load in shape form: two addresses, two extents, two starts."""
_FIX = {spec.name for spec in WRITE_BACKS}
_COPIES: dict[str, Any] = {
    "copy_gm_to_ubuf": CopyGmToUbuf,
    "copy_ubuf_to_gm": CopyUbufToGm,
    "copy_ubuf_to_ubuf": CopyUbufToUbuf,
}


class NotQuickError(Exception):
    """A text that the reader of programs must read."""


@dataclass(frozen=True, slots=True)
class _Value:
    """An operand: its number or bits, and its type."""

    number: int
    kind: str

    @property
    def pointer(self) -> Ptr:
        match = _POINTER.fullmatch(self.kind)
        if match is None:
            raise NotQuickError
        return Ptr(match.group(1).removeprefix("!pto."), match.group(2))

    @property
    def payload(self) -> Scalar | FbPtr:
        """A number, or a pointer to numbers."""
        if "<" in self.kind:
            return FbPtr(self.pointer.dtype, self.number)
        return Scalar(self.kind, self.number)


class _Groups:
    """The values of an op by clause."""

    def __init__(self, statement: Statement, values: Sequence[_Value]) -> None:
        self.pairs: list[tuple[Operand, _Value]] = list(
            zip(statement.operands, values, strict=True)
        )

    def of(self, clause: str) -> list[_Value]:
        """Returns the values of a clause, but those of a key."""
        return [x for operand, x in self.pairs if operand.clause == clause and not operand.key]

    def numbers(self, clause: str) -> list[int]:
        return [x.number for x in self.of(clause)]

    def keyed(self, key: str) -> _Value | None:
        return next((x for operand, x in self.pairs if operand.key == key), None)


def _types(head: Sequence[_Value]) -> dict[str, Any]:
    return {"src_type": head[0].pointer, "dst_type": head[1].pointer}


def _strided(name: str, groups: _Groups, _: str) -> AnyOp:
    spec = OPS[name]
    made: Any = OP_CLASSES[name]
    head = groups.of("")
    names = [operand.name for operand in spec.operands]
    first = names.index("n_burst")
    listed = names[:first] if len(head) == first else [x for x in names[:first] if "l2" not in x]
    fields: dict[str, Any] = dict(zip(listed, [x.number for x in head], strict=True))
    fields |= dict(zip(names[first : first + 3], groups.numbers("nburst"), strict=True))
    loops = groups.numbers("loop")
    if loops:
        fields["loops"] = tuple(Loop(*loops[at : at + 3]) for at in range(0, len(loops), 3))
    pad = groups.of("pad")
    if pad:
        fields["pad"] = Pad(pad[0].kind, pad[0].number, *[x.number for x in pad[1:]])
    op: AnyOp = made(**fields, **_types(head))
    return op


def _nz(name: str, groups: _Groups, text: str) -> AnyOp:
    head = groups.of("")
    outer: list[int | None] = [*groups.numbers("src_layout"), None]
    mode = next((word for word in MODES if re.search(rf"\b{word}\b", text)), "")
    values: Any = (
        head[0].number, head[1].number, mode, *groups.numbers("shape"), outer[0],
        *groups.numbers("dst_group"), outer[1], *groups.numbers("ctrl"),
    )  # fmt: skip
    kind: Any = OP_CLASSES[name]
    op: AnyOp = kind(*values, **_types(head))
    return op


def _load(name: str, groups: _Groups, text: str) -> AnyOp:
    head = groups.of("")
    numbers = [x.number for x in head]
    turn = int(bool(_word(text, r"\b(transpose)\s*=\s*true\b")))
    types = head[0].pointer, head[1].pointer
    if len(numbers) == _SHAPE_OPERANDS:
        return shaped(name, numbers[0], numbers[1], Shape(*numbers[2:]), *types, turn)
    src, dst, *control = numbers
    kind: Any = LOAD_CLASSES[name]
    op: AnyOp = kind(src, dst, *control, turn, *types)
    return op


def _word(text: str, shape: str) -> str:
    match = re.search(shape, text)
    return match.group(1) if match else ""


def _fix(name: str, groups: _Groups, text: str) -> AnyOp:
    head = groups.of("")
    spec = OPS[name]
    names = ["src", "dst", "m", "n", "src_stride", "dst_stride"]
    if spec.destination == "gm":
        names += ["sid", "l2_cache_ctrl"]
    fields: dict[str, Any] = {}
    if spec.destination == "ub":
        fields["ub_split"] = _word(text, r"\b(split_m|split_n)\b")
        blocks = groups.numbers("dst_mode") or [x.number for x in head[6:]]
        fields["sub_block"] = blocks[0] if blocks else 0
        head = head[:6]
    fields |= dict(zip(names, [x.number for x in head], strict=True))
    flags = {flag: code for code, flag in FLAG_NAMES.items()}
    fields["unit_flag"] = flags.get(_word(text, r"\bunit_flag\s*\(\s*(\w+)"), 0)
    mode_of = r"\b{}\s*\([^()]*?\bmode\s*=\s*(\w+)"
    for clause, make in (("pre_quant", PreQuant), ("pre_relu", PreRelu)):
        mode = _word(text, mode_of.format(clause))
        if mode:
            payloads = groups.of(clause)
            payload = payloads[0].payload if payloads else None
            fields[clause] = make(mode, payload)
    clip = groups.keyed("clip")
    if clip is not None and "pre_relu" in fields:
        fields["pre_relu"] = replace(fields["pre_relu"], clip=Scalar(clip.kind, clip.number))
    fields["layout"] = _word(text, r"\b(nz2nd|nz2dn|nz2nz)\b")
    for layout, part in (("nz2dn", "k"), ("nz2nz", "split")):
        inside = groups.numbers(layout)
        if inside:
            fields[part] = inside[0]
    loop3 = groups.numbers("loop3")
    if loop3:
        fields["loop3"] = Loop3(*loop3)
    fields["sat"] = _word(text, r"\b(nosat|preserve_nan)\b") or _word(text, r",\s*(sat)\b")
    atomic = _word(text, r"\batomic\s*\(\s*type\s*=\s*(\w+)")
    if atomic:
        fields["atomic"] = Atomic(atomic, _word(text, r"\bop\s*=\s*(\w+)"))
    kind: Any = OP_CLASSES[name]
    op: AnyOp = kind(**fields, **_types(head))
    return op


def _fill(_name: str, groups: _Groups, text: str) -> AnyOp:
    head = groups.of("")
    bits = int(_word(text, r"\bfill_word_bits\s*=\s*(\d+)"))
    dst, offset, raw, repeat, blocks, gap = (x.number for x in head)
    return RawFillL1(dst, offset, raw, repeat, blocks, gap, bits, head[0].pointer)


def _copy(name: str, groups: _Groups, _: str) -> AnyOp:
    head = groups.of("")
    made: AnyOp = _COPIES[name](*[x.number for x in head], **_types(head))
    return made


def _register(name: str, groups: _Groups, _: str) -> AnyOp:
    head = groups.of("")
    if name.startswith("set_atomic_"):
        return SetAtomic(name.removeprefix("set_atomic_"))
    if name == "set_ctrl":
        return SetCtrl(head[0].number & (1 << 64) - 1)
    if name == "set_mov_pad_val":
        if head[0].kind not in PAD_DTYPES:
            raise NotQuickError
        return SetMovPadVal(head[0].kind, head[0].number)
    direction = name.rsplit("_", 1)[1]
    numbers: Any = [x.number for x in head]
    if name.startswith("set_loop_size"):
        return SetLoopSize(direction, *numbers)
    return SetLoopStride(direction, int(name[len("set_loop")]), *numbers)


def _maker(name: str) -> Callable[[str, _Groups, str], AnyOp]:
    if name in _STRIDED:
        return _strided
    if name == MTE_GM_L1_FRAC.name:
        return _nz
    if name in _FIX:
        return _fix
    if name in LOADS:
        return _load
    if name in _COPIES:
        return _copy
    if name == RAW_FILL_L1.name:
        return _fill
    if name.startswith("set_"):
        return _register
    raise NotQuickError


def _number(literal: str, kind: str, signed: bool) -> int:
    """Returns the value of an integer or an address, or the bits of a float."""
    if literal in ("true", "false"):
        return int(literal == "true")
    if re.fullmatch(r"b?f\d+", kind) and not literal.lower().startswith("0x"):
        shape = {"f16": ("<e", "<H"), "f32": ("<f", "<I")}.get(kind)
        if shape is None:
            raise NotQuickError
        return int(struct.unpack(shape[1], struct.pack(shape[0], float(literal)))[0])
    value, bits = int(literal, 0), _WIDTHS.get(kind, 64)
    # Signs and widths are a matter of the language.
    if (value < 0 and not (signed and kind == "i64")) or abs(value) >> bits:
        raise NotQuickError
    return value


def _skeleton(text: str) -> str:
    """Returns an op without the names of its operands and without blanks."""
    return re.sub(r"\s+", "", re.sub(r"%[\w$.#-]*", "%", text))


def ops_of(text: str, element: str = "") -> tuple[AnyOp, ...]:
    """Returns the ops of a text in the form of reports, which line ends or semicolons separate.

    Args:
        text: The ops.
        element: Element type, or those of source and destination, of ops without types.

    Raises:
        NotQuickError: the reader of programs has to read an op.
        PtoError: a value or a type is not known.
    """
    names, kinds = Names({}), element_types(element)
    return tuple(quick_op(statement(part, sub, names, kinds)) for part, sub in split(text))


def quick_op(written: Statement) -> AnyOp:
    """Returns the op of a statement.

    Raises:
        NotQuickError: the reader of programs has to read it.
    """
    try:
        pairs = zip(written.literals, written.kinds, strict=True)
        signed = written.name == RAW_FILL_L1.name
        numbers = [_Value(_number(literal, kind, signed), kind) for literal, kind in pairs]
        groups = _Groups(written, numbers)
        op = _maker(written.name)(written.name, groups, written.text)
        before, after = op_parts(op)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, struct.error):
        raise NotQuickError from None
    if written.sub_block:
        if not hasattr(op, "ub_sub"):
            raise NotQuickError
        op = replace(op, ub_sub=written.sub_block)
    plain = written.with_operands(["%"] * len(written.operands))
    if _skeleton(before) != _skeleton(plain) or _skeleton(after) != _skeleton(written.types):
        raise NotQuickError
    return op
