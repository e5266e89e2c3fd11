# SPDX-License-Identifier: Apache-2.0
"""Constraints of a user: errors in them are reported with the line, before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequences.constraints import OpConstraints
from tb.common.errors import PtoError
from tb.dut.constraints import Limits, UserConstraints, load_constraints, probe
from tb.dut.manifest import Capabilities

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
    """Returns what is said of a file of constraints before a build starts."""
    with pytest.raises(PtoError) as caught:
        probe(Limits({}, loaded(folder, text)), 1, ("mte_gm_ub", "mte_ub_gm"), 32)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
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
def test_wrong_constraints_are_named(tmp_path: Path, text: str, said: list[str]) -> None:
    message = refused(tmp_path, text)
    assert not [part for part in said if part not in message], message


def test_missing_constraints(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match=r"cannot read none\.py: No such file"):
        load_constraints(tmp_path / "none.py")
    (tmp_path / "mine").write_text(HEAD)
    with pytest.raises(PtoError, match=r"mine is not a name[^$]*ends with \.py"):
        load_constraints(tmp_path / "mine")


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
