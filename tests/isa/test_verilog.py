# SPDX-License-Identifier: Apache-2.0
"""The generated Verilog header agrees with the tables."""

from __future__ import annotations

import re

from tb.common.paths import ROOT
from tb.isa.dma.table import DMA_LAYOUT
from tb.isa.verilog import HEADER, header_text


def test_header_is_not_stale() -> None:
    assert (ROOT / HEADER).read_text() == header_text(), "run python -m tb.isa.verilog"


def test_header_is_marked_as_generated() -> None:
    assert "Do not edit" in header_text()


def test_every_field_has_its_range() -> None:
    macros = dict(re.findall(r"`define (\S+)\s+(\S+)", header_text()))
    for name, placed in DMA_LAYOUT.items():
        assert macros[f"PTO_DMA_{name.upper()}"] == f"{placed.msb}:{placed.lsb}"
    assert macros["PTO_W_MTE_UB_GM_L2"] == "4"
    assert macros["PTO_W_MTE_GM_UB_L2"] == "2"
