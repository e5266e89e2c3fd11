# SPDX-License-Identifier: Apache-2.0
"""Interpreter of a program: its state, and the code of its functions and blocks.

The code of an op is a function over the values of its frame. It is made once, by the entry of the
op in a table (:data:`tb.language.run.walk.MAKERS`), which also finds the errors that do not depend
on a run, in the order of the text: an op inside a loop is executed 100 000 times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from tb.isa.op import replace
from tb.language.dialect.ops import MoveOp
from tb.language.dialect.sections import SectionOp, VectorSectionOp
from tb.language.dialect.types import kind_of_type
from tb.language.place import Finding, Place, ProgramError, refuse
from tb.language.reader import Source
from tb.language.run.registers import RegisterState
from tb.language.run.stream import EVERY_STREAM, Stream, given_sub_block, sub_block_of
from tb.language.run.values import Frame, Kind, Missing
from tb.language.trace import Compute, Doubt, Move, Raw, Skipped, Step

MOST_AGAIN = 20_000
"""Steps, and ops of loops, that are walked again at most because bounds are not known."""

_ENDS = ("func.return", "scf.yield", "scf.condition")

Code = Callable[[Frame], None]
"""One op, made ready to run."""

Ids = tuple[int, ...]
"""Keys of a :class:`Frame`."""


def ids(values: Iterable[SSAValue]) -> Ids:
    """Returns the keys of some values."""
    return tuple(map(id, values))


def execute(body: tuple[Code, ...], frame: Frame) -> None:
    """Executes the code of a block."""
    for code in body:
        code(frame)


def kind_of(value: SSAValue) -> Kind:
    """Returns how a value is held."""
    return kind_of_type(value.type)


def name_of(op: Operation) -> str:
    """Returns the name of an op as written."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


@dataclass
class Routine:
    """A function and its code.

    Attributes:
        place: Its place.
        name: Without ``@``.
        ub_sub: Vector sub-block of the ops whose code is made.
        ub_chosen: Sub-block that the function names.
        known: Values that each run has.
        arguments, results: Keys.
        body: Its code; empty until it is made.
    """

    place: Place
    name: str
    ub_sub: int = 0
    ub_chosen: int | None = None
    known: Frame = field(default_factory=Frame)
    arguments: Ids = ()
    results: Ids = ()
    body: tuple[Code, ...] = ()

    def lose(self, values: Iterable[SSAValue], why: str) -> None:
        """Makes values unknown in every run."""
        self.known.update((id(value), Missing(why)) for value in values)

    def run(self, values: list[int]) -> list[int]:
        """Runs it with the values of its arguments; returns those of its results."""
        frame = Frame(self.known)
        frame.update(zip(self.arguments, values, strict=True))
        execute(self.body, frame)
        return [frame[key] for key in self.results]


@dataclass
class Interpreter:
    """A program that is being walked.

    Attributes:
        source: The program.
        makers: Makers of code by the name of an op, or by its class.
        limit: Steps and ops of loops at most.
        static: Values may be unknown.
        untaken: Code that is not executed is walked, too: ways of conditions, bodies of loops.
        stream: The core whose code is walked.
        signals: A static walk has the signals between cores, too.
        skip_foreign: Foreign ops are not error.
        ubuf_blocks: As of :func:`tb.language.run.build.recipe`.
        problems: Errors that do not depend on a run.
        moves: Of each movement its place, and how to make its step if it is never executed.
        skipped, one_sub_block: Ops that are not executed, and sections run for sub-block 0 alone.
        steps: Steps so far.
        findings: Errors, once for each op and rule, with ``static``; else it is raised.
        unknown: Places of ops with a value that is not known.
        undecided: Places of loops and conditions that depend on such a value.
        unnumbered, once, doubts, raw, calls: As of :class:`tb.language.trace.Trace`.
        again: Rest of ``MOST_AGAIN``.
        conditions: Of the loops and conditions under way that may not run.
        reach: Bytes touched in the buffer of each argument, from its begin to the last one.
        registers: Registers of the legacy copies, and CTRL.
        loops: Loops under way, the outermost first, with their iterations.
        left: Rest of ``limit``.
        depth: Calls under way.
    """

    source: Source
    makers: Mapping[Any, Maker]
    limit: int
    static: bool
    untaken: bool = False
    stream: Stream = EVERY_STREAM
    signals: bool = False
    skip_foreign: bool = False
    ubuf_blocks: bool = False
    problems: list[Finding] = field(default_factory=list)
    moves: list[tuple[Place, Callable[[], Move | Compute]]] = field(default_factory=list)
    skipped: dict[Place, Skipped] = field(default_factory=dict)
    one_sub_block: dict[Place, None] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    findings: dict[tuple[Place, str], Finding] = field(default_factory=dict)
    unknown: dict[Place, None] = field(default_factory=dict)
    undecided: dict[Place, None] = field(default_factory=dict)
    unnumbered: dict[Place, None] = field(default_factory=dict)
    once: dict[Place, None] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)
    again: int = MOST_AGAIN
    conditions: list[str] = field(default_factory=list)
    reach: dict[int, int] = field(default_factory=dict)
    registers: RegisterState = field(default_factory=RegisterState)
    raw: list[Raw] = field(default_factory=list)
    calls: list[tuple[int, int, Place]] = field(default_factory=list)
    loops: list[tuple[Place, int]] = field(default_factory=list)
    left: int = 0
    depth: int = 0
    _routines: dict[FuncOp, Routine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begins with all of the limit."""
        self.left = self.limit

    # --- functions, blocks and ops ---------------------------------------------------------------

    def place(self, op: Operation) -> Place:
        """Returns the place of an op."""
        return self.source.place(op)

    def problem(self, op: Operation, message: str, rule: str = "", legal: str = "") -> None:
        """Notes what is wrong with an op."""
        self.problems.append(Finding(self.place(op), name_of(op), rule, message, legal))

    def routine(self, function: FuncOp) -> Routine:
        """Returns a function made ready to run."""
        known = self._routines.get(function)
        if known is not None:
            return known
        name = function.sym_name.data
        ub_sub = self._ub_sub(function, self.stream.sub_block)
        routine = Routine(self.place(function), name, ub_sub, sub_block_of(function))
        self._routines[function] = routine
        block, *others = function.body.blocks
        if others and not self.static:
            count = len(others) + 1
            self.problem(
                function, f"@{name} has {count} blocks: branches are known and not executed"
            )
            return routine
        routine.arguments = ids(block.args)
        routine.body = self.block(block, routine)
        for each in others:
            routine.body += (self._reached(each, function, routine),)
        end = block.last_op
        if end is not None and end.name == "func.return" and not others:
            routine.results = ids(end.operands)
        else:
            routine.known[0] = Missing(f"it is a result of @{name}, which has several blocks")
            routine.results = (0,) * len(function.function_type.outputs)
        return routine

    def _reached(self, block: Block, function: FuncOp, routine: Routine) -> Code:
        """Returns the code of a block that branches reach or not: it is walked once."""
        before = block.prev_block
        place = self.place((before and before.last_op) or function)
        routine.lose(block.args, "the argument of a block that branches reach")
        body = self.block(block, routine)

        def code(frame: Frame) -> None:
            self.undecide(place, "cf.br", "the branch", None)
            with self.doubt(f"if the branch at {place} reaches the next block"):
                execute(body, frame)

        return code

    def _ub_sub(self, op: Operation, outer: int) -> int:
        given, number = given_sub_block(op), sub_block_of(op)
        if given is not None and number is None:
            self.problem(op, f"ub_sub is {given}: a vector sub-block is 0 or 1")
        return outer if number is None else number

    def block(self, block: Block, routine: Routine) -> tuple[Code, ...]:
        """Returns the code of the ops of a block."""
        codes: list[Code] = []
        for op in block.ops:
            if isinstance(op, SectionOp):
                codes += self._section(op, routine)
            elif name_of(op) not in _ENDS:
                code = self._maker(op)(self, op, routine)
                codes += () if code is None else (code,)
        return tuple(codes)

    def _section(self, op: SectionOp, routine: Routine) -> tuple[Code, ...]:
        """Returns the code of a section; one of both sub-blocks is run for sub-block 0 alone."""
        named = sub_block_of(op)
        chosen = routine.ub_chosen if named is None else named
        if self.stream.leaves_out(op.name, chosen):
            return ()
        outer = routine.ub_sub
        if isinstance(op, VectorSectionOp):
            routine.ub_sub = self.stream.sub_block or outer
        routine.ub_sub = self._ub_sub(op, routine.ub_sub)
        both = isinstance(op, VectorSectionOp) and chosen is None
        if both and any(isinstance(each, MoveOp) for each in op.walk()):
            self.one_sub_block.setdefault(self.place(op))
        codes: list[Code] = []
        for block in (each for region in op.regions for each in region.blocks):
            if block.args:
                codes.append(copier(ids(op.operands), ids(block.args)))
            codes += self.block(block, routine)
        routine.ub_sub = outer
        return tuple(codes)

    def _maker(self, op: Operation) -> Maker:
        """Returns the maker of the code of an op."""
        return next(self.makers[x] for x in (name_of(op), *type(op).__mro__) if x in self.makers)

    # --- what a run finds ------------------------------------------------------------------------

    def report(self, finding: Finding) -> None:
        """Notes what is wrong, or raises it."""
        if not self.static:
            raise ProgramError((finding,))
        if self.conditions:
            finding = replace(finding, condition=self.conditions[-1])
        known = self.findings.get((finding.place, finding.rule))
        if known is None or (known.condition and not finding.condition):
            self.findings[finding.place, finding.rule] = finding

    @contextmanager
    def doubt(self, condition: str, *, again: bool = False) -> Iterator[None]:
        """Notes of what happens inside that it happens on a condition."""
        begin = len(self.steps)
        self.conditions.append(condition)
        try:
            yield
        except ProgramError as error:
            found = (replace(one, condition=one.condition or condition) for one in error.findings)
            raise ProgramError(tuple(found), remedy=error.remedy) from None
        finally:
            self.conditions.pop()
            if len(self.steps) > begin:
                self.doubts.append(Doubt(begin, len(self.steps), condition, again))

    def aside(self, body: tuple[Code, ...], frame: Frame) -> None:
        """Walks code that is not executed, up to its first error; registers keep their values."""
        now, ctrl, loops = self.registers.now, self.registers.ctrl, len(self.loops)
        try:
            execute(body, frame)
        except ProgramError:
            pass
        finally:
            self.registers.now, self.registers.ctrl = now, ctrl
            del self.loops[loops:]

    def afford(self, cost: int) -> bool:
        """Returns whether a part of this ``cost`` may be walked once more, and counts it."""
        if cost > min(self.again, self.left):
            return False
        self.again -= cost
        return True

    def spend(self, steps: int, place: Place, what: str) -> None:
        """Takes ``steps`` from the limit.

        Raises:
            ProgramError: the limit is reached.
        """
        self.left -= steps
        if self.left < 0:
            raise refuse(
                place,
                f"the program runs too long: {what}",
                legal=f"at most {self.limit} steps: ops in all iterations of all loops",
            )

    def iterations(self, count: int, cost: int) -> str:
        """Returns what a loop that begins now comes to, with the loops around it."""
        outer = [f"{times} iterations of the loop at {place}" for place, times in self.loops]
        total = count * cost * prod(times for _, times in self.loops)
        inside = f", inside {', inside '.join(reversed(outer))}," if outer else ""
        steps = f"{cost} step" + ("" if cost == 1 else "s")
        text = f"{count} iterations of {steps}{inside} are {total} steps"
        if total > self.limit:
            return text
        return f"{text}, and the rest of the program has more than {self.limit - total}"

    def undecide(self, place: Place, op: str, what: str, value: Missing | None) -> None:
        """Notes that control flow depends on a value that is not known.

        Raises:
            ProgramError: without ``static``.
        """
        if not self.static:
            why = value.why if value is not None else "it depends on a value that is not known"
            raise refuse(place, f"{what} is not known: {why}", op=op)
        self.undecided.setdefault(place)


Maker = Callable[[Interpreter, Any, Routine], Code | None]
"""Returns the code of an op, None for one that needs none."""


def copier(sources: Ids, targets: Ids) -> Code:
    """Returns code that gives values to others, all at once."""

    def code(frame: Frame) -> None:
        frame.update(zip(targets, [*map(frame.__getitem__, sources)], strict=True))

    return code
