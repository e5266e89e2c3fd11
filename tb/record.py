# SPDX-License-Identifier: Apache-2.0
"""What a run was asked to do and what it did: the settings and the one result record."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tb.coverage.model import percent_text
from tb.files import write_bytes

Gm = Literal["hdl", "cocotbext"]
RunStatus = Literal["pass", "fail", "hang", "crash", "interrupted", "error"]

RECORD_VERSION = 1
"""Version of the record's schema; raised when a key changes its meaning."""


class RunSettings(BaseModel):
    """Everything that decides what a run does; equal settings give an equal record but for times.

    Attributes:
        sim: Simulator, a name of :mod:`tb.simulators`.
        test: Name of a test of ``tests/plan.toml``, or ``path/to/file.py:ClassName``.
        seed: Seed of stimulus, memory background and stalls.
        transactions: Transactions to send.
        ops: Ops and legacy forms to draw from.
        gm_width, local_width: Data widths in bits.
        tag_width: Width of a tag in bits.
        outstanding: Most AXI bursts in flight in each direction.
        duts: Manifests of the engines, as given; empty for the reference engines.
        gm: Who plays the GM: our HDL memory, or cocotbext-axi.
        constraints: File with a user's constraints, or empty.
        repro: Numbers of transactions to write down as programs, separated by commas, or empty.
        waves: Record waveforms.
        waves_from, waves_to: Clocks between which they are recorded; 0 as ``waves_to`` is the end.
        timeline: Write a trace of all transactions.
        code_coverage: Count lines, branches, expressions and toggles of the engines (Verilator).
        mismatch_limit: Stop after so many mismatching transactions.
        watchdog_clocks: Clocks without an accepted or retired descriptor that count as a hang.
        wall_limit: Seconds without progress after which the simulator is ended.
        time_limit: Seconds after which the simulation is ended, progress or not; 0 for never.
        options: Test-specific options, from ``tests/plan.toml``.
        programs: Programs to replay (``pto-dv program``), empty for another test.
        program_options: Words of its command line that repeat it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sim: str = "verilator"
    test: str = "random"
    seed: int = Field(1, ge=0, lt=2**63)
    transactions: int = Field(20000, ge=1, le=100_000_000)
    ops: tuple[str, ...] = ()
    gm_width: Literal[128, 256, 512] = 256
    local_width: Literal[128, 256, 512] = 256
    tag_width: int = Field(8, ge=1, le=16)
    outstanding: int = Field(16, ge=1, le=64)
    duts: tuple[str, ...] = ()
    gm: Gm = "hdl"
    constraints: str = ""
    repro: str = Field("", pattern=r"^([0-9]+(,[0-9]+)*)?$")
    waves: bool = False
    waves_from: int = Field(0, ge=0)
    waves_to: int = Field(0, ge=0)
    timeline: bool = False
    code_coverage: bool = False
    mismatch_limit: int = Field(10, ge=1)
    watchdog_clocks: int = Field(200_000, ge=100)
    wall_limit: float = Field(120.0, gt=0)
    time_limit: float = Field(0.0, ge=0)
    options: dict[str, Any] = Field(default_factory=dict)
    programs: tuple[str, ...] = ()
    program_options: tuple[str, ...] = ()

    def command(self) -> str:
        """Returns the command line that repeats the run."""
        words = ["make", f"SIM={self.sim}"]
        if self.programs:
            # The seed is among the options where it is not that of the programs.
            words[1:1] = ["program", _make_value("PROGRAM", self.programs)]
            if self.program_options:
                words.append(_make_value("ARGS", self.program_options))
        else:
            words += [f"TEST={self.test}", f"SEED={self.seed}", f"N={self.transactions}"]
        if self.ops:
            words.append(f"OPS={','.join(self.ops)}")
        if self.duts:
            words.append(f"DUT={','.join(self.duts)}")
        for variable in (
            "gm_width",
            "local_width",
            "tag_width",
            "outstanding",
            "gm",
            "constraints",
            "repro",
        ):
            value = getattr(self, variable)
            if value != type(self).model_fields[variable].default:
                words.append(f"{variable.upper()}={value}")
        flags = ("waves", "timeline", "code_coverage")
        words += [f"{name.upper()}=1" for name in flags if getattr(self, name)]
        if self.waves:
            window = {"WAVES_FROM": self.waves_from, "WAVES_TO": self.waves_to}
            words += [f"{name}={clock}" for name, clock in window.items() if clock]
        return shlex.join(words)


def _make_value(variable: str, words: tuple[str, ...]) -> str:
    """Returns the setting of a variable of make that the Makefile gives the shell as words."""
    return f"{variable}={shlex.join(words)}".replace("$", "$$")


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


class PictureRow(BaseModel):
    """Bytes of one row of a memory picture, as hexadecimal digits of equal length."""

    model_config = ConfigDict(extra="forbid")

    address: int
    expected: str
    actual: str


class Picture(BaseModel):
    """What a memory holds and what it was to hold around the first wrong byte.

    Attributes:
        space: The memory, a name of :class:`tb.isa.spaces.Space` in small letters.
        rows: Rows of the op's destination in address order, or lines of 32 bytes where no op is
            known.
        left_out: What of the destination is not shown, as a sentence, or empty.
    """

    model_config = ConfigDict(extra="forbid")

    space: str
    rows: list[PictureRow] = Field(default_factory=list)
    left_out: str = ""


class Failure(BaseModel):
    """One failure of a run, for machines to group; ``text`` is the report for people.

    Attributes:
        kind: What was found: ``data``, ``guard``, ``stray``, ``page`` (bytes); ``tag``, ``status``,
            ``rule``, ``address``, ``early`` (what the done channel said); ``flags``, ``access``,
            ``late burst``, ``stimulus``, ``protocol``, ``hang``; ``check`` for a check of a test's
            own, ``crash`` for what was in flight when the simulator ended.
        slot, op: Slot and op or legacy form, or empty where none is known.
        field: The first thing that differs, such as ``row data``, ``left pad``, ``status OK not
            RULE``; of a protocol error its rule.
        rule: Number of the D rule that the op breaks, or the name of the protocol rule.
        space: Memory of the first wrong byte.
        address: Its address.
        address_class: Where that is, in few words that many failures share.
        transaction: Number of the op in the run, from 0.
        begin_clock, end_clock: When the op was accepted and when it retired, 0 if not known.
        text: The report.
        picture: The bytes, of failures that are about bytes.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    slot: str = ""
    op: str = ""
    field: str = ""
    rule: str = ""
    space: str = ""
    address: int | None = None
    address_class: str = ""
    transaction: int | None = None
    begin_clock: int = 0
    end_clock: int = 0
    text: str = ""
    picture: Picture | None = None


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


def write_json(path: Path, data: BaseModel | dict[str, Any]) -> None:
    """Writes JSON so that a reader sees the old file or the whole new one.

    Raises:
        PtoError: the folder cannot be written.
    """
    text = (
        data.model_dump_json(indent=2)
        if isinstance(data, BaseModel)
        else json.dumps(data, indent=2)
    )
    remedy = "give a place that can be written, JSON=<path> for the record"
    write_bytes(path, f"{text}\n".encode(), remedy=remedy)
