# SPDX-License-Identifier: Apache-2.0
"""Progress of a regression run: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from tb.regress.coordinator import Tally

PLAIN_SECONDS = 10.0


def clock_text(seconds: float) -> str:
    """Returns ``4:05`` or ``1:04:05``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class RegressionProgress:
    """Shows a tally; used as a context manager around the regression run.

    Args:
        budget: Seconds that the regression run may take, 0 for no limit.
    """

    def __init__(self, budget: float) -> None:
        self._of = f" of {clock_text(budget)}" if budget else ""
        self._start = self._last = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stdout.isatty():
            self._bar = Progress(
                TextColumn("progress"),
                BarColumn(),
                TextColumn("{task.fields[text]}"),
                console=Console(),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("runs", total=None, text="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, tally: Tally) -> None:
        """Shows the progress of the regression run."""
        now = time.monotonic()
        text = (
            f"{tally.done} of {tally.planned} runs, {tally.failed} failed, "
            f"{tally.running} running, builds {tally.builds}, {tally.transactions} transactions, "
            f"{clock_text(now - self._start)}{self._of}"
        )
        if self._bar is not None:
            self._bar.update(self._task, total=tally.planned, completed=tally.done, text=text)
        elif now - self._last >= PLAIN_SECONDS:
            self._last = now
            print(f"progress {text}", flush=True)
