# SPDX-License-Identifier: Apache-2.0
"""Texts of numbers."""

from __future__ import annotations

import pytest

from tb.common.text import columns, meant, percent_text


@pytest.mark.parametrize(
    ("percent", "digits", "text"),
    [(100.0, 1, "100.0"), (99.96, 1, "99.9"), (99.96, 2, "99.96"), (99.999, 2, "99.99"),
     (99.94, 1, "99.9"), (0.0, 1, "0.0")],
)  # fmt: skip
def test_hundred_percent_has_no_hole(percent: float, digits: int, text: str) -> None:
    assert percent_text(percent, digits) == text


def test_columns_are_as_wide_as_their_cells() -> None:
    rows = [["op", "bytes", "unit"], ["mte_gm_ub", "8", "a word"]]
    assert columns(rows) == ["op         bytes    unit", "mte_gm_ub      8  a word"]
    assert columns(rows, left=3) == ["op         bytes  unit", "mte_gm_ub  8      a word"]


def test_a_name_that_is_like_a_legal_one_is_suggested() -> None:
    assert meant("lops", ("loops", "pad")) == "; did you mean loops?"
    assert meant("xyz", ("loops", "pad")) == ""
