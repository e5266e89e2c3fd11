# SPDX-License-Identifier: Apache-2.0
"""Facts of a message, tested without its sentence."""

from __future__ import annotations

import re


def says(text: str, facts: str) -> bool:
    """Tells whether a message holds its facts in their order; the words between them are free.

    Args:
        text: The message.
        facts: Names, numbers, places and key words, with blanks between them. Each is a regular
            expression for whole words: ``64`` is not in ``640``, ``take`` not in ``taken``.
    """
    return bool(
        re.search(".*?".join(rf"(?<!\w){fact}(?!\w)" for fact in facts.split()), text, re.S)
    )
