# SPDX-License-Identifier: Apache-2.0
"""The C memory without a simulator: the functions that Verilog calls, by ctypes."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from tb.harness.mailbox import Mailbox
from tb.harness.memory import SimMemory

SLOT = 1


class Backends:
    """The functions that Verilog calls."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.memory = SimMemory(library)
        self.box = Mailbox.attach(library)
        library.pto_gm_read.argtypes = (
            ctypes.c_int,
            ctypes.c_longlong,
            ctypes.c_int,
            ctypes.c_void_p,
        )
        library.pto_axi_aw.argtypes = (ctypes.c_int, ctypes.c_longlong, ctypes.c_int, ctypes.c_int)
        library.pto_axi_w.argtypes = (
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_ulonglong,
            ctypes.c_void_p,
        )
        library.pto_local_write.argtypes = (
            *(ctypes.c_int,) * 4,
            ctypes.c_ulonglong,
            ctypes.c_void_p,
        )
        library.pto_local_read.argtypes = (*(ctypes.c_int,) * 5, ctypes.c_void_p)
        library.pto_state.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        library.pto_late_burst.argtypes = (
            *(ctypes.c_int,) * 2,
            ctypes.c_longlong,
            *(ctypes.c_int,) * 2,
        )
        library.pto_desc_pop.argtypes = (ctypes.c_int, ctypes.c_void_p)
        library.pto_done.argtypes = (*(ctypes.c_int,) * 4, ctypes.c_longlong)
        library.pto_error.argtypes = (
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_longlong,
            ctypes.c_longlong,
        )
        library.pto_start(0b0110)

    def tick(self, clocks: int = 1, pins: int = 0, active: int = 0) -> int:
        """Passes clocks and returns the flags of the last; slots in ``running`` have a clock."""
        flags = 0
        for _ in range(clocks):
            flags = self.library.pto_tick(pins, active)
        self.running = flags >> 6
        return flags & 63

    def gm_read(self, address: int, size: int = 32) -> tuple[int, NDArray[np.uint8]]:
        data = np.zeros(64, np.uint8)
        return self.library.pto_gm_read(SLOT, address, size, data.ctypes.data), data[:size]

    def aw(self, address: int, beats: int, size: int = 32) -> int:
        return int(self.library.pto_axi_aw(SLOT, address, beats - 1, size))

    def w(self, data: NDArray[np.uint8], strobe: int | None = None) -> int:
        size = len(data)
        data = np.ascontiguousarray(data)
        lanes = (1 << size) - 1 if strobe is None else strobe
        return int(self.library.pto_axi_w(SLOT, size, lanes, data.ctypes.data))

    def local_read(self, space: int, address: int, size: int = 32) -> tuple[int, NDArray[np.uint8]]:
        data = np.zeros(64, np.uint8)
        error = self.library.pto_local_read(SLOT, 0, space, address, size, data.ctypes.data)
        return error, data[:size]

    def local_write(
        self, space: int, address: int, data: NDArray[np.uint8], strobe: int | None = None
    ) -> int:
        size = len(data)
        lanes = (1 << size) - 1 if strobe is None else strobe
        data = np.ascontiguousarray(data)
        return int(
            self.library.pto_local_write(SLOT, space, address, size, lanes, data.ctypes.data)
        )

    def pop(self, slot: int = SLOT) -> tuple[int, NDArray[np.uint32]]:
        words = np.zeros(16, np.uint32)
        return self.library.pto_desc_pop(slot, words.ctypes.data), words

    def retire(self, slot: int = SLOT, tag: int = 0) -> None:
        self.library.pto_done(slot, tag, 0, 0, 0)


def random_bytes(count: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)
