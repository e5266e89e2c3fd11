# SPDX-License-Identifier: Apache-2.0
"""A strided or burst copy without its form: rows, nested loops, and the ops that write it.

Lengths are units of the op, all steps are bytes, so that one description serves every op of the
families dma and burst.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tb.isa.burst.op import BURST_CLASSES, BurstDescriptor, BurstOp
from tb.isa.burst.table import BIAS_TYPES, BURSTS
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import DmaDescriptor, Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dma.table import MAX_LOOPS, MTE_GM_L1, MTE_GM_UB, MTE_L1_UB, MTE_UB_GM, SOURCE_SIDE
from tb.isa.dtypes import ELEMENT_BYTES, Ptr
from tb.isa.fields import OpSpec
from tb.isa.lower import V06Op
from tb.isa.program import Entry
from tb.isa.spaces import UB_BLOCK

LEGACY_LOOPS = 2
"""Loops of a legacy form."""


@dataclass(frozen=True, slots=True)
class Dim:
    """A dimension: how often, and the bytes from one to the next at source and destination."""

    count: int
    src: int
    dst: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy.

    Attributes:
        spec: The op.
        src, dst: Byte addresses.
        units: Bytes of a unit of length at the source and at the destination.
        length: Units of a row.
        rows: The rows.
        loops: Loops around them, innermost first.
        src_type, dst_type: Pointer types.
        pad: Padding of the rows.
        l2: L2 cache hint.
        ub_sub: UB sub-block.
    """

    spec: OpSpec
    src: int
    dst: int
    units: tuple[int, int]
    length: int
    rows: Dim
    loops: tuple[Dim, ...]
    src_type: Ptr
    dst_type: Ptr
    pad: Pad | None = None
    l2: int = 0
    ub_sub: int = 0

    def moved(self, dim: Dim, count: int) -> Copy:
        """Returns the copy that starts ``count`` steps of ``dim`` later."""
        return replace(self, src=self.src + count * dim.src, dst=self.dst + count * dim.dst)


def copy_of(desc: DmaDescriptor | BurstDescriptor, dtype: str, pad_dtype: str) -> Copy | None:
    """Returns the copy of a descriptor, None where its padding is no whole number of elements.

    Args:
        desc: Descriptor of a legal op that moves bytes.
        dtype: Element type of the source.
        pad_dtype: Type of the pad value.
    """
    spec = desc.spec
    types = Ptr(dtype, spec.source), Ptr(dtype, spec.destination)
    if isinstance(desc, BurstDescriptor):
        if desc.spec.widens:
            types = types[0], Ptr(BIAS_TYPES[dtype][0], spec.destination)
        src, dst = desc.units
        rows = Dim(desc.n_burst, (desc.len + desc.src_gap) * src, (desc.len + desc.dst_gap) * dst)
        return Copy(
            spec, desc.src_addr, desc.dst_addr, desc.units, desc.len, rows, (), *types,
            ub_sub=desc.ub_sub,
        )  # fmt: skip
    pad = None
    if desc.pad_en:
        size = desc.elem_bytes
        if desc.left_bytes % size or desc.right_bytes % size:
            return None
        pad = Pad(pad_dtype, desc.pad_value, desc.left_bytes // size, desc.right_bytes // size)
    unit, ext, loc = 1, desc.ext_stride, desc.loc_stride
    if desc.spec is MTE_L1_UB:
        unit = UB_BLOCK
        ext, loc = (desc.len + ext) * unit, (desc.len + loc) * unit
    loads = SOURCE_SIDE[spec.name] == "ext"

    def dim(count: int, of_ext: int, of_loc: int) -> Dim:
        return Dim(count, of_ext, of_loc) if loads else Dim(count, of_loc, of_ext)

    ends = (desc.ext_addr, desc.loc_addr) if loads else (desc.loc_addr, desc.ext_addr)
    loops = tuple(dim(x.count, x.ext_stride, x.loc_stride) for x in desc.loops if x.count > 1)
    return Copy(
        spec, *ends, (unit, unit), desc.len, dim(desc.n_burst, ext, loc), loops, *types,
        pad, desc.l2, desc.ub_sub,
    )  # fmt: skip


def _gaps(copy: Copy) -> tuple[int, int] | None:
    """Returns the gaps between rows in units; None where rows are not apart by whole units."""
    found = []
    for step, unit in zip((copy.rows.src, copy.rows.dst), copy.units, strict=True):
        gap, rest = divmod(step - copy.length * unit, unit)
        if copy.rows.count > 1 and (rest or gap < 0):
            return None
        found.append(max(gap, 0) if copy.rows.count > 1 else 0)
    return found[0], found[1]


def grouped(copy: Copy) -> V06Op | None:
    """Returns the v0.6 op of a copy, None where it has none."""
    loops = tuple(Loop(x.count, x.src, x.dst) for x in copy.loops)
    ends, types = (copy.src, copy.dst), (copy.src_type, copy.dst_type)
    size = copy.length, copy.rows.count
    steps = copy.rows.src, copy.rows.dst
    if len(loops) > MAX_LOOPS:
        return None
    if copy.spec is MTE_GM_UB:
        return MteGmUb(*ends, *size, *steps, loops, copy.pad, copy.l2, *types, copy.ub_sub)
    if copy.spec is MTE_UB_GM:
        return MteUbGm(*ends, *size, *steps, loops, copy.l2, *types, copy.ub_sub)
    if copy.spec is MTE_GM_L1:
        return MteGmL1(*ends, *size, *steps, loops, *types)
    gaps = _gaps(copy)
    if gaps is None:
        return None
    if copy.spec is MTE_L1_UB:
        return MteL1Ub(*ends, *size, *gaps, loops, *types, copy.ub_sub)
    if loops:
        return None
    make: type[BurstOp] = BURST_CLASSES[copy.spec.name]
    own = (copy.ub_sub,) if BURSTS[copy.spec.name].has_ub_side else ()
    return make(*ends, *size, *gaps, *types, *own)


def legacy(copy: Copy) -> Entry:
    """Returns the legacy form of a copy with every register that it reads; empty for none."""
    if copy.spec.name == "mte_ub_ub":
        return (_ubuf_copy(copy),)
    if copy.spec not in (MTE_GM_UB, MTE_UB_GM) or len(copy.loops) > LEGACY_LOOPS:
        return ()
    side = OUTTOUB if copy.spec is MTE_GM_UB else UBTOOUT
    first, second = (*copy.loops, *(Dim(1, 0, 0),) * LEGACY_LOOPS)[:LEGACY_LOOPS]
    sets: list[LegacyOp] = [
        SetLoopSize(side, first.count, second.count),
        SetLoopStride(side, 1, first.src, first.dst),
        SetLoopStride(side, 2, second.src, second.dst),
    ]
    if copy.pad is not None:
        sets.append(SetMovPadVal(copy.pad.dtype, copy.pad.value))
    return (*sets, _store(copy) if copy.spec is MTE_UB_GM else _load(copy))


def _ubuf_copy(copy: Copy) -> CopyUbufToUbuf:
    return CopyUbufToUbuf(
        copy.src,
        copy.dst,
        0,
        copy.rows.count,
        copy.length * copy.units[0],
        copy.rows.src,
        copy.rows.dst,
        copy.src_type,
        copy.dst_type,
        copy.ub_sub,
    )


def _store(copy: Copy) -> CopyUbufToGm:
    return CopyUbufToGm(
        copy.src,
        copy.dst,
        0,
        copy.rows.count,
        copy.length,
        copy.l2,
        copy.rows.dst,
        copy.rows.src,
        copy.src_type,
        copy.dst_type,
        copy.ub_sub,
    )


def _load(copy: Copy) -> CopyGmToUbuf:
    size, pad = ELEMENT_BYTES[copy.src_type.dtype], copy.pad
    return CopyGmToUbuf(
        copy.src,
        copy.dst,
        0,
        copy.rows.count,
        copy.length,
        (pad.left or 0) * size if pad else 0,
        (pad.right or 0) * size if pad else 0,
        int(pad is not None),
        copy.l2,
        copy.rows.src,
        copy.rows.dst,
        copy.src_type,
        copy.dst_type,
        copy.ub_sub,
    )
