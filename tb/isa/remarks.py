# SPDX-License-Identifier: Apache-2.0
"""Legal ops of which a remark is due: what they do may be unexpected."""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.fix.op import FixOp
from tb.isa.fix.remarks import remarks as fix_remarks
from tb.isa.fix.table import L0C_WORD
from tb.isa.footprint import Footprint, row_overlap, source
from tb.isa.l0.op import L0Load
from tb.isa.l0.table import FRACTAL_BYTES, SCALE_BYTES
from tb.isa.nest import NESTS
from tb.isa.op import Op

MOST_ROWS = 1 << 20
"""Rows up to which those of a footprint are compared one by one."""

_PLURALS = {"matrix": "matrices"} | {f"loop{k}": f"iterations of loop{k}" for k in range(3)}


def remarks(desc: Op) -> tuple[str, ...]:
    """Returns the remarks on a legal op under the profile of this process, a sentence each."""
    return (*(fix_remarks(desc) if isinstance(desc, FixOp) else ()), *overlapping_rows(desc))


def overlapping_rows(desc: Op) -> tuple[str, ...]:
    """Returns a remark where rows of the source share bytes.

    A stride of 0 repeats rows, or iterations, on purpose (A-10) and is left out.
    """
    rows = NESTS[desc.family].read(desc)
    whole = source(desc)
    if desc.is_nop or not whole.length:
        return ()
    found, extent = whole._replace(counts=(), strides=()), rows.length
    for name, count, stride in zip(
        NESTS[desc.family].names[0], rows.counts, rows.strides, strict=False
    ):
        if count < 2 or not stride:
            continue
        found = found._replace(counts=(*found.counts, count), strides=(*found.strides, stride))
        if _meet(found):
            parts = _PLURALS.get(name, f"{name}s")
            apart = f"{parts} of {extent} bytes are {stride} bytes apart"
            return (f"{apart}: they overlap at the source; {_UNITS[desc.family](desc, stride)}",)
        extent += (count - 1) * stride
    return ()


def _meet(rows: Footprint) -> bool:
    """Returns whether rows share bytes; very many rows are counted, not compared."""
    if rows.rows > MOST_ROWS:
        return rows.bytes > rows.end - rows.base
    return row_overlap(rows)


def _in_bytes(desc: Op, stride: int) -> str:
    size = desc.elem_bytes
    meant = f": {stride} elements are {stride * size} bytes" if size > 1 else ""
    return f"the stride counts bytes{meant}"


def _in_fragments(desc: Op, _: int) -> str:
    if isinstance(desc, L0Load) and desc.spec.scales:
        return f"the stride counts scales of {SCALE_BYTES} bytes"
    return f"the stride counts fractals of {FRACTAL_BYTES} bytes"


_UNITS: dict[str, Callable[[Op, int], str]] = {
    "dma": _in_bytes,
    "nz": _in_bytes,
    "l0": _in_fragments,
    "fix": lambda *_: f"the stride counts rows of 16 accumulators, {L0C_WORD} bytes",
}
"""Unit of the strides of a source, by family; gaps, which others have, never overlap."""
