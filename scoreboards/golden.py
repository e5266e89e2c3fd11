# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's own copy of every memory.

GM is a sparse mapping of 2^40 bytes, so that 40-bit addresses and strides are real. Both the
design under test and this copy start from one *background*: a pure function of space and
address. GM is initialised page by page when an op first touches a page, or a window at a time with
:meth:`GoldenMemory.prefill`; the on-chip memories are initialised at once.
"""

from __future__ import annotations

import gc
import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_layout import FLAG_BLOCK
from scoreboards.regions import PAGE_SHIFT, page_runs, pages_of
from tb.common.errors import ToolError
from tb.isa.footprint import Footprint
from tb.isa.spaces import SIZES, Space

Content = bytes | bytearray | NDArray[np.uint8]
Background = Callable[[Space, int, int], Content]
"""(space, start, length) to the ``length`` bytes a memory holds before any op."""

UNIT_FLAGS = SIZES[Space.L0C] // FLAG_BLOCK
"""Number of unit flags."""

_MAP_NORESERVE = 0x4000  # Linux; the mmap module names it only from Python 3.13 on
_CHUNK_PAGES = 1 << (24 - PAGE_SHIFT)


class GoldenMemoryError(ToolError):
    """The kernel refuses the sparse mapping of GM."""


def zeros(_space: Space, _start: int, length: int) -> bytes:
    """Background of memories that start as zeros."""
    return bytes(length)


def _map_sparse(size: int) -> mmap.mmap:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    try:
        try:
            mapping = mmap.mmap(-1, size, flags=flags)
        except OSError:
            # A process can have 127 of them; unreferenced ones may only need a garbage collection.
            gc.collect()
            mapping = mmap.mmap(-1, size, flags=flags)
    except (OSError, ValueError, OverflowError) as error:
        raise GoldenMemoryError(
            f"the kernel refuses a sparse mapping of {size} bytes for the golden GM: {error}",
            where="GoldenMemory",
            legal="vm.overcommit_memory 0 or 1 and an unlimited address space (ulimit -v)",
            remedy="sysctl vm.overcommit_memory=1 and ulimit -v unlimited",
        ) from error
    # A far row must cost the 4 KiB it touches, not a huge page; old kernels lack the call.
    with suppress(OSError):
        mapping.madvise(mmap.MADV_NOHUGEPAGE)
    return mapping


class GoldenMemory(Mapping[Space, NDArray[np.uint8]]):
    """All memories of the ISA for the model; a mapping of space to ``uint8[capacity]``.

    Bytes of GM are valid once their page is ensured. Hand :meth:`ensure_footprint` and
    :meth:`expect_write` to the model as its hooks and that is so for every op:

        golden = GoldenMemory(background)
        model = ReferenceModel(
            golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
        )

    Args:
        background: Initial content. Called once for each byte at most, at any time: it must not
            read memories that the design under test has changed.
        unit_flags: Initial unit flags, ``uint8[512]`` of 0 and 1; none is set by default.

    Attributes:
        unit_flags: ``uint8[512]``, the flag of each 512-byte block of L0C (docs/spec/fixpipe.md,
            section 8).

    Raises:
        GoldenMemoryError: the kernel refuses the mapping.
        ValueError: the background has not the requested length.
    """

    def __init__(
        self, background: Background = zeros, *, unit_flags: NDArray[np.uint8] | None = None
    ) -> None:
        self._background = background
        self.unit_flags: NDArray[np.uint8] = np.zeros(UNIT_FLAGS, dtype=np.uint8)
        if unit_flags is not None:
            self.unit_flags[:] = unit_flags
        gm = np.frombuffer(_map_sparse(SIZES[Space.GM]), dtype=np.uint8)
        self._memories: dict[Space, NDArray[np.uint8]] = {Space.GM: gm}
        self._windows: list[tuple[int, int]] = []
        self._near = 0
        self._ensured: set[int] = set()
        self._expected: set[int] = set()
        for space, size in SIZES.items():
            if space is not Space.GM:
                self._memories[space] = np.empty(size, dtype=np.uint8)
                self._load(space, 0, size)

    def __getitem__(self, space: Space) -> NDArray[np.uint8]:
        return self._memories[space]

    def __iter__(self) -> Iterator[Space]:
        return iter(self._memories)

    def __len__(self) -> int:
        return len(self._memories)

    def view(self, space: Space) -> NDArray[np.uint8]:
        """Returns the bytes of ``space``, ``uint8[capacity]``, without a copy."""
        return self._memories[space]

    def ensure(self, space: Space, start: int, length: int) -> None:
        """Gives the bytes ``start .. start + length - 1`` their initial content, once.

        Raises:
            ValueError: the range leaves the memory.
        """
        stop = start + length
        if space is Space.GM:
            for low, high in self._windows:
                if low <= start and stop <= high:
                    return
        self._require_inside(space, start, stop)
        if space is Space.GM and length > 0:
            self._ensure_pages(range(start >> PAGE_SHIFT, ((stop - 1) >> PAGE_SHIFT) + 1))

    def ensure_footprint(self, footprint: Footprint) -> None:
        """Gives the bytes of every row their initial content, once; each count is at least 1.

        Raises:
            ValueError: the region leaves the memory.
        """
        if footprint.space is not Space.GM:
            return
        start, stop = footprint.base, footprint.end
        for low, high in self._windows:
            if low <= start and stop <= high:
                return
        self._require_inside(Space.GM, start, stop)
        self._ensure_pages(pages_of(footprint))

    def _require_inside(self, space: Space, start: int, stop: int) -> None:
        size = self._memories[space].size
        if start < 0 or stop > size:
            raise ValueError(
                f"{space.name} {start:#x}..{stop:#x} leaves the memory of {size:#x} bytes"
            )

    def expect_write(self, footprint: Footprint) -> None:
        """Ensures a region and records its GM pages as ones that the model writes."""
        if footprint.space is Space.GM:
            self.ensure_footprint(footprint)
            self._expected.update(pages_of(footprint))

    def prefill(self, start: int, length: int) -> None:
        """Ensures a window of GM at once; ops inside it then cost no page bookkeeping.

        The window grows to whole pages. Pages already ensured keep their bytes.

        Raises:
            ValueError: the window leaves GM.
        """
        low = start >> PAGE_SHIFT
        high = -(-(start + length) >> PAGE_SHIFT)
        self.ensure(Space.GM, low << PAGE_SHIFT, (high - low) << PAGE_SHIFT)
        self._windows.append((low << PAGE_SHIFT, high << PAGE_SHIFT))

        self._near = len(self._ensured)

    @property
    def far_pages(self) -> int:
        """GM pages ensured since the last window was prefilled, or :meth:`forget` was called."""
        return len(self._ensured) - self._near

    def forget(
        self, unit: int, give_back: Callable[[NDArray[np.uint8]], None]
    ) -> list[tuple[int, int]]:
        """Gives GM its initial content again outside of the windows, each grown to whole units.

        Args:
            unit: Bytes, a multiple of a page.
            give_back: Fills a part of the mapping with zeros and frees its memory.

        Returns:
            What is kept: first byte and byte after the last, ascending.
        """
        kept: list[tuple[int, int]] = []
        for start, stop in sorted(self._windows):
            low, high = start // unit * unit, -(-stop // unit) * unit
            if kept and low <= kept[-1][1]:
                first, last = kept.pop()
                low, high = first, max(high, last)
            kept.append((low, high))
        start = 0
        for low, high in (*kept, (SIZES[Space.GM],) * 2):
            if start < low:
                give_back(self._memories[Space.GM][start:low])
            start = high
        ranges = (range(low >> PAGE_SHIFT, high >> PAGE_SHIFT) for low, high in kept)
        pages = set(chain.from_iterable(ranges))
        self._ensured &= pages
        self._expected &= pages
        self._near = len(self._ensured)
        return kept

    def write(self, space: Space, start: int, data: Content) -> None:
        """Stores bytes as the stimulus does, not as an op: the pages count as expected writes.

        Raises:
            ValueError: the data leave the memory.
        """
        if len(data) == 0:
            return
        self.ensure(space, start, len(data))
        self.view(space)[start : start + len(data)] = np.frombuffer(data, dtype=np.uint8)
        if space is Space.GM:
            last = (start + len(data) - 1) >> PAGE_SHIFT
            self._expected.update(range(start >> PAGE_SHIFT, last + 1))

    def is_ensured(self, space: Space, address: int) -> bool:
        """Returns whether a byte has its initial content already."""
        return space is not Space.GM or address >> PAGE_SHIFT in self._ensured

    def touched_pages(self) -> list[int]:
        """Returns the numbers of the ensured GM pages, ascending."""
        return sorted(self._ensured)

    def written_pages(self) -> list[int]:
        """Returns the numbers of the GM pages that model or stimulus wrote, ascending."""
        return sorted(self._expected)

    def _ensure_pages(self, pages: Iterable[int]) -> None:
        ensured = self._ensured
        missing = [page for page in pages if page not in ensured]
        if not missing:
            return
        for first, count in page_runs(missing):
            for page in range(first, first + count, _CHUNK_PAGES):
                pages_here = min(_CHUNK_PAGES, first + count - page)
                self._load(Space.GM, page << PAGE_SHIFT, pages_here << PAGE_SHIFT)
        ensured.update(missing)

    def _load(self, space: Space, start: int, length: int) -> None:
        content = np.frombuffer(self._background(space, start, length), dtype=np.uint8)
        if len(content) != length:
            raise ValueError(
                f"background of {space.name} {start:#x} gives {len(content)} bytes instead of "
                f"{length}"
            )
        self._memories[space][start : start + length] = content
