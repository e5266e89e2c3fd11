# SPDX-License-Identifier: Apache-2.0
"""Bytes of the NZ repack (spec/nd2nz.md, sections 2 to 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tb.explain.parts import DATA, ZERO, Axis, Part, made, moved
from tb.isa.nz.op import NzDescriptor
from tb.isa.nz.table import C0_BYTES, DN2NZ, SMALL_C0
from tb.isa.spaces import Space


def nz_parts(desc: NzDescriptor) -> Iterator[Part]:
    """Yields lanes with data and lanes of zeros of a repack that moves something."""
    group = Axis("matrix", desc.group_count, desc.outer_stride, desc.dst_loop4 * C0_BYTES)
    if desc.small_c0:
        yield from _small(desc, group)
        return
    size, c0 = desc.elem_bytes, desc.c0
    whole, rest = divmod(desc.d_value, c0)
    row = _row(desc, desc.dst_loop2 * C0_BYTES)
    step = _depth(desc) * c0
    column = Axis("C0 column", whole, step, desc.dst_loop3 * C0_BYTES)
    yield _lanes(desc, (group, column, row), c0, 0, 0)
    if rest:
        last = (group, replace(column, count=1, first=whole), row)
        src, dst = whole * step, whole * desc.dst_loop3 * C0_BYTES
        yield _lanes(desc, last, rest, src, dst)
        at = (Space.L1, desc.loc_addr + dst + rest * size)
        how = f"lanes {rest} and up: d >= d_value"
        yield made(ZERO, at, C0_BYTES - rest * size, last, b"\0", how)


def _depth(desc: NzDescriptor) -> int:
    """Returns source bytes from d to d + 1."""
    return desc.inner_stride if desc.mode == DN2NZ else desc.elem_bytes


def _row(desc: NzDescriptor, step: int) -> Axis:
    src = desc.elem_bytes if desc.mode == DN2NZ else desc.inner_stride
    return Axis("n", desc.n_value, src, step)


def _lanes(desc: NzDescriptor, axes: tuple[Axis, ...], lanes: int, src: int, dst: int) -> Part:
    """Returns ``lanes`` lanes of each block; those of a source row lie side by side."""
    source, target = (Space.GM, desc.ext_addr + src), (Space.L1, desc.loc_addr + dst)
    if desc.mode != DN2NZ:
        return moved(DATA, target, source, lanes * desc.elem_bytes, axes)
    lane = Axis("lane", lanes, desc.inner_stride, desc.elem_bytes)
    return moved(DATA, target, source, desc.elem_bytes, (*axes, lane))


def _small(desc: NzDescriptor, group: Axis) -> Iterator[Part]:
    """Yields rows of four channels, packed back to back (section 4)."""
    size = desc.elem_bytes
    pitch = SMALL_C0 * size
    axes = (group, _row(desc, pitch))
    yield _lanes(desc, axes, desc.d_value, 0, 0)
    used = desc.d_value * size
    at = (Space.L1, desc.loc_addr + used)
    yield made(ZERO, at, pitch - used, axes, b"\0", f"lanes {desc.d_value} and up: d >= d_value")
    packed = desc.n_value * pitch
    behind = (Space.L1, desc.loc_addr + packed)
    missing = (desc.small_bytes - packed) // pitch
    rows = (group, Axis("n", missing, 0, pitch, desc.n_value))
    yield made(ZERO, behind, pitch, rows, b"\0", "missing rows of the last block")
