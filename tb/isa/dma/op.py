# SPDX-License-Identifier: Apache-2.0
"""The strided DMA ops and the descriptor they become (spec/dma.md, sections 1 to 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tb.isa.ctrl import atomic_of, nosat_of
from tb.isa.dma.table import (
    MAX_LOOPS,
    MTE_GM_L1,
    MTE_GM_UB,
    MTE_L1_UB,
    MTE_UB_GM,
    SOURCE_SIDE,
    STRIDED,
)
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.fields import OpSpec
from tb.isa.profile import current

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

    spec: ClassVar[OpSpec] = MTE_GM_UB
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


@dataclass(frozen=True, slots=True)
class MteUbGm:
    """``pto.mte_ub_gm``: rows from UB to GM. Addresses, lengths and strides in bytes."""

    spec: ClassVar[OpSpec] = MTE_UB_GM
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


@dataclass(frozen=True, slots=True)
class MteGmL1:
    """``pto.mte_gm_l1``: rows from GM to L1. Addresses, lengths and strides in bytes."""

    spec: ClassVar[OpSpec] = MTE_GM_L1
    gm_src: int
    l1_dst: int
    len_burst: int
    n_burst: int
    src_stride: int
    dst_stride: int
    loops: tuple[Loop, ...] = ()
    src_type: Ptr = GM_I8
    dst_type: Ptr = L1_I8


@dataclass(frozen=True, slots=True)
class MteL1Ub:
    """``pto.mte_l1_ub``: bursts from L1 to UB sub-block 0 (A-12).

    ``len_burst`` and the gaps count blocks of 32 bytes; addresses and loop strides are bytes.
    """

    spec: ClassVar[OpSpec] = MTE_L1_UB
    l1_src: int
    ub_dst: int
    len_burst: int
    n_burst: int
    src_gap: int
    dst_gap: int
    loops: tuple[Loop, ...] = ()
    src_type: Ptr = L1_I8
    dst_type: Ptr = UB_I8
    ub_sub: int = 0


DmaOp = MteGmUb | MteUbGm | MteGmL1 | MteL1Ub
"""Every op of the family."""

_WRITTEN: tuple[type[DmaOp], ...] = (MteGmUb, MteUbGm, MteGmL1, MteL1Ub)


def _class(spec: OpSpec) -> type[DmaOp]:
    """Returns the class of a row: one from above, or one like that of the same operands."""
    names = [operand.name for operand in spec.operands]
    for cls in _WRITTEN:
        if cls.spec is spec:
            return cls
    like = next(x for x in _WRITTEN if [one.name for one in x.spec.operands] == names)
    name = "".join(part.capitalize() for part in spec.name.split("_"))
    members = {"__slots__": (), "__module__": __name__, "spec": spec}
    made = type(name, (like,), {**members, "__doc__": f"``pto.{spec.name}``."})
    globals()[name] = made  # pickle finds classes by name.
    return made


DMA_CLASSES: tuple[type[DmaOp], ...] = tuple(map(_class, STRIDED))
"""Op classes in the order of the rows."""

_FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    cls.spec.name: tuple(
        (operand.field, operand.name)
        for operand in cls.spec.operands
        if operand.name in cls.__dataclass_fields__
    )
    for cls in DMA_CLASSES
}
"""Op to its operands except those of clauses: descriptor field and name."""


@dataclass(frozen=True, slots=True)
class DmaLoop:
    """A loop group in terms of the descriptor: ``ext`` is GM, ``loc`` the on-chip side.

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
    innermost first. Of ``mte_l1_ub`` length and gaps, which are in the fields of the strides, are
    blocks of 32 bytes.
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
    pad_legacy: int = 0
    pad_left: int = 0
    pad_right: int = 0
    pad_value: int = 0
    l2: int = 0
    ub_sub: int = 0
    atomic_type: int = 0
    atomic_op: int = 0
    nosat: int = 0

    @property
    def compact(self) -> bool:
        """The rows form a compact group: no gap between them (spec/dma.md, section 2)."""
        return (
            self.n_burst > 1
            and self.loc_stride == self.len
            and self.spec is not MTE_L1_UB
            and current().compact == "legal"
        )

    @property
    def padded(self) -> bool:
        """Padding is selected (spec/dma.md, section 3; knob ``pad_unselected``)."""
        counts = self.pad_legacy and not self.pad_en and (self.pad_left or self.pad_right)
        return self.pad_en == 1 or bool(counts and current().pad_unselected == "register")

    @property
    def _pad_unit(self) -> int:
        """Bytes that a pad count of 1 stands for (A-06)."""
        in_bytes = self.pad_legacy and current().legacy_pad_unit == "bytes"
        return 1 if in_bytes else self.elem_bytes

    @property
    def left_bytes(self) -> int:
        """L of spec/dma.md section 3."""
        return self.pad_left * self._pad_unit

    @property
    def right_bytes(self) -> int:
        """R of spec/dma.md section 3."""
        return self.pad_right * self._pad_unit

    @property
    def is_nop(self) -> bool:
        """A count that multiplies the work is zero (spec/README.md, "Rule classes"; A-03)."""
        return not (self.len and self.n_burst and all(loop.count for loop in self.loops))


def sampled(ctrl: int) -> dict[str, int]:
    """Returns the fields of a store that hold CTRL at its issue (CT-02)."""
    kind, what = atomic_of(ctrl)
    return {"atomic_type": kind, "atomic_op": what, "nosat": nosat_of(ctrl)}


def lower_dma(op: DmaOp, ctrl: int = 0) -> DmaDescriptor:
    """Returns the descriptor of a strided op that is issued with this value of CTRL.

    Raises:
        ValueError: more loop groups than a descriptor holds (A-08), or an unknown element type.
    """
    if len(op.loops) > MAX_LOOPS:
        raise ValueError(
            f"{op.spec.name} has {len(op.loops)} loop groups: a descriptor holds 0..{MAX_LOOPS}; "
            "split the op"
        )
    values: dict[str, Any] = {name: getattr(op, operand) for name, operand in _FIELDS[op.spec.name]}
    if SOURCE_SIDE[op.spec.name] == "ext":
        loops = tuple([DmaLoop(x.count, x.src_stride, x.dst_stride) for x in op.loops])
    else:
        loops = tuple([DmaLoop(x.count, x.dst_stride, x.src_stride) for x in op.loops])
    if ctrl and isinstance(op, MteUbGm):
        values.update(sampled(ctrl))
    pad = getattr(op, "pad", None)
    if pad is not None:
        values.update(
            pad_en=1, pad_left=pad.left or 0, pad_right=pad.right or 0, pad_value=pad.value
        )
    return DmaDescriptor(
        spec=op.spec,
        elem_bytes=element_bytes(op.src_type.dtype),
        loops=loops,
        ub_sub=getattr(op, "ub_sub", 0),
        **values,
    )
