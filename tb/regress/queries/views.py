# SPDX-License-Identifier: Apache-2.0
"""Data of a regression run for pages and commands, read from the results database.

A regression run is one execution of a regression. Times have a time zone, rates are per second,
percentages are from 0 to 100.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from tb.coverage.export.code import CodeFile as CodeFile
from tb.coverage.export.code import CodeLine as CodeLine
from tb.coverage.export.code import CodeView
from tb.coverage.model import Coverage
from tb.record.failure import Failure
from tb.record.outside import OutsideGroup
from tb.record.settings import DEFAULT_PROFILE, DEFAULT_TAG_WIDTH, DEFAULT_WIDTH
from tb.record.shrunk import Shrunk
from tb.regress.plan.testplan import Known as Known

RegressionStatus = Literal["running", "complete", "budget", "failures", "interrupted"]
"""``budget``: the time was up before all planned runs were done; ``failures``: enough failed."""

RunState = Literal[
    "planned", "pass", "fail", "hang", "crash", "interrupted", "error", "lost", "flaky"
]
"""A planned run's outcome; ``planned`` is not run yet, or not at all; ``error`` also means that the
record is missing or truncated; ``lost`` that workers were lost with it until no attempt was left;
``flaky`` that equal runs ended differently."""

FAILED: frozenset[str] = frozenset(
    {"fail", "hang", "crash", "interrupted", "error", "lost", "flaky"}
)
"""States that make a regression run fail."""


@dataclass(frozen=True)
class Figures:
    """Counts and rates of a regression run.

    Attributes:
        planned, done, passed, failed, flaky, not_run: Runs.
        transactions, bytes_checked, clocks: Of all runs done.
        wall_seconds: From start to end, without times in which the regression run was interrupted.
        busy_seconds: Of all workers together.
        runs_per_minute: Of wall time.
        transactions_per_second: Of worker time, builds apart: how fast one worker is.
        workers: Number of workers.
        builds: Builds made, ``build_seconds`` their time.
        lost: Attempts that a worker was lost with.
        killed, planted: Faults found, of those planted in the engines and judged.
    """

    planned: int = 0
    done: int = 0
    passed: int = 0
    failed: int = 0
    flaky: int = 0
    not_run: int = 0
    transactions: int = 0
    bytes_checked: int = 0
    clocks: int = 0
    wall_seconds: float = 0.0
    busy_seconds: float = 0.0
    runs_per_minute: float = 0.0
    transactions_per_second: float = 0.0
    workers: int = 1
    builds: int = 0
    build_seconds: float = 0.0
    lost: int = 0
    killed: int = 0
    planted: int = 0

    @property
    def kill_rate(self) -> float | None:
        """Percent of the planted faults that were found, None without any."""
        return 100.0 * self.killed / self.planted if self.planted else None

    @property
    def pass_rate(self) -> float:
        """Percent of the runs done that passed."""
        return 100.0 * self.passed / self.done if self.done else 0.0


@dataclass(frozen=True)
class RegressionRun:
    """One execution of a regression.

    Attributes:
        name: Such as ``2026-11-21.1``.
        status: Its status.
        regression: Name of the regression in the plan.
        started, ended: ``ended`` is None while it runs.
        commit: Git commit, ``+`` after it when the tree had changes; empty without git.
        base_seed: Source of the seeds of runs.
        host: Where the coordinator ran.
        budget_seconds: Time allowed, 0 for no limit.
        duts: Manifests of engines under test; empty for the reference engines.
        items: Names that chose its runs; empty for all.
        command: Command that repeats the regression run.
        folder: Where its files are.
        figures: Counts and rates.
        coverage: Functional coverage, percent after exclusions; None if it was not counted: the
            regression run was killed or built nothing.
        groups: The same by group.
        code: Code coverage in percent, by kind (``line``, ``branch``, ``expression``, ``toggle``).
    """

    name: str
    status: RegressionStatus
    regression: str
    started: datetime
    ended: datetime | None = None
    commit: str = ""
    base_seed: int = 0
    host: str = ""
    budget_seconds: float = 0.0
    duts: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    command: str = ""
    folder: str = ""
    figures: Figures = field(default_factory=Figures)
    coverage: float | None = None
    groups: Mapping[str, float] = field(default_factory=dict)
    code: Mapping[str, float] = field(default_factory=dict)

    def why_not_run(self, shown: Callable[[float], str]) -> str:
        """Returns why planned runs were not done, to follow their number; ``shown`` is for times.

        Empty where the status does not give it.
        """
        return {
            "budget": f": the budget of {shown(self.budget_seconds)} was used up",
            "failures": ": enough runs had failed",
            "interrupted": ": the regression run was interrupted",
            "running": " yet: the regression run is still active",
        }.get(self.status, "")


@dataclass(frozen=True)
class RunRow:
    """One planned run and its outcome.

    Attributes:
        id: Number of the run in the database, what ``pto-dv rerun`` takes.
        key: Its name in the regression run.
        state: Its outcome.
        test, sim, seed, transactions: Those of the settings; ``sent`` were sent.
        gm_width, local_width, tag_width: In bits.
        outstanding, gm: Bursts in flight, and who plays the GM.
        duts: Manifests.
        profile: Canonical text of its profile.
        seconds: How long a worker was busy with it.
        rate: Transactions per second of simulator and Python time.
        coverage: Percent of the run's own coverage.
        bucket: Identifier of its failure bucket, or empty.
        message: Why it failed, one line.
        command: Repeats it.
        folder: Its files, or empty when they were removed.
        worker: Who did it.
        attempts: 1, more when workers were lost.
        simulator: Name and version.
        code_coverage: Counted code coverage.
        config: Name of the build it needed.
    """

    id: int
    key: str
    state: RunState
    test: str
    sim: str
    seed: int
    transactions: int
    sent: int = 0
    gm_width: int = DEFAULT_WIDTH
    local_width: int = DEFAULT_WIDTH
    duts: tuple[str, ...] = ()
    profile: str = DEFAULT_PROFILE
    seconds: float = 0.0
    rate: float = 0.0
    coverage: float = 0.0
    bucket: str = ""
    message: str = ""
    command: str = ""
    folder: str = ""
    worker: str = ""
    attempts: int = 1
    simulator: str = ""
    code_coverage: bool = False
    config: str = ""
    tag_width: int = DEFAULT_TAG_WIDTH
    outstanding: int = 16
    gm: str = "hdl"


@dataclass(frozen=True)
class Rerun:
    """A run done again, to see the failure in waves or by ``pto-dv rerun``.

    Attributes:
        run: Number of the run that was done again.
        state: How it ended this time.
        when: Its end.
        waves, timeline: Paths, or empty.
        message: Of its record.
        shrunk: Its failure made small.
    """

    run: int
    state: RunState
    when: datetime
    waves: str = ""
    timeline: str = ""
    message: str = ""
    shrunk: Shrunk | None = None


@dataclass(frozen=True)
class Bucket:
    """Failures with the same signature.

    Attributes:
        id: Short name made from the signature, such as ``B3fa2c190d``.
        title: The signature as a phrase.
        kind, slot, op, field, rule, space, address_class: The signature.
        runs: Identifiers of the runs with this first failure.
        first_regression: The regression run that saw it first, this one for a new bucket.
        regression_runs: How many regression runs have seen it.
        example: First failure of the first of the runs.
        example_run: That run.
        reruns: Outcomes of runs that were repeated, automatically or by hand. Only the state of a
            run shows whether it is flaky.
        later: Buckets of failures that followed in its runs, with their titles and how many of its
            runs had one; the most frequent first.
        follows: Bucket whose failures stand before these in all its runs, or empty.
    """

    id: str
    title: str
    kind: str
    slot: str
    op: str
    field: str
    rule: str
    space: str
    address_class: str
    runs: tuple[int, ...]
    first_regression: str
    regression_runs: int
    example: Failure
    example_run: RunRow
    reruns: tuple[Rerun, ...] = ()
    later: tuple[tuple[str, str, int], ...] = ()
    follows: str = ""

    @property
    def shrunk(self) -> Shrunk | None:
        """The failure made small, if that was tried."""
        return next((again.shrunk for again in self.reruns if again.shrunk), None)


class Culprit(NamedTuple):
    """An op that failed in a run, or a slot whose op is not known; all empty for neither.

    Attributes:
        slot, op: Slot, and op or legacy form.
        rule: Rule that the op breaks.
    """

    slot: str = ""
    op: str = ""
    rule: str = ""


@dataclass(frozen=True)
class PlanRow:
    """A planned behaviour with its results in the regression run.

    Attributes:
        name, milestone, description: Those of the testplan.
        tests: Name of each planned test to its (done, passed, planned) runs; of pytest, with
            ``pytest:`` before its name, cases.
        failed: Name of each to how many of them failed in what the behaviour is about.
        groups: Name of each coverage group to its percent, None if not sampled.
        rules: Rule numbers of the specification.
        missing: What it lacks: tests that did not run, or not without failures of other ops;
            settings that no run had that passed.
    """

    name: str
    milestone: str
    description: str
    tests: Mapping[str, tuple[int, int, int]]
    failed: Mapping[str, int]
    groups: Mapping[str, float | None]
    rules: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """``pass`` when nothing is missing, ``fail`` when something of its scope failed.

        Else ``partial``, and ``not run`` when nothing was done.
        """
        if any(self.failed.values()):
            return "fail"
        if not any(done for done, _, _ in self.tests.values()):
            return "not run"
        return "partial" if self.missing else "pass"


@dataclass(frozen=True)
class SpecRow:
    """A rule or worked value of the specification and who exercised it.

    Attributes:
        name: Such as ``DMA-L05`` or ``GU-E1``.
        kind: ``rule`` or ``value``.
        text: Its contents in our words, or empty.
        where: File of the specification.
        tests: Tests of the regression run that exercised it, with counts: transactions that broke
            a D rule and were refused, blocks of a worked value that were checked.
        unit_tests: Tests of pytest that name it.
    """

    name: str
    kind: str
    text: str
    where: str
    tests: Mapping[str, int]
    unit_tests: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """Changes between two regression runs.

    Attributes:
        before, after: Their names.
        newly_failing, newly_passing: (test, configuration, message): tests of a configuration
            that failed in one regression run alone.
        buckets_new, buckets_gone: Titles.
        won, lost: Bins ``group.point: bin`` covered in one regression run only; a bin that the
            other does not define is in neither list.
        coverage: Percent before and after, None if none was counted.
        rate: Transactions per second before and after.
    """

    before: str
    after: str
    newly_failing: tuple[tuple[str, str, str], ...] = ()
    newly_passing: tuple[tuple[str, str, str], ...] = ()
    buckets_new: tuple[str, ...] = ()
    buckets_gone: tuple[str, ...] = ()
    won: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    coverage: tuple[float | None, float | None] = (None, None)
    rate: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class OutsideView:
    """Results of others under one profile, by all runs of the regression run that sent them.

    Attributes:
        profile: Canonical text of the profile.
        runs: How many runs sent them; 0 where none did.
        groups: Verdicts by file and source; a row agrees if it agrees in every run.
    """

    profile: str
    runs: int
    groups: Sequence[OutsideGroup] = ()


@dataclass(frozen=True)
class RegressionView:
    """Everything a report shows.

    Attributes:
        regression_run: The regression run.
        runs: All planned runs.
        buckets: Failures, the largest first, each with those that follow from it after it.
        plan: The testplan with results.
        spec: Rules and worked values.
        coverage: Functional coverage of the regression run, merged; exclusions applied.
        all_time: The same over all regression runs with the same definitions.
        code: Code coverage, None when no run counted.
        trend: Regression runs of the same regression up to this one, oldest first.
        difference: Against the previous regression run, None without one.
        notes: Sentences about what went wrong around the runs: lost workers, records that could
            not be read, builds that failed.
        outside: Results of others, for each named profile and those of the runs that sent them.
        database: Options of ``pto-dv`` that name the database, with a space before; empty for the
            usual one.
        known: Buckets whose runs do not fail the regression run, with the reasons.
        noted: Entries of the testplan on buckets, those in ``known`` and others.
        gates: A sentence for each gate of the regression that does not hold.
    """

    regression_run: RegressionRun
    runs: Sequence[RunRow]
    buckets: Sequence[Bucket]
    plan: Sequence[PlanRow]
    spec: Sequence[SpecRow]
    coverage: Coverage
    all_time: Coverage
    code: CodeView | None
    trend: Sequence[RegressionRun]
    difference: Difference | None
    notes: Sequence[str] = ()
    outside: Sequence[OutsideView] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    noted: Mapping[str, Known] = field(default_factory=dict)
    gates: Sequence[str] = ()
    database: str = ""

    def rerun(self, number: int | str) -> str:
        """Returns the command that repeats a run of the database."""
        return f".venv/bin/pto-dv rerun {number}{self.database}"

    @property
    def failing(self) -> list[RunRow]:
        """Runs that failed, those in known buckets left out."""
        return [row for row in self.runs if row.state in FAILED and row.bucket not in self.known]

    @property
    def passed(self) -> bool:
        """Whether runs were done, none failed but as known, and every gate holds."""
        done = any(row.state != "planned" for row in self.runs)
        return done and not self.failing and not self.gates
