# SPDX-License-Identifier: Apache-2.0
"""Proofs that a mutant is not a fault: its module does the same with it and without it.

Yosys reads each engine twice, as it is and with the mutant, at the parameters of the runs. Both
forms of the module that has the mutant, in each of its sets of parameters, get the same inputs,
whatever they are, and begin with registers of 0. Where the ABC inside Yosys proves that their
outputs are always equal, no bench can find the mutant. A difference at the module may still be one
that the engine around it never lets occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.manifest import STANDARD_PARAMETERS, Manifest
from tb.dut.widths import Widths
from tb.isa.profile import Profile
from tb.prove.dut import reading
from tb.prove.rtl import CIRCUIT, PROVEN, Unit, decide, run_yosys
from tb.qualify.mutants import Mutant, Sources, plant

SECONDS = 10
"""Time limit of a proof."""

PLAIN = "_plain"
"""End of the names of modules without the mutant."""

Engine = tuple[int, Mapping[str, int | str], Mapping[str, str]]
"""An engine by its place, its parameters, and its modules in RTLIL by name."""


def equivalent(
    sources: Sources,
    mutants: Sequence[Mutant],
    widths: Widths,
    profiles: Sequence[Profile],
    folder: Path,
) -> Iterator[tuple[Mutant, bool]]:
    """Decides for each mutant whether it is proven to be equivalent.

    Args:
        sources: Sources of the engines.
        mutants: The mutants.
        widths: Widths of the runs.
        profiles: Profiles of the runs.
        folder: Folder of the files, relative to the project.

    Raises:
        PtoError: Yosys cannot read the engines.
    """
    if not mutants:
        return
    engines: list[Engine] = []
    for at, one in enumerate(sources.manifests):
        of_widths = widths.parameters(one.slot).items()
        standard = {name: value for name, value in of_widths if name in STANDARD_PARAMETERS}
        for values in ({**standard, **one.parameters_under(profile)} for profile in profiles):
            if (at, values) not in [engine[:2] for engine in engines]:
                engines.append((at, values, circuit(folder / "equal", one, values)))
    if not all(modules for _, _, modules in engines):
        raise PtoError(
            "Yosys cannot read the engines",
            where=f"{folder / 'equal'}/engine.ys",
            legal="the part of SystemVerilog that `read_verilog -sv` of Yosys takes",
            remedy="run the script alone with `yosys -s`: it names a line",
        )
    with ThreadPoolExecutor(2) as pool:
        reasons = pool.map(partial(_equivalent, sources, engines, folder), mutants)
        yield from zip(mutants, reasons, strict=True)


def circuit(folder: Path, manifest: Manifest, values: Mapping[str, int | str]) -> dict[str, str]:
    """Returns the modules of an engine in RTLIL, by name; none if Yosys cannot read a source."""
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    set_to = [
        f"-chparam {name} {value}" if isinstance(value, int) else f'-chparam {name} "{value}"'
        for name, value in values.items()
    ]
    script = [
        f"read_verilog -sv {reading(manifest)}",
        " ".join([f"hierarchy -check -top {manifest.module}", *set_to]),
        "proc",
        "opt_expr",
        "opt_clean",
        f"write_rtlil {folder}/engine.il",
    ]
    code, _ = run_yosys(script, folder / "engine.ys", 120)
    if code:
        return {}
    text = (ROOT / folder / "engine.il").read_text()
    found = re.findall(r"^(?:attribute .*\n)*module (\S+)\n((?:.*\n)*?)end$", text, re.MULTILINE)
    return dict(found)


def _equivalent(sources: Sources, engines: Sequence[Engine], folder: Path, mutant: Mutant) -> bool:
    here = folder / f"equal-{mutant.number}"
    alone = plant(sources, [mutant], here, alone=True)
    proven: set[str] = set()
    for at, values, before in engines:
        # Yosys names them \module, $paramod\module\parameters or $paramod$digest\module.
        names = {name for name in before if name.split("\\")[1] in mutant.modules} - proven
        if not names:
            continue  # The engine does not have the module, or in ways that are proven.
        after = circuit(here, alone.manifests[at], values)
        if set(before) != set(after):
            return False
        # Short ones: Yosys does not find all that it has made of parameters.
        short = {name: f"\\module_{number}" for number, name in enumerate(before)}
        every = [
            f"module {short[name]}{end}\n{_renamed(body, short, end)}end\n"
            for modules, end in ((before, PLAIN), (after, ""))
            for name, body in modules.items()
        ]
        (ROOT / here / "both.il").write_text("autoidx 1000000\n" + "".join(every))
        if not all(_same(before[name], short[name], here) for name in sorted(names)):
            return False
        proven |= names
    return bool(proven)


def _renamed(body: str, names: Mapping[str, str], end: str) -> str:
    """Returns a module with other names of its parts, and this end of each."""

    def new(found: re.Match[str]) -> str:
        return f"  cell {names[found[1]]}{end}" if found[1] in names else found[0]

    return re.sub(r"^  cell (\S+)", new, body, flags=re.MULTILINE)


def _same(body: str, name: str, folder: Path) -> bool:
    (ROOT / folder / "equal.sv").write_text(pair(body, name))
    script = [
        f"read_rtlil {folder}/both.il",
        f"read_verilog -sv -formal {folder}/equal.sv",
        *CIRCUIT,
        "setundef -init -zero",  # Else registers without a reset differ at the start.
        f"tee -q -o {folder}/same.cell dump t:$assert",
        f"write_aiger -zinit -no-startoffset -vmap {folder}/same.map {folder}/same.aig",
    ]
    code, _ = run_yosys(script, folder / "equal.ys", 120)
    if code:
        return False
    unit = Unit(name, (), ({},), ("same",), registers=False)
    return decide(unit, "", folder, SECONDS, "same").verdict == PROVEN


def pair(body: str, name: str) -> str:
    """Returns module ``prove``: a module with the mutant and one without, on the same inputs."""
    pattern = r"^  wire (?:width (\d+) )?(?:upto )?(input|output) \d+ \\(\S+)$"
    ports = [
        (way, port, int(width or 1)) for width, way, port in re.findall(pattern, body, re.MULTILINE)
    ]
    inputs = [(port, bits) for way, port, bits in ports if way == "input"]
    outputs = [(port, bits) for way, port, bits in ports if way == "output"]
    lines = ["module prove ("]
    lines.append(",\n".join(f"  input wire [{bits - 1}:0] {port}" for port, bits in inputs))
    lines.append(");")
    for copy, end in (("its", ""), ("our", PLAIN)):
        lines += [f"  wire [{bits - 1}:0] {copy}_{port};" for port, bits in outputs]
        pins = [f".{port}({port})" for port, _ in inputs]
        pins += [f".{port}({copy}_{port})" for port, _ in outputs]
        lines.append(f"  {name[1:]}{end} u_{copy} ({', '.join(pins)});")
    equal = " && ".join(f"its_{port} == our_{port}" for port, _ in outputs)
    return "\n".join([*lines, f"  always @* same: assert({equal});", "endmodule", ""])
