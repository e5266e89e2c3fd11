# SPDX-License-Identifier: Apache-2.0
"""``pto-dv prove``: the rules of docs/protocol.md on the block of a manifest, to a stated depth.

``tb/prove/protocol.sv`` has the rules as labelled assertions and assumptions. A module ``prove``
connects it with the block, Yosys makes one circuit with an output for each label, and the ABC
inside it searches all behaviours of up to ``depth`` clocks after a reset. What it does not find
there may still occur later: the end of a search is a bound, and no proof.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.text import meant
from tb.dut.contract import Port, ports_of
from tb.dut.manifest import STANDARD_PARAMETERS, Manifest
from tb.dut.sources import verilog_of
from tb.dut.widths import Widths, run_widths
from tb.harness.protocol import RULES
from tb.isa.ops import OPS
from tb.prove.rtl import CIRCUIT, REACH, compile_wheel, run_abc, run_yosys, trace
from tb.run.console import Console
from tb.setup import tools

MODULE = ROOT / "tb/prove/protocol.sv"
REPORTS = Path("sim_build/prove-dut")
DEPTH = 14
"""Clocks after the reset."""
SECONDS = 300
"""Time limit of the circuit, and of the search."""
GRACE_SECONDS = 15
"""Time after its limit in which ABC stops by itself."""
TAG_WIDTH = 4
"""Bits of a tag, where the manifest claims them."""
OUTSTANDING = 2
"""Bursts in flight in each direction: the limit that a short search reaches."""

LOWERED = CIRCUIT.index("memory -nomap")
"""Commands of Yosys after which labels are cells, and memories are still memories."""

UNJUDGED = {
    "FLAG-READ": "needs the flags that an op names",
    "FLAG-CLEAR": "needs the flags that an op names",
    "FLAG-NOT-SET": "needs the flags that are set",
    "DESC-MIXED": "is about the bench alone",
}
"""Rules without X that are neither asserted nor assumed, and why."""

STRIDED = {"mte_gm_ub", "mte_gm_l1", "mte_ub_gm"}
"""Ops of which the module knows the D rules."""

REACHED = {
    "reach_descriptor": "a descriptor is taken",
    "reach_two_descriptors": "two descriptors are open",
    "reach_ar": "AR is taken",
    "reach_r": "an R beat is taken",
    "reach_aw": "AW is taken",
    "reach_w": "a W beat is taken",
    "reach_b": "a B is taken",
    "reach_src": "a local read is granted",
    "reach_dst": "a local write is granted",
    "reach_par": "a read of par is granted",
    "reach_flag": "a request of flag is granted",
    "reach_done": "a done with status 0",
    "reach_done_of_a_copy": "a done with status 0 after an access",
    "reach_done_with_rule": "a done with the number of a rule",
    "reach_done_with_error": "a done with an error",
}
"""Labels of states, in words."""


class LateError(PtoError):
    """The limit ended Yosys before anything was searched."""

    exit_code = 3


@dataclass(frozen=True)
class Result:
    """What a search found.

    Attributes:
        depth: Clocks after the reset that were searched in full.
        broken: Label to the clock of its violation.
        reached: Labels of the states that occur.
        late: Whether ABC was ended, as it did not stop at its limit.
    """

    depth: int
    broken: Mapping[str, int]
    reached: frozenset[str]
    late: bool = False


def label_of(rule: str) -> str:
    """Returns the label of a rule, AR-4K as ``ar_4k``."""
    return rule.lower().replace("-", "_")


def labels_of(slot: str) -> tuple[str, ...]:
    """Returns the labels of the assertions for an engine of a slot."""
    text = re.sub(r"`else.*?`endif", "", MODULE.read_text(), flags=re.DOTALL)
    if slot != "fix":
        text = re.sub(r"`ifdef PTO_FIX.*?`endif", "", text, flags=re.DOTALL)
    return tuple(re.findall(r"^\s*(\w+): assert", text, re.MULTILINE))


def _legal(manifest: Manifest) -> tuple[str, ...]:
    """Returns the D rules of its ops that a block does not report: descriptors obey them."""
    rules = {rule for op in manifest.ops for rule in OPS[op].rule_names}
    return tuple(sorted(rules - set(manifest.d_rules)))


def _assumed(manifest: Manifest) -> set[int]:
    """Returns the numbers of the DMA rules that descriptors obey in the module of the protocol."""
    numbers = {int(rule[5:]) for rule in _legal(manifest) if rule.startswith("DMA-L")}
    if not manifest.capabilities.pad or numbers & {3, 9, 10}:
        numbers.add(9)  # no row is padded
    if not manifest.capabilities.atomic_stores or numbers & {16, 17}:
        numbers.add(17)  # no store is atomic
    return numbers


def _range(port: Port, slot: str, values: Mapping[str, int]) -> str:
    return f"[{port.bits(slot, values) - 1}:0] {port.name}"


def wrapper(manifest: Manifest, values: Mapping[str, int]) -> str:
    """Returns module ``prove``: the block and the rules on the same wires, with free inputs.

    Args:
        manifest: The block.
        values: Parameters of the contract.
    """
    can, slot = manifest.capabilities, manifest.slot
    ports = ports_of(slot)
    inputs = [port for port in ports if port.direction == "input" and port.name != "rst_ni"]
    wires = ", ".join(f".{port.name}({port.name})" for port in ports)
    passed = {name: value for name, value in values.items() if name in STANDARD_PARAMETERS}
    own = {**passed, **manifest.parameters_under(manifest.claim)}
    rules = {
        **values,
        "SrcDataWidth": values.get("SrcDataWidth", values["LocalDataWidth"]),
        "Ops": f"256'd{sum(1 << OPS[op].opcode for op in manifest.ops)}",
        "Legal": f"32'd{sum(1 << number for number in _assumed(manifest))}",
        "Loops": can.loops,
        **{f"{kind.title()}Errors": int(kind in can.errors) for kind in ("read", "write", "local")},
    }
    return "\n".join(
        [
            "// SPDX-License-Identifier: Apache-2.0",
            f"// Written by `pto-dv prove` for {manifest.title}.",
            "module prove (",
            ",\n".join(
                ["  input wire [4:0] pick_i"]
                + [f"  input wire {_range(port, slot, values)}" for port in inputs]
            ),
            ");",
            "  reg rst_ni = 1'b0;",
            "  always @(posedge clk_i) rst_ni <= 1'b1;",
            *(
                f"  wire {_range(port, slot, values)};"
                for port in ports
                if port.direction == "output"
            ),
            f"  {manifest.module} #({_named(own)}) u_dut ({wires});",
            f"  pto_protocol #({_named(rules)}) u_protocol (.pick_i(pick_i), {wires});",
            "endmodule",
            "",
        ]
    )


def _named(values: Mapping[str, object]) -> str:
    return ", ".join(f".{name}({value})" for name, value in values.items())


def _here(path: str | Path) -> str:
    """Returns a path as Yosys takes it: the wheel sees files by relative paths alone."""
    return os.path.relpath(path, ROOT)


def reading(manifest: Manifest) -> str:
    """Returns what follows ``read_verilog`` of Yosys for the sources of a block."""
    words = [f"-D{name}={value}" for name, value in manifest.defines.items()]
    words += [f"-I{_here(name)}" for name in manifest.include_dirs]
    return " ".join([*words, *map(_here, verilog_of(manifest.sources))])


def prepare(
    manifest: Manifest,
    values: Mapping[str, int],
    folder: Path,
    rules: Sequence[str],
    seconds: float,
) -> tuple[str, ...]:
    """Writes the circuit of a block and its rules: ``all.aig``, with an output for each label.

    Args:
        manifest: The block.
        values: Parameters of the contract.
        folder: Folder of the files.
        rules: Labels to keep; none for all.
        seconds: Limit of the time.

    Returns:
        The labels, in the order of the outputs.

    Raises:
        PtoError: Yosys cannot read a source.
        LateError: it takes longer than the limit.
    """
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    (ROOT / folder / "prove.sv").write_text(wrapper(manifest, values))
    ours = "-Irtl_stubs/common" + (" -DPTO_FIX" if manifest.slot == "fix" else "")
    others = " ".join(f"n:u_protocol.{label} %d" for label in rules)
    script = [
        f"read_verilog -sv -formal {reading(manifest)}",
        f"read_verilog -sv -formal {ours} {_here(MODULE)} {folder}/prove.sv",
        *CIRCUIT[:LOWERED],
        *([f"delete t:$assert {others}", "opt_clean"] if rules else []),  # and what they need
        *CIRCUIT[LOWERED:],
        f"tee -q -o {folder}/labels select -list t:$assert",
        f"write_aiger -zinit -no-startoffset -vmap {folder}/all.map {folder}/all.aig",
    ]
    started = time.monotonic()
    code, output = run_yosys(script, folder / "prepare.ys", seconds)
    if code and code != tools.LATE:
        refused = [line for line in output.splitlines() if "ERROR" in line] or [output[-500:]]
        raise PtoError(
            f"Yosys cannot read {manifest.title}: {refused[-1].strip()}",
            where=str(folder / "prepare.ys"),
            legal="the part of SystemVerilog that `read_verilog -sv` of Yosys takes",
            remedy="rewrite the line that it names; the script runs alone with `yosys -s`",
        )

    fold = f"read_aiger {folder}/all.aig; fold; write_aiger {folder}/folded.aig"
    left = seconds - (time.monotonic() - started)
    if code == tools.LATE or run_abc(fold, folder / "fold.ys", max(left, 1)) == tools.LATE:
        raise LateError(
            f"UNDECIDED Yosys was ended after {seconds:.0f} s, before it had made the circuit of "
            f"{manifest.title}: nothing was searched",
            where=str(folder / "prepare.ys"),
            legal="--seconds limits the circuit, and then the search",
            remedy=f"raise the limit, such as --seconds {5 * seconds:.0f}",
        )
    listed = (ROOT / folder / "labels").read_text()
    return tuple(re.findall(r"^prove/u_protocol\.(\w+)$", listed, re.MULTILINE))


def _parts(path: Path) -> tuple[bytes, list[bytes], bytes]:
    """Returns what is before the outputs of a binary AIGER file, their literals, and the rest."""
    head, _, rest = path.read_bytes().partition(b"\n")
    latches, outputs = map(int, head.split()[3:5])
    *lines, gates = rest.split(b"\n", latches + outputs)
    return b"\n".join([head, *lines[:latches], b""]), lines[latches:], gates


def _part(folder: Path, name: str, kept: Collection[int]) -> None:
    """Writes the circuit with some of its outputs; the others are 0, which is not a violation."""
    before, outputs, gates = _parts(ROOT / folder / "folded.aig")
    lines = [line if at in kept else b"0" for at, line in enumerate(outputs)]
    (ROOT / folder / f"{name}.aig").write_bytes(before + b"\n".join([*lines, gates]))


def search(folder: Path, labels: Sequence[str], depth: int, seconds: float) -> Result:
    """Searches violations and reached states in up to ``depth`` clocks after the reset.

    Two processes take half of the labels each.

    Args:
        folder: Folder with the circuit.
        labels: Its outputs.
        depth: Clocks after the reset, which is clock 0.
        seconds: Limit of the time.
    """
    halves = [range(first, len(labels), 2) for first in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(partial(_search, folder, labels, depth, seconds), halves)
    return Result(
        min(one.depth, two.depth),
        {**one.broken, **two.broken},
        one.reached | two.reached,
        one.late or two.late,
    )


def _search(folder: Path, labels: Sequence[str], depth: int, seconds: float, half: range) -> Result:
    name = f"half{half.start}"
    files = [ROOT / folder / f"{name}{end}" for end in (".log", "-after.aig")]
    for old in files:
        old.unlink(missing_ok=True)
    _part(folder, name, half)
    started = time.monotonic()
    # ABC replaces an output that it has answered by a constant, which the second file shows.
    limits = f"-F {depth + 1} -T {seconds:.0f} -W {folder}/{name}.log"
    commands = f"read_aiger {folder}/{name}.aig; bmc3 -a -d -g {limits}"
    after = f"write_aiger {folder}/{name}-after.aig"
    code = run_abc(f"{commands}; {after}", folder / f"{name}.ys", seconds + GRACE_SECONDS)
    if not all(path.is_file() for path in files):
        return Result(0, {}, frozenset(), code == tools.LATE)  # ABC did not come to its end.
    tried: dict[int, int] = {}
    clock = 0
    for line in files[0].read_text().splitlines():
        _, frame, _, number, *_ = line.split()
        clock = int(frame)
        tried[int(number)] = clock
    whole = clock == depth and time.monotonic() - started < seconds
    (_, before, _), (_, rest, _) = _parts(ROOT / folder / f"{name}.aig"), _parts(files[1])
    found = {labels[at]: tried[at] for at in half if before[at] != rest[at] == b"0"}
    reached = frozenset(label for label in found if label.startswith(REACH))
    broken = {label: last for label, last in found.items() if label not in reached}
    return Result(depth if whole else max(clock - 1, 0), broken, reached)


def story(
    folder: Path, labels: Sequence[str], label: str, clock: int, seconds: float
) -> Path | None:
    """Writes the inputs of a violation, clock by clock, and a waveform; returns the first file.

    Without a file the limit has ended ABC.

    Args:
        folder: Folder of the circuit.
        labels: Its outputs.
        label: The one that is violated.
        clock: Clock of the violation.
        seconds: Limit of the time.
    """
    (ROOT / folder / f"{label}.cex").unlink(missing_ok=True)
    _part(folder, label, {labels.index(label)})
    search = f"bmc3 -g -F {clock + 1}; write_cex -a {folder}/{label}.cex"
    limit = seconds + GRACE_SECONDS
    run_abc(f"read_aiger {folder}/{label}.aig; {search}", folder / f"{label}.ys", limit)
    if not (ROOT / folder / f"{label}.cex").is_file():
        return None
    return trace(folder, label, "all")[1]


def verdicts(
    labels: Sequence[str], result: Result, stories: Mapping[str, Path | None]
) -> Iterator[str]:
    """Yields a line for each rule that was judged."""
    names = {label_of(name): name for name in RULES}
    for label in labels:
        if label in result.broken:
            rule = RULES[names[label]]
            yield f"VIOLATED at clock {result.broken[label]}  {rule.name}: {rule.text}"
            if text := stories[label]:
                yield f"  inputs by clock: {text}, waveform: {text.with_suffix('.vcd')}"
            else:
                yield "  inputs by clock: not written, the limit of --seconds ended ABC"
        elif label in names:
            need = f"{REACH}{label.split('_')[0]}"
            quiet = need in labels and need not in result.reached and "reset" not in label
            never = f" (never: {REACHED[need]})" if quiet else ""
            yield f"holds to depth {result.depth}  {names[label]}{never}"


def limits(manifest: Manifest, labels: Sequence[str], result: Result) -> list[str]:
    """Returns lines on what was not covered, not judged, and assumed."""
    lines = []
    missed = [
        REACHED[label] for label in REACHED if label in labels and label not in result.reached
    ]
    if missed:
        lines.append(f"not covered within {result.depth} clocks: {'; '.join(missed)}")
    side = ("PAR-", "FLAG-", "DONE-EARLY-PAR", "DONE-EARLY-FLAG", "X-PAR", "X-FLAG")
    rules = [r for r in RULES.values() if manifest.slot == "fix" or not r.name.startswith(side)]
    unknown = ", ".join(rule.name for rule in rules if rule.needs_x)
    lines.append(f"not judged: {unknown}: values here are 0 and 1")
    lines += [
        f"not judged: {rule.name}: {UNJUDGED[rule.name]}" for rule in rules if rule.name in UNJUDGED
    ]
    memory = [r.name for r in rules if r.who == "memory" and not r.needs_x]
    lines.append(f"assumed: {', '.join(name for name in memory if name not in UNJUDGED)}")
    can = manifest.capabilities
    lines.append("assumed: one reset, in clock 0, out of any state; data after their address")
    lines.append(f"assumed: descriptors of {', '.join(manifest.ops)}, at most 15 open")
    if set(manifest.ops) & STRIDED:
        no = ["padded rows"] if 9 in _assumed(manifest) and "mte_gm_ub" in manifest.ops else []
        no += ["atomic stores"] if 17 in _assumed(manifest) and "mte_ub_gm" in manifest.ops else []
        words = "".join(f", no {word}" for word in no)
        lines.append(f"assumed: strided copies have at most {can.loops} loops{words}")
    if legal := _legal(manifest):
        lines.append(f"assumed: descriptors of strided copies obey {', '.join(legal)}")
        if "DMA-L12" in legal:
            lines.append("assumed: with DMA-L12, at most 2 rows and 2 iterations of each loop")
    if legal and set(manifest.ops) - STRIDED:
        lines.append("free: every other descriptor; one that breaks a rule may cause a violation")
    kinds = [kind for kind in ("read", "write", "local") if kind not in can.errors]
    if kinds:
        lines.append(f"assumed: no errors of {', '.join(kinds)}")
    return lines


def chosen_rules(text: str, slot: str) -> list[str]:
    """Returns the labels of a comma list of rules; none for all.

    Raises:
        PtoError: one is not judged.
    """
    known = {name: label_of(name) for name in RULES if label_of(name) in labels_of(slot)}
    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise PtoError(
                f"rule {name!r} is not judged{meant(name, known)}",
                where="--rules",
                legal=", ".join(known),
            )
    return [known[name] for name in names]


def prove_dut(
    manifest: Manifest,
    widths: Widths,
    outstanding: int,
    depth: int = DEPTH,
    seconds: float = SECONDS,
    rules: str = "",
    stories: bool = True,
    console: Console | None = None,
) -> tuple[tuple[str, ...], Result, dict[str, Path | None]]:
    """Searches violations of the rules by the block of a manifest.

    Args:
        manifest: The block.
        widths: Widths of the circuit.
        outstanding: ``NumOutstanding``.
        depth: Clocks after the reset.
        seconds: Limit of the circuit, of the search, and of the inputs of each violation.
        rules: Names of rules, separated by commas; empty for all, and for what is reached.
        stories: Whether to write the inputs of violations.
        console: Prints what runs; None for nothing.

    Returns:
        The labels, what was found, and of each violated label a file with the inputs.

    Raises:
        PtoError: the manifest does not claim these widths, or Yosys cannot read a source.
    """
    manifest.check_run(widths.gm, widths.local, widths.tag)
    values = {**widths.parameters(manifest.slot), "NumOutstanding": outstanding}
    folder = REPORTS / re.sub(r"\W", "_", manifest.title)
    console, chosen = console or Console(quiet=True), chosen_rules(rules, manifest.slot)
    with console.working("Yosys, the circuit"):
        labels = prepare(manifest, values, folder, chosen, seconds)
    with console.working(f"ABC, the search to depth {depth}"):
        result = search(folder, labels, depth, seconds)
    files = {}
    for label, clock in result.broken.items() if stories else ():
        with console.working(f"ABC, the inputs of {label}"):
            files[label] = story(folder, labels, label, clock, seconds)
    return labels, result, files


def narrow(
    manifest: Manifest, gm: int | None = None, local: int | None = None, tag: int | None = None
) -> Widths:
    """Returns the widths of the circuit, bits: the least that a manifest claims unless given."""
    least, most = manifest.capabilities.tag_widths
    tag = tag or min(max(least, TAG_WIDTH), most)
    return run_widths([manifest], gm, local, tag, narrowest=True)


def prove_command(
    manifest: Manifest, widths: Widths, outstanding: int, depth: int, seconds: int, rules: str
) -> int:
    """Judges a block and prints the verdicts.

    Args:
        manifest: The block.
        widths: Widths of the circuit.
        outstanding: Bursts in flight; no more than the manifest claims.
        depth: Clocks after the reset.
        seconds: Limit of the search.
        rules: Names of rules, separated by commas; empty for all.

    Returns:
        The exit code: 0 when all hold to the depth, 1 for a violation, 3 when the time ended.

    Raises:
        PtoError: the manifest does not claim these widths or has black boxes, or Yosys cannot read
            a source.
    """
    if manifest.black_boxes:
        raise PtoError(
            f"{manifest.title} has black boxes, which Yosys cannot read: "
            + ", ".join(manifest.black_boxes),
            where=f"{manifest.path}, black_boxes",
            remedy="use a manifest with their sources, or with simple modules in their place",
        )
    started, console = time.monotonic(), Console()
    most = min(outstanding, manifest.capabilities.outstanding)
    print(
        f"{manifest.title} ({manifest.slot}): {widths}, {most} bursts in flight",
        flush=True,
    )
    compiled = compile_wheel(console)
    labels, result, stories = prove_dut(
        manifest, widths, most, depth, seconds, rules, console=console
    )
    print("\n".join([*verdicts(labels, result, stories), *limits(manifest, labels, result)]))
    judged = sum(not label.startswith(REACH) for label in labels)
    if result.late:
        print(f"ABC was ended after {seconds + GRACE_SECONDS} s, it did not stop at its limit")
    if compiled:
        print(f"compilation of Yosys {compiled:.0f} s, once, beside the limit of {seconds} s")
    short = f" of {depth}" if result.depth < depth else ""
    end = "FAIL" if result.broken else "UNDECIDED" if short else "BOUNDED"
    print(
        f"{end} {judged - len(result.broken)} of {judged} rules hold to depth "
        f"{result.depth}{short}, which is not a proof, {time.monotonic() - started:.0f} s"
    )
    return 1 if result.broken else 3 if short else 0
