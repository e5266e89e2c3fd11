# SPDX-License-Identifier: Apache-2.0
"""The commands as an application of typer: for help, and messages about words that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Annotated, Any, get_args, get_type_hints

import typer

from tb.cli.declare import Exit, Parameter


def made(commands: Mapping[str, Callable[..., None]]) -> typer.Typer:
    """Returns the application of commands by their names."""
    app = typer.Typer(
        name="pto-dv",
        help="Co-verification of PTO DMA and FIXPIPE engines against a reference model.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name, function in commands.items():
        app.command(name)(_for_typer(function))
    return app


def _for_typer(function: Callable[..., None]) -> Callable[..., None]:
    """Returns a command with typer's own declarations and exit."""

    @wraps(function)
    def call(**values: Any) -> None:
        try:
            function(**values)
        except Exit as end:
            raise typer.Exit(end.exit_code) from None

    hints = get_type_hints(function, include_extras=True)
    hints = {name: _annotation(hint) for name, hint in hints.items()}
    given = signature(function)
    parameters = [one.replace(annotation=hints[one.name]) for one in given.parameters.values()]
    call.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = hints
    return call


def _annotation(hint: Any) -> Any:
    """Returns an annotation with the declaration of typer in place of ours."""
    for one in getattr(hint, "__metadata__", ()):
        if isinstance(one, Parameter):
            kind = get_args(hint)[0]
            if one.is_option:
                return Annotated[kind, typer.Option(*one.names, help=one.help)]
            return Annotated[kind, typer.Argument(help=one.help)]
    return hint
