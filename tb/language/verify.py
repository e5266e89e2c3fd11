# SPDX-License-Identifier: Apache-2.0
"""Static check of a file: text, rules, flags and hazards, as far as constants decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tb.errors import PtoError
from tb.isa.spaces import GM_ADDR_BITS
from tb.language.order.hazards import described
from tb.language.order.order import Order, order
from tb.language.order.overlap import Shared
from tb.language.place import Finding, Place, ProgramError
from tb.language.reader import Source, read_file
from tb.language.rules.check import check
from tb.language.run.walk import entries, trace
from tb.language.trace import Argument, Compute, Move, Trace

GM_ALIGNMENT = 4096
"""What the addresses are multiples of that stand for those of GM arguments."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What is known of a file.

    Attributes:
        file: Its name.
        findings: What is wrong, in the order of the text.
        notes: What is odd, or was not looked at.
        ops: Data movements and ops of the matrix unit in the text that were checked.
    """

    file: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    ops: int = 0


def verify_file(
    path: Path,
    *,
    arguments: Mapping[int, int] | None = None,
    foreign: Literal["refuse", "skip"] = "refuse",
) -> Verified:
    """Checks every function of a file that no other one calls; raises nothing.

    Args:
        path: The file.
        arguments: Number of an argument to its value; others are not known. Functions that do
            not have it are checked without.
        foreign: Whether ops that nobody here executes are an error.
    """
    findings: list[Finding] = []
    notes: list[str] = []
    places: set[Place] = set()
    try:
        source = read_file(path, findings)
        for function in entries(source) or ("",):
            try:
                walked = _walk(source, function, arguments or {}, foreign)
            except ProgramError as error:
                findings += error.findings
                continue
            places.update(x.place for x in walked.steps if isinstance(x, Move | Compute))
            findings += walked.findings
            findings += check(walked)
            branches = [place for place in walked.undecided if _is_branch(source, place)]
            notes += [
                f"{place}: note: the condition is not known: flags and hazards are not checked"
                for place in branches
            ]
            if not branches:
                ordered = _ordered(source, walked, arguments or {}, foreign)
                findings += ordered.findings
                notes += ordered.notes
    except ProgramError as error:
        findings += error.findings
    except PtoError as error:
        findings.append(Finding(Place(str(path), 1, 1), "", "", error.what, error.legal))
    found = sorted(dict.fromkeys(findings), key=lambda x: (x.place.line, x.place.column))
    return Verified(str(path), tuple(found), tuple(dict.fromkeys(notes)), len(places))


def _walk(
    source: Source,
    function: str,
    arguments: Mapping[int, int],
    foreign: Literal["refuse", "skip"],
) -> Trace:
    """Returns what a function does with the arguments that it has."""
    if arguments:
        bodies = [each for each in source.functions() if each.body.blocks]
        chosen = [each for each in bodies if function in ("", each.sym_name.data)]
        count = len(chosen[0].body.blocks[0].args) if chosen else 0
        arguments = {number: value for number, value in arguments.items() if number < count}
    return trace(source, function=function, arguments=arguments, static=True, foreign=foreign)


def _ordered(
    source: Source,
    walked: Trace,
    arguments: Mapping[int, int],
    foreign: Literal["refuse", "skip"],
) -> Order:
    """Returns the order of a program whose buffers in GM are far from one another.

    Whether two of them are one is not known; that ops behind the same argument meet is.
    """
    buffers = [x for x in walked.arguments if _in_gm(x) and x.number not in arguments]
    if not buffers:
        return order(walked)
    room = (1 << GM_ADDR_BITS) // len(buffers) // GM_ALIGNMENT * GM_ALIGNMENT
    given = {x.number: place * room for place, x in enumerate(buffers)}

    def describe(space: str, shared: Shared) -> str:
        if space != "gm" or shared.first // room >= len(buffers):
            return described(space, shared)
        number, offset = divmod(shared.first, room)
        behind = Shared(offset, offset + shared.end - shared.first, shared.bytes)
        return f"{behind} behind %{buffers[number].name}"

    return order(_walk(source, walked.function, {**arguments, **given}, foreign), describe)


def _in_gm(argument: Argument) -> bool:
    return argument.pointer is not None and argument.pointer.space == "gm"


def _is_branch(source: Source, place: Place) -> bool:
    """Tells whether an undecided op is a condition, of which both ways were walked."""
    line = source.text.split("\n")[place.line - 1]
    return line[place.column - 1 :].lstrip('"').startswith("scf.if")
