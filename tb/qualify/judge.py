# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the mutants of engines: the tests of the bench run on each until one fails.

The engines are built once for each profile, with all of their mutants. Each process loads the
simulation once and forks it for every run (:mod:`tb.run.warm`). First the engines without a fault
run every test, which also reports the mutants that make a difference in it: the others pass it as
well, and need no run. A verdict is written as soon as it is known, so that a campaign that was
interrupted goes on where it ended.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.processes import end_with_parent
from tb.dut.widths import Widths
from tb.isa.ops import LEGACY_FORMS
from tb.isa.profile import Profile
from tb.qualify.mutants import PLUSARG, Mutant, Mutated, Sources, plant
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.signature import signature, title
from tb.run.build import build
from tb.run.console import Console
from tb.run.folder import LOG
from tb.run.launch import BuildError, Launcher
from tb.run.plan import BuildPlan
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tb.run.warm import WarmSimulator

KILLED, PASSED, SURVIVED, EQUIVALENT = "killed", "passed", "survived", "equivalent"
BROKEN = "broken"

AT_OUTPUT = "reaches an output"
"""How far a survivor came that the checks could have seen."""

TESTS = {
    "legal": 4000,
    "illegal": 4000,
    "errors": 2000,
    "reset": 2000,
    "corner": 1,
    "ops": 8000,
    "faults": 2000,
    "stress": 5000,
    "speed": 1,
}
"""Tests in the order in which they are tried, and their transactions.

``ops`` is ``legal`` and ``illegal`` with the ops of one slot alone, and another seed, for each
slot whose engine has the mutant.
"""

OF_PROFILES = ("legal", "illegal", "corner")
"""Tests under the profiles after the first one: the others look at no knob."""

OF_OPS = ("legal", "illegal")

WATCHDOG_CLOCKS = 20_000
WALL_LIMIT = 120.0


@dataclass(frozen=True)
class Verdict:
    """What is known of a mutant.

    Attributes:
        name: The mutant.
        result: KILLED; PASSED where no test fails and no proof was tried, after it SURVIVED or
            EQUIVALENT; BROKEN when a run of it could not be judged.
        test: Test that failed first, with its profile unless that is the first one.
        how: Title of the failure; of a survivor how far the difference came; else the reason.
        transactions: Transactions of the failing test up to its end.
        seconds: Processor time of all its simulations.
    """

    name: str
    result: str
    test: str = ""
    how: str = ""
    transactions: int = 0
    seconds: float = 0.0


class Stage(NamedTuple):
    """A test under a profile, with the ops of one slot unless that is empty."""

    profile: Profile
    test: str
    slot: str = ""


@dataclass(frozen=True)
class Plain:
    """What a stage is without a fault.

    Attributes:
        differs: Numbers of the mutants that would make a difference where they are.
        outputs: Digest of the outputs of the engines in all clocks.
    """

    differs: frozenset[int]
    outputs: str


@dataclass(frozen=True)
class Campaign:
    """Engines under judgement.

    Attributes:
        engine: The engines with their mutants.
        widths: Widths of its buses.
        profiles: Profiles of the runs in the order in which they are tried.
        seed: Seed of the runs.
        tests: Tests in the order in which they are tried.
        inputs: Digests of the sources of the builds, by profile.
    """

    engine: Mutated
    widths: Widths
    profiles: tuple[Profile, ...]
    seed: int
    tests: tuple[str, ...] = tuple(TESTS)
    inputs: Mapping[Profile, str] = field(default_factory=dict)

    @property
    def stages(self) -> list[Stage]:
        """The stages in the order in which they are tried."""
        first, *rest = self.profiles
        found: list[Stage] = []
        for test in self.tests:
            if test == "ops":
                slots = [one.slot for one in self.engine.manifests]
                found += [Stage(first, name, slot) for slot in slots for name in OF_OPS]
            else:
                found.append(Stage(first, test))
        others = [test for test in self.tests if test in OF_PROFILES]
        return found + [Stage(profile, test) for profile in rest for test in others]

    def name(self, stage: Stage) -> str:
        """Returns the name of a stage in results."""
        more = stage.slot or ("" if stage.profile == self.profiles[0] else str(stage.profile))
        return f"{stage.test} {more}".rstrip()

    def plan(self, profile: Profile) -> BuildPlan:
        """Returns the build of the engine with its mutants under a profile."""
        return BuildPlan(
            "verilator",
            self.engine.manifests,
            self.widths.gm,
            self.widths.local,
            self.widths.tag,
            profile=profile,
            variant=f"qualify-{self.engine.folder.name}",
        )

    @property
    def folder(self) -> Path:
        """The folder of the runs of this process."""
        return ROOT / self.engine.folder / f"run-{os.getpid()}"

    def run(self, stage: Stage, number: int, warm: WarmSimulator) -> RunRecord:
        """Runs a stage on mutant ``number``; 0 is the engine without a fault."""
        profile, test, slot = stage
        planned, plan = planned_test(test), self.plan(profile)
        ops = [op for one in self.engine.manifests if one.slot == slot for op in one.ops]
        settings = RunSettings(
            test=test,
            seed=self.seed + bool(slot),
            transactions=TESTS["ops" if slot else test],
            ops=(*ops, *(form for form, op in LEGACY_FORMS.items() if op in ops)),
            gm_width=self.widths.gm,
            local_width=self.widths.local,
            tag_width=self.widths.tag,
            profile=str(profile),
            mismatch_limit=1,
            watchdog_clocks=WATCHDOG_CLOCKS,
            wall_limit=WALL_LIMIT,
            options=planned.options,
        )
        return run_once(
            settings,
            planned,
            manifests=plan.manifests,
            variant=plan.variant,
            console=Console(quiet=True),
            folder=self.folder,
            launcher=Launcher((f"+{PLUSARG}={number}",), warm.start),
            inputs=self.inputs[profile],
        )

    def plain_run(self) -> Plain:
        """Returns the report of the last run of this process."""
        log = (self.folder / LOG).read_text(errors="replace")
        differs = re.findall(rf"^{PLUSARG} (\d+) differs$", log, re.MULTILINE)
        outputs = re.findall(rf"^{PLUSARG} outputs (\w+)$", log, re.MULTILINE)
        return Plain(frozenset(map(int, differs)), "".join(outputs[-1:]))


def plain(campaign: Campaign, stage: Stage, warm: WarmSimulator) -> Plain:
    """Runs a stage on the engine without a fault.

    Raises:
        PtoError: it fails.
    """
    record = campaign.run(stage, 0, warm)
    if record.status == "interrupted":
        raise KeyboardInterrupt
    if record.status != "pass":
        raise PtoError(
            f"the engine without a fault does not pass TEST={stage.test}: {record.last_line()}",
            where=", ".join(one.title for one in campaign.engine.manifests),
            remedy="correct the engine, or leave the test out with --tests",
        )
    return campaign.plain_run()


def judge(
    campaign: Campaign, stages: Mapping[Stage, Plain], mutant: Mutant, warm: WarmSimulator
) -> Verdict:
    """Runs the stages in which a mutant makes a difference until one fails."""
    spent, how = 0.0, "differs in no test"
    for stage, of_plain in stages.items():
        if mutant.number not in of_plain.differs or stage.slot not in ("", *mutant.slots):
            continue
        test = campaign.name(stage)
        try:
            record = campaign.run(stage, mutant.number, warm)
        except (PtoError, OSError) as error:
            return Verdict(mutant.name, BROKEN, test, str(error).splitlines()[0], 0, spent)
        spent += warm.seconds
        if record.status == "interrupted":
            raise KeyboardInterrupt
        if record.status == "error":
            how = record.message.partition("\n")[0]
            return Verdict(mutant.name, BROKEN, test, how, 0, spent)
        if record.status != "pass":
            how = title(signature(record))
            return Verdict(mutant.name, KILLED, test, how, record.transactions, spent)
        if campaign.plain_run().outputs != of_plain.outputs:
            how = how if how.startswith(AT_OUTPUT) else f"{AT_OUTPUT} in {test}"
        elif how.endswith("no test"):
            # Without a digest nobody knows of the outputs.
            how = f"differs in {test}" + (", at no output" if of_plain.outputs else "")
    return Verdict(mutant.name, PASSED, how=how, seconds=spent)


def buildable(campaign: Campaign, sources: Sources) -> tuple[Campaign, list[Verdict]]:
    """Builds the engine, without the mutants on lines that the simulator refuses.

    Returns:
        The campaign that builds, and the verdicts on mutants that do not.

    Raises:
        PtoError: it does not build without them.
    """
    broken: list[Verdict] = []
    while True:
        plan = campaign.plan(campaign.profiles[0])
        try:
            build(plan)
        except BuildError:
            log = (plan.folder / "build.log").read_text()
            lines = {
                (Path(path).name, int(line))
                for path, line in re.findall(r"^%Error[^:]*: ([^:\s]+):(\d+):", log, re.MULTILINE)
            }
            refused = [
                mutant
                for mutant in campaign.engine.mutants
                # The first line of a source with mutants is ours.
                if (Path(mutant.file).name, mutant.line + 1) in lines
            ]
            if not refused:
                raise
            broken += [Verdict(mutant.name, BROKEN, how="does not build") for mutant in refused]
            left = [mutant for mutant in campaign.engine.mutants if mutant not in refused]
            engine = plant(sources, left, campaign.engine.folder)
            campaign = replace(campaign, engine=engine)
        else:
            return campaign, broken


class _Worker:
    """The campaign of a process of the pool, and its loaded simulations."""

    campaign: Campaign
    warm: WarmSimulator


def _begin(campaign: Campaign, parent: int) -> None:
    end_with_parent(parent)
    _Worker.campaign, _Worker.warm = campaign, WarmSimulator(most=4)


def _plain(stage: Stage) -> Plain:
    return plain(_Worker.campaign, stage, _Worker.warm)


def _judge(stages: Mapping[Stage, Plain], mutant: Mutant) -> Verdict:
    return judge(_Worker.campaign, stages, mutant, _Worker.warm)


def verdicts(
    campaign: Campaign, mutants: Sequence[Mutant], jobs: int, seconds: float = 0.0
) -> Iterator[Verdict]:
    """Builds the engine, judges mutants, and yields each verdict as it is known.

    Args:
        campaign: The engine and its runs.
        mutants: Those to judge.
        jobs: Processes.
        seconds: Time after which no other mutant begins; 0 for no limit.

    Raises:
        PtoError: the engine fails a test without a fault.
    """
    end = time.monotonic() + seconds if seconds else float("inf")
    inputs = {}
    for profile in campaign.profiles:
        inputs[profile] = build(campaign.plan(profile)).inputs
        print(f"  built with its mutants, profile {profile}", flush=True)
    campaign = replace(campaign, inputs=inputs)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (campaign, os.getpid())) as pool:
        try:
            stages = dict(zip(campaign.stages, pool.map(_plain, campaign.stages), strict=True))
            active = frozenset[int]().union(*(one.differs for one in stages.values()))
            print(
                f"  without a fault every test passes; {len(active)} mutants differ in one",
                flush=True,
            )
            waiting = iter(mutants)
            running = {pool.submit(_judge, stages, one) for one in islice(waiting, 2 * jobs)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for verdict in done:
                    mutant = next(waiting, None) if time.monotonic() < end else None
                    if mutant:
                        running.add(pool.submit(_judge, stages, mutant))
                    yield verdict.result()
        except (KeyboardInterrupt, GeneratorExit):
            for process in multiprocessing.active_children():
                process.kill()
            raise


def read_verdicts(path: Path, token: str) -> dict[str, Verdict]:
    """Returns the verdicts of a file by name; none of other sources or other tests."""
    if not path.is_file():
        return {}
    head, *lines = path.read_text().splitlines() or [""]
    if head != json.dumps({"token": token}):
        return {}
    found = (Verdict(**json.loads(line)) for line in lines if line.endswith("}"))
    return {verdict.name: verdict for verdict in found}


def begin_file(path: Path, token: str, known: dict[str, Verdict]) -> None:
    """Writes the verdicts that are known; others are appended as they come."""
    rows = [{"token": token}, *map(asdict, known.values())]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def append(path: Path, verdict: Verdict) -> None:
    """Adds a verdict to a file."""
    with path.open("a") as file:
        file.write(f"{json.dumps(asdict(verdict))}\n")
