# SPDX-License-Identifier: Apache-2.0
"""Values of programs: arithmetic and comparisons against exact numbers, floats against numpy."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tb.isa.dma.legacy import SetLoopSize, SetMovPadVal
from tb.language.place import ProgramError
from tb.language.reader import read
from tb.language.run.values import rounded_bits
from tb.language.run.walk import trace
from tb.language.trace import Move, Trace
from tests.language.corpus.short import complete


def walk(body: str, arguments: dict[int, int] | None = None) -> Trace:
    """Returns the trace of a body in the short form of the corpus."""
    return trace(read(complete("k", f"{body}\n")[0], "x.pto"), arguments=arguments or {})


def shown(found: Trace) -> list[int]:
    """Returns the values of ``set_loop_size_outtoub`` and ``set_mov_pad_val``."""
    ops = [step.op for step in found.steps if isinstance(step, Move)]
    return [
        op.loop1_count if isinstance(op, SetLoopSize) else op.value
        for op in ops
        if isinstance(op, SetLoopSize | SetMovPadVal)
    ]


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >= 1 << (bits - 1) else value


def _shift(value: int, by: int) -> int:
    return math.floor(Fraction(value, 1 << by))


def _both(one: int, other: int) -> list[tuple[int, int]]:
    return [(one & 1 << k, other & 1 << k) for k in range(64)]


REFERENCE: dict[str, tuple[bool, Callable[[int, int], int]]] = {
    "addi": (True, lambda a, b: a + b),
    "subi": (True, lambda a, b: a - b),
    "muli": (True, lambda a, b: a * b),
    "divsi": (True, lambda a, b: math.trunc(Fraction(a, b))),
    "remsi": (True, lambda a, b: a - b * math.trunc(Fraction(a, b))),
    "floordivsi": (True, lambda a, b: math.floor(Fraction(a, b))),
    "ceildivsi": (True, lambda a, b: math.ceil(Fraction(a, b))),
    "divui": (False, lambda a, b: math.floor(Fraction(a, b))),
    "remui": (False, lambda a, b: a - b * math.floor(Fraction(a, b))),
    "ceildivui": (False, lambda a, b: math.ceil(Fraction(a, b))),
    "minsi": (True, lambda a, b: a if a < b else b),
    "maxsi": (True, lambda a, b: a if a > b else b),
    "minui": (False, lambda a, b: a if a < b else b),
    "maxui": (False, lambda a, b: a if a > b else b),
    "andi": (False, lambda a, b: sum(x & y for x, y in _both(a, b))),
    "ori": (False, lambda a, b: sum(x | y for x, y in _both(a, b))),
    "xori": (False, lambda a, b: sum(x ^ y for x, y in _both(a, b))),
    "shli": (False, lambda a, b: a * 2**b),
    "shrui": (False, _shift),
    "shrsi": (True, _shift),
}
"""Each op on signed or unsigned values, as in the dialect's documentation."""

COMPARE: dict[str, tuple[bool, Callable[[int, int], bool]]] = {
    "eq": (False, lambda a, b: a == b),
    "ne": (False, lambda a, b: a != b),
    "slt": (True, lambda a, b: a < b),
    "sle": (True, lambda a, b: a <= b),
    "sgt": (True, lambda a, b: a > b),
    "sge": (True, lambda a, b: a >= b),
    "ult": (False, lambda a, b: a < b),
    "ule": (False, lambda a, b: a <= b),
    "ugt": (False, lambda a, b: a > b),
    "uge": (False, lambda a, b: a >= b),
}


def _pairs(bits: int) -> list[tuple[int, int]]:
    """Returns pairs of edges and of random values."""
    edges = [0, 1, 2, bits - 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1]
    values = edges + [random.Random(bits).randrange(1 << bits) for _ in range(5)]
    return [(one, other) for one in values for other in values]


@pytest.mark.long
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_arithmetic_is_that_of_the_dialect(bits: int) -> None:
    """Every op on edges and random values, wrapped at the width; shown by its bits."""
    kind = f"i{bits}"
    show = (
        f"pto.set_mov_pad_val %r : {kind}\n"
        if bits < 64
        else "%low = arith.trunci %r : i64 to i32\n pto.set_mov_pad_val %low : i32\n"
        "%up = arith.constant 32 : i64\n %h = arith.shrui %r, %up : i64\n"
        "%high = arith.trunci %h : i64 to i32\n pto.set_mov_pad_val %high : i32\n"
    )
    for name, (signed, compute) in REFERENCE.items():
        text = f"func.func @k(%a: {kind}, %b: {kind}) {{\n %r = arith.{name} %a, %b : {kind}\n"
        source = read(text + show + " func.return\n}", "x.pto")
        for one, other in _pairs(bits):
            if ("div" in name or "rem" in name) and other == 0:
                continue
            if name.startswith("sh") and other >= bits:
                continue
            pair = (_signed(one, bits), _signed(other, bits)) if signed else (one, other)
            words = shown(trace(source, arguments={0: one, 1: other}))
            found = sum(word << 32 * place for place, word in enumerate(words))
            assert found == compute(*pair) % (1 << bits), (name, one, other)


@pytest.mark.parametrize("kind", ["i1", "i8", "i64", "index"])
def test_comparisons_are_those_of_the_dialect(kind: str) -> None:
    """Every predicate, signed and unsigned; an ``i1`` that is true is -1 where it is signed."""
    bits = 64 if kind == "index" else int(kind[1:])
    ops = [
        f"%r{k} = arith.cmpi {name}, %a, %b : {kind}\n"
        f"%s{k} = arith.extui %r{k} : i1 to i64\n"
        f"pto.set_loop_size_outtoub %s{k}, %s{k} : i64, i64"
        for k, name in enumerate(COMPARE)
    ]
    text = f"func.func @k(%a: {kind}, %b: {kind}) {{\n" + "\n".join(ops) + "\nfunc.return\n}"
    source = read(text, "x.pto")
    for one, other in [(0, 0), (0, 1), (1, 0), (1, 1)] if bits == 1 else _pairs(bits):
        signed = _signed(one, bits), _signed(other, bits)
        expected = [compare(*(signed if by else (one, other))) for by, compare in COMPARE.values()]
        assert shown(trace(source, arguments={0: one, 1: other})) == expected, (one, other)


SIZE = "pto.set_loop_size_outtoub {}, %c1_i64 : I64x2\n"
VALUES: list[tuple[str, list[int]]] = [
    (f"%x = arith.extui %c200_i8 : i8 to i64\n{SIZE.format('%x')}", [200]),
    (
        "%x = arith.extsi %c200_i8 : i8 to i64\n%y = arith.subi %c0_i64, %x : i64\n"
        + SIZE.format("%y"),
        [56],
    ),
    (
        "%w = arith.constant 0x12345 : i64\n%x = arith.trunci %w : i64 to i16\n"
        f"%y = arith.extui %x : i16 to i64\n{SIZE.format('%y')}",
        [0x2345],
    ),
    (
        "%x = arith.index_castui %c200_i8 : i8 to index\n%y = arith.index_cast %x : index to i64\n"
        + SIZE.format("%y"),
        [200],
    ),
    (
        "%x = builtin.unrealized_conversion_cast %c200_i8 : i8 to ui8\n"
        "%y = builtin.unrealized_conversion_cast %x : ui8 to i8\n"
        f"%w = arith.extui %y : i8 to i64\n{SIZE.format('%w')}",
        [200],
    ),
    (f"%x = arith.select %false, %c64_i64, %c1_i64 : i64\n{SIZE.format('%x')}", [1]),
    ("pto.set_mov_pad_val %one : f16", [0x3C00]),
    ("%x = arith.constant -1.5 : bf16\npto.set_mov_pad_val %x : bf16", [0xBFC0]),
    ("pto.set_mov_pad_val %one : f32", [0x3F800000]),
    (
        "%x = arith.constant 0x7F800001 : i32\n%y = arith.bitcast %x : i32 to f32\n"
        "pto.set_mov_pad_val %y : f32",
        [0x7F800001],
    ),
    *(
        (f"%x = {form.format(bits, kind)}\npto.set_mov_pad_val %x : {kind}", [int(bits, 16)])
        for form in (
            "arith.constant {0} : {1}",
            '"arith.constant"() <{{value = {0} : {1}}}> : () -> {1}',
        )
        for kind, bits in (
            *(("f16", "0x7D79"), ("f16", "0xFE01")),
            *(("bf16", "0x7F81"), ("f32", "0xFFABCDEF")),
        )
    ),
]


@pytest.mark.parametrize(("body", "values"), VALUES)
def test_casts_and_constants(body: str, values: list[int]) -> None:
    """Extension, truncation, casts, change of sign, select; floats and NaN by their bits."""
    assert shown(walk(body)) == values


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("divsi %n, %c0_i64", "3 is divided by 0"),
        ("remui %n, %c0_i64", "3 is divided by 0"),
        ("floordivsi %n, %c0_i64", "3 is divided by 0"),
        ("ceildivui %n, %c0_i64", "3 is divided by 0"),
        ("shli %n, %c64_i64", "shift by 64: i64 has 64 bits"),
        ("shrsi %n, %minus", f"shift by {2**64 - 1}: i64 has 64 bits"),
    ],
)
def test_arithmetic_without_result_is_refused_where_it_is_reached(op: str, message: str) -> None:
    body = f"%minus = arith.constant -1 : i64\nscf.if %b {{\n%r = arith.{op} : i64\n}}\n"
    program = complete("k", body.replace("%b", "%true"))[0]
    line = program[: program.index("%r =")].count("\n") + 1
    with pytest.raises(ProgramError) as caught:
        walk(body.replace("%b", "%true"), {0: 3})
    assert f"x.pto:{line}:6: error: arith.{op.split()[0]}: {message}" in str(caught.value)
    assert walk(body.replace("%b", "%false"), {0: 3}).steps == ()


# --- Bits of float constants, against numpy's conversions


@pytest.mark.parametrize(("name", "kind", "bits"), [("f16", "f2", "u2"), ("f32", "f4", "u4")])
@given(
    st.integers(0, (1 << 64) - 1).map(lambda x: struct.unpack("<d", struct.pack("<Q", x))[0])
    | st.floats(width=64)
    | st.floats(-70000, 70000)
    | st.floats(-1e-4, 1e-4)
)
@example(65519.99)
@example(65520.0)
@example(-3.4028235677973366e38)
@example(2.0**-25)
@example(-0.0)
@example(math.inf)
@example(-math.nan)
def test_the_nearest_float(name: str, kind: str, bits: str, value: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.array([value], "f8").astype(kind).view(bits)
    assert rounded_bits(value, name) == int(expected[0])


def test_other_types_have_no_bits() -> None:
    assert rounded_bits(1.0, "f8E4M3FN") is None
    assert rounded_bits(1.0, "bf16") == 0x3F80
    assert rounded_bits(math.nan, "bf16") == 0x7FC0
    assert rounded_bits(-0.0, "bf16") == 0x8000
