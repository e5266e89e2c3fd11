# SPDX-License-Identifier: Apache-2.0
"""Execution of programs: loops, conditions, calls, registers, pointers, the function to run."""

from __future__ import annotations

import re

import pytest

from tb.common.errors import PtoError
from tb.isa.dma.legacy import DmaRegisters, SetLoopSize, SetLoopStride
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.mad import Mad
from tb.isa.pipes import Pipe
from tb.language.lowered import Lowering
from tb.language.place import Finding, ProgramError
from tb.language.reader import Source, read
from tb.language.rules.check import check
from tb.language.run.registers import RegisterState
from tb.language.run.walk import entries, trace
from tb.language.trace import Barrier, Compute, Move, SetFlag, Trace, WaitFlag
from tb.language.unknown import UNKNOWN, UndecidedError
from tests.language.corpus.short import complete, spelled
from tests.processor import processor_seconds
from tests.wording import pattern, says

HEAD = """\
func.func @k(%p: !pto.ptr<f16, gm>, %n: i64, %b: i1, %m: index) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %len = arith.constant 64 : i64
  %minus = arith.constant -1 : i64
  %u = pto.castptr %z : i64 -> !pto.ptr<f16, ub>
"""
HEAD_LINES = HEAD.count("\n")


def load(pointer: str = "%p", length: str = "%len", count: str = "%one") -> str:
    """Returns a load of ``count`` rows, at a stride of 64 bytes."""
    return spelled(
        f"pto.mte_gm_ub {pointer}, %u, %z, {length} nburst({count}, %len, %len) "
        ": F16_GM, F16_UB, I64x5"
    )


def walk(body: str, more: str = "", *, static: bool = False, **options: object) -> Trace:
    """Returns the trace of a body after ``HEAD``; ``show %x`` has the value as loop1_count."""
    body = re.sub(r"show (%\w+)", r"pto.set_loop_size_outtoub \1, %one : i64, i64", body)
    text = complete("k", f"{HEAD}{body}\n  func.return\n}}\n{more}\n")[0]
    return trace(read(text, "x.pto"), static=static, **options)  # type: ignore[arg-type]


def counts(found: Trace) -> list[int]:
    """Returns the values of ``show``."""
    ops = [step.op for step in found.steps if isinstance(step, Move)]
    return [op.loop1_count for op in ops if isinstance(op, SetLoopSize)]


def refused(body: str, more: str = "", *, static: bool = False, **options: object) -> str:
    """Returns the message that a body is refused with."""
    with pytest.raises(ProgramError) as caught:
        walk(body, more, static=static, **options)
    return str(caught.value)


# --- control flow --------------------------------------------------------------------------------

FUNCTIONS = """
func.func @twice(%x: i64) -> i64 {
  %y = arith.muli %x, %c2_i64 : i64
  func.return %y : i64
}
func.func @four(%x: i64) -> i64 {
  %y = func.call @twice(%x) : (i64) -> i64
  %w = func.call @twice(%y) : (i64) -> i64
  func.return %w : i64
}
"""
SELECT = """
%r = scf.if %b -> (i64) { scf.yield %len : i64 } else { scf.yield %one : i64 }
show %r
scf.if %b { show %len }
"""
VALUES: dict[str, tuple[str, dict[int, int], list[int]]] = {
    # Body, arguments, and values shown.
    "sum of iterations": (
        """%sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %z) -> (i64) {
          %v = arith.index_cast %i : index to i64
          %w = arith.addi %a, %v : i64
          scf.yield %w : i64
        }
        show %sum""",
        {},
        [10],
    ),
    "loop in a loop": (
        """scf.for %i = %c1 to %c5 step %c3 {
          scf.for %j = %c0 to %i step %c1 {
            %x = arith.index_cast %j : index to i64
            show %x
          }
        }""",
        {},
        [0, 0, 1, 2, 3],
    ),
    "loop that never runs": (
        """%none = scf.for %i = %c3 to %c0 step %c1 iter_args(%a = %len) -> (i64) {
          scf.yield %z : i64
        }
        show %none""",
        {},
        [64],
    ),
    "values that change at once": (
        """%x, %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %one, %d = %len) -> (I64x2) {
          scf.yield %d, %a : i64, i64
        }
        show %x
        show %y""",
        {},
        [64, 1],
    ),
    "value that is not a case of a switch": (
        """%r = scf.index_switch %c2 -> i64 case 1 { scf.yield %one : i64 }
        default { scf.yield %len : i64 }
        show %r""",
        {},
        [64],
    ),
    "condition that holds": (SELECT, {2: 1}, [64, 64]),
    "condition that does not": (SELECT, {2: 0}, [1]),
    "calls in calls": (
        "%r = func.call @twice(%len) : (i64) -> i64\nshow %r\n"
        "%s = func.call @four(%r) : (i64) -> i64\nshow %s",
        {},
        [128, 512],
    ),
    "many calls": (
        """scf.for %i = %c0 to %c100 step %c1 {
          %r = func.call @twice(%len) : (i64) -> i64
          show %r
        }""",
        {},
        [128] * 100,
    ),
    "one block of one": (
        "%i = pto.get_block_idx : i64\nshow %i\n%j = pto.get_block_num : i64\nshow %j",
        {},
        [0, 1],
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_control_flow_gives_values(name: str) -> None:
    body, arguments, expected = VALUES[name]
    assert counts(walk(body, FUNCTIONS, function="k", arguments=arguments)) == expected


def test_ways_of_an_unknown_switch_have_their_conditions() -> None:
    ways = "".join(f"{way} {{\n{load()}\n}}" for way in ("case 0", "case 7", "default"))
    body = f"scf.index_switch %m {ways}"
    found = [doubt.condition for doubt in walk(body, static=True, arguments={0: 0}).doubts]
    assert [x.partition(" is not known, is ")[2] for x in found] == ["0", "7", "no case of it"]


def test_an_op_in_a_loop_samples_ctrl_in_each_iteration() -> None:
    """Of a legacy copy, too, which reads registers beside CTRL."""
    found = walk(
        """scf.for %i = %c0 to %c3 step %c1 {
          pto.copy_ubuf_to_gm %u, %p, %z, %one, %len, %z, %len, %len : F16_UB, F16_GM, I64x6
          pto.set_atomic_f16
        }""",
        arguments={0: 0},
    )
    stores = [step for step in found.steps if isinstance(step, Move) and step.pipe is not Pipe.S]
    assert [step.ctrl for step in stores] == [0, 0x80, 0x80]


def test_a_vector_section_without_a_sub_block_runs_for_one() -> None:
    for attributes, count in (("", 1), (" attributes {pto.ub_sub = 0}", 0)):
        text = f"pto.section.vector{attributes} {{\n{load()}\n}}\npto.section.vector {{\n}}"
        found = walk(text, arguments={0: 0})
        assert len(found.not_executed) == count
        assert all("sub-block 1 of the vector section at x.pto" in x for x in found.not_executed)


def test_sections_are_walked_and_name_their_sub_block() -> None:
    """``pto.ub_sub`` of a section applies to ops inside that have none; its vector core runs it."""
    found = walk(
        f"pto.section.vector attributes {{pto.ub_sub = 1}} {{\n{load()}\n{load()} {{ub_sub = 0}}\n"
        f"}}\npto.section.cube {{\n{load()}\n}}",
        arguments={0: 0},
    )
    assert [(step.core, step.op.ub_sub) for step in found.steps] == [  # type: ignore[union-attr]
        (0, 0), (2, 1), (2, 0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (
            "scf.for %i = %c0 to %c2000 step %c1 {\nscf.for %j = %c0 to %c2000 step %c1 { }\n}",
            "x.pto:8:1 2000 iterations 1 step 2000 iterations loop x.pto:7:1 4000000 steps",
        ),
        (
            "scf.for %i = %c0 to %c600000 step %c1 { }\nscf.for %i = %c0 to %c600000 step %c1 { }",
            "x.pto:8:1 600000 iterations 1 step 600000 steps rest more than 400000",
        ),
        (
            "%r = scf.if %b -> (i64) { scf.yield %n : i64 } else { scf.yield }",
            "x.pto:7:6 both branches yield 1 values",
        ),
    ],
)
def test_programs_without_end_are_refused(body: str, facts: str) -> None:
    """Loops that take too long, and branches that do not fit; each ends soon."""
    with processor_seconds(10):
        found = refused(body, arguments={2: 1})
    assert says(found, facts)


@pytest.mark.long
def test_100_000_ops_take_seconds() -> None:
    """A typical program of 100 000 steps, far below the time of its simulation."""
    body = f"""
        scf.for %i = %c0 to %c25000 step %c1 {{
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
  %a = pto.castptr %z : i64 -> F16_L0A
  %w = pto.castptr %z : i64 -> F16_L0B
  %d = pto.castptr %len : i64 -> F32_L0C
  pto.mad %a, %w, %d, %len, %one, %len : F16_L0A, F16_L0B, F32_L0C, I64x3
        """,
        arguments={0: 0x40},
    )
    move, put, wait, barrier, every, compute = found.steps
    assert isinstance(move, Move)
    assert (move.pipe, move.gap, move.flag_delay) == (Pipe.MTE2, 7, 0)
    places = [step.place for step in found.steps]
    assert (places[0].line, places[0].column) == (HEAD_LINES + 2, 3)
    assert put == SetFlag(places[1], Pipe.MTE2, Pipe.FIX, 3)
    assert wait == WaitFlag(places[2], Pipe.FIX, Pipe.MTE2, 3)
    assert (barrier, every) == (Barrier(places[3], Pipe.V), Barrier(places[4], None))
    assert isinstance(compute, Compute)
    assert compute.pipe is Pipe.M
    assert isinstance(compute.op, Mad)
    assert (compute.op.dst, compute.op.m, compute.op.n, compute.op.k) == (64, 64, 1, 64)


# --- registers and lowered ops -------------------------------------------------------------------

COPIES = """
scf.for %i = %c0 to %c2 step %c1 {
  pto.set_loop_size_ubtoout %c2_i64, %one : I64x2
  pto.copy_ubuf_to_gm %u, %p, %z, %one, %len, %z, %len, %len : F16_UB, F16_GM, I64x6
  pto.set_loop_size_ubtoout %one, %one : I64x2
  pto.copy_ubuf_to_gm %u, %p, %z, %one, %len, %z, %len, %len : F16_UB, F16_GM, I64x6
}
"""


@pytest.mark.parametrize("arguments", [{}, {0: 4096}])
def test_a_walk_samples_registers_once_and_shares_equal_ops(arguments: dict[int, int]) -> None:
    found = walk(COPIES, arguments=arguments, static=True)
    copies = [x for x in found.steps if isinstance(x, Move) and x.registers is not None]
    counts = [step.lowering.registers.ubtoout.counts for step in copies]
    assert counts == [(2, 1), (1, 1)] * 2
    assert copies[0] is copies[2]
    assert copies[1] is copies[3]


def test_lowered_ops_are_cached() -> None:
    lowering = Lowering(MteGmUb(0, 8, 32, 1, 0, 0), DmaRegisters())
    assert lowering.descriptor is lowering.descriptor is not None
    assert [one.rule.name for one in lowering.broken] == ["DMA-L06"]
    assert lowering.broken is lowering.broken
    assert (lowering.refused, lowering.unknown, lowering.touches) == (True, False, ())
    legal = Lowering(MteGmUb(0, 0, 32, 1, 0, 0), DmaRegisters())
    assert len(legal.touches) == 2
    assert legal.touches is legal.touches


def test_a_broken_rule_refuses_an_op_with_unknown_operands() -> None:
    broken = Lowering(MteGmUb(UNKNOWN, 8, 32, 1, 0, 0), DmaRegisters())
    assert (broken.unknown, broken.refused, broken.touches) == (True, True, ())
    with pytest.raises(UndecidedError):
        _ = broken.broken
    legal = Lowering(MteGmUb(UNKNOWN, 0, 32, 1, 0, 0), DmaRegisters())
    assert [(each.space, write) for each, write in legal.touches] == [("ub0", True)]


def test_registers_that_are_equal_are_one_object() -> None:
    state = RegisterState()
    reset = state.now
    state.write(SetLoopSize("outtoub", 2, 3))
    twice = state.now
    state.write(SetLoopSize("outtoub", 1 << 21, 3))
    assert state.now is twice, "an operand that does not fit changes no register"
    state.write(SetLoopSize("outtoub", 1, 1))
    assert state.now is reset
    state.write(SetLoopStride("ubtoout", 1, UNKNOWN, 32))
    assert state.now.ubtoout.strides[0][1] == 32, "its known operands are kept"
    assert state.now.ubtoout.strides[0][0] is UNKNOWN


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
        show %t
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
          : F16_GM, F16_UB, I64x5, i1, I64x3
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


def test_reach_counts_stores_and_legal_ops_alone() -> None:
    body = load(length="%c65536")
    assert walk(body, arguments={0: 0}).arguments[0].reach == 0
    found = walk(
        "pto.mte_ub_gm %u, %p, %len nburst(%one, %len, %len) : F16_UB, F16_GM, I64x4",
        arguments={0: 0x200},
    )
    (step,) = found.steps
    assert isinstance(step, Move)
    assert isinstance(step.op, MteUbGm)
    assert (step.op.gm_dst, found.arguments[0].reach) == (0x200, 64)


def test_a_static_walk_continues_with_unknown_values() -> None:
    """Unknown bounds twice, unknown conditions both ways; other values stay known."""
    found = walk(
        f"""
        scf.for %i = %c0 to %m step %c1 {{
          %o = arith.index_cast %i : index to i64
          show %o
        }}
        %r, %s = scf.if %b -> (i64, i64) {{
          show %len
          scf.yield %len, %one : i64, i64
        }} else {{
          show %one
          scf.yield %len, %z : i64, i64
        }}
        show %r
        show %s
        {load()}
        """,
        static=True,
    )
    values = counts(found)
    assert values[0] is values[1] is values[5] is UNKNOWN
    assert values[2:5] == [64, 1, 64]
    last = found.steps[-1]
    assert isinstance(last, Move)
    assert isinstance(last.op, MteGmUb)
    assert last.op.gm_src is UNKNOWN
    assert last.op.len_burst == 64
    assert found.arguments[0].reach == 64
    assert [place.line for place in found.undecided] == [HEAD_LINES + 2, HEAD_LINES + 6]
    assert len(found.unknown) == 3
    assert found.findings == ()


def test_a_walk_continues_after_an_op_that_the_reader_refused() -> None:
    """The caller has its finding; the other ops are walked."""
    body = spelled("pto.mte_gm_ub %p, %u, %z, %len : F16_GM, F16_UB, I64x5\n")
    findings: list[Finding] = []
    size = "pto.set_loop_size_outtoub %len, %one : i64, i64"
    source = read(f"{HEAD}{body}{size}\nfunc.return\n}}\n", "x.pto", findings)
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
    with pytest.raises(ProgramError, match=r"2 functions are .* to run: @a, @b") as caught:
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
    takes = "(%p: F16_GM, %u: F16_UB, %one: i64)"
    more = spelled(
        f"func.func @inner{takes} {{\n%z = arith.constant 0 : i64\n%len = arith.constant 64 : i64\n"
        f"{load(count='%one')}\nfunc.return }}\nfunc.func @outer{takes} {{\n"
        "func.call @inner(%p, %u, %one) : (F16_GM, F16_UB, i64) -> ()\nfunc.return }"
    )
    call = "func.call @outer(%p, %u, %big) : (F16_GM, F16_UB, i64) -> ()"

    def program(count: int) -> Source:
        start = spelled(f"{HEAD}%big = arith.constant {count} : i64\n{call}\nfunc.return\n}}\n")
        return read(start + more, "x.pto")

    where = f", called at x.pto:{HEAD_LINES + 11}:1, called at x.pto:{HEAD_LINES + 2}:1"
    found = check(trace(program(65536), function="k", arguments={0: 4096}))
    assert [x.message.endswith(where) for x in found if x.rule == "DMA-L05"] == [True], found
    (finding,) = trace(program(-1), function="k", static=True).findings
    assert finding.message.endswith(where), finding
    with pytest.raises(ProgramError) as caught:
        trace(program(-1), function="k", arguments={0: 4096})
    assert caught.value.findings[0].message.endswith(where)
