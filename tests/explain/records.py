# SPDX-License-Identifier: Apache-2.0
"""What the command says of ops as text, of a program file, or of the text of a program."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tb.explain.command import Options, explain_command


def output(what: str, **options: Any) -> str:
    """Returns what the command prints."""
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as printed:
        if what.startswith("module"):
            path = Path(folder) / "x.pto"
            path.write_text(what)
            what = str(path)
        assert explain_command(what, Options(**options)) == 0
    return printed.getvalue()


def records(what: str, **options: Any) -> list[dict[str, Any]]:
    """Returns the JSON of every op."""
    found: list[dict[str, Any]] = json.loads(output(what, json="-", **options))["ops"]
    return found


def record(what: str, **options: Any) -> dict[str, Any]:
    """Returns the JSON of the one op."""
    (found,) = records(what, **options)
    return found
