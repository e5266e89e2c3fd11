# SPDX-License-Identifier: Apache-2.0
"""PTO text of the write-back ops, both ways; FIX-L01 is decided here.

Clauses stand behind the operands, separated by commas, in the order of FIX-L01: ``unit_flag``,
``pre_quant``, ``pre_relu``, the layout, ``loop3``, saturation, ``atomic``. The types behind the
colon are those of the two pointers, of the integers, and of the payloads in the order in which
they stand in the clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tb.isa.dtypes import Ptr
from tb.isa.fix import (
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
)
from tb.isa.fix_table import FLAG_NAMES, FLAG_NONE
from tb.isa.names import LOG, Names

Payload = Scalar | FbPtr


# --- to text -------------------------------------------------------------------------------------


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


# --- from text -----------------------------------------------------------------------------------


class FixTextError(ValueError):
    """Text of a write-back that breaks the syntax."""


_CLAUSE = re.compile(r"(?P<key>\w+)(?:\((?P<inner>[^()]*)\))?")
_TYPE = re.compile(r"!pto\.ptr<\s*(\w+)\s*,\s*(\w+)\s*>|\w+")
_ORDER = ("unit_flag", "pre_quant", "pre_relu", "layout", "loop3", "sat", "atomic")
_KIND = {"nz2nd": "layout", "nz2dn": "layout", "nz2nz": "layout", "nosat": "sat"}
_FLAGS = {name: code for code, name in FLAG_NAMES.items()}

Reader = Callable[[str], int]


def _tokens(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _types(text: str) -> list[Ptr | str]:
    return [Ptr(m[1], m[2]) if m[1] else m[0] for m in _TYPE.finditer(text)]


@dataclass
class _Clauses:
    """What is read of the clauses; ``kinds`` are the types not used yet."""

    name: str
    value: Reader
    kinds: list[Ptr | str]
    found: dict[str, Any] = field(default_factory=dict)

    def payload(self, token: str) -> Payload:
        """Takes the next type for a payload."""
        if not self.kinds:
            raise FixTextError(f"pto.{self.name}: the types lack that of {token}")
        kind = self.kinds.pop(0)
        if isinstance(kind, Ptr):
            if kind.space != "fb":
                raise FixTextError(f"FIX-L03: {token} is a pointer into {kind.space}: fb")
            return FbPtr(kind.dtype, self.value(token))
        return Scalar(kind, self.value(token))

    def integers(self, inner: str, count: int, rule: str, what: str) -> list[int]:
        """Reads exactly ``count`` integers, whose types are i64."""
        values = [self.value(token) for token in _tokens(inner)]
        if len(values) != count:
            raise FixTextError(f"{rule}: pto.{self.name} wants {what}")
        del self.kinds[:count]
        return values

    def keyed(self, inner: str, keys: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
        """Splits a clause's inside into ``key = value`` pairs and the rest."""
        pairs, rest = {}, []
        for token in _tokens(inner):
            key, equals, text = token.partition("=")
            if not equals:
                rest.append(token)
            elif key.strip() in keys and key.strip() not in pairs:
                pairs[key.strip()] = text.strip()
            else:
                raise FixTextError(
                    f"FIX-L01: {token!r} in pto.{self.name}: {', '.join(keys)}, each once"
                )
        return pairs, rest

    def unit_flag(self, _key: str, inner: str) -> None:
        """``unit_flag(check_only | check_and_clear)``; a number for the codes that are illegal."""
        named = _FLAGS.get(inner)
        self.found["unit_flag"] = int(inner) if named is None else named

    def pre_quant(self, _key: str, inner: str) -> None:
        """``pre_quant(payload, mode = mode)``."""
        pairs, rest = self.keyed(inner, ("mode",))
        if "mode" not in pairs or len(rest) > 1:
            raise FixTextError(f"FIX-L03: pto.{self.name} wants pre_quant(payload, mode = ...)")
        payload = self.payload(rest[0]) if rest else None
        self.found["pre_quant"] = PreQuant(pairs["mode"], payload)

    def pre_relu(self, _key: str, inner: str) -> None:
        """``pre_relu([payload,] mode = mode [, clip = clip])``."""
        pairs, rest = self.keyed(inner, ("mode", "clip"))
        if "mode" not in pairs or len(rest) > 1:
            raise FixTextError(
                f"FIX-L05: pto.{self.name} wants pre_relu([payload,] mode = ... [, clip = ...])"
            )
        payload = self.payload(rest[0]) if rest else None
        clip = self.payload(pairs["clip"]) if "clip" in pairs else None
        if isinstance(clip, FbPtr):
            raise FixTextError(f"FIX-L06: the clip of pto.{self.name} is a pointer: a constant")
        self.found["pre_relu"] = PreRelu(pairs["mode"], payload, clip)

    def layout(self, key: str, inner: str) -> None:
        """``nz2nd``, ``nz2dn(K)`` or ``nz2nz[(split)]``."""
        self.found["layout"] = key
        if key == "nz2dn":
            (self.found["k"],) = self.integers(inner, 1, "FIX-L08", "nz2dn(K)")
        elif inner:
            if key == "nz2nd":
                raise FixTextError("FIX-L08: nz2nd takes no operand")
            (self.found["split"],) = self.integers(inner, 1, "FIX-L08", "nz2nz or nz2nz(split)")

    def loop3(self, _key: str, inner: str) -> None:
        """``loop3(count, src_stride, dst_stride)``."""
        self.found["loop3"] = Loop3(
            *self.integers(inner, 3, "FIX-L01", "loop3(count, src_stride, dst_stride)")
        )

    def sat(self, key: str, inner: str) -> None:
        """``sat``, ``sat(preserve_nan)`` or ``nosat``."""
        if inner not in ("", "preserve_nan") or (inner and key == "nosat"):
            raise FixTextError(f"FIX-L10: {key}({inner}): sat, sat(preserve_nan) or nosat")
        self.found["sat"] = inner or key

    def atomic(self, _key: str, inner: str) -> None:
        """``atomic(type = type, op = op)``."""
        pairs, rest = self.keyed(inner, ("type", "op"))
        if rest or len(pairs) != 2:
            raise FixTextError(f"FIX-L11: pto.{self.name} wants atomic(type = ..., op = ...)")
        self.found["atomic"] = Atomic(pairs["type"], pairs["op"])


def parse_fix(name: str, body: str, types: str, value: Reader) -> FixOp:
    """Returns the write-back with mnemonic ``name`` (without ``pto.``).

    Args:
        name: Mnemonic.
        body: Text between the mnemonic and the colon.
        types: Text behind the colon.
        value: Reads a constant operand.

    Raises:
        FixTextError: the text breaks the syntax; the rule is named where one covers it.
    """
    tokens = _tokens(body)
    count = {"mte_l0c_gm": 8, "mte_l0c_l1": 6, "mte_l0c_ub": 7}[name]
    if len(tokens) < count:
        raise FixTextError(f"pto.{name} has {len(tokens)} operands, it takes {count}: {body!r}")
    operands, clauses = tokens[:count], tokens[count:]
    kinds = _types(types)
    if len(kinds) < 2 or not isinstance(kinds[0], Ptr) or not isinstance(kinds[1], Ptr):
        raise FixTextError(f"pto.{name} wants two !pto.ptr types behind ':'")
    split = ""
    if name == "mte_l0c_ub" and operands[-1] in ("split_m", "split_n"):
        split = operands.pop()
    numbers: list[Any] = [value(token) for token in operands]
    reader = _Clauses(name, value, kinds[len(numbers) :])
    reached = -1
    for clause in clauses:
        match = _CLAUSE.fullmatch(clause)
        kind = _KIND.get(match["key"], match["key"]) if match else ""
        if match is None or kind not in _ORDER:
            raise FixTextError(f"FIX-L01: pto.{name} has no clause {clause!r}: {', '.join(_ORDER)}")
        place = _ORDER.index(kind)
        if place <= reached:
            raise FixTextError(
                f"FIX-L01: {clause!r} of pto.{name} stands too late or twice: the order is "
                f"{', '.join(_ORDER)}"
            )
        reached = place
        getattr(reader, kind)(match["key"], match["inner"] or "")
    if reader.kinds:
        raise FixTextError(f"pto.{name} has {len(reader.kinds)} types more than operands")
    found: dict[str, Any] = {**reader.found, "src_type": kinds[0], "dst_type": kinds[1]}
    if name == "mte_l0c_gm":
        return MteL0cGm(*numbers, **found)
    if "atomic" in found:
        raise FixTextError(f"FIX-L11: atomic goes with mte_l0c_gm, not with {name}")
    if name == "mte_l0c_l1":
        return MteL0cL1(*numbers, **found)
    found["ub_split"] = split
    return MteL0cUb(*numbers, **found)
