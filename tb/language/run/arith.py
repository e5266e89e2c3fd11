# SPDX-License-Identifier: Apache-2.0
"""Code of integer and address arithmetic, and of constants.

Arithmetic wraps at the width of its type. The result for an unknown value is unknown;
an address keeps, through additions and subtractions, the buffer that it is in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntAttr, IntegerAttr
from xdsl.ir import Operation

from tb.language.dialect.types import element_stride
from tb.language.parser.constants import BITS
from tb.language.place import refuse
from tb.language.run.interpreter import Code, Interpreter, Maker, Routine, ids, kind_of, name_of
from tb.language.run.stream import attribute_of
from tb.language.run.values import (
    FLOAT,
    INDEX_BITS,
    NUMBER,
    OPAQUE,
    Frame,
    Kind,
    Located,
    Missing,
    number_kind,
    plain,
    rounded_bits,
    unknown_of,
)
from tb.language.unknown import UndecidedError, Unknown


class ArithmeticFaultError(Exception):
    """Arithmetic that has no result; the text is a sentence."""


def _divide(value: int, by: int) -> int:
    if by == 0:
        raise ArithmeticFaultError(f"{value} is divided by 0")
    quotient = abs(value) // abs(by)
    return quotient if (value < 0) == (by < 0) else -quotient


def _remainder(value: int, by: int) -> int:
    return value - by * _divide(value, by)


def _floor_divide(value: int, by: int) -> int:
    if by == 0:
        raise ArithmeticFaultError(f"{value} is divided by 0")
    return value // by


def _ceil_divide(value: int, by: int) -> int:
    return -_floor_divide(-value, by) if by else _floor_divide(value, by)


Binary = Callable[[int, int], int]

_AS_HELD, _SIGNED, _UNSIGNED = "as held", "signed", "unsigned"
"""How an op takes its operands; the result modulo the width, or the order, depends on it."""

_BINARY: dict[str, tuple[Binary, str]] = {
    "arith.addi": (operator.add, _AS_HELD),
    "arith.subi": (operator.sub, _AS_HELD),
    "arith.muli": (operator.mul, _AS_HELD),
    "arith.andi": (operator.and_, _AS_HELD),
    "arith.ori": (operator.or_, _AS_HELD),
    "arith.xori": (operator.xor, _AS_HELD),
    "arith.divsi": (_divide, _SIGNED),
    "arith.remsi": (_remainder, _SIGNED),
    "arith.floordivsi": (_floor_divide, _SIGNED),
    "arith.ceildivsi": (_ceil_divide, _SIGNED),
    "arith.minsi": (min, _SIGNED),
    "arith.maxsi": (max, _SIGNED),
    "arith.divui": (_divide, _UNSIGNED),
    "arith.remui": (_remainder, _UNSIGNED),
    "arith.ceildivui": (_ceil_divide, _UNSIGNED),
    "arith.minui": (min, _UNSIGNED),
    "arith.maxui": (max, _UNSIGNED),
}

_SHIFTS: dict[str, tuple[Binary, str]] = {
    "arith.shli": (operator.lshift, _AS_HELD),
    "arith.shrsi": (operator.rshift, _SIGNED),
    "arith.shrui": (operator.rshift, _UNSIGNED),
}

_PREDICATES: tuple[tuple[Binary, str], ...] = (
    (operator.eq, _AS_HELD),
    (operator.ne, _AS_HELD),
    *((one, _SIGNED) for one in (operator.lt, operator.le, operator.gt, operator.ge)),
    *((one, _UNSIGNED) for one in (operator.lt, operator.le, operator.gt, operator.ge)),
)
"""Comparisons in the order of their codes."""

_CASTS = (
    "arith.index_cast",
    "arith.index_castui",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "arith.bitcast",
    "builtin.unrealized_conversion_cast",
    "pto.castptr",
    "pto.ptrtoint",
)

KNOWN: tuple[str, ...] = (
    "arith.constant",
    *_BINARY,
    *_SHIFTS,
    "arith.cmpi",
    "arith.select",
    *_CASTS[:-2],
)
"""Ops of other dialects that are computed here."""

_DIVISIONS = tuple(name for name in _BINARY if "div" in name or "rem" in name)

_FAULTY = frozenset((*_DIVISIONS, *_SHIFTS, "pto.sbitset0", "pto.sbitset1"))
"""Ops that may have no result."""


def _pure(run: Interpreter, op: Operation, code: Code, routine: Routine) -> Code | None:
    """Returns the code of an op without effect; None when its result is known at once."""

    def checked(frame: Frame) -> None:
        try:
            code(frame)
        except ArithmeticFaultError as error:
            raise refuse(run.place(op), str(error), op=op.name) from None

    if all(key in routine.known for key in ids(op.operands)):
        try:
            code(routine.known)
        except ArithmeticFaultError:
            return checked
        return None
    return checked if op.name in _FAULTY else code


def uncomputed(run: Interpreter, op: Operation, routine: Routine) -> None:
    """Continues after an op whose result is not computed."""
    routine.lose(op.results, f"it is the result of {name_of(op)} at {run.place(op)}, not computed")


def _constant(_: Interpreter, op: Operation, routine: Routine) -> None:
    (result,) = op.results
    routine.known[id(result)] = _value(op, kind_of(result))


def _value(op: Operation, kind: Kind) -> int:
    """Returns the value of an ``arith.constant``."""
    value = attribute_of(op, "value")
    if isinstance(value, IntegerAttr):
        return kind.wrap(value.value.data)
    if isinstance(bits_of_nan := op.attributes.get(BITS), IntAttr):
        return int(bits_of_nan.data)
    bits = None
    if isinstance(value, FloatAttr):
        bits = rounded_bits(value.value.data, str(value.type))
    return Missing(f"a constant of type {kind.name} has no bits here") if bits is None else bits


def _shift(compute: Binary, kind: Kind) -> Binary:
    def shifted(value: int, by: int) -> int:
        by &= kind.mask
        if by >= kind.bits:
            raise ArithmeticFaultError(f"shift by {by}: {kind.name} has {kind.bits} bits")
        return int(compute(value, by))

    return shifted


def _taking(compute: Binary, kind: Kind, how: str) -> Binary:
    """Returns ``compute`` on values that are held as those of ``kind``."""
    if how == _SIGNED and kind.low >= 0:
        return lambda one, other: compute(kind.signed(one), kind.signed(other))
    if how == _UNSIGNED and kind.low < 0:
        mask = kind.mask
        return lambda one, other: compute(one & mask, other & mask)
    return compute


def _moved(name: str, one: int, other: int) -> int | None:
    """Returns the sum or difference of an address and a number as an address, or None."""
    if name == "arith.addi":
        if isinstance(one, Located) and not isinstance(other, Unknown):
            return one.moved(other)
        if isinstance(other, Located) and not isinstance(one, Unknown):
            return other.moved(one)
    elif name == "arith.subi" and isinstance(one, Located):
        if not isinstance(other, Unknown):
            return one.moved(-other)
        if isinstance(other, Located) and other.argument == one.argument:
            return one.offset - other.offset
    return None


def _binary_of(op: Operation, kind: Kind) -> Binary | None:
    if op.name in _BINARY:
        compute, how = _BINARY[op.name]
        return _taking(compute, kind, how)
    if op.name in _SHIFTS:
        compute, how = _SHIFTS[op.name]
        return _taking(_shift(compute, kind), kind, how)
    predicate = attribute_of(op, "predicate")
    if not isinstance(predicate, IntegerAttr) or predicate.value.data >= len(_PREDICATES):
        return None
    compute, how = _PREDICATES[predicate.value.data]
    compare = _taking(compute, kind, how)
    return lambda one, other: 1 if compare(one, other) else 0


def _binary(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    """Returns the code of an op with two integer operands and one result."""
    (first, second), (target,) = ids(op.operands), ids(op.results)
    source, result = kind_of(op.operands[0]), kind_of(op.results[0])
    compute = _binary_of(op, source) if source.sort == result.sort == NUMBER else None
    if compute is None:
        uncomputed(run, op, routine)
        return None
    name, low, high, wrap = op.name, result.low, result.high, result.wrap

    def slow(one: int, other: int) -> int:
        moved = _moved(name, one, other)
        if moved is not None:
            return moved
        missing = unknown_of(one, other)
        return wrap(compute(plain(one), plain(other))) if missing is None else missing

    def code(frame: Frame) -> None:
        try:
            value = compute(frame[first], frame[second])
            frame[target] = value if low <= value <= high else wrap(value)
        except UndecidedError:
            frame[target] = slow(frame[first], frame[second])

    return _pure(run, op, code, routine)


def _cast(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    """Returns the code of a change of type."""
    convert = _convert(op) if len(op.operands) == len(op.results) == 1 else None
    if convert is None:
        uncomputed(run, op, routine)
        return None
    first, target = id(op.operands[0]), id(op.results[0])
    as_wide = kind_of(op.operands[0]).bits == kind_of(op.results[0]).bits

    def code(frame: Frame) -> None:
        value = frame[first]
        if isinstance(value, Unknown):
            if not as_wide or isinstance(value, Missing):
                value = plain(value)
            frame[target] = value if isinstance(value, Unknown) else convert(value)
        else:
            frame[target] = convert(value)

    return _pure(run, op, code, routine)


def _convert(op: Operation) -> Callable[[int], int] | None:
    """Returns how a value changes its type, or None where that is not known."""
    name, source, result = op.name, kind_of(op.operands[0]), kind_of(op.results[0])
    if OPAQUE in (source.sort, result.sort):
        return None
    if name.startswith(("builtin.", "pto.")):
        if FLOAT in (source.sort, result.sort):
            return None
        if name.startswith("builtin.") and source.bits != result.bits:
            return None
    mask, low, high, wrap = source.mask, result.low, result.high, result.wrap
    unsigned = name in ("arith.extui", "arith.index_castui", "arith.bitcast")

    def convert(value: int) -> int:
        value = value & mask if unsigned else source.signed(value & mask)
        return value if low <= value <= high else wrap(value)

    return convert


def _addptr(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    """Returns the code of ``pto.addptr``: pointer, count of elements."""
    held = kind_of(op.operands[0]).pointer
    assert held is not None, "the reader checks the types of pto.addptr"
    size = element_stride(held.dtype)
    if not size:
        message = f"elements of {held.dtype} have no size in bytes"
        run.problem(op, message, legal="a pointer to elements of whole bytes")
        return None
    (pointer, count), (target,) = ids(op.operands), ids(op.results)

    def code(frame: Frame) -> None:
        base, elements = frame[pointer], plain(frame[count])
        if isinstance(elements, Unknown) or isinstance(base, Missing):
            missing = unknown_of(base, elements)
            frame[target] = base if missing is None else missing
        elif isinstance(base, Located):
            frame[target] = base.moved(elements * size)
        else:
            frame[target] = base + elements * size

    return _pure(run, op, code, routine)


_CTRL = number_kind("i64", INDEX_BITS, signed=True)


def _get_ctrl(run: Interpreter, op: Operation, _: Routine) -> Code:
    registers, target = run.registers, id(op.results[0])

    def code(frame: Frame) -> None:
        value = registers.ctrl
        known = not isinstance(value, Unknown)
        frame[target] = _CTRL.wrap(value) if known else Missing("CTRL is not known")

    return code


def _set_bit(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    """Returns the code of ``pto.sbitset1`` or ``pto.sbitset0``: value, bit number."""
    (value, bit), (target,) = ids(op.operands), ids(op.results)
    one = op.name == "pto.sbitset1"

    def code(frame: Frame) -> None:
        word, number = plain(frame[value]), plain(frame[bit])
        missing = unknown_of(word, number)
        if missing is not None:
            frame[target] = missing
            return
        if number not in range(INDEX_BITS):
            raise ArithmeticFaultError(f"bit {number} of a word of {INDEX_BITS} bits")
        mask = 1 << number
        frame[target] = _CTRL.wrap(word | mask if one else word & ~mask)

    return _pure(run, op, code, routine)


def _select(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    (condition, first, second), (target,) = ids(op.operands), ids(op.results)

    def code(frame: Frame) -> None:
        chosen = frame[condition]
        if isinstance(chosen, Unknown):
            frame[target] = merged(frame[first], frame[second], chosen)
        else:
            frame[target] = frame[first] if chosen else frame[second]

    return _pure(run, op, code, routine)


def merged(one: int, other: int, why: int) -> int:
    """Returns the known part of a value that is ``one`` or ``other``; ``why`` is undecided."""
    if one is other:
        return one
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        same: Any = (
            isinstance(one, Located)
            and isinstance(other, Located)
            and (one.argument, one.offset) == (other.argument, other.offset)
        )
        if same:
            return one
        missing = unknown_of(one, other, why)
    else:
        if one == other:
            return one
        missing = unknown_of(why)
    if missing is None:
        return Missing("it depends on a condition that is not known")
    return missing


MAKERS: dict[Any, Maker] = {
    "arith.constant": _constant,
    "arith.select": _select,
    **dict.fromkeys((*_BINARY, *_SHIFTS, "arith.cmpi"), _binary),
    **dict.fromkeys(_CASTS, _cast),
    "pto.addptr": _addptr,
    "pto.get_ctrl": _get_ctrl,
    "pto.sbitset0": _set_bit,
    "pto.sbitset1": _set_bit,
}
