# SPDX-License-Identifier: Apache-2.0
"""Burst copies: ``mte_ub_ub``, ``mte_ub_l1``, ``mte_l1_bt``, ``mte_l1_fb``."""
