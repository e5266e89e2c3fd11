# SPDX-License-Identifier: Apache-2.0
"""Profiles that every generator must serve: both named ones, and mixes of their knobs."""

from __future__ import annotations

PROFILES: tuple[str, ...] = (
    "seed",
    "a5",
    "a5, tail = keep",
    "a5, compact = error",
    "a5, pad_end = stride",
    "seed, pad_end = block",
    "seed, tail = fill",
    "seed, compact = legal",
    "seed, row_repeat = legal, len_bits = 21",
)
