# SPDX-License-Identifier: Apache-2.0
"""Strided byte moves with row padding (docs/spec/dma.md, sections 2 and 3).

A whole op is one strided numpy assignment per part of its rows: pads, data. Only where
destination rows overlap, which legal stimulus never does (DMA-L13), or a pad element would be
cut, rows are moved one by one in the order of the spec's loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.outcome import Memory, Outcome, PadPattern
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space

_BYTE = np.dtype(np.uint8)
_PAD_ELEMENT: dict[int, np.dtype[Any]] = {
    1: np.dtype("<u1"),
    2: np.dtype("<u2"),
    4: np.dtype("<u4"),
}

_Steps = tuple[int, ...]


def move(memories: Mapping[Space, Memory], outcome: Outcome) -> None:
    """Moves the bytes of an op that was found legal; nothing for one that writes nothing.

    Raises:
        ValueError, TypeError: the op leaves a memory, or pads elements of a size that cannot be
            padded.
    """
    read, written = outcome.read, outcome.written
    if read is None or written is None:
        return
    # Outermost loop first. A stride used zero times may be any number: leave it out.
    shape: _Steps = ()
    src_steps: _Steps = ()
    dst_steps: _Steps = ()
    for count, src, dst in zip(written.counts, read.strides, written.strides, strict=True):
        if count > 1:
            shape = (count, *shape)
            src_steps = (src, *src_steps)
            dst_steps = (dst, *dst_steps)
    pad = outcome.pad
    if not shape and pad is None:
        _move_row(memories, read, written)
        return
    if rows_collide(written.length, shape, dst_steps) or (
        pad is not None and _cuts_elements(read, written, outcome.left, pad, dst_steps)
    ):
        _move_rows(memories, outcome, read, written, shape, src_steps, dst_steps)
        return
    target = memories[written.space].data
    if pad is not None:
        data_end = outcome.left + read.length
        _fill_pads(target, written.base, 0, outcome.left, pad, shape, dst_steps)
        _fill_pads(target, written.base, data_end, written.length, pad, shape, dst_steps)
    block = (*shape, read.length)
    source = np.ndarray(block, _BYTE, memories[read.space].data, read.base, (*src_steps, 1))
    data = np.ndarray(block, _BYTE, target, written.base + outcome.left, (*dst_steps, 1))
    data[...] = source


def _move_row(memories: Mapping[Space, Memory], read: Footprint, written: Footprint) -> None:
    """Moves a single row, for which strided views would cost more than the bytes."""
    source, target = memories[read.space], memories[written.space]
    src_end, dst_end = read.base + read.length, written.base + written.length
    if src_end > source.size or dst_end > target.size:
        raise ValueError(
            f"row from {read.space.name} {read.base:#x} to {written.space.name} {written.base:#x} "
            "leaves its memory"
        )
    target[written.base : dst_end] = source[read.base : src_end]


def rows_collide(length: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> bool:
    """Returns whether two of the rows share a byte.

    Args:
        length: Bytes in a row.
        shape: Counts above 1 of rows and loops, in any order.
        steps: The byte stride of each.
    """
    if not shape:
        return False
    if len(shape) == 1:
        return steps[0] < length
    # Rows cannot collide if each step exceeds the extent of all inner loops.
    reach = length
    for step, count in sorted(zip(steps, shape, strict=True)):
        if step < reach:
            break
        reach += step * (count - 1)
    else:
        return False
    starts = np.zeros(1, dtype=np.int64)
    for step, count in zip(steps, shape, strict=True):
        starts = (starts[:, None] + np.arange(count, dtype=np.int64) * step).ravel()
    starts.sort()
    return bool((np.diff(starts) < length).any())


def _cuts_elements(
    read: Footprint, written: Footprint, left: int, pad: PadPattern, steps: _Steps
) -> bool:
    """Returns whether a pad region begins or ends inside a pad element."""
    parts = written.base | left | read.length | written.length
    for step in steps:
        parts |= step
    return bool(parts & (pad.size - 1))


def _fill_pads(
    target: memoryview,
    base: int,
    start: int,
    stop: int,
    pad: PadPattern,
    shape: _Steps,
    steps: _Steps,
) -> None:
    """Writes bytes ``start .. stop - 1`` of all rows at once, element by element."""
    if start == stop:
        return
    element = _PAD_ELEMENT.get(pad.size)
    if element is None:
        raise ValueError(f"elements of {pad.size} bytes cannot be padded (DMA-L03): 1, 2 or 4")
    rows = (*shape, (stop - start) // pad.size)
    pads: NDArray[np.integer] = np.ndarray(rows, element, target, base + start, (*steps, pad.size))
    pads[...] = pad.value


def _move_rows(
    memories: Mapping[Space, Memory],
    outcome: Outcome,
    read: Footprint,
    written: Footprint,
    shape: _Steps,
    src_steps: _Steps,
    dst_steps: _Steps,
) -> None:
    """Moves row after row, in the order of the spec's loops."""
    pad = outcome.pad
    source, target = memories[read.space], memories[written.space]
    for index in product(*map(range, shape)):
        src, row = read.base, written.base
        for i, src_step, dst_step in zip(index, src_steps, dst_steps, strict=True):
            src += i * src_step
            row += i * dst_step
        data = row + outcome.left
        tail, end = data + read.length, row + written.length
        if max(tail, end) > target.size or src + read.length > source.size:
            raise ValueError(
                f"row from {read.space.name} {src:#x} to {written.space.name} {row:#x} leaves its "
                "memory"
            )
        if pad is not None:
            target[row:data] = pad_bytes(pad, row, data)
        target[data:tail] = source[src : src + read.length]
        if pad is not None:
            target[tail:end] = pad_bytes(pad, tail, end)


def pad_bytes(pad: PadPattern, start: int, stop: int) -> Memory:
    """Returns PADBYTE(a) for a in start..stop-1."""
    element = np.frombuffer(pad.value.to_bytes(pad.size, "little"), dtype=np.uint8)
    return element[np.arange(start, stop) % pad.size]
