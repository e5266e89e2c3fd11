# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the mutants of engines: the tests of the bench run on each until one fails.

The engines are built once, with all of their mutants. Each process loads the simulation once and
forks it for every run (:mod:`tb.run.warm`). A verdict is written as soon as it is known, so that a
campaign that was interrupted goes on where it ended.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.processes import end_with_parent
from tb.dut.ports import Widths
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

KILLED, SURVIVED, EQUIVALENT, BROKEN = "killed", "survived", "equivalent", "broken"

DIFFERS = "differs in "
"""How the reason of a survivor begins that is no proof."""

TESTS = {
    "random": 4000,
    "illegal": 4000,
    "errors": 2000,
    "reset": 2000,
    "corner": 1,
    "faults": 2000,
    "stress": 5000,
    "speed": 1,
}
"""Tests in the order in which they are tried, and their transactions."""

WATCHDOG_CLOCKS = 20_000
WALL_LIMIT = 120.0


@dataclass(frozen=True)
class Verdict:
    """What is known of a mutant.

    Attributes:
        name: The mutant.
        result: KILLED, SURVIVED, EQUIVALENT, or BROKEN when a run of it could not be judged.
        test: Test that failed first.
        how: Title of the failure; of another result the reason, or empty.
        transactions: Transactions of the failing test up to its end.
        seconds: Wall time of all its runs.
    """

    name: str
    result: str
    test: str = ""
    how: str = ""
    transactions: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Campaign:
    """Engines under judgement.

    Attributes:
        engine: The engines with their mutants.
        widths: Widths of its buses.
        profile: Profile of the runs.
        seed: Seed of the runs.
        tests: Tests in the order in which they are tried.
    """

    engine: Mutated
    widths: Widths
    profile: Profile
    seed: int
    tests: tuple[str, ...] = tuple(TESTS)

    @property
    def plan(self) -> BuildPlan:
        """The build of the engine with its mutants."""
        return BuildPlan(
            "verilator",
            self.engine.manifests,
            self.widths.gm,
            self.widths.local,
            self.widths.tag,
            profile=self.profile,
            variant=f"qualify-{self.engine.folder.name}",
        )

    @property
    def folder(self) -> Path:
        """The folder of the runs of this process."""
        return ROOT / self.engine.folder / f"run-{os.getpid()}"

    def run(self, test: str, number: int, inputs: str, warm: WarmSimulator) -> RunRecord:
        """Runs a test on mutant ``number``; 0 is the engine without a fault."""
        planned = planned_test(test)
        settings = RunSettings(
            test=test,
            seed=self.seed,
            transactions=TESTS.get(test, planned.transactions),
            gm_width=self.widths.gm,
            local_width=self.widths.local,
            tag_width=self.widths.tag,
            profile=str(self.profile),
            mismatch_limit=1,
            watchdog_clocks=WATCHDOG_CLOCKS,
            wall_limit=WALL_LIMIT,
            options=planned.options,
        )
        return run_once(
            settings,
            planned,
            manifests=self.plan.manifests,
            variant=self.plan.variant,
            console=Console(quiet=True),
            folder=self.folder,
            launcher=Launcher((f"+{PLUSARG}={number}",), warm.start),
            inputs=inputs,
        )


def judge(campaign: Campaign, mutant: Mutant, inputs: str, warm: WarmSimulator) -> Verdict:
    """Runs the tests on a mutant until one fails."""
    begin = time.monotonic()
    for test in campaign.tests:
        try:
            record = campaign.run(test, mutant.number, inputs, warm)
        except (PtoError, OSError) as error:
            how = str(error).splitlines()[0]
            return Verdict(mutant.name, BROKEN, test, how, 0, time.monotonic() - begin)
        if record.status == "interrupted":
            raise KeyboardInterrupt
        if record.status == "error":
            how = record.message.partition("\n")[0]
            return Verdict(mutant.name, BROKEN, test, how, 0, time.monotonic() - begin)
        if record.status != "pass":
            how = title(signature(record))
            spent = time.monotonic() - begin
            return Verdict(mutant.name, KILLED, test, how, record.transactions, spent)
    return Verdict(mutant.name, SURVIVED, seconds=time.monotonic() - begin)


def activity(campaign: Campaign, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Tells of survivors in which test they first make a difference where they are, if at all.

    Args:
        campaign: The engine with them, observed.
        mutants: The survivors.
    """
    inputs = build(campaign.plan).inputs
    warm = WarmSimulator(most=4)
    try:
        for mutant in mutants:
            for test in campaign.tests:
                campaign.run(test, mutant.number, inputs, warm)
                log = (campaign.folder / LOG).read_text(errors="replace")
                if f"{PLUSARG} {mutant.number} differs" in log:
                    yield mutant, f"{DIFFERS}{test}, unseen at the memories"
                    break
            else:
                yield mutant, f"{DIFFERS}no test"
    finally:
        warm.close()


def buildable(campaign: Campaign, sources: Sources) -> tuple[Campaign, list[Verdict]]:
    """Builds the engine, without the mutants on lines that the simulator refuses.

    Returns:
        The campaign that builds, and the verdicts on mutants that do not.

    Raises:
        PtoError: it does not build without them.
    """
    broken: list[Verdict] = []
    while True:
        try:
            build(campaign.plan)
        except BuildError:
            log = (campaign.plan.folder / "build.log").read_text()
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
    """The campaign of a process of the pool, and its loaded simulation."""

    campaign: Campaign
    inputs: str
    warm: WarmSimulator


def _begin(campaign: Campaign, inputs: str, parent: int) -> None:
    end_with_parent(parent)
    _Worker.campaign, _Worker.inputs, _Worker.warm = campaign, inputs, WarmSimulator(most=4)


def _judge(mutant: Mutant) -> Verdict:
    return judge(_Worker.campaign, mutant, _Worker.inputs, _Worker.warm)


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
    inputs = build(campaign.plan).inputs
    warm = WarmSimulator(most=4)
    try:
        for test in campaign.tests:
            record = campaign.run(test, 0, inputs, warm)
            if record.status != "pass":
                raise PtoError(
                    f"the engine without a fault does not pass TEST={test}: {record.last_line()}",
                    where=", ".join(one.title for one in campaign.engine.manifests),
                    remedy="correct the engine, or leave the test out with --tests",
                )
    finally:
        warm.close()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (campaign, inputs, os.getpid())) as pool:
        waiting = iter(mutants)
        running = {pool.submit(_judge, mutant) for mutant in islice(waiting, 2 * jobs)}
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for verdict in done:
                    mutant = next(waiting, None) if time.monotonic() < end else None
                    if mutant:
                        running.add(pool.submit(_judge, mutant))
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
