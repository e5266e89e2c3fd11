# SPDX-License-Identifier: Apache-2.0
"""From the sentence of a broken rule to what is wrong and what would be legal."""

from __future__ import annotations

import re

from tb.isa.rule import Rule, Violation

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), legal)
    for pattern, legal in (
        (r"^(?P<what>.*), (?:the memory|fb) ends at (?P<end>\w+)$", "addresses below {end}"),
        (r"^(?P<what>(?P<name>.*) \d+) is below len_burst (?P<least>\d+)$", "at least {least}"),
        (r"^(?P<what>a padded row needs (?P<need>\d+) B, .*)$", "dst_stride at least {need}"),
        (r"^(?P<what>.*?)(?: is|:) not? a? ?multiple of (?P<unit>.*)$", "a multiple of {unit}"),
        (r"^(?P<what>.*): no multiple of (?P<unit>.*)$", "a multiple of {unit}"),
        (r"^(?P<what>.* (?:writes|updates|takes) (?P<set>.*), not .*)$", "{set}"),
        (r"^(?P<what>.*): (?P<legal>[^:]*)$", "{legal}"),
    )
)

_WHOLE = re.compile(r"^(?P<name>.*) is below |^(?P<multiple>.*) is not a multiple of ")


def explain(violation: Violation) -> tuple[str, str]:
    """Returns what is wrong, as a sentence, and the legal range or set."""
    return explain_rule(violation.rule, violation.message)


def explain_rule(rule: Rule, message: str) -> tuple[str, str]:
    """Returns the same for a message of ``rule``; where it holds no range, its title."""
    if rule.kind == "T":
        return message, rule.title
    for pattern, legal in _PATTERNS:
        found = pattern.match(message)
        if found:
            what = message if _WHOLE.match(message) else found["what"]
            return what, legal.format(**found.groupdict())
    return message, rule.title
