# SPDX-License-Identifier: Apache-2.0
"""The first events at ports in which two runs differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.harness.port_events import first_differences, read_events
from tb.programs.reference import differences

REFERENCE = """\
8 1 read 0 40 ~
12 1 dst 1 3f020 0102----
13 1 dst 1 3f040 0000ffff
14 3 clear 0 2 01000080
20 1 done 7 0 0000
21 1 done 8 0 0000
"""


def lines(tmp_path: Path, dut: str) -> list[str]:
    """Returns how the events of an engine differ from those above; ``~`` are not bytes."""
    found = []
    for name, text in (("reference", REFERENCE), ("dut", dut)):
        (tmp_path / name).write_text(text.replace("~", ""))
        found.append(read_events(tmp_path / name))
    return first_differences(*found)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("12 1", "19 1", []),
        ("0 40 ~", "0 60 ~",
         ["mte2: 1st read of GM: reference GM 0x00040, DUT GM 0x00060 at clock 8"]),
        ("3f040", "3f060",
         ["mte2: 2nd local write: reference UB0 0x3f040, DUT UB0 0x3f060 at clock 13"]),
        ("0102----", "01----04",
         ["mte2: 1st local write, from UB0 0x3f021: reference 02 -- --, DUT -- -- 04 at clock 12"]),
        ("8 0 0000", "8 40 0211",
         ["mte2: 2nd done: reference tag 8 status 0, DUT tag 8 status 2 rule 17 address 0x40 at "
          "clock 21"]),
        ("21 1 done 8 0 0000\n", "", ["mte2: 2nd done: reference tag 8 status 0, DUT none"]),
        ("12 1 dst", "12 1 dst 1 0 11223344\n12 1 dst",
         ["mte2: 1st local write: reference UB0 0x3f020, DUT UB0 0x00000 at clock 12"]),
        ("01000080", "03000080",
         ["fix: 1st clear of unit flags: reference word 2, mask 0x80000001, DUT word 2, mask "
          "0x80000003 at clock 14"]),
        ("21 1 done 8 0 0000\n", "21 1 do", ["mte2: 2nd done: reference tag 8 status 0, DUT none"]),
    ],
)  # fmt: skip
def test_the_first_event_that_differs(old: str, new: str, found: list[str], tmp_path: Path) -> None:
    assert REFERENCE.count(old) == 1
    assert lines(tmp_path, REFERENCE.replace(old, new)) == found


def test_ports_of_the_slot_that_differs_first_are_shown_in_order_of_time(tmp_path: Path) -> None:
    dut = REFERENCE.replace("01000080", "02000080").replace("7 0 0000", "7 0 0100")
    found = lines(tmp_path, dut.replace("3f020", "3f000"))
    assert [line.split(":")[:2] for line in found] == [
        ["mte2", " 1st local write"], ["mte2", " 1st done"],
    ]  # fmt: skip


def test_the_reference_engines_are_compared_with_nothing(tmp_path: Path) -> None:
    assert differences(tmp_path / "none.pto", {"duts": ()}, pytest.fail, tmp_path) == []
