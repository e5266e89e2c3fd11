# SPDX-License-Identifier: Apache-2.0
"""``mte_l1_bt``: bias elements to 32-bit slots, widened where they are 16 bits wide.

Source pitch is the element, destination pitch always 4 bytes (spec/bias_fb.md, section 2; A-22).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoreboards.model.burst import broken_rule
from scoreboards.model.outcome import NOTHING, Explanation, Memory, Outcome
from scoreboards.model.registers import Registers
from scoreboards.model.widen import WIDENINGS
from tb.isa.burst.op import BurstDescriptor, MteL1Bt
from tb.isa.burst.table import MTE_L1_BT, WIDEN_BF16, WIDEN_F16, WIDEN_RAW
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space
from tb.isa.status import Status

_SLOT_BYTES = 4
_SLOT = np.dtype("<u4")
_CODES = {"f32": WIDEN_RAW, "i32": WIDEN_RAW, "bf16": WIDEN_BF16, "f16": WIDEN_F16}


@dataclass(frozen=True, slots=True)
class BiasTransfer:
    """Moves bias elements; ``read`` and ``written`` have the same bursts."""

    read: Footprint
    written: Footprint
    dtype: str

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Widens every element into its slot; returns the classes of what was read."""
        read, written, rule = self.read, self.written, WIDENINGS[self.dtype]
        size = rule.element.itemsize
        shape = (*read.counts, read.length // size)
        memory, target = memories[read.space].data, memories[written.space].data
        elements = np.ndarray(shape, rule.element, memory, read.base, (*read.strides, size))
        slots: np.ndarray[tuple[int, ...], np.dtype[np.uint32]] = np.ndarray(
            shape, _SLOT, target, written.base, (*written.strides, _SLOT_BYTES)
        )
        slots[...] = elements if rule.words is None else rule.words[elements]
        return rule.events(elements)

    def explain(self, index: tuple[int, ...], byte: int | None, _region: int = 0) -> Explanation:
        """Names the slot, counted from the op's destination, and the element it holds."""
        (burst,) = index
        if byte is None:
            return Explanation(f"burst {burst} of {self.written.counts[0]}")
        rule = WIDENINGS[self.dtype]
        element, part = divmod(byte, _SLOT_BYTES)
        slot = (burst * self.written.strides[0] + byte) // _SLOT_BYTES
        source = self.read.base + burst * self.read.strides[0] + element * rule.element.itemsize
        how = self.dtype if rule.words is None else f"{self.dtype} widened"
        return Explanation(
            f"bias slot {slot} = burst {burst}, element {element} ({how}), byte {part} of "
            f"{_SLOT_BYTES}",
            source,
        )


def l1_bt(op: MteL1Bt, legal: bool, _state: Registers) -> Outcome:
    """Returns what an ``mte_l1_bt`` does.

    Raises:
        ValueError: the types are none of the four pairs (BT-L01).
    """
    source_type = op.src_type.dtype
    widening = WIDENINGS.get(source_type)
    if widening is None or widening.target != op.dst_type.dtype:
        pairs = ", ".join(f"{name} -> {w.target}" for name, w in WIDENINGS.items())
        raise ValueError(
            f"BT-L01: mte_l1_bt from {source_type} to {op.dst_type.dtype}: one of {pairs}"
        )
    if not legal:
        rule = broken_rule(
            BurstDescriptor(
                MTE_L1_BT,
                op.l1_src,
                op.bt_dst,
                op.len_burst,
                op.n_burst,
                op.src_gap,
                op.dst_gap,
                _CODES[source_type],
            )
        )
        if rule:
            return Outcome(Status.RULE, rule)
    if not op.len_burst or not op.n_burst:
        return NOTHING
    length, counts, size = op.len_burst, (op.n_burst,), widening.element.itemsize
    read = Footprint(Space.L1, op.l1_src, length * size, counts, ((length + op.src_gap) * size,))
    written = Footprint(
        Space.BT,
        op.bt_dst,
        length * _SLOT_BYTES,
        counts,
        ((length + op.dst_gap) * _SLOT_BYTES,),
    )
    transfer = BiasTransfer(read, written, source_type)
    return Outcome(Status.OK, 0, read, written, transfer=transfer)
