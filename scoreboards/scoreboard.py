# SPDX-License-Identifier: Apache-2.0
"""The scoreboard: runs the model on every batch and compares bytes, statuses and order.

After each batch the destination and a guard around it are compared per op, or on-chip memories with
many destinations as a whole; at intervals and at the end, every byte of every memory. A batch is
first judged into a list of verdicts, those that may be the cause of others first, and then
reported. A run continues after a mismatch: the wrong bytes are copied to the golden memory, so that
one fault is reported once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from pyuvm import ConfigDB, uvm_analysis_port, uvm_subscriber

from scoreboards.compare import compare_full, compare_op, equal_spaces
from scoreboards.counts import count_batch, count_faults, count_unchecked
from scoreboards.expected import Expected
from scoreboards.failure import Reporter
from scoreboards.faults import OpErrors
from scoreboards.judge import judge_rules, judge_slot
from scoreboards.judge_errors import judge_errors, judge_owed
from scoreboards.picture import Pictures
from scoreboards.repro import Repro
from scoreboards.unit_flags import adopt_undefined, judge_flags
from scoreboards.verdict import Evidence, Verdict, retired
from tb.harness.items import Batch, CheckedBatch
from tb.harness.layout import DONE
from tb.harness.protocol import rule_of
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space

FULL_COMPARE_BATCHES = 64
FULL_COMPARE_FRACTION = 4
"""Batches between full comparisons; in long runs a quarter of those so far: the bytes to compare
grow with the run, and the total cost must not grow with its square."""

FAR_PAGES = 8192
"""Pages of GM outside of the dense windows after which, in a run that does not need them, all
memories are compared and these pages are given back: 16 KiB each, both sides and tables."""

REMEMBERED_BATCHES = 1024
"""Batches that a stray write can be attributed to, back from the comparison that finds it."""

_NO_RECORDS = np.zeros(0, dtype=DONE)


class Scoreboard(uvm_subscriber):
    """Checks batches; publishes :class:`~tb.harness.items.CheckedBatch` on ``ap``.

    Attributes:
        forgets: GM outside of the dense windows may have its background again at any time, so that
            a long run has the memory of a short one; a test of random traffic sets it.
    """

    forgets = False

    def build_phase(self) -> None:
        """Makes golden memory and model from the configuration of the run."""
        self.ap = uvm_analysis_port("ap", self)
        self.run = ConfigDB().get(self, "", "RUN")
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.memory = self.run.memory
        self.repro = Repro(self.run, self.mailbox)
        self.expected = Expected(self.memory, self.repro.before)
        self.reporter = Reporter(self.run, self.mailbox, self.expected.actual, self.repro)
        self._pictures = Pictures(self.expected.actual)
        self._written = [0] * len(SLOTS)
        self._since_full: deque[Batch] = deque(maxlen=REMEMBERED_BATCHES)
        self._batches = 0
        self._next_full = FULL_COMPARE_BATCHES
        settings = self.run.settings
        self._lanes = dict.fromkeys(Space, settings.local_width // 8)
        self._lanes[Space.GM] = settings.gm_width // 8

    def poke(self, space: Space, start: int, data: bytes) -> None:
        """Writes bytes to both sides, as the stimulus does."""
        self.expected.poke(space, start, data)

    def write(self, batch: Batch) -> None:
        """Checks one batch that has retired, or that the watchdog ended."""
        if batch.hung:
            self._hang(batch)
            return
        with self.stopwatch.phase("model"):
            program = batch.block.program()
            self.expected.begin(batch)
            outcomes, doubts = self.expected.issue(batch, program)
        with self.stopwatch.phase("compare"):
            evidence = Evidence(batch, program, outcomes, retired(batch))
            errors, causes = self._judge_causes(evidence)
            evidence = _with_errors(evidence, errors)
        with self.stopwatch.phase("model"):
            evidence = replace(evidence, outcomes=self.expected.apply(evidence))
        self.repro.write_wanted(batch)
        with self.stopwatch.phase("compare"):
            verdicts = [
                *causes,
                *self._judge_slots(evidence),
                *self._judge_bytes(evidence),
                *self._judge_flags(evidence),
            ]
            self.reporter.report(evidence, [*doubts, *verdicts])
            passed = evidence.passed(verdicts)
            if not batch.probe:
                count_batch(self.run.counts, evidence, passed)
                self._batches += 1
            self._since_full.append(batch)
            self._compare_when_due(batch)
        self.mailbox.report_progress(self.run.counts.transactions, self.run.counts.mismatches)
        events = np.array([outcome.events for outcome in evidence.outcomes], dtype=np.int64)
        self.ap.write(CheckedBatch(batch, passed, events, errors, evidence.outcomes))

    def _hang(self, batch: Batch) -> None:
        """Reports a batch that the watchdog ended."""
        count_unchecked(self.run.counts, batch, retired_too=True)
        self.expected.begin(batch)
        self.reporter.errors.add(batch, {})
        for message in self._messages():  # first, since one may be the cause of the rest
            self.reporter.protocol(message, batch)
        self.reporter.hang(batch)

    # --- verdicts ----------------------------------------------------------------------------

    def _judge_causes(self, evidence: Evidence) -> tuple[dict[int, OpErrors], list[Verdict]]:
        """Finds what may be the cause of the rest: missing rules, violations of the protocol.

        Returns:
            Place of each op to the errors of memories that it may have met, and the verdicts.
        """
        verdicts = judge_rules(evidence)
        verdicts += [Verdict(message) for message in self._messages()]
        errors, found = judge_errors(evidence, self._lanes, self.run.config.capabilities)
        if len(evidence.batch.hits):
            self.reporter.errors.add(evidence.batch, errors)
            count_faults(self.run.counts, evidence.batch)
        return errors, verdicts + found

    def _judge_slots(self, evidence: Evidence) -> list[Verdict]:
        """Judges the done records of each slot, and notes the bytes that it has written."""
        batch, found = evidence.batch, []
        for slot in batch.order:
            now = self.mailbox.written_bytes(slot)
            capabilities = self.run.config.capabilities.get(SLOTS[slot])
            found += judge_slot(
                evidence,
                slot,
                self._written[slot],
                now,
                compare_address=capabilities is None or capabilities.error_address,
                owed=judge_owed(evidence, slot, self._lanes, self.run.config.capabilities),
            )
            records = batch.done.get(slot, _NO_RECORDS)
            if batch.reset is not None:
                self._written[slot] = now
            elif len(records):
                self._written[slot] = int(records["written_bytes"][-1])
        return found

    def _judge_bytes(self, evidence: Evidence) -> list[Verdict]:
        """Compares destination and guard of each op, and copies wrong bytes to the golden memory.

        A byte may be in the guards of several ops, and is one failure.
        """
        expected, verdicts = self.expected, []
        written = [region for outcome in evidence.outcomes for region in outcome.regions]
        equal = equal_spaces(expected.actual, expected.golden, written)
        for index, outcome in enumerate(evidence.outcomes):
            if outcome.written is None:
                continue
            if outcome.written.space in equal and not outcome.also_written:
                continue
            # Wrong bytes in another op's destination are a failure of that op, not of this guard.
            found = compare_op(
                expected.actual,
                expected.golden,
                outcome,
                in_flight=written,
                bus_bytes=self._lanes[outcome.written.space],
            )
            if found:
                for mismatch in found:
                    picture = self._pictures.draw(expected.golden, mismatch, outcome.regions)
                    verdicts.append(Verdict(mismatch, index, picture=picture))
                expected.resync(outcome, found)
        return verdicts

    def _judge_flags(self, evidence: Evidence) -> list[Verdict]:
        """Compares the unit flags, and copies wrong ones to the golden flags."""
        actual, golden = self.memory.unit_flags, self.expected.golden.unit_flags
        adopt_undefined(actual, golden, evidence)
        found = judge_flags(evidence, actual, golden)
        golden[:] = actual
        return found

    def _messages(self) -> list[str]:
        """Returns new messages of the HDL checkers and backends."""
        self.run.counts.protocol_errors = self.mailbox.errors
        found: list[str] = self.mailbox.poll_errors()
        return found

    def known_after_reset(self, released: int) -> bool:
        """Returns whether no engine had an X at an output so far; else reports it and ends the run.

        Args:
            released: Clock in which the reset ended.
        """
        rules = {text: rule_of(text) for text in self.mailbox.error_messages()}
        unknown = [text for text, rule in rules.items() if rule and rule.unknown_output]
        if unknown:
            self._messages()
            self.reporter.unknown_after_reset(unknown, released)
        return not unknown

    # --- whole memories ----------------------------------------------------------------------

    def _compare_when_due(self, batch: Batch) -> None:
        if batch.reset is not None:
            self.compare_everything()
        many = self.forgets and self.expected.golden.far_pages >= FAR_PAGES
        if many or self._batches >= self._next_full:
            self.compare_everything()
            self._next_full = self._batches + max(
                FULL_COMPARE_BATCHES, self._batches // FULL_COMPARE_FRACTION
            )
        if many:
            self.expected.forget()

    def compare_everything(self) -> None:
        """Compares every byte of every memory; nothing may be in flight."""
        expected = self.expected
        found = compare_full(
            expected.actual,
            expected.golden,
            self.memory.dirty_gm_pages(),
            bus_bytes=self._lanes[Space.GM],
        )
        self.run.counts.full_compares += 1
        self.stopwatch.mark(self.run.counts.transactions)
        for mismatch in found:
            picture = self._pictures.draw(expected.golden, mismatch)
            self.reporter.stray(mismatch, picture, self._since_full)
            expected.resync_stray(mismatch)
        self._since_full.clear()

    def close(self) -> None:
        """Last comparison of memories and last check for protocol messages, at the end of a run."""
        with self.stopwatch.phase("compare"):
            if self.run.abort_status not in ("hang", "interrupted"):
                self.compare_everything()
            for message in self._messages():
                self.reporter.protocol(message)
            self.repro.close()
            self.run.counts.explained = self.reporter.explained()
            for (_, channel), clocks in self.mailbox.stalls().items():
                if clocks:
                    self.run.counts.injected[f"stalls {channel}"] += clocks


def _with_errors(evidence: Evidence, errors: Mapping[int, OpErrors]) -> Evidence:
    """Returns the evidence with the ops that met an error, and the bytes that the others write."""
    failed = {
        index: found
        for index, found in errors.items()
        if (done := evidence.retired[index]) is not None and found.failed(done.status)
    }
    sizes = [outcome.bytes_written for outcome in evidence.outcomes]
    for index in failed:
        sizes[index] = 0
    return replace(evidence, failed=failed, sizes=sizes)
