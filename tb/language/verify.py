# SPDX-License-Identifier: Apache-2.0
"""Static check of a file: text, rules, flags and hazards, as far as constants decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from traceback import walk_tb
from typing import Literal

from tb.common.errors import PtoError
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.spaces import GM_ADDR_BITS
from tb.language.collector import collector_off
from tb.language.order.accesses import Shared
from tb.language.order.hazards import described
from tb.language.order.order import Order, order
from tb.language.order.queues import read_queues
from tb.language.order.verdict import Hazard
from tb.language.place import Finding, Place, ProgramError, judged, refuse
from tb.language.reader import Source, read_file
from tb.language.rules.check import check
from tb.language.rules.remarks import program_remarks
from tb.language.run.stream import EVERY_STREAM, Stream, running
from tb.language.run.walk import arguments_of, entries, merged, trace
from tb.language.trace import Argument, Compute, Move, Trace

INTERNAL = "internal error of pto-dv"
"""Begins the message about an error of the checks themselves."""

GM_ALIGNMENT = 4096
"""Alignment of the assumed addresses of GM arguments."""


Known = Callable[[Argument], "int | None"]
"""Returns the value of an argument, None where it is not known; raises PtoError for a bad one."""


def nothing_known(_: Argument) -> int | None:
    """Knows no argument."""
    return None


@dataclass(frozen=True, slots=True)
class Verified:
    """Result of the check of a file.

    Attributes:
        file: Its name.
        findings: Errors, in the order of the text.
        notes: Remarks, and parts that were not checked.
        ops: Data movements and ops of the matrix unit in the text that were checked.
        arguments: How many a function has, the most of all.
        warnings: Hazards that are allowed, ops with an undefined result that the compiler accepts,
            and modules of another architecture, in the order of the text.
        failed: An error of the checks themselves ended them.
        skipped: Places of ops that are not executed: foreign ones, and known ones.
        not_executed: Those of them that move data, as phrases.
    """

    file: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    ops: int = 0
    arguments: int = 0
    warnings: tuple[Finding, ...] = ()
    failed: bool = False
    skipped: int = 0
    not_executed: tuple[str, ...] = ()


def broken_off(path: Path | str, words: str) -> Verified:
    """Returns the result for a file whose check could not be ended, and why in words."""
    message = f"{INTERNAL}, the file is not checked to its end: {words}"
    finding = Finding(Place(str(path), 1, 1), "", "", message)
    return Verified(str(path), (finding,), failed=True)


@dataclass(frozen=True, slots=True)
class _Ways:
    """Parameters of :func:`verify_file`."""

    known: Known
    foreign: Literal["refuse", "skip"]
    ubuf_to_ubuf: Literal["bytes", "blocks"]
    hazard: Hazard
    ctrl: int | None


@collector_off()
def verify_file(
    path: Path,
    *,
    known: Known = nothing_known,
    foreign: Literal["refuse", "skip"] = "skip",
    ubuf_to_ubuf: Literal["bytes", "blocks"] = "bytes",
    hazard: Hazard = "",
    strict: bool = False,
    ctrl: int | None = None,
) -> Verified:
    """Checks every function of a file that no other one calls; raises nothing.

    What goes wrong in the checks themselves is a finding, too, and ends no other file.

    Args:
        path: The file.
        known: Called for the value of each argument.
        foreign: Whether ops that are not executed here are an error.
        ubuf_to_ubuf: As of :func:`tb.language.run.walk.trace`.
        hazard: As of :func:`tb.language.order.order.order`.
        strict: Whether every warning is an error.
        ctrl: As of :func:`tb.language.run.walk.trace`.
    """
    findings: list[Finding] = []
    notes: list[str] = []
    ways = _Ways(known, foreign, ubuf_to_ubuf, hazard, ctrl)
    places: set[Place] = set()
    skipped: set[Place] = set()
    left_out: list[str] = []
    most = 0
    failed = False
    try:
        source = read_file(path, findings)
        notes += source.notes
        findings += source.warnings
        cores = running(source)
        traces: dict[str, list[Trace]] = {}
        for function, stream in product(entries(source) or ("",), cores or (EVERY_STREAM,)):
            try:
                walked = _walk(source, function, ways, stream)
            except ProgramError as error:
                _add(findings, error.findings)
                continue
            traces.setdefault(function, []).append(walked)
            most = max(most, len(walked.arguments))
            places.update(x.place for x in walked.steps if isinstance(x, Move | Compute))
            places.update(x.place for x in walked.dead)
            skipped.update(x.place for x in walked.skipped)
            left_out += (x for x in walked.left_out if x not in walked.not_executed)
            notes += [
                f"{x.place}: note: {x.name} is known and not executed"
                for x in walked.skipped
                if x.known
            ]
            wrong = (*walked.findings, *check(walked))
            _add(findings, wrong)
            notes += program_remarks(walked, wrong)
            branches = [place for place in walked.undecided if _is_branch(source, place)]
            notes += [
                f"{place}: note: the condition is not known: flags and hazards are not checked"
                for place in branches
            ]
            notes += [
                f"{place}: note: the bounds of the loop are not known: one iteration is checked, "
                "not what it does to the next"
                for place in walked.once
            ]
            notes += [
                f"{place}: note: the number of the flag or buffer is not known: flags and hazards "
                "are not checked"
                for place in walked.unnumbered
                if all(place != one.place for one in walked.findings)
            ]
            if not branches and not walked.unnumbered:
                ordered = _ordered(source, walked, ways, stream, legal=not wrong)
                _add(findings, (*ordered.findings, *ordered.warnings))
                notes += ordered.notes
        for function, each in traces.items():
            if 1 < len(cores) == len(each) and all(map(_decided, each)):
                _add(findings, _between(source, function, ways, cores))
    except ProgramError as error:
        findings += error.findings
    except PtoError as error:
        findings.append(Finding(Place(str(path), 1, 1), "", "", error.what, error.legal))
    except Exception as error:  # A slip of ours in one file must not end the others.
        failed = True
        findings += broken_off(path, unexpected(error)).findings
    kept = tuple(dict.fromkeys(notes))
    errors, warnings = judged(findings, strict=strict)
    return Verified(
        str(path),
        errors,
        kept,
        len(places),
        most,
        warnings,
        failed,
        len(skipped),
        tuple(dict.fromkeys(left_out)),
    )


def _decided(walked: Trace) -> bool:
    """Returns whether it is known which steps of a core happen, and how often."""
    unknown = walked.undecided or walked.unnumbered or walked.once or walked.doubts
    calls = any(each.name.startswith("func.call") for each in walked.skipped)
    return not (unknown or calls or walked.findings)


def _between(
    source: Source, function: str, ways: _Ways, cores: Sequence[Stream]
) -> tuple[Finding, ...]:
    """Returns the deadlocks between the cores of a function, and signals of two pipes.

    Nothing where an id is not known.
    """
    each = [_walk(source, function, ways, stream, signals=True) for stream in cores]
    # A function with the code of one core may be a part of a program whose rest is elsewhere.
    if not all(map(_decided, each)) or sum(bool(one.steps) for one in each) < 2:
        return ()
    return read_queues(merged(each, cores).steps).between


_BRANCHES = ("scf.if", "scf.index_switch", "cf.")


def _add(findings: list[Finding], more: Iterable[Finding]) -> None:
    """Adds findings; what two cores break in one place is one."""
    known = {_of_any_core(one) for one in findings}
    findings += [one for one in more if _of_any_core(one) not in known]


def _of_any_core(one: Finding) -> tuple[object, ...]:
    return one.place, one.op, one.rule, one.message.replace("UB1", "UB0").replace("ub1", "ub0")


def unexpected(error: Exception) -> str:
    """Returns an unexpected error in words, with the line of code that raised it."""
    *_, (frame, line) = walk_tb(error.__traceback__)
    code = f"{Path(frame.f_code.co_filename).name}:{line}"
    text = " ".join(str(error).split())
    return f"{type(error).__name__} in {code}" + (f": {text}" if text else "")


def _walk(
    source: Source,
    function: str,
    ways: _Ways,
    stream: Stream,
    buffers: Mapping[int, int] | None = None,
    *,
    signals: bool = False,
) -> Trace:
    """Returns the steps of a function with the known values of its arguments, and its buffers.

    Raises:
        ProgramError: it cannot be executed, or a value is none of its argument's type.
    """
    arguments = dict(buffers or {})
    for one in arguments_of(source, function):
        try:
            value = ways.known(one)
        except PtoError as error:
            message = f"{error.where or f'argument {one.number}'}: {error.what}"
            place = source.place(source.bodies[function])
            raise refuse(place, message, legal=error.legal) from None
        if value is not None:
            arguments[one.number] = value
    return trace(
        source,
        function=function,
        arguments=arguments,
        static=True,
        foreign=ways.foreign,
        ubuf_to_ubuf=ways.ubuf_to_ubuf,
        stream=stream,
        signals=signals,
        ctrl=ways.ctrl,
    )


def _meet_in_gm(walked: Trace) -> bool:
    """Returns whether two ops may touch a byte of GM, one of them writing it.

    They do not where each buffer is only read, or has one op.
    """
    ops: Counter[int] = Counter()
    written: set[int] = set()
    for step in walked.steps:
        if not isinstance(step, Move) or isinstance(step.op, LegacySet | CtrlOp):
            continue
        writes = step.op.dst_type.space == "gm"
        if not writes and step.op.src_type.space != "gm":
            continue
        if step.argument < 0:  # An address that the program makes itself.
            return True
        ops[step.argument] += 1
        if writes:
            written.add(step.argument)
    return any(ops[number] > 1 for number in written)


def _ordered(source: Source, walked: Trace, ways: _Ways, stream: Stream, *, legal: bool) -> Order:
    """Returns the order of a program whose buffers in GM are far from one another.

    Whether two of them are one is not known; that ops on the buffer of one argument meet is. An
    op that breaks a rule touches nothing, which only its address can show.

    Args:
        source: The program.
        walked: Its steps, of which addresses in buffers are not known.
        ways: Parameters.
        stream: The core whose steps these are.
        legal: No op breaks a rule.
    """
    buffers = [x for x in walked.arguments if x.in_gm and ways.known(x) is None]
    if not buffers or (legal and not _meet_in_gm(walked)):
        return order(walked, hazard=ways.hazard)
    room = (1 << GM_ADDR_BITS) // len(buffers) // GM_ALIGNMENT * GM_ALIGNMENT
    given = {x.number: place * room for place, x in enumerate(buffers)}

    def describe(space: str, shared: Shared) -> str:
        if space != "gm" or shared.first // room >= len(buffers):
            return described(space, shared)
        number, offset = divmod(shared.first, room)
        inside = Shared(offset, offset + shared.end - shared.first, shared.bytes)
        return f"{inside} after %{buffers[number].name}"

    return order(_walk(source, walked.function, ways, stream, given), describe, ways.hazard)


def _is_branch(source: Source, place: Place) -> bool:
    """Returns whether an undecided op is a condition or a branch, of which all ways were walked."""
    line = source.text.split("\n")[place.line - 1]
    return line[place.column - 1 :].lstrip('"').startswith(_BRANCHES)
