# SPDX-License-Identifier: Apache-2.0
"""Hang report: descriptors in flight, who waits for whom, and the last events of the channels.

It is made from a snapshot of the mailbox, inside the simulator, at a hang, or from the file of a
simulation that was ended or crashed. Then the pins are those of the last report of the harness, and
the text has a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from tb.harness.channels import events
from tb.harness.layout import EVENTS, after_valid
from tb.harness.mailbox_reader import InFlight, SlotState, Snapshot
from tb.isa.descriptor import opcode_of, unpack
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import QUANT_BY_CODE
from tb.isa.footprint import destinations
from tb.isa.ops import OPS_BY_CODE, SLOTS
from tb.isa.rules import first_d_violation
from tb.isa.text import to_text
from tb.record.failure import Failure

FLAG_BITS = 32
"""Unit flags in a word of the flag port."""

MOST_NAMED = 4
"""Ops in flight that a report names."""

POLLING = 64
"""Clocks without a read of unit flags, beyond the latency, after which an engine reads no more."""


def in_flight_failures(snapshot: Snapshot, kind: str, field: str) -> list[Failure]:
    """Returns the report of the descriptors in flight, or none when there were none.

    It is a failure of the slot that has waited longest.

    Args:
        snapshot: The end of the simulation.
        kind: ``hang`` or ``crash``.
        field: A few words about the end.
    """
    busy = [slot for slot, waiting in enumerate(snapshot.in_flight) if waiting]
    if not busy:
        return []
    lines = ["in flight at the end:"]
    for slot in busy:
        oldest = snapshot.in_flight[slot][0]
        try:
            text = to_text(unpack(oldest.words))  # types are lost: some of the same size
        except ValueError:
            text = f"unknown opcode {opcode_of(oldest.words)}"
        lines.append(
            f"  {SLOTS[slot]}: {len(snapshot.in_flight[slot])} descriptors not retired; the "
            f"oldest, {oldest.state}, tag {oldest.tag}:\n    {text}"
        )
    channels = channel_report(snapshot)
    if channels:
        lines += ["  who waits for whom:", *(f"    {line}" for line in channels)]
    waits = {
        slot: state.oldest if (state := snapshot.channels[slot]) and state.held else -1
        for slot in busy
    }
    slot = max(waits, key=lambda one: waits[one])
    spec = OPS_BY_CODE.get(opcode_of(snapshot.in_flight[slot][0].words))
    cycles = snapshot.progress.cycles
    return [
        Failure(
            kind=kind,
            slot=SLOTS[slot],
            op=spec.name if spec else "",
            field=field,
            begin_clock=max(0, cycles - max(0, waits[slot])),
            end_clock=cycles,
            text="\n".join(lines),
        )
    ]


def channel_report(snapshot: Snapshot) -> list[str]:
    """Returns who waits for whom, a sentence each, and then the last events.

    Of every slot with descriptors in flight. The state is that of the clock of a hang or of the
    last wake-up, or at most 4096 clocks old. If the simulation continued after it, a first sentence
    gives its clock. The last events are those up to the snapshot.
    """
    lines = []
    clocks = set()
    for name in snapshot.engines:
        slot = SLOTS.index(name)
        if not snapshot.in_flight[slot]:
            continue
        state = snapshot.channels[slot]
        if state is None:
            lines.append(f"{name}: the simulation ended before the first report of its channels")
        else:
            clocks.add(state.cycle)
            lines += [f"{name}: {text}" for text in _sentences(snapshot, state)]
        lines.append(f"{name}: {_last_events(snapshot, slot)}")
    later = snapshot.progress.cycles - max(clocks) if clocks else 0
    if later:
        lines.insert(0, f"channels at clock {max(clocks)}, {later} clocks before the end:")
    return lines


def _sentences(snapshot: Snapshot, state: SlotState) -> Iterator[str]:
    """Yields who waits for whom in one slot."""
    if not state.pins["rst_n"]:
        yield "in reset"
        return
    found = [*_offers(snapshot, state), *_debts(snapshot, state)]
    yield from found
    polls = _polls(snapshot, state)
    yield from polls
    if state.held and not polls and state.waits.keys() <= {"desc"}:
        yield from _no_valid(snapshot, state)
    if state.held:
        holds = f"the engine holds {_count(state.held, 'accepted descriptor')}"
        since = f"the oldest for {state.oldest} clocks"
        if found or polls:
            yield f"{holds}, {since}"
        else:
            yield f"no channel is active: {holds}, {since}, and requests nothing" + _owed(
                snapshot, state
            )
    elif "desc" in state.waits:
        yield (
            f"the engine holds no descriptor and does not take the one that is offered (valid "
            f"for {state.waits['desc']} clocks)"
        )
    else:
        yield from _not_offered(snapshot, state)


def _offers(snapshot: Snapshot, state: SlotState) -> Iterator[str]:
    """Yields offers that are not taken, and requests that are not granted."""
    waits, open_ = state.waits, state.open
    limit = snapshot.knobs["max_outstanding"]
    for channel, bursts in (("ar", open_["reads"]), ("aw", open_["writes"])):
        if channel in waits:
            reached = f" (OUTSTANDING reached: {bursts} of {limit})" if bursts >= limit else ""
            yield (
                f"{channel.upper()} is offered (valid for {waits[channel]} clocks) and the "
                f"memory does not take it{reached}"
            )
    if "w" in waits:
        early = snapshot.knobs["w_after_aw"] and not open_["write_beats"]
        why = " before the address of their burst" if early else ""
        yield (
            f"write data are offered (valid for {waits['w']} clocks) and the memory does not "
            f"take them{why}"
        )
    if "r" in waits:
        yield (
            f"read data are offered for {waits['r']} clocks, RREADY is low: the engine does not "
            "take them"
        )
    if "b" in waits:
        yield (
            f"a write response is offered for {waits['b']} clocks, BREADY is low: the engine "
            "does not take it"
        )
    for channel, what in (
        ("src", "a read"),
        ("dst", "a write"),
        ("par", "a read of parameters"),
        ("flag", "a clear of unit flags" if state.pins["flag_clear"] else "a read of unit flags"),
    ):
        if channel in waits:
            yield (
                f"{channel} requests {what} (req for {waits[channel]} clocks) and the memory "
                "does not grant it"
            )
    if "done" in waits:
        yield (
            f"a done is offered (valid for {waits['done']} clocks) and the harness does not take it"
        )


def _debts(snapshot: Snapshot, state: SlotState) -> Iterator[str]:
    """Yields data and responses that one side owes and does not offer."""
    pins, open_ = state.pins, state.open
    if open_["reads"] and not pins["rvalid"]:
        yield (
            f"the memory owes {_count(open_['read_beats'], 'beat')} of "
            f"{_count(open_['reads'], 'read burst')}"
        )
    if open_["write_beats"] and not pins["wvalid"]:
        bursts = open_["writes"] - open_["responses"]
        yield (
            f"the engine owes {_count(open_['write_beats'], 'beat')} of write data of "
            f"{_count(bursts, 'burst')} and does not offer them: WVALID is low"
        )
    if open_["early_beats"] and not pins["awvalid"]:
        yield (
            f"the memory has {_count(open_['early_beats'], 'beat')} of write data whose address "
            "the engine does not offer: AWVALID is low"
        )
    if open_["responses"] and not pins["bvalid"]:
        yield f"the memory owes {_count(open_['responses'], 'write response')}"
    for channel in ("src", "par", "flag"):
        # On a port that polls, a word is outstanding at times.
        if open_[channel] and not pins[f"{channel}_rvalid"] and not _polling(snapshot, state):
            yield f"the memory owes {_count(open_[channel], 'word')} of port {channel}"


def _no_valid(snapshot: Snapshot, state: SlotState) -> Iterator[str]:
    """Yields the channels whose ready is low until valid, and that the engine does not drive.

    Of an engine that owes W or AW it is that channel, else any that its oldest op can still need:
    only the done if the op has written all bytes, is a NOP or breaks a rule. Those are
    the channels of the knob, and idle ``par`` and ``flag``: a grant that stalled there stays low.
    """
    pins, open_ = state.pins, state.open
    held_low = after_valid(snapshot.knobs["ready_after_valid"])
    held_low += tuple(name for name in ("par", "flag") if not pins[f"{name}_gnt"])
    owed = "w" if open_["write_beats"] else "aw" if open_["early_beats"] else ""
    used = _channels(snapshot, state) | {owed}
    silent = [
        name
        for name in dict.fromkeys(held_low)
        if name in used and not any(pins.get(name + end) for end in ("valid", "_req", "_valid"))
    ]
    for name in [owed] if owed in silent else silent:
        valid, ready = (
            ("req", "gnt") if name in ("src", "dst", "par", "flag") else ("VALID", "READY")
        )
        label = name if valid == "req" or name == "done" else name.upper()
        yield (
            f"{label}: {valid} waits for {ready}, it seems: the harness holds {ready} low until it "
            f"sees {valid}, and the engine does not raise {valid}"
        )


def _channels(snapshot: Snapshot, state: SlotState) -> set[str]:
    """Returns the channels that the oldest op in flight of a slot can still need."""
    waiting = snapshot.in_flight[state.slot]
    spec = OPS_BY_CODE.get(opcode_of(waiting[0].words)) if waiting else None
    if spec is None:
        return {"done"}
    desc = unpack(waiting[0].words)
    if snapshot.written[state.slot] >= _size(waiting[0]):  # A clear of unit flags may be left.
        return {"done", "flag"} if isinstance(desc, FixOp) and desc.unit_flag else {"done"}
    found = {*events(spec.name)} - {"par", "flag"}
    if spec.source != "gm" and not getattr(desc, "atomic_type", 0):
        found -= {"ar", "r"}
    if isinstance(desc, FixOp):
        vector = desc.quant in QUANT_BY_CODE and desc.vector_quant  # the op may be illegal
        found |= {"par"} if vector or desc.vector_relu else set()
        found |= {"flag"} if desc.unit_flag else set()
    return found


def _size(op: InFlight) -> int:
    """Returns the bytes that an op writes, 0 of one that breaks a rule."""
    desc = unpack(op.words)
    if first_d_violation(desc) is not None:
        return 0
    return sum(region.bytes for region in destinations(desc))


def _owed(snapshot: Snapshot, state: SlotState) -> str:
    """Returns the first ops that an engine holds, with the bytes that each owes at most.

    An engine writes in order: the bytes since the last done are those of the oldest ops.
    """
    written, texts = snapshot.written[state.slot], []
    for op in snapshot.in_flight[state.slot][: min(state.held, MOST_NAMED)]:
        spec = OPS_BY_CODE.get(opcode_of(op.words))
        if spec is None:
            continue  # The report names its opcode.
        size = _size(op)
        left = max(0, size - written)
        written = max(0, written - size)
        what = f"{left} of {size} bytes and its done" if left else "its done alone"
        texts.append(f"tag {op.tag} ({spec.name}) {what}")
    more = state.held - MOST_NAMED
    rest = f"; {more} more" if more > 0 else ""
    return f"; it owes, at most: {'; '.join(texts)}{rest}" if texts else ""


def _polling(snapshot: Snapshot, state: SlotState) -> bool:
    """True when the engine repeats reads of the same flags until the end."""
    latency = snapshot.knobs["local_read_latency"] + snapshot.knobs["local_read_jitter"]
    return (
        bool(state.held)
        and state.flag_age is not None
        and state.flag_age <= latency + POLLING
        and state.flag_reads > 1
    )


def _polls(snapshot: Snapshot, state: SlotState) -> list[str]:
    """Returns the sentence on unit flags that are waited for, or none."""
    if not _polling(snapshot, state):
        return []
    first = state.flag_addr * FLAG_BITS
    missing = state.flag_mask & ~state.flag_word
    if not missing:
        return [
            f"reads unit flags again and again: flag word {state.flag_addr}, mask "
            f"{state.flag_mask:#010x}, was read {state.flag_reads} times in a row; all are set, "
            "and the engine does not go on"
        ]
    blocks = [first + bit for bit in range(FLAG_BITS) if missing >> bit & 1]
    return [
        f"waits for unit flags: flag word {state.flag_addr}, mask {state.flag_mask:#010x}, was "
        f"read {state.flag_reads} times in a row; not set: {_ranges(blocks)}"
    ]


def _not_offered(snapshot: Snapshot, state: SlotState) -> Iterator[str]:
    """Yields why the harness does not offer the next descriptor to an engine that holds none."""
    queued = (entry for entry in snapshot.in_flight[state.slot] if entry.state == "queued")
    entry = next(queued, None)
    if entry is None or entry.index != snapshot.retired[state.slot]:
        yield "the engine took a descriptor after the last report of its channels"
        return
    waits = [
        f"it waits for slot {SLOTS[slot]} to retire {count}, which has retired "
        f"{snapshot.retired[slot]}"
        for slot, count in enumerate(entry.waits)
        if count and snapshot.retired[slot] < count
    ]
    for reason in waits or ["its gap is not over"]:
        yield f"the harness does not offer the next descriptor: {reason}"


def _last_events(snapshot: Snapshot, slot: int) -> str:
    """Returns the last event of each channel since the last reset, newest first.

    In one clock a response is newer than its request. After them the last error, which is an
    erroneous response, and the last reset, if there were any.
    """
    last, reset = snapshot.last[slot], snapshot.reset_cycle
    channels = [name for name in reversed(EVENTS) if name != "error"]
    seen = [name for name in channels if last.get(name, 0) > reset]
    seen.sort(key=lambda name: -last[name])
    events = ", ".join(f"{name} {last[name]}" for name in seen) or "none"
    parts = ["last events: " + events.replace(" ", " at clock ", 1)]
    if not last and not reset:
        parts.append("rst_ni is active low: has the engine left its reset?")
    if "error" in last:
        parts.append(f"last error at clock {last['error']}")
    if reset:
        parts.append(f"last reset at clock {reset}")
    return "; ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _ranges(numbers: list[int]) -> str:
    """Returns rising numbers as ``1, 4 to 9``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join(" to ".join(map(str, part)) for part in parts) or "none"
