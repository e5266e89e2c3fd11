# SPDX-License-Identifier: Apache-2.0
"""The explanation of an op as lines of text; on a terminal with colours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from tb.explain.op import FINE, Explained
from tb.explain.parts import Axis, Link, Part, first_links
from tb.explain.profiles import Difference
from tb.explain.query import Answer
from tb.explain.rules import BROKEN, OPEN
from tb.isa.spaces import Space, hex_address, located

Line = tuple[str, str]
"""Text and its style on a terminal, empty for none."""

HEAD, GOOD, BAD, DIM = "bold", "green", "bold red", "dim"


def extent(space: Space, start: int, size: int) -> str:
    """Returns the bytes from ``start`` on as a range of addresses in their memory."""
    _, first = located(space, start)
    if size == 1:
        return hex_address(space, first)
    return f"{hex_address(space, first)}..{hex_address(space, first + size - 1)}"


def _times(axes: Sequence[Axis], step: str) -> str:
    """Returns the offsets of repetitions: `` + 64*row``."""
    found = []
    for axis in axes:
        stride = getattr(axis, step)
        if axis.count > 1 and stride:
            name = axis.name.replace(" ", "_")
            name = f"({name}-{axis.first})" if axis.first else name
            found.append(f" + {stride}*{name}" if stride > 1 else f" + {name}")
    return "".join(found)


def heading(space: Space, address: int) -> str:
    """Returns the name of the memory at an address of a space as it is printed: ``L0B``."""
    return located(space, address)[0].upper()


def part_line(part: Part) -> str:
    """Returns a part as one line."""
    used = [axis for axis in part.axes if axis.count > 1]
    ranges = [f"{axis.name} {axis.first}..{axis.first + axis.count - 1}" for axis in used]
    size = ", ".join((*ranges, f"{part.size} B each" if ranges else f"{part.size} B"))
    name, start = located(part.space, part.dst)
    target = f"{name.upper()} {start:#x}{_times(used, 'dst')}"
    line = f"{part.kind:<9} {size}: "
    if part.source is not None:
        line += f"{part.source.name} {part.src:#x}{_times(used, 'src')} -> "
    return f"{line}{target}" + (f"; {part.how}" if part.how and part.moved else "")


def source_text(link: Link) -> str:
    """Returns where the bytes of a link come from."""
    part = link.part
    if part.source is None:
        shown = part.pattern.hex(" ")
        return f"{shown} by address" if len(part.pattern) > 1 else f"bytes {shown}"
    ranges = ", ".join(extent(part.source, at, size) for at, size in link.sources)
    return f"{part.source.name} {ranges}" + (" repeated" if link.repeated else "")


def link_line(link: Link, width: int = 0) -> str:
    """Returns a link as one line, without the name of its memory."""
    where = extent(link.part.space, link.dst, link.size)
    return f"{where:<{width}}  {link.kind:<9}  {source_text(link)}{_label(link)}"


def _label(link: Link) -> str:
    return f"  ({link.label})" if link.label else ""


def _links(op: Explained, most: int) -> Iterator[Line]:
    """Yields the ranges of each memory, with the untouched gaps between them."""
    for space, name in op.memories.items():
        links, complete = first_links(op.parts, space, most, repeats=True)
        width = len(extent(space, 0, 2))
        yield f"  {name.upper()}", HEAD
        end = None
        for link in links:
            if end is not None and link.dst > end:
                gap = extent(space, end, link.dst - end)
                yield f"    {gap:<{width}}  untouched", DIM
            yield f"    {link_line(link, width)}", ""
            end = link.dst + link.size
        if not complete:
            total = sum(part.bytes for part in op.parts if part.space is space)
            more = total - sum(link.size for link in links)
            yield f"    ... {more} more bytes; --rows shows more ranges, --bytes some", DIM


def _bytes(op: Explained, most: int) -> Iterator[Line]:
    if not op.parts:
        yield "  no byte is read or written", ""
        return
    for line in op.layout:
        yield f"  {line}", ""
    for part in op.parts:
        yield f"  {part_line(part)}", ""
    for one in op.parameters:
        end = one.address + one.size * one.count - 1
        yield f"  {one.what}: FB {one.address:#x}..{end:#x}, {one.size} B each", ""
    yield from _links(op, most)


def _rules(op: Explained, _: int) -> Iterator[Line]:
    for one in op.rules:
        style = {BROKEN: BAD, OPEN: DIM}.get(one.state, "")
        text = f"  {one.rule:<8} {one.kind}  {one.state:<11}  {one.title}  [{one.source}]"
        if one.knobs:
            text += f"  knob {', '.join(one.knobs)}"
        yield text, style
        if one.message:
            legal = f"; legal: {one.legal}" if one.legal else ""
            yield f"           {one.message}{legal}", style


def _registers(op: Explained, _: int) -> Iterator[Line]:
    for form in op.forms:
        note = f": {form.note}" if form.note else ""
        yield f"  {form.title} [{form.source}]{note}", ""
        yield from ((f"    {line}", "") for line in form.lines)
    for word in op.words:
        note = f": {word.note}" if word.note else ""
        yield f"  {word.name} = {word.value:#018x} [{word.source}]{note}", ""
        fields = [f"[{one.bits}] {one.name} {one.value}" for one in word.fields]
        yield f"    {', '.join(fields)}", ""
    if not op.forms and not op.words:
        yield "  the specification has no register form of it", ""


def _descriptor(op: Explained, _: int) -> Iterator[Line]:
    if not op.descriptor.fields:
        yield "  no descriptor holds the op", ""
        return
    for one in op.descriptor.fields:
        bits = f"{one.msb}:{one.lsb}"
        value = f"{one.value} ({one.value:#x})" if one.value > 9 else f"{one.value}"
        yield f"  {bits:>7}  {one.name:<17} {value:<24} {one.doc}".rstrip(), ""
    words = [f"{word:08x}" for word in reversed(op.descriptor.words)]
    yield "  packed, bit 511 first", ""
    for start in range(0, len(words), 8):
        yield f"    {' '.join(words[start : start + 8])}", ""


def _profiles(op: Explained, _: int) -> Iterator[Line]:
    if not op.profiles:
        yield "  none: rules and bytes are the same with every knob", ""
    knobs = [one for one in op.profiles if one.what != "profile"]
    for one in op.profiles:
        is_knob = one.what != "profile"
        yield f"  {'knob ' if is_knob else ''}{one.what}: {one.here} here, {one.there} there", ""
        if is_knob:
            yield f"    here:  {one.effect_here}", ""
            yield f"    there: {one.effect_there}", ""
        if one.rules_here != one.rules_there:
            here, there = (", ".join(x) or "no rule" for x in (one.rules_here, one.rules_there))
            yield f"    broken here: {here}; there: {there}", ""
        if one.bytes_here != one.bytes_there:
            yield f"    bytes written here: {one.bytes_here}; there: {one.bytes_there}", ""
        same = [knob.what for knob in knobs if knob.changes == one.changes]
        if same and not is_knob:
            yield f"    by knob {same[0]}", ""
        else:
            yield from _changes(one)


def _changes(one: Difference) -> Iterator[Line]:
    """Yields the bytes that differ, those that differ in the same way together."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for change in one.changes:
        space = Space[change.space.upper()]
        where = extent(space, change.start, change.stop - change.start)
        alike.setdefault((space.name, change.here, change.there), []).append(where)
    for (name, here, there), ranges in alike.items():
        yield f"    {name} {', '.join(ranges)}", ""
        yield f"      here:  {here}", ""
        yield f"      there: {there}", ""
    if one.more:
        yield "    ... and more bytes", DIM


Section = Callable[[Explained, int], Iterator[Line]]

SECTIONS: dict[str, tuple[str, Section]] = {
    "rules": ("rules", _rules),
    "bytes": ("bytes", _bytes),
    "registers": ("registers and other forms", _registers),
    "descriptor": ("descriptor", _descriptor),
    "profiles": ("what differs between profiles", _profiles),
}
"""Name of a section to its heading and its lines, in the order of output."""


def op_lines(op: Explained, shown: Iterable[str], most: int) -> Iterator[Line]:
    """Yields the lines on an op.

    Args:
        op: The op.
        shown: Sections.
        most: Ranges that are listed of each memory.
    """
    yield op.text, HEAD
    where = filter(None, (op.place, op.run, op.pipe, f"profile {op.profile}"))
    yield f"  {', '.join(where)}", DIM
    for note in op.notes:
        yield f"  note: {note}", ""
    yield f"  verdict: {op.verdict}", GOOD if op.status in FINE else BAD
    given = {"rules": op.rules, "registers": op.words}
    for name in SECTIONS:
        if name in shown and (not op.bare or given.get(name)):
            title, section = SECTIONS[name]
            yield title, HEAD
            yield from section(op, most)


def answer_lines(answer: Answer, most: int) -> Iterator[Line]:
    """Yields an answer about bytes."""
    space = answer.space
    size = answer.last - answer.first + 1
    yield f"bytes {extent(space, answer.first, size)} of {heading(space, answer.first)}", HEAD
    if not answer.touched:
        yield "  the op touches no byte of this memory", ""
        return
    width = len(extent(space, 0, 2))
    written = [(link.dst, f"written: {link_line(link, width)}", "") for link in answer.written]
    read = [(link.sources[0][0], f"read:    {_reading(space, link)}", "") for link in answer.read]
    for lines, holes, verb, words in (
        (written, answer.untouched, "written:", "untouched"),
        (read, answer.unread, "read:   ", "not read"),
    ):
        for first, last in holes:
            hole = f"{extent(space, first, last - first + 1):<{width}}"
            lines.append((first, f"{verb} {hole}  {words}", DIM))
        lines.sort(key=lambda one: one[0])
        yield from ((f"  {text}", style) for _, text, style in lines[:most])
        if len(lines) > most:
            yield f"  ... {len(lines) - most} more ranges; --rows shows more", DIM
    yield from ((f"  read:    {text}", "") for text in answer.parameters)
    if not answer.complete:
        yield "  ... the answer is not complete: name fewer bytes", DIM


def _reading(space: Space, link: Link) -> str:
    """Returns which bytes of a memory a link reads, and what is made from them."""
    ranges = ", ".join(extent(space, at, size) for at, size in link.sources)
    where = link.part.space
    target = f"{heading(where, link.dst)} {extent(where, link.dst, link.size)}"
    return f"{ranges} -> {target}  {link.kind}{_label(link)}"


def show(lines: Iterable[Line]) -> None:
    """Prints lines to standard output."""
    if not sys.stdout.isatty():
        sys.stdout.write("".join(f"{text}\n" for text, _ in lines))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for text, style in lines:
        console.print(Text(text, style=style))
