# SPDX-License-Identifier: Apache-2.0
"""Pictures of source and destination of an op: an SVG, or a page with one for each op."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from textwrap import wrap

from tb.explain.op import FINE, Explained
from tb.explain.text import SECTIONS, heading, op_lines
from tb.explain.tiles import DOWN, PANEL, Cell, Line, Tile, place, tiles
from tb.isa.spaces import hex_address, located

WIDTH = 1240
"""Width of a picture in pixels."""

LINE, GAP, HEAD = 16, 8, 46
"""Height of a line, between stacks and panels, and of the head of a tile, in pixels."""

LABEL = 96
"""Width of the addresses."""

MOST_TEXT = 140
"""Characters of a line of the op."""

_KINDS = {
    "left pad": ("pad", "pad"),
    "pad": ("pad", "pad"),
    "tail": ("tail", "tail fill"),
    "zero fill": ("zero", "zero fill"),
}
"""Kind of bytes to its class and its words in the legend."""


_HUES = 8


def _style(colours: Sequence[int]) -> str:
    """Returns the style sheet, for light and dark pages, with the colours of data that are used.

    Colours are spread over hues, and those after the last hue differ from the first in lightness.
    """

    def rules(saturation: int, lightness: tuple[int, int, int], edge: str) -> str:
        # From green to red, neighbours far from each other; yellow is the pads'.
        hues = {k: 110 + 105 * k % 280 for k in colours}
        return "\n".join(
            f".c{k}{{fill:hsl({hue},{saturation}%,{lightness[k // _HUES]}%);"
            f"stroke:hsl({hue},{edge})}}"
            for k, hue in hues.items()
        )

    return f"""
.page{{fill:#ffffff}}
text{{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",Helvetica,Arial,sans-serif;
fill:#1f2328;font-size:12px}}
.op{{font-size:13px;font-weight:600}} .name{{font-size:15px;font-weight:600}}
.at{{fill:#57606a;text-anchor:end;font-family:ui-monospace,"DejaVu Sans Mono",monospace;
font-size:11px}}
.tick{{fill:#57606a;text-anchor:middle;font-size:11px}} .note{{fill:#57606a}}
.good{{fill:#1a7f37}} .bad{{fill:#b42318}}
.keep{{fill:none;stroke:#b1b8c0;stroke-dasharray:3 3}}
.pad{{fill:#ffe2a8;stroke:#c69026}} .tail{{fill:#fff3b0;stroke:#9a7b00;stroke-dasharray:2 2}}
.zero{{fill:#eceff2;stroke:#57606a;stroke-dasharray:1 2}}
.mark{{stroke:#57606a;fill:none}}
{rules(70, (86, 73, 60), "45%,45%")}
@media (prefers-color-scheme:dark){{
.page{{fill:#0d1117}} text{{fill:#e6edf3}}
.at,.tick,.note{{fill:#adb7c2}} .good{{fill:#56d364}} .bad{{fill:#ff9b90}}
.keep{{stroke:#4b545e}} .mark{{stroke:#adb7c2}}
.pad{{fill:#5c4305;stroke:#d4a72c}} .tail{{fill:#4a4207;stroke:#c9b037}}
.zero{{fill:#21262d;stroke:#8b949e}}
{rules(50, (23, 34, 45), "40%,52%")}
}}"""


def _text(x: float, y: float, words: str, style: str = "") -> str:
    name = f' class="{style}"' if style else ""
    return f'<text x="{x:g}" y="{y:g}"{name}>{escape(words)}</text>'


def _bar(style: str, x: float, y: float, width: float, title: str = "") -> str:
    end = f"><title>{escape(title)}</title></rect>" if title else "/>"
    size = f'width="{width:.2f}" height="{LINE - 2}"'
    return f'<rect class="{style}" x="{x:.2f}" y="{y:g}" {size}{end}'


class _Canvas:
    """A tile on its way to the picture: places of lines and the scale."""

    def __init__(self, tile: Tile, left: float, width: float) -> None:
        self.tile, self.left = tile, left
        self.panels = max(line.panel for line in tile.lines) + 1
        content = tile.width
        # A gap that is longer than its line is cut.
        self.shown = content + min(tile.gap, max(content // 3, 8))
        room = width - LABEL - GAP * (self.panels - 1)
        self.scale = min(14.0, room / self.panels / self.shown)

    def x(self, panel: int, byte: float) -> float:
        """Returns the place of a byte of a panel."""
        return self.left + LABEL + panel * (self.shown * self.scale + GAP) + byte * self.scale

    def draw(self, top: float) -> tuple[list[str], float]:
        """Returns the elements and the lower edge."""
        tile = self.tile
        role = "source" if tile.source else "destination"
        name = _name(tile)
        found = [_text(self.left, top + 14, f"{name}: {role}", "name")]
        found.append(_text(self.left + 150, top + 14, self._note(), "note"))
        found += self._ruler(top)
        y = top + HEAD
        before = tile.lines[0].stack, tile.lines[0].y
        ordered = sorted(tile.lines, key=lambda x: (x.stack, x.y, x.panel))
        for (stack, number), lines in groupby(ordered, key=lambda x: (x.stack, x.y)):
            # A gap stands for another stack, and for lines that are left out.
            if stack != before[0] or number > before[1] + 1:
                y += GAP
            around = list(lines)
            address = hex_address(tile.space, located(tile.space, around[0].address)[1])
            found.append(_text(self.left + LABEL - 8, y + 12, address, "at"))
            for line in around:
                found += self._line(line, y)
            before, y = (stack, number), y + LINE
        if tile.left_out:
            found.append(_text(self.left + LABEL, y + 15, tile.left_out, "note"))
            y += 20
        return found, y

    def _note(self) -> str:
        """Returns what lines and panels are."""
        tile = self.tile
        down, panels = tile.names(DOWN), tile.names(PANEL)
        words = f"a line for each {down}" if down else "one line"
        if panels:
            words += f", a panel for each {panels}"
        if tile.gap:
            cut = ", cut" if self.shown < tile.width + tile.gap else ""
            words += f", {tile.gap} B to the next line{cut}"
        return words

    def _ruler(self, top: float) -> list[str]:
        """Returns marks of bytes above each panel."""
        found = []
        steps = [1 << k for k in range(2, 41)]
        step = next(one for one in steps if one * self.scale >= 44 or one > self.shown)
        for panel in range(self.panels):
            # The last mark would be on the first one of the next panel.
            end = self.tile.width + (panel == self.panels - 1)
            for byte in range(0, end, step):
                x = self.x(panel, byte)
                found.append(f'<path class="mark" d="M{x:g} {top + HEAD - 7:g}v5"/>')
                found.append(_text(x, top + HEAD - 10, str(byte), "tick"))
        return found

    def _line(self, line: Line, at: float) -> list[str]:
        # Bytes of the next line are not between two lines.
        shown = min(self.shown, self.tile.pitch or self.shown)
        keep = _bar("keep", self.x(line.panel, 0), at, shown * self.scale)
        return [keep, *(self._cell(line, cell, at) for cell in line.cells)]

    def _cell(self, line: Line, cell: Cell, at: float) -> str:
        name = f"c{cell.colour}" if cell.colour >= 0 else _KINDS[cell.kind][0]
        x, width = self.x(line.panel, cell.x), max(1.5, cell.size * self.scale)
        arrow = "to" if self.tile.source else "from"
        where = place(self.tile.space, cell.start, cell.size)
        label = f"{where}, {cell.size} B: {cell.kind}"
        if cell.other:
            label += f", {arrow} {cell.other}" if " 0x" in cell.other else f", {cell.other}"
        return _bar(name, x, at, width, label)


def _name(tile: Tile) -> str:
    return heading(tile.space, tile.lines[0].address)


def _empty(op: Explained) -> str:
    """Returns the words of a picture without bytes."""
    silent = op.bare and "touches no byte" not in op.verdict
    return "no byte map" if silent else "no byte is read or written"


def svg(op: Explained, number: str = "") -> str:
    """Returns the picture of an op as SVG, for light and dark pages.

    Args:
        op: The op.
        number: End of the identifiers, which differ between the pictures of a page.
    """
    drawn = tiles(op.parts, op.view) if op.parts else ()
    before, colon, types = op.text.partition(" : ")
    names = wrap(before, MOST_TEXT) + wrap(f"{colon.lstrip()}{types}", MOST_TEXT)
    words = [*names, *wrap(f"{op.verdict}; profile {op.profile}", MOST_TEXT)]
    top = 26 + 20 * len(words)
    style = "good" if op.status in FINE else "bad"
    styles = ["op"] * len(names) + [style] * (len(words) - len(names))
    head = [_text(20, 26 + 20 * k, *pair) for k, pair in enumerate(zip(words, styles, strict=True))]
    body, bottom = _tiles(drawn, top)
    if not drawn:
        body, bottom = [_text(20, top + 12, _empty(op), "note")], top + 24
    cells = [cell for tile in drawn for line in tile.lines for cell in line.cells]
    colours = sorted({cell.colour for cell in cells if cell.colour >= 0})
    legend, bottom = _legend(drawn, colours, bottom)
    height = int(bottom) + 14
    sides = [f"{_name(tile)} {'read' if tile.source else 'written'}" for tile in drawn]
    moved = ", ".join(sides) or _empty(op).capitalize()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-labelledby="title{number} desc{number}">\n'
        f'<title id="title{number}">Bytes of {escape(op.op)}</title>\n'
        f'<desc id="desc{number}">{escape(op.verdict)}. {escape(moved)}.</desc>\n'
        f"<style>{_style(colours)}\n</style>\n"
        f'<rect class="page" x="0" y="0" width="{WIDTH}" height="{height}"/>\n'
        + "\n".join([*head, *body, *legend])
        + "\n</svg>\n"
    )


def _tiles(drawn: Sequence[Tile], begin: float) -> tuple[list[str], float]:
    """Returns the tiles, sources on the left, from ``begin`` down, and the lower edge."""
    found: list[str] = []
    half = (WIDTH - 40) / 2 - 20
    bottoms = []
    for source, left in ((True, 20.0), (False, 40 + half)):
        top = begin
        for tile in drawn:
            if tile.source is source:
                elements, bottom = _Canvas(tile, left, half).draw(top)
                found += elements
                top = bottom + 22
        bottoms.append(top)
    return found, max(bottoms) - 8


def _legend(drawn: Sequence[Tile], colours: Sequence[int], top: float) -> tuple[list[str], float]:
    """Returns the meaning of the colours."""
    if not drawn:
        return [], top
    lines = [(tile, line) for tile in drawn for line in tile.lines]
    entries = []
    if colours:
        classes = " ".join(f"c{k}" for k in colours[:_HUES])
        entries.append((classes, "data: a colour of its own on both sides for each row"))
    kinds = [cell.kind for _, line in lines for cell in line.cells if cell.colour < 0]
    entries += dict.fromkeys(_KINDS[kind] for kind in kinds)
    if any(tile.gap or sum(x.size for x in line.cells) < tile.width for tile, line in lines):
        entries.append(("keep", "bytes between that are not touched"))
    found, x, y = [], 20.0, top + 8
    for names, words in entries:
        for name in names.split():
            found.append(f'<rect class="{name}" x="{x:g}" y="{y:g}" width="14" height="14"/>')
            x += 16
        found.append(_text(x + 6, y + 12, words, "note"))
        x += 6.4 * len(words) + 34
    return found, y + 18


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>
body{{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;margin:24px auto;
max-width:1280px;padding:0 16px;background:#fff;color:#1f2328}}
svg{{width:100%;height:auto}} pre{{overflow-x:auto;font-size:12px;padding:12px;background:#f6f8fa}}
summary{{cursor:pointer}}
@media (prefers-color-scheme:dark){{body{{background:#0d1117;color:#e6edf3}}
pre{{background:#161b22}}}}
</style></head><body>
{body}
</body></html>
"""


def page(ops: Sequence[Explained]) -> str:
    """Returns a page with the picture and the text of each op; it needs no other file."""
    parts: list[str] = []
    for op in ops:
        lines = "\n".join(text for text, _ in op_lines(op, SECTIONS, 64))
        title = escape(f"{op.op} {op.place}".strip())
        parts.append(
            f"<h2>{title}</h2>\n{svg(op, str(len(parts)))}\n"
            f"<details><summary>Rules, bytes, registers, descriptor</summary>"
            f"<pre>{escape(lines)}</pre></details>"
        )
    name = escape(ops[0].op if len(ops) == 1 else f"{len(ops)} ops")
    return _PAGE.format(title=f"pto-dv explain: {name}", body="\n".join(parts))
