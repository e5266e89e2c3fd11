# SPDX-License-Identifier: Apache-2.0
"""Errors in the text of one op."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in the text of one op.

    Attributes:
        message: A sentence.
        rule: Rule of the specification, or empty.
        at: Offset in the file of the part that is wrong, or -1 for the op itself.
        legal: The legal range, or empty.
    """

    message: str
    rule: str = ""
    at: int = -1
    legal: str = ""


class OpError(Exception):
    """An op that cannot be used; its text was read to its end."""

    def __init__(self, *faults: Fault) -> None:
        """Takes all that is wrong with it."""
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults
