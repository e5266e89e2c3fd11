# SPDX-License-Identifier: Apache-2.0
"""Unit flags in the C memory, and the producer that sets them: backends called by ctypes."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest

from tb.common.paths import HDL
from tb.harness.layout import DESC_WORDS, NO_CLEAR
from tb.harness.memory import FLAG_BLOCK, MOST_AGAIN, UNIT_FLAGS
from tb.isa.fix.table import FIX_LAYOUT
from tb.isa.ops import OPS
from tb.isa.spaces import SIZES, Space
from tests.hdl.backends import SLOT, Backends, random_bytes
from tests.hdl.mini import UNIT_FLAG_LSB, Session, bench_build, run
from tests.hdl.simulators import TWINS
from tests.wording import pattern, says


def owned(backends: Backends) -> list[int]:
    """Returns the numbers of the blocks of L0C that are complemented, all others being whole."""
    memory = backends.memory
    whole = memory.background(Space.L0C, 0, SIZES[Space.L0C]).reshape(UNIT_FLAGS, FLAG_BLOCK)
    odd = memory.view(Space.L0C).reshape(UNIT_FLAGS, FLAG_BLOCK) ^ whole
    assert set(np.unique(odd).tolist()) <= {0, 0xFF}
    assert (odd == odd[:, :1]).all(), "a block is complemented as a whole"
    found: list[int] = np.flatnonzero(odd[:, 0]).tolist()
    return found


@pytest.mark.long
def test_unit_flags_start_at_random(backends: Backends) -> None:
    memory = backends.memory
    seen = set()
    for seed in (1, 2, 2**64 - 1):
        memory.set_background_seed(seed)
        flags = memory.background_flags()
        assert flags.shape == (UNIT_FLAGS,)
        assert (memory.unit_flags == flags).all()
        assert set(flags.tolist()) == {0, 1}
        assert 200 < flags.sum() < 312
        seen.add(flags.tobytes())
        memory.stage_flags([0, 511], 5)
        memory.unit_flags[:] = 1 - memory.unit_flags
        memory.set_background_seed(seed)
        assert (memory.unit_flags == flags).all()
        assert memory.settle_flags() == 0
        assert owned(backends) == []
    assert len(seen) == 3


def test_flags_are_set_after_their_delay(backends: Backends) -> None:
    memory = backends.memory
    before = memory.unit_flags.copy()
    memory.stage_flags([0])  # before the first clock
    memory.stage_flags(np.array([1]), 0)
    backends.tick()
    assert memory.unit_flags[:2].tolist() == [1, 1]
    blocks = [3, 300, 511, 3]
    for delay in (-5, -1, 0, 1, 2, 77):
        memory.unit_flags[blocks] = 1
        memory.stage_flags([400], 70)
        memory.stage_flags(blocks, delay)
        for clock in range(delay + 3):
            # The engine sees on an edge the state after a tick.
            if clock:
                backends.tick()
            waits = delay >= 0 and clock <= delay
            assert (memory.unit_flags[blocks] == 1 - waits).all(), (delay, clock)
            if clock < 70:
                assert owned(backends) == ([3, 300, 400, 511] if waits else [400])
                assert memory.unit_flags[400] == 0
        backends.tick(80)
        assert memory.unit_flags[400] == 1
        assert owned(backends) == []
    changed = [0, 1, 3, 300, 400, 511]
    before[changed] = 1
    assert (memory.unit_flags == before).all()
    assert memory.settle_flags() == 0


def test_settling_sets_due_flags_and_restores_cleared_blocks(backends: Backends) -> None:
    memory = backends.memory
    memory.stage_flags([64, 66], -1)
    memory.stage_flags([65, 500], 10)
    assert backends.library.pto_flag_read(3, 2, -1) & 7 == 0b101
    backends.library.pto_flag_clear(SLOT, 2, 0b100)
    assert backends.library.pto_flag_read(3, 2, -1) & 7 == 0b001
    assert owned(backends) == [65, 66, 500]
    error, data = backends.local_read(Space.L0C, 66 * FLAG_BLOCK, 64)
    assert not error
    assert (data == ~memory.background(Space.L0C, 66 * FLAG_BLOCK, 64)).all()
    assert memory.settle_flags() == 2
    assert owned(backends) == []
    assert memory.unit_flags[[64, 65, 66, 500]].tolist() == [1, 1, 0, 1]
    backends.tick(20)
    assert backends.library.pto_flag_read(3, 2, -1) & 7 == 0b011
    # A cleared block may be staged again, a due one set early or delayed.
    memory.stage_flags([66], 5)
    memory.stage_flags([65], 5)
    memory.stage_flags([65])
    memory.stage_flags([66], 8)
    backends.tick(6)
    assert owned(backends) == [66]
    backends.tick(3)
    assert owned(backends) == []
    assert memory.unit_flags[65:67].tolist() == [1, 1]
    assert backends.box.errors == 0


def test_a_clear_sets_flags_again(backends: Backends) -> None:
    memory = backends.memory

    def clear(block: int) -> None:
        backends.library.pto_flag_clear(SLOT, block // 32, ctypes.c_int(1 << block % 32).value)

    memory.stage_flags([10, 11, 500])
    memory.stage_flags_again([10, 500, 10], 0)
    memory.stage_flags_again([10], 5)
    memory.stage_flags_again([10, 11], -1)
    backends.tick(50)
    assert owned(backends) == []
    assert memory.unit_flags[[10, 11, 500]].tolist() == [1, 1, 1]
    # Each clear sets flags again once, in the order of staging.
    for delay in (0, 5, 0):
        clear(10)
        for _ in range(delay + 1):
            assert memory.unit_flags[[10, 11, 500]].tolist() == [0, 1, 1]
            assert owned(backends) == [10]
            backends.tick()
        assert memory.unit_flags[[10, 11, 500]].tolist() == [1, 1, 1]
        assert owned(backends) == []
    clear(10)
    clear(500)
    backends.tick(30)
    assert memory.unit_flags[[10, 11, 500]].tolist() == [0, 1, 1]
    assert owned(backends) == [10]
    # The first flag may be late, too, and a pending set is settled.
    memory.stage_flags([10], 9)
    memory.stage_flags_again([10], 1000)
    backends.tick(10)
    assert owned(backends) == []
    clear(10)
    backends.tick()
    assert owned(backends) == [10]
    assert memory.settle_flags() == 1
    assert memory.unit_flags[10] == 1
    assert owned(backends) == []
    # Sets for clears that did not come are dropped: that of block 11 was.
    clear(11)
    backends.tick(9)
    assert memory.unit_flags[11] == 0
    assert owned(backends) == [11]
    assert memory.settle_flags() == 0
    assert backends.box.errors == 0


def test_a_clear_of_a_flag_that_is_not_set_sets_nothing(backends: Backends) -> None:
    memory, library = backends.memory, backends.library
    memory.stage_flags([4], 100)
    memory.stage_flags_again([4], 0)
    library.pto_flag_clear(SLOT, 0, 1 << 4)
    backends.tick(5)
    assert memory.unit_flags[4] == 0
    assert len(backends.box.poll_errors()) == 1
    backends.tick(100)
    assert memory.unit_flags[4] == 1
    library.pto_flag_clear(SLOT, 0, 1 << 4)
    backends.tick()
    assert memory.unit_flags[4] == 1
    assert owned(backends) == []


def test_repeated_sets_have_limits_and_end_with_the_contents(backends: Backends) -> None:
    memory, library = backends.memory, backends.library
    for _ in range(MOST_AGAIN):
        memory.stage_flags_again([3], 0)
    with pytest.raises(ValueError, match=pattern(f"1 blocks L0C again {MOST_AGAIN}")):
        memory.stage_flags_again([2, 3], 0)
    memory.stage_flags([2, 3])
    for _ in range(MOST_AGAIN):
        library.pto_flag_clear(SLOT, 0, 0b1000)
        backends.tick()
        memory.stage_flags_again([3], 1)  # the ring wraps
    assert memory.unit_flags[3] == 1
    for seed in (5, None):
        if seed is None:
            memory.set_background(Space.L0C, 0)
        else:
            memory.set_background_seed(seed)
        memory.stage_flags([3])
        library.pto_flag_clear(SLOT, 0, 0b1000)
        backends.tick(4)
        assert memory.unit_flags[3] == 0
        memory.settle_flags()
        memory.stage_flags_again([3], 0)
    assert backends.box.errors == 0


def test_words_of_flags(backends: Backends) -> None:
    flags = np.random.default_rng(1).integers(0, 2, UNIT_FLAGS, dtype=np.uint8)
    backends.memory.unit_flags[:] = flags
    for word in range(16):
        bits = int.from_bytes(np.packbits(flags[32 * word :][:32], bitorder="little"), "little")
        assert backends.library.pto_flag_read(3, word, -1) & 0xFFFF_FFFF == bits
        backends.library.pto_flag_clear(SLOT, word, ctypes.c_int(bits & 0xF0F0_F0F0).value)
        assert backends.library.pto_flag_read(3, word, -1) & 0xFFFF_FFFF == bits & 0x0F0F_0F0F
    assert backends.box.errors == 0
    backends.memory.unit_flags[35] = 0
    backends.library.pto_flag_clear(SLOT, 1, 1 << 3)
    (message,) = backends.box.poll_errors()
    assert says(message, r"mte2 FLAG-NOT-SET clear unit flag not set \(0x23")


def test_a_new_content_of_l0c_is_whole(backends: Backends) -> None:
    memory = backends.memory
    memory.stage_flags([7], 100)
    memory.stage_flags([8])
    backends.library.pto_flag_clear(SLOT, 0, 1 << 8)
    memory.set_background(Space.L0C, 0x3C)
    assert (memory.view(Space.L0C) == 0x3C).all()
    assert memory.unit_flags[7:9].tolist() == [1, 0]
    assert memory.settle_flags() == 0
    assert (memory.view(Space.L0C) == 0x3C).all()


@pytest.mark.parametrize("blocks", [[-1], [UNIT_FLAGS], [3, 512, 4]])
def test_blocks_that_do_not_exist(backends: Backends, blocks: list[int]) -> None:
    before = backends.memory.unit_flags.copy()
    with pytest.raises(ValueError, match="L0C has 0 to 511"):
        backends.memory.stage_flags(blocks, 4)
    with pytest.raises(ValueError, match="at most 4294967295"):
        backends.memory.stage_flags([0], 1 << 32)
    with pytest.raises(ValueError, match="L0C has 0 to 511"):
        backends.memory.stage_flags_again(blocks)
    with pytest.raises(ValueError, match="at most 4294967295"):
        backends.memory.stage_flags_again([0], 1 << 32)
    backends.memory.stage_flags([], 4)
    assert (backends.memory.unit_flags == before).all()


def test_done_records_have_the_clock_of_the_clear(backends: Backends) -> None:
    box, library = backends.box, backends.library
    backends.memory.stage_flags(range(8))
    box.submit_block(SLOT, np.zeros((4, DESC_WORDS)), 0)
    for _ in range(4):
        backends.tick()
        backends.pop()
        library.pto_desc_accept(SLOT)

    def write() -> None:
        backends.local_write(Space.UB0, 0, random_bytes(32))

    backends.retire()
    write()
    backends.tick()
    library.pto_flag_clear(SLOT, 0, 1)
    write()  # on the edge of the clear
    backends.tick()
    write()
    library.pto_flag_clear(SLOT, 0, 2)
    backends.tick()
    backends.retire()
    backends.tick()
    library.pto_flag_clear(3, 0, 4)  # of another slot
    backends.retire()
    backends.tick()
    write()
    library.pto_flag_clear(SLOT, 0, 8)
    backends.retire()
    done = box.poll_done(SLOT)
    assert done["written_bytes"].tolist() == [32, 96, 96, 128]
    assert done["clear_bytes"].tolist() == [NO_CLEAR, 64, NO_CLEAR, 128]
    # A reset forgets clears since the last done.
    library.pto_flag_clear(SLOT, 0, 16)
    box.submit_block(SLOT, np.zeros((1, DESC_WORDS)), 0)
    library.pto_reset(1 << SLOT)
    box.submit_block(SLOT, np.zeros((1, DESC_WORDS)), 0)
    backends.tick()
    backends.pop()
    library.pto_desc_accept(SLOT)
    backends.retire()
    assert box.poll_done(SLOT)["clear_bytes"].tolist() == [NO_CLEAR]


# --- The ports par and flag of slot fix, and its reads over writes, in simulation

MODULE = "tests.hdl.flags_bench"
TESTS = (
    "waits_for_flags",
    "waits_for_flags_set_again",
    "wrong_waits_read_wrong_bytes",
    "clears_are_counted",
    "reads_parameters",
    "stalls",
    "read_modify_write",
    "reads_over_writes",
    "open_reads_keep_the_clock",
)


@pytest.fixture(scope="module", params=TWINS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(bench_build("flags", request.param), TESTS, folder, module=MODULE)


@pytest.mark.sim
@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


@pytest.mark.sim
@pytest.mark.parametrize("width", [128, 512])
def test_other_widths(width: int, tmp_path: Any) -> None:
    tests = ("waits_for_flags", "reads_parameters", "reads_over_writes")
    result = run(bench_build("flags", "icarus", width), tests, tmp_path, module=MODULE)
    assert result.failures == dict.fromkeys(tests), result.log[-4000:]


def test_the_checker_has_the_position_of_unit_flag() -> None:
    text = (HDL / "pto_par_flag_checker.v").read_text()
    field = dict(FIX_LAYOUT.items())["unit_flag"]
    numbers = re.search(r"UnitFlagLsb = (\d+), UnitFlagWidth = (\d+)", text)
    assert numbers
    assert (int(numbers[1]), int(numbers[2])) == (field.lsb, field.field.container)
    assert field.lsb == UNIT_FLAG_LSB
    codes = re.search(r"FIRST_OP = 8'd(\d+), LAST_OP = 8'd(\d+)", text)
    assert codes
    write_back = {spec.opcode for spec in OPS.values() if spec.layout is FIX_LAYOUT}
    assert write_back == set(range(int(codes[1]), int(codes[2]) + 1))
