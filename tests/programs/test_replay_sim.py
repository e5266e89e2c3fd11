# SPDX-License-Identifier: Apache-2.0
"""Programs on the engines: programs that pass, and the report of each error."""

from __future__ import annotations

import shutil
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tb.common.paths import ROOT
from tb.language.order.order import order
from tb.language.reader import read_file
from tb.language.run.walk import trace
from tb.programs.job import Check, Dump, Load, ProgramJob, Staged, set_flags, write_programs
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import PlannedTest
from tests.language.corpus.short import complete
from tests.wording import says

pytestmark = pytest.mark.sim

IN, OUT = 0x12_3456_7890, 0x80_0000_0001
"""GM addresses of the inputs and outputs of programs."""

SLOW = {"axi_read_latency": 100, "axi_write_latency": 100, "local_read_latency": 8}
"""Knobs of memories under which an op without its wait is too early."""


def program(body: str, *arguments: str) -> str:
    """Returns a program of ops in the short form of the corpus; those of ``body`` keep columns."""
    named = ", ".join(f"%a{n}: {kind}" for n, kind in enumerate(arguments))
    ops = body.strip("\n")
    return complete("kernel", f"func.func @kernel({named}) {{\n{ops}\n  return\n}}\n")[0]


def line_of(text: str, part: str) -> int:
    """Returns the line of the only occurrence of ``part``."""
    assert text.count(part) == 1, part
    return text[: text.index(part)].count("\n") + 1


SHARED_SLOT = program(
    """
  %bytes = arith.index_cast %c4096 : i64 to index
  %far = pto.addptr %a1, %bytes : I8_GM -> I8_GM
  pto.mte_gm_ub %a0, %u0, %c0, %c1024 nburst(%c1, %c1024, %c1024) : I8_GM, I8_UB, I64x5
  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.mte_ub_gm %u1_at_4096, %a1, %c1024 nburst(%c1, %c1024, %c1024) : I8_UB, I8_GM, I64x4
  pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID1"]
  pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID2"]
  pto.mte_ub_gm %u1_at_4096, %far, %c512 nburst(%c1, %c512, %c512) : I8_UB, I8_GM, I64x4
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.mte_ub_ub %u0, %u1_at_4096, %c32 nburst(%c1, %c0, %c0) : I8_UB, I8_UB, I64x4
  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID1"]
  pto.mte_ub_ub %u2_at_8192, %u1_at_4096, %c16 nburst(%c1, %c0, %c0) : I8_UB, I8_UB, I64x4
  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID2"]
""",
    "I8_GM",
    "I8_GM",
)
"""MTE3 precedes V in the text but waits for it, and both share a slot."""

LOADS = """
  pto.mte_gm_l1_frac %a0, %l1a, nd2nz, shape(%c48, %c32), src_layout(%c64),
    dst_group(%c1, %c1, %c48, %c0), ctrl(%c0, %false)
    : F16_GM, F16_L1, nd2nz, shape I64x2, src_layout(i64),
    dst_group I64x4, ctrl i64, i1
  pto.mte_gm_l1_frac %a1, %l1b_at_16384, nd2nz, shape(%c32, %c16), src_layout(%c32),
    dst_group(%c1, %c1, %c32, %c0), ctrl(%c0, %false)
    : F16_GM, F16_L1, nd2nz, shape I64x2, src_layout(i64),
    dst_group I64x4, ctrl i64, i1
  pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.mte_l1_l0a %l1a, %la, %c48, %c32, %c0, %c0 : F16_L1, F16_L0A, I64x4
  pto.mte_l1_l0b %l1b_at_16384, %lb_at_512, %c32, %c16, %c0, %c0
    {transpose = true} : F16_L1, F16_L0B, I64x4
  pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
"""
"""A of 48 x 32 and B of 32 x 16, row-major in GM, to L0A and L0B."""

M_TO_FIX = """
  pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
  pto.wait_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
"""

MATMUL = program(
    f"""{LOADS}
  pto.mad %la, %lb_at_512, %lc_at_1024, %c48, %c16, %c32 : F16_L0A, F16_L0B, F32_L0C, I64x3
{M_TO_FIX}
  pto.mte_l0c_gm %lc_at_1024, %a2, %c48, %c16, %c48, %c16, %c0, %c0, nz2nd : F32_L0C, F32_GM, I64x6
""",
    "F16_GM",
    "F16_GM",
    "F32_GM",
)
M, N, K = 48, 16, 32

LEGACY = program(
    """
  pto.set_loop_size_outtoub %c2, %c1 : I64x2
  pto.set_loop1_stride_outtoub %c64, %c256 : I64x2
  pto.copy_gm_to_ubuf %a0, %u0, %c0, %c2, %c32, %c0, %c0, %false, %c0, %c32, %c64
    : I8_GM, I8_UB, I64x5, i1, I64x3
  pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.copy_ubuf_to_gm %u0, %a1, %c0, %c1, %c512, %c0, %c512, %c512 : I8_UB, I8_GM, I64x6
""",
    "I8_GM",
    "I8_GM",
)

ILLEGAL = program(
    """
  pto.mte_gm_ub %a0, %u0, %c0, %c64 nburst(%c1, %c64, %c64) : I8_GM, I8_UB, I64x5
  pto.mte_gm_ub %a0, %u16_at_16, %c0, %c64 nburst(%c1, %c64, %c64) : I8_GM, I8_UB, I64x5
  pto.copy_ubuf_to_ubuf %u0, %u16_at_16, %c0, %c1, %c48, %c64, %c64 : I8_UB, I8_UB, I64x5
  pto.pipe_barrier "PIPE_ALL"
  pto.mte_ub_gm %u0, %a1, %c64 nburst(%c1, %c64, %c64) : I8_UB, I8_GM, I64x4
""",
    "I8_GM",
    "I8_GM",
)


DEPENDENT = program(
    """
  pto.mte_gm_ub %a0, %u0, %c0, %c1024 nburst(%c1, %c1024, %c1024) : I8_GM, I8_UB, I64x5
  pto.mte_gm_ub %a0, %u0, %c0, %c512 nburst(%c1, %c512, %c512) : I8_GM, I8_UB, I64x5
  pto.mte_ub_ub %u0, %u1_at_4096, %c32 nburst(%c1, %c0, %c0) : I8_UB, I8_UB, I64x4
  pto.mte_ub_ub %u1_at_4096, %u2_at_8192, %c32 nburst(%c1, %c0, %c0) : I8_UB, I8_UB, I64x4
  pto.mte_ub_ub %u0, %u1_at_4096, %c16 nburst(%c1, %c0, %c0) : I8_UB, I8_UB, I64x4
  pto.mte_ub_gm %u2_at_8192, %a1, %c1024 nburst(%c1, %c1024, %c1024) : I8_UB, I8_GM, I64x4
  pto.mte_ub_gm %u1_at_4096, %a1, %c512 nburst(%c1, %c512, %c512) : I8_UB, I8_GM, I64x4
""",
    "I8_GM",
    "I8_GM",
)
"""Every op depends on one before it, and nothing orders them."""


class Walked:
    """Programs that no command has prepared."""

    def __init__(self, jobs: list[ProgramJob]) -> None:
        self.jobs = jobs

    def stage(self, folder: Path) -> None:
        """Reads the programs and writes them."""
        write_programs(folder, map(self.walk, self.jobs))

    def walk(self, job: ProgramJob) -> Staged:
        source = replace(read_file(job.path), file=job.title)
        found = trace(source, arguments=job.arguments)
        return Staged(job, found, order(found, unit_flags=set_flags(job.unit_flags)))

    def collect(self, record: RunRecord, folder: Path) -> None:
        """Has no outputs."""


def run(
    jobs: list[ProgramJob],
    folder: Path,
    test: str = "tb.programs.replay_test:ProgramTest",
    **settings: object,
) -> RunRecord:
    module, _, name = test.partition(":")
    planned = PlannedTest.model_validate(
        {
            "name": "program", "module": module, "class": name, "transactions": 1,
            "fixed_length": True, "doc": "programs",
        }
    )  # fmt: skip
    chosen = RunSettings.model_validate({"sim": "icarus", "test": "program", **settings})
    console = Console(quiet=True)
    return run_once(chosen, planned, console=console, folder=folder, files=Walked(jobs))


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def load(address: int, data: bytes, space: str = "gm") -> Load:
    return Load(space=space, address=address, data=data)


def gm(address: int, length: int, file: str) -> Dump:
    return Dump(space="gm", address=address, length=length, file=file)


def test_programs_replay(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = rng.bytes(1024)
    a = (rng.integers(-8, 8, size=(M, K)) / 4).astype("<f2")
    b = (rng.integers(-8, 8, size=(K, N)) / 4).astype("<f2")
    product = a.astype(np.float32) @ b.astype(np.float32)
    shared = write(tmp_path, "shared.pto", SHARED_SLOT)
    jobs = [
        ProgramJob(
            path=shared, title=f"shared {name}", arguments={0: IN, 1: OUT}, knobs=knobs,
            loads=(load(IN, data),), dumps=(gm(OUT, 1024, f"{name}.bin"),),
            stall_seed=3, backgrounds={"ub0": 0xAB},
            checks=(Check(space="gm", address=OUT, length=1024, crc32=zlib.crc32(data)),),
        )
        for name, knobs in (("fast", {}), ("slow", SLOW))
    ]  # fmt: skip
    jobs += [
        ProgramJob(
            path=write(tmp_path, "matmul.pto", MATMUL), title="matmul",
            arguments={0: IN, 1: 0x5555, 2: 0xF0_0000_0004},
            loads=(load(IN, a.tobytes()), load(0x5555, b.tobytes())),
            dumps=(gm(0xF0_0000_0004, 4 * M * N, "product.bin"),),
        ),
        ProgramJob(
            path=write(tmp_path, "legacy.pto", LEGACY), title="legacy",
            arguments={0: IN, 1: OUT}, backgrounds={"gm": 0xEE, "ub0": 0x11},
            loads=(load(IN, data),), dumps=(gm(OUT, 513, "legacy.bin"),),
        ),
        ProgramJob(
            path=write(tmp_path, "illegal.pto", ILLEGAL), title="illegal",
            arguments={0: IN, 1: OUT}, illegal="send",
        ),
        ProgramJob(
            path=shared, title="faults", arguments={0: IN, 1: OUT},
            faults=({"space": 0, "address": IN, "kind": 0, "sides": 1},),
        ),
    ]  # fmt: skip
    folder = tmp_path / "run"
    record = run(jobs, folder)
    assert (record.status, record.failures) == ("pass", [])
    titles = ("shared fast", "shared slow", "matmul", "legacy", "illegal", "faults")
    assert {name: record.exercised[name] for name in titles} == dict.fromkeys(titles, 1)
    assert record.exercised["DMA-L06"] == 1, "an illegal op is refused for its rule"
    assert record.statuses["RULE"] == 1
    place = f"illegal:{line_of(ILLEGAL, 'pto.copy_ubuf_to_ubuf')}:3"
    assert [note for note in record.left_out if place in note and "DMA-L06" in note]
    assert record.statuses["RD_SLVERR"] == 1, "faults are injected"
    assert (folder / "fast.bin").read_bytes() == (folder / "slow.bin").read_bytes() == data
    assert (folder / "product.bin").read_bytes() == product.astype("<f4").tobytes()
    old = np.frombuffer((folder / "legacy.bin").read_bytes(), dtype=np.uint8)
    expected = np.full(513, 0x11, dtype=np.uint8)
    for loop in (0, 1):
        for row in (0, 1):
            at = 256 * loop + 64 * row
            source = 64 * loop + 32 * row
            expected[at : at + 32] = np.frombuffer(data, np.uint8)[source : source + 32]
    expected[512] = 0xEE
    assert (old == expected).all()


def test_hazards_run_in_program_order(tmp_path: Path) -> None:
    data = np.random.default_rng(2).bytes(1024)
    path = write(tmp_path, "dependent.pto", DEPENDENT)
    jobs = [
        ProgramJob(
            path=path, title=title, arguments={0: IN, 1: OUT}, knobs=SLOW, stall_seed=seed,
            loads=(load(IN, data),),
            checks=(Check(space="gm", address=OUT, length=1024, crc32=zlib.crc32(data)),),
        )
        for seed in range(1, 5) for title in (f"kept {seed}", f"disordered {seed}")
    ]  # fmt: skip
    test = "tests.programs.disordered:DisorderedTest"
    record = run(jobs, tmp_path / "run", test, mismatch_limit=1000)
    assert record.status == "fail", "without the links the ops overlap"
    for seed in range(1, 5):
        assert record.exercised[f"kept {seed}"] == 1, record.failures
        assert f"disordered {seed}" not in record.exercised


def test_errors_are_reported_with_their_place(tmp_path: Path) -> None:
    """A violated order, a wrong CRC, and a program that cannot run."""
    path = write(tmp_path, "shared.pto", SHARED_SLOT)
    data = load(IN, bytes(range(256)) * 4)
    common = {"path": path, "arguments": {0: IN, 1: OUT}, "knobs": SLOW, "loads": (data,)}
    jobs = [
        ProgramJob(title="disordered", **common),
        ProgramJob(
            title="wrong crc",
            checks=(
                Check(space="ub0", address=0, length=1024, crc32=0x12345678),
                Check(space="l0", address=0x20040, length=8, crc32=0x12345678),
            ),
            **common,
        ),
    ]
    test = "tests.programs.disordered:DisorderedTest"
    record = run(jobs, tmp_path / "run", test, mismatch_limit=1000)
    assert record.status == "fail"
    assert "disordered" not in record.exercised
    assert "wrong crc" not in record.exercised
    first = line_of(SHARED_SLOT, "pto.mte_ub_ub %u0")
    assert any(f"disordered:{first}:3" in text for text in record.failures)
    crc = [text for text in record.failures if "wrong crc" in text and "of l0" not in text]
    assert any("CRC-32 of 8 bytes of l0b at 0x40 is" in text for text in record.failures)
    right = zlib.crc32(bytes(range(256)) * 4)
    (text,) = crc
    facts = f"MISMATCH wrong crc CRC-32 1024 bytes ub0 0x0 {right:08X} expected 12345678"
    assert says(text, f"{facts} engine and model agree program data check wrong")
    assert text.endswith(f"repeat: {record.command}"), "the other programs keep their links"


def test_a_bug_and_a_missing_engine_are_reported_with_their_places(tmp_path: Path) -> None:
    engines = tmp_path / "rtl_stubs"
    shutil.copytree(ROOT / "rtl_stubs", engines)
    source = engines / "common/dma/pto_dma_check.sv"
    text = source.read_text()
    right, wrong = "l06 = |loc_addr[4:0] ||", "l06 = |loc_addr[3:0] ||"
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    path, other = (write(tmp_path, "illegal.pto", ILLEGAL), write(tmp_path, "matmul.pto", MATMUL))
    jobs = [
        ProgramJob(path=path, title="bug", arguments={0: IN, 1: OUT}, illegal="send"),
        ProgramJob(path=other, title="no fix", arguments={0: IN, 1: 0x5555, 2: OUT + 3}),
    ]
    manifests = tuple(
        str(engines / f"pto_{slot}/manifest.toml") for slot in ("mte1", "mte2", "mte3")
    )
    record = run(jobs, tmp_path / "run", duts=manifests)
    line = line_of(ILLEGAL, "pto.mte_gm_ub %a0, %u16_at_16")
    assert any(f"transaction 1 on mte2 (bug:{line}:3)" in text for text in record.failures)
    assert any("DMA-L06" in text for text in record.failures)
    assert record.status == "error"
    line = line_of(MATMUL, "pto.mte_l0c_gm")
    assert record.message == f"no engine executes mte_l0c_gm\n  where: no fix:{line}:3"
    assert record.transactions == 3, "a program that cannot run completely sends nothing"
    assert record.exercised == {}
