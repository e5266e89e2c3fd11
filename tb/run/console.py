# SPDX-License-Identifier: Apache-2.0
"""Console output of a run: progress, and the summary.

On a terminal progress is a live bar; elsewhere (CI logs, pipes) a plain line every few seconds.
"""

from __future__ import annotations

import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tb.common.paths import relative
from tb.common.text import percent_text
from tb.record.outside import counts_text
from tb.record.record import ProgramReport, RunRecord, ScheduleReport
from tb.record.summary import kinds_of
from tb.run.folder import WAVES, readable_waves
from tb.run.plan import RunPlan

PLAIN_INTERVAL_SECONDS = 5.0
SHOWN_KINDS = 3
"""Kinds of failures whose first report is printed."""


class Console:
    """Standard output of a run; ``quiet`` keeps all but errors away."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.live = sys.stdout.isatty() and not quiet

    def say(self, text: str = "") -> None:
        """Prints a line."""
        if not self.quiet:
            print(text, flush=True)

    @contextmanager
    def building(self, plan: RunPlan) -> Iterator[None]:
        """Prints the warnings of a plan, its build, and how long that took."""
        for warning in plan.warnings:
            self.say(warning)
        name = ", ".join(manifest.title for manifest in plan.build.manifests)
        self.say(f"build    {plan.build.sim}: {name} in {plan.build.place}")
        start = time.monotonic()
        yield
        self.say(f"built    in {time.monotonic() - start:.1f} s")

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Prints at intervals what runs, and for how long."""
        done, start = threading.Event(), time.monotonic()

        def lines() -> None:
            while not done.wait(PLAIN_INTERVAL_SECONDS):
                self.say(f"running  {what}, {time.monotonic() - start:.0f} s")

        thread = threading.Thread(target=lines, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    @contextmanager
    def progress(self, expected: int) -> Iterator[Callable[[int, int, int], None]]:
        """Yields a function of (transactions checked, mismatches, clocks)."""
        if self.live:
            with self._bar(expected) as update:
                yield update
            return
        last = time.monotonic()

        def line(checked: int, mismatches: int, clocks: int) -> None:
            nonlocal last
            if time.monotonic() - last < PLAIN_INTERVAL_SECONDS:
                return
            last = time.monotonic()
            of = f" of {expected}" if expected else ""
            self.say(f"running  {checked}{of} checked, {mismatches} mismatches, {clocks} clocks")

        yield line

    @contextmanager
    def _bar(self, expected: int) -> Iterator[Callable[[int, int, int], None]]:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("running "),
            BarColumn(),
            TextColumn("{task.completed} checked, {task.fields[wrong]} mismatches"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=RichConsole(), transient=True) as progress:
            task = progress.add_task("run", total=expected or None, wrong=0)

            def update(checked: int, mismatches: int, _clocks: int) -> None:
                progress.update(task, completed=checked, wrong=mismatches)

            yield update

    def show(self, record: RunRecord, coverage: Sequence[str], target: Path, folder: Path) -> None:
        """Prints the result of a run; the last line is PASS or FAIL with what matters.

        Args:
            record: The result.
            coverage: Lines about its coverage.
            target: File of the record.
            folder: The folder of the run.
        """
        self._failures(record, target)
        if record.message:
            self.say(f"\n{record.message}")
        for line in coverage:
            self.say(line)
        self.say()
        for name, count in record.ops.items():
            self.say(
                f"  {name:<17} {count.sent:>7} sent  {count.passed:>7} passed  "
                f"{count.bytes:>12} bytes"
                + (f"  {count.unchecked:>5} not checked" if count.unchecked else "")
            )
        if record.statuses:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(record.statuses.items()))
            self.say(f"  retired as        {counts}")
        self.say(f"  profile           {record.profile}")
        if record.explained:
            self.say(f"  explained         {record.explained}")
        for sentence in record.claims:
            self.say(f"  claimed           {sentence}")
        for program in record.programs:
            self._program(program)
            self._schedules([one for one in record.schedules if one.program == program.path])
        if record.counts is not None and len(record.programs) + len(record.refused) > 1:
            self.say(f"  programs          {record.counts.text()}")
            for reason, number in record.counts.reasons.items():
                self.say(f"    refused         {number}: {reason}")
        for sentence in record.left_out:
            self.say(f"  left out          {sentence}")
        if record.outside:
            self.say(f"  outside           {counts_text(record.outside)}")
        for figure in record.speed:
            self.say(f"  {'TOO SLOW' if figure.missed else 'speed':<17} {figure.line}")
        if changed := "; ".join(filter(None, (figure.changes for figure in record.capacity))):
            self.say(f"  in flight         {changed}")
        if record.injected:
            counts = ", ".join(f"{name} {count}" for name, count in record.injected.items())
            self.say(f"  injected          {counts}")
        for one in record.messages:
            self.say(f"  {'design':<17} {one.text_line}")
        times = record.times
        self.say(
            f"  checked           {record.bytes_checked} bytes, every memory "
            f"{record.full_compares} times; {record.clocks} clocks"
        )
        split = ", ".join(f"{name} {value:.1f}" for name, value in times.python_split.items())
        self.say(
            f"  time              {times.total:.1f} s: build {times.build:.1f}, "
            f"simulator {times.simulator:.1f}, Python {times.python:.1f} ({split}), "
            f"start and end {times.start_end:.1f}"
        )
        cover = record.coverage
        percent = percent_text(cover.percent)
        self.say(f"  coverage          {cover.covered} of {cover.bins} bins, {percent} %")
        self.say(f"  record            {relative(target)}, more in {relative(folder)}")
        for waves in (folder / name for name in WAVES if (folder / name).exists()):
            command = shlex.join(["surfer", relative(waves)])
            how = f"{command}, or gtkwave" if readable_waves(waves) else "lost, it was not closed"
            self.say(f"  waves             {relative(waves)}: {how}")
        if printed := sorted((folder / "repro").glob("*/README.txt")):
            names = ", ".join(path.parent.name for path in printed)
            self.say(f"  repro             {relative(folder / 'repro')}: {names}")
        self.say(record.last_line())

    def _failures(self, record: RunRecord, target: Path) -> None:
        """Prints the first report of some kinds of failures, and a line for each other kind."""
        kinds = kinds_of(record)
        shown = [kind for kind in kinds if kind.failures][:SHOWN_KINDS]
        for kind in shown:
            self.say(f"\n{kind.failures[0].text}")
            if kind.more:
                self.say(f"  {kind.more}")
        if len(kinds) > len(shown):
            self.say(f"\nmore kinds of failures, reports are in {relative(target)}:")
        for kind in kinds:
            if kind not in shown:
                self.say(f"  {kind.line}")

    def _schedules(self, schedules: Sequence[ScheduleReport]) -> None:
        """Prints how many schedules a program was replayed under, and their images."""
        if not schedules:
            return
        images: dict[str, list[str]] = {}
        for one in schedules:
            images.setdefault(one.image, []).append(str(one.number))
        text = f"{len(schedules)}, " + (
            f"all leave the image {schedules[0].image}"
            if len(images) == 1
            else "; ".join(f"{image} of {', '.join(some)}" for image, some in images.items())
        )
        if len(schedules) == 1:
            text = f"number {schedules[0].number} leaves the image {schedules[0].image}"
        self.say(f"    schedules       {text}")

    def _program(self, program: ProgramReport) -> None:
        """Prints what a program was: its ops, its buffers, the files that were written."""

        def counts(of: dict[str, int]) -> str:
            return ", ".join(f"{name} {count}" for name, count in of.items())

        ops = counts(program.ops) or "no data movement"
        host = f"; on the host {counts(program.host)}" if program.host else ""
        self.say(f"  program           {program.path}: {ops}{host}")
        if program.skipped:
            self.say(f"    skipped         {counts(program.skipped)}")
        for text in program.not_executed:
            self.say(f"    NOT EXECUTED    {text}")
        for one in program.buffers:
            self.say(
                f"    buffer          argument {one.argument} (%{one.name}: {one.kind}), "
                f"{one.length} bytes at {one.address:#x}: {one.source}"
            )
        for text in program.warnings:
            self.say(f"    warning         {text}")
        for text in program.notes:
            self.say(f"    note            {text}")
        for text in program.outputs:
            self.say(f"    written         {text}")
