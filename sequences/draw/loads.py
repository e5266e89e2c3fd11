# SPDX-License-Identifier: Apache-2.0
"""Shapes of the loads of L0A, L0B and their scales: steps, strides, starts, transposition."""

from __future__ import annotations

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.moves import Moves, by_name
from sequences.draw.shapes import Bools, Ints, log_uniform, make_nops, pick, steps, total_bytes
from tb.isa.dtypes import DTYPE_INDEX
from tb.isa.l0.table import (
    C0_BYTES,
    FRACTAL_BYTES,
    FRACTAL_ROWS,
    LOADS,
    SCALE_BYTES,
    SCALE_DTYPE,
    SCALE_RATIO,
    START_BITS,
    STEP_BITS,
    STRIDE_BITS,
)

MOST_STEP = (1 << STEP_BITS) - 1
MOST_STRIDE = (1 << STRIDE_BITS) - 1
MOST_START = (1 << START_BITS) - 1

_IS_LOAD = by_name(dict.fromkeys(LOADS, 1))
_SCALES = by_name({name: int(row.scales) for name, row in LOADS.items()})

_TYPES = (
    ("i8", "ui8", "si8", "hif8", "f8E4M3FN", "f8E5M2"),
    ("f16", "bf16", "i16", "ui16"),
    ("f32", "i32", "ui32"),
    ("f4E2M1x2", "f4E1M2x2"),
)
"""Element types by the field ``elem``."""

_BITS = np.array([8, 16, 32, 4])
"""Bits of an element by the field ``elem``."""

_ROW_SQUARES = np.array([2, 1, 1, 4])
_COLUMN_SQUARES = np.array([1, 1, 2, 1])
"""Of what m_step and k_step of a transposed load are multiples, by ``elem`` (LD-L05)."""


def loads(opcode: Ints) -> Bools:
    """Returns a mask of the loads of L0, ``bool[N]``."""
    found: Bools = _IS_LOAD[opcode] == 1
    return found


def of_scales(opcode: Ints) -> Bools:
    """Returns a mask of the loads of scales, ``bool[N]``."""
    found: Bools = _SCALES[opcode] == 1
    return found


def _elements(rng: np.random.Generator, moves: Moves, index: Ints, scales: Bools) -> Ints:
    """Draws the field ``elem`` and an element type of that size."""
    elem = np.where(scales, 0, pick(rng, len(index), np.array([0.27, 0.3, 0.23, 0.2])))
    which = rng.random(len(index))
    for code, names in enumerate(_TYPES):
        mine = elem == code
        drawn = np.array([DTYPE_INDEX[name] for name in names])
        moves.dtype[index[mine]] = drawn[(which[mine] * len(names)).astype(np.int64)]
    moves.dtype[index[scales]] = DTYPE_INDEX[SCALE_DTYPE]
    return elem


def _steps(rng: np.random.Generator, total: Ints, rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Draws two steps, multiples of ``rows`` and ``columns``, with a product of at most ``total``.

    At least one multiple of each is drawn.
    """
    most = np.clip(total // columns, 1, MOST_STEP)
    kind = pick(rng, len(total), np.array([0.16, 0.68, 0.16]))
    m_step = np.choose(kind, (np.ones_like(total), log_uniform(rng, 1, most), most))
    m_step = np.maximum(m_step // rows, 1) * rows
    left = np.clip(total // m_step, 1, MOST_STEP)
    k_step = np.where(rng.random(len(total)) < 0.75, left, log_uniform(rng, 1, left))
    return m_step, np.maximum(k_step // columns, 1) * columns


def _strides(
    rng: np.random.Generator, count: Ints, length: Ints, room: Ints, *, overlap: float
) -> Ints:
    """Draws distances of ``count`` runs of ``length`` units within ``room``; any of a lone run.

    Args:
        rng: Source of randomness.
        count: Runs, at least 1.
        length: Units of a run.
        room: Units from the first to the last one.
        overlap: Fraction of runs that share units, which only a source may.
    """
    lone = count <= 1
    most = np.minimum((room - length) // np.maximum(count - 1, 1), MOST_STRIDE)
    most = np.maximum(np.where(lone, MOST_STRIDE, most), 1)
    kinds = {
        "adjoin": 0.4 - overlap, "next": 0.1, "near": 0.26, "wide": 0.14, "farthest": 0.1,
        "inside": overlap,
    }  # fmt: skip
    drawn = steps(rng, np.minimum(length, most), most, kinds)
    small = lone & (rng.random(len(count)) < 0.5)
    strides: Ints = np.where(small, rng.integers(1, 40), np.maximum(drawn, 1))
    return strides


def _starts(rng: np.random.Generator, count: int) -> Ints:
    kind = pick(rng, count, np.array([0.4, 0.35, 0.2, 0.05]))
    small, many = rng.integers(1, 5, count), rng.integers(5, 64, count)
    zero = np.zeros(count, dtype=np.int64)
    starts: Ints = np.choose(kind, (zero, small, many, rng.integers(64, 1024, count)))
    return starts


def shape_loads(
    rng: np.random.Generator,
    moves: Moves,
    index: Ints,
    read: Ints,
    write: Ints,
    limits: OpConstraints,
) -> None:
    """Gives the ops ``index`` at most ``read`` and ``write`` bytes from end to end.

    Arguments as of :func:`sequences.draw.bursts.shape_bursts`.
    """
    size = len(index)
    scales = of_scales(moves.opcode[index])
    unit = np.where(scales, SCALE_BYTES, FRACTAL_BYTES)
    elem = _elements(rng, moves, index, scales)
    rows, columns = _ROW_SQUARES[elem], _COLUMN_SQUARES[elem]
    src_room, dst_room = read // unit, write // unit
    turn = ~scales & (rng.random(size) < 0.5) & (rows * columns <= np.minimum(src_room, dst_room))
    rows, columns = np.where(turn, rows, 1), np.where(turn, columns, 1)
    most = np.minimum(np.minimum(src_room, dst_room), np.maximum(limits.max_bytes // unit, 1))
    kind = pick(rng, size, np.array([0.45, 0.3, 0.23, 0.02]))
    few, usual = rng.integers(1, 17, size), total_bytes(rng, size, limits) // unit
    few = np.where(scales, 8 * few, few)
    total = np.choose(kind, (few, usual, log_uniform(rng, 1, most), most))
    total = np.clip(total, 1, most)
    m_step, k_step = _steps(rng, np.maximum(total, rows * columns), rows, columns)
    c0 = 8 * C0_BYTES // _BITS[elem]
    # Runs of units that lie side by side: columns of fractals, of scales rows of fragments.
    src_runs, src_run = np.where(scales, m_step, k_step), np.where(scales, k_step, m_step)
    dst_runs = np.where(turn, FRACTAL_ROWS * m_step // c0, src_runs)
    dst_run = np.where(turn, c0 * k_step // FRACTAL_ROWS, src_run)
    src_stride = _strides(rng, src_runs, src_run, src_room, overlap=0.14)
    dst_stride = _strides(rng, dst_runs, dst_run, dst_room, overlap=0.0)
    m_start, k_start = _starts(rng, size), _starts(rng, size)

    idle = np.flatnonzero(moves.nop[index])
    make_nops(rng, idle, ((m_step, MOST_STEP, rows[idle]), (k_step, MOST_STEP, columns[idle])))
    for start in (m_start, k_start):
        far = idle[rng.random(len(idle)) < 0.4]
        start[far] = rng.integers(0, MOST_START + 1, len(far))
    for stride in (src_stride, dst_stride):
        far = idle[rng.random(len(idle)) < 0.4]
        stride[far] = rng.integers(1, MOST_STRIDE + 1, len(far))

    for name, values in (
        ("elem", elem), ("transpose", turn.astype(np.int64)), ("m_start", m_start),
        ("k_start", k_start), ("m_step", m_step), ("k_step", k_step), ("src_stride", src_stride),
        ("dst_stride", dst_stride),
    ):  # fmt: skip
        moves.columns[name][index] = values
    moves.settle(index, ~moves.nop[index])


def place_loads(moves: Moves, index: Ints, read: Ints, write: Ints) -> None:
    """Sets both addresses of loads whose first bytes are at ``read`` and ``write``.

    The source address is before the first byte read by what the starts skip; they are lowered where
    that is before the memory. Scales go to a 16th of their destination address.

    Args:
        moves: The draw.
        index: ``int64[M]``, loads.
        read: ``int64[M]``, addresses in L1.
        write: ``int64[M]``, addresses in the memory that is written.
    """
    columns = moves.columns
    scales = of_scales(moves.opcode[index])
    unit = np.where(scales, SCALE_BYTES, FRACTAL_BYTES)
    names = ("m_start", "k_start")
    across, along = (np.where(scales, columns[a][index], columns[b][index])
                     for a, b in (names, names[::-1]))  # fmt: skip
    stride, room = columns["src_stride"][index], read // unit
    live = ~moves.nop[index]
    across = np.where(live, np.minimum(across, room // stride), across)
    along = np.where(live, np.minimum(along, room - across * stride), along)
    columns["m_start"][index] = np.where(scales, across, along)
    columns["k_start"][index] = np.where(scales, along, across)
    skipped = np.where(live, (across * stride + along) * unit, 0)
    columns["src_addr"][index] = read - skipped
    columns["dst_addr"][index] = np.where(scales, SCALE_RATIO * write, write)
