# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests of reports."""

from __future__ import annotations

from tests.report.browser import browser, visit

__all__ = ["browser", "visit"]
