# SPDX-License-Identifier: Apache-2.0
"""The generated op table page agrees with the tables."""

from __future__ import annotations

from tb.common.paths import ROOT
from tb.isa.document import PAGE, page_text


def test_page_is_not_stale() -> None:
    assert (ROOT / PAGE).read_text() == page_text(), "run python -m tb.isa.document"
