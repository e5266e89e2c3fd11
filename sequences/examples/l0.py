# SPDX-License-Identifier: Apache-2.0
"""Worked loads of L0A, L0B and their scales (spec/examples_v2.md, sections 2 and 8)."""

from __future__ import annotations

from sequences.examples.example import Example, Fill, RuleExample
from tb.isa.dtypes import Ptr
from tb.isa.l0.op import LOAD_CLASSES, L0Load, Shape, shaped
from tb.isa.l0.table import LOADS, SCALE_DTYPE
from tb.isa.spaces import SIZES, Space, segment_base

_A, _B = "mte_l1_l0a", "mte_l1_l0b"
_AMX, _BMX = "mte_l1_l0a_mx", "mte_l1_l0b_mx"
_FP4 = "f4E2M1x2"
_SOURCE = (Fill(Space.L1, 6, SIZES[Space.L1]),)

_Control = tuple[int, int, int, int, int, int]


def _load(
    name: str, dtype: str, operands: _Control | Shape, src: int = 0, dst: int = 0, turn: int = 0
) -> L0Load:
    """A load in control form, or in shape form."""
    types = Ptr(dtype, "l1"), Ptr(dtype, LOADS[name].destination)
    if isinstance(operands, Shape):
        return shaped(name, src, dst, operands, *types, turn)
    return LOAD_CLASSES[name](src, dst, *operands, turn, *types)


def _image(
    example: str,
    length: int,
    crc: int,
    name: str,
    dtype: str,
    operands: _Control | Shape,
    *,
    dst: int = 0,
    turn: int = 0,
) -> Example:
    op = _load(name, dtype, operands, 0, dst, turn)
    return Example(
        example, {"v06": (op,)}, _SOURCE, Space.L0, length, crc, start=segment_base(op.spec.memory)
    )


L0_EXAMPLES: tuple[Example, ...] = (
    _image("LA-E1", 4608, 0x1682A06A, _A, "f16", (2, 2, 2, 3, 5, 3)),
    _image("LA-E2", 6656, 0xBAC18DF5, _A, "f16", Shape(40, 50)),
    _image("LA-E3", 3584, 0x0DBA0FD1, _A, "i8", (0, 0, 3, 2, 4, 3)),
    _image("LA-E4", 2560, 0x913B7DDA, _A, "f32", Shape(20, 12)),
    _image("LA-E6", 1536, 0x5DC92FA0, _A, "f16", Shape(16, 32), turn=1),
    _image("LA-E7", 2560, 0x913B7DDA, _A, _FP4, Shape(20, 100)),
    _image("LA-E8", 2560, 0xBD42EE53, _A, "i8", Shape(32, 40), turn=1),
    _image("LA-E9", 3072, 0x6ECE99B3, _A, "bf16", (1, 0, 1, 2, 2, 2), dst=1024),
    _image("LB-E1", 1536, 0x5DC92FA0, _B, "f16", Shape(32, 16), turn=1),
    _image("LB-E2", 2560, 0xBD42EE53, _B, "i8", Shape(64, 32), turn=1),
    _image("LB-E3", 1536, 0xE199AB02, _B, "f32", Shape(16, 16), turn=1),
    _image("LB-E4", 2560, 0x8B640CC5, _B, _FP4, (0, 0, 4, 1, 4, 4), turn=1),
    _image("LB-E5", 1536, 0x452EC338, _B, "f16", Shape(32, 16)),
    _image("LB-E6", 4608, 0xB1781AF6, _B, "f16", (1, 1, 2, 3, 4, 5), turn=1),
    _image("LB-E7", 6656, 0x7CF9E974, _B, "f32", (0, 2, 3, 4, 3, 2), turn=1),
    _image("LB-E8", 2560, 0xF100D98D, _B, "i8", (2, 1, 2, 2, 5, 4), turn=1),
    _image("LX-E1", 128, 0x84EA62AC, _AMX, SCALE_DTYPE, Shape(16, 64), dst=1024),
    _image("LX-E2", 192, 0x51D1ED7B, _BMX, SCALE_DTYPE, (1, 1, 2, 2, 4, 3)),
    _image("LX-E3", 352, 0xC17CF171, _BMX, SCALE_DTYPE, Shape(192, 40), dst=512),
)
"""Section 2. LA-E5 is LA-E1 with named operands, which is a matter of the text alone."""


def _rule(
    name: str,
    rule: int,
    op: str,
    operands: _Control | Shape = (0, 0, 1, 1, 1, 1),
    dtype: str = "f16",
    *,
    src: int = 0,
    dst: int = 0,
    turn: int = 0,
) -> RuleExample:
    dtype = SCALE_DTYPE if LOADS[op].scales else dtype
    return RuleExample(name, _load(op, dtype, operands, src, dst, turn), rule)


L0_RULE_EXAMPLES: tuple[RuleExample, ...] = (
    _rule("l1_l0a m_step 256", 3, _A, (0, 0, 256, 1, 1, 1)),
    _rule("l1_l0a dst_stride 0", 3, _A, (0, 0, 1, 1, 1, 0)),
    _rule("l1_l0a shape m 4081", 3, _A, Shape(4081, 16)),
    _rule("l1_l0a src 16", 4, _A, src=16),
    _rule("l1_l0a dst 256", 4, _A, dst=256),
    _rule("l1_l0b i8 transpose, m_step 3", 5, _B, (0, 0, 3, 1, 3, 2), "i8", turn=1),
    _rule("l1_l0a f32 transpose, k_step 1", 5, _A, dtype="f32", turn=1),
    _rule("l1_l0a FP4 transpose, m_step 2", 5, _A, (0, 0, 2, 1, 2, 4), _FP4, turn=1),
    _rule("l1_l0a dst 65024, m_step 2", 6, _A, (0, 0, 2, 1, 2, 2), dst=65024),
    _rule("l1_l0a k_step 2, src_stride 1024", 6, _A, (0, 0, 1, 2, 1024, 1)),
    _rule("l1_l0a_mx x_step 256", 3, _AMX, (0, 0, 256, 1, 1, 1)),
    _rule("l1_l0a_mx dst 16", 4, _AMX, dst=16),
    _rule("l1_l0a_mx dst 65536", 6, _AMX, dst=65536),
    _rule("l1_l0a_mx src 16", 4, _AMX, src=16),
)
"""Section 8."""

L0_LEGAL_EXAMPLES: tuple[Example, ...] = (
    Example(
        "legal: l1_l0a src 524288, m_step 0",
        {"v06": (_load(_A, "f16", (0, 0, 0, 1, 1, 1), src=SIZES[Space.L1]),)},
        (),
        Space.L0,
        512,
        0x0EE453FD,
    ),
)
"""Section 8: neighbours that retire without an error."""
