# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic of a program: converts an op of dialect arith to a function.

Arithmetic wraps at the width of its type. The result for an unknown value is unknown;
an address keeps, through additions and subtractions, the buffer that it is in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntAttr, IntegerAttr
from xdsl.ir import Operation

from tb.language.parser.constants import BITS
from tb.language.run.registers import RegisterState
from tb.language.run.values import (
    FLOAT,
    INDEX_BITS,
    OPAQUE,
    Kind,
    Located,
    Missing,
    number_kind,
    plain,
    rounded_bits,
    unknown_of,
)
from tb.language.unknown import UndecidedError, Unknown

Frame = list[int]
"""Values of a function's run, by slot."""

Code = Callable[[Frame], None]
"""One op, made ready to run."""


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

_SAME: dict[str, Binary] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
}
"""Ops whose result modulo the width does not depend on the representation of the values."""

_SIGNED: dict[str, Binary] = {
    "arith.divsi": _divide,
    "arith.remsi": _remainder,
    "arith.floordivsi": _floor_divide,
    "arith.ceildivsi": _ceil_divide,
    "arith.minsi": min,
    "arith.maxsi": max,
}

_UNSIGNED: dict[str, Binary] = {
    "arith.divui": _divide,
    "arith.remui": _remainder,
    "arith.ceildivui": _ceil_divide,
    "arith.minui": min,
    "arith.maxui": max,
}

_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")

_PREDICATES: tuple[tuple[str, Binary, bool], ...] = (
    ("eq", operator.eq, False),
    ("ne", operator.ne, False),
    ("slt", operator.lt, True),
    ("sle", operator.le, True),
    ("sgt", operator.gt, True),
    ("sge", operator.ge, True),
    ("ult", operator.lt, False),
    ("ule", operator.le, False),
    ("ugt", operator.gt, False),
    ("uge", operator.ge, False),
)
"""Comparisons in the order of their codes, and whether they take signed values."""

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
    *_SAME,
    *_SIGNED,
    *_UNSIGNED,
    *_SHIFTS,
    "arith.cmpi",
    "arith.select",
    *_CASTS[:-2],
)
"""Ops that are computed here."""

FAULTY: frozenset[str] = frozenset((*_SIGNED, *_UNSIGNED, *_SHIFTS))
"""Ops that may have no result."""


def constant(op: Operation, kind: Kind) -> int:
    """Returns the value of an ``arith.constant``."""
    value = op.properties.get("value", op.attributes.get("value"))
    if isinstance(value, IntegerAttr):
        return kind.wrap(value.value.data)
    if isinstance(bits_of_nan := op.attributes.get(BITS), IntAttr):
        return int(bits_of_nan.data)
    bits = None
    if isinstance(value, FloatAttr):
        bits = rounded_bits(value.value.data, str(value.type))
    return Missing(f"a constant of type {kind.name} has no bits here") if bits is None else bits


def _shift(name: str, kind: Kind) -> Binary:
    def amount(by: int) -> int:
        by &= kind.mask
        if by >= kind.bits:
            raise ArithmeticFaultError(f"shift by {by}: {kind.name} has {kind.bits} bits")
        return by

    if name == "arith.shli":
        return lambda value, by: value << amount(by)
    if name == "arith.shrui":
        return lambda value, by: (value & kind.mask) >> amount(by)
    return lambda value, by: kind.signed(value) >> amount(by)


def _held_as(compute: Binary, kind: Kind, *, signed: bool) -> Binary:
    """Returns ``compute`` on values that are held as those of ``kind``."""
    if signed:
        if kind.low < 0:
            return compute
        return lambda one, other: compute(kind.signed(one), kind.signed(other))
    if kind.low == 0:
        return compute
    mask = kind.mask
    return lambda one, other: compute(one & mask, other & mask)


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
    name = op.name
    if name in _SAME:
        return _SAME[name]
    if name in _SIGNED:
        return _held_as(_SIGNED[name], kind, signed=True)
    if name in _UNSIGNED:
        return _held_as(_UNSIGNED[name], kind, signed=False)
    if name in _SHIFTS:
        return _shift(name, kind)
    if name == "arith.cmpi":
        predicate = op.properties.get("predicate", op.attributes.get("predicate"))
        if not isinstance(predicate, IntegerAttr) or predicate.value.data >= len(_PREDICATES):
            return None
        _, compare, signed = _PREDICATES[predicate.value.data]
        if predicate.value.data < 2:
            return compare
        return _held_as(compare, kind, signed=signed)
    return None


def binary(op: Operation, kinds: tuple[Kind, Kind], slots: tuple[int, int, int]) -> Code | None:
    """Returns the code of an op with two integer operands and one result, or None.

    Args:
        op: The op.
        kinds: Of the operands and of the result.
        slots: Of the operands and of the result.
    """
    compute = _binary_of(op, kinds[0])
    if compute is None:
        return None
    name, result = op.name, kinds[1]
    low, high, wrap = result.low, result.high, result.wrap
    first, second, target = slots

    def slow(one: int, other: int) -> int:
        moved = _moved(name, one, other)
        if moved is not None:
            return moved
        missing = unknown_of(one, other)
        return wrap(compute(plain(one), plain(other))) if missing is None else missing

    def run(frame: Frame) -> None:
        try:
            value = compute(frame[first], frame[second])
            frame[target] = value if low <= value <= high else wrap(value)
        except UndecidedError:
            frame[target] = slow(frame[first], frame[second])

    if name != "arith.cmpi":
        return run

    def compared(frame: Frame) -> None:
        try:
            frame[target] = 1 if compute(frame[first], frame[second]) else 0
        except UndecidedError:
            value = slow(frame[first], frame[second])
            frame[target] = value if isinstance(value, Unknown) else int(value)

    return compared


def cast(name: str, source: Kind, result: Kind, slots: tuple[int, int]) -> Code | None:
    """Returns the code of a change of type, or None where none is known."""
    if OPAQUE in (source.sort, result.sort) or name not in _CASTS:
        return None
    if name.startswith(("builtin.", "pto.")):
        if FLOAT in (source.sort, result.sort):
            return None
        if name.startswith("builtin.") and source.bits != result.bits:
            return None
    mask, first, target = source.mask, *slots
    unsigned = name in ("arith.extui", "arith.index_castui", "arith.bitcast")
    low, high, wrap = result.low, result.high, result.wrap
    whole = source.bits == result.bits

    def convert(value: int) -> int:
        value = value & mask if unsigned else source.signed(value & mask)
        return value if low <= value <= high else wrap(value)

    def run(frame: Frame) -> None:
        value = frame[first]
        if isinstance(value, Unknown):
            if not whole or isinstance(value, Missing):
                value = plain(value)
            frame[target] = value if isinstance(value, Unknown) else convert(value)
        else:
            frame[target] = convert(value)

    return run


def addptr(size: int, slots: tuple[int, ...]) -> Code:
    """Returns the code of ``pto.addptr`` on elements of ``size`` bytes: pointer, count, result."""
    pointer, count, target = slots

    def run(frame: Frame) -> None:
        base, elements = frame[pointer], plain(frame[count])
        if isinstance(elements, Unknown) or isinstance(base, Missing):
            missing = unknown_of(base, elements)
            frame[target] = base if missing is None else missing
        elif isinstance(base, Located):
            frame[target] = base.moved(elements * size)
        else:
            frame[target] = base + elements * size

    return run


CTRL = number_kind("i64", INDEX_BITS, signed=True)


def read_ctrl(registers: RegisterState, target: int) -> Code:
    """Returns the code of ``pto.get_ctrl``."""

    def run(frame: Frame) -> None:
        value = registers.ctrl
        known = not isinstance(value, Unknown)
        frame[target] = CTRL.wrap(value) if known else Missing("CTRL is not known")

    return run


def set_bit(one: bool, slots: tuple[int, int, int]) -> Code:
    """Returns the code of ``pto.sbitset1`` or ``pto.sbitset0``: value, bit number, result."""
    value, bit, target = slots

    def run(frame: Frame) -> None:
        word, number = plain(frame[value]), plain(frame[bit])
        missing = unknown_of(word, number)
        if missing is not None:
            frame[target] = missing
            return
        if number not in range(INDEX_BITS):
            raise ArithmeticFaultError(f"bit {number} of a word of {INDEX_BITS} bits")
        mask = 1 << number
        frame[target] = CTRL.wrap(word | mask if one else word & ~mask)

    return run


def select(slots: tuple[int, int, int, int]) -> Code:
    """Returns the code of ``arith.select``: condition, both values, result."""
    condition, first, second, target = slots

    def run(frame: Frame) -> None:
        chosen = frame[condition]
        if isinstance(chosen, Unknown):
            frame[target] = merged(frame[first], frame[second], chosen)
        else:
            frame[target] = frame[first] if chosen else frame[second]

    return run


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
