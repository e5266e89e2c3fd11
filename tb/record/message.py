# SPDX-License-Identifier: Apache-2.0
"""Messages of the design: severity tasks, failed assertions, ``$stop`` and ``$finish``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from tb.common.text import counted
from tb.record.failure import Failure

Severity = Literal["warning", "error", "fatal", "$stop", "$finish"]


class DesignMessage(BaseModel):
    """Equal messages of one place in the design, or in a file that is bound to it.

    Attributes:
        severity: The severity task, ``error`` also for an assertion without one.
        text: The first message.
        file, line: Its place; the simulator may give the name of the file without its folder.
        scope: The instance of the first.
        clock: Clock of the first.
        count: Number of messages.
        expected: A manifest expects them (``expected_messages``).
    """

    model_config = ConfigDict(extra="forbid")

    severity: Severity
    text: str
    file: str = ""
    line: int = 0
    scope: str = ""
    clock: int = 0
    count: int = 1
    expected: bool = False

    @property
    def fails(self) -> bool:
        """Whether it fails the run."""
        return self.severity != "warning" and not self.expected

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}" if self.file else "an unknown place"

    @property
    def what(self) -> str:
        """Severity and text in one line."""
        text = " ".join(self.text.split())
        return f"{self.severity}: {text}" if text else self.severity

    @property
    def text_line(self) -> str:
        """The messages as a line of the summary."""
        times = "" if self.count == 1 else f", {counted(self.count, 'time')}, first"
        expected = " (expected)" if self.expected else ""
        return f"{self.what}; {self.place}{times} at clock {self.clock}{expected}"

    def failure(self) -> Failure:
        """Returns the messages as a failure."""
        report = f"DESIGN {self.what}\n  where      {self.place}"
        report += f" in {self.scope}" if self.scope else ""
        report += f"\n  when       clock {self.clock}"
        report += f", then {self.count - 1} more" if self.count > 1 else ""
        slots = self.scope.split(".")[1:2]
        return Failure(
            kind="design",
            slot=slots[0] if slots and slots[0] in ("mte1", "mte2", "mte3", "fix") else "",
            field=f"{self.what} at {self.file.rpartition('/')[2]}",
            begin_clock=self.clock,
            end_clock=self.clock,
            text=report,
        )
