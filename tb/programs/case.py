# SPDX-License-Identifier: Apache-2.0
"""A program as executed with all that its replay depends on, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scoreboards.faults import fault_of
from scoreboards.repro_ranges import Section
from scoreboards.repro_text import setup_text
from tb.common.text import counted
from tb.harness.knobs import PROFILES
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.spaces import Space
from tb.language.printer import program_text
from tb.language.trace import Compute, Move, Step
from tb.programs.job import ProgramJob
from tb.programs.prepare import Prepared

MEMORY_SUFFIX = ".memory.bin"
"""Of the file with the memory contents of a program, beside it."""


@dataclass(frozen=True)
class Case:
    """A program with everything that its replay depends on.

    Attributes:
        steps: The program.
        job: Memory contents, knobs and errors; its arguments and checks are not used.
        keys: Other keys of its setup file.
        profile: Canonical text of the profile.
    """

    steps: tuple[Step, ...]
    job: ProgramJob
    keys: dict[str, str | int]
    profile: str

    @property
    def ops(self) -> list[int]:
        """Indices of the ops that engines or host execute."""
        return [at for at, step in enumerate(self.steps) if is_op(step)]


def is_op(step: Step) -> bool:
    """Returns whether a step is an op of an engine or the host, and writes more than registers."""
    moves = isinstance(step, Move) and not isinstance(step.op, LegacySet | CtrlOp)
    return moves or isinstance(step, Compute)


def case_of(one: Prepared, profile: str) -> Case:
    """Returns a prepared program as a case; knobs that have their defaults are left out."""
    ideal, setup = PROFILES[0].knobs, one.request.setup
    knobs = {name: value for name, value in one.job.knobs.items() if value != ideal.get(name)}
    changes = {"knobs": knobs, "checks": (), "dumps": (), "schedules": ()}
    keys = {name: getattr(setup, name) for name in ("ctrl", "hazard")}
    given = {name: value for name, value in keys.items() if value not in (None, "")}
    return Case(one.trace.steps, one.job.model_copy(update=changes), given, profile)


def files_of(case: Case, path: Path, header: str = "") -> dict[Path, bytes]:
    """Returns the files of a case by their paths: the program last.

    Args:
        case: The case.
        path: The program; the others stand beside it.
        header: Lines for a comment at its top.

    Raises:
        UnprintableError: no text can hold it.
    """
    job, sections, data = case.job, [], bytearray()
    for load in job.loads:
        space = Space[load.space.upper()]
        sections.append(Section(space, load.address, len(load.data), len(data)))
        data += load.data
    memory = path.with_suffix(MEMORY_SUFFIX)
    setup = setup_text(
        header=header,
        loads=sections,
        knobs=job.knobs,
        faults=map(fault_of, job.faults),
        seed=job.seed,
        stall_seed=job.stall_seed,
        unit_flags=job.unit_flags,
        illegal=job.illegal == "send",
        memory=memory.name,
        backgrounds=job.backgrounds,
        keys=case.keys,
    )
    files = {memory: bytes(data)} if data else {}
    text = program_text(case.steps, function="shrunk", header=header)
    return {**files, path.with_suffix(".toml"): setup.encode(), path: text.encode()}


def size_text(case: Case) -> str:
    """Returns the size of a case in words."""
    loaded = sum(len(load.data) for load in case.job.loads)
    return (
        f"{counted(len(case.ops), 'op')}, {counted(len(case.steps), 'step')}, "
        f"{counted(len(case.job.knobs), 'knob')}, {counted(loaded, 'byte')} of memory contents"
    )
