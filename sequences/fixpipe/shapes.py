# SPDX-License-Identifier: Apache-2.0
"""Shapes of write-backs: rows, columns, and the strides of source and destination.

Each op by itself is legal; :mod:`sequences.fixpipe.layout` places the ops of a block side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from sequences.constraints import GM_SIZE, MAX_COLUMNS, MAX_FAR_ROWS, OpConstraints
from sequences.draw.shapes import Bools, Ints, log_uniform, pick, steps
from sequences.fixpipe.kinds import GM, L1, Kinds
from tb.isa.fix.table import (
    ALPHA_WORD,
    DST_STRIDE_BITS,
    GROUP,
    K_BITS,
    L0C_WORD,
    LOOP3_BITS,
    MAX_M,
    MAX_M_NZ,
    NZ2DN,
    NZ2NZ,
    QUANT_RECORD,
    SRC_STRIDE_BITS,
    UB_SPLIT_M,
    UB_SPLIT_N,
)
from tb.isa.nest import NESTS, Rows
from tb.isa.spaces import UB_BLOCK

MOST_ELEMENTS = 65536
"""Elements of a whole L0C."""

_USUAL_WORDS = 1024
_USUAL_BYTES = 16384
"""Reach of most ops at the source, in words of 64 B, and at the destination."""

_LONG_VECTORS = 2.0
"""Ops with vectors that use at least half of fb, for each big tile among as many ops."""

_EDGES = (1, 2, 8, 15, 16, 16, 17, 24, 32, 33, 48, 64)
"""Rows and columns around whole groups and halves of them."""

_WHOLE_BLOCKS = 0.2
"""Fraction of ops with rows of whole blocks on chip."""

_HOPS = np.array([[8], [12], [16], [20], [24], [31]])
_GM_HOPS, _CHIP_HOPS = 0.05, 0.06
"""Steps of some rows and repeats beyond their length, as powers of two, and fractions of ops."""

_GAPS = {"adjoin": 0.6, "next": 0.14, "near": 0.15, "wide": 0.06, "farthest": 0.05}
_READ_GAPS = {"adjoin": 0.4, "next": 0.09, "near": 0.18, "farthest": 0.1, "inside": 0.23}
"""Weights of the distances of pieces at the destination, and at the source."""

_STRIDE_MAX = (1 << SRC_STRIDE_BITS) - 1
_K_MAX = (1 << K_BITS) - 1
_LOOP_MAX = (1 << LOOP3_BITS) - 1
_DS_MAX = (1 << DST_STRIDE_BITS) - 1


@dataclass
class Shapes:
    """Shapes of N write-backs.

    Attributes:
        nop: ``bool[N]``, has a zero count.
        far: ``bool[N]``, rows anywhere in GM.
        columns: Descriptor fields.
    """

    nop: Bools
    far: Bools
    columns: dict[str, Ints]


def _up(value: Ints, unit: Ints | int) -> Ints:
    return -(-value // unit) * unit


def _tile(rng: np.random.Generator, count: int, limits: OpConstraints) -> tuple[Ints, Ints]:
    """Draws rows and columns without regard to rules."""
    size = pick(rng, count, np.array([0.32, 0.38, 0.09, 0.09, 0.12]))
    rows, columns = limits.tile_rows, limits.tile_columns
    most_m = np.array([min(16, rows), rows, 1, min(8, rows), rows])[size]
    most_n = np.array([min(16, columns), columns, min(16, columns), 1, columns])[size]
    draw = rng.random((2, count))
    m, n = 1 + (draw[0] * most_m).astype(np.int64), 1 + (draw[1] * most_n).astype(np.int64)
    edge = np.flatnonzero(size == 4)
    m[edge] = np.minimum(rng.choice(_EDGES, len(edge)), rows)
    n[edge] = np.minimum(rng.choice(_EDGES, len(edge)), columns)
    tall, wide = np.full(count, min(8 * rows, MAX_M)), np.full(count, min(8 * columns, MAX_COLUMNS))
    m = np.where(size == 2, log_uniform(rng, 1, tall), m)
    n = np.where(size == 3, log_uniform(rng, 1, wide), n)
    whole = (n > GROUP) & (rng.random(count) < 0.25)
    n = np.where(whole, n // GROUP * GROUP, n)
    big = np.flatnonzero(rng.random(count) < limits.big_tile)
    kind = pick(rng, len(big), np.array([0.14, 0.1, 0.32, 0.1, 0.1, 0.24]))
    low = rng.integers(1, 17, len(big))
    most = np.full(len(big), 4096)
    most_rows = (most, log_uniform(rng, 512, most), low % 2 + 1, most // 16, low * 16, low)
    widest = np.where(low < 13, MAX_COLUMNS, 4080)
    most_columns = (low, low, widest, most // 16, most // 16, log_uniform(rng, 512, most - 1))
    m[big], n[big] = np.choose(kind, most_rows), np.choose(kind, most_columns)
    return m, n


def _long_vectors(
    rng: np.random.Generator, kinds: Kinds, m: Ints, n: Ints, limits: OpConstraints
) -> tuple[Ints, Ints]:
    """Gives some ops with parameters in fb as many channels as fb holds, or half of them and more.

    Otherwise the upper half of a look-up table is used once in a thousand ops.
    """
    count = len(m)
    size = np.where(kinds.vector_quant, QUANT_RECORD, ALPHA_WORD)
    most = np.maximum(limits.fb_range.size // size, 2)
    share = _LONG_VECTORS * limits.big_tile
    long = (kinds.vector_quant | kinds.vector_relu) & (rng.random(count) < share)
    channels = rng.integers(most // 2, most + 1)
    return np.where(long, rng.integers(1, 5, count), m), np.where(long, channels, n)


def _fit_tile(
    kinds: Kinds, m: Ints, n: Ints, limits: OpConstraints, space: Ints, whole: Bools
) -> tuple[Ints, Ints]:
    """Limits rows and columns to the rules, the memories and the budget of elements.

    Rows of the ops ``whole`` fill whole blocks on chip, so that they may be contiguous.
    """
    x, bits = kinds.columns, kinds.bits
    nz, dn = x["layout"] == NZ2NZ, x["layout"] == NZ2DN
    words = limits.l0c_range.size // L0C_WORD
    # Rows at the destination start at whole blocks on chip.
    unit = np.where(kinds.opcode == GM, np.where(bits == 4, 2, 1), 8 * UB_BLOCK // bits)
    room = space * 8 // bits
    budget = np.minimum(limits.max_bytes * 8 // bits, MOST_ELEMENTS)
    usual = np.where(dn, limits.tile_rows, limits.tile_columns)
    whole = whole & (budget >= _USUAL_WORDS) & (unit <= usual)
    step_n = np.where(nz, np.where(x["split"] == 1, 8, 16), 1)
    step_n = np.where(x["ub_mode"] == UB_SPLIT_N, 32, step_n)
    step_n = np.maximum(step_n, np.where(dn, 1, np.where(whole, unit, np.where(bits == 4, 2, 1))))
    step_m = np.where((x["ub_mode"] == UB_SPLIT_M) | ((bits == 4) & dn), 2, 1)
    most = np.where(kinds.vector_quant, limits.fb_range.size // QUANT_RECORD, MAX_COLUMNS)
    fits = np.where(kinds.vector_relu, limits.fb_range.size // ALPHA_WORD, MAX_COLUMNS)
    most = np.minimum(np.minimum(most, fits), MAX_COLUMNS)
    most = np.where(dn, most, np.minimum(most, room // unit * unit)) // step_n * step_n
    n = np.minimum(np.minimum(n, budget), most)
    n = np.clip(_up(n, step_n), step_n, most)
    m = np.minimum(np.minimum(m, np.maximum(budget // n, 1)), words)
    m = np.where(dn, np.minimum(m, room // unit * unit), m)
    m = np.where(~dn, np.minimum(m, room // np.where(nz, n, _up(n, unit))), m)
    # Downwards, so that it still fits; one row where there have to be two makes two.
    block = np.where(whole, np.where(dn, unit, np.where(nz, GROUP, 1)), 1)
    m = np.where(m >= block, m // block * block, m)
    m = np.maximum(m // step_m * step_m, step_m)
    n = np.where(dn, np.clip(room // _up(m, unit), 1, n), n)
    return m, n


def draw_shapes(rng: np.random.Generator, kinds: Kinds, limits: OpConstraints) -> Shapes:
    """Draws the shapes of ``kinds``."""
    count = len(kinds)
    x = kinds.columns
    space = np.select(
        [kinds.opcode == GM, kinds.opcode == L1],
        [limits.max_gm_bytes, limits.max_l1_bytes // UB_BLOCK * UB_BLOCK],
        limits.max_ub_bytes // UB_BLOCK * UB_BLOCK,
    )
    whole = rng.random(count) < _WHOLE_BLOCKS
    tile = _long_vectors(rng.spawn(1)[0], kinds, *_tile(rng, count, limits), limits)
    m, n = _fit_tile(kinds, *tile, limits, space, whole)
    stretch = rng.random(count) < limits.stretch
    columns = _source(rng, kinds, m, n, stretch, limits)
    nop = rng.random(count) < limits.nop
    far = (kinds.opcode == GM) & ~nop & (rng.random(count) < limits.far)
    far = _destination(rng, kinds, m, n, columns, space, stretch, far)
    columns.update(m=m, n=n)
    shapes = Shapes(nop, far, columns)
    _hop(rng, kinds, shapes, space, limits)
    columns["loop3_count"] = np.where(x["loop3_en"] == 1, columns["loop3_count"], 0)
    _make_nops(rng, kinds, shapes)
    return shapes


def sides(kinds: Kinds, columns: dict[str, Ints]) -> tuple[Rows, Rows]:
    """Returns the rows that write-backs read and write, ``int64[N]``, at address 0."""
    v = SimpleNamespace(**{**kinds.columns, **columns}, dst_bits=kinds.bits, src_addr=0, dst_addr=0)
    return NESTS["fix"].read(v), NESTS["fix"].written(v)


def _source(
    rng: np.random.Generator,
    kinds: Kinds,
    m: Ints,
    n: Ints,
    stretch: Bools,
    limits: OpConstraints,
) -> dict[str, Ints]:
    """Draws K, the strides of groups and of repeats, and a first count of repeats."""
    count, x = len(m), kinds.columns
    words = limits.l0c_range.size // L0C_WORD
    most = np.where(stretch, words, min(_USUAL_WORDS, words))
    groups = -(-n // GROUP)
    least = np.minimum(m * np.minimum(groups, 4), words)
    most = np.maximum(most, least)
    dn = x["layout"] == NZ2DN
    kind = pick(rng, count, np.array([0.5, 0.3, 0.2]))
    fit = (most - 1) // np.maximum(m - 1, 1)
    far = log_uniform(rng, 1, np.maximum(fit, 1))
    k = np.choose(kind, (np.ones_like(m), rng.integers(2, 6, count), far))
    k = np.maximum(np.minimum(k, fit), 1)
    lone = (m == 1) & (rng.random(count) < 0.5)
    k = np.where(lone, rng.integers(1, _K_MAX + 1, count), k)
    # Some that check flags have K 1 anyway (FIX-L20); those with flags and another K lose them.
    check = x["unit_flag"] > 0
    keep = check & (rng.random(count) < 0.7)
    x["unit_flag"] = np.where(check & dn & ~keep & (k != 1), 0, x["unit_flag"])
    k = np.where(keep & dn, 1, k)
    step = np.where(dn, k, 1)
    span = (m - 1) * step + 1
    tight = _up(span, GROUP)
    fit = np.maximum(most - span, 0) // np.maximum(groups - 1, 1) // GROUP * GROUP
    stride = steps(rng, tight, np.minimum(fit, _STRIDE_MAX // GROUP * GROUP), _READ_GAPS, GROUP)
    kind = pick(rng, count, np.array([0.35, 0.2, 0.3, 0.15]))
    unused = np.choose(
        kind,
        (tight, np.zeros_like(m), rng.integers(0, _STRIDE_MAX + 1, count), _STRIDE_MAX + 0 * m),
    )
    stride = np.where(groups > 1, stride, np.minimum(unused, _STRIDE_MAX))
    hull = (groups - 1) * np.where(groups > 1, stride, 0) + span
    kind = pick(rng, count, np.array([0.1, 0.32, 0.4, 0.14, 0.04]))
    repeat = np.choose(
        kind,
        (1 + 0 * m, 2 + 0 * m, rng.integers(3, 6, count), rng.integers(6, 17, count),
         rng.integers(17, 201, count)),
    )  # fmt: skip
    budget = np.minimum(limits.max_bytes * 8 // kinds.bits, 8192)
    repeat = np.minimum(repeat, np.maximum(budget // (m * n), 1))
    loop = x["loop3_en"] == 1
    repeat = np.where(loop, repeat, 1)
    fit = np.maximum(most - hull, 0) // np.maximum(repeat - 1, 1)
    apart = steps(rng, hull, np.minimum(fit, _LOOP_MAX), _READ_GAPS)
    anything = np.where(rng.random(count) < 0.3, _LOOP_MAX, rng.integers(0, _LOOP_MAX + 1, count))
    apart = np.where(repeat > 1, apart, anything)
    return {
        "k": np.where(dn, k, 0),
        "src_stride": stride,
        "loop3_count": repeat,
        "loop3_src": np.where(loop, apart, 0),
    }


def _destination(
    rng: np.random.Generator,
    kinds: Kinds,
    m: Ints,
    n: Ints,
    columns: dict[str, Ints],
    space: Ints,
    stretch: Bools,
    far: Bools,
) -> Bools:
    """Draws DS and D3 so that no element is written twice (FIX-L24); may lower repeats.

    Returns:
        Which ops are far.
    """
    count, x, bits = len(m), kinds.columns, kinds.bits
    nz, dn = x["layout"] == NZ2NZ, x["layout"] == NZ2DN
    half = x["ub_mode"]
    part_m = np.where(half == UB_SPLIT_M, m // 2, m)
    part_n = np.where(half == UB_SPLIT_N, n // 2, n)
    group = np.where(x["split"] == 1, 8, 16)
    rows = np.where(nz, n // group, np.where(dn, n, part_m))
    row = np.where(nz, m * group, np.where(dn, m, part_n))
    unit = np.where(kinds.opcode == GM, np.where(bits == 4, 2, 1), 8 * UB_BLOCK // bits)
    least = _up(row, unit)
    room = space * 8 // bits
    repeat: Ints = np.clip(room // (rows * least), 1, columns["loop3_count"])
    usual = np.minimum(space, _USUAL_BYTES) * 8 // bits
    most = np.where(stretch | (rows * least * repeat > usual), room, usual)
    between = (repeat > 1) & (rows > 1) & (rng.random(count) < 0.3)
    inner = np.where(between, least * repeat, least)
    share = np.where(between, most - least * repeat, most // repeat - least)
    fit = share // np.maximum(rows - 1, 1)
    stride = steps(rng, inner, np.maximum(fit, inner), _GAPS, unit)
    loose = rng.random(count) < 0.5
    anything = np.where(rng.random(count) < 0.3, _DS_MAX, log_uniform(rng, 1, _DS_MAX + 0 * m))
    anything = np.maximum(anything // unit, 1) * unit
    stride = np.where((rows == 1) & loose, anything, stride)
    body = np.where(rows > 1, (rows - 1) * stride, 0) + least
    fit = (most - body) // np.maximum(repeat - 1, 1)
    fit = np.where(between, np.minimum(stride // repeat, fit), fit)
    tight = np.where(between, least, body)
    outer = steps(rng, tight, np.maximum(fit, tight), _GAPS, unit)
    once = rng.random(count)
    anything = np.where(
        once < 0.2, _DS_MAX, np.where(once < 0.4, 0, log_uniform(rng, 1, _DS_MAX + 0 * m))
    )
    outer = np.where(repeat > 1, outer, anything // unit * unit)
    far &= (rows * repeat > 1) & (rows * repeat <= MAX_FAR_ROWS)
    stride, outer = _far(rng, stride, outer, rows, repeat, least, unit, far, bits)
    loop = x["loop3_en"] == 1
    outer = np.where(loop, outer, 0)
    columns.update(dst_stride=stride, loop3_dst=outer, loop3_count=repeat)
    return far


def _far(
    rng: np.random.Generator,
    stride: Ints,
    outer: Ints,
    rows: Ints,
    repeat: Ints,
    least: Ints,
    unit: Ints,
    far: Bools,
    bits: Ints,
) -> tuple[Ints, Ints]:
    """Spreads rows, or else repeats, over the 40-bit space."""
    count = len(stride)
    most = np.minimum(_DS_MAX, (1 << 39) * 8 // bits // np.maximum(rows * repeat, 1))
    low = np.maximum(rows * least * repeat, 4096)
    wide = np.maximum(log_uniform(rng, low, np.maximum(most, low)) // unit, 1) * unit
    wide = np.where(rng.random(count) < 0.1, most // unit * unit, wide)
    by_row = far & (rows > 1) & ((repeat == 1) | (rng.random(count) < 0.5))
    by_repeat = far & ~by_row
    tight = rows * least
    stride = np.where(by_row, wide, np.where(by_repeat & (rows > 1), least, stride))
    outer = np.where(
        by_row & (repeat > 1), least, np.where(by_repeat, np.maximum(wide, tight), outer)
    )
    return stride, outer


def _hop(
    rng: np.random.Generator,
    kinds: Kinds,
    shapes: Shapes,
    space: Ints,
    limits: OpConstraints,
) -> None:
    """Gives some ops rows or repeats that are apart by their own length and a power of two.

    An engine that compares only low bits of such a stride treats them as adjacent.
    """
    columns, gm = shapes.columns, kinds.opcode == GM
    chance = np.where(gm, _GM_HOPS, _CHIP_HOPS) * np.where(columns["loop3_count"] > 1, 3, 1)
    written = sides(kinds, columns)[1]
    pieces = written.counts[0] * columns["loop3_count"]
    hop = (rng.random(len(gm)) < chance) & ~shapes.nop & (pieces > 1) & (pieces <= MAX_FAR_ROWS)
    hop &= gm | (written.length % UB_BLOCK == 0)
    index = np.flatnonzero(hop)
    gm, bits, rows = gm[index], kinds.bits[index], written.counts[0][index]
    repeat = pieces[index] // rows
    row = written.length[index] * 8 // bits
    by_row = (rows > 1) & ((repeat == 1) | (rng.random(len(index)) < 0.5))
    both = rng.random(len(index)) < 0.5
    step = 1 << _HOPS
    stride = np.where(by_row, row + step, row)
    outer = rows * stride + np.where(by_row & ~both, 0, step)
    reach = ((rows - 1) * stride + (repeat - 1) * outer + row) * bits // 8
    fits = (stride <= _DS_MAX) & ((repeat == 1) | (outer <= _DS_MAX))
    far = gm & (limits.far > 0) & (reach > _USUAL_BYTES)
    fits &= np.where(far, reach <= GM_SIZE // 2, reach <= space[index])
    # One of the steps that fit, as likely as any other.
    which = np.where(fits, rng.random(fits.shape), -1.0).argmax(axis=0)
    place = np.arange(len(index))
    some = fits[which, place]
    which, place, index = which[some], place[some], index[some]
    several = rows[place] > 1
    columns["dst_stride"][index[several]] = stride[which, place][several]
    several = repeat[place] > 1
    columns["loop3_dst"][index[several]] = outer[which, place][several]
    shapes.far[index] = far[which, place]


def _make_nops(rng: np.random.Generator, kinds: Kinds, shapes: Shapes) -> None:
    """Gives NOPs a zero count, and other operands limited only by their width and steps."""
    index = np.flatnonzero(shapes.nop)
    x, columns = kinds.columns, shapes.columns
    loop = x["loop3_en"][index] == 1
    zero = pick(rng, len(index), np.array([0.3, 0.3, 0.1, 0.3]))
    zero = np.where((zero == 3) & ~loop, rng.integers(0, 2, len(index)), zero)
    nz = x["layout"][index] == NZ2NZ
    wide = rng.random((4, len(index))) < 0.4
    most = np.where(nz, MAX_M_NZ, MAX_M)
    columns["m"][index] = np.where(wide[0] | nz, most, columns["m"][index])
    step = np.where(nz, 16, np.where(x["ub_mode"][index] == UB_SPLIT_N, 32, 1))
    step = np.where((kinds.bits[index] == 4) & (x["layout"][index] != NZ2DN), 2, step)
    columns["n"][index] = np.where(wide[1], MAX_COLUMNS // step * step, columns["n"][index])
    columns["m"][index[(zero == 0) | (zero == 2)]] = 0
    columns["n"][index[(zero == 1) | (zero == 2)]] = 0
    columns["loop3_count"][index] = np.where(
        loop & wide[2], _LOOP_MAX, columns["loop3_count"][index]
    )
    columns["loop3_count"][index[zero == 3]] = 0
    columns["src_stride"][index] = np.where(
        wide[3], _STRIDE_MAX // GROUP * GROUP, columns["src_stride"][index] // GROUP * GROUP
    )
