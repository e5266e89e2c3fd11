# SPDX-License-Identifier: Apache-2.0
"""What drives a signal of an elaborated DUT, for :mod:`tb.dut.ports`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from pyslang import SourceLocation
from pyslang.analysis import AnalysisFlags, AnalysisManager, AnalysisOptions
from pyslang.ast import (
    Compilation,
    ContinuousAssignSymbol,
    ExpressionKind,
    InstanceSymbol,
    NamedValueExpression,
    ParameterSymbol,
    UninstantiatedDefSymbol,
)

MOST_FOLLOWED = 16
"""Steps for which what drives an output is followed."""


class Drivers:
    """Drivers of the signals of a compilation without errors.

    Args:
        compilation: The DUT.
        top: Its top module.
        black_boxes: Modules into which nothing looks.
        line: Returns a location as file and line.

    Attributes:
        manager: The analysis of slang.
        unknown: Places of signals at black boxes that the sources lack.
    """

    def __init__(
        self,
        compilation: Compilation,
        top: InstanceSymbol,
        black_boxes: Collection[str],
        line: Callable[[SourceLocation], str],
    ) -> None:
        options = AnalysisOptions()
        options.flags = AnalysisFlags.CheckUnused
        self.manager = AnalysisManager(options)
        self.manager.analyze(compilation)
        self.unknown = _at_boxes(top) if black_boxes else set()
        self._black_boxes = black_boxes
        self._line = line

    def in_part(self, symbol: Any) -> str:
        """Returns which bits of a signal nothing drives, in words, if something drives others."""
        bits = self._open_bits(symbol)
        if not bits or len(bits) == symbol.type.bitWidth:
            return ""
        return f"is driven in part: nothing drives {_ranges(bits)}"

    def undriven(self, symbol: Any, depth: int = 0) -> str:
        """Returns which bits of an output nothing drives, in words, or nothing.

        A signal with one driver is followed through plain assignments and outputs of instances, up
        to those at places where what drives them is unknown.
        """
        bits = self._open_bits(symbol)
        if bits:
            return self.in_part(symbol) or "is never driven"
        drivers = self.manager.getDrivers(symbol)
        if len(drivers) != 1 or depth > MOST_FOLLOWED or at(symbol) in self.unknown:
            return ""
        place = drivers[0].containingSymbol
        if isinstance(place, InstanceSymbol):
            if place.definition.name in self._black_boxes:
                return ""
            inner, what = self._output_behind(symbol, place)
        elif isinstance(place, ContinuousAssignSymbol):
            inner, what = _net_behind(place)
        else:
            return ""
        why = self.undriven(inner, depth + 1) if inner else ""
        return f"{what}, which {why}" if why else ""

    def _open_bits(self, symbol: Any) -> set[int]:
        """Returns the bits that nothing drives, none where that is unknown."""
        if getattr(symbol, "initializer", None) is not None or at(symbol) in self.unknown:
            return set()
        found = set(range(symbol.type.bitWidth))
        for driver in self.manager.getDrivers(symbol):
            low, high = driver.bounds
            found -= set(range(low, high + 1))
        return found

    def _output_behind(self, symbol: Any, instance: InstanceSymbol) -> tuple[Any, str]:
        """Returns the output of an instance that drives a symbol, and that in words."""
        for connection in instance.portConnections:
            expression = connection.expression
            if expression is None or expression.kind != ExpressionKind.Assignment:
                continue
            left = expression.left
            inner = getattr(connection.port, "internalSymbol", None)
            if left.kind == ExpressionKind.NamedValue and left.symbol == symbol and inner:
                where = self._line(connection.port.location)
                return inner, f"comes from {inner.name} of {instance.definition.name} at {where}"
        return None, ""


def _net_behind(place: ContinuousAssignSymbol) -> tuple[Any, str]:
    """Returns the one net that an assignment copies, and that in words."""
    right: Any = place.assignment
    right = right.right
    while right.kind == ExpressionKind.Conversion:
        right = right.operand
    if right.kind != ExpressionKind.NamedValue or isinstance(right.symbol, ParameterSymbol):
        return None, ""
    return right.symbol, f"is assigned {right.symbol.name}"


def _at_boxes(top: InstanceSymbol) -> set[tuple[int, int]]:
    """Returns the places of the signals at black boxes that the sources lack."""
    found = set[tuple[int, int]]()

    def signal(item: Any) -> None:
        if isinstance(item, NamedValueExpression):
            found.add(at(item.symbol))

    def instance(item: Any) -> None:
        if isinstance(item, UninstantiatedDefSymbol):
            for connection in item.portConnections:
                connection.expr.visit(signal)

    top.visit(instance)
    return found


def at(item: Any) -> tuple[int, int]:
    """Returns the place of a symbol or a diagnosis: buffer and offset."""
    return item.location.buffer.id, item.location.offset


def _ranges(bits: Iterable[int]) -> str:
    """Returns bit numbers as ranges in words, the highest first."""
    runs: list[list[int]] = []
    for bit in sorted(bits, reverse=True):
        if runs and runs[-1][1] == bit + 1:
            runs[-1][1] = bit
        else:
            runs.append([bit, bit])
    texts = [f"{high}:{low}" if high != low else str(high) for high, low in runs]
    one = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{'bit' if one else 'bits'} {', '.join(texts)}"
