# SPDX-License-Identifier: Apache-2.0
"""Arguments of a kernel bound to values: scalars to numbers, GM pointers to buffers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tb.common.errors import PtoError
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.footprint import space_of
from tb.isa.spaces import SIZES
from tb.language.order.touched import touches
from tb.language.place import Finding, ProgramError
from tb.language.trace import Argument, Compute, Move, Trace
from tb.programs.arrays import scalar_bits
from tb.programs.data import Bytes, Source, content, integer, parse_source
from tb.programs.options import Given, Request
from tb.programs.placement import Taken, Wanted, place

POINTER_REMEDY = "give data, such as --arg {number}=zeros:65536 or --arg {number}=in.npy"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer in GM, bound to an argument.

    Attributes:
        argument: The argument.
        source: Its contents.
        data: Its bytes, ``uint8[length]``, None for unchanged GM contents.
        length: Its bytes.
        address: Its address; -1 before it is placed.
    """

    argument: Argument
    source: Source
    data: Bytes | None
    length: int
    address: int = -1

    @property
    def dtype(self) -> str:
        """Element type."""
        assert self.argument.pointer is not None
        return self.argument.pointer.dtype

    @property
    def title(self) -> str:
        """Name in messages."""
        return f"the buffer of argument {self.argument.number} (%{self.argument.name})"

    @property
    def stop(self) -> int:
        """Address after its last byte."""
        return self.address + self.length


def signature(arguments: Iterable[Argument]) -> str:
    """Returns all arguments with their types, for messages."""
    texts = [f"{one.number} (%{one.name}): {one.kind}" for one in arguments]
    return ", ".join(texts) or "none"


def check_arguments(request: Request, arguments: Sequence[Argument], function: str) -> None:
    """Checks that every argument has a value, and that there are no other values.

    Raises:
        PtoError: one is missing, or there is no such argument.
    """
    legal = f"arguments of @{function}: {signature(arguments)}" if function else ""
    legal = legal or f"arguments: {signature(arguments)}"
    numbers = {one.number for one in arguments}
    for number, where in (
        *((number, given.where) for number, given in request.args.items()),
        *((number, target.where) for number, target in request.outs.items()),
        *((one.arg, given.where) for one, given in request.loads if one.arg is not None),
        *((one.arg, target.where) for one, target in request.dumps if one.arg is not None),
        *((one.arg, given.where) for one, given in request.checks if one.arg is not None),
        *((one.arg, where) for one, where in request.faults if one.arg is not None),
    ):
        if number not in numbers:
            raise PtoError(
                f"{request.path}: there is no argument {number}", where=where, legal=legal
            )
    missing = [one for one in arguments if one.number not in request.args]
    if missing:
        values = " ".join(
            f"--arg {one.number}={'zeros:BYTES' if one.in_gm else 'VALUE'}" for one in missing
        )
        raise PtoError(
            f"{request.path}: {'arguments' if len(missing) > 1 else 'argument'} "
            f"{signature(missing)} {'have' if len(missing) > 1 else 'has'} no value",
            where="the arguments of the kernel",
            legal=legal,
            remedy=f"add {values}, or [args] in {request.path.with_suffix('.toml')}",
        )


def scalar_values(request: Request, arguments: Sequence[Argument]) -> dict[int, int]:
    """Returns the values of arguments that are no GM pointers.

    A pointer to another memory is an offset into it.

    Raises:
        PtoError: one is no number, or out of the range of its type.
    """
    found = {}
    for one in arguments:
        if not one.in_gm:
            found[one.number] = argument_bits(request.args[one.number], one)
    return found


def argument_bits(given: Given, one: Argument) -> int:
    """Returns the value of an argument: a number, the bits of a float, or an address.

    Raises:
        PtoError: it is none, or out of the range of the argument's type.
    """
    if one.pointer is None:
        return scalar_bits(given.value, one.kind, given.where)
    try:
        size = SIZES[space_of(one.pointer.space)]
    except KeyError:
        size = 1 << 16  # L0A and L0B exist only on the host.
    offset = integer(str(given.value))
    if offset is None or isinstance(given.value, bool) or not 0 <= offset < size:
        raise PtoError(
            f"{given.value!r} is no address in {one.pointer.space}",
            where=given.where,
            legal=f"argument {one.number} is {one.kind}: an integer 0..{size - 1:#x}",
            remedy=f"--load {one.pointer.space}@ADDRESS=DATA puts data there",
        )
    return offset


def buffers(request: Request, arguments: Sequence[Argument], seed: int) -> tuple[Buffer, ...]:
    """Returns the buffers of the GM pointers with their bytes, not placed yet.

    Raises:
        PtoError: the data of one cannot be used.
    """
    found = []
    for one in arguments:
        if one.in_gm:
            assert one.pointer is not None
            given = request.args[one.number]
            source = _source(given, one)
            data = content(source, given.where, dtype=one.pointer.dtype, seed=(seed, 1, one.number))
            length = source.length if data is None else len(data)
            found.append(Buffer(one, source, data, length))
    return tuple(found)


def _source(given: Given, argument: Argument) -> Source:
    number = argument.number
    text = str(given.value)
    plain = not isinstance(given.value, str) or integer(text) is not None
    if plain:
        raise PtoError(
            f"argument {number} (%{argument.name}) is {argument.kind}, a number is no buffer: "
            f"{text}",
            where=given.where,
            legal="data for a buffer",
            remedy=POINTER_REMEDY.format(number=number),
        )
    return parse_source(text, given.where, given.folder)


def wanted(buffer: Buffer, length: int) -> Wanted:
    """Returns the placement request of a buffer, with room for ``length`` bytes."""
    size = ELEMENT_BYTES.get(buffer.dtype, 1)
    align = max(buffer.source.align, size)
    return Wanted(buffer.title, length, align, buffer.source.address)


def gm_accesses(trace: Trace) -> Iterator[tuple[int, int, Move | Compute]]:
    """Yields the range ``start, stop`` in GM that a step touches, and the step.

    Of a static trace only steps with constant addresses are included: addresses that depend on a GM
    argument are unknown.
    """
    for step in trace.steps:
        if isinstance(step, Move | Compute):
            for region, _ in touches(step):
                if region.space == "gm":
                    yield region.base, region.end, step


def placed(
    found: Sequence[Buffer],
    room: Mapping[int, int],
    taken: Iterable[Taken],
    avoided: Iterable[Taken],
    seed: tuple[int, int],
) -> tuple[Buffer, ...]:
    """Returns buffers with their addresses.

    Args:
        found: Buffers.
        room: Number of an argument to the bytes that the program touches from its address on.
        taken: Ranges with given contents.
        avoided: Ranges that the program touches by constant addresses.
        seed: Of the addresses, and the program's number in the run: each program has other places.

    Raises:
        PtoError: fixed addresses overlap or leave GM.
    """
    free = [
        max(one.length, room.get(one.argument.number, 0)) if one.source.address is None else 0
        for one in found
    ]
    wanted = [
        Wanted(
            one.title,
            free[index] or one.length,
            max(one.source.align, ELEMENT_BYTES.get(one.dtype, 1)),
            one.source.address,
        )
        for index, one in enumerate(found)
    ]
    addresses = place(wanted, (seed[0], 2, seed[1]), taken=taken, avoided=avoided)
    return tuple(
        replace(one, address=address) for one, address in zip(found, addresses, strict=True)
    )


def check_reach(trace: Trace, found: Sequence[Buffer], own: frozenset[tuple[int, int]]) -> None:
    """Checks that a program touches only its buffers and ranges given by address.

    Args:
        trace: The program with its arguments bound.
        found: Buffers, placed.
        own: Ranges ``start, stop`` of accesses by constant addresses.

    Raises:
        ProgramError: an op leaves a buffer; with the first op and the size required.
    """
    ordered = sorted(found, key=lambda one: one.address)
    starts = [one.address for one in ordered]
    known = {one.number: one.reach for one in trace.arguments}
    reaches = [max(one.length, known.get(one.argument.number, 0)) for one in ordered]
    short = [index for index, one in enumerate(ordered) if reaches[index] > one.length]
    first: dict[int, tuple[int, int, Move | Compute]] = {}
    need: dict[int, int] = {}
    for start, stop, step in gm_accesses(trace):
        index = next(
            (n for n in short if 0 <= start - starts[n] < reaches[n] and stop > ordered[n].stop),
            bisect_right(starts, start) - 1,
        )
        inside = index >= 0 and stop <= ordered[index].stop
        if inside or (start, stop) in own or not ordered:
            continue
        # An access that begins below its buffer is reported for that buffer.
        if index < 0 or (start >= starts[index] + reaches[index] and index + 1 < len(ordered)):
            index += 1
        first.setdefault(index, (start, stop, step))
        need[index] = max(need.get(index, 0), stop - starts[index])
    findings = []
    for index, (start, stop, step) in first.items():
        one = ordered[index]
        number = one.argument.number
        findings.append(
            Finding(
                step.place,
                f"pto.{step.name}",
                "",
                f"it touches bytes {start - one.address}..{stop - one.address - 1} of {one.title}, "
                f"which has {one.length} bytes",
                f"a buffer of at least {need[index]} bytes for argument {number}"
                if start >= one.address
                else "bytes from the start of the buffer on",
            )
        )
    if findings:
        raise ProgramError(tuple(findings), remedy="give a larger buffer, or correct the program")
