# SPDX-License-Identifier: Apache-2.0
"""The channels of its slot that an op uses (docs/contract.md)."""

from __future__ import annotations

from tb.isa.fix.table import WRITE_BACKS
from tb.isa.ops import OPS


def reads(name: str) -> tuple[str, ...]:
    """Returns the channels by which an op reads its source; none for a fill."""
    source = OPS[name].source
    return () if not source else ("ar", "r") if source == "gm" else ("src",)


def writes(name: str) -> tuple[str, ...]:
    """Returns the channels by which an op writes its destination."""
    return ("aw", "w", "b") if OPS[name].destination == "gm" else ("dst",)


def events(name: str) -> tuple[str, ...]:
    """Returns the events at the ports, of ``EVENTS``, that an op may cause.

    Atomic stores read GM, too, and write-backs may read parameters and use unit flags.
    """
    spec = OPS[name]
    back = ("par", "flag", "clear") if spec in WRITE_BACKS else ()
    atomic = ("ar", "r") if spec.destination == "gm" else ()
    return ("desc", *reads(name), *writes(name), *atomic, *back, "done", "error")
