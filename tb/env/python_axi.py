# SPDX-License-Identifier: Apache-2.0
"""GM by ``cocotbext-axi``: a memory with AXI subordinates, independent of the built-in GM.

Slower than tb/hdl/pto_axi_mem.v by two orders of magnitude, but an independent check of the AXI
side. No other module imports ``cocotbext-axi``, which warns about deprecations on cocotb 2.1 and
takes addresses in order. It needs a harness built with ``BuildPlan.axi_pins``.
"""

from __future__ import annotations

import ctypes
import logging
import mmap
import random
import re
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.types import LogicArray

from tb.harness.layout import READ, WRITE
from tb.harness.mailbox import FaultWindow, Mailbox
from tb.harness.memory import PAGE, SimMemory
from tb.isa.ops import SLOTS
from tb.isa.spaces import SIZES, Space

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from cocotbext.axi import AxiBus, AxiResp
    from cocotbext.axi.axi_slave import AxiSlaveRead, AxiSlaveWrite

CLOCK_NS = 10
"""Period of the harness clock, as in tb/hdl/pto_harness.v."""

PREFIX = "m_axi"
FAULT_DECERR = 1
"""Kind of a fault that answers DECERR; other faults of GM answer SLVERR."""

CHANNELS = ("aw", "w", "b", "ar", "r")

_MAP_NORESERVE = 0x4000  # Linux; the mmap module names it only from Python 3.13 on


def start_clock(harness: Any) -> None:
    """Drives the harness clock from Python, as a build with AXI pins requires."""
    # Low first: the harness asserts reset before the first rising edge.
    Clock(harness.clk, CLOCK_NS, unit="ns").start(start_high=False)


class PythonAxiMemory(SimMemory):
    """The simulated memories with GM in ``cocotbext-axi`` RAMs, one per slot, all on one store.

    The on-chip memories, write stamps and the list of written GM pages remain in the C library: the
    harness passes every write beat to it. GM is a separate sparse mapping of 40-bit addresses; a
    page is filled with the background when the DUT, or :meth:`ensure`, first accesses it.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        """Uses the library of the :class:`~tb.harness.memory.SimMemory` that this replaces."""
        super().__init__(library)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        self._store = mmap.mmap(-1, SIZES[Space.GM], flags=flags)
        self._store.madvise(mmap.MADV_NOHUGEPAGE)
        self._views[Space.GM] = np.frombuffer(self._store, dtype=np.uint8)
        self._filled: set[int] = set()
        self._faults: _Faults | None = None
        self.halves: dict[str, tuple[Any, Any]] = {}

    def connect(self, harness: Any, slots: Sequence[str], mailbox: Mailbox | None = None) -> None:
        """Connects a RAM to the AXI pins of each slot, in the scope of that name.

        Args:
            harness: The top of the simulation.
            slots: Slots that have an engine.
            mailbox: Mailbox with the faults; None for a memory without faults.
        """
        if mailbox is not None:
            self._faults = _Faults(mailbox)
        for slot in slots:
            scope = getattr(harness, slot)
            # A line of log for each burst costs more than the burst.
            logging.getLogger(f"cocotb.{scope._name}").setLevel(logging.WARNING)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                bus = AxiBus.from_prefix(scope, PREFIX)
                pins = (harness.clk, harness.rst_n)
                self.halves[slot] = (
                    _WriteHalf(self, slot, bus.write, *pins, reset_active_level=False),
                    _ReadHalf(self, slot, bus.read, *pins, reset_active_level=False),
                )
                for half in self.halves[slot]:
                    half.watch(scope, harness.clk)

    def stall(self, chances: Mapping[str, float], seed: int) -> None:
        """Makes the channels of every slot stall at random.

        Args:
            chances: Chance per clock of each channel, by its name in :data:`CHANNELS`.
            seed: Of the stalls.
        """
        for number, halves in enumerate(self.halves.values()):
            for position, name in enumerate(CHANNELS):
                write, read = halves
                half = write if name in ("aw", "w", "b") else read
                channel = getattr(half, f"{name}_channel")
                chance = chances.get(name, 0.0)
                if chance:
                    channel.set_pause_generator(_pauses(chance, seed + 16 * number + position))
                else:
                    channel.clear_pause_generator()
                    channel.pause = False

    def ensure(self, space: Space, address: int, length: int) -> int:
        """Touches the pages of a range, so that they hold the background.

        Returns:
            How many pages were new.

        Raises:
            ValueError: The range leaves the memory.
        """
        if space is not Space.GM or length <= 0:
            return super().ensure(space, address, length)
        pages = range(address // PAGE, (address + length - 1) // PAGE + 1)
        missing = [page for page in pages if page not in self._filled]
        if missing:
            # One call for all: pages between them are rare and cost a copy.
            start, stop = missing[0] * PAGE, (missing[-1] + 1) * PAGE
            content = self.background(space, start, stop - start)
            for page in missing:
                at = page * PAGE
                self._store[at : at + PAGE] = content[at - start : at - start + PAGE].tobytes()
            self._filled.update(missing)
        return len(missing)

    def set_background_seed(self, seed: int) -> None:
        """Gives every memory random contents."""
        super().set_background_seed(seed)
        self._discard_pages()

    def set_background(self, space: Space, byte: int) -> None:
        """Gives one memory constant contents."""
        super().set_background(space, byte)
        if space is Space.GM:
            self._discard_pages()

    def _discard_pages(self) -> None:
        self._store.madvise(mmap.MADV_DONTNEED)
        self._filled.clear()

    def failing(self, slot: int, side: int, address: int, length: int) -> _Hit | None:
        """Returns the fault of a bus word, or None, and updates the faults' word counts."""
        return None if self._faults is None else self._faults.meet(slot, side, address, length)

    def read_gm(self, address: int, length: int) -> bytes:
        """Returns bytes of GM."""
        if address // PAGE not in self._filled:
            self.ensure(Space.GM, address, length)
        return self._store[address : address + length]

    def write_gm(self, address: int, data: bytes) -> None:
        """Writes bytes of GM."""
        if address // PAGE not in self._filled:
            self.ensure(Space.GM, address, len(data))
        self._store[address : address + len(data)] = data


@dataclass(frozen=True, slots=True)
class _Hit:
    """An error for the engine."""

    address: int
    kind: int
    fault: int


class _BusError(Exception):
    """Makes the library respond with SLVERR."""


class _Faults:
    """The GM faults in the mailbox, and the number of words that touched each."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._version = -1
        self._windows: list[tuple[int, FaultWindow]] = []
        self._met: dict[int, tuple[int, int]] = {}  # by index: setting, words

    def meet(self, slot: int, side: int, address: int, length: int) -> _Hit | None:
        """Returns the response of the first fault that fails a word."""
        if self._mailbox.version != self._version:
            self._load()
        hit = None
        for index, fault in self._windows:
            if not (
                fault.sides >> side & 1
                and fault.slots >> slot & 1
                and fault.address < address + length
                and address < fault.address + fault.length
            ):
                continue
            setting, words = self._met[index]
            self._met[index] = (setting, words + 1)
            if fault.nth in (0, words + 1) and hit is None:
                hit = _Hit(address, fault.kind, index)
        return hit

    def _load(self) -> None:
        self._version = self._mailbox.version
        self._windows = [
            (index, fault) for index, fault in self._mailbox.faults() if fault.space is Space.GM
        ]
        for index, _ in self._windows:
            setting = self._mailbox.fault_sets(index)
            if self._met.get(index, (0, 0))[0] != setting:
                self._met[index] = (setting, 0)


class _Half:
    """One direction of a slot's AXI subordinate, with faults."""

    side: int
    channel: str  # of the responses
    log: logging.Logger

    def __init__(self, memory: PythonAxiMemory, slot: str, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.memory = memory
        self.slot = SLOTS.index(slot)
        self._now: list[_Hit] = []  # of the response that is being made
        self._owed: deque[list[_Hit]] = deque()  # of those that the engine has not taken
        self._watcher: Any = None
        self.log.setLevel(logging.ERROR)  # it warns of every injected error
        channel = getattr(self, f"{self.channel}_channel")
        self._send = channel.send
        channel.send = self._answer

    def watch(self, scope: Any, clock: Any) -> None:
        """Sets the pins on which the engine's handshakes are sampled."""
        names = (f"{PREFIX}_{self.channel}{pin}" for pin in ("valid", "ready", "resp"))
        self._pins = [getattr(scope, name) for name in names]
        self._clock = clock

    def check(self, address: int, length: int) -> None:
        """Raises the library's exception for a fault."""
        hit = self.memory.failing(self.slot, self.side, address, length)
        if hit is not None:
            self._now.append(hit)
            raise _BusError

    async def _answer(self, response: Any) -> None:
        """Sends a response; one with an error is noted when the engine takes it."""
        if self._now:
            if self._now[0].kind == FAULT_DECERR:
                setattr(response, f"{self.channel}resp", AxiResp.DECERR)
            self._owed.append(self._now)
            self._now = []
            if self._watcher is None or self._watcher.done():
                self._watcher = cocotb.start_soon(self._note())
        await self._send(response)

    async def _note(self) -> None:
        valid, ready, response = self._pins
        while self._owed:
            await RisingEdge(self._clock)
            if valid.value == 1 and ready.value == 1 and int(response.value):
                for hit in self._owed.popleft():
                    self.memory.note_hit(self.slot, self.side, hit.address, hit.kind, hit.fault)

    def _handle_reset(self, state: bool) -> None:
        if state:
            self._now.clear()
            self._owed.clear()
        super()._handle_reset(state)  # type: ignore[misc]


class _WriteHalf(_Half, AxiSlaveWrite):
    side = WRITE
    channel = "b"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._beat = self.w_channel.recv
        self.w_channel.recv = self._known_beat

    async def _known_beat(self) -> Any:
        """Returns a beat with 0 for each X, which the library does not take.

        X on a byte without a strobe is legal (docs/contract.md); the C library, which gets every
        beat too, reports one with a strobe.
        """
        beat = await self._beat()
        if not beat.wdata.is_resolvable:
            beat.wdata = LogicArray(re.sub("[^1]", "0", str(beat.wdata)))
        return beat

    async def _write(self, address: int, data: bytes) -> None:
        word = address // self.byte_lanes * self.byte_lanes
        self.check(word, self.byte_lanes)
        self.memory.write_gm(address, data)


class _ReadHalf(_Half, AxiSlaveRead):
    side = READ
    channel = "r"

    async def _read(self, address: int, length: int) -> bytes:
        self.check(address, length)
        return self.memory.read_gm(address, length)


def _pauses(chance: float, seed: int) -> Iterator[bool]:
    rng = random.Random(seed)
    while True:
        yield rng.random() < chance
