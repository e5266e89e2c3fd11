# SPDX-License-Identifier: Apache-2.0
"""Loads from L1 to the memories of the matrix unit (docs/spec/l0_loads.md, sections 2 to 5)."""
