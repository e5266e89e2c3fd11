# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the harness around engines of the folder verilog, and packs their commands."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tb.dut.manifest import Capabilities, Manifest, reference_manifests
from tb.harness.mailbox_reader import MAILBOX_ENV, MailboxReader
from tb.isa.spaces import Space
from tb.run.build import Build, build
from tb.run.folder import LOG
from tb.run.launch import Watch
from tb.run.plan import BuildPlan
from tb.run.simulate import simulate

HERE = Path(__file__).resolve().parent
COMMON = HERE.parents[1] / "rtl_stubs/common"
WALL_SECONDS = 120
MTE1, MTE2, MTE3, FIX = range(4)
READ, WRITE = 1, 2
GM = 0x12_3456_7000
"""Address of the first burst of most tests, at a 4 KiB boundary."""

WRITE_BACK = 10
"""Opcode of an op that may wait for unit flags."""

CHECK_ONLY, CHECK_AND_CLEAR = 2, 3
"""Values of its field unit_flag."""

UNIT_FLAG_LSB = 158
"""First bit of field unit_flag of a write-back descriptor, checked by test_unit_flags.py."""

LIBRARY_ENV, SIM_ENV, WIDTH_ENV, RESULT_ENV, LOCAL_ENV, OPS_ENV = (
    f"PTO_TEST_{name}" for name in ("LIBRARY", "SIM", "WIDTH", "RESULT", "LOCAL", "OPS")
)


ENGINES = {
    "copies": {"mte2": "copy_dma", "mte3": "copy_dma"},
    "slots": {"mte1": "local_dma", "mte2": "copy_dma", "mte3": "copy_dma", "fix": "local_dma"},
    "flags": {"fix": "flag_dma"},
    "stress": dict.fromkeys(("mte2", "mte3", "fix"), "stress_dma"),
    "script": dict.fromkeys(("mte2", "mte3", "fix"), "script_dma"),
}
"""Of each build the engine in each slot, a module of the folder verilog."""


def manifest(slot: str, module: str = "copy_dma") -> Manifest:
    """Returns an engine of the folder verilog as the engine of ``slot``."""
    source = str(HERE / f"verilog/{module}.v")
    return Manifest(
        module=module,
        slot=slot,
        sources=(source,),
        include_dirs=(str(COMMON),),
        capabilities=Capabilities(ops=()),
        path=module,
    )


def build_of(
    variant: str,
    engines: Iterable[Manifest],
    sim: str,
    width: int = 256,
    local_width: int = 0,
    outstanding: int = 16,
) -> Build:
    """Builds the harness around engines; local ports are as wide as that of GM if not given."""
    return build(
        BuildPlan(
            sim=sim,
            manifests=tuple(engines),
            gm_width=width,
            local_width=local_width or width,
            outstanding=outstanding,
            variant=variant,
            fast_build=True,
        )
    )


def bench_build(name: str, sim: str, width: int = 256) -> Build:
    """Builds the harness with the engines that :data:`ENGINES` has under ``name``."""
    engines = (manifest(slot, module) for slot, module in ENGINES[name].items())
    return build_of(name, engines, sim, width)


def reference_build(
    variant: str, slot: str, sim: str, width: int = 256, local_width: int = 0, outstanding: int = 16
) -> Build:
    """Builds the harness with the reference engine of one slot alone."""
    engines = (engine for engine in reference_manifests() if engine.slot == slot)
    return build_of(variant, engines, sim, width, local_width, outstanding)


def words_of(value: int) -> NDArray[np.uint32]:
    """Returns a descriptor as words, ``uint32[16]``."""
    return np.frombuffer(value.to_bytes(64, "little"), dtype="<u4").copy()


@dataclass(frozen=True)
class Session:
    """One simulation of several cocotb tests: the message of each, and the log."""

    failures: Mapping[str, str | None]
    log: str
    exit_code: int
    mailbox: MailboxReader
    folder: Path

    def assert_passed(self, test: str) -> None:
        """Asserts that a test passed and that the simulation ended properly."""
        failure = self.failures[test]
        assert failure is None, failure
        assert self.exit_code == 0


def run(
    built: Build,
    tests: Sequence[str],
    folder: Path,
    env: Mapping[str, str] | None = None,
    module: str = "tests.hdl.bench",
) -> Session:
    """Runs cocotb tests in one simulation; None in ``failures`` is a test that passed."""
    limit = time.monotonic() + WALL_SECONDS
    reader = MailboxReader.create(folder / "mailbox")
    result = simulate(
        built,
        module=module,
        class_name=",".join(tests),
        seed=1,
        run_dir=folder,
        watch=Watch(folder / LOG, stalled=lambda: time.monotonic() > limit),
        env={
            MAILBOX_ENV: str(folder / "mailbox"),
            LIBRARY_ENV: str(built.library or ""),
            SIM_ENV: built.plan.sim,
            WIDTH_ENV: str(built.plan.gm_width),
            RESULT_ENV: str(folder / "result.json"),
            **(env or {}),
        },
    )
    log = result.log.read_text(errors="replace")
    failures: dict[str, str | None] = dict.fromkeys(tests, f"did not run:\n{log[-4000:]}")
    if (folder / "results.xml").exists():
        for case in ElementTree.parse(folder / "results.xml").getroot().iter("testcase"):
            bad = [*case.iter("failure"), *case.iter("error")]
            failures[case.get("name", "")] = log[-6000:] if bad else None
    return Session(failures, log, result.exit_code, reader, folder)


def descriptor(opcode: int, words: int, gm: int, ub: int, fault: int = 0) -> NDArray[np.uint32]:
    """Packs a descriptor of copy_dma.v, ``uint32[16]``."""
    value = opcode | fault << 8 | words << 16 | gm << 32 | ub << 80
    return words_of(value)


class Late(IntEnum):
    """Late actions of local_dma.v, some clocks after a done, numbered as there."""

    WRITE = 0
    READ = 1
    DONE = 2
    BUSY = 3
    BURST = 4


def local_descriptor(
    words: int,
    source: tuple[Space, int],
    destination: tuple[Space, int],
    late: int = 0,
    what: Late = Late.WRITE,
    *,
    counting: bool = False,
) -> NDArray[np.uint32]:
    """Packs a descriptor of local_dma.v, ``uint32[16]``; ``words`` are those of its source."""
    value = words | source[0] << 8 | source[1] << 12 | destination[0] << 32 | destination[1] << 44
    value |= late << 64 | what << 80 | counting << 84
    return words_of(value)


class Access(IntEnum):
    """Commands of stress_dma.v, numbered as there."""

    NOTHING = 0
    READS = 1
    WRITES = 2
    SRC = 3
    DST = 4
    PAR = 5
    FLAG = 6


class Hold(IntFlag):
    """Flags of stress_dma.v: stalled channels; SIGNED: the done has a signature of the data."""

    NO_RREADY = 1
    NO_BREADY = 2
    NO_AW = 4
    NO_W = 8
    NO_DONE = 16
    REFUSE = 32
    SIGNED = 64


@dataclass(frozen=True)
class StressOp:
    """A command of stress_dma.v, which describes the fields; addresses are bytes."""

    access: Access
    count: int = 1
    beats: int = 1
    gm: int = 0
    local: int = 0
    space: Space = Space.GM
    delay: int = 0
    hold: int = 0

    def pack(self) -> NDArray[np.uint32]:
        """Returns the descriptor, ``uint32[16]``."""
        value = WRITE_BACK | self.access << 128 | (self.access is Access.FLAG) << UNIT_FLAG_LSB + 1
        value |= self.count << 8 | self.beats - 1 << 24 | self.gm << 32
        value |= self.local << 72 | self.space << 92 | self.delay << 96 | self.hold << 120
        return words_of(value)


class FlagFault(IntEnum):
    """Faults of flag_dma.v, numbered as there."""

    NONE = 0
    IGNORES_FLAGS = 1
    JUNK_FLAGS = 2
    CLEARS_FIRST = 3
    CLEARS_EARLY = 4
    FLAG_OPEN = 5
    PAR_OPEN = 6
    AR_BEFORE_B = 7


@dataclass(frozen=True)
class FlagOp:
    """A command of flag_dma.v, which describes the fields; addresses are bytes."""

    unit_flag: int = 0
    word: int = 0
    mask: int = 1
    par: int = 0
    src: int = 0
    times: int = 0
    fb: int = 0
    l0c: int = 0
    ub: int = 0
    gm: int = 0
    fault: int = 0
    opcode: int = WRITE_BACK
    wrong_beat: int = 0
    wrong_len: int = 0

    def pack(self) -> NDArray[np.uint32]:
        """Returns the descriptor, ``uint32[16]``."""
        value = self.opcode | self.fault << 8 | self.par << 16 | self.src << 20 | self.times << 24
        value |= self.fb << 28 | self.l0c << 48 | self.ub << 68 | self.gm << 88
        value |= (self.wrong_beat & 0xFFF) << 132 | self.wrong_len << 144
        value |= self.word << 128 | self.unit_flag << UNIT_FLAG_LSB | self.mask << 161
        return words_of(value)


class Fault(IntEnum):
    """Faults of copy_dma.v, numbered as there."""

    NONE = 0
    HANG = 1
    DONE_BEFORE_B = 2
    AR_RESET = 3
