# SPDX-License-Identifier: Apache-2.0
"""Ops around write-backs: ``mte_l1_fb`` that load their parameters, copies of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import numpy as np

from sequences.draw.shapes import Ints
from sequences.fixpipe.kinds import GM, L1, UB
from sequences.place.merge import interleave
from tb.isa.block import OpBlock, from_descriptors
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.op import MteGmL1, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.lower import lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op

FB_UNIT = 64
"""Bytes of a unit of ``mte_l1_fb`` (A-24)."""

MOST_READ = 65535 // 32 * 32
"""Longest copy, bytes."""

MOST_BIAS = 1024
"""Longest copy to bt, bytes."""

_READERS = {
    GM: ("mte_gm_ub", "mte_gm_l1", "mte_gm_l1_frac"),
    L1: ("mte_l1_ub", "mte_l1_bt"),
    UB: ("mte_ub_gm", "mte_ub_ub", "mte_ub_l1"),
}
LINK_NAMES: tuple[str, ...] = (
    "mte_l1_fb",
    *(name for names in _READERS.values() for name in names),
)
"""Ops that may be added around write-backs."""

_REACH = 5


class Links:
    """Program order of a block: its write-backs by number 0, 1 ..., other ops by -1, -2 ...

    Args:
        names: Ops that may be used, out of ``LINK_NAMES``.

    Attributes:
        order: Ops so far; pending copies are added later.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self.order: list[int] = []
        self._ops: list[Op] = []
        self._waits: list[int | None] = []
        self._due: list[tuple[int, int]] = []

    @property
    def loads(self) -> bool:
        """Whether parameters may be loaded by an op."""
        return "mte_l1_fb" in self._names

    @property
    def readers(self) -> bool:
        """Whether results of ops may be copied."""
        return bool(self._names - {"mte_l1_fb"})

    def reader(self, rng: Random, opcode: int) -> str | None:
        """Draws an op that copies the result of a write-back of ``opcode``, None without any."""
        names = [name for name in _READERS[opcode] if name in self._names]
        return rng.choice(names) if names else None

    def op(self, number: int) -> None:
        """Adds the next write-back to the program."""
        self.order.append(number)
        while self._due and self._due[0][0] <= len(self.order):
            self.order.append(self._due.pop(0)[1])

    def load(self, src: int, dst: int, units: int, gap: int) -> int:
        """Adds a load of parameters to the program; returns the op to wait for."""
        shape = (1, units, gap, 0) if gap else (units, 1, 0, 0)
        self._ops.append(MteL1Fb(src, dst, *shape))
        self._waits.append(None)
        self.order.append(-len(self._ops))
        return -len(self._ops)

    def read(
        self, rng: Random, number: int, reader: str, src: int, dst: int, size: int, sub: int
    ) -> None:
        """Adds a copy of ``size`` bytes a few ops after write-back ``number``."""
        self._ops.append(_copy(reader, src, dst, size, sub))
        self._waits.append(number)
        self._due.append((len(self.order) + rng.randrange(_REACH), -len(self._ops)))
        self._due.sort()

    def woven(self, fix: OpBlock, waits: list[int | None]) -> OpBlock:
        """Returns the whole block: ``fix`` with the ops around it and all dependencies."""
        order = [*self.order, *(number for _, number in self._due)]
        if self._ops:
            # Program order of extra ops differs from the order of their creation.
            mine = [-1 - number for number in order if number < 0]
            ops = [self._ops[k] for k in mine]
            others = from_descriptors([lower(op) for op in ops], expected_rule=[0] * len(ops))
            plain = OpBlock(
                others.opcode, others.columns, others.dtype, others.pad_dtype, others.gap,
                others.after, expected_rule=others.expected_rule,
            )  # fmt: skip
            fix = interleave(fix, plain, np.array(order) < 0)
        place = {number: at for at, number in enumerate(order)}
        for number, wait in [*enumerate(waits), *((-1 - k, w) for k, w in enumerate(self._waits))]:
            if wait is not None:
                _set(fix.after, place[number], place[wait])
        return fix


def _copy(reader: str, src: int, dst: int, size: int, sub: int) -> Op:
    """Returns a copy of ``size`` bytes in one piece."""
    row = (src, dst, size, 1, size, size)
    blocks = (src, dst, size // 32, 1, 0, 0)
    if reader == "mte_gm_l1_frac":
        return MteGmL1Frac(
            src, dst, "nd2nz", 1, size, size, 1, 1, 1, 0, src_type=Ptr("ui8", "gm"),
            dst_type=Ptr("ui8", "l1"),
        )  # fmt: skip
    makers: dict[str, Callable[[], Op]] = {
        "mte_gm_ub": lambda: MteGmUb(*row, ub_sub=sub),
        "mte_gm_l1": lambda: MteGmL1(*row),
        "mte_l1_ub": lambda: MteL1Ub(*blocks, ub_sub=sub),
        "mte_l1_bt": lambda: MteL1Bt(src, dst, size // 4, 1, 0, 0),
        "mte_ub_gm": lambda: MteUbGm(*row, ub_sub=sub),
        "mte_ub_ub": lambda: MteUbUb(*blocks, ub_sub=sub),
        "mte_ub_l1": lambda: MteUbL1(*blocks, ub_sub=sub),
    }
    return makers[reader]()


def _set(after: Ints, at: int, to: int) -> None:
    assert to < at
    after[at] = to
