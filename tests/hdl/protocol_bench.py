# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of script_dma.v; test_protocol.py starts them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles, FallingEdge
from cocotb.types import LogicArray

from tb.harness.protocol import RULES
from tb.isa.ops import SLOTS
from tests.hdl.bench import Bench, until
from tests.hdl.mini import FIX, RESULT_ENV, SIM_ENV
from tests.hdl.proofs import CLEAN, NEXT_TAG, OWED, PLAY_TAG, PROOFS, STORE_TAGS, Script

SEEDS = 8
"""Attempts of a script that needs a stall at the right time."""

STEP_CLOCKS = 40
"""More clocks than a step that waits for a stall, or for its end."""


async def play(bench: Bench, script: Script, slot: int) -> list[str]:
    """Plays a script in a slot, repeatedly if it needs stalls, and returns its messages."""
    stalls = any(name.startswith("stall_") for name in script.knobs)
    for seed in range(1, SEEDS + 1 if stalls else 2):
        messages = await play_once(bench, script, slot, seed)
        if messages:
            break
    return messages


async def play_once(
    bench: Bench, script: Script, slot: int, seed: int, owed: list[int] | None = None
) -> list[str]:
    """Plays a script and then a reset, and returns the messages.

    ``owed`` gets what the done record of the descriptor that plays says.
    """
    box, dut = bench.mailbox, bench.dut
    if script.unit_flag:
        bench.memory.set_background_seed(7)
    rest = dict.fromkeys(("stall_ar", "stall_aw", "stall_w", "stall_done"), 0)
    rest |= {"stall_src_gnt": 0, "stall_dst_gnt": 0, "idle_clocks": 0}
    rest |= {"axi_read_latency": 1, "axi_write_latency": 1, "local_read_latency": 1, "seed": seed}
    box.set_knobs(**{**rest, **script.knobs})
    await ClockCycles(dut.clk, 2)
    flags = int(np.packbits(bench.memory.unit_flags[:32], bitorder="little").view("<u4")[0])
    stores = script.stores(flags)
    box.submit_block(slot, stores, STORE_TAGS[: len(stores)])
    await bench.wait()
    box.poll_done(slot)
    words = [script.play(), *stores[:1] * script.extra]
    tags = [PLAY_TAG, *(NEXT_TAG + number for number in range(script.extra))]
    if script.pins:
        await by_pins(bench, script)
    else:
        box.submit_block(slot, words, tags)
    if script.finish:
        await bench.wait()
        if not script.pins:
            assert box.poll_done(slot)["tag"].tolist() == tags
    else:
        clocks = sum(step.get("hold", 0) + STEP_CLOCKS for step in script.steps)
        await ClockCycles(dut.clk, clocks)
        if owed is not None:
            owed += box.poll_done(slot)["owed"][0].tolist()
    await bench.reset()
    # Python may see descriptors that the reset dropped, and dones without a descriptor.
    box.poll_done(slot)
    messages = box.poll_errors()
    if script.in_reset:
        # The pins keep their values in resets up to the next descriptor.
        await bench.run(slot, stores[0])
    return messages


async def by_pins(bench: Bench, script: Script) -> None:
    """Offers a descriptor by pins, and resets."""
    dut = bench.dut
    if script.pins == "mixed":
        bench.mailbox.submit_block(FIX, [script.play()], [PLAY_TAG], gaps=200)
    dut.pin_mode.value = 1 << FIX
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    bits = LogicArray(int.from_bytes(script.play().tobytes(), "little"), 512)
    if script.pins == "unset":
        bits[511] = "X"
    dut.fix_done_ready.value = 1
    dut.fix_desc_data.value = bits
    dut.fix_desc_tag.value = PLAY_TAG
    dut.fix_desc_valid.value = 1
    await until(dut, dut.fix_desc_ready, 1)
    await FallingEdge(dut.clk)
    dut.fix_desc_valid.value = 0
    await ClockCycles(dut.clk, 10)
    await bench.reset()
    dut.pin_mode.value = 0


async def played(bench: Bench, scripts: Sequence[Script]) -> list[tuple[str, list[str]]]:
    """Plays scripts in each of their slots; returns the name of the slot and the messages."""
    return [
        (SLOTS[slot], await play(bench, script, slot))
        for script in scripts
        for slot in script.slots
    ]


@cocotb.test()
async def owed(dut: Any) -> None:
    """A done record has the oldest access without an answer, also beside another descriptor."""
    bench = Bench(dut)
    await bench.reset()
    for name, (script, expected) in OWED.items():
        found: list[int] = []
        messages = await play_once(bench, script, script.slots[-1], 1, found)
        assert not messages, (name, messages)
        assert found == expected, (name, [hex(word) for word in found])


@cocotb.test()
async def proofs(dut: Any) -> None:
    """Every script is played; the messages go to the test that started this."""
    bench = Bench(dut)
    await bench.reset()
    four_state = os.environ[SIM_ENV] == "icarus"
    seen = {"CLEAN": await played(bench, CLEAN)}
    for name, scripts in PROOFS.items():
        if four_state or not RULES[name].needs_x:
            seen[name] = await played(bench, scripts)
    seen["CLEAN"] += await played(bench, CLEAN)
    Path(os.environ[RESULT_ENV]).write_text(json.dumps(seen))
