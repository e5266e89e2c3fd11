# SPDX-License-Identifier: Apache-2.0
"""Converts an op as written to an op of :mod:`tb.isa`, with the values of its operands.

What is decided here is what an op of :mod:`tb.isa` cannot hold: negative operands, payloads of
the wrong sort. Every other rule is decided on the ops themselves (:mod:`tb.language.rules.check`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tb.isa.burst.op import MteUbUb
from tb.isa.ctrl import CTRL_BITS, SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import Loop, Pad
from tb.isa.dtypes import PAD_DTYPES, Ptr, moved_as
from tb.isa.fill.op import WORD_BITS
from tb.isa.fix.op import Atomic, Loop3, PreQuant, PreRelu, Scalar
from tb.isa.fix.table import FLAG_CHECK, FLAG_CLEAR, NO_CONVERT, NUMBER_TYPES
from tb.isa.grammar import CONTROLS, FILLS, LOOP3, SCALE_CONTROLS, TRANSPOSE
from tb.isa.l0.op import LOAD_CLASSES, L0Load, Shape, shaped
from tb.isa.l0.table import LOAD_FORMS, LOADS, SCALE_RATIO
from tb.isa.lower import OP_CLASSES
from tb.isa.mad import ACC, BIAS, FLAG_CODES, ZERO, Mad
from tb.isa.op import operand_names, replace
from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES
from tb.language.grammar.written import Written
from tb.language.run.inputs import MADS, BuildError, Inputs, KindOf, Made, Recipe
from tb.language.run.values import NUMBER, POINTER, Kind
from tb.language.unknown import UNKNOWN, UndecidedError

CLASSES: dict[str, Any] = {
    **OP_CLASSES,
    "copy_gm_to_ubuf": CopyGmToUbuf,
    "copy_ubuf_to_gm": CopyUbufToGm,
    "copy_ubuf_to_ubuf": CopyUbufToUbuf,
    **{form: OP_CLASSES[name] for form, name in TEXT_FORMS.items()},
}
"""Ops with pointers and their classes."""

CUBE_OPS: frozenset[str] = frozenset((*LOADS, *LOAD_FORMS, *MADS))
"""Ops of the cube: loads to L0 and products."""

STORES = ("mte_ub_gm", "copy_ubuf_to_gm")
"""Stores that CTRL makes atomic (AT-01)."""

# --- clauses --------------------------------------------------------------------------------------


def _group(take: Inputs, make: type, values: Sequence[Any]) -> Made:
    """Returns a loop of its count and strides."""
    parts = zip(("count", "src_stride", "dst_stride"), values, strict=True)
    name = make.__name__.lower()
    return Made(make, tuple([take.value(f"{name}_{part}", value) for part, value in parts]))


def _loops(take: Inputs) -> tuple[Made, ...]:
    return tuple([_group(take, Loop, values) for values in take.written.loops])


def _loop3(take: Inputs) -> Made | None:
    values = [take.written.operands[x] for x in LOOP3 if take.given(x)]
    return _group(take, Loop3, values) if values else None


def _pad(take: Inputs) -> Made | None:
    if not take.given("pad_value"):
        return None
    value = take.bits("pad value", "pad_value", "DMA-L03")
    sides = [x for x in ("left_padding_count", "right_padding_count") if take.given(x)]
    return Made(Pad, (*value, *map(take.number, sides)))


def _pre_quant(take: Inputs) -> Made | None:
    mode = take.written.words["pre_quant_mode"]
    value = take.written.operands.get("pre_quant_payload")
    if not mode:
        return None
    if value is not None and mode == NO_CONVERT.name and _ignored(take.kind_of(value)):
        return Made(PreQuant, (mode, Scalar("f32", 0)))
    return Made(PreQuant, (mode, take.payload("pre_quant payload", "pre_quant_payload", "FIX-L03")))


def _ignored(kind: Kind) -> bool:
    """Returns whether a payload is of a type that only ``no_convert``, which ignores it, takes."""
    if kind.pointer is not None:
        return kind.pointer.space == "fb" and kind.pointer.dtype not in NUMBER_TYPES
    return kind.name not in NUMBER_TYPES


def _pre_relu(take: Inputs) -> Made | None:
    mode = take.written.words["pre_relu_mode"]
    if not mode:
        return None
    payload = take.payload("pre_relu payload", "pre_relu_payload", "FIX-L05")
    if take.given("clip") and take.kind_of(take.written.operands["clip"]).sort == POINTER:
        raise BuildError("clip is a pointer: a typed constant", rule="FIX-L06")
    return Made(PreRelu, (mode, payload, take.payload("clip", "clip", "FIX-L06")))


_CLAUSES: dict[str, Callable[[Inputs], Any]] = {
    "loops": _loops,
    "pad": _pad,
    "pre_quant": _pre_quant,
    "pre_relu": _pre_relu,
    "loop3": _loop3,
}
"""Clauses by the operand of the op class, in the order in which their values are checked."""


def _words(take: Inputs, names: Sequence[str]) -> dict[str, Any]:
    """Returns the operands that are words of the text."""
    words, name = take.written.words, take.written.name
    found = {each: words[each] for each in names if each in words}
    if words.get("atomic_type") or words.get("atomic_op"):
        if "atomic" not in names:
            raise BuildError(f"atomic goes with mte_l0c_gm, not with {name}", rule="FIX-L11")
        found["atomic"] = Atomic(words.get("atomic_type", ""), words.get("atomic_op", ""))
    if name in FILLS:
        _check_pattern(take)
    if name in FILLS and name in TEXT_FORMS:
        found["byte_offset"] = 0
    return found


def _check_pattern(take: Inputs) -> None:
    """Refuses a fill with a pattern of another width than 16 or 32 bits."""
    bits = take.written.words.get("fill_word_bits")
    if bits not in WORD_BITS:
        what = "is missing" if bits in (None, "") else f"is {bits}"
        raise BuildError(f"fill_word_bits {what}", rule="RF-L01", legal="16 or 32")
    kind, wanted = take.kind_of(take.written.operands["dst"]), f"ui{bits}"
    typed = take.written.name in TEXT_FORMS
    if typed and (kind.pointer is None or kind.pointer.dtype != wanted):
        message = f"dst has type {kind.name}"
        raise BuildError(message, rule="RF-L01", legal=f"a pointer to {wanted}")


def _check_rows(written: Written) -> None:
    """Refuses unit flags with a K of ``nz2dn`` that is not a constant.

    A constant other than 1 breaks the rule of the descriptor, so that engines can be sent one.
    """
    k = written.operands.get("k")
    checks = written.words.get("unit_flag") in (FLAG_CHECK, FLAG_CLEAR)
    if checks and k is not None and getattr(k.owner, "name", "") != "arith.constant":
        message = "unit_flag with nz2dn and a K that is not a constant 1"
        raise BuildError(message, rule="FIX-L20", legal="K a constant 1")


# --- ops ------------------------------------------------------------------------------------------


def _register(take: Inputs) -> Made:
    """Returns a ``set_*`` op."""
    name = take.written.name
    if name == "set_ctrl":
        kind = take.kind_of(take.written.operands["value"])
        if kind.sort != NUMBER or kind.bits != CTRL_BITS:
            raise BuildError(f"value has type {kind.name}", legal=f"an integer of {CTRL_BITS} bits")
        return Made(SetCtrl, (take.word("value"),))
    if name.startswith("set_atomic_"):
        return Made(SetAtomic, (name.removeprefix("set_atomic_"),))
    if name == "set_mov_pad_val":
        dtype, value = take.bits("value", "value", "DMA-L03")
        if dtype not in PAD_DTYPES:
            raise BuildError(f"pad type is {dtype}", rule="DMA-L03", legal=", ".join(PAD_DTYPES))
        return Made(SetMovPadVal, (dtype, value))
    direction = name.rsplit("_", 1)[1]
    if name.startswith("set_loop_size"):
        counts = map(take.number, ("loop1_count", "loop2_count"))
        return Made(SetLoopSize, (direction, *counts))
    level = int(name[len("set_loop")])
    return Made(SetLoopStride, (direction, level, *map(take.number, ("src_stride", "dst_stride"))))


_BLOCK_FIELDS = {
    "ub_src": "src",
    "ub_dst": "dst",
    "src_gap": "src_stride",
    "dst_gap": "dst_stride",
}
"""Operands of ``mte_ub_ub`` and those of ``copy_ubuf_to_ubuf`` in their places."""


def recipe(
    written: Written, kind_of: KindOf, *, ub_sub: int = 0, ubuf_blocks: bool = False
) -> Recipe:
    """Returns how to build an op.

    Args:
        written: The op in its normal form.
        kind_of: Kind of a value.
        ub_sub: Vector sub-block of an op that has one and does not name it.
        ubuf_blocks: The operands of ``copy_ubuf_to_ubuf`` are those of ``mte_ub_ub``, and the op
            is one (docs/spec/dma.md, section 4).

    Raises:
        BuildError: an operand is of a sort that the op cannot hold, or is missing.
    """
    take = Inputs(written, kind_of)
    name = written.name
    if name.startswith("set_"):
        op = _register(take)
    elif name in MADS:
        op = mad(take)
    elif name in CUBE_OPS:
        op = load(take)
    else:
        op = _movement(take, ub_sub, ubuf_blocks=ubuf_blocks)
    sat, atomic = op.named.get("sat"), op.named.get("atomic")
    ctrl = name in (*MADS, *STORES) or sat == "" or (name == "mte_l0c_gm" and atomic is None)
    pipe = PIPES[TEXT_FORMS.get(name, name)]
    return Recipe(name, pipe, tuple(take.listed), op, take.gm, ctrl)


def _movement(take: Inputs, ub_sub: int, *, ubuf_blocks: bool) -> Made:
    """Returns an op of a class of :mod:`tb.isa` whose operands have the names of the text."""
    written = take.written
    maker, renamed = CLASSES[written.name], {}
    if ubuf_blocks and maker is CopyUbufToUbuf:
        maker, renamed = MteUbUb, _BLOCK_FIELDS
    names = operand_names(maker)
    _check_rows(written)
    operands = _words(take, names)
    for name in names:
        operand = renamed.get(name, name)
        if not take.given(operand):
            continue
        if name.endswith(("src", "dst")):
            operands[name] = take.address(name, operand)
            operands[f"{name[-3:]}_type"] = _held(take, name)
        else:
            operands[name] = take.value(name, written.operands[operand])
    operands |= _sub_block(take, names, ub_sub)
    clauses = {name: make(take) for name, make in _CLAUSES.items() if name in names}
    operands |= {name: clause for name, clause in clauses.items() if clause}
    if written.name == "copy_cbuf_to_ubuf":
        operands["ub_sub"] = Made(_selected, (take.number("sid"),))
    return Made(maker, (), operands)


def _held(take: Inputs, name: str) -> Ptr:
    """Returns the type of a pointer as the op holds it."""
    pointer = take.types[name]
    if take.family == "FIX":
        return pointer
    return replace(pointer, dtype=moved_as(pointer.dtype, any_type=take.family == "FB"))


def _sub_block(take: Inputs, names: Sequence[str], ub_sub: int) -> dict[str, int]:
    """Returns the vector sub-block of an op that has one."""
    given = take.written.attributes.get("ub_sub", ub_sub)
    if "ub_sub" in names:
        if given not in (0, 1):
            raise BuildError(f"ub_sub is {given}: a vector sub-block is 0 or 1")
        return {"ub_sub": given}
    if "ub_sub" in take.written.attributes:
        raise BuildError("ub_sub is on an op without a vector sub-block")
    return {}


def _selected(number: int) -> int:
    """Returns the sub-block that bit 0 of a number selects; 0 for one that is not known."""
    try:
        return number & 1
    except UndecidedError:
        return 0


# --- ops of the cube ------------------------------------------------------------------------------


def load(take: Inputs) -> Made:
    """Returns a load to L0 (docs/spec/l0_loads.md, sections 2 to 4)."""
    written = take.written
    name = LOAD_FORMS.get(written.name, written.name)
    row = LOADS[name]
    src, dst = take.address("src"), take.address("dst")
    types = take.types["src"], take.types["dst"]
    turned = bool(written.words.get(TRANSPOSE))
    if written.name in LOADS and take.given(row.extents[0]):
        starts = [x for x in ("start_row", "start_col") if take.given(x)]
        shape = Made(Shape, tuple(map(take.number, (*row.extents, *starts))))
        # The older form, two extents alone, of L0B means a transposed load.
        turned = turned or (not starts and row.destination == "l0b")
        return Made(_shaped, (name, src, dst, shape, *types, int(turned)))
    control = map(take.number, SCALE_CONTROLS if row.scales else CONTROLS)
    # Expanded loads of scales have the address of the scales, not of their data.
    expanded = written.name in LOAD_FORMS and row.scales
    address = Made(_times, (dst, SCALE_RATIO)) if expanded else dst
    parts = (src, address, *control)
    turn = take.number(TRANSPOSE) if take.given(TRANSPOSE) else int(turned)
    return Made(LOAD_CLASSES[name], (*parts, turn, *types))


def _shaped(
    name: str, src: int, dst: int, shape: Shape, src_type: Ptr, dst_type: Ptr, turn: int
) -> L0Load:
    try:
        return shaped(name, src, dst, shape, src_type, dst_type, turn)
    except UndecidedError:
        control = [UNKNOWN] * len(CONTROLS)
        return LOAD_CLASSES[name](src, dst, *control, turn, src_type, dst_type, shape)


def _times(value: int, factor: int) -> int:
    try:
        return value * factor
    except UndecidedError:
        return UNKNOWN


def mad(take: Inputs) -> Made:
    """Returns a product (docs/spec/l0_loads.md, section 6), with the CTRL of its step left out."""
    name, words = take.written.name, take.written.words
    pointers = [x for x in ("lhs", "rhs", "dst", "bias") if take.given(x)]
    operands: dict[str, Any] = {x: take.address(x) for x in pointers}
    operands |= {f"{x}_type": kind for x, kind in take.types.items()}
    operands["mx"] = "_mx" in name
    if name.endswith("_raw"):
        return Made(_mad_of_word, (take.word("xt"),), operands)
    return Made(
        Mad,
        (),
        {
            **operands,
            "initial": next((x for x in (ACC, BIAS) if name.endswith(x)), ZERO),
            "unit_flag": str(words.get("unit_flag") or ""),
            "disable_gemv": bool(words.get("disable_gemv")),
            "sat": str(words.get("sat") or ""),
            "tf32": str(words.get("tf32_mode") or ""),
            "n_dir": bool(words.get("n_dir")),
            **{x: take.number(x) for x in ("m", "n", "k")},
        },
    )


def _mad_of_word(xt: int, **operands: Any) -> Mad:
    """Returns a product with the operands in an Xt word."""
    try:
        initial = ZERO if xt >> 63 & 1 else BIAS if xt >> 62 & 1 else ACC
        flag = xt >> 55 & 3
        return Mad(
            **operands,
            m=xt & 0xFFF,
            k=xt >> 12 & 0xFFF,
            n=xt >> 24 & 0xFFF,
            # A code without a name breaks MD-L01.
            unit_flag=FLAG_CODES.get(flag, str(flag)) if flag else "",
            disable_gemv=bool(xt >> 61 & 1),
            initial=BIAS if initial == ACC and operands.get("bias_type") else initial,
            raw=True,
        )
    except UndecidedError:
        return Mad(**operands, m=UNKNOWN, n=UNKNOWN, k=UNKNOWN, raw=True)
