# SPDX-License-Identifier: Apache-2.0
"""Coverage of the stress on engines: knobs, full queues, injected errors, resets.

Counted per block of ops, per descriptor that waits, per error and per slot at a reset, not per op
as elsewhere; and only in runs of tests that draw, inject or send them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tb.coverage.model import (
    NOT_SAMPLED,
    CoverGroup,
    Coverpoint,
    Exclusion,
    GroupCounts,
    crossed,
    excluding,
    point,
)
from tb.coverage.scope import Scope
from tb.coverage.view import FORM_SPECS, FORMS
from tb.harness.channels import events
from tb.harness.knobs import RANGES
from tb.harness.layout import AFTER_VALID, EVENTS, after_valid
from tb.isa.fix.table import WRITE_BACKS
from tb.isa.l0.table import LoadSpec
from tb.isa.ops import OPS, OPS_BY_CODE, SLOTS
from tb.isa.spaces import Space

_STALLS = {name.removeprefix("stall_").removesuffix("_gnt"): name for name in RANGES
           if name.startswith("stall_")}  # fmt: skip
CHANNELS = tuple(_STALLS)
PORTS = tuple(name.removesuffix("_latency") for name in RANGES if name.endswith("_latency"))
_PLAIN = ("max_outstanding", "w_after_aw", "idle_clocks", "burst_ops", "burst_gap")

_KINDS = ("SLVERR", "DECERR", "local")
_SIDES = ("read", "write")
_MEMORIES = ("gm", "ub", "l1", "l0c", "bt", "fb", "l0")
_MEMORY_OF = {
    Space.GM: 0, Space.UB0: 1, Space.UB1: 1, Space.L1: 2, Space.L0C: 3, Space.BT: 4, Space.FB: 5,
    Space.L0: 6,
}  # fmt: skip
_PLACES = ("first", "middle", "last")
_ARMED = ("n-th word", "granule", "window")
_APART = ("0", "1", "2", "3..4", "5..16", "17..")
_APART_LOWS = (0, 1, 2, 3, 5, 17)
_NEIGHBOURS = ("none", "good", "failed", "illegal")
_COUNTS = (1, 2, 9)
_HELD_LOWS = (1, 8, 16, 20)
_STATES = (
    *("idle", "descriptor held", "several held", "descriptor offered", "done pending"),
    *("read burst open", "write burst open", "write beats owed"),
    *("local word owed", "local request waits", "error met"),
)


def _knob_points() -> tuple[Coverpoint, ...]:
    stall = RANGES["stall_ar"]
    latency, jitter = RANGES["axi_read_latency"], RANGES["axi_read_jitter"]
    return (
        point("channel", CHANNELS, "channel that is stalled; src includes par and flag"),
        point("stall", stall.names, "clocks in which it stalls"),
        point("port", PORTS, "port that answers late"),
        point("latency", latency.names, "clocks until it answers"),
        point("jitter", jitter.names, "most extra clocks"),
        point("ready_after_valid", AFTER_VALID, "channel whose ready is low until valid was seen"),
        *[point(name, RANGES[name].names, "value of the knob") for name in _PLAIN],
    )


def knobs_group() -> CoverGroup:
    """Returns the group of knobs."""
    crosses = (
        crossed("channel x stall"),
        crossed("port x latency x jitter"),
        crossed("burst_ops x burst_gap"),
    )
    doc = "Settings of the harness, once for each block of ops; only in runs that draw them."
    return CoverGroup("knobs", _knob_points(), crosses, doc)


def faults_group() -> CoverGroup:
    """Returns the group of errors."""
    points = (
        point("op", tuple(OPS), "op that met the error"),
        point("kind", _KINDS, "the answer"),
        point("side", _SIDES, "of which access"),
        point("memory", _MEMORIES, "of which memory"),
        point("place", _PLACES, "which of the words that the op accesses there; one is the first"),
        point("armed", _ARMED, "which words were to fail: one, those of 32 bytes, those of more"),
        point("errors", ["1", "2..8", "9.."], "errors that the op met"),
        point("next_error", ["same channel", "other channel"], "the second error of an op"),
        point("apart", _APART, "clocks to the nearest first error of another op of the slot"),
        point("before", _NEIGHBOURS, "op before it on the slot in the block"),
        point("behind", _NEIGHBOURS, "op after it on the slot in the block"),
    )
    on_chip = [name for name in _MEMORIES if name != "gm"]
    never = (
        excluding("AXI knows SLVERR and DECERR", kind="local", memory="gm"),
        excluding("a local port has one error line", kind=_KINDS[:2], memory=on_chip),
        excluding("no op reads it", side="read", memory=["bt", "l0"]),
        excluding("no op writes it", side="write", memory="l0c"),
    )
    sides = tuple(item for name in OPS for item in _sides_missing(name))
    crosses = (
        crossed("kind x side x memory x place", never),
        crossed("op x side x memory", sides),
        crossed("armed x side"),
        crossed("before x behind"),
    )
    doc = (
        "First errors of ops that retired with the right status and address, next to what they "
        "stood; only in runs that inject several."
    )
    return CoverGroup("faults", points, crosses, doc)


def _touches(name: str) -> set[tuple[str, str]]:
    """Returns (side, memory) that an op accesses."""
    spec = OPS[name]
    l0 = isinstance(spec, LoadSpec)
    found = {("read", spec.source), ("write", "l0" if l0 else spec.destination)}
    if spec in WRITE_BACKS:
        found.add(("read", "fb"))
    if spec.destination == "gm":
        found.add(("read", "gm"))
    return found


def _sides_missing(name: str) -> list[Exclusion]:
    found = []
    for side in _SIDES:
        mine = {memory for one, memory in _touches(name) if one == side}
        others = [memory for memory in _MEMORIES if memory not in mine]
        found.append(excluding(f"no {side} of the op", op=name, side=side, memory=others))
    return found


def resets_group() -> CoverGroup:
    """Returns the group of resets."""
    gm_read = [slot for slot in SLOTS if not _any(slot, "read", "gm")]
    gm_write = [slot for slot in SLOTS if not _any(slot, "write", "gm")]
    local_read = [slot for slot in SLOTS if not _local_read(slot)]
    never = (
        excluding("the slot reads nothing of GM", slot=gm_read, state="read burst open"),
        excluding(
            "the slot writes nothing to GM",
            slot=gm_write,
            state=["write burst open", "write beats owed"],
        ),
        excluding("the slot reads nothing on chip", slot=local_read, state="local word owed"),
    )
    points = (
        point("slot", SLOTS, "slot that was reset"),
        point("state", _STATES, "what was under way; each that holds counts"),
        point("times", ["1", "2", "3.."], "resets in a row"),
        point("phase", ["on the edge", "high clock", "low clock"], "when in its clock it began"),
        point("event", EVENTS, "event at the ports of the slot that it was aimed at, and followed"),
    )
    silent = tuple(
        excluding("no op of the slot has it", slot=slot, event=event)
        for slot in SLOTS
        for event in EVENTS
        if (slot, event) not in _aims(OPS)
    )
    crosses = (crossed("slot x state", never), crossed("slot x event", silent))
    doc = "State of each slot when the harness was reset; only in runs that reset it on the way."
    return CoverGroup("resets", points, crosses, doc)


def _aims(ops: Iterable[str]) -> set[tuple[str, str]]:
    """Returns (slot, event) of the events that ops may cause."""
    return {(OPS[name].slot, event) for name in ops for event in events(name)}


def queues_group() -> CoverGroup:
    """Returns the group of full queues.

    The units of the reference engines hold at most 20 to 28 ops: 16 with a number, and some queued
    before. Write-backs have 8 numbers; on their slot it is ``mte_l1_fb`` that holds more.
    """
    points = (
        point("slot", SLOTS, "slot whose descriptor waits"),
        point(
            "held",
            ["1..7", "8..15", "16..19", "20.. (op numbers full)"],
            "ops that its engine has accepted and not retired meanwhile",
        ),
    )
    doc = "Descriptors that wait for an engine with ops; only in runs that fill its queues."
    return CoverGroup("queues", points, (crossed("slot x held"),), doc)


def _any(slot: str, side: str, memory: str) -> bool:
    return any(spec.slot == slot and (side, memory) in _touches(name) for name, spec in OPS.items())


def _local_read(slot: str) -> bool:
    return any(_any(slot, "read", memory) for memory in _MEMORIES if memory != "gm")


GROUPS = {
    "knobs": knobs_group,
    "queues": queues_group,
    "faults": faults_group,
    "resets": resets_group,
}
"""Groups by name."""


def stress_scope(name: str, forms: Sequence[str], *, illegal: bool = True) -> Scope:
    """Returns the bins that a run of ``forms`` can reach, with illegal ops or without."""
    ops = sorted({FORM_SPECS[form].name for form in forms})
    slots = [slot for slot in SLOTS if any(OPS[op].slot == slot for op in ops)]
    if name == "queues":
        return Scope(points={"slot": slots}) if len(slots) < len(SLOTS) else Scope()
    if name == "resets":
        aims = sorted(_aims(ops))
        return Scope(
            points={"slot": slots, "event": sorted({event for _, event in aims})},
            crosses={
                "slot x event": tuple({"slot": [slot], "event": [event]} for slot, event in aims)
            },
        )
    if name == "knobs" or (illegal and len(forms) == len(FORMS)):
        return Scope()
    around = _NEIGHBOURS if illegal else [one for one in _NEIGHBOURS if one != "illegal"]
    pairs = sorted({pair for op in ops for pair in _touches(op)})
    kinds = [*(_KINDS[:2] if "gm" in {m for _, m in pairs} else ()), _KINDS[2]]
    return Scope(
        points={
            "op": ops,
            "kind": kinds,
            "memory": sorted({memory for _, memory in pairs}),
            "before": around,
            "behind": around,
        },
        crosses={
            "kind x side x memory x place": tuple(
                {"side": [side], "memory": [memory]} for side, memory in pairs
            )
        },
    )


def sample_knobs(counts: GroupCounts, values: Mapping[str, int]) -> None:
    """Counts the settings of one block of ops."""
    rows: list[dict[str, int]] = []
    for channel, name in _STALLS.items():
        number = RANGES[name].index(values[name])
        rows.append({"channel": CHANNELS.index(channel), "stall": number})
    for number, port in enumerate(PORTS):
        late, jitter = f"{port}_latency", f"{port}_jitter"
        rows.append(
            {
                "port": number,
                "latency": RANGES[late].index(values[late]),
                "jitter": RANGES[jitter].index(values[jitter]),
            }
        )
    rows += [
        {"ready_after_valid": AFTER_VALID.index(name)}
        for name in after_valid(values["ready_after_valid"])
    ]
    rows.append({name: RANGES[name].index(values[name]) for name in _PLAIN})
    _sample(counts, rows)


def sample_queues(counts: GroupCounts, checked: Any) -> None:
    """Counts the descriptors of a batch (``CheckedBatch``) that waited, and passed.

    A descriptor waits when it is accepted later than its gap after the one before, and it does not
    depend on an op of another slot. What the engine held is read at the clock before its accept.
    """
    block = checked.batch.block
    for slot, records in checked.batch.done.items():
        ops = checked.batch.order[slot][1 : len(records)]
        accept = records["accept_cycle"].astype(np.int64)
        idle = np.diff(accept) - 1 - block.gap[ops]
        retired = np.searchsorted(records["done_cycle"], accept[1:] - 1)
        held = np.arange(1, len(records)) - retired
        waited = (idle > 0) & (held > 0) & (block.after[ops] < 0) & checked.passed[ops]
        held = held[waited]
        if len(held):
            classes = np.searchsorted(_HELD_LOWS, held, side="right") - 1
            counts.sample({"slot": np.full(len(held), slot), "held": classes})


def _sample(counts: GroupCounts, rows: Sequence[Mapping[str, int]]) -> None:
    """Counts events, each with the bins of some points."""
    if rows:
        counts.sample(
            {
                item.name: np.array([row.get(item.name, NOT_SAMPLED) for row in rows])
                for item in counts.group.points
            }
        )


def sample_faults(counts: GroupCounts, checked: Any) -> None:
    """Counts the ops of a batch (``CheckedBatch``) that met errors and passed."""
    batch, rows = checked.batch, []
    met = {index for index, verdict in checked.errors.items() if verdict.sure}
    for index in sorted(met):
        if not checked.passed[index]:
            continue
        verdict = checked.errors[index]
        error = verdict.sure[0]
        side = error.side
        row = {
            "op": list(OPS).index(OPS_BY_CODE[int(batch.block.opcode[index])].name),
            "kind": int(error.kind),
            "side": side,
            "memory": _MEMORY_OF[error.space],
            "place": _place(checked.outcomes[index], error),
            "errors": int(np.searchsorted(_COUNTS, len(verdict.sure), side="right")) - 1,
            **_neighbours(checked, index, met),
        }
        if (apart := _apart(checked, index, met)) is not None:
            row["apart"] = int(np.searchsorted(_APART_LOWS, apart, side="right")) - 1
        if error.fault < len(batch.faults):
            fault = batch.faults[error.fault]
            row["armed"] = 0 if fault.nth else 1 if fault.size <= 32 else 2
        if len(verdict.sure) > 1:
            other = verdict.sure[1]
            row["next_error"] = int((other.side, other.space) != (side, error.space))
        rows.append(row)
    _sample(counts, rows)


def _place(outcome: Any, error: Any) -> int:
    """Returns the place of a word among those that the op accesses on that side of the memory."""
    regions = outcome.regions if error.side else outcome.reads
    words = [region.row_starts() for region in regions if region.space is error.space]
    tails = [
        region.row_starts() + region.length - 1 for region in regions if region.space is error.space
    ]
    width = error.bus_bytes
    if error.address == int(words[0][0]) // width * width:
        return 0
    return 2 if error.address == int(tails[-1][-1]) // width * width else 1


def _apart(checked: Any, index: int, met: set[int]) -> int | None:
    """Returns the clocks between the first errors of an op and of another one of its slot."""
    mine = checked.errors[index].sure[0]
    others = (checked.errors[other].sure[0] for other in met if other != index)
    return min(
        (abs(one.cycle - mine.cycle) for one in others if one.slot == mine.slot), default=None
    )


def _neighbours(checked: Any, index: int, met: set[int]) -> dict[str, int]:
    """Returns the bins of the ops before and after one on its slot."""
    block = checked.batch.block
    mine = np.flatnonzero(block.slot == block.slot[index]).tolist()
    at = mine.index(index)

    def kind(position: int) -> int:
        if not 0 <= position < len(mine):
            return 0
        other = mine[position]
        if other in met:
            return 2
        return 3 if checked.outcomes[other].rule else 1

    return {"before": kind(at - 1), "behind": kind(at + 1)}


def sample_resets(counts: GroupCounts, checked: Any) -> None:
    """Counts the reset that interrupted a batch (``CheckedBatch``), if there was one."""
    batch = checked.batch
    if batch.reset is None:
        return
    rows: list[dict[str, int]] = []
    for slot, state in batch.states.items():
        rows += [{"slot": slot, "state": _STATES.index(name)} for name in _states(state)]
    slots = batch.block.slot
    cut = {
        int(slots[index])
        for index, verdict in checked.errors.items()
        if verdict.sure and not checked.passed[index]
    }
    rows += [{"slot": slot, "state": _STATES.index("error met")} for slot in sorted(cut)]
    if batch.aim_met:
        aim = batch.reset.aim
        rows.append({"slot": aim.slot, "event": EVENTS.index(aim.event)})
    phase = batch.reset.phase
    rows.append(
        {
            "times": min(len(batch.reset.again), 2),
            "phase": 0 if phase == 0 else 1 if phase < 5 else 2,
        }
    )
    _sample(counts, rows)


def _states(state: Any) -> list[str]:
    """Returns the activity of a slot (``SlotState`` of the mailbox)."""
    if state is None:
        return []
    pins, opened = state.pins, state.open
    found = {
        "descriptor held": state.held > 0,
        "several held": state.held > 1,
        "descriptor offered": pins["desc_valid"] and not pins["desc_ready"],
        "done pending": pins["done_valid"],
        "read burst open": opened["reads"] > 0,
        "write burst open": opened["writes"] > 0,
        "write beats owed": opened["write_beats"] > 0,
        "local word owed": opened["src"] + opened["par"] > 0,
        "local request waits": (pins["src_req"] and not pins["src_gnt"])
        or (pins["dst_req"] and not pins["dst_gnt"]),
    }
    names = [name for name, holds in found.items() if holds]
    return names or ["idle"]
