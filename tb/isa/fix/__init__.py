# SPDX-License-Identifier: Apache-2.0
"""Write-backs: ``mte_l0c_gm``, ``mte_l0c_l1``, ``mte_l0c_ub``."""
