# SPDX-License-Identifier: Apache-2.0
"""``make prove-rtl``: properties of the parts of the engines, proven without a bound.

A file of ``tb/prove/units`` is a module ``prove`` around one part, with its properties as labelled
assertions; its comments name the sources and the parameters to prove it with. A label ``reach_*``
asserts that something never happens, and must be refuted: the assumptions leave it to do. A label
``lemma*`` may name registers of the part. Lemmas stand first: each is proven with those before it
assumed, and the other properties with all of them; a property whose lemma is not proven is not
proven either. Yosys turns each property into an AIGER file, and the ABC inside it proves it by
induction over two clocks, by PDR or by induction over equal signals (``dprove``), or searches a
counterexample to a stated depth where neither ends. A counterexample is written as the values of
the inputs, clock by clock.
``python -m tb.prove.rtl [UNIT ...] [--seconds N]``.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tb.common.errors import PtoError, ToolError
from tb.common.paths import ROOT
from tb.common.processes import kill_tree
from tb.prove import wave
from tb.run.console import Console
from tb.setup import tools
from tb.setup.synth import yosys_program

UNITS = ROOT / "tb/prove/units"
REPORTS = Path("sim_build/prove-rtl")
RTL = Path("rtl_stubs")
SECONDS = 60
"""Time limit of a proof."""
COMPILE_SECONDS = 900
"""Time limit of the compilation of the wheel of Yosys."""
FIRST, SECOND = 6, 10
"""Time limits of the first search, and of the other method that is tried after it."""
STEPS, CONFLICTS = 2, 50_000
"""Clocks of the induction that is tried before any search, and its limit."""
DEPTH = 20
"""Clocks of the search for a counterexample where a proof does not end."""

READ = "read_verilog -sv -formal -I rtl_stubs/common"
"""Command that reads sources."""

PROVEN, REFUTED, BOUNDED, UNDECIDED = "proven", "refuted", "bounded", "undecided"
REACH, LEMMA = "reach_", "lemma"

CIRCUIT = (
    "prep -top prove -flatten",
    "async2sync",
    "chformal -lower",
    "memory -nomap",
    "memory_map -formal",
    "opt -full",
    "techmap",
    "dffunmap",
    "setundef -anyseq",
    "aigmap",
    "opt_expr",
    "opt_clean",
)
"""Commands of Yosys that make gates and registers of module ``prove``."""


@dataclass(frozen=True)
class Unit:
    """A file of properties.

    Attributes:
        name: Name of the file, and of the part.
        sources: Sources of the part, below ``rtl_stubs``.
        variants: Parameters of the module ``prove``, one mapping for each proof.
        labels: Names of the properties.
        registers: Whether memories of the part are registers that lemmas can name.
    """

    name: str
    sources: tuple[Path, ...]
    variants: tuple[Mapping[str, str], ...]
    labels: tuple[str, ...]
    registers: bool

    def assumed(self, label: str) -> tuple[str, ...]:
        """Returns the lemmas that the proof of a property assumes: those before it, or all."""
        lemmas = tuple(name for name in self.labels if name.startswith(LEMMA))
        return lemmas[: lemmas.index(label)] if label in lemmas else lemmas


@dataclass(frozen=True)
class Finding:
    """What is known of a property.

    Attributes:
        unit, variant, label: The property.
        verdict: PROVEN, REFUTED, BOUNDED (no counterexample within DEPTH clocks) or UNDECIDED.
        seconds: Time it took.
        clocks: Clock in which a counterexample fails, else 0.
        story: File with its inputs, clock by clock, or None.
    """

    unit: str
    variant: str
    label: str
    verdict: str
    seconds: float
    clocks: int = 0
    story: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether that is the requested verdict."""
        return self.verdict == (REFUTED if self.label.startswith(REACH) else PROVEN)

    def line(self) -> str:
        """Returns a line for a person."""
        text = f"{self.verdict if self.ok else self.verdict.upper():<9} {self.seconds:6.1f} s"
        text = f"{text}  {self.unit} {self.variant}{' ' if self.variant else ''}{self.label}"
        if self.verdict == BOUNDED:
            text += f": no counterexample within {DEPTH} clocks, which is not a proof"
        if self.story and not self.ok:
            text += f": fails at clock {self.clocks}, {self.story}"
        return text


def read_unit(path: Path) -> Unit:
    """Reads the comments and labels of a file of properties.

    Raises:
        PtoError: it names no source, or has no property.
    """
    text = path.read_text()
    sources = re.search(r"^// Sources: (.*)$", text, re.MULTILINE)
    labels = tuple(re.findall(r"^\s*(\w+): assert", text, re.MULTILINE))
    if not sources or not labels:
        raise PtoError(
            "a file of properties needs a line `// Sources: FILE ...` and labelled assertions",
            where=str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path),
        )
    variants = re.findall(r"^// Variant: (.*)$", text, re.MULTILINE) or [""]
    return Unit(
        path.stem,
        tuple(RTL / name for name in sources[1].split()),
        tuple(dict(pair.split("=") for pair in line.split()) for line in variants),
        labels,
        re.search(r"^// Memories: registers$", text, re.MULTILINE) is not None,
    )


def run_yosys(lines: Sequence[str], name: Path, seconds: float | None = None) -> tuple[int, str]:
    """Writes a script of Yosys and runs it; returns its exit code, LATE of tools, and output."""
    (ROOT / name).write_text("\n".join([*lines, ""]))
    return tools.run([yosys_program(), "-q", "-s", name], {}, ROOT, seconds)


def run_abc(commands: str, name: Path, seconds: float) -> int:
    """Runs ABC on its own circuits: the one that Yosys has for it is put aside.

    Returns:
        The exit code, LATE of tools if it was ended after its time.
    """
    trivial = ["read_verilog tb/prove/units/trivial.v", "hierarchy -top trivial", "techmap"]
    return run_yosys(
        [*trivial, f'abc -script "+strash; backup; {commands}; restore; map"'], name, seconds
    )[0]


def compile_wheel(console: Console) -> float:
    """Runs Yosys once: its wheel compiles itself at the first call, for about a minute.

    Returns:
        Seconds of the compilation; 0 if there was none.

    Raises:
        ToolError: Yosys is missing, or does not start.
    """
    program, started, compiles, last = yosys_program(), time.monotonic(), False, ""
    command: list[str | Path] = [program, "-V"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace",
    ) as process:  # fmt: skip
        late = threading.Timer(COMPILE_SECONDS, kill_tree, (process.pid,))
        late.start()
        with ExitStack() as stack:
            stack.callback(late.cancel)
            assert process.stderr is not None
            for line in process.stderr:
                last = line.strip() or last
                if "Preparing to run" in line and not compiles:
                    compiles = True
                    console.say(
                        "running  the first call of Yosys compiles it: a minute or two, once"
                    )
                    stack.enter_context(console.working("the compilation of Yosys"))
    seconds = time.monotonic() - started
    if process.returncode:
        raise ToolError(
            f"Yosys does not start: {last or f'exit code {process.returncode}'}",
            where=str(program),
            legal=f"a start within {COMPILE_SECONDS} s",
            remedy=f"run `{program} -V` and correct what it reports",
        )
    return seconds if compiles else 0.0


def prepare(
    unit: Unit, variant: Mapping[str, str], folder: Path, replaced: Mapping[Path, Path]
) -> None:
    """Writes one AIGER file for each property of a unit.

    Raises:
        PtoError: Yosys cannot read a source.
    """
    sources = [replaced.get(path, path) for path in unit.sources]
    lines = [
        " ".join([f"{READ}{' -mem2reg' * unit.registers}", *map(str, sources)]),
        f"{READ} tb/prove/units/{unit.name}.sv",
        *(f"chparam -set {key} {value} prove" for key, value in variant.items()),
        *CIRCUIT,
        "design -save all",
    ]
    for label in unit.labels:
        before = unit.assumed(label)
        others = " ".join(f"n:{name} %d" for name in (label, *before))
        lines += [
            "design -load all",
            f"chformal -assert -remove t:$assert {others}",
            *(
                ["chformal -assert2assume " + " ".join(f"n:{name}" for name in before)]
                * bool(before)
            ),
            "opt_clean",
            f"tee -q -o {folder}/{label}.cell dump t:$assert n:{label} %i",
            f"write_aiger -zinit -no-startoffset -vmap {folder}/{label}.map {folder}/{label}.aig",
        ]
    code, output = run_yosys(lines, folder / "prepare.ys")
    if code:
        raise PtoError(
            f"the properties of {unit.name} cannot be read:\n{output[-2000:]}",
            where=str(folder / "prepare.ys"),
            remedy="correct the source; the script runs alone with `yosys -s`",
        )


def decide(unit: Unit, variant: str, folder: Path, seconds: float, label: str) -> Finding:
    """Proves or refutes one property."""
    started = time.monotonic()
    status = folder / f"{label}.status"
    (ROOT / status).unlink(missing_ok=True)
    head = f"read_aiger {folder}/{label}.aig; fold"
    tail = f"write_status {status}; write_cex -a {folder}/{label}.cex"
    # What Yosys saw to be true always, ABC calls unknown.
    constant = "connect \\A 1'1" in (ROOT / folder / f"{label}.cell").read_text()
    verdict = PROVEN if constant else UNDECIDED
    if not constant:  # A lemma over equal sums is seldom found by a search; its step is short.
        step = folder / f"{label}.step"
        (ROOT / step).unlink(missing_ok=True)
        clocks = DEPTH if label.startswith(REACH) else 2 * STEPS
        base = f"bmc3 -F {clocks} -T {min(seconds, SECOND):.0f}; {tail}"
        induction = f"{head}; {base}; ind -F {STEPS} -C {CONFLICTS}; write_status {step}"
        run_abc(induction, folder / f"{label}.ys", 2 * seconds + 30)
        texts = [(ROOT / at).read_text() for at in (step, status) if (ROOT / at).is_file()]
        if len(texts) == 2:
            verdict = by_induction(*texts)
    for engine, limit, unsat in (
        (f"pdr -T {min(seconds, FIRST):.0f}", 2 * FIRST + 30, PROVEN),
        ("dprove", min(seconds, SECOND), PROVEN),  # Equal sums of counters: PDR is slow there.
        (f"pdr -T {seconds:.0f}", 2 * seconds + 30, PROVEN),
        (f"bmc3 -F {DEPTH} -T {seconds:.0f}", 2 * seconds + 30, BOUNDED),
    ):
        if verdict != UNDECIDED:
            break
        run_abc(f"{head}; {engine}; {tail}", folder / f"{label}.ys", limit)
        text = (ROOT / status).read_text() if (ROOT / status).is_file() else ""
        (ROOT / status).unlink(missing_ok=True)
        verdict = judged(text, unsat)
        if engine == "dprove" and verdict == REFUTED:
            verdict = UNDECIDED  # Without a counterexample that can be written.
    (ROOT / "sm01.aig").unlink(missing_ok=True)  # Of `dprove`.
    clocks, story = trace(folder, label, label) if verdict == REFUTED else (0, None)
    return Finding(unit.name, variant, label, verdict, time.monotonic() - started, clocks, story)


def by_induction(step: str, base: str) -> str:
    """Returns the verdict of two status files: of the step, and of the first clocks."""
    if "snl_SAT" in base:
        return REFUTED
    clocks = re.match(r"snl_UNK (-?\d+)", base)
    whole = clocks is not None and int(clocks[1]) >= STEPS
    return PROVEN if whole and "snl_UNSAT" in step else UNDECIDED


def judged(status: str, unsat: str) -> str:
    """Returns the verdict of a status file of ABC; one that stopped early has bounded nothing."""
    unknown = re.match(r"snl_UNK (-?\d+)", status)
    if unknown and unsat == BOUNDED and int(unknown[1]) >= DEPTH - 1:
        return BOUNDED
    return unsat if "snl_UNSAT" in status else REFUTED if "snl_SAT" in status else UNDECIDED


def trace(folder: Path, label: str, circuit: str) -> tuple[int, Path]:
    """Writes a counterexample as values of the inputs, clock by clock, and as a waveform.

    Args:
        folder: Folder of the files.
        label: The property: name of the counterexample and of what is written.
        circuit: Name of the AIGER file.

    Returns:
        The clock in which the property fails, and the file.
    """
    state, *rows = [
        row for row in (ROOT / folder / f"{label}.cex").read_text().split() if row.isdigit()
    ]
    del state  # All zero: free initial values are inputs of the first clock.
    bits: dict[str, list[tuple[int, int]]] = {}
    free: dict[str, list[tuple[int, int]]] = {}
    for line in (ROOT / folder / f"{circuit}.map").read_text().splitlines():
        kind, index, bit, name = (line.split(maxsplit=3) + [""] * 3)[:4]
        if kind in ("input", "init") and "$" not in name:
            (bits if kind == "input" else free).setdefault(name, []).append((int(index), int(bit)))
    lines = [f"clock {0:>3}: registers without reset: {_values(free, rows[0])}"] if free else []
    lines += [f"clock {clock:>3}: {_values(bits, row)}" for clock, row in enumerate(rows)]
    graph = ROOT / folder / f"{circuit}.aig"
    wave.write(graph, graph.with_suffix(".map"), rows, ROOT / folder / f"{label}.vcd")
    story = folder / f"{label}.txt"
    (ROOT / story).write_text("\n".join([*lines, ""]))
    return len(rows) - 1, story


def _values(names: Mapping[str, Sequence[tuple[int, int]]], row: str) -> str:
    values = {
        name: sum(int(row[index]) << bit for index, bit in places) for name, places in names.items()
    }
    return ", ".join(f"{name} {value:#x}" for name, value in values.items() if value) or "all 0"


def prove(
    units: Sequence[Unit], seconds: float = SECONDS, replaced: Mapping[Path, Path] | None = None
) -> Iterator[Finding]:
    """Decides the properties of units, two at a time, and yields each as it is known."""
    with ThreadPoolExecutor(2) as pool:
        for unit in units:
            for number, variant in enumerate(unit.variants):
                folder = REPORTS / f"{unit.name}-{number}"
                (ROOT / folder).mkdir(parents=True, exist_ok=True)
                prepare(unit, variant, folder, replaced or {})
                name = " ".join(f"{key}={value}" for key, value in variant.items())
                verdicts = {}
                for finding in pool.map(partial(decide, unit, name, folder, seconds), unit.labels):
                    verdicts[finding.label] = finding.verdict
                    if finding.verdict == PROVEN and any(
                        verdicts[lemma] != PROVEN for lemma in unit.assumed(finding.label)
                    ):
                        finding = dataclasses.replace(finding, verdict=UNDECIDED)
                    yield finding


def main(words: Sequence[str] | None = None) -> int:
    """Proves the named units, or all; returns 1 if a property fails, 3 if one is undecided."""
    known = sorted(path.stem for path in UNITS.glob("*.sv"))
    parser = argparse.ArgumentParser(prog="make prove-rtl ARGS=")
    parser.add_argument("units", nargs="*", metavar="UNIT", help=", ".join(known))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="limit of each proof")
    chosen = parser.parse_args(words)
    try:
        unknown = [name for name in chosen.units if name not in known]
        if unknown:
            raise PtoError(f"no unit {unknown[0]!r}", legal=", ".join(known))
        units = [read_unit(UNITS / f"{name}.sv") for name in chosen.units or known]
        compile_wheel(Console())
        started, findings = time.monotonic(), []
        for finding in prove(units, chosen.seconds):
            findings.append(finding)
            print(finding.line(), flush=True)
    except PtoError as problem:
        print(problem, file=sys.stderr)
        return 2
    failed = [f for f in findings if not f.ok and f.verdict in (PROVEN, REFUTED)]
    unproven = [f for f in findings if not f.ok and f not in failed]
    end = "FAIL" if failed else "UNDECIDED" if unproven else "PASS"
    print(
        f"{end} {sum(f.ok for f in findings)} of {len(findings)} properties of {len(units)} units, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if failed else 3 if unproven else 0


if __name__ == "__main__":
    raise SystemExit(main())
