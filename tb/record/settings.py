# SPDX-License-Identifier: Apache-2.0
"""All settings that determine a run."""

from __future__ import annotations

import shlex
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Gm = Literal["hdl", "cocotbext"]

SimulatorName = Literal[
    "verilator",
    "icarus",
    "questa",
    "questa-qisqrun",
    "xcelium",
    "vcs",
    "riviera",
    "activehdl",
    "dsim",
]
"""Values of ``SIM=``: the simulators of :mod:`tb.run.recipes`."""

SIMULATOR_NAMES: tuple[SimulatorName, ...] = get_args(SimulatorName)

MIXED_LANGUAGES: tuple[SimulatorName, ...] = (
    *("questa", "questa-qisqrun", "xcelium", "riviera", "activehdl"),
)
"""Those whose builds by cocotb take VHDL beside Verilog."""

DataWidth = Literal[128, 256, 512]

DEFAULT_WIDTH: DataWidth = 256
"""Width of the GM bus and of the local ports, bits, of engines that have it."""

DEFAULT_TAG_WIDTH = 8

DEFAULT_PROFILE = "seed"
"""Profile of the reference engines, and of records that name none."""


class RunSettings(BaseModel):
    """All settings that determine a run; equal settings give equal records except for times.

    Attributes:
        sim: Simulator, a name of :mod:`tb.run.recipes`.
        test: Name of a test of ``tb/run/testlist.toml``, or ``path/to/file.py:ClassName``.
        seed: Seed of stimulus, memory background and stalls.
        transactions: Transactions to send.
        ops: Ops and legacy forms to draw from.
        gm_width, local_width: Data widths in bits.
        tag_width: Width of a tag in bits.
        outstanding: Most AXI bursts in flight in each direction.
        duts: Manifests of the engines, as given; empty for the reference engines.
        profile: Canonical text of the profile (:class:`tb.isa.profile.Profile`); empty until the
            run takes that of its engines.
        gm: Model of GM: the HDL memory of the harness, or cocotbext-axi.
        constraints: File with a user's constraints, or empty.
        repro: Numbers of transactions to write down as programs, separated by commas, or empty.
        waves: Record waveforms.
        waves_from, waves_to: Clocks between which they are recorded; 0 as ``waves_to`` is the end.
        timeline: Write a trace of all transactions.
        code_coverage: Count lines, branches, expressions and toggles of the engines (Verilator).
        mismatch_limit: Stop after so many mismatching transactions.
        watchdog_clocks: Clocks in which nothing moves that count as a hang; None until the run
            takes those of its engines.
        wall_limit: Seconds without progress after which the simulator is ended.
        time_limit: Seconds after which the simulation is ended, progress or not; 0 for never.
        options: Test-specific options, from ``tb/run/testlist.toml``.
        programs: Programs to replay (``pto-dv program``), empty for another test.
        program_options: Words of its command line that repeat it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sim: str = "verilator"
    test: str = "random"
    seed: int = Field(1, ge=0, lt=2**63)
    transactions: int = Field(20000, ge=1, le=100_000_000)
    ops: tuple[str, ...] = ()
    gm_width: DataWidth = DEFAULT_WIDTH
    local_width: DataWidth = DEFAULT_WIDTH
    tag_width: int = Field(DEFAULT_TAG_WIDTH, ge=1, le=16)
    outstanding: int = Field(16, ge=1, le=64)
    duts: tuple[str, ...] = ()
    profile: str = ""
    gm: Gm = "hdl"
    constraints: str = ""
    repro: str = Field("", pattern=r"^([0-9]+(,[0-9]+)*)?$")
    waves: bool = False
    waves_from: int = Field(0, ge=0)
    waves_to: int = Field(0, ge=0)
    timeline: bool = False
    code_coverage: bool = False
    mismatch_limit: int = Field(10, ge=1)
    watchdog_clocks: int | None = Field(None, ge=100, lt=1 << 31)
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
        # Without PROFILE a run takes the profile of the manifests, which may have changed.
        if self.profile and (self.duts or self.profile != DEFAULT_PROFILE):
            words.append(f"PROFILE={self.profile}")
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
        if self.watchdog_clocks is not None:
            words.append(f"WATCHDOG={self.watchdog_clocks}")
        flags = ("waves", "timeline", "code_coverage")
        words += [f"{name.upper()}=1" for name in flags if getattr(self, name)]
        if self.waves:
            window = {"WAVES_FROM": self.waves_from, "WAVES_TO": self.waves_to}
            words += [f"{name}={clock}" for name, clock in window.items() if clock]
        return shlex.join(words)


def _make_value(variable: str, words: tuple[str, ...]) -> str:
    """Returns the setting of a variable of make that the Makefile gives the shell as words."""
    return f"{variable}={shlex.join(words)}".replace("$", "$$")
