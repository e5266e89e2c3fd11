# SPDX-License-Identifier: Apache-2.0
"""Pipes: the queue of each op, and the number of events between two queues.

Source: docs/spec/README.md, "Ops in scope" and "Ordering and flags".
"""

from __future__ import annotations

from enum import Enum

from tb.isa.ctrl import ATOMIC_WORDS
from tb.isa.l0.table import LOAD_FORMS
from tb.isa.ops import LEGACY_FORMS, OPS


class Pipe(Enum):
    """A queue of ops that start in program order. The value is its name in PTO text."""

    S = "PIPE_S"
    V = "PIPE_V"
    M = "PIPE_M"
    MTE1 = "PIPE_MTE1"
    MTE2 = "PIPE_MTE2"
    MTE3 = "PIPE_MTE3"
    FIX = "PIPE_FIX"


PIPE_ALIASES: dict[str, str] = {"PIPE_FIXP": "PIPE_FIX", "PIPE_V2": "PIPE_V"}
"""Other names of pipes, seen in programs."""

PIPE_ALL = "PIPE_ALL"
"""Name of all pipes in a barrier."""

EVENT_TYPES: dict[str, Pipe] = {
    "TLOAD": Pipe.MTE2,
    "TSTORE_VEC": Pipe.MTE3,
    **dict.fromkeys(("TSTORE_ACC", "TMOV_M2S", "TMOV_V2M"), Pipe.FIX),
    **dict.fromkeys(("TMOV_M2L", "TMOV_M2B"), Pipe.MTE1),
    **dict.fromkeys(("TMOV_M2V", "TVEC", "TVECWAIT_EVENT"), Pipe.V),
    "TMATMUL": Pipe.M,
}
"""Pipe of each event-type word of ops on tiles (docs/spec/dialect.md, section 9)."""

BUFFERS = 32
"""Buffer ids of a core, which all pipes share (docs/spec/order_and_atomics.md, section 3)."""

EVENTS = 8
"""Event ids of a pair of pipes: EVENT_ID0 to EVENT_ID7."""

_WRITES = (
    *(f"set_loop{what}_{way}" for way in ("outtoub", "ubtoout")
      for what in ("_size", "1_stride", "2_stride")),
    "set_mov_pad_val",
    "set_ctrl",
    *(f"set_atomic_{what}" for what in ATOMIC_WORDS),
)  # fmt: skip
_OPS = {name: Pipe(spec.pipe or f"PIPE_{spec.slot.upper()}") for name, spec in OPS.items()}

PIPES: dict[str, Pipe] = {
    **_OPS,
    **dict.fromkeys(_WRITES, Pipe.S),
    **{form: _OPS[name] for form, name in LEGACY_FORMS.items()},
    **{form: _OPS[name] for form, name in LOAD_FORMS.items()},
    **{
        f"mad{scaled}{rest}": Pipe.M
        for scaled in ("", "_mx")
        for rest in ("", "_acc", "_bias", "_raw", "_bias_raw")
    },
}
"""Pipe of each op; ``mte_ub_ub`` is on V (A-13). The ``mad`` family runs on the host."""
