# SPDX-License-Identifier: Apache-2.0
"""Write-backs as arrays, with the derived quantities that coverage classifies."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from tb.coverage.model import NOT_SAMPLED, Ints
from tb.coverage.view import Bools, Part, View
from tb.isa.burst.table import MTE_L1_FB
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.fix.table import (
    DST_BITS,
    DST_CODES,
    DST_HIF8,
    FLAG_BLOCK,
    FLOAT_DSTS,
    GROUP,
    L0C_WORD,
    NZ2DN,
    NZ2NZ,
    QUANT_BY_CODE,
    QUANT_MODES,
    SAT_MODES,
    UB_SPLIT_M,
    UB_SPLIT_N,
    WRITE_BACKS,
)
from tb.isa.profile import current

LAYOUTS: tuple[str, ...] = ("omitted", "nz2nd", "nz2dn", "nz2nz", "nz2nz split")
SPLITS: tuple[str, ...] = ("split_m", "split_n")
"""Layouts in bins; a tile that is split over both sub-blocks is a separate layout."""

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
"""Conversions to integers (spec/fixpipe.md, section 4): the source stage, then S5 or S9 unless the
name has the destination; S17 to 16 bits, WIDE to 32."""

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

_FIX_OPCODES = [spec.opcode for spec in WRITE_BACKS]

_CODES = range(len(QUANT_BY_CODE))
_KIND = np.array([_kind(code) for code in _CODES])
_STAGE = np.array([_stage(code) for code in _CODES])
_SCALED = np.array([QUANT_BY_CODE[code].scale for code in _CODES])
_VECTOR = np.array([QUANT_BY_CODE[code].vector for code in _CODES])
_HYBRID = np.array([QUANT_BY_CODE[code].narrow == _HYBRID_NAME for code in _CODES])
_HALVES = [DST_CODES[name] for name in ("f16", "bf16")]
_NEVER_NOSAT = [QUANT_MODES[name].code for name in ("f32_bf16", "deqf16_scalar", "deqf16_vec")]
"""Modes whose conversion saturates whatever the clause says (knob ``sat_scope``)."""
_BITS = np.array(DST_BITS)
_SPELLING = np.full(len(ALL_DTYPES), NOT_SAMPLED)
_SPELLING[[ALL_DTYPES.index(name) for name in DST_TYPES]] = np.arange(len(DST_TYPES))


class FixPart(Part):
    """Legal write-backs. Source sizes are in 64-byte words of L0C, destination sizes in bytes.

    A destination row lies between two multiples of the destination stride: a row of M x N,
    with nz2dn a column, with nz2nz a group of columns. Of a tile split over both sub-blocks
    destination quantities are those of one half.

    Attributes:
        flag_delay: Clocks until the unit flags are set, -1 when they are from the start.
        before: Place in the view of the write-back right before on the slot in the block, or -1.
        after_load: The op before on the slot in the block is a load of fb.
    """

    def __init__(self, view: View, index: Ints) -> None:
        """Takes the ops ``index`` (``int64[M]``) of ``view``."""
        super().__init__(view, index)
        self.opcode = view.opcode[index]
        self.flag_delay = view.flag_delay[index]
        earlier = view.slot_before[index]
        known = earlier >= 0
        code = np.where(known, view.opcode[earlier], 0)
        family = np.isin(code, _FIX_OPCODES)
        self.after_load = known & (code == MTE_L1_FB.opcode)
        self.before = np.where(known & family & view.legal[earlier], earlier, NOT_SAMPLED)

    @cached_property
    def previous(self) -> FixPart:
        """The ops of :attr:`before`, or the op itself if there is none."""
        return FixPart(self._view, np.where(self.before >= 0, self.before, self._index))

    @cached_property
    def repeats(self) -> Ints:
        """R, 1 without loop3."""
        return np.where(self["loop3_en"] > 0, self["loop3_count"], 1)

    @cached_property
    def live(self) -> Bools:
        """Moves at least one element."""
        found: Bools = (self["m"] > 0) & (self["n"] > 0) & (self.repeats > 0)
        return found

    @cached_property
    def layout(self) -> Ints:
        """Index into ``LAYOUTS + SPLITS``."""
        plain = self["layout"] + ((self["layout"] == NZ2NZ) & (self["split"] > 0))
        return np.where(self["ub_mode"] > 0, len(LAYOUTS) - 1 + self["ub_mode"], plain)

    @cached_property
    def columnwise(self) -> Bools:
        """nz2dn: destination rows are columns."""
        return np.equal(self["layout"], NZ2DN)

    @cached_property
    def grouped(self) -> Bools:
        """nz2nz: destination rows are groups of columns."""
        return np.equal(self["layout"], NZ2NZ)

    @cached_property
    def sat(self) -> Ints:
        """Saturation of the conversion (knob ``sat_scope``; spec/fixpipe.md, section 7)."""
        if current().sat_scope == "all":
            return self["sat"]
        half = np.isin(self["dst_type"], _HALVES)
        never = half & np.isin(self["quant"], _NEVER_NOSAT)
        keeps = half & (self["sat"] == SAT_MODES["preserve_nan"])
        return np.where(never | keeps, 0, self["sat"])

    @cached_property
    def kind(self) -> Ints:
        """Index into ``KINDS``."""
        found: Ints = _KIND[self["quant"]]
        return found

    @cached_property
    def stage(self) -> Ints:
        """Index into ``STAGES``; ``NOT_SAMPLED`` for other destinations."""
        found: Ints = _STAGE[self["quant"]]
        return found

    @cached_property
    def scaled(self) -> Bools:
        """The mode has an M1."""
        found: Bools = _SCALED[self["quant"]]
        return found

    @cached_property
    def vector_quant(self) -> Bools:
        """M1, offset and sign are records in fb."""
        found: Bools = _VECTOR[self["quant"]]
        return found

    @cached_property
    def result(self) -> Ints:
        """Index into ``RESULTS``."""
        hybrid = (self["dst_type"] == DST_HIF8) & _HYBRID[self["quant"]]
        return np.where(hybrid, HYBRID, self["dst_type"])

    @cached_property
    def bits(self) -> Ints:
        """Bits of a destination element."""
        found: Ints = _BITS[self["dst_type"]]
        return found

    @cached_property
    def spelling(self) -> Ints:
        """Destination type as written, an index into ``DST_TYPES``."""
        found: Ints = _SPELLING[self.pad_dtype]
        return found

    @cached_property
    def groups(self) -> Ints:
        """Groups of 16 columns in the source."""
        return -(-self["n"] // GROUP)

    @cached_property
    def group_span(self) -> Ints:
        """Words from the first to the last row of a group."""
        step = np.where(self.columnwise, self["k"], 1)
        found: Ints = (self["m"] - 1) * step + 1
        return found

    @cached_property
    def tile_span(self) -> Ints:
        """Words from the first to the last of one repeat."""
        found: Ints = (self.groups - 1) * self["src_stride"] + self.group_span
        return found

    @cached_property
    def source_span(self) -> Ints:
        """Words from the first to the last of the op."""
        found: Ints = (self.repeats - 1) * self["loop3_src"] + self.tile_span
        return found

    @cached_property
    def source_end(self) -> Ints:
        """First L0C byte after a live op."""
        return self["src_addr"] + L0C_WORD * self.source_span

    @cached_property
    def flag_blocks(self) -> Ints:
        """Blocks of a unit flag from the first to the last word read."""
        return (self.source_end - 1) // FLAG_BLOCK - self["src_addr"] // FLAG_BLOCK + 1

    @cached_property
    def rows(self) -> Ints:
        """Destination rows of a repeat."""
        m = np.where(self["ub_mode"] == UB_SPLIT_M, self["m"] // 2, self["m"])
        width = np.where(self["split"] > 0, GROUP // 2, GROUP)
        return np.where(self.grouped, self["n"] // width, np.where(self.columnwise, self["n"], m))

    @cached_property
    def row_bytes(self) -> Ints:
        """Bytes of a destination row."""
        n = np.where(self["ub_mode"] == UB_SPLIT_N, self["n"] // 2, self["n"])
        width = np.where(self["split"] > 0, GROUP // 2, GROUP)
        elements = np.where(
            self.grouped, self["m"] * width, np.where(self.columnwise, self["m"], n)
        )
        return elements * self.bits // 8

    @cached_property
    def row_step(self) -> Ints:
        """Bytes from a destination row to the next."""
        return self["dst_stride"] * self.bits // 8

    @cached_property
    def hull(self) -> Ints:
        """Destination bytes from the first to the last of a repeat."""
        found: Ints = (self.rows - 1) * self.row_step + self.row_bytes
        return found

    @cached_property
    def end(self) -> Ints:
        """First destination byte after a live op."""
        repeat = self["loop3_dst"] * self.bits // 8
        return self["dst_addr"] + (self.repeats - 1) * repeat + self.hull

    @cached_property
    def bytes(self) -> Ints:
        """Bytes written, in both sub-blocks if it is split."""
        both = np.where(self["ub_mode"] > 0, 2, 1)
        return np.where(self.live, both * self.repeats * self.rows * self.row_bytes, 0)
