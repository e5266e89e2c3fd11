# SPDX-License-Identifier: Apache-2.0
"""Traces that a command hands to its simulation: the same as those that are read there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequences.replay import schedule
from tb.language.order.order import order
from tb.language.reader import read_file
from tb.language.run.walk import trace
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.programs.traced import TRACES, key, read_traces

EXAMPLES = sorted(Path("examples/programs").glob("*.pto"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_trace_comes_back_as_it_was(path: Path, tmp_path: Path) -> None:
    """Every example: steps, order, and the blocks that are sent."""
    made = Replay.make([str(path)], ProgramOptions(), {})
    made.files.stage(tmp_path)
    (one,) = made.files.programs
    found, sequence = read_traces(tmp_path)[key(one.job)]
    assert found == one.trace
    assert sequence == one.order
    again = trace(
        read_file(one.job.title), function=one.job.function, arguments=one.job.arguments,
        foreign=one.job.foreign, ubuf_to_ubuf=one.job.ubuf_to_ubuf,
    )  # fmt: skip
    assert found.steps == again.steps
    assert sequence == order(again, hazard="off" if one.order.held else "")
    sent = [item.block.pack().tolist() for item in schedule(found, sequence)]
    assert sent == [item.block.pack().tolist() for item in schedule(again, order(again))]


def test_another_job_has_no_trace(tmp_path: Path) -> None:
    made = Replay.make([str(EXAMPLES[0])], ProgramOptions(), {})
    made.files.stage(tmp_path)
    (one,) = made.files.programs
    found = read_traces(tmp_path)
    assert key(one.job) in found
    assert key(one.job.model_copy(update={"arguments": {0: 64}})) not in found


def test_without_the_file_there_are_no_traces(tmp_path: Path) -> None:
    assert read_traces(tmp_path) == {}
    assert not (tmp_path / TRACES).exists()
