# SPDX-License-Identifier: Apache-2.0
"""The command line of the Makefile: ``pto-dv`` or ``python -m tb``."""

from __future__ import annotations

import sys

import typer

from tb.cli import dut, explain, programs, regress, run, tools
from tb.common.errors import PtoError
from tb.common.paths import ROOT

app = typer.Typer(
    name="pto-dv",
    help="Co-verification of PTO DMA and FIXPIPE engines against a reference model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# In the order of `pto-dv --help`. Each command imports its code when it is called, so that the
# command line starts fast.
app.command("run")(run.run)
app.command("program")(programs.program)
app.command("verify")(programs.verify)
app.command("tests")(run.tests)
app.command("explain")(explain.explain)
app.command("check-dut")(dut.check_dut)
app.command("new-dut")(dut.new_dut)
app.command("doctor")(tools.doctor)
app.command("bench")(tools.bench)
app.command("prove-arith")(tools.prove_arith)
app.command("outside")(tools.outside)
app.command("testplan")(regress.testplan)
app.command("coverage-table")(regress.coverage_table)
app.command("nightly")(regress.nightly)
app.command("report")(regress.report)
app.command("history")(regress.history)
app.command("diff")(regress.diff)
app.command("rerun")(regress.rerun)
app.command("farm")(regress.farm_check)


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
        app()
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
