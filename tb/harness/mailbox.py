# SPDX-License-Identifier: Apache-2.0
"""The mailbox inside the simulator: descriptors in, done records out, knobs, faults, watchdog.

:class:`Mailbox` works on the harness's own copy; its layout is in :mod:`tb.harness.layout`.
Nothing here waits: the harness changes its signal ``wake`` when the condition of
:meth:`Mailbox.set_wake_at` is true.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tb.harness.layout import (
    DESC_WORDS,
    EVENTS,
    FAULTS,
    HITS,
    KNOBS,
    LATE,
    MAGIC,
    MAILBOX,
    MOVING_ON,
    READ,
    RING,
    VERSION,
    WRITE,
    MailboxError,
    check_layout,
)
from tb.harness.mailbox_reader import MailboxView
from tb.isa.ops import SLOTS
from tb.isa.spaces import SIZES, Space


@dataclass(frozen=True, slots=True)
class FaultWindow:
    """Accesses that fail, and how; every word of the bus that touches the window meets it.

    Attributes:
        space: Memory of the window.
        address, length: Bytes of the window, both multiples of 32.
        kind: 0 SLVERR, 1 DECERR (both GM), 2 local error (the other memories).
        sides: Bit 0 for reads, bit 1 for writes.
        slots: A bit for each slot.
        nth: Only the n-th word that meets it since it was set; 0 is every one. Ports that meet it
            on one clock count together, and fail together.
    """

    space: Space
    address: int
    kind: int
    length: int = 32
    sides: int = 1 << READ | 1 << WRITE
    slots: int = (1 << len(SLOTS)) - 1
    nth: int = 0


class Mailbox(MailboxView):
    """The mailbox from inside the simulator."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Takes the library of a :class:`~tb.harness.memory.SimMemory`."""
        check_layout(library)
        address = library.pto_mailbox()
        raw = (ctypes.c_uint8 * MAILBOX.itemsize).from_address(address)
        super().__init__(np.frombuffer(memoryview(raw), dtype=MAILBOX))
        if self._array["magic"][0] != MAGIC or self._array["version"][0] != VERSION:
            raise MailboxError("the simulator's mailbox has another version: rebuild it")
        self._submitted = self._slots["submitted"]
        self._records = self._slots["records"]
        self._polled = self._slots["polled"]
        self._done = self._slots["done"]
        self._desc: list[NDArray[Any]] = [self._slots["desc"][slot] for slot in range(len(SLOTS))]
        self._ring: list[NDArray[Any]] = [self._slots["ring"][slot] for slot in range(len(SLOTS))]

    @classmethod
    def attach(cls, library: ctypes.CDLL) -> Mailbox:
        """Opens the mailbox of the running simulation.

        Raises:
            MailboxError: Simulator and Python do not have the same layout.
        """
        return cls(library)

    # --- descriptors -------------------------------------------------------------------------

    def submit_block(
        self,
        slot: int,
        words: ArrayLike,
        tags: ArrayLike,
        gaps: ArrayLike = 0,
        waits: ArrayLike = 0,
    ) -> None:
        """Appends descriptors to the ring of ``slot``; the harness offers them in order.

        Args:
            slot: Number of the slot.
            words: ``uint32[n, 16]``.
            tags: ``uint32[n]``.
            gaps: ``uint32[n]`` or one number: clocks between the accept before and the offer.
            waits: ``uint32[n, 4]`` or one number: a descriptor is offered once slot s has retired
                at least so many, counted from the start of the simulation; 0 is not a wait.

        Raises:
            MailboxError: The slot has no engine, or the ring has no room for all of them.
            ValueError: ``words`` has another shape.
        """
        block = np.asarray(words, dtype=np.uint32)
        if block.ndim != 2 or block.shape[1] != DESC_WORDS:
            raise ValueError(f"words is {list(block.shape)}: descriptors are [n, {DESC_WORDS}]")
        count = len(block)
        engines = int(self._array["slots"][0])
        if engines and not engines >> slot & 1:
            raise MailboxError(
                f"slot {SLOTS[slot]} has no engine in this simulation, only "
                f"{', '.join(self.slots)} have: define PTO_{SLOTS[slot].upper()}_MODULE"
            )
        first = int(self._submitted[slot])
        room = self.room(slot)
        if count > room:
            raise MailboxError(
                f"{count} descriptors for {SLOTS[slot]}, the ring has room for {room} of "
                f"{RING}: wait until earlier ones have retired and were polled"
            )
        ring = self._desc[slot]
        gap = np.broadcast_to(np.asarray(gaps, dtype=np.uint32), (count,))
        wait = np.broadcast_to(np.asarray(waits, dtype=np.uint32), (count, len(SLOTS)))
        tag = np.broadcast_to(np.asarray(tags, dtype=np.uint32), (count,))
        start = first % RING
        split = min(count, RING - start)
        for target, source in (
            (slice(start, start + split), slice(0, split)),
            (slice(0, count - split), slice(split, count)),
        ):
            if source.stop > source.start:
                ring["words"][target] = block[source]
                ring["tag"][target] = tag[source]
                ring["gap"][target] = gap[source]
                ring["wait_done"][target] = wait[source]
        self._submitted[slot] = first + count

    def room(self, slot: int) -> int:
        """Returns how many descriptors :meth:`submit_block` takes now.

        A descriptor holds its place until its done record was polled.
        """
        in_ring = int(self._submitted[slot]) - int(self._done[slot])
        unread = int(self._records[slot]) - int(self._polled[slot])
        return max(0, RING - in_ring - unread)

    def submitted(self, slot: int) -> int:
        """Returns how many descriptors ``slot`` was given, by ring or pins."""
        return int(self._submitted[slot])

    def written_bytes(self, slot: int) -> int:
        """Returns how many bytes ``slot`` has written so far: what done records count up."""
        return int(self._slots["written_bytes"][slot])

    def poll_done(self, slot: int) -> NDArray[Any]:
        """Returns the done records since the last call, ``DONE[n]`` in the order of retirement."""
        first, last = int(self._polled[slot]), int(self._records[slot])
        first = max(first, last - RING)  # pins have no limit: the oldest were overwritten
        ring: NDArray[Any] = self._ring[slot]
        start, stop = first % RING, last % RING
        self._polled[slot] = last
        if start < stop or first == last:
            return ring[start:stop].copy()
        return np.concatenate((ring[start:], ring[:stop]))

    def set_wake_at(self, counts: Sequence[int]) -> None:
        """Requests a change of ``wake`` once every slot has retired ``counts[slot]`` descriptors.

        One request, one change; a new request replaces one that was not answered.
        """
        self._array["wake_at"][0] = counts
        self._array["wake_request"] += 1

    def set_aim(self, slot: int, event: str, count: int, delay: int) -> None:
        """Requests a change of ``wake`` some clocks after an event at the ports of a slot.

        It comes instead of that of :meth:`set_wake_at`, if it is the earlier one. A reset removes
        the request.

        Args:
            slot: Number of the slot.
            event: One of :data:`~tb.harness.layout.EVENTS`.
            count: The event is the n-th of its kind, from the next clock on.
            delay: Clocks after it.

        Raises:
            ValueError: No such event, or ``count`` is not 1 to 2^32 - 1.
        """
        if event not in EVENTS:
            raise ValueError(f"no event {event!r}: there are {', '.join(EVENTS)}")
        if not 1 <= count < 1 << 32:
            raise ValueError(f"count is {count}: legal is 1 to {(1 << 32) - 1}")
        aim = self._array["aim"][0]
        for name, value in (
            *(("slot", slot), ("channel", EVENTS.index(event)), ("count", count)),
            *(("delay", delay), ("sets", int(aim["sets"]) + 1)),
        ):
            aim[name] = value
        self._changed()

    @property
    def aim_met(self) -> bool:
        """True when the event of the last :meth:`set_aim` has changed ``wake``."""
        aim = self._array["aim"][0]
        return bool(aim["met"] == aim["sets"])

    # --- watchdog, reports --------------------------------------------------------------------

    def set_watchdog_clocks(self, clocks: int, moving: int = 0) -> None:
        """Sets after how many clocks a slot with a descriptor hangs.

        Args:
            clocks: Without an accepted or retired descriptor and without a beat; 0 turns the
                watchdog off.
            moving: Without an accepted or retired descriptor while beats are granted; 0 for no
                limit.

        Raises:
            ValueError: Not in 0 to 2^32 - 1.
        """
        for value in (clocks, moving):
            if not 0 <= value < 1 << 32:
                raise ValueError(f"watchdog_clocks is {value}: legal is 0 (off) to {(1 << 32) - 1}")
        self._array["moving_clocks"][0] = moving
        self._array["watchdog_clocks"][0] = clocks

    @property
    def watchdog_clocks(self) -> int:
        """Clocks without a descriptor after which a slot hangs, of the kind of the hang if any."""
        return int(self._array["moving_clocks" if self.moves_on else "watchdog_clocks"][0])

    @property
    def moves_on(self) -> bool:
        """True when the watchdog ended slots that move bytes without an end."""
        return bool(self._array["hang"][0] == MOVING_ON)

    def moved_bytes(self, slot: int) -> int:
        """Returns the bytes of beats granted since ``slot`` accepted or retired a descriptor."""
        return int(self._slots["moved_bytes"][slot])

    def clear_hang(self) -> None:
        """Clears the verdict of the watchdog, after a reset."""
        self._array["hang"][0] = 0

    def set_clock_ticks(self, ticks: int) -> None:
        """Notes the steps of simulated time in a clock, for those who read the log."""
        self._array["clock_ticks"][0] = ticks

    def report_progress(self, checked: int, mismatches: int) -> None:
        """Reports the counts of the scoreboard to the process that follows the run."""
        self._array["checked"][0] = checked
        self._array["mismatches"][0] = mismatches
        self.beat()

    def beat(self) -> None:
        """Reports that Python is alive, as in a long comparison."""
        self._array["heartbeat"] += 1

    def poll_errors(self) -> list[str]:
        """Returns the messages of backends and checkers since the last call.

        The first eight of each kind and slot since the last reset have a message, and 64 unread
        ones are kept; :attr:`errors` counts all.
        """
        first, last = int(self._array["errors_polled"][0]), int(self._array["error_records"][0])
        if first == last:
            return []
        messages = [self._error(index) for index in range(first, last)]
        self._array["errors_polled"][0] = last
        return messages

    # --- knobs and faults --------------------------------------------------------------------

    def set_knobs(self, **values: int) -> None:
        """Sets some knobs (:data:`KNOBS`); they count from the next clock, all at once.

        Raises:
            ValueError: No such knob, or a value outside of its range; then none is set.
        """
        for name, value in values.items():
            knob = KNOBS.get(name)
            if knob is None:
                raise ValueError(f"no knob {name!r}: there are {', '.join(KNOBS)}")
            if not knob.low <= value <= knob.high:
                raise ValueError(
                    f"{name} is {value}: legal is {knob.low} to {knob.high} ({knob.meaning})"
                )
        for name, value in values.items():
            self._array["knobs"][0, KNOBS[name].number] = value
        self._changed()

    def set_fault(
        self,
        index: int,
        fault: FaultWindow | Space,
        address: int | None = None,
        kind: int | None = None,
    ) -> None:
        """Makes accesses fail from the next clock on; the counts of the fault start from 0.

        Args:
            index: Which of the eight faults to set; where windows meet, the lowest answers.
            fault: The window, or the memory of one granule of 32 bytes that always fails.
            address: Any byte of that granule.
            kind: As in :class:`FaultWindow`, of that granule.

        Raises:
            ValueError: One of these is out of range, or kind and space do not fit.
        """
        if not isinstance(fault, FaultWindow):
            if address is None or kind is None:
                raise ValueError("a fault of one granule needs its address and its kind")
            _check_fault(fault, address, kind)
            fault = FaultWindow(fault, address & ~31, kind)
        if not 0 <= index < FAULTS:
            raise ValueError(f"fault {index}: legal is 0 to {FAULTS - 1}")
        _check_fault(fault.space, fault.address, fault.kind)
        _check_window(fault)
        entry = self._array["faults"][0, index : index + 1]
        entry[0] = (
            *(1, int(fault.space), int(fault.kind), fault.sides),
            *(fault.address, fault.length, fault.slots, fault.nth),
            *(0, int(entry["sets"][0]) + 1),
        )
        self._changed()

    def clear_fault(self, index: int) -> None:
        """Removes a fault; its count of answers can still be read."""
        self._array["faults"][0, index]["enable"] = 0
        self._changed()

    def clear_faults(self) -> None:
        """Removes all faults."""
        self._array["faults"]["enable"] = 0
        self._changed()

    def fault_hits(self, index: int) -> int:
        """Returns how often a fault has answered since it was set."""
        return int(self._array["faults"][0, index]["hits"])

    def faults(self) -> list[tuple[int, FaultWindow]]:
        """Returns the faults that are set, with their indices."""
        return [
            (
                index,
                FaultWindow(
                    Space(int(entry["space"])),
                    int(entry["addr"]),
                    int(entry["kind"]),
                    int(entry["length"]),
                    int(entry["sides"]),
                    int(entry["slots"]),
                    int(entry["nth"]),
                ),
            )
            for index, entry in enumerate(self._array["faults"][0])
            if entry["enable"]
        ]

    @property
    def hits(self) -> int:
        """Erroneous responses so far, with those that the log had no room for."""
        return int(self._array["hits"][0])

    def poll_hits(self) -> NDArray[Any]:
        """Returns the erroneous responses since the last call, ``HIT[n]`` in order of time.

        A read or a local write is there once the engine has its response; each beat of a write
        burst with an error has an entry, of the clock of its B. The log holds 4096 unread entries;
        later ones only count (:attr:`hits`).
        """
        return self._poll("hit", "hit_records", "hits_polled", HITS)

    def poll_late_bursts(self) -> NDArray[Any]:
        """Returns the late bursts since the last call, ``LATE_BURST[n]``, the oldest 256.

        Late are bursts of a slot whose VALID rose more than :data:`~tb.harness.layout.GRACE`
        clocks after its first error, until it holds no descriptor. They may belong to ops after
        the one that failed.
        """
        return self._poll("late", "late_records", "late_polled", LATE)

    def _poll(self, ring: str, records: str, polled: str, size: int) -> NDArray[Any]:
        first, last = int(self._array[polled][0]), int(self._array[records][0])
        entries: NDArray[Any] = self._array[ring][0][np.arange(first, last) % size]
        self._array[polled][0] = last
        return entries

    def set_gm_limit(self, limit: int = SIZES[Space.GM]) -> None:
        """Makes GM addresses from ``limit`` on answer DECERR.

        Raises:
            ValueError: Past the end of GM.
        """
        if not 0 <= limit <= SIZES[Space.GM]:
            raise ValueError(f"gm_limit is {limit:#x}: legal is 0 to {SIZES[Space.GM]:#x}")
        self._array["gm_limit"][0] = limit
        self._changed()

    @property
    def version(self) -> int:
        """Counts changes of knobs and faults."""
        return int(self._array["knob_version"][0])

    def fault_sets(self, index: int) -> int:
        """Returns how often a fault has been set: its counts start from 0 each time."""
        return int(self._array["faults"][0, index]["sets"])

    def _changed(self) -> None:
        self._array["knob_version"] += 1


def _check_fault(space: Space, address: int, kind: int) -> None:
    if not 0 <= address < SIZES[space]:
        raise ValueError(f"fault at {address:#x}: {space.name} ends at {SIZES[space]:#x}")
    if kind not in ((0, 1) if space is Space.GM else (2,)):
        raise ValueError(
            f"fault kind {int(kind)} in {space.name}: GM has 0 (SLVERR) and 1 (DECERR), the "
            "other memories have 2"
        )


def _check_window(fault: FaultWindow) -> None:
    end = fault.address + fault.length
    if fault.address % 32 or fault.length % 32 or fault.length <= 0:
        raise ValueError(
            f"fault window {fault.address:#x}, {fault.length} bytes: both are multiples of 32, and "
            "it is not empty"
        )
    if end > SIZES[fault.space]:
        raise ValueError(
            f"fault window to {end:#x}: {fault.space.name} ends at {SIZES[fault.space]:#x}"
        )
    for name, low, high in (("sides", 1, 3), ("slots", 1, 15), ("nth", 0, 0xFFFF_FFFF)):
        value = getattr(fault, name)
        if not low <= value <= high:
            raise ValueError(f"{name} of a fault is {value}: legal is {low} to {high}")
