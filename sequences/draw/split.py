# SPDX-License-Identifier: Apache-2.0
"""Cuts a long draw into its blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tb.isa.block import OpBlock


def split(whole: OpBlock, starts: list[int]) -> list[OpBlock]:
    """Cuts ``whole`` at ``starts``; one pass over its legacy programs."""
    index = sorted(whole.legacy)
    cuts = np.searchsorted(index, starts).tolist()
    blocks = []
    assert whole.expected_rule is not None
    for number, (start, stop) in enumerate(pairwise(starts)):
        after = whole.after[start:stop]
        blocks.append(
            OpBlock(
                whole.opcode[start:stop],
                {name: column[start:stop] for name, column in whole.columns.items()},
                whole.dtype[start:stop],
                whole.pad_dtype[start:stop],
                whole.gap[start:stop],
                np.where(after >= 0, after - start, -1),
                {k - start: whole.legacy[k] for k in index[cuts[number] : cuts[number + 1]]},
                {},
                whole.expected_rule[start:stop],
            )
        )
    return blocks
