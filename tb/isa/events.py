# SPDX-License-Identifier: Apache-2.0
"""Kinds of data a scored op met: bits that the model reports and coverage counts.

An op's events are the bitwise or over its elements. ``mte_l1_bt`` reports the classes of its
source elements (spec/bias_fb.md, section 2); integer elements report none.
"""

from __future__ import annotations

from enum import IntFlag


class BiasEvent(IntFlag):
    """Classes of floating-point bias elements."""

    ZERO = 1
    SUBNORMAL = 2
    NORMAL = 4
    INF = 8
    QUIET_NAN = 16
    SIGNALLING_NAN = 32
    NEGATIVE = 64
    MAX_FINITE = 128
