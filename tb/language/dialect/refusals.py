# SPDX-License-Identifier: Apache-2.0
"""Refusals of the compiler's verifier for loads, products, fills, and ops that no run executes.

Those of the other ops are rules of the specification (:mod:`tb.language.rules.check`).
Source: docs/spec/dialect.md, sections 4.7, 5, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import i1

from tb.isa.dtypes import Ptr, element_bits
from tb.isa.grammar import FILLS, TRANSPOSE
from tb.isa.l0.table import LOAD_FORMS, LOADS
from tb.isa.mad import FP4, FP8
from tb.language.dialect.ops import MoveOp, constant_of
from tb.language.dialect.types import pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.operands import SEGMENTS, check_choice
from tb.language.grammar.written import Written

_MOST_STEP, _MOST_OTHER = 255, 65535
"""Largest step, and largest start or stride, that the fields of a load hold."""

_HIF8 = "hif8"
_FLOATS = ("f16", "bf16", "f32", "f64", "tf32", _HIF8, "hif8x2", *FP4)
_MX_TYPES = (*FP8, *FP4)
"""Elements of the factors of ``mad_mx``."""


def check(op: MoveOp, text: Written) -> None:
    """Refuses what the compiler's verifier refuses of an op.

    Raises:
        OpError: the op is refused.
    """
    name = op.row.name
    if op.row.choices:
        _load(op, text)
    elif name in LOAD_FORMS:
        _expanded_load(name, text)
    elif name.startswith("mad") and op.row.clauses:
        _product(name, text)
    elif name in FILLS:
        _in_space("destination", _pointer(text, "dst"), "l1")
        kind = type_name(text.operands["raw"].type)
        if kind != "i32":
            raise OpError(Fault(f"type mismatch: raw has type {kind}, it takes i32"))
    elif name == "copy_cbuf_to_bt":
        _in_space("source", _pointer(text, "src"), "l1")
        _in_space("destination", _pointer(text, "dst"), "bt")


# --- operands ------------------------------------------------------------------------------------


def _pointer(text: Written, name: str) -> Ptr:
    found = pointer_of(text.operands[name].type)
    assert found is not None, "the kinds of the operands are checked"
    return found


def _in_space(role: str, pointer: Ptr, space: str) -> None:
    """Refuses a pointer into another memory."""
    if pointer.space != space:
        raise OpError(Fault(f"{role} pointer is in {pointer.space}", legal=space))


def _same_width(source: Ptr, destination: Ptr) -> None:
    """Refuses elements without a width in bytes, or of two widths."""
    widths = [element_bits(one.dtype) // 8 for one in (source, destination)]
    for role, one, width in zip(
        ("source", "destination"), (source, destination), widths, strict=True
    ):
        if not width:
            what = f"{role} element type is {one.dtype}, which has no known byte width"
            raise OpError(Fault(what, legal="elements of whole bytes"))
    if widths[0] != widths[1]:
        what = f"element widths of {source.dtype} and {destination.dtype} differ"
        raise OpError(Fault(what, legal="elements of one width"))


def _in_ranges(text: Written, names: Iterable[str]) -> None:
    """Refuses constants that the fields of a load do not hold."""
    for name in names:
        number = constant_of(text.operands[name])
        low = int(name.endswith(("step", "stride")))
        high = 1 if name == TRANSPOSE else _MOST_STEP if name.endswith("step") else _MOST_OTHER
        if number is not None and not low <= number <= high:
            raise OpError(Fault(f"{name} is {number}", legal=f"{low}..{high}"))


def _not_negative(text: Written, names: Iterable[str]) -> None:
    """Refuses constants below 0."""
    for name in names:
        number = constant_of(text.operands[name])
        if number is not None and number < 0:
            legal = "0 and above: it must be non-negative"
            raise OpError(Fault(f"{name} is {number}", legal=legal))


# --- loads ---------------------------------------------------------------------------------------


def _load(op: MoveOp, text: Written) -> None:
    """Refuses a load in one of its two groups of operands."""
    spec, operands = LOADS[op.row.name], text.operands
    source, destination = _pointer(text, "src"), _pointer(text, "dst")
    _in_space("source", source, "l1")
    _in_space("destination", destination, spec.destination)
    _same_width(source, destination)
    sizes = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
    check_choice(op.row, operands, counted=sizes is not None)
    shape, control = ([x for x in names if x in operands] for names in op.row.choices)
    given = op.properties.get(TRANSPOSE) or op.attributes.get(TRANSPOSE)
    if given is not None and op.row.attributes and getattr(given, "type", None) != i1:
        raise OpError(Fault(f"transpose is {given}", legal="true or false"))
    if not spec.scales:
        _not_negative(text, [name for name in shape if name.startswith("start_")])
        _in_ranges(text, control)
        return
    _not_negative(text, (*shape, *control))
    for role, name, unit in (("source", "src", 32), ("destination", "dst", 16)):
        owner = operands[name].owner
        number = None
        if getattr(owner, "name", "") == "pto.castptr":
            number = constant_of(owner.operands[0])
        if number is not None and number % unit:
            raise OpError(Fault(f"{role} address is {number:#x}", legal=f"a multiple of {unit}"))


def _expanded_load(name: str, text: Written) -> None:
    source, destination = _pointer(text, "src"), _pointer(text, "dst")
    _in_space("source", source, "l1")
    _in_space("destination", destination, LOADS[LOAD_FORMS[name]].destination)
    _same_width(source, destination)
    packed = [one.dtype in FP4 for one in (source, destination)]
    if name.endswith("_s4"):
        if not all(packed) or source.dtype != destination.dtype:
            kinds = f"{source.dtype} and {destination.dtype}"
            raise OpError(Fault(f"elements are {kinds}", legal=f"twice one of {', '.join(FP4)}"))
        _in_ranges(text, (TRANSPOSE,))
    elif any(packed) and not name.endswith("_mx"):
        raise OpError(Fault("elements are pairs of 4 bits", legal=f"pto.{name}_s4"))
    if not name.endswith("_mx"):
        _in_ranges(text, [x for x in text.operands if x not in ("src", "dst", TRANSPOSE)])


# --- products ------------------------------------------------------------------------------------


def _product(name: str, text: Written) -> None:
    words = text.words
    left, right, result = (_pointer(text, role) for role in ("lhs", "rhs", "dst"))
    _in_space("left", left, "l0a")
    _in_space("right", right, "l0b")
    _in_space("result", result, "l0c")
    if "bias" in text.operands:
        bias = _pointer(text, "bias")
        _in_space("bias", bias, "bt")
        if bias.dtype != result.dtype:
            message = f"element type of the bias is {bias.dtype}, that of the result {result.dtype}"
            raise OpError(Fault(message, legal="one element type"))
    kinds = (left.dtype, right.dtype, result.dtype)
    named = f"{left.dtype} x {right.dtype} to {result.dtype}"
    if words.get("tf32_mode") and kinds != ("f32",) * 3:
        message = f"tf32_mode is on elements of type {named}"
        raise OpError(Fault(message, legal="f32 x f32 to f32"))
    floats = all(kind in _FLOATS or kind.startswith("f8") for kind in kinds)
    if words.get("sat") and not floats:
        message = f"{words['sat']} is on elements of type {named}"
        raise OpError(Fault(message, legal="floating-point elements"))
    if (left.dtype == _HIF8) != (right.dtype == _HIF8):
        message = f"element types of the factors are {left.dtype} and {right.dtype}"
        raise OpError(Fault(message, legal="hif8 on both sides or on none"))
    if name.startswith("mad_mx"):
        for role, pointer in (("left", left), ("right", right)):
            if pointer.dtype not in _MX_TYPES:
                message = f"element type of the {role} factor is {pointer.dtype}"
                raise OpError(Fault(message, legal=", ".join(_MX_TYPES)))
