# SPDX-License-Identifier: Apache-2.0
"""Imports Python files of a user, and finds the pyuvm tests in them.

Errors in them are reported with file and line, before anything is built where that is possible. A
test is imported in a process of its own, since it needs the simulator's packages.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tb.common.errors import PtoError
from tb.common.files import regular
from tb.common.schema import breach

USER_TEST_ENV = "PTO_USER_TEST"
"""Environment variable with the file of a user's test, for the simulation."""

TEST_OPTION = "TEST= or --test"

BASE_CLASS = ("tb.env.base_test", "PtoTestBase")
"""Module and name of the class that tests derive from."""

DEFAULT_TRANSACTIONS = 20000
"""N of a test that does not define its number of transactions."""

IMPORT_SECONDS = 120
"""How long the import of a user's test may take."""


def import_file(path: Path, name: str) -> ModuleType:
    """Imports a file as module ``name``, a name that no other module has.

    It can import the modules in its folder, but these do not replace installed ones.

    Raises:
        PtoError: the file is missing, is not Python, or fails while it is imported.
    """
    read_source(path)
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PtoError(
            f"{path.name} is not a name of a Python file",
            where=str(path),
            legal="a name that ends with .py",
            remedy="rename the file",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except PtoError:
        raise
    except Exception as error:
        from sequences.op_filter import place_of  # with numpy and the generators

        raise PtoError(
            f"{path.name} cannot be imported: {type(error).__name__}: {error}",
            where=place_of(error, str(path)) or str(path),
            remedy="correct the file",
        ) from error
    return module


def read_source(path: Path) -> ast.Module:
    """Returns a Python file, parsed.

    Raises:
        PtoError: it cannot be read, or is not Python.
    """
    try:
        return ast.parse(regular(path).read_text(), str(path))
    except OSError as error:
        raise PtoError(
            f"cannot read {path.name}: {error.strerror}",
            where=str(path),
            remedy="name a Python file; the path is relative to where you are",
        ) from None
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise PtoError(
            f"{path.name} is not Python: {error.msg}" + (f": {line}" if line else ""),
            where=f"{path}, line {error.lineno}",
            remedy="correct the line",
        ) from None
    except ValueError as error:  # Not UTF-8, or with null bytes.
        raise PtoError(
            f"{path.name} is not Python: {error}", where=str(path), remedy="name a Python file"
        ) from None


class UserTest(BaseModel):
    """Attributes of a user's test.

    Attributes:
        transactions: Default of N.
        fixed_length: It ignores N.
        doc: One line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    transactions: int = Field(DEFAULT_TRANSACTIONS, ge=1, strict=True)
    fixed_length: bool = Field(False, strict=True)
    doc: str = ""


def is_user_test(name: str) -> bool:
    """Returns whether ``TEST=`` names a file instead of a test of the plan."""
    return ".py" in name or ":" in name or "/" in name


def find_test(name: str) -> tuple[Path, str]:
    """Returns file and class of ``path/to/file.py:ClassName``.

    Raises:
        PtoError: the file is missing or not Python, or holds no such class.
    """
    text, _, class_name = name.rpartition(":")
    if not text:
        text, class_name = name, ""
    path = Path(text).absolute()
    tree = read_source(path)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    tests = [node.name for node in classes if node.decorator_list] or [x.name for x in classes]
    if not class_name or class_name not in {node.name for node in classes}:
        what = f"{path.name} has no class {class_name}" if class_name else "no class is named"
        raise PtoError(
            what,
            where=f"{TEST_OPTION}: {name}",
            legal=", ".join(f"{text}:{found}" for found in tests) or "none: there is no class",
            remedy="name the pyuvm test in the file: TEST=path/to/file.py:ClassName",
        )
    return path, class_name


def look_at_test(path: Path, class_name: str) -> UserTest:
    """Imports a test in a process of its own and returns its attributes.

    Raises:
        PtoError: it cannot be imported, or is not a test of this bench.
    """
    words = [sys.executable, "-m", "tb.dut.user_code", str(path), class_name]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=IMPORT_SECONDS,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(name for name in sys.path if name)},
        )
    except subprocess.TimeoutExpired:
        raise PtoError(
            f"{path.name} is still being imported after {IMPORT_SECONDS} s",
            where=str(path),
            remedy="do the work in the test's methods, not while the file is imported",
        ) from None
    lines = done.stdout.splitlines()
    try:
        answer: Any = json.loads(lines[-1]) if lines else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        tail = "\n".join(done.stderr.splitlines()[-6:])
        raise PtoError(f"{path.name} ended Python while it was imported\n{tail}", where=str(path))
    if "what" in answer:
        raise PtoError(**answer)
    return UserTest.model_validate(answer)


def _describe(path: Path, class_name: str) -> dict[str, Any]:
    """Returns the attributes of a test as JSON, for :func:`look_at_test`."""
    module = import_file(path, module_name(path))
    found: Any = getattr(module, class_name)
    line = f"{path}, class {class_name}"
    if not any((base.__module__, base.__name__) == BASE_CLASS for base in found.__mro__):
        raise PtoError(
            f"{class_name} is not a test of this bench",
            where=line,
            legal="a class that derives from PtoTestBase: "
            "`from tb.env.base_test import PtoTestBase`",
        )
    try:
        test = UserTest(
            transactions=found.transactions,
            fixed_length=found.fixed_length,
            doc=(found.__doc__ or "").strip().split("\n")[0],
        )
    except ValidationError as error:
        first = error.errors()[0]
        what, legal = breach(first, f"{class_name}.{first['loc'][0]}", UserTest)
        raise PtoError(what, where=line, legal=legal, remedy="correct the attribute") from None
    return test.model_dump()


def module_name(path: Path) -> str:
    """Returns the module name of a user's test file: no installed module has such a name."""
    return f"pto_user_{path.stem}"


def main() -> None:
    """Prints the attributes of the test that the command line names."""
    path, class_name = Path(sys.argv[1]), sys.argv[2]
    try:
        answer = _describe(path, class_name)
    except PtoError as error:
        answer = vars(error)
    except BaseException as error:  # Any error of the file is reported.
        lines = traceback.format_exception_only(error)
        answer = {
            "what": f"{path.name} cannot be imported: {lines[-1].strip()}",
            "where": str(path),
        }
    print(f"\n{json.dumps(answer)}", flush=True)


if __name__ == "__main__":
    main()
