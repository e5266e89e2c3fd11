# SPDX-License-Identifier: Apache-2.0
"""Tests of a user: errors in them are reported with the line, before a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.run.testlist import planned_test

pytestmark = pytest.mark.long

TEST = """\
from tb.env.base_test import PtoTestBase

class Mine(PtoTestBase):
    '''Sends nothing.'''

    transactions = 77
"""


def written(folder: Path, text: str, name: str = "mine.py") -> str:
    (folder / name).write_text(text)
    return f"{folder / name}:Mine"


@pytest.mark.parametrize("name", ["mine.py", "random.py", "numpy.py", "pyuvm.py"])
def test_a_test_is_taken_from_its_file(tmp_path: Path, name: str) -> None:
    """Its name may be any: it hides no installed module."""
    planned = planned_test(written(tmp_path, TEST, name))
    assert planned.transactions == 77
    assert planned.doc == "Sends nothing."
    assert planned.class_name == "Mine"
    assert planned.file == str(tmp_path / name)


def test_modules_beside_a_test_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("COUNT = 5\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('not the installed one')\n")
    text = TEST.replace("77", "COUNT").replace("class", "from beside_it import COUNT\nclass", 1)
    assert planned_test(written(tmp_path, text)).transactions == 5


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("class Mine(:\n", ["mine.py is not Python", "line 1"]),
        ("class Other:\n    pass\n", ["has no class Mine", "mine.py:Other"]),
        ("x = 1\n", ["has no class Mine", "there is no class"]),
        (
            "class Mine:\n    pass\n",
            ["not a test of this bench", "from tb.env.base_test import PtoTestBase"],
        ),
        (
            "import nothing_of_that_name\nclass Mine:\n    pass\n",
            ["nothing_of_that_name", "line 1"],
        ),
        ("class Mine:\n    x = 1 / 0\n", ["ZeroDivisionError", "line 2"]),
        ("import os\nos._exit(3)\nclass Mine:\n    pass\n", ["ended Python"]),
        ("import sys\nsys.exit(3)\nclass Mine:\n    pass\n", ["SystemExit: 3"]),
        (TEST.replace("77", "0"), ["Mine.transactions is 0", "class Mine"]),
        (TEST.replace("77", "'many'"), ["Mine.transactions is 'many'"]),
    ],
)
def test_wrong_tests_are_named(tmp_path: Path, text: str, facts: list[str]) -> None:
    with pytest.raises(PtoError) as caught:
        planned_test(written(tmp_path, text))
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert not [fact for fact in facts if fact not in message], message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.py:Mine", "cannot read none.py"),
        ("mine.py", "no class is named"),
        ("randon", "test 'randon' is unknown"),
    ],
)
def test_wrong_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    written(tmp_path, TEST)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PtoError, match=message):
        planned_test(name)
