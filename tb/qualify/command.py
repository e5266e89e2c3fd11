# SPDX-License-Identifier: Apache-2.0
"""``pto-dv qualify``: plants faults in engines, runs the bench on each, and reports those found."""

from __future__ import annotations

import hashlib
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import read_toml, write_json
from tb.common.paths import ROOT, relative
from tb.common.text import meant
from tb.dut.manifest import Manifest
from tb.dut.profiles import run_profile, unlike
from tb.dut.widths import Widths
from tb.isa.profile import PROFILES, Profile
from tb.qualify.equal import equivalent
from tb.qualify.judge import (
    EQUIVALENT,
    PASSED,
    SURVIVED,
    TESTS,
    Campaign,
    Verdict,
    append,
    begin_file,
    buildable,
    read_verdicts,
    verdicts,
)
from tb.qualify.mutants import Mutant, Sources, draw, plant
from tb.qualify.page import write_page
from tb.qualify.summary import Summary, rate
from tb.run.run import interrupts_raise

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
"""Mutants of the reference engines that are not faults, with the reasons."""

FOLDER = Path("sim_build/qualify")
RESULT = "qualify.json"


def qualify_command(
    manifests: Sequence[Manifest],
    widths: Widths,
    profile: str,
    count: int,
    seed: int,
    seconds: float,
    jobs: int,
    tests: Sequence[str] = (),
) -> int:
    """Judges mutants of engines.

    Returns:
        0, 1 where a mutant survived, 3 where some have no verdict, 130 or 143 after a signal.

    Args:
        manifests: The engines, which are in one build.
        widths: Widths of the buses, bits.
        profile: Profile of the runs as text; empty for that of the manifests and, where a
            parameter of an engine chooses, the other named ones after it.
        count: Mutants.
        seed: Seed of the draw and of the runs.
        seconds: Time after which no other mutant begins; 0 for no limit.
        jobs: Processes.
        tests: Tests to run; none for all of :data:`TESTS`.

    Raises:
        PtoError: a test is unknown, a source cannot be parsed, or an engine fails by itself.
    """
    for test in tests:
        if test not in TESTS:
            raise PtoError(
                f"no test {test!r} for mutants{meant(test, TESTS)}",
                where="--tests",
                legal=", ".join(TESTS),
            )
    for manifest in manifests:
        manifest.check_run(widths.gm, widths.local, widths.tag)
    profiles = _profiles(profile, manifests)
    try:
        with interrupts_raise():
            found = _qualify(manifests, widths, profiles, count, seed, seconds, jobs, tests)
    except KeyboardInterrupt as error:
        print("interrupted: the same command goes on where this one ended", flush=True)
        return 143 if error.args == (signal.SIGTERM,) else 130
    path = ROOT / FOLDER / RESULT
    write_json(path, {"seed": seed, **found.to_json()})
    write_page(path.with_name("index.html"), seed, found)
    print("\n".join(["", *found.lines()]))
    print(f"page         {relative(path.with_name('index.html'))}, data {path.name}")
    total = rate(found.verdicts.values())
    rest = found.drawn - len(found.mutants)
    print(f"{total}" + (f", {rest} have no verdict: the same command goes on" if rest else ""))
    return 3 if rest else int(total.killed < total.judged)


def _profiles(text: str, manifests: Sequence[Manifest]) -> tuple[Profile, ...]:
    first = run_profile(text, manifests)
    if text:
        return (first,)

    def parameters(profile: Profile) -> list[dict[str, int | str]]:
        return [one.parameters_under(profile) for one in manifests]

    others = (one for one in PROFILES.values() if parameters(one) != parameters(first))
    return (first, *(one for one in others if not unlike(manifests, one)))


def _qualify(
    manifests: Sequence[Manifest],
    widths: Widths,
    profiles: tuple[Profile, ...],
    count: int,
    seed: int,
    seconds: float,
    jobs: int,
    tests: Sequence[str],
) -> Summary:
    """Judges mutants of engines that are in one build."""
    begin = time.monotonic()
    sources = Sources(manifests)
    folder = FOLDER / re.sub(r"\W+", "_", sources.title)
    engine = plant(sources, draw(sources, count, seed), folder)
    print(
        f"{sources.title}: {len(engine.mutants)} of {len(sources.points)} mutants, seed {seed}, "
        f"{widths}, profile {', '.join(map(str, profiles))}",
        flush=True,
    )
    campaign = Campaign(engine, widths, profiles, seed, tuple(tests) or tuple(TESTS))
    stages = [(str(stage.profile), *stage[1:]) for stage in campaign.stages]
    same = [engine.token, seed, stages, TESTS, widths]
    token = hashlib.sha256(repr(same).encode()).hexdigest()
    path = ROOT / folder / "verdicts.jsonl"
    known = read_verdicts(path, token)
    drawn = {mutant.name for mutant in engine.mutants}
    if drawn & known.keys():
        print(f"  {len(drawn & known.keys())} have a verdict of an earlier command", flush=True)
    begin_file(path, token, known)
    todo = [mutant for mutant in engine.mutants if mutant.name not in known]
    if todo:
        campaign, broken = buildable(campaign, sources)
        for verdict in broken:
            known[verdict.name] = verdict
        todo = [mutant for mutant in todo if mutant.name not in known]
        for verdict in verdicts(campaign, todo, jobs, seconds):
            known[verdict.name] = verdict
            append(path, verdict)
            print(
                f"  {len(drawn & known.keys()):>4} of {len(drawn)}  {verdict.result:<9} "
                f"{verdict.seconds:6.1f} s  {verdict.name}  {verdict.test} {verdict.how}".rstrip(),
                flush=True,
            )
    for mutant, reason in _explained(campaign, sources, known):
        result, how = (EQUIVALENT, reason) if reason else (SURVIVED, known[mutant.name].how)
        known[mutant.name] = replace(known[mutant.name], result=result, how=how)
        append(path, known[mutant.name])
    print(f"  {time.monotonic() - begin:.0f} s", flush=True)
    judged = [mutant for mutant in engine.mutants if mutant.name in known]
    its = {mutant.name: known[mutant.name] for mutant in judged}
    return Summary(sources.title, len(engine.mutants), judged, its)


def _explained(
    campaign: Campaign, sources: Sources, known: Mapping[str, Verdict]
) -> Iterator[tuple[Mutant, str]]:
    """Gives the reason why mutants that no test kills are not faults; none where it is unknown."""
    reasons = read_toml(EQUIVALENTS, "list of equivalent mutants", "restore it")[1]
    results = {name: verdict.result for name, verdict in known.items()}
    for mutant in campaign.engine.mutants:
        if mutant.name in reasons and results.get(mutant.name) in (PASSED, SURVIVED):
            yield mutant, reasons[mutant.name]
            results[mutant.name] = EQUIVALENT
    rest = [one for one in campaign.engine.mutants if results.get(one.name) == PASSED]
    if rest:
        print(f"  {len(rest)} survivors: proofs that they change nothing", flush=True)
    folder, profiles = campaign.engine.folder, campaign.profiles
    try:
        for mutant, same in equivalent(sources, rest, campaign.widths, profiles, folder):
            yield mutant, "proven: its module does the same" if same else ""
    except PtoError as error:
        print(f"  no proofs: {error}", flush=True)
        yield from ((mutant, "") for mutant in rest)
