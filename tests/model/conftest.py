# SPDX-License-Identifier: Apache-2.0
"""Golden memories and a model on them, as a scoreboard has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from tb.isa.footprint import Footprint
from tb.isa.profile import SEED, use
from tb.isa.spaces import SIZES, Space


def noise(space: Space, start: int, length: int) -> NDArray[np.uint8]:
    """Bytes that differ from address to address and from memory to memory."""
    a = np.arange(start, start + length, dtype=np.int64)
    mixed: NDArray[np.int64] = a * 131 + (a >> 7) * 29 + (a >> 17) * 7 + int(space) * 57
    return mixed.astype(np.uint8)


@dataclass
class Bench:
    """A model, its memories, and the initial contents of the on-chip memories."""

    golden: GoldenMemory
    model: ReferenceModel

    def unchanged(self) -> bool:
        """Returns whether every ensured byte still has its initial value."""
        if self.golden.written_pages():
            return False
        for page in self.golden.touched_pages():
            start = page << 12
            now = self.golden[Space.GM][start : start + 4096]
            if not np.array_equal(now, noise(Space.GM, start, 4096)):
                return False
        local = [space for space in self.golden if space is not Space.GM]
        return all(np.array_equal(self.golden[s], noise(s, 0, SIZES[s])) for s in local)


PROFILE_TEXTS = ("seed", "a5", "tail = fill, compact = legal", "a5, tail = keep, pad_end = stride")
"""Profiles that the random tests run under: the named ones, and mixtures."""


@pytest.fixture(autouse=True)
def _seed_again() -> Iterator[None]:
    """Restores the profile after a test that uses another one."""
    yield
    use(SEED)


@pytest.fixture
def bench() -> Bench:
    """A new bench with ``noise`` in its memories."""
    golden = GoldenMemory(noise)
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    golden.prefill(0, 1 << 17)
    return Bench(golden, model)


def addresses(footprint: Footprint | None) -> set[int]:
    """Returns the addresses of the bytes of a footprint."""
    if footprint is None:
        return set()
    return {int(s) + b for s in footprint.row_starts() for b in range(footprint.length)}


def near(rng: np.random.Generator, *limits: int) -> int:
    """Returns a value at, just below or just above one of the limits, or a small one."""
    value = int(rng.choice([*limits, 0, 1, 32, 64]))
    return max(0, value + int(rng.choice([0, 0, 0, 0, -1, 1, -32, 32])))
