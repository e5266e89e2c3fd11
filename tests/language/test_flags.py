# SPDX-License-Identifier: Apache-2.0
"""Unit flags of L0C: who waits for whom, and for ever (fixpipe.md 8, l0_loads.md 6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm
from tb.isa.mad import Mad
from tb.isa.pipes import Pipe
from tb.language.order.flags import own_blocks
from tb.language.order.order import Order, order
from tb.language.trace import Step
from tb.language.verify import Verified, verify_file
from tests.language.steps import compute, move, program, sync
from tests.wording import says

L0A, L0B, L0C = Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c")

ONLY, SETS, CLEARS = "check_only", "check_and_set", 3
CHECKS = 2


def product(flag: str = SETS, dst: int = 0) -> Step:
    """Returns a product of blocks 0 and 1, or of those at ``dst``."""
    return compute(Mad(0, 0, dst, 16, 16, 32, L0A, L0B, L0C, unit_flag=flag))


def back(flag: int = CLEARS, src: int = 0, dst: int = 0) -> Step:
    """Returns a write-back of these blocks."""
    return move(MteL0cGm(src, dst, 16, 16, 16, 16, unit_flag=flag, layout="nz2nd"))


def ordered(*steps: Step, preset: tuple[int, ...] = ()) -> Order:
    return order(program(steps), unit_flags=preset)


def test_a_write_back_waits_for_the_product_that_sets_its_flags() -> None:
    found = ordered(product(), back(), product(), back())
    assert (found.findings, found.warnings) == ((), ())
    assert dict(found.after) == {1: (0,), 2: (1,), 3: (2,)}


def test_a_write_back_before_the_product_waits_for_it_too() -> None:
    """FIX alone waits: the matrix unit goes on and sets the flag."""
    found = ordered(back(), product())
    assert found.findings == ()
    assert (found.sequence, dict(found.after)) == ((1, 0), {0: (1,)})


def test_a_product_that_waits_for_such_a_write_back_is_a_deadlock() -> None:
    (finding,) = ordered(back(), *sync(Pipe.FIX, Pipe.M), product()).findings
    assert finding.place.line == 0
    assert says(finding.message, "deadlock waits mad x.pto:3:3 after wait_flag set_flag this one")


def test_a_product_that_only_checks_sets_no_flag() -> None:
    (finding, *_) = ordered(product(ONLY), *sync(Pipe.M, Pipe.FIX), back()).findings
    assert (finding.place.line, finding.op) == (3, "pto.mte_l0c_gm")
    assert says(
        finding.message,
        "deadlock PIPE_FIX waits for ever unit flag L0C block 0 to be set no product sets it",
    )
    plain = ordered(product(""), *sync(Pipe.M, Pipe.FIX), back())
    assert plain.findings == (), "without a clause of a product the harness sets flags"


@pytest.mark.parametrize(
    "steps",
    [[product(), product()], [product(), back(CHECKS), product()], [product(), product(ONLY)]],
    ids=["twice", "checked", "only checked"],
)
def test_a_product_waits_for_ever_for_flags_that_nothing_clears(steps: list[Step]) -> None:
    """One finding: what never starts has no hazards."""
    (finding,) = ordered(*steps).findings
    assert finding.place.line == len(steps) - 1
    assert says(
        finding.message,
        "deadlock PIPE_M waits for ever unit flag L0C block 0 to be clear no write-back clears it",
    )
    assert says(finding.message, "pto.mad at x.pto:0:3 sets it")


def test_two_write_backs_of_one_set() -> None:
    late = back(dst=0x10000)
    (finding,) = ordered(product(), back(), late).findings
    assert finding.place.line == 2
    assert says(finding.message, "block 0 to be set no product sets it after that")
    assert says(finding.message, "pto.mte_l0c_gm at x.pto:1:3 clears it")
    assert ordered(product(), back(CHECKS), late).findings == ()


def test_flags_that_are_set_at_the_begin() -> None:
    """The write-back finds its flags set, and goes before the product."""
    found = ordered(product(), back(), preset=(0, 1))
    assert (found.findings, found.sequence, dict(found.after)) == ((), (1, 0), {0: (1,)})
    (finding,) = ordered(product(), preset=(0, 1)).findings
    assert says(finding.message, "block 0 to be clear no write-back clears it set at the begin")
    (finding,) = ordered(product(), back(), preset=(1,)).findings
    assert finding.op == "pto.mad"
    assert says(finding.message, "deadlock waits for mte_l0c_gm at x.pto:1:3 waits for this one")


def test_blocks_that_no_product_checks_are_set_by_the_harness() -> None:
    """A-48."""
    steps = program([product(), back(src=2048), back(dst=0x10000)]).steps
    assert own_blocks(steps) == {0, 1}
    found = ordered(*steps)
    assert found.findings == ()
    assert dict(found.after) == {2: (0,)}


BODY = """func.func @k(%out: !pto.ptr<f32, gm>, %n: i64) {{
  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0a>
  %b = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0b>
  %c = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
  pto.mad %a, %b, %c, %c16, %c16, %c32 unit_flag({flag})
    : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
  pto.mte_l0c_gm %c, %out, %c16, {n}, %c16, %c16, %c0, %c0, unit_flag(check_and_clear), nz2nd
    : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64
  func.return
}}
"""


def verified(folder: Path, flag: str = SETS, n: str = "%c16") -> Verified:
    path = folder / "x.pto"
    path.write_text(BODY.format(flag=flag, n=n))
    return verify_file(path)


def test_an_unknown_destination_hides_no_flag(tmp_path: Path) -> None:
    """The address in GM does not decide which blocks a write-back waits for."""
    assert verified(tmp_path).findings == ()
    (finding, *_) = verified(tmp_path, ONLY).findings
    assert says(finding.message, "deadlock")


def test_unknown_blocks_are_no_deadlock(tmp_path: Path) -> None:
    for flag in (SETS, ONLY):
        found = verified(tmp_path, flag, "%n").findings
        assert not [one for one in found if "deadlock" in one.message]
