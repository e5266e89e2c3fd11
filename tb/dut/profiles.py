# SPDX-License-Identifier: Apache-2.0
"""The profile of a run: the one that the user named, or the one that the manifests claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from tb.common.errors import PtoError
from tb.dut.profile_text import read_profile
from tb.isa.ops import OPS
from tb.isa.profile import KNOBS, SEED, Knob, Profile

if TYPE_CHECKING:
    from tb.dut.manifest import Manifest

PLACE = "PROFILE= or --profile"
"""Place of the profile of a run, for messages."""


def profile_text(text: str) -> str:
    """Returns the canonical text of a profile that the user named, empty for none.

    Raises:
        PtoError: profile, knob or value is unknown.
    """
    return str(read_profile(text, PLACE)) if text.strip() else ""


def run_profile(text: str, manifests: Sequence[Manifest]) -> Profile:
    """Returns the profile of a run.

    Args:
        text: The profile that the user named, or empty for that of the manifests.
        manifests: Engines of the run.

    Raises:
        PtoError: the text names no profile, or two manifests claim different values of a knob that
            concerns the slots of both.
    """
    return read_profile(text, PLACE) if text.strip() else claimed(manifests)


def claimed(manifests: Sequence[Manifest]) -> Profile:
    """Returns the profile that manifests claim together.

    Each knob has the value that the engines of its slots claim. A knob that none of them decides
    has the value with which the profile has the shortest text. An engine of no named profile
    follows the others in the knobs that the build sets by its parameters.

    Raises:
        PtoError: two manifests claim different values of a knob that concerns the slots of both.
    """
    decided: dict[str, int | str] = {}
    for knob in KNOBS.values():
        concerned = [one for one in manifests if one.slot in _slots(knob) and not _free(one, knob)]
        for one, other in combinations(concerned, 2):
            values = [getattr(item.claim, knob.name) for item in (one, other)]
            if values[0] != values[1]:
                raise PtoError(
                    f"{one.title} claims {knob.name} = {values[0]} (profile {one.claim}), and "
                    f"{other.title} claims {knob.name} = {values[1]} (profile {other.claim})",
                    where=f"{one.path}, {other.path}",
                    legal=f"one value of knob {knob.name} for slots {', '.join(knob.slots)}: "
                    f"{' or '.join(map(str, knob.values))}",
                    remedy="correct `profile` of one of them, or name the profile of the run: "
                    f"PROFILE='{one.claim}'",
                )
        if concerned:
            decided[knob.name] = getattr(concerned[0].claim, knob.name)
    bases = [SEED, *(one.claim for one in manifests if not _follows(one))]
    found = [replace(base, **decided) for base in bases]  # type: ignore[arg-type]
    return min(found, key=lambda profile: len(str(profile)))


def unlike(manifests: Sequence[Manifest], profile: Profile) -> list[str]:
    """Returns a sentence for each manifest whose claim differs from the profile of a run.

    Knobs that do not concern its slot, and those that the build sets by a parameter, do not count.
    """
    found = []
    for one in manifests:
        names = [
            name
            for name in one.claim.differences(profile)
            if name in one.knobs and name not in one.knob_parameters
        ]
        if names:
            claims = ", ".join(f"{name} = {getattr(one.claim, name)}" for name in names)
            ours = ", ".join(f"{name} = {getattr(profile, name)}" for name in names)
            found.append(
                f"{one.title} ({one.slot}) claims {claims} (profile {one.claim}); this run is "
                f"{profile}: {ours}"
            )
    return found


def _free(manifest: Manifest, knob: Knob) -> bool:
    """Returns whether a manifest leaves a knob to the run."""
    return _follows(manifest) or (not manifest.profile and knob.name in manifest.knob_parameters)


def _follows(manifest: Manifest) -> bool:
    """Returns whether a manifest leaves all knobs of its slot to the run."""
    return not manifest.profile and set(manifest.knobs) <= set(manifest.knob_parameters)


def _slots(knob: Knob) -> tuple[str, ...]:
    """Returns the slots whose ops a knob concerns, those among them that text alone decides."""
    families = {rule.partition("-")[0] for rule in knob.rules}
    return knob.slots or tuple({op.slot for op in OPS.values() if op.rules in families})
