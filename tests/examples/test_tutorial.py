# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md is executed step by step: its blocks are inserted, its commands are run.

Commands on Verilator are omitted: they run the example, which has its own tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tb.common.paths import BUILD_ROOT, ROOT

TUTORIAL = ROOT / "docs/tutorial.md"
EXAMPLE = ROOT / "examples/axi_copy"
FOLDER = BUILD_ROOT / "examples" / "tutorial"
WRAPPER = FOLDER / "my_copy/my_copy.sv"
MANIFEST = FOLDER / "my_copy/dut.toml"

BLOCK = re.compile(r"^```(console|systemverilog|toml)\n(.*?)^```$", re.M | re.S)
COPIED = re.compile(r"^copy the sections (.*) of .*$", re.M)
SECTION = re.compile(r"^  // --- (\w+) ---$", re.M)


@dataclass(frozen=True)
class Command:
    """A command of the tutorial and its output, ``...`` for omitted lines."""

    line: str
    printed: tuple[str, ...]


def blocks() -> list[tuple[str, str]]:
    """Returns the language and the text of each block, and of sections that are to be copied."""
    example = sections((EXAMPLE / "axi_copy_mte2.sv").read_text())

    def copied(found: re.Match[str]) -> str:
        names = re.findall(r"`(\w+)`", found[1])
        texts = (f"  // --- {name} ---\n  {example[name]}\n" for name in names)
        return "".join(f"```systemverilog\n{text}```\n" for text in texts)

    return BLOCK.findall(COPIED.sub(copied, TUTORIAL.read_text()))


def commands(text: str) -> Iterator[Command]:
    """Yields the commands of one console block."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        line, *printed = part.splitlines()
        yield Command(line, tuple(printed))


def call(line: str) -> list[str]:
    """Returns the words of a command as the test runs it."""
    name, *words = line.split()
    tb = [sys.executable, "-m", "tb"]
    if name == "pto-dv":
        return [*tb, *words]
    if name == "make":
        pairs = [word.partition("=") for word in words]
        return [
            *tb,
            "run",
            *(
                part
                for key, _, value in pairs
                for part in (f"--{key.lower().replace('_', '-')}", value)
            ),
        ]
    assert name == "cp"
    return [name, *words]


def plain(line: str) -> str:
    """Returns a line without the parts that depend on the random traffic."""
    line = re.sub(r"0x[0-9a-f]+|\d[\d.]*", "#", line)
    return re.sub(r"expected # (LOCAL|RD_SLVERR|RD_DECERR)\b.*", "expected an error", line).strip()


def assert_printed(command: Command, output: str) -> None:
    """Asserts that the lines of the tutorial are among those printed, in order."""
    printed = iter([plain(line) for line in output.splitlines()])
    for line in command.printed:
        if line != "...":
            assert plain(line) in printed, f"$ {command.line}\nprints no more {line!r}:\n{output}"


def put_section(text: str) -> None:
    """Inserts a section into the wrapper: in place of the one of its name, or after all others."""
    source = WRAPPER.read_text()
    if "`include" not in source:
        head = source[: source.index("\n);\n") + 4]
        source = head.replace("\nmodule ", '\n`include "pto_desc.vh"\n\nmodule ', 1)
        source += "endmodule\n"
    found = SECTION.search(text)
    assert found
    name = found[1]
    old = re.search(
        rf"^  // --- {name} ---\n.*?(?=^  // --- |^endmodule)", source, flags=re.M | re.S
    )
    start, end = old.span() if old else (source.index("endmodule"),) * 2
    WRAPPER.write_text(source[:start] + text + "\n" + source[end:])


def put_manifest(text: str) -> None:
    """Writes the manifest, or replaces the lines with the keys of ``text``."""
    if "module =" in text:
        MANIFEST.write_text(text)
        return
    manifest = MANIFEST.read_text()
    for line in text.splitlines():
        manifest, count = re.subn(rf"^{line.split()[0]} = .*$", line, manifest, flags=re.M)
        assert count == 1, line
    MANIFEST.write_text(manifest)


def sections(text: str) -> dict[str, str]:
    """Returns the sections of a wrapper by name."""
    _, *parts = SECTION.split(text[: text.index("\nendmodule")])
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


@pytest.mark.sim
def test_the_tutorial_works() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name in ("examples", "rtl_stubs"):
        (FOLDER / name).symlink_to(ROOT / name)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for language, text in blocks():
        if language == "toml":
            put_manifest(text)
        elif language == "systemverilog":
            if SECTION.match(text):
                put_section(text)
        else:
            for command in commands(text):
                if "SIM=verilator" in command.line:
                    continue
                done = subprocess.run(
                    call(command.line), cwd=FOLDER, env=env, capture_output=True, text=True
                )
                assert_printed(command, done.stdout + done.stderr)
    # The final wrapper is the example.
    example = (EXAMPLE / "axi_copy_mte2.sv").read_text()
    assert sections(WRAPPER.read_text()) == sections(example)


def test_fragments_are_the_text_of_files() -> None:
    files = [path.read_text() for path in sorted(EXAMPLE.rglob("*.sv"))]
    fragments = [
        text for language, text in blocks() if language == "systemverilog"
        if not SECTION.match(text)
    ]  # fmt: skip
    assert len(fragments) >= 2
    for text in fragments:
        assert any(text.rstrip() in file for file in files), text


def test_a_wrong_line_of_the_tutorial_is_found() -> None:
    command = Command("make", ("...", "MISMATCH: wrong data, UB0 0x00000, 3 wrong bytes in 4"))
    assert_printed(command, "run\nMISMATCH: wrong data, UB0 0x00010, 7 wrong bytes in 8\nFAIL")
    with pytest.raises(AssertionError, match="prints no more"):
        assert_printed(command, "run\nMISMATCH: a hole, UB0 0x00010, 7 wrong bytes in 8\nFAIL")
