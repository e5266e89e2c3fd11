# SPDX-License-Identifier: Apache-2.0
"""Traffic of all ops: mixed blocks are legal and disjoint, saturating blocks fill the queues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sequences.constraints import (
    DEFAULT_WINDOWS,
    FIX_NAMES,
    GM_UB_NAMES,
    OP_NAMES,
    GmWindow,
    OpConstraints,
)
from sequences.draw.alignments import AlignmentCounts
from sequences.draw.copies import COPY_FORMS, CopyGenerator
from sequences.draw.special_data import (
    BF16,
    CHUNK,
    F16,
    F32,
    FloatFormat,
    bias_background,
    special_fills,
    special_floats,
)
from sequences.draw.traffic import TrafficGenerator
from sequences.place.merge import gm_intervals, meet_in_gm, partition
from tb.isa.block import FAMILIES, OpBlock, from_ops
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import MteGmL1, MteUbGm
from tb.isa.dma.table import MTE_GM_UB, MTE_UB_GM
from tb.isa.footprint import destination, footprints_overlap, source
from tb.isa.l0.op import L0Load
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, replace
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.spaces import SIZES, Space
from tests.sequences.fix_checks import check_fills, check_flags
from tests.sequences.reference import (
    BlockError,
    check_disjoint,
    check_legal,
    check_programs,
    check_rows_disjoint,
    descriptors,
    rule_of,
)

WITHOUT_FIX = tuple(name for name in OP_NAMES if name not in FIX_NAMES)


@pytest.fixture(scope="module")
def blocks() -> list[OpBlock]:
    return list(TrafficGenerator(43).blocks(20000))


def is_saturating(block: OpBlock) -> bool:
    return len(block) > OpConstraints.block_ops and not block.gap.any()


@pytest.mark.long
def test_legal_disjoint_and_as_written(blocks: list[OpBlock]) -> None:
    registers = DmaRegisters()
    for block in blocks:
        check_legal(block)
        check_rows_disjoint(block)
        registers = check_programs(block, registers)
        assert block.expected_rule is not None
        assert not block.expected_rule.any()


@pytest.mark.long
def test_far_and_dense_blocks_are_disjoint() -> None:
    limits = OpConstraints(far=0.6, max_bytes=2048, max_gm_bytes=16384, nop=0.0, mixed=1.0)
    far = 0
    for block in TrafficGenerator(42, constraints=limits).blocks(8000):
        check_rows_disjoint(block)
        far += sum(
            side.end - side.base > 1 << 32
            for desc in descriptors(block)
            for side in (source(desc), destination(desc))
            if not desc.is_nop
        )
    assert far > 500


@pytest.mark.long
def test_byte_by_byte() -> None:
    limits = OpConstraints(max_bytes=1024, max_gm_bytes=65536, mixed=0.8)
    for block in TrafficGenerator(43, constraints=limits).blocks(1500):
        check_disjoint(block)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    ops=st.sets(st.sampled_from(OP_NAMES), min_size=1),
    mixed=st.sampled_from((0.0, 0.5, 1.0)),
    saturate=st.sampled_from((0.0, 0.3, 1.0)),
    count=st.integers(1, 400),
)
def test_any_choice_of_ops(
    seed: int, ops: set[str], mixed: float, saturate: float, count: int
) -> None:
    limits = OpConstraints(mixed=mixed, saturate=saturate, max_bytes=4096, max_gm_bytes=65536)
    generator = TrafficGenerator(seed, tuple(sorted(ops)), limits)
    opcodes = {OPS[LEGACY_FORMS.get(name, name)].opcode for name in ops}
    registers, total = DmaRegisters(), 0
    for block in generator.blocks(count):
        check_legal(block)
        check_rows_disjoint(block)
        registers = check_programs(block, registers)
        assert set(block.opcode.tolist()) <= opcodes
        total += len(block)
    assert total == count
    assert registers == generator.registers


@pytest.mark.long
def test_kinds_of_blocks(blocks: list[OpBlock]) -> None:
    total = sum(map(len, blocks))
    families = [len(set(block.family.tolist())) for block in blocks]
    sizes = [len(block) for block in blocks]
    mixed = sum(size for size, count in zip(sizes, families, strict=True) if 3 <= count <= 4)
    assert 0.2 < mixed / total < 0.8
    all_slots = sum(size for block, size in zip(blocks, sizes, strict=True)
                    if len(set(block.slot.tolist())) == 4)  # fmt: skip
    assert all_slots > 0.4 * total
    seen = {int(code) for block in blocks for code in block.opcode}
    assert seen == {spec.opcode for spec in OPS.values()}
    # Register forms and padded rows share blocks with the ops of L1.
    beside = [
        block for block in blocks if block.legacy and set(block.slot.tolist()) >= {0, 1, 2, 3}
    ]
    assert any(block.column("pad_en").any() for block in beside)


@pytest.mark.long
def test_shares_follow_the_constraints() -> None:
    for mixed in (0.0, 1.0):
        limits = OpConstraints(mixed=mixed, saturate=0.0)
        # Copies around write-backs make blocks of several families too.
        drawn = list(TrafficGenerator(44, WITHOUT_FIX, limits).blocks(6000))
        # The copies inside are of all families but one, repacks.
        nz = FAMILIES.index("nz")
        wide = sum(len(b) for b in drawn if {nz} < set(b.family.tolist()))
        assert (wide == 0) == (mixed == 0.0)
        assert wide >= 0.8 * 6000 * mixed


@pytest.mark.long
def test_write_backs_have_their_share(blocks: list[OpBlock]) -> None:
    codes = [OPS[name].opcode for name in FIX_NAMES]
    share = [np.isin(block.opcode, codes) for block in blocks]
    total = sum(map(len, blocks))
    assert 0.12 < sum(mine.sum() for mine in share) / total < 0.25
    # In blocks with padded loads and register forms, and mostly alone.
    beside = [mine.sum() for mine, block in zip(share, blocks, strict=True) if block.legacy]
    alone = [mine.sum() for mine in share if mine.mean() > 0.6]
    assert sum(beside) > 0.03 * total
    assert sum(alone) > 0.03 * total
    unread = 0
    for mine, block in zip(share, blocks, strict=True):
        in_l0c = any(fill.space is Space.L0C for fill in block.fills)
        reads = bool((mine & live_ops(block)).any())
        assert in_l0c or not reads
        unread += in_l0c > reads
    assert unread <= 1, "a block that ends the draw may have lost the write-backs of its fills"


def live_ops(block: OpBlock) -> NDArray[np.bool_]:
    return np.array([not desc.is_nop for desc in descriptors(block)])


@pytest.mark.long
def test_mixed_fills_and_flags(blocks: list[OpBlock]) -> None:
    late = 0
    for block in blocks:
        if any(fill.space is Space.L0C for fill in block.fills):
            check_flags(block)
            check_fills(block)
            assert block.flag_delay is not None
            late += int((block.flag_delay >= 0).sum())
    assert late > 100


@pytest.mark.long
def test_saturating_blocks_fill_the_queues(blocks: list[OpBlock]) -> None:
    saturating = [block for block in blocks if is_saturating(block)]
    assert 0.02 < sum(map(len, saturating)) / sum(map(len, blocks)) < 0.08
    for block in saturating:
        assert not block.gap.any()
        assert (block.after == -1).all()
        descs = [desc for desc in descriptors(block) if not desc.is_nop]
        for desc in descs:
            assert destination(desc).bytes <= (2048 if isinstance(desc, L0Load) else 128)
    fullest = max(np.bincount(block.slot, minlength=4).min() for block in saturating)
    assert fullest >= 36


@pytest.mark.parametrize("ops", [("copy_gm_to_ubuf",), ("mte_l1_bt",), ("mte_gm_l1_frac",)])
def test_saturating_blocks_of_one_op(ops: tuple[str, ...]) -> None:
    drawn = list(TrafficGenerator(45, ops, OpConstraints(saturate=1.0)).blocks(1000))
    assert max(map(len, drawn)) > 50


@pytest.mark.long
def test_same_seed_same_blocks() -> None:
    one, other, third = (list(TrafficGenerator(s).blocks(3000)) for s in (5, 5, 6))
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.legacy == b.legacy
        assert (a.pack() == b.pack()).all()
        assert (a.after == b.after).all()
    assert any(
        len(a) != len(b) or (a.pack() != b.pack()).any() for a, b in zip(one, third, strict=False)
    )


@pytest.mark.long
def test_counts() -> None:
    for count in (0, 1, 5, 63, 700):
        assert sum(map(len, TrafficGenerator(1).blocks(count))) == count
    with pytest.raises(ValueError, match="count is -1"):
        TrafficGenerator(1).draw(-1)


def test_parts_are_disjoint() -> None:
    rng = np.random.default_rng(1)
    limits = OpConstraints()
    for _ in range(50):
        parts = partition(rng, limits)
        assert parts is not None
        one, other = parts
        ranges = [(one.ub_range, other.ub_range), *zip(one.windows, other.windows, strict=True)]
        for a, b in ranges:
            assert a.end <= b.start or b.end <= a.start
        assert {a.start < b.start for a, b in ranges} <= {False, True}
    tight = replace(limits, windows=(GmWindow(0, 2 * (limits.max_gm_bytes + 8192)),))
    assert partition(rng, tight) is None
    names = ("mte_gm_ub", "mte_gm_l1")
    assert sum(map(len, TrafficGenerator(1, names, tight).blocks(500))) == 500


class TestMeetInGm:
    """Two blocks meet when one writes a byte of GM that the other touches."""

    LOAD = MteGmL1(1 << 20, 0, 100, 2, 1 << 32, 128)

    @pytest.mark.parametrize(
        ("store", "meets"),
        [
            (MteUbGm(0, (1 << 20) + 99, 1, 1, 0, 0), True),
            (MteUbGm(0, (1 << 20) + 100, 1, 1, 0, 0), False),
            (MteUbGm(0, (1 << 20) - 1, 1, 1, 0, 0), False),
            (MteUbGm(0, (1 << 20) + (1 << 32), 1, 1, 0, 0), True),
            (MteUbGm(0, 50, 10, 2, 32, (1 << 20) + (1 << 32)), True),
            (MteUbGm(0, 50, 10, 2, 32, 1 << 31), False),
            (MteUbGm(0, (1 << 20) + 99, 0, 1, 0, 0), False),
        ],
    )
    def test_rows(self, store: Op, meets: bool) -> None:
        one, other = from_ops([self.LOAD]), from_ops([store])
        assert meet_in_gm(one, other) is meet_in_gm(other, one) is meets

    @pytest.mark.parametrize(("mode", "meets"), [("nd2nz", False), ("dn2nz", True)])
    def test_rows_of_matrices(self, mode: str, meets: bool) -> None:
        # Two rows of seven elements, or seven rows of two: only these overlap.
        op = MteGmL1Frac(0, 0, mode, 2, 7, 1 << 30, 2, 1, 16, 16, 1 << 36)
        other = from_ops([MteUbGm(0, (6 << 30) + (1 << 36) + 3, 1, 1, 0, 0)])
        assert meet_in_gm(from_ops([op]), other) is meets

    def test_loads_do_not_meet(self) -> None:
        assert not meet_in_gm(from_ops([self.LOAD]), from_ops([self.LOAD]))

    @pytest.mark.long
    def test_against_the_footprints(self) -> None:
        limits = OpConstraints(far=0.7, max_bytes=64, max_gm_bytes=300, nop=0.0, dependent=0.0,
                                windows=(GmWindow(0, 24000),))  # fmt: skip
        one = CopyGenerator(1, ("mte_ub_gm",), limits)
        other = CopyGenerator(2, ("mte_gm_l1", "mte_gm_l1_frac", "mte_ub_gm"), limits)
        meeting = 0
        for a, b in zip(one.draw(300), other.draw(900), strict=False):
            for i, first in enumerate(descriptors(a)):
                for k, second in enumerate(descriptors(b)[:8]):
                    sides = [source(second), destination(second)]
                    true = any(footprints_overlap(destination(first), side) for side in sides)
                    meets = meet_in_gm(a.take(i, i + 1), b.take(k, k + 1))
                    assert meets or not true
                    meeting += true
        assert meeting > 3

    @pytest.mark.long
    def test_intervals_cover_what_is_touched(self) -> None:
        for block in CopyGenerator(3, COPY_FORMS).draw(300):
            start, end, _ = gm_intervals(block)
            for desc in descriptors(block):
                for side in (source(desc), destination(desc)):
                    if side.space == 0 and not desc.is_nop and not rule_of(desc):
                        for row in side.row_starts().tolist():
                            assert ((start <= row) & (end >= row + side.length)).any()


def test_checks_find_a_conflict_in_a_mixed_block() -> None:
    block = from_ops([MteUbGm(0, 4096, 64, 1, 0, 0), MteGmL1(4000, 0, 97, 1, 0, 0)])
    with pytest.raises(BlockError, match="op 1 reads"):
        check_rows_disjoint(block)
    check_rows_disjoint(replace(block, after=np.array([-1, 0])))
    both = from_ops([MteGmL1(0, 64, 64, 1, 0, 0), MteGmL1(0, 96, 64, 1, 0, 0)])
    with pytest.raises(BlockError, match="write L1"):
        check_rows_disjoint(both)


def test_one_form_alone() -> None:
    for name in GM_UB_NAMES:
        for block in TrafficGenerator(3, (name,)).draw(400):
            assert bool(block.legacy_forms) == name.startswith("copy_") or not len(block)


# --- Alignments: the rarest pairs of residues are drawn next, by all generators

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


# --- Initial contents: special values are frequent, in their formats and places


@pytest.mark.parametrize("kind", [F16, BF16, F32])
def test_every_class_of_value_is_frequent(kind: FloatFormat) -> None:
    bits = special_floats(np.random.default_rng(1), 20000, kind)
    assert int(bits.min()) >= 0
    assert int(bits.max()) < 1 << kind.bits
    top, full = (1 << kind.exponent) - 1, (1 << kind.fraction) - 1
    exponent, fraction = bits >> kind.fraction & top, bits & full
    quiet = fraction >> (kind.fraction - 1)
    classes = {
        "zero": (exponent == 0) & (fraction == 0),
        "subnormal": (exponent == 0) & (fraction > 0),
        "normal": (exponent > 0) & (exponent < top),
        "largest": (exponent == top - 1) & (fraction == full),
        "infinity": (exponent == top) & (fraction == 0),
        "quiet": (exponent == top) & (quiet == 1),
        "signalling": (exponent == top) & (quiet == 0) & (fraction > 0),
        "negative": bits >> (kind.bits - 1) == 1,
    }
    for name, found in classes.items():
        assert found.mean() > 0.05, name
    leads = {int(x).bit_length() for x in fraction[classes["subnormal"]]}
    assert leads == set(range(1, kind.fraction + 1))
    payloads = fraction[classes["signalling"]]
    assert {1, full >> 1} <= set(payloads.tolist()) or len(set(payloads.tolist())) > 1000


def test_background_has_any_length_and_all_formats() -> None:
    rng = np.random.default_rng(2)
    for size in (0, 1, CHUNK, CHUNK + 1, 70000):
        assert len(bias_background(rng, size)) == size
    halves = bias_background(rng, 1 << 16).view("<u2")
    assert {0x7C00, 0x7F80, 0x8000, 0x7BFF} <= set(halves.tolist())
    words = bias_background(rng, 1 << 16).view("<u4")
    assert {0x7F800000, 0xFF800000, 0x7F7FFFFF} <= set(words.tolist())


@pytest.mark.long
def test_fills_are_inside_their_memories() -> None:
    fills = list(special_fills(3))
    again = list(special_fills(3))
    assert all((a.data == b.data).all() for a, b in zip(fills, again, strict=True))
    spaces = {fill.space for fill in fills}
    assert spaces == {Space.GM, Space.UB0, Space.UB1, Space.L1}
    for fill in fills:
        end = fill.start + len(fill.data)
        if fill.space is Space.GM:
            assert any(w.start <= fill.start and end <= w.end for w in DEFAULT_WINDOWS)
        assert end <= SIZES[fill.space]
    share = sum(len(fill.data) for fill in fills if fill.space is Space.GM)
    assert 0.2 < share / sum(window.size for window in DEFAULT_WINDOWS) < 0.6
    assert not list(special_fills(3, 0.0))
    with pytest.raises(ValueError, match=r"share is 1\.5"):
        list(special_fills(3, 1.5))
