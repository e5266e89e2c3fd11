# SPDX-License-Identifier: Apache-2.0
"""Small legal ops of a form that differ in every clause, to be changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sequences.constraints import FIX_NAMES, OpConstraints, SizeClass
from sequences.draw.copies import CopyGenerator
from sequences.fixpipe.generator import FixGenerator
from sequences.illegal.operands import operands
from tb.isa.ctrl import ctrl_after
from tb.isa.dtypes import Ptr, element_bits
from tb.isa.op import Op, operand_names, replace
from tb.isa.ops import LEGACY_FORMS
from tb.isa.program import moving, moving_at

DRAWN = 64
"""Legal ops to choose from."""

MOST_VALUES = 6
"""What has more values, as an address or the mode of a conversion, is left to chance."""

SMALL = OpConstraints(
    nop=0.0, far=0.0, big_nz=0.0, big_tile=0.0, max_bytes=4096, max_rows=256,
    sizes=(SizeClass(1, 4096, 1.0),), loops=(0.1, 0.1, 0.2, 0.6), pad=0.4, store=0.5,
)  # fmt: skip


REGISTER_FORMS = ("copy_gm_to_ubuf", "copy_ubuf_to_gm")
"""Forms that read registers: their bases are v0.6 ops."""

REGISTER_LOOPS = 2
"""Loops that registers hold."""


@dataclass(frozen=True)
class Base:
    """A legal op and the value of CTRL that it is issued with."""

    op: Any
    ctrl: int


def bases(rng: np.random.Generator, form: str, most: int, together: int = 1) -> list[Base]:
    """Returns at most ``most`` legal ops that show every clause, element size, keyword and flag.

    Each next op adds as many of these as possible, or of their combinations of ``together``; among
    equals the one with more operands above 1 comes first, since a count of 1 hides the strides
    beside it.
    """
    made: Any = FixGenerator if form in FIX_NAMES else CopyGenerator
    limits = SMALL
    if form in REGISTER_FORMS:
        form, limits = LEGACY_FORMS[form], replace(SMALL, max_loops=REGISTER_LOOPS)
    blocks = made(rng, (form,), limits).draw(DRAWN)
    drawn = []
    for entry in (entry for block in blocks for entry in block.program()):
        at = moving_at(entry)
        op = moving(entry)
        ctrl = ctrl_after(entry[:at]) if form != "copy_ubuf_to_ubuf" else 0
        drawn.append((Base(op, ctrl), {*_features(op, ()), (("ctrl",), ctrl)}))
    values = defaultdict(set)
    for path, value in (feature for _, features in drawn for feature in features):
        values[path].add(value)
    left = []
    for base, features in drawn:
        few = sorted((one for one in features if len(values[one[0]]) <= MOST_VALUES), key=str)
        left.append((base, {*combinations(few, together)}, _weight(base.op)))
    chosen: list[Base] = []
    seen: set[object] = set()
    while left and len(chosen) < most:
        best = max(left, key=lambda one: (len(one[1] - seen), one[2]))
        if not best[1] - seen:
            seen = set()  # Each clause once more, in other ops.
        seen |= best[1]
        chosen.append(best[0])
        left.remove(best)
    return chosen


def _weight(op: object) -> int:
    return sum(value > 1 for value in operands(op).values())


def _features(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yields the clauses of an op, its keywords, and the bits of its elements."""
    if isinstance(value, int):
        yield path, value
    elif isinstance(value, Ptr):
        yield path, element_bits(value.dtype)
    elif isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        yield path, len(value)
    elif isinstance(value, Op) or is_dataclass(value):
        yield path, type(value).__name__
        for name in operand_names(type(value)):
            if not isinstance(value, Op) or value.is_given(name):
                yield from _features(getattr(value, name), (*path, name))
