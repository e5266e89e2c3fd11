# SPDX-License-Identifier: Apache-2.0
"""Which ops a program may have."""

from __future__ import annotations

from functools import cache

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.ir import Dialect, Operation

from tb.language.dialect.arith import IndexCastUIOp
from tb.language.dialect.ops import MOVES, Fault
from tb.language.dialect.others import OTHERS
from tb.language.dialect.types import OpaqueType, PtrType

PTO = Dialect("pto", [*MOVES.values(), *OTHERS], [PtrType, OpaqueType])
"""The dialect as read here."""

MOVE_NAMES = frozenset(f"pto.{name}" for name in MOVES)
_KNOWN = "pto, func.func/call/return, scf.for/if/yield, arith, builtin.unrealized_conversion_cast"


@cache
def context() -> Context:
    """Returns the dialects that programs are made of."""
    made = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, Arith, Scf, PTO):
        made.load_dialect(dialect)
    made.load_op(IndexCastUIOp)
    return made


RESUMABLE = ("pto", "pto_dv", "arith")
"""Dialects whose ops can be skipped after an error."""

_READ = frozenset(
    (
        *("builtin.module", "builtin.unrealized_conversion_cast", "scf.for", "scf.if", "scf.yield"),
        *("func.func", "func.return", "func.call"),
    )
)


def not_read(known: type[Operation]) -> bool:
    """Tells whether xdsl knows an op that programs do not have."""
    return known.dialect_name() not in RESUMABLE and known.name not in _READ


def unknown_op(name: str) -> Fault:
    """Returns what is wrong with an op that no program has."""
    if name == "scf.while":
        return Fault("a loop without a bound is not run", legal="scf.for with bounds")
    return Fault(f"unknown op {name!r}", legal=_KNOWN)
