# SPDX-License-Identifier: Apache-2.0
"""Ways to break each D rule: a legal v0.6 op in, the same op with one operand wrong out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from sequences.constraints import GM_SIZE, UB_SIZE
from tb.isa.dma import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dma_table import (
    GM_STRIDE_BITS,
    LEN_BITS,
    LOCAL_STRIDE_BITS,
    LOOP_COUNT_BITS,
    N_BURST_BITS,
    PAD_COUNT_BITS,
    PAD_LIMIT,
)
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, Ptr
from tb.isa.spaces import UB_BLOCK

V06 = MteGmUb | MteUbGm
Change = Callable[[V06], V06]

EXCESS = ((1, 0), (2, 17), (3, 5), (1 << 24, 3))
"""Too-wide values in units of the first one that does not fit: by 1, by more, beyond the
container of the descriptor field; as (factor, addend)."""


@dataclass(frozen=True)
class Violation:
    """One way to break a rule.

    Attributes:
        name: What is wrong.
        rule: n of the DMA-Ln it breaks, the lowest one when applied alone.
        change: Makes a legal op of :func:`base_op` break it.
        v06_only: No legacy copy can break the rule this way: a register would refuse the value,
            the operand is missing, or its unit is another.
        pad: The op must be padded for the change to matter.
    """

    name: str
    rule: int
    change: Change
    v06_only: bool = False
    pad: bool = False


def _up(value: int) -> int:
    return -(-value // UB_BLOCK) * UB_BLOCK


def base_op(rng: np.random.Generator, *, store: bool, pad: bool, n_loops: int) -> V06:
    """Returns a small legal op whose rows and loops all iterate, so that every stride counts.

    UB rows leave at least 64 bytes free and GM rows at least 4, and lengths are one byte above
    a multiple of 32 where the element allows.
    """
    types = [name for name in DTYPES if not pad or ELEMENT_BYTES[name] < 8]
    dtype = str(rng.choice(types))
    elem = ELEMENT_BYTES[dtype]
    length = UB_BLOCK * int(rng.integers(1, 5)) + elem
    rows = int(rng.integers(2, 5))
    left, right = (int(x) * elem for x in rng.integers(0, PAD_LIMIT // elem + 1, 2))
    need = length + (left + right if pad else 0)
    ub_stride = _up(need) + UB_BLOCK * int(rng.integers(2, 5))
    gm_stride = length + int(rng.integers(4, 100))
    ub_hull, gm_hull = ub_stride * rows, gm_stride * rows
    loops = []
    for _ in range(n_loops):
        count = int(rng.integers(2, 4))
        ub = ub_hull + UB_BLOCK * int(rng.integers(0, 3))
        gm = gm_hull + int(rng.integers(0, 50))
        loops.append((count, gm, ub))
        ub_hull, gm_hull = ub * count, gm * count
    ub_addr = UB_BLOCK * int(rng.integers(0, (UB_SIZE - ub_hull) // UB_BLOCK))
    gm_addr = int(rng.integers(0, 1 << 20))
    sub = int(rng.integers(0, 2))
    ub_ptr, gm_ptr = Ptr(dtype, "ub"), Ptr(dtype, "gm")
    if store:
        groups = tuple(Loop(count, ub, gm) for count, gm, ub in loops)
        return MteUbGm(
            ub_addr, gm_addr, length, rows, ub_stride, gm_stride, groups,
            int(rng.integers(0, 16)), ub_ptr, gm_ptr, sub,
        )  # fmt: skip
    clause = None
    if pad:
        value = int(rng.integers(0, 1 << 8 * elem))
        clause = Pad(f"i{8 * elem}", value, left // elem, right // elem)
    return MteGmUb(
        gm_addr, ub_addr, length, rows, gm_stride, ub_stride,
        tuple(Loop(count, gm, ub) for count, gm, ub in loops), clause,
        int(rng.integers(0, 4)), gm_ptr, ub_ptr, sub,
    )  # fmt: skip


def set_operand(op: V06, name: str, value: int) -> V06:
    """Returns ``op`` with an operand named by side: ``gm_addr``, ``ub_stride``, ``loop1_gm``."""
    load = isinstance(op, MteGmUb)
    if name.startswith("loop"):
        k, part = int(name[4]), name[6:]
        if part != "count":
            part = "src_stride" if (part == "gm") == load else "dst_stride"
        loops = list(op.loops)
        changed: dict[str, Any] = {part: value}
        loops[k] = replace(loops[k], **changed)
        return replace(op, loops=tuple(loops))
    names = {
        "gm_addr": "gm_src" if load else "gm_dst",
        "ub_addr": "ub_dst" if load else "ub_src",
        "gm_stride": "src_stride" if load else "dst_stride",
        "ub_stride": "dst_stride" if load else "src_stride",
    }
    operand: dict[str, Any] = {names.get(name, name): value}
    return replace(op, **operand)


def place(op: V06, gm_addr: int, ub_addr: int) -> V06:
    """Returns ``op`` at other base addresses."""
    return set_operand(set_operand(op, "gm_addr", gm_addr), "ub_addr", ub_addr)


def set_pad(op: MteGmUb, *, left: int, right: int) -> MteGmUb:
    """Returns a padded load with other pad counts, in elements."""
    return replace(op, pad=replace(cast("Pad", op.pad), left=left, right=right))


def _ub(op: V06) -> tuple[int, int]:
    return (op.ub_dst, op.dst_stride) if isinstance(op, MteGmUb) else (op.ub_src, op.src_stride)


def _put(name: str, value: int) -> Change:
    return lambda op: set_operand(op, name, value)


def _pad(**values: Any) -> Change:
    def change(op: V06) -> V06:
        load = cast("MteGmUb", op)
        return replace(load, pad=replace(cast("Pad", load.pad), **values))

    return change


def _elem(op: V06) -> int:
    return ELEMENT_BYTES[op.src_type.dtype]


def _too_wide(store: bool) -> list[Violation]:
    fields = [
        ("len_burst", LEN_BITS, False),
        ("n_burst", N_BURST_BITS, False),
        ("gm_stride", GM_STRIDE_BITS, False),
        ("ub_stride", LOCAL_STRIDE_BITS, False),
        ("l2_cache_ctl", 4 if store else 2, store),
    ]
    for k in range(3):
        fields += [
            (f"loop{k}_count", LOOP_COUNT_BITS, True),
            (f"loop{k}_gm", GM_STRIDE_BITS, True),
            (f"loop{k}_ub", LOCAL_STRIDE_BITS, True),
        ]
    found = []
    for name, bits, v06_only in fields:
        for factor, more in EXCESS:
            value = (factor << bits) + more
            found.append(Violation(f"{name} = {value}", 5, _put(name, value), v06_only))
    if store:
        return found
    for factor, more in EXCESS:
        for side in ("left", "right"):
            value = (factor << PAD_COUNT_BITS) + more
            wrong = _pad(**{side: value})
            found.append(Violation(f"{side} padding {value}", 5, wrong, pad=True))

        def value_too_wide(op: V06, factor: int = factor, more: int = more) -> V06:
            return _pad(value=(factor << 8 * _elem(op)) + more)(op)

        found.append(Violation(f"pad value x{factor}", 5, value_too_wide, True, True))
    return found


def _alignment() -> list[Violation]:
    def base(by: int) -> Change:
        return lambda op: set_operand(op, "ub_addr", _ub(op)[0] + by)

    def row(by: int) -> Change:
        return lambda op: set_operand(op, "ub_stride", _ub(op)[1] + by)

    def single(op: V06) -> V06:
        return set_operand(set_operand(op, "ub_stride", _ub(op)[1] + 8), "n_burst", 1)

    def loop(k: int, by: int) -> Change:
        def change(op: V06) -> V06:
            now = op.loops[k]
            stride = now.dst_stride if isinstance(op, MteGmUb) else now.src_stride
            return set_operand(op, f"loop{k}_ub", stride + by)

        return change

    found = [Violation(f"UB base + {by}", 6, base(by)) for by in (1, 2, 8, 16, 31)]
    found += [Violation(f"UB row stride + {by}", 7, row(by)) for by in (1, 4, 16, 31)]
    found.append(Violation("UB row stride + 8, one padded row", 7, single, pad=True))
    for k in range(3):
        found += [
            Violation(f"UB stride of loop {k} + {by}", 7, loop(k, by), v06_only=k == 2)
            for by in (1, 16, 31)
        ]
    return found


def _short_strides() -> list[Violation]:
    def gm(below: int) -> Change:
        return lambda op: set_operand(op, "gm_stride", max(op.len_burst - below, 0))

    def ub_just_below(op: V06) -> V06:
        return set_operand(op, "ub_stride", op.len_burst // UB_BLOCK * UB_BLOCK)

    return [
        Violation("GM stride len - 1", 8, gm(1)),
        Violation("GM stride len - 32", 8, gm(32)),
        Violation("GM stride 0", 8, _put("gm_stride", 0)),
        Violation("UB stride one block short", 8, ub_just_below),
        Violation("UB stride 0", 8, _put("ub_stride", 0)),
    ]


def _bad_pads() -> list[Violation]:
    def part(op: V06) -> V06:
        # Only wider elements can be cut; a byte element gets one pad byte too many instead.
        if _elem(op) == 1:
            return _pad(left=PAD_LIMIT + 1)(op)
        return set_operand(op, "len_burst", op.len_burst - 1)

    def count(side: str, over: int) -> Change:
        return lambda op: _pad(**{side: PAD_LIMIT // _elem(op) + over})(op)

    def both(op: V06, *, rows: int) -> V06:
        most = PAD_LIMIT // _elem(op)
        full = set_operand(_pad(left=most, right=most)(op), "n_burst", rows)
        return set_operand(full, "ub_stride", _up(op.len_burst))

    def one_over(op: V06) -> V06:
        # The row stride is a whole block: grow the data to one element more than fits.
        elem = _elem(op)
        load = cast("MteGmUb", _pad(left=1, right=1)(op))
        return replace(load, len_burst=_up(load.len_burst) - elem, dst_stride=_up(load.len_burst),
                       src_stride=load.src_stride + UB_BLOCK)  # fmt: skip

    found = [Violation("len is no whole element", 9, part, pad=True)]
    for side in ("left", "right"):
        found += [Violation(f"{side} 32 B + {n} el", 9, count(side, n), pad=True) for n in (1, 3)]
        found.append(Violation(f"{side} 255 elements", 9, _pad(**{side: 255}), True, True))
    found += [
        Violation("row one element too long", 10, one_over, pad=True),
        Violation("both pads full, no room", 10, lambda op: both(op, rows=2), pad=True),
        Violation("the same in a single row", 10, lambda op: both(op, rows=1), pad=True),
        Violation(
            "single padded row, stride 0",
            10,
            lambda op: set_operand(set_operand(op, "n_burst", 1), "ub_stride", 0),
            pad=True,
        ),
    ]
    return found


def spans(op: V06) -> tuple[int, int]:
    """Returns the bytes from the first to the last one on GM and on UB."""
    load = isinstance(op, MteGmUb)
    gm_stride, ub_stride = (
        (op.src_stride, op.dst_stride) if load else (op.dst_stride, op.src_stride)
    )
    padded = isinstance(op, MteGmUb) and op.pad is not None
    gm = (op.n_burst - 1) * gm_stride + op.len_burst
    ub = (op.n_burst - 1) * ub_stride + (ub_stride if padded else op.len_burst)
    for loop in op.loops:
        pair = (loop.src_stride, loop.dst_stride)
        gm += (loop.count - 1) * pair[0 if load else 1]
        ub += (loop.count - 1) * pair[1 if load else 0]
    return gm, ub


def _outside() -> list[Violation]:
    def gm_over(by: int) -> Change:
        return lambda op: set_operand(op, "gm_addr", GM_SIZE - spans(op)[0] + by)

    def ub_over(op: V06) -> V06:
        return set_operand(
            op, "ub_addr", (UB_SIZE - spans(op)[1]) // UB_BLOCK * UB_BLOCK + UB_BLOCK
        )

    bases = [GM_SIZE, GM_SIZE + 1, (1 << 41) + 5, (1 << 44) + 7, (1 << 63) + 1, (1 << 64) + 64]
    found = [Violation(f"GM base {base:#x}", 12, _put("gm_addr", base)) for base in bases]
    found += [
        Violation(f"UB base {base:#x}", 12, _put("ub_addr", base))
        for base in (UB_SIZE, UB_SIZE + UB_BLOCK, 1 << 24, (1 << 32) + 64, 1 << 64)
    ]
    found += [Violation(f"GM end {by} too far", 12, gm_over(by)) for by in (1, 2, 4096)]
    found.append(Violation("UB end in the block behind", 12, ub_over))
    found.append(Violation("UB end in the block behind, padded", 12, ub_over, pad=True))
    found += [
        Violation("last GM row far out", 12, _put("gm_stride", (1 << 40) - 1)),
        Violation("last UB row far out", 12, _put("ub_stride", (1 << 21) - UB_BLOCK)),
        Violation("GM loop stride far out", 12, _put("loop0_gm", (1 << 40) - 1)),
        Violation("UB loop stride far out", 12, _put("loop0_ub", (1 << 21) - UB_BLOCK)),
        Violation("many rows", 12, _put("n_burst", 65535)),
        Violation("many iterations", 12, _put("loop0_count", (1 << 21) - 1)),
    ]
    return found


def _idle() -> list[Violation]:
    """An op that moves nothing breaks rules like any other, but for DMA-L12."""

    def with_zero(name: str, change: Change) -> Change:
        return lambda op: set_operand(change(op), name, 0)

    wide = _put("gm_stride", 1 << GM_STRIDE_BITS)
    return [
        Violation("no rows, GM stride too wide", 5, with_zero("n_burst", wide)),
        Violation(
            "no bytes, UB base + 16",
            6,
            with_zero("len_burst", lambda op: set_operand(op, "ub_addr", _ub(op)[0] + 16)),
        ),
        Violation(
            "no iterations, UB row stride + 4",
            7,
            with_zero("loop0_count", lambda op: set_operand(op, "ub_stride", _ub(op)[1] + 4)),
        ),
    ]


def violations(*, store: bool) -> list[Violation]:
    """Returns every way to break a rule with ``mte_ub_gm`` (store) or ``mte_gm_ub``."""
    found = [*_too_wide(store), *_alignment(), *_short_strides(), *_outside(), *_idle()]
    if not store:
        found += _bad_pads()
    return [item for item in found if not (store and item.pad)]


def combination(rng: np.random.Generator, *, store: bool) -> tuple[dict[int, Change], bool]:
    """Draws two or more changes that can all be applied to one op.

    Returns:
        Rule to change, in ascending order, and whether the op must be padded.
    """
    load_only: dict[int, Change] = {}
    if not store:
        load_only = {
            9: lambda op: _pad(right=PAD_LIMIT // _elem(op) + 1)(op),
            10: lambda op: set_operand(
                _pad(left=PAD_LIMIT // _elem(op))(op), "ub_stride", _up(op.len_burst)
            ),
        }
    all_changes: dict[int, Change] = {
        5: _put("l2_cache_ctl", 17),
        6: lambda op: set_operand(op, "ub_addr", _ub(op)[0] + 16),
        7: lambda op: set_operand(op, "loop0_ub", 33),
        8: lambda op: set_operand(op, "gm_stride", op.len_burst - 1),
        **load_only,
        12: _put("gm_addr", GM_SIZE + 3),
    }
    rules = sorted(all_changes)
    size = int(rng.integers(2, len(rules) + 1))
    chosen = sorted(int(rule) for rule in rng.choice(rules, size, replace=False))
    return {rule: all_changes[rule] for rule in chosen}, bool({9, 10} & set(chosen))
