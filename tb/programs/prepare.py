# SPDX-License-Identifier: Apache-2.0
"""Converts a program and its options to a :class:`tb.programs.job.ProgramJob`.

All input errors are found here, before anything is built: the text, its rules, the order of its
ops, arguments and their buffers, ops that no engine takes, files.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tb.common.errors import PtoError
from tb.dut.manifest import Manifest
from tb.isa.spaces import L0_SEGMENTS, Space, memory_range
from tb.language.collector import collector_off
from tb.language.order.loaded import OPERANDS, unloaded
from tb.language.order.order import Order, order
from tb.language.place import Finding, ProgramError, judged
from tb.language.reader import Source, read_file
from tb.language.rules.check import HINT_RULES, check
from tb.language.rules.compiler import NOT_EXECUTED
from tb.language.rules.remarks import program_remarks
from tb.language.run.walk import trace
from tb.language.trace import Trace
from tb.programs.buffers import (
    Buffer,
    buffers,
    check_arguments,
    check_reach,
    gm_accesses,
    placed,
    scalar_values,
)
from tb.programs.data import Bytes, content, parse_source
from tb.programs.job import Check, Dump, Load, ProgramJob, set_flags
from tb.programs.options import Given, Request
from tb.programs.outputs import Output
from tb.programs.placement import Taken
from tb.programs.served import unserved
from tb.programs.setup import CheckTable, LoadTable, RangeTable
from tb.programs.setup_file import check_range

DEFAULT_SEED = 1


class Inputs:
    """The file of a run with all bytes that its programs load.

    Attributes:
        path: Its path.
        data: Its bytes so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = bytearray()

    def load(self, space: str, address: int, data: Bytes) -> Load:
        """Appends bytes and returns the load."""
        offset = len(self.data)
        self.data += data.tobytes()
        return Load(
            space=space, address=address, file=str(self.path), offset=offset, length=len(data)
        )


@dataclass(frozen=True)
class Prepared:
    """A program that can run.

    Attributes:
        request: The request.
        job: Input of the simulation.
        trace, order: Its ops and their order.
        buffers: Buffers of its arguments.
        outputs: Files to write.
        inputs: Files that it read.
        notes: Remarks on its text and its order.
        warnings: What is wrong with it and does not stop it.
    """

    request: Request
    job: ProgramJob
    trace: Trace
    order: Order
    buffers: tuple[Buffer, ...]
    outputs: tuple[Output, ...]
    inputs: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[Finding, ...] = ()


class _Ranges:
    """Resolution of ranges in options and setup files against the buffers."""

    def __init__(self, found: Sequence[Buffer]) -> None:
        self._buffers = {one.argument.number: one for one in found}

    def resolve(self, table: RangeTable, length: int, where: str) -> tuple[str, int]:
        """Returns memory and address of a range.

        Raises:
            PtoError: it leaves its memory or its buffer, or the argument has none.
        """
        if table.arg is None:
            try:
                check_range(table.space, table.address, length)
            except PtoError as error:
                error.where = where
                raise
            space, addresses = memory_range(table.space)
            return space.name.lower(), addresses.start + table.address
        buffer = self.buffer(table.arg, where)
        if table.address + length > buffer.length:
            raise PtoError(
                f"{length} bytes at offset {table.address:#x} leave {buffer.title}",
                where=where,
                legal=f"it has {buffer.length} bytes",
            )
        return "gm", buffer.address + table.address

    def buffer(self, number: int, where: str) -> Buffer:
        """Returns the buffer of an argument.

        Raises:
            PtoError: the argument is no pointer to GM.
        """
        if number not in self._buffers:
            raise PtoError(
                f"argument {number} has no buffer: it is no pointer to gm",
                where=where,
                legal="arguments with a buffer: " + (", ".join(map(str, self._buffers)) or "none"),
            )
        return self._buffers[number]


@collector_off()
def prepare(
    request: Request, number: int, inputs: Inputs, manifests: Iterable[Manifest]
) -> Prepared:
    """Returns a program ready to run.

    Args:
        request: Its request.
        number: Of the program in the run, from 0.
        inputs: File of the bytes it loads.
        manifests: Engines of the run.

    Raises:
        PtoError: an input is wrong; nothing has been written.
    """
    source = read_file(request.path)
    try:
        return _prepared(source, request, number, inputs, manifests)
    except ProgramError as error:
        errors, warnings = judged((*error.findings, *source.warnings), strict=request.strict)
        raise ProgramError((*errors, *warnings), remedy=error.remedy) from None


def _prepared(
    source: Source, request: Request, number: int, inputs: Inputs, manifests: Iterable[Manifest]
) -> Prepared:
    """Returns a program that was read; arguments and errors as of :func:`prepare`."""
    seed = DEFAULT_SEED if request.seed is None else request.seed
    scalars, known = _signature(source, request)
    found = buffers(request, known.arguments, seed)
    loads = [(table, given, _load_data(table, given, seed, at)) for at, (table, given) in
             enumerate(request.loads)]  # fmt: skip
    own = list(gm_accesses(known))
    avoided = [Taken(start, stop, "the program") for start, stop, _ in own]
    looked_at = ((one.space, one.address, one.length or 1) for one, _ in request.checks)
    dumped = ((one.space, one.address, one.length) for one, _ in request.dumps)
    avoided += [
        Taken(address, address + length, "the setup")
        for space, address, length in (*looked_at, *dumped)
        if space == "gm"
    ]
    taken = [
        Taken(table.address, table.address + len(data), f"what {given.where} loads")
        for table, given, data in loads
        if table.space == "gm"
    ]
    reach = {one.number: one.reach for one in known.arguments}
    found = placed(found, reach, taken, avoided, (seed, number))
    bound = trace(
        source,
        function=request.function,
        arguments={**scalars, **{one.argument.number: one.address for one in found}},
        foreign=request.foreign,
        ubuf_to_ubuf=request.ubuf_to_ubuf,
        ctrl=request.ctrl,
    )
    check_reach(bound, found, frozenset((start, stop) for start, stop, _ in own))
    if request.schedules:
        _check_faults(request)
    # The replays of several schedules show what a hazard does.
    hazard = request.hazard or ("warn" if request.schedules else "")
    sequence = order(bound, hazard=hazard, unit_flags=set_flags(request.unit_flags))
    contents = _contents(request, [(table, len(data)) for table, _, data in loads])
    warnings = _reject(
        request, source, bound, sequence, manifests, unloaded(bound, sequence, contents)
    )
    ranges = _Ranges(found)
    title = str(request.path)
    outputs, dumps = _outputs(request, number, ranges)
    job = ProgramJob(
        path=str(request.path.resolve()),
        title=title,
        function=request.function,
        arguments={**scalars, **{one.argument.number: one.address for one in found}},
        illegal=request.illegal,
        foreign=request.foreign,
        ubuf_to_ubuf=request.ubuf_to_ubuf,
        ctrl=request.ctrl,
        backgrounds=dict(request.backgrounds),
        loads=(
            *(inputs.load("gm", one.address, one.data) for one in found if one.data is not None),
            *(
                inputs.load(*ranges.resolve(table, len(data), given.where), data)
                for table, given, data in loads
            ),
        ),
        dumps=dumps,
        checks=tuple(_check(table, given, ranges, inputs) for table, given in request.checks),
        knobs=dict(request.knobs),
        seed=seed,
        stall_seed=request.stall_seed,
        unit_flags=request.unit_flags,
        faults=tuple(
            table.keywords(*ranges.resolve(table, table.length, where))
            for table, where in request.faults
        ),
        schedules=request.schedules,
    )
    read = [request.path, *([request.setup] if request.setup else [])]
    read += [one.source.path for one in found if not one.source.maker]
    notes = (*source.notes, *sequence.notes, *program_remarks(bound))
    return Prepared(request, job, bound, sequence, found, outputs, tuple(read), notes, warnings)


def _signature(source: Source, request: Request) -> tuple[dict[int, int], Trace]:
    """Returns the values of scalars, and a trace with only these bound."""
    known = trace(
        source,
        function=request.function,
        static=True,
        foreign=request.foreign,
        ubuf_to_ubuf=request.ubuf_to_ubuf,
        ctrl=request.ctrl,
    )
    try:
        check_arguments(request, known.arguments, known.function)
    except PtoError as error:
        # Errors that do not depend on arguments are reported before missing arguments.
        errors, _ = judged(_broken(request, known), strict=request.strict)
        if errors:
            raise ProgramError(errors, remedy=f"correct the program; {error.what}") from None
        raise
    scalars = scalar_values(request, known.arguments)
    if scalars:
        known = trace(
            source,
            function=request.function,
            arguments=scalars,
            static=True,
            foreign=request.foreign,
            ubuf_to_ubuf=request.ubuf_to_ubuf,
            ctrl=request.ctrl,
        )
    return scalars, known


def _contents(
    request: Request, loads: Iterable[tuple[LoadTable, int]]
) -> dict[str, list[tuple[int, int]]]:
    """Returns the ranges of the operands of products that the setup gives contents, by memory."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in OPERANDS}
    for name in request.backgrounds:
        for memory in L0_SEGMENTS if name == Space.L0.name.lower() else (name,):
            if memory in found:
                found[memory].append((0, len(memory_range(memory)[1])))
    for table, length in loads:
        if table.arg is None and table.space in found:
            found[table.space].append((table.address, table.address + length))
    return found


def _reject(
    request: Request,
    source: Source,
    bound: Trace,
    sequence: Order,
    manifests: Iterable[Manifest],
    unwritten: Iterable[Finding],
) -> tuple[Finding, ...]:
    """Raises ProgramError for ops that break rules, hazards, and ops that no engine takes.

    Returns the warnings.
    """
    broken = _broken(request, bound)
    findings = [*source.warnings, *broken, *sequence.findings, *sequence.warnings]
    findings += unserved(bound, manifests)
    # A load that breaks a rule writes nothing: it is the error, not the product after it.
    findings += () if any(one.severity == "error" for one in broken) else unwritten
    errors, warnings = judged(findings, strict=request.strict)
    if errors:
        remedy = "nothing has run: correct the program"
        raise ProgramError((*errors, *warnings), remedy=remedy)
    return warnings


def _check_faults(request: Request) -> None:
    """Raises PtoError where schedules may leave different bytes for another reason than a race."""
    if request.faults and len(request.schedules) > 1:
        raise PtoError(
            "a program with memory errors leaves undefined bytes, which schedules may not compare",
            where=request.faults[0][1],
            remedy="remove [[fault]] from the setup file, or replay without --schedules",
        )


def _broken(request: Request, found: Trace) -> tuple[Finding, ...]:
    """Returns the rules that ops break, except those of illegal ops to be sent.

    Where these are, a hint that does not fit is left to the engine.
    """
    send = request.illegal == "send"
    broken = (*found.findings, *check(found, d_rules=not send))
    kept = (one for one in broken if not send or one.rule not in HINT_RULES)
    return tuple(_not_executed(one) if one.rule in NOT_EXECUTED else one for one in kept)


def _not_executed(found: Finding) -> Finding:
    """Returns the error about an op whose result is undefined and that no model executes."""
    if not found.undefined:
        return found
    message = f"{found.message}; no result is defined that engine and model could agree on"
    return replace(found, message=message, severity="error")


def _load_data(table: LoadTable, given: Given, seed: int, at: int) -> Bytes:
    """Returns the bytes of a load.

    Raises:
        PtoError: they are not available, or the file is too short.
    """
    source = parse_source(str(given.value), given.where, given.folder)
    if source.address is not None or source.align:
        raise PtoError(
            f"{given.value!r} has an address of its own",
            where=given.where,
            remedy="the memory and its address say where it goes",
        )
    data = content(source, given.where, seed=(seed, 3, at))
    if data is None:
        raise PtoError("a load of nothing", where=given.where, remedy="leave the load out")
    if source.maker and (table.offset or table.length not in (None, len(data))):
        raise PtoError(
            f"offset and length of {given.value!r}",
            where=given.where,
            legal="they select a part of a file",
        )
    stop = len(data) if table.length is None else table.offset + table.length
    if stop > len(data) or table.offset >= len(data):
        raise PtoError(
            f"bytes {table.offset}..{max(stop - 1, table.offset)} of {given.value}, which has "
            f"{len(data)}",
            where=given.where,
            legal=f"offset + length up to {len(data)}",
        )
    return data[table.offset : stop]


def _check(table: CheckTable, given: Given, ranges: _Ranges, inputs: Inputs) -> Check:
    """Returns a check with the CRC-32 of its bytes."""
    length, crc32 = table.length, table.crc32
    data: Bytes | None = None
    if length is None or crc32 is None:
        data = content(parse_source(str(given.value), given.where, given.folder), given.where)
        if data is None or length not in (None, len(data)):
            raise PtoError(
                f"a check of {length or 'no'} bytes against {given.value}",
                where=given.where,
                legal="data of the bytes to compare" if data is None else f"{len(data)} bytes",
            )
        length, crc32 = len(data), zlib.crc32(data.tobytes())
    space, address = ranges.resolve(table, length, given.where)
    where = given.where
    if table.arg is not None:
        where += f": {ranges.buffer(table.arg, where).title}"
    return Check(
        space=space,
        address=address,
        length=length,
        crc32=crc32,
        expected=None if data is None else inputs.load(space, address, data),
        where=where,
    )


def _outputs(
    request: Request, number: int, ranges: _Ranges
) -> tuple[tuple[Output, ...], tuple[Dump, ...]]:
    """Returns the files to write, and the dumps of the simulation for them."""
    outputs, dumps = [], []
    for argument, target in sorted(request.outs.items()):
        buffer = ranges.buffer(argument, target.where)
        name = f"out-{number}-{argument}.bin"
        outputs.append(Output(target, name, buffer.length, buffer.dtype))
        dumps.append(Dump(space="gm", address=buffer.address, length=buffer.length, file=name))
    for index, (table, target) in enumerate(request.dumps):
        space, address = ranges.resolve(table, table.length, target.where)
        name = f"dump-{number}-{index}.bin"
        outputs.append(Output(target, name, table.length))
        dumps.append(Dump(space=space, address=address, length=table.length, file=name))
    return tuple(outputs), tuple(dumps)
