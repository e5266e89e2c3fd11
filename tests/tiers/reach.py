# SPDX-License-Identifier: Apache-2.0
"""Test files that a change reaches: by imports, by folder, and by names of files in strings."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

ROOMS = ("tb", "sequences", "scoreboards", "tests")
ALWAYS = "tests/house/"
"""Tests of every file: imports between rooms, pages, the Makefile."""

EVERYTHING = ("tests/conftest.py", "pyproject.toml", "requirements.lock")
"""Files that every test depends on."""

SIMULATED = ("rtl_stubs", "sequences", "scoreboards", *(
    f"tb/{room}" for room in ("hdl", "harness", "env", "isa", "dut", "run")
))  # fmt: skip
"""Folders of what a run consists of: engines, harness, stimulus, scoreboards."""

_IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w., ]+))", re.M)
_PATH = re.compile(r'"([\w.-]+(?:/[\w.-]+)*)/?"')


class NoChangesError(Exception):
    """The changed files cannot be listed."""


def changed_files(top: Path, base: str = "") -> tuple[str, ...]:
    """Returns the files that differ from a commit, relative to ``top``.

    Args:
        top: Top of the checkout.
        base: The commit; empty for the last one, or, if nothing differs from it, for its parent.

    Raises:
        NoChangesError: Git or the commit is missing.
    """
    if not base:
        return changed_files(top, "HEAD") or changed_files(top, "HEAD~1")
    found = ""
    for words in (("diff", "--name-only", base), ("ls-files", "--others", "--exclude-standard")):
        try:
            done = subprocess.run(
                ["git", *words], cwd=top, capture_output=True, text=True, check=False
            )
        except OSError as error:
            raise NoChangesError(f"git does not start: {error.strerror}") from None
        if done.returncode:
            raise NoChangesError(f"no files differ from {base}: {done.stderr.strip()}")
        found += done.stdout
    return tuple(sorted(set(found.splitlines())))


def within(file: str, folders: Collection[str]) -> bool:
    """Returns whether a file is one of ``folders`` or below one."""
    return any(file == folder or file.startswith(f"{folder}/") for folder in folders)


def reached(top: Path, changed: Collection[str]) -> tuple[str, ...]:
    """Returns the test files below ``top`` whose result may depend on changed files."""
    texts = {
        str(path.relative_to(top)): path.read_text()
        for room in ROOMS
        for path in sorted((top / room).rglob("*.py"))
    }
    users = _users(texts)
    found = {file for file in changed if file in texts}
    for file in changed:
        found |= set(texts) if file in EVERYTHING else set(_readers(file, texts))
    todo = list(found)
    while todo:
        new = users[todo.pop()] - found
        found |= new
        todo += new
    return tuple(
        file for file in texts
        if PurePosixPath(file).name.startswith("test_")
        and (file in found or file.startswith(ALWAYS))
    )  # fmt: skip


def _users(texts: Mapping[str, str]) -> Mapping[str, set[str]]:
    """Returns the modules that import each module, and the tests that use each conftest."""
    users: defaultdict[str, set[str]] = defaultdict(set)
    for user, text in texts.items():
        for name in imported(text):
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                stem = "/".join(parts[:length])
                for file in (f"{stem}.py", f"{stem}/__init__.py"):
                    if file in texts:
                        users[file].add(user)
        for folder in PurePosixPath(user).parents:
            users[f"{folder}/conftest.py"].add(user)
    del users["tests/conftest.py"]  # What it imports is not tested by every test.
    return users


def imported(text: str) -> Iterator[str]:
    """Yields the names that a module imports anywhere, modules and what is in them alike."""
    for module, names, plain in _IMPORT.findall(text):
        if plain:
            yield from re.split(r"\s*,\s*", plain.partition(" as ")[0])
        for name in re.findall(r"(\w+)(?: as \w+)?", names):
            yield f"{module}.{name}"


def _readers(file: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Yields the modules that may read a file that is not a module.

    Those of the nearest folder with modules, those that name the file, and those of the tests that
    name a folder around it.
    """
    if file in texts:
        return
    path = PurePosixPath(file)
    folders = path.parents[:-1]
    beside: list[str] = []
    for folder in folders[:-1]:
        beside = beside or [user for user in texts if PurePosixPath(user).parent == folder]
    yield from beside
    for user, text in texts.items():
        named = set(_PATH.findall(text)) & {path.name, *map(str, (path, *folders))}
        if named and (user.startswith("tests/") or named & {path.name, file}):
            yield user
