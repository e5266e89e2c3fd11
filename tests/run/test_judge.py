# SPDX-License-Identifier: Apache-2.0
"""The verdict on a result; every test of the plan sends every op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from sequences.corner.blocks import corner_blocks
from sequences.draw.traffic import FEW, TrafficGenerator
from sequences.examples.blocks import example_blocks, op_names
from sequences.examples.catalog import EXAMPLES
from sequences.illegal.generator import IllegalGenerator
from sequences.op_filter import forms
from tb.dut.selection import SELECTABLE
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.ops import LEGACY_FORMS
from tb.record.capacity import CapacityFigure
from tb.record.record import OpCount
from tb.record.settings import RunSettings
from tb.record.speed import SpeedFigure
from tb.run.exchange import SimResult
from tb.run.judge import Verdict, verdict
from tb.run.testlist import load_plan
from tests.wording import says

LOAD, STORE, COPY = "mte_gm_ub", "mte_ub_gm", "copy_gm_to_ubuf"
MANY = 1000

QUICK = SpeedFigure(stream="rows", slot="mte2", op=LOAD, unit="a row", clocks=1.1, limit=1.1)
SLOW = SpeedFigure(stream="joins", slot="mte3", op=STORE, unit="a word", clocks=1.9, limit=1.1)

LEAK = CapacityFigure(slot="mte3", op=STORE, size="tiny", start={"ops": 16}, end={"ops": 15})
GAIN = CapacityFigure(slot="mte2", op=LOAD, size="tiny", start={"ops": 16}, end={"ops": 17})
FULL = CapacityFigure(slot="mte2", op=LOAD, size="tiny", start={"ops": 16}, end={"ops": 16})


def result(ops: dict[str, int] | None = None, **changes: Any) -> SimResult:
    """Returns the result of a run without failure: 10 of each op, with its number of bytes."""
    ops = {LOAD: 640} if ops is None else ops
    counts = {name: OpCount(sent=10, passed=10, bytes=size) for name, size in ops.items()}
    values: dict[str, Any] = {
        "complete": True,
        "transactions": 10 * len(ops),
        "bytes_checked": sum(ops.values()),
        "ops": counts,
    }
    return SimResult(**{**values, **changes})


def judge(
    found: SimResult,
    *ops: str,
    n: int = MANY,
    served: tuple[str, ...] = SELECTABLE,
    fixed_length: bool = False,
    **settings: Any,
) -> Verdict:
    chosen = RunSettings(ops=ops, transactions=n, **settings)
    return verdict(found, chosen, served, fixed_length=fixed_length)


def test_lines_of_streams() -> None:
    assert SLOW.missed
    assert not QUICK.missed
    assert SLOW.line == "joins: 1.9 clocks a word, limit 1.1"
    free = SLOW.model_copy(update={"limit": None, "clocks": 2.0})
    assert not free.missed
    assert free.line == "joins: 2.0 clocks a word, no limit"


def test_a_good_run_passes() -> None:
    assert judge(result()) == judge(result(), LOAD) == Verdict("pass")


@pytest.mark.parametrize(
    ("found", "status", "facts"),
    [
        (result(ended="hang", message="stuck", mismatches=1), "hang", "stuck"),
        (result(mismatches=2, agreed=1), "fail", "DUT differs model"),
        (result(mismatches=1, agreed=1, protocol_errors=1), "fail", "DUT differs"),
        (result(mismatches=2, agreed=2), "fail", "DUT model agree"),
        (result(protocol_errors=1, complete=False), "fail", "DUT differs"),
        (result(mismatches=1, speed=[SLOW, QUICK]), "fail", "DUT slower limits"),
        (result(mismatches=2, speed=[SLOW, QUICK]), "fail", "DUT differs"),
        (result(mismatches=1, capacity=[LEAK, FULL]), "fail", "DUT holds more or less end start"),
        (result(mismatches=1, capacity=[GAIN]), "fail", "DUT holds more or less end start"),
        (result(mismatches=2, capacity=[LEAK, FULL]), "fail", "DUT differs"),
        (result(complete=False), "error", "test ended before"),
        (result({}), "error", "nothing sent 0 transactions"),
        (result({LOAD: 0}), "error", "no byte checked 10 transactions"),
        (result({LOAD: 0}, statuses={"RULE": 10}), "error", "no byte checked"),
    ],
)
def test_no_pass_for_any_requested_ops(found: SimResult, status: str, facts: str) -> None:
    verdict = judge(found)
    assert verdict.status == status
    assert says(verdict.message, facts)


@pytest.mark.parametrize("found", [result(), result({LOAD: 640, STORE: 0})])
def test_an_op_without_bytes_and_without_a_reason_is_an_error(found: SimResult) -> None:
    verdict = judge(found, LOAD, STORE)
    assert verdict.status == "error"
    assert f"no byte of {STORE} was checked" in verdict.message
    assert f"TEST=random OPS={LOAD},{STORE}" in verdict.message
    assert LOAD in verdict.message.partition("OPS of")[2]
    assert "run another test" in verdict.message


REASONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no engine": ({}, {"served": (LOAD,)}),
    f"test only {LOAD}": ({"sends": (LOAD,)}, {}),
    "padded rows": ({"dropped": {STORE: "padded rows"}}, {}),
    "constraints mine.py none": ({"constrained": True}, {"constraints": "here/mine.py"}),
    "N=1 fewer 2 ops": ({}, {"n": 1}),
    "N=127 too few": ({}, {"n": 2 * FEW - 1}),
}


@pytest.mark.parametrize("reason", REASONS)
def test_an_op_with_a_reason_is_left_out_by_name(reason: str) -> None:
    found, options = REASONS[reason]
    verdict = judge(result(**found), LOAD, STORE, **options)
    (line,) = verdict.left_out
    assert line.startswith(f"{STORE}: not sent, ")
    assert says(line, reason)
    assert verdict == Verdict("pass", "", (line,))


@pytest.mark.parametrize("reason", REASONS)
def test_no_reason_makes_a_run_without_requested_bytes_pass(reason: str) -> None:
    found, options = REASONS[reason]
    other = result({COPY: 640}, **{**found, "sends": (LOAD,)} if "sends" in found else found)
    verdict = judge(other, STORE, **{**options, "n": 1} if "n" in options else options)
    assert verdict.status == "error"
    assert says(verdict.message, f"no byte OPS {STORE} not sent")


def test_refused_ops_and_nops_are_not_reported_as_unsent() -> None:
    (line,) = judge(result({LOAD: 64, STORE: 0}), LOAD, STORE, n=20).left_out
    assert says(line, f"{STORE} sent 10 times no byte checked")


def test_n_and_constraints_are_no_reason_for_a_test_without_them() -> None:
    assert judge(result(), LOAD, STORE, n=1, fixed_length=True).status == "error"
    assert judge(result(), LOAD, STORE, constraints="mine.py").status == "error"
    assert judge(result(), LOAD, STORE, n=2 * FEW).status == "error"


def test_a_program_may_be_refused_as_a_whole_but_not_be_empty() -> None:
    refused = judge(result({LOAD: 0}, statuses={"RULE": 10}), programs=("x.pto",))
    assert refused.status == "pass"
    (line,) = refused.left_out
    assert says(line, "NOP refused error")
    empty = judge(result({}), programs=("x.pto",))
    assert empty.status == "error"
    assert "0 transactions" in empty.message
    assert "data movements" in empty.message
    # The caveat of a replay without an op: there were products of the host.
    assert judge(result({}, caveat="host"), programs=("x.pto",)) == Verdict("pass")
    assert judge(result({}, caveat="host")).status == "error"


# --- every test of the plan with every op ----------------------------------------------------


def _directed(op: str) -> Iterator[OpBlock]:
    for example in EXAMPLES:
        if example.applies and op_names(example) <= {LEGACY_FORMS.get(op, op)}:
            for blocks in example_blocks(example).values():
                yield from blocks


SOURCES: dict[str, Callable[[str], Iterator[OpBlock]]] = {
    "DirectedTest": _directed,
    "CornerTest": lambda op: corner_blocks(32, (op,)),
    "IllegalTest": lambda op: IllegalGenerator(1, (op,)).blocks(100),
    **dict.fromkeys(
        ("RandomTest", "PinLevelTest", "StressTest"),
        lambda op: TrafficGenerator(1, (op,)).blocks(5),
    ),
}
"""Class of a test of the plan to the blocks that it sends for one op; OutsideTest sends what others
have results of, SpeedTest streams of ops in v0.6 forms."""


@cache
def sent(class_name: str, op: str) -> SimResult:
    """Returns the result of a correct DUT, with a byte counted for each row."""
    counts: Counter[str] = Counter()
    bytes_of: Counter[str] = Counter()
    for block in SOURCES[class_name](op):
        legal = np.ones(len(block), dtype=bool)
        if block.expected_rule is not None:
            legal = block.expected_rule == 0
        moves = np.array([not unpack(words).is_nop for words in block.pack()])
        for index in range(len(block)):
            (form,) = forms(block, np.arange(len(block)) == index)
            counts[form] += 1
            bytes_of[form] += int(legal[index] and moves[index])
    return SimResult(
        complete=True,
        transactions=counts.total(),
        bytes_checked=bytes_of.total(),
        ops={form: OpCount(sent=counts[form], bytes=bytes_of[form]) for form in counts},
    )


@pytest.mark.long
@pytest.mark.parametrize("op", SELECTABLE)
@pytest.mark.parametrize("test", sorted(load_plan().keys() - {"outside", "speed"}))
def test_every_test_of_the_plan_sends_every_op(test: str, op: str) -> None:
    planned = load_plan()[test]
    found = sent(planned.class_name, op)
    settings = RunSettings(test=test, ops=(op,), transactions=planned.transactions)
    assert verdict(found, settings, SELECTABLE, fixed_length=True) == Verdict("pass")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_few_random_transactions_reach_each_op_where_n_allows(seed: int) -> None:
    for ops in (SELECTABLE, (LOAD, COPY), (COPY, "mte_ub_ub", "copy_ubuf_to_ubuf", "mte_l0c_ub")):
        blocks = list(TrafficGenerator(seed, ops).blocks(len(ops)))
        assert sum(map(len, blocks)) == len(ops)
        moved = set()
        for block in blocks:
            moves = np.array([not unpack(words).is_nop for words in block.pack()])
            moved |= forms(block, moves)
        assert moved == set(ops)
