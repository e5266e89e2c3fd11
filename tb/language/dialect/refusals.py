# SPDX-License-Identifier: Apache-2.0
"""Refusals of the compiler's verifier for ops that are read and not executed.

Those of the executed ops are rules of the specification (:mod:`tb.language.rules.check`).
Source: spec/dialect.md, sections 4.7, 5 and 6.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tb.isa.dtypes import Ptr, element_bits
from tb.isa.grammar import FILLS
from tb.language.dialect.types import pointer_of, type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.written import Written

FP4 = ("f4E2M1x2", "f4E1M2x2")
"""Pairs of 4-bit floats."""

_MOST_STEP, _MOST_OTHER = 255, 65535


def constant(value: SSAValue) -> int | None:
    """Returns the value of an ``arith.constant``, or None."""
    known = getattr(value.owner, "properties", {}).get("value")
    return known.value.data if isinstance(known, IntegerAttr) else None


def _pointer(value: SSAValue) -> Ptr:
    found = pointer_of(value.type)
    assert found is not None, "the kinds of the operands are checked"
    return found


def in_space(role: str, pointer: Ptr, *spaces: str) -> None:
    """Refuses a pointer into another memory."""
    if pointer.space not in spaces:
        legal = " or ".join(spaces)
        raise OpError(Fault(f"{role} pointer is in {pointer.space}", legal=legal))


def same_width(source: Ptr, destination: Ptr) -> None:
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


def in_range(name: str, value: SSAValue, low: int, high: int) -> None:
    """Refuses a constant out of its range."""
    number = constant(value)
    if number is not None and not low <= number <= high:
        raise OpError(Fault(f"{name} is {number}", legal=f"{low}..{high}"))


def check_known(text: Written) -> None:
    """Refuses what the compiler's verifier refuses.

    Raises:
        OpError: the op is refused.
    """
    name = text.name
    if name.startswith("load_cbuf_to_"):
        _load(name, text)
    elif name in FILLS:
        _fill(text)
    elif name == "copy_cbuf_to_bt":
        in_space("source", _pointer(text.operands["src"]), "l1")
        in_space("destination", _pointer(text.operands["dst"]), "bt")


def _load(name: str, text: Written) -> None:
    source, destination = (_pointer(text.operands[x]) for x in ("src", "dst"))
    in_space("source", source, "l1")
    in_space("destination", destination, "l0a" if "_to_ca" in name else "l0b")
    same_width(source, destination)
    packed = [one.dtype in FP4 for one in (source, destination)]
    if name.endswith("_s4"):
        if not all(packed) or source.dtype != destination.dtype:
            kinds = f"{source.dtype} and {destination.dtype}"
            raise OpError(Fault(f"elements are {kinds}", legal=f"twice one of {', '.join(FP4)}"))
        in_range("transpose", text.operands["transpose"], 0, 1)
    elif any(packed) and not name.endswith("_mx"):
        raise OpError(Fault("elements are pairs of 4 bits", legal=f"pto.{name}_s4"))
    if name.endswith("_mx"):
        return
    for operand in ("m_start", "k_start"):
        in_range(operand, text.operands[operand], 0, _MOST_OTHER)
    for operand in ("m_step", "k_step"):
        in_range(operand, text.operands[operand], 1, _MOST_STEP)
    for operand in ("src_stride", "dst_stride"):
        in_range(operand, text.operands[operand], 1, _MOST_OTHER)


def _fill(text: Written) -> None:
    in_space("destination", _pointer(text.operands["dst"]), "l1")
    kind = type_name(text.operands["raw"].type)
    if kind != "i32":
        raise OpError(Fault(f"type mismatch: raw has type {kind}, it takes i32"))
