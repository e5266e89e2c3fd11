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
from tb.programs.placement import Taken, Wanted, place
from tb.programs.request import Given, Request
from tb.programs.setup import TABLES


@dataclass(frozen=True, slots=True)
class Bound:
    """An argument of the kernel with its value.

    Attributes:
        argument: The argument.
        value: An integer, the bits of a float, an offset into an on-chip memory, or the address of
            the buffer, which is -1 before it is placed.
        source: Contents of its buffer; None for an argument that is not a GM pointer.
        data: The bytes of these, ``uint8[length]``, None for unchanged GM contents.
        length: Bytes of the buffer.
    """

    argument: Argument
    value: int = -1
    source: Source | None = None
    data: Bytes | None = None
    length: int = 0

    @property
    def dtype(self) -> str:
        """Element type of the buffer."""
        assert self.argument.pointer is not None
        return self.argument.pointer.dtype

    @property
    def title(self) -> str:
        """Name of the buffer in messages."""
        return f"the buffer of argument {self.argument.number} (%{self.argument.name})"

    @property
    def stop(self) -> int:
        """Address after the last byte of the buffer."""
        return self.value + self.length

    def wanted(self, reach: int) -> Wanted:
        """Returns the placement of the buffer; a drawn place has room for ``reach`` bytes."""
        assert self.source is not None
        fixed = self.source.address
        length = self.length if fixed is not None else max(self.length, reach)
        align = max(self.source.align, ELEMENT_BYTES.get(self.dtype, 1))
        return Wanted(self.title, length, align, fixed)


def values(bound: Iterable[Bound]) -> dict[int, int]:
    """Returns the number of each argument with its value."""
    return {one.argument.number: one.value for one in bound}


def signature(arguments: Iterable[Argument]) -> str:
    """Returns all arguments with their types, for messages."""
    texts = [f"{one.number} (%{one.name}): {one.kind}" for one in arguments]
    return ", ".join(texts) or "none"


def bind(
    request: Request, function: str, arguments: Sequence[Argument], seed: int
) -> tuple[Bound, ...]:
    """Returns all arguments of a function with their values; buffers are not placed yet.

    Raises:
        PtoError: a value is missing or cannot be used, or there is no such argument.
    """
    _check_numbers(request, arguments, f"arguments of @{function}: {signature(arguments)}")
    return tuple(_bound(one, request.given["args", one.number], seed) for one in arguments)


def _check_numbers(request: Request, arguments: Sequence[Argument], legal: str) -> None:
    """Raises PtoError for an argument without a value, or a value of no argument."""
    numbers = {one.number for one in arguments}
    for (key, at), given in request.given.items():
        number = getattr(request.setup, key)[at].arg if key in TABLES else at
        if number is not None and number not in numbers:
            what = f"{request.path}: there is no argument {number}"
            raise PtoError(what, where=given.where, legal=legal)
    missing = [one for one in arguments if ("args", one.number) not in request.given]
    if missing:
        several = len(missing) > 1
        texts = " ".join(
            f"--arg {one.number}={'zeros:BYTES' if one.in_gm else 'VALUE'}" for one in missing
        )
        raise PtoError(
            f"{request.path}: {'arguments' if several else 'argument'} {signature(missing)} "
            f"{'have' if several else 'has'} no value",
            where="the arguments of the kernel",
            legal=legal,
            remedy=f"add {texts}, or [args] in {request.path.with_suffix('.toml')}",
        )


def _bound(argument: Argument, given: Given, seed: int) -> Bound:
    number = argument.number
    if not argument.in_gm:
        return Bound(argument, argument_bits(given, argument))
    if not isinstance(given.value, str) or integer(given.value) is not None:
        raise PtoError(
            f"argument {number} (%{argument.name}) is {argument.kind}, a number is not a buffer: "
            f"{given.value}",
            where=given.where,
            legal="data for a buffer",
            remedy=f"give data, such as --arg {number}=zeros:65536 or --arg {number}=in.npy",
        )
    assert argument.pointer is not None
    source = parse_source(given.value, given.where, given.folder)
    data = content(source, given.where, dtype=argument.pointer.dtype, seed=(seed, 1, number))
    return Bound(argument, -1, source, data, source.length if data is None else len(data))


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
            f"{given.value!r} is not an address in {one.pointer.space}",
            where=given.where,
            legal=f"argument {one.number} is {one.kind}: an integer 0..{size - 1:#x}",
            remedy=f"--load {one.pointer.space}@ADDRESS=DATA puts data there",
        )
    return offset


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
    bound: Sequence[Bound],
    reach: Mapping[int, int],
    taken: Iterable[Taken],
    avoided: Iterable[tuple[int, int]],
    seed: tuple[int, int],
) -> tuple[Bound, ...]:
    """Returns arguments with the addresses of buffers.

    Args:
        bound: The arguments.
        reach: Number of an argument to the bytes that the program touches from its address on.
        taken: Ranges with given contents.
        avoided: Ranges ``start, stop`` that the program touches by constant addresses.
        seed: Of the addresses, and the program's number in the run: each program has other places.

    Raises:
        PtoError: fixed addresses overlap or leave GM.
    """
    found = [one for one in bound if one.source]
    wanted = [one.wanted(reach.get(one.argument.number, 0)) for one in found]
    addresses = iter(place(wanted, (seed[0], 2, seed[1]), taken=taken, avoided=avoided))
    return tuple(replace(one, value=next(addresses)) if one.source else one for one in bound)


def check_reach(trace: Trace, bound: Sequence[Bound], own: frozenset[tuple[int, int]]) -> None:
    """Checks that a program touches only its buffers and ranges given by address.

    Args:
        trace: The program with its arguments bound.
        bound: Its arguments, placed.
        own: Ranges ``start, stop`` of accesses by constant addresses.

    Raises:
        ProgramError: an op leaves a buffer; with the first op and the size required.
    """
    ordered = sorted((one for one in bound if one.source), key=lambda one: one.value)
    starts = [one.value for one in ordered]
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
                f"it touches bytes {start - one.value}..{stop - one.value - 1} of {one.title}, "
                f"which has {one.length} bytes",
                f"a buffer of at least {need[index]} bytes for argument {number}"
                if start >= one.value
                else "bytes from the start of the buffer on",
            )
        )
    if findings:
        raise ProgramError(tuple(findings), remedy="give a larger buffer, or correct the program")
