# SPDX-License-Identifier: Apache-2.0
"""The measured speed of a stream of ops, beside its limit."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SpeedFigure(BaseModel):
    """Clocks of one stream of ``TEST=speed``.

    Attributes:
        stream: Its name.
        slot, op: Slot and op.
        unit: Unit with its article: ``a word``.
        clocks: Clocks for one unit; in a stream of several ops without the latency of the first.
        limit: Most that the manifest of the engine allows; None for no limit.
    """

    model_config = ConfigDict(extra="forbid")

    stream: str
    slot: str
    op: str
    unit: str
    clocks: float
    limit: float | None = None

    @property
    def missed(self) -> bool:
        """True when the stream is slower than its limit."""
        return self.limit is not None and self.clocks > self.limit

    @property
    def line(self) -> str:
        """Stream, measured clocks, limit."""
        limit = "no limit" if self.limit is None else f"limit {_short(self.limit)}"
        return f"{self.stream}: {_short(self.clocks)} clocks {self.unit}, {limit}"


def _short(clocks: float) -> str:
    """Returns clocks with one to three decimals."""
    text = f"{clocks:.3f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text
