# SPDX-License-Identifier: Apache-2.0
"""Widths of a run: those that are given, else those that the manifests of its engines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tb.common.errors import PtoError
from tb.dut.contract import parameters_of
from tb.dut.manifest import Manifest
from tb.record.settings import DEFAULT_TAG_WIDTH, DEFAULT_WIDTH


@dataclass(frozen=True, slots=True)
class Widths:
    """Widths of a build, bits."""

    gm: int = DEFAULT_WIDTH
    local: int = DEFAULT_WIDTH
    tag: int = DEFAULT_TAG_WIDTH

    def __str__(self) -> str:
        """Returns them as messages have them."""
        return f"GM {self.gm}, local {self.local}, tag {self.tag} bits"

    def parameters(self, slot: str) -> dict[str, int]:
        """Returns the values of the contract's parameters for an engine of ``slot``."""
        values = {item.name: item.default for item in parameters_of(slot)}
        values |= {"GmDataWidth": self.gm, "LocalDataWidth": self.local, "TagWidth": self.tag}
        return values

    @property
    def by_variable(self) -> dict[str, int]:
        """The widths by the variables that set them."""
        return {"GM_WIDTH": self.gm, "LOCAL_WIDTH": self.local, "TAG_WIDTH": self.tag}


DEFAULT = Widths()
"""Widths of the reference engines, and of each engine that has them."""


def run_widths(
    manifests: Sequence[Manifest],
    gm: int | None = None,
    local: int | None = None,
    tag: int | None = None,
    *,
    narrowest: bool = False,
) -> Widths:
    """Returns the widths of a run: each as given, else the default, else the widest of all engines.

    Args:
        manifests: Its engines; none for the reference engines, which have all widths.
        gm: Width of the GM bus, None where it is not given.
        local: Width of the local ports.
        tag: Width of a tag.
        narrowest: Prefer the least width that all engines have.

    Raises:
        PtoError: the engines share no width; a width that is given is not checked.
    """
    given = zip(DEFAULT.by_variable, (gm, local, tag), strict=True)
    return Widths(*(width or _shared(manifests, name, narrowest) for name, width in given))


def without_default(manifests: Sequence[Manifest], widths: Widths) -> list[str]:
    """Returns a sentence for each engine and width that keeps a run from the default width."""
    return [
        f"{one.title} ({one.slot}) claims {name} {_listed(one.widths[name])}, not {default}; "
        f"this run has {widths.by_variable[name]}"
        for one in manifests
        for name, default in DEFAULT.by_variable.items()
        if default not in one.widths[name]
    ]


def _shared(manifests: Sequence[Manifest], name: str, narrowest: bool) -> int:
    """Returns the width of a variable that fits all engines; PtoError if none does."""
    default = DEFAULT.by_variable[name]
    claims = [(one, set(one.widths[name])) for one in manifests]
    shared = set.intersection(*(widths for _, widths in claims)) if claims else {default}
    if shared:
        return min(shared) if narrowest else default if default in shared else max(shared)
    apart = next((pair for pair in combinations(claims, 2) if not pair[0][1] & pair[1][1]), claims)
    raise PtoError(
        f"{' and '.join(one.title for one, _ in apart)} have no {name} in common",
        where=", ".join(one.path for one, _ in apart),
        legal="; ".join(f"{one.title} has {_listed(one.widths[name])} bits" for one, _ in apart),
        remedy="run them one at a time, or add a shared width to their manifests",
    )


def _listed(widths: Sequence[int]) -> str:
    if isinstance(widths, range):
        return f"{widths[0]} to {widths[-1]}"
    return ", ".join(map(str, widths))
