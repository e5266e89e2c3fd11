# SPDX-License-Identifier: Apache-2.0
"""Rates and overhead of the FIXPIPE write-backs, for ``make bench``.

The overhead is measured on a usual tile and on one that fills L0C.
"""

from __future__ import annotations

from dataclasses import replace

import pyuvm

from sequences.streams.tiles import HALF, rated_tiles, scaled, tile
from sequences.streams.workload import Workload
from tb.benchmark.workload_ops import OpsBench
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm, PreRelu


def timed_tiles() -> list[Workload]:
    """Returns a usual tile, and one that fills L0C."""
    f16 = Ptr("f16", "gm")
    relu = PreRelu("scalar_relu", HALF)
    small = MteL0cGm(
        0, 0, 32, 32, 32, 32, pre_quant=scaled("qf322f16_pre_scalar"), pre_relu=relu, dst_type=f16
    )
    large = replace(small, m=256, n=256, src_stride=256, dst_stride=256)
    whole = tile("32 x 32 f16 to GM", small, 16, 32)
    step = large.m * large.n * 2
    return [
        whole,
        replace(
            tile("256 x 256 f16 to GM", large, 16, 4), make=lambda k: replace(large, dst=k * step)
        ),
    ]


@pyuvm.test()
class FixBench(OpsBench):
    """Elements per cycle of every layout, and the overhead of the bench."""

    def rated(self, width: int) -> list[Workload]:  # noqa: ARG002 (of the base)
        """Returns tiles; their elements do not depend on the width of the ports."""
        return rated_tiles()

    def timed(self, width: int) -> list[Workload]:  # noqa: ARG002 (of the base)
        """Returns the tiles of the overhead measurement."""
        return timed_tiles()
