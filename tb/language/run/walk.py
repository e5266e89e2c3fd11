# SPDX-License-Identifier: Apache-2.0
"""Executes the arithmetic, loops and conditions of a program; the result is its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from xdsl.dialects.func import FuncOp

from tb.common.errors import PtoError
from tb.language.collector import collector_off
from tb.language.dialect.ops import MoveOp
from tb.language.dialect.types import kind_of_type
from tb.language.place import Finding, Place, ProgramError, refuse
from tb.language.reader import Source
from tb.language.run import arith, flow, others, sync
from tb.language.run.interpreter import Interpreter, Maker
from tb.language.run.moves import move
from tb.language.run.registers import RegisterState
from tb.language.run.stream import EVERY_STREAM, Stream, running
from tb.language.run.values import Located, Missing
from tb.language.trace import Argument, Compute, Doubt, Move, Step, Trace

MAKERS: dict[Any, Maker] = {
    **arith.MAKERS,
    **flow.MAKERS,
    **sync.MAKERS,
    MoveOp: move,
    **others.MAKERS,
}
"""Makers of the code of ops, by name or by class."""

LIMIT = 1_000_000
"""Ops that the loops of a program execute at most."""

_SAME = ("steps", "unknown", "undecided", "unnumbered", "once", "doubts", "calls", "raw")
"""Fields of a trace that the interpreter has under the same name."""

_OF_ANY_CORE = ("skipped", "unknown", "undecided", "unnumbered", "findings", "once")
"""Fields of a trace in which what two cores have is one."""

ENTRY = ("pto.entry", "pto.kernel", "pto.aicore", "hacc.entry")
"""Attributes of the function that is run."""


def entries(source: Source) -> tuple[str, ...]:
    """Returns the functions with a body that no other one calls: what a file has to run."""
    inner = {source.callee(op) for op in source.module.walk() if op.name == "func.call"}
    names = [name for name, each in source.bodies.items() if each not in inner]
    return tuple(names) or tuple(source.bodies)


def chosen_function(source: Source, function: str) -> str:
    """Returns the name of the function to run.

    Raises:
        ProgramError: there is none of that name, or several candidates.
    """
    start = Place(source.file, 1, 1)
    bodies = source.bodies
    if not bodies:
        raise refuse(start, "no function has a body: there is nothing to run")
    listed = ", ".join(f"@{name}" for name in bodies)
    if function:
        if function not in bodies:
            raise refuse(start, f"there is no function @{function} with a body", legal=listed)
        return function
    if len(bodies) == 1:
        return next(iter(bodies))
    marked = [name for name, each in bodies.items() if any(x in ENTRY for x in each.attributes)]
    outer = entries(source)
    for few in (marked, outer):
        if len(few) == 1:
            return few[0]
    raise ProgramError(
        (
            Finding(
                source.place(bodies[(marked or outer)[1]]),
                "func.func",
                "",
                _undecided(marked, len(bodies)),
                listed,
            ),
        ),
        remedy="name one with --function NAME"
        + ("" if marked else ", or give it the attribute pto.entry"),
    )


def _undecided(marked: Sequence[str], count: int) -> str:
    if not marked:
        return f"the file has {count} functions and none of them is the one to run"
    names = ", ".join(f"@{name}" for name in marked)
    return f"{len(marked)} functions are marked as the one to run: {names}"


def _arguments(function: FuncOp) -> tuple[Argument, ...]:
    found = []
    for number, value in enumerate(function.body.blocks[0].args):
        kind = kind_of_type(value.type)
        name = value.name_hint or f"arg{number}"
        found.append(Argument(number, name, kind.pointer, kind.name))
    return tuple(found)


def arguments_of(source: Source, function: str) -> tuple[Argument, ...]:
    """Returns the arguments of a function; empty for the only one.

    Raises:
        ProgramError: there is none of that name, or several candidates.
    """
    return _arguments(source.bodies[chosen_function(source, function)])


def _bind(function: FuncOp, arguments: tuple[Argument, ...], given: Mapping[int, int]) -> list[int]:
    """Returns the values of a function's arguments.

    Raises:
        PtoError: a value is given for an argument that there is not.
    """
    for number in given:
        if number not in range(len(arguments)):
            raise PtoError(
                f"argument {number} is given: @{function.sym_name.data} has "
                f"{len(arguments)} arguments, counted from 0"
            )
    values: list[int] = []
    for argument, value in zip(arguments, function.body.blocks[0].args, strict=True):
        kind = kind_of_type(value.type)
        known = given.get(argument.number)
        remedy = "FILE" if argument.pointer else "VALUE"
        missing = Missing(
            f"argument {argument.number} (%{argument.name}) is not given: give it with "
            f"--arg {argument.number}={remedy}"
        )
        if argument.pointer is not None and argument.pointer.space == "gm":
            values.append(Located(argument.number, 0, known, missing))
        else:
            values.append(missing if known is None else kind.wrap(known))
    return values


@collector_off()
def trace(
    source: Source,
    *,
    function: str = "",
    arguments: Mapping[int, int] | None = None,
    static: bool = False,
    foreign: Literal["refuse", "skip"] = "refuse",
    ubuf_to_ubuf: Literal["bytes", "blocks"] = "bytes",
    limit: int = LIMIT,
    stream: Stream | None = None,
    signals: bool = False,
    ctrl: int | None = None,
    untaken: bool = False,
) -> Trace:
    """Returns what a program does.

    Args:
        source: The program.
        function: Function to run; empty for the only one.
        arguments: Number of an argument to its value: an address, an integer, the bits of a
            float.
        static: Arguments that are not given are not known, and values that depend on them
            neither: a loop with such bounds is walked twice, an ``scf.if`` both ways. What is
            wrong with single operands is in ``Trace.findings`` then.
        foreign: Whether ops of the pto dialect that are not executed here are an error.
        ubuf_to_ubuf: Unit of the operands of ``copy_ubuf_to_ubuf``: bytes and strides, or blocks
            of 32 bytes and gaps as the compiler prints them (docs/spec/dma.md, section 4).
        limit: Ops that loops and calls execute at most.
        stream: The core whose code is walked. By default a run has the steps of every core, a
            static trace all code in the order of the text.
        signals: A static trace has the signals between cores, too.
        ctrl: CTRL of each core at the start; None as of
            :class:`tb.language.run.registers.RegisterState`.
        untaken: Code that is never executed is among the steps of a static trace, too, with what
            is known where it would begin; an error in it ends it.

    Raises:
        ProgramError: the program cannot be executed; without ``static`` also: an operand is
            negative or not known.
        PtoError: an argument is given that the function does not have.
    """
    name = chosen_function(source, function)
    chosen = source.bodies[name]
    if stream is None:
        cores = () if static else running(source)
        if cores:
            return merged(
                [
                    trace(
                        source, function=function, arguments=arguments, foreign=foreign,
                        ubuf_to_ubuf=ubuf_to_ubuf, limit=limit, stream=each, ctrl=ctrl,
                    )
                    for each in cores
                ],
                cores,
            )  # fmt: skip
        stream = EVERY_STREAM
    run = Interpreter(
        source, MAKERS, limit, static, untaken, stream, signals,
        skip_foreign=foreign == "skip",
        ubuf_blocks=ubuf_to_ubuf == "blocks",
        registers=RegisterState(ctrl),
    )  # fmt: skip
    listed = _arguments(chosen)
    _run(run, chosen, listed, arguments or {})
    same: dict[str, Any] = {field: tuple(getattr(run, field)) for field in _SAME}
    left_out = (f"sub-block 1 of the vector section at {place}" for place in run.one_sub_block)
    return Trace(
        source.file,
        name,
        arguments=tuple(replace(each, reach=run.reach.get(each.number, 0)) for each in listed),
        skipped=tuple(run.skipped.values()),
        findings=tuple(run.findings.values()),
        dead=_dead(run),
        not_executed=tuple(left_out),
        **same,
    )


def _run(
    run: Interpreter, function: FuncOp, listed: tuple[Argument, ...], given: Mapping[int, int]
) -> None:
    """Runs a function with the values of its arguments, unless the text has an error.

    Raises:
        ProgramError: every error that does not depend on the run, or the first one that does.
    """
    try:
        routine = run.routine(function)
        if run.problems:
            ordered = sorted(run.problems, key=lambda x: (x.place.line, x.place.column))
            raise ProgramError(tuple(ordered))
        routine.run(_bind(function, listed, given))
    except RecursionError:
        message = "loops, conditions and calls are nested too deeply"
        raise refuse(run.place(function), message) from None


def merged(traces: Sequence[Trace], cores: Sequence[Stream]) -> Trace:
    """Returns the traces of several cores as one, core by core."""
    steps: list[Step] = []
    doubts: list[Doubt] = []
    calls: list[tuple[int, int, Place]] = []
    for found, core in zip(traces, cores, strict=True):
        first = len(steps)
        steps += [replace(step, core=core.number) for step in found.steps]
        doubts += [
            replace(one, begin=one.begin + first, end=one.end + first) for one in found.doubts
        ]
        calls += [(first + begin, first + end, place) for begin, end, place in found.calls]
    whole = traces[0]
    reach = [max(each.arguments[k].reach for each in traces) for k in range(len(whole.arguments))]
    second = any(core.sub_block for core in cores)

    def all_of(name: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(one for each in traces for one in getattr(each, name)))

    once: dict[str, Any] = {name: all_of(name) for name in _OF_ANY_CORE}
    executed = {step.place for step in steps}
    pairs = zip(traces, cores, strict=True)
    return replace(
        whole,
        steps=tuple(steps),
        arguments=tuple(
            replace(each, reach=most) for each, most in zip(whole.arguments, reach, strict=True)
        ),
        doubts=tuple(doubts),
        dead=tuple(step for each in traces for step in each.dead if step.place not in executed),
        calls=tuple(calls),
        not_executed=() if second else all_of("not_executed"),
        cores=len(cores) > 1,
        raw=tuple(replace(x, core=core.number) for found, core in pairs for x in found.raw),
        **once,
    )


def _dead(run: Interpreter) -> tuple[Move | Compute, ...]:
    """Returns the ops that are in the text and were never executed."""
    executed = {id(step.place) for step in run.steps}
    return tuple(step() for place, step in run.moves if id(place) not in executed)
