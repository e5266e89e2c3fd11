# SPDX-License-Identifier: Apache-2.0
"""Who is who in a draw: direction, form, and whose data or geometry an op takes over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import OpConstraints

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_REACH = 6
"""Farthest distance, in ops, of a dependency."""


@dataclass(frozen=True)
class Plan:
    """Roles of N ops in program order.

    Attributes:
        store: ``bool[N]``, UB to GM.
        legacy: ``bool[N]``, written in the register form.
        nop: ``bool[N]``, has a zero count or length.
        far: ``bool[N]``, wants GM rows anywhere.
        parent: ``int64[N]``, op of the other direction whose destination this one reads, or -1.
        depth: ``int64[N]``, 0 without a parent, 1 or 2 along a chain.
        clone: ``int64[N]``, legacy copy whose shape this one repeats, or -1.
    """

    store: Bools
    legacy: Bools
    nop: Bools
    far: Bools
    parent: Ints
    depth: Ints
    clone: Ints


def _directions(
    rng: np.random.Generator, count: int, ops: tuple[str, ...], limits: OpConstraints
) -> tuple[Bools, Bools]:
    loads = [name for name in ops if name in ("mte_gm_ub", "copy_gm_to_ubuf")]
    stores = [name for name in ops if name not in loads]
    fraction = limits.store if loads and stores else float(bool(stores))
    store = rng.random(count) < fraction

    def legacy_share(names: list[str]) -> float:
        forms = [name.startswith("copy_") for name in names]
        return limits.legacy if any(forms) and not all(forms) else float(all(forms))

    share = np.where(store, legacy_share(stores), legacy_share(loads))
    return store, rng.random(count) < share


def _parents(rng: np.random.Generator, store: Bools, nop: Bools, fraction: float) -> Ints:
    count = len(store)
    here = np.arange(count)
    there = here - rng.integers(1, MAX_REACH + 1, count)
    ok = (rng.random(count) < fraction) & (there >= 0) & ~nop
    there = np.maximum(there, 0)
    ok &= (store[there] != store) & ~nop[there]
    first = ok & ~ok[there]
    second = ok & first[there]
    return np.where(first | second, there, -1)


def _clones(rng: np.random.Generator, store: Bools, candidates: Bools, fraction: float) -> Ints:
    clone = np.full(len(store), -1, dtype=np.int64)
    for direction in (False, True):
        index = np.flatnonzero(candidates & (store == direction))
        wants = rng.random(len(index)) < fraction
        latest = np.maximum.accumulate(np.where(wants, -1, np.arange(len(index))))
        wants &= latest >= 0
        clone[index[wants]] = index[latest[wants]]
    return clone


def draw_plan(
    rng: np.random.Generator, count: int, ops: tuple[str, ...], limits: OpConstraints
) -> Plan:
    """Draws the roles of ``count`` ops.

    A parent is at most ``MAX_REACH`` ops earlier, is no NOP, and is itself at most one step
    from an op without parents. A clone's model is an op without parents.
    """
    store, legacy = _directions(rng, count, ops, limits)
    nop = rng.random(count) < limits.nop
    far = rng.random(count) < limits.far
    parent = _parents(rng, store, nop, limits.dependent)
    clone = _clones(rng, store, legacy & (parent < 0) & ~nop, limits.clone)
    child = parent >= 0
    depth = np.where(child, 1 + child[np.maximum(parent, 0)], 0).astype(np.int64)
    # A load that reads what a store wrote takes over the GM side, so it is as far as that.
    far &= ~(child & ~store)
    far = np.where(clone >= 0, far[np.maximum(clone, 0)], far)
    return Plan(store, legacy, nop, far, parent, depth, clone)
