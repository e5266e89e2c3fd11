# SPDX-License-Identifier: Apache-2.0
"""Loads from L1 to L0A and L0B, and the ops of the matrix unit: their text and its refusals.

Source: spec/dialect.md, sections 6 and 7. What the compiler's verifier refuses is refused here;
what else is wrong with an op is a matter of :mod:`tb.language.rules.cube`.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import SSAValue

from tb.isa.dtypes import Ptr
from tb.isa.grammar import TRANSPOSE
from tb.isa.l0.table import LOADS
from tb.language.dialect.ops import SEGMENTS, MoveOp
from tb.language.dialect.refusals import FP4, constant, in_range, in_space, same_width
from tb.language.dialect.types import pointer_of
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.written import Written

MOST_STEP, MOST_OTHER = 255, 65535
"""Largest step, and largest start or stride, that the fields of a load hold."""

FP8 = ("f8E4M3FN", "f8E5M2")
HIF8 = ("hif8",)
MX_TYPES = (*FP8, *FP4)
"""Elements of the factors of ``mad_mx``."""

_FLOATS = ("f16", "bf16", "f32", "f64", "tf32", "hif8", "hif8x2", *FP4)

CHECK_ONLY, CHECK_AND_SET = "check_only", "check_and_set"

MAD_WORDS: dict[str, tuple[str, ...]] = {
    "unit_flag": (CHECK_ONLY, CHECK_AND_SET),
    "tf32_mode": ("round_even", "round_away"),
}
"""Clauses of ``mad`` with a word in parentheses."""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"%{name}" for name in names)


def check_load(op: MoveOp, text: Written) -> None:
    """Refuses a load that the compiler's verifier refuses.

    Raises:
        OpError: it does.
    """
    row, operands = op.row, text.operands
    source, destination = _pointer(operands["src"]), _pointer(operands["dst"])
    in_space("source", source, "l1")
    in_space("destination", destination, LOADS[row.name].destination)
    same_width(source, destination)
    shape, control = ([x for x in names if x in operands] for names in row.choices)
    _check_groups(op, shape, control)
    _check_transpose(op)
    scales = LOADS[row.name].scales
    for name in shape:
        if scales or name.startswith("start_"):
            not_negative(name, operands[name])
    for name in control:
        if scales:
            not_negative(name, operands[name])
        elif name.endswith("_step"):
            in_range(name, operands[name], 1, MOST_STEP)
        else:
            in_range(name, operands[name], int("stride" in name), MOST_OTHER)
    if scales:
        _aligned("source", operands["src"], 32)
        _aligned("destination", operands["dst"], 16)


def _check_groups(op: MoveOp, shape: list[str], control: list[str]) -> None:
    """Refuses operands that are no complete group."""
    shapes, controls = op.row.choices
    if shape and control:
        message = (
            f"shape-derived and full operands cannot be mixed: {shape[0]} is of the one, "
            f"{control[0]} of the other form"
        )
        raise OpError(Fault(message, legal=f"{_listed(shapes)}, or {_listed(controls)}"))
    if is_old_load(op):
        return
    kind, names = ("full", controls) if control else ("shape-derived", shapes)
    missing = [name for name in names if name not in (*shape, *control)]
    if missing:
        message = f"the {kind} form requires {', '.join(missing)}"
        raise OpError(Fault(message, legal=_listed(names)))


def is_old_load(op: MoveOp) -> bool:
    """Returns whether a load has the two extents of its older form alone."""
    sizes = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
    return bool(op.row.attributes) and sizes is None and len(op.operands) == 4


def _check_transpose(op: MoveOp) -> None:
    given = op.properties.get(TRANSPOSE) or op.attributes.get(TRANSPOSE)
    if given is None or not op.row.attributes:
        return
    if not isinstance(given, IntegerAttr) or given.type != i1:
        raise OpError(Fault(f"transpose is {given}", legal="true or false"))


def not_negative(name: str, value: SSAValue) -> None:
    """Refuses a constant below 0."""
    number = constant(value)
    if number is not None and number < 0:
        raise OpError(Fault(f"{name} is {number}", legal="0 and above: it must be non-negative"))


def _aligned(role: str, value: SSAValue, unit: int) -> None:
    """Refuses a pointer that is a cast of a constant address between two units."""
    owner = value.owner
    if getattr(owner, "name", "") != "pto.castptr":
        return
    number = constant(owner.operands[0])  # type: ignore[union-attr]
    if number is not None and number % unit:
        raise OpError(Fault(f"{role} address is {number:#x}", legal=f"a multiple of {unit}"))


def _pointer(value: SSAValue) -> Ptr:
    found = pointer_of(value.type)
    assert found is not None, "the kinds of the operands are checked"
    return found


def check_mad(op: MoveOp, text: Written) -> None:
    """Refuses an op of the matrix unit that the compiler's verifier refuses.

    Raises:
        OpError: it does.
    """
    operands, words = text.operands, text.words
    left, right, result = (_pointer(operands[name]) for name in ("lhs", "rhs", "dst"))
    in_space("left", left, "l0a")
    in_space("right", right, "l0b")
    in_space("result", result, "l0c")
    if "bias" in operands:
        bias = _pointer(operands["bias"])
        in_space("bias", bias, "bt")
        if bias.dtype != result.dtype:
            message = f"element type of the bias is {bias.dtype}, that of the result {result.dtype}"
            raise OpError(Fault(message, legal="one element type"))
    _check_mad_words(text)
    kinds = (left.dtype, right.dtype, result.dtype)
    named = f"{left.dtype} x {right.dtype} to {result.dtype}"
    if words.get("tf32_mode") and kinds != ("f32",) * 3:
        message = f"tf32_mode is on elements of type {named}"
        raise OpError(Fault(message, legal="f32 x f32 to f32"))
    if words.get("sat") and not all(map(is_float_name, kinds)):
        message = f"{words['sat']} is on elements of type {named}"
        raise OpError(Fault(message, legal="floating-point elements"))
    if (left.dtype in HIF8) != (right.dtype in HIF8):
        message = f"element types of the factors are {left.dtype} and {right.dtype}"
        raise OpError(Fault(message, legal="hif8 on both sides or on none"))
    if op.row.name.startswith("mad_mx"):
        for role, pointer in (("left", left), ("right", right)):
            if pointer.dtype not in MX_TYPES:
                message = f"element type of the {role} factor is {pointer.dtype}"
                raise OpError(Fault(message, legal=", ".join(MX_TYPES)))


def is_float_name(dtype: str) -> bool:
    """Returns whether an element type is a float or a group of floats."""
    return dtype in _FLOATS or dtype.startswith("f8")


def _check_mad_words(text: Written) -> None:
    """Refuses properties of the generic form that are none."""
    for name, words in (*MAD_WORDS.items(), ("sat", ("sat", "nosat"))):
        value = text.words.get(name, "")
        if value and value not in words:
            raise OpError(Fault(f"{name} is {value!r}", legal=" or ".join(words)))
    for name in ("disable_gemv", "n_dir"):
        value = text.words.get(name, "")
        if value not in ("", True, False):
            raise OpError(Fault(f"{name} is {value!r}", legal=f"{name} alone"))
