# SPDX-License-Identifier: Apache-2.0
"""Lowering of ops of all families to descriptors."""

from __future__ import annotations

from tb.isa.burst.op import BURST_CLASSES, BurstDescriptor, BurstOp, lower_burst
from tb.isa.dma.legacy import CopyUbufToGm
from tb.isa.dma.op import DMA_CLASSES, DmaDescriptor, DmaOp, MteUbGm, lower_dma
from tb.isa.fill.op import FillDescriptor, RawFillL1, lower_fill
from tb.isa.fix.op import FIX_CLASSES, FixDescriptor, FixOp, MteL0cGm, lower_fix
from tb.isa.l0.op import LOAD_CLASSES, L0Descriptor, L0Load, lower_load
from tb.isa.nz.op import MteGmL1Frac, NzDescriptor, lower_nz

V06Op = DmaOp | BurstOp | MteGmL1Frac | FixOp | L0Load | RawFillL1
"""Every op of the v0.6 surface."""

Descriptor = (
    DmaDescriptor | BurstDescriptor | NzDescriptor | FixDescriptor | L0Descriptor | FillDescriptor
)
"""Descriptor of a v0.6 op or a legacy copy."""

OP_CLASSES: dict[str, type[V06Op]] = {
    cls.spec.name: cls
    for cls in (
        *(*DMA_CLASSES, *BURST_CLASSES.values(), MteGmL1Frac, *FIX_CLASSES),
        *LOAD_CLASSES.values(),
        RawFillL1,
    )
}
"""Op classes by mnemonic, family by family."""

DESCRIPTORS: dict[str, type[Descriptor]] = {
    "dma": DmaDescriptor,
    "burst": BurstDescriptor,
    "nz": NzDescriptor,
    "fix": FixDescriptor,
    "l0": L0Descriptor,
    "fill": FillDescriptor,
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
        return lower_dma(op, ctrl)
    if isinstance(op, L0Load):
        return lower_load(op)
    if isinstance(op, FixOp):
        return lower_fix(op, ctrl)
    if isinstance(op, RawFillL1):
        return lower_fill(op)
    return lower_burst(op)


def reads_ctrl(op: object) -> bool:
    """Returns whether CTRL decides about an op: a store, or a write-back that leaves out a clause.

    Sources: CT-04, CT-05, AT-01.
    """
    if isinstance(op, FixOp):
        return not op.sat or (isinstance(op, MteL0cGm) and op.atomic is None)
    return isinstance(op, MteUbGm | CopyUbufToGm)
