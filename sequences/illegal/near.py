# SPDX-License-Identifier: Apache-2.0
"""Legal ops one step from illegal: every limit reached, none passed."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from sequences.constraints import GM_SIZE, UB_SIZE
from sequences.illegal.violations import V06, base_op, place, set_operand, set_pad, spans
from tb.isa.dma import MteGmUb, Pad
from tb.isa.dma_table import (
    GM_STRIDE_BITS,
    LEN_BITS,
    LOCAL_STRIDE_BITS,
    LOOP_COUNT_BITS,
    N_BURST_BITS,
    PAD_LIMIT,
)
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.spaces import UB_BLOCK

_GM_MAX, _UB_MAX = (1 << GM_STRIDE_BITS) - 1, (1 << LOCAL_STRIDE_BITS) - 1


def _nops(op: V06) -> dict[str, V06]:
    empty = replace(set_operand(op, "gm_stride", 64), len_burst=0)
    found = {
        "n_burst 65535": replace(empty, n_burst=(1 << N_BURST_BITS) - 1),
        "NOP outside both memories": place(empty, GM_SIZE + 1, UB_SIZE),
        "NOP far outside": place(replace(op, n_burst=0), (1 << 44) - 1, (1 << 24) - UB_BLOCK),
        "NOP with the longest GM stride": set_operand(empty, "gm_stride", _GM_MAX),
        "NOP with the longest UB stride": set_operand(empty, "ub_stride", _UB_MAX - 31),
    }
    for k in range(len(op.loops)):
        top = set_operand(empty, f"loop{k}_count", (1 << LOOP_COUNT_BITS) - 1)
        found[f"loop {k} count 2^21-1"] = top
        found[f"loop {k} count 0"] = set_operand(op, f"loop{k}_count", 0)
    return found


def _singles(op: V06) -> dict[str, V06]:
    lone = replace(op, n_burst=1, loops=())
    low = place(lone, 4096, 0)
    found = {
        "one row, GM stride 2^40-1": set_operand(lone, "gm_stride", _GM_MAX),
        "one row, UB stride 2^21-1": set_operand(lone, "ub_stride", _UB_MAX),
        "one row, strides 0": set_operand(set_operand(lone, "gm_stride", 0), "ub_stride", 0),
        "one row, UB stride unaligned": set_operand(lone, "ub_stride", 33),
        "len 65535": replace(low, len_burst=(1 << LEN_BITS) - 1),
    }
    for k in range(len(op.loops)):
        once = set_operand(op, f"loop{k}_count", 1)
        found[f"loop {k} once, UB stride 2^21-1"] = set_operand(once, f"loop{k}_ub", _UB_MAX)
        found[f"loop {k} once, GM stride 2^40-1"] = set_operand(once, f"loop{k}_gm", _GM_MAX)
    return found


def _ends(op: V06) -> dict[str, V06]:
    whole = replace(op, len_burst=op.len_burst // UB_BLOCK * UB_BLOCK)
    gm, ub = spans(op)
    full = spans(whole)[1]
    room = (UB_SIZE - ub) // UB_BLOCK * UB_BLOCK
    found = {
        "last GM byte": place(op, GM_SIZE - gm, 0),
        "last UB block": place(op, 0, room),
        "last byte of both": place(whole, GM_SIZE - spans(whole)[0], UB_SIZE - full),
        "GM stride equal len": set_operand(op, "gm_stride", op.len_burst),
    }
    return {
        name: case if name != "GM stride equal len" else replace(case, loops=())
        for name, case in found.items()
    }


def _pads(op: MteGmUb) -> dict[str, V06]:
    elem = ELEMENT_BYTES[op.src_type.dtype]
    most = PAD_LIMIT // elem
    length = op.len_burst // UB_BLOCK * UB_BLOCK
    full = replace(set_pad(op, left=most, right=most), len_burst=length, loops=())
    exact = replace(full, dst_stride=length + 2 * PAD_LIMIT)
    bare = replace(set_pad(full, left=0, right=0), dst_stride=length)
    ones = replace(full, pad=replace(cast("Pad", full.pad), value=(1 << 8 * elem) - 1))
    return {
        "both pads 32 B, no tail": exact,
        "both pads 32 B, one row": replace(exact, n_burst=1),
        "no pads, no tail": bare,
        "pad value all ones": ones,
        "padded row to the last UB byte": place(exact, 0, UB_SIZE - spans(exact)[1]),
    }


def near_misses(rng: np.random.Generator, *, store: bool, n_loops: int) -> dict[str, V06]:
    """Returns legal v0.6 ops at a limit, by what the limit is."""
    op = base_op(rng, store=store, pad=False, n_loops=n_loops)
    found = {**_nops(op), **_singles(op), **_ends(op)}
    found["l2 at its limit"] = replace(op, l2_cache_ctl=15 if store else 3)
    if not store:
        padded = base_op(rng, store=False, pad=True, n_loops=n_loops)
        found |= _pads(cast("MteGmUb", padded))
    return found
