# SPDX-License-Identifier: Apache-2.0
"""Reasons for which programs are refused, in words that many of them have in common."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tb.common.errors import PtoError
from tb.language.place import Finding, ProgramError

MOST_WORDS = 90
"""Characters of a reason; the rest of a longer sentence is left out."""

SHOWN = 20
"""Reasons that a summary lists."""

_NAMES_MATTER = ("op ", "key ", "pto.")
"""Text before a quoted name by which reasons differ."""

_VALUES = re.compile(
    r"""(?P<place>\S+:\d+:\d+)|(?P<quoted>(?<!\w)'(?:[^']|'(?=\w))*'(?!\w))|(?P<value>%[\w$.#-]+)"""
    r"""|(?P<number>(?<![\w.-])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)(?:\.\.-?\w+)?(?!\w))"""
)


def reason_of(finding: Finding) -> str:
    """Returns the reason of a finding: its rule, or its message without names and numbers.

    The name of the op is part of the reason where the op itself is refused.
    """
    words = _general(finding.message)
    if finding.rule:
        return f"{finding.rule}: hazard" if words.startswith("hazard") else finding.rule
    if finding.op and re.search(r"\b(this op|foreign|unknown op|not executed)\b", finding.message):
        return f"{finding.op}: {words}"
    return words


def reason(error: PtoError) -> str:
    """Returns the reason of an error."""
    if isinstance(error, ProgramError) and error.findings:
        return reason_of(error.findings[0])
    return _general(error.what)


def _general(message: str) -> str:
    """Returns the beginning of a sentence, up to a colon or semicolon, without its values."""

    def placeholder(found: re.Match[str]) -> str:
        if found["quoted"] and found.string[: found.start()].endswith(_NAMES_MATTER):
            return found[0]
        return "N" if found["number"] else "..."

    words = " ".join(_VALUES.sub(placeholder, message).split())
    words = re.split(r"(?<=[\w.'])[:;](?= |$)", words, maxsplit=1)[0]
    return textwrap.shorten(words, MOST_WORDS, placeholder="...")


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason, how many programs it refuses, and the first of them."""

    text: str
    count: int
    first: str


def grouped(found: Iterable[tuple[str, str]]) -> list[Reason]:
    """Returns the reasons of pairs of reason and place, the most frequent first."""
    counts: dict[str, list[str]] = {}
    for text, place in found:
        counts.setdefault(text, []).append(place)
    made = [Reason(text, len(places), places[0]) for text, places in counts.items()]
    return sorted(made, key=lambda one: (-one.count, one.text))


def table(reasons: Iterable[Reason]) -> list[str]:
    """Returns the lines of a summary."""
    found = list(reasons)
    lines = [f"{one.count:>6}  {one.text}, such as {one.first}" for one in found[:SHOWN]]
    if len(found) > SHOWN:
        rest = found[SHOWN:]
        lines.append(f"{sum(one.count for one in rest):>6}  for {len(rest)} other reasons")
    return lines


def entries(reasons: Iterable[Reason]) -> list[Mapping[str, object]]:
    """Returns reasons for JSON."""
    return [{"reason": one.text, "programs": one.count, "first": one.first} for one in reasons]
