# SPDX-License-Identifier: Apache-2.0
"""Operands, modes and descriptor layout of the FIXPIPE write-back (docs/spec/fixpipe.md)."""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.fields import Field, Layout, Operand, OpSpec
from tb.isa.spaces import GM_ADDR_BITS

M_BITS = 16
N_BITS = 12
SRC_STRIDE_BITS = 16
DST_STRIDE_BITS = 32
K_BITS = 16
LOOP3_BITS = 16
UNIT_FLAG_BITS = 2
SID_BITS = 2
L2_BITS = 4

MAX_M_NZ = 65535
MAX_M = 8192
"""Most rows with nz2nz and with every other layout (section 1)."""

L0C_WORD = 64
"""Bytes of 16 accumulators of one row: unit of ``src_stride``, S3 and K (A-30)."""

GROUP = 16
"""Columns of a group in L0C, N0."""

FLAG_BLOCK = 512
"""Bytes of L0C with one unit flag (section 8, A-48)."""

QUANT_RECORD = 8
ALPHA_WORD = 4
"""Bytes per channel of vector pre_quant and of vector pre_relu in FB (sections 5 and 6)."""

SCALE_MASK = 0xFFFFE000
"""Bits of a scale or an alpha that count: the low 13 fraction bits are cleared (A-34)."""

# --- destination element types -------------------------------------------------------------------

(
    DST_F32, DST_I32, DST_F16, DST_BF16, DST_I16,
    DST_E4M3, DST_HIF8, DST_S8, DST_U8, DST_S4,
) = range(10)  # fmt: skip

DST_CODES: dict[str, int] = {
    "f32": DST_F32,
    "i32": DST_I32,
    "si32": DST_I32,
    "ui32": DST_I32,
    "f16": DST_F16,
    "bf16": DST_BF16,
    "i16": DST_I16,
    "si16": DST_I16,
    "f8E4M3FN": DST_E4M3,
    "hif8": DST_HIF8,
    "i8": DST_S8,
    "si8": DST_S8,
    "ui8": DST_U8,
    "i4": DST_S4,
    "si4": DST_S4,
}
"""Code of each destination element type in the descriptor; signed and signless are one."""

DST_BITS: tuple[int, ...] = (32, 32, 16, 16, 16, 8, 8, 8, 8, 4)
"""Bits of an element by code of its type."""

FLOAT_DSTS: frozenset[int] = frozenset((DST_F32, DST_F16, DST_BF16, DST_E4M3, DST_HIF8))

# --- pre_quant -----------------------------------------------------------------------------------

_B8 = ("i8", "si8", "ui8")
_S4 = ("i4", "si4")
_S16 = ("i16", "si16")
_S32 = ("i32", "si32")


@dataclass(frozen=True, slots=True)
class QuantMode:
    """A row of section 4.

    Attributes:
        name: Keyword of the mode.
        code: ``quant`` field of the descriptor.
        acc: Accumulator type; None for both.
        dst: Destination element types; empty for that of the accumulator.
        stage: Source stage: ``"bits"``, ``"x"``, ``"H"``, ``"f32"`` or ``"HI"``.
        scale: Whether M1 multiplies.
        vector: Whether M1 comes from FB records, one per channel.
        narrow: Last stage: ``"none"``, ``"f16"``, ``"bf16"``, ``"hif8"``, ``"hif8_hybrid"``,
            ``"e4m3"``, ``"b8"``, ``"s4"``, ``"s16"`` or ``"s32"``.
        a5: Whether the vendor's list for A5 has it (knob ``modes``).
    """

    name: str
    code: int
    acc: str | None
    dst: tuple[str, ...]
    stage: str
    scale: bool
    vector: bool
    narrow: str
    a5: bool = True


def _pair(
    vector: int,
    name: str,
    acc: str,
    dst: tuple[str, ...],
    stage: str,
    narrow: str,
    *,
    a5: bool = True,
) -> tuple[QuantMode, QuantMode]:
    """Returns a mode with per-channel parameters and, one code above, with a scalar."""
    return (
        QuantMode(f"{name}_vec", vector, acc, dst, stage, True, True, narrow, a5),
        QuantMode(f"{name}_scalar", vector + 1, acc, dst, stage, True, False, narrow, a5),
    )


NO_CONVERT = QuantMode("no_convert", 0, None, (), "bits", False, False, "none")

_MODES = (
    NO_CONVERT,
    QuantMode("f32_f16", 1, "f32", ("f16",), "x", False, False, "f16"),
    QuantMode("f32_bf16", 16, "f32", ("bf16",), "x", False, False, "bf16"),
    *_pair(2, "qf322hif8_pre", "f32", ("hif8",), "x", "hif8"),
    *_pair(4, "qf322hif8_pre_hybrid", "f32", ("hif8",), "x", "hif8_hybrid"),
    *_pair(12, "qf322fp8_pre", "f32", ("f8E4M3FN",), "x", "e4m3"),
    *_pair(14, "qf322f32_pre", "f32", ("f32",), "x", "none"),
    *_pair(31, "qf322f16_pre", "f32", ("f16",), "x", "f16"),
    *_pair(33, "qf322bf16_pre", "f32", ("bf16",), "x", "bf16"),
    *_pair(23, "qf322b8_pre", "f32", _B8, "x", "b8"),
    *_pair(25, "qf322s4_pre", "f32", _S4, "x", "s4", a5=False),
    *_pair(17, "qf162b8_pre", "f32", _B8, "H", "b8", a5=False),
    *_pair(19, "qf162s4_pre", "f32", _S4, "H", "s4", a5=False),
    *_pair(6, "deqs32_int", "i32", _S32, "f32", "s32", a5=False),
    *_pair(8, "req8", "i32", _B8, "f32", "b8"),
    *_pair(21, "req4", "i32", _S4, "f32", "s4", a5=False),
    *_pair(10, "deqf16", "i32", ("f16",), "f32", "f16"),
    *_pair(27, "deqs16", "i32", _S16, "f32", "s16", a5=False),
    *_pair(29, "qf162s16_pre", "i32", _S16, "HI", "s16", a5=False),
    *_pair(35, "qs322bf16_pre", "i32", ("bf16",), "f32", "bf16"),
)

QUANT_MODES: dict[str, QuantMode] = {mode.name: mode for mode in _MODES}
"""Modes of ``pre_quant`` by keyword."""

QUANT_BY_CODE: dict[int, QuantMode] = {mode.code: mode for mode in _MODES}
"""The same by code, 0 to 36."""

_SPEC_CODES: dict[str, tuple[int, int]] = {
    "req8": (2, 3), "deqf16": (4, 5), "req4": (18, 17), "deqs16": (20, 19),
    "qf322b8_pre": (23, 24), "qf322hif8_pre": (28, 25), "qf322fp8_pre": (37, 26),
    "qf322f32_pre": (38, 27), "qf322f16_pre": (33, 32), "qf322bf16_pre": (36, 34),
    "qs322bf16_pre": (39, 35),
}  # fmt: skip
"""Codes of the second table of section 12: with parameters per channel, and with a scalar."""

QUANT_CODES: dict[str, dict[int, QuantMode]] = {
    "ptoas": QUANT_BY_CODE,
    "spec": {mode.code: mode for mode in _MODES if not mode.scale}
    | {
        code: QUANT_MODES[f"{name}_{kind}"]
        for name, codes in _SPEC_CODES.items()
        for kind, code in zip(("vec", "scalar"), codes, strict=True)
    },
}
"""Tables of codes in the raw word Xt by the value of option ``quant_codes`` (A-50)."""

# --- pre_relu, layouts, saturation, atomics, unit flags ------------------------------------------

RELU_MODES: dict[str, int] = {
    "no_relu": 0, "normal_relu": 1, "scalar_relu": 2, "vector_relu": 3, "pwl": 4,
}  # fmt: skip
"""Codes of ``pre_relu``; pwl is illegal (FIX-L05)."""

SCALAR_RELU, VECTOR_RELU = 2, 3

LAYOUTS_BY_NAME: dict[str, int] = {"": 0, "nz2nd": 1, "nz2dn": 2, "nz2nz": 3}
"""Codes of the layouts; an omitted one means nz2nd (A-31)."""

NZ2DN, NZ2NZ = 2, 3

SAT_MODES: dict[str, int] = {"": 0, "sat": 0, "preserve_nan": 1, "nosat": 2}
"""Codes of the saturation clause; omitted means that CTRL decides (A-45, CT-04)."""

ATOMIC_TYPES: dict[str, int] = {"f32": 1, "f16": 2, "s16": 3, "s32": 4, "s8": 5, "bf16": 6}
ATOMIC_OPS: dict[str, int] = {"add": 0, "max": 1, "min": 2}
ATOMIC_BYTES: dict[int, int] = {1: 4, 2: 2, 3: 2, 4: 4, 5: 1, 6: 2}
"""Code of an atomic type to the bytes of an element."""

ATOMIC_DST: dict[str, tuple[str, ...]] = {
    "f32": ("f32",), "f16": ("f16",), "bf16": ("bf16",), "s16": _S16, "s32": _S32,
    "s8": ("i8", "si8"),
}  # fmt: skip
"""Destination element types of each atomic type (section 9, FIX-L11)."""

FLAG_NONE, FLAG_CHECK, FLAG_CLEAR = 0, 2, 3
FLAG_NAMES: dict[int, str] = {FLAG_CHECK: "check_only", FLAG_CLEAR: "check_and_clear"}

UB_WHOLE, UB_SPLIT_M, UB_SPLIT_N = 0, 1, 2
UB_SPLITS: dict[str, int] = {"": UB_WHOLE, "split_m": UB_SPLIT_M, "split_n": UB_SPLIT_N}
"""Codes of ``dst_mode``: a whole tile to one sub-block, or halves to both."""

NUMBER_TYPES: tuple[str, ...] = ("f32", "f16", "bf16")
"""Types of a scale or an alpha, and of pointers to them (FIX-L03, FIX-L05)."""

CLIP_TYPES: dict[int, tuple[str, ...]] = {
    DST_F16: ("f16",),
    DST_U8: ("ui16", "i16"),
    DST_S4: ("i4", "si4", "i8", "si8", "i16", "si16"),
    DST_S8: ("i4", "si4", "i8", "si8", "i16", "si16"),
    DST_I16: ("i4", "si4", "i8", "si8", "i16", "si16"),
}
"""Payload types of ``clip`` by destination (section 6); other destinations have none."""

CLIP_LIMITS: dict[int, int] = {DST_F16: 0x7BFF, DST_U8: 255, DST_S4: 7, DST_S8: 127, DST_I16: 32767}
"""Largest legal clip payload, as bits; the smallest is 1 (FIX-L07)."""

# --- front-end columns of a block, which the descriptor does not hold -----------------------------

NUMBER_CODES: tuple[str, ...] = ("", *NUMBER_TYPES)
"""``quant_type`` and ``relu_type`` index this: type of the payload as written; 0 for a clause that
is absent, or, where the mode needs one, for f32."""

CLIP_CODES: tuple[str, ...] = ("", "f16", "ui16", "i16", "si16", "i8", "si8", "i4", "si4")
"""``clip_type`` indexes this; 0 for f16 or i16, whatever the destination takes."""

FRONT_COLUMNS: tuple[str, ...] = ("quant_type", "relu_type", "clip_type", "sat_given")
"""Operands of a write-back that no descriptor holds. ``sat_given`` is 1 where the clause
stands, since ``sat`` and a saturation that is left out have one code; other codes are clauses."""

# --- descriptor ----------------------------------------------------------------------------------

FIX_LAYOUT = Layout(
    "fix",
    (
        Field("acc", 1, "accumulators: 0 f32, 1 i32"),
        Field("dst_type", 4, "0 f32 1 i32 2 f16 3 bf16 4 i16 5 e4m3fn 6 hif8 7 s8 8 u8 9 s4"),
        Field("quant", 6, "pre_quant code"),
        Field("quant_scale", 32, "scalar modes: M1 as f32 bits, low 13 bits not cleared yet"),
        Field("quant_addr", 24, "vector modes: FB segment and offset of record 0", keep_low=7),
        Field("relu", 3, "pre_relu code"),
        Field("relu_alpha", 32, "scalar_relu: alpha as f32 bits, low 13 bits not cleared yet"),
        Field("relu_addr", 24, "vector_relu: FB segment and offset of alpha 0", keep_low=6),
        Field("clip_en", 1, "there is a clip"),
        Field("clip", 16, "f16 bits, or an integer in two's complement"),
        Field("sat", 2, "0 sat, 1 preserve_nan, 2 nosat: of the clause, else CTRL at issue"),
        Field("atomic_type", 3, "gm: 0 none 1 f32 2 f16 3 s16 4 s32 5 s8 6 bf16; clause or CTRL"),
        Field("atomic_op", 2, "gm: 0 add, 1 max, 2 min; of the clause, else CTRL at issue"),
        Field("unit_flag", UNIT_FLAG_BITS + 1, "0 none, 2 check_only, 3 check_and_clear"),
        Field("layout", 2, "0 omitted, 1 nz2nd, 2 nz2dn, 3 nz2nz"),
        Field("split", 2, "nz2nz: 1 for groups of 8 columns"),
        Field("ub_mode", 2, "ub: 0 to sub-block ub_sub, 1 split_m, 2 split_n"),
        Field("ub_sub", 2, "ub: sub-block"),
        Field("loop3_en", 1, "there is a loop3"),
        Field("loop3_count", LOOP3_BITS + 1, "repeats"),
        Field("loop3_src", LOOP3_BITS + 1, "64 B between repeats of the source"),
        Field("loop3_dst", DST_STRIDE_BITS + 1, "elements between repeats of the destination"),
        Field("k", K_BITS + 1, "nz2dn: 64 B between rows of the source"),
        Field("m", M_BITS + 1, "rows"),
        Field("n", N_BITS + 1, "columns"),
        Field("src_stride", SRC_STRIDE_BITS + 1, "64 B between groups of 16 columns"),
        Field("dst_stride", DST_STRIDE_BITS + 1, "destination elements"),
        Field("src_addr", 24, "L0C byte address", keep_low=6),
        Field("dst_addr", GM_ADDR_BITS + 4, "destination byte address", keep_low=6),
        Field("sid", SID_BITS + 1, "gm: stream hint, never changes data"),
        Field("l2", L2_BITS + 1, "gm: L2 cache hint, never changes data"),
    ),
)

_HEAD = (
    Operand("src", None, "B", "src_addr", "L0C address, multiple of 64"),
    Operand("dst", None, "B", "dst_addr", "destination address"),
    Operand("m", M_BITS, "rows", "m", "rows; at most 8192 but for nz2nz"),
    Operand("n", N_BITS, "columns", "n", "columns, channels"),
    Operand("src_stride", SRC_STRIDE_BITS, "64 B", "src_stride", "between groups of 16 columns"),
    Operand("dst_stride", DST_STRIDE_BITS, "elements", "dst_stride", "at least 1"),
)
_GM_HINTS = (
    Operand("sid", SID_BITS, "code", "sid", "stream hint"),
    Operand("l2_cache_ctrl", L2_BITS, "code", "l2", "L2 cache hint"),
)
_CLAUSES = (
    Operand("unit_flag", UNIT_FLAG_BITS, "code", "unit_flag", "0, 2 or 3"),
    Operand("k", K_BITS, "64 B", "k", "nz2dn: between rows of the source, at least 1"),
    Operand("loop3_count", LOOP3_BITS, "repeats", "loop3_count", "outer repeats"),
    Operand("loop3_src_stride", LOOP3_BITS, "64 B", "loop3_src", "source, repeat to repeat"),
    Operand(
        "loop3_dst_stride", DST_STRIDE_BITS, "elements", "loop3_dst", "destination, the same"
    ),
)  # fmt: skip

_RULES = (7, 14, 15, 16, 18, 19, 20, 22, 23)

MTE_L0C_GM = OpSpec(
    name="mte_l0c_gm",
    opcode=10,
    slot="fix",
    source="l0c",
    destination="gm",
    operands=(*_HEAD, *_GM_HINTS, *_CLAUSES),
    layout=FIX_LAYOUT,
    rules="FIX",
    d_rules=(*_RULES, 26),
    doc="write-back of accumulators to GM, also by atomic update",
    updates=True,
)

MTE_L0C_L1 = OpSpec(
    name="mte_l0c_l1",
    opcode=11,
    slot="fix",
    source="l0c",
    destination="l1",
    operands=(*_HEAD, *_CLAUSES),
    layout=FIX_LAYOUT,
    rules="FIX",
    d_rules=tuple(sorted((*_RULES, 17))),
    doc="write-back of accumulators to L1",
)

MTE_L0C_UB = OpSpec(
    name="mte_l0c_ub",
    opcode=12,
    slot="fix",
    source="l0c",
    destination="ub",
    operands=(*_HEAD, *_CLAUSES),
    layout=FIX_LAYOUT,
    rules="FIX",
    d_rules=tuple(sorted((*_RULES, 17, 21))),
    doc="write-back of accumulators to one UB sub-block or split over both",
)

WRITE_BACKS: tuple[OpSpec, ...] = (MTE_L0C_GM, MTE_L0C_L1, MTE_L0C_UB)
"""Rows of the family."""
