# SPDX-License-Identifier: Apache-2.0
"""Reads one line of canonical PTO text (:mod:`tb.isa.text`) back into its op.

The rules that text alone can break are decided here: DMA-L01, DMA-L02 and ND-L02; FIX-L01 in
:mod:`tb.isa.fix_text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tb.isa.burst import BurstOp, MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma import DmaOp, Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix import FixOp
from tb.isa.fix_text import FixTextError, parse_fix
from tb.isa.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.nz import MteGmL1Frac
from tb.isa.nz_table import MODES
from tb.isa.text import AnyOp


class TextError(ValueError):
    """PTO text that breaks the syntax; names the rule where one covers it."""


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


_Clauses = list[tuple[str, list[str]]]


def _nburst(name: str, clauses: _Clauses, inside: str) -> tuple[int, int, int]:
    bursts = [args for key, args in clauses if key == "nburst"]
    if len(bursts) != 1 or len(bursts[0]) != 3:
        raise TextError(f"DMA-L01: pto.{name} wants exactly one nburst({inside})")
    count, source, destination = map(_value, bursts[0])
    return count, source, destination


def _pad(name: str, args: list[str], types: str, *, again: bool) -> Pad:
    if name != "mte_gm_ub" or again or len(args) not in (1, 3):
        raise TextError(
            "DMA-L02: mte_gm_ub takes one pad(value) or pad(value, left, right); "
            f"found pad with {len(args)} operands on {name}"
        )
    pad_type = re.search(r"\bpad\s+(\w+)", types)
    if pad_type is None:
        raise TextError("the types lack 'pad T' for the pad clause")
    counts = [_value(token) for token in args[1:]]
    return Pad(pad_type[1], _value(args[0]), *counts)


def _parse_dma(name: str, body: str, types: str, ub_sub: int) -> DmaOp:
    clauses = [(key, _split(inner)) for key, inner in _CLAUSE.findall(body)]
    hinted = name in ("mte_gm_ub", "mte_ub_gm")
    source, destination, *scalars = _operands(name, _CLAUSE.sub("", body), 4 if hinted else 3)
    src_type, dst_type = _pointers(name, types)
    n_burst, src_stride, dst_stride = _nburst(name, clauses, "count, src_stride, dst_stride")
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
            pad = _pad(name, args, types, again=pad is not None)
        elif key != "nburst":
            raise TextError(f"pto.{name} has no clause {key!r}: nburst, loop, pad")
    moved = (source, destination, scalars[-1], n_burst, src_stride, dst_stride, tuple(loops))
    pointers = (src_type, dst_type)
    if name == "mte_gm_ub":
        return MteGmUb(*moved, pad, scalars[0], *pointers, ub_sub)
    if name == "mte_ub_gm":
        return MteUbGm(*moved, scalars[0], *pointers, ub_sub)
    if name == "mte_gm_l1":
        return MteGmL1(*moved, *pointers)
    return MteL1Ub(*moved, *pointers, ub_sub)


def _parse_burst(name: str, body: str, types: str, ub_sub: int) -> BurstOp:
    clauses = [(key, _split(inner)) for key, inner in _CLAUSE.findall(body)]
    unknown = [key for key, _ in clauses if key != "nburst"]
    if unknown:
        raise TextError(f"pto.{name} has no clause {unknown[0]!r}: nburst")
    source, destination, length = _operands(name, _CLAUSE.sub("", body), 3)
    pointers = _pointers(name, types)
    moved = (source, destination, length, *_nburst(name, clauses, "count, src_gap, dst_gap"))
    if name == "mte_ub_ub":
        return MteUbUb(*moved, *pointers, ub_sub)
    if name == "mte_ub_l1":
        return MteUbL1(*moved, *pointers, ub_sub)
    return MteL1Bt(*moved, *pointers) if name == "mte_l1_bt" else MteL1Fb(*moved, *pointers)


_NZ_CLAUSES: dict[str, tuple[tuple[int, ...], str]] = {
    "shape": ((2,), "n_value, d_value"),
    "src_layout": ((1, 2), "src_inner_stride[, src_outer_stride]"),
    "dst_group": ((4,), "group_count, dst_loop2_stride, dst_loop3_stride, dst_loop4_stride"),
    "ctrl": ((2,), "l2_cache_ctrl, smallc0_en"),
}
"""Clauses of ``mte_gm_l1_frac``: how many operands each takes, and which."""


def _parse_nz(name: str, body: str, types: str, _ub_sub: int) -> MteGmL1Frac:
    clauses = [(key, _split(inner)) for key, inner in _CLAUSE.findall(body)]
    found: dict[str, list[int]] = {}
    for key, args in clauses:
        if key not in _NZ_CLAUSES or key in found:
            legal = ", ".join(_NZ_CLAUSES)
            raise TextError(f"pto.{name} has clause {key!r} wrongly: {legal}, each once")
        found[key] = [_value(token) for token in args]
    for key, (sizes, inside) in _NZ_CLAUSES.items():
        if len(found.get(key, ())) not in sizes:
            rule = "ND-L02: " if key in ("src_layout", "dst_group") else ""
            raise TextError(f"{rule}pto.{name} wants {key}({inside})")
    tokens = _split(_CLAUSE.sub("", body))
    if len(tokens) != 3 or tokens[2] not in MODES:
        raise TextError(f"pto.{name} wants source, destination and {' or '.join(MODES)}: {body!r}")
    src_type, dst_type = _pointers(name, types)
    n_value, d_value = found["shape"]
    inner, *outer = found["src_layout"]
    groups, loop2, loop3, loop4 = found["dst_group"]
    l2, small = found["ctrl"]
    return MteGmL1Frac(
        _value(tokens[0]),
        _value(tokens[1]),
        tokens[2],
        n_value,
        d_value,
        inner,
        groups,
        loop2,
        loop3,
        loop4,
        outer[0] if outer else None,
        l2,
        small,
        src_type,
        dst_type,
    )


_COPIES: dict[str, tuple[int, Callable[..., LegacyOp]]] = {
    "copy_gm_to_ubuf": (11, CopyGmToUbuf),
    "copy_ubuf_to_gm": (8, CopyUbufToGm),
    "copy_ubuf_to_ubuf": (7, CopyUbufToUbuf),
}
"""Legacy copies: how many operands each takes, in the order of its class."""


def _parse_copy(name: str, body: str, types: str, ub_sub: int) -> LegacyOp:
    count, make = _COPIES[name]
    operands: list[Any] = [*_operands(name, body, count), *_pointers(name, types), ub_sub]
    return make(*operands)


def _parse_fix(name: str, body: str, types: str, _ub_sub: int) -> FixOp:
    try:
        return parse_fix(name, body, types, _value)
    except FixTextError as error:
        raise TextError(str(error)) from None


_READERS: dict[str, Callable[[str, str, str, int], AnyOp]] = {
    **dict.fromkeys(("mte_gm_ub", "mte_ub_gm", "mte_gm_l1", "mte_l1_ub"), _parse_dma),
    **dict.fromkeys(("mte_ub_ub", "mte_ub_l1", "mte_l1_bt", "mte_l1_fb"), _parse_burst),
    "mte_gm_l1_frac": _parse_nz,
    **dict.fromkeys(("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub"), _parse_fix),
    **dict.fromkeys(_COPIES, _parse_copy),
}


def from_text(line: str) -> AnyOp:
    """Returns the op that one line of canonical text holds.

    Raises:
        TextError: the line breaks the syntax; the rule is named where one covers it.
    """
    sub = _SUB.search(line)
    ub_sub = int(sub[1]) if sub else 0
    match = _OP.match(line.split("//")[0])
    if match is None:
        raise TextError(f"not a PTO op: {line.strip()!r}; expected 'pto.<op> <operands> : <types>'")
    name, body, types = match["name"], match["body"], match["types"]
    reader = _READERS.get(name)
    if reader is not None:
        return reader(name, body, types, ub_sub)
    register = re.fullmatch(r"set_loop(_size|[12]_stride)_(outtoub|ubtoout)", name)
    if register:
        first, second = _operands(name, body, 2)
        if register[1] == "_size":
            return SetLoopSize(register[2], first, second)
        return SetLoopStride(register[2], int(register[1][0]), first, second)
    if name == "set_mov_pad_val":
        return SetMovPadVal(types.strip(), _operands(name, body, 1)[0])
    raise TextError(f"op pto.{name} is unknown here")
