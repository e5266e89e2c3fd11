# SPDX-License-Identifier: Apache-2.0
"""Lowering of ops of all families to descriptors."""

from __future__ import annotations

from tb.isa.burst.op import BURST_CLASSES, BurstDescriptor, BurstOp, lower_burst
from tb.isa.dma.op import DMA_CLASSES, DmaDescriptor, DmaOp, lower_dma
from tb.isa.fix.op import FIX_CLASSES, FixDescriptor, FixOp, lower_fix
from tb.isa.nz.op import MteGmL1Frac, NzDescriptor, lower_nz

V06Op = DmaOp | BurstOp | MteGmL1Frac | FixOp
"""Every op of the v0.6 surface."""

Descriptor = DmaDescriptor | BurstDescriptor | NzDescriptor | FixDescriptor
"""Descriptor of a v0.6 op or a legacy copy."""

OP_CLASSES: dict[str, type[V06Op]] = {
    cls.spec.name: cls for cls in (*DMA_CLASSES, *BURST_CLASSES.values(), MteGmL1Frac, *FIX_CLASSES)
}
"""Op classes by mnemonic, family by family."""

DESCRIPTORS: dict[str, type[Descriptor]] = {
    "dma": DmaDescriptor,
    "burst": BurstDescriptor,
    "nz": NzDescriptor,
    "fix": FixDescriptor,
}
"""Descriptor classes by family."""


def lower(op: V06Op, ctrl: int = 0) -> Descriptor:
    """Returns the descriptor of a v0.6 op that is issued with this value of CTRL.

    Raises:
        ValueError: the op cannot be written as a descriptor: too many loops, unknown types.
    """
    if isinstance(op, MteGmL1Frac):
        return lower_nz(op)
    if isinstance(op, DmaOp):
        return lower_dma(op)
    if isinstance(op, FixOp):
        return lower_fix(op, ctrl)
    return lower_burst(op)
