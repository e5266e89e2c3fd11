# SPDX-License-Identifier: Apache-2.0
"""Write-backs: names of their bins, and the values that their points read.

Source sizes are in 64-byte words of L0C, destination sizes in bytes. A destination row lies between
two multiples of the destination stride: a row of M x N, with nz2dn a column, with nz2nz a group of
columns. Of a tile split over both sub-blocks destination values are those of one half.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb.coverage.model import NOT_SAMPLED, Ints
from tb.coverage.ops import Derived, Ops, sides
from tb.coverage.points import entry, place_of
from tb.isa.burst.table import BURSTS
from tb.isa.fix.table import (
    DST_BITS,
    DST_CODES,
    DST_HIF8,
    FLAG_BLOCK,
    FLAG_NONE,
    FLOAT_DSTS,
    GROUP,
    L0C_WORD,
    NZ2DN,
    NZ2NZ,
    QUANT_BY_CODE,
    QUANT_MODES,
    SAT_MODES,
    VECTOR_RELU,
    WRITE_BACKS,
)
from tb.isa.profile import current

LAYOUTS: tuple[str, ...] = ("omitted", "nz2nd", "nz2dn", "nz2nz", "nz2nz split")
SPLITS: tuple[str, ...] = ("split_m", "split_n")
"""Layouts in bins; a tile that is split over both sub-blocks is a separate layout."""

FLAGS = ("none", "check", "clear")
"""Modes of ``unit_flag``."""

SATS = ("sat", "preserve_nan", "nosat")

KINDS: tuple[str, ...] = (
    "none",
    "f32 to float",
    "f32 to integer",
    "i32 to float",
    "i32 to integer",
)
"""Kinds of ``pre_quant`` modes."""

STAGES: tuple[str, ...] = (
    "f32", "f16 of f32", "i32", "i32 to 16 bits", "i32 to 32 bits", "f16 of i32",
)  # fmt: skip
"""Conversions to integers (docs/spec/fixpipe.md, section 4): the source stage, then S5 or S9 unless
the name has the destination; S17 to 16 bits, WIDE to 32."""

WIDE = STAGES[4]
"""The conversion without a clamp before the offset."""

RESULTS: tuple[str, ...] = (
    "f32", "i32", "f16", "bf16", "i16", "e4m3", "hif8", "s8", "u8", "s4", "hif8 hybrid",
)  # fmt: skip
"""Destinations by code, and HiF8 with the other rounding."""

HYBRID = len(RESULTS) - 1
_HYBRID_NAME = "hif8_hybrid"

CONVERTING: tuple[int, ...] = tuple(
    code for code, mode in QUANT_BY_CODE.items() if mode.narrow in
    ("f16", "bf16", "e4m3", "hif8", _HYBRID_NAME)
)  # fmt: skip
"""Codes of the modes that end in the conversion to a narrower float."""

DST_TYPES: tuple[str, ...] = tuple(DST_CODES)
"""Destination element types as written."""


ALL_MODES = "modes = all"
"""Value of the knob that bins of modes outside of the list of A5 need."""


def needs_of(codes: Iterable[int]) -> str:
    """Returns the value of a knob without which none of these ``pre_quant`` codes is legal."""
    return "" if any(QUANT_BY_CODE[code].a5 for code in codes) else ALL_MODES


def _reaching(result: int) -> list[int]:
    """Returns the ``pre_quant`` codes that end in an entry of ``RESULTS``."""
    found = []
    for code, mode in QUANT_BY_CODE.items():
        dsts = {DST_CODES[name] for name in mode.dst or ("f32", "i32")}
        hybrid = mode.narrow == _HYBRID_NAME
        if (result in dsts and not hybrid) or (result == HYBRID and hybrid):
            found.append(code)
    return found


RESULT_NEEDS: dict[str, str] = {
    name: needs for number, name in enumerate(RESULTS) if (needs := needs_of(_reaching(number)))
}
"""Destinations that only modes outside of the list of A5 have, and the knob value they need."""


def _kind(code: int) -> int:
    mode = QUANT_BY_CODE[code]
    if not code:
        return 0
    to_float = DST_CODES[mode.dst[0]] in FLOAT_DSTS
    return 1 + 2 * (mode.acc == "i32") + (not to_float)


def _stage(code: int) -> int:
    mode = QUANT_BY_CODE[code]
    if mode.narrow not in ("b8", "s4", "s16", "s32"):
        return NOT_SAMPLED
    if mode.stage in ("x", "H"):
        return int(mode.stage == "H")
    if mode.stage == "HI":
        return 5
    return {"s16": 3, "s32": 4}.get(mode.narrow, 2)


STAGE_NEEDS: dict[str, str] = {
    name: needs
    for number, name in enumerate(STAGES)
    if (needs := needs_of(code for code in QUANT_BY_CODE if _stage(code) == number))
}
"""The same of conversions to integers."""

_PARAMETER_LOADS = [row.opcode for row in BURSTS.values() if row.destination == "fb"]
_FIX_OPCODES = [spec.opcode for spec in WRITE_BACKS]

_CODES = range(len(QUANT_BY_CODE))
_KIND = np.array([_kind(code) for code in _CODES])
_STAGE = np.array([_stage(code) for code in _CODES])
_SCALED = np.array([QUANT_BY_CODE[code].scale for code in _CODES])
_VECTOR = np.array([QUANT_BY_CODE[code].vector for code in _CODES])
_HYBRID = np.array([QUANT_BY_CODE[code].narrow == _HYBRID_NAME for code in _CODES])
_HALVES = [DST_CODES[name] for name in ("f16", "bf16")]
_NEVER_NOSAT = [QUANT_MODES[name].code for name in ("f32_bf16", "deqf16_scalar", "deqf16_vec")]
"""Modes whose conversion saturates whatever the clause (knob ``sat_scope``)."""
_BITS = np.array(DST_BITS)
_SPELLING = place_of(DST_TYPES)


def _previous(v: Ops) -> Ops:
    return v.at(np.where(v.before >= 0, v.before, v.places))


def _before(v: Ops) -> Ints:
    family = np.isin(v.opcode_before, _FIX_OPCODES)
    earlier = v.slot_before
    return np.where((earlier >= 0) & family & v.view.legal[earlier], earlier, NOT_SAMPLED)


def _layout_bin(v: Ops) -> Ints:
    plain: Ints = v.layout + (v.grouped & (v.split > 0))
    return np.where(v.ub_mode > 0, len(LAYOUTS) - 1 + v.ub_mode, plain)


def _conversion_sat(v: Ops) -> Ints:
    """Saturation of the conversion (knob ``sat_scope``; docs/spec/fixpipe.md, section 7)."""
    written: Ints = v.sat
    if current().sat_scope == "all":
        return written
    half = np.isin(v.dst_type, _HALVES)
    never = half & np.isin(v.quant, _NEVER_NOSAT)
    keeps = half & (written == SAT_MODES["preserve_nan"])
    return np.where(never | keeps, 0, written)


DERIVED: Derived = {
    "repeats": lambda v: np.where(v.loop3_en > 0, v.loop3_count, 1),
    "absent": lambda v: v.loop3_en == 0,
    "live": lambda v: (v.m > 0) & (v.n > 0) & (v.repeats > 0),
    # Conversion: indices into KINDS, STAGES, RESULTS and DST_TYPES; whether the mode has an M1,
    # and whether M1, offset and sign are records in fb; bits of a destination element.
    "kind": entry(_KIND, "quant"),
    "stage": entry(_STAGE, "quant"),
    "scaled": entry(_SCALED, "quant"),
    "vector_quant": entry(_VECTOR, "quant"),
    "vector_relu": lambda v: v.relu == VECTOR_RELU,
    "conversion_sat": _conversion_sat,
    "result": lambda v: np.where((v.dst_type == DST_HIF8) & _HYBRID[v.quant], HYBRID, v.dst_type),
    "spelling": entry(_SPELLING, "pad_dtype"),
    "dst_bits": entry(_BITS, "dst_type"),
    # Index into LAYOUTS + SPLITS; destination rows that are columns, and groups of columns.
    "layout_bin": _layout_bin,
    "columnwise": lambda v: v.layout == NZ2DN,
    "grouped": lambda v: v.layout == NZ2NZ,
    # Source: groups of 16 columns; words from first to last of a group, of a repeat, of the op.
    "groups": lambda v: -(-v.n // GROUP),
    **sides("fix"),
    "group_span": lambda v: v.read.hulls[1] // L0C_WORD,
    "tile_span": lambda v: v.read.hulls[2] // L0C_WORD,
    "source_end": lambda v: v.read.end,
    "flag_blocks": lambda v: (v.source_end - 1) // FLAG_BLOCK - v.src_addr // FLAG_BLOCK + 1,
    # Destination: rows of a repeat, bytes of a row, from a row to the next, from first to last
    # of a repeat, first byte after a live op, and all bytes, in both sub-blocks if it is split.
    "rows": lambda v: v.written.counts[0],
    "row_bytes": lambda v: v.written.length,
    "row_step": lambda v: v.written.strides[0],
    "repeat_step": lambda v: v.written.strides[1],
    "hull": lambda v: v.written.hulls[1],
    "end": lambda v: v.written.end,
    "tiles": lambda v: np.where(v.ub_mode > 0, 2, 1),
    "bytes": lambda v: np.where(v.live, v.tiles * v.repeats * v.rows * v.row_bytes, 0),
    "gm_addr": lambda v: v.dst_addr,
    "gm_row": lambda v: v.row_bytes,
    "gm_end": lambda v: v.end,
    # Unit flags: index into none, check, clear; ops that check them.
    "flag_mode": lambda v: np.where(v.unit_flag == FLAG_NONE, 0, v.unit_flag - 1),
    "checks": lambda v: v.live & (v.unit_flag != FLAG_NONE),
    # The op before on the slot in the block: a load of fb, or the place in the view of a legal
    # write-back, and its values (those of the op itself if there is none).
    "opcode_before": lambda v: np.where(
        v.slot_before >= 0, v.view.opcode[v.slot_before], 0
    ),
    "after_load": lambda v: np.isin(v.opcode_before, _PARAMETER_LOADS),
    "before": _before,
    "previous": _previous,
}  # fmt: skip
