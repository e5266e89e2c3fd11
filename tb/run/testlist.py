# SPDX-License-Identifier: Apache-2.0
"""Reads ``tb/run/testlist.toml``: the tests that run in a simulator."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.user_code import find_test, is_user_test, look_at_test

PLAN = ROOT / "tb/run/testlist.toml"
"""The data file that local runs and CI share."""


class PlannedTest(BaseModel):
    """One entry of the plan.

    Attributes:
        name: Value of ``TEST=``.
        module, class_name: The pyuvm test class.
        transactions: Default of ``N``.
        fixed_length: The test ignores ``N``.
        folder: Folder of a module outside the project.
        file: The file of a user's test, else empty.
        axi_pins: A memory in Python is the GM (see BuildPlan).
        doc: One line.
        options: Handed to the test.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: str
    module: str
    class_name: str = Field(alias="class")
    transactions: int = Field(ge=1)
    fixed_length: bool = False
    folder: str = ""
    file: str = ""
    axi_pins: bool = False
    doc: str
    options: dict[str, Any] = Field(default_factory=dict)


def load_plan(path: Path = PLAN) -> dict[str, PlannedTest]:
    """Returns the planned tests by name."""
    with path.open("rb") as file:
        data = tomllib.load(file)
    tests = [PlannedTest.model_validate(entry) for entry in data["test"]]
    return {test.name: test for test in tests}


def user_test(name: str) -> PlannedTest:
    """Returns the entry of ``path/to/file.py:ClassName``, a test of a user's own.

    Raises:
        PtoError: the file is missing or cannot be imported, or the class is not a test.
    """
    path, class_name = find_test(name)
    found = look_at_test(path, class_name)
    return PlannedTest.model_validate(
        {
            "name": name,
            "module": "tb.env.user_test",
            "class": class_name,
            "file": str(path),
            **found.model_dump(),
        }
    )


def planned_test(name: str) -> PlannedTest:
    """Returns one planned test, or a user's own that is named by its file.

    Raises:
        PtoError: no test has this name.
    """
    if is_user_test(name):
        return user_test(name)
    plan = load_plan()
    if name == "program":
        raise PtoError(
            "test 'program' needs a program to replay",
            where="TEST= or --test",
            remedy="make program PROGRAM=x.pto, or pto-dv program x.pto",
        )
    if name not in plan:
        raise PtoError(
            f"test {name!r} is unknown",
            where="TEST= or --test",
            legal=", ".join(plan),
            remedy="python -m tb tests lists them with a line each; a test of your own is "
            "path/to/file.py:ClassName",
        )
    return plan[name]
