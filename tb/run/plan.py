# SPDX-License-Identifier: Apache-2.0
"""First stage of a run: from settings and manifests to a plan.

A plan holds the build and the inputs of the simulation. Errors of the user are found here, before
anything is written.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from tb.common.paths import BUILD_ROOT, relative, resolved
from tb.dut.manifest import Capabilities, Manifest, load_manifests, reference_manifests
from tb.dut.profiles import run_profile, unlike
from tb.dut.selection import select
from tb.dut.widths import Widths, without_default
from tb.isa.profile import SEED, Profile, using
from tb.record.settings import DEFAULT_TAG_WIDTH, DEFAULT_WIDTH, RunSettings
from tb.run.testlist import PlannedTest


@dataclass(frozen=True)
class BuildPlan:
    """A build: engines that all have the widths of the run.

    Attributes:
        sim: Simulator, a name of :mod:`tb.run.recipes`.
        manifests: Engines, at most one per slot.
        gm_width, local_width: Data widths in bits.
        tag_width: Width of a tag in bits.
        outstanding: Most AXI bursts in flight in each direction; an engine that has fewer keeps
            its own number.
        profile: Profile of the run, which selects parameters of engines.
        waves: Build for waveforms.
        variant: Suffix of the build folder, for builds that differ in their sources.
        fast_build: Compile for a short build instead of a fast simulation.
        axi_pins: A memory in Python serves the GM side of every engine and drives the clock
            (tb/hdl/pto_axi_pins.vh).
        code_coverage: Count code coverage of the engines; for simulators that can, see
            :class:`tb.run.recipes.Simulator`.

    Raises:
        PtoError: an engine lacks a width, or does not support the simulator.
    """

    sim: str
    manifests: tuple[Manifest, ...]
    gm_width: int = DEFAULT_WIDTH
    local_width: int = DEFAULT_WIDTH
    tag_width: int = DEFAULT_TAG_WIDTH
    outstanding: int = 16
    profile: Profile = SEED
    waves: bool = False
    variant: str = ""
    fast_build: bool = False
    axi_pins: bool = False
    code_coverage: bool = False

    def __post_init__(self) -> None:
        """Checks simulator and widths against the manifests."""
        for manifest in self.manifests:
            manifest.check_simulator(self.sim)
            manifest.check_run(self.gm_width, self.local_width, self.tag_width)

    @property
    def folder(self) -> Path:
        """The folder of the build."""
        name = f"{self.sim}-gm{self.gm_width}-local{self.local_width}"
        if self.tag_width != type(self).tag_width:
            name += f"-tag{self.tag_width}"
        if self.outstanding != type(self).outstanding:
            name += f"-outstanding{self.outstanding}"
        if self.profile != SEED:
            name += f"-{self.profile.label}"
        if self.waves:
            name += "-waves"
        if self.code_coverage:
            name += "-cov"
        if self.axi_pins:
            name += "-axi-pins"
        if self.variant:
            name += f"-{self.variant}"
        return BUILD_ROOT / name

    @property
    def place(self) -> str:
        """The folder as messages name it."""
        return relative(self.folder)

    @property
    def widths(self) -> Widths:
        """Its widths."""
        return Widths(self.gm_width, self.local_width, self.tag_width)

    @property
    def slots(self) -> tuple[str, ...]:
        """Slots that have an engine."""
        return tuple(manifest.slot for manifest in self.manifests)

    @property
    def ops(self) -> tuple[str, ...]:
        """Ops that the engines take."""
        return tuple(op for manifest in self.manifests for op in manifest.ops)

    @property
    def d_rules(self) -> tuple[str, ...]:
        """Names of the D rules that every engine which could meet them reports."""
        return tuple(sorted({rule for manifest in self.manifests for rule in manifest.d_rules}))


@dataclass(frozen=True)
class RunPlan:
    """A run that can begin.

    Attributes:
        settings: As the user gave them, with the profile of the run.
        test: The test to run.
        build: Its build.
        folder: The folder of the run.
        ops: Ops and legacy forms that the run may send.
        served: Those that the engines take.
        capabilities: Of the engines, by slot.
        constraints: Absolute path of the user's constraints, or empty.
        left_out: Sentences about the exclusions of the manifests.
        claims: Sentences about manifests that claim another profile, or not the default widths.
        warnings: Findings of the port check that do not forbid the run.
    """

    settings: RunSettings
    test: PlannedTest
    build: BuildPlan
    folder: Path
    ops: tuple[str, ...]
    served: tuple[str, ...]
    capabilities: dict[str, Capabilities]
    constraints: str = ""
    left_out: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def expected(self) -> int:
        """Number of transactions, 0 if only the test defines it."""
        return 0 if self.test.fixed_length else self.settings.transactions


def plan_run(
    settings: RunSettings,
    test: PlannedTest,
    folder: Path,
    *,
    manifests: tuple[Manifest, ...] | None = None,
    variant: str = "",
    fast_build: bool = False,
    check: bool = True,
) -> RunPlan:
    """Returns the plan of a run; arguments as of :func:`tb.run.run.run_once`.

    Args:
        settings: The settings of the run.
        test: The test.
        folder: The folder of the run.
        manifests: Engines; None for those of the settings.
        variant: Suffix of the build folder.
        fast_build: Prefer a short build to a fast simulation.
        check: Check the ports of a user's engines.

    Raises:
        PtoError: a manifest, the constraints or the list of ops cannot be used.
    """
    build = build_plan(settings, test, manifests, variant, fast_build=fast_build)
    patience = [item.watchdog_clocks for item in build.manifests if item.watchdog_clocks]
    settings = settings.model_copy(
        update={
            "profile": str(build.profile),
            "watchdog_clocks": settings.watchdog_clocks or max(patience, default=None),
        }
    )
    capabilities = {item.slot: item.capabilities for item in build.manifests}
    selected = select(settings.ops, build.manifests, settings.outstanding)
    constraints = ""
    if settings.constraints or not test.fixed_length:
        # Generators and coverage take longer to import than the rest of a short run.
        from tb.dut.constraints import probe, user_limits

        limits = user_limits(settings, capabilities)
        constraints = limits.user.path if limits.user else ""
        if not test.fixed_length:
            with using(build.profile):
                probe(limits, settings.seed, selected.ops, settings.gm_width // 8)
    return RunPlan(
        settings,
        test,
        build,
        folder,
        selected.ops,
        selected.served,
        capabilities,
        constraints,
        selected.left_out if settings.duts else [],
        [*unlike(build.manifests, build.profile), *without_default(build.manifests, build.widths)]
        if settings.duts
        else [],
        check_ports(build) if settings.duts and check else [],
    )


def build_plan(
    settings: RunSettings,
    planned: PlannedTest,
    manifests: tuple[Manifest, ...] | None = None,
    variant: str = "",
    *,
    fast_build: bool = False,
) -> BuildPlan:
    """Returns the build that a run needs; arguments as of :func:`plan_run`.

    Raises:
        PtoError: a manifest cannot be used, an engine lacks a width or the simulator, or the
            profile is unknown or none for all engines.
    """
    if manifests is None:
        manifests = load_manifests(settings.duts) or reference_manifests()
        if settings.duts:
            variant = _variant(manifests)
    return BuildPlan(
        settings.sim,
        manifests,
        settings.gm_width,
        settings.local_width,
        settings.tag_width,
        settings.outstanding,
        run_profile(settings.profile, manifests),
        waves=settings.waves,
        variant=variant,
        fast_build=fast_build,
        axi_pins=planned.axi_pins or settings.gm == "cocotbext",
        code_coverage=settings.code_coverage,
    )


def _variant(manifests: tuple[Manifest, ...]) -> str:
    """Returns a suffix for the build folder of these engines: names, and a hash of the places."""
    names = "-".join(re.sub(r"\W+", "_", manifest.title) for manifest in manifests)
    places = "\n".join(str(resolved(Path(manifest.path))) for manifest in manifests)
    return f"{names}-{hashlib.sha256(places.encode()).hexdigest()[:6]}"


def check_ports(plan: BuildPlan) -> list[str]:
    """Compares the ports of a user's engines with the contract; returns the warnings.

    Raises:
        PtoError: an engine does not keep the contract.
    """
    from tb.dut.ports import require_ports  # its library is slow to import

    return [str(finding) for finding in require_ports(plan.manifests, plan.widths)]
