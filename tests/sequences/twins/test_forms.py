# SPDX-License-Identifier: Apache-2.0
"""Twins of random ops: both forms are legal, and the model leaves one image for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from sequences.constraints import COPY_NAMES, GM_UB_NAMES, NZ_NAMES, OpConstraints
from sequences.draw.traffic import TrafficGenerator
from sequences.twins.forms import MOST_BYTES, Form, Twin, TwinDraw, blocks, eligible
from sequences.twins.shapes import MOST_OPS, NZ_SHAPES, SHAPES
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.footprint import destination, footprints_overlap
from tb.isa.l0.table import LOADS
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import A5, SEED, Profile, using
from tb.isa.rules import d_violations
from tb.isa.spaces import Space
from tb.isa.status import Status

pytestmark = pytest.mark.long

NAMES = tuple(name for name in (*GM_UB_NAMES, *COPY_NAMES, *NZ_NAMES) if name not in LOADS)
COUNT = 2000
LIMITS = OpConstraints(far=0.0)


def background(space: Space, start: int, length: int) -> np.ndarray:
    """Bytes that differ from place to place in every memory."""
    at = np.arange(start, start + length, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((at >> np.uint64(40)) + np.uint64(17 * int(space))).astype(np.uint8)


def image(form: Form, twin: Twin) -> bytes:
    golden = GoldenMemory(background)
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    golden.ensure(twin.space, twin.start, twin.stop - twin.start)
    for entry in form.entries:
        assert [model.execute(op).status for op in entry] == [Status.OK] * len(entry)
    return golden[twin.space][twin.start : twin.stop].tobytes()


def drawn(seed: int, names: Sequence[str] = NAMES) -> list[tuple[OpBlock, list[Twin]]]:
    draw = TwinDraw(seed, names)
    source = TrafficGenerator(seed, names, LIMITS)
    return [(block, draw.twins(block, 1000)) for block in source.blocks(COUNT)]


@pytest.mark.parametrize("profile", [SEED, A5], ids=["seed", "a5"])
def test_both_forms_leave_one_image(profile: Profile) -> None:
    with using(profile):
        twins = [twin for _, some in drawn(5) for twin in some]
        ops, forms = Counter[str](), Counter[str]()
        for twin in twins:
            first, second = twin.forms
            assert first.name != second.name
            assert twin.stop - twin.start <= MOST_BYTES
            assert image(first, twin) == image(second, twin), twin
            ops[twin.op] += 1
            forms.update(form.name for form in twin.forms)
            for form in twin.forms:
                assert 1 <= len(form.items) <= MOST_OPS
                assert not any(d_violations(item.descriptor) for item in form.items)
    assert set(ops) == {LEGACY_FORMS.get(name, name) for name in NAMES}
    assert min(ops.values()) >= 20
    wanted = {*SHAPES, *NZ_SHAPES, *(f"legacy, {name}" for name in SHAPES)}
    assert set(forms) == wanted
    assert min(forms.values()) >= 2


def test_twins_of_a_block_do_not_touch_each_other() -> None:
    for _, twins in drawn(6)[:40]:
        rows = [[destination(item.descriptor) for item in twin.forms[0].items] for twin in twins]
        for number, mine in enumerate(rows):
            for others in rows[:number]:
                assert not any(footprints_overlap(a, b) for a in mine for b in others)


def test_ops_with_links_are_left_out() -> None:
    linked = 0
    for block, _ in drawn(7):
        alone = set(eligible(block))
        for index in range(len(block)):
            for one in block.links(index):
                linked += 1
                assert not {index, one} & alone
    assert linked > 100


def test_only_named_forms_are_drawn() -> None:
    plain = tuple(name for name in NAMES if name not in LEGACY_FORMS)
    for _, twins in drawn(8, plain):
        assert not any("legacy" in form.name for twin in twins for form in twin.forms)
    only = tuple(LEGACY_FORMS)
    names = Counter(form.name for _, some in drawn(8, only) for x in some for form in x.forms)
    assert names
    assert all(name.startswith("legacy") for name in names)


def test_equal_seeds_draw_equal_twins() -> None:
    assert [some for _, some in drawn(9)] == [some for _, some in drawn(9)]


def test_blocks_are_programs_of_their_own() -> None:
    """Legacy forms write every register that they read."""
    for _, twins in drawn(10)[:60]:
        if not twins:
            continue
        for number, block in enumerate(blocks(twins)):
            items = [item for twin in twins for item in twin.forms[number].items]
            assert [unpack(words) for words in block.pack()] == [item.descriptor for item in items]
            assert list(block.program()) == [item.program for item in items]
            assert block.expected_rule is not None
            assert not block.expected_rule.any()


def test_every_family_of_copies_has_twins() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for _, twins in drawn(11):
        for twin in twins:
            found[OPS[twin.op].layout.family].update(form.name for form in twin.forms)
    assert {"dma", "burst", "nz"} == set(found)
    assert {"split by rows", "split by bytes", "unrolled"} <= found["burst"]
