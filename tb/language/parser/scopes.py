# SPDX-License-Identifier: Apache-2.0
"""Vector intervals: what they may hold, and which values they see."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from xdsl.ir import Operation

from tb.language.dialect.others import ForeignOp
from tb.language.dialect.sections import VecScopeOp, orders_cores, refused_inside
from tb.language.grammar.fault import Fault
from tb.language.parser.foreign import UnclosedError, skip
from tb.language.parser.known import moves_data

_VALUE = re.compile(r"%(?:[0-9]+|[A-Za-z_$.\-][\w$.\-]*)", re.ASCII)
_MADE = re.compile(
    rf"{_VALUE.pattern}(?::\d+)?(?:\s*,\s*{_VALUE.pattern}(?::\d+)?)*\s*=(?!=)"
    rf"|\^[\w$.\-]+\s*\([^()]*(?:\([^()]*\)[^()]*)*\)",
    re.ASCII,
)
"""Results, values that a loop carries, and the arguments of a block."""

_LABELLED = re.compile(r"\s*\{\s*\^", re.ASCII)
"""Begin of a region whose first block has a label, as one with arguments does."""


def _looked_at(name: str) -> bool:
    """Returns whether an op inside another one is not left out with it."""
    return moves_data(name) or orders_cores(name)


def holds_ops(text: str, position: int) -> bool:
    """Returns whether the regions of an op have ops that are looked at: most have none.

    Args:
        text: The file.
        position: Offset after the name of the op.
    """
    try:
        inside = skip(text, position, _looked_at).names
    except UnclosedError:
        return True
    return bool(inside) or _LABELLED.match(text, position) is not None


def captured(text: str, at: int, end: int, outside: Collection[str]) -> Iterator[Fault]:
    """Yields what is wrong with the first value of outside in a strict vector interval.

    Args:
        text: The file.
        at: Offset of the interval.
        end: Offset after it.
        outside: Values that are defined around it, without ``%``.
    """
    begin = text.find("{", at)
    inside = re.sub(r"//[^\n]*", "", text[begin : text.rfind("}", begin, end)])
    made = {name for found in _MADE.finditer(inside) for name in _VALUE.findall(found[0])}
    for name in dict.fromkeys(_VALUE.findall(inside)):
        if name not in made and name[1:] in outside:
            legal = "the arguments of the block and values made inside"
            yield Fault(f"{name} is a value of outside", legal=legal)
            return


def refused_ops(scope: VecScopeOp) -> Iterator[tuple[Operation, Fault]]:
    """Yields the ops that the compiler refuses in a vector interval."""
    for op in scope.walk():
        fault = refused_inside(scope, op.mnemonic if isinstance(op, ForeignOp) else op.name)
        if fault is not None:
            yield op, fault
