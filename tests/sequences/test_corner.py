# SPDX-License-Identifier: Apache-2.0
"""Corner and directed blocks."""

from __future__ import annotations

import numpy as np
import pytest

from sequences._blocks import interleave, lower_program, split_program
from sequences.constraints import GM_SIZE, ConstraintError
from sequences.corner import corner_blocks
from sequences.directed import example_blocks, program_blocks, rule_blocks
from sequences.examples import EXAMPLES, RULE_EXAMPLES
from sequences.generator import DmaGenerator
from tb.isa.block import OpBlock
from tb.isa.legacy import OUTTOUB, DmaRegisters, SetLoopSize
from tests.sequences.reference import check_disjoint, check_legal, descriptors, plain_op, rule_of


@pytest.fixture(scope="module")
def corners() -> list[OpBlock]:
    return list(corner_blocks(16))


def test_corners_are_legal(corners: list[OpBlock]) -> None:
    for block in corners:
        check_legal(block)
        assert block.expected_rule is not None
        assert not block.expected_rule.any()


def test_corners_are_disjoint(corners: list[OpBlock]) -> None:
    for block in corners:
        if len(block) > 1:
            check_disjoint(block)


@pytest.mark.parametrize("bus", [16, 32, 64])
def test_every_alignment_pair_in_both_directions(bus: int) -> None:
    found: set[tuple[int, ...]] = set()
    for block in corner_blocks(bus):
        columns = block.columns
        pairs = zip(
            block.opcode.tolist(),
            (columns["ext_addr"] % bus).tolist(),
            (columns["len"] % bus).tolist(),
            strict=True,
        )
        found.update(pairs)
    assert len(found) == 2 * bus * bus


def test_limits_are_there(corners: list[OpBlock]) -> None:
    ops = [desc for block in corners for desc in descriptors(block)]
    live = [desc for desc in ops if not desc.is_nop]
    assert any(desc.n_burst == 8192 for desc in live)
    assert any(desc.n_burst == 65535 for desc in ops)
    assert any(loop.count == 2**21 - 1 for desc in ops for loop in desc.loops)
    assert any(loop.count == 65537 for desc in live for loop in desc.loops)
    assert any(desc.len == 65535 for desc in live)
    assert any(desc.ext_addr + desc.len == GM_SIZE for desc in live if desc.n_burst == 1)
    assert any(desc.pad_en and desc.left_bytes == 32 for desc in live)
    lefts = {(desc.elem_bytes, desc.pad_left) for desc in live if desc.pad_en}
    assert {(1, k) for k in range(33)} | {(2, k) for k in range(17)} <= lefts


def test_unknown_bus() -> None:
    with pytest.raises(ConstraintError, match="bus_bytes is 24"):
        next(corner_blocks(24))


def test_examples_become_legal_blocks() -> None:
    for example in EXAMPLES:
        forms = example_blocks(example)
        assert set(forms) == set(example.forms)
        for blocks in forms.values():
            for block in blocks:
                check_legal(block)


def test_forms_of_an_example_are_the_same_descriptor_but_for_pad_units() -> None:
    example = next(item for item in EXAMPLES if item.name == "EX6")
    forms = example_blocks(example)
    legacy, v06 = (descriptors(forms[form][0])[0] for form in ("legacy", "v06"))
    assert (legacy.len, legacy.n_burst, legacy.ext_stride) == (v06.len, v06.n_burst, v06.ext_stride)


def test_rule_examples() -> None:
    blocks = rule_blocks()
    assert len(blocks) == len(RULE_EXAMPLES)
    for block, example in zip(blocks, RULE_EXAMPLES, strict=True):
        assert rule_of(descriptors(block)[0]) == example.rule
        assert block.expected_rule is not None
        assert block.expected_rule.tolist() == [example.rule]


def test_program_without_copy_or_with_sets_before_v06() -> None:
    size = SetLoopSize(OUTTOUB, 1, 1)
    assert split_program([size]) == []
    with pytest.raises(ValueError, match="ends in a copy"):
        lower_program((size,), DmaRegisters())
    with pytest.raises(ValueError, match="stands alone"):
        program_blocks([size, plain_op()])


def test_interleave_keeps_order_and_waits() -> None:
    rng = np.random.default_rng(1)
    one, other = DmaGenerator(1).draw(60)[0], DmaGenerator(2).draw(60)[0]
    mixed = interleave(rng, one, other)
    words = {tuple(row): n for n, row in enumerate(mixed.pack().tolist())}
    for block in (one, other):
        places = [words[tuple(row)] for row in block.pack().tolist()]
        assert places == sorted(places)
        for number, after in enumerate(block.after.tolist()):
            assert mixed.after[places[number]] == (places[after] if after >= 0 else -1)
        assert {places[k]: ops for k, ops in block.legacy.items()}.items() <= mixed.legacy.items()
