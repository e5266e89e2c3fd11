# SPDX-License-Identifier: Apache-2.0
"""Conversion of the columns of a block back to ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.isa.burst.table import BIAS_TYPES, BURSTS
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacyOp
from tb.isa.dma.op import Loop, Pad
from tb.isa.dma.table import MAX_LOOPS, SOURCE_SIDE
from tb.isa.dtypes import ALL_DTYPES, DTYPES, Ptr
from tb.isa.fields import OpSpec
from tb.isa.fill.op import WORD_BITS
from tb.isa.fix.program import FIX_MAKERS
from tb.isa.lower import OP_CLASSES, V06Op
from tb.isa.nz.table import MODES

_Ints = NDArray[np.int64]

Entry = tuple[V06Op | LegacyOp | CtrlOp, ...]
"""How an op of a block is written: the op alone, or with the ops that write registers for it."""


def moving_at(ops: Sequence[Any]) -> int:
    """Returns the place of the op of an entry that moves data: ops that write CTRL may follow."""
    place = len(ops) - 1
    while place and isinstance(ops[place], CtrlOp):
        place -= 1
    return place


def moving(ops: Sequence[Any]) -> Any:
    """Returns the op of an entry that moves data: the last one that does not write CTRL."""
    return ops[0] if len(ops) == 1 else ops[moving_at(ops)]


class _Lists(dict[str, list[int]]):
    """Columns of a block as lists, made when they are first read."""

    def __init__(self, columns: Mapping[str, _Ints], size: int) -> None:
        super().__init__()
        self._columns, self._zeros = columns, [0] * size

    def __missing__(self, name: str) -> list[int]:
        column = self._columns.get(name)
        found = self[name] = self._zeros if column is None else column.tolist()
        return found


_Part = Callable[[_Lists, Sequence[int]], Iterable[Any]]
"""Columns and the rows of the ops to make -> a field of each op."""


def _plain(column: str) -> _Part:
    def part(x: _Lists, rows: Sequence[int]) -> Iterable[int]:
        values = x[column]
        return [values[i] for i in rows]

    return part


def _pointers(pointers: Sequence[Ptr]) -> _Part:
    def part(x: _Lists, rows: Sequence[int]) -> Iterable[Ptr]:
        types = x["dtype"]
        return [pointers[types[i]] for i in rows]

    return part


def _loops(source: str, destination: str) -> _Part:
    names = tuple(
        (f"loop{k}_count", f"loop{k}_{source}_stride", f"loop{k}_{destination}_stride")
        for k in range(MAX_LOOPS)
    )

    def part(x: _Lists, rows: Sequence[int]) -> Iterable[tuple[Loop, ...]]:
        counts = x["n_loops"]
        if not any(counts):
            return repeat((), len(rows))
        columns = [(x[n], x[src], x[dst]) for n, src, dst in names]
        return [
            tuple([Loop(n[i], src[i], dst[i]) for n, src, dst in columns[: counts[i]]])
            if counts[i]
            else ()
            for i in rows
        ]

    return part


def _pads(x: _Lists, rows: Sequence[int]) -> Iterable[Pad | None]:
    on, value, left, right = (x[f"pad_{name}"] for name in ("en", "value", "left", "right"))
    types = x["pad_dtype"]
    return [Pad(DTYPES[types[i]], value[i], left[i], right[i]) if on[i] else None for i in rows]


def _part(spec: OpSpec, name: str) -> _Part:
    """Returns the conversion from columns to a field of an op's class, from the operand's row."""
    if name == "src_type":
        return _pointers([Ptr(dtype, spec.source) for dtype in ALL_DTYPES])
    if name == "dst_type":
        widens = spec.name in BURSTS and BURSTS[spec.name].widens
        wide = [BIAS_TYPES[t][0] if t in BIAS_TYPES else "" for t in ALL_DTYPES]
        types = wide if widens else ALL_DTYPES
        return _pointers([Ptr(dtype, spec.destination) for dtype in types])
    if name == "loops":
        source = SOURCE_SIDE[spec.name]
        return _loops(source, "loc" if source == "ext" else "ext")
    if name == "pad":
        return _pads
    if name == "mode":
        return lambda x, rows: [MODES[x["mode"][i]] for i in rows]
    if name == "src_outer_stride":
        return lambda x, rows: [x["outer_stride"][i] or None for i in rows]
    if name == "shape":
        return lambda _, rows: repeat(None, len(rows))
    if name == "fill_word_bits":
        return lambda x, rows: [WORD_BITS[x["word32"][i]] for i in rows]
    if name == "byte_offset":
        return lambda x, rows: [-x["offset"][i] if x["below"][i] else x["offset"][i] for i in rows]
    own = name == "ub_sub" or (spec.layout.family == "l0" and name in spec.layout)
    return _plain(name if own else spec.operand(name).field)


_PARTS: dict[int, tuple[type[V06Op], tuple[_Part, ...]]] = {
    cls.spec.opcode: (cls, tuple(_part(cls.spec, one.name) for one in fields(cls)))
    for cls in OP_CLASSES.values()
    if cls.spec.opcode not in FIX_MAKERS
}


def _make(code: int, x: _Lists, rows: Sequence[int]) -> Iterable[V06Op]:
    """Returns the ops of an opcode in ``rows``."""
    if code in FIX_MAKERS:
        make, types, second = FIX_MAKERS[code], x["dtype"], x["pad_dtype"]
        return [make(x, i, types[i], second[i]) for i in rows]
    cls, parts = _PARTS[code]
    return map(cls, *[part(x, rows) for part in parts])


def program_of(
    opcode: _Ints,
    columns: Mapping[str, _Ints],
    dtype: _Ints,
    pad_dtype: _Ints,
    legacy: Mapping[int, Entry],
) -> list[Entry]:
    """Returns per op of a block its v0.6 op, or the sequence it was written as.

    Args:
        opcode: ``int64[N]``.
        columns: Descriptor fields, ``int64[N]`` each; fields left out are 0.
        dtype: ``int64[N]`` source element types, indices into ``DTYPES``.
        pad_dtype: ``int64[N]`` pad types.
        legacy: Sequences of several instructions, or of a legacy form, by index.
    """
    codes = opcode.tolist()
    rows: dict[int, list[int]] = {}
    for index, code in enumerate(codes):
        if index not in legacy:
            rows.setdefault(code, []).append(index)
    lists = _Lists({**columns, "dtype": dtype, "pad_dtype": pad_dtype}, len(codes))
    program: list[Entry] = [legacy.get(i, ()) for i in range(len(codes))]
    for code, mine in rows.items():
        for index, op in zip(mine, _make(code, lists, mine), strict=True):
            program[index] = (op,)
    return program
