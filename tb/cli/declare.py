# SPDX-License-Identifier: Apache-2.0
"""Declarations of arguments and options, by the names that typer gives them.

Modules of commands import this one as ``typer``. Typer itself takes longer to start than most
commands to run: it is imported for help and for words that are wrong (:mod:`tb.cli.words`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a command.

    Attributes:
        names: Names of an option; empty for that of the parameter.
        help: Its line of the help.
    """

    names: tuple[str, ...]
    help: str
    is_option: bool


def Option(*names: str, help: str) -> Parameter:  # noqa: A002, N802 - typer's names
    """Declares an option."""
    return Parameter(names, help, is_option=True)


def Argument(*, help: str) -> Parameter:  # noqa: A002, N802 - typer's names
    """Declares a positional argument."""
    return Parameter((), help, is_option=False)


class Exit(Exception):  # noqa: N818 - typer's name
    """Ends a command with an exit code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.exit_code = code


def echo(text: str = "", *, nl: bool = True) -> None:
    """Prints text."""
    sys.stdout.write(text + "\n" * nl)
    sys.stdout.flush()
