# SPDX-License-Identifier: Apache-2.0
"""The command line of the Makefile: ``pto-dv`` or ``python -m tb``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tb.cli.declare import Exit
from tb.cli.words import read_words
from tb.common.errors import PtoError
from tb.common.made_code import kept_code
from tb.common.paths import ROOT

if TYPE_CHECKING:
    import typer

COMMANDS: dict[str, str] = {
    "run": "run.run",
    "program": "programs.program",
    "verify": "programs.verify",
    "tests": "run.tests",
    "explain": "explain.explain",
    "check-dut": "dut.check_dut",
    "new-dut": "dut.new_dut",
    "doctor": "tools.doctor",
    "bench": "tools.bench",
    "prove-arith": "tools.prove_arith",
    "outside": "tools.outside",
    "testplan": "regress.testplan",
    "coverage-table": "regress.coverage_table",
    "nightly": "regress.nightly",
    "report": "regress.report",
    "history": "regress.history",
    "diff": "regress.diff",
    "rerun": "regress.rerun",
    "farm": "regress.farm_check",
}
"""Commands in the order of ``pto-dv --help``: module of :mod:`tb.cli`, and function.

Only the module of a command is imported, and its function imports its code when it is called, so
that the command line starts fast.
"""


def command(name: str) -> Callable[..., None]:
    """Returns the function of a command."""
    module, _, function = COMMANDS[name].partition(".")
    found: Callable[..., None] = getattr(import_module(f"tb.cli.{module}"), function)
    return found


def __getattr__(name: str) -> typer.Typer:
    """Makes ``app``, all commands for typer, when it is first asked for."""
    if name != "app":
        raise AttributeError(name)
    from tb.cli.typer_app import made

    return made({each: command(each) for each in COMMANDS})


def require_clone() -> None:
    """Checks that the sources are next to the Python packages.

    Raises:
        PtoError: the packages were installed from a wheel, which has only Python files.
    """
    if not (ROOT / "rtl_stubs").is_dir():
        raise PtoError(
            "PTO-DV is installed without its Verilog sources and cannot run",
            where=str(ROOT / "rtl_stubs"),
            legal="a clone of the repository; a wheel of it is not supported",
            remedy="clone the repository, run `make setup` there, and use its .venv/bin/pto-dv",
        )


def main() -> None:
    """Entry point: user errors end with one clear message and their exit code."""
    try:
        require_clone()
        with kept_code():
            _call(sys.argv[1:])
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # What reads the output has ended; nothing can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _call(words: list[str]) -> None:
    """Calls a command; typer does where the words are not right as they are."""
    if words and words[0] in COMMANDS:
        function = command(words[0])
        values = read_words(function, words[1:])
        if values is not None:
            try:
                function(**values)
            except Exit as end:
                sys.exit(end.exit_code)
            except KeyboardInterrupt:
                print("interrupted", file=sys.stderr)
                sys.exit(130)
            return
    app: Any = __getattr__("app")
    app()


if __name__ == "__main__":
    main()
