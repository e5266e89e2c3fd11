# SPDX-License-Identifier: Apache-2.0
"""Comparison of the replays of one program under several schedules."""

from __future__ import annotations

import re
from pathlib import Path

from sequences.replay import Round, schedule
from tb.env.context import RunContext
from tb.isa.block import OpBlock
from tb.isa.op import replace
from tb.language.order.order import Order
from tb.language.order.races import MOST_RACES, affected, races
from tb.language.trace import Trace
from tb.programs.images import Image, difference_report, differences, explain, image_of
from tb.programs.job import ProgramJob
from tb.programs.schedules import Schedule, scheduled


class Comparison:
    """The images of one program so far: each is compared with the first.

    Where the program has races between pipes, the model cannot know the bytes that depend on them
    while ops overlap: these are compared among the schedules. All others are compared with the
    model, and all bytes where one op runs at a time: the model then takes the same order.
    """

    def __init__(self, job: ProgramJob, trace: Trace, order: Order, run: RunContext) -> None:
        """Searches for races."""
        self._job, self._trace, self._order, self._run = job, trace, order, run
        self.races = races(trace, order)
        crossing = [one for one in self.races if one.pipes_differ(trace)]
        self._undefined = affected(trace, order, crossing)
        if len(self.races) >= MOST_RACES:  # There may be more.
            self._undefined = frozenset(order.sequence)
        self._first: tuple[Schedule, Image] | None = None
        self._reported: set[object] = set()

    def rounds(self, drawn: Schedule) -> list[Round]:
        """Returns the rounds of a replay."""
        order = scheduled(self._trace, self._order, drawn)
        found = schedule(self._trace, order, illegal=self._job.illegal)
        return [replace(one, block=self._block(one, drawn)) for one in found]

    def _block(self, item: Round, drawn: Schedule) -> OpBlock:
        block = drawn.spaced(item.block, [self._trace.steps[index] for index in item.steps])
        if drawn.serial:
            return block
        undefined = (at for at, index in enumerate(item.steps) if index in self._undefined)
        return replace(block, undefined=frozenset(undefined))

    def take(self, drawn: Schedule, clocks: int) -> None:
        """Compares the memories that a replay has left with those of the first one.

        Differences by the same races are reported once; the record counts every schedule.
        """
        memory, job = self._run.memory, self._job
        image = image_of(memory)
        report = drawn.report(job.title)
        report.clocks, report.image = clocks, f"{image.crc32():08X}"
        self._run.counts.schedules.append(report)
        if self._first is None:
            self._first = drawn, image
            return
        first, before = self._first
        wrong = differences(before, image, memory)
        if not wrong:
            return
        report.same = False
        explained = explain(self._trace, self._order, self.races, wrong)
        if explained.key(self._trace) in self._reported:
            return
        self._reported.add(explained.key(self._trace))
        text = difference_report(
            job.title,
            (first, drawn),
            wrong,
            explained,
            trace=self._trace,
            lines=Path(job.path).read_text(errors="replace").splitlines(),
            commands=[self._command(one) for one in (first, drawn)],
        )
        # The model has no part in this comparison.
        self._run.fail(text, agreed=True)

    def _command(self, drawn: Schedule) -> str:
        """Returns the command that repeats one schedule alone."""
        return re.sub(r"--schedules \d+", f"--schedule {drawn.number}", self._run.command)
