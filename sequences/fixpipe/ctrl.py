# SPDX-License-Identifier: Apache-2.0
"""Write-backs under CTRL, the default of saturation and atomics (order_and_atomics.md, section 5).

CTRL is written before such an op and is 0 again after it: an op samples CTRL when it is issued, so
an engine or a front end that reads it later takes another value. Clauses of the op replace their
bits, which then hold anything; so do the bits that no write-back reads.
"""

from __future__ import annotations

from random import Random

from tb.isa.block import OpBlock
from tb.isa.ctrl import KEEP_NAN_BIT, NOSAT_BIT, OP_LSB, TYPE_LSB, CtrlOp, SetAtomic, SetCtrl
from tb.isa.fix.op import FixOp, MteL0cGm
from tb.isa.fix.table import ATOMIC_OPS, ATOMIC_TYPES
from tb.isa.op import replace
from tb.isa.program import Entry, program_of

STORED_BITS = 63
"""Bits of the values that are written: those of a constant without a sign."""

_ATOMIC = 0x1F << TYPE_LSB
_SAT = 1 << NOSAT_BIT | 1 << KEEP_NAN_BIT
_TYPES = {0: "none"} | {code: name for name, code in ATOMIC_TYPES.items()}
_OPS = {code: name for name, code in ATOMIC_OPS.items()}

_OMIT_SAT, _OMIT_ATOMIC = 0.65, 0.6
"""Fractions of ops that leave the clause out, where they have one."""


def ctrl_of(sat: str, atomic_type: int, atomic_op: int, *, keep_nan: int = 0) -> int:
    """Returns CTRL for a saturation and an atomic, by code; other bits are 0.

    With ``nosat`` bit 50 has no effect; it is ``keep_nan``.
    """
    bits = {"preserve_nan": 1 << KEEP_NAN_BIT, "nosat": 1 << NOSAT_BIT | keep_nan << KEEP_NAN_BIT}
    return bits.get(sat, 0) | atomic_type << TYPE_LSB | atomic_op << OP_LSB


def writes_of(rng: Random, ctrl: int) -> tuple[CtrlOp, ...]:
    """Returns ops that write ``ctrl``: all bits at once, or those of the atomic by their names."""
    kind, what = ctrl >> TYPE_LSB & 7, ctrl >> OP_LSB & 3
    if kind not in _TYPES or what not in _OPS or rng.random() < 0.4:
        return (SetCtrl(ctrl),)
    sets: list[CtrlOp] = [SetAtomic(_TYPES[kind]), SetAtomic(_OPS[what])]
    rng.shuffle(sets)
    rest = ctrl & ~_ATOMIC
    if rest or rng.random() < 0.3:
        # What these ops replace is anything.
        sets.insert(0, SetCtrl(rest | rng.getrandbits(5) << TYPE_LSB))
    return tuple(sets)


def _entry(rng: Random, op: FixOp) -> tuple[Entry, int]:
    """Returns an op with the writes of CTRL around it, and the atomic op of its descriptor."""
    sat = op.sat_name or "sat"
    kind, what, keep = rng.randrange(8), rng.randrange(4), rng.randrange(2)
    found = 0
    if isinstance(op, MteL0cGm):
        found = ATOMIC_OPS[op.atomic.op] if op.atomic else what
        if op.atomic is None or rng.random() < _OMIT_ATOMIC:
            # Without a type the op has no meaning, and 3 is not an error.
            kind = ATOMIC_TYPES[op.atomic.type] if op.atomic else 0
            what, op = found, replace(op, atomic=None)
    if rng.random() < _OMIT_SAT:
        ctrl, op = ctrl_of(sat, kind, what, keep_nan=keep), replace(op, sat="")
    else:
        other = rng.choice(("sat", "preserve_nan", "nosat"))
        ctrl, op = ctrl_of(other, kind, what, keep_nan=keep), replace(op, sat=sat)
    if rng.random() < 0.7:
        ctrl |= rng.getrandbits(STORED_BITS) & ~(_ATOMIC | _SAT)
    return (*writes_of(rng, ctrl), op, SetCtrl(0)), found


def with_ctrl(rng: Random, block: OpBlock, share: float) -> OpBlock:
    """Returns a block of write-backs, a ``share`` of which has CTRL written around it."""
    chosen = [index for index in range(len(block)) if rng.random() < share]
    if not chosen:
        return block
    columns = {name: column[chosen] for name, column in block.columns.items()}
    ops = program_of(
        block.opcode[chosen], columns, block.dtype[chosen], block.pad_dtype[chosen], {}
    )
    atomic_op = block.column("atomic_op").copy()
    entries: dict[int, Entry] = {}
    for index, (op,) in zip(chosen, ops, strict=True):
        assert isinstance(op, FixOp)
        entries[index], found = _entry(rng, op)
        if op.spec.updates:
            atomic_op[index] = found
    return replace(
        block, columns={**block.columns, "atomic_op": atomic_op}, legacy={**block.legacy, **entries}
    )
