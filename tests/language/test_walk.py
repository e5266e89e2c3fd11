# SPDX-License-Identifier: Apache-2.0
"""Execution of programs: arithmetic, loops, conditions, calls, pointers."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tb.common.errors import PtoError
from tb.isa.dma.legacy import SetLoopSize, SetMovPadVal
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.mad import Mad
from tb.isa.pipes import Pipe
from tb.language.place import Finding, ProgramError
from tb.language.reader import Source, read
from tb.language.rules.check import check
from tb.language.run.values import rounded_bits
from tb.language.run.walk import entries, trace
from tb.language.trace import Barrier, Compute, Move, SetFlag, Trace, WaitFlag
from tb.language.unknown import UNKNOWN
from tests.processor import processor_seconds
from tests.wording import line_says, pattern, says

HEAD = """\
func.func @k(%p: !pto.ptr<f16, gm>, %n: i64, %b: i1, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %len = arith.constant 64 : i64
  %minus = arith.constant -1 : i64
  %u = pto.castptr %z : i64 -> !pto.ptr<f16, ub>
"""
HEAD_LINES = HEAD.count("\n")
TYPES = "!pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64, i64, i64"


def size(value: str) -> str:
    """Returns an op with the value as ``loop1_count``."""
    return f"pto.set_loop_size_outtoub {value}, %one : i64, i64"


def load(pointer: str = "%p", length: str = "%len", count: str = "%one") -> str:
    """Returns a load of ``count`` rows, at a stride of 64 bytes."""
    return f"pto.mte_gm_ub {pointer}, %u, %z, {length} nburst({count}, %len, %len) : {TYPES}"


def walk(body: str, more: str = "", *, static: bool = False, **options: object) -> Trace:
    """Returns the trace of a body after ``HEAD``."""
    text = f"{HEAD}{body}\n  func.return\n}}\n{more}\n"
    return trace(read(text, "x.pto"), static=static, **options)  # type: ignore[arg-type]


def counts(found: Trace) -> list[int]:
    """Returns the values of the ops of :func:`size`."""
    ops = [step.op for step in found.steps if isinstance(step, Move)]
    return [op.loop1_count for op in ops if isinstance(op, SetLoopSize)]


def refused(body: str, more: str = "", *, static: bool = False, **options: object) -> str:
    """Returns the message that a body is refused with."""
    with pytest.raises(ProgramError) as caught:
        walk(body, more, static=static, **options)
    return str(caught.value)


# --- arithmetic ----------------------------------------------------------------------------------


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >= 1 << (bits - 1) else value


def _shift(value: int, by: int) -> int:
    return math.floor(Fraction(value, 1 << by))


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


def _both(one: int, other: int) -> list[tuple[int, int]]:
    return [(one & 1 << k, other & 1 << k) for k in range(64)]


def _values(bits: int) -> list[int]:
    edges = [0, 1, 2, bits - 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1]
    return edges + [random.Random(bits).randrange(1 << bits) for _ in range(5)]


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
        for one in _values(bits):
            for other in _values(bits):
                if ("div" in name or "rem" in name) and other == 0:
                    continue
                if name.startswith("sh") and other >= bits:
                    continue
                pair = (_signed(one, bits), _signed(other, bits)) if signed else (one, other)
                expected = compute(*pair) % (1 << bits)
                steps = trace(source, arguments={0: one, 1: other}).steps
                found = 0
                for place, step in enumerate(steps):
                    assert isinstance(step, Move)
                    assert isinstance(step.op, SetMovPadVal)
                    found += step.op.value << 32 * place
                assert found == expected, (name, one, other)


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
    values = [0, 1] if bits == 1 else _values(bits)
    for one in values:
        for other in values:
            expected = [
                int(
                    compare(_signed(one, bits), _signed(other, bits))
                    if signed
                    else compare(one, other)
                )
                for signed, compare in COMPARE.values()
            ]
            assert counts(trace(source, arguments={0: one, 1: other})) == expected, (one, other)


def test_casts_keep_or_cut_values() -> None:
    """Sign and zero extension, truncation, index casts, changes of sign, select."""
    found = walk(
        f"""
        %x0 = arith.constant 200 : i8
        %x1 = arith.extui %x0 : i8 to i64
        {size("%x1")}
        %x2 = arith.extsi %x0 : i8 to i64
        %x3 = arith.subi %z, %x2 : i64
        {size("%x3")}
        %x4 = arith.constant 0x12345 : i64
        %x5 = arith.trunci %x4 : i64 to i16
        %x6 = arith.extui %x5 : i16 to i64
        {size("%x6")}
        %x7 = arith.index_castui %x0 : i8 to index
        %x8 = arith.index_cast %x7 : index to i64
        {size("%x8")}
        %x9 = builtin.unrealized_conversion_cast %x0 : i8 to ui8
        %y0 = builtin.unrealized_conversion_cast %x9 : ui8 to i8
        %y1 = arith.extui %y0 : i8 to i64
        {size("%y1")}
        %y2 = arith.constant false
        %y3 = arith.select %y2, %y1, %one : i64
        {size("%y3")}
        """
    )
    assert counts(found) == [200, 56, 0x2345, 200, 200, 1]


def test_floats_are_held_by_their_bits() -> None:
    """Constants of each float type, and the way around by ``bitcast``."""
    found = walk(
        """
        %a = arith.constant 1.0 : f16
        pto.set_mov_pad_val %a : f16
        %a2 = arith.constant -1.5 : bf16
        pto.set_mov_pad_val %a2 : bf16
        %c = arith.constant 1.0 : f32
        pto.set_mov_pad_val %c : f32
        %d = arith.constant 0x7F800001 : i32
        %e = arith.bitcast %d : i32 to f32
        pto.set_mov_pad_val %e : f32
        """
    )
    values = [step.op.value for step in found.steps if isinstance(step.op, SetMovPadVal)]  # type: ignore[union-attr]
    assert values == [0x3C00, 0xBFC0, 0x3F800000, 0x7F800001]


@pytest.mark.parametrize(
    ("kind", "bits"),
    [("f16", "0x7D79"), ("f16", "0xFE01"), ("bf16", "0x7F81"), ("f32", "0xFFABCDEF")],
)
@pytest.mark.parametrize(
    "form", ["arith.constant {0} : {1}", '"arith.constant"() <{{value = {0} : {1}}}> : () -> {1}']
)
def test_a_nan_in_hexadecimal_keeps_its_bits(form: str, kind: str, bits: str) -> None:
    found = walk(f"%x = {form.format(bits, kind)}\npto.set_mov_pad_val %x : {kind}")
    (op,) = (step.op for step in found.steps if isinstance(step, Move))
    assert isinstance(op, SetMovPadVal)
    assert hex(op.value) == bits.lower()


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("arith.divsi %n, %z", "3 is divided by 0"),
        ("arith.remui %n, %z", "3 is divided by 0"),
        ("arith.floordivsi %n, %z", "3 is divided by 0"),
        ("arith.ceildivui %n, %z", "3 is divided by 0"),
        ("arith.shli %n, %len", "shift by 64: i64 has 64 bits"),
        ("arith.shrsi %n, %minus", f"shift by {2**64 - 1}: i64 has 64 bits"),
    ],
)
def test_arithmetic_without_result_is_refused(op: str, message: str) -> None:
    text = refused(f"  %r = {op} : i64", arguments={1: 3})
    assert f"x.pto:{HEAD_LINES + 1}:8: error: {op.split()[0]}: {message}" in text


def test_a_fault_of_constants_counts_only_where_it_is_reached() -> None:
    body = "scf.if %b { %r = arith.divsi %one, %z : i64 }"
    assert walk(body, arguments={2: 0}).steps == ()
    assert "divided by 0" in refused(body, arguments={2: 1})


# --- control flow --------------------------------------------------------------------------------


def test_loops_carry_values() -> None:
    """Sum of 0..4 by ``iter_args``, nested loops, a loop that never runs."""
    found = walk(
        f"""
        %five = arith.constant 5 : index
        %sum = scf.for %i = %c0 to %five step %c1 iter_args(%a = %z) -> (i64) {{
          %v = arith.index_cast %i : index to i64
          %w = arith.addi %a, %v : i64
          scf.yield %w : i64
        }}
        {size("%sum")}
        scf.for %i = %c1 to %five step %c3 {{
          scf.for %j = %c0 to %i step %c1 {{
            %x = arith.index_cast %j : index to i64
            {size("%x")}
          }}
        }}
        %none = scf.for %i = %five to %c0 step %c1 iter_args(%a = %len) -> (i64) {{
          scf.yield %z : i64
        }}
        {size("%none")}
        """
    )
    assert counts(found) == [10, 0, 0, 1, 2, 3, 64]


def test_values_that_are_carried_change_at_once() -> None:
    found = walk(
        f"""
        %x, %y = scf.for %i = %c0 to %c3 step %c1
            iter_args(%a = %one, %d = %len) -> (i64, i64) {{
          scf.yield %d, %a : i64, i64
        }}
        {size("%x")}
        {size("%y")}
        """
    )
    assert counts(found) == [64, 1]


@pytest.mark.parametrize(("value", "expected"), [(1, [64, 64]), (0, [1])])
def test_conditions_select_a_branch(value: int, expected: list[int]) -> None:
    found = walk(
        f"""
        %r = scf.if %b -> (i64) {{ scf.yield %len : i64 }} else {{ scf.yield %one : i64 }}
        {size("%r")}
        scf.if %b {{
          {size("%len")}
        }}
        """,
        arguments={2: value},
    )
    assert counts(found) == expected


def test_functions_are_called() -> None:
    """Arguments and results of calls, calls inside calls; constants are those of each function."""
    found = walk(
        f"%r = func.call @twice(%len) : (i64) -> i64\n{size('%r')}\n"
        f"%s = func.call @four(%r) : (i64) -> i64\n{size('%s')}",
        """
        func.func @twice(%x: i64) -> i64 {
          %two = arith.constant 2 : i64
          %y = arith.muli %x, %two : i64
          func.return %y : i64
        }
        func.func @four(%x: i64) -> i64 {
          %y = func.call @twice(%x) : (i64) -> i64
          %w = func.call @twice(%y) : (i64) -> i64
          func.return %w : i64
        }
        """,
        function="k",
    )
    assert counts(found) == [128, 512]


def test_calls_may_be_many() -> None:
    body = f"""
        %many = arith.constant 100 : index
        scf.for %i = %c0 to %many step %c1 {{
          %r = func.call @same(%len) : (i64) -> i64
          {size("%r")}
        }}
        """
    same = "func.func @same(%x: i64) -> i64 { func.return %x : i64 }"
    assert counts(walk(body, same, function="k")) == [64] * 100


def test_a_vector_section_without_a_sub_block_runs_for_one() -> None:
    for attributes, count in (("", 1), (" attributes {pto.ub_sub = 0}", 0)):
        text = f"pto.section.vector{attributes} {{\n{load()}\n}}\npto.section.vector {{\n}}"
        found = walk(text, arguments={0: 0})
        assert len(found.not_executed) == count
        assert all("sub-block 1 of the vector section at x.pto" in x for x in found.not_executed)


def test_sections_are_walked_and_name_their_sub_block() -> None:
    """``pto.ub_sub`` of a section applies to ops inside that have none; its vector core runs it."""
    found = walk(
        f"""
        pto.section.vector attributes {{pto.ub_sub = 1}} {{
          {load()}
          {load()} {{ub_sub = 0}}
        }}
        pto.section.cube {{
          {load()}
        }}
        """,
        arguments={0: 0},
    )
    assert [(step.core, step.op.ub_sub) for step in found.steps] == [  # type: ignore[union-attr]
        (0, 0), (2, 1), (2, 0)
    ]  # fmt: skip


def test_one_block_runs() -> None:
    """Block queries give 0 of 1."""
    found = walk(
        f"%i = pto.get_block_idx : i64\n{size('%i')}\n%j = pto.get_block_num : i64\n{size('%j')}"
    )
    assert counts(found) == [0, 1]


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (
            "%big = arith.constant 2000 : index\nscf.for %i = %c0 to %big step %c1 {\n"
            "scf.for %j = %c0 to %big step %c1 { }\n}",
            "2000 iterations 1 step 2000 iterations loop x.pto:11:1 4000000 steps",
        ),
        (
            "%many = arith.constant 600000 : index\n"
            "scf.for %i = %c0 to %many step %c1 { }\nscf.for %i = %c0 to %many step %c1 { }",
            "600000 iterations 1 step 600000 steps rest more than 400000",
        ),
        (
            "%r = scf.if %b -> (i64) { scf.yield %n : i64 } else { scf.yield }",
            "both branches yield 1 values",
        ),
    ],
)
def test_programs_without_end_are_refused(body: str, facts: str) -> None:
    """Loops that take too long, and branches that do not fit; each ends soon."""
    with processor_seconds(10):
        found = refused(body, arguments={2: 1})
    assert says(found, facts)
    assert found.startswith("x.pto:1")


@pytest.mark.long
def test_100_000_ops_take_seconds() -> None:
    """A typical program of 100 000 steps, far below the time of its simulation."""
    body = f"""
        %many = arith.constant 25000 : index
        scf.for %i = %c0 to %many step %c1 {{
          %o = arith.muli %i, %c3 : index
          %q = pto.addptr %p, %o : !pto.ptr<f16, gm>
          {load("%q")}
          pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
          pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
          pto.pipe_barrier "PIPE_ALL"
        }}
        """
    with processor_seconds(15):
        found = walk(body, arguments={0: 0x10000})
    assert len(found.steps) == 100_000


# --- pipes ---------------------------------------------------------------------------------------


def test_steps_have_their_pipes() -> None:
    """Moves, flags, barriers and ops of the host, with their places and timing attributes."""
    found = walk(
        f"""
  {load()} {{pto_dv.gap = 7, pto_dv.flag_delay = 0}}
  pto.set_flag["PIPE_MTE2", "PIPE_FIXP", "EVENT_ID3"]
  pto.wait_flag["PIPE_MTE2", "PIPE_FIXP", "EVENT_ID3"]
  pto.pipe_barrier "PIPE_V"
  pto.barrier #pto.pipe<PIPE_ALL>
  %a = pto.castptr %z : i64 -> !pto.ptr<f16, l0a>
  %w = pto.castptr %z : i64 -> !pto.ptr<f16, l0b>
  %d = pto.castptr %len : i64 -> !pto.ptr<f32, l0c>
  pto.mad %a, %w, %d, %len, %one, %len :
    !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
        """,
        arguments={0: 0x40},
    )
    move, put, wait, barrier, every, compute = found.steps
    assert isinstance(move, Move)
    assert (move.pipe, move.gap, move.flag_delay) == (Pipe.MTE2, 7, 0)
    assert (move.place.line, move.place.column) == (HEAD_LINES + 2, 3)
    assert isinstance(put, SetFlag)
    assert (put.pipe, put.other, put.event) == (Pipe.MTE2, Pipe.FIX, 3)
    assert isinstance(wait, WaitFlag)
    assert (wait.pipe, wait.other, wait.event) == (Pipe.FIX, Pipe.MTE2, 3)
    assert isinstance(barrier, Barrier)
    assert barrier.pipe is Pipe.V
    assert isinstance(every, Barrier)
    assert every.pipe is None
    assert isinstance(compute, Compute)
    assert compute.pipe is Pipe.M
    assert isinstance(compute.op, Mad)
    assert (compute.op.dst, compute.op.m, compute.op.n, compute.op.k) == (64, 64, 1, 64)


# --- arguments and values that are not known -----------------------------------------------------


def test_reach_is_the_end_of_the_last_byte_touched() -> None:
    """Through pointer arithmetic, integer casts and registers; none for NOPs."""
    found = walk(
        f"""
        %q = pto.addptr %p, %c3 : !pto.ptr<f16, gm>
        {load("%q", count="%n")}
        %i = pto.castptr %q : !pto.ptr<f16, gm> -> i64
        %j = arith.addi %i, %len : i64
        %r = pto.castptr %j : i64 -> !pto.ptr<f16, gm>
        {load("%r", length="%z", count="%len")}
        %s = arith.subi %j, %one : i64
        %t = arith.subi %s, %i : i64
        {size("%t")}
        """,
        arguments={0: 0x1000, 1: 2},
    )
    assert [each.reach for each in found.arguments] == [6 + 128, 0, 0, 0]
    ops = [step.op for step in found.steps if isinstance(step, Move)]
    assert [op.gm_src for op in ops if isinstance(op, MteGmUb)] == [0x1006, 0x1046]
    assert counts(found) == [63]


def test_reach_samples_the_registers_of_legacy_copies() -> None:
    """The same copy before and after a register's change, and with an unknown register."""
    copy = """
        pto.copy_gm_to_ubuf %p, %u, %z, %one, %len, %z, %z, %b, %z, %len, %len
          : !pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
        """
    registers = """
        pto.set_loop1_stride_outtoub %len, %len : i64, i64
        pto.set_loop_size_outtoub %len, %one : i64, i64
        pto.set_loop_size_outtoub %n, %one : i64, i64
        """
    twice = "scf.for %i = %c1 to %c3 step %c1 {" + copy + registers + "}"
    known = walk(twice, arguments={0: 0x1000, 1: 5, 2: 0})
    assert known.arguments[0].reach == 5 * 64
    unknown = walk(copy + registers + copy, arguments={0: 0x1000, 2: 0}, static=True)
    assert unknown.arguments[0].reach == 64


def test_reach_counts_legal_ops_alone() -> None:
    body = f"%w = arith.constant 65536 : i64\n{load(length='%w')}"
    assert walk(body, arguments={0: 0}).arguments[0].reach == 0


def test_bytes_before_a_buffer_are_refused() -> None:
    text = refused(
        f"%back = arith.constant -2 : index\n%q = pto.addptr %p, %back : !pto.ptr<f16, gm>, index\n"
        f"{load('%q')}",
        arguments={0: 0x1000},
    )
    assert line_says(text, r"gm_src \(%q\) points 4 bytes before buffer argument 0")


def test_a_static_walk_continues_with_unknown_values() -> None:
    """Unknown bounds twice, unknown conditions both ways; other values stay known."""
    found = walk(
        f"""
        scf.for %i = %c0 to %m step %c1 {{
          %o = arith.index_cast %i : index to i64
          {size("%o")}
        }}
        %r, %s = scf.if %b -> (i64, i64) {{
          {size("%len")}
          scf.yield %len, %one : i64, i64
        }} else {{
          {size("%one")}
          scf.yield %len, %z : i64, i64
        }}
        {size("%r")}
        {size("%s")}
        {load()}
        """,
        static=True,
    )
    shown = counts(found)
    assert shown[0] is shown[1] is shown[5] is UNKNOWN
    assert shown[2:5] == [64, 1, 64]
    last = found.steps[-1]
    assert isinstance(last, Move)
    assert isinstance(last.op, MteGmUb)
    assert last.op.gm_src is UNKNOWN
    assert last.op.len_burst == 64
    assert found.arguments[0].reach == 64
    assert [place.line for place in found.undecided] == [HEAD_LINES + 2, HEAD_LINES + 6]
    assert len(found.unknown) == 3
    assert found.findings == ()


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (load(), "gm_src %p not known argument 0 %p not given --arg 0=FILE"),
        (
            "%f = arith.constant 1.0 : f32\n%g = arith.addf %f, %f : f32\n"
            "pto.set_mov_pad_val %g : f32",
            "result arith.addf x.pto:11:6 not computed",
        ),
    ],
)
def test_a_value_that_is_needed_and_not_known_is_refused(body: str, facts: str) -> None:
    """With the places of the op and of the origin of the value."""
    assert says(refused(body, foreign="skip"), facts)


def test_foreign_ops_are_refused_or_skipped() -> None:
    """All are listed, also when skipped; one with data movement inside is never skipped."""
    body = f"pto.vadd %u, %u\n{size('%len')}\npto.vsub %u, %u"
    text = refused(body)
    assert line_says(text, "x.pto:10:1 error pto.vadd op foreign")
    assert line_says(text, "x.pto:12:1 error pto.vsub op foreign")
    found = walk(body, foreign="skip")
    assert [each.name for each in found.skipped] == ["pto.vadd", "pto.vsub"]
    assert counts(found) == [64]
    inside = refused(f"pto.vloop %u {{\n{load()}\n}}", foreign="skip")
    assert says(inside, "data movement flag inside op not executed")


@pytest.mark.parametrize("form", ["pto.{name} %z, %z", '"pto.{name}"(%z, %z) : (i64, i64) -> ()'])
@pytest.mark.parametrize("mode", ["refuse", "skip"])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mte_gm_ubuf", "; did you mean pto.mte_gm_ub?"),
        ("mte_gn_l1_frac", "; did you mean pto.mte_gm_l1_frac?"),
        ("copy_gm_to_ub", "; did you mean pto.copy_gm_to_ubuf?"),
        ("set_loop_sizes_outtoub", "; did you mean pto.set_loop_size_outtoub?"),
        ("set_mov_pad_value", "; did you mean pto.set_mov_pad_val?"),
        ("set_flags", "; did you mean pto.set_flag?"),
        ("wait_flag_dym", "; did you mean pto.wait_flag_dyn?"),
        ("copy_everything", "\n"),
    ],
)
def test_data_movement_and_flags_are_never_skipped(
    form: str, mode: Literal["refuse", "skip"], name: str, hint: str
) -> None:
    """Their names show that a skipped op would change the result."""
    text = refused(form.format(name=name), foreign=mode)
    assert says(text, f"pto.{name} unknown op name moves data orders")
    assert f"never skipped{hint}" in f"{text}\n"
    inside = refused(f"pto.vloop %u {{\n  pto.{name} %u\n}}", foreign="skip")
    assert says(inside, "data movement flag inside op")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("pipe_barier", "; did you mean pto.pipe_barrier?"),
        ("get_block_id", "; did you mean pto.get_block_idx?"),
        ("vadd", ""),
        ("vmad", ""),
    ],
)
def test_ops_that_move_nothing_are_foreign_with_a_hint(name: str, hint: str) -> None:
    text = refused(f"pto.{name} %u")
    assert says(text, f"pto.{name} foreign moves no data not executed")
    assert text.endswith(f"not executed{hint}")
    assert [each.name for each in walk(f"pto.{name} %u", foreign="skip").skipped] == [f"pto.{name}"]


def test_a_tile_op_that_is_skipped_is_left_out_of_the_results() -> None:
    body = "pto.tload %u\npto.vadd %u\npto.textract %u\npto.tload %u"
    for inside in (
        "pto.vloop %u {\npto.tmov %u\n}",
        '"pto.vloop"() ({\npto.tmov %u\n}) : () -> ()',
    ):
        assert walk(inside, foreign="skip").left_out == ("pto.vloop at x.pto:10:1",)
        assert says(refused(inside), "pto.vloop foreign moves data not executed")
    assert says(refused(body), "pto.tload foreign moves data not executed")
    assert "no data" not in refused("pto.tinsert %u")
    assert walk(body, foreign="skip").left_out == (
        "pto.tload at x.pto:10:1 and 1 more",
        "pto.textract at x.pto:12:1",
    )


def test_a_walk_continues_after_an_op_that_the_reader_refused() -> None:
    """The caller has its finding; the other ops are walked."""
    text = f"{HEAD}pto.mte_gm_ub %p, %u, %z, %len : {TYPES}\n{size('%len')}\nfunc.return\n}}\n"
    findings: list[Finding] = []
    source = read(text, "x.pto", findings)
    assert [found.rule for found in findings] == ["DMA-L01"]
    found = trace(source, static=True)
    assert counts(found) == [64]
    assert [place.line for place in found.undecided] == [HEAD_LINES + 1]


# --- which function ------------------------------------------------------------------------------


def test_the_function_to_run_is_found_or_must_be_named() -> None:
    """The only one, the marked one, the one without a caller, the named one."""

    def text(mark: str = "", call: str = "") -> str:
        return (
            f"func.func @a() {mark} {{ {call} func.return }}\nfunc.func @b() {{ func.return }}\n"
            "func.func private @c()"
        )

    assert trace(read(text("attributes {pto.entry}"), "x.pto")).function == "a"
    called = read(text(call="func.call @b() : () -> ()\n"), "x.pto")
    assert trace(called).function == "a"
    assert entries(called) == ("a",)
    both = read(text(), "x.pto")
    assert entries(both) == ("a", "b")
    assert trace(both, function="b").function == "b"
    with pytest.raises(ProgramError, match=r"2 functions.*\n.*legal: @a, @b"):
        trace(both)
    two = text("attributes {pto.entry}").replace("@b()", "@b() attributes {pto.kernel}")
    with pytest.raises(ProgramError, match=r"2 functions say .* to run: @a, @b") as caught:
        trace(read(two, "x.pto"))
    assert caught.value.remedy == "name one with --function NAME"
    with pytest.raises(ProgramError, match="no function @c with a body"):
        trace(both, function="c")
    with pytest.raises(ProgramError, match="nothing to run"):
        trace(read("module { }", "x.pto"))
    with pytest.raises(PtoError, match=pattern("argument 4 given @k 4 arguments")):
        walk("", arguments={4: 1})


def test_an_error_in_a_function_names_its_callers() -> None:
    """Each call on the stack, the nearest first; an error of the call itself names none."""
    load = f"pto.mte_gm_ub %p, %x, %z, %len nburst(%l, %len, %len) : {TYPES}"
    more = (
        "func.func @inner(%p: !pto.ptr<f16, gm>, %x: !pto.ptr<f16, ub>, %l: i64) {\n"
        "%z = arith.constant 0 : i64\n%len = arith.constant 64 : i64\n"
        f"{load}\nfunc.return }}\n"
        "func.func @outer(%p: !pto.ptr<f16, gm>, %x: !pto.ptr<f16, ub>, %l: i64) {\n"
        "func.call @inner(%p, %x, %l) : (!pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64) -> ()\n"
        "func.return }"
    )
    call = "func.call @outer(%p, %u, %big) : (!pto.ptr<f16, gm>, !pto.ptr<f16, ub>, i64) -> ()"

    def program(count: int) -> Source:
        start = f"{HEAD}%big = arith.constant {count} : i64\n{call}\nfunc.return\n}}\n{more}"
        return read(start, "x.pto")

    where = f", called at x.pto:{HEAD_LINES + 11}:1, called at x.pto:{HEAD_LINES + 2}:1"
    found = check(trace(program(65536), function="k", arguments={0: 4096}))
    assert [x.message.endswith(where) for x in found if x.rule == "DMA-L05"] == [True], found
    (finding,) = trace(program(-1), function="k", static=True).findings
    assert finding.message.endswith(where), finding
    with pytest.raises(ProgramError) as caught:
        trace(program(-1), function="k", arguments={0: 4096})
    assert caught.value.findings[0].message.endswith(where)


def test_stores_reach_too() -> None:
    """The destination of a store is beyond its argument."""
    found = walk(
        "pto.mte_ub_gm %u, %p, %len nburst(%one, %len, %len) l2_cache_ctl(%z) : "
        "!pto.ptr<f16, ub>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64",
        arguments={0: 0x200},
    )
    (step,) = found.steps
    assert isinstance(step, Move)
    assert isinstance(step.op, MteUbGm)
    assert step.op.gm_dst == 0x200
    assert found.arguments[0].reach == 64


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
