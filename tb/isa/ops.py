# SPDX-License-Identifier: Apache-2.0
"""Every op an engine executes, by name and by opcode."""

from __future__ import annotations

from tb.isa.burst.table import BURSTS
from tb.isa.dma.table import STRIDED
from tb.isa.fields import Layout, OpSpec
from tb.isa.fill.op import FILLS
from tb.isa.fix.table import WRITE_BACKS
from tb.isa.l0.table import LOAD_FORMS, LOADS
from tb.isa.nz.table import REPACKS

_ROWS: tuple[OpSpec, ...] = (
    *STRIDED,
    *BURSTS.values(),
    *REPACKS,
    *WRITE_BACKS,
    *LOADS.values(),
    *FILLS,
)

OPS: dict[str, OpSpec] = {spec.name: spec for spec in sorted(_ROWS, key=lambda spec: spec.opcode)}
"""Op tables by mnemonic, in the order of their opcodes."""


def _by_code() -> dict[int, OpSpec]:
    found: dict[int, OpSpec] = {}
    for spec in OPS.values():
        other = found.setdefault(spec.opcode, spec)
        if other is not spec:
            used = {one.opcode for one in _ROWS}
            free = next(code for code in range(1, 256) if code not in used)
            raise ValueError(
                f"{spec.name} has opcode {spec.opcode} of {other.name}: {free} is free"
            )
    return found


OPS_BY_CODE = _by_code()
"""Op tables by opcode."""


def feeds(producer: OpSpec, consumer: OpSpec) -> bool:
    """Returns whether the second op reads, or updates, what the first writes on another slot.

    A write-back also reads its parameters in fb, and updates its destination in GM.
    """
    if consumer in WRITE_BACKS and producer.destination == "fb":
        return True
    if producer is consumer and consumer in WRITE_BACKS and consumer.updates:
        return True
    return producer.destination == consumer.source and producer.slot != consumer.slot


LEGACY_FORMS: dict[str, str] = {
    "copy_gm_to_ubuf": "mte_gm_ub",
    "copy_ubuf_to_gm": "mte_ub_gm",
    "copy_ubuf_to_ubuf": "mte_ub_ub",
}
"""Legacy copies to the op that has the same descriptor (docs/spec/README.md, legacy mapping)."""

TEXT_FORMS: dict[str, str] = {
    "copy_gm_to_cbuf": "mte_gm_l1",
    "copy_cbuf_to_ubuf": "mte_l1_ub",
    "copy_ubuf_to_cbuf": "mte_ub_l1",
    "copy_cbuf_to_fbuf": "mte_l1_fb",
    **LOAD_FORMS,
    "create_cbuf_matrix": "raw_fill_l1",
}
"""Register forms of text alone, to the op that they are (docs/spec/dialect.md, section 5)."""

SLOTS: tuple[str, ...] = ("mte1", "mte2", "mte3", "fix")
"""Slots in the order of their number in the mailbox."""

LAYOUTS: dict[str, Layout] = {spec.layout.family: spec.layout for spec in OPS.values()}
"""Descriptor families by name, in the order of their first op."""
