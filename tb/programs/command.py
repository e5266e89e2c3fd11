# SPDX-License-Identifier: Apache-2.0
"""Replays programs: ``pto-dv program`` and ``make program``.

Reads, checks and binds every program first (:mod:`tb.programs.prepare`); builds and runs those that
have no error. Output files are written only after a passing run.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.dut.manifest import Manifest, load_manifests, reference_manifests
from tb.dut.profiles import run_profile
from tb.isa.profile import using
from tb.language.place import ProgramError
from tb.language.trace import Compute
from tb.language.verify import INTERNAL, unexpected
from tb.programs.files import find_programs
from tb.programs.job import Staged, write_programs
from tb.programs.options import ProgramOptions
from tb.programs.outputs import check_targets, write_outputs
from tb.programs.prepare import DEFAULT_SEED, Prepared, prepare
from tb.programs.reasons import grouped, reason, table
from tb.programs.request import Layer, option_layer, read_setup, request, setup_beside
from tb.programs.served import op_counts
from tb.record.record import (
    BufferReport,
    ProgramCounts,
    ProgramReport,
    RefusedProgram,
    RunRecord,
)
from tb.record.settings import RunSettings
from tb.run.run import run_once
from tb.run.testlist import PlannedTest


@dataclass(frozen=True)
class Refusal:
    """A program that cannot run.

    Attributes:
        path: Its name.
        error: What is wrong.
        internal: The error is one of PTO-DV itself.
    """

    path: str
    error: PtoError
    internal: bool = False

    @property
    def place(self) -> str:
        """Place of its first error."""
        if isinstance(self.error, ProgramError):
            return str(self.error.findings[0].place)
        return self.path

    def text(self) -> str:
        """Returns its errors, with the name of the program in the first line."""
        if isinstance(self.error, ProgramError):
            return "\n".join(map(str, self.error.findings))
        return f"{self.path}: error: {self.error}"

    def entry(self) -> RefusedProgram:
        """Returns its part of a record."""
        return RefusedProgram(
            path=self.path, reason=reason(self.error), message=str(self.error),
            internal=self.internal,
        )  # fmt: skip


@contextmanager
def refusing(path: Path, refused: list[Refusal] | None) -> Iterator[None]:
    """Adds what goes wrong with a program to ``refused``; without that it is raised."""
    try:
        yield
    except PtoError as error:
        if refused is None:
            raise
        refused.append(Refusal(str(path), error))
    except Exception as error:
        wrong = PtoError(f"{INTERNAL}: {unexpected(error)}", where=str(path))
        if refused is None:
            raise wrong from error
        refused.append(Refusal(str(path), wrong, internal=True))


@dataclass
class ProgramFiles:
    """The input and output files of a run.

    Attributes:
        programs: The programs.
        refused: Those that were requested and cannot run.
    """

    programs: tuple[Prepared, ...] = ()
    refused: tuple[Refusal, ...] = ()

    def stage(self, folder: Path) -> None:
        """Writes what the simulation needs."""
        staged = (Staged(one.job, one.trace, one.order) for one in self.programs)
        write_programs(folder, staged)

    def collect(self, record: RunRecord, folder: Path) -> None:
        """Prints a summary, and writes the outputs of a run that has passed."""
        record.programs = [report(one) for one in self.programs]
        for row in record.programs:
            row.verdict = "pass" if record.exercised.get(row.path) else "fail"
        record.refused = [one.entry() for one in self.refused]
        record.counts = ProgramCounts.of(record.programs, record.refused)
        wanted = [output for one in self.programs for output in one.outputs]
        if not record.passed:
            if wanted:
                names = ", ".join(str(one.target.path) for one in wanted)
                record.message = f"{record.message}; not written: {names}".removeprefix("; ")
            return
        try:
            for one, row in zip(self.programs, record.programs, strict=True):
                row.outputs = write_outputs(one.outputs, folder)
        except PtoError as error:
            record.status = "error"
            record.message = str(error)
            return
        if self.refused:
            record.status = "error"
            record.message = f"{refused_of(record.counts)}; the others passed"


def refused_of(counts: ProgramCounts) -> str:
    """Returns how many programs did not run, as a sentence."""
    number = sum(counts.reasons.values())
    return f"{number} of {number + counts.run} programs could not run"


def report(one: Prepared) -> ProgramReport:
    """Returns the summary of a program that has run."""
    return ProgramReport(
        path=one.job.title,
        function=one.trace.function,
        ops=dict(op_counts(one.trace)),
        host=dict(Counter(step.name for step in one.trace.steps if isinstance(step, Compute))),
        skipped=dict(Counter(skipped.name for skipped in one.trace.skipped)),
        buffers=[
            BufferReport(
                argument=buffer.argument.number,
                name=buffer.argument.name,
                kind=buffer.argument.kind,
                address=buffer.value,
                length=buffer.length,
                source=buffer.source.text,
            )
            for buffer in one.arguments
            if buffer.source
        ],
        notes=[*one.notes],
        warnings=[*map(str, one.warnings)],
        not_executed=[*one.trace.left_out],
    )


def prepare_all(
    paths: Sequence[Path],
    options: ProgramOptions,
    manifests: Sequence[Manifest],
    refused: list[Refusal] | None = None,
) -> tuple[Prepared, ...]:
    """Returns all programs that can run.

    Args:
        paths: The programs.
        options: Options of all of them.
        manifests: Engines of the run.
        refused: Takes the programs that cannot run; without it the first error is raised.

    Raises:
        PtoError: an option cannot be used, or two programs write one file.
    """
    for name, given in (
        ("--setup", options.setup), ("--out", options.out), ("--dump", options.dump),
    ):  # fmt: skip
        if given and len(paths) > 1:
            raise PtoError(
                f"{name} with {len(paths)} programs",
                where=name,
                remedy="run the program alone, or write it in its setup file",
            )
    above = option_layer(options)
    found = []
    for number, path in enumerate(paths):
        with refusing(path, refused):
            setup_file = Path(options.setup) if options.setup else setup_beside(path)
            file = read_setup(setup_file) if setup_file else Layer()
            needed = request(path, file, above, options.schedules)
            found.append(prepare(needed, number, manifests))
    check_targets(
        (output for one in found for output in one.outputs),
        (path for one in found for path in one.inputs),
    )
    return tuple(found)


def program_command(
    names: Sequence[str],
    options: ProgramOptions,
    machine: Mapping[str, Any],
    json_path: Path | None = None,
) -> int:
    """Replays programs in one run and returns the exit code: 0 only when everything matched.

    Args:
        names: Programs and folders.
        options: Options of the programs.
        machine: Other fields of :class:`tb.record.record.RunSettings`: simulator, widths, engines.
        json_path: Path of the record; None for the run's folder.

    Raises:
        PtoError: the command is wrong, or no program can run; nothing has been written but the
            record of several programs.
    """
    prepared = Replay.make(names, options, machine)
    refused = prepared.files.refused
    for one in refused:
        print(one.text(), file=sys.stderr, flush=True)
    if not prepared.files.programs:
        record = RunRecord(settings=prepared.settings, command=prepared.settings.command())
        record.refused = [one.entry() for one in refused]
        record.counts = ProgramCounts.of((), record.refused)
        record.message = "no program can run"
        if json_path is not None:
            write_json(json_path, record)
        reasons = grouped((reason(one.error), one.place) for one in refused)
        raise PtoError("\n".join([record.message, record.counts.text(), *table(reasons)]))
    record = run_once(prepared.settings, prepared.planned, json_path, files=prepared.files)
    return record.exit_code


@dataclass(frozen=True)
class Replay:
    """A prepared run of programs.

    Attributes:
        settings, planned, files: Arguments of :func:`tb.run.run.run_once`.
    """

    settings: RunSettings
    planned: PlannedTest
    files: ProgramFiles = field(repr=False)

    @classmethod
    def make(
        cls, names: Sequence[str], options: ProgramOptions, machine: Mapping[str, Any]
    ) -> Replay:
        """Reads and checks programs; arguments and errors as of :func:`program_command`."""
        absent: list[tuple[str, PtoError]] = []
        paths = find_programs(names, absent)
        several = len(paths) + len(absent) > 1
        refused = [Refusal(name, error) for name, error in absent]
        settings = RunSettings.model_validate(
            {
                **machine,
                "test": "program",
                "programs": tuple(map(str, names)),
                "program_options": options.words(),
            }
        )
        manifests = load_manifests(settings.duts) or reference_manifests()
        profile = run_profile(settings.profile, manifests)
        with using(profile):
            programs = prepare_all(paths, options, manifests, refused if several else None)
        seed = options.seed if several else programs[0].request.setup.seed
        count = sum(sum(op_counts(one.trace).values()) for one in programs)
        planned = PlannedTest.model_validate(
            {
                "name": "program",
                "module": "tb.programs.replay_test",
                "class": "ProgramTest",
                "transactions": max(count * max(1, len(options.schedules)), 1),
                "fixed_length": True,
                "doc": "replays programs",
            }
        )
        found: dict[str, Any] = {
            "seed": DEFAULT_SEED if seed is None else seed,
            "profile": str(profile),
            "transactions": planned.transactions,
        }
        settings = settings.model_copy(update=found)
        return cls(settings, planned, ProgramFiles(programs, tuple(refused)))
