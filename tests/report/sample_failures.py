# SPDX-License-Identifier: Apache-2.0
"""The failures of the made-up regression run: one for each way to show one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb.record.failure import Failure, Picture, PictureRow
from tb.record.record import RunStatus


def _rows(
    base: int, pitch: int, rows: int, size: int, wrong: Sequence[tuple[int, int, int]]
) -> list[PictureRow]:
    """Returns rows of random bytes; each of ``wrong`` is (row, first byte, end)."""
    draw = np.random.default_rng(5)
    found = []
    for row in range(rows):
        expected = draw.integers(0, 256, size).astype(np.uint8)
        actual = expected.copy()
        for at, first, end in wrong:
            if at == row:
                actual[first:end] ^= draw.integers(1, 256, end - first).astype(np.uint8)
        found.append(
            PictureRow(
                address=base + row * pitch,
                expected=expected.tobytes().hex(),
                actual=actual.tobytes().hex(),
            )
        )
    return found


def _report(title: str, op: str, command: str) -> str:
    return (
        f"MISMATCH: {title}\n  op         transaction 22 on mte2:\n  op         {op}\n"
        "  where      loop 1 iteration 1 of 2, loop 0 iteration 0 of 2, row 3 of 24,\n"
        "             byte 96 of 224 (data)\n"
        "  source     GM 0x00000001c0\n"
        "  lane       byte 0 of a 32-byte bus word\n"
        "  written by slot mte2 in cycle 6382\n\n"
        "            expected                    actual\n"
        "  0x001f8   00 00 80 3f 00 00 80 3f     00 00 80 3f 00 00 80 3f\n"
        "  0x00200  [1d|78|4d|d8|c1|a1|31|72]   [e2|11|5f|7f|39|5d|2d|83]\n\n"
        f"repeat with:\n  {command}"
    )


_LOAD = (
    "pto.mte_gm_ub %gm_0x40, %ub_0x200, %c0_i64, %c224_i64 nburst(%c24_i64, %c224_i64, "
    "%c256_i64) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)
_STORE = "pto.mte_ub_gm %ub_0x1000, %gm_0x10000ff0, %c96_i64 nburst(%c2_i64, %c96_i64, %c128_i64)"
DATA = Failure(
    kind="data",
    slot="mte2",
    op="mte_gm_ub",
    field="row data",
    space="ub0",
    address=0x200 + 3 * 256 + 96,
    address_class="lane 0, after a loop",
    transaction=22,
    begin_clock=6120,
    end_clock=6391,
    text=_report("wrong data, UB0 0x00560, 312 wrong bytes in 5376", _LOAD, ""),
    picture=Picture(
        space="ub0",
        rows=_rows(0x200, 256, 24, 224, [(3, 96, 128), (4, 0, 224), (11, 17, 73)]),
        left_out="loop 1 iterations 0 and 2 of 3: 48 rows without a wrong byte",
    ),
)
GUARD = Failure(
    kind="guard",
    slot="mte3",
    op="mte_ub_gm",
    field="behind the row",
    space="gm",
    address=0x1000_1050,
    address_class="4 KiB page edge",
    transaction=1841,
    begin_clock=2_981_007,
    end_clock=2_981_344,
    text=_report(
        "write outside the destination, GM 0x0010001050, 12 wrong bytes in 12", _STORE, ""
    ),
    picture=Picture(space="gm", rows=_rows(0x1000_0F40, 32, 16, 32, [(8, 16, 28)])),
)
STATUS = Failure(
    kind="status",
    slot="fix",
    op="mte_l0c_gm",
    field="status OK not RULE",
    rule="FIX-L17",
    transaction=402,
    begin_clock=55_020,
    end_clock=55_024,
    text="MISMATCH: retired with status 0 OK, expected 1 RULE (FIX-L17)\n"
    "  transaction 402 on fix:\n    pto.mte_l0c_gm %l0c_0x400, %gm_0x8000 [...]",
)
PROTOCOL = Failure(
    kind="protocol",
    slot="mte2",
    field="AR crosses a 4 KiB page",
    rule="axi_4k",
    text="PROTOCOL: mte2 AXI read: ARADDR 0x0000001fe0, 3 beats of 32 bytes cross a 4 KiB page",
    begin_clock=771,
    end_clock=771,
)
HANG = Failure(
    kind="hang",
    slot="mte1",
    op="mte_l1_fb",
    field="no done",
    transaction=9001,
    begin_clock=411_200,
    text="HANG: nothing was accepted or retired for 200000 clocks\n  mte1 waits in "
    "mte_l1_fb, accepted in clock 411200",
)
CRASH = Failure(
    kind="crash",
    field="Segmentation fault",
    text="the simulator died of SIGSEGV after 1203 transactions; <vector> sizes & all",
)


FAILURES: dict[str, tuple[Failure, RunStatus, RunStatus, str, str, int, int]] = {
    "data": (DATA, "fail", "fail", "random", "verilator", 9, 0),
    "guard": (GUARD, "fail", "fail", "stress", "verilator", 3, 3),
    "status": (STATUS, "fail", "fail", "illegal", "verilator", 2, 0),
    "protocol": (PROTOCOL, "fail", "fail", "errors", "verilator", 1, 0),
    "hang": (HANG, "hang", "hang", "pins", "icarus", 1, 1),
    "crash": (CRASH, "crash", "pass", "faults", "verilator", 1, 0),
}
"""Kind to failure, status of its runs and of one that is repeated, test, simulator, number of runs,
and how many regression runs before have it already."""
