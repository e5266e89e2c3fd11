# SPDX-License-Identifier: Apache-2.0
"""The part of the matrix unit that programs need: L1 to L0A and L0B, and the product into L0C.

No engine executes these ops. When a program is replayed they are computed here, on the golden
memories, and the bytes written are copied to the memories under test.

Layout of the tiles (spec/l0_loads.md, sections 1 to 3 and 6):

- L1, L0A and L0B hold NZ tiles as spec/nd2nz.md, section 3 writes them with loop2 = 1 and
  loop3 = R: element (row, column) at ``32 * ((column div C0) * R + row) + (column mod C0) * E``,
  where C0 = 32 / E and R is the number of rows rounded up to a multiple of 16. Rows are M and
  columns K in L0A; rows are N and columns K in L0B. The left factor with M = 1 is a vector unless
  ``disable_gemv`` is given.
- A load of L0B transposes squares of 16 x 16 elements, of 32 x 32 elements of one byte: its tile
  in L1 has K and N rounded up to them. The rows of L0B are N rounded up to 16, as ``mad`` reads
  them, also where the squares of one byte have more (LD-A1).
- L0C holds 32-bit accumulators as spec/fixpipe.md, section 2 reads them with src_stride = R: (row,
  column) at ``64 * ((column div 16) * R + row) + 4 * (column mod 16)``, R as above from M.

Of a product the M x N accumulators are written, and no byte between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.isa.cube import L0_BYTES, MAD_TYPES, CubeOp, Mad, MteL1L0a, MteL1L0b
from tb.isa.dtypes import element_bytes
from tb.isa.spaces import Space

FRACTAL_ROWS = 16
"""Rows of a fractal; tiles have whole ones."""

C0_BYTES = 32
"""Bytes of a row of a fractal in L1, L0A and L0B."""

BYTE_SQUARE = 32
"""Rows and columns that a transposing load moves at once, of elements of one byte; else 16."""

VECTOR = 512
"""Unit of the bytes of a left factor that is a vector."""

GROUP = 16
"""Columns of a group of accumulators."""

WORD = 64
"""Bytes of the accumulators of one row of a group."""

CANONICAL_NAN = 0x7FC00000
"""Bits written for a product that is NaN, on every machine."""

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Bytes that an op writes: row ``i`` of ``data`` (``uint8[n, b]``) goes to ``starts[i]``."""

    space: Space
    starts: Ints
    data: Bytes

    def put(self, memory: Bytes) -> None:
        """Writes them into a memory, ``uint8[capacity]``."""
        memory[self.starts[:, None] + np.arange(self.data.shape[1])] = self.data


def tile_rows(rows: int) -> int:
    """Returns the rows that a tile takes: whole fractals."""
    return -(-rows // FRACTAL_ROWS) * FRACTAL_ROWS


def nz_bytes(rows: int, columns: int, size: int) -> int:
    """Returns the bytes of an NZ tile of elements of ``size`` bytes."""
    return tile_rows(rows) * -(-columns * size // C0_BYTES) * C0_BYTES


def nz_elements(image: Bytes, rows: int, columns: int, size: int) -> Bytes:
    """Returns the elements of an NZ tile, ``uint8[rows, columns, size]``."""
    per_row = C0_BYTES // size
    groups = -(-columns // per_row)
    parts = image.reshape(groups, tile_rows(rows), per_row, size)
    laid = parts.transpose(1, 0, 2, 3).reshape(tile_rows(rows), groups * per_row, size)
    return laid[:rows, :columns]


def nz_image(elements: Bytes) -> Bytes:
    """Returns the bytes of an NZ tile of ``uint8[rows, columns, size]``: whole fractals."""
    rows, columns, size = elements.shape
    per_row = C0_BYTES // size
    parts = elements.reshape(rows, columns // per_row, per_row, size)
    return parts.transpose(1, 0, 2, 3).ravel()


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def product_starts(op: Mad) -> Ints:
    """Returns where the accumulators of each row and group begin, ``int64[m, groups]``."""
    groups = np.arange(-(-op.n // GROUP), dtype=np.int64)
    return op.dst + WORD * (groups[None, :] * tile_rows(op.m) + np.arange(op.m)[:, None])


def _in_bounds(what: str, start: int, length: int, size: int) -> None:
    if start < 0 or start + length > size:
        raise ValueError(f"{what}: {length} bytes at {start:#x} leave a memory of {size} bytes")


def _numbers(raw: Bytes, dtype: str) -> NDArray[np.float64]:
    """Returns elements ``uint8[r, c, size]`` as exact float64."""
    raw = np.ascontiguousarray(raw)
    shape = raw.shape[:2]
    if dtype == "bf16":
        wide = raw.view("<u2").reshape(shape).astype(np.uint32) << 16
        return wide.view(np.float32).astype(np.float64)
    return raw.view("<f2" if dtype == "f16" else "<f4").reshape(shape).astype(np.float64)


def multiply(lhs: Bytes, rhs: Bytes, dtype: str) -> NDArray[np.uint32]:
    """Returns the bits of the accumulators, ``uint32[m, n]``.

    Floats: exact products (that of two f32 has 48 bits), added in float64 with k ascending, and
    rounded once to f32, to nearest even. Integers: modulo 2^32.

    Args:
        lhs: Elements ``uint8[m, k, size]``.
        rhs: Elements ``uint8[k, n, size]``.
        dtype: Their type, a key of ``MAD_TYPES``.
    """
    m, k, n = lhs.shape[0], lhs.shape[1], rhs.shape[1]
    if dtype == "i8":
        one, other = (x.view(np.int8)[..., 0].astype(np.int64) for x in (lhs, rhs))
        return (one @ other).astype(np.uint32)
    left, right = _numbers(lhs, dtype), _numbers(rhs, dtype)
    total = np.zeros((m, n))
    with np.errstate(all="ignore"):
        # In this order on every machine, which a library's matrix product does not guarantee.
        for step in range(k):
            total += left[:, step, None] * right[step]
        single = total.astype(np.float32)
    bits = single.view(np.uint32)
    bits[np.isnan(single)] = CANONICAL_NAN
    return bits


class CubeModel:
    """L0A and L0B, and the ops that read and write them.

    Args:
        memories: L1 is read, at the time of an op.
        seed: Seed of the initial bytes of L0A and L0B, random so that a missing load is seen.

    Attributes:
        l0a, l0b: Their bytes, ``uint8[L0_BYTES]``.
    """

    def __init__(self, memories: Mapping[Space, Bytes], seed: int = 0) -> None:
        self._memories = memories
        rng = np.random.default_rng(seed)
        self.l0a: Bytes = rng.integers(256, size=L0_BYTES, dtype=np.uint8)
        self.l0b: Bytes = rng.integers(256, size=L0_BYTES, dtype=np.uint8)

    def execute(self, op: CubeOp) -> Rows | None:
        """Executes an op; returns the bytes that the caller must write to L0C.

        Raises:
            ValueError: it leaves a memory, or its types are no pair of ``MAD_TYPES``.
        """
        if isinstance(op, Mad):
            return self._product(op)
        if isinstance(op, MteL1L0a):
            image = self._tile(
                "mte_l1_l0a", op, nz_bytes(op.m, op.k, element_bytes(op.src_type.dtype))
            )
            self._fill("mte_l1_l0a", self.l0a, op, image)
        else:
            self._fill("mte_l1_l0b", self.l0b, op, self._transposed(op))
        return None

    def _tile(self, name: str, op: MteL1L0a | MteL1L0b, length: int) -> Bytes:
        memory = self._memories[Space.L1]
        _in_bounds(f"source of {name}", op.src, length, len(memory))
        return memory[op.src : op.src + length]

    def _fill(self, name: str, target: Bytes, op: MteL1L0a | MteL1L0b, image: Bytes) -> None:
        _in_bounds(f"destination of {name}", op.dst, len(image), len(target))
        target[op.dst : op.dst + len(image)] = image

    def _transposed(self, op: MteL1L0b) -> Bytes:
        """Returns the N x K tile of a K x N tile in L1."""
        size = element_bytes(op.src_type.dtype)
        square = BYTE_SQUARE if size == 1 else FRACTAL_ROWS
        rows, columns = _up(op.k, square), _up(op.n, square)
        image = self._tile("mte_l1_l0b", op, rows * columns * size)
        turned = nz_elements(image, rows, columns, size).transpose(1, 0, 2)
        return nz_image(turned[: tile_rows(op.n)])

    def _product(self, op: Mad) -> Rows | None:
        dtype = op.lhs_type.dtype
        if op.rhs_type.dtype != dtype or MAD_TYPES.get(dtype) != op.dst_type.dtype:
            types = f"{dtype} x {op.rhs_type.dtype} to {op.dst_type.dtype}"
            legal = ", ".join(f"{x} x {x} to {y}" for x, y in MAD_TYPES.items())
            raise ValueError(f"mad of {types}: one of {legal}")
        if not op.m or not op.n or not op.k:
            return None
        size = element_bytes(dtype)
        factors = []
        for what, memory, start, rows in (
            ("lhs", self.l0a, op.lhs, op.m),
            ("rhs", self.l0b, op.rhs, op.n),
        ):
            if what == "lhs" and op.vector:
                _in_bounds("lhs of mad", start, _up(op.k * size, VECTOR), len(memory))
                vector = memory[start : start + op.k * size]
                factors.append(vector.reshape(1, op.k, size))
                continue
            length = nz_bytes(rows, op.k, size)
            _in_bounds(f"{what} of mad", start, length, len(memory))
            factors.append(nz_elements(memory[start : start + length], rows, op.k, size))
        starts = product_starts(op)
        _in_bounds("dst of mad", op.dst, int(starts[-1, -1]) + WORD - op.dst, self._l0c_bytes)
        bits = multiply(factors[0], factors[1].transpose(1, 0, 2), dtype)
        # Element by element, since the last group may be narrower than the others.
        column = np.arange(op.n)
        places = starts[:, column // GROUP] + 4 * (column % GROUP)
        return Rows(Space.L0C, places.ravel(), bits.reshape(-1, 1).view(np.uint8))

    @property
    def _l0c_bytes(self) -> int:
        return len(self._memories[Space.L0C])
