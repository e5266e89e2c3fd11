# SPDX-License-Identifier: Apache-2.0
"""Random copies and chains: legal, disjoint, reproducible, spread."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequences.constraints import (
    GM_SIZE,
    GM_UB_NAMES,
    L1_SIZE,
    ConstraintError,
    GmWindow,
    OpConstraints,
    SizeClass,
)
from sequences.draw.copies import COPY_FORMS, CopyGenerator
from tb.isa.block import OpBlock
from tb.isa.burst.op import BurstOp
from tb.isa.dma.legacy import CopyUbufToUbuf, DmaRegisters
from tb.isa.dma.op import DmaOp
from tb.isa.dma.table import MTE_L1_UB
from tb.isa.dtypes import DTYPES
from tb.isa.footprint import destination, source
from tb.isa.l0.op import L0Load
from tb.isa.l0.table import LOADS, LoadSpec
from tb.isa.op import Op
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.program import moving
from tb.isa.spaces import SIZES, memory_range
from tests.processor import processor_seconds
from tests.sequences.reference import (
    check_disjoint,
    check_legal,
    check_programs,
    check_rows_disjoint,
    descriptors,
)
from tests.wording import pattern


@pytest.fixture(scope="module")
def chains() -> list[OpBlock]:
    return list(CopyGenerator(35, COPY_FORMS).blocks(26000))


@pytest.fixture(scope="module")
def by_op(chains: list[OpBlock]) -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {name: [] for name in OPS}
    for block in chains:
        for desc in descriptors(block):
            found[desc.spec.name].append(desc)
    return found


@pytest.mark.long
def test_legal_and_disjoint(chains: list[OpBlock]) -> None:
    registers = DmaRegisters()
    for block in chains:
        check_legal(block)
        assert block.expected_rule is not None
        assert not block.expected_rule.any()
        check_rows_disjoint(block)
        registers = check_programs(block, registers)


@pytest.mark.long
def test_disjoint_byte_by_byte() -> None:
    limits = OpConstraints(max_bytes=2048, max_gm_bytes=65536, far=0.2, dependent=1.0)
    for block in CopyGenerator(32, COPY_FORMS, limits).blocks(1500):
        check_disjoint(block)
        check_rows_disjoint(block)


@pytest.mark.long
def test_far_rows_never_meet_stores() -> None:
    limits = OpConstraints(
        max_bytes=4096, max_gm_bytes=8192, far=1.0, dependent=0.3, nop=0.0,
        windows=(GmWindow(1000, 60000), GmWindow(GM_SIZE - 50000, 50000)),
    )  # fmt: skip
    names = ("mte_gm_l1", "mte_gm_l1_frac", "mte_ub_gm", "mte_gm_ub")
    near = far = 0
    for block in CopyGenerator(33, names, limits).blocks(6000):
        check_rows_disjoint(block)
        for desc in descriptors(block):
            if not desc.is_nop and desc.spec.source == "gm":
                side = source(desc)
                far += side.end - side.base > 1 << 20
                near += 1000 <= side.base < 61000
    assert far > 1500
    assert near > 300


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    ops=st.sets(st.sampled_from(COPY_FORMS), min_size=1),
    max_loops=st.integers(0, 3),
    fractions=st.tuples(*[st.sampled_from((0.0, 0.3, 1.0))] * 7),
    most=st.sampled_from((1, 100, 3000)),
    parts=st.tuples(st.integers(0, 64), st.integers(128, 512)),
)
def test_any_constraints_give_legal_blocks(
    seed: int,
    ops: set[str],
    max_loops: int,
    fractions: tuple[float, ...],
    most: int,
    parts: tuple[int, int],
) -> None:
    far, dependent, reread, interleave, stretch, small_c0, big_nz = fractions
    start, size = (32 * part for part in parts)
    limits = OpConstraints(
        max_loops=max_loops, max_bytes=most, max_gm_bytes=65536, far=far, dependent=dependent,
        reread=reread, interleave=interleave, stretch=stretch, small_c0=small_c0, big_nz=big_nz,
        ub_range=GmWindow(start, size), l1_range=GmWindow(2 * start, size), max_ub_bytes=size,
        max_l1_bytes=size,
    )  # fmt: skip
    generator = CopyGenerator(seed, tuple(sorted(ops)), limits)
    registers = DmaRegisters()
    for block in generator.draw(150):
        check_legal(block)
        check_rows_disjoint(block)
        registers = check_programs(block, registers)
        for desc in descriptors(block):
            if not desc.is_nop:
                for side in (source(desc), destination(desc)):
                    low = {"ub": start, "l1": 2 * start}.get(side.space.keyword)
                    if low is not None:
                        assert low <= side.base <= side.end <= low + size


@pytest.mark.long
def test_dependencies_go_from_pipe_to_pipe(chains: list[OpBlock]) -> None:
    pairs: Counter[tuple[str, str]] = Counter()
    links: Counter[int] = Counter()
    for block in chains:
        depth = np.zeros(len(block), dtype=np.int64)
        descs = descriptors(block)
        for number, after in enumerate(block.after.tolist()):
            if after >= 0:
                depth[number] = depth[after] + 1
                pairs[descs[after].spec.name, descs[number].spec.name] += 1
                if not descs[number].is_nop and not descs[after].is_nop:
                    read, written = source(descs[number]), destination(descs[after])
                    assert read.space is written.space
                    assert written.base <= read.base < written.end
        links.update(depth.tolist())
    total = sum(map(len, chains))
    assert sum(pairs.values()) > 0.2 * total
    assert all(links[depth] > 50 for depth in range(4))
    wanted = {
        ("mte_gm_l1", "mte_l1_ub"), ("mte_l1_ub", "mte_ub_gm"), ("mte_gm_l1", "mte_l1_bt"),
        ("mte_gm_l1", "mte_l1_fb"), ("mte_ub_l1", "mte_l1_ub"), ("mte_l1_ub", "mte_ub_l1"),
        ("mte_ub_gm", "mte_gm_l1_frac"), ("mte_gm_l1_frac", "mte_l1_ub"),
        ("mte_l1_ub", "mte_ub_ub"),
        ("mte_ub_l1", "mte_l1_bt"), ("mte_ub_l1", "mte_l1_fb"), ("mte_ub_gm", "mte_gm_l1"),
        ("mte_gm_ub", "mte_ub_ub"), ("mte_gm_ub", "mte_ub_l1"),
    }  # fmt: skip
    for pair in wanted:
        assert pairs[pair] > 20, pair


@pytest.mark.long
def test_children_read_what_their_parents_wrote(chains: list[OpBlock]) -> None:
    """Most bytes that a dependent op reads were written by its parent, not between its rows."""
    ours = total = 0
    for block in chains[:120]:
        descs = descriptors(block)
        for number, after in enumerate(block.after.tolist()):
            if after < 0 or descs[number].is_nop or descs[after].is_nop:
                continue
            read, written = source(descs[number]), destination(descs[after])
            if read.rows > 400 or written.rows > 400:
                continue
            bytes_read = {x + k for x in read.row_starts().tolist() for k in range(read.length)}
            starts = written.row_starts().tolist()
            wrote = {x + k for x in starts for k in range(written.length)}
            total += len(bytes_read)
            ours += len(bytes_read & wrote)
    assert ours > 0.6 * total


def _live(descs: list[Op]) -> list[Op]:
    return [desc for desc in descs if not desc.is_nop]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in OPS if name in COPY_FORMS])
def test_sizes_and_nops(by_op: dict[str, list[Op]], name: str) -> None:
    descs = by_op[name]
    live = _live(descs)
    assert 0.02 < 1 - len(live) / len(descs) < 0.09
    # Pads of a row may fill a long stride.
    side = source if name == "mte_gm_ub" else destination
    sizes = np.array([side(desc).bytes for desc in live])
    small = name in ("mte_l1_bt", "mte_l1_fb") or name.endswith("_mx")
    # Loads of L0 move whole fractals.
    most = 6000 if name in LOADS else 3000
    assert (200 if small else 800) < sizes.mean() < most
    assert sizes.max() >= (3800 if small else 60000)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in OPS if name in COPY_FORMS])
def test_both_ends_of_both_memories(by_op: dict[str, list[Op]], name: str) -> None:
    spec = OPS[name]
    of_loads = isinstance(spec, LoadSpec)
    both = ((spec.source, source), (spec.destination, destination))
    for keyword, side_of in both if spec.source else both[1:]:
        sides = [side_of(desc) for desc in _live(by_op[name])]
        addresses = range(SIZES[sides[0].space])
        if of_loads and keyword != spec.source:
            assert isinstance(spec, LoadSpec)
            addresses = memory_range(spec.memory)[1]
        assert any(side.end == addresses.stop for side in sides), keyword
        assert any(side.base == addresses.start for side in sides), keyword


@pytest.mark.long
@pytest.mark.parametrize("name", ["mte_gm_l1", "mte_l1_ub"])
def test_spread_of_strided_copies(by_op: dict[str, list[Op]], name: str) -> None:
    descs = [desc for desc in by_op[name] if isinstance(desc, DmaOp)]
    live = [desc for desc in descs if not desc.is_nop]
    assert {len(desc.loops) for desc in live} == {0, 1, 2, 3}
    blocks = name == "mte_l1_ub"
    longest = 1024 if blocks else 65535
    assert {1, 2, 3} <= {desc.len for desc in live}
    assert max(desc.len for desc in live) >= longest
    assert max(desc.n_burst for desc in live) > 300
    assert {loop.count for desc in live for loop in desc.loops} >= {1, 2, 3}
    strides = _row_strides(live, "loc_stride")
    if blocks:
        for gap in ("ext_stride", "loc_stride"):
            found = Counter(getattr(desc, gap) for desc in live if desc.n_burst > 1)
            assert all(found[k] > 10 for k in (0, 1)), gap
            assert max(found) > 1000
            # A lone burst has a gap after it, without effect.
            assert max(getattr(desc, gap) for desc in live if desc.n_burst == 1) > 60000
    strides += [loop.loc_stride for desc in live for loop in desc.field_loops if loop.count > 1]
    assert max(strides) >= 128 * 1024
    assert all(any(stride == 32 * k for stride in strides) for k in (1, 2, 3, 4))
    ext = _row_strides(live, "ext_stride")
    assert max(ext) > (1 << 38 if name == "mte_gm_l1" else 100000)
    assert any(loop.ext_stride == 0 for desc in live for loop in desc.field_loops if loop.count > 1)
    assert max(desc.n_burst for desc in descs) == (4095 if blocks else 65535)
    assert max(loop.count for desc in descs for loop in desc.field_loops) == (1 << 21) - 1
    lone = [desc for desc in live if desc.n_burst == 1]
    assert any(desc.loc_stride % 32 for desc in lone)
    if name == "mte_gm_l1":
        assert {desc.ext_addr % 32 for desc in live} == set(range(32))
        assert {desc.len % 32 for desc in live} == set(range(32))
        assert any(desc.ext_addr < 1 << 32 < desc.ext_addr + desc.len for desc in live)
    else:
        assert any(desc.ext_stride % 32 for desc in lone)


def _row_strides(descs: list[DmaOp], name: str) -> list[int]:
    """Returns the strides of rows in bytes, of all ops with several rows."""
    return [
        32 * (desc.len + getattr(desc, name)) if desc.spec is MTE_L1_UB else getattr(desc, name)
        for desc in descs
        if desc.n_burst > 1
    ]


@pytest.mark.parametrize("name", ["mte_ub_ub", "mte_ub_l1", "mte_l1_bt", "mte_l1_fb"])
def test_spread_of_bursts(by_op: dict[str, list[Op]], name: str) -> None:
    descs = [desc for desc in by_op[name] if isinstance(desc, BurstOp)]
    live = [desc for desc in descs if not desc.is_nop]
    assert set(range(1, 9)) <= {desc.len for desc in live}
    assert set(range(1, 9)) <= {desc.n_burst for desc in live}
    assert max(desc.n_burst for desc in live) >= {"mte_l1_fb": 24, "mte_l1_bt": 200}.get(name, 400)
    several = [desc for desc in live if desc.n_burst > 1]
    for gap in ("src_gap", "dst_gap"):
        found = Counter(getattr(desc, gap) for desc in several)
        assert all(found[k] > 10 for k in (0, 1, 2)), gap
        # A lone burst has a gap after it, without effect.
        assert max(getattr(desc, gap) for desc in live if desc.n_burst == 1) > 60000
        assert max(getattr(desc, gap) for desc in descs) == 65535
    assert max(desc.src_gap for desc in several) > (500 if name == "mte_l1_fb" else 1000)
    nops = [desc for desc in descs if desc.is_nop]
    top = (1 << (16 if name.startswith("mte_ub") else 12)) - 1
    assert max(desc.n_burst for desc in nops) == top
    assert max(desc.len for desc in nops) == 65535
    assert {(desc.len == 0, desc.n_burst == 0) for desc in nops} == {
        (True, False), (False, True), (True, True),
    }  # fmt: skip
    outside = [desc for desc in nops if desc.src_addr >= L1_SIZE]
    assert outside


def test_fb_is_used_in_every_way(by_op: dict[str, list[Op]]) -> None:
    descs = [d for d in _live(by_op["mte_l1_fb"]) if isinstance(d, BurstOp)]
    shapes = {(desc.n_burst, desc.len) for desc in descs}
    assert any(n >= 16 and size >= 3 for n, size in shapes)
    assert any(n >= 32 for n, _ in shapes)
    several = [desc for desc in descs if desc.n_burst > 1]
    assert any(desc.dst_gap >= 16 and desc.n_burst > 2 for desc in several)
    assert any(desc.dst_gap >= 16 and desc.src_gap >= 16 for desc in several)


def test_nops_in_small_memories(by_op: dict[str, list[Op]]) -> None:
    for name in ("mte_l1_bt", "mte_l1_fb"):
        nops = [d for d in by_op[name] if d.is_nop and isinstance(d, BurstOp)]
        places = {(d.src_addr >= L1_SIZE, d.dst_addr >= 4096) for d in nops}
        assert len(places) == 4


def test_bias_types_and_odd_places(by_op: dict[str, list[Op]]) -> None:
    descs = [d for d in _live(by_op["mte_l1_bt"]) if isinstance(d, BurstOp)]
    assert {desc.widen for desc in descs} == {0, 1, 2}
    odd = [desc for desc in descs if desc.n_burst > 1 and (desc.len + desc.src_gap) % 2]
    assert {desc.widen for desc in odd} == {0, 1, 2}


def test_bias_dtypes(chains: list[OpBlock]) -> None:
    found = Counter(
        DTYPES[int(dtype)]
        for block in chains
        for dtype in block.dtype[block.opcode == OPS["mte_l1_bt"].opcode]
    )
    assert set(found) == {"f32", "i32", "bf16", "f16"}
    assert min(found.values()) > 100


def test_source_between_destination_bursts(by_op: dict[str, list[Op]]) -> None:
    descs = [d for d in _live(by_op["mte_ub_ub"]) if isinstance(d, BurstOp)]
    mixed = 0
    for desc in descs:
        read, written = source(desc), destination(desc)
        mixed += read.base < written.end and written.base < read.end
    assert mixed > 0.04 * len(descs)


def test_legacy_form(chains: list[OpBlock]) -> None:
    programs = [moving(block.legacy[k]) for block in chains for k in block.legacy_forms]
    copies = [copy for copy in programs if isinstance(copy, CopyUbufToUbuf)]
    assert len({type(copy) for copy in programs}) == 3
    ub_ub = sum(int((block.opcode == OPS["mte_ub_ub"].opcode).sum()) for block in chains)
    assert 0.2 < len(copies) / ub_ub < 0.5
    lone = [copy for copy in copies if copy.n_burst == 1]
    assert any(copy.src_stride % 32 for copy in lone)
    assert any(copy.dst_stride < copy.len_burst for copy in lone)
    assert any(copy.sid for copy in copies)
    assert any(copy.len_burst == 65504 for copy in copies)


def test_only_the_chosen_ops_are_drawn() -> None:
    for name in COPY_FORMS:
        blocks = CopyGenerator(3, (name,)).draw(300)
        assert sum(map(len, blocks)) == 300
        for block in blocks:
            assert set(block.opcode.tolist()) == {OPS[LEGACY_FORMS.get(name, name)].opcode}
            assert len(block.legacy_forms) == (len(block) if name.startswith("copy_") else 0)
            assert name not in GM_UB_NAMES or (block.after == -1).all()


@pytest.mark.long
def test_same_seed_same_blocks() -> None:
    one, other, third = (list(CopyGenerator(s, COPY_FORMS).blocks(5000)) for s in (5, 5, 6))
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.legacy == b.legacy
        assert (a.pack() == b.pack()).all()
        for name in ("opcode", "dtype", "pad_dtype", "gap", "after"):
            assert (getattr(a, name) == getattr(b, name)).all()
    assert any(
        len(a) != len(b) or (a.pack() != b.pack()).any() for a, b in zip(one, third, strict=False)
    )


def test_count_is_exact_and_blocks_are_bounded() -> None:
    for count in (0, 1, 2, 63, 5000):
        blocks = list(CopyGenerator(1, constraints=OpConstraints(block_ops=20)).blocks(count))
        assert sum(map(len, blocks)) == count
        assert all(1 <= len(block) <= 20 for block in blocks)
    with pytest.raises(ValueError, match="count is -1"):
        CopyGenerator(1).draw(-1)


def test_small_limits() -> None:
    limits = OpConstraints(
        max_bytes=64, max_gm_bytes=64, sizes=(SizeClass(1, 64, 1.0),), far=0.0, nop=0.0, pad=0.0
    )
    for block in CopyGenerator(2, COPY_FORMS, limits).draw(800):
        for desc in descriptors(block):
            # Less than a fractal, of 4 bits four transposed ones, is not a load of L0.
            assert destination(desc).bytes <= (2048 if isinstance(desc, L0Load) else 128)
            if desc.spec.source == "gm":
                assert source(desc).end - source(desc).base <= 64


def test_blocks_hold_many_ops(chains: list[OpBlock]) -> None:
    sizes = [len(block) for block in chains]
    assert np.mean(sizes) > 25
    assert max(sizes) == OpConstraints.block_ops
    busy = [len(set(block.slot.tolist())) for block in chains]
    assert np.mean(np.equal(busy, 4)) > 0.6


@pytest.mark.long
def test_speed() -> None:
    generator = CopyGenerator(1, COPY_FORMS)
    generator.draw(4096)
    # The target is 10 us on an idle machine; this only catches drawing op by op.
    with processor_seconds(5 * 4096 * 60e-6):
        for _ in range(5):
            generator.draw(4096)


def test_an_op_without_shapes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be drawn as NOPs."""
    monkeypatch.setattr("sequences.draw.copies.strided", lambda opcode: opcode < 0)
    with pytest.raises(ConstraintError, match=pattern(r"no shape mte_gm_l1,\smte_l1_ub")):
        CopyGenerator(1, ("mte_ub_ub", "mte_gm_l1", "mte_l1_ub"))
