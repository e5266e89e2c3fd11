# SPDX-License-Identifier: Apache-2.0
"""Profiles: the documents (``seed``) and the silicon (``a5``), as named knobs.

A profile is a value for each knob of the table below (docs/spec/profiles.md). One process works
under one profile: the command line, or the settings of a run, choose it with :func:`use` before the
first op is made, and rules, footprints, the model and the generators call :func:`current`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Knob:
    """One row of docs/spec/profiles.md.

    Attributes:
        name: Name of the knob.
        seed, a5: Its value in the two profiles; no other value is legal.
        slots: Slots whose engines behave differently; none where text alone is concerned.
        parameter: Parameter of the reference engines that selects the behaviour, or empty.
        codes: Values of that parameter for ``seed`` and for ``a5``.
        rules: Rules that change.
        effect: What differs, as half a sentence for each value.
    """

    name: str
    seed: int | str
    a5: int | str
    slots: tuple[str, ...]
    parameter: str
    codes: tuple[int, int]
    rules: tuple[str, ...]
    effect: tuple[str, str]

    @property
    def values(self) -> tuple[int | str, int | str]:
        """Both legal values, that of ``seed`` first."""
        return self.seed, self.a5

    def code(self, value: int | str) -> int:
        """Returns the value of ``parameter`` for a value of the knob."""
        return self.codes[self.values.index(value)]

    def effect_of(self, value: int | str) -> str:
        """Returns the half sentence for a value of the knob."""
        return self.effect[self.values.index(value)]


KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob(
            "len_bits", 16, 21, ("mte2", "mte3"), "LenBits", (16, 21), ("DMA-L05",),
            ("lengths and row counts end at 65535", "lengths and row counts end at 2097151"),
        ),
        Knob(
            "pad_end", "stride", "block", ("mte2",), "PadEndBlock", (0, 1),
            ("DMA-L07", "DMA-L10", "DMA-L18"),
            (
                "a padded row ends at its stride",
                "a padded row ends with its last 32-byte block, a single one needs no stride",
            ),
        ),
        Knob(
            "tail", "keep", "fill", ("mte2",), "TailFill", (0, 1), ("DMA-L18", "DMA-L19"),
            (
                "bytes after an unpadded row are kept",
                "the last 32-byte block of an unpadded row is filled",
            ),
        ),
        Knob(
            "row_repeat", "error", "legal", ("mte2",), "RowRepeatLegal", (0, 1), ("DMA-L08",),
            ("a GM stride below the length is DMA-L08", "a GM stride below the length is legal"),
        ),
        Knob(
            "compact", "error", "legal", ("mte2", "mte3"), "CompactLegal", (0, 1),
            ("DMA-L07", "DMA-L18"),
            (
                "rows without a gap must be multiples of 32 (DMA-L07)",
                "rows of any length may follow each other without a gap",
            ),
        ),
        Knob(
            "pad_unselected", "error", "register", ("mte2",), "PadUnselectedRegister", (0, 1),
            ("DMA-L03", "DMA-L05"),
            (
                "legacy pad counts without data_select_bit are DMA-L05",
                "legacy pad counts without data_select_bit pad with the register",
            ),
        ),
        Knob(
            "legacy_pad_unit", "bytes", "elements", ("mte2",), "LegacyPadElements", (0, 1),
            ("DMA-L09",),
            ("legacy pad counts are bytes", "legacy pad counts are elements"),
        ),
        Knob(
            "alpha", "sequential", "replace", ("fix",), "AlphaReplace", (0, 1), (),
            ("alpha multiplies the scaled value", "alpha replaces the scale"),
        ),
        Knob(
            "b8_scalar_sign", "type", "unsigned", ("fix",), "B8ScalarUnsigned", (0, 1), (),
            (
                "the destination type is the sign of b8 conversions with a scalar scale",
                "b8 conversions with a scalar scale are unsigned",
            ),
        ),
        Knob(
            "sat_scope", "all", "a5", ("fix",), "SatScopeA5", (0, 1), (),
            (
                "nosat and preserve_nan act on every conversion to a float type",
                "nosat and preserve_nan act on the conversions that the vendor lists",
            ),
        ),
        Knob(
            "modes", "all", "a5", ("fix",), "ModesA5", (0, 1), ("FIX-L04", "FIX-L20"),
            (
                "every pre_quant mode and every channel split is legal",
                "only the pre_quant modes and channel splits of the A5 list are legal",
            ),
        ),
    )
}  # fmt: skip
"""Every knob by name, in the order of the specification."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A value for each knob; the defaults are those of ``seed``."""

    len_bits: int = 16
    pad_end: Literal["stride", "block"] = "stride"
    tail: Literal["keep", "fill"] = "keep"
    row_repeat: Literal["error", "legal"] = "error"
    compact: Literal["error", "legal"] = "error"
    pad_unselected: Literal["error", "register"] = "error"
    legacy_pad_unit: Literal["bytes", "elements"] = "bytes"
    alpha: Literal["sequential", "replace"] = "sequential"
    b8_scalar_sign: Literal["type", "unsigned"] = "type"
    sat_scope: Literal["all", "a5"] = "all"
    modes: Literal["all", "a5"] = "all"

    @property
    def longest(self) -> int:
        """Largest legal length and row count of copies with a GM side (DMA-L05)."""
        return (1 << self.len_bits) - 1

    def differences(self, other: Profile) -> tuple[str, ...]:
        """Returns the names of the knobs with another value in ``other``."""
        return tuple(name for name in KNOBS if getattr(self, name) != getattr(other, name))

    @property
    def label(self) -> str:
        """The profile as a part of file and job names: ``a5-alpha-sequential``."""
        return re.sub(r"\W+", "-", str(self))

    def __str__(self) -> str:
        """Returns the nearer profile and the knobs that differ: ``a5, alpha = sequential``."""
        base = min(PROFILES, key=lambda name: len(self.differences(PROFILES[name])))
        changed = self.differences(PROFILES[base])
        return ", ".join((base, *(f"{name} = {getattr(self, name)}" for name in changed)))


SEED = Profile()
"""The behaviour of the seed documents; the default."""

A5 = Profile(**{name: knob.a5 for name, knob in KNOBS.items()})  # type: ignore[arg-type]
"""The behaviour of the silicon, as far as there is evidence."""

PROFILES: dict[str, Profile] = {"seed": SEED, "a5": A5}
"""Named profiles."""


def parse_profile(text: str) -> Profile:
    """Returns the profile that ``text`` names: ``a5``, or ``a5, alpha = sequential, tail = keep``.

    A name may be left out: then the knobs change ``seed``.

    Raises:
        ValueError: profile, knob or value is unknown, and the message has the legal ones; or a knob
            is given twice.
    """
    given: set[str] = set()
    profile, parts = SEED, [part.strip() for part in text.split(",")]
    for place, part in enumerate(parts):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            if place or name not in PROFILES:
                raise ValueError(
                    f"profile {part!r} is unknown: {' or '.join(PROFILES)}, and knobs after it "
                    "such as tail = keep, separated by commas"
                )
            profile = PROFILES[name]
            continue
        if name not in KNOBS:
            raise ValueError(f"knob {name!r} is unknown: one of {', '.join(KNOBS)}")
        found = {str(one): one for one in KNOBS[name].values}.get(value)
        if found is None:
            raise ValueError(
                f"{name} = {value}: {name} is {' or '.join(map(str, KNOBS[name].values))}"
            )
        if name in given:
            raise ValueError(f"knob {name} is given twice")
        given.add(name)
        profile = replace(profile, **{name: found})  # type: ignore[arg-type]
    return profile


_in_use = SEED


def current() -> Profile:
    """Returns the profile of this process."""
    return _in_use


def use(profile: Profile) -> None:
    """Sets the profile of this process."""
    global _in_use
    _in_use = profile


@contextmanager
def using(profile: Profile) -> Iterator[None]:
    """Sets the profile for the body of a ``with`` statement."""
    before = current()
    use(profile)
    try:
        yield
    finally:
        use(before)


if tuple(KNOBS) != tuple(field.name for field in fields(Profile)):
    raise AssertionError("KNOBS and Profile name other knobs")
