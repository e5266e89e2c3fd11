# SPDX-License-Identifier: Apache-2.0
"""Ops that a program may have."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.ir import Dialect, Operation

from tb.language.dialect.moves import MOVES
from tb.language.dialect.others import OTHERS
from tb.language.dialect.sync import ORDERING
from tb.language.dialect.types import OpaqueType, PtrType
from tb.language.grammar.fault import Fault
from tb.language.parser.builtin import READERS, IndexCastUIOp

PTO = Dialect("pto", [*MOVES.values(), *OTHERS], [PtrType, OpaqueType])
"""The dialect as read here."""

MOVE_NAMES = frozenset(f"pto.{name}" for name in MOVES)
_NAMES = {kind.name.removeprefix("pto."): kind.name for kind in PTO.operations}

_MOVERS = (
    *("mte_", "copy_", "load_cbuf", "raw_fill", "create_cbuf", "mad_"),
    *("set_loop", "set_mov_pad", "set_pad_val", "set_mte2", "set_channel", "set_ctrl"),
    *("set_atomic", "set_intra", "wait_intra", "set_cross", "wait_cross", "get_buf", "rls_buf"),
    *("sync.", "record_event", "wait_event"),
    *("set_fpc", "set_quant", "set_relu", "set_fix", "set_store_atomic", "set_flag", "wait_flag"),
)
"""How names of data movement, of the matrix unit, of registers and of flags begin."""

_EXISTING = frozenset(
    (
        *("mem_bar", "set_ffts", "dsb", "dcci", "cmo.cacheinvalid", "fence.barrier_all"),
        *("section.simt", "simt_launch"),
    )
)
"""Ops of the dialect, beside those read here, that are never a slip of another name."""

_CLOSE, _CLOSE_MOVER = 0.85, 0.7
"""Least similarity of a name to the one in a hint, 1 being equality."""
_KNOWN = "pto, func.func/call/return, scf.for/if/yield, arith, builtin.unrealized_conversion_cast"


def moves_data(name: str) -> bool:
    """Returns whether an op, known here or not, moves data or orders it, by its name."""
    return name in MOVE_NAMES or name in ORDERING or seems_to_move(name)


def seems_to_move(name: str) -> bool:
    """Returns whether an op that is not known here must not be skipped, by its name."""
    return name.removeprefix("pto.").startswith(_MOVERS)


def meant(name: str) -> str:
    """Returns a hint at the op of the pto dialect that a name is close to, or nothing."""
    own = name.split(".", 1)[-1]
    if own in _EXISTING:
        return ""
    close = _CLOSE_MOVER if seems_to_move(name) else _CLOSE
    # Names of vector ops begin so; the dialect has hundreds of them.
    other = own in _NAMES or own.startswith("v")
    found = [] if other else get_close_matches(own, _NAMES, 1, close)
    return f"; did you mean {_NAMES[found[0]]}?" if found else ""


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


def not_read(known: type[Operation]) -> bool:
    """Returns whether an op of xdsl does not occur in programs."""
    return known.dialect_name() not in RESUMABLE and known.name not in READERS


_FOREIGN_DIALECTS = frozenset(
    (
        *("affine", "bufferization", "cf", "emitc", "gpu", "hacc", "hivm", "index", "linalg"),
        *("llvm", "math", "memref", "tensor", "ub", "vector"),
    )
)
"""Dialects of other parts of a compiler: their ops move nothing that an engine sees."""

_FOREIGN_CONTROL = frozenset(
    f"scf.{name}" for name in ("execute_region", "forall", "index_switch", "parallel", "while")
)


def is_foreign(name: str) -> bool:
    """Returns whether an op that is not read here may be left out, unless it holds movements."""
    dialect = name.partition(".")[0]
    return dialect in ("pto", *_FOREIGN_DIALECTS) or name in _FOREIGN_CONTROL


def unknown_op(name: str) -> Fault:
    """Returns what is wrong with an op that no program has."""
    return Fault(f"unknown op {name!r}{meant(name)}", legal=_KNOWN)
