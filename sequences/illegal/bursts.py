# SPDX-License-Identifier: Apache-2.0
"""Every D rule of the burst copies broken in many ways, and legal ops at the limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from sequences.blocks import Op
from sequences.constraints import UB_SIZE
from sequences.illegal.cases import (
    Break,
    Case,
    Change,
    chain,
    changed,
    make_cases,
    put,
    shift,
    too_wide,
)
from tb.isa.burst.op import BURST_CLASSES, BurstOp, lower_burst
from tb.isa.burst.table import BIAS_TYPES, BURSTS, GAP_BITS, LEN_BITS, PARAM_ALIGN, BurstSpec
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.table import LOCAL_STRIDE_BITS
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.footprint import destination, source, space_of
from tb.isa.spaces import SEGMENTS, SIZES, UB_BLOCK, Space

MAX_LEN, MAX_GAP = (1 << LEN_BITS) - 1, (1 << GAP_BITS) - 1


@dataclass(frozen=True)
class Kind:
    """Properties of each burst copy, from its row.

    Attributes:
        make: Op class.
        row: Row of the op.
        source, destination: Names of the address operands.
        sizes: Bytes of both memories, of fb those of a segment.
        starts: First addresses of the segments of the destination.
        unit: Alignment of the destination.
        count_bits: Width of the burst count.
        rules: Numbers of the width, alignment and range rules.
    """

    make: type[BurstOp]
    row: BurstSpec
    source: str
    destination: str
    sizes: tuple[int, int]
    starts: tuple[int, ...]
    unit: int
    count_bits: int
    rules: tuple[int, int, int]


def _kind(row: BurstSpec) -> Kind:
    segments = SEGMENTS[space_of(row.destination)]
    sizes = SIZES[space_of(row.source)], len(segments[0])
    source, destination, _, count, *_ = row.operands
    width, alignment, bounds = row.d_rules
    assert count.bits is not None
    return Kind(
        BURST_CLASSES[row.name], row, source.name, destination.name, sizes,
        tuple(one.start for one in segments), row.align, count.bits, (width, alignment, bounds),
    )  # fmt: skip


KINDS: Mapping[str, Kind] = {name: _kind(row) for name, row in BURSTS.items()}


def _base(rng: np.random.Generator, *, kind: Kind) -> Op:
    """Returns a small legal op of several bursts, within UB from low to high addresses."""
    length, count = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    src_gap, dst_gap = (int(x) for x in rng.integers(0, 5, 2))
    burst = (length, count, src_gap, dst_gap)
    src = UB_BLOCK * int(rng.integers(0, 1024))
    if kind.unit == PARAM_ALIGN:
        dst = kind.unit * int(rng.integers(0, 20)) + int(rng.choice(kind.starts))
    else:
        dst = UB_SIZE // 2 + UB_BLOCK * int(rng.integers(0, 1024))
    dtype = str(rng.choice(list(BIAS_TYPES if kind.row.widens else DTYPES)))
    result = BIAS_TYPES[dtype][0] if kind.row.widens else dtype
    op = kind.make(src, dst, *burst, Ptr(dtype, kind.row.source), Ptr(result, kind.row.destination))
    return changed(op, ub_sub=int(rng.integers(0, 2))) if kind.row.has_ub_side else op


def _start(op: BurstOp, kind: Kind) -> int:
    """Returns the first address of the segment that an op writes."""
    address: int = getattr(op, kind.destination)
    return max(start for start in kind.starts if start <= address)


def _units(op: BurstOp) -> tuple[int, int]:
    return lower_burst(op).units


def _source_over(op: BurstOp, *, kind: Kind) -> BurstOp:
    """One burst that reads one unit past the end of the memory."""
    length = UB_BLOCK * 2 // _units(op)[0] + 1
    values = {kind.source: kind.sizes[0] - 64, kind.destination: _start(op, kind)}
    return changed(op, n_burst=1, len_burst=length, **values)


def _destination_over(op: BurstOp, *, kind: Kind) -> BurstOp:
    """One burst that writes one unit past the end of the memory."""
    length = kind.unit // _units(op)[1] + 1
    end = _start(op, kind) + kind.sizes[1]
    values = {kind.source: 0, kind.destination: end - kind.unit}
    return changed(op, n_burst=1, len_burst=length, **values)


def _last_burst_over(op: BurstOp, *, kind: Kind) -> BurstOp:
    """Two bursts; the gap between them puts the second just past the end."""
    unit = _units(op)[1]
    room = (kind.sizes[1] - kind.unit) // unit
    values = {kind.source: 0, kind.destination: _start(op, kind) + kind.unit}
    return changed(op, n_burst=2, len_burst=1, src_gap=0, dst_gap=room - 1, **values)


def _segments(kind: Kind) -> list[Break]:
    """Segments of fb that do not exist, offsets past the end, and ops from one into the next."""
    rule = kind.rules[2]
    first, second = SEGMENTS[Space.FB]
    name = kind.destination
    holes = (first.stop, first.stop + 64, second.start - 64, second.stop, second.start + 0xFFC0)
    absent = (0x20000, 0x20FC0, 0x30000, 0x80000, 0xFF0000)
    found = [Break(f"{name} {at:#x}", rule, put(name, at)) for at in (*holes, *absent)]
    for at in (*absent, 1 << 24, (1 << 32) + 64):
        found += [
            Break(f"no units, {name} {at:#x}", rule, chain(put(name, at), put("len_burst", 0))),
            Break(f"no bursts, {name} {at:#x}", rule, chain(put(name, at), put("n_burst", 0))),
        ]
    over = chain(put("len_burst", 2), put("n_burst", 1))
    found += [
        Break(f"two units at {end:#x}", rule, chain(over, put(name, end)))
        for end in (first.stop - 64, second.stop - 64)
    ]
    # The second burst would be the first one of the next segment.
    gap = second.start // 64 - 1
    jump = chain(put(name, first.start), put("dst_gap", gap), put("n_burst", 2))
    return [*found, Break("from one segment into the next", rule, chain(jump, put("len_burst", 1)))]


def _outside(kind: Kind) -> list[Break]:
    rule = kind.rules[2]
    found = []
    segmented = len(kind.starts) > 1
    if segmented:
        found += _segments(kind)
    for name, size in zip((kind.source, kind.destination), kind.sizes, strict=True):
        if segmented and name == kind.destination:
            continue
        for base in (size, size + 64, 1 << 24, (1 << 32) + 64, 1 << 64):
            found.append(Break(f"{name} {base:#x}", rule, put(name, base)))
    small = min(kind.sizes) == kind.sizes[1]
    found += [
        Break("source one unit too far", rule, partial(_source_over, kind=kind)),
        Break("destination one unit too far", rule, partial(_destination_over, kind=kind)),
        Break("second burst one unit too far", rule, partial(_last_burst_over, kind=kind)),
        Break("longest bursts", rule, put("len_burst", MAX_LEN)),
        Break("most bursts", rule, put("n_burst", (1 << kind.count_bits) - 1)),
        Break("longest destination gap", rule, put("dst_gap", MAX_GAP)),
    ]
    if small and kind.row.widens:
        # 65535 elements of 2 or 4 bytes still lie in L1: several of them do not.
        far = chain(put("src_gap", MAX_GAP), put("n_burst", 8), put("len_burst", 1))
        return [*found, Break("longest source gaps", rule, chain(far, put("dst_gap", 0)))]
    return [*found, Break("longest source gap", rule, put("src_gap", MAX_GAP))]


def _breaks(kind: Kind) -> list[Break]:
    width, alignment, _ = kind.rules
    fields = [
        ("len_burst", LEN_BITS), ("n_burst", kind.count_bits), ("src_gap", GAP_BITS),
        ("dst_gap", GAP_BITS),
    ]  # fmt: skip
    found = too_wide(fields, width)
    found += [
        Break(f"{name} + {by}", alignment, shift(name, by))
        for name in (kind.source, kind.destination)
        for by in (1, 2, 8, 16, 31)
    ]
    if kind.unit == PARAM_ALIGN:
        found += [
            Break(f"{kind.destination} + {by}", alignment, shift(kind.destination, by))
            for by in (32, 33, 63)
        ]
    empty, none = put("len_burst", 0), put("n_burst", 0)
    found += [
        Break("no bursts, gap too wide", width, chain(put("src_gap", 1 << GAP_BITS), none)),
        Break(
            "no units, count too wide", width, chain(put("n_burst", 1 << kind.count_bits), empty)
        ),
        Break("no units, source + 16", alignment, chain(shift(kind.source, 16), empty)),
        Break("no bursts, destination + 8", alignment, chain(shift(kind.destination, 8), none)),
    ]
    return [*found, *_outside(kind)]


def _combined(kind: Kind) -> dict[int, Change]:
    width, alignment, bounds = kind.rules
    return {
        width: put("dst_gap", 1 << GAP_BITS),
        alignment: shift(kind.destination, 16),
        bounds: put(kind.source, kind.sizes[0] + 32),
    }


def _ends(op: BurstOp, kind: Kind) -> dict[str, Op]:
    """Ops that end with a memory."""
    desc = lower_burst(op)
    src_span, dst_span = (side.end - side.base for side in (source(desc), destination(desc)))
    start = _start(op, kind)
    src_end = (kind.sizes[0] - src_span) // UB_BLOCK * UB_BLOCK
    dst_end = start + (kind.sizes[1] - dst_span) // kind.unit * kind.unit
    return {
        "source to the end": changed(op, **{kind.source: src_end, kind.destination: start}),
        "destination to the end": changed(op, **{kind.source: 0, kind.destination: dst_end}),
    }


def _near(rng: np.random.Generator, *, kind: Kind) -> dict[str, Op]:
    op = _base(rng, kind=kind)
    assert isinstance(op, BurstOp)
    most = (1 << kind.count_bits) - 1
    units = _units(op)
    whole = kind.sizes[1] // units[1] if kind.sizes[0] > kind.sizes[1] else UB_SIZE // 32
    if kind.row.within:
        whole //= 2
    start = _start(op, kind)
    origin = {kind.source: 0, kind.destination: UB_SIZE // 2 if kind.row.within else start}
    outside = {kind.source: kind.sizes[0] + 64, kind.destination: start + kind.sizes[1]}
    # The segment of fb is tested for a NOP, too.
    far = start + (1 << 16) - 64 if len(kind.starts) > 1 else (1 << 24) - 64
    gaps = {"src_gap": MAX_GAP, "dst_gap": MAX_GAP}
    full = changed(op, n_burst=1, len_burst=whole, **origin)
    return {
        "gaps after a single burst": changed(op, n_burst=1, **gaps),
        "NOP with every maximum": changed(op, len_burst=0, n_burst=most, **gaps),
        "NOP of the longest bursts": changed(op, len_burst=MAX_LEN, n_burst=0, **gaps),
        "NOP outside": changed(op, len_burst=0, **outside),
        "NOP far outside": changed(
            op, n_burst=0, **{kind.source: (1 << 24) - 32, kind.destination: far}
        ),
        "one burst over everything": full,
        "everything in bursts of one": changed(
            full, len_burst=1, n_burst=min(whole, most), src_gap=0, dst_gap=0
        ),
        **_ends(op, kind),
        **{f"{name}, lone": case for name, case in _ends(changed(op, n_burst=1), kind).items()},
    }


def burst_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of a burst copy."""
    kind = KINDS[form]
    return make_cases(
        rng, form, partial(_base, kind=kind), _breaks(kind), [_combined(kind)],
        partial(_near, kind=kind),
    )  # fmt: skip


def _copy(rng: np.random.Generator) -> CopyUbufToUbuf:
    """Returns a small legal ``copy_ubuf_to_ubuf`` from low to high addresses."""
    length = UB_BLOCK * int(rng.integers(1, 5))
    src_stride, dst_stride = (length + UB_BLOCK * int(x) for x in rng.integers(1, 5, 2))
    src, dst = (UB_BLOCK * int(x) for x in rng.integers(0, 1024, 2))
    return CopyUbufToUbuf(
        src, UB_SIZE // 2 + dst, int(rng.integers(0, 16)), int(rng.integers(2, 5)), length,
        src_stride, dst_stride, ub_sub=int(rng.integers(0, 2)),
    )  # fmt: skip


def refused_copies(rng: np.random.Generator) -> dict[str, CopyUbufToUbuf]:
    """Returns copies that are not issued, by the violation: DMA-L05 to L08, L11, L12 (A-67)."""
    op = _copy(rng)
    found = {}
    for name, bits in (("n_burst", 16), ("len_burst", 16), ("src_stride", 21), ("dst_stride", 21)):
        found[f"L05 {name} too wide"] = changed(op, **{name: 1 << bits})
        found[f"L05 {name} far too wide"] = changed(op, **{name: (1 << 40) + 32})
    for name in ("src_stride", "dst_stride"):
        for by in (1, 16, 31):
            found[f"L07 {name} + {by}"] = shift(name, by)(op)
        found[f"L08 {name} below len"] = changed(op, **{name: op.len_burst - UB_BLOCK})
        found[f"L08 {name} 0"] = changed(op, **{name: 0})
    for by in (1, 8, 16, 31):
        found[f"L11 len + {by}"] = changed(op, len_burst=op.len_burst + by)
        found[f"L11 len + {by}, one burst"] = changed(op, len_burst=op.len_burst + by, n_burst=1)
    found |= {
        "L11 no bursts": changed(op, len_burst=40, n_burst=0),
        "L05 before L07": changed(op, n_burst=1 << 16, src_stride=33),
        "L07 before L08": changed(op, src_stride=op.len_burst - 1),
        "L07 before L11": changed(op, dst_stride=op.dst_stride + 8, len_burst=op.len_burst + 8),
        "L08 before L11": changed(op, dst_stride=op.len_burst, len_burst=op.len_burst + 8),
        "L05 before L06": changed(op, len_burst=1 << 16, src=op.src + 16),
        "L06 before L07": changed(op, src=op.src + 16, src_stride=op.src_stride + 4),
        "L06 before L11": changed(op, src=16, n_burst=2, len_burst=40, src_stride=40),
        "L11 before L12": changed(op, dst=UB_SIZE, len_burst=op.len_burst + 8),
        "L08 before L12": changed(op, dst=UB_SIZE, dst_stride=0),
    }
    return found | _outside_ub(op)


_TOP = ((1 << LOCAL_STRIDE_BITS) - 1) // UB_BLOCK * UB_BLOCK
"""Longest stride of ``copy_ubuf_to_ubuf`` that is used."""


def _outside_ub(op: CopyUbufToUbuf) -> dict[str, CopyUbufToUbuf]:
    """Copies with an address that is not aligned (DMA-L06) or bytes outside UB (DMA-L12)."""
    found = {}
    for name in ("src", "dst"):
        for by in (1, 2, 8, 16, 31):
            found[f"L06 {name} + {by}"] = shift(name, by)(op)
        for base in (UB_SIZE, UB_SIZE + 64, 1 << 24, (1 << 32) + 64, 1 << 64):
            found[f"L12 {name} {base:#x}"] = changed(op, **{name: base})
        end = UB_SIZE - (op.n_burst - 1) * getattr(op, f"{name}_stride") - op.len_burst
        found[f"L12 {name}, last burst one block out"] = changed(op, **{name: end + UB_BLOCK})
    return found | {
        "L12 last source burst far out": changed(op, src_stride=_TOP),
        "L12 last burst far out": changed(op, dst_stride=_TOP),
        "L12 most bursts": changed(op, n_burst=65535),
        "L06 both bases + 16 and out": changed(op, src=UB_SIZE + 16, dst=op.dst + 16),
        "L06 no bytes, source + 8": changed(op, src=op.src + 8, len_burst=0),
        "L06 no bursts, destination + 31": changed(op, dst=op.dst + 31, n_burst=0),
    }


def ubuf_copy_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of ``copy_ubuf_to_ubuf``; rejected copies precede a legal one."""
    cases = [
        Case(f"refused: {k}", form, 0, (v, _copy(rng))) for k, v in refused_copies(rng).items()
    ]
    op, top = _copy(rng), _TOP
    legal = {
        "one burst, strides of any kind": changed(op, n_burst=1, src_stride=1, dst_stride=top + 31),
        "no bursts, strides of any kind": changed(op, n_burst=0, src_stride=7, dst_stride=0),
        "strides equal len": changed(op, src_stride=op.len_burst, dst_stride=op.len_burst),
        "to the last byte": changed(
            op, dst=UB_SIZE - (op.n_burst - 1) * op.dst_stride - op.len_burst
        ),
        "longest burst": changed(op, src=0, dst=UB_SIZE // 2, n_burst=1, len_burst=65504),
        "most bursts of nothing": changed(op, len_burst=0, n_burst=65535),
        "longest strides of nothing": changed(op, len_burst=0, src_stride=top, dst_stride=top),
        "NOP outside": changed(op, len_burst=0, src=UB_SIZE, dst=UB_SIZE + 64),
        "sid 2^70": changed(op, sid=1 << 70),
        "bursts side by side": changed(
            op, src=0, dst=UB_SIZE // 2, n_burst=4096, len_burst=32, src_stride=32, dst_stride=32
        ),
    }
    return [*cases, *[Case(name, form, 0, (good,)) for name, good in legal.items()]]
