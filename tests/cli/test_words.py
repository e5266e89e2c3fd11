# SPDX-License-Identifier: Apache-2.0
"""Words of the command line: read here as typer reads them, or left to typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from tb.cli import declare
from tb.cli.declare import Argument, Option
from tb.cli.main import COMMANDS, app, command
from tb.cli.typer_app import made
from tb.cli.words import parameters, read_words

CALLS: list[dict[str, Any]] = []


def sample(
    files: Annotated[list[str] | None, Argument(help="files")] = None,
    arg: Annotated[list[str] | None, Option("--arg", help="several")] = None,
    json: Annotated[Path | None, Option("--json", help="a path")] = None,
    some_limit: Annotated[float, Option(help="a number")] = 1.5,
    count: Annotated[int, Option("--count", "-c", help="a number")] = 3,
    waves: Annotated[bool, Option("--waves", help="a switch")] = False,
    seed: Annotated[str, Option("--seed", help="text")] = "",
) -> None:
    """A command."""
    CALLS.append(dict(locals()))
    raise declare.Exit(count)


def places(
    first: Annotated[str, Argument(help="one")],
    second: Annotated[Path, Argument(help="two")],
    last: Annotated[str, Argument(help="three")] = "x",
) -> None:
    """A command with places."""
    CALLS.append(dict(locals()))


def by_typer(function: Any, words: list[str]) -> dict[str, Any] | None:
    """Returns what typer calls a command with, None when it does not."""
    CALLS.clear()
    CliRunner().invoke(made({"it": function, "other": places}), ["it", *words])
    return CALLS[0] if CALLS else None


@pytest.mark.parametrize(
    "words",
    [
        "",
        "a b c",
        "a --arg 1=2 b --arg=3=4 --json out/x.json",
        "--some-limit 2 --count 7 --waves --seed -5 -",
        "-c 4 a",
        "--seed= --seed=again --arg --waves",
        "--json=x --some-limit=1e3",
    ],
)
def test_right_words_are_read_as_typer_reads_them(words: str) -> None:
    read = read_words(sample, words.split())
    assert read is not None
    typers = by_typer(sample, words.split())
    assert typers is not None
    assert {name: value or None for name, value in read.items()} == {
        name: value or None for name, value in typers.items()
    }


@pytest.mark.parametrize("words", ["a", "", "a b c d", "a b", "a b c"])
def test_places(words: str) -> None:
    assert read_words(places, words.split()) == by_typer(places, words.split())


@pytest.mark.parametrize(
    "words",
    ["--help", "--no", "-x", "--count", "--count x", "--count=1.5", "--some-limit a", "--waves=1",
     "-c4", "-- --seed", "--coun 4"],
)  # fmt: skip
def test_other_words_are_left_to_typer(words: str) -> None:
    assert read_words(sample, words.split()) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_read_without_typer(name: str) -> None:
    found = parameters(command(name))
    assert found is not None
    options = {one.name: one.names for one in found if one.declared.is_option}
    typers = next(one for one in app.registered_commands if one.name == name)
    assert typers.callback is not None
    shown = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    for one in shown.params:
        if one.param_type_name == "option" and one.name != "help":
            assert set(one.opts) == {*options.pop(one.name)}
    assert not options


def test_typers_own_declarations_are_left_to_typer() -> None:
    def theirs(name: Annotated[str, typer.Option("--name")] = "") -> None:
        """A command."""

    assert parameters(theirs) is None


def test_the_exit_code_of_a_command_under_typer() -> None:
    done = CliRunner().invoke(made({"it": sample, "other": places}), ["it", "--count=4"])
    assert done.exit_code == 4
