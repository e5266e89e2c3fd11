# SPDX-License-Identifier: Apache-2.0
"""Tests of the facts in a message, independent of its sentence."""

from __future__ import annotations

import re


def pattern(facts: str) -> str:
    """Returns the regular expression of facts in their order, such as for ``match`` of pytest.

    Args:
        facts: Names, numbers, places and key words, with blanks between them. Each is a regular
            expression for whole words: ``64`` is not in ``640``, ``-64`` or ``6.64``, ``take`` not
            in ``taken``.
    """
    return "(?s)" + ".*?".join(_whole(fact) for fact in facts.split())


def _whole(fact: str) -> str:
    if fact[0].isdigit():
        return rf"(?<!\w)(?<!\W-)(?<!\d\.){fact}(?!\w|\.\d)"
    return rf"(?<!\w){fact}(?!\w)"


def says(text: str, facts: str) -> bool:
    """Returns whether a message has the facts of :func:`pattern`; the words between are free."""
    return bool(re.search(pattern(facts), text))


def line_says(text: str, facts: str) -> bool:
    """Returns whether one line of a text has the facts of :func:`pattern`."""
    return any(says(line, facts) for line in text.splitlines())
