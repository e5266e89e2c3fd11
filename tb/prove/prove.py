# SPDX-License-Identifier: Apache-2.0
"""``make prove-arith``: the write-back arithmetic against an independent reference, input by input.

The parts: every function of ``pto_fix_convert.vh``, ``pto_fix_arith.vh``, ``pto_fix_mul.vh`` and
``pto_fix_atomic.vh`` (``rtl_stubs/common``) in one Verilated module, the reference in C, and a
program that compares the two (prove.cpp documents its output). This module builds it, divides the
input spaces over several processes, and prints a table of the results. Spec: fixpipe.md sections 3
to 9.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.text import comma_list
from tb.run.console import PLAIN_INTERVAL_SECONDS, Console
from tb.setup import verilator

SOURCES = ROOT / "tb" / "prove"
HEADERS = ROOT / "rtl_stubs" / "common"
BUILD_FOLDER = ROOT / "sim_build" / "prove"
PIECES_PER_JOB = 4
"""Pieces of a sweep per process, so that the processes end together."""

SMALL_SWEEP = 1 << 20
SHOWN_DIFFERENCES = 5
CHECKED_BY_INTEGERS = 10_000_000
"""Random operands on which the reference is compared with integer arithmetic first."""

OPTIMISED = ("OPT_FAST=-O3", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1")


@dataclass(frozen=True)
class Unit:
    """One thing to prove.

    Attributes:
        name: Name for ``--unit``.
        title: Name in the table.
        sweep: Number of inputs of its sweep, indices 0..sweep-1.
        corners: Number of constructed inputs.
        modes: Number of results of each input (sat clauses, roundings, codes, ops).
    """

    name: str
    title: str
    sweep: int
    corners: int
    modes: int


@dataclass(frozen=True)
class Difference:
    """An input with the wrong result, as bits in hexadecimal.

    Attributes:
        unit: Name of the unit.
        mode: Which of its modes, as in ``enum ref_unit`` of reference.h.
        operands: The three operands, 32 bits each.
        rtl: The result of the RTL, 64 bits.
        reference: The result of the reference, 64 bits.
    """

    unit: str
    mode: int
    operands: tuple[int, int, int]
    rtl: int
    reference: int

    def __str__(self) -> str:
        """Return the line that is printed."""
        inputs = " ".join([f"{operand:08x}" for operand in self.operands])
        return (
            f"{self.unit} mode {self.mode}: inputs {inputs}, "
            f"RTL {self.rtl:x}, reference {self.reference:x}"
        )


@dataclass(frozen=True)
class Outcome:
    """Outcome of one call of the program, or of several of one unit.

    Attributes:
        inputs: Inputs tried.
        compared: Results compared: inputs times modes.
        wrong: Results that differ.
        seconds: Processor time.
        differences: The first of them.
    """

    inputs: int = 0
    compared: int = 0
    wrong: int = 0
    seconds: float = 0.0
    differences: tuple[Difference, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        """Return the sum of both."""
        return Outcome(
            self.inputs + other.inputs,
            self.compared + other.compared,
            self.wrong + other.wrong,
            self.seconds + other.seconds,
            (self.differences + other.differences)[:SHOWN_DIFFERENCES],
        )


@dataclass(frozen=True)
class Piece:
    """A part of a unit's inputs: its corners, or indices of its sweep."""

    unit: Unit
    indices: range | None

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words of the program's command line."""
        if self.indices is None:
            return ("corners", self.unit.name)
        last = min(self.indices.stop, self.unit.sweep)
        steps = (self.indices.start, last, self.indices.step)
        return ("sweep", self.unit.name, *map(str, steps))


class ProofProgram:
    """The built program."""

    def __init__(self, path: Path) -> None:
        """Take the program at ``path``."""
        self.path = path

    def units(self) -> tuple[Unit, ...]:
        """Return every unit, in the order of the table."""
        done = subprocess.run([self.path, "list"], capture_output=True, text=True, check=True)
        found = []
        for line in done.stdout.splitlines():
            _, name, sweep, corners, modes, title = line.split(maxsplit=5)
            found.append(Unit(name, title, int(sweep), int(corners), int(modes)))
        return tuple(found)

    def call(self, *arguments: str) -> Iterator[int | Outcome]:
        """Run the program; yield the number of inputs done at intervals, then the outcome.

        Raises:
            PtoError: It ended without an outcome.
        """
        command = [str(self.path), *arguments]
        differences: list[Difference] = []
        outcome = None
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                kind, *words = line.split()
                if kind == "at":
                    yield int(words[0])
                elif kind == "wrong":
                    a, b, c, rtl, reference = (int(word, 16) for word in words[1:])
                    unit = arguments[1]
                    differences.append(Difference(unit, int(words[0]), (a, b, c), rtl, reference))
                else:
                    inputs, compared, wrong = map(int, words[:3])
                    found = tuple(differences)
                    outcome = Outcome(inputs, compared, wrong, float(words[3]), found)
        if outcome is None:
            raise PtoError(
                f"the proof program ended with exit code {process.returncode}",
                where=" ".join(command),
            )
        yield outcome

    def outcome(self, *arguments: str) -> Outcome:
        """Run the program to its end."""
        *_, last = self.call(*arguments)
        assert isinstance(last, Outcome)
        return last

    def evaluate(self, inputs: Sequence[tuple[str, int, int, int, int]]) -> list[tuple[int, int]]:
        """Return the results of RTL and reference, 64 bits, of inputs (unit, mode, a, b, c)."""
        text = "".join(f"{unit} {mode} {a:x} {b:x} {c:x}\n" for unit, mode, a, b, c in inputs)
        done = subprocess.run(
            [self.path, "eval"], input=text, capture_output=True, text=True, check=True
        )
        pairs = (line.split() for line in done.stdout.splitlines() if not line.startswith("wrong"))
        return [(int(rtl, 16), int(reference, 16)) for rtl, reference in pairs]


def build(
    folder: Path,
    *,
    headers: Path = HEADERS,
    faults: Path | None = None,
    options: Sequence[str] = OPTIMISED,
) -> ProofProgram:
    """Verilate and compile the proof program in ``folder``, which is made if it is not there.

    Args:
        folder: Folder of all build products.
        headers: The folder of the headers.
        faults: A file with further copies of the functions (see prove_arith.v), or None.
        options: Variables of Verilator's makefile: how to optimise.

    Raises:
        ToolError: A tool is missing.
        PtoError: It does not build; the message has the output of the tools.
    """
    executable, env = verilator.environment()
    folder.mkdir(parents=True, exist_ok=True)
    c_sources = ("prove.cpp", "inputs.cpp", "reference.c", "reference_check.c")
    command = [
        str(executable),
        *("--cc", "--exe", "--build", "--build-jobs", "0", "-o", "prove", "--Mdir", str(folder)),
        *("-O3", "--x-assign", "fast", "--x-initial", "fast"),
        # In one file: the precompiled header of split output does not work in the PyPI wheel.
        *("--output-split", "0"),
        # `make lint` checks the functions where the engine uses them.
        *("-Wno-lint", "-Wno-style", "--language", "1364-2005", "--top-module", "prove_arith"),
        *(f"-I{SOURCES}", f"-I{headers}", "-MAKEFLAGS", " ".join(options)),
        # No fused operations in the reference, whatever the compiler's default is.
        *("-CFLAGS", f"-ffp-contract=off -I{SOURCES}"),
        *(() if faults is None else (f'-DPROVE_FAULTS="{faults}"',)),
        str(SOURCES / "prove_arith.v"),
        *(str(SOURCES / name) for name in c_sources),
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        output = done.stdout.decode(errors="replace").strip()
        raise PtoError(f"the proof program does not build:\n{output}", where=str(headers))
    return ProofProgram(folder / "prove")


def pieces_of(unit: Unit, indices: range, count: int) -> list[Piece]:
    """Return the corners of a unit and ``count`` parts of the indices of its sweep.

    A stride does not thin out sweeps of less than a million inputs.
    """
    if unit.sweep < SMALL_SWEEP:
        indices = range(indices.start, indices.stop)
    inside = range(min(indices.start, unit.sweep), min(indices.stop, unit.sweep), indices.step)
    size = -(-len(inside) // count) or 1
    parts = [inside[start : start + size] for start in range(0, len(inside), size)]
    corners = [Piece(unit, None)] if unit.corners else []
    return [*corners, *(Piece(unit, part) for part in parts)]


Report = tuple[int, int | Outcome | BaseException]
"""Number of a piece, and its progress, outcome or error."""


class Proof:
    """Runs the pieces of several units in several processes and adds up their outcomes."""

    def __init__(self, program: ProofProgram, pieces: Sequence[Piece], jobs: int) -> None:
        """Take the pieces to run, ``jobs`` at a time."""
        self.program = program
        self.pieces = pieces
        self.jobs = jobs
        self.outcomes: dict[str, Outcome] = {}
        self._running: set[int] = set()
        self.done = [0] * len(pieces)
        self.total = sum(
            len(piece.indices) if piece.indices is not None else piece.unit.corners
            for piece in pieces
        )
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()

    def run(self) -> Iterator[None]:
        """Run all pieces; yield after every message.

        Raises:
            PtoError: A process ended without an outcome.
        """
        for number in range(len(self.pieces)):
            self._waiting.put(number)
        for _ in range(self.jobs):
            threading.Thread(target=self._work, daemon=True).start()
        missing = len(self.pieces)
        while missing:
            number, news = self._reports.get()
            name = self.pieces[number].unit.name
            self._running.add(number)
            if isinstance(news, BaseException):
                raise news
            if isinstance(news, Outcome):
                missing -= 1
                self.outcomes[name] = self.outcomes.get(name, Outcome()) + news
                self.done[number] = news.inputs
                self._running.discard(number)
            else:
                self.done[number] = news
            yield

    @property
    def running(self) -> str:
        """Names of the units in progress."""
        return ", ".join(sorted({self.pieces[number].unit.name for number in self._running}))

    @property
    def wrong(self) -> int:
        """Differences so far."""
        return sum(outcome.wrong for outcome in self.outcomes.values())

    def _work(self) -> None:
        while True:
            try:
                number = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                for news in self.program.call(*self.pieces[number].arguments):
                    self._reports.put((number, news))
            except (PtoError, OSError, ValueError) as error:
                self._reports.put((number, error))


@contextmanager
def _progress(console: Console, proof: Proof) -> Iterator[None]:
    """Consume the proof's messages: a progress bar on a terminal, else a line every few seconds."""
    if not console.live:
        last = time.monotonic()
        for _ in proof.run():
            if time.monotonic() - last >= PLAIN_INTERVAL_SECONDS:
                last = time.monotonic()
                share = 100 * sum(proof.done) / max(proof.total, 1)
                at = f", at {proof.running}" if proof.running else ""
                console.say(f"proving  {share:5.1f} %, {proof.wrong} differences{at}")
        yield
        return
    columns = (
        TextColumn("proving "),
        BarColumn(),
        TextColumn("{task.percentage:5.1f} %, {task.fields[wrong]} differences"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[names]}"),
    )
    with Progress(*columns, console=RichConsole(), transient=True) as progress:
        task = progress.add_task("prove", total=proof.total, wrong=0, names="")
        for _ in proof.run():
            progress.update(
                task,
                completed=sum(proof.done),
                wrong=proof.wrong,
                names=proof.running,
            )
    yield


def table(units: Sequence[Unit], outcomes: dict[str, Outcome]) -> str:
    """Return one line for each unit that was run, and their sum."""
    head = ("unit", "", "inputs", "compared", "differences", "seconds")
    rows = [
        (unit.name, unit.title, *_numbers(outcomes[unit.name]))
        for unit in units
        if unit.name in outcomes
    ]
    rows.append(("all", "", *_numbers(sum(outcomes.values(), Outcome()))))
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for row in (head, *rows):
        left = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
        right = [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  " + "  ".join([*left, *right]))
    return "\n".join(lines)


def _numbers(outcome: Outcome) -> tuple[str, str, str, str]:
    return (
        str(outcome.inputs),
        str(outcome.compared),
        str(outcome.wrong),
        f"{outcome.seconds:.1f}",
    )


def _chosen(units: Sequence[Unit], names: str) -> list[Unit]:
    """Return the units that a comma list names, all for an empty one.

    Raises:
        PtoError: A name is unknown.
    """
    known = {unit.name: unit for unit in units}
    wanted = comma_list(names, "--unit", "--unit", ", ".join(known))
    for name in wanted:
        if name not in known:
            raise PtoError(f"unit {name!r} is unknown", where="--unit", legal=", ".join(known))
    return [known[name] for name in dict.fromkeys(wanted)] or list(units)


def prove_command(names: str, indices: range, jobs: int) -> int:
    """Build, prove, print the table.

    Args:
        names: Units to prove, separated by commas; empty for all.
        indices: Indices of every sweep to try; the corners are always tried.
        jobs: Processes at a time.

    Returns:
        The exit code: 0 when nothing differs, else 1.

    Raises:
        PtoError: A unit is unknown, or the program cannot be built or run.
    """
    console = Console()
    start = time.monotonic()
    console.say("build    verilator: prove_arith in sim_build/prove")
    program = build(BUILD_FOLDER)
    console.say(f"built    in {time.monotonic() - start:.1f} s")
    units = _chosen(program.units(), names)

    reference = program.outcome("check", str(CHECKED_BY_INTEGERS))
    console.say(
        f"reference against integer arithmetic: {reference.inputs} random operands, "
        f"{reference.wrong} differences"
    )
    start = time.monotonic()
    pieces = [piece for unit in units for piece in pieces_of(unit, indices, jobs * PIECES_PER_JOB)]
    proof = Proof(program, pieces, jobs)
    with _progress(console, proof):
        console.say(f"\n{table(units, proof.outcomes)}")
    for unit in units:
        for difference in proof.outcomes[unit.name].differences:
            console.say(str(difference))
    wrong = proof.wrong + reference.wrong
    verdict = "PASS" if wrong == 0 else "FAIL"
    partly = "" if indices == range(1 << 32) else f", indices {indices.start}..{indices.stop - 1}"
    partly += f" every {indices.step}" if indices.step > 1 else ""
    console.say(
        f"{verdict}: {len(units)} units{partly}, {wrong} differences, "
        f"{time.monotonic() - start:.0f} s with {jobs} processes; seconds above are processor time"
    )
    return 0 if wrong == 0 else 1
