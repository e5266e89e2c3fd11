# SPDX-License-Identifier: Apache-2.0
"""Moves operands of a legal op as far as it stays legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequences.illegal.operands import Path, operand, operands, widths, with_operand
from tb.isa.lower import lower
from tb.isa.rules import first_d_violation, s_violations
from tb.isa.spaces import UB_BLOCK

Fits = Callable[[Any], bool]


def always(_: Any) -> bool:
    """Accepts every op."""
    return True


@dataclass(frozen=True)
class Climb:
    """The legal ops among which operands are moved.

    Attributes:
        fits: Decides by a legal op and its descriptor whether the op is one of them.
        nop: Whether they are NOPs, else ops that move something.
    """

    fits: Callable[[Any, Any], bool]
    nop: bool = False

    def legal(self, op: Any) -> bool:
        """Returns whether an op is one of them: it breaks no rule that is checked before a run."""
        try:
            desc = lower(op, 0)
        except (ValueError, KeyError):
            return False
        return (
            desc.is_nop is self.nop
            and not first_d_violation(desc)
            and not s_violations(op)
            and self.fits(op, desc)
        )

    def tried(self, op: Any, path: Path, value: int) -> Any:
        """Returns ``op`` with a value for an operand, or as it is when that is illegal."""
        if value >> min(widths(op, path)):
            return op
        changed = with_operand(op, path, value)
        return changed if self.legal(changed) else op

    def highest(self, op: Any, path: Path) -> Any:
        """Returns ``op`` with an operand raised as far as ever smaller steps keep it legal."""
        width = min(widths(op, path))
        top = (1 << width) - 1
        op = self.tried(op, path, top)
        for bit in range(width, -1, -1) if operand(op, path) < top else ():
            op = self.tried(op, path, operand(op, path) + (1 << bit))
        return op

    def lowest(self, op: Any, path: Path, least: int) -> Any:
        """Returns ``op`` with an operand lowered as far as it stays legal, to ``least`` at best."""
        op = self.tried(op, path, min(operand(op, path), least))
        for bit in range((operand(op, path) - least).bit_length() - 1, -1, -1):
            if operand(op, path) - (1 << bit) >= least:
                op = self.tried(op, path, operand(op, path) - (1 << bit))
        return op

    def small(self, op: Any, paths: Sequence[Path], least: Mapping[Path, int]) -> Any:
        """Returns ``op`` with the lowest values of operands from ``least`` on, 0 by default."""
        for path in (*paths, *paths):
            op = self.lowest(op, path, least.get(path, 0))
        return op

    def twice(self, op: Any, paths: Sequence[Path], counts: set[Path]) -> Any:
        """Returns ``op`` with counts of 2 and other operands as small as these allow.

        A count of 1 would hide the strides beside it.
        """
        for number, path in enumerate(path for path in operands(op) if path not in counts):
            op = self.tried(op, path, max(operand(op, path), UB_BLOCK << number))
        for path in sorted(counts, key=str):
            op = self.tried(op, path, max(operand(op, path), 2))
        return self.small(op, paths, dict.fromkeys(counts, 2))


def counts_of(op: Any, nop: Climb) -> set[Path]:
    """Returns the operands that count something: by their name, or because 0 makes a NOP."""
    return {
        path
        for path in operands(op)
        if str(path[-1]).endswith("count") or nop.legal(with_operand(op, path, 0))
    }
