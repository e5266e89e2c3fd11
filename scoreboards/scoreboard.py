# SPDX-License-Identifier: Apache-2.0
"""The scoreboard: runs the model on every epoch and compares bytes, statuses and order.

After each epoch the destination and a guard around it are compared per op; every so many epochs
and at the end, every byte of every memory. A run goes on after a mismatch: the golden memory
takes the wrong bytes over, so that one fault is reported once.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyuvm import ConfigDB, uvm_analysis_port, uvm_subscriber

from scoreboards.compare import compare_full, compare_op
from scoreboards.faults import Prediction, predict
from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Mismatch
from scoreboards.model.dma import DmaModel
from scoreboards.model.outcome import Outcome
from scoreboards.report import LastWriter, render
from sequences.constraints import DEFAULT_WINDOWS
from tb.agents.items import CheckedEpoch, Epoch
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.ops import LEGACY_FORMS, OPS_BY_CODE, SLOTS
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space
from tb.isa.status import Status
from tb.isa.text import to_text
from tb.record import OpCount

FULL_COMPARE_EPOCHS = 64
FULL_COMPARE_FRACTION = 4
"""Every byte is compared after so many epochs, and in long runs after a quarter of those so far:
what there is to compare grows with the run, and its cost must not grow with the square."""

REMEMBERED_EPOCHS = 1024
"""Epochs that a stray write can be attributed to, back from the comparison that finds it."""

LEGALITY_SAMPLE = 16
"""Of so many ops one is checked again by the rule predicates, whoever drew it."""

_FORM_OF = {op: form for form, op in LEGACY_FORMS.items()}


class DmaScoreboard(uvm_subscriber):
    """Checks epochs; publishes :class:`~tb.agents.items.CheckedEpoch` on ``ap``."""

    def build_phase(self) -> None:
        """Makes golden memory and model from what the run is configured with."""
        self.ap = uvm_analysis_port("ap", self)
        self.run = ConfigDB().get(self, "", "RUN")
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.memory = self.run.memory
        self.actual: Mapping[Space, NDArray[np.uint8]] = {
            space: self.memory.view(space) for space in Space
        }
        self.restart()
        self._written = [0] * len(SLOTS)
        self._since_full: deque[Epoch] = deque(maxlen=REMEMBERED_EPOCHS)
        self._epochs = 0
        self._next_full = FULL_COMPARE_EPOCHS
        settings = self.run.settings
        self._lanes = dict.fromkeys(Space, settings.local_width // 8)
        self._lanes[Space.GM] = settings.gm_width // 8

    def restart(self) -> None:
        """Starts again from the background of the memories under test, registers reset."""
        self.golden = GoldenMemory(self._background)
        self.model = DmaModel(
            self.golden,
            before_read=self.golden.ensure_footprint,
            before_write=self.golden.expect_write,
        )

    def _background(self, space: Space, start: int, length: int) -> NDArray[np.uint8]:
        """Initial content of both sides: the DUT's memory takes it in at the same time."""
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

    def write(self, epoch: Epoch) -> None:
        """Checks one epoch that has retired, or that the watchdog ended."""
        if epoch.hung:
            self._report_hang(epoch)
            return
        block = epoch.block
        program = block.program()
        with self.stopwatch.phase("model"):
            registers = copy.deepcopy(self.model.registers) if epoch.isolated else None
            outcomes, predictions = self._run_model(epoch, program)
            if registers is not None:
                self.model.registers = registers
        passed = np.ones(len(block), dtype=np.bool_)
        with self.stopwatch.phase("compare"):
            self._check_retirement(epoch, program, outcomes, predictions, passed)
            self._check_bytes(epoch, program, outcomes, passed)
            self._count(epoch, outcomes, passed)
            self._since_full.append(epoch)
            self._epochs += 1
            self._check_protocol()
            if self._epochs >= self._next_full:
                self.compare_everything()
                self._next_full = self._epochs + max(
                    FULL_COMPARE_EPOCHS, self._epochs // FULL_COMPARE_FRACTION
                )
        self.mailbox.report_progress(self.run.transactions, self.run.mismatches)
        self.ap.write(CheckedEpoch(epoch, passed))

    # --- model -------------------------------------------------------------------------------

    def _run_model(
        self, epoch: Epoch, program: list[tuple[Any, ...]]
    ) -> tuple[list[Outcome], list[Prediction | None]]:
        """Executes the ops in program order on the golden memory."""
        outcomes: list[Outcome] = []
        predictions: list[Prediction | None] = []
        block = epoch.block
        expected = None if block.expected_rule is None else block.expected_rule.tolist()
        model, fault = self.model, epoch.fault
        for index, ops in enumerate(program):
            # Only what claims to be legal skips the rules, and a sample of that does not.
            legal = expected is None or expected[index] == 0
            if legal and (epoch.first + index) % LEGALITY_SAMPLE == 0:
                legal = False
            for op in ops[:-1]:
                model.issue(op)
            outcome = model.issue(ops[-1], legal=legal)
            if expected is not None and outcome.rule != expected[index]:
                self._fail_op(
                    epoch,
                    index,
                    ops,
                    f"stimulus and model disagree: rule {expected[index]} was meant, "
                    f"the model says {outcome.rule}",
                )
            prediction = predict(outcome, fault, self._lanes) if fault is not None else None
            if prediction is None:
                model.apply(outcome)
            else:
                self._adopt(outcome)
            outcomes.append(outcome)
            predictions.append(prediction)
        return outcomes, predictions

    def _adopt(self, outcome: Outcome) -> None:
        """Takes over the destination of an op that met a bus error: its bytes are undefined."""
        if outcome.written is None:
            return
        self.golden.expect_write(outcome.written)
        if outcome.read is not None:
            self.golden.ensure_footprint(outcome.read)
        self._copy_rows(outcome)

    def adopt_block(self, block: OpBlock) -> None:
        """Takes over whatever a block that was cut off by a reset has written.

        Its destinations are undefined then; every other byte must be as it was.
        """
        for ops in block.program():
            for op in ops:
                outcome = self.model.issue(op)
            self._adopt(outcome)

    def _copy_rows(self, outcome: Outcome) -> None:
        written = outcome.written
        assert written is not None
        ours, theirs = self.golden[written.space], self.actual[written.space]
        for start in written.row_starts().tolist():
            ours[start : start + written.length] = theirs[start : start + written.length]

    # --- retirement --------------------------------------------------------------------------

    def _check_retirement(
        self,
        epoch: Epoch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        predictions: list[Prediction | None],
        passed: NDArray[np.bool_],
    ) -> None:
        """Checks tags, statuses, rule numbers, and that no done came before the last write."""
        for slot, indices in epoch.order.items():
            records = epoch.done[slot]
            order = indices.tolist()
            tags = records["tag"].tolist()
            statuses = records["status"].tolist()
            rules = records["rule"].tolist()
            addresses = records["addr"].tolist()
            written = records["written_bytes"].tolist()
            floor = self._written[slot]
            for position, index in enumerate(order):
                outcome, prediction = outcomes[index], predictions[index]
                status = outcome.status if prediction is None else prediction.status
                got = statuses[position]
                why = ""
                if tags[position] != epoch.tags[index]:
                    why = f"done carries tag {tags[position]}, expected {epoch.tags[index]}"
                elif got != status:
                    why = (
                        f"retired with status {got} {_status_name(got)}, expected "
                        f"{int(status)} {status.name}"
                    )
                elif rules[position] != outcome.rule:
                    why = f"reported rule {rules[position]}, expected {outcome.rule}"
                elif prediction is not None and not prediction.explains(addresses[position]):
                    why = (
                        f"reported address {addresses[position]:#x} for an error at "
                        f"{prediction.address:#x}"
                    )
                if prediction is None:
                    floor += outcome.bytes_written
                    if not why and written[position] < floor:
                        why = (
                            f"done came {floor - written[position]} bytes early: "
                            f"{written[position]} of {floor} bytes of this slot were written"
                        )
                if why:
                    passed[index] = False
                    self._fail_op(epoch, index, program[index], why)
            if len(written):
                self._written[slot] = written[-1]
        for name, count in zip(*_count_statuses(epoch), strict=True):
            self.run.statuses[_status_name(name)] += count

    # --- bytes -------------------------------------------------------------------------------

    def _check_bytes(
        self,
        epoch: Epoch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        passed: NDArray[np.bool_],
    ) -> None:
        """Compares destination and guard of each op."""
        for index, outcome in enumerate(outcomes):
            written = outcome.written
            if written is None:
                continue
            found = compare_op(
                self.actual, self.golden, outcome, bus_bytes=self._lanes[written.space]
            )
            if found:
                passed[index] = False
                for mismatch in found:
                    self._fail_bytes(epoch, index, program[index], mismatch)
                self._resync(outcome, found)

    def _resync(self, outcome: Outcome, found: tuple[Mismatch, ...]) -> None:
        """Takes wrong bytes over, so that they are reported once."""
        self._copy_rows(outcome)
        for mismatch in found:
            stop = mismatch.address + mismatch.extent
            ours, theirs = self.golden[mismatch.space], self.actual[mismatch.space]
            if mismatch.extent <= 1 << 24:
                ours[mismatch.address : stop] = theirs[mismatch.address : stop]

    def _count(self, epoch: Epoch, outcomes: list[Outcome], passed: NDArray[np.bool_]) -> None:
        """Adds the epoch to the counts of the run."""
        run, block = self.run, epoch.block
        codes = block.opcode.tolist()
        for index, (outcome, good) in enumerate(zip(outcomes, passed.tolist(), strict=True)):
            name = OPS_BY_CODE[codes[index]].name
            if index in block.legacy:
                name = _FORM_OF[name]
            count = run.ops.get(name)
            if count is None:
                count = run.ops.setdefault(name, OpCount())
            count.sent += 1
            count.passed += good
            count.bytes += outcome.bytes_written
            run.bytes_checked += outcome.bytes_written
        run.transactions += len(block)

    # --- whole memories ----------------------------------------------------------------------

    def compare_everything(self) -> None:
        """Compares every byte of every memory; nothing may be in flight."""
        found = compare_full(
            self.actual, self.golden, self.memory.dirty_gm_pages(), bus_bytes=self._lanes[Space.GM]
        )
        self.run.full_compares += 1
        for mismatch in found:
            writer = self.memory.last_writer(mismatch.space, mismatch.address)
            text = self._suspect(writer)
            last = None if writer is None else LastWriter(writer.cycle, SLOTS[writer.slot])
            self.run.fail(render(mismatch, op=text, writer=last, repro=self.run.command))
            stop = mismatch.address + mismatch.extent
            if mismatch.extent <= 1 << 24:
                self.golden.write(
                    mismatch.space,
                    mismatch.address,
                    self.actual[mismatch.space][mismatch.address : stop].tobytes(),
                )
        self._since_full.clear()

    def _suspect(self, writer: Any) -> str:
        """Returns the text of the op that was running when a stray byte was written."""
        if writer is None:
            return ""
        for epoch in self._since_full:
            records = epoch.done.get(writer.slot)
            if records is None:
                continue
            inside = np.flatnonzero(
                (records["accept_cycle"] <= writer.cycle) & (writer.cycle <= records["done_cycle"])
            )
            if len(inside):
                index = int(epoch.order[writer.slot][inside[0]])
                return self._text(epoch, index, epoch.block.program()[index])
        return ""

    def close(self) -> None:
        """Last comparison and last look at the protocol checkers, at the end of a run."""
        with self.stopwatch.phase("compare"):
            if self.run.abort_status != "hang":
                self.compare_everything()
            self._check_protocol()

    # --- reports -----------------------------------------------------------------------------

    def _check_protocol(self) -> None:
        """Reads new messages of the HDL checkers and doors."""
        self.run.protocol_errors = self.mailbox.errors
        for message in self.mailbox.poll_errors():
            self.run.protocol_failure(f"protocol: {message}\n  repeat: {self.run.command}")

    def _report_hang(self, epoch: Epoch) -> None:
        lines = []
        for slot, indices in epoch.order.items():
            done = len(epoch.done.get(slot, ()))
            if done < len(indices):
                index = int(indices[done])
                text = self._text(epoch, index, epoch.block.program()[index])
                lines.append(
                    f"  {SLOTS[slot]}: {len(indices) - done} descriptors not retired; the oldest:\n"
                    f"    {text}"
                )
        clocks = self.run.settings.watchdog_clocks
        report = "\n".join(
            [
                f"HANG: no descriptor accepted or retired for {clocks} clocks",
                *lines,
                f"  repeat: {self.run.command}",
            ]
        )
        self.run.failures.append(report)
        self.run.abort("hang", f"the DUT hangs: nothing moved for {clocks} clocks")
        self._check_protocol()

    def _text(self, epoch: Epoch, index: int, ops: tuple[Any, ...]) -> str:
        """Returns the PTO text of an op; for an illegal one also what its descriptor breaks."""
        text = "\n".join(to_text(op) for op in ops)
        slot = int(epoch.block.slot[index])
        return f"transaction {epoch.first + index} on {SLOTS[slot]}:\n{text}"

    def _fail_op(self, epoch: Epoch, index: int, ops: tuple[Any, ...], why: str) -> None:
        text = self._text(epoch, index, ops).replace("\n", "\n    ")
        lines = [f"MISMATCH: {why}", f"  {text}"]
        violation = first_d_violation(unpack(epoch.block.pack()[index]))
        if violation is not None:
            lines.append(f"  the op breaks {violation}")
        lines.append(f"  repeat: {self.run.command}")
        self.run.fail("\n".join(lines))

    def _fail_bytes(
        self, epoch: Epoch, index: int, ops: tuple[Any, ...], mismatch: Mismatch
    ) -> None:
        writer = self.memory.last_writer(mismatch.space, mismatch.address)
        last = None if writer is None else LastWriter(writer.cycle, SLOTS[writer.slot])
        self.run.fail(
            render(
                mismatch,
                op=self._text(epoch, index, ops),
                writer=last,
                repro=self.run.command,
            )
        )


def _status_name(code: int) -> str:
    return Status(code).name if code in Status._value2member_map_ else f"UNKNOWN_{code}"


def _count_statuses(epoch: Epoch) -> tuple[list[int], list[int]]:
    found = [records["status"] for records in epoch.done.values() if len(records)]
    if not found:
        return [], []
    codes, counts = np.unique(np.concatenate(found), return_counts=True)
    return codes.tolist(), counts.tolist()
