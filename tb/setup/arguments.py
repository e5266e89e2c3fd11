# SPDX-License-Identifier: Apache-2.0
"""Checks of make's variables before anything is installed, built or simulated.

``python -m tb.setup.arguments GOAL NAME=VALUE ...`` prints the first error. Runs with the standard
library alone, by any Python 3.11 or newer.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import unfit, unwritable
from tb.common.paths import ROOT

LINT = ("ruff", "mypy", "verilator", "icarus")


def _json(value: str) -> None:
    if reason := unwritable(Path(value)):
        raise PtoError(
            f"cannot write {value}: {reason}", where="JSON=",
            legal="a file in a folder that can be written", remedy="name another file",
        )  # fmt: skip


def _builds(value: str) -> None:
    folder = Path(value)
    reason = unfit(folder, folder=True) if folder.exists() or folder.is_symlink() else ""
    if reason := reason or unwritable(folder / "x"):
        raise PtoError(
            f"PTO_BUILDS is {value!r}: {reason}", where="PTO_BUILDS=",
            legal="a folder that can be written, or made", remedy="name one, or leave it out",
        )  # fmt: skip


def _share(value: str) -> None:
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", value)
    if value != "all" and not (found and 1 <= int(found[1]) <= int(found[2])):
        raise PtoError(
            f"PTO_SHARE is {value!r}", where="PTO_SHARE=", legal="1/8 to 8/8, or all",
            remedy="give a share, such as PTO_SHARE=1/8",
        )  # fmt: skip


def _constraints(value: str) -> None:
    if reason := unfit(Path(value)):
        raise PtoError(
            f"CONSTRAINTS is {value!r}, which {reason}", where="CONSTRAINTS=",
            legal="a Python file", remedy="follow the example in docs/uvm.md",
        )  # fmt: skip


def _since(value: str) -> None:
    words = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{value}^{{commit}}"]
    try:
        missing = subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode
    except OSError:  # A later check reports that git is missing.
        return
    if missing:
        raise PtoError(
            f"SINCE is {value!r}", where="SINCE=",
            legal="a commit, branch or tag of this checkout",
            remedy="name one, such as SINCE=HEAD~2, or leave it out for the last commit",
        )  # fmt: skip


def _names(target: str, legal: Sequence[str]) -> Callable[[str], None]:
    def check(value: str) -> None:
        before = re.split(r"(?:^|\s)-", value)[0]  # Names come before the options.
        for word in before.split():
            if word not in legal:
                raise PtoError(
                    f"{word!r} is unknown to make {target}", where="ARGS=",
                    legal=", ".join(legal), remedy="name some of these, or leave ARGS out for all",
                )  # fmt: skip

    return check


def _checks(goal: str) -> dict[str, Callable[[str], None]]:
    checks: dict[str, Callable[[str], None]] = {
        "JSON": _json, "PTO_BUILDS": _builds, "PTO_SHARE": _share, "CONSTRAINTS": _constraints,
        "SINCE": _since,
    }  # fmt: skip
    if goal == "lint":
        checks["ARGS"] = _names(goal, LINT)
    if goal == "prove-rtl":
        units = sorted(path.stem for path in (ROOT / "tb/prove/units").glob("*.sv"))
        checks["ARGS"] = _names(goal, units)
    return checks


def check(goal: str, settings: Sequence[str]) -> None:
    """Checks the settings of a target.

    Args:
        goal: The target.
        settings: Its variables, ``NAME=VALUE``; one without a value has its default.

    Raises:
        PtoError: one cannot be used.
    """
    checks = _checks(goal)
    for name, _, value in (text.partition("=") for text in settings):
        if value and name in checks:
            checks[name](value)


def main(words: Sequence[str]) -> int:
    """Prints the first error of the settings; returns the exit code."""
    try:
        check(words[0], words[1:])
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
