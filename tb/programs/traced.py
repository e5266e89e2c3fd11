# SPDX-License-Identifier: Apache-2.0
"""Traces of programs that a command hands to its simulation, which reads no program itself.

They are a file in the folder of the run, written and removed with it.
"""

from __future__ import annotations

import pickle
from pathlib import Path

from tb.language.order.order import Order
from tb.language.trace import Trace

TRACES = "traces.pickle"
"""File in the folder of a run."""

Traced = dict[str, tuple[Trace, Order]]
"""Title of a program to its steps and an order of these."""


def write_traces(folder: Path, traces: Traced) -> None:
    """Writes the traces of the programs of a run."""
    with (folder / TRACES).open("wb") as file:
        pickle.dump(traces, file, protocol=pickle.HIGHEST_PROTOCOL)


def read_traces(folder: Path) -> Traced:
    """Returns the traces of the programs of a run."""
    with (folder / TRACES).open("rb") as file:
        found: Traced = pickle.load(file)
    return found
