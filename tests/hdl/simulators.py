# SPDX-License-Identifier: Apache-2.0
"""Simulators that the tests of the harness run; not in mini.py, which simulations import."""

from __future__ import annotations

import pytest

SIMULATORS = ("verilator", "icarus")

TWINS = ("verilator", pytest.param("icarus", marks=pytest.mark.share("tb/hdl", group="icarus")))
"""Both, and Icarus in one share alone: it repeats what Verilator has shown."""
