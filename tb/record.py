# SPDX-License-Identifier: Apache-2.0
"""What a run was asked to do and what it did: the settings and the one result record."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tb.coverage.model import percent_text
from tb.errors import PtoError

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
        waves: Record waveforms.
        mismatch_limit: Stop after so many mismatching transactions.
        watchdog_clocks: Clocks without an accepted or retired descriptor that count as a hang.
        wall_limit: Seconds without progress after which the simulator is ended.
        options: Test-specific options, from ``tests/plan.toml``.
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
    waves: bool = False
    mismatch_limit: int = Field(10, ge=1)
    watchdog_clocks: int = Field(200_000, ge=100)
    wall_limit: float = Field(120.0, gt=0)
    options: dict[str, Any] = Field(default_factory=dict)

    def command(self) -> str:
        """Returns the command line that repeats the run."""
        words = [
            "make",
            f"SIM={self.sim}",
            f"TEST={self.test}",
            f"SEED={self.seed}",
            f"N={self.transactions}",
        ]
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
        ):
            value = getattr(self, variable)
            if value != type(self).model_fields[variable].default:
                words.append(f"{variable.upper()}={value}")
        if self.waves:
            words.append("WAVES=1")
        return shlex.join(words)


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


class RunRecord(BaseModel):
    """The one JSON record of a run.

    ``left_out`` has sentences about what manifests and constraints kept from being sent,
    ``injected`` counts faults, resets and clocks of stalls.
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
    clocks: int = 0
    left_out: list[str] = Field(default_factory=list)
    injected: dict[str, int] = Field(default_factory=dict)
    coverage: CoverageSummary = Field(default_factory=CoverageSummary)
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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(text + "\n")
        Path(file.name).replace(path)
    except OSError as error:
        raise PtoError(
            f"cannot write {path.name}: {error.strerror}",
            where=str(path.parent),
            remedy="give a place that can be written, JSON=<path> for the record",
        ) from None
