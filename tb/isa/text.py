# SPDX-License-Identifier: Apache-2.0
"""Canonical PTO text of an op, and back: what logs and failure reports print.

The syntax is that of the ISA documents with constants in place of SSA names: ``%c128_i64`` is
the integer 128, ``%gm_0x40`` a pointer, ``%f16_0x3C00`` a typed bit pattern. An op of vector
core 1 carries the trailing comment ``// ub_sub 1`` (spec/ambiguities.md, A-17).
"""

from __future__ import annotations

import re

from tb.isa.dma import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)

AnyOp = MteGmUb | MteUbGm | LegacyOp


class TextError(ValueError):
    """PTO text that breaks the syntax; names the rule where one covers it (DMA-L01, L02)."""


def _int(value: int) -> str:
    return f"%c{value}_i64"


def _ints(*values: int) -> str:
    return ", ".join(_int(value) for value in values)


def _ptr(pointer: Ptr, address: int) -> str:
    return f"%{pointer.space}_{address:#x}"


def _sub(ub_sub: int) -> str:
    return f" // ub_sub {ub_sub}" if ub_sub else ""


def _v06_text(op: MteGmUb | MteUbGm) -> str:
    if isinstance(op, MteGmUb):
        source, destination = op.gm_src, op.ub_dst
    else:
        source, destination = op.ub_src, op.gm_dst
    head = (
        f"pto.{op.spec.name} {_ptr(op.src_type, source)}, {_ptr(op.dst_type, destination)}, "
        f"{_ints(op.l2_cache_ctl, op.len_burst)}"
    )
    clauses = [f"nburst({_ints(op.n_burst, op.src_stride, op.dst_stride)})"]
    types = [str(op.src_type), str(op.dst_type), "i64", "i64", "i64", "i64", "i64"]
    for loop in op.loops:
        clauses.append(f"loop({_ints(loop.count, loop.src_stride, loop.dst_stride)})")
        types.append("loop i64, i64, i64")
    pad = op.pad if isinstance(op, MteGmUb) else None
    if pad is not None:
        counts = [count for count in (pad.left, pad.right) if count is not None]
        clauses.append(f"pad({', '.join([_bits(pad.dtype, pad.value), *map(_int, counts)])})")
        types.append(", ".join([f"pad {pad.dtype}", *["i64"] * len(counts)]))
    return f"{head} {' '.join(clauses)} : {', '.join(types)}{_sub(op.ub_sub)}"


def _bits(dtype: str, value: int) -> str:
    return f"%{dtype}_{value:#X}".replace("0X", "0x")


def to_text(op: AnyOp) -> str:
    """Returns the canonical PTO text of a v0.6 or legacy op, on one line."""
    if isinstance(op, MteGmUb | MteUbGm):
        return _v06_text(op)
    if isinstance(op, SetLoopSize):
        counts = _ints(op.loop1_count, op.loop2_count)
        return f"pto.set_loop_size_{op.direction} {counts} : i64, i64"
    if isinstance(op, SetLoopStride):
        strides = _ints(op.src_stride, op.dst_stride)
        return f"pto.set_loop{op.level}_stride_{op.direction} {strides} : i64, i64"
    if isinstance(op, SetMovPadVal):
        return f"pto.set_mov_pad_val {_bits(op.dtype, op.value)} : {op.dtype}"
    if isinstance(op, CopyUbufToGm):
        values = _ints(op.sid, op.n_burst, op.len_burst, op.reserved, op.dst_stride, op.src_stride)
        return (
            f"pto.copy_ubuf_to_gm {_ptr(op.src_type, op.ub_src)}, "
            f"{_ptr(op.dst_type, op.gm_dst)}, {values} : {op.src_type}, {op.dst_type}, "
            f"{', '.join(['i64'] * 6)}{_sub(op.ub_sub)}"
        )
    select = {0: "%false", 1: "%true"}.get(op.data_select_bit, _int(op.data_select_bit))
    before = _ints(op.sid, op.n_burst, op.len_burst, op.left_padding, op.right_padding)
    after = _ints(op.l2_cache_ctl, op.src_stride, op.dst_stride)
    return (
        f"pto.copy_gm_to_ubuf {_ptr(op.src_type, op.gm_src)}, {_ptr(op.dst_type, op.ub_dst)}, "
        f"{before}, {select}, {after} : {op.src_type}, {op.dst_type}, "
        f"i64, i64, i64, i64, i64, i1, i64, i64, i64{_sub(op.ub_sub)}"
    )


_OP = re.compile(r"\s*pto\.(?P<name>\w+)\s+(?P<body>[^:]*?)\s*:\s*(?P<types>.*?)\s*$")
_CLAUSE = re.compile(r"(\w+)\(([^()]*)\)")
_PTR_TYPE = re.compile(r"!pto\.ptr<(\w+),\s*(\w+)>")
_SUB = re.compile(r"//\s*ub_sub\s+([01])\s*$")
_VALUE = re.compile(
    r"%(?:c(?P<int>\d+)_i\d+|(?P<kind>\w+?)_(?P<hex>0x[0-9A-Fa-f]+)|(?P<bool>true|false))"
)


def _value(token: str) -> int:
    match = _VALUE.fullmatch(token.strip())
    if match is None:
        raise TextError(
            f"operand {token.strip()!r} is not a constant: %c<n>_i64, %gm_0x<n>, %f16_0x<n>, "
            "%true or %false"
        )
    if match["int"] is not None:
        return int(match["int"])
    if match["hex"] is not None:
        return int(match["hex"], 16)
    return int(match["bool"] == "true")


def _split(text: str) -> list[str]:
    return [token for token in (part.strip() for part in text.split(",")) if token]


def _operands(name: str, body: str, count: int) -> list[int]:
    tokens = _split(body)
    if len(tokens) != count:
        raise TextError(f"pto.{name} has {len(tokens)} operands, it takes {count}: {body!r}")
    return [_value(token) for token in tokens]


def _pointers(name: str, types: str) -> tuple[Ptr, Ptr]:
    found = [Ptr(dtype, space) for dtype, space in _PTR_TYPE.findall(types)]
    if len(found) != 2:
        raise TextError(f"pto.{name} wants two !pto.ptr types behind ':', found {len(found)}")
    return found[0], found[1]


def _parse_v06(name: str, body: str, types: str, ub_sub: int) -> MteGmUb | MteUbGm:
    clauses = [(key, _split(inner)) for key, inner in _CLAUSE.findall(body)]
    source, destination, l2, length = _operands(name, _CLAUSE.sub("", body), 4)
    src_type, dst_type = _pointers(name, types)
    bursts = [args for key, args in clauses if key == "nburst"]
    if len(bursts) != 1 or len(bursts[0]) != 3:
        raise TextError(
            f"DMA-L01: pto.{name} wants exactly one nburst(count, src_stride, dst_stride)"
        )
    loops = []
    pad = None
    for key, args in clauses:
        if key == "loop":
            if len(args) != 3:
                raise TextError(
                    f"DMA-L01: loop has {len(args)} operands: loop(count, src_stride, dst_stride)"
                )
            loops.append(Loop(*map(_value, args)))
        elif key == "pad":
            if name != "mte_gm_ub" or pad is not None or len(args) not in (1, 3):
                raise TextError(
                    "DMA-L02: mte_gm_ub takes one pad(value) or pad(value, left, right); "
                    f"found pad with {len(args)} operands on {name}"
                )
            pad_type = re.search(r"\bpad\s+(\w+)", types)
            if pad_type is None:
                raise TextError("the types lack 'pad T' for the pad clause")
            counts = [_value(token) for token in args[1:]]
            pad = Pad(pad_type[1], _value(args[0]), *counts)
        elif key != "nburst":
            raise TextError(f"pto.{name} has no clause {key!r}: nburst, loop, pad")
    n_burst, src_stride, dst_stride = map(_value, bursts[0])
    groups = tuple(loops)
    if name == "mte_gm_ub":
        return MteGmUb(
            source,
            destination,
            length,
            n_burst,
            src_stride,
            dst_stride,
            groups,
            pad,
            l2,
            src_type,
            dst_type,
            ub_sub,
        )
    return MteUbGm(
        source,
        destination,
        length,
        n_burst,
        src_stride,
        dst_stride,
        groups,
        l2,
        src_type,
        dst_type,
        ub_sub,
    )


def from_text(line: str) -> AnyOp:
    """Returns the op that one line of canonical text holds.

    Raises:
        TextError: the line breaks the syntax; DMA-L01 and DMA-L02 are named where they apply.
    """
    sub = _SUB.search(line)
    ub_sub = int(sub[1]) if sub else 0
    match = _OP.match(line.split("//")[0])
    if match is None:
        raise TextError(f"not a PTO op: {line.strip()!r}; expected 'pto.<op> <operands> : <types>'")
    name, body, types = match["name"], match["body"], match["types"]
    if name in ("mte_gm_ub", "mte_ub_gm"):
        return _parse_v06(name, body, types, ub_sub)
    register = re.fullmatch(r"set_loop(_size|[12]_stride)_(outtoub|ubtoout)", name)
    if register:
        first, second = _operands(name, body, 2)
        if register[1] == "_size":
            return SetLoopSize(register[2], first, second)
        return SetLoopStride(register[2], int(register[1][0]), first, second)
    if name == "set_mov_pad_val":
        return SetMovPadVal(types.strip(), _operands(name, body, 1)[0])
    if name == "copy_gm_to_ubuf":
        values = _operands(name, body, 11)
        src_type, dst_type = _pointers(name, types)
        gm_src, ub_dst, sid, n, length, left, right, select, l2, gm_stride, ub_stride = values
        return CopyGmToUbuf(
            gm_src,
            ub_dst,
            sid,
            n,
            length,
            left,
            right,
            select,
            l2,
            gm_stride,
            ub_stride,
            src_type,
            dst_type,
            ub_sub,
        )
    if name == "copy_ubuf_to_gm":
        values = _operands(name, body, 8)
        src_type, dst_type = _pointers(name, types)
        ub_src, gm_dst, sid, n, length, reserved, gm_stride, ub_stride = values
        return CopyUbufToGm(
            ub_src,
            gm_dst,
            sid,
            n,
            length,
            reserved,
            gm_stride,
            ub_stride,
            src_type,
            dst_type,
            ub_sub,
        )
    raise TextError(f"op pto.{name} is unknown here")
