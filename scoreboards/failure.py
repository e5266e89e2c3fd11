# SPDX-License-Identifier: Apache-2.0
"""Converts findings of the scoreboard to failures: a report as text, and fields for programs.

Each report goes to the run together with a :class:`tb.record.record.Failure`, from which
:mod:`tb.record.signature` groups the failures of a run and of many runs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scoreboards.alternatives import Alternatives
from scoreboards.compare import Memories
from scoreboards.counts import form_name
from scoreboards.flights import ErrorHistory, Flown, flown_text, in_flight
from scoreboards.mismatch import Kind, Mismatch, Objection, Part
from scoreboards.regions import distance
from scoreboards.report import COLUMNS, labelled, render
from scoreboards.repro import Repro
from scoreboards.unordered import unordered
from scoreboards.verdict import Evidence, Verdict
from tb.common.text import counted
from tb.harness.hang_report import channel_report
from tb.harness.items import Batch
from tb.harness.protocol import RULES, protocol_failure, rule_of
from tb.isa.footprint import destinations, footprints_overlap
from tb.isa.l0.op import L0Load
from tb.isa.ops import SLOTS
from tb.isa.rules import first_d_violation
from tb.isa.spaces import located
from tb.isa.text import to_text
from tb.record.failure import Failure, Picture

UNKNOWN_REGISTERS = 8
"""Registers with X that a hang report names, of each engine."""

MOST_ORDERS = 20
"""Most failing ops whose order in their batch is looked at."""

_FIELDS = {part: part.value for part in Part} | {Part.DATA: "row data"}


_RULE_NAME = re.compile(r"\b[A-Z]+-L\d+\b")


class Reporter:
    """Writes failures into a run.

    Args:
        run: The run (:class:`tb.env.context.RunContext`).
        mailbox: The mailbox, for clocks and channels.
        actual: Memories under test.
        repro: Writes programs that replay the failing ops.

    Attributes:
        alternatives: Looks for profiles that explain a failing op.
        errors: The errors of memories that each slot met.
    """

    def __init__(self, run: Any, mailbox: Any, actual: Memories, repro: Repro) -> None:
        self.run = run
        self.repro = repro
        self.mailbox = mailbox
        self.alternatives = Alternatives(repro.before, actual)
        self.errors = ErrorHistory()
        self._orders = 0

    def report(self, evidence: Evidence, verdicts: Sequence[Verdict]) -> None:
        """Reports the verdicts on a batch, in their order."""
        wrong = [
            verdict.index
            for verdict in verdicts
            if verdict.index is not None
            and isinstance(verdict.finding, Mismatch)
            and verdict.finding.kind is Kind.DATA
        ]
        for verdict in verdicts:
            found, index = verdict.finding, verdict.index
            if isinstance(found, str):
                self.protocol(found, evidence.batch)
            elif index is None:
                assert isinstance(found, Objection)
                self._batch(evidence.batch, found, verdict.slot)
            elif isinstance(found, Mismatch):
                self._wrong_bytes(evidence, index, found, wrong, verdict.picture)
            else:
                self._op(evidence, index, found)

    # --- ops ---------------------------------------------------------------------------------

    def _op(self, evidence: Evidence, index: int, objection: Objection) -> None:
        """Reports a problem of one op."""
        batch = evidence.batch
        text = op_text(batch, index, evidence.program[index]).replace("\n", "\n    ")
        lines = [f"MISMATCH: {objection.text}", f"  {text}"]
        violation = first_d_violation(batch.block.issued(index))
        if violation is not None:
            lines.append(f"  the op breaks {violation}")
        if named := _RULE_NAME.search("\n".join([objection.text, *lines[2:]])):
            lines.append(f"  explain: pto-dv explain --rule {named[0]}")
        lines += [*self.alternatives.lines(batch, index), f"  repeat: {self.run.command}"]
        failure = self._of_op(batch, index, objection.kind)
        failure.field = objection.field + self.alternatives.knobs(batch, index)
        failure.rule = violation.rule.name if violation is not None else ""
        self._fail_op("\n".join(lines), failure, batch, index)

    def _wrong_bytes(
        self,
        evidence: Evidence,
        index: int,
        found: Mismatch,
        wrong: Sequence[int],
        picture: Picture | None,
    ) -> None:
        """Reports wrong bytes in or around the destination of an op; ``wrong`` lists such ops."""
        batch = evidence.batch
        cause = _cause(evidence, index, wrong) if found.kind is Kind.DATA else None
        report = render(
            found,
            op=op_text(batch, index, evidence.program[index]),
            writer=self._writer(found),
            repro=self.run.command,
            notes=[
                *self._flown_lines(found, batch, index),
                *_cause_lines(cause),
                *self.alternatives.lines(batch, index, found),
            ],
        )
        failure = self._of_op(batch, index, found.kind.value)
        failure.cause = cause
        if found.position is not None:
            knobs = self.alternatives.knobs(batch, index)
            failure.field = _FIELDS[found.position.part] + knobs
        failure.picture = picture
        _place(failure, found)
        self._fail_op(report, failure, batch, index)

    def explained(self) -> str:
        """Returns a sentence on the profile under which failed ops agree, or nothing."""
        return self.alternatives.summary()

    def _fail_op(self, report: str, failure: Failure, batch: Batch, index: int) -> None:
        """Notes the failure of an op; it is one of the stimulus if that leaves its result open."""
        if unordered := self._unordered(batch, index):
            failure.kind = "stimulus"
            report = "\n".join([*unordered, report])
        self._fail(self._with_replay(report, batch, index), failure)

    def _unordered(self, batch: Batch, index: int) -> list[str]:
        """Returns the first lines of a report if the stimulus leaves the result of an op open."""
        if self._orders >= MOST_ORDERS:
            return []
        self._orders += 1
        other = unordered(batch.block, index)
        if other is None:
            return []
        return [
            f"UNORDERED: transactions {batch.first + index} and {batch.first + other} of one batch "
            "share bytes that one of them writes, and nothing orders them.",
            "  Engines need not order ops that they have accepted: what follows may be the order "
            "alone.",
            "  remedy     the later one names the other in `after` or `also_after` of its block "
            "(docs/uvm.md), or is sent in a batch of its own",
            "",
        ]

    def _with_replay(self, report: str, batch: Batch, index: int) -> str:
        """Writes programs that replay an op, and returns its report with the command for them."""
        history = self._history(batch, index)
        report = "\n  ".join([report, *history])
        command = self.repro.failed(batch, index, report, history)
        return f"{report}\n  replay: {command}" if command else report

    def _history(self, batch: Batch, index: int) -> list[str]:
        """Returns sentences on resets and errors before an op retired, which a replay lacks."""
        done = batch.record(index)
        end = None if done is None else int(done["done_cycle"])
        found = []
        if resets := [at for at in self.run.resets if end is None or at <= end]:
            many = "1 reset" if len(resets) == 1 else f"{len(resets)} resets"
            found.append(f"after {many}, the last at clock {resets[-1]}")
        slot = int(batch.block.slot[index])
        found.append(self.errors.sentence(slot, end, batch.first + index))
        return [f"{sentence}; the op alone may pass" for sentence in found if sentence]

    def _of_op(self, batch: Batch, index: int, kind: str) -> Failure:
        slot = int(batch.block.slot[index])
        failure = Failure(
            kind=kind,
            slot=SLOTS[slot],
            op=form_name(int(batch.block.opcode[index]), legacy=index in batch.block.legacy_forms),
            transaction=batch.first + index,
        )
        done = batch.record(index)
        if done is None:
            _, failure.end_clock = _clocks(batch)
        else:
            failure.begin_clock = int(done["accept_cycle"])
            failure.end_clock = int(done["done_cycle"])
        return failure

    # --- memories ----------------------------------------------------------------------------

    def stray(self, found: Mismatch, picture: Picture | None, since: Iterable[Batch]) -> None:
        """Reports wrong bytes that a comparison of whole memories found.

        Args:
            found: The bytes.
            picture: The memory around them.
            since: Batches since the comparison before, any of which may have written them.
        """
        stamp = self.run.memory.last_writer(found.space, found.address)
        flown = [] if stamp is None else _flown(since, stamp)
        suspect = _likely_writer(found.address, flown)
        text = ""
        failure = Failure(kind=found.kind.value)
        if suspect is not None:
            batch, index = suspect
            text = op_text(batch, index, batch.block.program()[index])
            failure = self._of_op(batch, index, found.kind.value)
        elif stamp is not None:
            failure.slot = SLOTS[stamp.slot]
            failure.begin_clock = failure.end_clock = stamp.cycle
        failure.picture = picture
        _place(failure, found)
        report = render(
            found,
            op=text,
            writer=self._writer(found),
            repro=self.run.command,
            notes=_flown_note(flown),
        )
        if suspect is not None:
            report = self._with_replay(report, *suspect)
        self._fail(report, failure, stray=True)

    def _writer(self, found: Mismatch) -> str:
        """Returns the last writer of the first wrong byte, if it is known."""
        stamp = self.run.memory.last_writer(found.space, found.address)
        return "" if stamp is None else f"slot {SLOTS[stamp.slot]} in cycle {stamp.cycle}"

    def _flown_lines(self, found: Mismatch, batch: Batch, index: int) -> list[str]:
        """Returns the ops in flight at a write beside an op, unless it was that op alone."""
        stamp = self.run.memory.last_writer(found.space, found.address)
        if found.kind is not Kind.GUARD or stamp is None:
            return []
        flown = _flown([batch], stamp)
        return [] if flown == [(batch, index)] else _flown_note(flown)

    # --- no op in particular -----------------------------------------------------------------

    def _batch(self, batch: Batch, objection: Objection, slot: str) -> None:
        """Reports a problem that belongs to no single op."""
        begin, end = _clocks(batch)
        failure = Failure(
            kind=objection.kind,
            slot=slot,
            field=objection.field,
            begin_clock=begin,
            end_clock=end,
        )
        self._fail(f"MISMATCH: {objection.text}\n  repeat: {self.run.command}", failure)

    def protocol(self, message: str, batch: Batch | None = None) -> None:
        """Reports a message of the checkers in the harness, in ``batch`` if that is known."""
        rule = rule_of(message)
        why = f"  rule: {rule.text}\n" if rule else ""
        report = f"protocol: {message}\n{why}  repeat: {self.run.command}"
        failure = protocol_failure(message, report)
        index = None if batch is None else _under_way(batch, failure.slot, failure.begin_clock)
        if batch is not None and index is not None:
            slot = SLOTS.index(failure.slot)
            state = self.mailbox.state(slot) if batch.hung else None
            held = state.held if state is not None else 0
            flown = in_flight(batch, slot, failure.begin_clock, held)
            note = _flown_note([(batch, one) for one in flown])
            report = "\n".join([report, *note])
            failure.text = report = self._with_replay(report, batch, index)
        self.run.protocol_failure(report, failure)

    def unknown_after_reset(self, messages: Sequence[str], released: int) -> None:
        """Reports X at outputs before the first descriptor, once for each slot, and ends the run.

        Args:
            messages: Those of the checkers.
            released: Clock in which the reset ended.
        """
        self.run.abort("fail", "outputs of the DUT are X after the reset: nothing was sent")
        for slot in SLOTS:
            found = [text for text in messages if text.startswith(f"{slot}: ")]
            if not found:
                continue
            texts = (text.split(" on ")[1].split(" (")[0] for text in found)
            pins = list(dict.fromkeys(text.removesuffix(" in reset") for text in texts))
            failure = protocol_failure(found[0], "")
            clocks = failure.begin_clock - released
            when = f"{counted(clocks, 'clock')} after the reset" if clocks > 0 else "in the reset"
            also = f"; also X: {', '.join(pins[1:])}" if pins[1:] else ""
            failure.text = (
                f"protocol: {found[0]}\n  rule: {RULES[failure.rule].text}\n"
                f"  when: {when}, before the first descriptor{also}\n"
                "  check: rst_ni is active low and asynchronous; every register before the output "
                f"has a reset\n  repeat: {self.run.command}"
            )
            self.run.protocol_failure(failure.text, failure)

    def hang(self, batch: Batch) -> None:
        """Reports a batch that the watchdog ended, and ends the run."""
        lines = []
        oldest: list[tuple[int, int, int]] = []
        for slot, indices in batch.order.items():
            done = len(batch.done.get(slot, ()))
            if done < len(indices):
                index = int(indices[done])
                oldest.append((self._waiting(slot), slot, index))
                text = op_text(batch, index, batch.block.program()[index])
                text = text.replace("\n", "\n    ")
                lines.append(
                    f"  {SLOTS[slot]}: {len(indices) - done} descriptors not retired; the oldest:\n"
                    f"    {text}"
                )
        if channels := channel_report(self.mailbox.snapshot()):
            lines += ["  who waits for whom:", *(f"    {line}" for line in channels)]
        lines += self._unknown([slot for _, slot, _ in oldest])
        # The dispatcher allows a block of many short rows more time than is configured.
        clocks = self.mailbox.watchdog_clocks
        moved = {SLOTS[slot]: self.mailbox.moved_bytes(slot) for _, slot, _ in oldest}
        bytes_of = ", ".join(f"{slot} {count} bytes" for slot, count in moved.items())
        report = "\n".join(
            [
                f"HANG: no descriptor accepted or retired by {self._hanging(oldest, clocks)} for "
                f"{clocks} clocks, "
                + ("while beats were granted" if self.mailbox.moves_on else "and no beat granted"),
                *lines,
                f"  moved since: {bytes_of or 'nothing'}",
                "  A slower engine needs more clocks: WATCHDOG= of the run, or watchdog_clocks of "
                "its manifest.",
                f"  repeat: {self.run.command}",
            ]
        )
        now = int(self.mailbox.cycles)
        failure = Failure(kind="hang", begin_clock=max(0, now - clocks), end_clock=now)
        if oldest:
            waited, slot, index = max(oldest, key=lambda one: (one[0], -one[1]))
            failure = self._of_op(batch, index, "hang")
            failure.begin_clock, failure.end_clock = max(0, now - max(waited, clocks)), now
            report = self._with_replay(report, batch, index)
        failure.text = report
        what = "nothing retired" if self.mailbox.moves_on else "nothing moved"
        self.run.hang(f"the DUT hangs: {what} for {clocks} clocks", report, failure)

    def _hanging(self, oldest: Sequence[tuple[int, int, int]], clocks: int) -> str:
        """Returns the slots that have held a descriptor as long as the watchdog waits, or all."""
        held = [SLOTS[slot] for waited, slot, _ in oldest if waited >= clocks]
        return " and ".join(held or [SLOTS[slot] for _, slot, _ in oldest])

    def _unknown(self, slots: Sequence[int]) -> list[str]:
        """Returns lines on the registers of these engines that hold X, those of control first."""
        lines = []
        for slot in slots:
            found = self.run.memory.unknown_registers(slot)
            names = ", ".join(
                f"{name} ({counted(bits, 'bit')})" for name, bits in found[:UNKNOWN_REGISTERS]
            )
            more = len(found) - UNKNOWN_REGISTERS
            names += f" and {more} more" if more > 0 else ""
            if found:
                lines.append(f"  X in {SLOTS[slot]}: {names}; is one of them without a reset?")
        return lines

    def _waiting(self, slot: int) -> int:
        """Returns for how many clocks a slot has held its oldest descriptor, -1 for none."""
        state = self.mailbox.state(slot)
        return -1 if state is None or not state.held else int(state.oldest)

    def _fail(self, report: str, failure: Failure, *, stray: bool = False) -> None:
        failure.text = report
        self.run.fail(report, failure, stray=stray)


def _cause(evidence: Evidence, index: int, wrong: Sequence[int]) -> int | None:
    """Returns the last transaction before an op that wrote wrong bytes which it reads.

    Both are of one batch: the next batch starts from the bytes under test.
    """
    outcomes = evidence.outcomes
    for other in reversed([other for other in wrong if other < index][-MOST_ORDERS:]):
        reads, writes = outcomes[index].reads, outcomes[other].regions
        if any(footprints_overlap(x, y) for x in reads for y in writes):
            return evidence.batch.first + other
    return None


def _cause_lines(cause: int | None) -> list[str]:
    if cause is None:
        return []
    what = f"possibly the failure of transaction {cause}, which should have written bytes that this"
    return labelled("cause", f"{what} op reads")


def _place(failure: Failure, found: Mismatch) -> None:
    failure.space, failure.address = located(found.space, found.address)
    failure.address_class = address_class(found)


def address_class(found: Mismatch) -> str:
    """Returns the place of wrong bytes in a form that is the same for one fault over many ops.

    After a wrong address the loop indices of the first wrong byte are characteristic of the fault.
    A wrong value can occur anywhere, so its place is left out.
    """
    position = found.position
    if position is None or position.part is not Part.DATA or position.label:
        return ""
    if any(position.loops):
        return "later iteration"
    return "later row" if position.row else "first row"


def op_text(batch: Batch, index: int, ops: tuple[Any, ...]) -> str:
    """Returns the PTO text of an op, with its number and slot before it, and its place if known."""
    text = "\n".join(to_text(op) for op in ops)
    for op in ops:
        if isinstance(op, L0Load) and op.shape is None:
            control = op.spec.operands[2:]
            text += "\n" + ", ".join(f"{one.name} {getattr(op, one.field)}" for one in control)
    place = batch.block.places.get(index)
    where = f" ({place})" if place is not None else ""
    slot = SLOTS[int(batch.block.slot[index])]
    return f"transaction {batch.first + index} on {slot}{where}:\n{text}"


def _clocks(batch: Batch) -> tuple[int, int]:
    """Returns when the first op of a batch was accepted and when the last one retired."""
    records = [part for part in batch.done.values() if len(part)]
    if not records:
        return 0, 0
    begin = min(int(part["accept_cycle"].min()) for part in records)
    return begin, max(int(part["done_cycle"].max()) for part in records)


def _under_way(batch: Batch, slot: str, clock: int) -> int | None:
    """Returns the oldest op that a slot had in flight in a clock, or else the next one."""
    indices = batch.order.get(SLOTS.index(slot)) if slot in SLOTS else None
    if indices is None or not len(indices):
        return None
    records = batch.done.get(SLOTS.index(slot))
    position = 0 if records is None else int(np.searchsorted(records["done_cycle"], clock))
    return int(indices[min(position, len(indices) - 1)])


def _flown(since: Iterable[Batch], stamp: Any) -> list[Flown]:
    """Returns the ops in flight on a writer's slot in the cycle of its write."""
    return [(one, index) for one in since for index in in_flight(one, stamp.slot, stamp.cycle)]


def _flown_note(flown: Sequence[Flown]) -> list[str]:
    text = f"  in flight then: {flown_text(flown)}"
    return textwrap.wrap(text, COLUMNS, subsequent_indent=" " * 4) if flown else []


def _likely_writer(address: int, flown: Sequence[Flown]) -> Flown | None:
    """Returns the op that most likely wrote a stray byte: that with the closest destination."""

    def away(op: Flown) -> int:
        regions = destinations(op[0].block.issued(op[1]))
        return min(distance(region, address) for region in regions)

    return min(flown, key=away, default=None)
