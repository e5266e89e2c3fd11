# SPDX-License-Identifier: Apache-2.0
"""Numbered rules and violations; the predicates are in the ``rules`` modules of the families."""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.fields import OpSpec, rule_name


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule.

    Attributes:
        number: n of <family>-Ln, the value of ``done_rule_o`` for a D rule.
        kind: ``"S"`` front end, ``"D"`` engine, ``"T"`` undefined when broken.
        title: The rule in one line.
        family: Prefix of the rules of one page of the spec: ``"DMA"``, ``"ND"``, ``"BT"``,
            ``"FB"``, ``"FIX"``.
    """

    number: int
    kind: str
    title: str
    family: str = "DMA"

    @property
    def name(self) -> str:
        """Identifier of the rule, as in the spec."""
        return rule_name(self.family, self.number)


class Breach(str):
    """A problem of an op, as one sentence with the legal range.

    Attributes:
        what: The problem without the legal range.
        legal: The legal range or set.
    """

    what: str
    legal: str

    def __new__(cls, what: str, legal: str, sentence: str = "") -> Breach:
        """Takes both parts; ``sentence`` is for one that is not ``what: legal``."""
        self = super().__new__(cls, sentence or f"{what}: {legal}")
        self.what, self.legal = what, legal
        return self


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule and its cause.

    Attributes:
        rule: The rule.
        message: The problem, as one sentence.
        what: The same without the legal range, where the sentence has it as a separate part.
        legal: The legal range or set; if unknown, the title of the rule.
    """

    rule: Rule
    message: str
    what: str = ""
    legal: str = ""

    def __post_init__(self) -> None:
        """Takes both parts from the message, unless they are given."""
        stated, sentence = self.message, str(self.message)
        parts = (sentence, self.rule.title)
        if isinstance(stated, Breach):
            parts = (stated.what, stated.legal)
        object.__setattr__(self, "message", sentence)
        object.__setattr__(self, "what", self.what or parts[0])
        object.__setattr__(self, "legal", self.legal or parts[1])

    def renamed(self, name: str, other: str) -> Violation:
        """Returns the same violation for an op of another name."""
        texts = (self.message, self.what, self.legal)
        return Violation(self.rule, *(text.replace(name, other) for text in texts))

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.message}"


def too_wide(name: str, value: int, bits: int) -> str | None:
    """Returns the problem of an operand that does not fit its width, or None."""
    if value >> bits:
        return Breach(f"{name} is {value}", f"{bits} bits hold 0..{(1 << bits) - 1}")
    return None


def not_multiple(name: str, value: int, unit: int) -> str | None:
    """Returns the problem of an address or length that is not a multiple of ``unit``, or None."""
    if value % unit:
        what = f"{name} {value:#x} is not a multiple of {unit}"
        return Breach(what, f"a multiple of {unit}", what)
    return None


def unaligned(name: str, value: int, unit: int) -> Breach:
    """Returns the problem of a number of bytes that is not a multiple of ``unit``."""
    return Breach(
        f"{name} is {value}",
        f"a multiple of {unit}",
        f"{name} is {value}: not a multiple of {unit}",
    )


def below_length(name: str, stride: int, length: int) -> Breach:
    """Returns the problem of a stride that is shorter than its row."""
    what = f"{name} {stride} is below len_burst {length}"
    return Breach(what, f"at least {length}", what)


def reaches(space: str, end: int, size: int) -> Breach:
    """Returns the problem of accesses up to ``end`` in a memory that ends at ``size``."""
    what = f"{space} accesses reach {end:#x}"
    return Breach(what, f"addresses below {size:#x}", f"{what}, the memory ends at {size:#x}")


def wrong_for(what: str, legal: str, found: str) -> Breach:
    """Returns the problem of ``found`` in place of ``legal``; ``what`` ends with the verb."""
    sentence = f"{what} {legal}, not {found}"
    return Breach(sentence, legal, sentence)


def operands_fit(spec: OpSpec, values: dict[str, int]) -> str | None:
    """Returns the first operand of a table, by descriptor field, that does not fit, or None."""
    for operand in spec.operands:
        if operand.bits is not None and operand.field in values:
            message = too_wide(operand.name, values[operand.field], operand.bits)
            if message:
                return message
    return None
