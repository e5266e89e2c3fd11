# SPDX-License-Identifier: Apache-2.0
"""Helpers of the coverage tests: collect blocks, read counts by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from sequences.constraints import OpConstraints
from sequences.draw.traffic import TrafficGenerator
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import GroupCounts
from tb.coverage.view import FORM_SPECS, FORMS
from tb.isa.block import OpBlock, from_descriptors, from_ops
from tb.isa.burst.table import MTE_L1_BT
from tb.isa.ctrl import CtrlOp, SetCtrl, write_ctrl
from tb.isa.descriptor import unpack
from tb.isa.dma.legacy import LegacySet
from tb.isa.dma.table import MTE_UB_GM
from tb.isa.fix.table import WRITE_BACKS
from tb.isa.lower import lower
from tb.isa.op import Op, replace
from tb.isa.ops import LEGACY_FORMS, OPS_BY_CODE
from tb.isa.spaces import Space

GM_UB = ("mte_gm_ub", "mte_ub_gm", "copy_gm_to_ubuf", "copy_ubuf_to_gm")
"""Forms between GM and UB."""

Events = Callable[[OpBlock], NDArray[np.int64]]
"""Returns the events of the ops of a block, ``int64[N]``."""

Classify = Callable[[Op], dict[str, str]]
SlowCounts = dict[str, Counter[tuple[str, str]]]
"""Form to the number of hits of each (point, bin)."""


def collect(
    blocks: Iterable[OpBlock],
    bus: int = 32,
    forms: Sequence[str] = FORMS,
    *,
    illegal: bool = False,
    seed: int = 0,
    events: Events | None = None,
) -> FunctionalCoverage:
    """Returns the coverage of ``blocks``.

    ``events`` gives the events of the data of a block. Without it bias loads have random
    events, all of them possible, and other ops none.
    """
    rng = np.random.default_rng(seed)
    coverage = FunctionalCoverage(bus, forms, illegal=illegal)
    for block in blocks:
        random = np.where(block.opcode == MTE_L1_BT.opcode, rng.integers(0, 256, len(block)), 0)
        coverage.sample(block, None, random if events is None else random | events(block))
    coverage.flush()
    return coverage


def _pattern(space: Space, start: int, length: int) -> NDArray[np.uint8]:
    """Background of the memories that write-backs are executed on."""
    address = np.arange(start, start + length, dtype=np.int64)
    return (address * 131 + (address >> 7) * 29 + int(space) * 57).astype(np.uint8)


class Executed:
    """Events of write-backs and atomic stores, by executing them on the reference model.

    Of other ops only those that write registers are executed: blocks bring the data of these.
    """

    def __init__(self) -> None:
        self._golden = GoldenMemory(_pattern)
        self._model = ReferenceModel(
            self._golden,
            before_read=self._golden.ensure_footprint,
            before_write=self._golden.expect_write,
        )

    def __call__(self, block: OpBlock) -> NDArray[np.int64]:
        """Returns the events of each op of a block of legal ops, ``int64[N]``."""
        found = np.zeros(len(block), dtype=np.int64)
        written_back = np.isin(block.opcode, [spec.opcode for spec in WRITE_BACKS])
        stored = (block.opcode == MTE_UB_GM.opcode) & (block.column("atomic_type") > 0)
        mine = written_back | stored
        for fill in block.fills:
            self._golden.ensure(fill.space, fill.start, len(fill.data))
            self._golden.write(fill.space, fill.start, fill.data)
        for number, ops in enumerate(block.program()):
            for op in ops:
                if mine[number] or isinstance(op, LegacySet):
                    found[number] |= self._model.execute(op, legal=True).events
        return found


def traffic(seed: int, count: int, forms: Sequence[str] = FORMS, bus: int = 32) -> list[OpBlock]:
    """Returns random legal blocks of ``forms``."""
    limits = OpConstraints(bus_bytes=bus)
    return list(TrafficGenerator(seed, forms, limits).blocks(count))


def cover(
    block: OpBlock,
    events: int | Sequence[int] = 0,
    *,
    forms: Sequence[str] = FORMS,
    illegal: bool = False,
) -> FunctionalCoverage:
    """Returns the coverage of one block, with the events of all of its ops or of each."""
    coverage = FunctionalCoverage(forms=forms, illegal=illegal)
    coverage.sample(block, None, np.array(np.broadcast_to(events, len(block)), np.int64))
    coverage.flush()
    assert coverage.impossible == []
    return coverage


def labels(counts: GroupCounts, name: str, mask: NDArray[Any]) -> list[str]:
    """Returns the bins or cells of a point or cross that a mask or their counts select."""
    return [counts.group.label(name, int(at)) for at in np.flatnonzero(mask)]


def hits(counts: GroupCounts, name: str) -> dict[str, int]:
    """Returns bin name to count, without bins of no hits."""
    found = counts.hits[name]
    return dict(zip(labels(counts, name, found), found[found > 0].tolist(), strict=True))


def all_hits(counts: GroupCounts) -> dict[str, dict[str, int]]:
    """Returns the bins of each point and cross that were hit."""
    found = {name: hits(counts, name) for name in counts.hits}
    return {name: bins for name, bins in found.items() if bins}


def bins(counts: GroupCounts) -> dict[str, str]:
    """Returns point or cross to the bin of the one op that was counted."""
    found = all_hits(counts)
    assert all(list(one.values()) == [1] for one in found.values())
    return {name: next(iter(one)) for name, one in found.items()}


def block_of(op: Op, writes: Sequence[CtrlOp] = (), delay: int = -1, rule: int = 0) -> OpBlock:
    """Returns a block of one op after writes of CTRL, which is restored after it."""
    if writes:
        ctrl = reduce(lambda value, write: write_ctrl(write, value), writes, 0)
        block = from_descriptors([lower(op, ctrl)], legacy={0: (*writes, op, SetCtrl(0))})
    else:
        block = from_ops([op])
    return replace(block, flag_delay=np.array([delay]), expected_rule=np.array([rule]))


class Made(NamedTuple):
    """A row of a table: an op by hand, the points that do not count it, and point to its bin."""

    op: Op
    without: str
    want: dict[str, str]
    event: int
    delay: int
    writes: tuple[CtrlOp, ...]

    def check(self, *groups: str) -> None:
        """Compares the bins of the op in some groups, by default in that of its form."""
        found = one(self.op, self.event, self.delay, self.writes, groups)
        assert {name: found.get(name) for name in self.want} == self.want
        assert not found.keys() & set(self.without.split())


def made(
    op: Op,
    /,
    without: str = "",
    event: int = 0,
    delay: int = -1,
    writes: tuple[CtrlOp, ...] = (),
    **want: str,
) -> Made:
    """Returns a row: an event of the data, a delay of flags, writes of CTRL before the op."""
    return Made(op, without, want, event, delay, writes)


def one(
    op: Op,
    event: int = 0,
    delay: int = -1,
    writes: Sequence[CtrlOp] = (),
    groups: Sequence[str] = (),
) -> dict[str, str]:
    """Returns coverpoint to the bin of one op in some groups, by default in that of its form."""
    coverage = cover(block_of(op, writes, delay), event, forms=(op.spec.name,))
    found: dict[str, str] = {}
    for group in groups or (op.spec.name,):
        counts = coverage.groups[group]
        points = {item.name for item in counts.group.points}
        found |= {name: label for name, label in bins(counts).items() if name in points}
    return found


def form_of(block: OpBlock, number: int) -> str:
    """Returns the form that an op of a block is written in."""
    name = OPS_BY_CODE[int(block.opcode[number])].name
    if number in block.legacy_forms:
        return next(form for form, op in LEGACY_FORMS.items() if op == name)
    return name


def slow_counts(blocks: Iterable[OpBlock], classify: Classify) -> SlowCounts:
    """Returns per form the hits of each bin, by ``classify`` of one descriptor at a time."""
    found: SlowCounts = {form: Counter() for form in FORM_SPECS}
    for block in blocks:
        for number, words in enumerate(block.pack()):
            found[form_of(block, number)].update(classify(unpack(words)).items())
    return found


def compare(coverage: FunctionalCoverage, slow: SlowCounts, form: str) -> None:
    """Checks the points of ``slow`` for ``form``, bin by bin."""
    names = {name for name, _ in slow[form]}
    assert len(names) >= 7, form
    for name in names:
        want = {label: n for (key, label), n in slow[form].items() if key == name}
        assert hits(coverage.groups[form], name) == want, (form, name)


def range_label(value: int, labels: Iterable[str]) -> str:
    """Returns the label ``a``, ``a..b`` or ``a..`` that holds ``value``."""
    for label in labels:
        low, dots, high = label.partition("..")
        if value == int(low) or (dots and value > int(low) and (not high or value <= int(high))):
            return label
    raise AssertionError(f"{value} is in none of {list(labels)}")
