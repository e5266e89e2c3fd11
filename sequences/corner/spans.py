# SPDX-License-Identifier: Apache-2.0
"""Bytes between the first and the last one of an op, and ops at the ends of the memories."""

from __future__ import annotations

from sequences.blocks import changed
from sequences.constraints import GM_SIZE, L1_SIZE
from tb.isa.footprint import destination, source
from tb.isa.lower import V06Op, lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import C0_BYTES


def spans(op: V06Op) -> tuple[int, int]:
    """Returns the bytes from the first to the last one at the source and at the destination."""
    desc = lower(op)
    src, dst = source(desc), destination(desc)
    return src.end - src.base, dst.end - dst.base


def at_end(op: MteGmL1Frac) -> MteGmL1Frac:
    """Returns an NZ repack at the last bytes of GM and the last blocks of L1."""
    read, written = spans(op)
    return changed(op, gm_src=GM_SIZE - read, l1_dst=(L1_SIZE - written) // C0_BYTES * C0_BYTES)
