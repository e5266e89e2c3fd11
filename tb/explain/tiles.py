# SPDX-License-Identifier: Apache-2.0
"""Source and destination of an op as lines of cells, for pictures.

Every axis of a part has a role on each side: it goes along a line, from line to line, from panel to
panel beside it, or from stack to stack below it. ``VIEWS`` has a row for each way to place bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from tb.explain.parts import Axis, Part
from tb.isa.spaces import Space, located

ALONG, DOWN, PANEL, STACK = "along", "down", "panel", "stack"

_ROWS = {"loop": (STACK, STACK), "row": (DOWN, DOWN), "burst": (DOWN, DOWN)}

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

COLOURED = ("row", "row pair", "burst", "n", "m", "m pair", "x")
"""Axes whose iterations have a colour of their own."""

BLOCKS = ("group", "half", "C0 column", "y")
"""Axes whose iterations are drawn as cells of their own."""

COLOURS = 8

MOST = {ALONG: 64, DOWN: 24, PANEL: 6, STACK: 3}
"""Iterations of an axis that are drawn, by its role."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Neighbouring bytes of a line, of one block: a group of channels, a C0 column.

    Attributes:
        x, size: First byte of the line and bytes.
        block: Number of the block.
        kind: Kind of the bytes, or ``read``.
        colour: Number of the colour, -1 for the kind's own.
        start: Address of the first byte.
        other: The bytes at the other side, as text; empty for none.
    """

    x: int
    size: int
    block: int
    kind: str
    colour: int
    start: int
    other: str


@dataclass
class Line:
    """A line of a tile: its place, its address, and its cells."""

    stack: int
    panel: int
    y: int
    address: int
    cells: list[Cell] = field(default_factory=list)


@dataclass(frozen=True)
class Tile:
    """The bytes of one memory.

    Attributes:
        space: The memory.
        source: Whether they are read.
        lines: Lines, by stack, panel and y.
        width: Bytes of the longest line.
        pitch: Bytes from line to line, 0 where they do not follow each other regularly.
        left_out: What is not drawn, as text, or empty.
        down: What the lines are, such as ``row``; empty for one alone.
        panels: What the panels are, such as ``group``; empty for one alone.
    """

    space: Space
    source: bool
    lines: tuple[Line, ...]
    width: int
    pitch: int
    left_out: str
    down: str
    panels: str

    @property
    def gap(self) -> int:
        """Bytes from the end of the longest line to the start of the next one."""
        return max(0, self.pitch - self.width)


def _role(view: str, axis: Axis, side: int) -> str:
    name = axis.name if axis.name in VIEWS[view] else axis.name.rstrip("0123456789")
    return VIEWS[view][name][side]


def _step(axis: Axis, side: int) -> int:
    return axis.dst if side else axis.src


def tiles(parts: Sequence[Part], view: str) -> tuple[Tile, ...]:
    """Returns the tiles of an op, sources first."""
    found = []
    for side in (0, 1):
        spaces = [part.space if side else part.source for part in parts]
        for space in dict.fromkeys(spaces):
            if space is not None:
                mine = [p for p in parts if (p.space if side else p.source) is space]
                found.append(_tile(mine, view, side, space))
    return tuple(found)


def _tile(parts: Sequence[Part], view: str, side: int, space: Space) -> Tile:
    weights = _weights(parts, view, side)
    start = min(_origin(part, view, side) for part in parts)
    lines: dict[tuple[int, int, int], Line] = {}
    for part in parts:
        _draw(part, view, side, start, weights, lines)
    first = min(key[2] for key in lines)
    # Panels that are left out take no room.
    panels = {panel: place for place, panel in enumerate(sorted({key[1] for key in lines}))}
    for line in lines.values():
        line.y, line.panel = line.y - first, panels[line.panel]
    ordered = sorted(lines.values(), key=lambda x: (x.stack, x.panel, x.y))
    for line in ordered:
        line.cells = _joined(line.cells)
    width = max(cell.x + cell.size for line in ordered for cell in line.cells)
    return Tile(
        space, not side, tuple(ordered), width, _pitch(parts, view, side),
        _left_out(parts, view, side, weights), _names(parts, view, side, DOWN),
        _names(parts, view, side, PANEL),
    )  # fmt: skip


def _weights(parts: Sequence[Part], view: str, side: int) -> dict[str, int]:
    """Returns for each axis how many places one iteration is apart from the next, in its role."""
    counts: dict[str, int] = {}
    order: list[tuple[str, str]] = []
    for part in parts:
        for axis in part.axes:
            twice = 2 if axis.name.endswith("pair") else 1
            counts[axis.name] = max(counts.get(axis.name, 1), axis.count * twice)
            pair = (axis.name, _role(view, axis, side))
            if pair not in order:
                order.append(pair)
    found, total = {}, dict.fromkeys(MOST, 1)
    for name, role in reversed(order):
        twice = 2 if name.endswith("pair") else 1
        found[name] = total[role] * twice
        total[role] *= counts[name]
    return found


def _origin(part: Part, view: str, side: int) -> int:
    """Returns the address of the part's line 0, plus the offset in the line."""
    base = part.dst if side else part.src
    return base - sum(
        axis.first * _step(axis, side) for axis in part.axes if _role(view, axis, side) != ALONG
    )


def _draw(
    part: Part, view: str, side: int, start: int, weights: dict[str, int],
    lines: dict[tuple[int, int, int], Line],
) -> None:  # fmt: skip
    """Adds the cells of a part to the lines."""
    roles = [_role(view, axis, side) for axis in part.axes]
    limits = [min(axis.count, MOST[role]) for axis, role in zip(part.axes, roles, strict=True)]
    offset = _origin(part, view, side) - start
    for numbers in product(*map(range, limits)):
        places = dict.fromkeys(MOST, 0)
        x, colour, block, here, there = offset, 0, 0, 0, 0
        for axis, role, k in zip(part.axes, roles, numbers, strict=True):
            here += k * _step(axis, side)
            there += k * _step(axis, 1 - side)
            if role == ALONG:
                x += k * _step(axis, side)
            else:
                places[role] += (axis.first + k) * weights[axis.name]
            if axis.name in COLOURED:
                colour = (axis.first + k) % COLOURS
            elif axis.name in BLOCKS:
                block = block * 2 + axis.first + k
        if places[DOWN] >= MOST[DOWN] + _first_down(part, roles, weights):
            continue
        for piece, (shift, down) in enumerate(_pieces(part, side, roles)):
            size = part.size if side else part.piece
            at = (part.dst if side else part.src) + here + (0 if side else part.pieces[piece])
            key = (places[STACK], places[PANEL], places[DOWN] + down)
            line = lines.setdefault(key, Line(*key, at - x - shift))
            kind = part.kind if side else "read"
            own = -1 if part.kind != "data" and side else colour
            line.cells.append(
                Cell(x + shift, size, block, kind, own, at, _other(part, side, there))
            )


def _first_down(part: Part, roles: Sequence[str], weights: dict[str, int]) -> int:
    pairs = zip(part.axes, roles, strict=True)
    return sum(axis.first * weights[axis.name] for axis, role in pairs if role == DOWN)


def _pieces(part: Part, side: int, roles: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the offset in the line and the line of each piece."""
    if side:
        return [(0, 0)]
    down = any(
        axis.name.endswith("pair") and role == DOWN
        for axis, role in zip(part.axes, roles, strict=True)
    )
    return [(0, k) if down else (offset, 0) for k, offset in enumerate(part.pieces)]


def _other(part: Part, side: int, there: int) -> str:
    if side and part.source is None:
        return part.how
    space, base = (part.source, part.src) if side else (part.space, part.dst)
    assert space is not None, "a part without a source has none to draw"
    size = part.piece if side else part.size
    name, start = located(space, base + there)
    return f"{name.upper()} {start:#x}..{start + size - 1:#x}"


def _joined(cells: Iterable[Cell]) -> list[Cell]:
    """Returns cells of a line, neighbours of one colour as one."""
    found: list[Cell] = []
    for cell in sorted(cells, key=lambda x: (x.x, x.size)):
        last = found[-1] if found else None
        alike = last and (last.block, last.kind, last.colour) == (
            cell.block, cell.kind, cell.colour,
        )  # fmt: skip
        if last and alike and last.x <= cell.x <= last.x + last.size:
            if cell.x + cell.size <= last.x + last.size:
                continue
            size = cell.x + cell.size - last.x
            first, final = last.other.partition("..")[0], cell.other.rpartition("..")[2]
            other = last.other if last.other == cell.other else f"{first}..{final}"
            found[-1] = replace(last, size=size, other=other)
        else:
            found.append(cell)
    return found


def _pitch(parts: Sequence[Part], view: str, side: int) -> int:
    """Returns bytes from line to line, 0 where lines do not follow each other regularly."""
    found = set()
    for part in parts:
        steps = [
            _step(axis, side) // (2 if axis.name.endswith("pair") else 1)
            for axis in part.axes
            if _role(view, axis, side) == DOWN and axis.count > 1
        ]
        if steps:
            found.add(min(steps))
    return found.pop() if len(found) == 1 else 0


def _left_out(parts: Sequence[Part], view: str, side: int, weights: dict[str, int]) -> str:
    """Returns what is shown of axes that are longer than a picture, as text, or nothing."""
    found: dict[str, None] = {}
    for part in parts:
        down = []
        for axis in part.axes:
            role = _role(view, axis, side)
            if role == DOWN and axis.count > 1:
                down.append(axis)
            elif role != DOWN and axis.count > MOST[role]:
                found[_range(axis, MOST[role])] = None
        lines = 1 + sum((axis.count - 1) * weights[axis.name] for axis in down)
        if lines > MOST[DOWN] and len(down) == 1:
            found[_range(down[0], -(-MOST[DOWN] // weights[down[0].name]))] = None
        elif lines > MOST[DOWN]:
            names = " and ".join(axis.name for axis in down)
            found[f"{MOST[DOWN]} of {lines} lines of {names}"] = None
    return f"shown: {', '.join(found)}" if found else ""


def _range(axis: Axis, most: int) -> str:
    """Returns which iterations of how many are shown."""
    return f"{axis.name} {axis.first}..{axis.first + most - 1} of {axis.count}"


def _names(parts: Sequence[Part], view: str, side: int, role: str) -> str:
    """Returns the axes of a role that are used, as words."""
    names = [
        axis.name
        for part in parts
        for axis in part.axes
        if _role(view, axis, side) == role and (axis.count > 1 or axis.first)
    ]
    return " and ".join(dict.fromkeys(names))
