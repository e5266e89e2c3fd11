# SPDX-License-Identifier: Apache-2.0
"""What a numbered rule and its violation are; the predicates stand in the ``*_rules`` modules."""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.fields import OpSpec, rule_name


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule.

    Attributes:
        number: n of <family>-Ln; what ``done_rule_o`` carries for a D rule.
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


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule and what broke it."""

    rule: Rule
    message: str

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.message}"


def too_wide(name: str, value: int, bits: int) -> str | None:
    """Returns what is wrong with an operand that does not fit its width, or None."""
    if value >> bits:
        return f"{name} is {value}: {bits} bits hold 0..{(1 << bits) - 1}"
    return None


def not_multiple(name: str, value: int, unit: int) -> str | None:
    """Returns what is wrong with an address or length that is no multiple of ``unit``, or None."""
    if value % unit:
        return f"{name} {value:#x} is not a multiple of {unit}"
    return None


def operands_fit(spec: OpSpec, values: dict[str, int]) -> str | None:
    """Returns the first operand of a table, by descriptor field, that does not fit, or None."""
    for operand in spec.operands:
        if operand.bits is not None and operand.field in values:
            message = too_wide(operand.name, values[operand.field], operand.bits)
            if message:
                return message
    return None
