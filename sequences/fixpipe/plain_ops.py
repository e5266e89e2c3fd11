# SPDX-License-Identifier: Apache-2.0
"""What stimulus of write-backs has in common: classes, ends of memories, parameters in FB."""

from __future__ import annotations

import numpy as np

from sequences.constraints import FB_SIZE, L0C_SIZE
from sequences.fixpipe.parameters import Records
from tb.isa.block import Fill
from tb.isa.fix.op import (
    FixOp,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
)
from tb.isa.footprint import destinations, source
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.spaces import FB_SEGMENT_SHIFT, FB_SEGMENTS, SIZES, UB_BLOCK, Space

Made = type[MteL0cGm] | type[MteL0cL1] | type[MteL0cUb]
MAKERS: dict[str, Made] = {make.spec.name: make for make in (MteL0cGm, MteL0cL1, MteL0cUb)}
"""Ops by name."""

ALPHAS = FB_SEGMENTS["pre_relu"] << FB_SEGMENT_SHIFT
"""Address of the segment of fb for alphas."""


def space_of(op: FixOp) -> str:
    """Returns the keyword of the destination."""
    return op.spec.destination


def at_end(op: FixOp) -> FixOp:
    """Returns the op at the last bytes of L0C and of its destination."""
    desc = lower(op)
    read, write = source(desc), destinations(desc)[0]
    unit = 1 if space_of(op) == "gm" else UB_BLOCK
    length = -(-(write.end - write.base) // unit) * unit
    end = SIZES[write.space]
    return replace(op, src=L0C_SIZE - (read.end - read.base), dst=end - length)


def fb_rows(rng: np.random.Generator) -> tuple[Fill, ...]:
    """Returns finite parameters in both segments of FB."""
    records = Records(rng)
    return (
        Fill(Space.FB, 0, records.quant[9][: FB_SIZE // 8].view(np.uint8)),
        Fill(Space.FB, ALPHAS, records.alpha[: FB_SIZE // 4].view(np.uint8)),
    )
