# SPDX-License-Identifier: Apache-2.0
"""Ops of the matrix unit that programs use between those of the engines; the host computes them.

The specification does not describe them; docs/programs.md defines them for this project: L0A
and L0B hold the NZ fractals that L1 held, and ``mad`` writes accumulators in the order that the
write-back reads (spec/fixpipe.md, section 2): groups of 16 columns, each of M rows rounded up to
a multiple of 16.
"""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.dtypes import Ptr

L0_BYTES = 65536
"""Capacity of L0A and of L0B in bytes."""

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
    """``pto.mte_l1_l0b``: a K x N tile of NZ fractals from L1 to L0B; addresses in bytes."""

    src: int
    dst: int
    k: int
    n: int
    src_type: Ptr
    dst_type: Ptr


@dataclass(frozen=True, slots=True)
class Mad:
    """``pto.mad``: L0C[m, n] = sum over k of L0A[m, k] * L0B[k, n]; addresses in bytes."""

    lhs: int
    rhs: int
    dst: int
    m: int
    n: int
    k: int
    lhs_type: Ptr
    rhs_type: Ptr
    dst_type: Ptr


CubeOp = MteL1L0a | MteL1L0b | Mad
"""Ops that the host computes."""
