# SPDX-License-Identifier: Apache-2.0
"""The worked examples of docs/spec/examples.md, each in every form it has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from sequences.examples.catalog import EXAMPLES, RULE_EXAMPLES, Example, RuleExample, pattern
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacyOp
from tb.isa.profile import Profile, parse_profile, using
from tb.isa.rules import s_violations
from tb.isa.spaces import SIZES, Space
from tb.isa.status import Status
from tests.model.conftest import Bench

FORMS = [(each, form) for each in EXAMPLES for form in each.forms]


def profile_of(knobs: Mapping[str, int | str]) -> Profile:
    """Returns the profile seed with the values of some knobs."""
    return parse_profile(", ".join(["seed", *[f"{name} = {knobs[name]}" for name in knobs]]))


def run(example: Example, form: str) -> GoldenMemory:
    golden = GoldenMemory(example.initial)
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    golden.ensure(example.space, 0, example.length)
    with using(profile_of(example.knobs)):
        for op in example.forms[form]:
            assert model.execute(op).status is Status.OK
    return golden


@pytest.mark.parametrize(("example", "form"), FORMS, ids=lambda x: getattr(x, "name", x))
def test_image_has_the_crc_of_the_spec(example: Example, form: str) -> None:
    golden = run(example, form)
    for expected in example.images:
        assert expected.matches(expected.of(golden[expected.space]))


@pytest.mark.parametrize("example", [x for x in EXAMPLES if x.applies], ids=lambda x: x.name)
def test_forms_leave_every_memory_alike(example: Example) -> None:
    one, *others = (run(example, form) for form in example.forms)
    for other in others:
        assert one.written_pages() == other.written_pages()
        for space in one:
            stop = min(SIZES[space], 1 << 19)
            assert np.array_equal(one[space][:stop], other[space][:stop])


@pytest.mark.long
def test_one_wrong_byte_changes_the_verdict() -> None:
    for example in (each for each in EXAMPLES if each.applies and each.length):
        golden = run(example, next(iter(example.forms)))
        image = example.images[0].of(golden[example.space])
        image[example.length // 2] ^= 1
        assert not example.matches(image)
        assert not example.matches(image[:-1])


def test_every_example_is_there() -> None:
    names = {example.name for example in EXAMPLES}
    assert names >= {
        *("EX1", "EX2", "EX3", "EX3b", "EX3c", "EX4", "EX5", "EX6"),
        *("GU-E1", "GU-E2", "GU-E3", "GU-E4", "UU-E1", "UU-E2", "GL-E1", "LU-E1"),
        *(f"ND-E{k}" for k in range(1, 11)),
        *("BT-E1", "BT-E2", "BT-E3", "FB-E1", "FB-E2", "S-L0CGM"),
        *(f"FX-E{k}" for k in (*range(1, 16), "10b", "14b")),
        *(f"LA-E{k}" for k in (1, 2, 3, 4, 6, 7, 8, 9)),
        *(f"LB-E{k}" for k in range(1, 9)),
        *(f"LX-E{k}" for k in range(1, 4)),
        *(f"AS-E{k}" for k in (*range(1, 10), "2b")),
        *("PK-12", "PK-12b", "PK-12c", "PK-13", "PK-13b"),
    }
    legacy = {example.name for example in EXAMPLES if "legacy" in example.forms}
    assert legacy >= {"EX1", "EX4", "EX6", "GU-E1", "GU-E2", "GU-E3", "UU-E2"}


def test_v06_forms_break_no_front_end_rule() -> None:
    for example in EXAMPLES:
        for op in example.forms.get("v06", ()):
            assert not isinstance(op, LegacyOp)
            assert isinstance(op, CtrlOp) or s_violations(op) == ()


def test_pattern_is_that_of_the_conventions() -> None:
    values = pattern(3, 1000)
    for i in (0, 1, 255, 256, 257, 999):
        assert values[i] == (7 * i + 13 * (i >> 8) + 29 * 3 + 3) % 256


def test_initial_is_pattern_and_background_from_any_offset() -> None:
    example = next(e for e in EXAMPLES if e.name == "EX4")
    whole = example.initial(Space.UB0, 0, 0x10020)
    assert np.array_equal(whole[:0x10000], pattern(1, 0x10000))
    assert (whole[0x10000:] == 0xAA).all()
    assert np.array_equal(example.initial(Space.UB0, 0xFFF0, 0x20), whole[0xFFF0:0x10010])
    assert (example.initial(Space.GM, 1 << 39, 16) == 0x55).all()
    assert (example.initial(Space.UB1, 0, 16) == 0xAA).all()
    assert (example.initial(Space.L0C, 0, 16) == 0xAA).all()


@pytest.mark.parametrize("example", RULE_EXAMPLES, ids=lambda x: x.name)
def test_rule_example_changes_no_byte(bench: Bench, example: RuleExample) -> None:
    with using(profile_of(example.knobs)):
        outcomes = [bench.model.execute(op) for op in example.program]
    outcome = outcomes[example.program.index(example.op)]
    assert (outcome.status, outcome.rule) == (Status.RULE, example.rule)
    assert outcome.written is None
    assert outcome.read is None
    assert bench.unchanged()
