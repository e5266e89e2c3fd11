# SPDX-License-Identifier: Apache-2.0
"""Corners of the NZ repack: tails, packings, nested strides, and every limit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tb.isa.dtypes import ELEMENT_BYTES, Ptr
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import C0_BYTES, MAX_D, MAX_GROUPS, MAX_N, MODES, SMALL_C0
from tb.isa.op import replace

PAGE = 4096
ANY = (1, 0)
TYPES = ("ui8", "f16", "f32")

Wish = tuple[int, int]


def frac(
    dtype: str, mode: str, n: int, d: int, *, inner: int | None = None, groups: int = 1,
    outer: int | None = None, loop2: int = 1, height: int = 0, apart: int = 0,
) -> MteGmL1Frac:  # fmt: skip
    """Returns a repack at address 0; strides left out are tight.

    Args:
        dtype: Element type.
        mode: ``"nd2nz"`` or ``"dn2nz"``.
        n: Rows.
        d: Elements of a row.
        inner: Bytes between source rows.
        groups: Matrices.
        outer: Bytes between matrices; -1 for tight, None to leave it out.
        loop2: Blocks between rows.
        height: Blocks between columns, 0 for tight.
        apart: Blocks between groups beyond tight.
    """
    size = ELEMENT_BYTES[dtype]
    rows, row = (n, d * size) if mode == MODES[0] else (d, n * size)
    inner = row if inner is None else inner
    height = height or n * loop2
    columns = -(-d * size // C0_BYTES)
    return MteGmL1Frac(
        0, 0, mode, n, d, inner, groups, loop2, height, columns * height + apart,
        rows * inner if outer == -1 else outer, 0, 0, Ptr(dtype, "gm"), Ptr(dtype, "l1"),
    )  # fmt: skip


def small(dtype: str, mode: str, n: int, d: int, groups: int = 1, apart: int = 0) -> MteGmL1Frac:
    """Returns a small-C0 repack with tight source and groups ``apart`` blocks apart."""
    size = ELEMENT_BYTES[dtype]
    group = -(-n * SMALL_C0 * size // C0_BYTES)
    tight = frac(dtype, mode, n, d, groups=groups, outer=-1)
    return replace(
        tight, smallc0_en=1, dst_loop2_stride=0, dst_loop3_stride=0, dst_loop4_stride=group + apart
    )


def _shapes() -> Iterator[MteGmL1Frac]:
    for dtype, mode in product(TYPES, MODES):
        c0 = C0_BYTES // ELEMENT_BYTES[dtype]
        for d in range(1, 2 * c0 + 2):
            yield frac(dtype, mode, 3, d)
        for n in (*range(1, 36), 47, 48, 49, 63, 64, 65):
            yield frac(dtype, mode, n, c0 + n % c0 + 1)
        yield frac(dtype, mode, 1, 1)
        yield frac(dtype, mode, 100, 1)
        yield frac(dtype, mode, 1, 100)
    for dtype, mode, d in product(TYPES, MODES, range(1, SMALL_C0 + 1)):
        for n in range(1, 18):
            yield small(dtype, mode, n, d, 1 + n % 3, n % 2)


def _strides() -> Iterator[MteGmL1Frac]:
    for dtype, mode in product(TYPES, MODES):
        size = ELEMENT_BYTES[dtype]
        c0 = C0_BYTES // size
        d = 2 * c0 + 3
        row = (d if mode == MODES[0] else 5) * size
        for height, loop2 in product((0, 16, 17, 31), (1, 2, 3)):
            yield frac(dtype, mode, 5, d, loop2=loop2, height=height)
        # Columns between rows, groups between columns, groups between rows.
        between = frac(dtype, mode, 5, d, groups=2, outer=-1)
        for steps in ((3, 1, 15), (3, 1, 20), (2, 10, 1), (6, 2, 1), (6, 1, 3), (7, 2, 1)):
            names = ("dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride")
            yield replace(between, **dict(zip(names, steps, strict=True)))
        for inner in (0, 1, row // 2, row - 1, row, row + 1, row + 31, 4095, 4096, 4097):
            yield frac(dtype, mode, 5, d, inner=inner, groups=2, outer=-1)
        for groups, outer in product((1, 2, 3, 4), (None, 1, row, 4097)):
            yield frac(dtype, mode, 5, d, groups=groups, outer=outer, apart=groups - 1)


def nz_corners(bus_bytes: int) -> Iterator[tuple[MteGmL1Frac, Wish]]:
    """Yields ops and (modulus, residue) of their GM address."""
    for op in (*_shapes(), *_strides()):
        yield op, ANY
    for dtype, mode, address in product(TYPES, MODES, range(bus_bytes)):
        # Rows a byte longer than half the bus start at every place in a word.
        yield frac(dtype, mode, 7, 13, inner=13 * 4 + 1), (bus_bytes, address)
        yield small(dtype, mode, 9, 3), (bus_bytes, address)
    for before, mode in product(range(67), MODES):
        yield frac("ui8", mode, 2, 66), (PAGE, -before % PAGE)
        yield frac("f16", mode, 33, 2), (PAGE, -before % PAGE)
    for mode in MODES:
        yield frac("f16", mode, 16, 16, inner=PAGE - 1), (PAGE, 7)
        yield frac("f32", mode, 17, 9, inner=PAGE + 1), (PAGE, PAGE - 20)
        yield frac("ui8", mode, 3, 3 * PAGE + 1), (PAGE, PAGE - 1)
        # The most rows, elements of a row, and groups.
        yield frac("ui8", mode, MAX_N, 1), ANY
        yield frac("ui8", mode, 1, MAX_D), ANY
        yield frac("f16", mode, 1, 1, groups=MAX_GROUPS, outer=2), ANY
        yield small("f16", mode, 1, 2, MAX_GROUPS), ANY
    for dtype in TYPES:
        yield frac(dtype, MODES[0], 64, 512), (64, 0)
        yield frac(dtype, MODES[1], 512, 64), (64, 63)
