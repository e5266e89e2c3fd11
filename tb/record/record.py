# SPDX-License-Identifier: Apache-2.0
"""The result record of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tb.common.text import counted, percent_text
from tb.record.capacity import CapacityFigure
from tb.record.failure import Failure
from tb.record.message import DesignMessage
from tb.record.outside import OutsideGroup
from tb.record.settings import DEFAULT_PROFILE, RunSettings
from tb.record.speed import SpeedFigure

TERMINATED = "interrupted by SIGTERM"
"""Message of a run that ended by request."""

RunStatus = Literal["pass", "fail", "hang", "crash", "interrupted", "error"]

RECORD_VERSION = 1
"""Version of the record's schema; raised when a key changes its meaning."""


class OpCount(BaseModel):
    """Transactions of one op or legacy form.

    Attributes:
        sent: Offered to an engine.
        unchecked: Those of them that are not transactions of the run: a reset, a hang or a request
            ended their batch before they were checked.
        passed: Checked, with no difference.
        bytes: That they wrote and that were compared.
    """

    model_config = ConfigDict(extra="forbid")

    sent: int = 0
    unchecked: int = 0
    passed: int = 0
    bytes: int = 0


class Mark(BaseModel):
    """How far a run was after some seconds: transactions checked, and memory of the simulator."""

    model_config = ConfigDict(extra="forbid")

    transactions: int
    seconds: float
    megabytes: float


class Times(BaseModel):
    """Wall seconds of a run, and its course. Two equal runs differ in these keys alone.

    Attributes:
        total: Of all, the sum of the next four.
        build: Of the build, also of one that was interrupted.
        simulator: In which Python waited for the simulator.
        python: Of Python in the simulator; ``python_split`` has its parts.
        start_end: The rest: plan, start of the simulator, verdict.
        python_split: Parts of ``python``.
        course: How far the run was in between.
    """

    model_config = ConfigDict(extra="forbid")

    total: float = 0.0
    build: float = 0.0
    simulator: float = 0.0
    python: float = 0.0
    start_end: float = 0.0
    python_split: dict[str, float] = Field(default_factory=dict)
    course: list[Mark] = Field(default_factory=list)

    def close(self, total: float) -> None:
        """Sets the total, and with it the rest that no other part has."""
        self.total = total
        self.start_end = max(0.0, total - self.build - self.simulator - self.python)


class CoverageSummary(BaseModel):
    """Functional coverage of a run: percent over reachable bins, per group and in total."""

    model_config = ConfigDict(extra="forbid")

    percent: float = 0.0
    covered: int = 0
    bins: int = 0
    groups: dict[str, float] = Field(default_factory=dict)
    file: str = ""


class BufferReport(BaseModel):
    """A buffer of a program that was replayed.

    Attributes:
        argument: Number of the kernel's argument.
        name, kind: Its name and type.
        address: Where it was in GM.
        length: Its bytes.
        source: Source of its contents.
    """

    model_config = ConfigDict(extra="forbid")

    argument: int
    name: str
    kind: str
    address: int
    length: int
    source: str


class ProgramReport(BaseModel):
    """A program that was replayed.

    Attributes:
        path, function: The program.
        ops: Pipe to its data movements.
        host: Op to how often the host computed it.
        skipped: Op that was not executed to its number of occurrences in the text.
        buffers: Buffers of its arguments.
        outputs: Files written, with their sizes.
        notes: Remarks about the program that are not errors.
        warnings: What is wrong with the program and did not stop it; counted in the last line.
        not_executed: What of the program the results do not show; in the last line of the run.
        verdict: ``pass`` when all of it ran and matched, else ``fail``.
    """

    model_config = ConfigDict(extra="forbid")

    path: str
    function: str
    ops: dict[str, int] = Field(default_factory=dict)
    host: dict[str, int] = Field(default_factory=dict)
    skipped: dict[str, int] = Field(default_factory=dict)
    buffers: list[BufferReport] = Field(default_factory=list)
    outputs: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    not_executed: list[str] = Field(default_factory=list)
    verdict: Literal["pass", "fail"] = "fail"


class RefusedProgram(BaseModel):
    """A program that was requested and could not run.

    Attributes:
        path: Its file, or the name that stands for no file.
        reason: Why, in words that several programs have in common.
        message: The errors.
        internal: The error is one of PTO-DV itself.
    """

    model_config = ConfigDict(extra="forbid")

    path: str
    reason: str
    message: str
    internal: bool = False


class ProgramCounts(BaseModel):
    """How many programs were run, passed, were refused, failed.

    Attributes:
        run: Sent to the engines; ``passed`` of them matched.
        refused: Not run, for the fault of the program or its inputs.
        failed: Run without a pass, or not run for an error of PTO-DV itself.
        reasons: Reason to the number of programs that it refuses.
    """

    model_config = ConfigDict(extra="forbid")

    run: int = 0
    passed: int = 0
    refused: int = 0
    failed: int = 0
    reasons: dict[str, int] = Field(default_factory=dict)

    @classmethod
    def of(
        cls, programs: Sequence[ProgramReport], refused: Sequence[RefusedProgram]
    ) -> ProgramCounts:
        """Counts programs."""
        passed = sum(one.verdict == "pass" for one in programs)
        internal = sum(one.internal for one in refused)
        return cls(
            run=len(programs),
            passed=passed,
            refused=len(refused) - internal,
            failed=len(programs) - passed + internal,
            reasons=dict(Counter(one.reason for one in refused).most_common()),
        )

    def text(self) -> str:
        """Returns the counts in words."""
        return f"{self.run} run, {self.passed} passed; {self.refused} refused, {self.failed} failed"


class ScheduleReport(BaseModel):
    """A replay of a program under drawn latencies and a drawn order of its pipes.

    Attributes:
        program: The program.
        number: Number of the schedule, which ``pto-dv program --schedule`` repeats.
        knobs: Every knob by name.
        stall_seed: Seed of stalls and jitters.
        pipes: Pipes in the order in which they issued ops that nothing orders; empty for the order
            of the program.
        serial: Whether each op waited until the one before it had retired.
        lead: Clocks after which each pipe began later than the one before it.
        clocks: Clocks of the replay.
        image: CRC-32 of the memories that it left.
        same: Whether these are those of the first schedule.
    """

    model_config = ConfigDict(extra="forbid")

    program: str
    number: int
    knobs: dict[str, int] = Field(default_factory=dict)
    stall_seed: int = 0
    pipes: list[str] = Field(default_factory=list)
    serial: bool = False
    lead: int = 0
    clocks: int = 0
    image: str = ""
    same: bool = True


class RunCounters(BaseModel):
    """The figures of a run: counted in the simulation, copied whole into result and record.

    A new figure is a field here, a line that counts it, and a line of tb/run/console.py that shows
    it.

    Attributes:
        transactions: Retired ops that were checked.
        ops: Counts by op or legacy form.
        statuses: Retired ops by status.
        bytes_checked: Bytes of destinations that were compared.
        full_compares: How often every byte of every memory was compared.
        mismatches, protocol_errors: Failed checks, and errors of the protocol checkers.
        agreed: Mismatches on which DUT and model agree.
        failures: Reports of failures for people, in the order in which they were found.
        details: The same in fields, in the same order, as far as the simulation has them.
        past_limit: Number of failures past the mismatch limit, which have no report, by the title
            of their signature.
        clocks: Clocks simulated.
        left_out: Sentences about ops and faults that were not sent.
        caveat: What a PASS does not show although the test is for it; in the last line of the run.
        injected: Faults, resets and clocks of stalls, by kind.
        exercised: By name of the specification: rules that ops broke and were refused for, and
            worked values that were checked.
        outside: Verdicts about results of others, where a test sent them.
        speed: Clocks of streams with their limits, where a test measured them.
        capacity: What the engines held of each op at the start and at the end, where it was
            measured.
        explained: Sentence on the profile under which failed ops agree, or nothing.
        schedules: Replays under schedules, in order.
        coverage: Functional coverage.
    """

    model_config = ConfigDict(extra="forbid")

    transactions: int = 0
    ops: dict[str, OpCount] = Field(default_factory=dict)
    statuses: Counter[str] = Field(default_factory=Counter)
    bytes_checked: int = 0
    full_compares: int = 0
    mismatches: int = 0
    protocol_errors: int = 0
    agreed: int = 0
    failures: list[str] = Field(default_factory=list)
    details: list[Failure] = Field(default_factory=list)
    past_limit: Counter[str] = Field(default_factory=Counter)
    clocks: int = 0
    left_out: list[str] = Field(default_factory=list)
    caveat: str = ""
    injected: Counter[str] = Field(default_factory=Counter)
    exercised: Counter[str] = Field(default_factory=Counter)
    outside: list[OutsideGroup] = Field(default_factory=list)
    speed: list[SpeedFigure] = Field(default_factory=list)
    capacity: list[CapacityFigure] = Field(default_factory=list)
    explained: str = ""
    schedules: list[ScheduleReport] = Field(default_factory=list)
    coverage: CoverageSummary = Field(default_factory=CoverageSummary)

    def counters(self) -> dict[str, Any]:
        """Returns the figures by name, for the constructor of a model that has them."""
        return {name: getattr(self, name) for name in RunCounters.model_fields}

    def note(self, failure: Failure) -> None:
        """Adds a failure."""
        self.failures.append(failure.text)
        self.details.append(failure)


class RunHead(BaseModel):
    """Identity and verdict of a run: the first keys of its record."""

    version: int = RECORD_VERSION
    status: RunStatus = "error"
    message: str = ""
    command: str = ""
    settings: RunSettings
    simulator: str = ""
    simulator_version: str = ""


class RunRecord(RunCounters, RunHead):
    """The one JSON record of a run.

    Attributes:
        programs: What was replayed.
        refused: Programs that could not run.
        counts: How many there are of both; None for a run of other tests.
        claims: Sentences about engines whose manifests claim other knobs than the run's
            profile, or not the default widths.
        messages: What the design printed by severity tasks and assertions, and where it ended the
            simulation.
        design_errors: How many of them fail the run.
    """

    programs: list[ProgramReport] = Field(default_factory=list)
    refused: list[RefusedProgram] = Field(default_factory=list)
    counts: ProgramCounts | None = None
    claims: list[str] = Field(default_factory=list)
    messages: list[DesignMessage] = Field(default_factory=list)
    design_errors: int = 0
    times: Times = Field(default_factory=Times)

    @property
    def passed(self) -> bool:
        """True only when everything was sent, checked and correct."""
        return self.status == "pass"

    @property
    def exit_code(self) -> int:
        """0 for a pass, 130 or 143 for Ctrl-C or SIGTERM as shells have it, else 1.

        2 where programs were refused and all others passed.
        """
        if self.passed:
            return 0
        if self.status == "interrupted":
            return 143 if self.message == TERMINATED else 130
        return 2 if self.counts and self.counts.refused and not self.counts.failed else 1

    @property
    def profile(self) -> str:
        """The profile of the run."""
        return self.settings.profile or DEFAULT_PROFILE

    def last_line(self) -> str:
        """Returns the last line of a run: PASS or FAIL with the main counts.

        What of a program was not executed is in it, and the caveat of a test: a PASS does not cover
        that.
        """
        word = "PASS" if self.passed else "FAIL"
        why = "" if self.passed else f" ({self.status})"
        errors = f", {self.protocol_errors} protocol errors" if self.protocol_errors else ""
        if self.design_errors:
            errors += f", {counted(self.design_errors, 'error')} of the design"
        if self.counts is not None and self.counts.run + len(self.refused) > 1:
            word, why = f"{word}{why}", f" {self.counts.text()};"
        missing = dict.fromkeys(x for each in self.programs for x in each.not_executed)
        left = f"; NOT EXECUTED: {'; '.join(missing)}" if missing else ""
        caveat = f", {self.caveat}" if self.caveat else ""
        warned = sum(len(each.warnings) for each in self.programs)
        errors += f", {counted(warned, 'warning')}" if warned else ""
        return (
            f"{word}{why} {self.transactions} transactions{caveat}, "
            f"{self.mismatches} mismatches{errors}, "
            f"coverage {percent_text(self.coverage.percent)} %, seed {self.settings.seed}, "
            f"profile {self.profile}{left}; repeat: {self.command}"
        )
