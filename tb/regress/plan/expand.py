# SPDX-License-Identifier: Apache-2.0
"""Expands a regression of the testplan into jobs.

The same arguments give the same jobs. A run's seed comes from the base seed and the run's name
alone, so that a run keeps its seed when others are added, left out or reordered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tb.common.errors import PtoError
from tb.dut.manifest import Manifest, load_manifests
from tb.dut.profile_text import read_profile
from tb.dut.profiles import run_profile
from tb.dut.selection import SELECTABLE, sendable
from tb.dut.widths import DEFAULT, Widths, run_widths
from tb.isa.profile import Profile
from tb.record.settings import DEFAULT_PROFILE, RunSettings
from tb.regress.plan.testplan import CODE_COVERAGE, Regression, RunSet, TestPlan
from tb.regress.workers.job import Job
from tb.run.testlist import PlannedTest, load_plan

SEED_BITS = 31
"""Width of a derived seed: short enough to be read and typed."""

MAX_SEEDS = 9999
"""Most seeds of a regression run: the names of runs have four digits."""

_FAST = "verilator"
"""The simulator that is replaced by one that the regression does not name."""

_START_SECONDS = {"verilator": 1.8, "icarus": 2.2}
_PER_SECOND = {"verilator": 1800.0, "icarus": 45.0}
_CODE_COVERAGE, _AXI_IN_PYTHON = 3.0, 4.0
"""Guesses for the budget, until the database knows better: start-up, transactions per second of a
random test, and how many times longer these take."""

_LEAST_TIMEOUT, _TIMEOUT_FACTOR = 300.0, 20.0


@dataclass(frozen=True)
class _Combination:
    """Runs that differ in their seed alone; ``why_not`` has the reason why they cannot be made."""

    runs: RunSet
    test: PlannedTest
    sim: str
    widths: Widths
    profile: Profile
    ops: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """Everything but the seed that the names of its runs are made from."""
        runs = self.runs
        rest = (runs.outstanding, runs.gm, runs.code_coverage, runs.label)
        return (self.test.name, self.sim, self.widths, self.profile, *rest)


def config_name(settings: RunSettings, *, axi_pins: bool = False) -> str:
    """Returns the name of the build that a run needs; engines are those of the regression run.

    Args:
        settings: The run.
        axi_pins: Its test wants the GM side of the engines on pins (see ``BuildPlan``).
    """
    defaults = RunSettings.model_fields
    name = f"{settings.sim}-gm{settings.gm_width}-local{settings.local_width}"
    if settings.tag_width != defaults["tag_width"].default:
        name += f"-tag{settings.tag_width}"
    if settings.outstanding != defaults["outstanding"].default:
        name += f"-outstanding{settings.outstanding}"
    if settings.profile not in ("", DEFAULT_PROFILE):
        name += f"-{read_profile(settings.profile, '').label}"
    if settings.waves:
        name += "-waves"
    if settings.code_coverage:
        name += "-cov"
    if axi_pins or settings.gm == "cocotbext":
        name += "-axi-pins"
    return name


def derived_seed(base_seed: int, name: str) -> int:
    """Returns the seed of the run ``name``."""
    digest = hashlib.sha256(f"{base_seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)


def expand(
    plan: TestPlan,
    regression: str,
    *,
    seeds: int,
    base_seed: int,
    duts: Sequence[str] = (),
    sims: Sequence[str] | None = None,
    planned: Mapping[str, PlannedTest] | None = None,
    profile: str = "",
) -> list[Job]:
    """Returns the runs of a regression, every one's first seed before any second.

    Among those of one round the longest come first, so that workers end together.

    Args:
        plan: The testplan.
        regression: Name of the regression.
        seeds: Seeds of the sets that take all, and most of the others.
        base_seed: Source of all seeds.
        duts: Manifests of engines under test; none for the reference engines.
        sims: Simulators to run on; those of the plan by default. A set runs on those that it
            names; a simulator that the regression does not name replaces Verilator.
        planned: The tests; those of ``tb/run/testlist.toml`` by default.
        profile: Profile of all runs instead of those of the plan; a combination that is planned
            under several runs once. Engines under test have that of their manifests by default.

    Raises:
        PtoError: the regression is unknown, a number is out of range, a manifest or the profile is
            wrong, or nothing is left to run.
    """
    if not 1 <= seeds <= MAX_SEEDS:
        raise PtoError(f"SEEDS is {seeds}", where="SEEDS= or --seeds", legal=f"1 to {MAX_SEEDS}")
    found = plan.find(regression)
    tests = load_plan() if planned is None else planned
    all_of_it = list(_combinations(found, tests, load_manifests(duts), sims, profile, base_seed))
    kept = [one for one in all_of_it if not one.why_not]
    if not kept:
        raise PtoError(
            f"nothing of regression {regression!r} can run",
            where=plan.path,
            remedy="; ".join(dict.fromkeys(one.why_not for one in all_of_it))
            or "choose simulators that the regression names",
        )
    jobs = []
    for number in range(1, seeds + 1):
        row = [
            _job(one, number, base_seed, tuple(duts))
            for one in kept
            if one.runs.seeds == "all" or number <= one.runs.seeds
        ]
        jobs += sorted(row, key=lambda job: -job.expected_seconds)
    return jobs


def left_out(
    plan: TestPlan,
    regression: str,
    *,
    duts: Sequence[str] = (),
    sims: Sequence[str] | None = None,
    planned: Mapping[str, PlannedTest] | None = None,
) -> list[str]:
    """Returns a sentence for each kind of planned runs that the engines under test cannot do."""
    tests = load_plan() if planned is None else planned
    found = _combinations(plan.find(regression), tests, load_manifests(duts), sims)
    return list(dict.fromkeys(one.why_not for one in found if one.why_not))


def _combinations(
    regression: Regression,
    tests: Mapping[str, PlannedTest],
    manifests: Sequence[Manifest],
    sims: Sequence[str] | None,
    profile: str = "",
    base_seed: int = 0,
) -> Iterator[_Combination]:
    """Yields test, simulator, widths and profile of every run, in the order of the plan."""
    only = run_profile(profile, manifests) if profile or manifests else None
    seen: set[tuple[object, ...]] = set()
    for one in _planned(regression, tests, manifests, sims, only, base_seed):
        if one.identity not in seen:
            seen.add(one.identity)
            yield one


def _planned(
    regression: Regression,
    tests: Mapping[str, PlannedTest],
    manifests: Sequence[Manifest],
    sims: Sequence[str] | None,
    only: Profile | None,
    base_seed: int,
) -> Iterator[_Combination]:
    """Yields the combinations of each set; those of two sets are equal under one profile alone."""
    named = {sim for runs in regression.runs for sim in runs.sims}
    plain = run_widths(manifests)
    for runs in regression.runs:
        for sim in _simulators(runs, named, sims):
            lacks = {widths: _lacks(manifests, sim, widths) for widths in _widths(runs, plain)}
            can = [widths for widths, why in lacks.items() if not why]
            chosen = [can[base_seed % len(can)]] if runs.in_turn and can else can
            for widths, why in lacks.items():
                if not why and widths not in chosen:
                    continue
                ops, none = _ops(runs, manifests)
                for test, profile in product(runs.tests, _profiles(runs, only)):
                    yield _Combination(runs, tests[test], sim, widths, profile, ops, why or none)


def _widths(runs: RunSet, plain: Widths) -> list[Widths]:
    """Returns the widths of a set, with those of a plain run in place of the default ones."""
    tag = plain.tag if runs.tag_width == DEFAULT.tag else runs.tag_width
    default, data = (DEFAULT.gm, DEFAULT.local), (plain.gm, plain.local)
    return [Widths(*(data if pair == default else pair), tag) for pair in runs.widths]


def _profiles(runs: RunSet, only: Profile | None) -> list[Profile]:
    return [read_profile(text, "profiles") for text in runs.profiles] if only is None else [only]


def _simulators(runs: RunSet, named: set[str], wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        return list(runs.sims)
    chosen = [sim for sim in wanted if sim in runs.sims]
    if _FAST in runs.sims:
        chosen += [sim for sim in wanted if sim not in named]
    return [sim for sim in chosen if not runs.code_coverage or sim in CODE_COVERAGE]


def _lacks(manifests: Sequence[Manifest], sim: str, widths: Widths) -> str:
    """Returns which engine does not have this simulator or these widths, or nothing."""
    for manifest in manifests:
        runs = f"on {sim}"
        try:
            manifest.check_simulator(sim)
            runs = f"at {widths}"
            manifest.check_run(widths.gm, widths.local, widths.tag)
        except PtoError as error:
            return f"runs {runs} left out: {error.what}"
    return ""


def _ops(runs: RunSet, manifests: Sequence[Manifest]) -> tuple[tuple[str, ...], str]:
    """Returns the ops of a set in table order, and why none of them can be sent, or nothing."""
    ops = tuple(name for name in SELECTABLE if name in runs.ops)
    if manifests and ops:
        try:
            sendable(ops, tuple(op for manifest in manifests for op in manifest.ops))
        except PtoError:
            return ops, f"runs of {', '.join(ops)} left out: no engine under test takes them"
    return ops, ""


def _job(one: _Combination, number: int, base_seed: int, duts: tuple[str, ...]) -> Job:
    runs, test = one.runs, one.test
    settings = RunSettings(
        sim=one.sim,
        test=test.name,
        transactions=runs.transactions or test.transactions,
        ops=one.ops,
        gm_width=one.widths.gm,
        local_width=one.widths.local,
        tag_width=one.widths.tag,
        outstanding=runs.outstanding,
        duts=duts,
        profile=str(one.profile),
        gm=runs.gm,
        code_coverage=runs.code_coverage,
        options=test.options,
    )
    config = config_name(settings, axi_pins=test.axi_pins)
    label = f"-{runs.label}" if runs.label else ""
    key = f"{test.name}{label}-{config}-s{number:04d}"
    seconds = runs.seconds or expected_seconds(settings)
    return Job(
        key=key,
        kind="run",
        settings=settings.model_copy(update={"seed": derived_seed(base_seed, key)}),
        config=config,
        folder="",
        timeout=max(_LEAST_TIMEOUT, _TIMEOUT_FACTOR * seconds),
        expected_seconds=seconds,
    )


def expected_seconds(settings: RunSettings) -> float:
    """Returns a guess of how long a run takes, without its build."""
    sim = settings.sim if settings.sim in _PER_SECOND else _FAST
    work = settings.transactions / _PER_SECOND[sim]
    if settings.code_coverage:
        work *= _CODE_COVERAGE
    if settings.gm == "cocotbext":
        work *= _AXI_IN_PYTHON
    return round(_START_SECONDS[sim] + work, 1)
