# SPDX-License-Identifier: Apache-2.0
"""Points of the bias load: types, elements inside blocks, classes of data (spec/bias_fb.md)."""

from __future__ import annotations

import numpy as np

from tb.coverage.burst.view import BurstPart
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, excluding, point
from tb.coverage.points import Sampled, codes, only
from tb.isa.burst.table import BIAS_TYPES
from tb.isa.dtypes import DTYPES
from tb.isa.events import BiasEvent

TYPES: tuple[str, ...] = tuple(BIAS_TYPES)
FLOATS: tuple[str, ...] = tuple(name for name in TYPES if name != "i32")

SRC_BLOCK = 32
SLOT_GROUP = 64
"""Bytes of a source block and of an aligned group of 16 bias slots."""


def _numbers(names: tuple[str, ...]) -> Ints:
    table = np.full(len(DTYPES), NOT_SAMPLED)
    for number, name in enumerate(names):
        table[DTYPES.index(name)] = number
    return table


def bias_points() -> list[Sampled[BurstPart]]:
    """Type pair, where the second burst lies, and the data met."""
    types, floats = _numbers(TYPES), _numbers(FLOATS)

    def second(side: str, group: int, step: int) -> Sampled[BurstPart]:
        def index(view: BurstPart) -> Ints:
            # Base addresses are aligned, so only later bursts start inside a block.
            rest = view.pitch(side) % group // step
            return only(view.live & (view["n_burst"] > 1), rest)

        what = "source byte in its 32 B block" if side == "src" else "slot in its group of 16"
        labels = [str(at * step if side == "src" else at) for at in range(group // step)]
        return Sampled(point(f"{side}_offset", labels, f"second burst: {what}"), index)

    def met(event: BiasEvent) -> Sampled[BurstPart]:
        def index(view: BurstPart) -> Ints:
            return only(view.live & ((view.events & event.value) > 0), floats[view.dtype])

        assert event.name is not None
        name = event.name.lower().replace("_", " ")
        return Sampled(
            point(f"data_{event.name.lower()}", FLOATS, f"source type with {name} data"), index
        )

    labels = [f"{name} to {BIAS_TYPES[name][0]}" for name in TYPES]
    return [
        codes("type", labels, lambda v: types[v.dtype], "source and destination type"),
        second("src", SRC_BLOCK, 2),
        second("dst", SLOT_GROUP, 4),
        *[met(event) for event in BiasEvent],
    ]


def bias_crosses() -> tuple[Cross, ...]:
    """Type against counts, gaps and offsets."""
    wide = [f"{name} to {BIAS_TYPES[name][0]}" for name in ("f32", "i32")]
    odd = [str(at) for at in range(2, SRC_BLOCK, 4)]
    return (
        Cross("type x bursts", ("type", "bursts")),
        Cross("type x units", ("type", "units")),
        Cross("type x src_gap", ("type", "src_gap")),
        Cross("type x dst_gap", ("type", "dst_gap")),
        Cross(
            "type x src_offset",
            ("type", "src_offset"),
            (excluding("elements of 4 bytes", type=wide, src_offset=odd),),
        ),
        Cross("type x dst_offset", ("type", "dst_offset")),
    )
