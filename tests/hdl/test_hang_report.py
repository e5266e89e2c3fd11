# SPDX-License-Identifier: Apache-2.0
"""The hang report from the mailbox of a simulation that has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tb.harness.hang_report import channel_report, in_flight_failures
from tb.harness.layout import EVENTS
from tb.harness.mailbox_reader import MailboxReader
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
