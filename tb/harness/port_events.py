# SPDX-License-Identifier: Apache-2.0
"""Events at the ports of engines, and the first ones in which two runs differ.

The C memory lists them in the file that :data:`EVENTS_ENV` names (``tb/hdl/memory/pto_events.h``):
reads and writes of GM by the beat, local reads and writes, reads of parameters, clears of unit
flags, and dones. Polls of unit flags and the split of accesses into bursts depend on latencies and
are left out, as is what was read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from tb.isa.ops import SLOTS
from tb.isa.spaces import Space

EVENTS_ENV = "PTO_EVENTS"

SHOWN_BYTES = 8
"""Most bytes of a word that are shown, from the first to the last one that differs."""

_NAMES = {
    "read": "read of GM",
    "write": "write to GM",
    "src": "local read",
    "dst": "local write",
    "par": "read of parameters",
    "clear": "clear of unit flags",
    "done": "done",
}

_WRITES = ("write", "dst")


class PortEvent(NamedTuple):
    """An event at a port.

    Attributes:
        clock: When it was.
        slot: The slot.
        port: A key of the names above.
        space: Code of the memory; the tag of a done.
        address: In the memory; the word of a clear.
        data: Two digits for each byte, ``--`` for one that is not written. The mask of a clear;
            status and rule of a done.
    """

    clock: int
    slot: str
    port: str
    space: int
    address: int
    data: str


def read_events(path: Path) -> list[PortEvent]:
    """Returns the events of a run in their order; a line that was cut is left out."""
    lines = [line.removesuffix("\n").split(" ") for line in path.open() if line.endswith("\n")]
    return [
        PortEvent(int(clock), SLOTS[int(slot)], port, int(space), int(address, 16), data)
        for clock, slot, port, space, address, data in lines
    ]


def first_differences(reference: Iterable[PortEvent], dut: Iterable[PortEvent]) -> list[str]:
    """Returns the first events that differ, a line for each port of the slot with the earliest.

    Ports are compared event by event, whatever their clocks. The first line is the earliest event
    of ``dut``; an event that is missing there comes last.
    """
    streams: defaultdict[tuple[str, str], tuple[list[PortEvent], list[PortEvent]]]
    streams = defaultdict(lambda: ([], []))
    for side, events in enumerate((reference, dut)):
        for one in events:
            streams[one.slot, one.port][side].append(one)
    found = []
    for (slot, port), pair in streams.items():
        for number, (wanted, got) in enumerate(zip_longest(*pair), 1):
            if wanted is None or got is None or wanted[1:] != got[1:]:
                clock = got.clock if got else float("inf")
                found.append((clock, slot, _text(port, number, wanted, got)))
                break
    found.sort(key=lambda item: item[0])
    return [f"{slot}: {text}" for _, slot, text in found if slot == found[0][1]]


def _text(port: str, number: int, wanted: PortEvent | None, got: PortEvent | None) -> str:
    end = "" if got is None else f" at clock {got.clock}"
    begin = f"{_ordinal(number)} {_NAMES[port]}"
    if port in _WRITES and wanted and got and wanted[3:5] == got[3:5]:
        first, second = _bytes(wanted), _bytes(got)
        at, *more = (at for at, byte in enumerate(first) if byte != second[at])
        shown = slice(at, min(max(more, default=at) + 1, at + SHOWN_BYTES))
        place = _place(got._replace(address=got.address + at))
        return (
            f"{begin}, from {place}: reference {' '.join(first[shown])}, "
            f"DUT {' '.join(second[shown])}{end}"
        )
    return f"{begin}: reference {_shown(wanted)}, DUT {_shown(got)}{end}"


def _bytes(event: PortEvent) -> list[str]:
    return [event.data[at : at + 2] for at in range(0, len(event.data), 2)]


def _shown(event: PortEvent | None) -> str:
    if event is None:
        return "none"
    if event.port == "clear":
        mask = int.from_bytes(bytes.fromhex(event.data), "little")
        return f"word {event.address}, mask 0x{mask:08x}"
    if event.port == "done":
        status, rule = bytes.fromhex(event.data)
        more = f" rule {rule}" * bool(rule) + f" address 0x{event.address:x}" * bool(event.address)
        return f"tag {event.space} status {status}{more}"
    return _place(event)


def _place(event: PortEvent) -> str:
    return f"{Space(event.space).name} 0x{event.address:05x}"


def _ordinal(number: int) -> str:
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"
