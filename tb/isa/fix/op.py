# SPDX-License-Identifier: Apache-2.0
"""The FIXPIPE write-back ops, their clauses, and the descriptor they become (spec/fixpipe.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tb.isa.ctrl import atomic_of, sat_of
from tb.isa.dtypes import Ptr
from tb.isa.fields import OpSpec
from tb.isa.fix.table import (
    ATOMIC_OPS,
    ATOMIC_TYPES,
    DST_BITS,
    DST_CODES,
    FLAG_NONE,
    GROUP,
    LAYOUTS_BY_NAME,
    MTE_L0C_GM,
    MTE_L0C_L1,
    MTE_L0C_UB,
    NO_CONVERT,
    NUMBER_TYPES,
    NZ2DN,
    NZ2NZ,
    QUANT_BY_CODE,
    QUANT_MODES,
    RELU_MODES,
    SAT_MODES,
    UB_SPLIT_M,
    UB_SPLIT_N,
    UB_SPLITS,
    UB_WHOLE,
    VECTOR_RELU,
    QuantMode,
)

L0C_F32 = Ptr("f32", "l0c")
GM_F32 = Ptr("f32", "gm")
L1_F32 = Ptr("f32", "l1")
UB_F32 = Ptr("f32", "ub")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A typed constant: ``bits`` of a number of type ``dtype``."""

    dtype: str
    bits: int


@dataclass(frozen=True, slots=True)
class FbPtr:
    """A pointer into fb; its element type never changes the record format (A-49)."""

    dtype: str
    address: int


@dataclass(frozen=True, slots=True)
class PreQuant:
    """Clause ``pre_quant(payload, mode = mode)``."""

    mode: str
    payload: Scalar | FbPtr | None


@dataclass(frozen=True, slots=True)
class PreRelu:
    """Clause ``pre_relu([payload,] mode = mode [, clip = clip])``."""

    mode: str
    payload: Scalar | FbPtr | None = None
    clip: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Loop3:
    """Clause ``loop3``: repeats, 64 B between their sources, elements between destinations."""

    count: int
    src_stride: int
    dst_stride: int


@dataclass(frozen=True, slots=True)
class Atomic:
    """Clause ``atomic(type = type, op = op)``."""

    type: str
    op: str


@dataclass(frozen=True, slots=True)
class MteL0cGm:
    """``pto.mte_l0c_gm``: accumulators to GM.

    Attributes:
        src, dst: Byte addresses in L0C and GM.
        m, n: Rows and columns.
        src_stride: 64 B from one group of 16 columns to the next.
        dst_stride: Destination elements.
        sid, l2_cache_ctrl: Hints.
        unit_flag: 0, 2 check_only, 3 check_and_clear.
        pre_quant, pre_relu: Clauses, or None.
        layout: ``""``, ``"nz2nd"``, ``"nz2dn"`` or ``"nz2nz"``.
        k: K of nz2dn, else None.
        split: Split of nz2nz, None where the clause leaves it out, which is 0.
        loop3: Clause, or None.
        sat: ``"sat"``, ``"preserve_nan"`` or ``"nosat"``; ``""`` leaves it to CTRL.
        src_type, dst_type: Pointer types.
        atomic: Clause; None leaves it to CTRL.
    """

    spec: ClassVar[OpSpec] = MTE_L0C_GM
    src: int
    dst: int
    m: int
    n: int
    src_stride: int
    dst_stride: int
    sid: int = 0
    l2_cache_ctrl: int = 0
    unit_flag: int = FLAG_NONE
    pre_quant: PreQuant | None = None
    pre_relu: PreRelu | None = None
    layout: str = ""
    k: int | None = None
    split: int | None = None
    loop3: Loop3 | None = None
    sat: str = ""
    atomic: Atomic | None = None
    src_type: Ptr = L0C_F32
    dst_type: Ptr = GM_F32


@dataclass(frozen=True, slots=True)
class MteL0cL1:
    """``pto.mte_l0c_l1``: accumulators to L1; attributes as of :class:`MteL0cGm`."""

    spec: ClassVar[OpSpec] = MTE_L0C_L1
    src: int
    dst: int
    m: int
    n: int
    src_stride: int
    dst_stride: int
    unit_flag: int = FLAG_NONE
    pre_quant: PreQuant | None = None
    pre_relu: PreRelu | None = None
    layout: str = ""
    k: int | None = None
    split: int | None = None
    loop3: Loop3 | None = None
    sat: str = ""
    src_type: Ptr = L0C_F32
    dst_type: Ptr = L1_F32


@dataclass(frozen=True, slots=True)
class MteL0cUb:
    """``pto.mte_l0c_ub``: accumulators to UB; attributes as of :class:`MteL0cGm`.

    Attributes:
        ub_split: ``""`` for a whole tile to sub-block ``sub_block``, ``"split_m"`` or
            ``"split_n"`` for halves to both.
        sub_block: Sub-block of a whole tile; 0 with a split.
    """

    spec: ClassVar[OpSpec] = MTE_L0C_UB
    src: int
    dst: int
    m: int
    n: int
    src_stride: int
    dst_stride: int
    sub_block: int = 0
    ub_split: str = ""
    unit_flag: int = FLAG_NONE
    pre_quant: PreQuant | None = None
    pre_relu: PreRelu | None = None
    layout: str = ""
    k: int | None = None
    split: int | None = None
    loop3: Loop3 | None = None
    sat: str = ""
    src_type: Ptr = L0C_F32
    dst_type: Ptr = UB_F32


FixOp = MteL0cGm | MteL0cL1 | MteL0cUb
"""The write-back ops."""

FIX_CLASSES: tuple[type[FixOp], ...] = (MteL0cGm, MteL0cL1, MteL0cUb)


@dataclass(frozen=True, slots=True)
class AsWritten:
    """Types of an op that its descriptor does not hold and the engine does not need.

    Attributes:
        quant, relu: Types of the payloads, or of the targets of fb pointers; ``""`` where the
            clause is absent, ``"f32"`` where it takes no payload.
        clip: Type of the clip payload, ``""`` without clip.
    """

    quant: str = ""
    relu: str = ""
    clip: str = ""


@dataclass(frozen=True, slots=True)
class FixDescriptor:
    """Field values of a write-back descriptor before they are packed; they may break any width."""

    spec: OpSpec
    src_addr: int
    dst_addr: int
    m: int
    n: int
    src_stride: int
    dst_stride: int
    acc: int = 0
    dst_type: int = 0
    quant: int = 0
    quant_scale: int = 0
    quant_addr: int = 0
    relu: int = 0
    relu_alpha: int = 0
    relu_addr: int = 0
    clip_en: int = 0
    clip: int = 0
    sat: int = 0
    atomic_type: int = 0
    atomic_op: int = 0
    unit_flag: int = 0
    layout: int = 0
    split: int = 0
    ub_mode: int = 0
    ub_sub: int = 0
    loop3_en: int = 0
    loop3_count: int = 0
    loop3_src: int = 0
    loop3_dst: int = 0
    k: int = 0
    sid: int = 0
    l2: int = 0
    written: AsWritten = field(default=AsWritten(), compare=False)

    @property
    def is_nop(self) -> bool:
        """No row, no column or no repeat: nothing is moved (spec/fixpipe.md, section 10)."""
        return not (self.m and self.n and self.repeats)

    @property
    def repeats(self) -> int:
        """R, the repeats of loop3, 1 without it."""
        return self.loop3_count if self.loop3_en else 1

    @property
    def groups(self) -> int:
        """Groups of 16 columns in the source."""
        return -(-self.n // GROUP)

    @property
    def row_step(self) -> int:
        """64 B words between rows of the source: K for nz2dn, else 1."""
        return self.k if self.layout == NZ2DN else 1

    @property
    def dst_bits(self) -> int:
        """Bits of a destination element."""
        return DST_BITS[self.dst_type]

    @property
    def mode(self) -> QuantMode:
        """Row of section 4."""
        return QUANT_BY_CODE[self.quant]

    @property
    def vector_quant(self) -> bool:
        """Whether scale, offset and sign come from FB records."""
        return self.mode.vector

    @property
    def vector_relu(self) -> bool:
        """Whether alphas come from FB words."""
        return self.relu == VECTOR_RELU

    @property
    def halves(self) -> tuple[int, int]:
        """Rows and columns of one UB sub-block; all of them without a split."""
        if self.ub_mode == UB_SPLIT_M:
            return self.m // 2, self.n
        if self.ub_mode == UB_SPLIT_N:
            return self.m, self.n // 2
        return self.m, self.n

    @property
    def nz_columns(self) -> int:
        """Columns of a destination group of nz2nz: 16, or 8 with the channel split."""
        return 8 if self.layout == NZ2NZ and self.split else GROUP


def number_bits(number: Scalar) -> int:
    """Returns a f16, bf16 or f32 number widened to f32 bits, exactly.

    Raises:
        ValueError: the type is another one (FIX-L03, FIX-L05).
    """
    if number.dtype == "f32":
        return number.bits & 0xFFFFFFFF
    if number.dtype == "bf16":
        return (number.bits & 0xFFFF) << 16
    if number.dtype == "f16":
        return _widened(number.bits & 0xFFFF)
    raise ValueError(f"a number has type {number.dtype}: one of {', '.join(NUMBER_TYPES)}")


def _widened(half: int) -> int:
    """Returns the bits of a f16 as f32; a NaN keeps its payload."""
    sign, exponent, fraction = (half & 0x8000) << 16, half >> 10 & 0x1F, half & 0x3FF
    if exponent == 0x1F:
        return sign | 0x7F800000 | fraction << 13
    if not exponent:
        if not fraction:
            return sign
        shift = 11 - fraction.bit_length()
        return sign | (113 - shift) << 23 | (fraction << shift & 0x3FF) << 13
    return sign | (exponent + 112) << 23 | fraction << 13


def number_of(dtype: str, bits: int) -> Scalar:
    """Returns the number of type ``dtype`` that widens to the f32 ``bits``."""
    if dtype == "f32":
        return Scalar(dtype, bits)
    if dtype == "bf16":
        return Scalar(dtype, bits >> 16)
    import numpy as np  # No program needs this direction: the import takes longer than the rest.

    single = np.array([bits], dtype=np.uint32).view(np.float32)
    return Scalar(dtype, int(single.astype(np.float16).view(np.uint16)[0]))


_CLIP_BITS = {"i4": 4, "si4": 4, "i8": 8, "si8": 8}


def clip_bits(clip: Scalar) -> int:
    """Returns a clip payload as the 16 bits of the descriptor: integers are sign-extended."""
    width = _CLIP_BITS.get(clip.dtype, 16)
    sign = 1 << (width - 1)
    value = clip.bits & ((1 << width) - 1)
    return ((value ^ sign) - sign) & 0xFFFF if width < 16 else value


def clip_of(dtype: str, bits: int) -> Scalar:
    """Returns the clip payload of type ``dtype`` with these 16 bits."""
    return Scalar(dtype, bits & ((1 << _CLIP_BITS.get(dtype, 16)) - 1))


def _code(what: str, value: str, codes: dict[str, int]) -> int:
    try:
        return codes[value]
    except KeyError:
        legal = ", ".join(name for name in codes if name)
        raise ValueError(f"{what} is {value!r}: one of {legal}") from None


def _payload(payload: Scalar | FbPtr | None) -> tuple[int, int, str]:
    """Returns number bits, address and type of a payload."""
    if payload is None:
        return 0, 0, "f32"
    if isinstance(payload, FbPtr):
        return 0, payload.address, payload.dtype
    return number_bits(payload), 0, payload.dtype


def lower_fix(op: FixOp, ctrl: int = 0) -> FixDescriptor:
    """Returns the descriptor of a write-back that is issued with this value of CTRL.

    Raises:
        ValueError: a keyword or a type is unknown, or a payload has an illegal type.
    """
    spec, quant, relu = op.spec, op.pre_quant, op.pre_relu
    if op.src_type.dtype not in ("f32", "i32"):
        raise ValueError(f"FIX-L02: accumulators are {op.src_type.dtype}: f32 or i32")
    mode = NO_CONVERT
    scale, quant_addr, quant_type = 0, 0, ""
    if quant is not None:
        if quant.mode not in QUANT_MODES:
            raise ValueError(f"FIX-L03: pre_quant mode {quant.mode!r} is unknown")
        mode = QUANT_MODES[quant.mode]
        scale, quant_addr, quant_type = _payload(quant.payload)
    alpha, relu_addr, relu_type, clip = 0, 0, "", None
    if relu is not None:
        alpha, relu_addr, relu_type = _payload(relu.payload)
        clip = relu.clip
    loop3 = op.loop3
    atomic_type = atomic_op = sid = l2 = ub_mode = ub_sub = 0
    if isinstance(op, MteL0cGm):
        sid, l2 = op.sid, op.l2_cache_ctrl
        atomic_type, atomic_op = atomic_of(ctrl)
        if op.atomic:
            atomic_type = _code("atomic type", op.atomic.type, ATOMIC_TYPES)
            atomic_op = _code("atomic op", op.atomic.op, ATOMIC_OPS)
    elif isinstance(op, MteL0cUb):
        ub_mode = _code("dst_mode", op.ub_split, UB_SPLITS)
        ub_sub = op.sub_block if ub_mode == UB_WHOLE else 0
    return FixDescriptor(
        spec=spec,
        src_addr=op.src,
        dst_addr=op.dst,
        m=op.m,
        n=op.n,
        src_stride=op.src_stride,
        dst_stride=op.dst_stride,
        acc=int(op.src_type.dtype == "i32"),
        dst_type=_code("destination element type", op.dst_type.dtype, DST_CODES),
        quant=mode.code,
        quant_scale=scale,
        quant_addr=quant_addr,
        relu=_code("pre_relu mode", relu.mode, RELU_MODES) if relu else 0,
        relu_alpha=alpha,
        relu_addr=relu_addr,
        clip_en=int(clip is not None),
        clip=clip_bits(clip) if clip else 0,
        sat=_code("saturation", op.sat, SAT_MODES) if op.sat else sat_of(ctrl),
        atomic_type=atomic_type,
        atomic_op=atomic_op,
        unit_flag=op.unit_flag,
        layout=_code("layout", op.layout, LAYOUTS_BY_NAME),
        split=op.split or 0,
        ub_mode=ub_mode,
        ub_sub=ub_sub,
        loop3_en=int(loop3 is not None),
        loop3_count=loop3.count if loop3 else 0,
        loop3_src=loop3.src_stride if loop3 else 0,
        loop3_dst=loop3.dst_stride if loop3 else 0,
        k=op.k or 0,
        sid=sid,
        l2=l2,
        written=AsWritten(quant_type, relu_type, clip.dtype if clip else ""),
    )
