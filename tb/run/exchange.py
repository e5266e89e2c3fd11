# SPDX-License-Identifier: Apache-2.0
"""Files between the process that runs a simulation and the simulation: settings in, result out."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from tb.dut.manifest import Capabilities
from tb.record.record import Mark, RunCounters, RunStatus
from tb.record.settings import RunSettings


class SimSettings(BaseModel):
    """Input of a simulation: the settings of the run and the contents of the build."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: RunSettings
    command: str
    slots: tuple[str, ...]
    dut_ops: tuple[str, ...]
    d_rules: tuple[str, ...]
    capabilities: dict[str, Capabilities] = Field(default_factory=dict)
    library: str = ""
    coverage_file: str = ""


class SimResult(RunCounters):
    """Output of a simulation; no result means that it crashed or was ended.

    ``complete`` is set when the test came to its own end, ``ended`` when the run was ended early.
    :mod:`tb.run.judge` decides by it and by the counts. ``sends`` has the ops that the test is
    limited to (none for all), ``dropped`` op to the reason why drawn ops of it were dropped, and
    ``constrained`` is set if ops were drawn under the user's constraints.
    """

    complete: bool = False
    ended: RunStatus | None = None
    message: str = ""
    sends: tuple[str, ...] = ()
    dropped: dict[str, str] = Field(default_factory=dict)
    constrained: bool = False
    simulator_seconds: float = 0.0
    python_split: dict[str, float] = Field(default_factory=dict)
    course: list[Mark] = Field(default_factory=list)
