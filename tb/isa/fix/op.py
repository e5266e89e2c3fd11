# SPDX-License-Identifier: Apache-2.0
"""The FIXPIPE write-back ops and their clauses (docs/spec/fixpipe.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tb.isa.ctrl import atomic_of, sat_of
from tb.isa.dtypes import Ptr
from tb.isa.fields import OpSpec
from tb.isa.fix.table import (
    ATOMIC_OPS,
    ATOMIC_TYPES,
    CLIP_CODES,
    DST_BITS,
    DST_CODES,
    DST_F16,
    FLAG_NONE,
    FRONT_COLUMNS,
    GROUP,
    LAYOUTS_BY_NAME,
    NO_CONVERT,
    NUMBER_CODES,
    NUMBER_TYPES,
    NZ2DN,
    NZ2NZ,
    QUANT_BY_CODE,
    QUANT_MODES,
    RELU_MODES,
    SAT_MODES,
    SCALAR_RELU,
    UB_SPLIT_M,
    UB_SPLIT_N,
    UB_SPLITS,
    UB_WHOLE,
    VECTOR_RELU,
    WRITE_BACKS,
    QuantMode,
)
from tb.isa.op import Op, OpT, Values, code_of, op_class, whole

if TYPE_CHECKING:
    from tb.isa.operands import FixOpValues as _Values
else:
    _Values = Op


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


class FixOp(_Values):
    """A write-back of accumulators.

    ``src`` and ``dst`` are byte addresses, ``src_stride`` 64 B from one group of 16 columns to the
    next, ``dst_stride`` destination elements. ``layout``, ``sat`` and ``ub_split`` are given as
    keywords, empty where they are left out, and are their codes; ``k`` and ``split`` are None where
    there is none. ``sub_block`` is that of a whole tile. A saturation or an ``atomic`` that is left
    out is that of CTRL at the issue.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        pre_quant: PreQuant | None
        pre_relu: PreRelu | None
        atomic: Atomic | None

    @classmethod
    def _clause(cls, name: str, value: Any, values: Values) -> None:
        if name not in _VALUES_OF or name not in cls.names:
            super()._clause(name, value, values)
            return
        values |= _VALUES_OF[name](value)
        if name in ("sub_block", "ub_split"):
            values["ub_sub"] = values["sub_block"] if values["ub_mode"] == UB_WHOLE else 0

    @classmethod
    def _typed(cls, values: Values, src_type: Ptr, dst_type: Ptr) -> None:
        values["acc"] = int(src_type.dtype == "i32")
        values["dst_type"] = DST_CODES.get(dst_type.dtype, 0)

    @classmethod
    def fitting(cls, values: Values) -> tuple[str, str]:
        """Returns the type of the accumulators and that of the destination."""
        codes = {code: name for name, code in reversed(DST_CODES.items())}
        return "i32" if values["acc"] else "f32", codes.get(values["dst_type"], "f32")

    @classmethod
    def target(cls, dtype: str, second: str) -> str:  # noqa: ARG003
        """Returns the element type of the destination."""
        return second

    @property
    def second_type(self) -> str:
        """Element type of the destination."""
        return self.dst_type.dtype

    @classmethod
    def _from_fields(cls, values: Values, second: str) -> Values:  # noqa: ARG003
        """Returns the values of an op of a block, with its clauses."""
        x = {**cls.zeros, **values}
        x |= {"k_given": int(x["layout"] == NZ2DN), "split_given": int(x["layout"] == NZ2NZ)}
        x |= {
            "sat_given": int(x["sat_given"] or x["sat"] > 0),
            "pre_quant": _quant_of(x),
            "pre_relu": _relu_of(x),
        }
        if x["atomic_type"]:
            # Codes without a name come from CTRL only (FIX-L26).
            kind, what = x["atomic_type"], x["atomic_op"]
            x["atomic"] = Atomic(_TYPE_NAMES.get(kind, str(kind)), _OP_NAMES.get(what, str(what)))
        return {**x, "sub_block": x["ub_sub"]}

    def sampled(self: OpT, ctrl: int) -> OpT:
        """Returns the op as it is issued with this value of CTRL (CT-04, CT-05)."""
        own = self.values
        clause = own["atomic"] is not None or "atomic" not in self.names
        if not ctrl or (own["sat_given"] and clause):
            return self
        values = dict(own)
        if not own["sat_given"]:
            values["sat"] = sat_of(ctrl)
        if not clause:
            values["atomic_type"], values["atomic_op"] = atomic_of(ctrl)
        return type(self).of(values, self.src_type, self.dst_type)

    @property
    def unencodable(self) -> str:
        """What of an op no descriptor holds: types and words that S rules forbid."""
        quant, relu, atomic = self.pre_quant, self.pre_relu, self.atomic
        numbers = [clause.payload for clause in (quant, relu) if clause]
        faults = {
            f"FIX-L02: accumulators are {self.src_type.dtype}: f32 or i32":
                self.src_type.dtype not in ("f32", "i32"),
            f"FIX-L03: pre_quant mode {quant and quant.mode!r} is unknown":
                quant is not None and quant.mode not in QUANT_MODES,
            f"pre_relu mode is {relu and relu.mode!r}: one of {', '.join(RELU_MODES)}":
                relu is not None and relu.mode not in RELU_MODES,
            f"the type of a number is one of {', '.join(NUMBER_TYPES)}":
                any(isinstance(x, Scalar) and x.dtype not in NUMBER_TYPES for x in numbers),
            f"destination element type is {self.dst_type.dtype}: one of {', '.join(DST_CODES)}":
                self.dst_type.dtype not in DST_CODES,
            f"atomic type or op is unknown: {atomic}": atomic is not None
                and not (atomic.type in ATOMIC_TYPES and atomic.op in ATOMIC_OPS),
        }  # fmt: skip
        return next((fault for fault, found in faults.items() if found), "")

    @property
    def layout_name(self) -> str:
        """Keyword of the layout, empty where it is left out."""
        return _LAYOUT_NAMES[self.layout]

    @property
    def sat_name(self) -> str:
        """Keyword of the saturation, empty where CTRL decides."""
        return _SAT_NAMES[self.sat] if self.sat_given else ""

    @property
    def ub_split(self) -> str:
        """Keyword of a split over both sub-blocks, empty for a whole tile."""
        return _SPLIT_NAMES[self.ub_mode]

    @property
    def loop3(self) -> Loop3 | None:
        """The clause, or None."""
        if not self.loop3_en:
            return None
        return Loop3(self.loop3_count, self.loop3_src, self.loop3_dst)

    @property
    def dst_code(self) -> int:
        """Code of the destination element type."""
        code: int = self.values["dst_type"]
        return code

    @property
    def is_nop(self) -> bool:
        """No row, no column or no repeat: nothing is moved (docs/spec/fixpipe.md, section 10)."""
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
        return DST_BITS[self.dst_code]

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


def _bits_of(number: Scalar, widened: Callable[[Scalar], int]) -> int:
    """Returns the bits of a number in its field; those of one that is not known as they are."""
    bits = whole(number.bits)
    return widened(Scalar(number.dtype, bits)) if type(bits) is int else bits


def _payload_values(name: str, number: str, payload: Scalar | FbPtr | None) -> Values:
    """Returns the values of a payload: its bits, its address, and its type as it is written."""
    values: Values = {number: 0, f"{name}_addr": 0}
    dtype = payload.dtype if payload else "f32"
    if isinstance(payload, FbPtr):
        values[f"{name}_addr"] = payload.address
    elif payload and dtype in NUMBER_TYPES:
        values[number] = _bits_of(payload, number_bits)
    values[f"{name}_type"] = NUMBER_CODES.index(dtype) if dtype in NUMBER_TYPES else 0
    return values


def _quant_values(quant: PreQuant | None) -> Values:
    values = _payload_values("quant", "quant_scale", quant.payload if quant else None)
    if quant is None:
        return {**values, "pre_quant": None, "quant": 0, "quant_type": 0}
    mode = QUANT_MODES.get(quant.mode, NO_CONVERT)
    return {**values, "pre_quant": quant, "quant": mode.code}


def _relu_values(relu: PreRelu | None) -> Values:
    values = _payload_values("relu", "relu_alpha", relu.payload if relu else None)
    if relu is None:
        none = dict.fromkeys(("relu", "relu_type", "clip_en", "clip", "clip_type"), 0)
        return {**values, **none, "pre_relu": None}
    clip = relu.clip
    values |= {
        "clip_en": int(clip is not None),
        "clip": _bits_of(clip, clip_bits) if clip else 0,
        "clip_type": CLIP_CODES.index(clip.dtype) if clip and clip.dtype in CLIP_CODES else 0,
    }
    return {**values, "pre_relu": relu, "relu": RELU_MODES.get(relu.mode, 0)}


def _optional(name: str, value: int | None) -> Values:
    return {name: 0 if value is None else value, f"{name}_given": int(value is not None)}


def _loop_values(loop: Loop3 | None) -> Values:
    count, src, dst = (loop.count, loop.src_stride, loop.dst_stride) if loop else (0, 0, 0)
    given = int(loop is not None)
    return {"loop3_en": given, "loop3_count": count, "loop3_src": src, "loop3_dst": dst}


def _atomic_values(atomic: Atomic | None) -> Values:
    kind, what = (atomic.type, atomic.op) if atomic else ("", "")
    codes = {"atomic_type": ATOMIC_TYPES.get(kind, 0), "atomic_op": ATOMIC_OPS.get(what, 0)}
    return {"atomic": atomic, **codes}


_VALUES_OF: Mapping[str, Callable[[Any], Values]] = {
    "k": partial(_optional, "k"),
    "split": partial(_optional, "split"),
    "layout": lambda word: {"layout": code_of("layout", word, LAYOUTS_BY_NAME)},
    "sat": lambda word: {"sat": code_of("sat", word, SAT_MODES), "sat_given": int(word != "")},
    "loop3": _loop_values,
    "pre_quant": _quant_values,
    "pre_relu": _relu_values,
    "atomic": _atomic_values,
    "sub_block": lambda number: {"sub_block": number},
    "ub_split": lambda word: {"ub_mode": code_of("dst_mode", word, UB_SPLITS)},
}
"""Clause to the function that returns the values of its fields."""


def _number(kind: int, bits: int) -> Scalar:
    return number_of(NUMBER_CODES[kind] or "f32", bits)


def _quant_of(x: Values) -> PreQuant | None:
    """Returns the clause of an op of a block."""
    code, kind, address = x["quant"], x["quant_type"], x["quant_addr"]
    if not code and not kind:
        return None
    mode = QUANT_BY_CODE.get(code, NO_CONVERT)
    if mode.vector or (not mode.scale and address):
        return PreQuant(mode.name, FbPtr(NUMBER_CODES[kind] or "f32", address))
    return PreQuant(mode.name, _number(kind, x["quant_scale"]))


def _relu_of(x: Values) -> PreRelu | None:
    """Returns the clause of an op of a block."""
    code, kind = x["relu"], x["relu_type"]
    clip = None
    if x["clip_en"]:
        of_type = CLIP_CODES[x["clip_type"]]
        clip = clip_of(of_type or ("f16" if x["dst_type"] == DST_F16 else "i16"), x["clip"])
    if not code and not kind and clip is None:
        return None
    payload: Scalar | FbPtr | None = None
    if code == SCALAR_RELU:
        payload = _number(kind, x["relu_alpha"])
    elif code == VECTOR_RELU:
        payload = FbPtr(NUMBER_CODES[kind] or "f32", x["relu_addr"])
    return PreRelu(_RELU_NAMES.get(code, str(code)), payload, clip)


_RELU_NAMES = {code: name for name, code in RELU_MODES.items()}
_LAYOUT_NAMES = tuple(LAYOUTS_BY_NAME)
_SAT_NAMES = ("sat", "preserve_nan", "nosat")
_TYPE_NAMES = {code: name for name, code in ATOMIC_TYPES.items()}
_OP_NAMES = {code: name for name, code in ATOMIC_OPS.items()}
_SPLIT_NAMES = tuple(UB_SPLITS)

_CLAUSES: Values = {
    "unit_flag": FLAG_NONE, "pre_quant": None, "pre_relu": None, "layout": "", "k": None,
    "split": None, "loop3": None, "sat": "",
}  # fmt: skip
_EXTRA: Values = {
    "pre_quant": None, "pre_relu": None, "atomic": None, "sub_block": 0, "ub_split": "",
    **dict.fromkeys(("k_given", "split_given", *FRONT_COLUMNS), 0),
}  # fmt: skip


def _class(spec: OpSpec) -> type[FixOp]:
    types = {"src_type": Ptr("f32", "l0c"), "dst_type": Ptr("f32", spec.destination)}
    first: Values = {name: 0 for name in ("sid", "l2_cache_ctrl") if spec.has(name)}
    if spec.destination == "ub":
        first = {"sub_block": 0, "ub_split": ""}
    last: Values = {"atomic": None} if spec.updates else {}
    defaults = {**first, **_CLAUSES, **last, **types}
    names = ("src", "dst", "m", "n", "src_stride", "dst_stride", *defaults)
    clauses = (*_CLAUSES, "atomic", "sub_block", "ub_split", "dst_type")
    plain = tuple(name for name in clauses if name != "unit_flag")
    return op_class(FixOp, spec, names, defaults, _EXTRA, plain, FRONT_COLUMNS)


FIX_CLASSES: tuple[type[FixOp], ...] = tuple(map(_class, WRITE_BACKS))
"""Op classes in the order of the rows."""

if TYPE_CHECKING:
    from tb.isa.operands import MteL0cGm as MteL0cGm
    from tb.isa.operands import MteL0cL1 as MteL0cL1
    from tb.isa.operands import MteL0cUb as MteL0cUb
