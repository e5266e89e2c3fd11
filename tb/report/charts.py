# SPDX-License-Identifier: Apache-2.0
"""Charts as inline SVG, with their contents as text in the label."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

Series = Sequence[tuple[str, float | None]]
"""Name of each regression run to its value, oldest first; None where it has none."""


def before(series: Series) -> float | None:
    """Returns the last value before the end of the line, None if there is none."""
    return next((value for _, value in reversed(series[:-1]) if value is not None), None)


def trend(
    title: str,
    series: Series,
    text: Callable[[float], str],
    *,
    width: int = 190,
    height: int = 44,
    ends: bool = True,
    span: float = 0.0,
) -> Markup:
    """Returns a line over regression runs, with a point for each.

    A value alone is one point, no value an empty chart.

    Args:
        title: What is shown; begins the label.
        series: The values.
        text: How a value is written.
        width: In pixels.
        height: In pixels.
        ends: Write the least and the greatest value at the left edge.
        span: Least difference between the ends of the scale, so that little looks little.
    """
    known = [
        (index, name, value) for index, (name, value) in enumerate(series) if value is not None
    ]
    said = ", ".join(f"{name} {text(value)}" for _, name, value in known) or "no value yet"
    label = escape(f"{title} over {len(series)} regression runs: {said}")
    body = ""
    if known:
        body = _line(series, known, text, width, height, ends, span)
    return Markup(
        f'<svg class="chart" role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{body}</svg>'
    )


def _line(
    series: Series,
    known: Sequence[tuple[int, str, float]],
    text: Callable[[float], str],
    width: int,
    height: int,
    ends: bool,
    span: float,
) -> str:
    values = [value for _, _, value in known]
    low, high = min(values), max(values)
    marks = dict.fromkeys((low, high))
    room = max(0.0, span - (high - low)) / 2
    low, high = low - room, high + room
    left = 8.0 + (6.2 * max(len(text(value)) for value in marks) if ends else 0.0)
    right, top, bottom = width - 5.0, 6.0, height - 6.0
    step = (right - left) / max(1, len(series) - 1)
    scale = (bottom - top) / (high - low) if high > low else 0.0

    def place(index: int, value: float) -> tuple[float, float]:
        x = right - (len(series) - 1 - index) * step
        return x, (bottom - (value - low) * scale if scale else (top + bottom) / 2)

    parts = []
    if ends:
        # Two numbers need their room, even of values that lie close together.
        heights = {value: place(0, value)[1] for value in marks}
        ys = list(heights.values())
        spread = max(0.0, 12.0 - abs(ys[0] - ys[-1])) / 2 if len(ys) > 1 else 0.0
        for value, y in heights.items():
            shift = spread if value == min(values) else -spread
            parts.append(
                f'<line class="rule" x1="{left:.1f}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text x="{left - 6:.1f}" y="{y + shift + 3.6:.1f}" text-anchor="end">'
                f"{escape(text(value))}</text>"
            )
    run: list[str] = []
    before = None
    for index, _, value in known:
        x, y = place(index, value)
        if before is not None and index != before + 1:
            parts.append(f'<polyline class="trend" points="{" ".join(run)}"/>')
            run = []
        run.append(f"{x:.1f},{y:.1f}")
        before = index
    parts.append(f'<polyline class="trend" points="{" ".join(run)}"/>')
    for index, name, value in known:
        x, y = place(index, value)
        last = index == len(series) - 1
        # The points of many regression runs would merge.
        if last or len(series) <= 20:
            parts.append(
                f'<circle class="dot{" last" if last else ""}" cx="{x:.1f}" cy="{y:.1f}" '
                f'r="{3 if last else 2}"><title>{escape(name)}: {escape(text(value))}</title>'
                "</circle>"
            )
    return "".join(parts)


def stack(title: str, parts: Sequence[tuple[str, str, int]], *, height: int = 8) -> Markup:
    """Returns one bar as wide as its place, divided by counts.

    Args:
        title: What is shown; begins the label.
        parts: (words, CSS class, count) of each part; parts of no count are left out.
        height: In pixels.
    """
    total = sum(count for _, _, count in parts) or 1
    label = escape(f"{title}: " + ", ".join(f"{count} {words}" for words, _, count in parts))
    at = 0.0
    body = ""
    for words, kind, count in parts:
        if not count:
            continue
        size = 100.0 * count / total
        body += (
            f'<rect class="{kind}" x="{at:.3f}%" width="{size:.3f}%" height="{height}">'
            f"<title>{count} {escape(words)}</title></rect>"
        )
        at += size
    return Markup(
        f'<svg class="chart stack" role="img" aria-label="{label}" width="100%" '
        f'height="{height}">{body}</svg>'
    )
