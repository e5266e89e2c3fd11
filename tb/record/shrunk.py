# SPDX-License-Identifier: Apache-2.0
"""Result of making a failure small: ``pto-dv shrink``."""

from __future__ import annotations

from dataclasses import dataclass

from tb.common.text import counted


@dataclass(frozen=True)
class Shrunk:
    """A failing program that was made small, or the reason why there is none.

    Attributes:
        program: Path of the small program, empty if there is none.
        text: Its text.
        ops_before, ops: Ops of the failing program, and of the small one.
        command: Repeats it.
        differs: Lines: the first events at ports that differ from those of the reference engines.
        error: Why there is none.
    """

    program: str = ""
    text: str = ""
    ops_before: int = 0
    ops: int = 0
    command: str = ""
    differs: str = ""
    error: str = ""

    @property
    def size(self) -> str:
        """How much smaller it is, such as ``12 ops -> 1 op``."""
        return f"{counted(self.ops_before, 'op')} -> {counted(self.ops, 'op')}"
