# SPDX-License-Identifier: Apache-2.0
"""The rules of the strided copies once more: docs/spec/dma.md section 5, docs/spec/profiles.md."""

from __future__ import annotations

from tb.isa.profile import current
from tb.isa.spaces import Space
from tests.model.naive import ATOMIC_BYTES, ATOMIC_OPS, ATOMIC_TYPES, Plain, row_end, rows

CAPACITY = {Space.GM: 2**40, Space.UB0: 262144, Space.UB1: 262144, Space.L1: 524288}


def lowest_rule(op: Plain) -> int:
    """Returns the lowest D rule that a copy breaks, or 0."""
    e, (left, right) = op.element, op.pad_bytes
    stride_ends_row = current().pad_end == "stride" or op.n > 1
    checks = (
        (3, not op.pads or e < 8),
        (5, fit(op)),
        (6, all(base % 32 == 0 for base in local_bases(op))),
        (7, all(stride % 32 == 0 for stride in local_strides(op))),
        (8, rows_long_enough(op)),
        (9, not op.pads or (
            op.len % e == 0 and max(left, right) <= 32 and left % e == right % e == 0
        )),
        (10, not (op.pads and stride_ends_row) or left + op.len + right <= op.dst_stride),
        (12, inside(op)),
        (16, whole_elements(op)),
        (17, known_update(op)),
    )  # fmt: skip
    return next((number for number, holds in checks if not holds), 0)


def fit(op: Plain) -> bool:
    """Every operand fits its field."""
    src_top, dst_top = (1 << (40 if space is Space.GM else 21) for space in (op.source, op.target))
    if op.blocks:
        fits = op.len < 2**16 and op.n < 2**12 and max(op.src_stride, op.dst_stride) < 2**16
    else:
        fits = max(op.len, op.n) < 2 ** current().len_bits
        fits &= op.src_stride < src_top and op.dst_stride < dst_top
    fits &= op.l2 < {"mte_gm_ub": 4, "mte_ub_gm": 16}.get(op.name, 2**40)
    fits &= max(op.left, op.right) < 2**8 and op.padded < 2
    fits &= op.pads or op.left == op.right == 0
    fits &= not op.pads or op.value < 256**op.element
    return fits and all(
        count < 2**21 and src < src_top and dst < dst_top for count, src, dst in op.loops
    )


def local_bases(op: Plain) -> list[int]:
    """Returns the addresses on the chip."""
    ends = ((op.source, op.src), (op.target, op.dst))
    return [base for space, base in ends if space is not Space.GM]


def local_strides(op: Plain) -> list[int]:
    """Returns the steps on the chip that are taken, without those inside a compact group."""
    used = []
    for count, src, dst in op.loops:
        if count > 1:
            used += [] if op.source is Space.GM else [src]
            used += [] if op.target is Space.GM else [dst]
    ends = op.pads and current().pad_end == "stride"
    if (op.n > 1 or ends) and not op.group and not op.blocks:
        used.append(op.src_stride if op.target is Space.GM else op.dst_stride)
    return used


def rows_long_enough(op: Plain) -> bool:
    """No row begins before the end of the row before."""
    if op.n < 2 or op.blocks:
        return True
    repeats = current().row_repeat == "legal" and op.source is Space.GM
    return op.dst_stride >= op.len and (repeats or op.src_stride >= op.len)


def inside(op: Plain) -> bool:
    """No byte is outside of its memory: all steps are unsigned, so the last row ends last."""
    if not op.live:
        return True
    last = op.n - 1
    src_end = op.src + last * op.src_step + op.row
    dst_end = op.dst + last * op.dst_step + row_end(op, last)
    for count, src, dst in op.loops:
        src_end += (count - 1) * src
        dst_end += (count - 1) * dst
    return src_end <= CAPACITY[op.source] and dst_end <= CAPACITY[op.target]


def whole_elements(op: Plain) -> bool:
    """An update has whole elements at whole addresses (AT-03)."""
    if not 0 < op.atomic_type < len(ATOMIC_TYPES):
        return True
    used = [op.len, op.dst, *([op.dst_stride] if op.n > 1 else [])]
    used += [dst for count, _, dst in op.loops if count > 1]
    return all(value % ATOMIC_BYTES[op.atomic_type] == 0 for value in used)


def known_update(op: Plain) -> bool:
    """The type and the op of an update have a meaning (AT-07)."""
    if not op.atomic_type:
        return True
    return op.atomic_type < len(ATOMIC_TYPES) and op.atomic_op < len(ATOMIC_OPS)


def undefined(op: Plain) -> int:
    """Returns a T rule that a legal copy breaks, or 0: DMA-L13, L18 and L19."""
    if op.live and op.fills and op.name == "mte_gm_ub" and op.len < op.element:
        return 19
    data, whole = -1, -1
    for row in sorted(rows(op), key=lambda row: row.dst):
        if row.dst < data:
            return 13
        if row.dst < whole:
            return 18
        data = row.dst + row.left + row.length
        whole = row.dst + row.end
    return 0
