# SPDX-License-Identifier: Apache-2.0
"""Constraints of one DUT: short rows, few loops, no odd addresses."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import OpConstraints, SizeClass
from sequences.op_filter import op_filter
from tb.isa.block import OpBlock


def constraints(default: OpConstraints) -> OpConstraints:
    """Restricts and reweights random ops."""
    return replace(
        default,
        sizes=(SizeClass(1, 256, 0.8), SizeClass(257, 1024, 0.2)),
        loops=(0.9, 0.1, 0.0, 0.0),
        far=0.0,
    )


@op_filter
def even_addresses(block: OpBlock) -> NDArray[np.bool_]:
    """Keeps ops at even addresses of GM."""
    return block.column("ext_addr") % 2 == 0


@op_filter
def few_rows(block: OpBlock) -> NDArray[np.bool_]:
    """Keeps ops of at most 16 rows in a burst."""
    return block.column("n_burst") <= 16
