# SPDX-License-Identifier: Apache-2.0
"""Registers during execution: those of the legacy copies, and CTRL."""

from __future__ import annotations

from tb.isa.ctrl import NOSAT_BIT, CtrlOp, write_ctrl
from tb.isa.dma.legacy import DmaRegisters, LegacySet, fits, put_registers
from tb.language.unknown import UNKNOWN, UndecidedError


class RegisterState:
    """Registers as the ``set_*`` ops so far have left them.

    Attributes:
        now: Their values; those that are equal are one object while the walk lasts, so that
            ``id`` distinguishes them, but for some with values that are not known.
        ctrl: Value of CTRL, or UNKNOWN.
        product_ctrl: The same as products sample it.
    """

    def __init__(self, ctrl: int | None = None) -> None:
        """Begins with registers as after a reset, and with the CTRL that a kernel finds.

        Without a value products do not saturate until the program writes CTRL; other ops take 0
        (A-75).
        """
        self.now = DmaRegisters()
        self.ctrl = ctrl or 0
        self.product_ctrl = 1 << NOSAT_BIT if ctrl is None else ctrl
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
        self.product_ctrl = self.ctrl
