# SPDX-License-Identifier: Apache-2.0
"""Tests: pytest suites, most of which need no simulator, and the uvm tests that run inside one."""
