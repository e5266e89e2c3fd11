# SPDX-License-Identifier: Apache-2.0
"""Converts an op as written to an op of :mod:`tb.isa`, with the values of its operands.

What is decided here is what an op of :mod:`tb.isa` cannot hold: negative operands, payloads of
the wrong sort. Every other rule is decided on the ops themselves (:mod:`tb.language.rules.check`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from tb.isa.fill.op import RAW_FILL_L1, WORD_BITS
from tb.isa.fix.op import Atomic, FbPtr, Loop3, PreQuant, PreRelu, Scalar
from tb.isa.fix.table import FLAG_CHECK, FLAG_CLEAR, NO_CONVERT, NUMBER_TYPES
from tb.isa.grammar import FILLS, LOOP3
from tb.isa.lower import OP_CLASSES
from tb.isa.op import operand_names, replace
from tb.isa.ops import LEGACY_FORMS, OPS, TEXT_FORMS
from tb.isa.pipes import PIPES, Pipe
from tb.isa.profile import current
from tb.language.grammar.written import Written
from tb.language.run.cube import CUBE_OPS, MADS, load_maker, mad_maker
from tb.language.run.values import FLOAT, INDEX_BITS, NUMBER, POINTER, Kind
from tb.language.unknown import UndecidedError

CLASSES: dict[str, Any] = {
    **OP_CLASSES,
    "copy_gm_to_ubuf": CopyGmToUbuf,
    "copy_ubuf_to_gm": CopyUbufToGm,
    "copy_ubuf_to_ubuf": CopyUbufToUbuf,
    **{form: OP_CLASSES[name] for form, name in TEXT_FORMS.items()},
}
"""Ops with pointers and their classes."""

STORES = ("mte_ub_gm", "copy_ubuf_to_gm")
"""Stores that CTRL makes atomic (AT-01)."""

_WIDTH_RULES = {
    "DMA": "DMA-L05",
    "ND": "ND-L03",
    "BT": "BT-L02",
    "FB": "FB-L02",
    "FIX": "FIX-L14",
    "LD": "LD-L03",
    "RF": "RF-L02",
}
_RANGE_RULES = {
    "DMA": "DMA-L12",
    "ND": "ND-L08",
    "BT": "BT-L04",
    "FB": "FB-L04",
    "FIX": "FIX-L23",
    "LD": "LD-L06",
    "RF": "RF-L04",
}
_HINT_RULES = {"DMA": "DMA-L15", "FIX": "FIX-L13"}
_BY_KNOB = ("len", "n_burst")
"""Fields of copies with a GM side whose maximum is that of the knob ``len_bits``."""
_HINTS = ("l2_cache_ctl", "l2_cache_ctrl", "sid")

Value = Any
"""An operand: an SSA value, or what the text of a single op says."""

KindOf = Callable[[Value], Kind]


class BuildError(ValueError):
    """An op that cannot be built; ``rule`` is the broken one, or empty."""

    def __init__(self, message: str, *, rule: str = "", legal: str = "") -> None:
        """Takes the sentence."""
        super().__init__(message)
        self.message, self.rule, self.legal = message, rule, legal


@dataclass(frozen=True, slots=True)
class Input:
    """One value that an op takes.

    Attributes:
        name: Operand, such as ``len_burst``.
        value: SSA value.
        rule: Rule that a negative one breaks, or empty.
        mask: Of a bit pattern, its bits, which may be of a negative number; else 0.
        pointer: Whether it is an address.
        unsigned: Of an integer without a sign in its type that is narrower than an operand, its
            bits: these are its value. A negative ``i64`` or ``index`` is a mistake.
    """

    name: str
    value: Value
    rule: str
    mask: int = 0
    pointer: bool = False
    unsigned: int = 0

    @property
    def text(self) -> str:
        """The operand as messages call it."""
        hint = self.value.name_hint
        return f"{self.name} (%{hint})" if hint else self.name


def _rules_of(name: str) -> str:
    """Returns the family of rules of an op; the forms that came before v0.6 have DMA rules."""
    if name in MADS:
        return ""
    name = TEXT_FORMS.get(name, name)
    return OPS[name].rules if name in OPS else "DMA"


def legal_numbers(name: str, operand: str) -> str:
    """Returns the legal values of an unsigned operand of an op as text."""
    spec = OPS.get((LEGACY_FORMS | TEXT_FORMS).get(name, name))
    for each in spec.operands if spec else ():
        if each.name == operand and each.maximum is not None:
            most = each.maximum
            if spec and "gm" in (spec.source, spec.destination) and each.field in _BY_KNOB:
                most = min(most, current().longest)
            return f"0..{most}"
    return "0 and above"


def negative(op: str, operand: Input, value: int) -> BuildError:
    """Returns the error of an operand below 0 of an op."""
    what = "addresses are" if operand.pointer else "counts, sizes and strides are"
    message = f"{operand.text} is {value}: {what} unsigned"
    return BuildError(message, rule=operand.rule, legal=legal_numbers(op, operand.name))


Make = Callable[[Sequence[int]], Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build an op.

    Attributes:
        name: Name without ``pto.``.
        pipe: Its pipe.
        inputs: Values it takes.
        make: Builds it of the numbers of ``inputs``.
        gm: Index in ``inputs`` of its address in GM, -1 where it has none.
        ctrl: Whether CTRL decides clauses that the op leaves out, or whether it is atomic.
    """

    name: str
    pipe: Pipe
    inputs: tuple[Input, ...]
    make: Make
    gm: int = -1
    ctrl: bool = False


class _Collector:
    """Collects the inputs of one op; the place of a value in the numbers is its index."""

    def __init__(self, written: Written, kind_of: KindOf) -> None:
        self.name = written.name
        self.family = _rules_of(written.name)
        self.kind_of = kind_of
        self.inputs: list[Input] = []

    def number(self, name: str, value: Value) -> int:
        """Takes an unsigned operand or an address."""
        kind = self.kind_of(value)
        if kind.sort not in (NUMBER, POINTER):
            raise BuildError(f"{name} has type {kind.name}: an integer")
        rules = _WIDTH_RULES
        if kind.sort == POINTER:
            rules = _RANGE_RULES
        elif name in _HINTS and not self.name.startswith("copy_"):
            rules = _HINT_RULES
        rule = rules.get(self.family, "")
        narrow = kind.name.startswith("i") and kind.bits < INDEX_BITS
        bits = kind.mask if narrow else 0
        self.inputs.append(Input(name, value, rule, 0, kind.sort == POINTER, bits))
        return len(self.inputs) - 1

    def bits(self, name: str, value: Value, rule: str) -> tuple[str, int]:
        """Takes a typed bit pattern; returns its type and index."""
        kind = self.kind_of(value)
        if kind.sort not in (NUMBER, FLOAT) or kind.name == "index":
            raise BuildError(f"{name} has type {kind.name}: a typed constant", rule=rule)
        self.inputs.append(Input(name, value, "", mask=kind.mask))
        return kind.name, len(self.inputs) - 1

    def payload(self, name: str, value: Value, rule: str) -> Make:
        """Takes a number or a pointer into fb."""
        kind = self.kind_of(value)
        if kind.pointer is None:
            dtype, index = self.bits(name, value, rule)
            return lambda numbers: Scalar(dtype, numbers[index])
        if kind.pointer.space != "fb":
            raise BuildError(f"{name} is a pointer into {kind.pointer.space}: fb", rule=rule)
        element, index = kind.pointer.dtype, self.number(name, value)
        return lambda numbers: FbPtr(element, numbers[index])

    def address(self, name: str, value: Value) -> Ptr:
        """Takes a pointer operand."""
        pointer = self.kind_of(value).pointer
        if pointer is None:
            raise BuildError(f"{name} has type {self.kind_of(value).name}: a pointer")
        self.number(name, value)
        return pointer


def _pad(take: _Collector, written: Written) -> Make | None:
    given = written.operands
    if "pad_value" not in given:
        return None
    dtype, value = take.bits("pad value", given["pad_value"], "DMA-L03")
    sides = [name for name in ("left_padding_count", "right_padding_count") if name in given]
    counts = [take.number(name, given[name]) for name in sides]
    return lambda numbers: Pad(dtype, numbers[value], *(numbers[index] for index in counts))


def _pre_quant(take: _Collector, written: Written) -> Make | None:
    mode, value = written.words["pre_quant_mode"], written.operands.get("pre_quant_payload")
    if not mode:
        return None
    if value is None:
        return lambda _: PreQuant(mode, None)
    if mode == NO_CONVERT.name and _ignored(take.kind_of(value)):
        return lambda _: PreQuant(mode, Scalar("f32", 0))
    payload = take.payload("pre_quant payload", value, "FIX-L03")
    return lambda numbers: PreQuant(mode, payload(numbers))


def _ignored(kind: Kind) -> bool:
    """Returns whether a payload is of a type that only ``no_convert``, which ignores it, takes."""
    if kind.pointer is not None:
        return kind.pointer.space == "fb" and kind.pointer.dtype not in NUMBER_TYPES
    return kind.name not in NUMBER_TYPES


def _nothing(_: Sequence[int]) -> None:
    return None


def _pre_relu(take: _Collector, written: Written) -> Make | None:
    mode, value = written.words["pre_relu_mode"], written.operands.get("pre_relu_payload")
    limit = written.operands.get("clip")
    if not mode:
        return None
    payload: Make = _nothing
    clip: Make = _nothing
    if value is not None:
        payload = take.payload("pre_relu payload", value, "FIX-L05")
    if limit is not None:
        if take.kind_of(limit).sort == POINTER:
            raise BuildError("clip is a pointer: a typed constant", rule="FIX-L06")
        clip = take.payload("clip", limit, "FIX-L06")
    return lambda numbers: PreRelu(mode, payload(numbers), clip(numbers))


def _triples(take: _Collector, groups: Sequence[Sequence[Value]], make: Any) -> Make | None:
    if not groups:
        return None
    indices = [
        [
            take.number(f"{make.__name__.lower()}_{part}", value)
            for part, value in zip(("count", "src_stride", "dst_stride"), group, strict=True)
        ]
        for group in groups
    ]
    return lambda numbers: tuple(make(*(numbers[i] for i in each)) for each in indices)


def _words(written: Written, kind_of: KindOf) -> dict[str, Any]:
    """Returns the fields that are known without a run."""
    words = written.words
    fixed: dict[str, Any] = {}
    if written.name == "mte_gm_l1_frac":
        fixed["mode"] = words.get("mode", "")
    if _rules_of(written.name) == "FIX":
        fixed = {
            "layout": words.get("layout", ""),
            "sat": words.get("sat", ""),
            "unit_flag": words["unit_flag"],
        }
        if written.name == "mte_l0c_ub":
            fixed["ub_split"] = words.get("ub_split", "")
        if words.get("atomic_type") or words.get("atomic_op"):
            if written.name != "mte_l0c_gm":
                raise BuildError(
                    f"atomic goes with mte_l0c_gm, not with {written.name}", rule="FIX-L11"
                )
            fixed["atomic"] = Atomic(words.get("atomic_type", ""), words.get("atomic_op", ""))
    if written.name in FILLS:
        fixed = _pattern(written, kind_of)
    return fixed


def _pattern(written: Written, kind_of: KindOf) -> dict[str, Any]:
    """Returns the fields of a fill that its operands do not have."""
    bits = written.words.get("fill_word_bits")
    if bits not in WORD_BITS:
        what = "is missing" if bits in (None, "") else f"is {bits}"
        raise BuildError(f"fill_word_bits {what}", rule="RF-L01", legal="16 or 32")
    fixed: dict[str, Any] = {"fill_word_bits": bits}
    if written.name == RAW_FILL_L1.name:
        return fixed
    kind, wanted = kind_of(written.operands["dst"]), f"ui{bits}"
    if kind.pointer is None or kind.pointer.dtype != wanted:
        message = f"dst has type {kind.name}"
        raise BuildError(message, rule="RF-L01", legal=f"a pointer to {wanted}")
    return {**fixed, "byte_offset": 0}


def _ctrl(take: _Collector, written: Written) -> Make:
    """Returns how to build an op that writes CTRL."""
    if written.name != "set_ctrl":
        what = written.name.removeprefix("set_atomic_")
        return lambda _: SetAtomic(what)
    kind = take.kind_of(written.operands["value"])
    if kind.sort != NUMBER or kind.bits != CTRL_BITS:
        raise BuildError(f"value has type {kind.name}", legal=f"an integer of {CTRL_BITS} bits")
    # A negative number is the pattern with bit 63 set.
    take.inputs.append(Input("value", written.operands["value"], "", mask=(1 << CTRL_BITS) - 1))
    return lambda numbers: SetCtrl(numbers[0])


def _register(written: Written, kind_of: KindOf) -> Recipe:
    """Returns the recipe of a ``set_*`` op."""
    take = _Collector(written, kind_of)
    make: Make
    if written.name.startswith(("set_ctrl", "set_atomic")):
        make = _ctrl(take, written)
    elif written.name == "set_mov_pad_val":
        dtype, value = take.bits("value", written.operands["value"], "DMA-L03")
        if dtype not in PAD_DTYPES:
            raise BuildError(f"pad type is {dtype}", rule="DMA-L03", legal=", ".join(PAD_DTYPES))
        make = lambda numbers: SetMovPadVal(dtype, numbers[value])  # noqa: E731
    else:
        sizes = written.name.startswith("set_loop_size")
        for name in ("loop1_count", "loop2_count") if sizes else ("src_stride", "dst_stride"):
            take.number(name, written.operands[name])
        direction = written.name.rsplit("_", 1)[1]
        if sizes:
            make = lambda numbers: SetLoopSize(direction, *numbers)  # noqa: E731
        else:
            level = int(written.name[len("set_loop")])
            make = lambda numbers: SetLoopStride(direction, level, *numbers)  # noqa: E731
    return Recipe(written.name, PIPES[written.name], tuple(take.inputs), make)


def _check_rows(written: Written) -> None:
    """Refuses unit flags with a K of ``nz2dn`` that is no constant.

    A constant other than 1 breaks the rule of the descriptor, so that engines can be sent one.
    """
    k = written.operands.get("k")
    checks = written.words.get("unit_flag") in (FLAG_CHECK, FLAG_CLEAR)
    if checks and k is not None and getattr(k.owner, "name", "") != "arith.constant":
        message = "unit_flag with nz2dn and a K that is no constant 1"
        raise BuildError(message, rule="FIX-L20", legal="K a constant 1")


def _cube(written: Written, kind_of: KindOf) -> Recipe:
    """Returns the recipe of a load to L0, or of a product, which CTRL decides about."""
    take = _Collector(written, kind_of)

    def number(name: str) -> int:
        value = written.operands[name]
        if name in ("src", "dst", "lhs", "rhs", "bias"):
            take.address(name, value)
            return len(take.inputs) - 1
        if name == "xt":
            take.inputs.append(Input(name, value, "", mask=(1 << CTRL_BITS) - 1))
            return len(take.inputs) - 1
        return take.number(name, value)

    product = written.name in MADS
    roles = ("lhs", "rhs", "dst", "bias") if product else ("src", "dst")
    pointers = [name for name in roles if name in written.operands]
    found: dict[str, Ptr] = {}
    for name in pointers:
        pointer = kind_of(written.operands[name]).pointer
        if pointer is None:
            raise BuildError(f"{name} has type {kind_of(written.operands[name]).name}: a pointer")
        found[name] = pointer
    kinds = tuple(found.values())
    make = mad_maker(written, number, kinds) if product else load_maker(
        written, number, (kinds[0], kinds[1])
    )  # fmt: skip
    pipe = PIPES[written.name]
    return Recipe(written.name, pipe, tuple(take.inputs), make, -1, ctrl=product)


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
        ub_sub: Vector sub-block of an op that has one and does not say which.
        ubuf_blocks: The operands of ``copy_ubuf_to_ubuf`` are those of ``mte_ub_ub``, and the op
            is one (spec/dma.md, section 4).

    Raises:
        BuildError: an operand is of a sort that the op cannot hold, or is missing.
    """
    if written.name.startswith("set_"):
        return _register(written, kind_of)
    if written.name in CUBE_OPS:
        return _cube(written, kind_of)
    maker = CLASSES[written.name]
    renamed: Mapping[str, str] = {}
    if ubuf_blocks and maker is CopyUbufToUbuf:
        maker, renamed = MteUbUb, _BLOCK_FIELDS
    fields = operand_names(maker)
    take = _Collector(written, kind_of)
    _check_rows(written)
    fixed = _words(written, kind_of)
    gm = -1
    for name in fields:
        operand = written.operands.get(renamed.get(name, name))
        if operand is None:
            continue
        role = "dst_type" if name == "dst" else None
        if role is None and name.endswith(("src", "_dst")):
            role = f"{name[-3:]}_type"
        if role is None:
            take.number(name, operand)
            continue
        pointer = take.address(name, operand)
        if take.family != "FIX":
            held = moved_as(pointer.dtype, any_type=take.family == "FB")
            pointer = replace(pointer, dtype=held)
        fixed[role] = pointer
        if pointer.space == "gm":
            gm = len(take.inputs) - 1
    plain = tuple(enumerate(field.name for field in take.inputs))
    if "ub_sub" in fields:
        own = written.attributes.get("ub_sub", ub_sub)
        if own not in (0, 1):
            raise BuildError(f"ub_sub is {own}: a vector sub-block is 0 or 1")
        fixed["ub_sub"] = own
    elif "ub_sub" in written.attributes:
        raise BuildError("ub_sub is on an op without a vector sub-block")
    optional = {"loops": _triples(take, written.loops, Loop), "pad": _pad(take, written)}
    if take.family == "FIX":
        optional["pre_quant"] = _pre_quant(take, written)
        optional["pre_relu"] = _pre_relu(take, written)
    clauses = {name: clause for name, clause in optional.items() if clause is not None}
    loop3 = [written.operands[x] for x in LOOP3 if x in written.operands]
    repeats = _triples(take, [loop3] if loop3 else [], Loop3)
    if repeats is not None:
        clauses["loop3"] = lambda numbers: repeats(numbers)[0]

    if written.name == "copy_cbuf_to_ubuf":
        del fixed["ub_sub"]
        clauses["ub_sub"] = _selected(take.number("sid", written.operands["sid"]))

    def make(numbers: Sequence[int]) -> Any:
        made = {name: clause(numbers) for name, clause in clauses.items()}
        return maker(**{name: numbers[index] for index, name in plain}, **fixed, **made)

    names = fixed.get("sat", "-"), fixed.get("atomic", "-")
    ctrl = names[0] == "" or (written.name == "mte_l0c_gm" and names[1] == "-")
    ctrl = ctrl or written.name in STORES
    pipe = PIPES[TEXT_FORMS.get(written.name, written.name)]
    return Recipe(written.name, pipe, tuple(take.inputs), make, gm, ctrl)


def _selected(index: int) -> Make:
    """Returns the sub-block that bit 0 of a number selects; 0 for one that is not known."""

    def make(numbers: Sequence[int]) -> int:
        try:
            return numbers[index] & 1
        except UndecidedError:
            return 0

    return make
