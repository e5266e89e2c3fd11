# SPDX-License-Identifier: Apache-2.0
"""Random blocks of copies between GM and UB: dense, spread, at the ends of the memories.

test_copies.py has the properties of the generator that do not depend on the ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequences.constraints import (
    GM_SIZE,
    GM_UB_NAMES,
    GmWindow,
    OpConstraints,
    SizeClass,
)
from sequences.draw.copies import CopyGenerator
from sequences.place.allocator import Places, arrange
from tb.isa.block import OpBlock, from_ops
from tb.isa.dma.legacy import (
    CopyUbufToGm,
    DmaRegisters,
    LegacySet,
    SetLoopSize,
    SetLoopStride,
    fits,
)
from tb.isa.dma.op import MteUbGm
from tb.isa.dma.table import MTE_GM_UB
from tb.isa.op import replace
from tests.sequences.reference import (
    BlockError,
    check_disjoint,
    check_legal,
    check_programs,
    descriptors,
    dma_descriptors,
    legacy_ops,
    plain_op,
)


def column(blocks: list[OpBlock], name: str) -> np.ndarray:
    return np.concatenate([block.columns[name] for block in blocks])


@pytest.fixture(scope="module")
def drawn() -> list[OpBlock]:
    return list(CopyGenerator(11, GM_UB_NAMES).blocks(6000))


@pytest.mark.long
def test_dense_traffic_is_disjoint() -> None:
    limits = OpConstraints(
        max_bytes=2048, max_gm_bytes=4096, far=0.5, dependent=1.0, nop=0.0,
        windows=(GmWindow(1000, 40000), GmWindow(GM_SIZE - 30000, 30000)),
    )  # fmt: skip
    blocks = list(CopyGenerator(13, GM_UB_NAMES, limits).blocks(2500))
    for block in blocks:
        check_legal(block)
        check_disjoint(block)
    assert np.mean(np.concatenate([block.after for block in blocks]) >= 0) > 0.25


def test_a_store_that_moves_to_its_element_moves_readers_of_its_block_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Places] = []

    def noted(*arguments: Any) -> Places:
        seen.append(arrange(*arguments))
        return seen[-1]

    monkeypatch.setattr("sequences.draw.copies.arrange", noted)
    limits = OpConstraints(dependent=0.9, far=0.0, nop=0.0, update=1.0, block_ops=4)
    blocks = CopyGenerator(13, ("mte_ub_gm", "mte_gm_ub"), limits).draw(2000)
    (places,) = seen
    load = np.concatenate([block.opcode for block in blocks]) == MTE_GM_UB.opcode
    free, moved = load & (places.parent < 0), column(blocks, "ext_addr") - places.read
    assert np.count_nonzero(moved[load & ~free]) > 10
    assert not moved[free].any()


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    ops=st.sets(st.sampled_from(GM_UB_NAMES), min_size=1),
    bus=st.sampled_from((16, 32, 64)),
    max_loops=st.integers(0, 3),
    fractions=st.tuples(*[st.sampled_from((0.0, 0.3, 1.0))] * 6),
    most=st.sampled_from((1, 100, 3000)),
)
def test_any_constraints_give_legal_blocks(
    seed: int,
    ops: set[str],
    bus: int,
    max_loops: int,
    fractions: tuple[float, ...],
    most: int,
) -> None:
    pad, far, dependent, reread, interleave, clone = fractions
    limits = OpConstraints(
        bus_bytes=bus, max_loops=max_loops, max_bytes=most, max_gm_bytes=65536, pad=pad, far=far,
        dependent=dependent, reread=reread, interleave=interleave, clone=clone,
    )  # fmt: skip
    generator = CopyGenerator(seed, tuple(sorted(ops)), limits)
    registers = DmaRegisters()
    for block in generator.draw(150):
        check_legal(block)
        check_disjoint(block)
        registers = check_programs(block, registers)
    assert registers == generator.registers


@pytest.mark.long
def test_far_ops_find_a_place() -> None:
    limits = OpConstraints(far=1.0, nop=0.0, max_bytes=4096)
    blocks = CopyGenerator(15, GM_UB_NAMES, limits).draw(3000)
    nops = sum(desc.is_nop for block in blocks for desc in descriptors(block))
    assert nops < 10


@pytest.mark.long
def test_legacy_programs_hold_only_ops_that_fit(drawn: list[OpBlock]) -> None:
    for block in drawn:
        for op in legacy_ops(block):
            if isinstance(op, LegacySet):
                assert fits(op)


def test_spread(drawn: list[OpBlock]) -> None:
    length, rows = column(drawn, "len"), column(drawn, "n_burst")
    counts = [column(drawn, f"loop{k}_count") for k in range(3)]
    live = (length > 0) & (rows > 0) & np.all([count > 0 for count in counts], axis=0)
    moved = np.where(live, length, 0)
    for count in (rows, *counts):
        moved = moved * np.where(live, count, 1)
    assert 1000 < moved.mean() < 2500
    assert moved.max() > 60000
    assert 0.02 < np.mean(~live) < 0.1
    assert {1, 2, 3, 65535} <= set(length[live].tolist())
    assert rows[live].max() > 500
    assert set(column(drawn, "n_loops").tolist()) == {0, 1, 2, 3}
    assert {0, 2**21 - 1} <= set(counts[0].tolist())
    assert (rows == 65535).any()
    assert column(drawn, "ext_stride").max() > 1 << 39
    assert np.mean(np.concatenate([block.after for block in drawn]) >= 0) > 0.15
    gaps = np.concatenate([block.gap for block in drawn])
    assert 0.6 < np.mean(gaps == 0) < 0.8
    assert 150 < gaps.max() <= 200
    assert np.bincount(column(drawn, "ub_sub")).min() > 2000
    strides = [(rows, "loc_stride"), *[(counts[k], f"loop{k}_loc_stride") for k in range(3)]]
    used = [column(drawn, name)[live & (count > 1)].max() for count, name in strides]
    assert max(used) >= 128 * 1024
    assert set(column(drawn, "l2").tolist()) == set(range(16))
    pads = column(drawn, "pad_en")
    assert 0.1 < pads.mean() < 0.3


def test_registers_are_used_again(drawn: list[OpBlock]) -> None:
    kept = 0
    foreign = 0
    for block in drawn:
        for number, program in block.legacy.items():
            loops = [block.columns[f"loop{k}_count"][number] for k in (0, 1)]
            side = "ubtoout" if isinstance(program[-1], CopyUbufToGm) else "outtoub"
            sets = [op for op in program if isinstance(op, SetLoopSize | SetLoopStride)]
            kept += max(loops) > 1 and not sets
            foreign += any(op.direction != side for op in sets)
    assert kept > 50
    assert foreign > 20


@pytest.mark.long
def test_bytes_at_the_ends_of_the_memories(drawn: list[OpBlock]) -> None:
    ends = {"gm": False, "ub": False, "zero": False, "across 2^32": False}
    for block in drawn:
        for desc in dma_descriptors(block):
            if not desc.is_nop:
                counts = [desc.n_burst, *[loop.count for loop in desc.field_loops]]
                gm = [desc.ext_stride, *[loop.ext_stride for loop in desc.field_loops]]
                ub = [desc.loc_stride, *[loop.loc_stride for loop in desc.field_loops]]
                ext = desc.ext_addr + sum((c - 1) * s for c, s in zip(counts, gm, strict=True))
                loc = desc.loc_addr + sum((c - 1) * s for c, s in zip(counts, ub, strict=True))
                row = desc.loc_stride if desc.pad_en else desc.len
                ends["gm"] |= ext + desc.len == GM_SIZE
                ends["ub"] |= loc + row == 262144
                ends["zero"] |= desc.ext_addr == 0
                ends["across 2^32"] |= desc.ext_addr < 1 << 32 < desc.ext_addr + desc.len
    assert all(ends.values()), ends


def test_max_values_of_small_limits() -> None:
    limits = OpConstraints(
        max_bytes=10, max_gm_bytes=64, sizes=(SizeClass(1, 10, 1.0),), far=0.0, nop=0.0, pad=0.0
    )
    for block in CopyGenerator(2, GM_UB_NAMES, limits).draw(500):
        total = block.columns["len"] * block.columns["n_burst"]
        for k in range(3):
            total = total * block.columns[f"loop{k}_count"]
        assert total.max() <= 10


class TestTheChecksCanFail:
    """The plain checks find errors that the generator never makes."""

    def test_two_loads_to_one_place(self) -> None:
        with pytest.raises(BlockError, match="op 1 writes"):
            check_disjoint(from_ops([plain_op(), plain_op(gm_src=4096)]))

    def test_store_of_what_a_load_writes(self) -> None:
        store = MteUbGm(0, 65536, 40, 1, 0, 0)
        block = from_ops([plain_op(), store])
        with pytest.raises(BlockError, match="op 1 reads"):
            check_disjoint(block)
        check_disjoint(replace(block, after=np.array([-1, 0])))

    def test_load_over_what_a_store_reads(self) -> None:
        block = from_ops([MteUbGm(64, 65536, 40, 1, 0, 0), plain_op()])
        for after in (-1, 0):
            with pytest.raises(BlockError, match="op 1 writes"):
                check_disjoint(replace(block, after=np.array([-1, after])))

    def test_waiting_for_the_own_slot(self) -> None:
        block = from_ops([plain_op(), plain_op(ub_dst=4096)])
        with pytest.raises(BlockError, match="waits"):
            check_disjoint(replace(block, after=np.array([-1, 0])))

    def test_illegal_op(self) -> None:
        with pytest.raises(BlockError, match="DMA-L06"):
            check_legal(from_ops([plain_op(ub_dst=8)]))

    def test_overlapping_rows(self) -> None:
        from tb.isa.dma.op import Loop

        with pytest.raises(BlockError, match="DMA-L13"):
            check_legal(from_ops([plain_op(loops=(Loop(2, 0, 32),))]))

    def test_wrong_columns(self) -> None:
        block = CopyGenerator(1, ("copy_gm_to_ubuf",)).draw(20)[0]
        columns = dict(block.columns)
        columns["loop1_count"] = columns["loop1_count"] + 1
        with pytest.raises(BlockError, match="program gives"):
            check_programs(replace(block, columns=columns), DmaRegisters())


@pytest.mark.long
def test_tall_ops_and_rows_with_loops_between_them() -> None:
    several = apart = short = 0
    for block in CopyGenerator(16, GM_UB_NAMES).blocks(16000):
        for desc in dma_descriptors(block):
            if desc.is_nop:
                continue
            loops = [loop for loop in desc.loops if loop.count > 1]
            several += desc.n_burst >= 65 and len(loops) > 1
            pages = desc.n_burst > 15 and 4096 + desc.len <= desc.ext_stride < 1 << 32
            apart += pages and len(loops) > 1
            below = desc.n_burst == 1 and not desc.pad_en and 0 < desc.ext_stride < desc.len
            short += below and desc.ext_stride % 32 == 0
    assert min(several, apart, short) > 8
