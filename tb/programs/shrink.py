# SPDX-License-Identifier: Apache-2.0
"""Makes a failing program small: ``pto-dv shrink``.

The program as executed, its ops in a row with absolute addresses, is a
:class:`tb.programs.simpler.Case`. First ops are left out, then other parts, then operands are made
smaller, then knobs of the profile go back to their defaults. Each candidate is written as a
program, read and checked as any other, and simulated; it takes the place of the case if one of its
failures is of the kind that is looked for (:func:`tb.record.signature.checks_of`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoreboards.repro_text import replay_command
from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.common.paths import relative
from tb.common.text import counted
from tb.isa.op import replace
from tb.isa.profile import KNOBS, SEED, parse_profile
from tb.language.printer import UnprintableError
from tb.language.trace import Compute, Move
from tb.programs.case import MEMORY_SUFFIX, Case, case_of, files_of, size_text
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.programs.reference import BuildConsole, Run, differences, replayed
from tb.programs.simpler import (
    fewest,
    operands,
    parts_of,
    simpler_ops,
    without,
)
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.shrunk import Shrunk
from tb.record.signature import Signature, check_of, checks_of, signature_of, title

NAME = "shrunk.pto"
"""Name of the result unless another is given."""

CANDIDATE = "candidate.pto"

OWN_CHECK = "check"
"""Kind of the failures that the text of a program or of its setup causes."""


@dataclass(frozen=True)
class Failing:
    """A program that fails.

    Attributes:
        path: The program.
        settings: Settings of its run.
        case: It as a case.
        check: The check that fails.
        warned: Rules of its warnings.
    """

    path: Path
    settings: RunSettings
    case: Case
    check: Signature
    warned: frozenset[str]


@dataclass
class Judge:
    """Simulates candidates.

    Attributes:
        run: Runs a test.
        machine: Settings of its runs.
        folder: Place of its files.
        check: The check that must fail.
        warned: Rules of the warnings that a candidate may have.
        seconds: Time from the first candidate on, after which no other one is judged.
        simulations: Simulations so far.
        ended: The time was not enough.
    """

    run: Run
    machine: Mapping[str, Any]
    folder: Path
    check: Signature
    warned: frozenset[str]
    seconds: float
    simulations: int = 0
    ended: bool = False
    _begin: float = field(default_factory=time.monotonic)
    _reports: dict[tuple[object, ...], str] = field(default_factory=dict)
    _taken: set[tuple[object, ...]] = field(default_factory=set)

    def fails(self, case: Case) -> bool:
        """Returns whether a case is a legal program on which the check fails."""
        return bool(self.report(case))

    def report(self, case: Case) -> str:
        """Returns the report of the check that fails on a case, nothing if it does not fail."""
        if not (files := self._files(case)):
            return ""
        key = (case.profile, *files.values())
        if key not in self._reports:
            if self.elapsed > self.seconds:
                self.ended = True
                return ""
            self._reports[key] = self._simulated(case, files)
        return self._reports[key]

    def takes(self, case: Case) -> bool:
        """Returns whether a case fails that is written differently from those taken before."""
        key = (case.profile, *self._files(case).values())
        if key in self._taken or not self.fails(case):
            return False
        self._taken.add(key)
        return True

    def _files(self, case: Case) -> dict[Path, bytes]:
        """Returns the files of a case, none if no text can hold it."""
        try:
            return files_of(case, self.folder / CANDIDATE)
        except UnprintableError:
            return {}

    def _simulated(self, case: Case, files: Mapping[Path, bytes]) -> str:
        for path, data in files.items():
            path.write_bytes(data)
        machine = {**self.machine, "profile": case.profile}
        try:
            made = Replay.make([str(path)], ProgramOptions(), machine)
        except PtoError:
            return ""  # No legal program.
        if not warned_of(made) <= self.warned:
            return ""  # Its result may be undefined.
        self.simulations += 1
        return report_of(replayed(made, self.run, self.folder / "run"), self.check)

    @property
    def elapsed(self) -> float:
        """Seconds since the first candidate."""
        return time.monotonic() - self._begin


def failing(
    path: Path,
    options: ProgramOptions,
    machine: Mapping[str, Any],
    run: Run,
    folder: Path,
    check: Signature | None = None,
) -> Failing | str:
    """Runs a program that should fail.

    Args:
        path: The program.
        options: Its options.
        machine: Settings of the run.
        run: Runs a test.
        folder: Place of the run.
        check: The check that should fail; None for the first one that does.

    Returns:
        The program, or what happened instead of that failure.

    Raises:
        PtoError: it cannot run.
    """
    made = Replay.make([str(path)], options, machine)
    record = replayed(made, run, folder, BuildConsole(quiet=True))
    checks = checks_of(record)
    if record.passed or (check and check not in checks):
        return "passes" if record.passed else f"fails differently: {title(checks[0])}"
    case = case_of(made.files.programs[0], made.settings.profile)
    return Failing(path, made.settings, case, check or checks[0], warned_of(made))


def warned_of(made: Replay) -> frozenset[str]:
    """Returns the rules of the warnings about a program."""
    return frozenset(one.rule for one in made.files.programs[0].warnings)


def report_of(record: RunRecord, check: Signature) -> str:
    """Returns the first report of a check in a run, nothing if it has not failed."""
    if check not in checks_of(record):
        return ""
    texts = [one.text for one in record.details if check_of(signature_of(one)) == check]
    return next(filter(None, (*texts, record.message)), title(check))


def smallest(one: Failing, judge: Judge, show: Callable[[str], None]) -> Case:
    """Returns the smallest case that was found.

    Raises:
        PtoError: the failure does not repeat.
    """
    case = one.case
    if not judge.takes(case):
        raise PtoError(
            "the failure is not repeatable: written with its ops in a row, the program does not "
            f"fail as before ({title(one.check)})",
            where=str(one.path),
            legal="a program of one core that fails in every run",
            remedy="simulate the program itself: `pto-dv program`, with --waves",
        )
    for name, step in (
        ("ops", _fewer_ops),
        ("parts", _fewer_parts),
        ("operands", _smaller_operands),
        ("ops", _fewer_ops),
        ("profile", _default_profile),
    ):
        case = step(case, judge)
        show(
            f"{name:<9}{counted(len(case.ops), 'op')}, {counted(len(case.steps), 'step')}, "
            f"{counted(judge.simulations, 'simulation')}, {judge.elapsed:.1f} s"
        )
    return case


def _fewer_ops(case: Case, judge: Judge) -> Case:
    ops = case.ops

    def with_ops(kept: Sequence[int]) -> Case:
        gone = tuple(at for at in ops if at not in kept)
        return without(case, [("steps", gone)])

    return with_ops(fewest(ops, lambda kept: bool(kept) and judge.fails(with_ops(kept))))


def _fewer_parts(case: Case, judge: Judge) -> Case:
    parts = parts_of(case)

    def with_parts(kept: Sequence[Any]) -> Case:
        return without(case, [part for part in parts if part not in kept])

    return with_parts(fewest(parts, lambda kept: judge.fails(with_parts(kept))))


def _smaller_operands(case: Case, judge: Judge) -> Case:
    judge.takes(case)
    before = None
    while case != before and not judge.ended:
        before = case
        for at, step in enumerate(case.steps):
            if isinstance(step, Move | Compute):
                for name in operands(step.op):
                    case = _smaller_operand(case, at, name, judge)
    return case


def _smaller_operand(case: Case, at: int, name: str, judge: Judge) -> Case:
    """Returns a case in which an operand of step ``at`` is as small as it may be."""
    while True:
        step = case.steps[at]
        assert isinstance(step, Move | Compute)
        for op in simpler_ops(step.op, name):
            steps = (*case.steps[:at], replace(step, op=op), *case.steps[at + 1 :])
            smaller = replace(case, steps=steps)
            if judge.takes(smaller):
                case = smaller
                break
        else:
            return case


def _default_profile(case: Case, judge: Judge) -> Case:
    """Returns a case with fewer knobs of the profile that differ from the default."""
    profile = parse_profile(case.profile)
    changed = [name for name in KNOBS if getattr(profile, name) != getattr(SEED, name)]

    def with_knobs(kept: Sequence[str]) -> Case:
        chosen = {name: getattr(profile, name) for name in kept}
        return replace(case, profile=str(replace(SEED, **chosen)))

    def fails(kept: Sequence[str]) -> bool:
        try:
            return judge.fails(with_knobs(kept))
        except PtoError:
            return False  # The engines do not have this profile.

    return with_knobs(fewest(changed, fails))


def shrink(
    one: Failing,
    machine: Mapping[str, Any],
    run: Run,
    folder: Path,
    target: Path,
    seconds: float,
    show: Callable[[str], None] = print,
) -> Shrunk:
    """Makes a failing program small, and writes it.

    Args:
        one: The program.
        machine: Settings of its runs.
        run: Runs a test.
        folder: Place of candidates and their runs.
        target: The result; its setup and memory contents are written beside it.
        seconds: Limit of the search.
        show: Prints a line.

    Raises:
        PtoError: it cannot be made small, or the result cannot be written.
    """
    if one.check.kind == OWN_CHECK:
        raise PtoError(
            "what fails is a check that the program brings along, or its schedules",
            where=str(one.path),
            legal="a failure of the comparison of engines and model, of a protocol rule, or a hang",
            remedy="correct the program, its data or the check",
        )
    show(f"failure  {title(one.check)}")
    judge = Judge(run, machine, folder, one.check, one.warned, seconds)
    case = smallest(one, judge, show)
    settings = one.settings.model_copy(update={"profile": case.profile})
    command = replay_command(settings, target)
    head = [title(one.check), judge.report(case).splitlines()[0], f"repeat: {command}"]
    _write(case, target, head)
    if not case.job.loads:
        target.with_suffix(MEMORY_SUFFIX).unlink(missing_ok=True)
    if judge.ended:
        show(f"The limit of {seconds:.0f} s has ended the search.")
    show(f"shrunk   {size_text(one.case)}")
    show(f"to       {size_text(case)}")
    show(f"in       {judge.elapsed:.1f} s, {counted(judge.simulations, 'simulation')}")
    show(f"written  {relative(target)}")
    show(f"repeat   {command}")
    found = differences(target, {**machine, "profile": case.profile}, run, folder)
    for line in found:
        show(f"differs  {line}")
    _write(case, target, [*head, *(f"differs: {line}" for line in found)])
    return Shrunk(
        program=relative(target),
        text=target.read_text(),
        ops_before=len(one.case.ops),
        ops=len(case.ops),
        command=command,
        differs="\n".join(found),
    )


def _write(case: Case, target: Path, head: Sequence[str]) -> None:
    for path, data in files_of(case, target, "\n".join(head)).items():
        write_bytes(path, data)
