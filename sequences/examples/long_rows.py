# SPDX-License-Identifier: Apache-2.0
"""Rows longer than 4095 bytes that end inside of a bus word, of each op with rows.

The worked examples of the specification have them only with pads, loops, registers or knobs. These
ops need none, so engines of few capabilities take them, too. The model computes what they leave.
"""

from __future__ import annotations

from sequences.examples.example import Example, Fill
from tb.isa.spaces import Space
from tb.language.literal.ops import ops_of

_OPS = (
    "mte_gm_ub 7, 0, 0, 5003 nburst(2, 6007, 5024)",
    "mte_gm_l1 7, 0, 5003 nburst(2, 6007, 5024)",
    "mte_ub_gm 0, 9, 5003 nburst(2, 5024, 6011)",
    "mte_l1_ub 0, 0, 157 nburst(2, 2, 1)",
    "mte_ub_ub 0, 0x8000, 157 nburst(2, 2, 1)",
    "mte_ub_l1 0, 0, 157 nburst(2, 2, 1)",
    "mte_gm_l1_frac 6, 0, nd2nz, shape(2, 2101), src_layout(5002), dst_group(1, 1, 16, 0), "
    "ctrl(0, false)",
    "mte_l0c_gm 0, 4, 2, 1037, 16, 1051, 0, 0, nz2nd",
    "mte_l0c_l1 0, 0, 2, 1037, 16, 1056, nz2nd",
    "mte_l0c_ub 0, 0, 2, 1037, 16, 1056, dst_mode(0), nz2nd",
)

_SOURCES = (Space.GM, Space.UB0, Space.L1, Space.L0C)
_FILLS = tuple(Fill(space, 1, 0x12000) for space in _SOURCES)

LONG_ROWS: tuple[Example, ...] = tuple(
    Example(f"long rows of {text.split()[0]}", {"v06": ops_of(text, "")}, _FILLS, Space.GM, 0, 0)
    for text in _OPS
)
"""An example for each op, without an image of its own."""
