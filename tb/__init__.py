# SPDX-License-Identifier: Apache-2.0
"""PTO-DV: a co-verification testbench for the data-movement engines of the PTO ISA."""
