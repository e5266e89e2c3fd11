# SPDX-License-Identifier: Apache-2.0
"""Code coverage of the engines: what pages show of it, read from the counts Verilator writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CodeLine:
    """Counts of one source line.

    Attributes:
        number: From 1.
        text: The line.
        line: Executions, None where the line has no line point.
        points: (kind, description, count) of branch, expression and toggle points on the line.
    """

    number: int
    text: str
    line: int | None
    points: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True)
class CodeFile:
    """One source of an engine.

    Attributes:
        engine: Slot whose engine it is counted for.
        path: From the top of the project, or absolute for sources elsewhere.
        totals: Kind to (covered, all) points.
        lines: The source with its counts; empty when the source is not to be had.
    """

    engine: str
    path: str
    totals: Mapping[str, tuple[int, int]]
    lines: tuple[CodeLine, ...] = ()


@dataclass(frozen=True)
class CodeView:
    """Code coverage of a night.

    Attributes:
        engines: Slot to kind to (covered, all) points.
        files: Sources by engine.
        runs: Runs that counted.
    """

    engines: Mapping[str, Mapping[str, tuple[int, int]]]
    files: tuple[CodeFile, ...]
    runs: int
