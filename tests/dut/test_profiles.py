# SPDX-License-Identifier: Apache-2.0
"""The profile of a run: named by the user, or claimed by the manifests."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.dut.manifest import REFERENCE_MANIFESTS, Capabilities, Manifest
from tb.dut.profiles import claimed, profile_text, run_profile, unlike
from tb.isa.ops import OPS
from tb.isa.profile import A5, KNOBS, PROFILES, SEED, Profile
from tests.wording import says


def engine(slot: str, profile: str = "", **knobs: str) -> Manifest:
    """Returns a manifest."""
    op = next(op.name for op in OPS.values() if op.slot == slot)
    return Manifest(
        module=f"my_{slot}",
        slot=slot,
        profile=profile,
        knob_parameters=knobs,
        capabilities=Capabilities(ops=(op,)),
        path=f"{slot}/dut.toml",
    )


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a5", "a5"),
        (" seed ", "seed"),
        ("a5,alpha=sequential", "a5, alpha = sequential"),
        ("a5 , tail = keep,alpha=sequential", "a5, tail = keep, alpha = sequential"),
        ("tail=fill", "seed, tail = fill"),
        ("seed, len_bits = 21", "seed, len_bits = 21"),
        ("", ""),
    ],
)
def test_the_text_of_a_profile_is_canonical(text: str, canonical: str) -> None:
    assert profile_text(text) == canonical
    assert not canonical or profile_text(canonical) == canonical


def test_a_label_is_fit_for_a_folder() -> None:
    assert [one.label for one in PROFILES.values()] == ["seed", "a5"]
    assert replace(A5, alpha="sequential").label == "a5-alpha-sequential"


@pytest.mark.parametrize(
    ("engines", "profile"),
    [
        ([], SEED),
        ([engine("mte2")], SEED),
        ([engine("mte2", "a5")], A5),
        ([engine("mte1"), engine("mte2", "a5")], A5),
        ([engine("mte1"), engine("mte3", "a5")], A5),
        ([engine("mte2", "a5"), engine("mte3", "a5"), engine("fix", "a5")], A5),
        (
            [engine("mte2", "a5"), engine("fix", "seed")],
            replace(A5, alpha="sequential", b8_scalar_sign="type", sat_scope="all", modes="all"),
        ),
        (
            [engine("mte2"), engine("fix", "a5")],
            replace(SEED, alpha="replace", b8_scalar_sign="unsigned", sat_scope="a5", modes="a5"),
        ),
        ([engine("mte2", "tail = fill"), engine("mte3")], replace(SEED, tail="fill")),
        (
            [engine("mte2", "len_bits = 21, compact = legal"), engine("mte3", "a5")],
            replace(SEED, len_bits=21, compact="legal"),
        ),
    ],
)
def test_the_profile_of_manifests(engines: list[Manifest], profile: Profile) -> None:
    found = claimed(engines)
    concerned = {one.slot for one in engines}
    for name, knob in KNOBS.items():
        if concerned.intersection(knob.slots) or not engines:
            assert getattr(found, name) == getattr(profile, name)
    assert found == profile or not concerned.issuperset({"mte2", "fix"})
    assert run_profile("", engines) == found


def test_manifests_that_disagree_are_both_named_with_the_knob() -> None:
    with pytest.raises(PtoError) as refused:
        claimed([engine("mte2", "a5"), engine("mte3")])
    text = str(refused.value)
    assert says(text, "my_mte2 len_bits 21 a5 my_mte3 len_bits 16 seed")
    assert says(text, "mte2/dut.toml mte3/dut.toml 16 or 21 PROFILE=")


def test_an_engine_with_parameters_for_its_knobs_follows_the_others() -> None:
    follows = engine("mte3", len_bits="LenBits", compact="Compact")
    assert claimed([engine("mte2", "a5"), follows]) == A5
    knobs = {name: name for name, knob in KNOBS.items() if knob.slots == ("fix",)}
    assert claimed([engine("mte2", "a5"), follows, engine("fix", **knobs)]) == A5
    assert claimed([follows]) == SEED
    with pytest.raises(PtoError):  # a named profile is a claim, whatever the parameters
        claimed([engine("mte2", "a5"), engine("mte3", "seed", len_bits="LenBits", compact="C")])


def test_a_named_profile_needs_no_agreement() -> None:
    engines = [engine("mte2", "a5"), engine("mte3")]
    assert run_profile("a5", engines) == A5
    assert run_profile("seed", engines) == SEED


def test_a_claim_that_the_run_does_not_follow_is_a_sentence() -> None:
    (sentence,) = unlike([engine("mte2", "a5"), engine("mte1", "a5")], replace(A5, tail="keep"))
    assert says(sentence, "my_mte2 mte2 claims tail fill a5 run a5, tail keep")
    assert unlike([engine("mte2", "a5")], A5) == []
    assert unlike([engine("mte2", "a5")], replace(A5, alpha="sequential")) == []


def test_a_knob_that_the_build_sets_follows_the_run() -> None:
    (sentence,) = unlike([engine("mte3", "a5", len_bits="LenBits"), engine("mte2")], A5)
    assert "my_mte3" not in sentence
    assert says(sentence, "my_mte2 len_bits 16 tail keep seed")


@pytest.mark.parametrize("path", REFERENCE_MANIFESTS, ids=lambda path: path.parent.name)
def test_reference_engines_have_the_parameters_of_the_table(path: Path) -> None:
    data = tomllib.loads(path.read_text())
    wanted = {knob.name: knob.parameter for knob in KNOBS.values() if data["slot"] in knob.slots}
    assert data.get("knob_parameters", {}) == wanted
    assert "profile" not in data  # the engine follows that of the run
