# SPDX-License-Identifier: Apache-2.0
"""Conversion of the columns of a block back to write-back ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tb.isa.dtypes import ALL_DTYPES, Ptr
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
    clip_of,
    number_of,
)
from tb.isa.fix.table import (
    ATOMIC_OPS,
    ATOMIC_TYPES,
    CLIP_CODES,
    DST_F16,
    MTE_L0C_GM,
    MTE_L0C_L1,
    MTE_L0C_UB,
    NUMBER_CODES,
    NZ2NZ,
    QUANT_BY_CODE,
    RELU_MODES,
    SCALAR_RELU,
    UB_SPLITS,
    VECTOR_RELU,
)

_Lists = Mapping[str, list[int]]
_SOURCES = (Ptr("f32", "l0c"), Ptr("i32", "l0c"))
_POINTERS = {space: tuple(Ptr(t, space) for t in ALL_DTYPES) for space in ("gm", "l1", "ub")}
_RELU_NAMES = tuple(RELU_MODES)
_LAYOUT_NAMES = ("", "nz2nd", "nz2dn", "nz2nz")
_SAT_NAMES = ("", "preserve_nan", "nosat")
_ATOMIC_TYPES = {code: name for name, code in ATOMIC_TYPES.items()}
_ATOMIC_OPS = {code: name for name, code in ATOMIC_OPS.items()}
_SPLIT_NAMES = tuple(UB_SPLITS)


def _number(kind: int, bits: int) -> Scalar:
    return number_of(NUMBER_CODES[kind] or "f32", bits)


def _pre_quant(x: _Lists, i: int) -> PreQuant | None:
    code, kind, address = x["quant"][i], x["quant_type"][i], x["quant_addr"][i]
    if not code and not kind:
        return None
    mode = QUANT_BY_CODE[code]
    payload: Scalar | FbPtr
    if mode.vector or (not mode.scale and address):
        payload = FbPtr(NUMBER_CODES[kind] or "f32", address)
    else:
        payload = _number(kind, x["quant_scale"][i])
    return PreQuant(mode.name, payload)


def _pre_relu(x: _Lists, i: int) -> PreRelu | None:
    code, kind = x["relu"][i], x["relu_type"][i]
    clip = None
    if x["clip_en"][i]:
        of_type = CLIP_CODES[x["clip_type"][i]]
        clip = clip_of(of_type or ("f16" if x["dst_type"][i] == DST_F16 else "i16"), x["clip"][i])
    if not code and not kind and clip is None:
        return None
    payload: Scalar | FbPtr | None = None
    if code == SCALAR_RELU:
        payload = _number(kind, x["relu_alpha"][i])
    elif code == VECTOR_RELU:
        payload = FbPtr(NUMBER_CODES[kind] or "f32", x["relu_addr"][i])
    return PreRelu(_RELU_NAMES[code], payload, clip)


def _parts(x: _Lists, i: int, space: str, dst_dtype: int) -> dict[str, Any]:
    layout = _LAYOUT_NAMES[x["layout"][i]]
    split = x["split"][i]
    return {
        "unit_flag": x["unit_flag"][i],
        "pre_quant": _pre_quant(x, i),
        "pre_relu": _pre_relu(x, i),
        "layout": layout,
        "k": x["k"][i] if layout == "nz2dn" else None,
        "split": split if x["layout"][i] == NZ2NZ else None,
        "loop3": Loop3(x["loop3_count"][i], x["loop3_src"][i], x["loop3_dst"][i])
        if x["loop3_en"][i]
        else None,
        "sat": _SAT_NAMES[x["sat"][i]],
        "src_type": _SOURCES[x["acc"][i]],
        "dst_type": _POINTERS[space][dst_dtype],
    }


def _head(x: _Lists, i: int) -> tuple[int, int, int, int, int, int]:
    return (
        x["src_addr"][i], x["dst_addr"][i], x["m"][i], x["n"][i], x["src_stride"][i],
        x["dst_stride"][i],
    )  # fmt: skip


def _l0c_gm(x: _Lists, i: int, _dtype: int, dst_dtype: int) -> FixOp:
    atomic = None
    if x["atomic_type"][i]:
        # Codes without a name come from CTRL only (FIX-L26).
        kind, what = x["atomic_type"][i], x["atomic_op"][i]
        atomic = Atomic(_ATOMIC_TYPES.get(kind, str(kind)), _ATOMIC_OPS.get(what, str(what)))
    return MteL0cGm(
        *_head(x, i), x["sid"][i], x["l2"][i], atomic=atomic, **_parts(x, i, "gm", dst_dtype)
    )


def _l0c_l1(x: _Lists, i: int, _dtype: int, dst_dtype: int) -> FixOp:
    return MteL0cL1(*_head(x, i), **_parts(x, i, "l1", dst_dtype))


def _l0c_ub(x: _Lists, i: int, _dtype: int, dst_dtype: int) -> FixOp:
    split = _SPLIT_NAMES[x["ub_mode"][i]]
    parts = _parts(x, i, "ub", dst_dtype)
    return MteL0cUb(*_head(x, i), x["ub_sub"][i], split, **parts)


FIX_MAKERS: dict[int, Callable[[_Lists, int, int, int], FixOp]] = {
    MTE_L0C_GM.opcode: _l0c_gm,
    MTE_L0C_L1.opcode: _l0c_l1,
    MTE_L0C_UB.opcode: _l0c_ub,
}
"""Opcode to the function that makes its op of (columns, index, source type, destination type)."""
