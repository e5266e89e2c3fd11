# SPDX-License-Identifier: Apache-2.0
"""Decides a rule of an op with unknown operands.

Each unknown operand is given a value that cannot break the rule. If the rule is broken then, the
known operands break it, for any value of the others; if it holds, it is not decided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from tb.isa.op import Op, operand_names, replace
from tb.language.unknown import Unknown

SOURCE, DESTINATION, PARAMETERS, ALL = "source", "destination", "parameters", "all"
"""Bytes of an op that an operand decides: those of one side, or all."""

ValueT = TypeVar("ValueT")

FAR = 1 << 62
"""A stride that is long enough for every row."""

_NEEDS_ONE = {"FIX-L07", "FIX-L14", "FIX-L20", "ND-L04", "ND-L07", "LD-L03"}
"""Rules of the form "at least 1", or that hold for 1 alone."""

_NEEDS_OTHERS = {"DMA-L05", "FIX-L19", "ND-L08"}
"""Rules with a single operand that is neither."""

_NEEDS_FAR = {"DMA-L08", "DMA-L10", "LD-L07"}
"""Rules on the least length of a stride."""


def like(rule: str) -> str:
    """Returns a rule whose operands have the same harmless values as those of ``rule``."""
    for one, others in (("DMA-L08", _NEEDS_FAR), ("FIX-L07", _NEEDS_ONE)):
        if rule in others:
            return one
    return rule if rule in _NEEDS_OTHERS else ""


def harmless(rule: str) -> Callable[[str], int]:
    """Returns operand -> a value of it that does not break ``rule``."""

    def value(name: str) -> int:
        if rule in _NEEDS_FAR and "stride" in name:
            return FAR
        if rule == "DMA-L05" and name == "data_select_bit":
            return 1  # Padding counts are only legal with it.
        if rule == "FIX-L19" and name == "split":
            return 1  # Groups of 8 columns: what they do not divide, groups of 16 do not either.
        if rule == "ND-L08" and name == "smallc0_en":
            return 1  # Packed rows end before rows of whole blocks.
        return int(rule in _NEEDS_ONE)

    return value


def has_unknown(value: Any) -> bool:
    """Returns whether an op, or a part of it, holds an unknown value."""
    kind = type(value)
    if kind is int or kind is str or value is None:
        return False
    if isinstance(value, int):
        return isinstance(value, Unknown)
    if isinstance(value, Op):
        return any(map(has_unknown, value.values.values()))
    names: tuple[str, ...] = () if kind is tuple else _names(kind)  # type: ignore[arg-type]
    for part in value if kind is tuple else [getattr(value, name) for name in names]:
        kind = type(part)
        if kind is not int and kind is not str and has_unknown(part):
            return True
    return False


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Returns the fields of a class of ops, or of what they are made of."""
    return operand_names(kind)


def decided_by(name: str) -> str:
    """Returns which bytes of an op depend on an operand; empty for none."""
    if name in ("bits", "value", "sid", "l2_cache_ctl", "l2_cache_ctrl"):
        return ""
    if name == "address":
        return PARAMETERS
    if name == "k" or "src" in name:
        return SOURCE
    return DESTINATION if "dst" in name else ALL


def unknown_parts(value: Any, name: str = "") -> set[str]:
    """Returns which bytes of an op, or of what it is made of, depend on unknown values."""
    if isinstance(value, Unknown):
        return {decided_by(name)}
    if isinstance(value, int | str) or value is None:
        return set()
    if isinstance(value, tuple):
        return set().union(*(unknown_parts(part, name) for part in value))
    if not has_unknown(value):
        return set()
    kind: Any = type(value)
    return set().union(*(unknown_parts(getattr(value, each), each) for each in _names(kind)))


def assume(value: ValueT, chosen: Callable[[str], int], name: str = "") -> ValueT:
    """Returns ``value``, an op or registers, with ``chosen`` values for the unknown ones."""
    result: Any = value
    if isinstance(value, Unknown):
        result = chosen(name)
    elif not has_unknown(value):
        pass
    elif isinstance(value, tuple):
        result = tuple(assume(part, chosen, name) for part in value)
    else:
        kind: Any = type(value)
        parts = ((each, getattr(value, each)) for each in _names(kind))
        known = {each: assume(part, chosen, each) for each, part in parts if has_unknown(part)}
        result = replace(value, **known)
    return result  # type: ignore[no-any-return]
