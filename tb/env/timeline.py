# SPDX-License-Identifier: Apache-2.0
"""The transactions of a run as a trace file for ui.perfetto.dev and chrome://tracing.

Chrome's trace event format, an array of events; one clock is drawn as one microsecond. A slot is a
process, and its transactions are in as many lanes as were in flight at a time. Events are written
during the run: after a crash the array has no end, which the viewers accept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from pyuvm import ConfigDB, uvm_subscriber

from tb.common.paths import RESULT_ENV
from tb.harness.items import Batch, CheckedBatch
from tb.isa.ops import LEGACY_FORMS, OPS_BY_CODE, SLOTS
from tb.isa.spaces import place_text
from tb.isa.status import Status
from tb.isa.text import to_text

TIMELINE = "timeline.json"
"""Name of the file, in the run's folder."""

MOST_TRANSACTIONS = 200_000
"""Least number of last transactions that a file keeps of a long run; earlier ones are dropped."""

_BENCH = len(SLOTS)  # the process of events without a slot
_FORM_OF = {op: form for form, op in LEGACY_FORMS.items()}
_STATUS = {int(status): status.name for status in Status}

Event = dict[str, Any]


class TraceWriter:
    """Writes events, and keeps the last ones only.

    Events are written to a part file next to the trace; a full part replaces the previous one.
    :meth:`close` joins both.

    Args:
        path: The trace; an existing file is removed.
        most: Least number of events kept.
    """

    def __init__(self, path: Path, most: int = MOST_TRANSACTIONS) -> None:
        self._path = path
        self._most = most
        self._older = path.with_name(f".{path.name}.older")
        self._head: list[str] = []
        self._count = 0
        self.dropped = 0
        self._older_count = 0
        for old in (path, self._older):
            old.unlink(missing_ok=True)
        self._file = path.open("w")
        self._file.write("[\n")

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def head(self, event: Event) -> None:
        """Writes an event that is never dropped: names of processes and lanes."""
        line = json.dumps(event, separators=(",", ":"))
        self._head.append(line)
        self._file.write(line + ",\n")

    def write(self, event: Event) -> None:
        """Writes one event."""
        if self._count == self._most:
            self._turn()
        self._count += 1
        self._file.write(json.dumps(event, separators=(",", ":")) + ",\n")

    def flush(self) -> None:
        """Flushes the file."""
        self._file.flush()

    def _turn(self) -> None:
        self._file.close()
        self._path.replace(self._older)
        self.dropped += self._older_count
        self._older_count, self._count = self._count, 0
        self._file = self._path.open("w")
        self._file.write("[\n" + "".join(f"{line},\n" for line in self._head))

    def close(self) -> None:
        """Completes the file."""
        if self._file.closed:
            return
        self._file.close()
        whole = self._path.with_name(f".{self._path.name}.whole")
        parts = [part for part in (self._older, self._path) if part.exists()]
        heads = set(self._head)
        with whole.open("w") as file:
            file.write("[\n" + "".join(f"{line},\n" for line in self._head))
            for part in parts:
                with part.open() as lines:
                    file.writelines(
                        line for line in lines if line != "[\n" and line[:-2] not in heads
                    )
            file.write(json.dumps(_label(self.dropped)) + "\n]\n")
        whole.replace(self._path)
        self._older.unlink(missing_ok=True)


def _label(dropped: int) -> Event:
    """Returns the event that labels the trace with the number of dropped events."""
    text = f"the first {dropped} events were dropped" if dropped else "all events"
    return {"name": "process_labels", "ph": "M", "pid": _BENCH, "args": {"labels": text}}


class Lanes:
    """Gives each transaction of a slot a lane without another one in flight."""

    def __init__(self) -> None:
        self._free: list[int] = []

    def take(self, begin: int, end: int) -> int:
        """Returns the lane of a transaction; to be called in order of their start."""
        for lane, free in enumerate(self._free):
            if free <= begin:
                self._free[lane] = end
                return lane
        self._free.append(end)
        return len(self._free) - 1

    def __len__(self) -> int:
        return len(self._free)


class Timeline(uvm_subscriber):
    """Writes the batches that the scoreboard has checked.

    Connected to the scoreboard, and to the dispatcher for the batch that the watchdog ended, which
    the scoreboard does not check.
    """

    def build_phase(self) -> None:
        """Opens the file."""
        self.run = ConfigDB().get(self, "", "RUN")
        self.trace = TraceWriter(Path(os.environ[RESULT_ENV]).with_name(TIMELINE))
        self.lanes = {SLOTS.index(name): Lanes() for name in self.run.slots}
        for slot in self.lanes:
            self._name("process_name", slot, SLOTS[slot])
            self._name("process_sort_index", slot, slot)
        self._name("process_name", _BENCH, "run")

    def final_phase(self) -> None:
        """Completes the file."""
        self.trace.close()

    def write(self, item: CheckedBatch | Batch) -> None:
        """Writes one batch."""
        if isinstance(item, CheckedBatch):
            self._checked(item)
        elif item.hung:
            self._hung(item)

    def _checked(self, checked: CheckedBatch) -> None:
        passed = checked.passed.tolist()
        sizes = [outcome.bytes_written for outcome in checked.outcomes]
        for event in batch_events(checked.batch, passed, sizes, self.lanes, self._name):
            self.trace.write(event)
        self.trace.flush()

    def _hung(self, batch: Batch) -> None:
        """Writes the retired ops of a batch, and the hang."""
        for event in batch_events(batch, None, None, self.lanes, self._name):
            self.trace.write(event)
        self.trace.write(_instant("hang", int(self.run.mailbox.cycles), {}))
        self.trace.flush()

    def _name(self, kind: str, slot: int, value: object, *, lane: int = 0) -> None:
        key = kind.rpartition("_")[2].replace("index", "sort_index")
        event = {"name": kind, "ph": "M", "pid": slot, "tid": lane, "args": {key: value}}
        self.trace.head(event)


def batch_events(
    batch: Batch,
    passed: list[bool] | None,
    sizes: list[int] | None,
    lanes: dict[int, Lanes],
    name: Callable[..., None],
) -> Iterator[Event]:
    """Yields the events of one batch.

    Args:
        batch: The batch.
        passed: The check of each op, None when there was none.
        sizes: Bytes that each op writes, None when not known.
        lanes: Lanes of each slot.
        name: Called with ``thread_name``, slot, text and lane for each lane that comes new.
    """
    program = batch.block.program()
    opcodes = batch.block.opcode.tolist()
    legacy = frozenset(batch.block.legacy_forms)
    begin = None
    for slot, indices in batch.order.items():
        records = batch.done.get(slot)
        if records is None or not len(records):
            continue
        accepts, dones = records["accept_cycle"].tolist(), records["done_cycle"].tolist()
        begin = min(accepts[0], begin if begin is not None else accepts[0])
        facts = zip(
            indices.tolist(), accepts, dones, records["tag"].tolist(), records["status"].tolist(),
            strict=False,
        )  # fmt: skip
        for index, accept, done, tag, status in facts:
            known = len(lanes[slot])
            lane = lanes[slot].take(accept, done)
            if lane == known:
                name("thread_name", slot, f"{SLOTS[slot]} {lane}", lane=lane)
            op = OPS_BY_CODE[opcodes[index]].name
            good = passed is None or passed[index]
            args: dict[str, object] = {
                "transaction": batch.first + index,
                "pto": "\n".join(to_text(one) for one in program[index]),
                "tag": tag,
                "status": _STATUS.get(status, str(status)),
            }
            if sizes is not None:
                args["bytes"] = sizes[index]
            if passed is not None:
                args["passed"] = good
            yield {
                "name": _FORM_OF[op] if index in legacy else op,
                "cat": "transaction" if good else "failed",
                "ph": "X",
                "ts": accept,
                "dur": done - accept,
                "pid": slot,
                "tid": lane,
                "args": args,
                **({} if good else {"cname": "terrible"}),
            }
    at = begin or 0
    yield _instant(f"batch {batch.number}", at, {"transactions": len(batch.block)})
    for fault in batch.faults:
        where = f"{place_text(fault.space, fault.start)}, {fault.size} bytes"
        yield _instant(f"fault {fault.kind.name}", at, {"where": where})
    if batch.reset is not None:
        yield _instant("reset", at + batch.reset.after, {"clocks": batch.reset.hold})


def _instant(name: str, clock: int, args: dict[str, object]) -> Event:
    return {
        "name": name,
        "cat": "run",
        "ph": "i",
        "s": "g",
        "ts": clock,
        "pid": _BENCH,
        "tid": 0,
        "args": args,
    }
