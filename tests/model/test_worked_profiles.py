# SPDX-License-Identifier: Apache-2.0
"""The values of docs/spec/profiles.md and docs/spec/examples_v2.md, sections 7 and 8, under whole
profiles.

The catalog has images and refused ops knob by knob.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import DmaOp, ReferenceModel
from sequences.examples.catalog import (
    EXAMPLES,
    RULE_EXAMPLES,
    UBUF_RULE_EXAMPLES,
    Example,
    RuleExample,
)
from sequences.examples.worked import EXAMPLES as FILES
from sequences.examples.worked import rows
from tb.isa.burst.op import MteL1Fb
from tb.isa.ctrl import CtrlOp, SetCtrl
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import MteGmL1
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, PreQuant, Scalar
from tb.isa.op import replace
from tb.isa.profile import A5, SEED, Profile, using
from tb.isa.rules import s_violations
from tb.isa.spaces import Space
from tb.isa.status import Status
from tb.regress.plan.spec import item_of
from tests.model.test_worked_values import pattern

Kind = TypeVar("Kind", Example, RuleExample)

PROFILES = {"seed": SEED, "a5": A5}
BY_NAME = {example.name: example for example in EXAMPLES}


def those(examples: tuple[Kind, ...], profile: Profile) -> list[Kind]:
    """Returns the examples that hold under a profile."""
    with using(profile):
        return [example for example in examples if example.applies]


IMAGES = [(name, each) for name in PROFILES for each in those(EXAMPLES, PROFILES[name])]
REFUSED = [
    (name, each)
    for name in PROFILES
    for each in those((*RULE_EXAMPLES, *UBUF_RULE_EXAMPLES), PROFILES[name])
]


def name_of(value: object) -> str:
    """Returns the pytest id of a profile or of an example."""
    return str(getattr(value, "name", value))


def bench(example: Example) -> tuple[GoldenMemory, ReferenceModel]:
    golden = GoldenMemory(example.initial)
    golden.ensure(example.space, 0, example.length)
    return golden, ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )


@pytest.mark.parametrize(("profile", "example"), IMAGES, ids=name_of)
def test_images_of_both_profiles(profile: str, example: Example) -> None:
    for program in example.forms.values():
        golden, model = bench(example)
        with using(PROFILES[profile]):
            outcomes = [model.execute(op) for op in program]
        assert {outcome.status for outcome in outcomes} == {Status.OK}
        for image in example.images:
            assert image.matches(image.of(golden[image.space]))


def test_both_profiles_have_their_outcome_of_every_knob() -> None:
    found = {(profile, item_of(example.name)) for profile, example in IMAGES}
    found |= {(profile, item_of(example.name)) for profile, example in REFUSED}
    names = [item_of(name) for file in FILES for name, row in rows(file) if "seed" in row]
    assert len(names) > 70
    assert found >= {(profile, name) for profile in PROFILES for name in names}
    assert found >= {("seed", name) for name in ("EX3", "EX3b", "EX3c", "GU-E3", "PK-13", "PK-13b")}
    assert found >= {("a5", name) for name in ("EX3-a5", "EX3b-a5", "EX3c-a5", "GU-E3-a5")}
    assert found >= {(profile, f"GU-E{k}") for profile in PROFILES for k in (1, 2, 4)}


@pytest.mark.parametrize(("profile", "example"), REFUSED, ids=name_of)
def test_refused_ops_of_both_profiles(profile: str, example: RuleExample) -> None:
    check_outcome(example.program, example.rule, PROFILES[profile])


@pytest.mark.parametrize("name", ["PK-13", "PK-13b"])
def test_modes_that_a5_does_not_have(name: str) -> None:
    ((op,),) = BY_NAME[name].forms.values()
    assert isinstance(op, MteL0cGm)
    with using(A5):
        assert [violation.rule.name for violation in s_violations(op)] == ["FIX-L04"]
        with pytest.raises(ValueError, match="FIX-L04"):
            bench(BY_NAME[name])[1].execute(op)


# --- bytes of the small examples of docs/spec/profiles.md ---


def g(start: int, stop: int) -> bytes:
    """GM bytes start..stop, the last one included."""
    return pattern(0, range(start, stop + 1))


def no(count: int) -> bytes:
    """Bytes that are not written."""
    return b"\xaa" * count


F16_ONE = b"\x00\x3c"
SMALL: dict[str, tuple[bytes, bytes]] = {
    "PK-2": (
        g(0, 9) + F16_ONE * 27 + g(16, 25) + F16_ONE * 27,
        g(0, 9) + F16_ONE * 11 + no(32) + g(16, 25) + F16_ONE * 11 + no(32),
    ),
    "PK-3": (g(0, 29) + F16_ONE * 33, g(0, 29) + F16_ONE * 17 + no(32)),
    "PK-4": (
        g(0, 11) + no(20) + g(16, 27) + no(20),
        g(0, 11) + g(0, 3) * 5 + g(16, 27) + g(16, 19) * 5,
    ),
    "PK-5": (g(0, 4) + no(27), g(0, 4) + g(1, 1) + (g(0, 0) + g(1, 1)) * 13),
    "PK-6": (g(0, 19) + no(12), g(0, 19) + bytes(12)),
    "PK-7": (
        g(0, 32) + no(31) + g(40, 72) + no(31),
        g(0, 32) + g(0, 0) * 31 + g(40, 72) + g(40, 40) * 31,
    ),
    "PK-8": (b"", g(0, 31) * 3),
    "PK-9": (b"", g(0, 4) + g(8, 12) + g(16, 20) + g(16, 16) * 17),
    "PK-10": (b"", g(0, 17) + g(12, 13) * 7),
    "PK-11": (b"", g(0, 17) + bytes(14)),
}
"""First bytes of the destination with profile seed (none where it is a violation) and with a5."""


def op_of(name: str) -> DmaOp:
    """Returns the one op of an example."""
    ((op,),) = BY_NAME[name].forms.values()
    return op


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize("number", [0, 1], ids=PROFILES)
@pytest.mark.parametrize("name", SMALL)
def test_small_examples_of_the_profiles(name: str, number: int, legal: bool) -> None:
    op, want = op_of(name), SMALL[name][number]
    golden, model = bench(BY_NAME[name])
    with using(list(PROFILES.values())[number]):
        outcome = model.execute(op, legal=legal and bool(want))
    assert (outcome.status is Status.RULE) == (not want)
    memory: NDArray[np.uint8] = golden[Space.L1 if isinstance(op, MteGmL1) else Space.UB0]
    assert memory[: len(want) + 256].tobytes() == want + no(256)


@pytest.mark.parametrize("name", ["PK-4", "PK-5", "PK-6", "PK-7", "PK-9", "PK-10", "PK-11"])
def test_fill_bytes_are_in_the_footprint(name: str) -> None:
    with using(A5):
        outcome = bench(BY_NAME[name])[1].issue(op_of(name))
    assert outcome.bytes_written == len(SMALL[name][1])


# --- section 8 ---

BOTH, ONLY_A5 = ("seed", "a5"), ("a5",)
GM = MteL0cGm(0, 0, 1, 1, 16, 16)
SCALES = PreQuant("qf322f32_pre_vec", FbPtr("f32", 0xF80))
NEIGHBOURS: dict[str, tuple[int, tuple[DmaOp, ...]]] = {
    "ubuf_to_ubuf len 40, n 0": (11, (CopyUbufToUbuf(0, 0, 0, 0, 40, 0, 0),)),
    "l1_fb dst 0xFC0, len 1": (0, (MteL1Fb(0, 0xFC0, 1, 1, 0, 0),)),
    "quant pointer 0xF80, n 16": (0, (replace(GM, n=16, pre_quant=SCALES),)),
    "CTRL op 3": (0, (SetCtrl(3 << 9), GM)),
}
"""Ops beside rows of section 8, and their rule; 0 where they are legal."""


def check_outcome(program: Sequence[DmaOp | CtrlOp], rule: int, profile: Profile) -> None:
    """Checks the outcome of the one op that moves data; a refused one changes nothing."""
    golden = GoldenMemory(lambda _space, _start, length: b"\x55" * length)
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    golden.ensure(Space.GM, 0, 4096)
    with using(profile):
        outcomes = [(op, model.execute(op)) for op in program]
    (outcome,) = (each for op, each in outcomes if not isinstance(op, CtrlOp))
    assert (outcome.status, outcome.rule) == (Status.RULE if rule else Status.OK, rule)
    assert bool(outcome.regions) == (rule == 0)
    if rule:
        assert not golden.written_pages()
        assert all(bool(np.all(image[:4096] == 0x55)) for _, image in golden.items())


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_of_refused_ops(name: str, profile: str) -> None:
    rule, program = NEIGHBOURS[name]
    check_outcome(program, rule, PROFILES[profile])


I32_S16 = replace(
    GM, pre_quant=PreQuant("deqs16_scalar", Scalar("f32", 0)), src_type=Ptr("i32", "l0c"),
    dst_type=Ptr("i16", "gm"),
)  # fmt: skip
S_ROWS: tuple[tuple[str, str, tuple[str, ...], FixOp], ...] = (
    ("f32 to i32", "FIX-L04", BOTH, replace(GM, dst_type=Ptr("i32", "gm"))),
    *(
        (
            f"{mode} with an fb pointer", "FIX-L03", BOTH,
            replace(GM, pre_quant=PreQuant(mode, FbPtr("f32", 0)), dst_type=Ptr(dtype, "gm")),
        )
        for mode, dtype in (("f32_f16", "f16"), ("f32_bf16", "bf16"))
    ),
    ("deqs16", "FIX-L04", ONLY_A5, I32_S16),
    *(
        (
            mode, "FIX-L04", ONLY_A5,
            replace(
                GM, n=2, pre_quant=PreQuant(f"{mode}_pre_scalar", Scalar("f32", 0)),
                dst_type=Ptr(dtype, "gm"),
            ),
        )
        for mode, dtype in (("qf322s4", "i4"), ("qf162b8", "i8"))
    ),
)  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("name", "rule", "profiles", "op"), S_ROWS)
def test_front_end_rule_checks(
    name: str, rule: str, profiles: tuple[str, ...], op: FixOp, profile: str
) -> None:
    model = ReferenceModel({space: np.zeros(1 << 17, np.uint8) for space in Space})
    with using(PROFILES[profile]):
        if profile not in profiles:
            assert not s_violations(op)
            assert model.execute(op).status is Status.OK
            return
        assert rule in [violation.rule.name for violation in s_violations(op)], name
        with pytest.raises(ValueError, match=rule):
            model.execute(op)
