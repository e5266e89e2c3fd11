# SPDX-License-Identifier: Apache-2.0
"""The ops of a program that are explained, with the registers at their issue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb.common.errors import PtoError
from tb.explain.others import product_notes, sentence
from tb.explain.raw import READ_BACK, RawReader
from tb.explain.steps import Chosen, Unit, issued, moves_data, of_raw, other
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.spaces import GM_ADDR_BITS
from tb.language.place import Place, ProgramError
from tb.language.run.registers import RegisterState
from tb.language.trace import CORES, Compute, Move, Raw, Trace

if TYPE_CHECKING:
    from tb.language.reader import Source

ROOM = 1 << 32
"""Bytes between the assumed addresses of buffers in GM."""


def _assumed(
    source: Source, function: str, given: Mapping[int, int]
) -> tuple[dict[int, int], list[str]]:
    """Returns values of the arguments, those of buffers that are not given far from each other."""
    from tb.language.run.walk import arguments_of

    numbers, notes = dict(given), []
    listed = arguments_of(source, function)
    for one in listed:
        if one.in_gm and one.number not in numbers:
            numbers[one.number] = (one.number * ROOM) % (1 << GM_ADDR_BITS)
            notes.append(f"%{one.name} is not given: address {numbers[one.number]:#x} is taken")
    return numbers, notes


def of_file(
    path: Path,
    *,
    arguments: Mapping[int, int],
    function: str = "",
    lines: Sequence[int] = (),
    numbers: Sequence[int] = (),
    run: int = 1,
    ubuf_to_ubuf: Unit = "bytes",
    quant_codes: str = "ptoas",
) -> list[Chosen]:
    """Returns the ops of a program that move data, each once, or once for each vector core.

    Args:
        path: The program.
        arguments: Number of an argument to its value.
        function: The function; empty for the one that is run, or all that no other one calls.
        lines: Lines of the ops; all without any.
        numbers: Numbers of the ops in the order of the text, from 1.
        run: Which execution of an op that is executed several times, from 1.
        ubuf_to_ubuf: Unit of the operands of ``copy_ubuf_to_ubuf``.
        quant_codes: Table of the quantization codes in raw words.

    Raises:
        PtoError: the program cannot be read or walked, or there is no such op.
    """
    from tb.language.reader import read_file
    from tb.language.run.walk import entries

    source = read_file(path)
    found: list[Chosen] = []
    others: list[Chosen] = []
    for name in (function,) if function else entries(source) or ("",):
        listed, skipped = _of_function(source, name, arguments, run, ubuf_to_ubuf, quant_codes)
        for one in listed:
            (found if moves_data(one) else others).append(one)
        places = {one.place for one in listed}
        others += [one for one in skipped if one.place not in places]
    others += _written(source, {one.place for one in (*found, *others)})
    if not found and not (lines and others):
        raise PtoError(f"{path} has no op that moves data", where=str(path))
    if not lines and not numbers:
        return _known(found, run)
    every = [*found, *others]
    wanted = _in_lines(every, found, lines) | _numbered(found, numbers)
    return _known([one for one in every if one.place in wanted], run)


def _in_lines(every: list[Chosen], found: list[Chosen], lines: Sequence[int]) -> set[Place]:
    """Returns the places of the ops that begin in these lines.

    Raises:
        PtoError: in one of them none does.
    """
    places = {one.place for one in every if one.place.line in lines}
    for line in lines:
        if all(place.line != line for place in places):
            legal = ", ".join(map(str, sorted({one.place.line for one in found})))
            raise PtoError(
                f"no op that moves data begins in line {line}", where=f"--line {line}",
                legal=f"lines {legal}",
            )  # fmt: skip
    return places


def _numbered(found: list[Chosen], numbers: Sequence[int]) -> set[Place]:
    """Returns the places of the ops with these numbers, from 1.

    Raises:
        PtoError: there is no such op.
    """
    places = [*dict.fromkeys(one.place for one in found)]
    for number in numbers:
        if not 1 <= number <= len(places):
            legal = f"1..{len(places)}"
            raise PtoError(f"there is no op {number}", where=f"--op {number}", legal=legal)
    return {places[number - 1] for number in numbers}


def _of_function(
    source: Source, function: str, given: Mapping[int, int], run: int, unit: Unit, codes: str
) -> tuple[list[Chosen], list[Chosen]]:
    """Returns the executions of the ops of a function, and the foreign ops that it skips."""
    from tb.language.run.stream import running

    known, notes = _assumed(source, function, given)
    walk = partial(
        _walked, source, function=function, arguments=known, static=True, foreign="skip",
        ubuf_to_ubuf=unit,
    )  # fmt: skip
    walked = walk()
    seen = _Seen(run, tuple(notes), _missing(walked, known), codes)
    seen.add(walked, None)
    seen.add_untaken(walk, walked)
    skipped = [other(one.name.removeprefix("pto."), one.place) for one in walked.skipped]
    return seen.ordered({core.number for core in running(source)}), skipped


def _walked(source: Source, **options: Any) -> Trace:
    """Returns a static trace of every core that runs, each with its own registers."""
    from tb.language.run.stream import running
    from tb.language.run.walk import merged, trace

    cores = running(source)
    if not cores:
        return trace(source, **options)
    return merged([trace(source, stream=core, **options) for core in cores], cores)


NOT_TAKEN = (
    "not taken: the program does not execute this op; its branch is not taken, or its loop has no "
    "iteration"
)


_VECTORS = {1, 2}
"""Numbers of the vector cores."""


def _content(one: Chosen) -> str:
    """Returns what an op does; unknown numbers are not compared as numbers."""
    words = one.raw and (one.raw.text, one.raw.words)
    issued = one.lowering and (one.lowering.op, one.lowering.registers, one.lowering.ctrl)
    return repr((one.name, issued, words, one.notes))


class _Seen:
    """Executions of the ops of a function, one for each op and core.

    Attributes:
        run: Which execution of an op that is executed several times.
        notes: Assumptions.
        missing: Note on an op with an operand that is not known.
        codes: Table of the codes in raw words.
    """

    def __init__(self, run: int, notes: tuple[str, ...], missing: str, codes: str) -> None:
        self.run, self.notes, self.missing, self.codes = run, notes, missing, codes
        self._found: dict[tuple[Place, int], Chosen] = {}

    def add(self, walked: Trace, only: set[Place] | None) -> None:
        """Takes the ops of a trace: those of ``only``, which are not executed, or all."""
        executions: dict[tuple[Place, int], list[Chosen]] = {}
        for step, one in self._chosen(walked):
            if only is None or step.place in only:
                named = replace(one, place=step.place)
                executions.setdefault((step.place, step.core), []).append(named)
        for key, every in executions.items():
            number = min(self.run, len(every)) if only is None else 1
            self._found.setdefault(
                key, self._explained(every[number - 1], number, len(every), only)
            )

    def _explained(self, one: Chosen, number: int, count: int, only: set[Place] | None) -> Chosen:
        notes = (*self.notes, *one.notes) if moves_data(one) else one.notes
        if only is not None:
            return replace(one, notes=(*notes, NOT_TAKEN), times=0)
        run = f"execution {number} of {count}" if count > 1 else ""
        return replace(one, notes=notes, run=run, times=count)

    def add_untaken(self, walk: Callable[..., Trace], walked: Trace) -> None:
        """Takes the ops that no run reaches: walked aside, else from their constants."""
        dead = {step.place for step in walked.dead}
        dead |= {one.place for one in walked.skipped if one.known}
        dead -= {place for place, _ in self._found}
        if not dead:
            return
        with suppress(ProgramError):
            self.add(walk(untaken=True), dead)
        self.add(replace(walked, steps=walked.dead, raw=()), dead)

    def _chosen(self, walked: Trace) -> Iterator[tuple[Move | Compute | Raw, Chosen]]:
        """Yields the ops of a trace, each with its step."""
        states: defaultdict[int, RegisterState] = defaultdict(RegisterState)
        for step in walked.steps:
            if isinstance(step, Compute):
                shown = other(step.name.removeprefix("pto."))
                yield step, replace(shown, notes=product_notes(step.op))
            elif isinstance(step, Move):
                moves = not isinstance(step.op, LegacySet | CtrlOp)
                lowering = step.lowering if moves else issued(step.op, states[step.core])
                unknown = self.missing if step.lowering.unknown else ""
                yield step, Chosen(lowering, step.name, unknown=unknown)
        reader = RawReader(self.codes)
        for raw in walked.raw:
            if raw.name in READ_BACK:
                yield raw, of_raw(raw, reader)

    def ordered(self, cores: set[int]) -> list[Chosen]:
        """Returns the ops in the order of the text, those that the running cores share once."""
        found: list[Chosen] = []
        pairs = sorted(self._found.items(), key=lambda x: (x[0][0].line, x[0][0].column, x[0][1]))
        for _, same in groupby(pairs, key=lambda pair: pair[0][0]):
            variants: dict[str, list[tuple[int, Chosen]]] = {}
            for (_, core), one in same:
                variants.setdefault(_content(one), []).append((core, one))
            vectors = {core for each in variants.values() for core, _ in each} & _VECTORS
            labelled = len(variants) > 1 or (len(vectors) == 1 and cores >= _VECTORS)
            for each in variants.values():
                one = each[0][1]
                label = " and ".join(CORES[core] for core, _ in each) if labelled else ""
                found.append(replace(one, run=", ".join(filter(None, (label, one.run)))))
        return found


def _written(source: Source, shown: set[Place]) -> list[Chosen]:
    """Returns the ops with a sentence that are not listed yet: flags, signals, fences."""
    found = []
    for op in source.module.walk():
        name, place = op.name.removeprefix("pto."), source.place(op)
        if name != op.name and place not in shown and sentence(name):
            found.append(other(name, place))
    return found


def _missing(walked: Trace, given: Mapping[int, int]) -> str:
    """Returns which arguments would have to be known."""
    missing = [x for x in walked.arguments if not x.in_gm and x.number not in given]
    if not missing:
        return "an operand is not known: it is not a constant and no argument"
    first = missing[0]
    return f"an operand is not known: give %{first.name} with --arg {first.number}=VALUE"


def _known(chosen: list[Chosen], run: int) -> list[Chosen]:
    """Returns the ops.

    Raises:
        PtoError: none of them is known, or executed so often.
    """
    most = max((1, *(one.times for one in chosen)))
    if run > most:
        raise PtoError(f"--run is {run}", where="--run", legal=f"1..{most}, which are executed")
    if chosen and all(one.unknown and one.op for one in chosen):
        raise PtoError(
            chosen[0].unknown.partition(": ")[0],
            where=str(chosen[0].place),
            legal="operands that are constants, or arguments that are given",
            remedy=chosen[0].unknown.partition(": ")[2],
        )
    return chosen
