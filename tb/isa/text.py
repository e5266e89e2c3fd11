# SPDX-License-Identifier: Apache-2.0
"""PTO text of an op, for logs, failure reports and printed programs.

The syntax is that of the ISA documents. :mod:`tb.isa.names` names operands; a printed program
defines the constants and pointers
(:mod:`tb.language.printer`). In a log an op of vector core 1 carries the trailing comment
``// ub_sub 1`` (spec/ambiguities.md, A-17).
"""

from __future__ import annotations

from tb.isa.burst.op import BurstOp
from tb.isa.burst.table import BURSTS
from tb.isa.ctrl import CTRL_BITS, CtrlOp, SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyUbufToGm,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import DmaOp, MteGmUb, MteUbGm
from tb.isa.dma.table import STRIDED
from tb.isa.dtypes import Ptr
from tb.isa.fields import OpSpec
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cUb, Scalar
from tb.isa.fix.table import FLAG_NAMES, FLAG_NONE
from tb.isa.l0.op import L0Load
from tb.isa.lower import V06Op
from tb.isa.names import LOG, Names
from tb.isa.nz.op import MteGmL1Frac

AnyOp = V06Op | LegacyOp | CtrlOp
"""Ops that move data, and those that write registers for them."""

Parts = tuple[str, str]
"""Text of an op before and after the colon."""


def _ints(names: Names, *values: int) -> str:
    return ", ".join([names.integer(value) for value in values])


def _kinds(names: Names, *values: int) -> str:
    return ", ".join([names.integer_type(value) for value in values])


def _pointers(op: AnyOp, source: int, destination: int, names: Names) -> Parts:
    src_type, dst_type = op.src_type, op.dst_type  # type: ignore[union-attr]
    return (
        f"{names.pointer(src_type, source)}, {names.pointer(dst_type, destination)}",
        f"{src_type}, {dst_type}",
    )


def _written(spec: OpSpec) -> tuple[str, ...]:
    """Returns the operands of a row that every such op has, up to those of ``nburst``."""
    store = spec.destination == "gm"  # Its hint is a clause.
    names = tuple(
        operand.name for operand in spec.operands if not (store and operand.name == "l2_cache_ctl")
    )
    return names[: names.index("n_burst") + 3]


_OPERANDS = {spec.name: _written(spec) for spec in (*STRIDED, *BURSTS.values())}


def _copy_parts(op: DmaOp | BurstOp, names: Names) -> Parts:
    operands: list[int] = [getattr(op, name) for name in _OPERANDS[op.spec.name]]
    source, destination, *scalars = operands[:-3]
    burst = operands[-3:]
    pointers, kinds = _pointers(op, source, destination, names)
    clauses = [f"nburst({_ints(names, *burst)})"]
    types = [kinds, _kinds(names, *scalars, *burst)]
    if isinstance(op, MteUbGm) and op.l2_cache_ctl != 0:
        clauses.append(f"l2_cache_ctl({names.integer(op.l2_cache_ctl)})")
        types.append(names.integer_type(op.l2_cache_ctl))
    for loop in op.loops if isinstance(op, DmaOp) else ():
        values = (loop.count, loop.src_stride, loop.dst_stride)
        clauses.append(f"loop({_ints(names, *values)})")
        types.append(f"loop {_kinds(names, *values)}")
    pad = op.pad if isinstance(op, MteGmUb) else None
    if pad is not None:
        counts = [count for count in (pad.left, pad.right) if count is not None]
        inside = [names.bits(pad.dtype, pad.value), *map(names.integer, counts)]
        clauses.append(f"pad({', '.join(inside)})")
        types.append(", ".join([f"pad {pad.dtype}", *map(names.integer_type, counts)]))
    head = f"pto.{op.spec.name} {pointers}, {_ints(names, *scalars)}"
    return f"{head} {' '.join(clauses)}", ", ".join(types)


def _nz_parts(op: MteGmL1Frac, names: Names) -> Parts:
    shape = (op.n_value, op.d_value)
    strides = [op.src_inner_stride]
    if op.src_outer_stride is not None:
        strides.append(op.src_outer_stride)
    group = (op.group_count, op.dst_loop2_stride, op.dst_loop3_stride, op.dst_loop4_stride)
    hint, small = op.l2_cache_ctrl, op.smallc0_en
    pointers, kinds = _pointers(op, op.gm_src, op.l1_dst, names)
    return (
        f"pto.{op.spec.name} {pointers}, {op.mode}, shape({_ints(names, *shape)}), "
        f"src_layout({_ints(names, *strides)}), dst_group({_ints(names, *group)}), "
        f"ctrl({names.integer(hint)}, {names.flag(small)})",
        f"{kinds}, {op.mode}, shape {_kinds(names, *shape)}, "
        f"src_layout({_kinds(names, *strides)}), dst_group {_kinds(names, *group)}, "
        f"ctrl {names.integer_type(hint)}, {names.flag_type(small)}",
    )


def _fix_payload(payload: Scalar | FbPtr, names: Names) -> tuple[str, str]:
    """Returns a payload's operand and its type."""
    if isinstance(payload, FbPtr):
        pointer = Ptr(payload.dtype, "fb")
        return names.pointer(pointer, payload.address), str(pointer)
    return names.bits(payload.dtype, payload.bits), payload.dtype


def _fix_clauses(op: FixOp, names: Names) -> tuple[list[str], list[str]]:
    """Returns the clauses in canonical order and the types of their payloads."""
    clauses: list[str] = []
    types: list[str] = []
    if op.unit_flag != FLAG_NONE:
        clauses.append(f"unit_flag({FLAG_NAMES.get(op.unit_flag, op.unit_flag)})")
    if op.pre_quant:
        inside = f"mode = {op.pre_quant.mode}"
        if op.pre_quant.payload is not None:
            operand, kind = _fix_payload(op.pre_quant.payload, names)
            inside, types = f"{operand}, {inside}", [*types, kind]
        clauses.append(f"pre_quant({inside})")
    if op.pre_relu:
        inside = f"mode = {op.pre_relu.mode}"
        if op.pre_relu.payload is not None:
            operand, kind = _fix_payload(op.pre_relu.payload, names)
            inside, types = f"{operand}, {inside}", [*types, kind]
        if op.pre_relu.clip is not None:
            operand, kind = _fix_payload(op.pre_relu.clip, names)
            inside, types = f"{inside}, clip = {operand}", [*types, kind]
        clauses.append(f"pre_relu({inside})")
    if op.layout:
        extra = [value for value in (op.k, op.split) if value is not None]
        inside = ", ".join(map(names.integer, extra))
        clauses.append(op.layout + (f"({inside})" if extra else ""))
        types += map(names.integer_type, extra)
    if op.loop3:
        values = (op.loop3.count, op.loop3.src_stride, op.loop3.dst_stride)
        clauses.append(f"loop3({', '.join(map(names.integer, values))})")
        types += map(names.integer_type, values)
    if op.sat:
        clauses.append("sat(preserve_nan)" if op.sat == "preserve_nan" else op.sat)
    if isinstance(op, MteL0cGm) and op.atomic:
        clauses.append(f"atomic(type = {op.atomic.type}, op = {op.atomic.op})")
    return clauses, types


def _fix_parts(op: FixOp, names: Names) -> Parts:
    """Returns the text of a write-back.

    Clauses follow the operands, separated by commas, in the order of FIX-L01. The types after the
    colon are those of the two pointers, of the integers, and of the payloads in the order of the
    clauses.
    """
    numbers = [op.m, op.n, op.src_stride, op.dst_stride]
    head = [names.pointer(op.src_type, op.src), names.pointer(op.dst_type, op.dst)]
    if isinstance(op, MteL0cGm):
        numbers += [op.sid, op.l2_cache_ctrl]
    head += map(names.integer, numbers)
    if isinstance(op, MteL0cUb):
        head.append(f"dst_mode({op.ub_split or names.integer(op.sub_block)})")
        numbers += [] if op.ub_split else [op.sub_block]
    clauses, types = _fix_clauses(op, names)
    kinds = map(names.integer_type, numbers)
    types = [str(op.src_type), str(op.dst_type), *kinds, *types]
    return f"pto.{op.spec.name} {', '.join([*head, *clauses])}", ", ".join(types)


def _load_parts(op: L0Load, names: Names) -> Parts:
    """Returns the text of a load: in the shape form if it is written so, else all controls."""
    values: tuple[int, ...]
    if op.shape is not None:
        shape = op.shape
        values = (shape.rows, shape.columns, shape.start_row, shape.start_col)
    else:
        values = (op.m_start, op.k_start, op.m_step, op.k_step, op.src_stride, op.dst_stride)
    pointers, kinds = _pointers(op, op.src, op.dst, names)
    words = " {transpose = true}" if op.transpose else ""
    return (
        f"pto.{op.spec.name} {pointers}, {_ints(names, *values)}{words}",
        f"{kinds}, {_kinds(names, *values)}",
    )


def _fill_parts(op: RawFillL1, names: Names) -> Parts:
    counts = (op.repeat, op.blocks, op.gap)
    return (
        f"pto.{op.spec.name} {names.pointer(op.dst_type, op.dst)}, "
        f"{names.integer(op.byte_offset)}, {names.bits('i32', op.raw)}, {_ints(names, *counts)} "
        f"{{fill_word_bits = {op.fill_word_bits} : i64}}",
        f"{op.dst_type}, {names.integer_type(op.byte_offset)}, i32, {_kinds(names, *counts)}",
    )


def _legacy_parts(op: LegacyOp, names: Names) -> Parts:
    if isinstance(op, SetMovPadVal):
        return f"pto.set_mov_pad_val {names.bits(op.dtype, op.value)}", op.dtype
    if isinstance(op, SetLoopSize | SetLoopStride):
        if isinstance(op, SetLoopSize):
            name, values = f"set_loop_size_{op.direction}", (op.loop1_count, op.loop2_count)
        else:
            name = f"set_loop{op.level}_stride_{op.direction}"
            values = (op.src_stride, op.dst_stride)
        return f"pto.{name} {_ints(names, *values)}", _kinds(names, *values)
    if isinstance(op, CopyUbufToUbuf):
        pointers, kinds = _pointers(op, op.src, op.dst, names)
        values5 = (op.sid, op.n_burst, op.len_burst, op.src_stride, op.dst_stride)
        return (
            f"pto.copy_ubuf_to_ubuf {pointers}, {_ints(names, *values5)}",
            f"{kinds}, {_kinds(names, *values5)}",
        )
    if isinstance(op, CopyUbufToGm):
        pointers, kinds = _pointers(op, op.ub_src, op.gm_dst, names)
        values6 = (op.sid, op.n_burst, op.len_burst, op.l2_cache_ctl, op.dst_stride, op.src_stride)
        return (
            f"pto.copy_ubuf_to_gm {pointers}, {_ints(names, *values6)}",
            f"{kinds}, {_kinds(names, *values6)}",
        )
    pointers, kinds = _pointers(op, op.gm_src, op.ub_dst, names)
    before = (op.sid, op.n_burst, op.len_burst, op.left_padding, op.right_padding)
    after = (op.l2_cache_ctl, op.src_stride, op.dst_stride)
    select = op.data_select_bit
    return (
        f"pto.copy_gm_to_ubuf {pointers}, {_ints(names, *before)}, {names.flag(select)}, "
        f"{_ints(names, *after)}",
        f"{kinds}, {_kinds(names, *before)}, {names.flag_type(select)}, {_kinds(names, *after)}",
    )


def op_parts(op: AnyOp, names: Names = LOG) -> Parts:
    """Returns the text of an op before and after the colon; ``ub_sub`` is in neither.

    ``set_atomic_*`` has no operand, and nothing after the colon.
    """
    if isinstance(op, SetCtrl):
        # An i64 with bit 63 set is a negative constant.
        word = op.value - (op.value >> CTRL_BITS - 1 << CTRL_BITS)
        return f"pto.set_ctrl {names.integer(word)}", "i64"
    if isinstance(op, SetAtomic):
        return f"pto.set_atomic_{op.what}", ""
    if isinstance(op, DmaOp | BurstOp):
        return _copy_parts(op, names)
    if isinstance(op, MteGmL1Frac):
        return _nz_parts(op, names)
    if isinstance(op, FixOp):
        return _fix_parts(op, names)
    if isinstance(op, L0Load):
        return _load_parts(op, names)
    if isinstance(op, RawFillL1):
        return _fill_parts(op, names)
    return _legacy_parts(op, names)


def op_name(op: AnyOp) -> str:
    """Returns the name of an op in PTO text, without ``pto.``."""
    if isinstance(op, SetLoopSize):
        return f"set_loop_size_{op.direction}"
    if isinstance(op, SetLoopStride):
        return f"set_loop{op.level}_stride_{op.direction}"
    if isinstance(op, SetMovPadVal):
        return "set_mov_pad_val"
    if isinstance(op, SetCtrl):
        return "set_ctrl"
    if isinstance(op, SetAtomic):
        return f"set_atomic_{op.what}"
    if isinstance(op, V06Op):
        return op.spec.name
    return _COPIES[type(op).__name__]


_COPIES = {
    "CopyGmToUbuf": "copy_gm_to_ubuf",
    "CopyUbufToGm": "copy_ubuf_to_gm",
    "CopyUbufToUbuf": "copy_ubuf_to_ubuf",
}


def to_text(op: AnyOp) -> str:
    """Returns the canonical PTO text of a v0.6 or legacy op, on one line."""
    operands, types = op_parts(op)
    number = getattr(op, "ub_sub", 0)
    kinds = f" : {types}" if types else ""
    return f"{operands}{kinds}" + (f" // ub_sub {number}" if number else "")
