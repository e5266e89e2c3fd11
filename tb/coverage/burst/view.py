# SPDX-License-Identifier: Apache-2.0
"""Burst copies as arrays, with the derived quantities that coverage classifies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tb.coverage.model import Ints
from tb.coverage.view import Bools, Part, View
from tb.isa.burst.table import BURSTS, WIDEN_RAW, unit_bytes
from tb.isa.ops import OPS_BY_CODE


class BurstPart(Part):
    """Legal burst copies of one op."""

    def __init__(self, view: View, index: Ints) -> None:
        """Takes the ops ``index`` (``int64[M]``, at least one) of ``view``."""
        super().__init__(view, index)
        self._spec = BURSTS[OPS_BY_CODE[int(view.opcode[index[0]])].name]

    @cached_property
    def live(self) -> Bools:
        """Moves at least one byte."""
        found: Bools = (self["len"] > 0) & (self["n_burst"] > 0)
        return found

    def unit(self, side: str) -> Ints:
        """Returns the bytes of a unit on side ``"src"`` or ``"dst"``."""
        number = 0 if side == "src" else 1
        narrow = unit_bytes(self._spec, WIDEN_RAW + 1)[number]
        raw = unit_bytes(self._spec, WIDEN_RAW)[number]
        if narrow == raw:
            return np.full(self.size, raw)
        return np.where(self["widen"] == WIDEN_RAW, raw, narrow)

    def pitch(self, side: str) -> Ints:
        """Returns the bytes from one burst to the next."""
        return (self["len"] + self[f"{side}_gap"]) * self.unit(side)

    def hull(self, side: str) -> Ints:
        """Returns the bytes from the first to the last of a live op."""
        return (self["n_burst"] - 1) * self.pitch(side) + self["len"] * self.unit(side)

    @cached_property
    def bytes(self) -> Ints:
        """Bytes written."""
        return np.where(self.live, self["n_burst"] * self["len"] * self.unit("dst"), 0)
