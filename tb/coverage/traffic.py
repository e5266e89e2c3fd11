# SPDX-License-Identifier: Apache-2.0
"""Coverage of sequences and concurrency of legal ops of all forms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb.coverage.fix.view import WRITE_BACKS
from tb.coverage.model import NOT_SAMPLED, Cross, Exclusion, Ints, excluding, point
from tb.coverage.sampled import Group, Sampled, codes, range_labels
from tb.coverage.scope import Scope
from tb.coverage.view import FORM_SPECS, FORMS, Bools, Part, View
from tb.isa.fields import OpSpec
from tb.isa.fix.table import MTE_L0C_GM
from tb.isa.ops import OPS, SLOTS

WAIT_LOWS = (0, 1, 8, 64)

_OPS: tuple[str, ...] = tuple(OPS)
_NUMBER = np.full(256, NOT_SAMPLED)
_NUMBER[[spec.opcode for spec in OPS.values()]] = np.arange(len(OPS))

_BUSY = [str(count + 1) for count in range(len(SLOTS))]
_BESIDE = tuple(f"beside_{slot}" for slot in SLOTS)


def feeds(producer: OpSpec, consumer: OpSpec) -> bool:
    """Tells whether stimulus makes the second op read the destination of the first.

    A write-back also reads its parameters in fb, and an atomic update its destination in GM.
    """
    if consumer in WRITE_BACKS and producer.destination == "fb":
        return True
    if producer is consumer is MTE_L0C_GM:
        return True
    return producer.destination == consumer.source and producer.slot != consumer.slot


class Stream(Part):
    """Legal ops of every form, and their neighbours in the block.

    Attributes:
        form, slot: Indices into ``FORMS`` and ``SLOTS``, ``int64[M]``.
        before: 0 for the first op of a block, 1 + slot of the op before it.
        producer, consumer: Indices into ``OPS`` of an op that waits for another; else -1.
        active: ``int64[M, slots]``, legal ops of each slot in the block.
    """

    def __init__(self, view: View, index: Ints) -> None:
        """Takes the ops ``index`` (``int64[M]``) of ``view``."""
        super().__init__(view, index)
        self.form, self.slot = view.form[index], view.slot[index]
        start, after = view.start[index], view.after[index]
        before = view.slot[np.maximum(index - 1, 0)]
        self.before = np.where(index == start, 0, np.where(before < 0, NOT_SAMPLED, 1 + before))
        waits = after >= 0
        self.waits = waits.astype(np.int64)
        maker = view.opcode[start + np.maximum(after, 0)]
        self.producer = np.where(waits, _NUMBER[maker], NOT_SAMPLED)
        self.consumer = np.where(waits, _NUMBER[view.opcode[index]], NOT_SAMPLED)
        self.active = view.per_slot[view.block[index]]

    @property
    def live(self) -> Bools:
        """All of them."""
        return np.ones(self.size, dtype=bool)


def _points() -> list[Sampled[Stream]]:
    def beside(number: int) -> Sampled[Stream]:
        def index(view: Stream) -> Ints:
            others = view.active[:, number] - (view.slot == number)
            return np.where(others > 0, 0, NOT_SAMPLED)

        doc = f"another op of {SLOTS[number]} in the block"
        return Sampled(point(_BESIDE[number], ["active"], doc), index)

    def wait(view: Stream) -> Ints:
        return np.searchsorted(WAIT_LOWS[1:], view.gap, side="right")

    unread, reads_nothing = {}, {}
    for name, spec in OPS.items():
        if not spec.source:
            reads_nothing[name] = "reads nothing"
        if any(feeds(spec, one) for one in OPS.values()):
            continue
        read = any(one.source == spec.destination for one in OPS.values())
        who = "only ops of its own slot read" if read else "no op reads"
        unread[name] = f"{who} what it writes"
    return [
        codes("form", FORMS, lambda v: v.form, "form of the op", live=False),
        codes("slot", SLOTS, lambda v: v.slot, "slot of the op", live=False),
        codes(
            "slot_before", ["first", *SLOTS], lambda v: v.before,
            "slot of the op before in the block", live=False,
        ),
        codes(
            "busy_slots", _BUSY, lambda v: (v.active > 0).sum(axis=1) - 1,
            "slots with ops in the block", live=False,
        ),
        *[beside(number) for number in range(len(SLOTS))],
        codes("wait", range_labels(WAIT_LOWS), wait, "idle clocks before it", live=False),
        codes(
            "depends", ["free", "waits"], lambda v: v.waits,
            "reads what an op before wrote in the block", live=False,
        ),
        Sampled(
            point("producer", _OPS, "op that wrote what a waiting op reads", **unread),
            lambda v: v.producer,
        ),
        Sampled(
            point("consumer", _OPS, "op that waits", **reads_nothing),
            lambda v: v.consumer,
        ),
    ]  # fmt: skip


def _pairs() -> tuple[Exclusion, ...]:
    found = []
    for name, spec in OPS.items():
        others = {one: reader for one, reader in OPS.items() if not feeds(spec, reader)}
        memory = [one for one, reader in others.items() if reader.source != spec.destination]
        slot = [one for one in others if one not in memory]
        found.append(excluding(f"reads none of {spec.destination}", producer=name, consumer=memory))
        if slot:
            reason = "ops of one slot are given no dependency: they retire in order"
            found.append(excluding(reason, producer=name, consumer=slot))
    return tuple(found)


def traffic_group() -> Group[Stream]:
    """Returns the group, with bins for every form, whether a run sends it or not."""
    crosses = (
        Cross("slot x slot_before", ("slot", "slot_before")),
        Cross("slot x busy_slots", ("slot", "busy_slots")),
        *[Cross(f"form x {name}", ("form", name)) for name in _BESIDE],
        Cross(
            "form x depends x wait",
            ("form", "depends", "wait"),
            (
                excluding(
                    "reads nothing",
                    form=[x for x in FORMS if not FORM_SPECS[x].source],
                    depends="waits",
                ),
            ),
        ),
        Cross("producer x consumer", ("producer", "consumer"), _pairs()),
    )
    doc = "Legal ops of every form, how they follow each other and what runs beside them."
    return Group("traffic", _points(), crosses, Stream, doc)


def traffic_scope(forms: Sequence[str]) -> Scope:
    """Returns the bins of the group that a run of ``forms`` can reach."""
    specs = {FORM_SPECS[form].name: FORM_SPECS[form] for form in forms}
    slots = [slot for slot in SLOTS if any(spec.slot == slot for spec in specs.values())]
    pairs = [(one, other) for one in specs for other in specs if feeds(specs[one], specs[other])]
    consumers = {other for _, other in pairs}
    waiting = [form for form in forms if FORM_SPECS[form].name in consumers]
    return Scope(
        points={
            "form": forms,
            "slot": slots,
            "slot_before": ["first", *slots],
            "busy_slots": _BUSY[: len(slots)],
            **{name: ["active"] * (name[7:] in slots) for name in _BESIDE},
            "depends": ["free", "waits"] if pairs else ["free"],
            "producer": [one for one, _ in pairs],
            "consumer": sorted(consumers),
        },
        crosses={
            "form x depends x wait": (
                {"form": forms, "depends": ["free"]},
                {"form": waiting, "depends": ["waits"]},
            ),
            "producer x consumer": tuple(
                {"producer": [one], "consumer": [other]} for one, other in pairs
            ),
        },
    )
