# SPDX-License-Identifier: Apache-2.0
"""The strided DMA ops and the descriptor they become (spec/dma.md, sections 1 to 3)."""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.dma.table import MAX_LOOPS, MTE_GM_L1, MTE_GM_UB, MTE_L1_UB, MTE_UB_GM
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.fields import OpSpec

GM_I8 = Ptr("i8", "gm")
UB_I8 = Ptr("i8", "ub")
L1_I8 = Ptr("i8", "l1")


@dataclass(frozen=True, slots=True)
class Loop:
    """One ``loop(count, src_stride, dst_stride)`` group; strides in bytes."""

    count: int
    src_stride: int
    dst_stride: int


@dataclass(frozen=True, slots=True)
class Pad:
    """The ``pad(value[, left, right])`` clause of ``mte_gm_ub``.

    Attributes:
        dtype: Type of the value, one of ``PAD_DTYPES`` (DMA-L03).
        value: Bit pattern of one element.
        left, right: Counts in elements; both None when the clause holds the value alone.
    """

    dtype: str
    value: int
    left: int | None = None
    right: int | None = None


@dataclass(frozen=True, slots=True)
class MteGmUb:
    """``pto.mte_gm_ub``: rows from GM to UB. Addresses, lengths and strides in bytes."""

    gm_src: int
    ub_dst: int
    len_burst: int
    n_burst: int
    src_stride: int
    dst_stride: int
    loops: tuple[Loop, ...] = ()
    pad: Pad | None = None
    l2_cache_ctl: int = 0
    src_type: Ptr = GM_I8
    dst_type: Ptr = UB_I8
    ub_sub: int = 0

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_GM_UB


@dataclass(frozen=True, slots=True)
class MteUbGm:
    """``pto.mte_ub_gm``: rows from UB to GM. Addresses, lengths and strides in bytes."""

    ub_src: int
    gm_dst: int
    len_burst: int
    n_burst: int
    src_stride: int
    dst_stride: int
    loops: tuple[Loop, ...] = ()
    l2_cache_ctl: int = 0
    src_type: Ptr = UB_I8
    dst_type: Ptr = GM_I8
    ub_sub: int = 0

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_UB_GM


@dataclass(frozen=True, slots=True)
class MteGmL1:
    """``pto.mte_gm_l1``: rows from GM to L1. Addresses, lengths and strides in bytes."""

    gm_src: int
    l1_dst: int
    len_burst: int
    n_burst: int
    src_stride: int
    dst_stride: int
    loops: tuple[Loop, ...] = ()
    src_type: Ptr = GM_I8
    dst_type: Ptr = L1_I8

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_GM_L1


@dataclass(frozen=True, slots=True)
class MteL1Ub:
    """``pto.mte_l1_ub``: rows from L1 to UB. Addresses, lengths and strides in bytes (A-12)."""

    l1_src: int
    ub_dst: int
    len_burst: int
    n_burst: int
    src_stride: int
    dst_stride: int
    loops: tuple[Loop, ...] = ()
    src_type: Ptr = L1_I8
    dst_type: Ptr = UB_I8
    ub_sub: int = 0

    @property
    def spec(self) -> OpSpec:
        """Table row of the op."""
        return MTE_L1_UB


DmaOp = MteGmUb | MteUbGm | MteGmL1 | MteL1Ub
"""Every op of the family."""


@dataclass(frozen=True, slots=True)
class DmaLoop:
    """A loop group seen from the descriptor: ``ext`` is GM, ``loc`` the on-chip side.

    Of ``mte_l1_ub`` ``ext`` is L1 and ``loc`` is UB.
    """

    count: int
    ext_stride: int
    loc_stride: int


@dataclass(frozen=True, slots=True)
class DmaDescriptor:
    """Field values of a strided DMA descriptor before they are packed.

    Values may break any width: packing saturates them (see :class:`tb.isa.fields.Field`) and
    the D rules are decided here on the unsaturated ones. ``loops`` holds 0 to 3 groups,
    innermost first.
    """

    spec: OpSpec
    elem_bytes: int
    ext_addr: int
    loc_addr: int
    len: int
    n_burst: int
    ext_stride: int
    loc_stride: int
    loops: tuple[DmaLoop, ...] = ()
    pad_en: int = 0
    pad_in_bytes: int = 0
    pad_left: int = 0
    pad_right: int = 0
    pad_value: int = 0
    reserved: int = 0
    l2: int = 0
    ub_sub: int = 0

    @property
    def left_bytes(self) -> int:
        """L of spec/dma.md section 3."""
        return self.pad_left if self.pad_in_bytes else self.pad_left * self.elem_bytes

    @property
    def right_bytes(self) -> int:
        """R of spec/dma.md section 3."""
        return self.pad_right if self.pad_in_bytes else self.pad_right * self.elem_bytes

    @property
    def is_nop(self) -> bool:
        """A count that multiplies the work is zero (spec/README.md, "Rule classes"; A-03)."""
        return not (self.len and self.n_burst and all(loop.count for loop in self.loops))


def lower_dma(op: DmaOp) -> DmaDescriptor:
    """Returns the descriptor of a strided op.

    Raises:
        ValueError: more loop groups than a descriptor holds (A-08), or an unknown element type.
    """
    if len(op.loops) > MAX_LOOPS:
        raise ValueError(
            f"{op.spec.name} has {len(op.loops)} loop groups: a descriptor holds 0..{MAX_LOOPS}; "
            "split the op"
        )
    elem_bytes = element_bytes(op.src_type.dtype)
    if isinstance(op, MteUbGm):
        return DmaDescriptor(
            spec=MTE_UB_GM,
            elem_bytes=elem_bytes,
            ext_addr=op.gm_dst,
            loc_addr=op.ub_src,
            len=op.len_burst,
            n_burst=op.n_burst,
            ext_stride=op.dst_stride,
            loc_stride=op.src_stride,
            loops=tuple(DmaLoop(x.count, x.dst_stride, x.src_stride) for x in op.loops),
            l2=op.l2_cache_ctl,
            ub_sub=op.ub_sub,
        )
    loops = tuple(DmaLoop(x.count, x.src_stride, x.dst_stride) for x in op.loops)
    if isinstance(op, MteGmL1 | MteL1Ub):
        return DmaDescriptor(
            spec=op.spec,
            elem_bytes=elem_bytes,
            ext_addr=op.gm_src if isinstance(op, MteGmL1) else op.l1_src,
            loc_addr=op.l1_dst if isinstance(op, MteGmL1) else op.ub_dst,
            len=op.len_burst,
            n_burst=op.n_burst,
            ext_stride=op.src_stride,
            loc_stride=op.dst_stride,
            loops=loops,
            ub_sub=0 if isinstance(op, MteGmL1) else op.ub_sub,
        )
    pad = op.pad
    return DmaDescriptor(
        spec=MTE_GM_UB,
        elem_bytes=elem_bytes,
        ext_addr=op.gm_src,
        loc_addr=op.ub_dst,
        len=op.len_burst,
        n_burst=op.n_burst,
        ext_stride=op.src_stride,
        loc_stride=op.dst_stride,
        loops=loops,
        pad_en=0 if pad is None else 1,
        pad_left=0 if pad is None else pad.left or 0,
        pad_right=0 if pad is None else pad.right or 0,
        pad_value=0 if pad is None else pad.value,
        l2=op.l2_cache_ctl,
        ub_sub=op.ub_sub,
    )
