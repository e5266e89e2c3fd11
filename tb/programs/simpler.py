# SPDX-License-Identifier: Apache-2.0
"""Simpler forms of a list, of the operands of an op, and of a program with its memory contents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from tb.isa.dtypes import Ptr
from tb.isa.op import operand_names, replace
from tb.language.trace import Move, SetFlag, Step, WaitFlag
from tb.programs.case import Case, is_op
from tb.programs.job import ProgramJob

ALIGNMENT = 32
"""Most sizes and strides that must be multiples are multiples of this."""

_WORDS = ("bits", "address", "level")
"""Parts of a clause that are not amounts."""

T = TypeVar("T")

Part = tuple[str, Any]
"""A part of a case that may be left out: its sort, and which one."""


def fewest(items: Sequence[T], fails: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Returns few of the items with which something still fails.

    Runs of items are left out, each half as long as those before: all, halves, ..., one. That is
    repeated with one until each item is needed.

    Args:
        items: The items; with all of them it fails.
        fails: Returns whether it fails with these items.
    """
    kept = tuple(items)
    size = len(kept)
    while size:
        at, before = 0, len(kept)
        while at < len(kept):
            rest = kept[:at] + kept[at + size :]
            if fails(rest):
                kept = rest
            else:
                at += size
        if size > 1 or len(kept) == before:
            size //= 2
    return kept


def simpler(value: Any) -> Iterator[Any]:
    """Yields simpler values of an operand, the simplest first; none of a word or a type."""
    if isinstance(value, bool | Ptr):
        return
    if isinstance(value, int):
        half = value // 2
        amounts = (0, 1, ALIGNMENT, half // ALIGNMENT * ALIGNMENT, half)
        yield from dict.fromkeys(one for one in amounts if one < value)
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield value[:at] + value[at + 1 :]
            yield from ((*value[:at], one, *value[at + 1 :]) for one in simpler(item))
    elif is_dataclass(value) and not isinstance(value, type):
        for name in (one.name for one in fields(value) if one.name not in _WORDS):
            yield from (replace(value, **{name: one}) for one in simpler(getattr(value, name)))


def operands(op: Any) -> list[str]:
    """Returns the operands of an op to simplify, clauses that it may lack first; no addresses."""
    names = [
        name
        for name in operand_names(type(op))
        if name not in (*_WORDS, "src", "dst", "ctrl")
        and not name.endswith(("_src", "_dst", "_type"))
    ]
    return sorted(names, key=lambda name: name not in defaults(op))


def defaults(op: Any) -> dict[str, Any]:
    """Returns the operands that an op may lack, and their values then."""
    return dict(getattr(type(op), "defaults", {}))


def simpler_ops(op: Any, name: str) -> Iterator[Any]:
    """Yields an op with simpler values of one operand; they may break rules."""
    value = getattr(op, name)
    values = [defaults(op)[name]] if name in defaults(op) else []
    for one in (*values, *simpler(value)):
        if one != value:
            try:
                yield replace(op, **{name: one})
            except (TypeError, ValueError):
                continue  # not an op at all


def parts_of(case: Case) -> list[Part]:
    """Returns what may be left out of a case beside its ops."""
    job = case.job
    found: list[Part] = [("knob", name) for name in job.knobs]
    found += [("fault", at) for at in range(len(job.faults))]
    found += [("background", name) for name in job.backgrounds]
    found += [("key", name) for name in ("unit_flags", "stall_seed", "illegal")]
    found += [("load", at) for at in range(len(job.loads))]
    for at, step in enumerate(case.steps):
        if isinstance(step, Move):
            found += [("gap", at)] if step.gap else []
            found += [("delay", at)] if step.flag_delay >= 0 else []
    return [*found, *(("steps", group) for group in _groups(case.steps))]


def _groups(steps: Sequence[Step]) -> Iterator[tuple[int, ...]]:
    """Yields the steps that order ops or write registers: a set of an event with its wait."""
    left: dict[Any, list[int]] = {}
    for at, step in enumerate(steps):
        if isinstance(step, SetFlag):
            left.setdefault((step.core, step.pipe, step.other, step.event), []).append(at)
    for at, step in enumerate(steps):
        if isinstance(step, WaitFlag):
            sets = left.get((step.core, step.other, step.pipe, step.event), [])
            yield (*sets[:1], at)
            del sets[:1]
        elif not is_op(step) and not isinstance(step, SetFlag):
            yield (at,)
    yield from ((at,) for sets in left.values() for at in sets)


def without(case: Case, parts: Collection[Part]) -> Case:
    """Returns a case without some of its parts."""
    gone = {at for sort, which in parts if sort == "steps" for at in which}
    job, plain = case.job, ProgramJob.model_fields
    changes: dict[str, Any] = {
        "knobs": {name: x for name, x in job.knobs.items() if ("knob", name) not in parts},
        "faults": tuple(x for at, x in enumerate(job.faults) if ("fault", at) not in parts),
        "loads": tuple(x for at, x in enumerate(job.loads) if ("load", at) not in parts),
        "backgrounds": {
            name: x for name, x in job.backgrounds.items() if ("background", name) not in parts
        },
    }
    changes |= {name: plain[name].default for sort, name in parts if sort == "key"}
    steps = []
    for at, step in enumerate(case.steps):
        if at in gone:
            continue
        if ("gap", at) in parts:
            step = replace(step, gap=0)
        if ("delay", at) in parts:
            step = replace(step, flag_delay=-1)
        steps.append(step)
    return replace(case, steps=tuple(steps), job=job.model_copy(update=changes))
