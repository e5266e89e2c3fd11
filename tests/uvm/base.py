# SPDX-License-Identifier: Apache-2.0
"""Base of the pyuvm tests of this project: that of :mod:`tb.uvm`."""

from __future__ import annotations

from tb.uvm import RESET_NS, PtoTestBase

__all__ = ["RESET_NS", "PtoTestBase"]
