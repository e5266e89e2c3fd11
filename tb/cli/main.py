# SPDX-License-Identifier: Apache-2.0
"""The command line of the Makefile: ``pto-dv`` or ``python -m tb``."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tb.cli import dut, explain, programs, regress, run, tools
from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.schema import breach

COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "program": programs.program,
    "shrink": programs.shrink,
    "verify": programs.verify,
    "tests": run.tests,
    "explain": explain.explain,
    "check-dut": dut.check_dut,
    "prove": dut.prove,
    "qualify": dut.qualify,
    "new-dut": dut.new_dut,
    "doctor": tools.doctor,
    "bench": tools.bench,
    "prove-arith": tools.prove_arith,
    "outside": tools.outside,
    "testplan": regress.testplan,
    "coverage-table": regress.coverage_table,
    "nightly": regress.nightly,
    "report": regress.report,
    "course": regress.course,
    "history": regress.history,
    "diff": regress.diff,
    "prune": regress.prune,
    "rerun": regress.rerun,
    "farm": regress.farm_check,
}
"""Commands in the order of ``pto-dv --help``.

Each function imports its code when it is called, so that the command line starts fast.
"""

app = typer.Typer(
    name="pto-dv",
    help="Co-verification of PTO DMA and FIXPIPE engines against a reference model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _name, _function in COMMANDS.items():
    app.command(_name)(_function)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pto-dv {version('pto-dv')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="print the version"),
    ] = False,
) -> None:
    pass


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


@contextmanager
def output_errors() -> Iterator[None]:
    """Converts an error of standard output to one of the user, and ends quietly at a closed pipe.

    Raises:
        PtoError: the output cannot be written.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        lost = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        if error.filename is not None or error.errno not in lost:
            raise
        # What is left in the buffer would fail again at the end of Python.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            sys.exit(1)
        raise PtoError(
            f"cannot write the output: {error.strerror}",
            where="standard output",
            remedy="free disk space, or write to another place",
        ) from None


def of_typer(error: typer.TyperException) -> PtoError:
    """Returns an error of the library of the command line with its place and what is legal."""
    text = error.format_message().rstrip(".")
    context: Any = getattr(error, "ctx", None)
    inside = context is not None and context.parent is not None
    command = f"pto-dv {context.info_name}" if inside else "pto-dv"
    names = [max(param.opts, key=len) for param in context.command.params] if inside else COMMANDS
    option = re.search(r"'(--?[\w-]+|[a-z_]+)'", text)
    legal = ", ".join(names) or "no argument and no option"
    if broken := getattr(error.__cause__, "errors", None):  # of pydantic
        text, legal = breach({**broken()[0], "loc": ("",)}, option[1] if option else text, None)
    return PtoError(
        text,
        where=f"{command} {option[1]}" if option and inside else command,
        legal=legal,
        remedy=f"{command} --help describes them",
    )


def main() -> None:
    """Entry point: user errors end with one clear message and their exit code."""
    try:
        with output_errors():
            require_clone()
            try:  # Without arguments the library prints the help.
                code = app(standalone_mode=len(sys.argv) == 1)
            except typer.TyperException as error:
                raise of_typer(error) from None
        sys.exit(code or 0)
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
