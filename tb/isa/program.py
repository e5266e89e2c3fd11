# SPDX-License-Identifier: Apache-2.0
"""Conversion of the columns of a block back to ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacyOp
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.lower import OP_CLASSES
from tb.isa.op import Op

_Ints = NDArray[np.int64]

Entry = tuple[Op | LegacyOp | CtrlOp, ...]
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


def _make(cls: type[Op], columns: Mapping[str, _Ints], rows: _Ints) -> Iterator[Op]:
    """Yields the ops of a class in ``rows``."""
    found = {name: columns[name][rows] for name in cls.column_names if name in columns}
    # Most columns of most blocks have the value that an op has without them.
    names = [name for name, column in found.items() if (column != cls.zeros.get(name)).any()]
    operands = zip(*(found[name].tolist() for name in names), strict=True) if names else repeat(())
    dtypes, seconds = columns["dtype"][rows].tolist(), columns["pad_dtype"][rows].tolist()
    for dtype, second, row in zip(dtypes, seconds, operands, strict=False):
        values = dict(zip(names, row, strict=True))
        yield cls.built(values, ALL_DTYPES[dtype], ALL_DTYPES[second])


_CLASSES = {cls.spec.opcode: cls for cls in OP_CLASSES.values()}


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
    columns = {**columns, "dtype": dtype, "pad_dtype": pad_dtype}
    program: list[Entry] = [legacy.get(i, ()) for i in range(len(codes))]
    for code, mine in rows.items():
        made = _make(_CLASSES[code], columns, np.array(mine))
        for index, op in zip(mine, made, strict=True):
            program[index] = (op,)
    return program
