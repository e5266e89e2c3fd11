# SPDX-License-Identifier: Apache-2.0
"""Outputs and pictures of ``docs/explain.md``: ``python -m tb.explain.document`` renews them."""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

from tb.explain.command import Options, explain_command

PAGE = Path("docs/explain.md")
"""Path of the page, from the top of the project."""

_BLOCK = re.compile(r"^```\n\$ pto-dv explain (.*)\n(?:.*\n)*?```$", re.MULTILINE)
_MANY = {"--bytes": "bytes", "--value": "values", "--arg": "args", "--line": "lines"}
_NUMBERS = ("--rows", "--run", "--line")


def options_of(words: list[str]) -> tuple[str, Options]:
    """Returns the argument and the options of a command of the page.

    Raises:
        KeyError: an option is none of those that the page uses.
    """
    what, *rest = words
    known = {"element", "show", "rows", "run", "profile", "picture", "json", "function"}
    found: dict[str, object] = {}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        value = int(text) if name in _NUMBERS else text
        if name in _MANY:
            before = found.get(_MANY[name], ())
            assert isinstance(before, tuple)
            found[_MANY[name]] = (*before, value)
        elif name[2:] in known:
            found[name[2:]] = value
        else:
            raise KeyError(name)
    return what, Options(**found)  # type: ignore[arg-type]


def renewed(text: str) -> str:
    """Returns a page with the outputs of its commands; their pictures are written."""

    def block(match: re.Match[str]) -> str:
        what, options = options_of(shlex.split(match.group(1)))
        output = io.StringIO()
        with redirect_stdout(output):
            explain_command(what, options)
        return f"```\n$ pto-dv explain {match.group(1)}\n{output.getvalue()}```"

    return _BLOCK.sub(block, text)


def main() -> int:
    """Renews the page."""
    PAGE.write_text(renewed(PAGE.read_text()))
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
