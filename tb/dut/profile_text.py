# SPDX-License-Identifier: Apache-2.0
"""Reads the profiles that users write, with messages for them."""

from __future__ import annotations

from tb.common.errors import PtoError
from tb.isa.profile import Profile, parse_profile


def read_profile(text: str, where: str) -> Profile:
    """Returns the profile that a user named.

    Args:
        text: As of :func:`parse_profile`.
        where: Option, variable or file that has the text.

    Raises:
        PtoError: profile, knob or value is unknown; the message has the legal ones.
    """
    try:
        return parse_profile(text)
    except ValueError as error:
        raise PtoError(
            str(error),
            where=where,
            remedy="take a profile or a knob of docs/profiles.md",
        ) from None
