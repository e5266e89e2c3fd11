# SPDX-License-Identifier: Apache-2.0
"""The hang report from the mailbox of a simulation that has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tb.harness.hang_report import channel_report, in_flight_failures
from tb.harness.layout import EVENTS, KNOBS, PINS
from tb.harness.mailbox_reader import MailboxReader
from tb.isa.descriptor import pack
from tb.isa.dma.op import MteUbGm
from tb.isa.op import Op, replace
from tb.isa.ops import SLOTS

MTE2, MTE3 = SLOTS.index("mte2"), SLOTS.index("mte3")


@pytest.fixture
def reader(tmp_path: Path) -> MailboxReader:
    """The mailbox of a simulation with one descriptor in flight on mte3."""
    found = MailboxReader.create(tmp_path / "mailbox")
    array: Any = found._array
    array["slots"] = 1 << MTE2 | 1 << MTE3
    array["slot"][0]["submitted"][MTE3] = 1
    return found


def last_line(reader: MailboxReader, reset: int, slot: int = MTE3, **clocks: int) -> str:
    """Returns the last line of a report after a reset and events of a slot."""
    array: Any = reader._array
    array["reset_cycle"] = reset
    for name, clock in clocks.items():
        array["slot"][0]["last"][slot, EVENTS.index(name)] = clock
    return channel_report(reader.snapshot())[-1]


def test_events_are_newest_first_with_the_last_error_and_reset(reader: MailboxReader) -> None:
    line = last_line(reader, 4000, desc=6150, src=6188, w=6201, aw=6200, error=6102)
    assert line == (
        "mte3: last events: w at clock 6201, aw 6200, src 6188, desc 6150; "
        "last error at clock 6102; last reset at clock 4000"
    )
    (failure,) = in_flight_failures(reader.snapshot(), "crash", "signal SIGKILL")
    assert failure.text.endswith(line)


def test_a_response_stands_before_the_request_of_its_clock(reader: MailboxReader) -> None:
    line = last_line(reader, 0, ar=9, r=9, desc=8, flag=7, clear=7)
    assert line == "mte3: last events: r at clock 9, ar 9, desc 8, clear 7, flag 7"


def test_events_before_the_last_reset_are_left_out(reader: MailboxReader) -> None:
    line = last_line(reader, 4000, desc=4001, done=3990, ar=4000, error=3000)
    events = "mte3: last events: desc at clock 4001; last error at clock 3000; last reset"
    assert line == f"{events} at clock 4000"


@pytest.mark.parametrize(
    ("clocks", "events"),
    [
        ({}, "none; rst_ni is active low: has the engine left its reset?"),
        ({"aw": 7}, "aw at clock 7"),
    ],
)
def test_without_error_and_reset_nothing_is_said_of_them(
    reader: MailboxReader, clocks: dict[str, int], events: str
) -> None:
    assert last_line(reader, 0, **clocks) == f"mte3: last events: {events}"


def test_a_slot_without_descriptors_has_no_line(reader: MailboxReader) -> None:
    last_line(reader, 0, MTE2, desc=5, done=9)
    assert not any(line.startswith("mte2") for line in channel_report(reader.snapshot()))


# --- ops that an engine holds ---

STORE = MteUbGm(0, 4096, 40, 3, 64, 64)  # 120 bytes
NOP = replace(STORE, n_burst=0)
ILLEGAL = replace(STORE, len_burst=65, dst_stride=64)
ALL = 255


def held(reader: MailboxReader, *ops: Op, written: int = 0, before: int = 0) -> list[str]:
    """Returns the lines of mte3 that holds ops, before the last; it has written some bytes.

    ``before`` of them are those of an op that has retired.
    """
    array: Any = reader._array
    entry = array["slot"][0][MTE3]
    array["knobs"][0, KNOBS["ready_after_valid"].number] = ALL
    array["cycles"] = entry["state_cycle"] = 900
    entry["pins"] = 1 << PINS.index("rst_n")
    done = int(before > 0)
    entry["done"] = entry["records"] = done
    entry["ring"][0]["written_bytes"], entry["ring"][0]["done_cycle"] = before, 300
    entry["written_bytes"] = before + written
    entry["submitted"] = entry["accepted"] = entry["offered"] = done + len(ops)
    entry["accept_cycle"] = 310
    for index, op in enumerate(ops):
        entry["desc"][done + index]["words"] = pack(op)
        entry["desc"][done + index]["tag"] = 5 + index
    return channel_report(reader.snapshot())[:-1]


def leads(lines: list[str]) -> set[str]:
    return {line.split()[1].rstrip(":") for line in lines if "it seems" in line}


@pytest.mark.parametrize(
    ("op", "written", "before", "channels"),
    [
        (STORE, 0, 0, {"AW", "W", "src", "done"}),
        (STORE, 119, 0, {"AW", "W", "src", "done"}),
        (STORE, 120, 0, {"done"}),
        (STORE, 0, 120, {"AW", "W", "src", "done"}),
        (STORE, 119, 120, {"AW", "W", "src", "done"}),
        (STORE, 120, 120, {"done"}),
        (replace(STORE, atomic_type=1), 0, 0, {"AR", "AW", "W", "src", "done"}),
        (NOP, 0, 0, {"done"}),
        (ILLEGAL, 0, 0, {"done"}),
    ],
)
def test_a_lead_is_of_a_channel_that_the_oldest_op_can_still_need(
    reader: MailboxReader, op: Op, written: int, before: int, channels: set[str]
) -> None:
    assert leads(held(reader, op, STORE, written=written, before=before)) == channels


def test_bytes_before_a_reset_are_of_no_op(reader: MailboxReader) -> None:
    array: Any = reader._array
    for reset, channels in ((300, {"done"}), (301, {"AW", "W", "src", "done"})):
        array["reset_cycle"] = reset
        assert leads(held(reader, STORE, written=120, before=120)) == channels


@pytest.mark.parametrize(
    ("ops", "written", "words"),
    [
        ((STORE,), 0, "tag 5 (mte_ub_gm) 120 of 120 bytes and its done"),
        ((STORE,), 119, "tag 5 (mte_ub_gm) 1 of 120 bytes and its done"),
        ((STORE,), 120, "tag 5 (mte_ub_gm) its done alone"),
        (
            (STORE, NOP, STORE, STORE, STORE, STORE),
            121,
            "tag 5 (mte_ub_gm) its done alone; tag 6 (mte_ub_gm) its done alone; "
            "tag 7 (mte_ub_gm) 119 of 120 bytes and its done; "
            "tag 8 (mte_ub_gm) 120 of 120 bytes and its done; 2 more",
        ),
    ],
)
def test_an_idle_engine_owes_bytes_and_dones(
    reader: MailboxReader, ops: tuple[Op, ...], written: int, words: str
) -> None:
    assert held(reader, *ops, written=written)[-1].endswith(f"; it owes, at most: {words}")
