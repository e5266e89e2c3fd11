# SPDX-License-Identifier: Apache-2.0
"""A substitute for the design: memories under test, written by the model, and corrupted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from pyuvm import ConfigDB, uvm_root

from scoreboards.compare import GUARD, compare_full, compare_op
from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Mismatch
from scoreboards.model.dma import DmaOp
from scoreboards.model.outcome import Outcome
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space
from tests.scoreboards.bench import Bench, model_on, noise


@dataclass
class Pair:
    """Golden memories and the memories under test, each with a model that writes them."""

    golden: GoldenMemory = field(default_factory=lambda: GoldenMemory(noise))
    actual: GoldenMemory = field(default_factory=lambda: GoldenMemory(noise))
    outcome: Outcome | None = None

    def __post_init__(self) -> None:
        self.model, self.dut = model_on(self.golden), model_on(self.actual)

    def run(self, op: DmaOp) -> Outcome:
        """Executes an op on both sides."""
        self.dut.execute(op)
        self.outcome = self.model.execute(op)
        return self.outcome

    def corrupt(self, space: Space, *addresses: int) -> None:
        """Flips a bit of bytes under test, as a wrong write of the design would."""
        for address in addresses:
            self.actual.expect_write(Footprint(space, address, 1, (1,), (0,)))
            self.actual[space][address] ^= 0x10

    def op(self, in_flight: Sequence[Footprint] = (), bus_bytes: int = 32) -> tuple[Mismatch, ...]:
        """Compares the last op. The compared pages exist on both sides, as in a simulation."""
        assert self.outcome is not None
        written = self.outcome.written
        if written is not None and written.space is Space.GM:
            low, high = max(0, written.base - 4096), written.end + 4096
            if high - low < 1 << 24:
                self.actual.ensure(Space.GM, low, min(high, 1 << 40) - low)
            else:
                around = Footprint(
                    Space.GM,
                    max(0, written.base - GUARD),
                    written.length + 2 * GUARD,
                    written.counts,
                    written.strides,
                )
                self.actual.ensure_footprint(around)
        return compare_op(
            self.actual,
            self.golden,
            self.outcome,
            in_flight=in_flight,
            bus_bytes=bus_bytes,
        )

    def full(self) -> tuple[Mismatch, ...]:
        """Compares everything; the pages the design wrote are those its model recorded."""
        for page in self.golden.touched_pages():
            self.actual.ensure(Space.GM, page << 12, 4096)
        return compare_full(self.actual, self.golden, self.actual.written_pages())


@pytest.fixture
def pair() -> Pair:
    """New memories on both sides."""
    return Pair()


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A scoreboard and a correct design."""
    yield Bench()
    uvm_root().clear_hierarchy()
    ConfigDB().clear()


def only(found: tuple[Mismatch, ...]) -> Mismatch:
    """Returns the only one of the mismatches found."""
    (mismatch,) = found
    return mismatch
