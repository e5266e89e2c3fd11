# SPDX-License-Identifier: Apache-2.0
"""The simulated memories as numpy arrays, without a copy.

They live in the C library tb/hdl/memory/pto_mem.c inside the simulator. GM is a sparse mapping of
2^40 bytes; a page of it holds the background once it was touched by the DUT or by
:meth:`SimMemory.ensure`, and zeros (at no cost) before.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tb.isa.ops import SLOTS
from tb.isa.spaces import SIZES, Space

PAGE = 4096
"""Bytes of a GM page: the unit in which background is filled and writes are recorded."""

FLAG_BLOCK = 512
"""Bytes of L0C that one unit flag guards (docs/spec/fixpipe.md section 8)."""

UNIT_FLAGS = SIZES[Space.L0C] // FLAG_BLOCK
"""How many unit flags there are; flag b guards the block of L0C at ``b * FLAG_BLOCK``."""

LONGEST_DELAY = (1 << 32) - 1
"""Clocks that a unit flag may be delayed."""

FORGET = 16 << 20
"""Unit in which GM is given back: the states of its pages fill a page of their own."""

MOST_AGAIN = 1024
"""Clears of a block that :meth:`SimMemory.stage_flags_again` may answer: one for each op that fits
the ring of a slot."""

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "pto_mailbox": (ctypes.c_void_p, ()),
    "pto_layout": (
        ctypes.c_int,
        (
            ctypes.c_int,
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.POINTER(ctypes.c_uint64),
            ctypes.POINTER(ctypes.c_uint64),
        ),
    ),
    "pto_mem_base": (ctypes.c_void_p, (ctypes.c_int,)),
    "pto_mem_size": (ctypes.c_uint64, (ctypes.c_int,)),
    "pto_mem_background": (
        None,
        (ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p),
    ),
    "pto_mem_ensure": (ctypes.c_uint64, (ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)),
    "pto_mem_seed": (None, (ctypes.c_uint64,)),
    "pto_mem_constant": (None, (ctypes.c_int, ctypes.c_int)),
    "pto_mem_forget": (None, (ctypes.c_void_p, ctypes.c_int)),
    "pto_mem_give_back": (None, (ctypes.c_void_p, ctypes.c_uint64)),
    "pto_mem_dirty": (ctypes.c_uint64, (ctypes.POINTER(ctypes.c_void_p),)),
    "pto_mem_stamp": (ctypes.c_uint64, (ctypes.c_int, ctypes.c_uint64)),
    "pto_note_hit": (
        None,
        (
            *(ctypes.c_int,) * 3,
            ctypes.c_ulonglong,
            ctypes.c_int,
            ctypes.c_uint,
            ctypes.c_ulonglong,
        ),
    ),
    "pto_flags": (ctypes.c_void_p, ()),
    "pto_flags_background": (None, (ctypes.c_void_p,)),
    "pto_flags_stage": (None, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_longlong)),
    "pto_flags_again": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_longlong)),
    "pto_flags_settle": (ctypes.c_int, ()),
}


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote a granule last: the clock of the write and the number of the slot."""

    cycle: int
    slot: int


def load_library(path: Path | None = None) -> ctypes.CDLL:
    """Opens the C library and declares its functions.

    Args:
        path: The VPI module or shared object that the simulator has loaded; None for the running
            program itself (Verilator, linked with ``-rdynamic``).

    Raises:
        OSError: There is no such file, or it is not a library.
        AttributeError: It is another library: a simulator linked without ``-rdynamic``.
    """
    library = ctypes.CDLL(None if path is None else os.fspath(path))
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            where = "the running program" if path is None else str(path)
            raise AttributeError(
                f"{where} has no {name}: link the simulator with -rdynamic, or name the library"
            ) from None
        function.restype = result
        function.argtypes = arguments
    return library


class SimMemory:
    """All simulated memories of this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Takes a library from :func:`load_library`."""
        self.library = library
        self._views: dict[Space, NDArray[np.uint8]] = {}
        self._stamp = library.pto_mem_stamp
        for space, size in SIZES.items():
            if library.pto_mem_size(int(space)) != size:
                raise ValueError(
                    f"{space.name} has {library.pto_mem_size(int(space))} bytes in pto_mem.c and "
                    f"{size} in tb/isa/spaces.py"
                )
            base = library.pto_mem_base(int(space))
            self._views[space] = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(base))
        self._flags: NDArray[np.uint8] = np.ctypeslib.as_array(
            (ctypes.c_uint8 * UNIT_FLAGS).from_address(library.pto_flags())
        )

    @classmethod
    def attach(cls, library_path: Path | None = None) -> SimMemory:
        """Opens the memories of the running simulation.

        Args:
            library_path: See :func:`load_library`.

        Raises:
            OSError, AttributeError: See :func:`load_library`.
        """
        return cls(load_library(library_path))

    def view(self, space: Space) -> NDArray[np.uint8]:
        """Returns the whole memory, writable, ``uint8[SIZES[space]]``; GM has 2^40 bytes.

        A byte of GM in an untouched page reads as 0 here: call :meth:`ensure` first.
        """
        return self._views[space]

    def unknown_registers(self, slot: int) -> list[tuple[str, int]]:
        """Returns the registers of an engine with X or Z, and their bits, narrow ones first.

        Those of a register without a reset stay so from the start; a register of data may have X
        until it is first loaded. Verilator has no X: there are none.
        """
        if not hasattr(self.library, "pto_unknown"):
            return []
        top = f"pto_harness.{SLOTS[slot]}.u_engine"
        text = ctypes.create_string_buffer(1 << 20)
        self.library.pto_unknown(top.encode(), text, len(text))
        lines = (line.split() for line in text.value.decode().splitlines())
        found = [(name.removeprefix(f"{top}."), int(bits)) for bits, name in lines]
        return sorted(found, key=lambda one: (one[1], one[0]))

    def ensure(self, space: Space, address: int, length: int) -> int:
        """Touches the pages of a range, so that they hold the background.

        Returns:
            How many pages were new.

        Raises:
            ValueError: The range leaves the memory.
        """
        _check_range(space, address, length)
        return int(self.library.pto_mem_ensure(int(space), address, length))

    def background(self, space: Space, address: int, length: int) -> NDArray[np.uint8]:
        """Returns what a range holds before anyone writes it; touches nothing.

        Raises:
            ValueError: The range leaves the memory.
        """
        _check_range(space, address, length)
        out = np.empty(length, dtype=np.uint8)
        self.library.pto_mem_background(int(space), address, length, out.ctypes.data)
        return out

    def set_background_seed(self, seed: int) -> None:
        """Gives every memory random contents; what was written, stamped and touched is forgotten.

        The content of a byte depends on seed, space and address alone. Unit flags get the values
        of :meth:`background_flags`, and what was staged is forgotten.
        """
        self.library.pto_mem_seed(seed & 0xFFFF_FFFF_FFFF_FFFF)

    def set_background(self, space: Space, byte: int) -> None:
        """Gives one memory constant contents; what was written to it is forgotten.

        With L0C also which of its blocks were complemented, and answers to clears; unit flags that
        were to be set are set.

        Raises:
            ValueError: ``byte`` is not in 0 to 255.
        """
        if not 0 <= byte <= 255:
            raise ValueError(f"background of {space.name} is {byte}: a byte is 0 to 255")
        self.library.pto_mem_constant(int(space), byte)

    def forget_gm(self, kept: Sequence[tuple[int, int]]) -> None:
        """Gives GM its background again outside of some ranges; nothing may be in flight.

        Memory of the process is given back, and who wrote there is forgotten.

        Args:
            kept: First byte and byte after the last, ascending, multiples of :data:`FORGET`.

        Raises:
            ValueError: They are not.
        """
        bounds = [bound for part in kept for bound in part]
        if bounds != sorted(bounds) or any(bound % FORGET for bound in bounds):
            raise ValueError(f"ranges {kept} of GM: they ascend, by multiples of {FORGET:#x} bytes")
        ranges = np.array(bounds, dtype=np.uint64)
        self.library.pto_mem_forget(ranges.ctypes.data, len(kept))

    def give_back(self, part: NDArray[np.uint8]) -> None:
        """Gives back the pages of a part of any sparse mapping of this process; all is 0 then."""
        self.library.pto_mem_give_back(part.ctypes.data, part.size)

    def dirty_gm_pages(self) -> NDArray[np.uint64]:
        """Returns the numbers of the GM pages that the DUT wrote, ``uint64[n]``.

        In the order of the first write; a page number is the address divided by :data:`PAGE`.
        """
        pages = ctypes.c_void_p()
        count = self.library.pto_mem_dirty(ctypes.byref(pages))
        if not count or pages.value is None:
            return np.empty(0, dtype=np.uint64)
        array = (ctypes.c_uint64 * count).from_address(pages.value)
        return np.ctypeslib.as_array(array).copy()

    def last_writer(self, space: Space, address: int) -> Writer | None:
        """Returns the last writer of the granule of ``address``, None if it was not written.

        Raises:
            ValueError: The address leaves the memory.
        """
        _check_range(space, address, 1)
        stamp = int(self._stamp(int(space), address))
        return Writer(stamp >> 3, (stamp & 7) - 1) if stamp else None

    def note_hit(
        self, slot: int, side: int, address: int, kind: int, fault: int, cycle: int = 0
    ) -> None:
        """Puts an error of GM into the hit log, for a memory that is not the harness's own.

        To be called once the engine has the response: R or B was taken.

        Args:
            slot: Number of the slot.
            side: 0 for a read, 1 for a write.
            address: Of the bus word.
            kind: 0 SLVERR, 1 DECERR.
            fault: Which fault it was, or :data:`~tb.harness.layout.NO_FAULT`.
            cycle: Clock of the handshake; 0 is the clock under way.
        """
        self.library.pto_note_hit(slot, side, int(Space.GM), address, kind, fault, cycle)

    # --- unit flags ---------------------------------------------------------------------------

    @property
    def unit_flags(self) -> NDArray[np.uint8]:
        """The unit flags of L0C, ``uint8[UNIT_FLAGS]`` of 0 and 1 (docs/spec/fixpipe.md section 8).

        A live view, writable: a value put here is there at once and moves no byte of L0C. To set
        flags as their producer does, call :meth:`stage_flags`.
        """
        return self._flags

    def background_flags(self) -> NDArray[np.uint8]:
        """Returns the unit flags before anyone moves them, ``uint8[UNIT_FLAGS]`` of 0 and 1.

        Random, and a function of the seed of :meth:`set_background_seed` alone, so that an engine
        that waits for the flag of a block which its op does not touch hangs. The golden side takes
        its initial flags from here, as it takes its initial bytes from :meth:`background`.
        """
        out = np.empty(UNIT_FLAGS, dtype=np.uint8)
        self.library.pto_flags_background(out.ctypes.data)
        return out

    def stage_flags(self, blocks: ArrayLike, delay: int = -1) -> None:
        """Lets the producer of accumulators set the unit flags of some blocks, now or later.

        Until then the flags are 0 and the bytes of the blocks are held complemented, every bit of
        them: an engine that reads accumulators before their flag is set gets wrong ones. Once the
        engine clears a flag, the block is complemented again, because from then on the producer
        owns it, and stays so until :meth:`settle_flags` or until its flag is staged again, or is
        set again by :meth:`stage_flags_again`.

        Bytes that Python puts into L0C are to be put there while nothing is complemented: between
        :meth:`settle_flags` and this call.

        Args:
            blocks: ``int64[k]``, numbers of blocks; one that is there twice counts once.
            delay: Clocks for which the engine sees the flags at 0, counted from now in clocks of
                the harness, whatever slots are idle; negative sets the flags at once.

        Raises:
            ValueError: There is no such block, or ``delay`` exceeds :data:`LONGEST_DELAY`.
        """
        numbers = _checked(blocks, delay)
        self.library.pto_flags_stage(numbers.ctypes.data, len(numbers), max(delay, -1))

    def stage_flags_again(self, blocks: ArrayLike, delay: int = 0) -> None:
        """Lets the producer set the unit flags of some blocks once more after a clear.

        The next clear that nothing answers yet is answered: the block is complemented as after any
        clear, and ``delay`` clocks later its flag is set and its bytes are restored. Each call
        stands for one clear of each block.

        Args:
            blocks: ``int64[k]``, numbers of blocks; one that is there twice counts once.
            delay: Clocks for which the engine sees a flag at 0, counted from its clear; negative
                is 0.

        Raises:
            ValueError: As :meth:`stage_flags`; or a block has :data:`MOST_AGAIN` answers already,
                and got no other.
        """
        numbers = np.unique(_checked(blocks, delay))
        full = self.library.pto_flags_again(numbers.ctypes.data, len(numbers), max(delay, 0))
        if full:
            raise ValueError(f"{full} blocks of L0C are to be set again {MOST_AGAIN} times already")

    def settle_flags(self) -> int:
        """Ends what was staged: to be called between batches, before L0C or flags are compared.

        Flags that are still to be set are set now, and every complemented block gets its bytes
        back. A flag that the engine cleared stays 0; answers to clears that did not come are
        forgotten.

        Returns:
            How many flags were still to be set: none when an engine has waited for all of them.
        """
        return int(self.library.pto_flags_settle())


def _checked(blocks: ArrayLike, delay: int) -> NDArray[np.int64]:
    """Returns numbers of blocks as ``int64[k]``."""
    numbers = np.ascontiguousarray(blocks, dtype=np.int64).reshape(-1)
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < UNIT_FLAGS:
        raise ValueError(
            f"blocks {int(numbers.min())} to {int(numbers.max())}: L0C has 0 to "
            f"{UNIT_FLAGS - 1}, of {FLAG_BLOCK} bytes each"
        )
    if delay > LONGEST_DELAY:
        raise ValueError(f"a unit flag delayed by {delay} clocks: at most {LONGEST_DELAY}")
    return numbers


def _check_range(space: Space, address: int, length: int) -> None:
    if address < 0 or length < 0 or address + length > SIZES[space]:
        raise ValueError(
            f"{length} bytes at {address:#x} leave {space.name}, which has {SIZES[space]:#x} bytes"
        )
