# SPDX-License-Identifier: Apache-2.0
"""Fractal loads: ``mte_gm_l1_frac``."""
