# SPDX-License-Identifier: Apache-2.0
"""Compiled code of the methods that ``dataclasses`` makes, kept like the bytecode of modules.

``dataclasses`` writes the text of each method and executes it when a module is imported. Half of
the start of a command that reads programs is the compilation of such texts, of xdsl's classes for
the most part. The code of a text is always the same, so it is kept in a file below ``__pycache__``.
"""

from __future__ import annotations

import atexit
import builtins
import dataclasses
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType
from typing import Any

FOLDER = Path(importlib.util.cache_from_source(__file__)).parent
"""Folder of bytecode, as the interpreter chooses it."""

MOST_TEXTS = 1 << 13
"""Texts that the file keeps; beyond, it begins anew with those of one process."""


def code_file() -> Path:
    """Returns the file for this interpreter."""
    return FOLDER / f"made_code.{sys.implementation.cache_tag}.bin"


class _Codes:
    """Code by its text, read when the first text is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, CodeType] | None = None
        self._new: dict[str, CodeType] = {}

    def execute(self, text: Any, *names: Any) -> None:
        """Executes a text as the function ``exec`` does."""
        builtins.exec(self._code(text) if type(text) is str else text, *names)

    def _code(self, text: str) -> CodeType:
        if self._kept is None:
            self._kept = _read(self._path)
        code = self._kept.get(text) or self._new.get(text)
        if code is None:
            code = self._new[text] = compile(text, "<string>", "exec", dont_inherit=True)
        return code

    def save(self) -> None:
        """Adds what is new to the file; one that cannot be written is left out, as bytecode is."""
        if not self._new or sys.dont_write_bytecode:
            return
        kept = self._kept or {}
        codes = {**kept, **self._new} if len(kept) < MOST_TEXTS else self._new
        part = self._path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(marshal.dumps((importlib.util.MAGIC_NUMBER, codes)))
            part.replace(self._path)
        with suppress(OSError):
            part.unlink(missing_ok=True)


def keep_code() -> None:
    """Does for the rest of this process what :func:`kept_code` does for its body."""
    codes = _Codes(code_file())
    vars(dataclasses)["exec"] = codes.execute
    atexit.register(codes.save)


@contextmanager
def kept_code(path: Path | None = None) -> Iterator[None]:
    """Takes the code of methods from a file while the body imports modules; adds what is new.

    Nothing depends on the file: one that is missing, broken, or of another interpreter is empty.

    Args:
        path: The file; None for :func:`code_file`.
    """
    codes = _Codes(path or code_file())
    process = os.getpid()
    # A name of the module hides the function of the language that the module calls by it.
    vars(dataclasses)["exec"] = codes.execute
    try:
        yield
    finally:
        vars(dataclasses).pop("exec", None)
        if os.getpid() == process:
            codes.save()


def _read(path: Path) -> dict[str, CodeType]:
    try:
        magic, codes = marshal.loads(path.read_bytes())
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return codes if magic == importlib.util.MAGIC_NUMBER and isinstance(codes, dict) else {}
