# SPDX-License-Identifier: Apache-2.0
"""Ops of a fixed shape at other addresses each time: streams whose rate is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sequences.blocks import block_of, lower_program
from tb.isa.block import OpBlock, from_ops
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.ctrl import TYPE_LSB, SetCtrl
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import MteGmL1, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.table import ATOMIC_TYPES
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op
from tb.isa.spaces import UB_BLOCK

F16_BYTES = 2
C0_F16 = 16
C0_BYTES = 32
F32_ADD = ATOMIC_TYPES["f32"] << TYPE_LSB


@dataclass(frozen=True)
class Workload:
    """One op of a fixed shape.

    Attributes:
        name: Name in the report.
        unit: Unit of its rate.
        units: Of those in one op.
        bytes: Written by one op.
        places: Number of such ops with separate destinations.
        make: Returns the op at a place, 0 to ``places - 1``.
        ctrl: CTRL at its issue.
        far: In ``TEST=speed``, GM has a long latency.
    """

    name: str
    unit: str
    units: int
    bytes: int
    places: int
    make: Callable[[int], Op]
    ctrl: int = 0
    far: bool = False

    @property
    def op(self) -> str:
        """Name of its op."""
        return self.make(0).spec.name

    @property
    def slot(self) -> str:
        """Slot of its op."""
        return self.make(0).spec.slot


def repack(mode: str, n: int, d: int) -> Workload:
    """An NZ repack of a tight ``n`` x ``d`` matrix of f16 to tight fractals."""
    blocks = n * -(-d // C0_F16)
    rows, row = (n, d * F16_BYTES) if mode == "nd2nz" else (d, n * F16_BYTES)
    size = blocks * C0_BYTES
    places = min((512 << 10) // size, 64)

    def make(place: int) -> Op:
        return MteGmL1Frac(place * rows * row, place * size, mode, n, d, row, 1, 1, n, 1)

    return Workload(f"{mode} {n} x {d} f16", "C0 blocks", blocks, size, places, make)


SHAPES = (("nd2nz", 64, 512), ("nd2nz", 512, 16), ("dn2nz", 64, 512), ("dn2nz", 512, 64))
"""Matrices of the rate measurement: long and short rows both ways."""


def repacks() -> list[Workload]:
    """Returns the NZ repacks of :data:`SHAPES`."""
    return [repack(*shape) for shape in SHAPES]


def local_copies(width: int) -> list[Workload]:
    """Local copies of 8 KiB in one burst, a fill of single blocks, bias vectors, parameter rows.

    Words are of ``width`` bytes.
    """
    size = 8192
    f16, f32 = Ptr("f16", "l1"), Ptr("f32", "bt")
    return [
        Workload(
            "mte_gm_l1 8 KiB", "words", size // width, size, 32,
            lambda k: MteGmL1(k * size, k * size, size, 1, size, size),
        ),
        Workload(
            "raw_fill_l1 8 KiB", "C0 blocks", size // C0_BYTES, size, 32,
            lambda k: RawFillL1(2 * k * size, 0, 0x1234, size // C0_BYTES, 1, 1),
        ),
        Workload(
            "mte_l1_ub 8 KiB", "words", size // width, size, 32,
            lambda k: MteL1Ub(k * size, k * size, size // UB_BLOCK, 1, 0, 0),
        ),
        Workload(
            "mte_ub_l1 8 KiB", "words", size // width, size, 32,
            lambda k: MteUbL1(k * size, k * size, size // 32, 1, 0, 0),
        ),
        Workload(
            "mte_ub_ub 8 KiB", "words", size // width, size, 16,
            lambda k: MteUbUb(k * size, (16 + k) * size, size // 32, 1, 0, 0),
        ),
        Workload(
            "mte_l1_bt 128 f16", "words", 512 // width, 512, 8,
            lambda k: MteL1Bt(k * 256, k * 512, 128, 1, 0, 0, f16, f32),
        ),
        Workload(
            "mte_l1_fb 512 B", "words", 512 // width, 512, 8,
            lambda k: MteL1Fb(k * 512, k * 512, 8, 1, 0, 0),
        ),
    ]  # fmt: skip


def l0_loads() -> list[Workload]:
    """Loads of 32 KiB to L0, as they are and transposed, and of 2 KiB of scales."""
    size, control = 32768, (0, 0, 4, 16, 4, 4)
    plain, scaled = LOAD_CLASSES["mte_l1_l0a"], LOAD_CLASSES["mte_l1_l0a_mx"]
    types = Ptr("f16", "l1"), Ptr("f16", "l0a")
    scales = Ptr("f8E8M0", "l1"), Ptr("f8E8M0", "l0a")
    return [
        Workload(
            "mte_l1_l0a 32 KiB", "C0 blocks", size // C0_BYTES, size, 2,
            lambda k: plain(k * size, k * size, *control, 0, *types),
        ),
        Workload(
            "l1_l0a transposed", "C0 blocks", size // C0_BYTES, size, 2,
            lambda k: plain(k * size, k * size, 0, 0, 4, 16, 4, 16, 1, *types),
        ),
        Workload(
            "mte_l1_l0a_mx 2 KiB", "C0 blocks", 64, 2048, 2,
            lambda k: scaled(k * 2048, k * 16 * 2048, 0, 0, 4, 16, 16, 16, 0, *scales),
        ),
    ]  # fmt: skip


def stores(width: int) -> list[Workload]:
    """Stores of 8 KiB, plain and atomic."""
    size = 8192
    types = Ptr("f32", "ub"), Ptr("f32", "gm")

    def make(place: int) -> Op:
        return MteUbGm(place * size, place * size, size, 1, 0, 0, (), 0, *types)

    words = size // width
    return [
        Workload("mte_ub_gm 8 KiB", "words", words, size, 32, make),
        Workload("ub_gm 8 KiB, f32 add", "words", words, size, 32, make, F32_ADD),
    ]


def stream(ops: Sequence[Op], ctrl: int = 0) -> OpBlock:
    """Returns ops as a block; CTRL is ``ctrl`` at the issue of each."""
    if not ctrl:
        return from_ops(ops)
    programs = [(SetCtrl(ctrl), op, SetCtrl(0)) for op in ops]
    return block_of([lower_program(one, DmaRegisters())[0] for one in programs])
