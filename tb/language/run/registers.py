# SPDX-License-Identifier: Apache-2.0
"""Registers during execution: those of the legacy copies, and CTRL."""

from __future__ import annotations

from tb.isa.ctrl import CtrlOp, write_ctrl
from tb.isa.dma.legacy import DmaRegisters, LegacySet, fits, put_registers
from tb.language.unknown import UNKNOWN, UndecidedError


class RegisterState:
    """Registers as the ``set_*`` ops so far have left them.

    Attributes:
        now: Their values; those that are equal are one object while the walk lasts, so that
            ``id`` distinguishes them, but for some with values that are not known.
        ctrl: Value of CTRL, or UNKNOWN.
    """

    def __init__(self) -> None:
        """Begins with registers as after a reset."""
        self.now = DmaRegisters()
        self.ctrl = 0
        self._seen = {self.now: self.now}
        self._others: list[DmaRegisters] = []

    def write(self, op: LegacySet) -> None:
        """Executes a ``set_*`` op; an operand that is not known counts as one that fits."""
        try:
            legal = fits(op)
        except UndecidedError:
            legal = True
        if not legal:
            return
        new = put_registers(op, self.now)
        try:
            self.now = self._seen.setdefault(new, new)
        except UndecidedError:  # It is compared with one of the same hash.
            self._others.append(new)
            self.now = new

    def write_ctrl(self, op: CtrlOp) -> None:
        """Executes an op that writes CTRL; all of it is unknown when a part is."""
        try:
            self.ctrl = write_ctrl(op, self.ctrl)
        except UndecidedError:
            self.ctrl = UNKNOWN
