# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the harness around broken_dma.v; one build serves all tests of a simulator."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tb.dut.manifest import Capabilities, Manifest
from tb.harness.mailbox_reader import MAILBOX_ENV, MailboxReader
from tb.isa.spaces import Space
from tb.run.build import Build, build
from tb.run.plan import BuildPlan
from tb.run.simulate import simulate

HERE = Path(__file__).resolve().parent
COMMON = HERE.parents[1] / "rtl_stubs/common"
WALL_SECONDS = 120
MTE1, MTE2, MTE3, FIX = range(4)
READ, WRITE = 1, 2
WRITE_BACK = 10
"""Opcode of an op that may wait for unit flags."""

UNIT_FLAG_LSB = 158
"""First bit of field unit_flag of a write-back descriptor, checked by test_flags.py."""

LIBRARY_ENV, SIM_ENV, WIDTH_ENV, RESULT_ENV, LOCAL_ENV, OPS_ENV = (
    f"PTO_TEST_{name}" for name in ("LIBRARY", "SIM", "WIDTH", "RESULT", "LOCAL", "OPS")
)


def manifest(slot: str, module: str = "broken_dma") -> Manifest:
    """Returns broken_dma.v, or another engine beside it, as the engine of ``slot``."""
    source = str(HERE / f"verilog/{module}.v")
    return Manifest(
        module=module,
        slot=slot,
        sources=(source,),
        include_dirs=(str(COMMON),),
        capabilities=Capabilities(ops=()),
        path=module,
    )


def mini_build(sim: str, width: int = 256) -> Build:
    """Builds the harness with the broken engine in two slots."""
    return build(
        BuildPlan(
            sim=sim,
            manifests=(manifest("mte2"), manifest("mte3")),
            gm_width=width,
            local_width=width,
            variant="mini",
            fast_build=True,
        )
    )


def slots_build(sim: str, width: int = 256) -> Build:
    """Builds the harness with an engine in every slot: local_dma.v in mte1 and fix."""
    return build(
        BuildPlan(
            sim=sim,
            manifests=(
                manifest("mte1", "local_dma"),
                manifest("mte2"),
                manifest("mte3"),
                manifest("fix", "local_dma"),
            ),
            gm_width=width,
            local_width=width,
            variant="slots",
            fast_build=True,
        )
    )


def flag_build(sim: str, width: int = 256) -> Build:
    """Builds the harness with flag_dma.v in slot fix alone."""
    return build(
        BuildPlan(
            sim=sim,
            manifests=(manifest("fix", "flag_dma"),),
            gm_width=width,
            local_width=width,
            variant="flags",
            fast_build=True,
        )
    )


def stress_build(sim: str, width: int = 256) -> Build:
    """Builds the harness with stress_dma.v in slots mte2, mte3 and fix."""
    return build(
        BuildPlan(
            sim=sim,
            manifests=tuple(manifest(slot, "stress_dma") for slot in ("mte2", "mte3", "fix")),
            gm_width=width,
            local_width=width,
            variant="stress",
            fast_build=True,
        )
    )


def script_build(sim: str, width: int = 256) -> Build:
    """Builds the harness with script_dma.v in slot fix alone."""
    return build(
        BuildPlan(
            sim=sim,
            manifests=(manifest("fix", "script_dma"),),
            gm_width=width,
            local_width=width,
            variant="script",
            fast_build=True,
        )
    )


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
        stalled=lambda: time.monotonic() > limit,
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
    """Packs a descriptor of broken_dma.v, ``uint32[16]``."""
    value = opcode | fault << 8 | words << 16 | gm << 32 | ub << 80
    return np.frombuffer(value.to_bytes(64, "little"), dtype="<u4").copy()


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
    return np.frombuffer(value.to_bytes(64, "little"), dtype="<u4").copy()


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
        return np.frombuffer(value.to_bytes(64, "little"), dtype="<u4").copy()


class FlagFault(IntEnum):
    """Faults of flag_dma.v, numbered as there."""

    NONE = 0
    IGNORES_FLAGS = 1
    JUNK_FLAGS = 2
    CLEARS_FIRST = 3
    CLEARS_EARLY = 4
    FLAG_FALLS = 5
    FLAG_MOVES = 6
    NO_MASK = 7
    NEEDLESS_READ = 8
    NEEDLESS_CLEAR = 9
    CLEAR_AT_DONE = 10
    FLAG_OPEN = 11
    FLAG_IDLE = 12
    FLAG_RESET = 13
    PAR_FALLS = 14
    PAR_MOVES = 15
    PAR_ODD = 16
    PAR_SPACE = 17
    PAR_OUTSIDE = 18
    PAR_OPEN = 19
    PAR_IDLE = 20
    PAR_RESET = 21
    AR_BEFORE_B = 22
    AR_BEFORE_AW = 23
    X_PAR_REQ = 24
    X_FLAG_REQ = 25
    X_PAR_ADDR = 26
    X_FLAG_MASK = 27
    X_RESET = 28


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
    opcode: int = 10
    wrong_beat: int = 0
    wrong_len: int = 0

    def pack(self) -> NDArray[np.uint32]:
        """Returns the descriptor, ``uint32[16]``."""
        value = self.opcode | self.fault << 8 | self.par << 16 | self.src << 20 | self.times << 24
        value |= self.fb << 28 | self.l0c << 48 | self.ub << 68 | self.gm << 88
        value |= (self.wrong_beat & 0xFFF) << 132 | self.wrong_len << 144
        value |= self.word << 128 | self.unit_flag << UNIT_FLAG_LSB | self.mask << 161
        return np.frombuffer(value.to_bytes(64, "little"), dtype="<u4").copy()


class Fault(IntEnum):
    """Faults of broken_dma.v, numbered as there."""

    NONE = 0
    AR_FALLS = 1
    AR_MOVES = 2
    AR_FIXED = 3
    AR_NARROW = 4
    AR_CROSSES = 5
    AR_ID = 6
    AR_MANY = 7
    AW_FALLS = 8
    AW_MOVES = 9
    AW_FIXED = 10
    AW_NARROW = 11
    AW_CROSSES = 12
    AW_ID = 13
    AW_MANY = 14
    W_FALLS = 15
    W_MOVES = 16
    W_LAST_EARLY = 17
    W_LAST_NEVER = 18
    W_EXTRA = 19
    DONE_BEFORE_B = 20
    DONE_BEFORE_DST = 21
    DONE_TAG = 22
    DONE_TWICE = 23
    DONE_FALLS = 24
    DONE_MOVES = 25
    TRAFFIC_IDLE = 26
    BUSY_LOW = 27
    BUSY_STUCK = 28
    SRC_FALLS = 29
    SRC_MOVES = 30
    SRC_ODD = 31
    SRC_SPACE = 32
    DST_FALLS = 33
    DST_MOVES = 34
    DST_ODD = 35
    DST_SPACE = 36
    DST_OUTSIDE = 37
    SRC_OUTSIDE = 38
    AR_RESET = 39
    AW_RESET = 40
    W_RESET = 41
    DONE_RESET = 42
    SRC_RESET = 43
    DST_RESET = 44
    DONE_RULE = 45
    DONE_BEFORE_R = 46
    HANG = 47
    W_BELOW = 48
    X_ARVALID = 49
    X_WDATA = 50
    X_DST = 51
    X_ARADDR = 52
    X_RESET = 53
    X_DST_BE = 54
    X_WSTRB = 55
    X_DONE = 56
    X_AW = 57
    X_REQ = 58
    X_AWVALID = 59
