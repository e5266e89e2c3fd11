# SPDX-License-Identifier: Apache-2.0
"""The strided copies once more, row by row, for checks of what the sequences send.

Written from spec/dma.md, sections 1, 2, 3 and 5, spec/order_and_atomics.md, section 6, and
spec/profiles.md: neither the rules nor the footprints of ``tb.isa`` are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb.isa.dma.op import DmaDescriptor
from tb.isa.profile import current
from tb.isa.spaces import Space
from tests.model.naive_fix import atomic

CAPACITY = {Space.GM: 1 << 40, Space.UB0: 1 << 18, Space.UB1: 1 << 18, Space.L1: 1 << 19}
LOADS = ("mte_gm_ub", "mte_gm_l1")
TYPES = ("", "f32", "f16", "s16", "s32", "s8", "bf16")
OPS = ("add", "max", "min")


class Row(NamedTuple):
    """A row: data bytes from ``src``, and what is written from ``dst`` on.

    ``left`` pad bytes, ``length`` data bytes, and others up to ``end`` bytes in all.
    """

    src: int
    dst: int
    left: int
    length: int
    end: int


def up(value: int) -> int:
    """Returns ALIGN32."""
    return (value + 31) // 32 * 32


def spaces(desc: DmaDescriptor) -> tuple[Space, Space]:
    """Returns the memories read and written."""
    ub = (Space.UB0, Space.UB1)[desc.ub_sub]
    return {
        "mte_gm_ub": (Space.GM, ub),
        "mte_ub_gm": (ub, Space.GM),
        "mte_gm_l1": (Space.GM, Space.L1),
        "mte_l1_ub": (Space.L1, ub),
    }[desc.spec.name]


def pads(desc: DmaDescriptor) -> tuple[int, int]:
    """Returns L and R in bytes."""
    unit = 1 if desc.pad_in_bytes else desc.elem_bytes
    return desc.pad_left * unit, desc.pad_right * unit


def steps(desc: DmaDescriptor) -> tuple[int, int, int, list[tuple[int, int, int]]]:
    """Returns the row length and both row steps in bytes, and (count, source, destination)."""
    length, ext, loc = desc.len, desc.ext_stride, desc.loc_stride
    if desc.spec.name == "mte_l1_ub":
        length, ext, loc = 32 * length, 32 * (length + ext), 32 * (length + loc)
    loops = [(loop.count, loop.ext_stride, loop.loc_stride) for loop in desc.loops]
    if desc.spec.name == "mte_ub_gm":
        return length, loc, ext, [(count, to, of) for count, of, to in loops]
    return length, ext, loc, loops


def is_group(desc: DmaDescriptor) -> bool:
    """Tells whether the rows are a compact group."""
    return (
        current().compact == "legal" and desc.spec.name in LOADS and desc.pad_en == 0
        and desc.n_burst > 1 and desc.loc_stride == desc.len
    )  # fmt: skip


def rows(desc: DmaDescriptor) -> Iterator[Row]:
    """Yields the rows of a legal copy in the order of the specification."""
    knobs = current()
    length, src_step, dst_step, loops = steps(desc)
    if not length:
        return
    left, right = pads(desc) if desc.pad_en else (0, 0)
    from_ext = desc.spec.name != "mte_ub_gm"
    src, dst = (desc.ext_addr, desc.loc_addr) if from_ext else (desc.loc_addr, desc.ext_addr)
    for index in product(*(range(count) for count, _, _ in reversed(loops))):
        s, d = src, dst
        for i, (_, src_loop, dst_loop) in zip(reversed(index), loops, strict=True):
            s, d = s + i * src_loop, d + i * dst_loop
        for r in range(desc.n_burst):
            end = length
            if desc.pad_en:
                whole = knobs.pad_end == "stride"
                end = desc.loc_stride if whole else up(left + length + right)
            elif knobs.tail == "fill" and desc.spec.name in LOADS:
                end = up(length)
                if is_group(desc):
                    last = r == desc.n_burst - 1
                    end = up(desc.n_burst * length) - r * length if last else length
            yield Row(s + r * src_step, d + r * dst_step, left, length, end)


def execute(desc: DmaDescriptor, memories: Mapping[Space, NDArray[np.uint8]]) -> None:
    """Writes what a legal copy writes."""
    source, target = (memories[space] for space in spaces(desc))
    size, pattern = desc.elem_bytes, int(desc.pad_value).to_bytes(8, "little")
    for row in list(rows(desc)):
        data = source[row.src : row.src + row.length].copy()
        if desc.spec.name == "mte_ub_gm" and desc.atomic_type:
            _update(desc, data, target[row.dst : row.dst + row.length])
            continue
        for b in range(row.end):
            at = row.dst + b
            if row.left <= b < row.left + row.length:
                target[at] = data[b - row.left]
            elif desc.pad_en:
                target[at] = pattern[at % size]
            elif desc.spec.name == "mte_gm_l1":
                target[at] = 0
            else:
                target[at] = data[b % size]


def _size(desc: DmaDescriptor) -> int:
    """Returns the bytes of an element of an update, 1 where CTRL names no type."""
    kind = TYPES[desc.atomic_type] if 0 < desc.atomic_type < len(TYPES) else "s8"
    return {"32": 4, "16": 2}.get(kind.lstrip("bfs"), 1)


def _update(desc: DmaDescriptor, data: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Updates a row in GM, element by element."""
    kind, op, size = TYPES[desc.atomic_type], OPS[desc.atomic_op], _size(desc)
    for at in range(0, len(data), size):
        old, new = (int.from_bytes(side[at : at + size].tobytes(), "little")
                    for side in (target, data))  # fmt: skip
        value = atomic(kind, op, old, new, c48=bool(desc.nosat))
        target[at : at + size] = list(value.to_bytes(size, "little"))


def _whole_elements(desc: DmaDescriptor) -> bool:
    """Tells whether an update has whole elements at whole addresses (AT-03)."""
    if desc.spec.name != "mte_ub_gm" or not 0 < desc.atomic_type < len(TYPES):
        return True
    used = [desc.len, desc.ext_addr, *([desc.ext_stride] if desc.n_burst > 1 else [])]
    used += [loop.ext_stride for loop in desc.loops if loop.count > 1]
    return all(value % _size(desc) == 0 for value in used)


def _known_update(desc: DmaDescriptor) -> bool:
    """Tells whether the type and the op of an update have a meaning (AT-07)."""
    if desc.spec.name != "mte_ub_gm" or not desc.atomic_type:
        return True
    return desc.atomic_type < len(TYPES) and desc.atomic_op < len(OPS)


def _widths(desc: DmaDescriptor) -> bool:
    name, long = desc.spec.name, 1 << current().len_bits
    gm, local = 1 << 40, 1 << 21
    tops = {"len": long, "n_burst": long, "ext_stride": gm, "loc_stride": local}
    if name == "mte_l1_ub":
        tops = {"len": 1 << 16, "n_burst": 1 << 12, "ext_stride": 1 << 16, "loc_stride": 1 << 16}
        gm = local
    tops["l2"] = {"mte_gm_ub": 4, "mte_ub_gm": 16}.get(name, 1 << 40)
    fits = all(getattr(desc, field) < top for field, top in tops.items())
    if name == "mte_gm_ub":
        fits &= desc.pad_left < 256 and desc.pad_right < 256 and desc.pad_en < 2
        fits &= bool(desc.pad_en) or desc.pad_left == desc.pad_right == 0
        fits &= not desc.pad_en or desc.pad_value < 1 << 8 * desc.elem_bytes
    return fits and all(
        loop.count < 1 << 21 and loop.ext_stride < gm and loop.loc_stride < local
        for loop in desc.loops
    )


def _strides(desc: DmaDescriptor) -> bool:
    blocks = desc.spec.name == "mte_l1_ub"
    used = [loop.loc_stride for loop in desc.loops if loop.count > 1]
    if blocks:
        used += [loop.ext_stride for loop in desc.loops if loop.count > 1]
    elif (desc.n_burst > 1 or desc.pad_en) and not is_group(desc):
        used.append(desc.loc_stride)
    return all(stride % 32 == 0 for stride in used)


def _long_enough(desc: DmaDescriptor) -> bool:
    if desc.n_burst < 2 or desc.spec.name == "mte_l1_ub":
        return True
    free = current().row_repeat == "legal" and desc.spec.name in LOADS
    return desc.loc_stride >= desc.len and (free or desc.ext_stride >= desc.len)


def _live(desc: DmaDescriptor) -> bool:
    counts = [loop.count for loop in desc.loops]
    return bool(desc.len and desc.n_burst) and all(counts)


def _inside(desc: DmaDescriptor) -> bool:
    if not _live(desc):
        return True
    source, target = (CAPACITY[space] for space in spaces(desc))
    length, src_step, dst_step, loops = steps(desc)
    # All steps are unsigned: the last rows end last, of a group the last row of each.
    few = [(count, of, to) for count, of, to in loops]
    src = desc.loc_addr if desc.spec.name == "mte_ub_gm" else desc.ext_addr
    dst = desc.ext_addr if desc.spec.name == "mte_ub_gm" else desc.loc_addr
    s = src + (desc.n_burst - 1) * src_step + sum((n - 1) * of for n, of, _ in few) + length
    d = dst + (desc.n_burst - 1) * dst_step + sum((n - 1) * to for n, _, to in few)
    left, right = pads(desc)
    end = length
    if desc.pad_en:
        whole = current().pad_end == "stride"
        end = desc.loc_stride if whole else up(left + length + right)
    elif current().tail == "fill" and desc.spec.name in LOADS:
        run = desc.n_burst * length
        end = up(run) - (run - length) if is_group(desc) else up(length)
    return s <= source and d + end <= target


def broken(desc: DmaDescriptor) -> int:
    """Returns the lowest D rule that a strided copy breaks, or 0."""
    left, right = pads(desc)
    bases = [desc.loc_addr] + [desc.ext_addr] * (desc.spec.name == "mte_l1_ub")
    checks = (
        (3, desc.pad_en != 1 or desc.elem_bytes < 8),
        (5, _widths(desc)),
        (6, all(base % 32 == 0 for base in bases)),
        (7, _strides(desc)),
        (8, _long_enough(desc)),
        (9, not desc.pad_en or (
            desc.len % desc.elem_bytes == 0 and max(left, right) <= 32
            and left % desc.elem_bytes == right % desc.elem_bytes == 0
        )),
        (10, not desc.pad_en or left + desc.len + right <= desc.loc_stride),
        (12, _inside(desc)),
        (16, _whole_elements(desc)),
        (17, _known_update(desc)),
    )  # fmt: skip
    return next((number for number, holds in checks if not holds), 0)


def undefined(desc: DmaDescriptor) -> int:
    """Returns a T rule that a legal copy breaks, or 0: DMA-L13, L18 and L19."""
    if not _live(desc):
        return 0
    fills = current().tail == "fill" and desc.spec.name == "mte_gm_ub" and not desc.pad_en
    if fills and desc.len < desc.elem_bytes:
        return 19
    data, whole = -1, -1
    for row in sorted(rows(desc), key=lambda row: row.dst):
        if row.dst < data:
            return 13
        if row.dst < whole:
            return 18
        data = row.dst + row.left + row.length
        whole = row.dst + row.end
    return 0


def written(desc: DmaDescriptor) -> NDArray[np.int64]:
    """Returns the addresses that a legal copy writes, ascending."""
    parts = [np.arange(row.dst, row.dst + row.end) for row in rows(desc)] if _live(desc) else []
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))


def read(desc: DmaDescriptor) -> NDArray[np.int64]:
    """Returns the addresses that a legal copy reads, ascending."""
    parts = [np.arange(row.src, row.src + row.length) for row in rows(desc)] if _live(desc) else []
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))
