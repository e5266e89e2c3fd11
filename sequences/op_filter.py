# SPDX-License-Identifier: Apache-2.0
"""Filters that drop ops from drawn blocks, and repair the rest of each block.

A predicate returns for each op of a block whether it may be sent. The remaining block is legal: a
wait for a dropped op becomes a wait for that op's predecessors, registers that a dropped legacy
copy had written are written by the next one, parameters that are never loaded are not used, and
unit flags are set when they are needed.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.common.errors import PtoError
from tb.isa.block import OpBlock
from tb.isa.burst.table import BURSTS
from tb.isa.dma.legacy import (
    CopyUbufToUbuf,
    LegacyCopy,
    LegacySet,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
    fits,
)
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import FLAG_CLEAR, WRITE_BACKS
from tb.isa.footprint import (
    Footprint,
    destinations,
    flag_blocks,
    footprints_overlap,
    parameters,
    source,
)
from tb.isa.op import Op, replace
from tb.isa.ops import LEGACY_FORMS, OPS_BY_CODE, feeds
from tb.isa.program import Entry, moving

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Test = Callable[[OpBlock], Bools]
"""Returns ``bool[N]`` for a block of N ops: those that may be sent."""

RARE = 2000
"""Filters that pass less than one in this many ops are an error."""

PATIENCE = 2 * RARE
"""Ops drawn before that is decided."""

LEAST_DRAW = 1024
"""Ops drawn at once, where only a part of them may be left."""

LOST_PARAMETERS = "write-backs with parameters from a dropped mte_l1_fb"

_FIX = tuple(spec.opcode for spec in WRITE_BACKS)
_PARAMETERS = tuple(row.opcode for row in BURSTS.values() if row.destination == "fb")


@dataclass(frozen=True)
class OpFilter:
    """A named predicate.

    Attributes:
        name: Name in messages.
        holds: Predicate of the ops that may be sent.
        reason: Description of the dropped ops, for the summary of a run.
        file: The file of a user's predicate, else empty.
    """

    name: str
    holds: Test
    reason: str
    file: str = ""

    def __call__(self, block: OpBlock) -> Bools:
        """Returns ``bool[N]``: the ops of ``block`` that may be sent.

        Raises:
            PtoError: the predicate fails, or returns another type.
        """
        try:
            found: Any = self.holds(block)
        except PtoError:
            raise
        except Exception as error:
            raise PtoError(
                f"{self.name} raised {type(error).__name__}: {error}",
                where=place_of(error, self.file) or self.name,
                remedy="take an OpBlock and return bool[N], one for each op",
            ) from error
        mask = np.asarray(found)
        if mask.dtype != np.bool_ or mask.shape != (len(block),):
            raise PtoError(
                f"{self.name} returned {_shape(found)} for a block of {len(block)} ops",
                where=self.file or self.name,
                legal=f"bool[{len(block)}]: one for each op, True where it may be sent",
                remedy="compare columns, as in `return block.column('len') >= 64`",
            )
        return mask


def op_filter(function: Test) -> OpFilter:
    """Makes a predicate of a function ``def name(block: OpBlock) -> bool[N]``; for decoration."""
    file = function.__code__.co_filename
    return OpFilter(function.__name__, function, f"{function.__name__} refuses them", file)


def place_of(error: BaseException, file: str) -> str:
    """Returns the innermost line of ``file`` that ``error`` came through, or an empty text."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if file and frame.filename == file
    ]
    return f"{file}, line {lines[-1]}" if lines else ""


def _shape(found: Any) -> str:
    if isinstance(found, np.ndarray):
        return f"{found.dtype}[{', '.join(map(str, found.shape))}]"
    return f"{type(found).__name__} {found!r}"[:80]


Registers = dict[tuple[str, ...], LegacySet]
"""The last dropped write of each register."""


def _register(op: LegacySet) -> tuple[str, ...]:
    if isinstance(op, SetMovPadVal):
        return ("pad",)
    level = str(op.level) if isinstance(op, SetLoopStride) else ""
    return (type(op).__name__, op.direction, level)


def _writes(program: Entry) -> Registers:
    """Returns the registers a program writes; a ``set_*`` op that does not fit writes none."""
    kinds = SetLoopSize | SetLoopStride | SetMovPadVal
    return {_register(op): op for op in program if isinstance(op, kinds) and fits(op)}


def without(block: OpBlock, kept: Bools, pending: Registers) -> OpBlock:
    """Returns ``block`` without the ops with false ``kept``.

    Fills stay: another op may need them.

    Args:
        block: Block of N ops.
        kept: ``bool[N]``. Parameters that a dropped op was to load must not be used any more, see
            :func:`lost_parameters`.
        pending: Register writes of copies dropped so far, which the next copy that reads registers
            makes; brought up to date.
    """
    legacy: dict[int, Entry] = {}
    place = np.cumsum(kept) - 1
    for index in sorted(block.legacy):
        program = block.legacy[index]
        own = _writes(program)
        if not kept[index]:
            pending.update(own)
            continue
        copy = moving(program)
        if isinstance(copy, CopyUbufToUbuf):
            for register in own:
                pending.pop(register, None)
        elif pending and isinstance(copy, LegacyCopy):
            program = (*pending.values(), *program)
            pending.clear()
        legacy[int(place[index])] = program
    if kept.all():
        return replace(block, legacy=legacy)
    after, also = _linked(block, kept, place)
    found = OpBlock(
        block.opcode[kept],
        {name: column[kept] for name, column in block.columns.items()},
        block.dtype[kept],
        block.pad_dtype[kept],
        block.gap[kept],
        after,
        legacy,
        {int(place[at]): desc for at, desc in block.descriptors.items() if kept[at]},
        None if block.expected_rule is None else block.expected_rule[kept],
        block.fills,
        None if block.flag_delay is None else block.flag_delay[kept],
        also,
        {int(place[at]): text for at, text in block.places.items() if kept[at]},
    )
    if block.flag_delay is not None and np.isin(block.opcode[~kept], _FIX).any():
        return replace(found, flag_delay=_settled(found))
    return found


def _linked(block: OpBlock, kept: Bools, place: Ints) -> tuple[Ints, dict[int, tuple[int, ...]]]:
    """Returns ``after`` and ``also_after`` of the remaining ops.

    An op that waited for a dropped op waits for the predecessors of that op, or for none where it
    cannot depend on their results.
    """
    after = block.after.copy()
    also: dict[int, tuple[int, ...]] = {}
    named = np.flatnonzero(after >= 0)
    for index in sorted({*named.tolist(), *block.also_after}):
        if not kept[index]:
            continue
        links = [
            above
            for link in block.links(index)
            for above in ([link] if kept[link] else _above(block, kept, index, link))
        ]
        first = int(after[index])
        if first < 0 or not kept[first]:
            # The other links of an op without ``after`` are kept.
            first = links[0] if links and first >= 0 else -1
        after[index] = first
        others = tuple(dict.fromkeys(int(place[link]) for link in links if link != first))
        if others:
            also[int(place[index])] = others
    found: Ints = np.where(after >= 0, place[np.maximum(after, 0)], -1)[kept]
    return found, also


def _above(block: OpBlock, kept: Bools, index: int, dropped: int) -> list[int]:
    """Returns the ops that a dropped one waited for, and that ``index`` depends on."""
    found: list[int] = []
    seen: set[int] = set()
    left = list(block.links(dropped))
    while left:
        link = left.pop(0)
        if link in seen:
            continue
        seen.add(link)
        if kept[link] and _depends(block, index, link):
            found.append(link)
        else:
            left += block.links(link)
    return found


def _depends(block: OpBlock, later: int, earlier: int) -> bool:
    """Returns whether an op must wait for another that it waited for through a third."""
    if feeds(*(OPS_BY_CODE[int(block.opcode[one])] for one in (earlier, later))):
        return True
    if _illegal(block, later) or _illegal(block, earlier):
        return False
    one, other = block.issued(earlier), block.issued(later)
    if one.is_nop or other.is_nop:
        return False
    written = destinations(one)
    touched = (*_read(other), *destinations(other))
    pairs = [*product(written, touched), *product(_read(one), destinations(other))]
    return any(footprints_overlap(a, b) for a, b in pairs)


def _read(desc: Op) -> tuple[Footprint, ...]:
    own = parameters(desc) if isinstance(desc, FixOp) else ()
    return (source(desc), *own)


def _settled(block: OpBlock) -> Ints:
    """Returns ``flag_delay`` without the delays that no longer hold when clears are missing.

    A delay belongs to the only op on its L0C blocks until their clear, or to the first that waits
    for them after a clear.
    """
    assert block.flag_delay is not None
    delay = block.flag_delay.copy()
    late = np.flatnonzero(delay >= 0)
    if not len(late):
        return delay
    clears: Counter[int] = Counter()
    readers: dict[tuple[int, int], list[int]] = {}
    for index in np.flatnonzero(np.isin(block.opcode, _FIX)).tolist():
        desc = block.issued(index)
        if not isinstance(desc, FixOp) or desc.is_nop or _illegal(block, index):
            continue
        blocks = flag_blocks(desc).tolist()
        for number in blocks:
            readers.setdefault((number, clears[number]), []).append(index)
        if desc.unit_flag == FLAG_CLEAR:
            clears.update(blocks)
    first_again = {ops[0] for (_, times), ops in readers.items() if times}
    any_again = {index for (_, times), ops in readers.items() if times for index in ops}
    shared = {
        index for (_, times), ops in readers.items() if not times and len(ops) > 1 for index in ops
    }
    for index in late.tolist():
        if index not in first_again and (index in any_again or index in shared):
            delay[index] = -1
    return delay


def _illegal(block: OpBlock, index: int) -> bool:
    return block.expected_rule is not None and block.expected_rule[index] > 0


def lost_parameters(block: OpBlock, kept: Bools) -> Bools:
    """Returns ``bool[N]``: the write-backs kept with parameters that a dropped op was to load."""
    lost = np.zeros(len(block), dtype=bool)
    loads = ~kept & np.isin(block.opcode, _PARAMETERS)
    if block.expected_rule is not None:
        loads &= block.expected_rule == 0
    if not loads.any() or not np.isin(block.opcode[kept], _FIX).any():
        return lost
    loaded = {k: destinations(block.issued(k)) for k in np.flatnonzero(loads).tolist()}
    for index in np.flatnonzero(kept & np.isin(block.opcode, _FIX)).tolist():
        desc = block.issued(index)
        if not isinstance(desc, FixOp) or desc.is_nop or _illegal(block, index):
            continue
        if any(
            footprints_overlap(rows, written)
            for above in _all_above(block, index)
            for written in loaded.get(above, ())
            for rows in parameters(desc)
        ):
            lost[index] = True
    return lost


def _all_above(block: OpBlock, index: int) -> set[int]:
    """Returns every op that an op waits for, directly or through others."""
    found: set[int] = set()
    left = list(block.links(index))
    while left:
        link = left.pop()
        if link not in found:
            found.add(link)
            left += block.links(link)
    return found


def forms(block: OpBlock, mask: Bools) -> set[str]:
    """Returns the ops and legacy forms in a block under ``mask``, ``bool[N]``."""
    legacy = np.zeros(len(block), dtype=bool)
    legacy[block.legacy_forms] = True
    found = {OPS_BY_CODE[code].name for code in np.unique(block.opcode[mask & ~legacy]).tolist()}
    old = {OPS_BY_CODE[code].name for code in np.unique(block.opcode[mask & legacy]).tolist()}
    return found | {form for form, name in LEGACY_FORMS.items() if name in old}


class FilterChain:
    """Draws blocks of the ops that all filters pass, and counts those that they reject.

    Legacy registers persist from block to block, so one chain filters all blocks of a generator, in
    the order in which they are sent.

    Args:
        filters: The predicates; an op is sent when all of them keep it.
        left_out: Counts dropped ops by the reason of the first predicate that rejected each.
        dropped: Filled with op or legacy form to the reason of its first drop.

    Attributes:
        drawn, kept: Ops filtered so far, and those kept.
        refused: Name of a predicate to the ops it rejected, independent of other predicates.
    """

    def __init__(
        self,
        filters: Sequence[OpFilter],
        left_out: Counter[str] | None = None,
        dropped: dict[str, str] | None = None,
    ) -> None:
        self.filters = tuple(filters)
        self.left_out: Counter[str] = Counter() if left_out is None else left_out
        self.dropped: dict[str, str] = {} if dropped is None else dropped
        self.drawn = 0
        self.kept = 0
        self.refused: Counter[str] = Counter()
        self._pending: Registers = {}

    def select(self, block: OpBlock, *, isolated: bool = False) -> OpBlock:
        """Returns the remaining block: the block itself when nothing is dropped.

        Args:
            block: A legal or illegal block of N ops.
            isolated: It is a separate program: its register writes end with it.
        """
        if not self.filters:
            return block
        kept = np.ones(len(block), dtype=bool)
        for item in self.filters:
            holds = item(block)
            refused = int((~holds).sum())
            if refused:
                self.refused[item.name] += refused
                self.left_out[item.reason] += int((kept & ~holds).sum())
                self._name(block, kept & ~holds, item.reason)
                kept &= holds
        lost = lost_parameters(block, kept)
        if lost.any():
            self.left_out[LOST_PARAMETERS] += int(lost.sum())
            self._name(block, lost, LOST_PARAMETERS)
            kept &= ~lost
        self.drawn += len(block)
        self.kept += int(kept.sum())
        pending: Registers = {} if isolated else self._pending
        if kept.all() and not (pending and block.legacy):
            return block
        return without(block, kept, pending)

    def _name(self, block: OpBlock, mask: Bools, reason: str) -> None:
        """Notes the forms of dropped ops."""
        for form in forms(block, mask):
            self.dropped.setdefault(form, reason)

    def blocks(
        self, draw: Callable[[int], Iterator[OpBlock]], count: int, *, isolated: bool = False
    ) -> Iterator[OpBlock]:
        """Yields blocks that hold ``count`` kept ops in all.

        Args:
            draw: ``blocks`` of a generator, which may be called repeatedly.
            count: Ops wanted.
            isolated: Each block is a separate program.

        Raises:
            PtoError: hardly any op is kept.
        """
        if not self.filters:
            yield from draw(count)
            return
        left = count
        while left > 0:
            for drawn in draw(max(left, LEAST_DRAW)):
                block = self.select(drawn, isolated=isolated)
                self.check()
                if not len(block):
                    continue
                if len(block) > left:
                    block = block.take(0, left)
                left -= len(block)
                yield block
                if left <= 0:
                    return

    def check(self) -> None:
        """Raises PtoError when hardly any of the ops drawn so far were kept."""
        if self.drawn < PATIENCE or self.kept * RARE >= self.drawn:
            return
        worst = self.refused.most_common()
        counts = "; ".join(f"{name} refused {number}" for name, number in worst)
        files = list(
            dict.fromkeys(x.file for x in self.filters if x.file and x.name in self.refused)
        )
        raise PtoError(
            f"of {self.drawn} ops drawn only {self.kept} may be sent: {counts}",
            where=", ".join(files) or "the capabilities of the manifests",
            legal=f"at least 1 of {RARE}",
            remedy="make the predicates looser, or narrow what is drawn instead: "
            "`def constraints(default)`, OPS=, or a test without illegal ops (TEST=legal)",
        )


__all__ = [
    "LOST_PARAMETERS",
    "FilterChain",
    "OpFilter",
    "forms",
    "lost_parameters",
    "op_filter",
    "place_of",
    "without",
]
