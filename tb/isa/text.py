# SPDX-License-Identifier: Apache-2.0
"""Canonical PTO text of an op: what logs and failure reports print; :mod:`tb.isa.parse` reads it.

The syntax is that of the ISA documents with constants in place of SSA names: ``%c128_i64`` is
the integer 128, ``%gm_0x40`` a pointer, ``%f16_0x3C00`` a typed bit pattern. An op of vector
core 1 carries the trailing comment ``// ub_sub 1`` (spec/ambiguities.md, A-17).
"""

from __future__ import annotations

from tb.isa.burst import BurstOp
from tb.isa.dma import DmaOp, MteGmL1, MteGmUb, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.fix import FixOp
from tb.isa.fix_text import fix_text
from tb.isa.legacy import (
    CopyUbufToGm,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.lower import V06Op
from tb.isa.nz import MteGmL1Frac

AnyOp = V06Op | LegacyOp


def _int(value: int) -> str:
    return f"%c{value}_i64"


def _ints(*values: int) -> str:
    return ", ".join(_int(value) for value in values)


def _ptr(pointer: Ptr, address: int) -> str:
    return f"%{pointer.space}_{address:#x}"


def _flag(value: int) -> str:
    return {0: "%false", 1: "%true"}.get(value, _int(value))


def _sub(op: AnyOp) -> str:
    number = getattr(op, "ub_sub", 0)
    return f" // ub_sub {number}" if number else ""


def _i64(count: int) -> list[str]:
    return ["i64"] * count


def _addresses(op: DmaOp | BurstOp) -> tuple[int, int]:
    """Returns source and destination address: the first two operands of every such op."""
    source, destination = op.__slots__[:2]
    return getattr(op, source), getattr(op, destination)


def _dma_text(op: DmaOp) -> str:
    source, destination = _addresses(op)
    scalars = [op.len_burst]
    if not isinstance(op, MteGmL1 | MteL1Ub):
        scalars.insert(0, op.l2_cache_ctl)
    head = (
        f"pto.{op.spec.name} {_ptr(op.src_type, source)}, {_ptr(op.dst_type, destination)}, "
        f"{_ints(*scalars)}"
    )
    clauses = [f"nburst({_ints(op.n_burst, op.src_stride, op.dst_stride)})"]
    types = [str(op.src_type), str(op.dst_type), *_i64(len(scalars) + 3)]
    for loop in op.loops:
        clauses.append(f"loop({_ints(loop.count, loop.src_stride, loop.dst_stride)})")
        types.append("loop i64, i64, i64")
    pad = op.pad if isinstance(op, MteGmUb) else None
    if pad is not None:
        counts = [count for count in (pad.left, pad.right) if count is not None]
        clauses.append(f"pad({', '.join([_bits(pad.dtype, pad.value), *map(_int, counts)])})")
        types.append(", ".join([f"pad {pad.dtype}", *_i64(len(counts))]))
    return f"{head} {' '.join(clauses)} : {', '.join(types)}"


def _burst_text(op: BurstOp) -> str:
    source, destination = _addresses(op)
    return (
        f"pto.{op.spec.name} {_ptr(op.src_type, source)}, {_ptr(op.dst_type, destination)}, "
        f"{_int(op.len_burst)} nburst({_ints(op.n_burst, op.src_gap, op.dst_gap)}) : "
        f"{', '.join([str(op.src_type), str(op.dst_type), *_i64(4)])}"
    )


def _nz_text(op: MteGmL1Frac) -> str:
    strides = [op.src_inner_stride]
    if op.src_outer_stride is not None:
        strides.append(op.src_outer_stride)
    group = _ints(op.group_count, op.dst_loop2_stride, op.dst_loop3_stride, op.dst_loop4_stride)
    return (
        f"pto.{op.spec.name} {_ptr(op.src_type, op.gm_src)}, {_ptr(op.dst_type, op.l1_dst)}, "
        f"{op.mode}, shape({_ints(op.n_value, op.d_value)}), src_layout({_ints(*strides)}), "
        f"dst_group({group}), ctrl({_int(op.l2_cache_ctrl)}, {_flag(op.smallc0_en)}) : "
        f"{op.src_type}, {op.dst_type}, {op.mode}, shape i64, i64, "
        f"src_layout({', '.join(_i64(len(strides)))}), dst_group i64, i64, i64, i64, ctrl i64, i1"
    )


def _bits(dtype: str, value: int) -> str:
    return f"%{dtype}_{value:#X}".replace("0X", "0x")


def _legacy_text(op: LegacyOp) -> str:
    if isinstance(op, SetLoopSize):
        counts = _ints(op.loop1_count, op.loop2_count)
        return f"pto.set_loop_size_{op.direction} {counts} : i64, i64"
    if isinstance(op, SetLoopStride):
        strides = _ints(op.src_stride, op.dst_stride)
        return f"pto.set_loop{op.level}_stride_{op.direction} {strides} : i64, i64"
    if isinstance(op, SetMovPadVal):
        return f"pto.set_mov_pad_val {_bits(op.dtype, op.value)} : {op.dtype}"
    types = [str(op.src_type), str(op.dst_type)]
    if isinstance(op, CopyUbufToUbuf):
        values = _ints(op.sid, op.n_burst, op.len_burst, op.src_stride, op.dst_stride)
        return (
            f"pto.copy_ubuf_to_ubuf {_ptr(op.src_type, op.src)}, {_ptr(op.dst_type, op.dst)}, "
            f"{values} : {', '.join([*types, *_i64(5)])}"
        )
    if isinstance(op, CopyUbufToGm):
        values = _ints(op.sid, op.n_burst, op.len_burst, op.reserved, op.dst_stride, op.src_stride)
        return (
            f"pto.copy_ubuf_to_gm {_ptr(op.src_type, op.ub_src)}, "
            f"{_ptr(op.dst_type, op.gm_dst)}, {values} : {', '.join([*types, *_i64(6)])}"
        )
    before = _ints(op.sid, op.n_burst, op.len_burst, op.left_padding, op.right_padding)
    after = _ints(op.l2_cache_ctl, op.src_stride, op.dst_stride)
    return (
        f"pto.copy_gm_to_ubuf {_ptr(op.src_type, op.gm_src)}, {_ptr(op.dst_type, op.ub_dst)}, "
        f"{before}, {_flag(op.data_select_bit)}, {after} : "
        f"{', '.join([*types, *_i64(5), 'i1', *_i64(3)])}"
    )


def to_text(op: AnyOp) -> str:
    """Returns the canonical PTO text of a v0.6 or legacy op, on one line."""
    if isinstance(op, DmaOp):
        text = _dma_text(op)
    elif isinstance(op, BurstOp):
        text = _burst_text(op)
    elif isinstance(op, MteGmL1Frac):
        text = _nz_text(op)
    elif isinstance(op, FixOp):
        text = fix_text(op)
    else:
        text = _legacy_text(op)
    return text + _sub(op)
