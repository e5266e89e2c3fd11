# SPDX-License-Identifier: Apache-2.0
"""PTO text of the write-back ops.

Clauses stand behind the operands, separated by commas, in the order of FIX-L01: ``unit_flag``,
``pre_quant``, ``pre_relu``, the layout, ``loop3``, saturation, ``atomic``. The types behind the
colon are those of the two pointers, of the integers, and of the payloads in the order in which
they stand in the clauses.
"""

from __future__ import annotations

from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cUb, Scalar
from tb.isa.fix.table import FLAG_NAMES, FLAG_NONE
from tb.isa.names import LOG, Names

Payload = Scalar | FbPtr


def _payload(payload: Payload, names: Names) -> tuple[str, str]:
    """Returns a payload's operand and its type."""
    if isinstance(payload, FbPtr):
        pointer = Ptr(payload.dtype, "fb")
        return names.pointer(pointer, payload.address), str(pointer)
    return names.bits(payload.dtype, payload.bits), payload.dtype


def _clauses(op: FixOp, names: Names) -> tuple[list[str], list[str]]:
    """Returns the clauses in canonical order and the types of what stands in them."""
    clauses: list[str] = []
    types: list[str] = []
    if op.unit_flag != FLAG_NONE:
        clauses.append(f"unit_flag({FLAG_NAMES.get(op.unit_flag, op.unit_flag)})")
    if op.pre_quant:
        inside = f"mode = {op.pre_quant.mode}"
        if op.pre_quant.payload is not None:
            operand, kind = _payload(op.pre_quant.payload, names)
            inside, types = f"{operand}, {inside}", [*types, kind]
        clauses.append(f"pre_quant({inside})")
    if op.pre_relu:
        inside = f"mode = {op.pre_relu.mode}"
        if op.pre_relu.payload is not None:
            operand, kind = _payload(op.pre_relu.payload, names)
            inside, types = f"{operand}, {inside}", [*types, kind]
        if op.pre_relu.clip is not None:
            operand, kind = _payload(op.pre_relu.clip, names)
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


def fix_text(op: FixOp, names: Names = LOG) -> tuple[str, str]:
    """Returns the canonical text of a write-back before and behind the colon."""
    numbers = [op.m, op.n, op.src_stride, op.dst_stride]
    head = [names.pointer(op.src_type, op.src), names.pointer(op.dst_type, op.dst)]
    if isinstance(op, MteL0cGm):
        numbers += [op.sid, op.l2_cache_ctrl]
    elif isinstance(op, MteL0cUb) and not op.ub_split:
        numbers.append(op.sub_block)
    head += map(names.integer, numbers)
    if isinstance(op, MteL0cUb) and op.ub_split:
        head.append(op.ub_split)
    clauses, types = _clauses(op, names)
    kinds = map(names.integer_type, numbers)
    types = [str(op.src_type), str(op.dst_type), *kinds, *types]
    return f"pto.{op.spec.name} {', '.join([*head, *clauses])}", ", ".join(types)
