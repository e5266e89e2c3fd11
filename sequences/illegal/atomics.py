# SPDX-License-Identifier: Apache-2.0
"""Atomic stores that break DMA-L16 or L17, and legal ones at the limits (dma.md, section 5).

CTRL is written before each op and is 0 behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sequences.illegal.cases import Case, Change, changed, put, shift
from sequences.illegal.legacy import to_legacy
from tb.isa.ctrl import NOSAT_BIT, OP_LSB, TYPE_LSB, SetCtrl
from tb.isa.dma.op import Loop, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fix.table import ATOMIC_BYTES
from tb.isa.ops import LEGACY_FORMS
from tb.isa.program import Entry

RANGE, ELEMENTS, OPERATION = 12, 16, 17
"""Rules by number."""

_DTYPES = {1: "f32", 2: "f16", 3: "i16", 4: "i32", 5: "i8", 6: "bf16"}
_NO_TYPE, _NO_OP = 7, 3
_PLACES = ("len_burst", "gm_dst", "dst_stride")


def _base(rng: np.random.Generator, kind: int, loops: int) -> MteUbGm:
    """Returns a small legal store with whole words everywhere, so that any offset is a change."""
    length = 4 * int(rng.integers(2, 20))
    row = length + 4 * int(rng.integers(1, 5))
    rows = int(rng.integers(2, 4))
    steps = [rows * row + 4 * int(rng.integers(3, 8))]
    for _ in range(loops - 1):
        steps.append(2 * steps[-1] + 4 * int(rng.integers(3, 8)))
    dtype = _DTYPES.get(kind, "i8")
    return MteUbGm(
        32 * int(rng.integers(0, 512)), 4 * int(rng.integers(0, 1 << 16)), length, rows, 96, row,
        tuple(Loop(2, 512 * (k + 1), step) for k, step in enumerate(steps)),
        int(rng.integers(0, 16)), Ptr(dtype, "ub"), Ptr(dtype, "gm"),
    )  # fmt: skip


def _changes(loops: int) -> Iterator[tuple[str, Change, Change]]:
    """Yields what makes a row begin or end inside an element, and what makes that legal again."""
    for place in _PLACES:
        yield place, shift(place, 1), put("n_burst", 1)
    for k in range(loops):
        name = f"loop{k}.dst_stride"
        yield name, shift(name, 1), put(f"loop{k}.count", 1)


def _elements(rng: np.random.Generator, loops: int) -> Iterator[tuple[str, int, int, MteUbGm]]:
    """Yields name, rule, CTRL and op of stores with broken elements, and of legal ones."""
    for kind, size in ATOMIC_BYTES.items():
        ctrl = kind << TYPE_LSB | int(rng.integers(0, 3)) << OP_LSB | int(rng.integers(0, 2)) << 48
        for name, change, back in _changes(loops):
            for by in range(1, 4):
                op = _base(rng, kind, loops)
                for _ in range(by):
                    op = change(op)
                bad = by % size > 0
                rule = ELEMENTS if bad else 0
                yield f"type {kind}, {name} + {by}", rule, ctrl, op
                if bad and name not in _PLACES[:2]:
                    yield f"type {kind}, unused {name} + {by}", 0, ctrl, back(op)
                nop = put("n_burst", 0) if name != "dst_stride" else put("len_burst", 0)
                if bad:
                    yield f"NOP of type {kind}, {name} + {by}", ELEMENTS, ctrl, nop(op)
        long = changed(_base(rng, kind, loops), len_burst=65536 - size if size > 1 else 65535)
        yield f"NOP of type {kind}, longest", 0, ctrl, changed(long, n_burst=0)
    for ctrl in (0, _NO_OP << OP_LSB, 1 << NOSAT_BIT | _NO_OP << OP_LSB):
        odd = changed(_base(rng, 5, loops), len_burst=7, gm_dst=3)
        yield f"no type, CTRL {ctrl:#x}, odd rows", 0, ctrl, odd


def _operations(rng: np.random.Generator, loops: int) -> Iterator[tuple[str, int, int, MteUbGm]]:
    for what in range(4):
        ctrl = _NO_TYPE << TYPE_LSB | what << OP_LSB
        yield f"type 7, op {what}", OPERATION, ctrl, _base(rng, 5, loops)
    for kind in ATOMIC_BYTES:
        ctrl = kind << TYPE_LSB | _NO_OP << OP_LSB
        yield f"type {kind}, op 3", OPERATION, ctrl, _base(rng, kind, loops)
    ctrl = _NO_TYPE << TYPE_LSB
    for name in ("len_burst", "n_burst", *[f"loop{k}.count" for k in range(loops)]):
        yield f"type 7, {name} 0", OPERATION, ctrl, put(name, 0)(_base(rng, 5, loops))
    odd = changed(_base(rng, 5, loops), len_burst=7, gm_dst=3)
    yield "type 7, odd rows", OPERATION, ctrl, odd


def _together(rng: np.random.Generator, loops: int) -> Iterator[tuple[str, int, int, MteUbGm]]:
    """Yields stores that break one of the rules and another one."""
    both = 1 << TYPE_LSB | _NO_OP << OP_LSB
    yield "rules 16, 17", ELEMENTS, both, shift("len_burst", 2)(_base(rng, 1, loops))
    far = changed(_base(rng, 1, loops), gm_dst=(1 << 40) - 2)
    yield "rules 12, 16", RANGE, 1 << TYPE_LSB, far
    for name, rule, change in (
        ("l2 16", 5, put("l2_cache_ctl", 16)),
        ("ub_src + 16", 6, shift("ub_src", 16)),
    ):
        for kind in (1, _NO_TYPE):
            op = shift("gm_dst", 1)(change(_base(rng, kind, loops)))
            yield f"{name}, type {kind}", rule, kind << TYPE_LSB, op


def store_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns the cases of atomic stores, in the v0.6 or the register form."""
    legacy = form in LEGACY_FORMS
    loops = 2 if legacy else 3
    found = []
    for make in (_elements, _operations, _together):
        for name, rule, ctrl, op in make(rng, loops):
            entry: Entry = (op,)
            if legacy:
                sets, copy = to_legacy(op)
                entry = (*sets, copy)
            writes = (SetCtrl(ctrl), *entry, SetCtrl(0)) if ctrl else entry
            found.append(Case(name, form, rule, writes))
    return found
