# SPDX-License-Identifier: Apache-2.0
"""Replays programs: ``pto-dv program`` and ``make program``.

Reads, checks and binds every program first (:mod:`tb.programs.prepare`); builds and runs only if
there is no error. Output files are written only after a passing run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.dut.manifest import Manifest, load_manifests, reference_manifests
from tb.dut.profiles import run_profile
from tb.isa.profile import using
from tb.language.place import ProgramError
from tb.language.trace import Compute
from tb.programs.files import find_programs
from tb.programs.options import ProgramOptions, Request, request
from tb.programs.outputs import check_targets, write_outputs
from tb.programs.prepare import DEFAULT_SEED, Inputs, Prepared, prepare
from tb.programs.served import op_counts
from tb.programs.setup_file import SetupFile, read_setup, setup_beside
from tb.record.record import BufferReport, ProgramReport, RunRecord
from tb.record.settings import RunSettings
from tb.run.folder import run_folder
from tb.run.run import run_once
from tb.run.testlist import PlannedTest

INPUTS = "inputs.bin"
"""File in the run's folder with the bytes that programs load."""


def planned_program(count: int) -> PlannedTest:
    """Returns the test that replays programs with ``count`` data movements."""
    return PlannedTest.model_validate(
        {
            "name": "program",
            "module": "tb.programs.replay_test",
            "class": "ProgramTest",
            "transactions": max(count, 1),
            "fixed_length": True,
            "doc": "replays programs",
        }
    )


def requests(paths: Sequence[Path], options: ProgramOptions) -> tuple[Request, ...]:
    """Returns the request of each program.

    Raises:
        PtoError: a setup file or an option cannot be used.
    """
    if len(paths) > 1:
        for name, given in (
            ("--setup", options.setup),
            ("--out", options.outs),
            ("--dump", options.dumps),
        ):
            if given:
                raise PtoError(
                    f"{name} with {len(paths)} programs",
                    where=name,
                    remedy="it is for one program: run it alone, or write it in its setup file",
                )
    found = []
    for path in paths:
        beside = Path(options.setup) if options.setup else setup_beside(path)
        file = read_setup(beside) if beside else SetupFile()
        found.append(request(path, file, options))
    return tuple(found)


@dataclass
class ProgramFiles:
    """The input and output files of a run.

    Attributes:
        inputs: Bytes to load.
        programs: The programs.
    """

    inputs: Inputs
    programs: tuple[Prepared, ...] = ()

    def stage(self, folder: Path) -> None:
        """Writes the bytes to load."""
        write_bytes(folder / INPUTS, bytes(self.inputs.data))

    def collect(self, record: RunRecord, folder: Path) -> None:
        """Prints a summary, and writes the outputs of a run that has passed."""
        record.programs = [report(one) for one in self.programs]
        wanted = [output for one in self.programs for output in one.outputs]
        if not record.passed:
            if wanted:
                names = ", ".join(str(one.target.path) for one in wanted)
                record.message = f"{record.message}; not written: {names}".removeprefix("; ")
            return
        try:
            for one, said in zip(self.programs, record.programs, strict=True):
                said.outputs = write_outputs(one.outputs, folder)
        except PtoError as error:
            record.status = "error"
            record.message = str(error)


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
                address=buffer.address,
                length=buffer.length,
                source=buffer.source.text,
            )
            for buffer in one.buffers
        ],
        notes=[*map(str, one.order.warnings), *one.order.notes],
    )


def prepare_all(
    asked: Sequence[Request], inputs: Inputs, manifests: Sequence[Manifest]
) -> tuple[Prepared, ...]:
    """Returns all programs ready to run.

    Raises:
        PtoError: with the errors of all of them.
    """
    found = []
    errors: list[PtoError] = []
    for number, one in enumerate(asked):
        try:
            found.append(prepare(one, number, inputs, manifests))
        except PtoError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        findings = [error.findings if isinstance(error, ProgramError) else () for error in errors]
        if all(findings):
            raise ProgramError(tuple(one for some in findings for one in some))
        raise PtoError(
            "\n".join(map(str, errors)), remedy=f"{len(errors)} programs cannot run; none has"
        )
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
        PtoError: an input is wrong; nothing has run and nothing has been written.
    """
    prepared = Replay.make(names, options, machine)
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
        paths = find_programs(names)
        asked = requests(paths, options)
        alone = asked[0].seed if len(asked) == 1 else options.seed
        settings = RunSettings.model_validate(
            {
                **machine,
                "test": "program",
                "seed": DEFAULT_SEED if alone is None else alone,
                "programs": tuple(map(str, names)),
                "program_options": options.words(),
            }
        )
        manifests = load_manifests(settings.duts) or reference_manifests()
        profile = run_profile(settings.profile, manifests)
        settings = settings.model_copy(update={"profile": str(profile)})
        files = ProgramFiles(Inputs(run_folder(settings).resolve() / INPUTS))
        with using(profile):
            files.programs = prepare_all(asked, files.inputs, manifests)
        count = sum(sum(op_counts(one.trace).values()) for one in files.programs)
        planned = planned_program(count)
        jobs = [one.job.model_dump(mode="json") for one in files.programs]
        settings = settings.model_copy(
            update={"transactions": planned.transactions, "options": {"programs": jobs}}
        )
        return cls(settings, planned, files)
