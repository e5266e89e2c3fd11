# SPDX-License-Identifier: Apache-2.0
"""The table of bad inputs, bad_inputs.txt, and its evaluation inside this process.

A line has the words of ``pto-dv``, ``=>``, and the facts of the message, separated by ``|``. A list
``{a;b}`` among the words makes a row of each value, which is ``{}`` among the facts. The words are
those of a shell; the current folder is that of :func:`stage`.

``python -m tests.cli.bad_inputs`` prints the table by outcome.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from tb.cli.main import main as command_line
from tb.common.paths import ROOT

TABLE = Path(__file__).with_suffix(".txt")

MOST_SECONDS = 20
"""A command that takes longer waits for a pipe."""

PLACE = re.compile(r"^(?:error: )?[^\s:]+:\d+:\d+: error: ", re.MULTILINE)
"""Place and beginning of a finding in the text of a program."""

PARTS = ("where", "legal", "do")

PROGRAM = (ROOT / "examples/programs/load_tile.pto").read_text()

FILES = {
    "file.txt": "text\n",
    "empty": "",
    "good.pto": PROGRAM,
    "utf.pto": PROGRAM.replace("%", "%\u00e9", 1),
    "broken.pto": "func {",
    "unknown.json": '{"a": 1}\n',
    "broken.toml": "a = [\n",
    "list.toml": "a = 1\n",
    "digits.pto": PROGRAM.replace("constant 32 ", f"constant {'3' * 10_000} "),
    "name.pto": PROGRAM.replace("%rows =", "%r\u00e9 ="),
    "number.toml": '[args]\n"\u0660" = "zeros:4096"\n',
    "value.toml": '[args]\n0 = "\u0663"\n',
    "ctrl.toml": 'ctrl = "\u0663"\n[args]\n0 = "zeros:4096"\n',
    "load.toml": '[args]\n0 = "zeros:4096@\u0663"\n',
    "widths.toml": 'module = "m"\nslot = "mte2"\nsources = []\n[parameters.A]\n"\u0662" = 1\n',
    "plain.py": "x = 1\n",
    "broken.py": "def f(:\n",
    "raises.py": "raise ValueError('no')\n",
    "noclass/dut.toml": "name = 1\n",
    "broken.xml": "<testsuite>",
}
"""Text files of the stage."""


@dataclass(frozen=True)
class Row:
    """Words of the command line, and facts of the message."""

    words: tuple[str, ...]
    facts: tuple[str, ...]

    def __str__(self) -> str:
        """Returns the command line."""
        return shlex.join(self.words)


@dataclass(frozen=True)
class Outcome:
    """How a command ended: exit code, both outputs, and the programs that it started."""

    code: int
    output: str
    error: str
    started: tuple[str, ...]

    @property
    def text(self) -> str:
        """Everything that the command printed."""
        return self.output + self.error

    @property
    def kind(self) -> str:
        """The outcome in words; ``refused`` for an error with place, legal range and remedy."""
        if "Traceback" in self.error or self.code < 0:
            return "traceback"
        if not self.code:
            return "accepted"
        if self.started:
            return f"refused after {Path(self.started[0]).name} was started"
        if PLACE.search(self.error + self.output):
            return "refused, with the place in a program"
        missing = [part for part in PARTS if f"\n  {part}: " not in self.error]
        if not self.error.startswith("error: "):
            return "another text"
        return "refused" + (f", without {' and '.join(missing)}" if missing else "")


def rows() -> list[Row]:
    """Returns the rows of the table."""
    found = []
    for line in TABLE.read_text().replace("$ROOT", str(ROOT)).splitlines():
        if not line or line.startswith("#"):
            continue
        words, _, facts = line.partition(" => ")
        found += list(_expanded(words, facts.split("|")))
    return found


def _expanded(words: str, facts: Sequence[str]) -> Iterator[Row]:
    """Makes a row of each value of the lists of a line, from the left."""
    values = re.search(r"\{([^{}]*;[^{}]*)\}", words)
    if not values:
        yield Row(tuple(shlex.split(words)), tuple(fact.strip() for fact in facts))
        return
    for value in values[1].split(";"):
        wanted = (
            facts
            if ";" in words[values.end() :]
            else [fact.replace("{}", value.strip('"')) for fact in facts]
        )
        yield from _expanded(words.replace(values[0], value, 1), wanted)


@contextlib.contextmanager
def stage(folder: Path) -> Iterator[None]:
    """Fills a folder with bad files, and makes it the current one."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "folder").mkdir()
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    (folder / "recordpipe").mkdir()
    os.mkfifo(folder / "recordpipe" / "record.json")
    with sqlite3.connect(folder / "foreign.db") as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    connection.close()
    with contextlib.chdir(folder):
        yield


def files(folder: Path) -> dict[str, bytes]:
    """Returns the bytes of every regular file of a folder, and the names of all others."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        if path.is_file() and not path.is_symlink()
        else b""
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


def _late(*_: object) -> None:
    raise BaseException(f"no end within {MOST_SECONDS} s")


def outcome(row: Row) -> Outcome:
    """Runs a command inside this process; no program is started."""
    started: list[str] = []

    def refuse(_self: object, args: Any, *_: object, **__: object) -> None:
        started.append(args if isinstance(args, str) else str(args[0]))
        raise KeyboardInterrupt("no program is started here")

    output, error, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(error),
        mock.patch.object(sys, "argv", ["pto-dv", *row.words]),
        mock.patch.object(sys, "stdin", io.StringIO()),
        mock.patch.object(subprocess.Popen, "__init__", refuse),
    ):
        try:
            signal.signal(signal.SIGALRM, _late)
            signal.alarm(MOST_SECONDS)
            command_line()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as broken:  # Any other one is a defect.
            code = -1
            error.write(f"Traceback: {type(broken).__name__}: {broken}")
        finally:
            signal.alarm(0)
    return Outcome(code, output.getvalue(), error.getvalue(), tuple(started))


def main() -> None:
    """Prints the table by outcome, and its totals."""
    with tempfile.TemporaryDirectory() as name, stage(Path(name)):
        before = files(Path(name))
        found: list[tuple[str, Row, str]] = []
        for row in rows():
            one = outcome(row)
            kind = one.kind
            if "refused" in kind and not all(fact in one.text for fact in row.facts):
                kind = "refused with other facts"
            after = files(Path(name))
            if after != before:
                kind, before = "files changed", after
            found.append((kind, row, one.error))
    totals = Counter(kind for kind, _, _ in found)
    verbose = "-v" in sys.argv
    for kind, count in totals.most_common():
        print(f"{kind}: {count}")
        for other, row, text in found:
            if other == kind and (verbose or kind != "refused"):
                print(f"  pto-dv {row}")
            if other == kind and kind != "refused":
                print("    " + text.replace("\n", "\n    ").rstrip())
    print(f"{len(found)} bad inputs")


if __name__ == "__main__":
    main()
