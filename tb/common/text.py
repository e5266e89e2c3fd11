# SPDX-License-Identifier: Apache-2.0
"""Figures as text."""

from __future__ import annotations


def percent_text(percent: float, digits: int = 1) -> str:
    """Returns a percentage as text, which is 100 only when nothing is missing."""
    text = f"{percent:.{digits}f}"
    if percent < 100.0 and float(text) == 100.0:
        return f"{100 - 10**-digits:.{digits}f}"
    return text
