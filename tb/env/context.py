# SPDX-License-Identifier: Apache-2.0
"""Shared state of one simulation: settings, memories, counts."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.common.paths import RESULT_ENV, SETTINGS_ENV
from tb.coverage.functional import FunctionalCoverage
from tb.dut.selection import SELECTABLE
from tb.env.stopwatch import Stopwatch
from tb.harness.knobs import KnobProfile
from tb.harness.mailbox import Mailbox
from tb.harness.memory import SimMemory
from tb.record.failure import Failure
from tb.record.record import CoverageSummary, RunCounters, RunStatus
from tb.record.settings import RunSettings
from tb.record.signature import signature_of, title
from tb.run.exchange import SimResult, SimSettings

STRAY_REPORTS = 5
"""Most reports of stray writes kept beyond the mismatch limit."""


@dataclass
class RunContext:
    """Shared state of a running simulation; handed out through ConfigDB as ``RUN``.

    ``counts`` has the figures of the record. ``left_out`` counts drawn ops that were not sent, by
    the reason, ``faults_left_out`` drawn faults that were not injected, and ``notes`` has sentences
    on other omissions; ``profile`` has the knobs in force, ``resets`` the clocks of the resets that
    tests made. ``sends``, ``dropped`` and ``constrained`` are those of
    :class:`tb.run.exchange.SimResult`.
    """

    config: SimSettings
    memory: SimMemory
    mailbox: Mailbox
    coverage: FunctionalCoverage
    stopwatch: Stopwatch
    counts: RunCounters = field(default_factory=RunCounters)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    faults_left_out: Counter[str] = field(default_factory=Counter)
    sends: tuple[str, ...] = ()
    dropped: dict[str, str] = field(default_factory=dict)
    constrained: bool = False
    abort_status: RunStatus | None = None
    abort_message: str = ""
    profile: KnobProfile | None = None
    resets: list[int] = field(default_factory=list)

    @property
    def settings(self) -> RunSettings:
        """Settings of the run."""
        return self.config.run

    @property
    def command(self) -> str:
        """Command line that repeats the run."""
        return self.config.command

    @property
    def slots(self) -> tuple[str, ...]:
        """Slots with an engine in this build."""
        return self.config.slots

    @property
    def aborted(self) -> bool:
        """True when the stimulus is to end."""
        return self.abort_status is not None

    def abort(self, status: RunStatus, message: str) -> None:
        """Ends the stimulus; the first reason is kept."""
        if self.abort_status is None:
            self.abort_status = status
            self.abort_message = message

    def crashed(self, error: Exception) -> None:
        """Ends the run after an exception in code of bench or user, and reports the place."""
        if isinstance(error, PtoError):
            self.abort("error", str(error))
            return
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
        self.abort(
            "error", f"the test ended with {type(error).__name__}: {error}{where}; see the log"
        )

    def fail(
        self,
        report: str,
        detail: Failure | None = None,
        *,
        stray: bool = False,
        agreed: bool = False,
    ) -> None:
        """Notes a failure report; past the mismatch limit the run is aborted.

        Reports of stray writes are kept beyond the limit: only the last comparison finds them.

        Args:
            report: Text.
            detail: The same as fields; without it the first line of the report is used.
            stray: It reports a stray write.
            agreed: DUT and model agree, but differ from an expectation of the user.
        """
        self.counts.mismatches += 1
        self.counts.agreed += agreed
        limit = self.settings.mismatch_limit
        detail = detail or check_failure(report, int(self.mailbox.cycles))
        self._keep(report, detail, limit + (STRAY_REPORTS if stray else 0))
        if self.counts.mismatches >= limit:
            self.abort("fail", f"mismatch limit of {limit} reached")

    def protocol_failure(self, report: str, detail: Failure) -> None:
        """Notes an error of the protocol checkers."""
        self._keep(report, detail, self.settings.mismatch_limit)
        if self.counts.protocol_errors >= self.settings.mismatch_limit:
            self.abort("fail", "too many protocol errors")

    def hang(self, message: str, report: str, detail: Failure) -> None:
        """Ends the run after a hang, and notes the report."""
        self.abort("hang", message)
        self._note(report, detail)

    def _keep(self, report: str, detail: Failure, limit: int) -> None:
        """Notes the report of a failure; past the limit its kind is counted instead."""
        if len(self.counts.failures) < limit:
            self._note(report, detail)
        else:
            self.counts.past_limit[title(signature_of(detail))] += 1

    def _note(self, report: str, detail: Failure) -> None:
        self.counts.failures.append(report)
        self.counts.details.append(detail)

    def result(self, complete: bool) -> SimResult:
        """Returns the result; ``complete`` is set if the test was not aborted."""
        counts = self.counts
        counts.ops = {name: counts.ops[name] for name in SELECTABLE if name in counts.ops}
        counts.injected = Counter(dict(sorted(counts.injected.items())))
        counts.exercised = Counter(dict(sorted(counts.exercised.items())))
        counts.clocks = int(self.mailbox.cycles)
        counts.coverage = self.coverage_summary()
        counts.left_out = [
            *(f"drawn ops, {count}: {why}" for why, count in self.left_out.items() if count),
            *(f"drawn faults, {count}: {why}" for why, count in self.faults_left_out.items()),
            *self.notes,
        ]
        return SimResult(
            **counts.counters(),
            complete=complete,
            ended=self.abort_status,
            message=self.abort_message,
            sends=self.sends,
            dropped=self.dropped,
            constrained=self.constrained,
            simulator_seconds=self.stopwatch.simulator,
            python_split=self.stopwatch.summary(),
            course=self.stopwatch.marks,
        )

    def coverage_summary(self) -> CoverageSummary:
        """Returns the functional coverage so far."""
        report = self.coverage.summary()
        return CoverageSummary(
            percent=report.percent,
            covered=report.covered,
            bins=report.bins,
            groups=report.groups,
            file=self.config.coverage_file,
        )

    def write_coverage(self) -> None:
        """Writes the coverage so far to its file."""
        if self.config.coverage_file:
            write_json(Path(self.config.coverage_file), self.coverage.to_json())

    def write(self, complete: bool) -> None:
        """Writes result and coverage to the files that the parent process reads."""
        self.write_coverage()
        write_json(Path(os.environ[RESULT_ENV]), self.result(complete))


def check_failure(report: str, clock: int) -> Failure:
    """Returns the failure of a check with no fields but its report."""
    field = report.partition("\n")[0].removeprefix("MISMATCH: ")
    return Failure(kind="check", field=field, end_clock=clock, text=report)


def load_settings() -> SimSettings:
    """Reads the settings file that the parent process wrote.

    Raises:
        PtoError: the simulation was not started by ``python -m tb run``.
    """
    path = os.environ.get(SETTINGS_ENV)
    if not path:
        raise PtoError(
            f"{SETTINGS_ENV} is not set: the simulation has no settings",
            remedy="start it with make or python -m tb run",
        )
    return SimSettings.model_validate_json(Path(path).read_text())
