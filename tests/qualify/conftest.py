# SPDX-License-Identifier: Apache-2.0
"""What tests of ``pto-dv qualify`` need."""

from tests.prove.conftest import yosys
from tests.report.browser import browser, visit

__all__ = ["browser", "visit", "yosys"]
