# SPDX-License-Identifier: Apache-2.0
"""Outputs and pictures on the pages are those of their commands, as far as these are cheap.

In an output a line ``...`` stands for any lines. Seconds are not compared.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tb.cli.main import app
from tb.common.paths import ROOT
from tb.dut.manifest import load_manifest
from tb.dut.selection import exclusions
from tb.record.settings import RunSettings
from tests.house.test_docs import PAGES, fences

CHEAP = ("explain", "verify", "new-dut", "check-dut", "outside")
"""Commands that are run."""

pytestmark = pytest.mark.long


def shown(page: Path) -> list[tuple[str, str]]:
    """Returns each cheap command of a page, without ``pto-dv``, and the output below it."""
    found = []
    for part in re.split(r"^\$ ", "\n$ end\n".join(fences(page)), flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        words = re.fullmatch(r"(?:\.venv/bin/)?pto-dv (.*)", line)
        if words and words[1].split()[0] in CHEAP and output.strip():
            found.append((words[1], output.strip("\n")))
    return found


def agrees(documented: str, printed: str) -> bool:
    """Returns whether an output is the documented one, which may leave out lines."""
    lines = [line if line == "..." else timeless(line) for line in documented.splitlines()]
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(f"{line}\n") for line in lines)
    return re.fullmatch(pattern, timeless(printed)) is not None


def timeless(text: str) -> str:
    """Returns a text without its seconds."""
    return re.sub(r"\b\d+\.\d s\b", "# s", text)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if shown(page)], ids=lambda page: page.stem
)
def test_what_is_documented_is_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pictures = tmp_path / "docs/explain"
    pictures.mkdir(parents=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, output in shown(page):
        printed = CliRunner().invoke(app, shlex.split(command)).output
        assert agrees(output, printed), f"{page.name}: pto-dv {command}\nprints\n{printed}"
    for picture in pictures.iterdir():
        stored = ROOT / "docs/explain" / picture.name
        assert picture.read_text() == stored.read_text(), f"draw docs/explain/{picture.name} again"
        assert f"](explain/{picture.name})" in page.read_text()
    if page.stem == "explain":
        assert {file.name for file in (ROOT / "docs/explain").iterdir()} == {
            file.name for file in pictures.iterdir()
        }


EXPLAINED = re.findall(
    r"^\| `(\".*?)` \|", (ROOT / "docs/explain.md").read_text(), flags=re.MULTILINE
)
"""Arguments of ``explain`` in the table of docs/explain.md."""


def test_the_ops_of_the_table_are_explained() -> None:
    assert len(EXPLAINED) > 8
    for words in EXPLAINED:
        done = CliRunner().invoke(app, ["explain", *shlex.split(words)])
        assert (done.exit_code, "  verdict: " in done.output) == (0, True), (words, done.output)


@pytest.mark.parametrize("example", ["axi_copy", "reg_dma", "stream_dma"])
def test_the_exclusions_of_an_example_are_those_of_its_manifest(example: str) -> None:
    """Its other figures need a simulator."""
    folder = ROOT / "examples" / example
    (sentence,) = exclusions([load_manifest(folder)], RunSettings().outstanding)
    assert f"  left out          {sentence}\n" in (folder / "README.md").read_text()


def test_a_wrong_output_is_found() -> None:
    printed = "verdict\nrules\nbytes\n0.2 s\n"
    assert agrees("...\nrules\nbytes\n...", printed)
    assert agrees("verdict\n...\nbytes\n7.1 s", printed)
    assert not agrees("verdict\nbytes\n...", printed), "a line is left out"
    assert not agrees("...\nrules", printed), "the end is left out"
    assert not agrees("...\nbytes\n...\nrules\n...", printed)
