# SPDX-License-Identifier: Apache-2.0
"""Cases of illegal tests, made from a base op and a table of ways to break it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from sequences.blocks import Op, Program
from tb.isa.block import Fill

_Op = TypeVar("_Op")

Change = Callable[[Any], Any]
"""Maps an op to the same op with a violation."""

EXCESS = ((1, 0), (2, 17), (3, 5), (1 << 24, 3))
"""Too-wide values in units of the first one that does not fit: by 1, by more, beyond the
container of the descriptor field; as (factor, addend)."""

COMBINATIONS = 40
"""Cases with several rules broken, per form."""


@dataclass(frozen=True)
class Case:
    """One op to send.

    Attributes:
        name: Its property.
        form: Form it is written in, out of ``OP_NAMES``.
        rule: D rule it breaks, 0 when it is legal.
        program: The op, or a legacy copy with every register it reads written before.
        fills: Bytes to write to memories before it.
    """

    name: str
    form: str
    rule: int
    program: Program
    fills: tuple[Fill, ...] = ()


@dataclass(frozen=True)
class Break:
    """One way to break a rule.

    Attributes:
        name: The violation.
        rule: The lowest rule it breaks when applied alone to a base op.
        change: Makes the base op break it.
        v06_only: No legacy form can break the rule this way: a register rejects the value, or
            the operand is missing or counts in another unit.
    """

    name: str
    rule: int
    change: Change
    v06_only: bool = False


def changed(op: _Op, **values: Any) -> _Op:
    """Returns a copy of a frozen dataclass with other operands."""
    copy: _Op = replace(op, **values)  # type: ignore[type-var]
    return copy


def put(name: str, value: int) -> Change:
    """Returns a change that sets an operand; ``loop1.count`` names one of loop 1."""
    if "." in name:
        loop, part = name.split(".")
        return lambda op: _set_loop(op, int(loop[4:]), **{part: value})
    return lambda op: replace(op, **{name: value})


def shift(name: str, by: int) -> Change:
    """Returns a change that adds to an operand; names as in :func:`put`."""
    if "." in name:
        loop, part = name.split(".")
        number = int(loop[4:])
        return lambda op: _set_loop(op, number, **{part: getattr(op.loops[number], part) + by})
    return lambda op: replace(op, **{name: getattr(op, name) + by})


def chain(*changes: Change) -> Change:
    """Returns the composition of changes."""

    def change(op: Any) -> Any:
        for each in changes:
            op = each(op)
        return op

    return change


def _set_loop(op: Any, number: int, **values: int) -> Any:
    loops = list(op.loops)
    loops[number] = replace(loops[number], **values)
    return replace(op, loops=tuple(loops))


def too_wide(
    fields: Iterable[tuple[str, int]], rule: int, *, v06_only: bool = False
) -> list[Break]:
    """Returns values just and far beyond the width of each (operand, bits)."""
    return [
        Break(f"{name} = {value}", rule, put(name, value), v06_only)
        for name, bits in fields
        for value in ((factor << bits) + more for factor, more in EXCESS)
    ]


def make_cases(
    rng: np.random.Generator,
    form: str,
    base: Callable[[np.random.Generator], Op],
    breaks: Sequence[Break],
    combined: Sequence[Mapping[int, Change]],
    near: Callable[[np.random.Generator], Mapping[str, Op]],
    fills: tuple[Fill, ...] = (),
) -> list[Case]:
    """Returns every break, many combinations and every near miss of a v0.6 form.

    Args:
        rng: Source of randomness.
        form: Name of the op.
        base: Draws a small legal op in which every operand matters.
        breaks: Ways to break one rule.
        combined: Groups of rule to a change that can be applied together with those of other rules
            of the group; rule 0 is a change that all of them need.
        near: Draws legal ops at a limit, by the name of the limit.
        fills: Bytes to write to memories before the legal ops.
    """
    cases = [Case(item.name, form, item.rule, (item.change(base(rng)),)) for item in breaks]
    for number in range(COMBINATIONS * min(len(combined), 2)):
        group = combined[number % len(combined)]
        rules = [rule for rule in sorted(group) if rule]
        size = int(rng.integers(2, len(rules) + 1))
        chosen = sorted(int(rule) for rule in rng.choice(rules, size, replace=False))
        changes = [group[rule] for rule in reversed(chosen)]
        op = chain(group.get(0, lambda op: op), *changes)(base(rng))
        name = "rules " + ", ".join(map(str, chosen))
        cases.append(Case(name, form, chosen[0], (op,)))
    cases += [Case(name, form, 0, (op,), fills) for name, op in near(rng).items()]
    return cases
