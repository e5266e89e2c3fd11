# SPDX-License-Identifier: Apache-2.0
"""Source and destination of an op as lines of cells, for pictures.

Every axis of a part has a role on each side: it goes along a line, from line to line, from panel to
panel beside it, or from stack to stack below it. ``VIEWS`` has a row for each way to place bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from tb.explain.parts import DATA, Axis, Part
from tb.isa.spaces import Space, located

ALONG, DOWN, PANEL, STACK = "along", "down", "panel", "stack"

_ROWS = {
    **dict.fromkeys(("loop0", "loop1", "loop2"), (STACK, STACK)),
    **dict.fromkeys(("row", "burst", "run"), (DOWN, DOWN)),
}

VIEWS: dict[str, dict[str, tuple[str, str]]] = {
    "rows": {**_ROWS, "element": (ALONG, ALONG), "copy": (ALONG, ALONG)},
    "nd2nz": {"matrix": (STACK, STACK), "C0 column": (ALONG, PANEL), "n": (DOWN, DOWN)},
    "dn2nz": {
        "matrix": (STACK, STACK), "C0 column": (DOWN, PANEL), "n": (ALONG, DOWN),
        "lane": (DOWN, ALONG),
    },
    "fractals": {"C0 column": (PANEL, PANEL), "row": (DOWN, DOWN)},
    "transposed": {
        "source column": (PANEL, DOWN), "row block": (DOWN, PANEL),
        "lane": (ALONG, DOWN), "lane byte": (ALONG, DOWN), "nibble": (ALONG, DOWN),
        "row": (DOWN, ALONG), "row pair": (DOWN, ALONG),
    },
    "scales": {"x": (DOWN, DOWN), "y": (ALONG, ALONG)},
    "small nd2nz": {"matrix": (STACK, STACK), "n": (DOWN, DOWN)},
    "small dn2nz": {"matrix": (STACK, STACK), "n": (ALONG, DOWN), "lane": (DOWN, ALONG)},
    "nz2nd": {
        "repeat": (STACK, STACK), "group": (PANEL, ALONG), "m": (DOWN, DOWN),
        "lane": (ALONG, ALONG), "lane pair": (ALONG, ALONG),
    },
    "nz2dn": {
        "repeat": (STACK, STACK), "group": (PANEL, DOWN), "lane": (ALONG, DOWN),
        "m": (DOWN, ALONG), "m pair": (DOWN, ALONG),
    },
    "nz2nz": {
        "repeat": (STACK, STACK), "group": (PANEL, PANEL), "half": (ALONG, PANEL),
        "m": (DOWN, DOWN), "lane": (ALONG, ALONG),
    },
}  # fmt: skip
"""Way to place bytes to the role of each axis at the source and at the destination."""

COLOURED = ("row", "row pair", "burst", "run", "n", "m", "m pair", "x")
"""Axes whose iterations have a colour of their own."""

BLOCKS = ("group", "half", "C0 column", "y")
"""Axes whose iterations are drawn as cells of their own."""

MOST = {ALONG: 64, DOWN: 24, PANEL: 6, STACK: 3}
"""Iterations of an axis that are drawn, by its role."""

COLOURS = MOST[DOWN]
"""Colours of iterations: lines that are drawn differ."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Neighbouring bytes of a line, of one block: a group of channels, a C0 column.

    Attributes:
        x, size: First byte of the line and bytes.
        block: Numbers of the block.
        kind: Kind of the bytes, or ``read``.
        colour: Number of the colour, -1 for the kind's own.
        start: Address of the first byte.
        other: The bytes at the other side, as text; empty for none.
    """

    x: int
    size: int
    block: tuple[int, ...]
    kind: str
    colour: int
    start: int
    other: str

    @property
    def end(self) -> int:
        """First byte of the line after it."""
        return self.x + self.size

    def meets(self, other: Cell) -> bool:
        """Returns whether a cell that begins later is of the same block and colour, and adjoins."""
        alike = (self.block, self.kind, self.colour) == (other.block, other.kind, other.colour)
        return alike and self.x <= other.x <= self.end


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a tile: its place, its address, and its cells."""

    stack: int
    panel: int
    y: int
    address: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """An axis on one side: its role, and the bytes of an iteration here and on the other side."""

    axis: Axis
    role: str
    here: int
    there: int

    @property
    def lines(self) -> int:
        """Lines, or other places of its role, of an iteration: a pair is two."""
        return 2 if self.axis.name.endswith("pair") else 1


@dataclass(frozen=True, slots=True)
class _Face:
    """A part on one side: its axes, the first address, and the bytes of a cell."""

    part: Part
    source: bool
    ways: tuple[_Way, ...]
    base: int
    size: int

    def of(self, role: str) -> list[_Way]:
        """Returns the axes of a role."""
        return [way for way in self.ways if way.role == role]

    @property
    def origin(self) -> int:
        """Address of line 0 of the part, plus the offset in the line."""
        return self.base - sum(x.axis.first * x.here for x in self.ways if x.role != ALONG)

    @property
    def pieces(self) -> list[tuple[int, int, int]]:
        """Offset from the address of a unit, offset in the line, and line, of each piece."""
        if not self.source:
            return [(0, 0, 0)]
        down = any(way.lines > 1 for way in self.of(DOWN))
        return [(at, 0, k) if down else (at, at, 0) for k, at in enumerate(self.part.pieces)]

    def other(self, there: int) -> str:
        """Returns the bytes ``there`` after the first ones on the other side, as text."""
        part = self.part
        if self.source:
            return place(part.space, part.dst + there, part.size)
        if part.source is None:
            return part.how
        return place(part.source, part.src + there, part.piece)


def _face(part: Part, view: str, *, source: bool) -> _Face:
    ways = []
    for axis in part.axes:
        at_source, at_target = VIEWS[view][axis.name]
        if source:
            ways.append(_Way(axis, at_source, axis.src, axis.dst))
        else:
            ways.append(_Way(axis, at_target, axis.dst, axis.src))
    base, size = (part.src, part.piece) if source else (part.dst, part.size)
    return _Face(part, source, tuple(ways), base, size)


@dataclass(frozen=True)
class Tile:
    """The bytes of one memory.

    Attributes:
        space: The memory.
        faces: Parts that are read or written there.
        weights: How many places an iteration of an axis is apart from the next, in its role.
        lines: Lines, by stack, panel and y.
    """

    space: Space
    faces: tuple[_Face, ...]
    weights: Mapping[str, int]
    lines: tuple[Line, ...]

    @property
    def source(self) -> bool:
        """Whether the bytes are read."""
        return self.faces[0].source

    @cached_property
    def width(self) -> int:
        """Bytes of the longest line."""
        return max(cell.end for line in self.lines for cell in line.cells)

    @cached_property
    def pitch(self) -> int:
        """Bytes from line to line, 0 where they do not follow each other regularly."""
        down = [[way for way in face.of(DOWN) if way.axis.count > 1] for face in self.faces]
        found = {min(way.here // way.lines for way in ways) for ways in down if ways}
        return found.pop() if len(found) == 1 else 0

    @property
    def gap(self) -> int:
        """Bytes from the end of the longest line to the start of the next one."""
        return max(0, self.pitch - self.width)

    @property
    def left_out(self) -> str:
        """What is shown of axes that are longer than a picture, as text, or empty."""
        found: list[str] = []
        for face in self.faces:
            for way in face.ways:
                axis, most = way.axis, MOST[way.role]
                if way.role != DOWN and axis.count > most:
                    last = axis.first + most - 1
                    found.append(f"{axis.name} {axis.first}..{last} of {axis.count}")
            down = [way.axis for way in face.of(DOWN) if way.axis.count > 1]
            lines = 1 + sum((axis.count - 1) * self.weights[axis.name] for axis in down)
            if lines > MOST[DOWN]:
                names = " and ".join(axis.name for axis in down)
                found.append(f"{MOST[DOWN]} of {lines} lines of {names}")
        return f"shown: {', '.join(dict.fromkeys(found))}" if found else ""

    def names(self, role: str) -> str:
        """Returns the axes of a role that are used, such as ``row``, or nothing."""
        axes = [way.axis for face in self.faces for way in face.of(role)]
        return " and ".join(dict.fromkeys(x.name for x in axes if x.count > 1 or x.first))


def tiles(parts: Sequence[Part], view: str) -> tuple[Tile, ...]:
    """Returns the tiles of an op, sources first."""
    found: dict[tuple[bool, Space], list[_Face]] = {}
    for source in (True, False):
        for part in parts:
            space = part.source if source else part.space
            if space is not None:
                found.setdefault((source, space), []).append(_face(part, view, source=source))
    return tuple(_tile(tuple(faces), space) for (_, space), faces in found.items())


def _tile(faces: tuple[_Face, ...], space: Space) -> Tile:
    weights = _weights(faces)
    start = min(face.origin for face in faces)
    found: dict[tuple[int, int, int], list[Cell]] = {}
    for face in faces:
        for key, cell in _cells(face, start, weights):
            found.setdefault(key, []).append(cell)
    # Lines count from 0, and panels that are left out take no room.
    first = min(y for _, _, y in found)
    panels = {panel: place for place, panel in enumerate(sorted({key[1] for key in found}))}
    lines = tuple(
        Line(stack, panels[panel], y - first, cells[0].start - cells[0].x, _joined(cells))
        for (stack, panel, y), cells in sorted(found.items())
    )
    return Tile(space, faces, weights, lines)


def _weights(faces: Sequence[_Face]) -> dict[str, int]:
    """Returns for each axis how many places one iteration is apart from the next, in its role."""
    ways = [way for face in faces for way in face.ways]
    counts: dict[str, int] = {}
    for way in ways:
        name = way.axis.name
        counts[name] = max(counts.get(name, 1), way.axis.count * way.lines)
    found, total = {}, dict.fromkeys(MOST, 1)
    for name, way in reversed({way.axis.name: way for way in ways}.items()):
        found[name] = total[way.role] * way.lines
        total[way.role] *= counts[name]
    return found


def _cells(
    face: _Face, start: int, weights: Mapping[str, int]
) -> Iterator[tuple[tuple[int, int, int], Cell]]:
    """Yields the cells of a part, each with stack, panel and number of its line.

    ``start`` is the address that has offset 0 in line 0.
    """
    part, ways = face.part, face.ways
    kind = "read" if face.source else part.kind
    end = MOST[DOWN] + sum(way.axis.first * weights[way.axis.name] for way in face.of(DOWN))
    for numbers in product(*(range(min(way.axis.count, MOST[way.role])) for way in ways)):
        steps = [*zip(ways, numbers, strict=True)]
        stack, panel, down = (
            sum((w.axis.first + k) * weights[w.axis.name] for w, k in steps if w.role == role)
            for role in (STACK, PANEL, DOWN)
        )
        if down >= end:
            continue
        shown = {way.axis.name: way.axis.first + k for way, k in steps}
        block = tuple(k for name, k in shown.items() if name in BLOCKS)
        colour = -1
        if face.source or part.kind == DATA:
            colour = sum(k for name, k in shown.items() if name in COLOURED) % COLOURS
        at = face.base + sum(way.here * k for way, k in steps)
        x = face.origin - start + sum(way.here * k for way, k in steps if way.role == ALONG)
        other = face.other(sum(way.there * k for way, k in steps))
        for offset, shift, line in face.pieces:
            cell = Cell(x + shift, face.size, block, kind, colour, at + offset, other)
            yield (stack, panel, down + line), cell


def place(space: Space, at: int, size: int) -> str:
    """Returns bytes as text, with the name of their memory."""
    name, start = located(space, at)
    return f"{name.upper()} {start:#x}..{start + size - 1:#x}"


def _joined(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Returns cells of a line, neighbours of one colour as one."""
    found: list[Cell] = []
    for cell in sorted(cells, key=lambda x: (x.x, x.size)):
        last = found[-1] if found else None
        if last is None or not last.meets(cell):
            found.append(cell)
        elif cell.end > last.end:
            first, final = last.other.partition("..")[0], cell.other.rpartition("..")[2]
            other = last.other if last.other == cell.other else f"{first}..{final}"
            found[-1] = replace(last, size=cell.end - last.x, other=other)
    return tuple(found)
