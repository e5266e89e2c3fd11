# SPDX-License-Identifier: Apache-2.0
"""Prints steps of a program as a module that can be read and run again.

Constants and pointers are defined once, before the ops. Pointers are absolute: ``pto.castptr`` of
an address, so a program needs no arguments. A number without an exact decimal literal is an
integer constant and an ``arith.bitcast``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from tb.isa.dtypes import Ptr
from tb.isa.names import Names
from tb.isa.text import AnyOp, op_parts, sub_block_of
from tb.language.trace import (
    Barrier,
    GetBuf,
    Move,
    RlsBuf,
    SetFlag,
    SetSignal,
    Step,
    WaitFlag,
    WaitSignal,
)

INDENT = "    "
MOST_ADDRESSES = 1 << 63
"""A pointer is known from a negative one up to here."""

_FLOATS = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32}
_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f8E4M3FN": 8, "hif8": 8}


class UnprintableError(ValueError):
    """An operand without a text: wider than its type, or than a pointer."""


@dataclass(frozen=True, slots=True)
class Note:
    """A comment on a line of its own."""

    text: str


@dataclass
class _Defined(Names):
    """Names that are remembered with what defines them.

    Attributes:
        values: Name of an integer or a number to the lines that define it.
        pointers: Name of a pointer to the line that defines it.
    """

    values: dict[str, list[str]] = field(default_factory=dict)
    pointers: dict[str, str] = field(default_factory=dict)

    def integer(self, value: int) -> str:
        """Returns the name of an integer, defined in the type of :meth:`integer_type`."""
        return self._constant(self.integer_type(value), value)

    def integer_type(self, value: int) -> str:
        """Returns i64, or a type that a larger integer fits."""
        return "i64" if value < 1 << 63 else f"i{value.bit_length() // 64 * 64 + 64}"

    def flag(self, value: int) -> str:
        """Returns the name of an operand of one bit."""
        if value not in (0, 1):
            return self.integer(value)
        name = ("%false", "%true")[value]
        self.values.setdefault(name, [f"{name} = arith.constant {name[1:]}"])
        return name

    def bits(self, dtype: str, value: int) -> str:
        """Returns the name of a bit pattern of type ``dtype``.

        Raises:
            UnprintableError: it is wider than the type.
        """
        width = _WIDTHS.get(dtype) or int(dtype.lstrip("siu"))
        if value < 0 or value >> width:
            raise UnprintableError(f"{value:#x} is not a value of type {dtype}")
        if dtype in _WIDTHS:
            name = f"%{dtype}_0x{value:X}"
            if name not in self.values:
                self.values[name] = self._number(name, dtype, value)
            return name
        plain = self._constant(f"i{width}", value)
        if dtype[0] == "i":
            return plain
        name = f"%c{value}_{dtype}"
        cast = f"{name} = builtin.unrealized_conversion_cast {plain} : i{width} to {dtype}"
        self.values.setdefault(name, [cast])
        return name

    def pointer(self, pointer: Ptr, address: int) -> str:
        """Returns the name of a pointer to an absolute address."""
        if address >= MOST_ADDRESSES:
            raise UnprintableError(f"{address:#x} is not an address: pointers have 64 bits")
        name = f"%{pointer.space}_{pointer.dtype}_{address:#x}"
        if name not in self.pointers:
            base = self.integer(address)
            self.pointers[name] = f"{name} = pto.castptr {base} : i64 -> {pointer}"
        return name

    def _constant(self, kind: str, value: int) -> str:
        name = f"%c{value}_{kind}"
        self.values.setdefault(name, [f"{name} = arith.constant {value} : {kind}"])
        return name

    def _number(self, name: str, dtype: str, bits: int) -> list[str]:
        literal = _literal(dtype, bits)
        if literal:
            return [f"{name} = arith.constant {literal} : {dtype}"]
        kind = f"i{_WIDTHS[dtype]}"
        return [f"{name} = arith.bitcast {self._constant(kind, bits)} : {kind} to {dtype}"]

    def lines(self) -> list[str]:
        """Returns the definitions."""
        return [
            *(line for lines in self.values.values() for line in lines),
            *self.pointers.values(),
        ]


def _literal(dtype: str, bits: int) -> str:
    """Returns the decimal literal of a number, or nothing where that may lose bits."""
    if dtype not in _FLOATS or bits >> _WIDTHS[dtype]:
        return ""
    if dtype == "f16":
        value = float(np.array([bits], np.uint16).view(np.float16)[0])
    else:
        wide = bits << 16 if dtype == "bf16" else bits
        value = float(np.array([wide], np.uint32).view(np.float32)[0])
    # Of other magnitudes the text would be long, or its rounding a matter of the reader.
    if not math.isfinite(value) or math.copysign(1, value) < 0 or not 2**-10 <= value <= 2**16:
        return ""
    text = repr(value)
    return text if len(text) <= 12 and "e" not in text else ""


def _attributed(text: str, step: Move) -> str:
    """Returns the text of an op with the attributes of its step, in the one dictionary it has."""
    found = {}
    if sub := sub_block_of(step.op):
        found["ub_sub"] = sub
    if step.gap:
        found["pto_dv.gap"] = step.gap
    if step.flag_delay >= 0:
        found["pto_dv.flag_delay"] = step.flag_delay
    inside = ", ".join(f"{key} = {value} : i64" for key, value in found.items())
    if not inside:
        return text
    return f"{text[:-1]}, {inside}}}" if text.endswith("}") else f"{text} {{{inside}}}"


def _line(step: Step | Note, names: Names) -> str:
    if isinstance(step, Note):
        return f"// {step.text}"
    if isinstance(step, SetFlag):
        return f'pto.set_flag["{step.pipe.value}", "{step.other.value}", "EVENT_ID{step.event}"]'
    if isinstance(step, WaitFlag):
        return f'pto.wait_flag["{step.other.value}", "{step.pipe.value}", "EVENT_ID{step.event}"]'
    if isinstance(step, Barrier):
        return f"pto.barrier <{step.pipe.value if step.pipe else 'PIPE_ALL'}>"
    if isinstance(step, GetBuf | RlsBuf):
        name = "get_buf" if isinstance(step, GetBuf) else "rls_buf"
        return f'pto.{name} "{step.pipe.value}", {step.buffer}, {step.mode}'
    if isinstance(step, SetSignal | WaitSignal):
        raise UnprintableError(f"pto.{step.name} is of several cores")
    operands, types = op_parts(step.op, names)
    kinds = f" : {types}" if types else ""
    text = _attributed(operands, step) if isinstance(step, Move) else operands
    return f"{text}{kinds}"


def unprintable(op: AnyOp) -> str:
    """Returns why no program can hold an op, nothing for one that can be printed."""
    try:
        op_parts(op, _Defined())
    except UnprintableError as error:
        return str(error)
    return ""


def program_text(
    steps: Iterable[Step | Note],
    *,
    function: str = "replay",
    header: str = "",
) -> str:
    """Returns a module with one function that holds ``steps`` in their order.

    Args:
        steps: The steps; their places are ignored.
        function: Name of the function.
        header: Lines for a comment at the top.

    Raises:
        UnprintableError: a typed constant is wider than its type, or the steps are of several
            cores.
    """
    names = _Defined()
    steps = list(steps)
    cores = {step.core for step in steps if not isinstance(step, Note)}
    if not cores <= {0} and cores != {1}:
        raise UnprintableError("a program of several cores is printed core by core")
    ops = [_line(step, names) for step in steps]
    if cores == {1}:
        ops = ["pto.section.vector {", *(INDENT + line for line in ops), "}"]
    comment = "".join(f"// {line}".rstrip() + "\n" for line in header.splitlines())
    lines = ["module {", f"  func.func @{function}() {{"]
    lines += [INDENT + line for line in (*names.lines(), *ops, "func.return")]
    return comment + "\n".join([*lines, "  }", "}", ""])
