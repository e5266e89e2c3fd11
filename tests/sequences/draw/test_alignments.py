# SPDX-License-Identifier: Apache-2.0
"""Alignments: the rarest pairs of residues are drawn next, by all generators."""

from __future__ import annotations

import numpy as np
import pytest

from sequences.constraints import OpConstraints
from sequences.draw.alignments import AlignmentCounts
from sequences.draw.traffic import TrafficGenerator
from tb.isa.dma.table import MTE_GM_UB, MTE_UB_GM

BUS = 16


def all_but(alignments: AlignmentCounts, direction: int, address: int, length: int) -> None:
    """Notes every pair of a direction but one."""
    lengths, addresses = np.divmod(np.arange(BUS * BUS), BUS)
    rest = (addresses != address) | (lengths != length)
    alignments.note(np.full(rest.sum(), direction), addresses[rest] + 4096, lengths[rest] + 32)


@pytest.mark.parametrize("direction", [0, 1])
def test_the_missing_pair_comes_next(direction: int) -> None:
    rng = np.random.default_rng(1)
    alignments = AlignmentCounts(BUS)
    all_but(alignments, direction, 5, 11)
    assert alignments.lengths(rng, np.array([direction])).tolist() == [11]
    assert alignments.addresses(rng, np.array([direction]), np.array([16 + 11])).tolist() == [5]
    seen = {int(alignments.lengths(rng, np.array([1 - direction]))[0]) for _ in range(200)}
    assert seen == set(range(BUS))


def test_ops_of_one_draw_take_different_pairs() -> None:
    rng = np.random.default_rng(2)
    alignments = AlignmentCounts(BUS)
    store = rng.integers(0, 2, 900)
    length = alignments.lengths(rng, store)
    address = alignments.addresses(rng, store, length)
    for direction in (0, 1):
        mine = store == direction
        pairs = set(zip(length[mine].tolist(), address[mine].tolist(), strict=True))
        assert len(pairs) == BUS * BUS
    none = np.zeros(0, np.int64)
    assert len(alignments.lengths(rng, none)) == len(alignments.addresses(rng, none, none)) == 0


@pytest.mark.long
@pytest.mark.parametrize("bus", [16, 32])
def test_mixed_traffic_meets_nearly_all_pairs(bus: int) -> None:
    blocks = list(TrafficGenerator(7, constraints=OpConstraints(bus_bytes=bus)).blocks(20000))
    for spec in (MTE_GM_UB, MTE_UB_GM):
        pairs = np.zeros((bus, bus), dtype=bool)
        for block in blocks:
            mine = (block.opcode == spec.opcode) & (block.column("len") > 0)
            mine[list(block.legacy_forms)] = False
            pairs[block.column("ext_addr")[mine] % bus, block.column("len")[mine] % bus] = True
        assert pairs.mean() > 0.98


def test_no_alignment_requested() -> None:
    limits = OpConstraints(residue=0.0, edge=0.0, pad=0.0)
    assert sum(map(len, TrafficGenerator(8, constraints=limits).blocks(500))) == 500
