# SPDX-License-Identifier: Apache-2.0
"""Lines over regression runs: what a template draws, and their contents as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tb.common.text import percent_text
from tb.report.formats import duration, short

Series = Sequence[tuple[str, float | None]]
"""Name of each regression run to its value, oldest first; None where it has none."""

TEXTS: Mapping[str, Callable[[float], str]] = {
    "percent": percent_text,
    "count": short,
    "time": duration,
}
"""Kind of a value to how it is written."""

LEAST_SPAN = 5.0
"""Percent points between the ends of a scale at least, so that small changes look small."""

MOST_DOTS = 20
"""Points of a line that are drawn; those of more regression runs would merge."""

WIDTH, HEIGHT, EDGE = 120, 26, 5
"""Measures of a line in pixels."""


@dataclass(frozen=True)
class Dot:
    """The value of one regression run: its place, its text, and whether it is the last."""

    x: float
    y: float
    text: str
    last: bool


@dataclass(frozen=True)
class Trend:
    """A line over regression runs.

    Attributes:
        label: Title and values as text.
        ends: Least and greatest value as text.
        lines: Points of each part of the line, as SVG takes them; a missing value divides it.
        dots: Values that are marked.
    """

    label: str
    ends: str
    lines: tuple[str, ...]
    dots: tuple[Dot, ...]


def previous(series: Series) -> float | None:
    """Returns the last value before the end of the line, None if there is none."""
    return next((value for _, value in reversed(series[:-1]) if value is not None), None)


def change(series: Series) -> float | None:
    """Returns the last value less the one before, None where one is missing."""
    last, old = series[-1][1] if series else None, previous(series)
    return None if last is None or old is None else last - old


def trend(title: str, series: Series, kind: str) -> Trend:
    """Returns a line over regression runs; one value is one point, no value an empty line.

    Args:
        title: Name of the values; begins the label.
        series: The values.
        kind: ``percent``, ``count`` or ``time``.
    """
    values = {at: value for at, (_, value) in enumerate(series) if value is not None}
    text = {at: TEXTS[kind](value) for at, value in values.items()}
    low = min(values, key=values.__getitem__, default=0)
    high = max(values, key=values.__getitem__, default=0)
    names = ", ".join(f"{series[at][0]} {text[at]}" for at in values) or "no value yet"
    places = _places(values, len(series), LEAST_SPAN if kind == "percent" else 0.0)
    last = len(series) - 1
    return Trend(
        f"{title} over {len(series)} regression runs: {names}",
        " to ".join(dict.fromkeys((text[low], text[high]))) if values else "",
        tuple(
            " ".join(f"{x:.1f},{y:.1f}" for x, y in (places[at] for _, at in part))
            for _, part in groupby(enumerate(values), key=lambda item: item[1] - item[0])
        ),
        tuple(
            Dot(*places[at], f"{series[at][0]}: {text[at]}", at == last)
            for at in values
            if at == last or len(series) <= MOST_DOTS
        ),
    )


def _places(values: Mapping[int, float], size: int, least: float) -> dict[int, tuple[float, float]]:
    """Returns the place of each value of a line of ``size`` regression runs in pixels."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    step = (WIDTH - 2 * EDGE) / max(1, size - 1)
    scale = (HEIGHT - 2 * EDGE) / (max(high - low, least) or 1.0)
    middle = (low + high) / 2
    return {
        at: (WIDTH - EDGE - (size - 1 - at) * step, HEIGHT / 2 - (value - middle) * scale)
        for at, value in values.items()
    }
