# SPDX-License-Identifier: Apache-2.0
"""Loads to L0 as arrays, with the derived quantities that coverage classifies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tb.coverage.model import Ints
from tb.coverage.view import FORM_SPECS, FORMS, Bools, Part, View
from tb.isa.l0.table import (
    C0_BYTES,
    ELEMENT_CODES,
    FRACTAL_BYTES,
    FRACTAL_ROWS,
    SCALE_BYTES,
    SCALE_RATIO,
    LoadSpec,
)

_BITS = np.array([bits for bits, _ in sorted(ELEMENT_CODES.items(), key=lambda item: item[1])])


class LoadPart(Part):
    """Legal loads of one form. Sizes are in fractals, of scales in fragments."""

    def __init__(self, view: View, index: Ints) -> None:
        """Takes the ops ``index`` (``int64[M]``) of ``view``."""
        super().__init__(view, index)
        spec = FORM_SPECS[FORMS[self.form[0]]]
        assert isinstance(spec, LoadSpec)
        self.scales = spec.scales
        self.unit = SCALE_BYTES if spec.scales else FRACTAL_BYTES

    @cached_property
    def live(self) -> Bools:
        """Moves at least one byte."""
        found: Bools = (self["m_step"] > 0) & (self["k_step"] > 0)
        return found

    @cached_property
    def turned(self) -> Bools:
        """Transposed."""
        return self["transpose"] > 0

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """Runs that the source is read in, and units of each."""
        across, along = self["k_step"], self["m_step"]
        return (along, across) if self.scales else (across, along)

    @cached_property
    def target_runs(self) -> tuple[Ints, Ints]:
        """Runs that the destination is written in, and units of each."""
        count, length = self.runs
        if self.scales:
            return count, length
        c0 = 8 * C0_BYTES // _BITS[self["elem"]]
        return (
            np.where(self.turned, FRACTAL_ROWS * self["m_step"] // c0, count),
            np.where(self.turned, c0 * self["k_step"] // FRACTAL_ROWS, length),
        )

    @cached_property
    def first(self) -> Ints:
        """Address of the first source byte of a live load."""
        across, along = ("m_start", "k_start") if self.scales else ("k_start", "m_start")
        skipped = self[across] * self["src_stride"] + self[along]
        found: Ints = self["src_addr"] + skipped * self.unit
        return found

    @cached_property
    def end(self) -> Ints:
        """First address behind the source."""
        return self.first + self._span(self.runs, "src_stride")

    @cached_property
    def target(self) -> Ints:
        """Address of the first byte in the memory that is written."""
        return self["dst_addr"] // SCALE_RATIO if self.scales else self["dst_addr"]

    @cached_property
    def target_end(self) -> Ints:
        """First address behind the destination."""
        return self.target + self._span(self.target_runs, "dst_stride")

    def _span(self, runs: tuple[Ints, Ints], stride: str) -> Ints:
        count, length = runs
        found: Ints = ((count - 1) * self[stride] + length) * self.unit
        return found

    @cached_property
    def bytes(self) -> Ints:
        """Bytes moved."""
        return self["m_step"] * self["k_step"] * self.unit
