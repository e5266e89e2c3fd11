# SPDX-License-Identifier: Apache-2.0
"""Legal names of attributes of an op.

A name without a dot is the op's own, one that begins with ``pto_dv.`` is ours. An unknown one that
is near to one of them is a slip, and what would run without it is another op. Any other one means
nothing and is noted; so are names of other dialects, without a note.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from xdsl.ir import Operation

from tb.language.dialect.ops import MoveOp
from tb.language.dialect.others import ForeignOp
from tb.language.dialect.parts import SyncOp
from tb.language.dialect.sections import SectionOp
from tb.language.dialect.sync import FenceOp
from tb.language.grammar.fault import Fault
from tb.language.grammar.operands import SEGMENTS

TIMING = ("pto_dv.gap", "pto_dv.flag_delay")
"""Attributes that any op may have."""

SUB_BLOCK = "ub_sub"
SUB_BLOCK_OF_ALL = "pto.ub_sub"
"""The vector sub-block of an op, and of everything in a section or a function."""

ALIKE = 0.8
"""How near a name of the pto dialect is to one of ours to be taken for it."""


def _own(op: Operation) -> tuple[str, ...]:
    """Returns the properties of an op of the pto dialect."""
    if isinstance(op, MoveOp):
        return (*op.row.words, *((SEGMENTS,) if op.row.open else ()))
    return op.own() if isinstance(op, SyncOp) else ()


def _extra(op: Operation) -> tuple[str, ...]:
    """Returns the attributes that an op may have in addition."""
    if isinstance(op, MoveOp):
        return (SUB_BLOCK, SEGMENTS, *TIMING)
    if isinstance(op, SectionOp) or op.name == "func.func":
        return (SUB_BLOCK_OF_ALL, SUB_BLOCK, *TIMING)
    return TIMING


def _ours(op: Operation, name: str) -> bool:
    """Returns whether an attribute belongs to the pto dialect."""
    prefix, dot, _ = name.rpartition(".")
    if not dot:
        return op.name.startswith("pto.")
    if name.startswith("pto."):
        return bool(get_close_matches(name, (SUB_BLOCK_OF_ALL,), 1, ALIKE))
    return prefix == "pto_dv"


def unknown_names(
    op: Operation, text: str, begin: int, end: int
) -> tuple[list[Fault], list[tuple[str, int]]]:
    """Returns what is wrong with the names of an op's properties and attributes, and what is odd.

    Args:
        op: The op; foreign ones and fences have whatever they have.
        text: The program.
        begin: Offset at which the op begins.
        end: Offset after it.

    Returns:
        Faults, and remarks with their offsets.
    """
    if isinstance(op, ForeignOp | FenceOp):
        return [], []
    own, extra = _own(op), _extra(op)
    known = (*own, *(name for name in extra if name not in own))
    faults: list[Fault] = []
    notes: list[tuple[str, int]] = []
    for kind, names, legal in (
        ("property", op.properties if op.name.startswith("pto.") else (), own),
        ("attribute", [name for name in op.attributes if _ours(op, name)], known),
    ):
        for name in names:
            if name in legal:
                continue
            at = re.compile(rf"(?<![\w.$]){re.escape(name)}\"?\s*(?=[=,}}])").search(
                text, begin, end
            )
            if kind == "attribute" and _means_nothing(name, known):
                notes.append((f"attribute {name!r} is ignored", at.start() if at else begin))
                continue
            close = get_close_matches(name, known, 1)
            faults.append(
                Fault(
                    f"{kind} {name!r} is unknown"
                    + (f": did you mean {close[0]}?" if close else ""),
                    at=at.start() if at else -1,
                    legal=", ".join(legal) or f"no {kind} at all",
                )
            )
    return faults, notes


def _means_nothing(name: str, known: tuple[str, ...]) -> bool:
    """Returns whether a name is none of ours and near to none."""
    return "." not in name and not get_close_matches(name, known, 1, ALIKE)
