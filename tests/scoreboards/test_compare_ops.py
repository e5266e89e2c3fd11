# SPDX-License-Identifier: Apache-2.0
"""A wrong byte at every kind of place of ops that move more than rows."""

from __future__ import annotations

import numpy as np
import pytest

from scoreboards.compare import locate
from scoreboards.mismatch import Kind, Part, Position
from scoreboards.model.dma import DmaOp
from scoreboards.model.outcome import Outcome
from scoreboards.report import COLUMNS, render
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import MteGmL1, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.profile import A5, using
from tb.isa.spaces import Space
from tests.model.naive_ops import Copy, effect
from tests.scoreboards.conftest import Pair, only
from tests.wording import says

GL1, LL1 = Ptr("i8", "gm"), Ptr("i8", "l1")
L1_F16, BT_F32 = Ptr("f16", "l1"), Ptr("f32", "bt")

# 58 columns in C0 columns of 16: 6 lanes of the last one are zero; blocks with a gap between.
ND = MteGmL1Frac(1001, 4096, "nd2nz", 10, 58, 131, 2, 2, 21, 100, 3000)
DN = MteGmL1Frac(1001, 4096, "dn2nz", 10, 58, 131, 2, 1, 10, 50, 9000)
FAR = MteGmL1Frac(7, 0, "nd2nz", 8, 80, 160, 1, 1, 3000, 0)
SPREAD = MteGmL1Frac(7, 64, "nd2nz", 8, 80, 160, 2, 100, 3000, 1000, 0)
ENDS = MteGmL1Frac(7, 0, "nd2nz", 2, 6, 10, 1, 16383, 0, 0, None, 0, 0, GL1, LL1)
SMALL = MteGmL1Frac(1001, 4096, "nd2nz", 6, 3, 6, 2, 0, 0, 4, 36, 0, 1)
SMALL_DN = MteGmL1Frac(1001, 4096, "dn2nz", 5, 2, 9, 1, 0, 0, 0, None, 0, 1, GL1, LL1)
BIAS = MteL1Bt(64, 128, 3, 4, 1, 5, L1_F16, BT_F32)
BIAS_RAW = MteL1Bt(64, 0, 1024, 1, 0, 0)
FB = MteL1Fb(96, 64, 2, 3, 1, 5)
COPIES: list[Copy] = [
    MteGmL1(1001, 4096, 50, 4, 60, 96),
    MteL1Ub(4096, 1024, 64, 4, 96, 160),
    MteUbUb(4096, 1024, 2, 4, 1, 2),
    MteUbL1(4096, 1024, 2, 4, 1, 2000),
    CopyUbufToUbuf(4096, 1024, 0, 4, 64, 96, 160),
    FB,
]
OPS: list[Copy] = [ND, DN, FAR, SPREAD, ENDS, SMALL, SMALL_DN, BIAS, BIAS_RAW, *COPIES]


def written(pair: Pair, op: DmaOp) -> Outcome:
    outcome = pair.run(op)
    assert outcome.written is not None
    return outcome


@pytest.mark.parametrize("op", OPS)
def test_equal_memories_give_nothing(pair: Pair, op: DmaOp) -> None:
    written(pair, op)
    assert pair.op() == ()
    assert pair.full() == ()


@pytest.mark.parametrize("op", OPS)
def test_each_wrong_byte_is_found_and_explained(pair: Pair, op: Copy) -> None:
    """Blocks, zero fill, gaps and guard: the position must name the byte's true source."""
    outcome = written(pair, op)
    assert outcome.written is not None
    found = effect(op)
    space, size = found.target, pair.golden[found.target].size
    near = sorted(
        {a + off for a in found.made_from for off in (-64, -33, -1, 0, 1, 33, 64)}
        & set(range(size))
    )
    rng = np.random.default_rng(7)
    picked = rng.choice(near, min(150, len(near)), replace=False).tolist()
    zero = [a for a, source in found.made_from.items() if source is None]
    for address in [*picked, *zero[:10], near[0], near[-1]]:
        pair.corrupt(space, address)
        mismatch = only(pair.op())
        assert (mismatch.space, mismatch.address, mismatch.count) == (space, address, 1)
        assert only(pair.full()).address == address
        position = mismatch.position
        assert position is not None
        if address in found.made_from:
            source = found.made_from[address]
            if isinstance(source, tuple):
                source = source[0]
            assert mismatch.kind is Kind.DATA
            assert position.source == (None if source is None else (found.source, source))
            assert position.part is (Part.ZERO_FILL if source is None else Part.DATA)
        else:
            assert mismatch.kind is Kind.GUARD
            assert position.part in (Part.BEFORE, Part.BEHIND)
            assert position.source is None
        pair.corrupt(space, address)
    assert pair.op() == ()


def test_beyond_the_guard_is_left_to_the_full_compare(pair: Pair) -> None:
    written(pair, SPREAD)
    assert pair.outcome is not None
    # Row n 1 of group 0, C0 column 2 is 100 blocks after row 0.
    start = 64 + 32 * (2 * 3000 + 100)
    pair.corrupt(Space.L1, start - 65, start + 32 + 64)
    assert pair.op() == ()
    assert [m.address for m in pair.full()] == [start - 65, start + 96]
    pair.corrupt(Space.L1, start - 64)
    assert only(pair.op()).address == start - 64


def test_counts_of_a_lost_column(pair: Pair) -> None:
    """A wrong block column is one report, with the place of its first byte."""
    written(pair, ND)
    start = 4096 + 32 * (100 + 2 * 21)
    pair.corrupt(Space.L1, *(start + 64 * n + b for n in range(10) for b in range(32)))
    mismatch = only(pair.op())
    assert (mismatch.address, mismatch.count, mismatch.extent) == (start, 320, 9 * 64 + 32)


def text(pair: Pair, op: DmaOp, address: int) -> str:
    outcome = written(pair, op)
    assert outcome.written is not None
    pair.corrupt(outcome.written.space, address)
    report = render(pair.op()[0])
    pair.corrupt(outcome.written.space, address)
    assert all(len(line) <= COLUMNS for line in report.splitlines())
    return report


def where(pair: Pair, op: DmaOp, address: int) -> tuple[str, str]:
    """Returns the lines of a report about the place of a byte and its source."""
    lines = text(pair, op, address).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  where "))
    stop = next(i for i, line in enumerate(lines) if line.startswith("  lane "))
    labelled = [line for line in lines[start:stop] if line.startswith("  source ")]
    place = " ".join(line[13:] for line in lines[start:stop] if line not in labelled)
    return place, labelled[0][13:] if labelled else ""


def test_nd2nz_names_group_row_column_and_lane(pair: Pair) -> None:
    block = 4096 + 32 * (100 + 2 * 21 + 7 * 2)
    assert where(pair, ND, block + 11) == (
        "matrix 1, row n 7, C0 column 2, lane 5 (d 37), byte 1 of 2",
        f"GM {1001 + 3000 + 7 * 131 + 37 * 2 + 1:#012x}",
    )
    last = 4096 + 32 * (3 * 21 + 9 * 2)
    assert where(pair, ND, last + 24) == (
        "matrix 0, row n 9, C0 column 3, zero fill of lane 12 (d 60 >= d_value 58)",
        "",
    )
    # Between two blocks: the distance to the closer one.
    place, source = where(pair, ND, block + 34)
    assert says(place, "matrix 1 row n 7 C0 column 2 3 B last byte")
    assert not source
    place, _ = where(pair, ND, 4096 - 5)
    assert says(place, "matrix 0 row n 0 C0 column 0 5 B first byte")


def test_dn2nz_names_the_transposed_source(pair: Pair) -> None:
    block = 4096 + 32 * (50 + 2 * 10 + 7)
    assert where(pair, DN, block + 10) == (
        "matrix 1, row n 7, C0 column 2, lane 5 (d 37), byte 0 of 2",
        f"GM {1001 + 9000 + 37 * 131 + 7 * 2:#012x}",
    )


def test_small_c0_names_lane_and_missing_rows(pair: Pair) -> None:
    group = 4096 + 128
    assert where(pair, SMALL, group + 8 * 5 + 2) == (
        "matrix 1, row n 5, lane 1 (d 1), byte 0 of 2",
        f"GM {1001 + 36 + 5 * 6 + 2:#012x}",
    )
    assert where(pair, SMALL, group + 8 * 5 + 7) == (
        "matrix 1, row n 5, zero fill of lane 3 (d 3 >= d_value 3)",
        "",
    )
    assert where(pair, SMALL, group + 8 * 7 + 2) == (
        "matrix 1, row n 7, zero fill of lane 1 (n 7 >= n_value 6)",
        "",
    )
    place, source = where(pair, SMALL, group + 64)
    assert says(place, "matrix 1 of 2 1 B last byte")
    assert not source
    assert where(pair, SMALL_DN, 4096 + 4 * 3 + 1) == (
        "matrix 0, row n 3, lane 1 (d 1)",
        f"GM {1001 + 9 + 3:#012x}",
    )


def test_bias_names_slot_burst_and_element(pair: Pair) -> None:
    assert where(pair, BIAS, 128 + 4 * 17 + 3) == (
        "bias slot 17 = burst 2, element 1 (f16 widened), byte 3 of 4",
        f"L1 {64 + 2 * (2 * 4 + 1):#07x}",
    )
    place, source = where(pair, BIAS, 128 + 4 * 19)
    assert says(place, "burst 2 of 4 1 B last byte")
    assert not source
    assert where(pair, BIAS_RAW, 4 * 9) == (
        "bias slot 9 = burst 0, element 9 (f32), byte 0 of 4",
        f"L1 {64 + 36:#07x}",
    )


def test_row_moves_keep_their_report(pair: Pair) -> None:
    assert where(pair, FB, 64 + 2 * 448 + 5) == (
        "row 2 of 3, byte 5 of 128 (data)",
        f"L1 {96 + 2 * 192 + 5:#07x}",
    )
    outcome = written(pair, FB)
    assert locate(outcome, 64 + 2 * 448 + 5) == Position(
        (), (), 2, 3, 5, 128, Part.DATA, (Space.L1, 96 + 2 * 192 + 5)
    )


def test_compact_group_without_loops_has_a_place(pair: Pair) -> None:
    with using(A5):
        group = MteGmL1(1001, 4096, 5, 3, 8, 5)
        assert "row 1" in where(pair, group, 4096 + 7)[0]
        assert "group of 3 rows" in where(pair, group, 4096 + 32)[0]


def test_destination_bytes_are_counted(pair: Pair) -> None:
    assert written(pair, SMALL).bytes_written == 2 * 64
    assert written(pair, BIAS).bytes_written == 4 * 12
    assert written(pair, BIAS).bytes_read == 2 * 12
    assert written(pair, ND).bytes_written == 2 * 4 * 10 * 32
