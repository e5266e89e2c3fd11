# SPDX-License-Identifier: Apache-2.0
"""Figures of ``make bench``: ratios, budgets, and the printed tables.

workload.py measures, in the simulator started by measure.py. Times are in microseconds per
transaction; a table row is the repetition with the median time.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

REPORT_VERSION = 2
"""Version of the JSON report's schema; raised when a key changes its meaning."""

Way = Literal["self-driven", "checked", "Python AXI"]
WAYS: dict[Way, str] = {
    "self-driven": "a: descriptor rings in the simulator, nothing checked",
    "checked": "b: the full bench, sequence to coverage",
    "Python AXI": "c: per-beat Python AXI memory, bytes compared",
}
"""The three ways in which the same copies run, each with its description."""

LOCAL_LATENCY = 8
"""Longest measured latency of the local ports in clocks, that of ``TEST=speed``."""

MEMORY_MODEL = (
    "tb/hdl/pto_axi_mem.v: one beat a clock in each direction, bursts back to back, W taken "
    "without waiting for AW, 64 bursts outstanding, no stalls; local port: one word a clock in "
    "each direction, read latency 1"
)
"""Memory settings of every engine figure."""


class Copies(BaseModel):
    """One timed repetition of copies of one size.

    Attributes:
        way: Which of :data:`WAYS`.
        bytes: Of one copy.
        transactions: Copies made.
        seconds: Processor time of all.
        wall: Wall time of all: longer on a busy machine.
        clocks: Simulated.
        python: Seconds by phase, where Python's share was measured.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    way: Way
    bytes: int = Field(gt=0)
    transactions: int = Field(gt=0)
    seconds: float = Field(gt=0)
    wall: float = Field(gt=0)
    clocks: int
    python: dict[str, float] = Field(default_factory=dict)

    @property
    def microseconds(self) -> float:
        """Processor time per transaction."""
        return self.seconds / self.transactions * 1e6


class Rate(BaseModel):
    """Ops of one shape, back to back.

    Attributes:
        name: Of the stream.
        engine: Slot.
        latency: Of GM in clocks; of the local ports the same, up to that of ``TEST=speed``.
        unit: Unit of the rate.
        units: Units of all ops.
        ops: How many.
        cycles: From the first accept to the last done.
        single: Clocks of one such op alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    engine: str
    latency: int
    unit: str
    units: int
    ops: int
    cycles: int
    single: int

    @property
    def per_cycle(self) -> float:
        """Units a clock while the stream runs: without the fixed latency of the first op."""
        if self.ops == 1:
            return round(self.units / self.cycles, 4)
        more = self.cycles - self.single
        return round(self.units * (self.ops - 1) / self.ops / more, 4)

    @property
    def alone(self) -> float:
        """Units a clock of a single op, latency included."""
        return round(self.units / self.ops / self.single, 4)


class Overhead(BaseModel):
    """One timed repetition of ops of one shape: processor microseconds per op.

    ``python`` is Python's share of ``checked``, ``model`` the part of the reference model in it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    bytes: int
    checked: float
    self_driven: float
    python: float
    model: float


class Measurements(BaseModel):
    """Measurements of one simulation; ``everything`` are copies with all engines in the build."""

    model_config = ConfigDict(extra="forbid")

    copies: list[Copies] = Field(default_factory=list)
    everything: list[Copies] = Field(default_factory=list)
    rates: list[Rate] = Field(default_factory=list)
    overheads: list[Overhead] = Field(default_factory=list)
