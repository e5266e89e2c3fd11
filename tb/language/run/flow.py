# SPDX-License-Identifier: Apache-2.0
"""Code of loops, conditions and calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Block, Operation, Region

from tb.isa.op import replace
from tb.language.dialect.types import type_name
from tb.language.place import Finding, ProgramError, refuse
from tb.language.run.arith import merged
from tb.language.run.interpreter import (
    Code,
    Ids,
    Interpreter,
    Maker,
    Routine,
    copier,
    execute,
    ids,
)
from tb.language.run.stream import attribute_of
from tb.language.run.values import Frame, Missing, plain, unknown_of
from tb.language.trace import TWICE, Skipped

MAX_DEPTH = 64
"""Calls inside calls."""

MAX_SHOWN = 4
"""Calls inside calls that an error names."""


def _yielded(block: Block) -> Ids:
    end = block.last_op
    return ids(end.operands) if end is not None and end.name == "scf.yield" else ()


def _lose(frame: Frame, keys: Iterable[int], why: str) -> None:
    frame.update((key, Missing(why)) for key in keys)


# --- loops ----------------------------------------------------------------------------------------


class _For:
    """An ``scf.for``."""

    def __init__(self, run: Interpreter, op: Operation, routine: Routine) -> None:
        block = op.regions[0].block
        self.run, self.place = run, run.place(op)
        self.bounds, start = ids(op.operands[:3]), ids(op.operands[3:])
        self.variable, *carried = ids(block.args)
        self.carried, self.results = tuple(carried), ids(op.results)
        self.begin = copier(start, self.carried)
        self.repeat = copier(_yielded(block), self.carried)
        self.end = copier(self.carried, self.results)
        self.body = run.block(block, routine)
        self.cost = len(self.body) + 1

    def code(self, frame: Frame) -> None:
        """Executes the loop; one of unknown bounds is walked twice."""
        run = self.run
        bounds = [plain(frame[key]) for key in self.bounds]
        missing = unknown_of(*bounds)
        if missing is not None:
            self._twice(frame, missing)
            return
        numbers = self._numbers(*bounds)
        run.loops.append((self.place, len(numbers)))
        self.begin(frame)
        if run.untaken and not numbers:
            frame[self.variable] = bounds[0]
            run.aside(self.body, frame)
            self.begin(frame)
        self._iterate(numbers, frame)
        run.loops.pop()
        self.end(frame)

    def _numbers(self, lower: int, upper: int, step: int) -> range:
        """Returns the values of the variable, whose ops are counted."""
        if step <= 0:
            message = f"the step of the loop is {step}"
            raise refuse(self.place, message, op="scf.for", legal="1 and above")
        numbers = range(lower, upper, step)
        total = len(numbers) * self.cost
        if total > self.run.left:
            self.run.spend(total, self.place, self.run.iterations(len(numbers), self.cost))
        self.run.left -= total
        return numbers

    def _iterate(self, numbers: range, frame: Frame) -> None:
        variable, body = self.variable, self.body
        if self.carried:
            body = (*body, self.repeat)
        for number in numbers:
            frame[variable] = number
            for code in body:
                code(frame)

    def _twice(self, frame: Frame, missing: Missing) -> None:
        run = self.run
        run.undecide(self.place, "scf.for", "a bound or the step of the loop", missing)
        condition = f"if the loop at {self.place}, whose bounds are not known, runs"
        before = len(run.steps) - run.left
        with run.doubt(condition):
            self._unknown_iteration(frame)
        if run.afford(len(run.steps) - run.left - before + self.cost):
            with run.doubt(condition + TWICE, again=True):
                self._unknown_iteration(frame)
        else:
            run.once.setdefault(self.place)
        _lose(frame, self.results, "the result of a loop whose bounds are not known")

    def _unknown_iteration(self, frame: Frame) -> None:
        frame[self.variable] = Missing("the variable of a loop whose bounds are not known")
        _lose(frame, self.carried, "it is carried by a loop whose bounds are not known")
        execute(self.body, frame)


def _for(run: Interpreter, op: Operation, routine: Routine) -> Code:
    return _For(run, op, routine).code


class _While:
    """An ``scf.while``: a region with the test, and one with the body."""

    def __init__(self, run: Interpreter, op: Operation, routine: Routine, end: Operation) -> None:
        first, second = (region.block for region in op.regions)
        forwarded = ids(end.operands[1:])
        self.run, self.place, self.condition = run, run.place(op), id(end.operands[0])
        self.lost = ids((*second.args, *op.results))
        self.begin = copier(ids(op.operands), ids(first.args))
        self.enter = copier(forwarded, ids(second.args))
        self.repeat = copier(_yielded(second), ids(first.args))
        self.end = copier(forwarded, ids(op.results))
        self.test, self.body = run.block(first, routine), run.block(second, routine)

    def code(self, frame: Frame) -> None:
        """Executes the loop; with an unknown condition its body is walked once."""
        run, entered = self.run, False
        cost = len(self.test) + len(self.body) + 1
        self.begin(frame)
        while True:
            run.spend(cost, self.place, "a loop without a bound does not end")
            execute(self.test, frame)
            again = plain(frame[self.condition])
            if isinstance(again, Missing):
                self._once(frame, again)
                return
            if not again:
                break
            entered = True
            self.enter(frame)
            execute(self.body, frame)
            self.repeat(frame)
        if run.untaken and not entered:
            self.enter(frame)
            run.aside(self.body, frame)
        self.end(frame)

    def _once(self, frame: Frame, missing: Missing) -> None:
        run = self.run
        run.undecide(self.place, "scf.while", "the condition of the loop", missing)
        run.once.setdefault(self.place)
        _lose(frame, self.lost, "it is carried by a loop whose condition is not known")
        with run.doubt(f"if the loop at {self.place}, whose condition is not known, runs"):
            execute(self.body, frame)


def _while(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    end = op.regions[0].block.last_op
    if end is None or end.name != "scf.condition":
        run.problem(op, "its first region does not end with scf.condition")
        return None
    return _While(run, op, routine, end).code


# --- conditions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Way:
    """One way of an ``scf.if`` or ``scf.index_switch``: its code and the values it yields."""

    body: tuple[Code, ...] = ()
    yielded: Ids = ()


def _way(run: Interpreter, region: Region, routine: Routine) -> _Way:
    if not region.blocks:
        return _Way()
    return _Way(run.block(region.block, routine), _yielded(region.block))


def _if(run: Interpreter, op: Operation, routine: Routine) -> Code:
    """Returns the code of a condition; its ways by the condition, None for all others."""
    ways: dict[int | None, _Way]
    if op.name == "scf.if":
        ways = {1: _way(run, op.regions[0], routine), None: _way(run, op.regions[1], routine)}
    else:
        cases = attribute_of(op, "cases")
        assert isinstance(cases, DenseArrayBase), "xdsl reads the cases of a switch"
        values = map(int, cases.iter_values())
        ways = {x: _way(run, y, routine) for x, y in zip(values, op.regions[1:], strict=True)}
        ways[None] = _way(run, op.regions[0], routine)
    _check_yields(run, op, ways.values())
    return _Branch(run, op, ways).code


def _check_yields(run: Interpreter, op: Operation, ways: Iterable[_Way]) -> None:
    """Notes yields of other values than the results."""
    wanted = [type_name(each.type) for each in op.results]
    if any(len(each.yielded) != len(wanted) for each in ways):
        run.problem(op, f"both branches have to yield {len(wanted)} values")
    for region in op.regions:
        end = region.block.last_op if region.blocks else None
        if end is None or end.name != "scf.yield" or len(end.operands) != len(wanted):
            continue
        given = [type_name(each.type) for each in end.operands]
        if given != wanted:
            message = f"type mismatch: ({', '.join(given)}) is yielded"
            run.problem(op, message, legal=f"({', '.join(wanted)}), the types of the results")


class _Branch:
    """An ``scf.if`` or ``scf.index_switch``."""

    def __init__(self, run: Interpreter, op: Operation, ways: Mapping[int | None, _Way]) -> None:
        self.run, self.place, self.name, self.ways = run, run.place(op), op.name, ways
        self.condition, self.results = id(op.operands[0]), ids(op.results)

    def code(self, frame: Frame) -> None:
        """Executes one way; with an unknown condition all of them."""
        chosen = plain(frame[self.condition])
        if isinstance(chosen, Missing):
            self._all(frame, chosen)
            return
        key = 1 if chosen and self.name == "scf.if" else chosen
        way = self.ways.get(key, self.ways[None])
        if self.run.untaken:
            for other in self.ways.values():
                if other is not way:
                    self.run.aside(other.body, frame)
        execute(way.body, frame)
        frame.update(zip(self.results, [frame[key] for key in way.yielded], strict=True))

    def _all(self, frame: Frame, missing: Missing) -> None:
        self.run.undecide(self.place, self.name, "the condition", missing)
        found: list[list[int]] = []
        for value, way in self.ways.items():
            with self.run.doubt(self._text(value)):
                execute(way.body, frame)
            found.append([frame[key] for key in way.yielded])
        for key, *some in zip(self.results, *found, strict=True):
            frame[key] = reduce(lambda one, two: merged(one, two, missing), some)

    def _text(self, value: int | None) -> str:
        """Returns the condition of a way in words."""
        if self.name == "scf.if":
            verb = "does not hold" if value is None else "holds"
            return f"if the condition at {self.place}, which is not known, {verb}"
        case = "no case of it" if value is None else value
        return f"if the value at {self.place}, which is not known, is {case}"


def _region(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    """Returns the code of ``scf.execute_region``."""
    blocks = [*op.regions[0].blocks]
    if len(blocks) != 1:
        run.problem(op, f"its region has {len(blocks)} blocks: 1 is executed")
        return None
    body = (*run.block(blocks[0], routine), copier(_yielded(blocks[0]), ids(op.results)))
    return lambda frame: execute(body, frame)


# --- calls ----------------------------------------------------------------------------------------


def _call(run: Interpreter, op: Operation, routine: Routine) -> Code | None:
    function = run.source.callee(op)
    if function is None:
        run.problem(op, f"there is no function {attribute_of(op, 'callee')} in this file")
        return None
    name = function.sym_name.data
    types = tuple(function.function_type.inputs), tuple(function.function_type.outputs)
    given = tuple(x.type for x in op.operands), tuple(x.type for x in op.results)
    if types != given:
        run.problem(op, f"operands or results of the call do not have the types of @{name}")
        return None
    if not function.body.blocks:
        _external(run, op, name, routine)
        return None
    return _Call(run, op, run.routine(function)).code


def _external(run: Interpreter, op: Operation, name: str, routine: Routine) -> None:
    """Continues after the call of a function without a body; a run needs to know its effect."""
    place = run.place(op)
    if not run.static:
        run.problem(op, f"@{name} has no body in this file: what it does is not known")
    run.skipped.setdefault(place, Skipped(place, f"func.call @{name}"))
    routine.lose(op.results, f"it is the result of @{name}, which has no body here")


class _Call:
    """A ``func.call``; errors inside name it."""

    def __init__(self, run: Interpreter, op: Operation, routine: Routine) -> None:
        self.run, self.place, self.routine = run, run.place(op), routine
        self.arguments, self.results = ids(op.operands), ids(op.results)

    def code(self, frame: Frame) -> None:
        """Executes the function."""
        run, name = self.run, self.routine.name
        if run.depth >= MAX_DEPTH:
            message = f"calls of @{name} are nested deeper than {MAX_DEPTH}"
            raise refuse(self.place, message, op="func.call")
        cost = len(self.routine.body) + 1
        run.spend(cost, self.place, f"@{name} is called again and again")
        first, noted = len(run.steps), len(run.findings)
        values = self._run([frame[key] for key in self.arguments])
        for key in [*run.findings][noted:]:
            run.findings[key] = self._inside(run.findings[key])
        run.calls.append((first, len(run.steps), self.place))
        frame.update(zip(self.results, values, strict=True))

    def _run(self, arguments: list[int]) -> list[int]:
        self.run.depth += 1
        try:
            return self.routine.run(arguments)
        except ProgramError as error:
            if self.run.depth > MAX_SHOWN:
                raise
            found = tuple(map(self._inside, error.findings))
            raise ProgramError(found, remedy=error.remedy) from None
        finally:
            self.run.depth -= 1

    def _inside(self, finding: Finding) -> Finding:
        return replace(finding, message=f"{finding.message}, called at {self.place}")


MAKERS: dict[Any, Maker] = {
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "scf.index_switch": _if,
    "scf.execute_region": _region,
    "func.call": _call,
}
