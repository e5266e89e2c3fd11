# SPDX-License-Identifier: Apache-2.0
"""Blocks of ops as columns, which sequences draw and drivers pack, thousands at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tb.isa.descriptor import pack, pack_columns
from tb.isa.dma.legacy import CopyUbufToUbuf, LegacyCopy
from tb.isa.dtypes import ALL_DTYPES, DTYPE_INDEX, moved_as
from tb.isa.fields import DESC_WORDS
from tb.isa.fix.table import FRONT_COLUMNS
from tb.isa.lower import OP_CLASSES, lower
from tb.isa.op import Op, whole
from tb.isa.ops import LAYOUTS, OPS_BY_CODE, SLOTS
from tb.isa.program import Entry, moving, program_of
from tb.isa.rules import s_violations
from tb.isa.spaces import Space
from tb.isa.text import to_text

FAMILIES: tuple[str, ...] = tuple(LAYOUTS)
"""Descriptor families; ``OpBlock.family`` holds indices into it."""

COLUMNS: tuple[str, ...] = tuple(
    dict.fromkeys((*(name for x in LAYOUTS.values() for name in x), *FRONT_COLUMNS))
)
"""Every descriptor field of every family once, and the operands that no descriptor holds.
Families share names: ``len``, ``n_burst``, ..."""


COLUMN_LIMIT = 1 << 62
"""What a column holds of this and any larger value: a sum of two has 64 bits."""


def _by_opcode(values: Mapping[int, int]) -> NDArray[np.int64]:
    table = np.full(256, -1, dtype=np.int64)
    for code, value in values.items():
        table[code] = value
    return table


_SLOTS = _by_opcode({code: SLOTS.index(spec.slot) for code, spec in OPS_BY_CODE.items()})
_FAMILIES = _by_opcode(
    {code: FAMILIES.index(spec.layout.family) for code, spec in OPS_BY_CODE.items()}
)


_LEGACY = LegacyCopy | CopyUbufToUbuf


@dataclass(frozen=True)
class Fill:
    """Bytes that the stimulus writes before a block is issued: ``data`` is ``uint8[n]``."""

    space: Space
    start: int
    data: NDArray[np.uint8]


@dataclass(frozen=True)
class OpBlock:
    """N ops in program order, of any families.

    Attributes:
        opcode: ``int64[N]``.
        columns: Name of a descriptor field to ``int64[N]``; any value for ops of families without
            that field. Fields left out are 0: read them with :meth:`column`.
        dtype: ``int64[N]``, element type of the source as an index into ``DTYPES``.
        pad_dtype: ``int64[N]``, type of the pad value as an index; any where padding is off. Of
            a write-back it is the destination's element type.
        gap: ``int64[N]`` clocks of idle before the descriptor is offered.
        after: ``int64[N]`` index of an earlier op of this block that must have retired before
            this one is offered, or -1. Ops of one slot retire in order anyway.
        legacy: Index of an op to the instructions it is written as, where these are not the one
            v0.6 op that its columns give. A legacy form: the ``set_*`` ops before it and the copy,
            also copies that are not issued because they break a rule at lowering. A write-back
            that takes saturation or its atomic from CTRL: ops that write CTRL, the op, and a
            ``set_ctrl`` 0. An op with values from ``COLUMN_LIMIT`` on. The columns hold the
            descriptor of :func:`tb.isa.program.moving`.
        descriptors: Index of an op to the descriptor to pack instead of its columns, for
            values that exceed a container (illegal ops).
        expected_rule: ``int64[N]``, number of the D rule the op breaks, 0 when legal.
        fills: Bytes to write to memories before the block is issued, in this order: accumulators,
            parameters in fb, destinations of atomics.
        flag_delay: ``int64[N]`` clocks from the start of the block until the producer sets the
            unit flags of an op that checks them; -1, or None for all, for flags that are set
            when the block starts. Blocks of L0C with a delay belong to one op of the block. Where
            an op before it clears the flags, they are set again this many clocks after the clear.
        also_after: Index of an op to more earlier ops that must have retired before it is offered,
            of any slot, its own too; ``after`` may be -1 then.
        places: Index of an op to its place in a program, for reports; any printable object.
        undefined: Indices of ops whose results depend on a race of the program: their destinations
            are compared by whoever sends the block, everything else of them by the scoreboard.
    """

    opcode: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.int64]]
    dtype: NDArray[np.int64]
    pad_dtype: NDArray[np.int64]
    gap: NDArray[np.int64]
    after: NDArray[np.int64]
    legacy: Mapping[int, Entry] = field(default_factory=dict)
    descriptors: Mapping[int, Op] = field(default_factory=dict)
    expected_rule: NDArray[np.int64] | None = None
    fills: tuple[Fill, ...] = ()
    flag_delay: NDArray[np.int64] | None = None
    also_after: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    places: Mapping[int, object] = field(default_factory=dict)
    undefined: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.opcode)

    @property
    def slot(self) -> NDArray[np.int64]:
        """Slot number of each op, ``int64[N]``."""
        return _SLOTS[self.opcode]

    @property
    def family(self) -> NDArray[np.int64]:
        """Descriptor family of each op as an index into ``FAMILIES``, ``int64[N]``."""
        return _FAMILIES[self.opcode]

    def column(self, name: str) -> NDArray[np.int64]:
        """Returns a descriptor field of every op, ``int64[N]``; 0 when the block leaves it out.

        Raises:
            KeyError: no family has a field of that name.
        """
        found = self.columns.get(name)
        if found is not None:
            return found
        if name not in COLUMNS:
            raise KeyError(f"no descriptor has a field {name}")
        return np.zeros(len(self), dtype=np.int64)

    def links(self, index: int) -> tuple[int, ...]:
        """Returns every op that must have retired before op ``index`` is offered."""
        first = int(self.after[index])
        return (*([first] if first >= 0 else []), *self.also_after.get(index, ()))

    def pack(self) -> NDArray[np.uint32]:
        """Returns the descriptors, ``uint32[N, 16]``."""
        families = self.family
        present = np.unique(families).tolist()
        words = np.zeros((len(self), DESC_WORDS), dtype=np.uint32)
        for number in present:
            rows = slice(None) if len(present) == 1 else np.flatnonzero(families == number)
            layout = LAYOUTS[FAMILIES[number]]
            columns = {
                name: column[rows] for name, column in self.columns.items() if name in layout
            }
            if self.descriptors:
                columns = {
                    name: np.minimum(column, layout[name].field.limit)
                    for name, column in columns.items()
                }
            words[rows] = pack_columns(self.opcode[rows], columns, layout)
        for index, descriptor in self.descriptors.items():
            words[index] = pack(descriptor)
        return words

    def issued(self, index: int) -> Op:
        """Returns an op as an engine gets it: with CTRL sampled, and not as it is written."""
        if index in self.descriptors:
            return self.descriptors[index]
        cls = OP_CLASSES[OPS_BY_CODE[int(self.opcode[index])].name]
        values = {x: int(self.columns[x][index]) for x in cls.column_names if x in self.columns}
        types = (ALL_DTYPES[int(column[index])] for column in (self.dtype, self.pad_dtype))
        return cls.built(values, *types)

    def take(self, start: int, stop: int) -> OpBlock:
        """Returns ops ``start`` to ``stop - 1`` as a block, with indices relative to it.

        Raises:
            ValueError: an op waits for one before ``start``, which the new block cannot refer to.
        """
        after = self.after[start:stop].copy()
        named = after >= 0
        also = {k - start: ops for k, ops in self.also_after.items() if start <= k < stop}
        if (after[named] < start).any() or any(min(ops) < start for ops in also.values() if ops):
            raise ValueError(f"ops {start}..{stop - 1} wait for an op before {start}")
        after[named] -= start
        return OpBlock(
            self.opcode[start:stop],
            {name: column[start:stop] for name, column in self.columns.items()},
            self.dtype[start:stop],
            self.pad_dtype[start:stop],
            self.gap[start:stop],
            after,
            {k - start: ops for k, ops in self.legacy.items() if start <= k < stop},
            {k - start: desc for k, desc in self.descriptors.items() if start <= k < stop},
            None if self.expected_rule is None else self.expected_rule[start:stop],
            self.fills,
            None if self.flag_delay is None else self.flag_delay[start:stop],
            {k: tuple(one - start for one in ops) for k, ops in also.items()},
            {k - start: place for k, place in self.places.items() if start <= k < stop},
            frozenset(k - start for k in self.undefined if start <= k < stop),
        )

    @property
    def legacy_forms(self) -> list[int]:
        """Indices of the ops that are written in a legacy form."""
        return [k for k, ops in self.legacy.items() if isinstance(moving(ops), _LEGACY)]

    def program(self) -> list[Entry]:
        """Returns each op as written in the program: one v0.6 op, or what ``legacy`` has."""
        return program_of(self.opcode, self.columns, self.dtype, self.pad_dtype, self.legacy)


class FrontEndError(ValueError):
    """An op that a front end rejects: it breaks an S rule (docs/spec/README.md, rule classes)."""


def from_descriptors(
    descriptors: Sequence[Op],
    *,
    legacy: Mapping[int, Entry] | None = None,
    dtypes: Sequence[str] | None = None,
    pad_dtypes: Sequence[str] | None = None,
    expected_rule: Sequence[int] | None = None,
) -> OpBlock:
    """Builds a block from descriptors, legal or not; no gaps, no waits.

    ``dtypes`` and ``pad_dtypes`` default to those of the ops. Illegal v0.6 ops with operands
    that exceed their containers keep their exact values in ``columns`` and ``descriptors``; those
    from ``COLUMN_LIMIT`` on keep them in ``legacy`` and ``descriptors``.

    Raises:
        FrontEndError: a value is not an integer, or is negative, or a type is unknown.
    """
    count = len(descriptors)
    descriptors = [_exact(number, desc) for number, desc in enumerate(descriptors)]
    values = [desc.values for desc in descriptors]
    used = {name for value in values for name in value}
    columns = {
        name: np.array([min(value.get(name, 0), COLUMN_LIMIT) for value in values], dtype=np.int64)
        for name in COLUMNS
        if name in used
    }
    far = {n for column in columns.values() for n in np.flatnonzero(column == COLUMN_LIMIT)}
    written: dict[int, Entry] = {int(n): (descriptors[n],) for n in far}
    names = dtypes or [desc.src_type.dtype for desc in descriptors]
    pads = pad_dtypes or [desc.second_type for desc in descriptors]
    return OpBlock(
        np.array([desc.spec.opcode for desc in descriptors], dtype=np.int64),
        columns,
        _type_column(descriptors, names),
        _type_column(descriptors, pads),
        np.zeros(count, dtype=np.int64),
        np.full(count, -1, dtype=np.int64),
        {**written, **(legacy or {})},
        dict(enumerate(descriptors)),
        None if expected_rule is None else np.array(expected_rule, dtype=np.int64),
    )


def _exact(number: int, desc: Op) -> Op:
    """Returns a descriptor with ints of Python for its columns.

    Raises:
        FrontEndError: a value is none that an operand has.
    """
    values = desc.values
    changed = {}
    for name in desc.column_names:
        value = values[name]
        if type(value) is int and 0 <= value < COLUMN_LIMIT:
            continue
        value = whole(value)
        if not isinstance(value, int) or value < 0:
            raise FrontEndError(
                f"op {number}: {name} is {values[name]}: an integer, 0 and above\n  {desc!r}"
            )
        changed[name] = int(value)
    if not changed:
        return desc
    return desc.of({**values, **changed}, desc.src_type, desc.dst_type)


def _type_column(descriptors: Sequence[Op], names: Sequence[str]) -> NDArray[np.int64]:
    """Returns the indices of element types; an op without a rule on them moves bytes (A-71)."""
    index = []
    for number, (desc, name) in enumerate(zip(descriptors, names, strict=True)):
        if name not in DTYPE_INDEX and desc.spec.rules == "FB":
            name = moved_as(name, any_type=True)
        if name not in DTYPE_INDEX:
            legal = ", ".join(DTYPE_INDEX)
            raise FrontEndError(f"op {number}: element type is {name}: one of {legal}")
        index.append(DTYPE_INDEX[name])
    return np.array(index, dtype=np.int64)


_HINT_RULES = ("DMA-L15", "FIX-L13")
"""S rules of constants that the engine also checks: the hint's width."""


def from_ops(ops: Sequence[Op], *, expected_rule: Sequence[int] | None = None) -> OpBlock:
    """Builds a block from v0.6 ops in program order; no gaps, no waits.

    Raises:
        FrontEndError: an op breaks an S rule, so nothing of the block is issued. A hint that does
            not fit is left to the engine (DMA-L05, FIX-L14).
    """
    for number, op in enumerate(ops):
        for violation in s_violations(op):
            if violation.rule.name not in _HINT_RULES:
                raise FrontEndError(f"op {number} breaks {violation}\n  {to_text(op)}")
    return from_descriptors([lower(op) for op in ops], expected_rule=expected_rule)
