# SPDX-License-Identifier: Apache-2.0
"""``mte_gm_l1_frac`` and the descriptor it becomes (spec/nd2nz.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.fields import OpSpec
from tb.isa.nz.table import C0_BYTES, DN2NZ, MODES, MTE_GM_L1_FRAC, ND2NZ, SMALL_C0

GM_F16 = Ptr("f16", "gm")
L1_F16 = Ptr("f16", "l1")


@dataclass(frozen=True, slots=True)
class MteGmL1Frac:
    """``pto.mte_gm_l1_frac``: matrices from GM to NZ fractals in L1.

    Attributes:
        gm_src, l1_dst: Byte addresses.
        mode: ``"nd2nz"`` or ``"dn2nz"``.
        n_value, d_value: Logical N and D, rows and elements.
        src_inner_stride: Bytes between source rows.
        group_count: Matrices.
        dst_loop2_stride, dst_loop3_stride, dst_loop4_stride: 32-byte blocks between rows,
            C0 columns and groups of the destination.
        src_outer_stride: Bytes between matrices; None when the clause leaves it out, which is 0.
        l2_cache_ctrl: L2 cache hint.
        smallc0_en: 1 for small-C0 packing.
        src_type, dst_type: Pointer types.
    """

    spec: ClassVar[OpSpec] = MTE_GM_L1_FRAC
    gm_src: int
    l1_dst: int
    mode: str
    n_value: int
    d_value: int
    src_inner_stride: int
    group_count: int
    dst_loop2_stride: int
    dst_loop3_stride: int
    dst_loop4_stride: int
    src_outer_stride: int | None = None
    l2_cache_ctrl: int = 0
    smallc0_en: int = 0
    src_type: Ptr = GM_F16
    dst_type: Ptr = L1_F16


@dataclass(frozen=True, slots=True)
class NzDescriptor:
    """Field values of an NZ descriptor before they are packed; they may break any width."""

    spec: ClassVar[OpSpec] = MTE_GM_L1_FRAC
    elem_bytes: int
    mode: int
    n_value: int
    d_value: int
    group_count: int
    ext_addr: int
    loc_addr: int
    inner_stride: int
    outer_stride: int
    dst_loop2: int
    dst_loop3: int
    dst_loop4: int
    small_c0: int = 0
    l2: int = 0

    @property
    def is_nop(self) -> bool:
        """N or D is zero: nothing is moved (spec/nd2nz.md, section 6)."""
        return not (self.n_value and self.d_value)

    @property
    def c0(self) -> int:
        """Elements in a C0 block."""
        return C0_BYTES // self.elem_bytes

    @property
    def columns(self) -> int:
        """C0 columns of a group in normal mode, ceil(D / C0)."""
        return -(-self.d_value // self.c0)

    @property
    def source_rows(self) -> tuple[int, int]:
        """Rows of one source matrix and the bytes of a row."""
        rows, elements = self.n_value, self.d_value
        if self.mode == DN2NZ:
            rows, elements = elements, rows
        return rows, elements * self.elem_bytes

    @property
    def small_bytes(self) -> int:
        """Bytes of a group in small-C0 mode: whole 32-byte blocks (spec/nd2nz.md, section 4)."""
        packed = self.n_value * SMALL_C0 * self.elem_bytes
        return -(-packed // C0_BYTES) * C0_BYTES


def lower_nz(op: MteGmL1Frac) -> NzDescriptor:
    """Returns the descriptor of an NZ repack.

    Raises:
        ValueError: the mode is no keyword, or the element type is unknown or has 8 bytes (ND-L01).
    """
    if op.mode not in MODES:
        raise ValueError(f"mode is {op.mode!r}: one of {', '.join(MODES)}")
    size = element_bytes(op.src_type.dtype)
    if size > 4:
        raise ValueError(f"ND-L01: elements of {op.src_type.dtype} have {size} B: 1, 2 or 4")
    return NzDescriptor(
        elem_bytes=size,
        mode=ND2NZ if op.mode == MODES[ND2NZ] else DN2NZ,
        n_value=op.n_value,
        d_value=op.d_value,
        group_count=op.group_count,
        ext_addr=op.gm_src,
        loc_addr=op.l1_dst,
        inner_stride=op.src_inner_stride,
        outer_stride=op.src_outer_stride or 0,
        dst_loop2=op.dst_loop2_stride,
        dst_loop3=op.dst_loop3_stride,
        dst_loop4=op.dst_loop4_stride,
        small_c0=op.smallc0_en,
        l2=op.l2_cache_ctrl,
    )
