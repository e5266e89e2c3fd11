# SPDX-License-Identifier: Apache-2.0
"""Bytes of the burst copies (spec/dma.md, section 2; spec/bias_fb.md)."""

from __future__ import annotations

from collections.abc import Iterator

from tb.explain.parts import DATA, Axis, Part, moved
from tb.isa.burst.op import BurstDescriptor
from tb.isa.burst.table import WIDEN_BF16, WIDEN_RAW
from tb.isa.footprint import space_of


def burst_parts(desc: BurstDescriptor) -> Iterator[Part]:
    """Yields the bursts of a copy that moves something; widened elements one by one."""
    source, target = (
        space_of(keyword, desc.ub_sub) for keyword in (desc.spec.source, desc.spec.destination)
    )
    read, written = desc.units
    src_step, dst_step = (desc.len + desc.src_gap) * read, (desc.len + desc.dst_gap) * written
    bursts = Axis("burst", desc.n_burst, src_step, dst_step)
    if desc.widen == WIDEN_RAW:
        start = (source, desc.src_addr)
        yield moved(DATA, (target, desc.dst_addr), start, desc.len * written, (bursts,))
        return
    axes = (bursts, Axis("element", desc.len, read, written))
    how = f"{'bf16' if desc.widen == WIDEN_BF16 else 'f16'} widened to f32"
    yield Part(
        DATA,
        target,
        desc.dst_addr,
        written,
        axes,
        source,
        desc.src_addr,
        read,
        moved=False,
        how=how,
    )
