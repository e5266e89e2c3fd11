# SPDX-License-Identifier: Apache-2.0
"""What was in flight when a simulation was ended or crashed, read from its mailbox file."""

from __future__ import annotations

from pathlib import Path

from tb.isa.descriptor import unpack, unpack_fields
from tb.isa.dma import DmaDescriptor
from tb.isa.ops import SLOTS
from tb.mailbox import MailboxReader


def describe(desc: DmaDescriptor) -> str:
    """Returns the fields of a descriptor in one line, for when its PTO text is lost."""
    loops = "".join(
        f" loop({loop.count}, gm {loop.ext_stride}, ub {loop.loc_stride})" for loop in desc.loops
    )
    pad = f" pad(value {desc.pad_value:#x}, left {desc.pad_left}, right {desc.pad_right})"
    return (
        f"{desc.spec.name} gm {desc.ext_addr:#x} ub{desc.ub_sub} {desc.loc_addr:#x} "
        f"len {desc.len} nburst({desc.n_burst}, gm {desc.ext_stride}, ub {desc.loc_stride})"
        f"{loops}{pad if desc.pad_en else ''}"
    )


def in_flight_report(path: Path) -> list[str]:
    """Returns one report of the descriptors in flight, or none when there were none."""
    if not path.exists():
        return []
    reader = MailboxReader.open(path)
    lines = []
    for slot, name in enumerate(SLOTS):
        waiting = reader.in_flight(slot)
        if not waiting:
            continue
        oldest = waiting[0]
        try:
            text = describe(unpack(oldest.words))
        except ValueError:
            text = f"unknown opcode {unpack_fields(oldest.words)['opcode']}"
        lines.append(
            f"  {name}: {len(waiting)} descriptors not retired; the oldest, {oldest.state}, "
            f"tag {oldest.tag}:\n    {text}"
        )
    return ["\n".join(["in flight at the end:", *lines])] if lines else []
