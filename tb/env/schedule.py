# SPDX-License-Identifier: Apache-2.0
"""Unit flags that the producer sets for a batch, and the clocks that a batch may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.harness.knobs import slowdown
from tb.harness.layout import KNOBS
from tb.harness.memory import UNIT_FLAGS
from tb.isa.block import FAMILIES, OpBlock
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import FLAG_CLEAR, FLAG_NONE, GROUP, NZ2DN
from tb.isa.footprint import flag_blocks
from tb.isa.l0.table import FRACTAL_ROWS
from tb.isa.nz.table import C0_BYTES, DN2NZ

LATENCY_KNOBS = tuple(name for name in KNOBS if name.endswith(("_latency", "_jitter")))
WATCHDOG_CLOCKS = 200_000
"""Clocks in which nothing moves that count as a hang, unless run or engines have their own."""

MOVING = 16
"""How many times as long a slot may take while beats are granted: a limit for endless ops."""

CLOCKS_PER_ROW = 64
"""Most clocks of a row in addition to the memory latencies, stalls included."""

CLOCKS_PER_BLOCK = 32
"""Most clocks of a 32-byte block of an NZ repack or a load of L0, and of a word of accumulators,
stalls included."""

PARTS = (0.0, 0.5, 1.0)
"""Times at which the flags of the parts of a tile are set, in fractions of its delay."""

_UNTOUCHED, _CLEARED, _AGAIN = range(3)
"""An L0C block: no op of the block cleared it; the last one did; it was set again since."""


def _fix_work(block: OpBlock) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns per op, as if all were write-backs, the pieces of destination rows and the words."""
    m, n = (block.column(name).astype(np.float64) for name in ("m", "n"))
    repeats = np.where(block.column("loop3_en") > 0, block.column("loop3_count"), 1.0)
    groups = np.ceil(n / GROUP)
    # nz2dn writes channels, 16 elements of each at a time; words may be read twice by nz2nz.
    pieces = np.where(block.column("layout") == NZ2DN, n * np.ceil(m / GROUP), m)
    return pieces * repeats, 2 * m * groups * repeats


def _work(block: OpBlock) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns per op the rows it moves and the blocks or words it makes, ``float64[N]`` each."""

    def column(name: str) -> NDArray[np.float64]:
        return block.column(name).astype(np.float64)

    family = block.family
    bursts = np.where(block.column("len") > 0, column("n_burst"), 0.0)
    loops = np.ones(len(block))
    for k in range(MAX_LOOPS):
        loops *= column(f"loop{k}_count")
    lines = column("n_value"), column("d_value")
    groups = column("group_count") * ((lines[0] > 0) & (lines[1] > 0))
    matrices = np.where(block.column("mode") == DN2NZ, lines[1], lines[0]) * groups
    blocks = lines[0] * np.ceil(lines[1] * np.exp2(column("elem_log2")) / C0_BYTES) * groups
    pieces, words = _fix_work(block)
    fractals = column("m_step") * column("k_step")
    of_rows = {
        "dma": bursts * loops, "burst": bursts, "nz": matrices, "fix": pieces,
        "l0": np.minimum(fractals, column("k_step") + column("m_step")), "fill": bursts,
    }  # fmt: skip
    of_blocks = {"nz": blocks, "fix": words, "l0": FRACTAL_ROWS * fractals,
                 "fill": bursts * column("len")}  # fmt: skip
    none = np.zeros(len(block))
    return (
        np.choose(family, [of_rows[name] for name in FAMILIES]),
        np.choose(family, [of_blocks.get(name, none) for name in FAMILIES]),
    )


@dataclass(frozen=True, slots=True)
class FlagSet:
    """Blocks of accumulators with unit flags that the producer sets.

    Attributes:
        blocks: ``int64[k]``, numbers of L0C blocks.
        delay: Clocks from the start of the block of ops until their flags are set, -1 for flags
            that are set before; where ``again``, clocks from the clear of each.
        again: Whether they are set once more, after an op of the batch has cleared them.
    """

    blocks: NDArray[np.int64]
    delay: int
    again: bool


def _in_parts(blocks: NDArray[np.int64], delay: int, turn: int) -> list[FlagSet]:
    """Returns the settings of a tile's flags: at once, or in parts, the last after ``delay``.

    The last part changes with ``turn``, so that an engine which checks only one flag is found,
    whichever flag it checks.
    """
    parts = min(len(PARTS), len(blocks)) if delay > 0 else 1
    split = np.array_split(np.roll(blocks, turn), parts)
    return [
        FlagSet(np.sort(part), int(delay * share) if share else -1, again=False)
        for part, share in zip(split, PARTS[-parts:], strict=True)
    ]


def flags_to_set(block: OpBlock) -> list[FlagSet]:
    """Returns the producer's actions for ``block``.

    It sets the flags of each L0C block before the first op that waits for it, and again for the
    first op that waits after one has cleared it; further ops need no set. ``flag_delay`` of an op
    that waits for flags set again counts from their clear; if it waits for others too, they are set
    before the block starts. Tiles with a delay come in parts. Ops that move nothing wait for none.
    """
    checks = np.flatnonzero(block.column("unit_flag") != FLAG_NONE)
    if not len(checks):
        return []
    found = []
    state = np.zeros(UNIT_FLAGS, dtype=np.int8)
    for index in checks.tolist():
        if block.expected_rule is not None and block.expected_rule[index]:
            continue
        desc = block.issued(index)
        if not isinstance(desc, FixOp) or not desc.unit_flag or desc.is_nop:
            continue
        delay = -1 if block.flag_delay is None else int(block.flag_delay[index])
        blocks = flag_blocks(desc)
        now = state[blocks]
        if now.any():
            found.append(FlagSet(blocks[now == _UNTOUCHED], -1, again=False))
            gone = blocks[now == _CLEARED]
            found.append(FlagSet(gone, max(delay, 0), again=True))
            state[gone] = _AGAIN
        else:
            found += _in_parts(blocks, delay, index)
        if desc.unit_flag == FLAG_CLEAR:
            state[blocks] = _CLEARED
    return found


def watchdog_clocks(block: OpBlock, knobs: Mapping[str, int], limit: int) -> tuple[int, int]:
    """Returns after how many clocks a slot hangs that accepts and retires nothing.

    An op of many short rows legally takes long: each row may cost a whole memory latency. An op
    that moves nothing, a NOP or an illegal one, has no rows, whatever its counts are.

    Args:
        block: The ops of the batch.
        knobs: Values of the knobs in force.
        limit: Clocks of the watchdog, for a beat with the memory's least latency.

    Returns:
        The clocks without a beat, and those while beats are granted.
    """
    rows, blocks = _work(block)
    if block.expected_rule is not None:
        rows[block.expected_rule > 0] = 0
        blocks[block.expected_rule > 0] = 0
    latency = sum(knobs[name] for name in LATENCY_KNOBS)
    clocks = rows * (latency + CLOCKS_PER_ROW) + blocks * CLOCKS_PER_BLOCK
    most = 2**32 - 1
    still = limit + latency * slowdown(knobs)
    longest = min(float(clocks.max()) * slowdown(knobs), 1e9)
    if block.flag_delay is not None:
        longest += max(0, int(block.flag_delay.max()))
    return int(min(still, most)), int(min(MOVING * (limit + longest), most))
