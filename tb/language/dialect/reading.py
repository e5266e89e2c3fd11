# SPDX-License-Identifier: Apache-2.0
"""Intermediate result of reading the pretty form of a movement op."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Attribute

from tb.language.dialect.forms import Form
from tb.language.dialect.ops import Fault
from tb.language.parser.syntax import Clause, Item, OpText


@dataclass
class Reading:
    """The parts of an op that were read so far.

    Attributes:
        text: The op as written.
        form: Its grammar.
        groups: Operands of each group.
        order: Operands in the order of the text, which is that of the types.
        words: Properties.
        faults: Its errors.
        notes: Remarks on an op without an error, with their offsets.
        old: The operands are those of an older form, which needs no sizes of groups.
    """

    text: OpText
    form: Form
    groups: dict[str, list[Item]] = field(default_factory=dict)
    order: list[Item] = field(default_factory=list)
    words: dict[str, Attribute] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    notes: list[tuple[str, int]] = field(default_factory=list)
    old: bool = False

    def put(self, name: str, item: Item, place: int | None = None) -> None:
        """Adds an operand to a group; its type is the last one, or that at ``place``."""
        if item.kind != "value":
            self.fault(f"{item.text!r} is no SSA value", at=item.at)
            return
        self.groups.setdefault(name, []).append(item)
        self.order.insert(len(self.order) if place is None else place, item)

    def fault(self, message: str, rule: str = "", at: int = -1, legal: str = "") -> None:
        """Notes what is wrong; each rule once."""
        if not rule or all(fault.rule != rule for fault in self.faults):
            self.faults.append(Fault(message, rule, -1 if rule else at, legal))

    def note(self, message: str, at: int) -> None:
        """Notes what is odd about a legal text."""
        self.notes.append((message, at))

    def exactly(self, clause: Clause, names: tuple[str, ...], rule: str, shape: str) -> None:
        """Takes the operands of a clause that has as many as there are names."""
        if len(clause.items) != len(names) or any(item.key for item in clause.items):
            self.fault(
                f"{clause.name} has {len(clause.items)} operands of {len(names)}",
                rule,
                clause.at,
                shape,
            )
            return
        for name, item in zip(names, clause.items, strict=True):
            self.put(name, item)


def unknown_clause(reading: Reading, clause: Clause, legal: str) -> None:
    """Notes a clause that the op does not have."""
    reading.fault(f"there is no clause {clause.name!r}", at=clause.at, legal=legal)
