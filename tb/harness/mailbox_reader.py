# SPDX-License-Identifier: Apache-2.0
"""The mailbox of a run, read: counters, descriptors in flight, state of the channels.

Another process follows a simulation through the mailbox file with :class:`MailboxReader`. Its
layout is in :mod:`tb.harness.layout`.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.harness.layout import (
    CHANNELS,
    ERRORS,
    EVENTS,
    KNOBS,
    MAGIC,
    MAILBOX,
    OPEN,
    PINS,
    RING,
    VERSION,
    MailboxError,
)
from tb.isa.ops import SLOTS

MAILBOX_ENV = "PTO_MAILBOX"
"""Environment variable with the path of the mailbox file; unset, the mailbox is private."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Counters of a run, from its mailbox.

    Attributes:
        cycles: Clocks simulated.
        submitted, retired: Descriptors handed over, and retired (or dropped by a reset).
        checked, mismatches: Counts that the scoreboard reported.
        heartbeat: Changes whenever Python in the simulator reports anything.
        errors: Protocol errors.
        hang: The watchdog has fired.
    """

    cycles: int
    submitted: int
    retired: int
    checked: int
    mismatches: int
    heartbeat: int
    errors: int
    hang: bool


@dataclass(frozen=True, slots=True)
class InFlight:
    """A descriptor that has not retired.

    Attributes:
        slot: Number of its slot.
        index: Its number among all descriptors of the slot, from 0.
        state: ``"accepted"`` by the engine, ``"offered"`` to it, or ``"queued"``.
        tag: Its tag.
        words: ``uint32[16]``, packed.
        waits: Retired descriptors of each slot that it waits for, 0 for none.
    """

    slot: int
    index: int
    state: str
    tag: int
    words: NDArray[np.uint32]
    waits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SlotState:
    """The channels of a slot at one clock: of the last wake-up or hang, or at most 4096 clocks old.

    Attributes:
        slot: Number of the slot.
        cycle: The clock.
        pins: Values of :data:`~tb.harness.layout.PINS` before the edge.
        waits: Clocks for which valid or req of a channel has waited, for those that do.
        open: Counts by the names of :data:`~tb.harness.layout.OPEN`.
        held: Descriptors that the engine has accepted and not retired.
        oldest: Clocks since it accepted the oldest of them.
        flag_addr, flag_mask: Last word of unit flags that was read, and the requested flags.
        flag_word: The flags in it.
        flag_reads: Reads in a row that gave the same.
        flag_age: Clocks since the last of them, None before the first.
    """

    slot: int
    cycle: int
    pins: Mapping[str, bool]
    waits: Mapping[str, int]
    open: Mapping[str, int]
    held: int
    oldest: int
    flag_addr: int
    flag_mask: int
    flag_word: int
    flag_reads: int
    flag_age: int | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a run at one moment.

    Attributes:
        progress: The counters.
        engines: Names of the slots that have an engine; empty before the first clock.
        in_flight: Descriptors that have not retired, oldest first; by slot number.
        retired: Descriptors that have retired or were dropped by a reset; by slot number.
        channels: State of the channels, None before the first report; by slot number.
        knobs: Values of all knobs.
        messages: The messages in the error ring, the oldest first.
        last: Clock of the last event of each kind, for those of
            :data:`~tb.harness.layout.EVENTS` that have come; by slot number.
        reset_cycle: Clock of the last reset, 0 for none.
        written: Bytes that each slot has written since its last done, at least: the ops in flight
            may have written some before it. 0 after a reset, up to the next done.
    """

    progress: Progress
    engines: tuple[str, ...]
    in_flight: tuple[tuple[InFlight, ...], ...]
    retired: tuple[int, ...]
    channels: tuple[SlotState | None, ...]
    knobs: Mapping[str, int]
    messages: tuple[str, ...]
    last: tuple[Mapping[str, int], ...]
    reset_cycle: int
    written: tuple[int, ...] = (0,) * len(SLOTS)


class MailboxView:
    """The fields that both sides read; ``array`` is ``MAILBOX[1]``."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self._slots = array["slot"][0]

    @property
    def pid(self) -> int:
        """Process of the simulator; 0 before it has begun."""
        return int(self._array["pid"][0])

    @property
    def cycles(self) -> int:
        """Clocks simulated."""
        return int(self._array["cycles"][0])

    @property
    def hang(self) -> bool:
        """True once the watchdog has fired; :meth:`Mailbox.clear_hang` takes it back."""
        return bool(self._array["hang"][0])

    @property
    def stop_requested(self) -> bool:
        """True once the process that follows the run has requested its end."""
        return bool(self._array["stop"][0])

    @property
    def clock_ticks(self) -> int:
        """Steps of simulated time in a clock; 0 before Python has started."""
        return int(self._array["clock_ticks"][0])

    @property
    def errors(self) -> int:
        """Errors of backends and checkers, with those that the rate limit did not print."""
        return int(self._array["errors"][0])

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots that have an engine; empty before the first clock."""
        mask = int(self._array["slots"][0])
        return tuple(name for slot, name in enumerate(SLOTS) if mask >> slot & 1)

    def progress(self) -> Progress:
        """Returns the counters at this moment."""
        array = self._array
        return Progress(
            cycles=self.cycles,
            submitted=int(self._slots["submitted"].sum()),
            retired=int(self._slots["done"].sum()),
            checked=int(array["checked"][0]),
            mismatches=int(array["mismatches"][0]),
            heartbeat=int(array["heartbeat"][0]),
            errors=self.errors,
            hang=self.hang,
        )

    def in_flight(self, slot: int) -> list[InFlight]:
        """Returns the descriptors of ``slot`` that have not retired, oldest first."""
        state = self._slots[slot]
        done, accepted = int(state["done"]), int(state["accepted"])
        offered, submitted = int(state["offered"]), int(state["submitted"])
        found = []
        for index in range(done, min(submitted, done + RING)):
            entry = state["desc"][index % RING]
            name = "accepted" if index < accepted else "offered" if index < offered else "queued"
            found.append(
                InFlight(
                    slot,
                    index,
                    name,
                    int(entry["tag"]),
                    entry["words"].copy(),
                    tuple(entry["wait_done"].tolist()),
                )
            )
        return found

    def retired(self, slot: int) -> int:
        """Returns how many descriptors of ``slot`` have retired or were dropped by a reset."""
        return int(self._slots["done"][slot])

    def knob(self, name: str) -> int:
        """Returns the value of a knob."""
        return int(self._array["knobs"][0, KNOBS[name].number])

    def stalls(self) -> dict[tuple[str, str], int]:
        """Returns for how many clocks the harness has stalled each channel of each slot.

        Clocks in which valid or req waited; of ``r`` and ``b`` those in which a response that was
        due was held back. From the start of the simulation to the last wake-up, hang or change of
        knobs, and at most 4096 clocks old. Keys are (slot, channel).
        """
        counts = self._slots["stalls"]
        return {
            (name, channel): int(counts[SLOTS.index(name), index])
            for name in self.slots
            for index, channel in enumerate(CHANNELS)
            if channel != "desc"
        }

    def state(self, slot: int) -> SlotState | None:
        """Returns the state of the channels of ``slot``, None before the first report."""
        entry = self._slots[slot]
        cycle, pins = int(entry["state_cycle"]), int(entry["pins"])
        if not cycle:
            return None
        held = int(entry["accepted"]) - int(entry["done"])
        flag_cycle = int(entry["flag_cycle"])
        return SlotState(
            slot,
            cycle,
            {name: bool(pins >> bit & 1) for bit, name in enumerate(PINS)},
            {name: int(entry["waits"][k]) for k, name in enumerate(CHANNELS) if entry["waits"][k]},
            {name: int(entry["open"][k]) for k, name in enumerate(OPEN)},
            held,
            cycle - int(entry["accept_cycle"]) if held else 0,
            int(entry["flag_addr"]),
            int(entry["flag_mask"]),
            int(entry["flag_word"]),
            int(entry["flag_reads"]),
            cycle - flag_cycle if flag_cycle else None,
        )

    def snapshot(self) -> Snapshot:
        """Returns the whole state at this moment; takes no message from the error ring."""
        numbers = range(len(SLOTS))
        return Snapshot(
            progress=self.progress(),
            engines=self.slots,
            in_flight=tuple(tuple(self.in_flight(slot)) for slot in numbers),
            retired=tuple(self.retired(slot) for slot in numbers),
            channels=tuple(self.state(slot) for slot in numbers),
            knobs={name: self.knob(name) for name in KNOBS},
            messages=tuple(self.error_messages()),
            last=tuple(self._last(slot) for slot in numbers),
            reset_cycle=int(self._array["reset_cycle"][0]),
            written=tuple(self._written(slot) for slot in numbers),
        )

    def _written(self, slot: int) -> int:
        entry, reset = self._slots[slot], int(self._array["reset_cycle"][0])
        count = int(entry["records"])
        if not count:
            return 0 if reset else int(entry["written_bytes"])
        last = entry["ring"][(count - 1) % RING]
        before = int(last["done_cycle"]) < reset
        return 0 if before else int(entry["written_bytes"]) - int(last["written_bytes"])

    def _last(self, slot: int) -> dict[str, int]:
        clocks = self._slots["last"][slot].tolist()
        return {name: clock for name, clock in zip(EVENTS, clocks, strict=False) if clock}

    def error_messages(self) -> list[str]:
        """Returns the messages in the error ring, the oldest first; takes none of them."""
        count = int(self._array["error_records"][0])
        return [self._error(index) for index in range(max(0, count - ERRORS), count)]

    def _error(self, index: int) -> str:
        text = bytes(self._array["error_text"][0, index % ERRORS])
        return text.split(b"\0")[0].decode(errors="replace")


class MailboxReader(MailboxView):
    """The mailbox of a simulation in another process, through its file."""

    @classmethod
    def create(cls, path: Path) -> MailboxReader:
        """Makes an empty mailbox file for a simulation that is to be started.

        Raises:
            OSError: The file cannot be written.
        """
        with path.open("wb") as file:
            file.truncate(MAILBOX.itemsize)
        reader = cls._open(path)
        reader._array["magic"] = MAGIC
        reader._array["version"] = VERSION
        reader._array["size"] = MAILBOX.itemsize
        return reader

    @classmethod
    def open(cls, path: Path) -> MailboxReader:
        """Opens the mailbox file of a simulation, running or ended.

        Raises:
            OSError: The file cannot be opened.
            MailboxError: It is not a mailbox of this version.
        """
        reader = cls._open(path)
        header = tuple(int(reader._array[name][0]) for name in ("magic", "version", "size"))
        if header != (MAGIC, VERSION, MAILBOX.itemsize):
            raise MailboxError(f"{path} is not a mailbox of version {VERSION}")
        return reader

    def request_stop(self) -> None:
        """Has the simulation end with its results so far, at its next clock."""
        self._array["stop"] = 1

    @classmethod
    def _open(cls, path: Path) -> MailboxReader:
        with path.open("r+b") as file:
            file.seek(0, 2)
            if file.tell() != MAILBOX.itemsize:
                raise MailboxError(
                    f"{path} has {file.tell()} bytes, a mailbox has {MAILBOX.itemsize}"
                )
            memory = mmap.mmap(file.fileno(), MAILBOX.itemsize)
        return cls(np.frombuffer(memory, dtype=MAILBOX))
