# SPDX-License-Identifier: Apache-2.0
"""Plain checks of blocks with write-backs: unit flags, fills, parameters."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from tb.isa.block import Fill, OpBlock
from tb.isa.ctrl import SetAtomic, SetCtrl, write_ctrl
from tb.isa.fix.op import FixOp, MteL0cGm, MteL0cL1, MteL0cUb
from tb.isa.fix.table import (
    ATOMIC_OPS,
    ATOMIC_TYPES,
    FLAG_CLEAR,
    FLAG_NONE,
    FLOAT_DSTS,
    SCALAR_RELU,
    SCALE_MASK,
)
from tb.isa.footprint import Footprint, destinations, flag_blocks, parameters, source
from tb.isa.profile import current
from tb.isa.spaces import SEGMENTS, SIZES, Space
from tests.sequences.reference import BlockError, descriptors

Images = dict[Space, NDArray[np.int64]]

_INF = 0x7F800000


def _live(block: OpBlock) -> dict[int, FixOp]:
    return {
        number: desc
        for number, desc in enumerate(descriptors(block))
        if isinstance(desc, FixOp) and not desc.is_nop
    }


def check_flags(block: OpBlock) -> None:
    """Raises BlockError unless every flag is set when an op needs it, and no op reads too late.

    Blocks of L0C with a delay belong to one op, up to its clear; after a clear, only ops that wait
    for the flag read the block. Their delay counts from the clear, and is that of the first of
    them alone.
    """
    live = _live(block)
    touched = {number: set(flag_blocks(desc).tolist()) for number, desc in live.items()}
    assert block.flag_delay is not None
    # For each L0C block: number of clears so far, and the op with the current delay, if any.
    clears: Counter[int] = Counter()
    readers: dict[tuple[int, int], list[int]] = {}
    for number, desc in live.items():
        for flag in touched[number]:
            if clears[flag] and desc.unit_flag == FLAG_NONE:
                raise BlockError(f"op {number} reads a block after the clear of its flag")
            readers.setdefault((flag, clears[flag]), []).append(number)
        if desc.unit_flag == FLAG_CLEAR:
            clears.update(touched[number])
    first_again = {ops[0] for (_, times), ops in readers.items() if times}
    any_again = {number for (_, times), ops in readers.items() if times for number in ops}
    for number, delay in enumerate(block.flag_delay.tolist()):
        if delay < 0:
            continue
        if number not in live or live[number].unit_flag == FLAG_NONE:
            raise BlockError(f"op {number} has a delay and waits for no flag")
        if number in any_again and number not in first_again:
            raise BlockError(f"op {number} has a delay and waits for flags that are set already")
    for (_, times), ops in readers.items():
        late = [number for number in ops if block.flag_delay[number] >= 0]
        if times == 0 and len(ops) > 1 and set(late) - any_again:
            raise BlockError(f"ops {ops} read a block that is set late")


def filled(fills: tuple[Fill, ...], spaces: tuple[Space, ...]) -> Images:
    """Returns the bytes of some on-chip memories by address, -1 where no fill wrote.

    Raises:
        BlockError: a fill leaves its memory, or two fills share a byte.
    """
    images = {space: np.full(SIZES[space], -1, dtype=np.int64) for space in spaces}
    for fill in fills:
        end = fill.start + len(fill.data)
        inside = any(fill.start in part and end - 1 in part for part in SEGMENTS[fill.space])
        if fill.data.dtype != np.uint8 or not inside:
            raise BlockError(f"fill of {fill.space.name} {fill.start:#x}..{end:#x}")
        if fill.space in images:
            part = images[fill.space][fill.start : end]
            if (part >= 0).any():
                raise BlockError(f"two fills of {fill.space.name} {fill.start:#x}..{end:#x}")
            part[:] = fill.data
    return images


def _bytes(footprint: Footprint) -> NDArray[np.int64]:
    return (footprint.row_starts()[:, None] + np.arange(footprint.length)).ravel()


def check_fills(block: OpBlock) -> None:
    """Raises BlockError unless fills hold what ops read, and parameters are finite (FIX-L25)."""
    images = filled(block.fills, (Space.L0C, Space.FB, Space.L1))
    fb = images[Space.FB].copy()
    for number, desc in enumerate(descriptors(block)):
        if desc.spec.name == "mte_l1_fb" and not desc.is_nop and block.fills:
            # Loads of other generators copy any bytes of L1; no op uses those rows.
            data = images[Space.L1][_bytes(source(desc))]
            if (data >= 0).all():
                fb[_bytes(destinations(desc)[0])] = data
        if not isinstance(desc, FixOp) or desc.is_nop:
            continue
        if (images[Space.L0C][_bytes(source(desc))] < 0).any():
            raise BlockError(f"op {number} reads accumulators without a fill")
        numbers = []
        if desc.mode.scale and not desc.vector_quant:
            numbers.append(np.array([desc.quant_scale]))
        if desc.relu == SCALAR_RELU:
            numbers.append(np.array([desc.relu_alpha]))
        for rows in parameters(desc):
            data = fb[_bytes(rows)]
            if (data < 0).any():
                raise BlockError(f"op {number} uses parameters without a fill")
            words = data.astype(np.uint8).view("<u4").astype(np.int64)
            numbers.append(words[0::2] if rows.length == 8 * desc.n else words)
        for words in numbers:
            if (words & SCALE_MASK & _INF == _INF).any():
                raise BlockError(f"op {number} has an infinite or NaN parameter")


def check_ctrl(block: OpBlock) -> Counter[str]:
    """Raises BlockError unless CTRL is written around its ops as the contract says.

    Every op of a write-back that is not alone is preceded by writes of CTRL and followed by one
    ``set_ctrl`` 0; the columns hold its clauses, else those of CTRL.

    Returns:
        Counts of what CTRL decides and what it does not.
    """
    found: Counter[str] = Counter()
    descs = descriptors(block)
    for number, ops in block.legacy.items():
        desc = descs[number]
        if not isinstance(desc, FixOp):
            continue
        *before, op, last = ops
        if last != SetCtrl(0) or not before or not isinstance(op, MteL0cGm | MteL0cL1 | MteL0cUb):
            raise BlockError(f"op {number} is written as {ops}")
        ctrl = 0
        for write in before:
            assert isinstance(write, SetCtrl | SetAtomic)
            found[type(write).__name__] += 1
            found["no type"] += write == SetAtomic("none")
            ctrl = write_ctrl(write, ctrl)
        sat = op.sat if op.sat_given else 2 if ctrl >> 48 & 1 else ctrl >> 50 & 1
        pair = (ctrl >> 6 & 7, ctrl >> 9 & 3)
        legal = pair[0] < 7 and (pair[1] < 3 or not pair[0])
        if isinstance(op, MteL0cGm):
            if op.atomic:
                pair = (ATOMIC_TYPES[op.atomic.type], ATOMIC_OPS[op.atomic.op])
                found["atomic clause"] += 1
                found["illegal type or op under a clause"] += not legal
            else:
                found["atomic by CTRL"] += pair[0] > 0
                found["op without a type"] += pair[0] == 0 < pair[1]
        else:
            found["ignored atomic"] += pair[0] > 0
            found["ignored illegal atomic"] += not legal
            pair = (0, 0)
        if (desc.sat, desc.atomic_type, desc.atomic_op) != (sat, *pair):
            raise BlockError(f"op {number} has {desc}, written as {ops}")
        mine = 2 if ctrl >> 48 & 1 else ctrl >> 50 & 1
        found[f"sat {sat} by CTRL" if not op.sat_given else "sat clause"] += 1
        found["sat against CTRL"] += sat != mine
        found["bit 50 with bit 48"] += ctrl >> 48 & 5 == 5
        found["stored bits"] += bool(ctrl & ~(0x7C0 | 1 << 48 | 1 << 50))
    return found


def check_modes(block: OpBlock) -> None:
    """Raises BlockError unless the profile has every pre_quant mode of the block (FIX-L04)."""
    for number, desc in _live(block).items():
        if current().modes == "a5" and not desc.mode.a5:
            raise BlockError(f"op {number} has {desc.mode.name}, which A5 has not")


def old_values(block: OpBlock, number: int, desc: FixOp) -> NDArray[np.uint8] | None:
    """Returns the fills of the GM bytes that an op writes, ``uint8[bytes]``; None if incomplete."""
    image: dict[int, int] = {}
    for fill in block.fills:
        if fill.space is Space.GM and fill.start + len(fill.data) > desc.dst_addr:
            image.update(enumerate(fill.data.tolist(), fill.start))
    places = _bytes(destinations(desc)[0]).tolist()
    if not all(place in image for place in places):
        return None
    return np.array([image[place] for place in places], dtype=np.uint8)


__all__ = [
    "FLOAT_DSTS",
    "check_ctrl",
    "check_fills",
    "check_flags",
    "check_modes",
    "filled",
    "old_values",
]
