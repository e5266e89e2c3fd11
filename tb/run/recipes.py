# SPDX-License-Identifier: Apache-2.0
"""The simulators of cocotb, and how each loads the C memory.

Verilator links it, Icarus loads it as a VPI module; the others load a shared library and call it
by DPI. docs/simulators.md lists those that the tests of this project run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tb.common.errors import PtoError
from tb.record.settings import SIMULATOR_NAMES, SimulatorName

TOP = "pto_harness"
"""Module that is simulated; Verilator's program has its name."""

LIBRARY = "pto_mem"
"""Stem of the C memory's shared library, in the build folder."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """One simulator.

    Attributes:
        name: Value of ``SIM=``, as in cocotb.
        title: Its full name.
        program: The program that must be on the PATH.
        tested: The tests of this project run it.
        build_args: More arguments of its build; ``{library}`` is the path of the C memory's shared
            library, ``{stem}`` that without its suffix, ``{folder}`` the build folder.
        run_args: The same for the run.
        lists: It lists the files that a build reads, see :mod:`tb.run.inputs`.
        products: Files of its build that a run needs, where they work in any folder.
        suffix: Of the C memory's library; empty for a simulator that links it.
        timescale: Whether its build takes the time scale as an option.
        waves_in_build: Whether its build needs an option for waves.
        code_coverage: Whether its code coverage is supported.
    """

    name: SimulatorName
    title: str
    program: str
    tested: bool = False
    build_args: tuple[str, ...] = ()
    run_args: tuple[str, ...] = ()
    lists: bool = False
    products: tuple[str, ...] = ()
    suffix: str = ".so"
    timescale: bool = True
    waves_in_build: bool = False
    code_coverage: bool = False

    @property
    def library(self) -> str:
        """File name of the C memory's library, empty if there is none."""
        return LIBRARY + self.suffix if self.suffix else ""

    def check_code_coverage(self) -> None:
        """Checks that code coverage of this simulator is supported.

        Raises:
            PtoError: it is not.
        """
        if not self.code_coverage:
            able = [item.name for item in SIMULATORS.values() if item.code_coverage]
            raise PtoError(
                f"code coverage is not to be had of {self.title}",
                where=f"CODE_COVERAGE=1 with SIM={self.name}",
                legal=f"SIM={', '.join(able)}",
                remedy="run without CODE_COVERAGE, or use your simulator's own commands for it",
            )

    def build_words(self, folder: Path) -> list[str]:
        """Returns the arguments of a build in ``folder``."""
        return _filled(self.build_args, folder)

    def run_words(self, folder: Path) -> list[str]:
        """Returns the arguments of the runs of a build whose files are in ``folder``."""
        return _filled(self.run_args, folder)


def _filled(words: tuple[str, ...], folder: Path) -> list[str]:
    stem = folder / LIBRARY
    return [
        word.format(folder=folder, stem=stem, library=stem.with_suffix(".so")) for word in words
    ]


SIMULATORS: dict[str, Simulator] = {
    item.name: item
    for item in (
        Simulator("verilator", "Verilator", "verilator", tested=True, suffix="",
            lists=True, products=(TOP,), waves_in_build=True, code_coverage=True),
        Simulator(
            "icarus", "Icarus Verilog", "iverilog", tested=True, build_args=("-g2012",),
            run_args=("-M", "{folder}", "-m", LIBRARY), suffix=".vpi", waves_in_build=True,
            lists=True, products=("sim.vvp", f"{LIBRARY}.vpi"),
        ),
        Simulator(
            "questa", "Siemens Questa", "vsim", run_args=("-sv_lib", "{stem}"), timescale=False
        ),
        Simulator(
            "questa-qisqrun", "Siemens Questa, qrun flow", "qrun", run_args=("-sv_lib", "{stem}")
        ),
        Simulator(
            "xcelium", "Cadence Xcelium", "xrun", build_args=("-sv", "-sv_lib", "{library}"),
            run_args=("-sv_lib", "{library}"),
        ),
        Simulator(
            "vcs", "Synopsys VCS", "vcs", run_args=("-sv_lib", "{stem}"), timescale=False
        ),
        Simulator(
            "riviera", "Aldec Riviera-PRO", "vsimsa", run_args=("-sv_lib", "{stem}"),
            timescale=False,
        ),
        Simulator(
            "activehdl", "Aldec Active-HDL", "vsimsa", run_args=("-sv_lib", "{stem}"),
            timescale=False,
        ),
        Simulator(
            "dsim", "Siemens DSim", "dsim", build_args=("-sv_lib", "{library}"),
            run_args=("-sv_lib", "{library}"),
        ),
    )
}  # fmt: skip
"""Simulators that take Verilog, by name."""

VHDL_ONLY = {"ghdl": "GHDL", "nvc": "NVC"}
"""Simulators that cocotb supports and that cannot compile the harness."""


def simulator(name: str) -> Simulator:
    """Returns the simulator of this name.

    Raises:
        PtoError: there is none, or it takes VHDL alone.
    """
    if name in VHDL_ONLY:
        raise PtoError(
            f"{VHDL_ONLY[name]} compiles VHDL alone, the harness and the engines are Verilog",
            where="SIM= or --sim",
            legal=", ".join(SIMULATORS),
        )
    if name not in SIMULATORS:
        raise PtoError(
            f"simulator {name!r} is unknown", where="SIM= or --sim", legal=", ".join(SIMULATORS)
        )
    return SIMULATORS[name]


if tuple(SIMULATORS) != SIMULATOR_NAMES:
    raise AssertionError("SIMULATORS and SimulatorName name other simulators")
