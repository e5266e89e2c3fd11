# SPDX-License-Identifier: Apache-2.0
"""The structs of tb/hdl/memory/pto_mailbox.h as numpy types, their numbers, and the knobs.

:func:`check_layout` compares every offset with what the C compiler made of the header.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from tb.isa.ops import SLOTS

MAGIC = 0x31584F424D4F5450
VERSION = 7
NO_CLEAR = 0xFFFF_FFFF_FFFF_FFFF
"""``clear_bytes`` of a done record without a clear of a unit flag since the done before."""

RING = 1024
"""Entries of the descriptor ring and of the done ring of a slot."""

DESC_WORDS = 16
FAULTS = 8
ERRORS = 64
HITS = 4096
"""Entries of the log of erroneous responses."""

LATE = 256
"""Entries of the log of late bursts."""

NO_FAULT = 0xFFFF_FFFF
"""``fault`` of a hit that was not injected: outside of a memory, or past ``gm_limit``."""

MOVING_ON = 2
"""Value of ``hang``: beats are granted on and on; 1 means that nothing moves."""

GRACE = 16
"""Clocks after the first error of a slot in which new bursts are not late."""

READ, WRITE = 0, 1
"""Sides of an access."""

CHANNELS = ("ar", "r", "aw", "w", "b", "src", "dst", "par", "flag", "done", "desc")
"""Channels of a slot, in the order of ``stalls`` and ``waits``."""

EVENTS = (*CHANNELS, "clear", "error")
"""Events at the ports of a slot, in the order of ``last``: handshakes, offers of ``r``, clears of
unit flags, and erroneous responses after their handshake."""

ACCESSES = (READ, WRITE, READ, WRITE, READ)
"""Side of each access of ``owed`` in a done record: AR, AW, ``src``, ``dst`` and ``par``.

The oldest without an answer when the done was offered, its own or a younger op's: bit 63, the
memory from bit 56 on, the address; else 0.
"""

OPEN = (
    "reads",
    "read_beats",
    "writes",
    "write_beats",
    "early_beats",
    "responses",
    "src",
    "par",
    "flag",
)
"""What is open in a slot, in the order of ``open``: bursts whose data are owed, and their beats;
bursts without their B, W beats that the engine owes to them, and beats that came before their
address; complete bursts without their B; words that the local ports owe."""

PINS = (
    *("desc_valid", "desc_ready", "done_valid", "done_ready", "busy"),
    *("src_req", "src_gnt", "src_rvalid", "dst_req", "dst_gnt"),
    *("par_req", "par_gnt", "par_rvalid", "flag_req", "flag_gnt", "flag_clear", "flag_rvalid"),
    *("arvalid", "arready", "rvalid", "rready", "rlast"),
    *("awvalid", "awready", "wvalid", "wready", "wlast", "bvalid", "bready", "rst_n"),
)
"""Bits of ``pins``, the first is bit 0."""

AFTER_VALID = ("ar", "aw", "w", "src", "dst", "par", "flag", "done")
"""Channels whose ready or grant the harness gives, in the order of the bits of the knob
``ready_after_valid``."""

DESC = np.dtype(
    [
        ("words", "<u4", (DESC_WORDS,)),
        ("tag", "<u4"),
        ("gap", "<u4"),
        ("wait_done", "<u4", (len(SLOTS),)),
    ]
)
DONE = np.dtype(
    [
        ("tag", "<u4"),
        ("status", "<u4"),
        ("rule", "<u4"),
        ("pad", "<u4"),
        ("addr", "<u8"),
        ("accept_cycle", "<u8"),
        ("done_cycle", "<u8"),
        ("written_bytes", "<u8"),
        ("clear_bytes", "<u8"),
        ("owed", "<u8", (len(ACCESSES),)),
    ]
)
FAULT = np.dtype(
    [
        ("enable", "<u4"),
        ("space", "<u4"),
        ("kind", "<u4"),
        ("sides", "<u4"),
        ("addr", "<u8"),
        ("length", "<u8"),
        ("slots", "<u4"),
        ("nth", "<u4"),
        ("hits", "<u4"),
        ("sets", "<u4"),
    ]
)
HIT = np.dtype(
    [
        ("cycle", "<u8"),
        ("addr", "<u8"),
        ("slot", "<u4"),
        ("side", "<u4"),
        ("kind", "<u4"),
        ("fault", "<u4"),
        ("space", "<u4"),
        ("pad", "<u4"),
    ]
)
LATE_BURST = np.dtype(
    [
        ("cycle", "<u8"),
        ("addr", "<u8"),
        ("slot", "<u4"),
        ("side", "<u4"),
        ("beats", "<u4"),
        ("pad", "<u4"),
    ]
)
SLOT = np.dtype(
    [
        ("submitted", "<u8"),
        ("polled", "<u8"),
        ("offered", "<u8"),
        ("accepted", "<u8"),
        ("done", "<u8"),
        ("records", "<u8"),
        ("dropped", "<u8"),
        ("written_bytes", "<u8"),
        ("moved_bytes", "<u8"),
        ("stalls", "<u8", (16,)),
        ("last", "<u8", (16,)),
        ("state_cycle", "<u8"),
        ("accept_cycle", "<u8"),
        ("flag_cycle", "<u8"),
        ("flag_addr", "<u4"),
        ("flag_mask", "<u4"),
        ("flag_word", "<u4"),
        ("flag_reads", "<u4"),
        ("pad", "<u4"),
        ("pins", "<u4"),
        ("waits", "<u4", (16,)),
        ("open", "<u4", (16,)),
        ("desc", DESC, (RING,)),
        ("ring", DONE, (RING,)),
    ]
)
AIM = np.dtype([(name, "<u4") for name in ("slot", "channel", "count", "delay", "sets", "met")])
MAILBOX = np.dtype(
    [
        ("magic", "<u8"),
        ("version", "<u4"),
        ("size", "<u4"),
        ("pid", "<u4"),
        ("slots", "<u4"),
        ("cycles", "<u8"),
        ("stop", "<u4"),
        ("clock_ticks", "<u4"),
        ("heartbeat", "<u8"),
        ("checked", "<u8"),
        ("mismatches", "<u8"),
        ("wake_at", "<u8", (len(SLOTS),)),
        ("wake_request", "<u4"),
        ("wake_answer", "<u4"),
        ("watchdog_clocks", "<u4"),
        ("hang", "<u4"),
        ("moving_clocks", "<u8"),
        ("hang_cycle", "<u8"),
        ("knob_version", "<u4"),
        ("knob_answer", "<u4"),
        ("knobs", "<u4", (32,)),
        ("faults", FAULT, (FAULTS,)),
        ("gm_limit", "<u8"),
        ("aim", AIM),
        ("reset_cycle", "<u8"),
        ("hits", "<u8"),
        ("hit_records", "<u8"),
        ("hits_polled", "<u8"),
        ("hit", HIT, (HITS,)),
        ("late_bursts", "<u8"),
        ("late_records", "<u8"),
        ("late_polled", "<u8"),
        ("late", LATE_BURST, (LATE,)),
        ("errors", "<u8"),
        ("error_records", "<u8"),
        ("errors_polled", "<u8"),
        ("error_text", "S256", (ERRORS,)),
        ("slot", SLOT, (len(SLOTS),)),
    ]
)
LAYOUTS = {
    "pto_mailbox": MAILBOX,
    "pto_slot": SLOT,
    "pto_desc": DESC,
    "pto_done": DONE,
    "pto_fault": FAULT,
    "pto_hit": HIT,
    "pto_late": LATE_BURST,
    "pto_aim": AIM,
}
"""The structs of pto_mailbox.h by name."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting of the simulated memories: its number, and its legal range, both ends included."""

    number: int
    low: int
    high: int
    meaning: str


_STALL = "clocks of 256 in which the channel stalls"
KNOBS: dict[str, Knob] = {
    "axi_read_latency": Knob(0, 1, 1023, "clocks from AR to the first R"),
    "axi_write_latency": Knob(1, 1, 1023, "clocks from the last of AW and W to B"),
    "stall_ar": Knob(2, 0, 255, _STALL),
    "stall_r": Knob(3, 0, 255, _STALL),
    "stall_aw": Knob(4, 0, 255, _STALL),
    "stall_w": Knob(5, 0, 255, _STALL),
    "stall_b": Knob(6, 0, 255, _STALL),
    "local_read_latency": Knob(7, 1, 1023, "clocks from a grant of src, par or flag to its rvalid"),
    "stall_src_gnt": Knob(
        8, 0, 255, "clocks of 256 in which src stalls, and par and flag by themselves"
    ),
    "stall_dst_gnt": Knob(9, 0, 255, _STALL),
    "stall_done": Knob(10, 0, 255, _STALL),
    "seed": Knob(11, 0, 0xFFFF_FFFF, "seed of the stalls"),
    "max_outstanding": Knob(12, 1, 64, "bursts that the memory takes in each direction"),
    "w_after_aw": Knob(13, 0, 1, "1: W is taken only after its AW"),
    "idle_clocks": Knob(14, 0, 65535, "clocks until an idle slot's clock stops; 0: it never does"),
    "axi_read_jitter": Knob(15, 0, 255, "most extra clocks of a read burst, order kept"),
    "axi_write_jitter": Knob(16, 0, 255, "most extra clocks of a B, order kept"),
    "local_read_jitter": Knob(17, 0, 255, "most extra clocks of src, par and flag, order kept"),
    "ready_after_valid": Knob(
        18, 0, 255, "channels, a bit each, whose ready or grant is low until valid was seen"
    ),
}
"""Knobs by name."""


def after_valid(knob: int) -> tuple[str, ...]:
    """Returns the channels in a value of the knob ``ready_after_valid``."""
    return tuple(name for bit, name in enumerate(AFTER_VALID) if knob >> bit & 1)


class MailboxError(Exception):
    """A mailbox that is not what it should be, or a request that it cannot hold."""


def check_layout(library: ctypes.CDLL) -> None:
    """Compares every offset and size of the C structs with the numpy types.

    Raises:
        MailboxError: One differs, or one side has a field that the other lacks.
    """
    seen: dict[str, tuple[int, int]] = {}
    name, offset, size = ctypes.c_char_p(), ctypes.c_uint64(), ctypes.c_uint64()
    while library.pto_layout(
        len(seen), ctypes.byref(name), ctypes.byref(offset), ctypes.byref(size)
    ):
        seen[(name.value or b"").decode()] = (offset.value, size.value)
    ours: dict[str, tuple[int, int]] = {}
    for struct, dtype in LAYOUTS.items():
        ours[struct] = (0, dtype.itemsize)
        for field, (kind, at, *_) in (dtype.fields or {}).items():
            ours[f"{struct}.{field}"] = (at, kind.itemsize)
    wrong = sorted(key for key in seen.keys() | ours.keys() if seen.get(key) != ours.get(key))
    if wrong:
        raise MailboxError(
            f"tb/hdl/memory/pto_mailbox.h and tb/harness/layout.py differ in {', '.join(wrong)}: "
            "rebuild, and change both together"
        )
