# SPDX-License-Identifier: Apache-2.0
"""Conversion of the columns of a block back to ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


_FEW = 64
"""In blocks of so few ops it takes longer to look for columns that could be left out."""


class _Lists(dict[str, list[int]]):
    """Columns of a block as lists, made when they are first read."""

    def __init__(self, columns: Mapping[str, _Ints], size: int) -> None:
        super().__init__()
        self._columns, self._size = columns, size

    def given(self, cls: type[Op]) -> list[str]:
        """Returns columns of the block without which ops of a class would not be the same."""
        names = [name for name in cls.column_names if name in self._columns]
        if self._size <= _FEW:
            return names
        # Most columns of most blocks have the value that an op has without them.
        return [name for name in names if (self._columns[name] != cls.zeros.get(name)).any()]

    def __missing__(self, name: str) -> list[int]:
        found: list[int] = self._columns[name].tolist()
        self[name] = found
        return found


def _make(cls: type[Op], x: _Lists, rows: Sequence[int]) -> Iterator[Op]:
    """Yields the ops of a class in ``rows``."""
    names = x.given(cls)
    columns = [x[name] for name in names]
    types, second = x["dtype"], x["pad_dtype"]
    for i in rows:
        values = dict(zip(names, [column[i] for column in columns], strict=True))
        yield cls.built(values, ALL_DTYPES[types[i]], ALL_DTYPES[second[i]])


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
    lists = _Lists({**columns, "dtype": dtype, "pad_dtype": pad_dtype}, len(codes))
    program: list[Entry] = [legacy.get(i, ()) for i in range(len(codes))]
    for code, mine in rows.items():
        for index, op in zip(mine, _make(_CLASSES[code], lists, mine), strict=True):
            program[index] = (op,)
    return program
