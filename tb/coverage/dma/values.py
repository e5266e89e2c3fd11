# SPDX-License-Identifier: Apache-2.0
"""Strided copies: properties of a form, and the values that its points read.

``ext`` and ``loc`` are the sides of the descriptor (docs/spec/dma.md, sections 1 to 5). A row ends
with the bytes that the knobs ``tail`` and ``pad_end`` fill after its data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tb.coverage.model import Ints
from tb.coverage.ops import Bools, Derived, Ops, sides
from tb.coverage.view import FORM_SPECS
from tb.isa import nest
from tb.isa.dma.table import BLOCK_COUNT_BITS, MAX_LOOPS
from tb.isa.footprint import space_of
from tb.isa.ops import LEGACY_FORMS
from tb.isa.profile import KNOBS, current
from tb.isa.spaces import SIZES, UB_BLOCK


@dataclass(frozen=True)
class Shape:
    """Properties of the strided copy of a form.

    Attributes:
        ext, loc: Address spaces of the two sides of its descriptor.
        store: Data go from ``loc`` to ``ext``.
        unit: Bytes of a unit of its lengths and gaps.
        updates: CTRL may make the op an atomic update.
        legacy: The form reads loop registers.
    """

    ext: str
    loc: str
    store: bool
    unit: int
    updates: bool
    legacy: bool

    @property
    def padded(self) -> bool:
        """Rows may be padded."""
        return self.ext == "gm" and self.loc == "ub" and not self.store

    @property
    def source(self) -> str:
        """Address space that is read."""
        return self.loc if self.store else self.ext

    @property
    def destination(self) -> str:
        """Address space that is written."""
        return self.ext if self.store else self.loc

    @property
    def loads(self) -> bool:
        """Data come from GM, so that the knobs of rows apply."""
        return self.ext == "gm" and not self.store

    @property
    def gaps(self) -> bool:
        """Rows are bursts of units with gaps between them."""
        return self.unit > 1

    @property
    def top_rows(self) -> dict[str, int]:
        """Names of the bins of the largest legal row counts, and the counts."""
        bits = [BLOCK_COUNT_BITS] if self.gaps else [int(x) for x in KNOBS["len_bits"].values]
        return {f"n_burst {(1 << width) - 1}": (1 << width) - 1 for width in bits}

    @property
    def loops(self) -> int:
        """Most loop groups."""
        return 2 if self.legacy else MAX_LOOPS

    def space(self, side: str) -> str:
        """Returns the address space of ``"ext"`` or ``"loc"``."""
        return self.ext if side == "ext" else self.loc

    def size(self, side: str) -> int:
        """Returns the bytes of the memory of a side."""
        return SIZES[space_of(self.space(side))]

    def name(self, side: str) -> str:
        """Returns the name of a side in points: its memory, its role where both are in one."""
        if self.ext != self.loc:
            return self.space(side)
        return "dst" if self.store == (side == "ext") else "src"

    def label(self, side: str) -> str:
        """Returns the same in labels and descriptions."""
        words = {"src": "source", "dst": "destination"}
        name = self.name(side)
        return words.get(name, name.upper())

    def between(self, side: str) -> str:
        """Returns the name of the point of distances between rows on a side."""
        return f"{self.name(side)}_gap" if self.gaps else f"{self.name(side)}_row_stride"


def shape_of(form: str) -> Shape:
    """Returns the shape of a strided form."""
    spec = FORM_SPECS[form]
    store = spec.destination == "gm"
    ext, loc = spec.source, spec.destination
    if store:
        ext, loc = loc, ext
    return Shape(ext, loc, store, spec.unit, spec.updates, form in LEGACY_FORMS)


def block_end(values: Ints) -> Ints:
    """Returns the first multiple of 32 that is not below each value."""
    return -(-values // UB_BLOCK) * UB_BLOCK


def _iterations(k: int, v: Ops) -> Ints:
    return np.where(v.n_loops > k, v[f"loop{k}_count"], 1)


def _absent(k: int, v: Ops) -> Bools:
    return v.n_loops <= k


def _live(v: Ops) -> Bools:
    busy: Bools = v.length > 0
    for count in v.counts:
        busy &= count > 0
    return busy


def _pad_counted(v: Ops) -> Bools:
    return (v.pad_en == 0) & nest.padded(v)


def _compact(v: Ops) -> Bools:
    return v.live & (v.length % UB_BLOCK > 0) & nest.compact(v)


def _fills(v: Ops) -> bool:
    return bool(v.spec.loads) and current().tail == "fill"


def stride(v: Ops, side: str, level: int) -> Ints:
    """Returns strides of ``"ext"`` or ``"loc"`` in bytes; level 0 is the rows."""
    name = f"loop{level - 1}_{side}_stride" if level else f"{side}_stride"
    blocks = v.spec.gaps and not level
    return v.length + v[name] * UB_BLOCK if blocks else v[name]


def _hulls(side: str, v: Ops) -> list[Ints]:
    rows = v.written if (side == "ext") == v.spec.store else v.read
    return list(rows.hulls)


def _bytes(v: Ops) -> Ints:
    total: Ints = v.length
    for count in v.counts:
        total = total * count
    return np.where(v.live, total, 0)


DERIVED: Derived = {
    # Bytes of data in a row; rows, then iterations of loops 0, 1, 2; absent loops count 1.
    "length": lambda v: v.len * UB_BLOCK if v.spec.gaps else v.len,
    **{f"loop{k}_n": partial(_iterations, k) for k in range(MAX_LOOPS)},
    **{f"loop{k}_absent": partial(_absent, k) for k in range(MAX_LOOPS)},
    "counts": lambda v: [v.n_burst, *[v[f"loop{k}_n"] for k in range(MAX_LOOPS)]],
    "live": _live,
    "bytes": _bytes,
    # Ops of one row; those whose stride has no effect at all: padding ends at the stride.
    "single": lambda v: v.live & (v.n_burst == 1),
    "lone": lambda v: v.single & ~v.pad if v.spec.padded else v.single,
    # Padding: whether it is on, by the counts of a legacy copy alone (knob `pad_unselected`),
    # each row to an end of its own, and with a stride that must hold the row (DMA-L10).
    "elem": lambda v: np.left_shift(1, v.elem_log2),
    "pad_counted": _pad_counted,
    "pad": lambda v: v.live & ((v.pad_en > 0) | v.pad_counted),
    "own_end": lambda v: v.pad & ~v.compact,
    "own_single": lambda v: v.own_end & (v.n_burst == 1),
    "pad_stride": lambda v: v.own_end & ((v.n_burst > 1) | (current().pad_end == "stride")),
    "left_bytes": lambda v: nest.pad_bytes(v, v.pad_left),
    "right_bytes": lambda v: nest.pad_bytes(v, v.pad_right),
    "padded_length": lambda v: v.length + np.where(v.pad, v.left_bytes + v.right_bytes, 0),
    # On-chip bytes: what a row must have, in whole 32-byte blocks, and what it takes.
    "need": lambda v: block_end(v.padded_length),
    # A compact group has rows without a gap that are not multiple of 32; rows of whole blocks
    # without one are ordinary (docs/spec/dma.md, section 2). Its bytes, with those filled at its
    # end.
    "compact": _compact,
    "run": lambda v: v.n_burst * v.length,
    "compact_end": lambda v: np.where(v.pad | _fills(v), block_end(v.run), v.run),
    # The last 32-byte block of each unpadded row is filled (knob `tail`).
    "filled": lambda v: v.live & ~v.pad & (v.length % UB_BLOCK > 0) & ~v.compact & _fills(v),
    # Per side, bytes from first to last: of a row, with rows, with loop 0, ... loop 2.
    "ext_hulls": partial(_hulls, "ext"),
    "loc_hulls": partial(_hulls, "loc"),
    **sides("dma"),
    "ext_end": lambda v: v.ext_addr + v.ext_hulls[-1],
    "loc_end": lambda v: v.loc_addr + v.loc_hulls[-1],
    "gm_addr": lambda v: v.ext_addr,
    "gm_row": lambda v: v.length,
    "gm_end": lambda v: v.ext_end,
}  # fmt: skip
