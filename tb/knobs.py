# SPDX-License-Identifier: Apache-2.0
"""Memory timing profiles: latencies and stall probabilities that random tests move between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnobProfile:
    """Named values of the harness knobs; stalls are probabilities in 256ths per clock."""

    name: str
    knobs: Mapping[str, int]


def _profile(name: str, **knobs: int) -> KnobProfile:
    zero = {
        "axi_read_latency": 1,
        "axi_write_latency": 1,
        "stall_ar": 0,
        "stall_r": 0,
        "stall_aw": 0,
        "stall_w": 0,
        "stall_b": 0,
        "local_read_latency": 1,
        "stall_src_gnt": 0,
        "stall_dst_gnt": 0,
        "stall_done": 0,
        "max_outstanding": 64,
        "w_after_aw": 0,
        "idle_clocks": 64,
    }
    return KnobProfile(name, {**zero, **knobs})


PROFILES: tuple[KnobProfile, ...] = (
    _profile("ideal"),
    _profile("latency40", axi_read_latency=40, axi_write_latency=20, local_read_latency=3),
    _profile("latency100", axi_read_latency=100, axi_write_latency=60, local_read_latency=6),
    _profile("read_stalls", axi_read_latency=8, stall_ar=64, stall_r=96),
    _profile("write_stalls", axi_write_latency=8, stall_aw=64, stall_w=96, stall_b=64),
    _profile("local_stalls", local_read_latency=4, stall_src_gnt=96, stall_dst_gnt=96),
    _profile("slow_done", stall_done=240, stall_b=32),
    _profile("slow_addresses", stall_ar=224, stall_aw=224),
    _profile("one_burst", axi_read_latency=6, axi_write_latency=5, max_outstanding=1),
    _profile("address_first", axi_write_latency=12, stall_aw=128, w_after_aw=1),
    _profile(
        "everything",
        axi_read_latency=17,
        axi_write_latency=11,
        stall_ar=40,
        stall_r=40,
        stall_aw=40,
        stall_w=40,
        stall_b=40,
        local_read_latency=2,
        stall_src_gnt=40,
        stall_dst_gnt=40,
        stall_done=40,
        idle_clocks=0,
    ),
)
"""Profiles of the random tests; every channel is stalled by at least one.

In ``everything`` idle slots keep their clock for ever, elsewhere for 64 clocks.
"""
