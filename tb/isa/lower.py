# SPDX-License-Identifier: Apache-2.0
"""Lowering of ops of all families to descriptors."""

from __future__ import annotations

from tb.isa.burst.op import BURST_CLASSES
from tb.isa.dma.legacy import CopyUbufToGm
from tb.isa.dma.op import DMA_CLASSES, MteUbGm
from tb.isa.fill.op import FILL_CLASSES
from tb.isa.fix.op import FIX_CLASSES, FixOp, MteL0cGm
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.nz.op import NZ_CLASSES
from tb.isa.op import Op, OpT

_CLASSES: tuple[type[Op], ...] = (
    *(*DMA_CLASSES, *BURST_CLASSES.values(), *NZ_CLASSES, *FIX_CLASSES),
    *(*LOAD_CLASSES.values(), *FILL_CLASSES),
)

OP_CLASSES: dict[str, type[Op]] = {cls.spec.name: cls for cls in _CLASSES}
"""Op classes by mnemonic, family by family."""


def lower(op: OpT, ctrl: int = 0) -> OpT:
    """Returns what an engine gets of an op that is issued with this value of CTRL.

    Raises:
        ValueError: the op cannot be written as a descriptor: too many loops, unknown types.
    """
    if op.unencodable:
        raise ValueError(op.unencodable)
    return op.sampled(ctrl)


def reads_ctrl(op: object) -> bool:
    """Returns whether CTRL decides about an op: a store, or a write-back that leaves out a clause.

    Sources: CT-04, CT-05, AT-01.
    """
    if isinstance(op, FixOp):
        return not op.sat_given or (isinstance(op, MteL0cGm) and op.atomic is None)
    return isinstance(op, MteUbGm | CopyUbufToGm)
