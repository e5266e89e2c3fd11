# SPDX-License-Identifier: Apache-2.0
"""Pictures: every cell is at the bytes of the map, and they are well formed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from sequences.constraints import OP_NAMES
from tb.explain.layouts import view_of
from tb.explain.maps import parts_of
from tb.explain.op import explain
from tb.explain.parts import Part
from tb.explain.picture import svg
from tb.explain.steps import of_text
from tb.explain.tiles import Cell, tiles
from tb.isa.profile import parse_profile, using
from tb.isa.spaces import Space
from tb.isa.text import to_text
from tests.explain.drawn import drawn, links_of


def touched(parts: tuple[Part, ...]) -> dict[tuple[Space, bool], set[int]]:
    """Returns the bytes of the map: of each memory those read and those written."""
    found: dict[tuple[Space, bool], set[int]] = {}
    for link in links_of(parts):
        bytes_ = found.setdefault((link.part.space, False), set())
        bytes_ |= set(range(link.dst, link.dst + link.size))
        if link.part.source is not None:
            bytes_ = found.setdefault((link.part.source, True), set())
            for start, size in link.sources:
                bytes_ |= set(range(start, start + size))
    return found


@pytest.mark.long
@pytest.mark.parametrize("profile", ["seed", "a5"])
@pytest.mark.parametrize("form", OP_NAMES)
def test_cells_are_the_bytes_of_the_map(form: str, profile: str) -> None:
    complete = 0
    with using(parse_profile(profile)):
        for one in drawn(form, 60, 23):
            parts = parts_of(one.descriptor)
            bytes_ = touched(parts)
            for tile in tiles(parts, view_of(one.descriptor)):
                shown = [at for line in tile.lines for cell in line.cells for at in span(cell)]
                cells = [(line, cell) for line in tile.lines for cell in line.cells]
                assert all(line.address + cell.x == cell.start for line, cell in cells), one
                places = [
                    (line.stack, line.panel, line.y, cell.x + k)
                    for line, cell in cells
                    for k in range(cell.size)
                ]
                assert len({*places}) == len(places), "two cells are in one place"
                wanted = bytes_[tile.space, tile.source]
                assert {*shown} <= wanted, one
                if not tile.left_out:
                    assert {*shown} == wanted, one
                    complete += 1
    assert complete > 20


def span(cell: Cell) -> range:
    return range(cell.start, cell.start + cell.size)


@pytest.mark.parametrize("form", OP_NAMES)
def test_pictures_are_well_formed(form: str) -> None:
    for one in drawn(form, 10, 29):
        text = svg(explain(of_text("\n".join(map(to_text, (*one.before, one.op))), {})[-1]))
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "prefers-color-scheme" in text
        used = set(re.findall(r'class="(\w+)"', text))
        assert used <= set(re.findall(r"\.(\w+)\{", text)), "every class has a style"
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
            x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
            assert min(x, y) >= 0
            assert x + w <= width + 1, one.op
            assert y + h <= height


def test_every_line_that_is_drawn_has_a_colour_of_its_own() -> None:
    text = svg(explain(of_text("mte_ub_ub 0, 4096, 1 nburst(30, 1, 0)", {})[-1]))
    styles = dict(re.findall(r"^\.(c\d+)\{fill:(hsl\S+?);", text, re.M))
    assert len(styles) == len({*styles.values()}) == 24
    for name in styles:
        assert len(re.findall(f'class="{name}".*<title>', text)) == 2, "one on each side"
