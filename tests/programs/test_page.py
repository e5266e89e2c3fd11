# SPDX-License-Identifier: Apache-2.0
"""docs/programs.md has every op, part, key and option, and its programs are legal."""

from __future__ import annotations

import re
from fnmatch import fnmatch

import pytest
from pydantic import BaseModel
from typer.main import get_command

from tb.cli.main import app
from tb.common.paths import ROOT
from tb.isa.grammar import KNOWN_ROWS, ROWS
from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES
from tb.language.reader import read
from tb.programs.data import MAKERS
from tb.programs.setup import TABLES, Setup

PAGE = ROOT / "docs/programs.md"
TEXT = PAGE.read_text()
BLOCKS = re.findall(r"^```\n(pto\..*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PROGRAMS = [
    text
    for text in re.findall(r"^```mlir\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    if "func.func" in text
]


def test_the_page_has_the_syntax_of_every_op() -> None:
    shown = set(re.findall(r"^pto\.(\w+)(?: %|$)", "".join(BLOCKS), re.MULTILINE))
    assert shown == set(ROWS) == {*PIPES, *TEXT_FORMS}
    assert all(f"`{name}`" in TEXT for name in KNOWN_ROWS if not _grouped(name))


def _grouped(name: str) -> bool:
    """Returns whether the page names an op by a pattern of many."""
    patterns = ("copy_matrix_cc_to_*", "load_cbuf_to_*", "set_loop*_outtol1")
    assert all(f"`{pattern}`" in TEXT for pattern in patterns)
    return any(fnmatch(name, pattern) for pattern in patterns)


def test_operands_are_called_as_in_the_table_of_ops() -> None:
    for name, form in ROWS.items():
        written = re.compile(rf"^pto\.{name}(?: |$)", re.MULTILINE)
        syntax = next(text[x.start() :] for text in BLOCKS if (x := written.search(text)))
        for operand in (part.name for part in form.head if not part.word):
            assert f"%{operand}" in syntax, f"{name}: {operand}"


def test_every_op_is_in_the_row_of_its_pipe() -> None:
    rows = dict(re.findall(r"^\| `(PIPE_\w+)`[^|]* \| (.*) \|$", TEXT, re.MULTILINE))
    for name, pipe in PIPES.items():
        row = rows[pipe.value]
        assert f"`{name}`" in row or ("`set_*`" in row and name.startswith("set_")), name


def test_the_parts_of_the_generic_form_are_those_of_the_reader() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+, .*?) \| (.*?) \|$", TEXT, re.MULTILINE)
    shown = {
        name: (parts.split(", "), re.findall(r"`(\w+)`", words)) for name, parts, words in rows
    }
    expected = {
        name: (
            [f"*{group.name}*" if group.least == 0 else group.name for group in form.groups],
            list(form.words),
        )
        for name, form in ROWS.items()
        if form.open or form.words
    }
    assert shown == expected


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_of_the_page_have_no_finding(text: str) -> None:
    assert read(text, "page").functions()


def test_the_page_has_every_key_of_a_setup_file() -> None:
    page = TEXT[TEXT.index("## Setup files") : TEXT.index("## Verify")]
    named = set(re.findall(r"`(?:\[\[)?(\w+)(?:\]\])?`", page))
    models: tuple[type[BaseModel], ...] = (Setup, *TABLES.values())
    keys = {key for model in models for key in model.model_fields}
    assert not keys - named


def options(command: str) -> set[str]:
    """Returns the long options of a command."""
    parameters = get_command(app).commands[command].params  # type: ignore[attr-defined]
    return {name for one in parameters for name in one.opts if name.startswith("--")}


def test_the_page_has_every_option() -> None:
    shared = options("run") | {"--help"}
    assert {name for name in options("program") - shared if f"`{name}" not in TEXT} == set()
    verify = TEXT[TEXT.index("## Verify") :]
    assert {name for name in options("verify") - {"--help"} if name not in verify} == set()


def test_the_page_has_every_maker_of_data() -> None:
    assert all(f"`{maker}:" in TEXT for maker in MAKERS)
