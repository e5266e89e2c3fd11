# SPDX-License-Identifier: Apache-2.0
"""Hang report: descriptors in flight and who waits for whom, from the mailbox.

Works on the mailbox inside the simulator, at a hang, and on the file of a simulation that was ended
or crashed. Then the pins are those of the last report of the harness, and the text says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tb.harness.mailbox import Mailbox, MailboxReader, SlotState
from tb.isa.block import from_descriptors
from tb.isa.descriptor import opcode_of, unpack
from tb.isa.lower import Descriptor
from tb.isa.ops import OPS_BY_CODE, SLOTS
from tb.isa.text import to_text
from tb.record.failure import Failure

FLAG_BITS = 32
"""Unit flags in a word of the flag port."""

POLLING = 64
"""Clocks without a read of unit flags, beyond the latency, after which an engine reads no more."""


def describe(desc: Descriptor) -> str:
    """Returns a descriptor as an op in PTO text, for when the program's own is lost.

    The element type is not in a descriptor: an integer of the same size stands for it.
    """
    return to_text(from_descriptors([desc]).program()[0][0])


def in_flight_report(path: Path) -> list[str]:
    """Returns one report of the descriptors in flight, or none when there were none."""
    if not path.exists():
        return []
    reader = MailboxReader.open(path)
    lines = []
    for slot, name in enumerate(SLOTS):
        waiting = reader.in_flight(slot)
        if not waiting:
            continue
        oldest = waiting[0]
        try:
            text = describe(unpack(oldest.words))
        except ValueError:
            text = f"unknown opcode {opcode_of(oldest.words)}"
        lines.append(
            f"  {name}: {len(waiting)} descriptors not retired; the oldest, {oldest.state}, "
            f"tag {oldest.tag}:\n    {text}"
        )
    if not lines:
        return []
    channels = channel_report(reader)
    if channels:
        lines += ["  who waits for whom:", *(f"    {line}" for line in channels)]
    return ["\n".join(["in flight at the end:", *lines])]


def in_flight_failures(path: Path, kind: str, field: str) -> list[Failure]:
    """Returns :func:`in_flight_report` as failures of the slot that has waited longest.

    Args:
        path: File of the mailbox.
        kind: ``hang`` or ``crash``.
        field: What is known of it in few words.
    """
    reports = in_flight_report(path)
    if not reports:
        return []
    reader = MailboxReader.open(path)
    failure = Failure(kind=kind, field=field, end_clock=reader.cycles, text=reports[0])
    waits = {
        slot: state.oldest if (state := reader.state(slot)) and state.held else -1
        for slot in range(len(SLOTS))
        if reader.in_flight(slot)
    }
    slot = max(waits, key=lambda one: waits[one])
    failure.slot = SLOTS[slot]
    failure.begin_clock = max(0, reader.cycles - max(0, waits[slot]))
    spec = OPS_BY_CODE.get(opcode_of(reader.in_flight(slot)[0].words))
    failure.op = spec.name if spec else ""
    return [failure]


def channel_report(mailbox: Mailbox | MailboxReader) -> list[str]:
    """Returns who waits for whom, a sentence each: of every slot with descriptors in flight.

    The state is that of the clock of a hang or of the last wake-up, or at most 4096 clocks old; a
    first sentence tells its clock when the simulation went on after it.
    """
    lines = []
    clocks = set()
    for name in mailbox.slots:
        slot = SLOTS.index(name)
        if not mailbox.in_flight(slot):
            continue
        state = mailbox.state(slot)
        if state is None:
            lines.append(f"{name}: the simulation ended before the first report of its channels")
            continue
        clocks.add(state.cycle)
        lines += [f"{name}: {text}" for text in _sentences(mailbox, state)]
    behind = mailbox.cycles - max(clocks) if clocks else 0
    if behind:
        lines.insert(0, f"channels at clock {max(clocks)}, {behind} clocks before the end:")
    return lines


def _sentences(mailbox: Mailbox | MailboxReader, state: SlotState) -> Iterator[str]:
    """Yields who waits for whom in one slot."""
    if not state.pins["rst_n"]:
        yield "in reset"
        return
    found = [*_offers(mailbox, state), *_debts(mailbox, state)]
    yield from found
    polls = _polls(mailbox, state)
    yield from polls
    if state.held:
        holds = f"the engine holds {_count(state.held, 'accepted descriptor')}"
        since = f"the oldest since {state.oldest} clocks"
        if found or polls:
            yield f"{holds}, {since}"
        else:
            yield f"no channel is active: {holds}, {since}, and asks for nothing"
    elif "desc" in state.waits:
        yield (
            f"the engine holds no descriptor and does not take the one that is offered (valid "
            f"since {state.waits['desc']} clocks)"
        )
    else:
        yield from _not_offered(mailbox, state)


def _offers(mailbox: Mailbox | MailboxReader, state: SlotState) -> Iterator[str]:
    """Yields what is offered and not taken, or asked for and not granted."""
    waits, open_ = state.waits, state.open
    limit = mailbox.knob("max_outstanding")
    for channel, bursts in (("ar", open_["reads"]), ("aw", open_["writes"])):
        if channel in waits:
            reached = f" (OUTSTANDING reached: {bursts} of {limit})" if bursts >= limit else ""
            yield (
                f"{channel.upper()} is offered (valid since {waits[channel]} clocks) and the "
                f"memory does not take it{reached}"
            )
    if "w" in waits:
        early = mailbox.knob("w_after_aw") and not open_["write_beats"]
        why = " before the address of their burst" if early else ""
        yield (
            f"write data are offered (valid since {waits['w']} clocks) and the memory does not "
            f"take them{why}"
        )
    if "r" in waits:
        yield (
            f"read data are offered since {waits['r']} clocks, RREADY is low: the engine does not "
            "take them"
        )
    if "b" in waits:
        yield (
            f"a write response is offered since {waits['b']} clocks, BREADY is low: the engine "
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
                f"{channel} asks for {what} (req since {waits[channel]} clocks) and the memory "
                "does not grant it"
            )
    if "done" in waits:
        yield (
            f"a done is offered (valid since {waits['done']} clocks) and the harness does not "
            "take it"
        )


def _debts(mailbox: Mailbox | MailboxReader, state: SlotState) -> Iterator[str]:
    """Yields what one side owes to the other and does not offer."""
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
        # A port that polls owes something now and then.
        if open_[channel] and not pins[f"{channel}_rvalid"] and not _polling(mailbox, state):
            yield f"the memory owes {_count(open_[channel], 'word')} of port {channel}"


def _polling(mailbox: Mailbox | MailboxReader, state: SlotState) -> bool:
    """True when the engine has read the same flags again and again, to the end."""
    latency = mailbox.knob("local_read_latency") + mailbox.knob("local_read_jitter")
    return (
        bool(state.held)
        and state.flag_age is not None
        and state.flag_age <= latency + POLLING
        and state.flag_reads > 1
    )


def _polls(mailbox: Mailbox | MailboxReader, state: SlotState) -> list[str]:
    """Returns the sentence on unit flags that are waited for, or none."""
    if not _polling(mailbox, state):
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


def _not_offered(mailbox: Mailbox | MailboxReader, state: SlotState) -> Iterator[str]:
    """Yields why the harness does not offer the next descriptor to an engine that holds none."""
    entry = mailbox.offered_next(state.slot)
    if entry is None or entry.index != mailbox.retired(state.slot):
        yield "the engine took a descriptor after the last report of its channels"
        return
    waits = [
        f"it waits for slot {SLOTS[slot]} to retire {count}, which has retired "
        f"{mailbox.retired(slot)}"
        for slot, count in enumerate(entry.waits)
        if count and mailbox.retired(slot) < count
    ]
    for reason in waits or ["its gap is not over"]:
        yield f"the harness does not offer the next descriptor: {reason}"


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
