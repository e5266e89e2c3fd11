# SPDX-License-Identifier: Apache-2.0
"""What was in flight when a simulation was ended or crashed, read from its mailbox file."""

from __future__ import annotations

from pathlib import Path

from tb.isa.block import from_descriptors
from tb.isa.descriptor import opcode_of, unpack
from tb.isa.lower import Descriptor
from tb.isa.ops import SLOTS
from tb.isa.text import to_text
from tb.mailbox import MailboxReader


def describe(desc: Descriptor) -> str:
    """Returns a descriptor as an op in PTO text, for when the program's own is lost.

    The element type is not in a descriptor: an integer of the same size stands for it.
    """
    return to_text(from_descriptors([desc]).program()[0][0])


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
            text = f"unknown opcode {opcode_of(oldest.words)}"
        lines.append(
            f"  {name}: {len(waiting)} descriptors not retired; the oldest, {oldest.state}, "
            f"tag {oldest.tag}:\n    {text}"
        )
    return ["\n".join(["in flight at the end:", *lines])] if lines else []
