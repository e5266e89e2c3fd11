# SPDX-License-Identifier: Apache-2.0
"""Coverage of sequences and concurrency of legal ops of all forms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from tb.coverage.model import NOT_SAMPLED, Exclusion, Ints, crossed, excluding
from tb.coverage.ops import Derived, Ops
from tb.coverage.points import ALL, Group, Row, codes, only, ranges
from tb.coverage.scope import Scope
from tb.coverage.view import FORM_SPECS, FORMS
from tb.isa.ops import OPS, SLOTS, feeds

WAIT_LOWS = (0, 1, 8, 64)

_OPS: tuple[str, ...] = tuple(OPS)
_NUMBER = np.full(256, NOT_SAMPLED)
_NUMBER[[spec.opcode for spec in OPS.values()]] = np.arange(len(OPS))

_BUSY = [str(count + 1) for count in range(len(SLOTS))]
_BESIDE = tuple(f"beside_{slot}" for slot in SLOTS)


_FEEDS = np.zeros((256, 256), dtype=np.bool_)
for _one, _other in product(OPS.values(), repeat=2):
    _FEEDS[_one.opcode, _other.opcode] = feeds(_one, _other)


def _previous_slot(v: Ops) -> Ints:
    before: Ints = v.view.slot[np.maximum(v.places - 1, 0)]
    return np.where(v.places == v.start, 0, only(before >= 0, 1 + before))


DERIVED: Derived = {
    # 0 for the first op of a block, 1 + slot of the op before it.
    "previous_slot": _previous_slot,
    # Indices into OPS of an op that reads what another wrote, and of the other. Users may order any
    # ops: a wait that carries no data is neither a dependency nor the lack of one.
    "ordered": lambda v: v.after >= 0,
    "maker": lambda v: v.view.opcode[v.start + np.maximum(v.after, 0)],
    "waits": lambda v: v.ordered & _FEEDS[v.maker, v.opcode],
    "producer": lambda v: only(v.waits, _NUMBER[v.maker]),
    "consumer": lambda v: only(v.waits, _NUMBER[v.opcode]),
    # int64[M, slots], legal ops of each slot in the block.
    "active": lambda v: v.view.per_slot[v.block],
}


def _active_with(number: int, v: Ops) -> Ints:
    others = v.active[:, number] - (v.slot == number)
    return np.where(others > 0, 0, NOT_SAMPLED)


def _points() -> list[Row]:
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
        codes("form", FORMS, "form", "form of the op", ops=ALL),
        codes("slot", SLOTS, "slot", "slot of the op", ops=ALL),
        codes("slot_before", ["first", *SLOTS], "previous_slot",
              "slot of the op before in the block", ops=ALL),
        codes("busy_slots", _BUSY, lambda v: (v.active > 0).sum(axis=1) - 1,
              "slots with ops in the block", ops=ALL),
        *[codes(name, ["active"], partial(_active_with, number),
                f"another op of {SLOTS[number]} in the block", ops=ALL)
          for number, name in enumerate(_BESIDE)],
        ranges("wait", WAIT_LOWS, "gap", "idle clocks before it", ops=ALL),
        codes("depends", ["free", "waits"], lambda v: only(v.waits | ~v.ordered, v.waits),
              "reads what an op before wrote in the block", ops=ALL),
        codes("producer", _OPS, "producer", "op that wrote what a waiting op reads",
              ops=ALL, **unread),
        codes("consumer", _OPS, "consumer", "op that waits", ops=ALL, **reads_nothing),
    ]  # fmt: skip


def _pairs() -> tuple[Exclusion, ...]:
    found = []
    for name, spec in OPS.items():
        others = {one: reader for one, reader in OPS.items() if not feeds(spec, reader)}
        memory = [one for one, reader in others.items() if reader.source != spec.destination]
        slot = [one for one in others if one not in memory]
        found.append(excluding(f"reads none of {spec.destination}", producer=name, consumer=memory))
        if slot:
            reason = "a wait for an op of the same slot is an order, which is not counted"
            found.append(excluding(reason, producer=name, consumer=slot))
    return tuple(found)


def traffic_group() -> Group:
    """Returns the group, with bins for every form, whether a run sends it or not."""
    crosses = (
        crossed("slot x slot_before"),
        crossed("slot x busy_slots"),
        *[crossed(f"form x {name}") for name in _BESIDE],
        crossed(
            "form x depends x wait",
            (
                excluding(
                    "reads nothing",
                    form=[x for x in FORMS if not FORM_SPECS[x].source],
                    depends="waits",
                ),
            ),
        ),
        crossed("producer x consumer", _pairs()),
    )
    doc = "Legal ops of every form, how they follow each other and what runs beside them."
    return Group("traffic", _points(), crosses, DERIVED, doc)


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
