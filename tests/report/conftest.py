# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.regress.queries.views import RegressionView
from tb.report.site import write
from tests.report.browser import browser, visit
from tests.report.sample import sample_view

__all__ = ["browser", "visit"]


@pytest.fixture(scope="module")
def view() -> RegressionView:
    """A regression run with everything; some modules replace it by one that has less."""
    return sample_view()


@pytest.fixture(scope="module")
def site(view: RegressionView, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its report."""
    return write(view, tmp_path_factory.mktemp("regression") / "report").parent
