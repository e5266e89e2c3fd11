# SPDX-License-Identifier: Apache-2.0
"""Ops of xdsl's own dialects, checked after they were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tb.language.dialect.moves import MOVES
from tb.language.dialect.others import OTHERS, ForeignOp
from tb.language.grammar.fault import Fault
from tb.language.parser.messages import fault_of, sentence_of_call

OURS: frozenset[type[Operation]] = frozenset((*MOVES.values(), *OTHERS))
"""Op classes of the pto dialect, which check themselves."""


def verified(
    op: Operation, offsets: Mapping[Operation, int], text: str
) -> Iterator[tuple[str, Fault]]:
    """Yields name and fault of what is wrong with an op.

    Args:
        op: The op.
        offsets: Offset of each op.
        text: The file.
    """
    if type(op) in OURS:
        return
    if isinstance(op, FuncOp) and op.body.blocks:
        end = op.body.blocks.last.last_op if op.body.blocks.last else None
        if end is None or (end.name != "func.return" and not isinstance(end, ForeignOp)):
            message = f"@{op.sym_name.data} has no terminator"
            yield op.name, Fault(message, legal="return at its end")
    if isinstance(op, ModuleOp):
        doubles = list(_same_names(op, offsets, text))
        yield from doubles
        if doubles:
            return
    if isinstance(op, ConstantOp):
        kind = op.result.type
        if not isinstance(kind, IntegerType) or kind.signedness.data == Signedness.SIGNLESS:
            return
    try:
        op.verify(verify_nested_ops=False)
    except (VerifyException, ValueError) as error:
        fault = fault_of(error, offsets.get(op, 0))
        yield op.name, Fault(sentence_of_call(op, fault.message), at=fault.at)


def _same_names(
    module: ModuleOp, offsets: Mapping[Operation, int], text: str
) -> Iterator[tuple[str, Fault]]:
    """Yields functions and modules of a name that is taken."""
    first: dict[str, int] = {}
    for op in module.ops:
        symbol, at = (
            op.properties.get("sym_name", op.attributes.get("sym_name")),
            offsets.get(op, 0),
        )
        name = symbol.data if isinstance(symbol, StringAttr) else ""
        if name and first.setdefault(name, at) != at:
            line = text.count("\n", 0, first[name]) + 1
            message = f"@{name} is defined twice, first in line {line}"
            yield op.name, Fault(message, at=at, legal="a name of its own")
