# SPDX-License-Identifier: Apache-2.0
"""The result record of a run."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tb.common.text import percent_text
from tb.record.failure import Failure
from tb.record.settings import RunSettings

RunStatus = Literal["pass", "fail", "hang", "crash", "interrupted", "error"]

RECORD_VERSION = 1
"""Version of the record's schema; raised when a key changes its meaning."""


class OpCount(BaseModel):
    """Transactions of one op or legacy form."""

    model_config = ConfigDict(extra="forbid")

    sent: int = 0
    passed: int = 0
    bytes: int = 0


class Times(BaseModel):
    """Wall seconds of a run. Only these keys differ between two equal runs."""

    model_config = ConfigDict(extra="forbid")

    total: float = 0.0
    build: float = 0.0
    simulator: float = 0.0
    python: float = 0.0
    python_split: dict[str, float] = Field(default_factory=dict)


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
        source: What it held.
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
        skipped: Foreign op to how often it stands in the text.
        buffers: Buffers of its arguments.
        outputs: Files written, with their sizes.
        notes: What is odd but does no harm.
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


class RunRecord(BaseModel):
    """The one JSON record of a run.

    ``left_out`` has sentences about what manifests and constraints kept from being sent,
    ``injected`` counts faults, resets and clocks of stalls; ``details`` has what ``failures``
    says in fields, in the same order, as far as the simulation could tell. ``exercised`` counts
    by name of the specification the rules that ops broke and were refused for, and the worked
    values that were checked. ``programs`` has what was replayed.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = RECORD_VERSION
    status: RunStatus = "error"
    message: str = ""
    command: str = ""
    settings: RunSettings
    simulator: str = ""
    simulator_version: str = ""
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
    programs: list[ProgramReport] = Field(default_factory=list)
    times: Times = Field(default_factory=Times)

    @property
    def passed(self) -> bool:
        """True only when everything was sent, checked and right."""
        return self.status == "pass"

    @property
    def exit_code(self) -> int:
        """0 for a pass, 130 for an interrupt as shells have it, else 1."""
        return 0 if self.passed else 130 if self.status == "interrupted" else 1

    def last_line(self) -> str:
        """Returns the closing line of a run: PASS or FAIL with what matters."""
        word = "PASS" if self.passed else "FAIL"
        why = "" if self.passed else f" ({self.status})"
        errors = f", {self.protocol_errors} protocol errors" if self.protocol_errors else ""
        return (
            f"{word}{why} {self.transactions} transactions, {self.mismatches} mismatches{errors}, "
            f"coverage {percent_text(self.coverage.percent)} %, seed {self.settings.seed}; "
            f"repeat: {self.command}"
        )
