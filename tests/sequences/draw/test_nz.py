# SPDX-License-Identifier: Apache-2.0
"""Random NZ repacks: every shape that the ISA treats differently is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sequences.constraints import GM_SIZE, L1_SIZE, NZ_NAMES, OpConstraints
from sequences.draw.copies import CopyGenerator
from sequences.draw.nz import MANY_GROUPS
from tb.isa.block import OpBlock
from tb.isa.footprint import destination, source
from tb.isa.nz.op import MteGmL1Frac
from tests.sequences.reference import check_legal, check_rows_disjoint, descriptors, source_rows

Ints = NDArray[np.int64]


@pytest.fixture(scope="module")
def blocks() -> list[OpBlock]:
    return list(CopyGenerator(21, NZ_NAMES).blocks(12000))


@pytest.fixture(scope="module")
def live(blocks: list[OpBlock]) -> list[MteGmL1Frac]:
    descs = [desc for block in blocks for desc in descriptors(block)]
    return [desc for desc in descs if isinstance(desc, MteGmL1Frac) and not desc.is_nop]


@pytest.mark.long
def test_legal_and_disjoint(blocks: list[OpBlock]) -> None:
    for block in blocks:
        check_legal(block)
        check_rows_disjoint(block)


@pytest.mark.long
def test_every_tail_of_every_element_size(live: list[MteGmL1Frac]) -> None:
    for elem in (1, 2, 4):
        for mode in (0, 1):
            mine = [desc for desc in live if (desc.elem_bytes, desc.mode) == (elem, mode)]
            normal = [desc for desc in mine if not desc.small_c0]
            assert {desc.d_value % desc.c0 for desc in normal} == set(range(32 // elem))
            tails = {desc.n_value * 4 * elem % 32 for desc in mine if desc.small_c0}
            assert tails == set(range(0, 32, 4 * elem))
            for few in (True, False):  # matrices, which two draws give their channels
                small = [x for x in mine if x.small_c0 and (x.group_count < MANY_GROUPS) == few]
                assert {desc.d_value for desc in small} == {1, 2, 3, 4}


@pytest.mark.long
def test_rows_around_sixteen_and_single_ones(live: list[MteGmL1Frac]) -> None:
    normal = [desc for desc in live if not desc.small_c0]
    tall = [desc.n_value % 16 for desc in normal if desc.n_value > 14]
    counts = np.bincount(tall, minlength=16)
    assert counts.min() > 0
    assert counts[[15, 0, 1]].sum() > 0.4 * len(tall)
    for name in ("n_value", "d_value"):
        ones = [desc for desc in normal if getattr(desc, name) == 1]
        assert len(ones) > 0.02 * len(normal)
        assert {desc.mode for desc in ones} == {0, 1}


def test_big_shapes(live: list[MteGmL1Frac]) -> None:
    shapes = {(desc.n_value, desc.d_value) for desc in live}
    assert {(64, 512), (512, 64), (1, 65535)} <= shapes
    assert sum(desc.group_count > 100 for desc in live) > 10
    assert set(range(1, 9)) <= {desc.group_count for desc in live}
    sizes = np.array([destination(desc).bytes for desc in live])
    assert 1000 < sizes.mean() < 2600
    assert 60000 < sizes.max() <= 131072


def test_limits_of_the_operands(live: list[MteGmL1Frac]) -> None:
    assert max(desc.n_value for desc in live) == 16384
    assert max(desc.d_value for desc in live) == 65535
    assert max(desc.group_count for desc in live) == 4095
    assert max(source_rows(desc)[0] for desc in live) <= OpConstraints.max_rows


def test_dozens_of_groups(live: list[MteGmL1Frac]) -> None:
    many = [desc for desc in live if desc.group_count >= 16]
    # One in 50, and of far ops, which are a quarter, one in three.
    assert 0.02 < len(many) / len(live) < 0.12
    outer = np.array([desc.outer_stride for desc in many])
    assert (outer == 0).any()
    assert (outer > 1 << 32).sum() > 5
    assert any(0 < desc.dst_loop4 < desc.dst_loop3 for desc in many if desc.columns > 1)
    assert {desc.small_c0 for desc in many} == {0, 1}


def test_layouts_within_fractals(live: list[MteGmL1Frac]) -> None:
    normal = [d for d in live if not d.small_c0 and d.n_value > 1 and d.columns > 1]
    groups = [d for d in normal if d.group_count > 1 and d.dst_loop2 == 1 and d.dst_loop3 == 16]
    assert any(d.n_value <= d.dst_loop4 < 16 for d in groups)
    assert any(d.dst_loop2 >= 16 and d.dst_loop3 > d.n_value * d.dst_loop2 for d in normal)


def test_destination_strides(live: list[MteGmL1Frac]) -> None:
    tiles = [d for d in live if not d.small_c0 and d.n_value > 1 and d.columns > 1]
    assert len(tiles) > 1000
    step = np.array([(d.dst_loop2, d.dst_loop3, d.n_value, d.columns) for d in tiles])
    loop2, loop3, n, columns = step.T
    claims = {
        "tight": (loop2 == 1) & (loop3 == n),
        "padded to fractals": (loop2 == 1) & (loop3 == -(-n // 16) * 16) & (n % 16 > 0),
        "padded oddly": (loop2 == 1) & (loop3 > n) & (loop3 % 16 > 0),
        "rows apart": loop2 > 1,
        "columns inside rows": (loop3 == 1) & (loop2 == columns),
        "columns between rows": loop3 < loop2,
    }
    for name, found in claims.items():
        assert found.mean() > 0.02, name
    groups = [d for d in tiles if d.group_count > 1]
    assert any(d.dst_loop4 == 1 for d in groups)
    assert any(d.dst_loop4 < d.dst_loop3 for d in groups)
    assert any(d.dst_loop4 == d.columns * d.dst_loop3 for d in groups)
    packed = [d for d in live if d.small_c0 and d.group_count > 1]
    assert any(32 * d.dst_loop4 == destination(d).length for d in packed)
    assert any(32 * d.dst_loop4 > destination(d).length for d in packed)
    assert max(d.dst_loop2 for d in live if d.small_c0) > 60000


def test_source_strides(live: list[MteGmL1Frac]) -> None:
    table = [(*source_rows(d), d.inner_stride, d.outer_stride, d.group_count) for d in live]
    rows, row, inner, outer, groups = np.array(table).T
    many, several = rows > 1, groups > 1
    claims = {
        "tight rows": many & (inner == row),
        "rows apart": many & (inner > row) & (inner < 1 << 20),
        "overlapping rows": many & (inner < row) & (inner > 0),
        "one row again and again": many & (inner == 0),
        "rows at odd distance": many & (inner % 2 == 1),
        "far rows": many & (inner > 1 << 32),
        "matrices read again": several & (outer == 0),
        "tight matrices": several & (outer == rows * inner),
        "overlapping matrices": several & (outer > 0) & (outer < (rows - 1) * inner + row),
        "matrices apart": several & (outer > rows * inner) & (outer < 1 << 20),
        "far matrices": several & (outer > 1 << 32),
    }
    for name, found in claims.items():
        assert found.sum() > 20, name
    assert inner[many].max() >= 1 << 39
    assert outer[several].max() >= 1 << 38
    residues = {desc.ext_addr % 64 for desc in live}
    assert residues == set(range(64))


def test_ends_of_the_memories(live: list[MteGmL1Frac]) -> None:
    assert any(destination(desc).end == L1_SIZE for desc in live)
    assert any(desc.loc_addr == 0 for desc in live)
    assert any(source(desc).end == GM_SIZE for desc in live)
    crossing = [d for d in live if d.ext_addr < 1 << 32 < d.ext_addr + source_rows(d)[1]]
    assert crossing


@pytest.mark.long
def test_nops(blocks: list[OpBlock]) -> None:
    descs = [desc for block in blocks for desc in descriptors(block)]
    nops = [desc for desc in descs if isinstance(desc, MteGmL1Frac) and desc.is_nop]
    assert 0.03 < len(nops) / len(descs) < 0.08
    assert (
        {desc.n_value > 0 for desc in nops} == {desc.d_value > 0 for desc in nops} == {False, True}
    )
    assert max(desc.n_value for desc in nops) == 16384
    assert max(desc.d_value for desc in nops) == 65535
    assert max(desc.group_count for desc in nops) == 4095
    assert {desc.small_c0 for desc in nops} == {0, 1}


def test_far_ops_find_a_place() -> None:
    limits = OpConstraints(far=1.0, nop=0.0, max_bytes=4096)
    blocks = CopyGenerator(22, NZ_NAMES, limits).draw(2000)
    assert sum(desc.is_nop for block in blocks for desc in descriptors(block)) < 10
