# SPDX-License-Identifier: Apache-2.0
"""Texts of numbers."""

from __future__ import annotations

import pytest

from tb.common.text import percent_text


@pytest.mark.parametrize(
    ("percent", "digits", "text"),
    [(100.0, 1, "100.0"), (99.96, 1, "99.9"), (99.96, 2, "99.96"), (99.999, 2, "99.99"),
     (99.94, 1, "99.9"), (0.0, 1, "0.0")],
)  # fmt: skip
def test_hundred_percent_has_no_hole(percent: float, digits: int, text: str) -> None:
    assert percent_text(percent, digits) == text
