# SPDX-License-Identifier: Apache-2.0
"""Filtered blocks are legal, disjoint and as written; refused ops are counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from sequences.blocks import lower_program
from sequences.constraints import OP_NAMES, OpConstraints
from sequences.draw.traffic import TrafficGenerator
from sequences.fixpipe.generator import FixGenerator
from sequences.illegal.generator import IllegalGenerator
from sequences.op_filter import (
    LOST_PARAMETERS,
    PATIENCE,
    Bools,
    FilterChain,
    OpFilter,
    op_filter,
    without,
)
from tb.common.errors import PtoError
from tb.isa.block import OpBlock, from_ops
from tb.isa.descriptor import pack
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import MteGmL1, MteL1Ub, MteUbGm
from tb.isa.op import replace
from tb.isa.ops import OPS
from tests.sequences.fix_checks import check_fills, check_flags
from tests.sequences.reference import (
    BlockError,
    check_disjoint,
    check_legal,
    check_programs,
    check_rows_disjoint,
    legacy_ops,
)

pytestmark = pytest.mark.long


def random_filter(seed: int, fraction: float) -> OpFilter:
    """Returns a predicate that keeps about ``fraction`` of the ops, at random."""
    rng = np.random.default_rng(seed)
    return OpFilter(
        "random_filter", lambda block: rng.random(len(block)) < fraction, "bad random_filter"
    )


def ops_but(*names: str) -> OpFilter:
    """Returns a predicate that refuses some ops."""
    codes = [OPS[name].opcode for name in names]
    return OpFilter("ops_but", lambda block: ~np.isin(block.opcode, codes), "refused ops")


FLAGGED = OpConstraints(flag=0.9, flag_again=0.9, late_flag=0.7, share_l0c=0.6, max_bytes=2048)

CASES = {
    "half": random_filter(1, 0.5),
    "most": random_filter(2, 0.9),
    "few": random_filter(3, 0.1),
    "no loads of parameters": ops_but("mte_l1_fb"),
    "no loads": ops_but("mte_gm_ub", "mte_gm_l1", "mte_gm_l1_frac"),
    "no pads": OpFilter("pads", lambda block: block.column("pad_en") == 0, "pads"),
    "short": op_filter(lambda block: block.column("len") < 256),
}


def check(blocks: list[OpBlock], registers: DmaRegisters) -> DmaRegisters:
    """Raises BlockError unless blocks may be sent in their order."""
    for block in blocks:
        check_legal(block)
        check_rows_disjoint(block)
        registers = check_programs(block, registers)
        if block.fills and block.flag_delay is not None:
            check_flags(block)
            check_fills(block)
        for sizes in (block.dtype, block.pad_dtype, block.gap, block.after, block.expected_rule):
            assert sizes is not None
            assert len(sizes) == len(block)
    return registers


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("limits", [OpConstraints(), FLAGGED], ids=["usual", "flags"])
def test_filtered_blocks_may_be_sent(case: str, limits: OpConstraints) -> None:
    filter_chain = FilterChain([CASES[case]])
    blocks = list(filter_chain.blocks(TrafficGenerator(31, constraints=limits).blocks, 2500))
    check(blocks, DmaRegisters())
    assert sum(map(len, blocks)) == 2500
    assert 2500 <= filter_chain.kept < filter_chain.drawn


def test_byte_by_byte() -> None:
    limits = OpConstraints(max_bytes=1024, max_gm_bytes=65536, mixed=0.8, dependent=1.0)
    waits = 0
    for block in FilterChain([random_filter(4, 0.6)]).blocks(
        TrafficGenerator(43, constraints=limits).blocks, 900
    ):
        check_disjoint(block)
        waits += int((block.after >= 0).sum())
    assert waits > 50


@pytest.mark.parametrize("fraction", [0.15, 0.5, 0.85])
def test_flags_and_parameters_of_write_backs(fraction: float) -> None:
    blocks = FixGenerator(5, constraints=FLAGGED, links=OP_NAMES).blocks
    late = 0
    for block in FilterChain([random_filter(6, fraction)]).blocks(blocks, 2500):
        check_flags(block)
        check_fills(block)
        assert block.flag_delay is not None
        late += int((block.flag_delay >= 0).sum())
    assert late > 100


def test_without_their_repair_flags_and_parameters_are_wrong() -> None:
    """The checks above fail if ops are dropped without repair."""
    wrong: Counter[str] = Counter()
    rng = np.random.default_rng(7)
    for block in FixGenerator(5, constraints=FLAGGED, links=OP_NAMES).blocks(3000):
        kept = rng.random(len(block)) < 0.6
        left = without(block, kept, {})
        assert block.flag_delay is not None
        for name, test, found in (
            ("flags", check_flags, replace(left, flag_delay=block.flag_delay[kept])),
            ("parameters", check_fills, left),
        ):
            try:
                test(found)
            except BlockError:
                wrong[name] += 1
    assert wrong["flags"] > 5
    assert wrong["parameters"] > 5


def test_legacy_registers_persist_over_dropped_copies() -> None:
    """Dropped copies leave their registers to the next one, also of a later block."""
    plain, kept = DmaRegisters(), DmaRegisters()
    source = TrafficGenerator(8, ("copy_gm_to_ubuf", "copy_ubuf_to_gm"))
    filter_chain = FilterChain([random_filter(9, 0.3)])
    dropped = False
    for block in source.blocks(2000):
        plain = check_programs(block, plain)
        left = filter_chain.select(block)
        kept = check_programs(left, kept)
        own = sum(len(block.legacy[at]) for at in block.legacy)
        dropped |= len(legacy_ops(left)) < own
    assert dropped
    everything = FilterChain([OpFilter("all", lambda block: np.ones(len(block), bool), "")])
    rest = DmaRegisters()
    for block in TrafficGenerator(8, ("copy_gm_to_ubuf", "copy_ubuf_to_gm")).blocks(2000):
        assert everything.select(block) is block
        rest = check_programs(block, rest)
    assert rest == plain


def test_registers_of_isolated_blocks_end_with_them() -> None:
    filter_chain = FilterChain([random_filter(10, 0.5)])
    source = IllegalGenerator(11, OP_NAMES)
    broken = Counter[int]()
    for block in filter_chain.blocks(source.blocks, 2000, isolated=True):
        check_rows_disjoint(block)
        assert block.expected_rule is not None
        registers, words = DmaRegisters(), block.pack()
        for index, program in block.legacy.items():
            lowered, registers = lower_program(program, registers)
            assert pack(lowered.descriptor).tolist() == words[index].tolist()
        broken.update(block.expected_rule.tolist())
    assert len(broken) > 10


def test_waits_go_on_through_dropped_ops() -> None:
    """b waits for a, c for b: without b it waits for a."""
    load = MteGmL1(0x1000, 0x0, 96, 1, 96, 96)
    store = MteUbGm(0x2000, 0x9000, 96, 1, 96, 96)
    copy = MteL1Ub(0x0, 0x4000, 3, 1, 0, 0)
    block = replace(from_ops([load, store, copy]), after=np.array([-1, 0, 1]))
    assert without(block, np.array([True, False, True]), {}).after.tolist() == [-1, 0]
    assert without(block, np.array([False, True, True]), {}).after.tolist() == [-1, 0]
    assert without(block, np.array([False, False, True]), {}).after.tolist() == [-1]
    # Without a read of its result, an op waits for another only if it writes bytes of that one.
    for place, after in ((0x800, -1), (0x20, 0)):
        again = MteGmL1(0x9000, place, 96, 1, 96, 96)
        block = replace(from_ops([load, store, again]), after=np.array([-1, 0, 1]))
        left = without(block, np.array([True, False, True]), {})
        assert left.after.tolist() == [-1, after]


def test_blocks_without_dropped_ops_are_unchanged() -> None:
    block = next(iter(TrafficGenerator(12).blocks(64)))
    assert FilterChain([]).select(block) is block
    assert (
        FilterChain([OpFilter("all", lambda b: np.ones(len(b), bool), "")]).select(block) is block
    )


def test_counts_have_the_refusals_of_each_filter() -> None:
    counts: Counter[str] = Counter()
    none = OpFilter("none_short", lambda block: block.column("len") >= 64, "short rows")
    dropped: dict[str, str] = {}
    filter_chain = FilterChain([none, random_filter(13, 0.5)], counts, dropped)
    list(filter_chain.blocks(TrafficGenerator(14, ("mte_gm_ub",)).blocks, 500))
    assert set(dropped) == {"mte_gm_ub"}
    assert dropped["mte_gm_ub"] in counts
    assert counts["short rows"] == filter_chain.refused["none_short"] > 0
    # An op that both refuse is counted once.
    assert counts["bad random_filter"] < filter_chain.refused["random_filter"]
    assert sum(counts.values()) == filter_chain.drawn - filter_chain.kept


def test_write_backs_without_their_parameters_are_dropped() -> None:
    counts: Counter[str] = Counter()
    filter_chain = FilterChain([ops_but("mte_l1_fb")], counts)
    source = FixGenerator(15, constraints=OpConstraints(saturate=0.0), links=OP_NAMES)
    blocks = list(filter_chain.blocks(source.blocks, 2000))
    assert counts[LOST_PARAMETERS] > 10
    assert not any((block.opcode == OPS["mte_l1_fb"].opcode).any() for block in blocks)


def test_unsatisfiable_is_named() -> None:
    @op_filter
    def odd_rows(block: OpBlock) -> Bools:
        found: Bools = block.column("len") == 12345
        return found

    @op_filter
    def anything(block: OpBlock) -> Bools:
        return np.ones(len(block), dtype=bool)

    filter_chain = FilterChain([odd_rows, anything])
    with pytest.raises(PtoError) as caught:
        list(filter_chain.blocks(TrafficGenerator(16, ("mte_gm_ub",)).blocks, 100))
    text = str(caught.value)
    assert f"odd_rows refused {filter_chain.drawn}" in text
    assert "anything" not in text
    assert "test_op_filter.py" in text
    assert "make the predicates looser" in text
    assert PATIENCE <= filter_chain.drawn < 4 * PATIENCE


def test_rare_ops_are_still_drawn() -> None:
    """One of some hundred is kept; the bound is one of two thousand."""
    rare = OpFilter("rare", lambda block: block.column("n_burst") == 7, "usual rows")
    found = list(FilterChain([rare]).blocks(TrafficGenerator(17, ("mte_gm_ub",)).blocks, 40))
    assert sum(map(len, found)) == 40


@pytest.mark.parametrize(
    ("returns", "message"),
    [
        (True, r"returned bool True for a block of \d+ ops"),
        (np.ones(3, bool), r"returned bool\[3\]"),
        (np.ones(3), r"returned float64\[3\]"),
        (None, "returned NoneType None"),
    ],
)
def test_wrong_returns_are_named(returns: Any, message: str) -> None:
    block = next(iter(TrafficGenerator(18).blocks(64)))
    with pytest.raises(PtoError, match=message):
        op_filter(lambda block: returns)(block)


def test_exceptions_are_named_with_their_line() -> None:
    @op_filter
    def wrong(block: OpBlock) -> Bools:
        return block.column("length") > 3

    block = next(iter(TrafficGenerator(19).blocks(64)))
    with pytest.raises(PtoError, match=r"wrong raised KeyError: .*length(?s:.*)_filter.py, line"):
        wrong(block)
