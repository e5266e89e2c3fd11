# SPDX-License-Identifier: Apache-2.0
"""Strided copies: ``mte_gm_ub`` to ``mte_l1_ub``, and the legacy copies."""
