# SPDX-License-Identifier: Apache-2.0
"""The pre-v0.6 forms of the DMA ops (docs/spec/dma.md, section 4).

``set_*`` ops write registers that persist; a copy reads those of its own direction when it is
issued. Both are front-end work: an engine gets only the descriptor that :func:`lower_copy` makes,
the same as for the v0.6 op except for the unit of its pad counts. ``copy_ubuf_to_ubuf`` uses
no register: it counts bytes and strides where ``mte_ub_ub`` counts blocks and gaps.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from tb.isa.burst.op import BurstOp, MteUbUb
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dma.table import (
    GM_STRIDE_BITS,
    LOCAL_STRIDE_BITS,
    LOOP_COUNT_BITS,
)
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.op import replace
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK

GM_I8, UB_I8 = Ptr("i8", "gm"), Ptr("i8", "ub")

OUTTOUB = "outtoub"
"""Register set of ``copy_gm_to_ubuf``."""

UBTOOUT = "ubtoout"
"""Register set of ``copy_ubuf_to_gm``."""


@dataclass(frozen=True, slots=True)
class SetLoopSize:
    """``set_loop_size_outtoub`` or ``set_loop_size_ubtoout``: counts of the two loops."""

    direction: str
    loop1_count: int
    loop2_count: int


@dataclass(frozen=True, slots=True)
class SetLoopStride:
    """``set_loop1_stride_*`` or ``set_loop2_stride_*``: byte advance per iteration.

    ``src_stride`` is on GM for ``outtoub`` and on UB for ``ubtoout``; ``dst_stride`` the other.
    """

    direction: str
    level: int
    src_stride: int
    dst_stride: int


@dataclass(frozen=True, slots=True)
class SetMovPadVal:
    """``set_mov_pad_val``: bit pattern of the pad element, GM to UB only."""

    dtype: str
    value: int


@dataclass(frozen=True, slots=True)
class CopyGmToUbuf:
    """``copy_gm_to_ubuf``; lengths and strides in bytes, paddings by ``legacy_pad_unit`` (A-06)."""

    gm_src: int
    ub_dst: int
    sid: int
    n_burst: int
    len_burst: int
    left_padding: int
    right_padding: int
    data_select_bit: int
    l2_cache_ctl: int
    src_stride: int
    dst_stride: int
    src_type: Ptr = GM_I8
    dst_type: Ptr = UB_I8
    ub_sub: int = 0


@dataclass(frozen=True, slots=True)
class CopyUbufToGm:
    """``copy_ubuf_to_gm``; note the order: the GM stride precedes the UB stride."""

    ub_src: int
    gm_dst: int
    sid: int
    n_burst: int
    len_burst: int
    l2_cache_ctl: int
    dst_stride: int
    src_stride: int
    src_type: Ptr = UB_I8
    dst_type: Ptr = GM_I8
    ub_sub: int = 0


@dataclass(frozen=True, slots=True)
class CopyUbufToUbuf:
    """``copy_ubuf_to_ubuf``: bytes and start-to-start strides (A-15), inside one sub-block."""

    src: int
    dst: int
    sid: int
    n_burst: int
    len_burst: int
    src_stride: int
    dst_stride: int
    src_type: Ptr = UB_I8
    dst_type: Ptr = UB_I8
    ub_sub: int = 0


LegacySet = SetLoopSize | SetLoopStride | SetMovPadVal
LegacyCopy = CopyGmToUbuf | CopyUbufToGm
"""Copies that read registers."""
LegacyOp = LegacySet | LegacyCopy | CopyUbufToUbuf


@dataclass(frozen=True, slots=True)
class LoopRegisters:
    """Loop registers of one direction; ``strides[k]`` belongs to loop k + 1. Reset: A-09."""

    counts: tuple[int, int] = (1, 1)
    strides: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))


@dataclass(frozen=True, slots=True)
class DmaRegisters:
    """Every register that legacy copies read."""

    outtoub: LoopRegisters = field(default_factory=LoopRegisters)
    ubtoout: LoopRegisters = field(default_factory=LoopRegisters)
    pad_value: int = 0

    def loops(self, direction: str) -> LoopRegisters:
        """Returns the loop registers of ``direction``.

        Raises:
            ValueError: the direction is neither ``outtoub`` nor ``ubtoout``.
        """
        if direction == OUTTOUB:
            return self.outtoub
        if direction == UBTOOUT:
            return self.ubtoout
        raise ValueError(f"direction is {direction!r}: one of {OUTTOUB}, {UBTOOUT}")


def operand_widths(op: LegacySet) -> tuple[tuple[str, int, int], ...]:
    """Returns (operand, value, legal width in bits) of a ``set_*`` op (A-19)."""
    if isinstance(op, SetLoopSize):
        return (
            ("loop1_count", op.loop1_count, LOOP_COUNT_BITS),
            ("loop2_count", op.loop2_count, LOOP_COUNT_BITS),
        )
    if isinstance(op, SetMovPadVal):
        return (("value", op.value, 8 * element_bytes(op.dtype)),)
    outward = op.direction == OUTTOUB
    return (
        ("src_stride", op.src_stride, GM_STRIDE_BITS if outward else LOCAL_STRIDE_BITS),
        ("dst_stride", op.dst_stride, LOCAL_STRIDE_BITS if outward else GM_STRIDE_BITS),
    )


def fits(op: LegacySet) -> bool:
    """Returns whether every operand fits; if not, the op retires with DMA-L05."""
    return all(0 <= value < 1 << bits for _, value, bits in operand_widths(op))


def write_registers(op: LegacySet, registers: DmaRegisters) -> DmaRegisters:
    """Returns the registers after ``op``; unchanged when an operand does not fit (A-19)."""
    return put_registers(op, registers) if fits(op) else registers


def put_registers(op: LegacySet, registers: DmaRegisters) -> DmaRegisters:
    """Returns the registers with the operands of ``op``, whether they fit or not."""
    if isinstance(op, SetMovPadVal):
        return replace(registers, pad_value=op.value)
    loops = registers.loops(op.direction)
    if isinstance(op, SetLoopSize):
        loops = replace(loops, counts=(op.loop1_count, op.loop2_count))
    else:
        pair = (op.src_stride, op.dst_stride)
        first, second = loops.strides
        loops = replace(loops, strides=(pair, second) if op.level == 1 else (first, pair))
    if op.direction == OUTTOUB:
        return replace(registers, outtoub=loops)
    return replace(registers, ubtoout=loops)


def writes_between(
    have: DmaRegisters, want: DmaRegisters, directions: Collection[str] = (OUTTOUB, UBTOOUT)
) -> tuple[LegacySet, ...]:
    """Returns the ``set_*`` ops that lead from one state of the registers to another.

    Registers of other ``directions`` are left unchanged; the pad value is of ``outtoub``.
    """
    found: list[LegacySet] = []
    for direction in directions:
        old, new = have.loops(direction), want.loops(direction)
        if old.counts != new.counts:
            found.append(SetLoopSize(direction, *new.counts))
        found += [
            SetLoopStride(direction, level, *strides)
            for level, before, strides in zip((1, 2), old.strides, new.strides, strict=True)
            if before != strides
        ]
    if OUTTOUB in directions and have.pad_value != want.pad_value:
        found.append(SetMovPadVal("i32", want.pad_value))
    return tuple(found)


def lower_ubuf_copy(op: CopyUbufToUbuf) -> BurstOp:
    """Returns the ``mte_ub_ub`` of a legacy UB copy (docs/spec/README.md, legacy mapping).

    The copy must pass :func:`tb.isa.rules.lowering_violation`: one that does not is not issued.

    Raises:
        ValueError: length or strides in use are not multiples of 32, or a stride is below the
            length.
    """
    src_gap = dst_gap = 0
    if op.n_burst > 1:
        src_gap, dst_gap = op.src_stride - op.len_burst, op.dst_stride - op.len_burst
    if op.len_burst % UB_BLOCK or src_gap % UB_BLOCK or dst_gap % UB_BLOCK:
        raise ValueError(f"copy_ubuf_to_ubuf of parts of {UB_BLOCK}-byte blocks is not issued")
    if src_gap < 0 or dst_gap < 0:
        raise ValueError("copy_ubuf_to_ubuf with a stride below len_burst is not issued (DMA-L08)")
    return MteUbUb(
        op.src,
        op.dst,
        op.len_burst // UB_BLOCK,
        op.n_burst,
        src_gap // UB_BLOCK,
        dst_gap // UB_BLOCK,
        op.src_type,
        op.dst_type,
        op.ub_sub,
    )


def _groups(registers: LoopRegisters) -> tuple[Loop, ...]:
    pairs = zip(registers.counts, registers.strides, strict=True)
    return tuple([Loop(count, src, dst) for count, (src, dst) in pairs])


def lower_copy(op: LegacyCopy, registers: DmaRegisters, ctrl: int = 0) -> MteGmUb | MteUbGm:
    """Returns what an engine gets of a legacy copy issued with ``registers`` and this CTRL.

    Raises:
        ValueError: the element type is unknown.
    """
    size = element_bytes(op.src_type.dtype)
    types = op.src_type, op.dst_type, op.ub_sub
    rows = op.len_burst, op.n_burst, op.src_stride, op.dst_stride
    if isinstance(op, CopyUbufToGm):
        groups = _groups(registers.ubtoout)
        store = MteUbGm(op.ub_src, op.gm_dst, *rows, groups, op.l2_cache_ctl, *types)
        return store.sampled(ctrl)
    groups = _groups(registers.outtoub)
    pattern = registers.pad_value & ((1 << 8 * size) - 1)
    by_counts = current().pad_unselected == "register" and (op.left_padding or op.right_padding)
    load = MteGmUb(op.gm_src, op.ub_dst, *rows, groups, None, op.l2_cache_ctl, *types)
    return replace(
        load,
        pad_en=op.data_select_bit,
        pad_legacy=1,
        pad_left=op.left_padding,
        pad_right=op.right_padding,
        pad_value=pattern if op.data_select_bit or by_counts else 0,
    )


def to_v06(op: LegacyCopy, registers: DmaRegisters, pad_dtype: str = "") -> MteGmUb | MteUbGm:
    """Returns the v0.6 op of the same effect (docs/spec/README.md, legacy mapping).

    ``pad_dtype`` types the pad value where padding is on; empty takes the integer type of the
    element size.

    Raises:
        ValueError: the pad bytes are not whole elements, which v0.6 cannot write (DMA-L09).
    """
    desc = lower_copy(op, registers)
    if isinstance(op, CopyUbufToGm):
        return replace(desc, l2=0)
    pad = None
    if desc.padded:
        size, left, right = desc.elem_bytes, desc.left_bytes, desc.right_bytes
        if left % size or right % size:
            raise ValueError(
                f"left_padding {left} B and right_padding {right} B are not multiples of the "
                f"{size}-byte element (DMA-L09): v0.6 counts elements"
            )
        dtype = pad_dtype or f"i{8 * size}"
        pad = Pad(dtype, desc.pad_value, left // size, right // size)
    return replace(desc, pad_legacy=0, pad=pad)
