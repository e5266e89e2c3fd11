# SPDX-License-Identifier: Apache-2.0
"""Accumulators for one write-back, matched to its mode, parameters and clip."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from sequences.fixpipe.data import MODES, POOL, Pools, Words, spread
from sequences.fixpipe.parameters import alphas_of, split_records
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import DST_F16, FLOAT_DSTS, GROUP, L0C_WORD, QUANT_BY_CODE, SCALAR_RELU
from tb.isa.footprint import source
from tb.isa.profile import current

Lanes = NDArray[np.float32]

_STEPS = np.array([-1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2], dtype=np.float32)
_WORD = np.arange(4096)
_SCALE = tuple(code in QUANT_BY_CODE and QUANT_BY_CODE[code].scale for code in range(64))


@dataclass(frozen=True)
class Tile:
    """Properties of the write-back of a tile.

    Attributes:
        code: pre_quant code.
        acc: 1 for i32 accumulators.
        dst: Code of the destination type.
        words: 64 B words from the first to the last.
        columns: Channels.
        stride, repeat: Words between groups and between repeats, 0 without repeats.
        scale, offset, alpha: ``float32[columns]`` or ``float32[1]``, or None.
        clip: Clip as in the descriptor, 0 without.
        atomic: Atomic type code, 0 without.
    """

    code: int
    acc: int
    dst: int
    words: int
    columns: int
    stride: int
    repeat: int
    scale: Lanes | None
    offset: Lanes | None
    alpha: Lanes | None
    clip: int
    atomic: int


def _per_word(tile: Tile, values: Lanes) -> Lanes:
    """Returns parameters as ``float32[words or 1, 16 or 1]``: those of each word's channels."""
    if len(values) == 1:
        return values.reshape(1, 1)
    groups = -(-tile.columns // GROUP)
    lanes = np.ones(groups * GROUP, dtype=np.float32)
    lanes[: tile.columns] = values
    table = lanes.reshape(groups, GROUP)
    if groups == 1:
        return table
    word = _WORD[: tile.words]
    if tile.repeat:
        word = word % tile.repeat
    if not tile.stride:
        return table[:1]
    return table[np.minimum(word // tile.stride, groups - 1)]


def _clip_values(tile: Tile, values: Lanes, offset: Lanes | None, rng: Random) -> None:
    """Puts some values around the clip, in place."""
    some = np.arange(rng.randrange(5), values.size, 5 + rng.randrange(7))
    flat = values.reshape(-1)
    if tile.dst == DST_F16:
        near = np.float16(0).view(np.float16)
        half = np.array([tile.clip], dtype=np.uint16).view(np.float16).astype(np.float32)
        around = (half.view(np.int32) + np.arange(-2, 3, dtype=np.int32)).view(np.float32)
        flat[some] = np.resize(around, len(some)) + near
        return
    near_clip = np.resize(_STEPS, len(some)) + np.float32(tile.clip)
    if offset is not None:
        near_clip = near_clip - np.broadcast_to(offset, values.shape).reshape(-1)[some]
    flat[some] = near_clip


def draw_tile(tile: Tile, pools: Pools, rng: Random) -> NDArray[np.uint8]:
    """Returns ``uint8[64 * words]`` for the hull of an op, rows between its own included."""
    count = tile.words * GROUP
    start = rng.randrange(POOL)
    stage, narrow = MODES[tile.code]
    if tile.acc and not _SCALE[tile.code]:
        mixed = pools.source["i32"] if rng.random() < 0.7 else pools.noise
        return spread(mixed, start, count).view(np.uint8)
    bits: Words
    if tile.atomic in pools.update and rng.random() < 0.6:
        bits = spread(pools.update[tile.atomic], start, count)  # type: ignore[assignment]
    else:
        bits = spread(pools.target[narrow], start, count)  # type: ignore[assignment]
    if tile.scale is None and tile.alpha is None and not tile.clip:
        return bits.view(np.uint8)
    values = bits.view(np.float32).reshape(tile.words, GROUP)
    with np.errstate(all="ignore"):
        values = _before(tile, values, rng)
        if tile.acc:
            whole = np.rint(values.astype(np.float64))
            whole = np.nan_to_num(np.clip(whole, -(2.0**31), 2.0**31 - 1))
            bits = whole.astype(np.int32).view(np.uint32).reshape(-1)
        else:
            bits = np.ascontiguousarray(values).view(np.uint32).reshape(-1)
    # Corner values of the source stage, at a stride that reaches every lane.
    some = slice(rng.randrange(9), None, 9 + 2 * rng.randrange(8))
    bits[some] = spread(pools.source[stage], start // 2, len(bits[some]))
    return bits.view(np.uint8)


def _before(tile: Tile, values: Lanes, rng: Random) -> Lanes:
    """Returns inputs that scale, ReLU and offset map to ``values``, as far as possible."""
    values = values.copy()
    offset = None if tile.offset is None else _per_word(tile, tile.offset)
    if offset is not None:
        # Every second word has values near the limits after the offset, the others before it.
        odd = rng.randrange(2)
        values[odd::2] -= offset if len(offset) == 1 else offset[odd::2]
    if tile.clip:
        _clip_values(tile, values, offset, rng)
    alpha = None if tile.alpha is None else _per_word(tile, tile.alpha)
    if alpha is not None and tile.scale is not None and current().alpha == "replace":
        return _replaced(values, _per_word(tile, tile.scale), alpha)
    if alpha is not None:
        alpha = np.abs(alpha)
        values = np.where(values < 0, values / np.where(alpha > 0, alpha, 1), values)
    if tile.scale is not None:
        values = values / _per_word(tile, tile.scale)
    return values


def _replaced(values: Lanes, scale: Lanes, alpha: Lanes) -> Lanes:
    """Returns inputs where alpha replaces the scale of negative ones (knob ``alpha``).

    A value may have two, of either sign: the negative one where alpha gives it. Others go through
    the scale, whatever becomes of them.
    """
    below = values / np.where(alpha == 0, np.float32(1), alpha)
    found: Lanes = np.where((below < 0) & (alpha != 0), below, values / scale)
    return found


def tile_of(desc: FixOp, image: Words) -> Tile:
    """Returns the properties of the write-back ``desc``; ``image`` is FB, ``uint32`` by address."""
    scale = offset = alpha = None
    if desc.vector_quant:
        first = desc.quant_addr // 4
        scale, offset = split_records(image[first : first + 2 * desc.n], desc.mode.narrow)
        offset = None if desc.dst_code in FLOAT_DSTS else offset
    elif desc.mode.scale:
        scale = alphas_of(np.array([desc.quant_scale], dtype=np.uint32))
    if desc.vector_relu:
        alpha = alphas_of(image[desc.relu_addr // 4 : desc.relu_addr // 4 + desc.n])
    elif desc.relu == SCALAR_RELU:
        alpha = alphas_of(np.array([desc.relu_alpha], dtype=np.uint32))
    side = source(desc)
    return Tile(
        desc.quant, desc.acc, desc.dst_code, (side.end - side.base) // L0C_WORD, desc.n,
        desc.src_stride, desc.loop3_src if desc.repeats > 1 else 0, scale, offset, alpha,
        desc.clip if desc.clip_en else 0, desc.atomic_type,
    )  # fmt: skip
