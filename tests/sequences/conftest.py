# SPDX-License-Identifier: Apache-2.0
"""One draw of write-backs for several files."""

from __future__ import annotations

import pytest

from sequences.constraints import OP_NAMES
from sequences.fixpipe.generator import FixGenerator
from tb.isa.block import OpBlock
from tb.isa.fix.op import FixOp
from tests.sequences.reference import descriptors

COUNT = 5000
Op = tuple[OpBlock, int, FixOp]


@pytest.fixture(scope="session")
def fix_blocks() -> list[OpBlock]:
    return list(FixGenerator(11, links=OP_NAMES).blocks(COUNT))


@pytest.fixture(scope="session")
def fix_ops(fix_blocks: list[OpBlock]) -> list[Op]:
    """Every write-back with its block and its index there."""
    return [
        (block, number, desc)
        for block in fix_blocks
        for number, desc in enumerate(descriptors(block))
        if isinstance(desc, FixOp)
    ]


@pytest.fixture(scope="session")
def fix_live(fix_ops: list[Op]) -> list[FixOp]:
    return [desc for _, _, desc in fix_ops if not desc.is_nop]
