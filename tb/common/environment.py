# SPDX-License-Identifier: Apache-2.0
"""Variables and module folders of another project in the environment of this one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

from tb.common.paths import ROOT

_FOREIGN = re.compile(
    r"(COCOTB|GPI|PYGPI)_\w+|LIBPYTHON_LOC|PYTHONHOME|TOPLEVEL\w*|MODULE|TESTCASE|RANDOM_SEED"
)
_OURS = {
    "SEED": ("COCOTB_RANDOM_SEED", "RANDOM_SEED"),
    "TEST": ("COCOTB_TESTCASE", "COCOTB_TEST_FILTER", "COCOTB_TEST_MODULES", "TESTCASE", "MODULE"),
    "DUT": ("COCOTB_TOPLEVEL", "TOPLEVEL"),
}
"""Variable of ours to those of cocotb that would mean the same."""


def foreign(names: Iterable[str] | None = None) -> list[str]:
    """Returns the variables by which cocotb would serve another project; no simulation gets them.

    Args:
        names: Names of variables; None for those of this process.
    """
    return sorted(
        name for name in (os.environ if names is None else names) if _FOREIGN.fullmatch(name)
    )


def foreign_note(names: Iterable[str] | None = None) -> str:
    """Returns a line on variables without effect, with ours in their place; empty for none."""
    found = foreign(names)
    if not found:
        return ""
    ours = [name for name, theirs in _OURS.items() if set(theirs).intersection(found)]
    instead = f"; {', '.join(f'{name}=' for name in ours)} of make has one" if ours else ""
    return f"ignored  {', '.join(found)} of the environment: no effect on a run{instead}"


def own_modules_first() -> None:
    """Puts the folders of PYTHONPATH after all others, but for this project's own.

    They may have modules of the names of our dependencies, for another project.
    """
    theirs = [x for x in os.environ.get("PYTHONPATH", "").split(os.pathsep) if x and x != str(ROOT)]
    last = [name for name in sys.path if name in theirs]
    sys.path[:] = [name for name in sys.path if name not in theirs] + list(dict.fromkeys(last))
