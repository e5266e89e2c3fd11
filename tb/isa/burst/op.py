# SPDX-License-Identifier: Apache-2.0
"""The gap-based burst copies and the descriptor they become.

``mte_ub_ub`` and ``mte_ub_l1`` are those of spec/dma.md, section 2; ``mte_l1_bt`` and
``mte_l1_fb`` those of spec/bias_fb.md. Addresses are bytes, lengths and gaps units of the op.
"""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.burst.table import (
    BIAS_TYPES,
    MTE_L1_BT,
    MTE_L1_FB,
    MTE_UB_L1,
    MTE_UB_UB,
    WIDEN_RAW,
    unit_bytes,
)
from tb.isa.dtypes import Ptr
from tb.isa.fields import OpSpec

UB_I8 = Ptr("i8", "ub")
L1_I8 = Ptr("i8", "l1")
L1_F32 = Ptr("f32", "l1")
BT_F32 = Ptr("f32", "bt")
L1_I64 = Ptr("i64", "l1")
FB_I64 = Ptr("i64", "fb")


@dataclass(frozen=True, slots=True)
class MteUbUb:
    """``pto.mte_ub_ub``: bursts inside one UB sub-block; ``len`` and gaps in 32-byte blocks."""

    ub_src: int
    ub_dst: int
    len_burst: int
    n_burst: int
    src_gap: int
    dst_gap: int
    src_type: Ptr = UB_I8
    dst_type: Ptr = UB_I8
    ub_sub: int = 0

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_UB_UB


@dataclass(frozen=True, slots=True)
class MteUbL1:
    """``pto.mte_ub_l1``: bursts from UB to L1; ``len`` and gaps in 32-byte blocks."""

    ub_src: int
    l1_dst: int
    len_burst: int
    n_burst: int
    src_gap: int
    dst_gap: int
    src_type: Ptr = UB_I8
    dst_type: Ptr = L1_I8
    ub_sub: int = 0

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_UB_L1


@dataclass(frozen=True, slots=True)
class MteL1Bt:
    """``pto.mte_l1_bt``: bias elements from L1 to bt; ``len`` and gaps in elements.

    The pointer types decide the widening: see ``BIAS_TYPES`` (BT-L01).
    """

    l1_src: int
    bt_dst: int
    len_burst: int
    n_burst: int
    src_gap: int
    dst_gap: int
    src_type: Ptr = L1_F32
    dst_type: Ptr = BT_F32

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_L1_BT


@dataclass(frozen=True, slots=True)
class MteL1Fb:
    """``pto.mte_l1_fb``: FIXPIPE parameter rows from L1 to fb; ``len`` and gaps in 64 bytes."""

    l1_src: int
    fb_dst: int
    len_burst: int
    n_burst: int
    src_gap: int
    dst_gap: int
    src_type: Ptr = L1_I64
    dst_type: Ptr = FB_I64

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_L1_FB


BurstOp = MteUbUb | MteUbL1 | MteL1Bt | MteL1Fb
"""Every op of the family."""


@dataclass(frozen=True, slots=True)
class BurstDescriptor:
    """Field values of a burst descriptor before they are packed; they may break any width."""

    spec: OpSpec
    src_addr: int
    dst_addr: int
    len: int
    n_burst: int
    src_gap: int
    dst_gap: int
    widen: int = WIDEN_RAW
    ub_sub: int = 0

    @property
    def units(self) -> tuple[int, int]:
        """Bytes of one unit at the source and at the destination."""
        return unit_bytes(self.spec, self.widen)

    @property
    def is_nop(self) -> bool:
        """Nothing is copied (spec/README.md, "Rule classes"; A-03)."""
        return not (self.len and self.n_burst)


def lower_burst(op: BurstOp) -> BurstDescriptor:
    """Returns the descriptor of a burst op.

    Raises:
        ValueError: the types of an ``mte_l1_bt`` are none of the four pairs (BT-L01).
    """
    if isinstance(op, MteL1Bt):
        pair = BIAS_TYPES.get(op.src_type.dtype)
        if pair is None or pair[0] != op.dst_type.dtype:
            legal = ", ".join(f"{t} -> {u}" for t, (u, _) in BIAS_TYPES.items())
            raise ValueError(
                f"BT-L01: mte_l1_bt from {op.src_type.dtype} to {op.dst_type.dtype}: one of {legal}"
            )
        return BurstDescriptor(
            MTE_L1_BT,
            op.l1_src,
            op.bt_dst,
            op.len_burst,
            op.n_burst,
            op.src_gap,
            op.dst_gap,
            pair[1],
        )
    if isinstance(op, MteL1Fb):
        source, destination, ub_sub = op.l1_src, op.fb_dst, 0
    elif isinstance(op, MteUbL1):
        source, destination, ub_sub = op.ub_src, op.l1_dst, op.ub_sub
    else:
        source, destination, ub_sub = op.ub_src, op.ub_dst, op.ub_sub
    return BurstDescriptor(
        op.spec,
        source,
        destination,
        op.len_burst,
        op.n_burst,
        op.src_gap,
        op.dst_gap,
        ub_sub=ub_sub,
    )
