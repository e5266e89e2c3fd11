# SPDX-License-Identifier: Apache-2.0
"""The exception family of errors that a user can cause or must resolve.

The command line prints ``str(error)`` and ends with ``error.exit_code``; anything outside this
family is a defect of PTO-DV and keeps its traceback. This module needs the standard library alone:
set-up uses it before anything is installed.
"""

from __future__ import annotations


class PtoError(Exception):
    """Base class of errors: the problem, its place, the legal range, and the remedy.

    Attributes:
        what: One sentence: what is wrong, with the offending value.
        where: The option, file, port or field it was found in, or empty.
        legal: The legal range or set, or empty.
        remedy: Action for the user, or empty.
        exit_code: The exit code the command line ends with.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", legal: str = "", remedy: str = "") -> None:
        """Make the error; everything but ``what`` may be left out."""
        super().__init__(what)
        self.what = what
        self.where = where
        self.legal = legal
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the message, one line for each part that is known."""
        parts = (("where", self.where), ("legal", self.legal), ("do", self.remedy))
        return "\n".join([self.what, *(f"  {label}: {text}" for label, text in parts if text)])


class ToolError(PtoError):
    """A tool, header or kernel feature is missing, too old or unusable."""
