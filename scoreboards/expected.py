# SPDX-License-Identifier: Apache-2.0
"""The golden memories of a run and the model that executes its batches on them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.before import Before
from scoreboards.compare import Memories
from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Mismatch, Objection
from scoreboards.model.burst import LOWERING_RULES
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import Outcome
from scoreboards.regions import rows_view
from scoreboards.unit_flags import produce
from scoreboards.verdict import Evidence, Verdict
from sequences.constraints import DEFAULT_WINDOWS
from tb.harness.items import Batch
from tb.harness.memory import FORGET
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.footprint import Footprint, footprints_overlap
from tb.isa.program import Entry, moving_at
from tb.isa.spaces import Space

LEGALITY_SAMPLE = 16
"""One op in this many is checked again by the rule predicates, whatever its generator."""

MOST_COPIED = 1 << 24
"""Largest extent of wrong bytes that is copied from the memories under test."""


class Expected:
    """Golden memories and registers, written in the order of the program.

    Args:
        memory: Memories under test; the background of both sides.
        before: Keeps what each batch overwrites.

    Attributes:
        golden: Golden memories.
        model: The model on them.
        actual: Memories under test by space.
    """

    golden: GoldenMemory
    model: ReferenceModel

    def __init__(self, memory: Any, before: Before) -> None:
        self.actual: Memories = {space: memory.view(space) for space in Space}
        self._memory = memory
        self._before = before
        self.restart()

    def restart(self) -> None:
        """Starts again from the background of both sides, registers and unit flags reset."""
        self._memory.unit_flags[:] = self._memory.background_flags()
        self.golden = GoldenMemory(self._background, unit_flags=self._memory.unit_flags)
        self.model = ReferenceModel(
            self.golden,
            before_read=self.golden.ensure_footprint,
            before_write=self._before_write,
            unit_flags=self.golden.unit_flags,
        )

    def _before_write(self, region: Footprint) -> None:
        """Prepares a region that an op is about to write, and saves its contents."""
        self.golden.expect_write(region)
        self._before.keep(region)

    def _background(self, space: Space, start: int, length: int) -> NDArray[np.uint8]:
        """Initial content of both sides: it is written to the DUT's memory at the same time."""
        self._memory.ensure(space, start, length)
        content: NDArray[np.uint8] = self._memory.background(space, start, length)
        return content

    def prefill(self) -> None:
        """Fills the dense GM windows on both sides, so that ops there need no bookkeeping."""
        for window in DEFAULT_WINDOWS:
            self.golden.prefill(window.start, window.size)

    def forget(self) -> None:
        """Gives both sides of GM their background again outside of the windows; frees memory."""
        self._memory.forget_gm(self.golden.forget(FORGET, self._memory.give_back))

    def poke(self, space: Space, start: int, data: bytes) -> None:
        """Writes bytes to both sides, as the stimulus does."""
        self.golden.write(space, start, data)
        self._memory.ensure(space, start, len(data))
        self.actual[space][start : start + len(data)] = np.frombuffer(data, dtype=np.uint8)

    # --- ops ---------------------------------------------------------------------------------

    def begin(self, batch: Batch) -> None:
        """Writes the bytes that the stimulus put into memory before the block."""
        for fill in batch.block.fills:
            self.golden.write(fill.space, fill.start, fill.data)
        self._before.begin(self.golden, self.model.registers, batch.number)

    def issue(self, batch: Batch, program: Sequence[Entry]) -> tuple[list[Outcome], list[Verdict]]:
        """Issues the ops of a batch in program order; moves no byte.

        Returns:
            The expected outcome of each op, and where the stimulus meant another one.
        """
        outcomes: list[Outcome] = []
        doubts: list[Verdict] = []
        model, block = self.model, batch.block
        registers = copy.deepcopy(model.registers) if batch.isolated else None
        rules = None if block.expected_rule is None else block.expected_rule.tolist()
        for index, ops in enumerate(program):
            # Ops marked as legal skip the rule check, except for a sample.
            legal = rules is None or rules[index] == 0
            if legal and (batch.first + index) % LEGALITY_SAMPLE == 0:
                legal = False
            if len(ops) == 1:
                outcome = model.issue(ops[0], legal=legal)
            else:
                outcome, early = self._issue_entry(ops, legal=legal)
                doubts += [Verdict(objection, index) for objection in early]
            if rules is not None and outcome.rule != rules[index]:
                why = (
                    f"stimulus and model disagree: rule {rules[index]} was meant, "
                    f"the model has {outcome.rule}"
                )
                doubts.append(Verdict(Objection("stimulus", why, "rule"), index))
            outcomes.append(outcome)
        if registers is not None:
            model.registers = registers
        return outcomes, doubts

    def _issue_entry(self, ops: Entry, *, legal: bool) -> tuple[Outcome, list[Objection]]:
        """Issues an op of several instructions: those that write registers, the op, the others.

        Returns:
            The outcome of the op, and objections to copies before it that should not take effect.
        """
        model, at = self.model, moving_at(ops)
        objections = []
        for op in ops[:at]:
            early = model.issue(op)
            if isinstance(op, CopyUbufToUbuf) and early.rule not in LOWERING_RULES:
                reason = f"rule {early.rule}" if early.rule else "it is legal"
                why = (
                    "stimulus and model disagree: a copy_ubuf_to_ubuf was not issued, the "
                    f"model: {reason}"
                )
                objections.append(Objection("stimulus", why, "not issued"))
        outcome = model.issue(ops[at], legal=legal)
        for op in ops[at + 1 :]:
            model.issue(op)
        return outcome, objections

    def apply(self, evidence: Evidence) -> list[Outcome]:
        """Executes the ops in program order on the golden memory.

        Bytes of an op that met an error, that a reset cut off, or that depends on a race of the
        program, are copied from the DUT.
        """
        batch, retired, failed = evidence.batch, evidence.retired, evidence.failed
        begun = _begun(batch) if batch.reset is not None else None
        undefined: list[Footprint] = []
        done: list[Outcome] = []
        for index, outcome in enumerate(evidence.outcomes):
            if begun is not None and index not in begun:
                done.append(outcome)
                continue
            if index in failed or retired[index] is None or index in batch.block.undefined:
                self._adopt(outcome)
                undefined += outcome.regions
            else:
                produce(self.golden.unit_flags, outcome)
                outcome = self.model.apply(outcome)
                # An atomic update of the destination of a failed op starts from undefined bytes.
                if undefined and any(
                    footprints_overlap(x, y)
                    for x in outcome.also_read
                    if x.space is Space.GM
                    for y in undefined
                ):
                    self._copy_rows(outcome)
                    undefined += outcome.regions
            done.append(outcome)
        return done

    # --- bytes of the design -----------------------------------------------------------------

    def _adopt(self, outcome: Outcome) -> None:
        """Takes over the destination of an op that met a bus error: its bytes are undefined.

        So are the unit flags it waited for.
        """
        for region in outcome.regions:
            self._before_write(region)
        for region in outcome.reads:
            self.golden.ensure_footprint(region)
        self._copy_rows(outcome)
        if outcome.flags is not None:
            blocks = outcome.flags.blocks
            self.golden.unit_flags[blocks] = self._memory.unit_flags[blocks]

    def _copy_rows(self, outcome: Outcome) -> None:
        for region in outcome.regions:
            ours, theirs = self.golden[region.space], self.actual[region.space]
            rows_view(ours, region)[...] = rows_view(theirs, region)

    def resync(self, outcome: Outcome, found: Sequence[Mismatch]) -> None:
        """Copies wrong bytes of an op and around it, so that they are reported once."""
        self._copy_rows(outcome)
        for mismatch in found:
            if mismatch.extent <= MOST_COPIED:
                space, start, stop = mismatch.space, mismatch.address, mismatch.end
                # A guard is not a destination: it was not kept.
                self._before.keep(Footprint(space, start, mismatch.extent, (1,), (0,)))
                self.golden[space][start:stop] = self.actual[space][start:stop]

    def resync_stray(self, found: Mismatch) -> None:
        """Copies wrong bytes of no op, so that they are reported once."""
        if found.extent <= MOST_COPIED:
            data = self.actual[found.space][found.address : found.end].tobytes()
            self.golden.write(found.space, found.address, data)


def _begun(batch: Batch) -> set[int]:
    """Returns the ops of an interrupted batch that may have moved bytes."""
    found: set[int] = set()
    for slot, indices in batch.order.items():
        found.update(indices[: batch.reached[slot]].tolist())
    return found
