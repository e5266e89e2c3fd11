# SPDX-License-Identifier: Apache-2.0
"""Verdicts on hazards: error, warning or none, by pipe (docs/spec/order_and_atomics.md, section 1).

Whatever the verdict, the two steps run in program order: see :attr:`tb.language.order.order.Order`.
"""

from __future__ import annotations

from typing import Literal, get_args

from tb.common.errors import PtoError
from tb.isa.dma.op import DmaOp
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import ATOMIC_OPS, ATOMIC_TYPES
from tb.isa.pipes import Pipe
from tb.language.trace import Compute, Move, lane_of
from tb.language.unknown import UndecidedError

Hazard = Literal["", "error", "warn", "off"]
"""Option ``--hazard``; the empty text is the default: a warning inside one pipe, else an error."""

ORDERED = frozenset({Pipe.S, Pipe.V})
"""Pipes whose hardware orders dependent ops."""

_INTEGERS = frozenset(ATOMIC_TYPES[name] for name in ("s8", "s16", "s32"))


def hazard_option(text: str, where: str = "--hazard") -> Hazard:
    """Returns the value of an option.

    Raises:
        PtoError: it is none.
    """
    for legal in get_args(Hazard):
        if text == legal:
            return legal  # type: ignore[no-any-return]
    raise PtoError(
        f"{where} is {text!r}",
        where=where,
        legal="error, warn, off",
        remedy="leave it out: then a hazard of one pipe is a warning, of two pipes an error",
    )


def verdict(first: Move | Compute, second: Move | Compute, wanted: Hazard) -> Hazard:
    """Returns what a hazard between two steps is: ``error``, ``warn`` or ``off`` (OR-03)."""
    same = lane_of(first) == lane_of(second)
    if (same and first.pipe in ORDERED) or order_free(first, second):
        return "off"
    return wanted or ("warn" if same else "error")


def order_free(first: Move | Compute, second: Move | Compute) -> bool:
    """Returns whether both are atomic adds of one integer type: their sum has no order (AT-05).

    The memory of a part makes each update atomic. Engines need not be atomic against each other, so
    a run executes one op after the other, in every schedule.
    """
    return _added(first) == _added(second) and _added(first) in _INTEGERS


def _added(step: Move | Compute) -> int:
    """Returns the type of an atomic add, 0 of any other op."""
    if isinstance(step, Compute):
        return 0
    try:
        desc = step.lowering.descriptor
    except UndecidedError:
        return 0
    if not isinstance(desc, FixOp | DmaOp) or desc.atomic_op != ATOMIC_OPS["add"]:
        return 0
    return desc.atomic_type
