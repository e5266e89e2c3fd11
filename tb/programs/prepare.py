# SPDX-License-Identifier: Apache-2.0
"""Converts a program and its options to a :class:`tb.programs.job.ProgramJob`.

All input errors are found here, before anything is built: the text, its rules, the order of its
ops, arguments and their buffers, ops that no engine takes, files.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import resolved
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
from tb.language.run.walk import arguments_of, chosen_function, trace
from tb.language.trace import Trace
from tb.programs.buffers import Bound, bind, check_reach, gm_accesses, placed, values
from tb.programs.data import Bytes, content, parse_source
from tb.programs.job import Check, Dump, Load, ProgramJob, set_flags
from tb.programs.outputs import Output
from tb.programs.placement import Taken
from tb.programs.request import Request
from tb.programs.served import unserved
from tb.programs.setup import RangeTable, Setup, check_range

DEFAULT_SEED = 1


@dataclass(frozen=True)
class Prepared:
    """A program that can run.

    Attributes:
        request: The request.
        job: Input of the simulation.
        trace, order: Its ops and their order.
        arguments: Its arguments with their values and buffers.
        outputs: Files to write.
        inputs: Files that it read.
        notes: Remarks on its text and its order.
        warnings: What is wrong with it and does not stop it.
    """

    request: Request
    job: ProgramJob
    trace: Trace
    order: Order
    arguments: tuple[Bound, ...]
    outputs: tuple[Output, ...]
    inputs: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[Finding, ...] = ()


Buffers = Mapping[int, Bound]
"""Number of an argument that is a GM pointer to the argument."""


def _region(table: RangeTable, length: int, where: str, buffers: Buffers) -> tuple[str, int]:
    """Returns memory and address of a range of a setup.

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
    buffer = _buffer(table.arg, where, buffers)
    if table.address + length > buffer.length:
        raise PtoError(
            f"{length} bytes at offset {table.address:#x} leave {buffer.title}",
            where=where,
            legal=f"it has {buffer.length} bytes",
        )
    return "gm", buffer.value + table.address


def _buffer(number: int, where: str, buffers: Buffers) -> Bound:
    """Returns an argument with a buffer; raises PtoError where it is not a pointer to GM."""
    if number not in buffers:
        raise PtoError(
            f"argument {number} has no buffer: it is not a pointer to gm",
            where=where,
            legal="arguments with a buffer: " + (", ".join(map(str, buffers)) or "none"),
        )
    return buffers[number]


@collector_off()
def prepare(request: Request, number: int, manifests: Iterable[Manifest]) -> Prepared:
    """Returns a program ready to run.

    Args:
        request: Its request.
        number: Of the program in the run, from 0.
        manifests: Engines of the run.

    Raises:
        PtoError: an input is wrong; nothing has been written.
    """
    source = read_file(request.path)
    try:
        return _prepared(source, request, number, manifests)
    except ProgramError as error:
        errors, warnings = judged((*error.findings, *source.warnings), strict=request.setup.strict)
        raise ProgramError((*errors, *warnings), remedy=error.remedy) from None


def _prepared(
    source: Source, request: Request, number: int, manifests: Iterable[Manifest]
) -> Prepared:
    """Returns a program that was read; arguments and errors as of :func:`prepare`."""
    setup = request.setup
    seed = DEFAULT_SEED if setup.seed is None else setup.seed
    bound = _bound(source, request, seed)
    scalars = values(one for one in bound if not one.source)
    known = _walk(source, setup, arguments=scalars, static=True)
    loads = [_load_data(request, at, seed) for at in range(len(setup.load))]
    own = [(start, stop) for start, stop, _ in gm_accesses(known)]
    bound = _placed(request, bound, known, own, loads, (seed, number))
    walked = _walk(source, setup, arguments=values(bound))
    check_reach(walked, bound, frozenset(own))
    if request.schedules:
        _check_faults(request)
    # The replays of several schedules show what a hazard does.
    hazard = setup.hazard or ("warn" if request.schedules else "")
    sequence = order(walked, hazard=hazard, unit_flags=set_flags(setup.unit_flags))
    unwritten = unloaded(walked, sequence, _contents(setup, loads))
    warnings = _reject(request, source, walked, sequence, manifests, unwritten)
    outputs, job = _job(request, number, seed, bound, loads)
    read = [request.path, *([request.file] if request.file else [])]
    read += [one.source.path for one in bound if one.source and not one.source.maker]
    notes = (*source.notes, *sequence.notes, *program_remarks(walked))
    return Prepared(request, job, walked, sequence, bound, outputs, tuple(read), notes, warnings)


def _walk(
    source: Source, setup: Setup, *, arguments: Mapping[int, int], static: bool = False
) -> Trace:
    return trace(
        source,
        function=setup.function,
        arguments=arguments,
        static=static,
        foreign=setup.foreign,
        ubuf_to_ubuf=setup.ubuf_to_ubuf,
        ctrl=setup.ctrl,
    )


def _bound(source: Source, request: Request, seed: int) -> tuple[Bound, ...]:
    """Returns the arguments; errors that do not depend on them are reported first."""
    try:
        function = chosen_function(source, request.setup.function)
        return bind(request, function, arguments_of(source, function), seed)
    except PtoError as error:
        known = _walk(source, request.setup, arguments={}, static=True)
        errors, _ = judged(_broken(request, known), strict=request.setup.strict)
        if errors:
            raise ProgramError(errors, remedy=f"correct the program; {error.what}") from None
        raise


def _placed(
    request: Request,
    bound: Sequence[Bound],
    known: Trace,
    own: Iterable[tuple[int, int]],
    loads: Iterable[Bytes],
    seed: tuple[int, int],
) -> tuple[Bound, ...]:
    """Returns the arguments with the addresses of buffers."""
    setup = request.setup
    avoided = [
        (one.address, one.address + (one.length or 1))
        for one in (*setup.check, *setup.dump)
        if one.space == "gm"
    ]
    taken = [
        Taken(one.address, one.address + len(data), f"what {request.given['load', at].where} loads")
        for at, (one, data) in enumerate(zip(setup.load, loads, strict=True))
        if one.space == "gm"
    ]
    reach = {one.number: one.reach for one in known.arguments}
    return placed(bound, reach, taken, [*own, *avoided], seed)


def _job(
    request: Request,
    number: int,
    seed: int,
    bound: Sequence[Bound],
    loads: Sequence[Bytes],
) -> tuple[tuple[Output, ...], ProgramJob]:
    """Returns the files to write, and the input of the simulation."""
    setup, buffers = request.setup, {one.argument.number: one for one in bound if one.source}
    outputs, dumps = _outputs(request, number, buffers)
    filled = [
        Load(space="gm", address=one.value, data=one.data.tobytes())
        for one in bound
        if one.data is not None
    ]
    for at, (table, data) in enumerate(zip(setup.load, loads, strict=True)):
        space, address = _region(table, len(data), request.given["load", at].where, buffers)
        filled.append(Load(space=space, address=address, data=data.tobytes()))
    job = ProgramJob(
        **setup.behaviour(),
        path=str(resolved(request.path)),
        title=str(request.path),
        arguments=values(bound),
        loads=tuple(filled),
        dumps=dumps,
        checks=tuple(_check(request, at, buffers) for at in range(len(setup.check))),
        seed=seed,
        faults=tuple(
            table.keywords(*_region(table, table.length, request.given["fault", at].where, buffers))
            for at, table in enumerate(setup.fault)
        ),
        schedules=request.schedules,
    )
    return outputs, job


def _contents(setup: Setup, loads: Iterable[Bytes]) -> dict[str, list[tuple[int, int]]]:
    """Returns the ranges of the operands of products that the setup gives contents, by memory."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in OPERANDS}
    for name in setup.backgrounds:
        for memory in L0_SEGMENTS if name == Space.L0.name.lower() else (name,):
            if memory in found:
                found[memory].append((0, len(memory_range(memory)[1])))
    for table, data in zip(setup.load, loads, strict=True):
        if table.space in found:
            found[table.space].append((table.address, table.address + len(data)))
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
    errors, warnings = judged(findings, strict=request.setup.strict)
    if errors:
        remedy = "nothing has run: correct the program"
        raise ProgramError((*errors, *warnings), remedy=remedy)
    return warnings


def _check_faults(request: Request) -> None:
    """Raises PtoError where schedules may leave different bytes for another reason than a race."""
    if request.setup.fault and len(request.schedules) > 1:
        raise PtoError(
            "a program with memory errors leaves undefined bytes, which schedules may not compare",
            where=request.given["fault", 0].where,
            remedy="remove [[fault]] from the setup file, or replay without --schedules",
        )


def _broken(request: Request, found: Trace) -> tuple[Finding, ...]:
    """Returns the rules that ops break, except those of illegal ops to be sent.

    Where these are, a hint that does not fit is left to the engine.
    """
    send = request.setup.illegal == "send"
    broken = (*found.findings, *check(found, d_rules=not send))
    kept = (one for one in broken if not send or one.rule not in HINT_RULES)
    return tuple(_not_executed(one) if one.rule in NOT_EXECUTED else one for one in kept)


def _not_executed(found: Finding) -> Finding:
    """Returns the error about an op whose result is undefined and that no model executes."""
    if not found.undefined:
        return found
    message = f"{found.message}; no result is defined that engine and model could agree on"
    return replace(found, message=message, severity="error")


def _load_data(request: Request, at: int, seed: int) -> Bytes:
    """Returns the bytes of load number ``at``.

    Raises:
        PtoError: they are not available, or the file is too short.
    """
    table, given = request.setup.load[at], request.given["load", at]
    source = parse_source(str(given.value), given.where, given.folder)
    if source.address is not None or source.align:
        raise PtoError(
            f"{given.value!r} has an address of its own",
            where=given.where,
            remedy="give the memory and its address",
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


def _check(request: Request, at: int, buffers: Buffers) -> Check:
    """Returns check number ``at`` with the CRC-32 of its bytes."""
    table, given = request.setup.check[at], request.given["check", at]
    length, crc32, where = table.length, table.crc32, given.where
    data: Bytes | None = None
    if length is None or crc32 is None:
        data = content(parse_source(table.data, where, given.folder), where)
        if data is None or length not in (None, len(data)):
            raise PtoError(
                f"a check of {length or 'no'} bytes against {table.data}",
                where=where,
                legal="data of the bytes to compare" if data is None else f"{len(data)} bytes",
            )
        length, crc32 = len(data), zlib.crc32(data.tobytes())
    space, address = _region(table, length, where, buffers)
    if table.arg is not None:
        where += f": {_buffer(table.arg, where, buffers).title}"
    return Check(
        space=space,
        address=address,
        length=length,
        crc32=crc32,
        expected=None if data is None else data.tobytes(),
        where=where,
    )


def _outputs(
    request: Request, number: int, buffers: Buffers
) -> tuple[tuple[Output, ...], tuple[Dump, ...]]:
    """Returns the files to write, and the dumps of the simulation for them."""
    outputs, dumps = [], []
    for argument in sorted(request.setup.out):
        target = request.given["out", argument]
        buffer = _buffer(argument, target.where, buffers)
        name = f"out-{number}-{argument}.bin"
        outputs.append(Output(target, name, buffer.length, buffer.dtype))
        dumps.append(Dump(space="gm", address=buffer.value, length=buffer.length, file=name))
    for index, table in enumerate(request.setup.dump):
        target = request.given["dump", index]
        space, address = _region(table, table.size, target.where, buffers)
        name = f"dump-{number}-{index}.bin"
        outputs.append(Output(target, name, table.size))
        dumps.append(Dump(space=space, address=address, length=table.size, file=name))
    return tuple(outputs), tuple(dumps)
