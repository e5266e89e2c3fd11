# SPDX-License-Identifier: Apache-2.0
"""Loads from L1 to L0A and L0B, and the ops of the matrix unit: their text and its refusals.

Source: spec/dialect.md, sections 6 and 7. What the compiler's verifier refuses is refused here;
what else is wrong with an op is a matter of :mod:`tb.language.rules.cube`.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1
from xdsl.ir import SSAValue

from tb.isa.dtypes import Ptr
from tb.language.dialect.forms import MAD_CLAUSES, TRANSPOSE, Form
from tb.language.dialect.ops import SEGMENTS, Fault, MoveOp, OpError, Written, string
from tb.language.dialect.reading import Reading, unknown_clause
from tb.language.dialect.refusals import FP4, constant, in_range, in_space, same_width
from tb.language.dialect.types import pointer_of
from tb.language.parser.syntax import Clause

MOST_STEP, MOST_OTHER = 255, 65535
"""Largest step, and largest start or stride, that the fields of a load hold."""

_SHAPE, _CONTROL = 4, 6
"""Operands of the shape form and of the control form, after the pointers."""

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

_SPELLED = {
    "unit_flag": "unit_flag(check_only | check_and_set)",
    "sat": "sat or nosat",
    "tf32_mode": "tf32_mode(round_even | round_away)",
}


def _shape(form: Form) -> tuple[str, ...]:
    return tuple(group.name for group in form.groups[2 : 2 + _SHAPE])


def _control(form: Form) -> tuple[str, ...]:
    return tuple(group.name for group in form.groups[2 + _SHAPE :])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"%{name}" for name in names)


# --- loads ---------------------------------------------------------------------------------------


def read_load(reading: Reading) -> None:
    """Reads the operands of a load: positional or with their names."""
    form, text = reading.form, reading.text
    shape, control = _shape(form), _control(form)
    values = [item for item in text.head if item.kind != "word"]
    for item in text.head:
        if item.kind == "word":
            reading.fault(f"{item.text!r} is no operand", at=item.at)
    legal = f"%src, %dst, then {_listed(shape)}, or {_listed(control)}"
    if len(values) < 2:
        reading.fault("takes a source and a destination pointer", at=text.at, legal=legal)
        return
    for name, item in zip(("src", "dst"), values[:2], strict=True):
        reading.put(name, item)
    if text.clauses:
        if len(values) > 2:
            first = text.clauses[0]
            message = "named and positional operands cannot be mixed"
            if first.name not in (*shape, *control):
                message = f"there is no clause {first.name!r}"
            reading.fault(message, at=first.at, legal=legal)
            return
        _named(reading, (*shape, *control))
        return
    rest = values[2:]
    names: tuple[str, ...] = ()
    if len(rest) == _SHAPE:
        names = shape
    elif len(rest) == _CONTROL:
        names = control
    elif len(rest) == 2 and form.words:
        names, reading.old = shape[:2], True
        today = f"{_listed(shape)} with starts 0"
        if form.name == "mte_l1_l0b":
            today += ", and {transpose = true}"
        reading.note(f"two extents are an older form: {today}", rest[0].at)
        if TRANSPOSE in text.attributes:
            reading.fault("the older form with two extents has no transpose", legal=today)
    else:
        message = (
            "four shape-derived or six full operands are expected after the pointers, "
            f"not {len(rest)}"
        )
        reading.fault(message, at=text.at, legal=legal)
        return
    for name, item in zip(names, rest, strict=True):
        reading.put(name, item)


def _named(reading: Reading, names: tuple[str, ...]) -> None:
    for clause in reading.text.clauses:
        if clause.name not in names:
            legal = ", ".join(f"{name}(%{name})" for name in names)
            reading.fault(f"there is no operand named {clause.name!r}", at=clause.at, legal=legal)
        elif clause.name in reading.groups:
            reading.fault(f"operand {clause.name} is given twice", at=clause.at)
        elif clause.mark == "=":
            legal = f"{clause.name}(%{clause.name})"
            reading.fault(f"expected '(' after {clause.name}", at=clause.at, legal=legal)
        else:
            reading.exactly(clause, (clause.name,), "", f"{clause.name}(%{clause.name})")


def check_load(op: MoveOp, text: Written) -> None:
    """Refuses a load that the compiler's verifier refuses.

    Raises:
        OpError: it does.
    """
    form, operands = op.form, text.operands
    source, destination = _pointer(operands["src"]), _pointer(operands["dst"])
    in_space("source", source, "l1")
    in_space("destination", destination, form.name.removesuffix("_mx")[-3:])
    same_width(source, destination)
    shape = [name for name in _shape(form) if name in operands]
    control = [name for name in _control(form) if name in operands]
    _check_groups(op, shape, control)
    _check_transpose(op)
    scales = form.name.endswith("_mx")
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
    form = op.form
    if shape and control:
        message = (
            f"shape-derived and full operands cannot be mixed: {shape[0]} is of the one, "
            f"{control[0]} of the other form"
        )
        raise OpError(
            Fault(message, legal=f"{_listed(_shape(form))}, or {_listed(_control(form))}")
        )
    if is_old_load(op):
        return
    kind, names = ("full", _control(form)) if control else ("shape-derived", _shape(form))
    missing = [name for name in names if name not in (*shape, *control)]
    if missing:
        message = f"the {kind} form requires {', '.join(missing)}"
        raise OpError(Fault(message, legal=_listed(names)))


def is_old_load(op: MoveOp) -> bool:
    """Returns whether a load has the two extents of its older form alone."""
    sizes = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
    return bool(op.form.words) and sizes is None and len(op.operands) == 4


def _check_transpose(op: MoveOp) -> None:
    given = op.properties.get(TRANSPOSE) or op.attributes.get(TRANSPOSE)
    if given is None or not op.form.words:
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


# --- mad -----------------------------------------------------------------------------------------


def mad_order(form: Form) -> str:
    """Returns the clauses of an op in their order, as text."""
    return " ".join(f"[{_SPELLED.get(name, name)}]" for name in MAD_CLAUSES if name in form.words)


def read_mad(reading: Reading) -> None:
    """Reads the clauses: each at most once, in one order."""
    reached = -1
    legal = mad_order(reading.form)
    seen: set[str] = set()
    for clause in reading.text.clauses:
        name = "sat" if clause.name == "nosat" else clause.name
        if clause.comma:
            message = f"expected no ',' before {clause.name}: clauses follow blanks"
            reading.fault(message, at=clause.at, legal=legal)
        if name not in reading.form.words:
            if name in MAD_CLAUSES:
                message = f"{name} is no clause of {reading.form.name}"
                reading.fault(message, at=clause.at, legal=legal)
            else:
                unknown_clause(reading, clause, legal)
            continue
        place = MAD_CLAUSES.index(name)
        if name in seen:
            reading.fault(f"{clause.name} is a second clause {name}", at=clause.at, legal=legal)
        elif place < reached:
            message = f"{clause.name} is too late: clauses have one order"
            reading.fault(message, at=clause.at, legal=legal)
        seen.add(name)
        reached = max(place, reached)
        _mad_clause(reading, clause, name)


def _mad_clause(reading: Reading, clause: Clause, name: str) -> None:
    words = MAD_WORDS.get(name)
    if words is None:
        if clause.mark:
            reading.fault(f"{clause.name} has no operands", at=clause.at, legal=clause.name)
        one = string(clause.name) if name == "sat" else UnitAttr()
        reading.words[name] = one
        return
    word = clause.items[0].text if len(clause.items) == 1 else ""
    if word not in words or clause.items[0].kind != "word" or clause.mark != "(":
        found = ", ".join(item.text for item in clause.items)
        legal = " or ".join(f"{name}({each})" for each in words)
        reading.fault(f"{name} is {found or 'empty'}", at=clause.at, legal=legal)
        return
    reading.words[name] = string(word)


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
    if op.form.name.startswith("mad_mx"):
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
