# SPDX-License-Identifier: Apache-2.0
"""Execution of a program: collects steps, runs loops, makes calls.

Every ``*_code`` function returns the code of one op: a function over a frame. A program with
100 000 steps runs each of them once, so what can be decided before is decided before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from math import prod

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import DmaRegisters, LegacySet
from tb.isa.mad import Mad
from tb.isa.op import replace
from tb.isa.text import AnyOp
from tb.language.place import Finding, Place, ProgramError, refuse
from tb.language.run.arith import Code, Frame, merged
from tb.language.run.build import Input, Recipe, negative
from tb.language.run.cube import MADS
from tb.language.run.reach import Reach
from tb.language.run.registers import RegisterState
from tb.language.run.values import Located, Missing, plain
from tb.language.trace import TWICE, Compute, Doubt, Move, Raw, Step
from tb.language.unknown import UNKNOWN, UndecidedError

TF32_BIT = 46
"""Bit of CTRL that cuts factors of f32 to 10 fraction bits (spec/l0_loads.md, section 6)."""

MAX_DEPTH = 64
"""Calls inside calls."""

MOST_AGAIN = 20_000
"""Steps, and ops of loops, that are walked again at most because bounds are not known."""

MAX_SHOWN = 4
"""Calls inside calls that an error names."""


@dataclass
class Execution:
    """A program that is being walked.

    Attributes:
        limit: Steps and ops of loops at most.
        static: Values may be unknown.
        untaken: Code that is not executed is walked, too: ways of conditions, bodies of loops.
        steps: Steps so far.
        findings: Errors, once for each op and rule, with ``static``; else it is raised.
        unknown: Places of ops with a value that is not known.
        undecided: Places of loops and conditions that depend on such a value.
        unnumbered: As of :class:`tb.language.trace.Trace`.
        once, doubts: As of :class:`tb.language.trace.Trace`.
        again: Rest of ``MOST_AGAIN``.
        conditions: Of the loops and conditions under way that may not run.
        reach: Bytes touched in the buffer of each argument.
        registers: Registers of the legacy copies, and CTRL.
        raw: As of :class:`tb.language.trace.Trace`.
        calls: Of each call its first step, the step after its last one, and its place.
        loops: Loops under way, the outermost first, with their iterations.
        left: Rest of ``limit``.
        depth: Calls under way.
    """

    limit: int
    static: bool
    untaken: bool = False
    steps: list[Step] = field(default_factory=list)
    findings: dict[tuple[Place, str], Finding] = field(default_factory=dict)
    unknown: dict[Place, None] = field(default_factory=dict)
    undecided: dict[Place, None] = field(default_factory=dict)
    unnumbered: dict[Place, None] = field(default_factory=dict)
    once: dict[Place, None] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)
    again: int = MOST_AGAIN
    conditions: list[str] = field(default_factory=list)
    reach: Reach = field(default_factory=Reach)
    registers: RegisterState = field(default_factory=RegisterState)
    raw: list[Raw] = field(default_factory=list)
    calls: list[tuple[int, int, Place]] = field(default_factory=list)
    loops: list[tuple[Place, int]] = field(default_factory=list)
    left: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        """Begins with all of the limit."""
        self.left = self.limit

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
            for code in body:
                code(frame)
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


def constant_step(run: Execution, step: Step) -> Code:
    """Returns the code of a flag or a barrier."""
    steps = run.steps

    def code(_: Frame) -> None:
        steps.append(step)

    return code


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement that is ready to be built: its place and the constants of its text."""

    place: Place
    recipe: Recipe
    slots: tuple[int, ...]
    gap: int = 0
    flag_delay: int = -1

    @property
    def copies(self) -> bool:
        """Whether it is a legacy copy that reads registers."""
        return self.recipe.name in ("copy_gm_to_ubuf", "copy_ubuf_to_gm")

    def step(self, op: AnyOp | Mad, registers: DmaRegisters, argument: int, ctrl: int = 0) -> Step:
        """Returns the step that executes ``op``, with the registers at its issue."""
        name, pipe = self.recipe.name, self.recipe.pipe
        if isinstance(op, Mad):
            return Compute(self.place, name, pipe, replace(op, ctrl=ctrl))
        read = registers if self.copies else None
        return Move(
            self.place, name, pipe, op, self.gap, self.flag_delay, read, argument, ctrl
        )  # fmt: skip


def never_executed(written: Movement, template: Frame) -> Move | Compute:
    """Returns the step of an op that no run reached: only its constants are known."""
    numbers = []
    for each, slot in zip(written.recipe.inputs, written.slots, strict=True):
        value, mask = plain(template[slot]), each.mask or each.unsigned
        known = not isinstance(value, Missing) and (mask or value >= 0)
        numbers.append((value & mask if mask else value) if known else UNKNOWN)
    step = written.step(written.recipe.make(numbers), DmaRegisters(), -1)
    if isinstance(step, Compute):
        return replace(step, op=written.recipe.make([UNKNOWN] * len(numbers)))
    assert isinstance(step, Move), "movements make no other step"
    return step


def _negative(run: Execution, written: Movement, each: Input, value: int) -> int:
    """Reports an operand below 0; returns its substitute."""
    name = written.recipe.name
    error = negative(name, each, value)
    run.report(Finding(written.place, f"pto.{name}", error.rule, error.message, error.legal))
    return UNKNOWN


def _missing(run: Execution, written: Movement, each: Input, value: Missing) -> int:
    """Notes an operand that is not known; returns its substitute."""
    if not run.static:
        message = f"{each.text} is not known: {value.why}"
        raise refuse(written.place, message, op=f"pto.{written.recipe.name}")
    run.unknown.setdefault(written.place)
    return UNKNOWN


def move_code(run: Execution, written: Movement) -> Code:
    """Returns the code of a data movement, a ``set_*`` op or an op of the host."""
    recipe, slots = written.recipe, written.slots
    masked = [(index, each.mask) for index, each in enumerate(recipe.inputs) if each.mask]
    steps, reach, gm = run.steps, run.reach, recipe.gm
    made: dict[tuple[object, ...], Step] = {}
    state, copies, register = run.registers, written.copies, recipe.name.startswith("set_")
    product = recipe.name in MADS

    def touch(numbers: list[int], located: Located) -> None:
        extent = reach.extent(recipe, numbers, state.now, state.ctrl if recipe.ctrl else 0)
        if not extent:
            return
        if located.offset < 0:
            run.report(
                Finding(
                    written.place,
                    f"pto.{recipe.name}",
                    "",
                    f"{recipe.inputs[gm].text} points {-located.offset} bytes before the buffer "
                    f"of argument {located.argument}",
                )
            )
        reach.touch(located.argument, located.offset + extent)

    def slow(frame: Frame) -> list[int]:
        numbers = []
        for each, slot in zip(recipe.inputs, slots, strict=True):
            value = plain(frame[slot])
            if isinstance(value, Missing):
                value = _missing(run, written, each, value)
            elif each.mask or each.unsigned:
                value &= each.mask or each.unsigned
            elif value < 0:
                value = _negative(run, written, each, value)
            numbers.append(value)
        return numbers

    def code(frame: Frame) -> None:
        numbers = [frame[slot] for slot in slots]
        located, argument = None, -1
        if gm >= 0:
            address = numbers[gm]
            if isinstance(address, Located):
                located, numbers[gm] = address, address.address
                argument = address.argument
        registers = state.now
        ctrl = state.product_ctrl if product else state.ctrl if recipe.ctrl else 0
        read: object = id(registers) if copies else "?" if ctrl is UNKNOWN else ctrl
        try:
            for index, mask in masked:
                numbers[index] &= mask
            if numbers and min(numbers) < 0:
                raise UndecidedError
            key: tuple[object, ...] = (argument, read, *numbers)
        except UndecidedError:
            numbers = slow(frame)
            # An unknown value equals no other, but its text may.
            key = (argument, read, *("?" if one is UNKNOWN else one for one in numbers))
        step = made.get(key)
        if step is None:
            step = made[key] = written.step(recipe.make(numbers), registers, argument, ctrl)
        steps.append(step)
        if located is not None:
            touch(numbers, located)
        elif register and isinstance(step, Move):
            op: AnyOp = step.op
            if isinstance(op, LegacySet):
                state.write(op)
            elif isinstance(op, CtrlOp):
                state.write_ctrl(op)

    return code


def raw_code(run: Execution, op: Raw, slots: Mapping[str, int]) -> Code:
    """Returns the code of an op that is known and not executed: it is noted with its operands."""

    def code(frame: Frame) -> None:
        values = {name: plain(frame[slot]) for name, slot in slots.items()}
        known = {
            name: UNKNOWN if isinstance(value, Missing) else value for name, value in values.items()
        }
        run.raw.append(replace(op, operands=known, ctrl=run.registers.ctrl))

    return code


@dataclass(frozen=True, slots=True)
class Loop:
    """An ``scf.for``: slots of its bounds, its variable and the values it carries."""

    place: Place
    lower: int
    upper: int
    step: int
    variable: int
    start: tuple[int, ...] = ()
    carried: tuple[int, ...] = ()
    yielded: tuple[int, ...] = ()
    results: tuple[int, ...] = ()


def _copy(frame: Frame, sources: tuple[int, ...], targets: tuple[int, ...]) -> None:
    values = [frame[slot] for slot in sources]
    for slot, value in zip(targets, values, strict=True):
        frame[slot] = value


def loop_code(run: Execution, loop: Loop, body: tuple[Code, ...]) -> Code:
    """Returns the code of ``scf.for``; one of unknown bounds is walked twice."""
    variable, cost = loop.variable, len(body) + 1
    condition = f"if the loop at {loop.place}, whose bounds are not known, runs"

    def iteration(frame: Frame) -> None:
        frame[variable] = Missing("the variable of a loop whose bounds are not known")
        for slot in loop.carried:
            frame[slot] = Missing("it is carried by a loop whose bounds are not known")
        for code in body:
            code(frame)

    def twice(frame: Frame, missing: Missing | None) -> None:
        run.undecide(loop.place, "scf.for", "a bound or the step of the loop", missing)
        before = len(run.steps) - run.left
        with run.doubt(condition):
            iteration(frame)
        if run.afford(len(run.steps) - run.left - before + cost):
            with run.doubt(condition + TWICE, again=True):
                iteration(frame)
        else:
            run.once.setdefault(loop.place)
        for slot in loop.results:
            frame[slot] = Missing("the result of a loop whose bounds are not known")

    def code(frame: Frame) -> None:
        bounds = [plain(frame[slot]) for slot in (loop.lower, loop.upper, loop.step)]
        for value in bounds:
            if isinstance(value, Missing):
                twice(frame, value)
                return
        lower, upper, step = bounds
        if step <= 0:
            raise refuse(
                loop.place,
                f"the step of the loop is {step}",
                op="scf.for",
                legal="1 and above",
            )
        count = max(0, -((lower - upper) // step))
        if count * cost > run.left:
            run.spend(count * cost, loop.place, run.iterations(count, cost))
        run.left -= count * cost
        run.loops.append((loop.place, count))
        _copy(frame, loop.start, loop.carried)
        if run.untaken and not count:
            frame[variable] = lower
            run.aside(body, frame)
            _copy(frame, loop.start, loop.carried)
        if loop.carried:
            for number in range(lower, upper, step):
                frame[variable] = number
                for each in body:
                    each(frame)
                _copy(frame, loop.yielded, loop.carried)
        else:
            for number in range(lower, upper, step):
                frame[variable] = number
                for each in body:
                    each(frame)
        run.loops.pop()
        _copy(frame, loop.carried, loop.results)

    return code


@dataclass(frozen=True, slots=True)
class Branch:
    """One way of an ``scf.if`` or ``scf.index_switch``: its code and the slots it yields."""

    body: tuple[Code, ...] = ()
    yielded: tuple[int, ...] = ()


def branch_code(
    run: Execution,
    place: Place,
    condition: int,
    ways: Mapping[int | None, Branch],
    results: tuple[int, ...],
) -> Code:
    """Returns the code of ``scf.if`` or ``scf.index_switch``; with an unknown value all ways.

    Args:
        run: The execution.
        place: Place of the op.
        condition: Slot of the value.
        ways: The value on which each branch is taken; None for all others.
        results: Slots.
    """
    kind = "scf.if" if 1 in ways and len(ways) == 2 else "scf.index_switch"

    def on(value: int | None) -> str:
        if kind == "scf.if":
            verb = "does not hold" if value is None else "holds"
            return f"if the condition at {place}, which is not known, {verb}"
        return f"if the value at {place}, which is not known, is {value or 'no case of it'}"

    def code(frame: Frame) -> None:
        chosen = plain(frame[condition])
        if isinstance(chosen, Missing):
            run.undecide(place, kind, "the condition", chosen)
            found: list[list[int]] = []
            for value, way in ways.items():
                with run.doubt(on(value)):
                    for each in way.body:
                        each(frame)
                found.append([frame[slot] for slot in way.yielded])
            for slot, *some in zip(results, *found, strict=True):
                frame[slot] = reduce(lambda one, two: merged(one, two, chosen), some)
            return
        way = ways.get(1 if chosen and kind == "scf.if" else chosen, ways[None])
        for other in ways.values():
            if run.untaken and other is not way:
                run.aside(other.body, frame)
        for each in way.body:
            each(frame)
        _copy(frame, way.yielded, results)

    return code


@dataclass(frozen=True, slots=True)
class While:
    """An ``scf.while``: slots of the values that go around, and the code of both regions.

    Attributes:
        place: Its place.
        start, before: Operands, and the arguments of the first region.
        condition, forwarded: What ``scf.condition`` takes.
        after, yielded: Arguments of the second region, and what it yields.
        results: Results.
        test, body: Code of the first and of the second region.
    """

    place: Place
    start: tuple[int, ...]
    before: tuple[int, ...]
    condition: int
    forwarded: tuple[int, ...]
    after: tuple[int, ...]
    yielded: tuple[int, ...]
    results: tuple[int, ...]
    test: tuple[Code, ...]
    body: tuple[Code, ...]


def while_code(run: Execution, loop: While) -> Code:
    """Returns the code of ``scf.while``; with an unknown condition its body is walked once."""
    cost = len(loop.test) + len(loop.body) + 1
    condition = f"if the loop at {loop.place}, whose condition is not known, runs"

    def code(frame: Frame) -> None:
        _copy(frame, loop.start, loop.before)
        entered = False
        while True:
            run.spend(cost, loop.place, "a loop without a bound does not end")
            for each in loop.test:
                each(frame)
            again = plain(frame[loop.condition])
            if isinstance(again, Missing):
                run.undecide(loop.place, "scf.while", "the condition of the loop", again)
                run.once.setdefault(loop.place)
                for slot in (*loop.after, *loop.results):
                    frame[slot] = Missing("it is carried by a loop whose condition is not known")
                with run.doubt(condition):
                    for each in loop.body:
                        each(frame)
                return
            if not again:
                if run.untaken and not entered:
                    _copy(frame, loop.forwarded, loop.after)
                    run.aside(loop.body, frame)
                _copy(frame, loop.forwarded, loop.results)
                return
            entered = True
            _copy(frame, loop.forwarded, loop.after)
            for each in loop.body:
                each(frame)
            _copy(frame, loop.yielded, loop.before)

    return code


def block_code(run: Execution, place: Place, body: tuple[Code, ...]) -> Code:
    """Returns the code of a block that the branch at a place reaches or not."""

    def code(frame: Frame) -> None:
        run.undecide(place, "cf.br", "the branch", None)
        with run.doubt(f"if the branch at {place} reaches the next block"):
            for each in body:
                each(frame)

    return code


@dataclass
class Routine:
    """A function made ready to run.

    Attributes:
        place: Its place.
        name: Without ``@``.
        template: Values of a new frame: constants, and substitutes for values computed later.
        arguments, results: Slots.
        body: Its code; empty until it is made ready.
    """

    place: Place
    name: str
    template: Frame = field(default_factory=list)
    arguments: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    body: tuple[Code, ...] = ()

    def run(self, values: list[int]) -> list[int]:
        """Runs it with the values of its arguments; returns those of its results."""
        frame = self.template.copy()
        for slot, value in zip(self.arguments, values, strict=True):
            frame[slot] = value
        for code in self.body:
            code(frame)
        return [frame[slot] for slot in self.results]


def call_code(
    run: Execution,
    place: Place,
    routine: Routine,
    arguments: tuple[int, ...],
    results: tuple[int, ...],
) -> Code:
    """Returns the code of ``func.call``; errors inside name this call."""

    def inside(finding: Finding) -> Finding:
        return replace(finding, message=f"{finding.message}, called at {place}")

    def code(frame: Frame) -> None:
        if run.depth >= MAX_DEPTH:
            raise refuse(
                place,
                f"calls of @{routine.name} are nested deeper than {MAX_DEPTH}",
                op="func.call",
            )
        run.spend(len(routine.body) + 1, place, f"@{routine.name} is called again and again")
        run.depth += 1
        first = len(run.steps)
        noted = len(run.findings)
        try:
            values = routine.run([frame[slot] for slot in arguments])
        except ProgramError as error:
            if run.depth > MAX_SHOWN:
                raise
            raise ProgramError(tuple(map(inside, error.findings)), remedy=error.remedy) from None
        finally:
            run.depth -= 1
        for key in [*run.findings][noted:]:
            run.findings[key] = inside(run.findings[key])
        run.calls.append((first, len(run.steps), place))
        for slot, value in zip(results, values, strict=True):
            frame[slot] = value

    return code
