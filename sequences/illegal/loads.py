# SPDX-License-Identifier: Apache-2.0
"""Every D rule of the loads to L0 broken in many ways, and legal ops at the limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sequences.blocks import Op
from sequences.illegal.cases import Break, Case, Change, chain, make_cases, put, shift, too_wide
from tb.isa.dtypes import Ptr
from tb.isa.l0.op import LOAD_CLASSES, L0Load, bits_of
from tb.isa.l0.table import (
    FRACTAL_BYTES,
    LOADS,
    SCALE_BYTES,
    SCALE_DTYPE,
    SCALE_RATIO,
    START_BITS,
    STEP_BITS,
    STRIDE_BITS,
    LoadSpec,
)
from tb.isa.spaces import SIZES, Space, memory_range

L1 = SIZES[Space.L1]
SRC_ADDR_BITS, DST_ADDR_BITS = 24, 28
"""Bits of the containers of both addresses."""

MAX_START, MAX_STEP = (1 << START_BITS) - 1, (1 << STEP_BITS) - 1
MAX_STRIDE = (1 << STRIDE_BITS) - 1

WIDTH, ALIGNMENT, SQUARES, BOUNDS = 3, 4, 5, 6
"""Rules by number (spec/l0_loads.md, section 5)."""

_TYPES = {8: "i8", 16: "f16", 32: "f32", 4: "f4E2M1x2"}
_MULTIPLES = {8: (2, 1), 16: (1, 1), 32: (1, 2), 4: (4, 1)}
"""Bits of an element to what m_step and k_step of a transposed load are multiples of."""

_FIELDS = (
    ("m_start", START_BITS),
    ("k_start", START_BITS),
    ("m_step", STEP_BITS),
    ("k_step", STEP_BITS),
    ("src_stride", STRIDE_BITS),
    ("dst_stride", STRIDE_BITS),
)


def _typed(op: L0Load, dtype: str, transpose: int) -> L0Load:
    return replace(
        op,
        transpose=transpose,
        src_type=Ptr(dtype, "l1"),
        dst_type=Ptr(dtype, op.spec.destination),
    )


def _base(rng: np.random.Generator, *, spec: LoadSpec) -> Op:
    """Returns a small legal load of several columns in which every operand matters."""
    bits = int(rng.choice(list(_TYPES)))
    turn = 0 if spec.scales else int(rng.integers(0, 2))
    rows, columns = _MULTIPLES[bits] if turn else (1, 1)
    m_step, k_step = rows * int(rng.integers(1, 3)), columns * int(rng.integers(2, 4))
    starts = [int(x) for x in rng.integers(1, 4, 2)]
    src_stride = m_step + k_step + int(rng.integers(0, 4))
    # A transposed column has at most four fractals for each column of the source.
    dst_stride = max(m_step, 4 * k_step) + int(rng.integers(0, 2))
    src = SCALE_BYTES * int(rng.integers(0, 4096))
    dst = FRACTAL_BYTES * int(rng.integers(0, 8))
    made: Any = LOAD_CLASSES[spec.name]
    op = made(src, dst, *starts, m_step, k_step, src_stride, dst_stride)
    return _typed(op, SCALE_DTYPE if spec.scales else _TYPES[bits], turn)


def _plain(op: L0Load) -> L0Load:
    """Returns one unit from the start of both memories to the start, as it is."""
    return replace(
        op, src=0, dst=0, m_start=0, k_start=0, m_step=1, k_step=1, src_stride=1, dst_stride=1,
        transpose=0,
    )  # fmt: skip


def _unit(spec: LoadSpec) -> int:
    return SCALE_BYTES if spec.scales else FRACTAL_BYTES


def _alone(spec: LoadSpec, **values: int) -> Change:
    """Returns a change to one unit with other operands; ``src`` and ``dst`` count units."""
    scale = _unit(spec)
    ratio = SCALE_RATIO if spec.scales else 1

    def change(op: L0Load) -> L0Load:
        found: dict[str, Any] = dict(values)
        found["src"] = scale * found.get("src", 0)
        found["dst"] = scale * ratio * found.get("dst", 0)
        return replace(_plain(op), **found)

    return change


def _units(spec: LoadSpec) -> tuple[int, int]:
    """Returns the units of L1 and of the memory that is written."""
    return L1 // _unit(spec), len(memory_range(spec.memory)[1]) // _unit(spec)


def _axes(spec: LoadSpec) -> tuple[str, str]:
    """Returns the axis whose steps are a stride apart, and the other one."""
    return ("m", "k") if spec.scales else ("k", "m")


def _bounds(spec: LoadSpec) -> list[Break]:
    """Returns ranges one unit too long, by each operand alone and by several."""
    source, target = _units(spec)
    far, near = _axes(spec)
    half = target // 2
    cases: dict[str, Mapping[str, int]] = {
        "source at the end": {"src": source},
        "destination at the end": {"dst": target},
        "source ends behind": {"src": source - 1, f"{near}_step": 2},
        "destination ends behind": {"dst": target - 1, f"{near}_step": 2},
        "start of runs": {f"{far}_start": source},
        "start inside a run": {f"{near}_start": source},
        "largest start of runs": {f"{far}_start": MAX_START},
        "largest start inside a run": {f"{near}_start": MAX_START},
        "starts together": {f"{far}_start": source - 1, f"{near}_start": 1},
        "start times stride": {f"{far}_start": 2, "src_stride": source // 2},
        "start of 2^15, stride of 2^15": {f"{far}_start": 1 << 15, "src_stride": 1 << 15},
        "start that wraps 2^16 units": {f"{far}_start": 1 << 8, "src_stride": 1 << 8},
        "second run": {f"{far}_step": 2, "src_stride": source},
        "second run one too far": {
            "src": source - 5, f"{far}_step": 2, "src_stride": 5, "dst_stride": 1,
        },
        "largest source stride": {f"{far}_step": 2, "src_stride": MAX_STRIDE},
        "second run written": {f"{far}_step": 2, "dst_stride": target},
        "second run written one too far": {"dst": half, f"{far}_step": 2, "dst_stride": half},
        "largest destination stride": {f"{far}_step": 2, "dst_stride": MAX_STRIDE},
        "rows of 255": {f"{near}_step": MAX_STEP},
        "runs of 255": {f"{far}_step": MAX_STEP},
        "the memory and one more": {f"{near}_step": target // 2 + 1, f"{far}_step": 2,
                                    "src_stride": 1, "dst_stride": target // 2 + 1},
    }  # fmt: skip
    found = [Break(name, BOUNDS, _alone(spec, **values)) for name, values in cases.items()]
    sides = (("src", source, SRC_ADDR_BITS), ("dst", target, DST_ADDR_BITS))
    for name, units, bits in sides:
        size = units * (FRACTAL_BYTES if name == "dst" else _unit(spec))
        found += [
            Break(f"{name} + 2^{bit}", BOUNDS, shift(name, 1 << bit))
            for bit in range(size.bit_length() - 1, bits)
        ]
    return found


def _squares(spec: LoadSpec) -> list[Break]:
    """Returns transposed loads that are no whole squares."""
    if spec.scales:
        return []
    found = []
    for bits, (rows, columns) in _MULTIPLES.items():
        name = _TYPES[bits]
        values: list[Mapping[str, int]] = [
            {"m_step": odd, "k_step": columns} for odd in range(1, 2 * rows) if odd % rows
        ]
        values += [
            {"k_step": odd, "m_step": rows} for odd in range(1, 2 * columns) if odd % columns
        ]
        values += [{"m_step": 0, "k_step": 1}] * (columns > 1)
        values += [{"m_step": odd, "k_step": 0} for odd in (1, rows - 1) if rows > 1]
        for steps in values:
            change = _square(name, **steps)
            found.append(Break(f"{name} {dict(steps)}", SQUARES, change))
    return found


def _square(dtype: str, **steps: int) -> Change:
    fields: dict[str, Any] = dict(steps)

    def change(op: L0Load) -> L0Load:
        return _typed(replace(op, **fields, src_stride=8, dst_stride=8), dtype, 1)

    return change


def _breaks(spec: LoadSpec) -> list[Break]:
    return [
        *too_wide(_FIELDS, WIDTH),
        Break("src_stride 0", WIDTH, put("src_stride", 0)),
        Break("dst_stride 0", WIDTH, put("dst_stride", 0)),
        Break("src_stride 0 of a NOP", WIDTH, chain(put("src_stride", 0), put("m_step", 0))),
        Break("dst_stride 0 of a NOP", WIDTH, chain(put("dst_stride", 0), put("k_step", 0))),
        *[Break(f"src + {by}", ALIGNMENT, shift("src", by)) for by in (1, 2, 4, 8, 16)],
        *[
            Break(f"dst + {by}", ALIGNMENT, shift("dst", by))
            for by in (1, 2, 4, 8, 16, 32, 64, 128, 256)
        ],
        Break("src + 16 of a NOP", ALIGNMENT, chain(shift("src", 16), put("m_step", 0))),
        Break("dst + 256 of a NOP", ALIGNMENT, chain(shift("dst", 256), put("k_step", 0))),
        *_squares(spec),
        *_bounds(spec),
    ]


def _combined(spec: LoadSpec) -> list[Mapping[int, Change]]:
    changes: dict[int, Change] = {
        WIDTH: put("src_stride", 0),
        ALIGNMENT: shift("src", 16),
        BOUNDS: put(
            "dst", (len(memory_range(spec.memory)[1])) * (SCALE_RATIO if spec.scales else 1)
        ),
    }
    other: dict[int, Change] = {
        WIDTH: put("m_start", 1 << START_BITS),
        ALIGNMENT: shift("dst", 256),
        BOUNDS: shift("src", L1),
    }
    if not spec.scales:
        changes[SQUARES] = _transposed_word
        other[SQUARES] = _transposed_byte
    return [changes, other]


def _transposed_word(op: L0Load) -> L0Load:
    return _typed(replace(op, k_step=1), "f32", 1)


def _transposed_byte(op: L0Load) -> L0Load:
    return _typed(replace(op, m_step=3), "i8", 1)


def _near(rng: np.random.Generator, *, spec: LoadSpec) -> Mapping[str, Op]:
    """Returns loads that end with a memory, NOPs at the limits of each field, and whole squares."""
    source, target = _units(spec)
    far, near = _axes(spec)
    base = partial(_base, spec=spec)

    def alone(**values: int) -> Op:
        op: Op = _alone(spec, **values)(base(rng))
        return op

    half = target // 2
    found = {
        "ends with the source": alone(src=source - 2, **{f"{near}_step": 2}),
        "ends with the destination": alone(dst=target - 2, **{f"{near}_step": 2}),
        "start to the end of the source": alone(**{f"{far}_start": source - 1}),
        "start inside a run to the end": alone(**{f"{near}_start": source - 1}),
        "start times stride to the end": alone(
            **{f"{far}_start": 3, "src_stride": source // 3 if source % 3 else source // 3 - 1}
        ),
        "second run at the end": alone(**{f"{far}_step": 2, "src_stride": source - 1}),
        "second run written at the end": alone(**{f"{far}_step": 2, "dst_stride": target - 1}),
        "half and half": alone(
            **{f"{near}_step": half, f"{far}_step": 2, "src_stride": half, "dst_stride": half}
        ),
        "strides of a lone run": alone(src_stride=MAX_STRIDE, dst_stride=MAX_STRIDE),
        "NOP behind L1": alone(src=source, m_step=0),
        "NOP behind the memory": alone(dst=target, k_step=0),
        "NOP with every field at its end": alone(
            m_start=MAX_START, k_start=MAX_START, m_step=MAX_STEP, k_step=0,
            src_stride=MAX_STRIDE, dst_stride=MAX_STRIDE,
        ),
        "NOP with 255 columns": alone(m_step=0, k_step=MAX_STEP),
    }  # fmt: skip
    if not spec.scales:
        for bits, (rows, columns) in _MULTIPLES.items():
            change = _square(_TYPES[bits], m_step=rows, k_step=columns)
            found[f"one square of {_TYPES[bits]}"] = change(base(rng))
        drawn: Any = base(rng)
        odd = _typed(drawn, "i8", 0)
        found["odd steps, not transposed"] = replace(odd, m_step=3, k_step=1, dst_stride=3)
    return found


def load_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every violation, many combinations and every near miss of a load."""
    spec = LOADS[form]
    return make_cases(
        rng, form, partial(_base, spec=spec), _breaks(spec), _combined(spec),
        partial(_near, spec=spec),
    )  # fmt: skip


assert {bits_of(name) for name in _TYPES.values()} == set(_MULTIPLES), "a type for each size"
