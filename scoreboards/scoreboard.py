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
from scoreboards.model.burst import LOWERING_RULES
from scoreboards.model.dma import DmaModel
from scoreboards.model.outcome import Outcome
from scoreboards.regions import distance, rows_view
from scoreboards.report import LastWriter, render
from scoreboards.unit_flags import adopt_undefined, clear_fault, produce, wrong_flags
from sequences.constraints import DEFAULT_WINDOWS
from tb.agents.items import CheckedEpoch, Epoch
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.footprint import Footprint, destinations, footprints_overlap
from tb.isa.legacy import CopyUbufToUbuf
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

FIX_SOURCE_BYTES = 64
"""Width of the ports on which the fix slot reads local memories (docs/contract.md)."""

_FIX = SLOTS.index("fix")
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
        self.golden = GoldenMemory(self._background, unit_flags=self.memory.background_flags())
        self.model = DmaModel(
            self.golden,
            before_read=self.golden.ensure_footprint,
            before_write=self.golden.expect_write,
            unit_flags=self.golden.unit_flags,
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
        with self.stopwatch.phase("model"):
            program = block.program()
            self._fill(block)
            registers = copy.deepcopy(self.model.registers) if epoch.isolated else None
            outcomes, predictions = self._run_model(epoch, program)
            if registers is not None:
                self.model.registers = registers
        passed = np.ones(len(block), dtype=np.bool_)
        with self.stopwatch.phase("compare"):
            sizes = [outcome.bytes_written for outcome in outcomes]
            self._check_retirement(epoch, program, outcomes, predictions, sizes, passed)
            self._check_bytes(epoch, program, outcomes, passed)
            self._check_flags(epoch, program, outcomes, predictions, passed)
            self._count(epoch, sizes, passed)
            self._since_full.append(epoch)
            self._epochs += 1
            self._check_protocol()
            if self._epochs >= self._next_full:
                self.compare_everything()
                self._next_full = self._epochs + max(
                    FULL_COMPARE_EPOCHS, self._epochs // FULL_COMPARE_FRACTION
                )
        self.mailbox.report_progress(self.run.transactions, self.run.mismatches)
        events = np.array([outcome.events for outcome in outcomes], dtype=np.int64)
        self.ap.write(CheckedEpoch(epoch, passed, events))

    # --- model -------------------------------------------------------------------------------

    def _fill(self, block: OpBlock) -> None:
        """Writes what the stimulus put into memory before it issued the block."""
        for fill in block.fills:
            self.golden.write(fill.space, fill.start, fill.data)

    def _run_model(
        self, epoch: Epoch, program: list[tuple[Any, ...]]
    ) -> tuple[list[Outcome], list[Prediction | None]]:
        """Executes the ops in program order on the golden memory."""
        outcomes: list[Outcome] = []
        predictions: list[Prediction | None] = []
        block = epoch.block
        expected = None if block.expected_rule is None else block.expected_rule.tolist()
        model, fault = self.model, epoch.fault
        undefined: list[Footprint] = []
        wide = dict.fromkeys(epoch.order.get(_FIX, ()), FIX_SOURCE_BYTES)
        for index, ops in enumerate(program):
            # Only what claims to be legal skips the rules, and a sample of that does not.
            legal = expected is None or expected[index] == 0
            if legal and (epoch.first + index) % LEGALITY_SAMPLE == 0:
                legal = False
            for op in ops[:-1]:
                early = model.issue(op)
                if isinstance(op, CopyUbufToUbuf) and early.rule not in LOWERING_RULES:
                    self._fail_op(
                        epoch,
                        index,
                        ops,
                        "stimulus and model disagree: a copy_ubuf_to_ubuf was not issued, the "
                        f"model says {_verdict(early)}",
                    )
            outcome = model.issue(ops[-1], legal=legal)
            if expected is not None and outcome.rule != expected[index]:
                self._fail_op(
                    epoch,
                    index,
                    ops,
                    f"stimulus and model disagree: rule {expected[index]} was meant, "
                    f"the model says {outcome.rule}",
                )
            prediction = None
            if fault is not None:
                prediction = predict(outcome, fault, self._lanes, read_bytes=wide.get(index))
            if prediction is None:
                produce(self.golden.unit_flags, outcome)
                outcome = model.apply(outcome)
                # An atomic update of what a failed op was to write starts from undefined bytes.
                in_place = [x for x in outcome.also_read if x.space is Space.GM]
                if any(footprints_overlap(x, y) for x in in_place for y in undefined):
                    self._copy_rows(outcome)
                    undefined += outcome.regions
            else:
                self._adopt(outcome)
                undefined += outcome.regions
            outcomes.append(outcome)
            predictions.append(prediction)
        return outcomes, predictions

    def _adopt(self, outcome: Outcome) -> None:
        """Takes over the destination of an op that met a bus error: its bytes are undefined.

        So are the unit flags it waited for.
        """
        for region in outcome.regions:
            self.golden.expect_write(region)
        for region in outcome.reads:
            self.golden.ensure_footprint(region)
        self._copy_rows(outcome)
        if outcome.flags is not None:
            blocks = outcome.flags.blocks
            self.golden.unit_flags[blocks] = self.memory.unit_flags[blocks]

    def adopt_block(self, block: OpBlock) -> None:
        """Takes over whatever a block that was cut off by a reset has written.

        Its destinations are undefined then; every other byte must be as it was.
        """
        self._fill(block)
        for ops in block.program():
            for op in ops:
                outcome = self.model.issue(op)
            self._adopt(outcome)

    def _copy_rows(self, outcome: Outcome) -> None:
        for region in outcome.regions:
            ours, theirs = self.golden[region.space], self.actual[region.space]
            rows_view(ours, region)[...] = rows_view(theirs, region)

    # --- retirement --------------------------------------------------------------------------

    def _check_retirement(
        self,
        epoch: Epoch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        predictions: list[Prediction | None],
        sizes: list[int],
        passed: NDArray[np.bool_],
    ) -> None:
        """Checks tags, statuses, rule numbers, and that no done came before the last write.

        Nor did any clear of unit flags.
        """
        expected_tags = epoch.tags.tolist()
        for slot, indices in epoch.order.items():
            records = epoch.done[slot]
            order = indices.tolist()
            tags = records["tag"].tolist()
            statuses = records["status"].tolist()
            rules = records["rule"].tolist()
            addresses = records["addr"].tolist()
            written = records["written_bytes"].tolist()
            cleared = records["clear_bytes"].tolist()
            floor = self._written[slot]
            for position, index in enumerate(order):
                outcome, prediction = outcomes[index], predictions[index]
                status = outcome.status if prediction is None else prediction.status
                got = statuses[position]
                why = ""
                if tags[position] != expected_tags[index]:
                    why = f"done carries tag {tags[position]}, expected {expected_tags[index]}"
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
                    floor += sizes[index]
                    if not why and written[position] < floor:
                        why = (
                            f"done came {floor - written[position]} bytes early: "
                            f"{written[position]} of {floor} bytes of this slot were written"
                        )
                    if not why and slot == _FIX:
                        why = clear_fault(outcome, cleared[position], floor)
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
        written = [region for outcome in outcomes for region in outcome.regions]
        for index, outcome in enumerate(outcomes):
            if outcome.written is None:
                continue
            # What is wrong in another op's destination is that op's own failure, not a guard's.
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

    def _check_flags(
        self,
        epoch: Epoch,
        program: list[tuple[Any, ...]],
        outcomes: list[Outcome],
        predictions: list[Prediction | None],
        passed: NDArray[np.bool_],
    ) -> None:
        """Compares the unit flags, and takes wrong ones over."""
        actual, golden = self.memory.unit_flags, self.golden.unit_flags
        failed = [prediction is not None for prediction in predictions]
        adopt_undefined(actual, golden, outcomes, failed)
        for wrong in wrong_flags(actual, golden, outcomes):
            if wrong.index is None:
                repeat = f"  repeat: {self.run.command}"
                self.run.fail(f"MISMATCH: {wrong}\n  no op of this epoch uses it\n{repeat}")
                continue
            passed[wrong.index] = False
            self._fail_op(epoch, wrong.index, program[wrong.index], str(wrong))
        golden[:] = actual

    def _count(self, epoch: Epoch, sizes: list[int], passed: NDArray[np.bool_]) -> None:
        """Adds the epoch to the counts of the run."""
        run, block = self.run, epoch.block
        good = passed.tolist()
        members: dict[str, list[int]] = {}
        for index, code in enumerate(block.opcode.tolist()):
            name = OPS_BY_CODE[code].name
            if index in block.legacy:
                name = _FORM_OF[name]
            members.setdefault(name, []).append(index)
        for name, indices in members.items():
            count = run.ops.setdefault(name, OpCount())
            size = sum([sizes[index] for index in indices])
            count.sent += len(indices)
            count.passed += sum([good[index] for index in indices])
            count.bytes += size
            run.bytes_checked += size
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
            text = self._suspect(mismatch.address, writer)
            last = None if writer is None else LastWriter(writer.cycle, SLOTS[writer.slot])
            report = render(mismatch, op=text, writer=last, repro=self.run.command)
            self.run.fail(report, stray=True)
            stop = mismatch.address + mismatch.extent
            if mismatch.extent <= 1 << 24:
                self.golden.write(
                    mismatch.space,
                    mismatch.address,
                    self.actual[mismatch.space][mismatch.address : stop].tobytes(),
                )
        self._since_full.clear()

    def _suspect(self, address: int, writer: Any) -> str:
        """Returns the text of the op that most likely wrote a stray byte.

        Of those in flight on the writer's slot in that cycle, the one whose destination is
        closest to the byte.
        """
        if writer is None:
            return ""
        best: tuple[int, Epoch, int] | None = None
        for epoch in self._since_full:
            records = epoch.done.get(writer.slot)
            if records is None:
                continue
            inside = (records["accept_cycle"] <= writer.cycle) & (
                writer.cycle <= records["done_cycle"]
            )
            words = epoch.block.pack() if inside.any() else None
            for position in np.flatnonzero(inside).tolist():
                assert words is not None
                index = int(epoch.order[writer.slot][position])
                regions = destinations(unpack(words[index]))
                away = min([distance(region, address) for region in regions])
                if best is None or away < best[0]:
                    best = (away, epoch, index)
        if best is None:
            return ""
        _, epoch, index = best
        return self._text(epoch, index, epoch.block.program()[index])

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
                text = text.replace("\n", "\n    ")
                lines.append(
                    f"  {SLOTS[slot]}: {len(indices) - done} descriptors not retired; the oldest:\n"
                    f"    {text}"
                )
        # The dispatcher gives a block of many short rows more time than is configured.
        clocks = self.mailbox.watchdog_clocks
        report = "\n".join(
            [
                f"HANG: no descriptor accepted or retired for {clocks} clocks",
                *lines,
                f"  repeat: {self.run.command}",
            ]
        )
        self.run.abort("hang", f"the DUT hangs: nothing moved for {clocks} clocks")
        self._check_protocol()  # what comes first may be the reason
        self.run.failures.append(report)

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


def _verdict(outcome: Outcome) -> str:
    return f"rule {outcome.rule}" if outcome.rule else "it is legal"


def _status_name(code: int) -> str:
    return Status(code).name if code in Status._value2member_map_ else f"UNKNOWN_{code}"


def _count_statuses(epoch: Epoch) -> tuple[list[int], list[int]]:
    found = [records["status"] for records in epoch.done.values() if len(records)]
    if not found:
        return [], []
    codes, counts = np.unique(np.concatenate(found), return_counts=True)
    return codes.tolist(), counts.tolist()
