# SPDX-License-Identifier: Apache-2.0
"""Files of a user: errors in them are reported with the line, before a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequences.constraints import OpConstraints
from tb.common.errors import PtoError
from tb.dut.limits import Limits, probe
from tb.dut.manifest import Capabilities
from tb.dut.user_code import UserConstraints, load_constraints
from tb.run.testlist import planned_test

HEAD = """\
from dataclasses import replace
import numpy as np
from sequences.constraints import OpConstraints, SizeClass
from sequences.op_filter import op_filter
"""


def loaded(folder: Path, text: str) -> UserConstraints:
    path = folder / "mine.py"
    path.write_text(HEAD + text)
    return load_constraints(path)


def refused(folder: Path, text: str) -> str:
    """Returns the error of a file of constraints, raised before a build."""
    with pytest.raises(PtoError) as caught:
        probe(Limits({}, loaded(folder, text)), 1, ("mte_gm_ub", "mte_ub_gm"), 32)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("def constraints(d:\n    pass\n", ["mine.py is not Python", "mine.py, line 5"]),
        ("x = 1\n", ["defines no constraint", "def constraints(default)", "@op_filter"]),
        ("import nothing_of_that_name\n", ["ModuleNotFoundError", "mine.py, line 5"]),
        ("constraints = 3\n", ["constraints is int", "def constraints"]),
        ("def constraints(d):\n    return 3\n", ["returned int", "a OpConstraints"]),
        ("def constraints(d):\n    return None\n", ["returned NoneType", "dataclasses.replace"]),
        ("def constraints():\n    return None\n", ["constraints() raised TypeError", "mine.py"]),
        (
            "def constraints(d):\n    return replace(d, pad=2)\n",
            ["pad is 2", "mine.py, line 6", "a fraction 0..1"],
        ),
        (
            "def constraints(d):\n    return replace(d, block_ops=0)\n",
            ["block_ops is 0", "mine.py, line 6", "an integer 1..4096"],
        ),
        (
            "def constraints(d):\n    return replace(d, padd=0.5)\n",
            ["constraints() raised TypeError", "padd", "mine.py, line 6"],
        ),
        (
            "def constraints(d):\n\n    return d.nothing\n",
            ["AttributeError", "nothing", "mine.py, line 7"],
        ),
        (
            "@op_filter\ndef short(block):\n    return block.column('len') < 0\n",
            ["may be sent", "short refused", "mine.py", "looser"],
        ),
        (
            "@op_filter\ndef short(block):\n    return block.column('size') < 0\n",
            ["short raised KeyError", "size", "mine.py, line 7"],
        ),
        ("@op_filter\ndef short(block):\n    return True\n", ["short returned bool True", "bool["]),
    ],
)
def test_wrong_constraints_are_named(tmp_path: Path, text: str, facts: list[str]) -> None:
    message = refused(tmp_path, text)
    assert not [fact for fact in facts if fact not in message], message


def test_missing_constraints(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match=r"none\.py.*No such file"):
        load_constraints(tmp_path / "none.py")


def test_good_constraints_narrow_and_keep(tmp_path: Path) -> None:
    user = loaded(
        tmp_path,
        "def constraints(d):\n    return replace(d, pad=0.0)\n"
        "@op_filter\ndef short(block):\n    return block.column('len') < 99\n",
    )
    limits = Limits({}, user)
    assert limits.narrowed(OpConstraints()).pad == 0.0
    assert [item.name for item in limits.filters] == ["short"]
    assert limits.filters[0].reason == "short of mine.py refuses them"
    probe(limits, 1, ("mte_gm_ub",), 32)


def test_constraints_widen_nothing_that_engines_lack(tmp_path: Path) -> None:
    user = loaded(tmp_path, "def constraints(d):\n    return replace(d, pad=1.0, max_loops=3)\n")
    can = Capabilities(ops=("mte_gm_ub",), loops=1, pad=False)
    found = Limits({"mte2": can}, user).narrowed(OpConstraints())
    assert (found.pad, found.max_loops) == (0.0, 1)


# --- tests ---------------------------------------------------------------------------------------

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
            ["no test of this bench", "from tb.env.base_test import PtoTestBase"],
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
