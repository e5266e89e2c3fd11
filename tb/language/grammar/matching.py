# SPDX-License-Identifier: Apache-2.0
"""The parts of an op as its row names them, and what is wrong with them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from tb.common.text import counted
from tb.isa.grammar import L2, TRANSPOSE, Clause, Part, Row
from tb.isa.nz.table import MODES
from tb.language.grammar.fault import Fault
from tb.language.grammar.reading import TYPE_WORDS, Given, OpText
from tb.language.grammar.tokens import Item

Word = str | int | bool
"""Value of a property: a word, a number, or true for a clause that is its name alone."""


@dataclass
class Reading:
    """The parts of an op that were read so far.

    Attributes:
        text: The op as written.
        row: Its grammar.
        groups: Operands by name; more than one only of a clause that is repeated.
        order: Operands in the order of the types.
        words: Properties.
        faults: Its errors.
        notes: Remarks on an op without an error, with their offsets.
        old: The operands are those of an older form, which needs no sizes of groups.
        values: Kinds of items that are operands.
    """

    text: OpText
    row: Row
    groups: dict[str, list[Item]] = field(default_factory=dict)
    order: list[Item] = field(default_factory=list)
    words: dict[str, Word] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    notes: list[tuple[str, int]] = field(default_factory=list)
    old: bool = False
    values: tuple[str, ...] = ("value",)

    def put(self, name: str, item: Item, place: int | None = None) -> None:
        """Adds an operand; its type is the last one, or that at ``place``."""
        if item.kind not in self.values:
            self.fault(f"{item.text!r} is not an SSA value", at=item.at)
            return
        self.groups.setdefault(name, []).append(item)
        self.order.insert(len(self.order) if place is None else place, item)

    def fault(self, message: str, rule: str = "", at: int = -1, legal: str = "") -> None:
        """Notes what is wrong; each rule once."""
        if not rule or all(fault.rule != rule for fault in self.faults):
            self.faults.append(Fault(message, rule, -1 if rule else at, legal))

    def has(self, part: Part) -> bool:
        """Returns whether a part was read."""
        return part.name in self.groups or part.name in self.words or part.other in self.groups


def match(text: OpText, row: Row, *, literals: bool = False) -> Reading:
    """Returns the operands and words of an op by their names; faults are in the result.

    Args:
        text: The op.
        row: How it is written.
        literals: Whether operands may be numbers.
    """
    reading = Reading(text, row, values=("value", "number") if literals else ("value",))
    for clause in text.clauses:
        if "loop" in row.names and clause.name in ("loop1", "loop2"):
            clause.name = "loop"
    if row.choices:
        _choice(reading)
    else:
        _head(reading)
        _clauses(reading)
    _type_words(reading)
    return reading


# --- operands before the clauses -----------------------------------------------------------------

_OLD: dict[str, tuple[str, int, str]] = {
    "mte_ub_gm": (L2, 2, "l2_cache_ctl(%l2) after nburst(...)"),
    "mte_l0c_ub": ("sub_block", 6, "dst_mode(%sub_block)"),
}
"""Operands that an older form had before its clauses: name, position, and how they are written."""


def _head(reading: Reading) -> None:
    values = [item for item in reading.text.head if item.kind != "word"]
    words = [item for item in reading.text.head if item.kind == "word"]
    names = [part.name for part in reading.row.head if not part.word]
    needed = ", ".join(f"%{name}" for name in names)
    _older(reading, names, values, words)
    for part in reading.row.head:
        if part.word:
            _head_word(reading, part, words)
    if words:
        reading.fault(f"{words[0].text!r} is not an operand", at=words[0].at)
    if len(values) != len(names):
        message = f"takes {needed.count('%')} operands before its clauses, not {len(values)}"
        reading.fault(message, at=reading.text.at, legal=needed)
        return
    for name, item in zip(names, values, strict=True):
        reading.put(name, item)


def _older(reading: Reading, names: list[str], values: list[Item], words: list[Item]) -> None:
    """Takes the operand of an older form, which is a clause today, with a note."""
    if reading.row.name not in _OLD:
        return
    name, place, today = _OLD[reading.row.name]
    if name == "sub_block" and words:
        word = words.pop(0)
        reading.words["ub_split"] = word.text
        note = f"{word.text} is written in an older form: dst_mode({word.text})"
        reading.notes.append((note, word.at))
    elif len(values) == len(names) + 1:
        names.insert(place, name)
        reading.notes.append((f"{name} is written in an older form: {today}", values[place].at))


def _head_word(reading: Reading, part: Part, words: list[Item]) -> None:
    """Takes a word among the operands."""
    legal = " or ".join(part.legal)
    first = reading.text.clauses[0] if reading.text.clauses else None
    if words:
        reading.words[part.name] = words.pop(0).text
    elif first is not None and not first.items and first.name not in reading.row.names:
        reading.text.clauses.pop(0)
        reading.fault(f"{part.name} {first.name!r} is unknown", at=first.at, legal=legal)
    else:
        reading.fault(f"the {part.name} is missing", at=reading.text.at, legal=legal)


# --- clauses -------------------------------------------------------------------------------------

_ELSEWHERE = {
    "clip": ("clip is outside pre_relu", "FIX-L06", "pre_relu(mode = <mode>, clip = %clip)"),
    "atomic": ("takes no atomic", "FIX-L11", "mte_l0c_gm alone"),
}
"""Clauses that write-backs do not have: message, rule, legal."""


def _clauses(reading: Reading) -> None:
    """Takes the clauses: each in its place, most of them once."""
    row, reached = reading.row, -1
    before: Given | None = None
    needed = bool(row.clauses) and row.clauses[0].times == "1"
    for number, given in enumerate(reading.text.clauses):
        if given.comma and not row.commas and (number or not needed):
            message = f"expected no ',' before {given.name}: clauses follow blanks"
            reading.fault(message, at=given.at, legal=row.order)
        known = next((x for x in row.clauses if x.name == given.name), None)
        if known is None:
            _unknown(reading, given)
            continue
        if known.free:
            if any(map(reading.has, known.parts)):
                reading.fault(f"{given.name} is twice", known.rule, given.at, known.shape)
            else:
                _inside(reading, known, given)
            continue
        place = row.slots.index(known.slot)
        if place < reached:
            reading.fault(f"{given.name} is too late", row.rule, given.at, row.order)
            continue
        if place == reached and known.times != "*":
            _again(reading, known, given, before)
            continue
        reached, before = place, given
        _inside(reading, known, given)
    for clause in row.clauses:
        if clause.times == "1" and not _present(reading, clause):
            message = f"{clause.name} is missing"
            reading.fault(message, clause.rule, reading.text.at, clause.shape)


def _present(reading: Reading, clause: Clause) -> bool:
    """Returns whether a clause is in the text, right or wrong, or in an older form."""
    named = any(given.name == clause.name for given in reading.text.clauses)
    return named or any(map(reading.has, clause.parts))


def _unknown(reading: Reading, given: Given) -> None:
    if reading.row.rule and given.name in _ELSEWHERE:
        message, rule, legal = _ELSEWHERE[given.name]
        reading.fault(message, rule, given.at, legal)
        return
    message = f"there is no clause {given.name!r}"
    reading.fault(message, at=given.at, legal=reading.row.order)


def _again(reading: Reading, known: Clause, given: Given, before: Given | None) -> None:
    """Notes a clause that is there already, or one that excludes it."""
    row, other = reading.row, before or given
    rule = row.rule or known.rule
    if other.name != given.name or (known.clash and len(other.items) != len(given.items)):
        legal = " or ".join(x.shape for x in row.clauses if x.slot == known.slot)
        message = f"{given.name} and {other.name} exclude each other"
        reading.fault(message, known.clash or rule, given.at, legal)
    else:
        reading.fault(f"{given.name} is twice", rule, given.at, row.order)


def _inside(reading: Reading, known: Clause, given: Given) -> None:
    """Takes the operands and words of a clause."""
    if known.word:
        alone = sum(x.slot == known.slot for x in reading.row.clauses) == 1
        reading.words[known.word] = alone or given.name
    keys = [part.key for part in known.parts if part.key]
    for item in given.items:
        if item.key and (item.key not in keys or len(given.keyed(item.key)) > 1):
            message = f"{given.name} has {item.key!r} wrongly"
            reading.fault(message, known.rule, given.at, known.shape)
            return
    plain = [part for part in known.parts if not part.key]
    least = sum(not part.optional for part in plain)
    if len(given.values) not in (least, len(plain)) or (given.mark == "=" and plain):
        count = counted(len(given.values), "operand") + f" of {least}" * (least == len(plain) > 1)
        message = f"{given.name} has {count}"
        reading.fault(message, known.rule, given.at, known.shape)
        return
    if given.mark and not known.parts:
        reading.fault(f"{given.name} has no operands", known.rule, given.at, known.shape)
        return
    written = [item.key for item in given.items]
    if len(known.parts) == len(keys) == len(written) and written != keys:
        message = f"{given.name} has {written[0]} before {keys[0]}"
        reading.fault(message, known.rule, given.at, known.shape)
        return
    values = iter(given.values)
    for part in known.parts:
        items = given.keyed(part.key) if part.key else [*filter(None, (next(values, None),))]
        if items:
            _take(reading, known, part, items[0])
        elif not part.optional:
            reading.fault(f"{given.name} has no {part.key}", known.rule, given.at, known.shape)


def _take(reading: Reading, known: Clause, part: Part, item: Item) -> None:
    """Takes a part of a clause."""
    if not part.word:
        reading.put(part.name, item)
    elif part.other and item.kind in reading.values:
        reading.put(part.other, item, len(reading.row.head) if known.free else None)
    elif "#" in part.legal and item.kind == "number" and item.text.isdigit():
        reading.words[part.name] = int(item.text)
    elif item.kind == "value" or (part.legal and item.text not in part.legal):
        name = f"{known.name} has no {part.key}" if part.key else f"{known.name} is {item.text}"
        reading.fault(name, known.rule, item.at, known.shape)
    else:
        reading.words[part.name] = item.text
        if item.text.startswith("req4"):
            note = f"the compiler refuses pre_quant {item.text}: a mode of the model"
            reading.notes.append((note, item.at))


# --- one of several groups -----------------------------------------------------------------------


def listed(names: tuple[str, ...]) -> str:
    """Returns operands as messages list them."""
    return ", ".join(f"%{name}" for name in names)


def _choice(reading: Reading) -> None:
    """Reads the head, then one group of operands, positional or with their names."""
    row, text = reading.row, reading.text
    values = [item for item in text.head if item.kind != "word"]
    for item in text.head:
        if item.kind == "word":
            reading.fault(f"{item.text!r} is not an operand", at=item.at)
    start = len(row.head)
    legal = f"{listed(tuple(x.name for x in row.head))}, then "
    legal += ", or ".join(map(listed, row.choices))
    if len(values) < start:
        message = "takes a source and a destination pointer"
        reading.fault(message, at=text.at, legal=legal)
        return
    for part, item in zip(row.head, values, strict=False):
        reading.put(part.name, item)
    rest = values[start:]
    if text.clauses:
        _named(reading, bool(rest), legal)
        return
    names = next((names for names in row.choices if len(names) == len(rest)), ())
    shape = row.choices[0]
    if len(rest) == 2 and row.attributes:
        names, reading.old = shape[:2], True
        today = f"{listed(shape)} with starts 0"
        if shape[0] == "k":  # of L0B
            today += ", and {transpose = true}"
        reading.notes.append((f"two extents are an older form: {today}", rest[0].at))
        if TRANSPOSE in text.attributes:
            reading.fault("the older form with two extents has no transpose", legal=today)
    if not names:
        message = (
            "four shape-derived or six full operands are expected after the pointers, "
            f"not {len(rest)}"
        )
        reading.fault(message, at=text.at, legal=legal)
        return
    for name, item in zip(names, rest, strict=True):
        reading.put(name, item)


def _named(reading: Reading, positional: bool, legal: str) -> None:
    """Takes operands that are written as clauses with their names."""
    names = tuple(name for names in reading.row.choices for name in names)
    if positional:
        first = reading.text.clauses[0]
        message = "named and positional operands cannot be mixed"
        if first.name not in names:
            message = f"there is no clause {first.name!r}"
        reading.fault(message, at=first.at, legal=legal)
        return
    for clause in reading.text.clauses:
        shape = f"{clause.name}(%{clause.name})"
        if clause.name not in names:
            legal = ", ".join(f"{name}(%{name})" for name in names)
            reading.fault(f"there is no operand named {clause.name!r}", at=clause.at, legal=legal)
        elif clause.name in reading.groups:
            reading.fault(f"operand {clause.name} is given twice", at=clause.at)
        elif clause.mark == "=":
            reading.fault(f"expected '(' after {clause.name}", at=clause.at, legal=shape)
        elif len(clause.items) != 1 or clause.items[0].key:
            message = f"{clause.name} has {len(clause.items)} operands of 1"
            reading.fault(message, at=clause.at, legal=shape)
        else:
            reading.put(clause.name, clause.items[0])


# --- words among the types -----------------------------------------------------------------------

_LOOP = re.compile(r"loop\d+")
"""Other names of ``loop``."""


def _type_words(reading: Reading) -> None:
    """Refuses words among the types that are not those of the clauses.

    Of ops without commas loops and pads have their word before their types; a write-back has none.
    """
    row, text = reading.row, reading.text
    if "loop" in row.names:
        text.words = [("loop" if _LOOP.fullmatch(word) else word, at) for word, at in text.words]
    words = [word for word, _ in text.words]
    mode = reading.words.get("mode")
    for word, at in text.words:
        if word in MODES and mode is not None and word != mode:
            reading.fault(f"the types have {word}, the op has {mode}", at=at)
        elif word not in TYPE_WORDS and not reading.faults:
            reading.fault(f"expected a type, found {word!r}", at=at)
    if reading.faults:
        return
    tagged = [clause for clause in row.clauses if clause.tag]
    counts = Counter(given.name for given in text.clauses)
    for clause in tagged if text.types and not row.commas else ():
        if words.count(clause.name) < counts[clause.name]:
            message = f"the types lack the word {clause.name} before those of the clause"
            kinds = ", ".join("i64" for _ in clause.parts) if clause.times == "*" else "T"
            reading.fault(message, legal=f"{clause.name} {kinds}")
    if row.commas and not tagged and words:
        legal = "types alone, in the order of the operands"
        reading.fault(f"the types have the word {words[0]}", at=text.words[0][1], legal=legal)
    for word, at in text.words:
        if word in MODES or reading.faults:
            continue
        counts[word] -= 1
        if counts[word] < 0:
            message = f"the types have {word} more often than the op has such a clause"
            reading.fault(message, at=at)
