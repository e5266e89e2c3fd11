# SPDX-License-Identifier: Apache-2.0
"""Products from GM to GM: loads and write-backs on the engines, the product on the host."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sequences.replay import schedule
from tb.common.paths import ROOT
from tb.language.order.order import order
from tb.language.reader import read
from tb.language.run.walk import trace
from tb.programs.job import Check, Dump, ProgramJob
from tb.programs.replay_test import without_delays
from tests.bugs.campaign import load_bugs, plant
from tests.programs import test_replay_sim as sim
from tests.programs.test_replay_sim import IN, LOADS, M_TO_FIX, OUT, gm, line_of, load, run, write
from tests.wording import says

pytestmark = pytest.mark.sim

A_IN, B_IN, BIAS_IN, C_OUT = IN, IN + 0x10001, IN + 0x20003, OUT + 0xFF
"""Addresses in GM; only those of f32 write-backs have to be multiples of 4."""

PRODUCT = "%la, %lb_at_512, %lc_at_1024, %c48, %c16, %c32"
BACK = "%c48, %c16, %c48, %c16"


def cube(body: str, after: str = "") -> str:
    """Returns a program that loads both factors, with more ops of the cube core."""
    text = f"  pto.section.cube {{\n{LOADS}{body}  }}\n{after}"
    return sim.program(text, "F16_GM", "F16_GM", "F32_GM", "F32_GM")


BIAS = cube(f"""
  pto.mte_gm_l1 %a3, %l1_at_8192, %c64 nburst(%c1, %c64, %c64) : F32_GM, F32_L1, I64x4
  pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID1"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID1"]
  pto.mte_l1_bt %l1_at_8192, %bt_at_64, %c16 nburst(%c1, %c0, %c0) : F32_L1, F32_BT, I64x4
  pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID1"]
  pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID1"]
  pto.mad_bias %la, %lb_at_512, %lc_at_1024, %bt_at_64, %c48, %c16, %c32
    : F16_L0A, F16_L0B, F32_L0C, F32_BT, I64x3
  pto.barrier <PIPE_M>
  pto.mad_acc {PRODUCT} : F16_L0A, F16_L0B, F32_L0C, I64x3
{M_TO_FIX}
  pto.mte_l0c_gm %lc_at_1024, %a2, {BACK}, %c0, %c0, nz2nd : F32_L0C, F32_GM, I64x6
""")
"""Twice the product, and a bias of each column."""

UNIT_FLAGS = cube(f"""
  %words = arith.index_cast %c1024 : i64 to index
  %next = pto.addptr %a2, %words : F32_GM -> F32_GM
  pto.mad {PRODUCT} unit_flag(check_and_set) : F16_L0A, F16_L0B, F32_L0C, I64x3
  pto.mte_l0c_gm %lc_at_1024, %a2, {BACK}, %c0, %c0, unit_flag(check_and_clear), nz2nd
    : F32_L0C, F32_GM, I64x6
  pto.mad_acc {PRODUCT} unit_flag(check_and_set) : F16_L0A, F16_L0B, F32_L0C, I64x3
  pto.mte_l0c_gm %lc_at_1024, %next, {BACK}, %c0, %c0, unit_flag(check_and_clear), nz2nd
    : F32_L0C, F32_GM, I64x6
""")
"""The product, and twice the product after it: unit flags alone order M and FIX."""

SPLIT = cube(
    f"""
  pto.mad {PRODUCT} : F16_L0A, F16_L0B, F32_L0C, I64x3
{M_TO_FIX}
  pto.mte_l0c_ub %lc_at_1024, %tile_at_2048, {BACK}, dst_mode(split_m), nz2nd
    : F32_L0C, F32_UB, I64x4
  pto.set_intra_block <PIPE_FIX>, 3
  pto.set_intra_block <PIPE_FIX>, 19
""",
    """
  pto.section.vector {
  %sub = pto.get_subblock_idx
  %offset = arith.muli %sub, %c384_i64 : i64
  %at = arith.index_cast %offset : i64 to index
  %rows = pto.addptr %a2, %at : F32_GM -> F32_GM
  pto.wait_intra_block <PIPE_MTE3>, 3
  pto.mte_ub_gm %ub_at_2048, %rows, %c1536 nburst(%c1, %c1536, %c1536) : F32_UB, F32_GM, I64x4
  }
""",
)
"""Rows 0 to 23 through the UB of sub-block 0, the others through that of sub-block 1."""

ATOMIC = cube(f"""
  pto.mad {PRODUCT} : F16_L0A, F16_L0B, F32_L0C, I64x3
{M_TO_FIX}
  pto.mte_l0c_gm %lc_at_1024, %a2, {BACK}, %c0, %c0, nz2nd, atomic(type = f32, op = add)
    : F32_L0C, F32_GM, I64x6
  pto.mte_l0c_gm %lc_at_1024, %a2, {BACK}, %c0, %c0, nz2nd, atomic(type = f32, op = add)
    : F32_L0C, F32_GM, I64x6
""")
"""Twice the product is added to C: two adds of one type need no order (AT-05)."""

DELAYED = cube(f"""
  pto.mad {PRODUCT} : F16_L0A, F16_L0B, F32_L0C, I64x3
{M_TO_FIX}
  pto.mte_l0c_gm %lc_at_1024, %a2, {BACK}, %c0, %c0, unit_flag(check_and_clear), nz2nd
    {{pto_dv.flag_delay = 300}} : F32_L0C, F32_GM, I64x6
""")
"""No product sets the flags of the write-back: the harness does, later."""

HELD = cube(f"""
  pto.mad {PRODUCT} unit_flag(check_and_set) : F16_L0A, F16_L0B, F32_L0C, I64x3
  pto.barrier <PIPE_M>
  pto.mad_acc {PRODUCT} unit_flag(check_only) : F16_L0A, F16_L0B, F32_L0C, I64x3
""")
"""The second product waits for flags that no write-back clears."""

M, N, K = sim.M, sim.N, sim.K
Words = NDArray[np.float32]


def factors() -> tuple[NDArray[np.float16], NDArray[np.float16], Words, Words]:
    """Returns A, B, a bias and initial values of C, such that every sum is exact in f32."""
    rng = np.random.default_rng(8)
    a = (rng.integers(-64, 64, size=(M, K)) / 8).astype("<f2")
    b = (rng.integers(-64, 64, size=(K, N)) / 8).astype("<f2")
    bias = (rng.integers(-999, 999, size=N) / 4).astype("<f4")
    return a, b, bias, (rng.integers(-999, 999, size=(M, N)) / 2).astype("<f4")


def expected() -> dict[str, bytes]:
    """Returns the bytes of GM that each program leaves, by numpy."""
    a, b, bias, old = factors()
    c = a.astype(np.float32) @ b.astype(np.float32)
    found = {"bias": 2 * c + bias, "split": c, "atomic": old + 2 * c}
    images = {name: image.astype("<f4").tobytes() for name, image in found.items()}
    # The second product begins 4096 bytes after the first.
    images["flags"] = c.tobytes().ljust(4096, b"\0") + (2 * c).tobytes()
    return images


PROGRAMS = {"bias": BIAS, "flags": UNIT_FLAGS, "split": SPLIT, "atomic": ATOMIC}


def job(folder: Path, name: str, text: str) -> ProgramJob:
    """Returns a program with its factors, the check of its image, and the image as a file."""
    a, b, bias, old = factors()
    image = expected().get(name, bytes(4 * M * N))
    parts = [(A_IN, a.tobytes()), (B_IN, b.tobytes()), (BIAS_IN, bias.tobytes())]
    if name == "atomic":
        parts.append((C_OUT, old.tobytes()))
    return ProgramJob(
        path=write(folder, f"{name}.pto", text), title=name,
        arguments={0: A_IN, 1: B_IN, 2: C_OUT, 3: BIAS_IN},
        backgrounds={"gm": 0, "l0": 0x7D}, unit_flags="00" * 64,
        loads=tuple(load(*part) for part in parts),
        dumps=(gm(C_OUT, len(image), f"{name}.bin"),),
        checks=(Check(space="gm", address=C_OUT, length=len(image), crc32=zlib.crc32(image)),),
    )  # fmt: skip


def test_products_reach_gm(tmp_path: Path) -> None:
    jobs = [job(tmp_path, name, text) for name, text in PROGRAMS.items()]
    jobs += [
        one.model_copy(
            update={"title": f"{one.title} slow", "dumps": (),
                    "knobs": {"axi_write_latency": 90, "local_read_latency": 8}}
        )
        for one in jobs
    ]  # fmt: skip
    folder = tmp_path / "run"
    record = run(jobs, folder)
    assert (record.status, record.failures) == ("pass", [])
    titles = [one.title for one in jobs]
    assert [record.exercised[title] for title in titles] == [1] * 8
    for name, image in expected().items():
        assert (folder / f"{name}.bin").read_bytes() == image, name


def test_every_schedule_leaves_the_same_image(tmp_path: Path) -> None:
    """Unit flags, signals, and adds that nothing orders."""
    jobs = [
        job(tmp_path, name, PROGRAMS[name]).model_copy(update={"schedules": tuple(range(5))})
        for name in ("flags", "split", "atomic")
    ]
    record = run(jobs, tmp_path / "run")
    assert (record.status, record.failures) == ("pass", [])
    assert [one.same for one in record.schedules] == [True] * 15


def test_a_wrong_load_makes_a_wrong_product(tmp_path: Path) -> None:
    """The right factor is not transposed: load, write-back and check each report it."""
    shutil.copytree(ROOT / "rtl_stubs", tmp_path / "rtl_stubs")
    bug = next(one for one in load_bugs() if one.name == "l0_transpose_ignored_for_b")
    plant(bug, tmp_path)
    slots = ("mte1", "mte2", "mte3", "fix")
    duts = tuple(str(tmp_path / f"rtl_stubs/pto_{slot}/manifest.toml") for slot in slots)
    folder = tmp_path / "run"
    record = run([job(tmp_path, "flags", UNIT_FLAGS)], folder, duts=duts)
    assert (record.status, record.message) == ("fail", "the DUT differs from the model")
    assert "flags" not in record.exercised
    wrong, image = record.failures
    place = line_of(UNIT_FLAGS, "pto.mte_l1_l0b")
    assert says(
        wrong, f"MISMATCH wrong data L0B on mte1 (flags:{place}:3) pto.mte_l1_l0b transposed"
    )
    found = (folder / "flags.bin").read_bytes()
    right = expected()["flags"]
    sums = f"{zlib.crc32(found):08X} expected {zlib.crc32(right):08X}"
    assert says(image, f"MISMATCH flags CRC-32 {len(right)} bytes gm {C_OUT:#x} is {sums}")
    assert "agree" not in image
    # The product is that of what was loaded: it differs, and its double is twice as large.
    once, twice = (np.frombuffer(found, "<f4")[at : at + M * N] for at in (0, 1024))
    assert np.array_equal(twice, 2 * once)
    assert not np.array_equal(once, np.frombuffer(right, "<f4")[: M * N])


EARLY = cube(f"""
  pto.mte_l0c_gm %lc_at_1024, %a2, {BACK}, %c0, %c0, unit_flag(check_and_clear), nz2nd
    {{pto_dv.flag_delay = 300}} : F32_L0C, F32_GM, I64x6
  pto.mad {PRODUCT} unit_flag(check_and_set) : F16_L0A, F16_L0B, F32_L0C, I64x3
""")
"""The write-back waits on FIX for the product after it, which sets its flags."""


def test_flags_of_a_program_are_its_own(tmp_path: Path) -> None:
    """Random flags of L0C do not make a product wait, and the harness sets none of its blocks."""
    a, b, *_ = factors()
    image = (a.astype(np.float32) @ b.astype(np.float32)).astype("<f4").tobytes()
    check = Check(space="gm", address=C_OUT, length=len(image), crc32=zlib.crc32(image))
    jobs = [
        job(tmp_path, name, text).model_copy(
            update={"title": f"{name} {seed}", "seed": seed, "unit_flags": "", "dumps": (),
                    "checks": (check,)}
        )
        for name, text in (("flags", UNIT_FLAGS), ("early", EARLY))
        for seed in (3, 4, 5)
    ]  # fmt: skip
    record = run(jobs, tmp_path / "run")
    assert (record.status, record.message, record.failures) == ("pass", "", [])
    assert [record.exercised[one.title] for one in jobs] == [1] * 6


@pytest.mark.parametrize(("text", "delay"), [(EARLY, None), (DELAYED, 300)])
def test_the_harness_delays_no_flag_of_a_product(text: str, delay: int | None) -> None:
    found = trace(read(text, "x.pto"), arguments={0: A_IN, 1: B_IN, 2: C_OUT, 3: BIAS_IN})
    rounds = without_delays(schedule(found, order(found)))
    delays = [one.block.flag_delay for one in rounds if one.block.flag_delay is not None]
    assert max((int(each.max()) for each in delays), default=-1) == (-1 if delay is None else delay)


def test_flags_that_nothing_clears_are_a_deadlock(tmp_path: Path) -> None:
    record = run([job(tmp_path, "held", HELD)], tmp_path / "run")
    assert record.status == "error"
    place = f"held:{line_of(HELD, 'pto.mad_acc')}:3"
    assert says(record.message, f"{place} pto.mad_acc deadlock waits unit flag L0C block 2 clear")
    assert "held" not in record.exercised


ALONE = sim.program(f"  pto.mad {PRODUCT} : F16_L0A, F16_L0B, F32_L0C, I64x3")
"""A product of what the setup loads; no engine has a part in it."""


def test_a_product_alone_passes_with_a_caveat(tmp_path: Path) -> None:
    """Its result is written and checked as the user says; a PASS claims nothing about engines."""
    one = np.frombuffer(b"\x3c\x3c", "<f2").astype(np.float32)[0]
    image = np.full(M * N, K * one * one, "<f4").tobytes()
    place = {"space": "l0c", "address": 1024, "length": len(image)}
    alone = job(tmp_path, "alone", ALONE).model_copy(
        update={"arguments": {}, "loads": (), "backgrounds": {"l0": 0x3C},
                "dumps": (Dump(**place, file="c.bin"),),
                "checks": (Check(**place, crc32=zlib.crc32(image)),)}
    )  # fmt: skip
    record = run([alone], tmp_path / "run", programs=(alone.path,))
    assert (record.status, record.message, record.transactions) == ("pass", "", 0)
    assert (tmp_path / "run" / "c.bin").read_bytes() == image
    assert "no data movement: results of the host alone" in record.last_line()
    assert not record.left_out
    wrong = Check(**place, crc32=zlib.crc32(image) ^ 1)
    record = run([alone.model_copy(update={"checks": (wrong,)})], tmp_path / "wrong")
    assert (record.status, record.mismatches) == ("fail", 1)
