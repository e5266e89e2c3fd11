# SPDX-License-Identifier: Apache-2.0
"""Corner and directed blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from sequences.blocks import lower_program, split_program
from sequences.constraints import FIX_NAMES, GM_SIZE, GM_UB_NAMES, OP_NAMES, ConstraintError
from sequences.corner.blocks import corner_blocks
from sequences.draw.copies import CopyGenerator
from sequences.examples.blocks import example_blocks, op_names, program_blocks, rule_blocks
from sequences.examples.catalog import (
    EXAMPLES,
    RULE_EXAMPLES,
    UBUF_RULE_EXAMPLES,
    Example,
    RuleExample,
)
from sequences.fixpipe.kinds import CODES
from sequences.op_filter import forms
from sequences.place.merge import merge
from tb.isa.block import OpBlock
from tb.isa.burst.op import BurstOp
from tb.isa.dma.legacy import OUTTOUB, CopyUbufToUbuf, DmaRegisters, SetLoopSize
from tb.isa.dma.op import DmaOp, MteGmUb, MteUbGm
from tb.isa.dma.table import MTE_GM_UB, MTE_UB_GM
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import FixOp, MteL0cGm, MteL0cL1, MteL0cUb
from tb.isa.footprint import destination, destinations, source
from tb.isa.l0.op import L0Load
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, replace
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import A5, SEED, Profile, parse_profile, using
from tb.isa.rules import lowering_violation
from tb.isa.spaces import L0_SEGMENTS, SIZES, Space, memory_range
from tests.model import naive, naive_fix_op, naive_loads, naive_ops
from tests.model.naive_rules import lowest_rule, undefined
from tests.sequences.fix_checks import check_fills, check_flags
from tests.sequences.profiles import PROFILES
from tests.sequences.reference import (
    check_legal,
    check_rows_disjoint,
    descriptors,
    dma_descriptors,
    plain_op,
    rule_of,
    source_rows,
)

Memories = dict[Space, NDArray[np.uint8]]


@pytest.fixture(scope="module")
def corners() -> list[OpBlock]:
    return list(corner_blocks(16))


@pytest.mark.long
def test_corners_are_legal(corners: list[OpBlock]) -> None:
    for block in corners:
        check_legal(block)
        assert block.expected_rule is not None
        assert not block.expected_rule.any()


@pytest.mark.long
@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.parametrize("text", PROFILES)
def test_corners_of_copies_are_legal_under_any_profile(text: str) -> None:
    names = tuple(name for name in OP_NAMES if name not in FIX_NAMES)
    with using(parse_profile(text)):
        for block in corner_blocks(16, names):
            check_legal(block)
            for desc in dma_descriptors(block):
                assert lowest_rule(naive.read_descriptor(desc)) == 0
                if desc.n_burst < 4096:
                    assert undefined(naive.read_descriptor(desc)) == 0
            if len(block) > 1:
                check_rows_disjoint(block)


@pytest.mark.long
def test_corners_of_the_knobs() -> None:
    names = ("mte_gm_ub", "mte_ub_gm", "mte_gm_l1")
    with using(A5):
        descs = [desc for block in corner_blocks(16, names) for desc in dma_descriptors(block)]
        live = [desc for desc in descs if not desc.is_nop]
        for spec in (OPS[name] for name in names):
            mine = [desc for desc in live if desc.spec is spec]
            assert max(desc.len for desc in mine) == (
                1 << 19 if spec.destination == "l1" else 1 << 18
            )
            assert max(d.len for d in descs if d.spec is spec) == (1 << 21) - 1
            assert max(d.n_burst for d in descs if d.spec is spec) == (1 << 21) - 1
            if spec.source == "gm":
                assert max(desc.n_burst for desc in mine) == 65537
                groups = {desc.len for desc in mine if desc.compact}
                assert set(range(1, 41)) <= groups
                again = [d for d in mine if d.n_burst > 1 and d.ext_stride < d.len]
                assert {0, 1} < {desc.ext_stride for desc in again}
                odd = {(d.elem_bytes, d.len % 32) for d in mine if not d.pad_en}
                assert {(e, r) for e in (1, 2, 4, 8) for r in range(32)} <= odd
        ends = [d for d in live if d.pad_en and d.loc_stride >= d.len + 1000]
        assert len(ends) > 20
        beside = [block for block in corner_blocks(16, names[:1]) if len(block) == 4]
        assert any((block.column("loc_stride") == 128).all() for block in beside)


@pytest.mark.long
def test_both_segments_of_fb(corners: list[OpBlock]) -> None:
    for start in (0, 0x10000):
        sides = [
            destination(desc)
            for block in corners
            for desc in descriptors(block)
            if isinstance(desc, BurstOp) and desc.spec.name == "mte_l1_fb"
            if not desc.is_nop
        ]
        mine = [side for side in sides if start <= side.base < start + 4096]
        assert max(side.end for side in mine) == start + 4096
        assert min(side.base for side in mine) == start
        assert max(side.length for side in mine) == 4096


@pytest.mark.long
def test_corners_are_disjoint(corners: list[OpBlock]) -> None:
    for block in corners:
        if len(block) > 1:
            check_rows_disjoint(block)


@pytest.mark.long
@pytest.mark.parametrize("bus", [16, 32, 64])
def test_every_alignment_pair_in_both_directions(bus: int) -> None:
    found: set[tuple[int, ...]] = set()
    for block in corner_blocks(bus, ("mte_gm_ub", "mte_ub_gm", "mte_gm_l1")):
        pairs = zip(
            block.opcode.tolist(),
            (block.column("ext_addr") % bus).tolist(),
            (block.column("len") % bus).tolist(),
            strict=True,
        )
        found.update(pairs)
    assert len(found) == 3 * bus * bus


@pytest.mark.long
def test_limits_are_reached(corners: list[OpBlock]) -> None:
    found = [desc for block in corners for desc in dma_descriptors(block)]
    ops = [desc for desc in found if desc.spec in (MTE_GM_UB, MTE_UB_GM)]
    live = [desc for desc in ops if not desc.is_nop]
    assert any(desc.n_burst == 8192 for desc in live)
    assert any(desc.n_burst == 65535 for desc in ops)
    assert any(loop.count == 2**21 - 1 for desc in ops for loop in desc.loops)
    assert any(loop.count > 65536 for desc in live for loop in desc.loops)
    assert any(desc.len == 65535 for desc in live)
    assert any(desc.ext_addr + desc.len == GM_SIZE for desc in live if desc.n_burst == 1)
    assert any(desc.pad_en and desc.left_bytes == 32 for desc in live)
    lefts = {(desc.elem_bytes, desc.pad_left) for desc in live if desc.pad_en}
    assert {(1, k) for k in range(33)} | {(2, k) for k in range(17)} <= lefts


def _reached(descs: list[Op]) -> set[str]:
    """Returns the names of the memories with an access to their last byte."""
    sides = [side for desc in descs for side in (source(desc), *destinations(desc))]
    ends = {(side.space, side.end) for side in sides}
    names = {space.keyword for space in SIZES if space is not Space.L0}
    found = {name for name in names if any(
        space.keyword == name and end == SIZES[space] for space, end in ends
    )}  # fmt: skip
    for name in L0_SEGMENTS:
        space, addresses = memory_range(name)
        found |= {name} if (space, addresses.stop) in ends else set()
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", OPS)
def test_corners_of_each_op(corners: list[OpBlock], name: str) -> None:
    spec = OPS[name]
    descs = [desc for block in corners for desc in descriptors(block) if desc.spec is spec]
    live = [desc for desc in descs if not desc.is_nop]
    memory = getattr(spec, "memory", spec.destination)
    assert _reached(live) == {spec.source, memory} - {""}
    assert len(descs) - len(live) >= 3
    assert len(live) > (70 if name.endswith("_mx") else 150)


@pytest.mark.long
def test_limits_of_bursts(corners: list[OpBlock]) -> None:
    most = {"mte_ub_ub": 4096, "mte_ub_l1": 8192, "mte_l1_bt": 1024, "mte_l1_fb": 64}
    for name, units in most.items():
        spec = OPS[name]
        descs = [desc for block in corners for desc in descriptors(block) if desc.spec is spec]
        live = [desc for desc in descs if isinstance(desc, BurstOp) and not desc.is_nop]
        assert max(desc.len for desc in live) == units
        assert max(desc.n_burst for desc in live) == units
        assert max(desc.src_gap for desc in live) == 65535
        counts = {desc.n_burst for desc in descs if isinstance(desc, BurstOp)}
        assert max(counts) == (65535 if spec.rules == "DMA" else 4095)


@pytest.mark.long
def test_limits_of_fractals(corners: list[OpBlock]) -> None:
    descs = [desc for block in corners for desc in descriptors(block)]
    live = [desc for desc in descs if isinstance(desc, MteGmL1Frac) and not desc.is_nop]
    for small in (0, 1):
        assert max(desc.n_value for desc in live if desc.small_c0 == small) == 16384
        assert max(desc.group_count for desc in live if desc.small_c0 == small) == 4095
    assert max(desc.d_value for desc in live) == 65535
    assert max(desc.inner_stride for desc in live if source_rows(desc)[0] > 1) > 1 << 39
    assert max(desc.outer_stride for desc in live if desc.group_count > 1) > 1 << 39
    for elem in (1, 2, 4):
        for mode in (0, 1):
            mine = [desc for desc in live if (desc.elem_bytes, desc.mode) == (elem, mode)]
            normal = [desc for desc in mine if not desc.small_c0]
            assert {desc.d_value % (32 // elem) for desc in normal} == set(range(32 // elem))
            small_ops = {(desc.n_value, desc.d_value) for desc in mine if desc.small_c0}
            assert {(n, d) for n in range(1, 18) for d in range(1, 5)} <= small_ops
    assert any(destination(desc).bytes == SIZES[Space.L1] for desc in live)


@pytest.mark.long
def test_limits_of_write_backs(corners: list[OpBlock]) -> None:
    fix = [block for block in corners if block.flag_delay is not None]
    for block in fix:
        check_flags(block)
        check_fills(block)
    for name in FIX_NAMES:
        spec = OPS[name]
        descs = [desc for block in fix for desc in descriptors(block) if desc.spec is spec]
        mine = [desc for desc in descs if isinstance(desc, FixOp)]
        live = [desc for desc in mine if not desc.is_nop]
        assert max(desc.m for desc in live) == 4096
        assert max(desc.n for desc in live) == 4095
        assert max(desc.m for desc in mine) == 65535
        assert max(desc.k for desc in live if desc.m > 1) == 4095
        assert max(desc.loop3_count for desc in live) >= 200
        assert {desc.n % 16 for desc in live if desc.layout == 2} == set(range(16))
        # Only nz2nz without conversion can store all 65536 elements of L0C.
        assert max(destinations(desc)[0].bytes for desc in live) == 65536 * 4
        modes = {(desc.quant, desc.dst_code) for desc in live if desc.m * desc.n <= 2}
        assert {code for code, _ in modes} == set(CODES)
        assert {desc.unit_flag for desc in mine if desc.is_nop} == {0, 2, 3}
    updates = {
        (desc.atomic_type, desc.atomic_op)
        for block in fix
        for desc in descriptors(block)
        if isinstance(desc, FixOp) and desc.atomic_type
    }
    assert len(updates) == 18
    assert any((block.after >= 0).any() for block in fix)
    assert max(int(block.flag_delay.max()) for block in fix if block.flag_delay is not None) == 2000


@pytest.mark.long
def test_corners_of_chosen_ops_only() -> None:
    for name in OP_NAMES:
        sent: set[str] = set()
        for block in corner_blocks(16, (name,)):
            sent |= forms(block, np.ones(len(block), dtype=bool))
        assert sent == {name}


@pytest.mark.long
def test_legacy_forms_sent_alone_have_their_own_alignments() -> None:
    for name, modern in LEGACY_FORMS.items():
        alone, both = (
            sum(len(block.legacy_forms) for block in corner_blocks(16, ops))
            for ops in ((name,), (name, modern))
        )
        assert alone - both == (0 if name == "copy_ubuf_to_ubuf" else 16 * 16)
        assert both > 200


def test_unknown_bus() -> None:
    with pytest.raises(ConstraintError, match="bus_bytes is 24"):
        next(corner_blocks(24))


def profiles(example: Example) -> Iterator[Profile]:
    """Yields both profiles with the knobs that an example holds for."""
    for base in (SEED, A5):
        yield replace(base, **example.knobs)


@pytest.mark.long
def test_examples_become_legal_blocks() -> None:
    for example in EXAMPLES:
        for profile in profiles(example):
            with using(profile):
                assert example.applies
                forms = example_blocks(example)
                assert set(forms) == set(example.forms)
                for blocks in forms.values():
                    for block in blocks:
                        check_legal(block)


def test_knobs_decide_which_examples_hold() -> None:
    names = {}
    for profile in (SEED, A5):
        with using(profile):
            names[profile] = {example.name for example in EXAMPLES if example.applies}
            names[profile] |= {f"rule {one.name}" for one in RULE_EXAMPLES if one.applies}
    seed, a5 = names[SEED], names[A5]
    for name in ("PK-1", "PK-1b", "PK-1c", "PK-8", "PK-8b", "PK-9", "PK-10", "PK-10b", "PK-11"):
        assert name in a5 - seed
        assert f"rule {name}" in seed - a5
    assert {"EX3", "EX3b", "EX3c", "GU-E3", "PK-2", "PK-5"} <= seed - a5
    assert {"EX3-a5", "EX3b-a5", "EX3c-a5", "GU-E3-a5", "PK-5, tail = fill"} <= a5 - seed
    assert {"GU-E1", "GU-E2", "GU-E4", "LU-E1", "LU-E6", "FB-E3", "FB-E4"} <= seed & a5


@pytest.mark.parametrize("example", UBUF_RULE_EXAMPLES, ids=lambda example: example.name)
def test_rule_examples_of_copies_that_are_not_issued(example: RuleExample) -> None:
    assert isinstance(example.op, CopyUbufToUbuf)
    found = lowering_violation(example.op)
    assert found is not None
    assert found.rule.number == example.rule


def test_forms_of_an_example_are_the_same_descriptor_but_for_pad_units() -> None:
    example = next(item for item in EXAMPLES if item.name == "EX6")
    forms = example_blocks(example)
    legacy, v06 = (dma_descriptors(forms[form][0])[0] for form in ("legacy", "v06"))
    assert (legacy.len, legacy.n_burst, legacy.ext_stride) == (v06.len, v06.n_burst, v06.ext_stride)


def test_rule_examples() -> None:
    for profile in (SEED, A5):
        with using(profile):
            blocks = rule_blocks()
            examples = [example for example in RULE_EXAMPLES if example.applies]
            for block, example in zip(blocks, examples, strict=True):
                (desc,) = descriptors(block)
                assert rule_of(desc) == example.rule
                if isinstance(desc, DmaOp):
                    assert lowest_rule(naive.read_descriptor(desc)) == example.rule
                assert block.expected_rule is not None
                assert block.expected_rule.tolist() == [example.rule]


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_images_of_the_examples(example: Example) -> None:
    """The blocks of every form, as v0.6 ops made from their descriptors, give the images."""
    for profile in profiles(example):
        with using(profile):
            check_images(example)


def check_images(example: Example) -> None:
    for blocks in example_blocks(example).values():
        memories = {
            space: example.initial(space, 0, min(SIZES[space], SIZES[Space.L1])) for space in SIZES
        }
        plain = {space: memory.copy() for space, memory in memories.items()}
        for block in blocks:
            execute(block, memories)
            (desc,) = descriptors(block)
            if isinstance(desc, DmaOp):
                naive.copy(naive.read_descriptor(desc), plain)
        for image in example.images:
            assert image.matches(image.of(memories[image.space]))
            assert not image.length or not image.matches(image.of(memories[image.space])[:-1])
            if all(isinstance(desc, DmaOp) for b in blocks for desc in descriptors(b)):
                assert image.matches(image.of(plain[image.space]))


def execute(block: OpBlock, memories: Memories) -> None:
    """Executes a block of one legal op by the second reading of the specification (tests/model)."""
    (op,) = replace(block, legacy={}).program()[0]
    if isinstance(op, L0Load):
        naive_loads.execute(op, memories[Space.L1], memories[Space.L0])
    elif isinstance(op, MteGmUb | MteUbGm) and (
        block.column("atomic_type")[0] or block.column("pad_legacy")[0]
    ):
        (desc,) = dma_descriptors(block)
        naive.copy(naive.read_descriptor(desc), memories)
    elif isinstance(op, MteGmUb | MteUbGm):
        naive.copy(naive.plain(op, naive.Regs()), memories)
    elif isinstance(op, MteL0cGm | MteL0cL1 | MteL0cUb):
        old = {space: memory.copy() for space, memory in memories.items()}
        naive_fix_op.execute(op, memories, old)
    elif isinstance(op, RawFillL1):
        for address, byte in naive_ops.fill(op).items():
            memories[Space.L1][address] = byte
    else:
        naive_ops.effect(cast("naive_ops.Copy", op)).apply(memories)


def test_ops_of_examples() -> None:
    names = {example.name: op_names(example) for example in EXAMPLES}
    assert names["UU-E2"] == {"mte_ub_ub"}
    assert names["BT-E1"] == {"mte_l1_bt"}
    assert set.union(*names.values()) == set(OPS)


def test_refused_copy_in_a_program() -> None:
    bad, good = CopyUbufToUbuf(0, 4096, 0, 2, 40, 64, 64), CopyUbufToUbuf(0, 4096, 0, 1, 32, 0, 0)
    assert split_program([bad, good]) == [(bad, good)]
    lowered, _ = lower_program((bad, good), DmaRegisters())
    assert lowered.legacy == (bad, good)
    with pytest.raises(ValueError, match="only set_"):
        lower_program((good, good), DmaRegisters())


def test_program_without_copy_or_with_sets_before_v06() -> None:
    size = SetLoopSize(OUTTOUB, 1, 1)
    assert split_program([size]) == []
    with pytest.raises(ValueError, match="ends in a copy"):
        lower_program((size,), DmaRegisters())
    with pytest.raises(ValueError, match="alone"):
        program_blocks([size, plain_op()])


def test_merge_keeps_order_and_waits() -> None:
    rng = np.random.default_rng(1)
    one, other = (
        CopyGenerator(1, GM_UB_NAMES).draw(60)[0],
        CopyGenerator(2, GM_UB_NAMES).draw(60)[0],
    )
    mixed = merge(rng, one, other)
    words = {tuple(row): n for n, row in enumerate(mixed.pack().tolist())}
    for block in (one, other):
        places = [words[tuple(row)] for row in block.pack().tolist()]
        assert places == sorted(places)
        for number, after in enumerate(block.after.tolist()):
            assert mixed.after[places[number]] == (places[after] if after >= 0 else -1)
        assert {places[k]: ops for k, ops in block.legacy.items()}.items() <= mixed.legacy.items()
