# SPDX-License-Identifier: Apache-2.0
"""Bits of float constants, against numpy's conversions."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tb.language.run.values import rounded_bits


@pytest.mark.parametrize(("name", "kind", "bits"), [("f16", "f2", "u2"), ("f32", "f4", "u4")])
@given(
    st.integers(0, (1 << 64) - 1).map(lambda x: struct.unpack("<d", struct.pack("<Q", x))[0])
    | st.floats(width=64)
    | st.floats(-70000, 70000)
    | st.floats(-1e-4, 1e-4)
)
@example(65519.99)
@example(65520.0)
@example(-3.4028235677973366e38)
@example(2.0**-25)
@example(-0.0)
@example(math.inf)
@example(-math.nan)
def test_the_nearest_float(name: str, kind: str, bits: str, value: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.array([value], "f8").astype(kind).view(bits)
    assert rounded_bits(value, name) == int(expected[0])


def test_other_types_have_no_bits() -> None:
    assert rounded_bits(1.0, "f8E4M3FN") is None
    assert rounded_bits(1.0, "bf16") == 0x3F80
    assert rounded_bits(math.nan, "bf16") == 0x7FC0
    assert rounded_bits(-0.0, "bf16") == 0x8000
