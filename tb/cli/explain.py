# SPDX-License-Identifier: Apache-2.0
"""Command ``explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from tb.cli import options as opt
from tb.common.errors import PtoError


def _alone(context: typer.Context, option: str, usage: str) -> None:
    """Checks that an option is there without another one or an op."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    others = ["WHAT" if name == "what" else f"--{name.strip('_')}" for name in given]
    others.remove(f"--{option}")
    if others:
        raise PtoError(
            f"explain --{option} takes no other argument, not {', '.join(others)}",
            where=f"--{option}",
            legal=usage,
            remedy=f"leave out the others, or --{option}",
        )


def explain(
    context: typer.Context,
    what: Annotated[
        str | None, typer.Argument(help="an op as text, a .pto file, or - for the input")
    ] = None,
    line: Annotated[list[int] | None, typer.Option("--line", help="ops in this line")] = None,
    op: Annotated[
        list[int] | None, typer.Option("--op", help="op of this number in the file, from 1")
    ] = None,
    run: Annotated[int, typer.Option("--run", help="which execution of an op in a loop")] = 1,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", help="N=VALUE: argument N of the function")
    ] = None,
    function: Annotated[str, typer.Option("--function", help="the function to walk")] = "",
    value: Annotated[
        list[str] | None, typer.Option("--value", help="NAME=VALUE for a %NAME of an op as text")
    ] = None,
    element: Annotated[
        str, typer.Option("--element", help="element type of an op without types, or SRC,DST")
    ] = "",
    bytes_: Annotated[
        list[str] | None,
        typer.Option("--bytes", help="SPACE:A..B: where these bytes come from, or go"),
    ] = None,
    show: Annotated[
        str, typer.Option("--show", help="sections of the output, separated by commas")
    ] = "rules,bytes,registers,descriptor,profiles",
    rows: Annotated[int, typer.Option("--rows", help="ranges of bytes to list")] = 12,
    ubuf_to_ubuf: opt.UbufToUbuf = "bytes",
    quant_codes: Annotated[
        str,
        typer.Option("--quant-codes", help="quant codes of a raw word Xt: ptoas or spec"),
    ] = "ptoas",
    profile: opt.Profile = "",
    json: Annotated[
        str, typer.Option("--json", help="file for JSON, - for the output", callback=opt.target)
    ] = "",
    picture: Annotated[
        str,
        typer.Option("--picture", help="file for a picture: .svg or .html", callback=opt.target),
    ] = "",
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="print formula, operands, descriptor bits and rules of every op, as Markdown",
        ),
    ] = False,
    rule: Annotated[
        str, typer.Option("--rule", help="print a rule of docs/spec, such as DMA-L05")
    ] = "",
) -> None:
    """Show the bytes, rules, registers and descriptor of an op, or a rule of the specification."""
    if table:
        from tb.explain.command import op_table

        _alone(context, "table", "pto-dv explain --table")
        typer.echo(op_table(), nl=False)
        return
    if rule:
        from tb.explain.card import rule_card

        _alone(context, "rule", "pto-dv explain --rule DMA-L05")
        typer.echo(rule_card(rule), nl=False)
        return
    if what is None:
        raise PtoError(
            "Missing argument WHAT",
            where="pto-dv explain",
            legal="an op as text, a .pto file, or - for the input",
            remedy="pto-dv explain --help has examples",
        )
    from tb.explain.command import Options, explain_command

    options = Options(
        lines=line or (), ops=op or (), run=run, args=arg or (), function=function,
        values=value or (), element=element, bytes=bytes_ or (), show=show, rows=rows,
        ubuf_to_ubuf=ubuf_to_ubuf, quant_codes=quant_codes, profile=profile, json=json,
        picture=picture,
    )  # fmt: skip
    raise typer.Exit(explain_command(what, options))
