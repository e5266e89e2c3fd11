# SPDX-License-Identifier: Apache-2.0
"""Ops of the matrix unit that programs use between those of the engines; the host computes them.

They are a part of spec/l0_loads.md: loads in shape form that begin at 0, of L0A without and of
L0B with ``transpose``; and ``mad`` without initial accumulators, bias, saturation and unit flags.
L0A holds the NZ fractals that L1 held, L0B those of the transposed matrix, and ``mad`` writes
accumulators in the order that the write-back reads (spec/fixpipe.md, section 2): groups of 16
columns, each of M rows rounded up to a multiple of 16.
"""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.dtypes import Ptr

L0_BYTES = 65536
"""Capacity of L0A and of L0B in bytes."""

VECTOR_BYTES = 512
"""Unit of the bytes of a vector in L0A."""


def square(size: int) -> int:
    """Returns the rows and columns of the squares that a transposing load moves.

    Args:
        size: Bytes of an element.
    """
    return 32 if size == 1 else 16


MAD_TYPES: dict[str, str] = {"f16": "f32", "bf16": "f32", "f32": "f32", "i8": "i32"}
"""Element type of both factors to that of the accumulators."""


@dataclass(frozen=True, slots=True)
class MteL1L0a:
    """``pto.mte_l1_l0a``: an M x K tile of NZ fractals from L1 to L0A; addresses in bytes."""

    src: int
    dst: int
    m: int
    k: int
    src_type: Ptr
    dst_type: Ptr


@dataclass(frozen=True, slots=True)
class MteL1L0b:
    """``pto.mte_l1_l0b {transpose = true}``: a K x N tile of NZ fractals from L1 to L0B.

    Addresses are in bytes. L0B holds the N x K tile.
    """

    src: int
    dst: int
    k: int
    n: int
    src_type: Ptr
    dst_type: Ptr


@dataclass(frozen=True, slots=True)
class Mad:
    """``pto.mad``: L0C[m, n] = sum over k of L0A[m, k] * L0B[n, k]; addresses in bytes.

    With M = 1 and without ``disable_gemv`` L0A holds a vector, not fractals. ``n_dir`` changes no
    result.
    """

    lhs: int
    rhs: int
    dst: int
    m: int
    n: int
    k: int
    lhs_type: Ptr
    rhs_type: Ptr
    dst_type: Ptr
    disable_gemv: bool = False
    n_dir: bool = False

    @property
    def vector(self) -> bool:
        """Whether the left factor is a vector."""
        return self.m == 1 and not self.disable_gemv


CubeOp = MteL1L0a | MteL1L0b | Mad
"""Ops that the host computes."""
