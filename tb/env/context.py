# SPDX-License-Identifier: Apache-2.0
"""Shared state of one simulation: settings, memories, counts, verdict."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.common.paths import RESULT_ENV, SETTINGS_ENV
from tb.coverage.functional import DmaCoverage
from tb.dut.manifest import Capabilities
from tb.dut.selection import SELECTABLE
from tb.env.stopwatch import Stopwatch
from tb.harness.knobs import KnobProfile
from tb.harness.mailbox import Mailbox
from tb.harness.memory import SimMemory
from tb.record.failure import Failure
from tb.record.record import CoverageSummary, OpCount, RunStatus
from tb.record.settings import RunSettings

STRAY_REPORTS = 5
"""Reports of stray writes that are kept beyond the mismatch limit."""


class SimSettings(BaseModel):
    """What the simulation is told: the run's settings and what the build holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: RunSettings
    command: str
    slots: tuple[str, ...]
    dut_ops: tuple[str, ...]
    d_rules: tuple[str, ...]
    capabilities: dict[str, Capabilities] = Field(default_factory=dict)
    library: str = ""
    coverage_file: str = ""


class SimResult(BaseModel):
    """What a simulation says of itself; no result means that it crashed or was ended."""

    model_config = ConfigDict(extra="forbid")

    status: RunStatus
    message: str = ""
    transactions: int = 0
    ops: dict[str, OpCount] = Field(default_factory=dict)
    statuses: dict[str, int] = Field(default_factory=dict)
    bytes_checked: int = 0
    full_compares: int = 0
    mismatches: int = 0
    protocol_errors: int = 0
    failures: list[str] = Field(default_factory=list)
    details: list[Failure] = Field(default_factory=list)
    clocks: int = 0
    left_out: list[str] = Field(default_factory=list)
    injected: dict[str, int] = Field(default_factory=dict)
    exercised: dict[str, int] = Field(default_factory=dict)
    coverage: CoverageSummary = Field(default_factory=CoverageSummary)
    simulator_seconds: float = 0.0
    python_split: dict[str, float] = Field(default_factory=dict)


@dataclass
class RunContext:
    """Shared state of a running simulation; handed out through ConfigDB as ``RUN``.

    ``left_out`` counts drawn ops that were not sent, by the reason, ``faults_left_out`` drawn
    faults that were not injected, and ``notes`` has sentences on what else was not; ``injected``
    counts faults, resets and clocks of stalls, by what, ``exercised`` rules and worked values of
    the specification, by name; ``profile`` has the knobs in force.
    """

    config: SimSettings
    memory: SimMemory
    mailbox: Mailbox
    coverage: DmaCoverage
    stopwatch: Stopwatch
    ops: dict[str, OpCount] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    faults_left_out: Counter[str] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)
    exercised: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    details: list[Failure] = field(default_factory=list)
    transactions: int = 0
    bytes_checked: int = 0
    full_compares: int = 0
    mismatches: int = 0
    agreed: int = 0
    protocol_errors: int = 0
    abort_status: RunStatus | None = None
    abort_message: str = ""
    profile: KnobProfile | None = None

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
        """True once nothing more is to be sent."""
        return self.abort_status is not None

    def abort(self, status: RunStatus, message: str) -> None:
        """Ends the stimulus; the first reason stays."""
        if self.abort_status is None:
            self.abort_status = status
            self.abort_message = message

    def crashed(self, error: Exception) -> None:
        """Ends the run because code of the bench or of a user's raised, and says where."""
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
            report: For people.
            detail: The same for machines; without it the first line of the report has to do.
            stray: It is about a stray write.
            agreed: DUT and model agree, and what they left is not what somebody else expects.
        """
        self.mismatches += 1
        self.agreed += agreed
        limit = self.settings.mismatch_limit
        if len(self.failures) < limit + (STRAY_REPORTS if stray else 0):
            self._note(report, detail or check_failure(report, int(self.mailbox.cycles)))
        if self.mismatches >= limit:
            self.abort("fail", f"mismatch limit of {limit} reached")

    def protocol_failure(self, report: str, detail: Failure) -> None:
        """Notes an error of the protocol checkers."""
        if len(self.failures) < self.settings.mismatch_limit:
            self._note(report, detail)
        if self.protocol_errors >= self.settings.mismatch_limit:
            self.abort("fail", "too many protocol errors")

    def hang(self, message: str, report: str, detail: Failure) -> None:
        """Ends the run because the engines stand still, and notes the report."""
        self.abort("hang", message)
        self._note(report, detail)

    def _note(self, report: str, detail: Failure) -> None:
        self.failures.append(report)
        self.details.append(detail)

    def result(self, complete: bool) -> SimResult:
        """Returns the result; ``complete`` says that the test came to its own end."""
        status: RunStatus = "pass"
        message = ""
        if self.abort_status is not None:
            status, message = self.abort_status, self.abort_message
        elif self.mismatches or self.protocol_errors:
            status, message = "fail", "the DUT differs from the model"
            if self.agreed == self.mismatches and not self.protocol_errors:
                message = "DUT and model agree, and a check of what they left fails"
        elif not complete:
            status, message = "error", "the test ended before its time; see the log"
        return SimResult(
            status=status,
            message=message,
            transactions=self.transactions,
            ops={name: self.ops[name] for name in SELECTABLE if name in self.ops},
            statuses=dict(self.statuses),
            bytes_checked=self.bytes_checked,
            full_compares=self.full_compares,
            mismatches=self.mismatches,
            protocol_errors=self.protocol_errors,
            failures=self.failures,
            details=self.details,
            clocks=int(self.mailbox.cycles),
            left_out=[
                *(f"drawn ops, {count}: {why}" for why, count in self.left_out.items()),
                *(f"drawn faults, {count}: {why}" for why, count in self.faults_left_out.items()),
                *self.notes,
            ],
            injected=dict(sorted(self.injected.items())),
            exercised=dict(sorted(self.exercised.items())),
            coverage=self.coverage_summary(),
            simulator_seconds=self.stopwatch.simulator,
            python_split=self.stopwatch.summary(),
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

    def write(self, complete: bool) -> None:
        """Writes result and coverage where the parent process looks for them."""
        if self.config.coverage_file:
            write_json(Path(self.config.coverage_file), self.coverage.to_json())
        write_json(Path(os.environ[RESULT_ENV]), self.result(complete))


def check_failure(report: str, clock: int) -> Failure:
    """Returns the failure of a check that says no more than its report."""
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
