# SPDX-License-Identifier: Apache-2.0
"""The scoreboard: runs the model on every batch and compares bytes, statuses and order.

After each batch the destination and a guard around it are compared per op; at intervals and at the
end, every byte of every memory. A run continues after a mismatch: the wrong bytes are copied to the
golden memory, so that one fault is reported once.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyuvm import ConfigDB, uvm_analysis_port, uvm_subscriber

from scoreboards.compare import compare_full, compare_op
from scoreboards.failure import Objection, Reporter, form_name
from scoreboards.faults import (
    NEVER,
    Attribution,
    BadAccess,
    FaultKind,
    Flight,
    Verdict,
    Widths,
    accesses,
    status_text,
)
from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Mismatch
from scoreboards.model.burst import LOWERING_RULES
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import Outcome
from scoreboards.regions import rows_view
from scoreboards.repro import Repro
from scoreboards.unit_flags import adopt_undefined, clear_fault, produce, wrong_flags
from sequences.constraints import DEFAULT_WINDOWS
from tb.harness.items import Batch, CheckedBatch
from tb.harness.layout import DONE, READ, WRITE
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.fields import rule_name
from tb.isa.footprint import Footprint, footprints_overlap
from tb.isa.ops import OPS_BY_CODE, SLOTS
from tb.isa.program import moving_at
from tb.isa.spaces import Space
from tb.isa.status import Status
from tb.record.record import OpCount

FULL_COMPARE_BATCHES = 64
FULL_COMPARE_FRACTION = 4
"""Batches between full comparisons; in long runs a quarter of those so far: the bytes to compare
grow with the run, and the total cost must not grow with its square."""

REMEMBERED_BATCHES = 1024
"""Batches that a stray write can be attributed to, back from the comparison that finds it."""

LEGALITY_SAMPLE = 16
"""One op in this many is checked again by the rule predicates, whatever its generator."""

FIX_SOURCE_BYTES = 64
"""Width of the ports on which the fix slot reads local memories (docs/contract.md)."""

_FIX = SLOTS.index("fix")
_NO_RECORDS = np.zeros(0, dtype=DONE)


class Scoreboard(uvm_subscriber):
    """Checks batches; publishes :class:`~tb.harness.items.CheckedBatch` on ``ap``."""

    def build_phase(self) -> None:
        """Makes golden memory and model from the configuration of the run."""
        self.ap = uvm_analysis_port("ap", self)
        self.run = ConfigDB().get(self, "", "RUN")
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.memory = self.run.memory
        self.actual: Mapping[Space, NDArray[np.uint8]] = {
            space: self.memory.view(space) for space in Space
        }
        self.repro = Repro(self.run, self.mailbox)
        self.reporter = Reporter(self.run, self.mailbox, self.actual, self.repro)
        self.restart()
        self._written = [0] * len(SLOTS)
        self._since_full: deque[Batch] = deque(maxlen=REMEMBERED_BATCHES)
        self._batches = 0
        self._next_full = FULL_COMPARE_BATCHES
        settings = self.run.settings
        self._lanes = dict.fromkeys(Space, settings.local_width // 8)
        self._lanes[Space.GM] = settings.gm_width // 8

    def restart(self) -> None:
        """Starts again from the background of both sides, registers and unit flags reset."""
        self.memory.unit_flags[:] = self.memory.background_flags()
        self.golden = GoldenMemory(self._background, unit_flags=self.memory.unit_flags)
        self.reporter.golden = self.golden
        self.model = ReferenceModel(
            self.golden,
            before_read=self.golden.ensure_footprint,
            before_write=self._before_write,
            unit_flags=self.golden.unit_flags,
        )

    def _before_write(self, region: Footprint) -> None:
        """Prepares a region that an op is about to write, and saves its contents."""
        self.golden.expect_write(region)
        self.repro.before.keep(region)

    def _background(self, space: Space, start: int, length: int) -> NDArray[np.uint8]:
        """Initial content of both sides: it is written to the DUT's memory at the same time."""
        self.memory.ensure(space, start, length)
        content: NDArray[np.uint8] = self.memory.background(space, start, length)
        return content

    def prefill(self) -> None:
        """Fills the dense GM windows on both sides, so that ops there need no bookkeeping."""
        for window in DEFAULT_WINDOWS:
            self.golden.prefill(window.start, window.size)

    def poke(self, space: Space, start: int, data: bytes) -> None:
        """Writes bytes to both sides, as the stimulus does."""
        self.golden.write(space, start, data)
        self.memory.ensure(space, start, len(data))
        self.actual[space][start : start + len(data)] = np.frombuffer(data, dtype=np.uint8)

    def write(self, batch: Batch) -> None:
        """Checks one batch that has retired, or that the watchdog ended."""
        if batch.hung:
            self._fill(batch)
            self._check_protocol(batch)  # first, since a violation may be the cause of the rest
            self.reporter.hang(batch)
            return
        block = batch.block
        with self.stopwatch.phase("model"):
            program = block.program()
            self._fill(batch)
            registers = copy.deepcopy(self.model.registers) if batch.isolated else None
            outcomes = self._issue(batch, program)
            if registers is not None:
                self.model.registers = registers
        passed = np.ones(len(block), dtype=np.bool_)
        with self.stopwatch.phase("compare"):
            retired = _retired(batch)
            # First what may be the cause of the rest: a missing rule, a violation of the protocol.
            executed = self._check_rules(batch, program, outcomes, retired, passed)
            self._check_protocol(batch)
            verdicts = self._check_errors(batch, program, outcomes, passed)
            failed = {
                index: verdict
                for index, verdict in verdicts.items()
                if retired[index] is not None and verdict.failed(int(retired[index]["status"]))
            }
        with self.stopwatch.phase("model"):
            outcomes = self._apply(batch, outcomes, retired, failed)
        self.repro.write_wanted(batch)
        with self.stopwatch.phase("compare"):
            sizes = [outcome.bytes_written for outcome in outcomes]
            self._check_retirement(batch, program, outcomes, failed, executed, sizes, passed)
            self._check_bytes(batch, program, outcomes, passed)
            self._check_flags(batch, program, outcomes, retired, failed, passed)
            for index, record in enumerate(retired):
                if record is None:
                    passed[index] = False
            # The results of an op that met an error are undefined and were not checked.
            checked = [0 if index in failed else size for index, size in enumerate(sizes)]
            if not batch.probe:
                self._count(batch, checked, passed, retired)
                self._batches += 1
            self._since_full.append(batch)
            if batch.reset is not None:
                self.compare_everything()
            if self._batches >= self._next_full:
                self.compare_everything()
                self._next_full = self._batches + max(
                    FULL_COMPARE_BATCHES, self._batches // FULL_COMPARE_FRACTION
                )
        self.mailbox.report_progress(self.run.counts.transactions, self.run.counts.mismatches)
        events = np.array([outcome.events for outcome in outcomes], dtype=np.int64)
        self.ap.write(CheckedBatch(batch, passed, events, verdicts, outcomes))

    # --- model -------------------------------------------------------------------------------

    def _fill(self, batch: Batch) -> None:
        """Writes the bytes that the stimulus put into memory before the block."""
        for fill in batch.block.fills:
            self.golden.write(fill.space, fill.start, fill.data)
        self.repro.before.begin(self.golden, self.model.registers, batch.number)

    def _issue(self, batch: Batch, program: list[tuple[Any, ...]]) -> list[Outcome]:
        """Returns the expected outcomes of the ops, in program order; moves no byte."""
        outcomes: list[Outcome] = []
        block = batch.block
        expected = None if block.expected_rule is None else block.expected_rule.tolist()
        model = self.model
        for index, ops in enumerate(program):
            # Ops marked as legal skip the rule check, except for a sample.
            legal = expected is None or expected[index] == 0
            if legal and (batch.first + index) % LEGALITY_SAMPLE == 0:
                legal = False
            if len(ops) == 1:
                outcome = model.issue(ops[0], legal=legal)
            else:
                outcome = self._issue_entry(batch, index, ops, legal=legal)
            if expected is not None and outcome.rule != expected[index]:
                why = (
                    f"stimulus and model disagree: rule {expected[index]} was meant, "
                    f"the model says {outcome.rule}"
                )
                self.reporter.op(batch, index, ops, Objection("stimulus", why, "rule"))
            outcomes.append(outcome)
        return outcomes

    def _issue_entry(
        self, batch: Batch, index: int, ops: tuple[Any, ...], *, legal: bool
    ) -> Outcome:
        """Returns the expected outcome of an op of several instructions, which are all issued.

        Ops that write registers precede it; those that restore CTRL follow it.
        """
        model, at = self.model, moving_at(ops)
        for op in ops[:at]:
            early = model.issue(op)
            if isinstance(op, CopyUbufToUbuf) and early.rule not in LOWERING_RULES:
                why = (
                    "stimulus and model disagree: a copy_ubuf_to_ubuf was not issued, the "
                    f"model says {_verdict(early)}"
                )
                self.reporter.op(batch, index, ops, Objection("stimulus", why, "not issued"))
        outcome = model.issue(ops[at], legal=legal)
        for op in ops[at + 1 :]:
            model.issue(op)
        return outcome

    def _check_rules(
        self,
        batch: Batch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        retired: list[Any],
        passed: NDArray[np.bool_],
    ) -> set[int]:
        """Reports ops that break a D rule and retired without one; returns their places."""
        found = set()
        for index, (outcome, record) in enumerate(zip(outcomes, retired, strict=True)):
            if outcome.status is not Status.RULE or record is None:
                continue
            got = int(record["status"])
            if got != outcome.status and record["tag"] == batch.tags[index]:
                passed[index] = False
                found.add(index)
                why = _wrong_status(got, outcome.status)
                self.reporter.op(batch, index, program[index], why)
        return found

    def _check_errors(
        self,
        batch: Batch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        passed: NDArray[np.bool_],
    ) -> dict[int, Verdict]:
        """Attributes each error to an op, and checks the done records of these ops.

        Returns:
            Place of each such op to its errors.
        """
        found: dict[int, Verdict] = {}
        if not len(batch.hits):
            return found
        self._count_faults(batch)
        if batch.hits_lost:
            why = (
                f"{batch.hits_lost} erroneous responses did not fit the log: fewer or smaller "
                "faults at once"
            )
            self.reporter.batch(batch, Objection("stimulus", why, "log of errors"))
        for slot, indices in batch.order.items():
            widths = Widths(self._lanes, FIX_SOURCE_BYTES if slot == _FIX else 0)
            flights = _flights(batch, slot, indices.tolist(), outcomes)
            attribution = Attribution(flights, widths)
            attribution.take(accesses(batch.hits, slot, widths))
            found.update(attribution.verdicts)
            for error in attribution.strays[:1]:
                self._fail_access(batch, slot, error)
            late = batch.late[batch.late["slot"] == slot]
            for index, why in attribution.late_bursts(late)[:1]:
                passed[index] = False
                self.reporter.op(batch, index, program[index], Objection("late burst", why))
        unknown = ~np.isin(batch.hits["slot"], list(batch.order))
        for entry in batch.hits[unknown][:1]:
            slot = int(entry["slot"])
            (error,) = accesses(np.array([entry]), slot, Widths(self._lanes))
            self._fail_access(batch, slot, error)
        return found

    def _fail_access(self, batch: Batch, slot: int, error: BadAccess) -> None:
        side = "read" if error.side == READ else "write"
        self.reporter.batch(
            batch,
            Objection(
                "access",
                f"no op in flight on {SLOTS[slot]} makes this access: {error}",
                f"{side} of {error.space.keyword}",
            ),
            SLOTS[slot],
        )

    def _count_faults(self, batch: Batch) -> None:
        """Adds the errors of the batch to the injected errors of the run."""
        injected, hits = self.run.counts.injected, batch.hits
        mine = hits["fault"] < len(batch.faults)
        injected["faults"] += len(np.unique(hits["fault"][mine]))
        for kind in FaultKind:
            for side, what in ((READ, "reads"), (WRITE, "writes")):
                count = int(((hits["kind"] == kind) & (hits["side"] == side)).sum())
                if count:
                    name = "local errors" if kind is FaultKind.LOCAL else kind.name
                    injected[f"{name} of {what}"] += count

    def _apply(
        self,
        batch: Batch,
        outcomes: list[Outcome],
        retired: list[Any],
        failed: Collection[int],
    ) -> list[Outcome]:
        """Executes the ops in program order on the golden memory.

        Bytes of an op that met an error, that a reset cut off, or that depends on a race of the
        program, are copied from the DUT.
        """
        begun = _begun(batch) if batch.reset is not None else None
        undefined: list[Footprint] = []
        done: list[Outcome] = []
        for index, outcome in enumerate(outcomes):
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
            self.golden.unit_flags[blocks] = self.memory.unit_flags[blocks]

    def _copy_rows(self, outcome: Outcome) -> None:
        for region in outcome.regions:
            ours, theirs = self.golden[region.space], self.actual[region.space]
            rows_view(ours, region)[...] = rows_view(theirs, region)

    # --- retirement --------------------------------------------------------------------------

    def _check_retirement(
        self,
        batch: Batch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        failed: dict[int, Verdict],
        executed: Collection[int],
        sizes: list[int],
        passed: NDArray[np.bool_],
    ) -> None:
        """Checks tags, statuses, rule numbers, and that no done came before the last write.

        Nor did any clear of unit flags. Ops of ``failed`` met an error; those of ``executed`` break
        a rule and are reported already.
        """
        expected_tags = batch.tags.tolist()
        for slot, indices in batch.order.items():
            records = batch.done.get(slot, _NO_RECORDS)
            order = indices.tolist()
            tags = records["tag"].tolist()
            statuses = records["status"].tolist()
            rules = records["rule"].tolist()
            addresses = records["addr"].tolist()
            written = records["written_bytes"].tolist()
            cleared = records["clear_bytes"].tolist()
            floor = self._written[slot]
            judged = [x for x in order[: len(records)] if x not in executed and x not in failed]
            missing = floor + sum(sizes[x] for x in judged) - self.mailbox.written_bytes(slot)
            compare_address = self._reports_address(slot)
            for position, index in enumerate(order[: len(records)]):
                if index in executed:
                    continue
                outcome, verdict = outcomes[index], failed.get(index)
                got = statuses[position]
                why: Objection | None = None
                if tags[position] != expected_tags[index]:
                    why = _wrong_tag(tags[position], expected_tags[index])
                elif verdict is not None:
                    text = verdict.objection(
                        got, addresses[position], compare_address=compare_address
                    )
                    if text:
                        why = _wrong_error(verdict, got, text)
                elif got != outcome.status:
                    why = _wrong_status(got, outcome.status)
                if why is None and rules[position] != outcome.rule:
                    why = _wrong_rule(rules[position], outcome.rule)
                if verdict is None:
                    floor += sizes[index]
                    if why is None and written[position] < floor:
                        why = _early(written[position], floor, missing)
                        if why.kind == "missing":  # The ops after it are not to blame.
                            missing -= floor - written[position]
                            floor = written[position]
                    if why is None and slot == _FIX:
                        text = clear_fault(outcome, cleared[position], floor)
                        if text:
                            why = Objection("flags", text, text.partition(":")[0])
                if why is not None:
                    passed[index] = False
                    self.reporter.op(batch, index, program[index], why)
            if batch.reset is not None:
                self._written[slot] = self.mailbox.written_bytes(slot)
            elif written:
                self._written[slot] = written[-1]

    def _reports_address(self, slot: int) -> bool:
        """Tells whether the address of an error on a slot is to be compared."""
        capabilities = self.run.config.capabilities.get(SLOTS[slot])
        return capabilities is None or capabilities.error_address

    # --- bytes -------------------------------------------------------------------------------

    def _check_bytes(
        self,
        batch: Batch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        passed: NDArray[np.bool_],
    ) -> None:
        """Compares destination and guard of each op."""
        written = [region for outcome in outcomes for region in outcome.regions]
        for index, outcome in enumerate(outcomes):
            if outcome.written is None:
                continue
            # Wrong bytes in another op's destination are a failure of that op, not of this guard.
            found = compare_op(
                self.actual,
                self.golden,
                outcome,
                in_flight=written,
                bus_bytes=self._lanes[outcome.written.space],
            )
            if found:
                passed[index] = False
                for mismatch in found:
                    self.reporter.wrong_bytes(batch, index, program[index], outcome, mismatch)
                self._resync(outcome, found)

    def _resync(self, outcome: Outcome, found: tuple[Mismatch, ...]) -> None:
        """Copies wrong bytes to the golden memory, so that they are reported once."""
        self._copy_rows(outcome)
        for mismatch in found:
            stop = mismatch.address + mismatch.extent
            ours, theirs = self.golden[mismatch.space], self.actual[mismatch.space]
            if mismatch.extent <= 1 << 24:
                wrong = Footprint(mismatch.space, mismatch.address, mismatch.extent, (1,), (0,))
                self.repro.before.keep(wrong)  # a guard is no destination: it was not kept
                ours[mismatch.address : stop] = theirs[mismatch.address : stop]

    def _check_flags(
        self,
        batch: Batch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        retired: list[Any],
        failed: Collection[int],
        passed: NDArray[np.bool_],
    ) -> None:
        """Compares the unit flags, and copies wrong ones to the golden flags."""
        actual, golden = self.memory.unit_flags, self.golden.unit_flags
        adopt_undefined(
            actual, golden, outcomes, [index in failed for index in range(len(retired))]
        )
        for outcome, record in zip(outcomes, retired, strict=True):
            # Whether a flag was set, seen and cleared before a reset is not known.
            if record is None and outcome.flags is not None:
                golden[outcome.flags.blocks] = actual[outcome.flags.blocks]
        if batch.flags_due and not failed and batch.reset is None:
            why = (
                f"unit flags were not set when all ops had retired: {batch.flags_due} of those "
                "that they wait for"
            )
            self.reporter.batch(batch, Objection("flags", why, "not set"))
        for wrong in wrong_flags(actual, golden, outcomes):
            field = "cleared" if wrong.expected else "not cleared"
            if wrong.index is None:
                text = f"{wrong}\n  no op of this batch uses it"
                self.reporter.batch(batch, Objection("flags", text, field))
                continue
            passed[wrong.index] = False
            found = Objection("flags", str(wrong), field)
            self.reporter.op(batch, wrong.index, program[wrong.index], found)
        golden[:] = actual

    def _count(
        self, batch: Batch, sizes: list[int], passed: NDArray[np.bool_], retired: list[Any]
    ) -> None:
        """Adds the retired ops to the counts of the run."""
        run, block = self.run, batch.block
        here = np.array([record is not None for record in retired], dtype=np.bool_)
        legacy = np.zeros(len(block), dtype=np.bool_)
        legacy[block.legacy_forms] = True
        lengths = np.array(sizes, dtype=np.int64)
        for code in np.unique(block.opcode).tolist():
            of_code = here & (block.opcode == code)
            for is_legacy in (False, True):
                mine = of_code & (legacy == is_legacy)
                sent = int(mine.sum())
                if not sent:
                    continue
                count = run.counts.ops.setdefault(form_name(code, legacy=is_legacy), OpCount())
                size = int(lengths[mine].sum())
                count.sent += sent
                count.passed += int((mine & passed).sum())
                count.bytes += size
                run.counts.bytes_checked += size
        run.counts.transactions += sum(len(records) for records in batch.done.values())
        run.counts.exercised.update(_refused(batch, passed))
        for code, number in zip(*_count_statuses(batch), strict=True):
            run.counts.statuses[status_text(code).partition(" ")[2]] += number

    # --- whole memories ----------------------------------------------------------------------

    def compare_everything(self) -> None:
        """Compares every byte of every memory; nothing may be in flight."""
        found = compare_full(
            self.actual, self.golden, self.memory.dirty_gm_pages(), bus_bytes=self._lanes[Space.GM]
        )
        self.run.counts.full_compares += 1
        for mismatch in found:
            self.reporter.stray(mismatch, self._since_full)
            stop = mismatch.address + mismatch.extent
            if mismatch.extent <= 1 << 24:
                self.golden.write(
                    mismatch.space,
                    mismatch.address,
                    self.actual[mismatch.space][mismatch.address : stop].tobytes(),
                )
        self._since_full.clear()

    def close(self) -> None:
        """Last comparison of memories and last check for protocol messages, at the end of a run."""
        with self.stopwatch.phase("compare"):
            if self.run.abort_status != "hang":
                self.compare_everything()
            self._check_protocol()
            self.repro.close()
            self.run.counts.explained = self.reporter.explained()
            for (_, channel), clocks in self.mailbox.stalls().items():
                if clocks:
                    self.run.counts.injected[f"stalls {channel}"] += clocks

    def _check_protocol(self, batch: Batch | None = None) -> None:
        """Reports new messages of the HDL checkers and backends."""
        self.run.counts.protocol_errors = self.mailbox.errors
        for message in self.mailbox.poll_errors():
            self.reporter.protocol(message, batch)


def _verdict(outcome: Outcome) -> str:
    return f"rule {outcome.rule}" if outcome.rule else "it is legal"


def _wrong_tag(got: int, expected: int) -> Objection:
    return Objection("tag", f"done carries tag {got}, expected {expected}")


def _wrong_status(got: int, expected: Status) -> Objection:
    wanted = status_text(int(expected))
    return Objection(
        "status",
        f"retired with status {status_text(got)}, expected {wanted}",
        _statuses(got, expected.name),
    )


def _wrong_error(verdict: Verdict, got: int, text: str) -> Objection:
    """Returns the problem with the status or the address of an op that met an error."""
    wanted = dict.fromkeys(error.status.name for error in verdict.first())
    if status_text(got).partition(" ")[2] in wanted:
        return Objection("address", text, " or ".join(wanted))
    return Objection("status", text, _statuses(got, " or ".join(wanted)))


def _statuses(got: int, wanted: str) -> str:
    return f"{status_text(got).partition(' ')[2]} not {wanted}"


def _wrong_rule(got: int, expected: int) -> Objection:
    return Objection("rule", f"reported rule {got}, expected {expected}", f"rule L{got:02}")


def _early(written: int, floor: int, missing: int) -> Objection:
    """Returns what is wrong with a done before which fewer bytes were written than ops have.

    Args:
        written: Bytes of the slot that were written before the done.
        floor: Bytes that its ops have, up to this one.
        missing: Bytes of all ops of the batch that were not written at its end either.
    """
    counts = f"{written} of {floor} bytes of this slot were written"
    if missing >= floor - written:
        return Objection("missing", f"never wrote {floor - written} bytes: {counts}")
    return Objection("early", f"done came {floor - written} bytes early: {counts}")


def _retired(batch: Batch) -> list[Any]:
    """Returns the done record of each op, None for those that a reset cut off."""
    found: list[Any] = [None] * len(batch.block)
    for slot, indices in batch.order.items():
        for index, record in zip(indices.tolist(), batch.done.get(slot, ()), strict=False):
            found[index] = record
    return found


def _begun(batch: Batch) -> set[int]:
    """Returns the ops of an interrupted batch that may have moved bytes."""
    found: set[int] = set()
    for slot, indices in batch.order.items():
        found.update(indices[: batch.reached[slot]].tolist())
    return found


def _flights(batch: Batch, slot: int, indices: list[int], outcomes: list[Outcome]) -> list[Flight]:
    """Returns the ops of a slot that were in flight, in order."""
    records = batch.done.get(slot, _NO_RECORDS)
    accept, done = records["accept_cycle"].tolist(), records["done_cycle"].tolist()
    status = records["status"].tolist()
    found = [
        Flight(index, outcomes[index], accept[position], done[position], status[position])
        for position, index in enumerate(indices[: len(records)])
    ]
    if batch.reset is not None:
        since = accept[-1] if accept else 0
        found += [
            Flight(index, outcomes[index], since, NEVER, None)
            for index in indices[len(records) : batch.reached[slot]]
        ]
    return found


def _refused(batch: Batch, passed: NDArray[np.bool_]) -> list[str]:
    """Returns the rule of each op that was correctly rejected."""
    names = []
    for slot, indices in batch.order.items():
        rules = batch.done.get(slot, _NO_RECORDS)["rule"][: len(indices)]
        for position in np.flatnonzero(rules).tolist():
            index = indices[position]
            if passed[index]:
                spec = OPS_BY_CODE[int(batch.block.opcode[index])]
                names.append(rule_name(spec.rules, int(rules[position])))
    return names


def _count_statuses(batch: Batch) -> tuple[list[int], list[int]]:
    found = [records["status"] for records in batch.done.values() if len(records)]
    if not found:
        return [], []
    codes, counts = np.unique(np.concatenate(found), return_counts=True)
    return codes.tolist(), counts.tolist()
