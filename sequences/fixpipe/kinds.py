# SPDX-License-Identifier: Apache-2.0
"""Kinds of write-backs: destination, pre_quant code, types and clauses, drawn in random cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.shapes import Bools, Ints, pick
from tb.isa.dtypes import DTYPE_INDEX
from tb.isa.fix.table import (
    ATOMIC_DST,
    ATOMIC_TYPES,
    CLIP_CODES,
    CLIP_LIMITS,
    CLIP_TYPES,
    DST_BITS,
    DST_CODES,
    FLAG_CHECK,
    FLAG_CLEAR,
    L2_BITS,
    NZ2NZ,
    QUANT_BY_CODE,
    SCALAR_RELU,
    SID_BITS,
    UB_SPLIT_M,
    UB_SPLIT_N,
    VECTOR_RELU,
    WRITE_BACKS,
)
from tb.isa.profile import current

GM, L1, UB = (spec.opcode for spec in WRITE_BACKS)

CODES: tuple[int, ...] = tuple(QUANT_BY_CODE)
"""Every pre_quant code; see :func:`legal_codes`."""

NZ_CODES = (0, 14, 15)
"""Codes that may write f32, all that nz2nz takes (FIX-L09)."""

_F32, _I32 = DTYPE_INDEX["f32"], DTYPE_INDEX["i32"]

Kind = tuple[int, int]
"""Accumulator (0 f32, 1 i32) and destination type, an index into ``ALL_DTYPES``."""


def _kinds(code: int) -> tuple[Kind, ...]:
    mode = QUANT_BY_CODE[code]
    if not mode.dst:
        return ((0, _F32), *((1, DTYPE_INDEX[name]) for name in ("i32", "si32", "ui32")))
    return tuple((int(mode.acc == "i32"), DTYPE_INDEX[name]) for name in mode.dst)


KINDS: dict[int, tuple[Kind, ...]] = {code: _kinds(code) for code in CODES}
"""Source and destination types of each code."""

_MOST_KINDS = max(map(len, KINDS.values()))
_COUNT = np.array([len(KINDS[code]) for code in range(len(KINDS))])
_TABLE = np.array([(_MOST_KINDS * KINDS[code])[:_MOST_KINDS] for code in sorted(KINDS)])


def legal_codes() -> tuple[int, ...]:
    """Returns the pre_quant codes that the profile of the process allows (FIX-L04)."""
    every = current().modes == "all"
    return tuple(code for code, mode in QUANT_BY_CODE.items() if every or mode.a5)


_VECTOR = np.array([QUANT_BY_CODE[code].vector for code in sorted(CODES)])
_SCALE = np.array([QUANT_BY_CODE[code].scale for code in sorted(CODES)])

_DST = np.full(len(DTYPE_INDEX), -1, dtype=np.int64)
for _name, _code in DST_CODES.items():
    _DST[DTYPE_INDEX[_name]] = _code
_BITS = np.array(DST_BITS)

_ATOMIC = np.zeros(len(DTYPE_INDEX), dtype=np.int64)
for _name, _types in ATOMIC_DST.items():
    for _type in _types:
        _ATOMIC[DTYPE_INDEX[_type]] = ATOMIC_TYPES[_name]

_CLIP_MOST = {"i4": 7, "si4": 7, "i8": 127, "si8": 127}


class RandomCyclic:
    """Draws values in random cycles, as ``randc`` of SystemVerilog does."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = np.array(values, dtype=np.int64)
        self._left = np.zeros(0, dtype=np.int64)

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """Returns ``int64[count]``."""
        parts, have = [self._left], len(self._left)
        while have < count:
            parts.append(rng.permutation(self._values))
            have += len(self._values)
        drawn = np.concatenate(parts)
        self._left = drawn[count:]
        return drawn[:count]


@dataclass(frozen=True)
class CyclicKinds:
    """Cycles of a generator: of ops, and of pre_quant codes for each op and layout."""

    ops: RandomCyclic
    codes: dict[int, RandomCyclic]
    nz: RandomCyclic

    @classmethod
    def of(cls, opcodes: Sequence[int]) -> CyclicKinds:
        """Returns new cycles."""
        return cls(
            RandomCyclic(opcodes),
            {code: RandomCyclic(legal_codes()) for code in opcodes},
            RandomCyclic(NZ_CODES),
        )


@dataclass
class Kinds:
    """Kinds of N write-backs, ``int64[N]`` each; fields are those of the descriptor.

    Attributes:
        opcode: Op.
        dtype, pad_dtype: Accumulator and destination type, indices into ``ALL_DTYPES``.
        bits: Bits of a destination element.
        vector_quant, vector_relu, scale: ``bool[N]``.
        columns: Descriptor fields of the clauses, without parameters and shapes.
    """

    opcode: Ints
    dtype: Ints
    pad_dtype: Ints
    bits: Ints
    vector_quant: Bools
    vector_relu: Bools
    scale: Bools
    columns: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.opcode)


def draw_kinds(
    rng: np.random.Generator, count: int, cycles: CyclicKinds, limits: OpConstraints
) -> Kinds:
    """Draws ops and clauses; no shapes, payloads or places yet."""
    opcode = cycles.ops.draw(rng, count)
    chance = rng.random(count)
    split = (opcode == UB) & (chance < limits.ub_split)
    nz = ~split & (rng.random(count) < limits.nz2nz)
    code = np.zeros(count, dtype=np.int64)
    for op, cycle in cycles.codes.items():
        index = np.flatnonzero((opcode == op) & ~split & ~nz)
        code[index] = cycle.draw(rng, len(index))
    index = np.flatnonzero(nz)
    code[index] = cycles.nz.draw(rng, len(index))
    choice = (rng.random(count) * _COUNT[code]).astype(np.int64)
    acc, pad = _TABLE[code, np.where(nz, 0, choice)].T
    dst = _DST[pad]
    x: dict[str, Ints] = {"acc": acc.copy(), "dst_type": dst, "quant": code}
    x["ub_mode"] = np.where(split, np.where(rng.random(count) < 0.5, UB_SPLIT_M, UB_SPLIT_N), 0)
    x["ub_sub"] = np.where((opcode == UB) & ~split, rng.integers(0, 2, count), 0)
    layout = pick(rng, count, np.array([0.2, 0.4, 0.4]))
    layout = np.where(split, layout % 2, layout)
    x["layout"] = np.where(nz, NZ2NZ, layout)
    a5_list = current().modes == "a5"
    x["split"] = np.where(nz, rng.integers(0, 2, count), 0)
    if a5_list:
        x["split"] *= opcode == GM
    _relu(rng, x, split, _SCALE[code])
    _clip(rng, x, pad, split, limits)
    x["sat"] = rng.integers(0, 3, count)
    loops = ((layout > 0) & ~nz & ~split) & (rng.random(count) < limits.loop3)
    x["loop3_en"] = loops.astype(np.int64)
    flagged = rng.random(count) < limits.flag
    if a5_list:
        flagged &= x["split"] == 0
    mode = np.where(rng.random(count) < 0.5, FLAG_CHECK, FLAG_CLEAR)
    x["unit_flag"] = np.where(flagged, mode, 0)
    to_gm = opcode == GM
    update = to_gm & (_ATOMIC[pad] > 0) & (rng.random(count) < limits.atomic)
    x["atomic_type"] = np.where(update, _ATOMIC[pad], 0)
    x["atomic_op"] = np.where(update, rng.integers(0, 3, count), 0)
    x["sid"] = np.where(to_gm, rng.integers(0, 1 << SID_BITS, count), 0)
    x["l2"] = np.where(to_gm, rng.integers(0, 1 << L2_BITS, count), 0)
    # A clause that converts nothing may be written or left out.
    written = _SCALE[code] | (code > 0) | (rng.random(count) < 0.5)
    x["quant_type"] = np.where(written & ~split, rng.integers(1, 4, count), 0)
    vector_relu = x["relu"] == VECTOR_RELU
    dtype = np.where(acc == 1, _I32, _F32)
    return Kinds(
        opcode, dtype, pad.copy(), _BITS[dst], _VECTOR[code], vector_relu, _SCALE[code], x
    )  # fmt: skip


def _relu(rng: np.random.Generator, x: dict[str, Ints], split: Bools, scale: Bools) -> None:
    count = len(split)
    # Absent, then the codes; alphas need floats after the source stage (FIX-L05).
    drawn = pick(rng, count, np.array([0.3, 0.12, 0.16, 0.2, 0.22]))
    drawn = np.where((x["acc"] == 1) & ~scale & (drawn > 2), drawn - 2, drawn)
    drawn = np.where(split, 0, drawn)
    x["relu"] = np.maximum(drawn - 1, 0)
    payload = (x["relu"] == SCALAR_RELU) | (x["relu"] == VECTOR_RELU)
    kind = np.where(payload, rng.integers(1, 4, count), 1)
    x["relu_type"] = np.where(drawn > 0, kind, 0)


def _clip(
    rng: np.random.Generator,
    x: dict[str, Ints],
    pad: Ints,
    split: Bools,
    limits: OpConstraints,
) -> None:
    count = len(pad)
    x["clip_en"], x["clip"], x["clip_type"] = (np.zeros(count, dtype=np.int64) for _ in range(3))
    wanted = (rng.random(count) < limits.clip) & ~split
    for dst, most in CLIP_LIMITS.items():
        index = np.flatnonzero(wanted & (x["dst_type"] == dst))
        names = CLIP_TYPES[dst]
        choice = rng.integers(0, len(names), len(index))
        codes = np.array([CLIP_CODES.index(name) for name in names])
        caps = np.array([min(most, _CLIP_MOST.get(name, most)) for name in names])[choice]
        kind = pick(rng, len(index), np.array([0.15, 0.15, 0.35, 0.35]))
        low = 1 + (rng.random(len(index)) * np.minimum(caps, 127)).astype(np.int64)
        wide = 1 + (rng.random(len(index)) * caps).astype(np.int64)
        if dst == DST_CODES["f16"]:
            # Around 1 and 2, where data are dense.
            low = rng.integers(0x3400, 0x4800, len(index))
        value = np.choose(kind, (np.ones_like(caps), caps, np.minimum(low, caps), wide))
        x["clip_en"][index], x["clip"][index] = 1, np.minimum(value, caps)
        x["clip_type"][index] = codes[choice]
        bare = index[x["relu_type"][index] == 0]
        x["relu_type"][bare] = 1
