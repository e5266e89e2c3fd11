# SPDX-License-Identifier: Apache-2.0
"""Random NZ repacks: ``mte_gm_l1_frac`` in both layouts and both packings (spec/nd2nz.md)."""

from __future__ import annotations

import numpy as np

from sequences.constraints import NZ_NAMES, DmaConstraints
from sequences.copies import CopyGenerator


class NzGenerator(CopyGenerator):
    """Draws blocks of legal NZ repacks alone; chains that end in one come from mixed traffic.

    Args:
        seed: Seed or generator; the same seed and constraints draw the same blocks.
        constraints: What to draw.
    """

    def __init__(
        self, seed: int | np.random.Generator, constraints: DmaConstraints | None = None
    ) -> None:
        super().__init__(seed, NZ_NAMES, constraints)
