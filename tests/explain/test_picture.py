# SPDX-License-Identifier: Apache-2.0
"""Pictures: every cell is at the bytes of the map, and they are well formed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tb.explain.layouts import view_of
from tb.explain.maps import parts_of
from tb.explain.op import explain
from tb.explain.parts import Part
from tb.explain.picture import svg
from tb.explain.steps import of_text
from tb.explain.tiles import tiles
from tb.isa.profile import parse_profile, using
from tb.isa.spaces import Space
from tb.isa.text import to_text
from tests.explain.drawn import KINDS, links_of
from tests.explain.test_maps import legal


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
@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_the_bytes_of_the_map(kind: str, profile: str) -> None:
    rng = np.random.default_rng(23)
    complete = 0
    with using(parse_profile(profile)):
        for _ in range(120):
            drawn = KINDS[kind](rng)
            if not legal(drawn):
                continue
            desc = drawn.descriptor
            assert desc is not None
            parts = parts_of(desc)
            if not parts:
                continue
            bytes_ = touched(parts)
            for tile in tiles(parts, view_of(desc)):
                shown: set[int] = set()
                places: set[tuple[int, int, int, int]] = set()
                for line in tile.lines:
                    for cell in line.cells:
                        mine = range(cell.start, cell.start + cell.size)
                        shown |= set(mine)
                        assert line.address + cell.x == cell.start, drawn
                        at = {
                            (line.stack, line.panel, line.y, cell.x + k) for k in range(cell.size)
                        }
                        assert not at & places, "two cells are in one place"
                        places |= at
                wanted = bytes_[tile.space, tile.source]
                assert shown <= wanted, drawn
                if not tile.left_out:
                    assert shown == wanted, drawn
                    complete += 1
    assert complete > 20


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_well_formed(kind: str) -> None:
    rng = np.random.default_rng(29)
    for _ in range(20):
        drawn = KINDS[kind](rng)
        if len(getattr(drawn.op, "loops", ())) > 3:
            continue
        ops = (*drawn.before, drawn.op)
        text = svg(explain(of_text("\n".join(map(to_text, ops)), {})[-1]))
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "prefers-color-scheme" in text
        used = set(re.findall(r'class="(\w+)"', text))
        assert used <= set(re.findall(r"\.(\w+)\{", text)), "every class has a style"
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
            x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + w <= width + 1, drawn.op
            assert y + h <= height
