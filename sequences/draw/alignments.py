# SPDX-License-Identifier: Apache-2.0
"""Pairs of GM address and row length residues, with the least used ones for the next draw."""

from __future__ import annotations

import numpy as np

from sequences.draw.shapes import Ints

LONG = 4096
"""Longest row in bytes; longer ones are few and start at the edges of words and pages."""


class AlignmentCounts:
    """Counts the pairs modulo the bus width, of loads and stores between GM and UB.

    Several generators may share one, so that together they cover every pair soon. Only forms with
    an alignment that no other form covers are counted: a legacy copy becomes a descriptor of the
    v0.6 op.

    Args:
        bus_bytes: Bus width B in bytes.
    """

    def __init__(self, bus_bytes: int) -> None:
        self._bus = bus_bytes
        self._hits = np.zeros((2, bus_bytes, bus_bytes), dtype=np.int64)

    def lengths(self, rng: np.random.Generator, store: Ints) -> Ints:
        """Returns length residues of the rarest pairs, ``int64[N]``; ``store`` is 0 or 1."""
        found = np.zeros(len(store), dtype=np.int64)
        for direction, hits in enumerate(self._hits):
            index = np.flatnonzero(store == direction)
            rarest = np.argsort((hits + rng.random(hits.shape)).ravel())
            cards = np.resize(rarest, len(index))
            found[rng.permutation(index)] = cards // self._bus
        return found

    def addresses(self, rng: np.random.Generator, store: Ints, length: Ints) -> Ints:
        """Returns the least used address residues for each ``length``, ``int64[N]``."""
        column = store * self._bus + length % self._bus
        hits = self._hits.reshape(-1, self._bus)
        rarest = np.argsort(hits + rng.random(hits.shape), axis=1)
        order = np.argsort(column + rng.random(len(column)))
        first = np.searchsorted(column[order], column)
        rank = np.empty(len(column), dtype=np.int64)
        rank[order] = np.arange(len(column))
        found: Ints = rarest[column, (rank - first) % self._bus]
        return found

    def note(self, store: Ints, address: Ints, length: Ints) -> None:
        """Counts ops that were drawn, ``int64[N]`` each."""
        np.add.at(self._hits, (store, length % self._bus, address % self._bus), 1)
