# SPDX-License-Identifier: Apache-2.0
"""Numbers, times and names as every page writes them."""

from __future__ import annotations

import re
from datetime import datetime

from markupsafe import Markup, escape

from tb.record.settings import DEFAULT_PROFILE
from tb.regress.queries.views import RunRow

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"


def number(value: float) -> str:
    """Returns a count with thousands apart."""
    return f"{round(value):,}".replace(",", NARROW_SPACE)


def short(value: float) -> str:
    """Returns a count in four characters at most: ``999``, ``1.2k``, ``35k``, ``4.1M``."""
    count = int(value)
    for unit, size in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12)):
        if count < 1000 * size:
            whole, part = divmod(count, size)
            if size > 1 and whole < 10:
                return f"{whole}.{10 * part // size}{unit}"
            return f"{whole}{unit}"
    return "many"


def duration(seconds: float) -> str:
    """Returns a time as ``24 min 20 s``: of a short one tenths, of a long one hours and minutes."""
    if seconds < 9.95:
        return f"{seconds:.1f}{NARROW_SPACE}s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole}{NARROW_SPACE}s"
    if minutes < 60:
        return f"{minutes}{NARROW_SPACE}min" + (f" {rest:02}{NARROW_SPACE}s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NARROW_SPACE}h" + (f" {minutes:02}{NARROW_SPACE}min" if minutes else "")


def signed(value: float, digits: int = 1) -> str:
    """Returns a change with its sign; no change is ``0``, a large one has four characters."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0.0:
        return "0"
    if abs(value) >= 10_000:
        text = short(abs(value))
    return f"{'+' if value > 0 else MINUS}{text}"


def moment(when: str | None) -> str:
    """Returns a time in ISO format as ``2026-11-21 02:00 UTC``, and nothing for none."""
    return f"{datetime.fromisoformat(when):%Y-%m-%d %H:%M %Z}".strip() if when else ""


def plural(count: int, one: str, many: str = "") -> str:
    """Returns a count with its noun."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def widths(run: RunRow) -> str:
    """Returns widths and profile of a run as ``256/256 a5 code``, the last with code coverage.

    The profile ``seed`` is not named.
    """
    profile = "" if run.profile == DEFAULT_PROFILE else f" {run.profile}"
    return f"{run.gm_width}/{run.local_width}{profile}" + (" code" if run.code_coverage else "")


def breakable(text: str) -> Markup:
    """Returns a path or name that may be broken where its parts meet."""
    return Markup(re.sub(r"(::|[/_.])", r"\1<wbr>", str(escape(text))))
