# SPDX-License-Identifier: Apache-2.0
"""Traces that a command hands to its simulation, which then need not read the programs again.

They are a file in the folder of the run, written and removed with it. To read a program takes the
simulation as long as to load xdsl; without the file, or for a job that is not in it, that is done.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path

from tb.language.order.order import Order
from tb.language.trace import Trace
from tb.programs.job import ProgramJob

TRACES = "traces.pickle"
"""File in the folder of a run."""

Traced = dict[str, tuple[Trace, Order]]
"""Jobs, as JSON, to their traces."""


def key(job: ProgramJob) -> str:
    """Returns all of a job: a trace is that of no other one."""
    return job.model_dump_json()


def write_traces(folder: Path, jobs: Iterable[tuple[ProgramJob, Trace, Order]]) -> None:
    """Writes the traces of jobs."""
    found: Traced = {key(job): (trace, order) for job, trace, order in jobs}
    with (folder / TRACES).open("wb") as file:
        pickle.dump(found, file, protocol=pickle.HIGHEST_PROTOCOL)


def read_traces(folder: Path) -> Traced:
    """Returns the traces in the folder of a run; none where there is no file."""
    path = folder / TRACES
    if not path.exists():
        return {}
    with path.open("rb") as file:
        found: Traced = pickle.load(file)
    return found
