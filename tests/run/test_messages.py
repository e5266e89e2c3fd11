# SPDX-License-Identifier: Apache-2.0
"""Messages of the design in the logs of simulators; tests/sim/test_messages.py has real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.run.messages import MOST_KINDS, MessageReader, last_words

LOGS = {
    "icarus": "ERROR: a/chk.sv:7: bad\nthing\n       Time: 3305000 Scope: top.mte2.u\n",
    "verilator": "[3305000] %Error: chk.sv:7: Assertion failed in top.mte2.u: bad\nthing\n"
    "pto: $stop: a/chk.sv:7, time 3305000, scope -\n",
    "questa": "# ** Error: bad\n# thing\n#    Time: 3305 ns  Scope: top.mte2.u File: a/chk.sv "
    "Line: 7\n",
    "xcelium": "xmsim: *E,ASRTST (a/chk.sv,7): (time 3305 NS) bad\n",
    "vcs": 'Error: "a/chk.sv", 7: top.mte2.u: at time 3305000 ps\nbad\nthing\n',
}


def read(sim: str, log: str, folder: Path, *, step: int = 0, expected: tuple[str, ...] = ()
         ) -> MessageReader:  # fmt: skip
    """Returns the reader of a log that grows by some bytes at a time."""
    path = folder / "log"
    path.unlink(missing_ok=True)
    reader = MessageReader(sim, path, ["a/chk.sv"], expected)
    reader.read()
    for end in range(step, len(log), step) if step else ():
        path.write_text(log[:end])
        reader.read()
    path.write_text(log)
    reader.read(ended=True)
    return reader


@pytest.mark.parametrize("step", [0, 1, 7])
@pytest.mark.parametrize("sim", LOGS)
def test_each_simulator_reports_the_same(sim: str, step: int, tmp_path: Path) -> None:
    (found,) = read(sim, LOGS[sim], tmp_path, step=step).messages
    assert (found.severity, found.clock, found.count) == ("error", 330, 1)
    assert (found.file, found.line) == ("a/chk.sv", 7)
    assert found.text.startswith("bad")
    assert found.fails


def test_the_stop_of_another_place_is_one(tmp_path: Path) -> None:
    log = LOGS["verilator"].replace("pto: $stop: a/chk.sv:7", "pto: $stop: a/chk.sv:8")
    reader = read("verilator", log, tmp_path)
    assert [(one.severity, one.line) for one in reader.messages] == [("error", 7), ("$stop", 8)]
    assert reader.stopped
    assert not read("verilator", LOGS["verilator"], tmp_path).stopped


@pytest.mark.parametrize(
    ("text", "fails"), [("bad", 0), ("ba", 0), ("bad thing", 1), ("badly", 1), ("Bad", 1)]
)
def test_expected_texts_are_parts(text: str, fails: int, tmp_path: Path) -> None:
    log = LOGS["icarus"].replace("bad\nthing", "too bad")
    reader = read("icarus", log, tmp_path, expected=(text,))
    assert reader.failed == fails
    assert [one.expected for one in reader.messages] == [not fails]


def test_what_ends_the_simulation_is_never_expected(tmp_path: Path) -> None:
    log = LOGS["icarus"].replace("ERROR", "FATAL")
    assert read("icarus", log, tmp_path, expected=("bad",)).failed == 1


def test_equal_messages_are_counted_and_unlike_ones_kept_apart(tmp_path: Path) -> None:
    line = LOGS["icarus"]
    log = line * 3 + line.replace(":7:", ":8:") + line.replace("ERROR", "WARNING")
    reader = read("icarus", log, tmp_path)
    found = [(one.severity, one.line, one.count) for one in reader.messages]
    assert found == [("error", 7, 3), ("error", 8, 1), ("warning", 7, 1)]
    assert reader.failed == 4


def test_an_error_after_many_warnings_counts(tmp_path: Path) -> None:
    warning = LOGS["icarus"].replace("ERROR", "WARNING")
    log = "".join(warning.replace(":7:", f":{line}:") for line in range(200))
    reader = read("icarus", log + LOGS["icarus"], tmp_path)
    assert len(reader.messages) == MOST_KINDS + 1
    assert reader.failed == 1


def test_lines_of_the_bench_are_none(tmp_path: Path) -> None:
    log = (
        "  3305.00ns WARNING  cocotb.regression   a test failed\n"
        "pto: mte2: AR-4K: the burst crosses 4 KiB (0x1, 0x2) at 295 ns, cycle 29\n"
        "- :0: Verilog $finish\nERROR in a line: of text\nInfo: ERROR: x\n"
    )
    for sim in LOGS:
        assert not read(sim, log, tmp_path).messages


def test_the_precision_of_a_source_decides_the_clock(tmp_path: Path) -> None:
    reader = MessageReader("icarus", tmp_path / "log")
    reader.ticks = 10_000_000
    (tmp_path / "log").write_text(LOGS["icarus"].replace("3305000", "3305000000"))
    reader.read(ended=True)
    assert reader.messages[0].clock == 330


def test_last_words_are_the_lines_of_errors() -> None:
    log = "     0.00ns INFO  cocotb  the test failed\nterminate called after x\n" + "text\n" * 20
    assert last_words(log) == "terminate called after x"
    assert last_words("one\n" * 5 + "two\n\n") == "one\n" * 5 + "two"
