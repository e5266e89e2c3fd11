# SPDX-License-Identifier: Apache-2.0
"""Ops of any family as arrays, for coverage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tb.coverage.model import NOT_SAMPLED, Ints
from tb.isa.block import COLUMNS, OpBlock
from tb.isa.ctrl import (
    KEEP_NAN_BIT,
    NOSAT_BIT,
    CtrlOp,
    SetAtomic,
    SetCtrl,
    atomic_of,
    ctrl_after,
)
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
    fits,
)
from tb.isa.fields import OpSpec
from tb.isa.fix.op import FixOp, MteL0cGm
from tb.isa.fix.table import ATOMIC_OPS
from tb.isa.op import Op
from tb.isa.ops import LEGACY_FORMS, OPS, OPS_BY_CODE, SLOTS
from tb.isa.program import Entry, moving, moving_at
from tb.isa.rules import lowering_violation
from tb.isa.spaces import UB_BLOCK

Bools = NDArray[np.bool_]

FORMS: tuple[str, ...] = (*OPS, *LEGACY_FORMS)
"""Forms an op is written in: the v0.6 ops, then the legacy copies."""

FORM_SPECS: dict[str, OpSpec] = {name: OPS[LEGACY_FORMS.get(name, name)] for name in FORMS}
"""Form to the op that has the same descriptor."""


def form_doc(form: str) -> str:
    """Returns a line on a form: what is counted, and the function of the op."""
    spec = FORM_SPECS[form]
    written = f", the legacy form of `{spec.name}`" if form in LEGACY_FORMS else ""
    return f"Legal ops{written}: {spec.doc}."


(LEGACY, SET_SIZE, SET_STRIDE1, SET_STRIDE2, SET_PAD, FOREIGN, SID, TOO_WIDE, ODD_SRC, ODD_DST,
 REFUSED, SET_CTRL, SET_ATOMIC_TYPE, SET_ATOMIC_OP, SET_ATOMIC_NONE, RESTORED, SAT_CLAUSE,
 ATOMIC_CLAUSE) = (1 << bit for bit in range(18))  # fmt: skip
"""Bits of :attr:`View.program`: contents of the instructions that an op is written as. ``SET_*`` of
CTRL are set for ops that are written after writes of CTRL, ``*_CLAUSE`` for write-backs there."""

CTRL_TYPE_LSB, CTRL_OP_LSB = 2, 5
"""Layout of :attr:`View.ctrl`: bits 48 and 50 of CTRL, then the atomic type and the atomic op."""


def _form_table() -> Ints:
    table = np.full((2, 256), NOT_SAMPLED)
    for number, (form, spec) in enumerate(FORM_SPECS.items()):
        table[int(form in LEGACY_FORMS), spec.opcode] = number
    return table


def _slot_table() -> Ints:
    table = np.full(256, NOT_SAMPLED)
    for code, spec in OPS_BY_CODE.items():
        table[code] = SLOTS.index(spec.slot)
    return table


_FORM_OF = _form_table()
_SLOT_OF = _slot_table()


def program_bits(program: Entry, *, check: bool = True) -> int:
    """Returns the ``LEGACY`` ... ``ATOMIC_CLAUSE`` bits of the instructions of an op.

    Without ``check`` every ``set_*`` op is assumed to fit its registers. A v0.6 op has bits of
    CTRL alone, and none if it is written alone.
    """
    op = moving(program)
    if isinstance(op, Op):
        return _ctrl_op_bits(program, op)
    found = _legacy_bits(program[: moving_at(program)], op, check=check)
    return found | _ctrl_op_bits(program, op)


def _ctrl_op_bits(program: Entry, op: Op | LegacyOp) -> int:
    at, bits = moving_at(program), 0
    for item in program[:at]:
        if isinstance(item, SetCtrl):
            bits |= SET_CTRL
        elif isinstance(item, SetAtomic):
            bits |= SET_ATOMIC_OP if item.what in ATOMIC_OPS else SET_ATOMIC_TYPE
            bits |= SET_ATOMIC_NONE if item.what == "none" else 0
    if bits and isinstance(op, FixOp):
        bits |= SAT_CLAUSE if op.sat_given else 0
        bits |= ATOMIC_CLAUSE if isinstance(op, MteL0cGm) and op.atomic else 0
    return bits | (RESTORED if at < len(program) - 1 else 0)


def _legacy_bits(before: Entry, copy: LegacyOp, *, check: bool) -> int:
    bits = LEGACY
    side = ""
    if isinstance(copy, CopyUbufToUbuf):
        for stride, odd in ((copy.src_stride, ODD_SRC), (copy.dst_stride, ODD_DST)):
            if stride % UB_BLOCK or stride < copy.len_burst:
                bits |= odd
    else:
        side = OUTTOUB if isinstance(copy, CopyGmToUbuf) else UBTOOUT
    if getattr(copy, "sid", 0):
        bits |= SID
    for item in before:
        if isinstance(item, SetMovPadVal):
            bits |= SET_PAD if side == OUTTOUB else FOREIGN
        elif isinstance(item, SetLoopSize):
            bits |= SET_SIZE if item.direction == side else FOREIGN
        elif isinstance(item, SetLoopStride):
            own = SET_STRIDE1 if item.level == 1 else SET_STRIDE2
            bits |= own if item.direction == side else FOREIGN
        else:
            bits |= 0 if isinstance(item, CtrlOp) else REFUSED
            continue
        if check and not fits(item):
            bits |= TOO_WIDE
    return bits


def ctrl_bits(program: Entry) -> int:
    """Returns the bits of CTRL that the op of an entry samples, as in :attr:`View.ctrl`.

    A block begins with CTRL 0, and every entry leaves it so.
    """
    ctrl = ctrl_after(program[: moving_at(program)])
    kind, op = atomic_of(ctrl)
    sat = (ctrl >> NOSAT_BIT & 1) | (ctrl >> KEEP_NAN_BIT & 1) << 1
    return sat | kind << CTRL_TYPE_LSB | op << CTRL_OP_LSB


class View:
    """N ops of several blocks, one array per quantity, each ``int64[N]`` or ``bool[N]``.

    Illegal ops keep their place for points on order; ``rule`` marks them.

    Attributes:
        size: N.
        opcode, dtype, pad_dtype, gap, after: As in the blocks.
        flag_delay: As in the blocks, -1 where a block has none.
        rule: Number of the lowest D rule broken, 0 when legal.
        events: Events of the data, from the scoreboard.
        block: Number of the block.
        start: Place of the first op of the block.
        program: Bits of :func:`program_bits`, 0 for v0.6 ops that are written alone.
        ctrl: Bits of CTRL that the op samples: see ``CTRL_TYPE_LSB``.
        counted: The mask, without ops in no table.
        form: Index into ``FORMS``, ``NOT_SAMPLED`` for an op that no table knows.
        slot: Index into ``SLOTS``, ``NOT_SAMPLED`` likewise.
    """

    PER_OP = frozenset(
        (
            *("opcode", "dtype", "pad_dtype", "gap", "after", "flag_delay", "rule", "events"),
            *("block", "start", "program", "ctrl", "form", "slot", "legal", "slot_before"),
            "slot_rule",
        )
    )
    """Names of the arrays of an entry for each op."""

    def __init__(
        self,
        blocks: Sequence[OpBlock],
        masks: Sequence[Bools | None],
        events: Sequence[Ints | None],
        *,
        check: bool = True,
    ) -> None:
        """Concatenates ``blocks``; ``masks`` select the ops to be counted."""
        self._blocks = blocks
        self._raw: dict[str, Ints] = {}
        self.size = sum(len(block) for block in blocks)
        self.opcode = _join([block.opcode for block in blocks])
        self.dtype = _join([block.dtype for block in blocks])
        self.pad_dtype = _join([block.pad_dtype for block in blocks])
        self.gap = _join([block.gap for block in blocks])
        self.after = _join([block.after for block in blocks])
        zero = [np.zeros(len(block), np.int64) for block in blocks]
        rules = zip([block.expected_rule for block in blocks], zero, strict=True)
        self.rule = _join([none if rule is None else rule for rule, none in rules])
        delays = zip([block.flag_delay for block in blocks], zero, strict=True)
        self.flag_delay = _join([none - 1 if late is None else late for late, none in delays])
        seen = zip(events, zero, strict=True)
        self.events = _join([none if bits is None else bits for bits, none in seen])
        sizes = [len(block) for block in blocks]
        starts = np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(0, np.int64)
        self._starts: list[int] = starts.tolist()
        self.block = np.repeat(np.arange(len(blocks)), sizes)
        self.start = starts[self.block]
        self.program = np.zeros(self.size, dtype=np.int64)
        self.ctrl = np.zeros(self.size, dtype=np.int64)
        self.counted = np.ones(self.size, dtype=bool)
        for block, mask, start in zip(blocks, masks, self._starts, strict=True):
            if mask is not None:
                self.counted[start : start + len(block)] = mask
            if block.legacy:
                places = [start + at for at in block.legacy]
                entries = block.legacy.values()
                self.program[places] = [program_bits(one, check=check) for one in entries]
                self.ctrl[places] = [ctrl_bits(one) for one in entries]
        self.form = _FORM_OF[(self.program & LEGACY > 0).astype(np.int64), self.opcode]
        self.slot = _SLOT_OF[self.opcode]
        self.counted &= self.form >= 0

    def raw(self, name: str) -> Ints:
        """Returns a descriptor column, 0 for ops of blocks that leave it out.

        Raises:
            KeyError: no family has a field of that name.
        """
        found = self._raw.get(name)
        if found is None:
            if name not in COLUMNS:
                raise KeyError(f"no descriptor has a field {name}")
            found = self._raw[name] = np.zeros(self.size, dtype=np.int64)
            for block, start in zip(self._blocks, self._starts, strict=True):
                column = block.columns.get(name)
                if column is not None:
                    found[start : start + len(column)] = column
        return found

    def refused(self) -> tuple[Ints, Ints]:
        """Returns the copies that are not issued: the op that follows each, and its rule.

        Both are ``int64[M]``; the rules are those of :func:`lowering_violation`.
        """
        places, rules = [], []
        for place in np.flatnonzero(self.program & REFUSED).tolist():
            block, start = self._blocks[self.block[place]], int(self.start[place])
            for item in block.legacy[place - start][:-1]:
                found = lowering_violation(item) if isinstance(item, CopyUbufToUbuf) else None
                if found:
                    places.append(place)
                    rules.append(found.rule.number)
        return np.array(places, np.int64), np.array(rules, np.int64)

    @cached_property
    def legal(self) -> Bools:
        """No D rule is broken."""
        return np.equal(self.rule, 0)

    @cached_property
    def slot_before(self) -> Ints:
        """Place of the op before on the same slot in the same block, or ``NOT_SAMPLED``."""
        found = np.full(self.size, NOT_SAMPLED)
        for slot in range(len(SLOTS)):
            mine = np.flatnonzero(self.slot == slot)
            found[mine[1:]] = mine[:-1]
        same = (found >= 0) & (self.block[found] == self.block)
        return np.where(same, found, NOT_SAMPLED)

    @cached_property
    def slot_rule(self) -> Ints:
        """``rule`` of the op before on the same slot, or ``NOT_SAMPLED``."""
        found = np.full(self.size, NOT_SAMPLED)
        for slot in range(len(SLOTS)):
            mine = np.flatnonzero(self.slot == slot)
            found[mine[1:]] = self.rule[mine[:-1]]
        return found

    @cached_property
    def per_slot(self) -> Ints:
        """Legal ops of each slot in each block, ``int64[blocks, slots]``."""
        cell = self.block * len(SLOTS) + self.slot
        counts = np.bincount(
            cell[self.legal & (self.slot >= 0)], minlength=len(self._blocks) * len(SLOTS)
        )
        return counts.reshape(-1, len(SLOTS))


def _join(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
