# SPDX-License-Identifier: Apache-2.0
"""``make lint``: every static check of the project, summarised in one table.

Engine tops are ``rtl_stubs/<top>/<top>.sv``. Each is checked by Verilator and Icarus at every pair
of bus widths; Python by ruff and mypy. ``python -m tb.setup.lint GROUP ...`` runs only those
groups; ``make synth`` synthesizes the engines.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.setup import tools, verilator

RTL = Path("rtl_stubs")
COMMON = RTL / "common"
PYTHON_PACKAGES = ("tb", "sequences", "scoreboards", "tests")
WIDTH_PAIRS = tuple(itertools.product((128, 256, 512), repeat=2))


@dataclass(frozen=True)
class Finding:
    """The result of one check: passed when ``problem`` is empty."""

    group: str
    subject: str
    problem: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Top:
    """One engine top and the Verilog files it is made of."""

    name: str
    file: Path
    sources: tuple[Path, ...]

    @property
    def includes(self) -> tuple[str, ...]:
        """Options that name the folders of its headers: its own and the common one."""
        return (f"-I{self.file.parent}", f"-I{COMMON}")


def find_tops(root: Path) -> tuple[Top, ...]:
    """Return the engine tops below ``root``/rtl_stubs by name, paths relative to ``root``."""
    common = tuple(sorted((root / COMMON).rglob("*.sv")))
    tops = []
    for folder in sorted((root / RTL).glob("pto_*")):
        file = folder / f"{folder.name}.sv"
        if file.is_file():
            sources = (
                file,
                *(path for path in sorted(folder.rglob("*.sv")) if path != file),
                *common,
            )
            relative = tuple(path.relative_to(root) for path in sources)
            tops.append(Top(folder.name, relative[0], relative))
    return tuple(tops)


def _check(
    group: str, subject: str, command: Sequence[str | Path], *, silent: bool = False
) -> Finding:
    """Run one command that fails by its exit code, or with ``silent`` by any output too."""
    start = time.monotonic()
    code, output = tools.run(command, {}, ROOT)
    problem = output or f"exit code {code}"
    failed = code != 0 or (silent and output)
    return Finding(group, subject, problem if failed else "", time.monotonic() - start)


def _at_each_width(
    group: str, top: Top, words: Sequence[str | Path], option: str, *, silent: bool = False
) -> list[Finding]:
    """Run a command on one top at every pair of widths; ``option`` sets a parameter of it."""
    return [
        _check(
            group,
            f"{top.name} GM {gm} local {local}",
            [
                *(*words, *top.includes),
                *(option.format("GmDataWidth", gm), option.format("LocalDataWidth", local)),
                *top.sources,
            ],
            silent=silent,
        )
        for gm, local in WIDTH_PAIRS
    ]


def verilator_findings(top: Top) -> list[Finding]:
    """Check one top with Verilator as SystemVerilog, every warning on, at every pair of widths."""
    executable, env = verilator.environment()
    os.environ.update(env)
    words = ["--lint-only", "-Wall", "--language", "1800-2017", "--top-module", top.name]
    return _at_each_width("verilator", top, [str(executable), *words], "-G{}={}")


def icarus_findings(top: Top) -> list[Finding]:
    """Check one top with Icarus as SystemVerilog, every warning on, at every pair of widths."""
    executable, _ = tools.icarus_environment()
    words = [str(executable), "-g2012", "-Wall", "-tnull", "-s", top.name]
    return _at_each_width("icarus", top, words, f"-P{top.name}.{{}}={{}}", silent=True)


def ruff_findings() -> list[Finding]:
    """Check Python's style and format."""
    ruff = [sys.executable, "-m", "ruff"]
    return [
        _check("ruff", "check", [*ruff, "check", "--quiet", "."]),
        _check("ruff", "format", [*ruff, "format", "--check", "--quiet", "--diff", "."]),
    ]


def mypy_findings() -> list[Finding]:
    """Check Python's types."""
    packages = [name for name in PYTHON_PACKAGES if (ROOT / name).is_dir()]
    return [
        _check(
            "mypy",
            " ".join(packages),
            [sys.executable, "-m", "mypy", "--no-error-summary", *packages],
        )
    ]


def _for_each_top(check: Callable[[Top], list[Finding]]) -> list[Finding]:
    tops = find_tops(ROOT)
    if not tops:
        raise PtoError(
            "there is no engine to check", where=str(RTL), legal="rtl_stubs/pto_*/pto_*.sv"
        )
    findings: list[Finding] = []
    for top in tops:
        print(f"lint: {check.__name__.removesuffix('_findings')} {top.name}", flush=True)
        findings += check(top)
    return findings


GROUPS: dict[str, Callable[[], list[Finding]]] = {
    "ruff": ruff_findings,
    "mypy": mypy_findings,
    "verilator": functools.partial(_for_each_top, verilator_findings),
    "icarus": functools.partial(_for_each_top, icarus_findings),
}


def report(findings: Sequence[Finding]) -> str:
    """Return problems and one line for each group as plain text."""
    lines: list[str] = []
    # The same problem at many widths is reported once.
    for group, problem in dict.fromkeys((f.group, f.problem) for f in findings if f.problem):
        subjects = [f.subject for f in findings if (f.group, f.problem) == (group, problem)]
        more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
        lines += ["", f"FAILED {group}: {subjects[0]}{more}", problem]
    lines.append("")
    for group in dict.fromkeys(finding.group for finding in findings):
        members = [finding for finding in findings if finding.group == group]
        failed = sum(bool(finding.problem) for finding in members)
        verdict = f"FAIL {failed} of {len(members)}" if failed else f"ok   {len(members)}"
        lines.append(f"{group:<10} {verdict:<14} {sum(f.seconds for f in members):6.1f} s")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run the named groups, or all; return 0 without a problem, else 1."""
    return tools.exit_code(lambda: _run(arguments or list(GROUPS)))


def _run(groups: Sequence[str]) -> int:
    unknown = [name for name in groups if name not in GROUPS]
    if unknown:
        raise PtoError(f"unknown lint group {unknown[0]!r}", legal=", ".join(GROUPS))
    findings: list[Finding] = []
    for name in groups:
        print(f"lint: {name}", flush=True)
        findings += GROUPS[name]()
    print(report(findings), flush=True)
    failed = any(finding.problem for finding in findings)
    print("lint: FAIL" if failed else "lint: PASS")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
