# SPDX-License-Identifier: Apache-2.0
"""Initial contents: special values are frequent, in their formats and places."""

from __future__ import annotations

import numpy as np
import pytest

from sequences.constraints import DEFAULT_WINDOWS
from sequences.draw.special_data import (
    BF16,
    CHUNK,
    F16,
    F32,
    FloatFormat,
    bias_background,
    special_fills,
    special_floats,
)
from tb.isa.spaces import SIZES, Space


@pytest.mark.parametrize("kind", [F16, BF16, F32])
def test_every_class_of_value_is_frequent(kind: FloatFormat) -> None:
    bits = special_floats(np.random.default_rng(1), 20000, kind)
    assert int(bits.min()) >= 0
    assert int(bits.max()) < 1 << kind.bits
    top, full = (1 << kind.exponent) - 1, (1 << kind.fraction) - 1
    exponent, fraction = bits >> kind.fraction & top, bits & full
    quiet = fraction >> (kind.fraction - 1)
    classes = {
        "zero": (exponent == 0) & (fraction == 0),
        "subnormal": (exponent == 0) & (fraction > 0),
        "normal": (exponent > 0) & (exponent < top),
        "largest": (exponent == top - 1) & (fraction == full),
        "infinity": (exponent == top) & (fraction == 0),
        "quiet": (exponent == top) & (quiet == 1),
        "signalling": (exponent == top) & (quiet == 0) & (fraction > 0),
        "negative": bits >> (kind.bits - 1) == 1,
    }
    for name, found in classes.items():
        assert found.mean() > 0.05, name
    leads = {int(x).bit_length() for x in fraction[classes["subnormal"]]}
    assert leads == set(range(1, kind.fraction + 1))
    payloads = fraction[classes["signalling"]]
    assert {1, full >> 1} <= set(payloads.tolist()) or len(set(payloads.tolist())) > 1000


def test_background_has_any_length_and_all_formats() -> None:
    rng = np.random.default_rng(2)
    for size in (0, 1, CHUNK, CHUNK + 1, 70000):
        assert len(bias_background(rng, size)) == size
    halves = bias_background(rng, 1 << 16).view("<u2")
    assert {0x7C00, 0x7F80, 0x8000, 0x7BFF} <= set(halves.tolist())
    words = bias_background(rng, 1 << 16).view("<u4")
    assert {0x7F800000, 0xFF800000, 0x7F7FFFFF} <= set(words.tolist())


@pytest.mark.long
def test_fills_are_inside_their_memories() -> None:
    fills = list(special_fills(3))
    again = list(special_fills(3))
    assert all((a.data == b.data).all() for a, b in zip(fills, again, strict=True))
    spaces = {fill.space for fill in fills}
    assert spaces == {Space.GM, Space.UB0, Space.UB1, Space.L1}
    for fill in fills:
        end = fill.start + len(fill.data)
        if fill.space is Space.GM:
            assert any(w.start <= fill.start and end <= w.end for w in DEFAULT_WINDOWS)
        assert end <= SIZES[fill.space]
    share = sum(len(fill.data) for fill in fills if fill.space is Space.GM)
    assert 0.2 < share / sum(window.size for window in DEFAULT_WINDOWS) < 0.6
    assert not list(special_fills(3, 0.0))
    with pytest.raises(ValueError, match=r"share is 1\.5"):
        list(special_fills(3, 1.5))
