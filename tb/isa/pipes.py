# SPDX-License-Identifier: Apache-2.0
"""Pipes: which queue an op stands in, and how many events order two of them.

Source: spec/README.md, "Ops in scope" and "Ordering and flags".
"""

from __future__ import annotations

from enum import Enum


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
"""What a barrier over every pipe names."""

EVENTS = 8
"""Event ids of a pair of pipes: EVENT_ID0 to EVENT_ID7."""

PIPES: dict[str, Pipe] = {
    "mte_gm_ub": Pipe.MTE2,
    "mte_ub_gm": Pipe.MTE3,
    "mte_gm_l1": Pipe.MTE2,
    "mte_l1_ub": Pipe.MTE1,
    "mte_ub_ub": Pipe.V,
    "mte_ub_l1": Pipe.MTE3,
    "mte_gm_l1_frac": Pipe.MTE2,
    "mte_l1_bt": Pipe.MTE1,
    "mte_l1_fb": Pipe.FIX,
    "mte_l0c_gm": Pipe.FIX,
    "mte_l0c_l1": Pipe.FIX,
    "mte_l0c_ub": Pipe.FIX,
    "set_loop_size_outtoub": Pipe.S,
    "set_loop1_stride_outtoub": Pipe.S,
    "set_loop2_stride_outtoub": Pipe.S,
    "set_loop_size_ubtoout": Pipe.S,
    "set_loop1_stride_ubtoout": Pipe.S,
    "set_loop2_stride_ubtoout": Pipe.S,
    "set_mov_pad_val": Pipe.S,
    "copy_gm_to_ubuf": Pipe.MTE2,
    "copy_ubuf_to_gm": Pipe.MTE3,
    "copy_ubuf_to_ubuf": Pipe.V,
    "mte_l1_l0a": Pipe.MTE1,
    "mte_l1_l0b": Pipe.MTE1,
    "mad": Pipe.M,
}
"""Pipe of each op; ``mte_ub_ub`` is on V (A-13). The last three run on the host."""
