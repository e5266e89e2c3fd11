# SPDX-License-Identifier: Apache-2.0
"""From the columns of a block back to the ops they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.burst.table import BIAS_TYPES, MTE_L1_BT, MTE_L1_FB, MTE_UB_L1, MTE_UB_UB
from tb.isa.dma.legacy import LegacyOp
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dma.table import MAX_LOOPS, MTE_GM_L1, MTE_GM_UB, MTE_L1_UB, MTE_UB_GM
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.fix.program import FIX_MAKERS
from tb.isa.fix.table import FRONT_COLUMNS
from tb.isa.lower import V06Op
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import MODES, MTE_GM_L1_FRAC
from tb.isa.ops import OPS_BY_CODE

_Ints = NDArray[np.int64]
_Lists = Mapping[str, list[int]]

_POINTERS: dict[str, tuple[Ptr, ...]] = {
    space: tuple(Ptr(dtype, space) for dtype in DTYPES) for space in ("gm", "ub", "l1", "bt", "fb")
}
_GM, _UB, _L1, _FB = (_POINTERS[space] for space in ("gm", "ub", "l1", "fb"))
_BIAS = {
    index: Ptr(BIAS_TYPES[name][0], "bt") for index, name in enumerate(DTYPES) if name in BIAS_TYPES
}
_LOOP_NAMES = tuple(
    (f"loop{k}_count", f"loop{k}_ext_stride", f"loop{k}_loc_stride") for k in range(MAX_LOOPS)
)
_NO_LOOPS: tuple[Loop, ...] = ()


def _loops(x: _Lists, i: int, *, store: bool = False) -> tuple[Loop, ...]:
    count = x["n_loops"][i]
    if not count:
        return _NO_LOOPS
    if store:
        return tuple([Loop(x[n][i], x[loc][i], x[ext][i]) for n, ext, loc in _LOOP_NAMES[:count]])
    return tuple([Loop(x[n][i], x[ext][i], x[loc][i]) for n, ext, loc in _LOOP_NAMES[:count]])


def _gm_ub(x: _Lists, i: int, dtype: int, pad_dtype: int) -> V06Op:
    pad = None
    if x["pad_en"][i]:
        value = x["pad_value"][i]
        pad = Pad(DTYPES[pad_dtype], value, x["pad_left"][i], x["pad_right"][i])
    return MteGmUb(
        x["ext_addr"][i], x["loc_addr"][i], x["len"][i], x["n_burst"][i], x["ext_stride"][i],
        x["loc_stride"][i], _loops(x, i), pad, x["l2"][i], _GM[dtype], _UB[dtype], x["ub_sub"][i],
    )  # fmt: skip


def _ub_gm(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteUbGm(
        x["loc_addr"][i], x["ext_addr"][i], x["len"][i], x["n_burst"][i], x["loc_stride"][i],
        x["ext_stride"][i], _loops(x, i, store=True), x["l2"][i], _UB[dtype], _GM[dtype],
        x["ub_sub"][i],
    )  # fmt: skip


def _gm_l1(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteGmL1(
        x["ext_addr"][i], x["loc_addr"][i], x["len"][i], x["n_burst"][i], x["ext_stride"][i],
        x["loc_stride"][i], _loops(x, i), _GM[dtype], _L1[dtype],
    )  # fmt: skip


def _l1_ub(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteL1Ub(
        x["ext_addr"][i], x["loc_addr"][i], x["len"][i], x["n_burst"][i], x["ext_stride"][i],
        x["loc_stride"][i], _loops(x, i), _L1[dtype], _UB[dtype], x["ub_sub"][i],
    )  # fmt: skip


def _burst(x: _Lists, i: int) -> tuple[int, int, int, int, int, int]:
    return (
        x["src_addr"][i], x["dst_addr"][i], x["len"][i], x["n_burst"][i], x["src_gap"][i],
        x["dst_gap"][i],
    )  # fmt: skip


def _ub_ub(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteUbUb(*_burst(x, i), _UB[dtype], _UB[dtype], x["ub_sub"][i])


def _ub_l1(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteUbL1(*_burst(x, i), _UB[dtype], _L1[dtype], x["ub_sub"][i])


def _l1_bt(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteL1Bt(*_burst(x, i), _L1[dtype], _BIAS[dtype])


def _l1_fb(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteL1Fb(*_burst(x, i), _L1[dtype], _FB[dtype])


def _frac(x: _Lists, i: int, dtype: int, _pad_dtype: int) -> V06Op:
    return MteGmL1Frac(
        x["ext_addr"][i], x["loc_addr"][i], MODES[x["mode"][i]], x["n_value"][i], x["d_value"][i],
        x["inner_stride"][i], x["group_count"][i], x["dst_loop2"][i], x["dst_loop3"][i],
        x["dst_loop4"][i], x["outer_stride"][i] or None, x["l2"][i], x["small_c0"][i], _GM[dtype],
        _L1[dtype],
    )  # fmt: skip


_MAKERS: dict[int, Callable[[_Lists, int, int, int], V06Op]] = {
    MTE_GM_UB.opcode: _gm_ub,
    MTE_UB_GM.opcode: _ub_gm,
    MTE_GM_L1.opcode: _gm_l1,
    MTE_L1_UB.opcode: _l1_ub,
    MTE_UB_UB.opcode: _ub_ub,
    MTE_UB_L1.opcode: _ub_l1,
    MTE_L1_BT.opcode: _l1_bt,
    MTE_L1_FB.opcode: _l1_fb,
    MTE_GM_L1_FRAC.opcode: _frac,
    **FIX_MAKERS,
}


def program_of(
    opcode: _Ints,
    columns: Mapping[str, _Ints],
    dtype: _Ints,
    pad_dtype: _Ints,
    legacy: Mapping[int, tuple[LegacyOp, ...]],
) -> list[tuple[V06Op | LegacyOp, ...]]:
    """Returns per op of a block its v0.6 op, or the legacy sequence it was written as.

    Args:
        opcode: ``int64[N]``.
        columns: Descriptor fields, ``int64[N]`` each; fields left out are 0.
        dtype: ``int64[N]`` source element types, indices into ``DTYPES``.
        pad_dtype: ``int64[N]`` pad types.
        legacy: Legacy sequences by index.
    """
    codes = opcode.tolist()
    names = {name for code in set(codes) for name in OPS_BY_CODE[code].layout}
    names.update(FRONT_COLUMNS)
    zeros = [0] * len(codes)
    lists = {name: columns[name].tolist() if name in columns else zeros for name in names}
    types, pads = dtype.tolist(), pad_dtype.tolist()
    program: list[tuple[V06Op | LegacyOp, ...]] = []
    for index, code in enumerate(codes):
        written = legacy.get(index)
        if written is not None:
            program.append(written)
        else:
            program.append((_MAKERS[code](lists, index, types[index], pads[index]),))
    return program
