# SPDX-License-Identifier: Apache-2.0
"""Random copies under both profiles and mixes of their knobs, by a plain second reading."""

from __future__ import annotations

import numpy as np
import pytest

from sequences.constraints import OpConstraints
from sequences.draw.copies import COPY_FORMS, CopyGenerator
from tb.isa.block import OpBlock, from_ops
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import DmaOp, Loop, MteGmL1, MteGmUb
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.footprint import destination, source
from tb.isa.profile import SEED, current, parse_profile, using
from tests.model.naive import read, read_descriptor, written
from tests.model.naive_rules import lowest_rule, undefined
from tests.sequences.profiles import PROFILES
from tests.sequences.reference import (
    BlockError,
    check_disjoint,
    check_legal,
    check_programs,
    check_rows_disjoint,
    descriptors,
    dma_descriptors,
)

pytestmark = pytest.mark.long

COUNT = 4000
FEW = OpConstraints(max_bytes=4096, max_gm_bytes=16384, stretch=0.0, far=0.0)


def check_plain(block: OpBlock) -> None:
    """Raises BlockError unless the strided copies of a block are legal by the plain reading."""
    for number, desc in enumerate(descriptors(block)):
        if not isinstance(desc, DmaOp):
            continue
        copy = read_descriptor(desc)
        if rule := lowest_rule(copy):
            raise BlockError(f"op {number} breaks DMA-L{rule:02}")
        if rule := undefined(copy):
            raise BlockError(f"op {number} breaks DMA-L{rule:02} (T)")


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.parametrize("text", PROFILES)
def test_legal_disjoint_and_as_written(text: str) -> None:
    registers = DmaRegisters()
    with using(parse_profile(text)):
        for block in CopyGenerator(21, COPY_FORMS).blocks(COUNT):
            check_legal(block)
            check_plain(block)
            check_rows_disjoint(block)
            registers = check_programs(block, registers)


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.parametrize("text", PROFILES)
def test_byte_by_byte(text: str) -> None:
    """The footprints are those of the plain reading, and share no byte."""
    with using(parse_profile(text)):
        for block in CopyGenerator(22, COPY_FORMS, FEW).blocks(700):
            check_disjoint(block)
            for desc in dma_descriptors(block):
                if desc.is_nop:
                    continue
                for side, bytes_of in (
                    (destination(desc), written), (source(desc), read),
                ):  # fmt: skip
                    starts = side.row_starts()
                    found = np.unique(starts[:, None] + np.arange(side.length))
                    assert np.array_equal(found, bytes_of(read_descriptor(desc))), desc


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.parametrize("text", PROFILES)
def test_each_knob_is_used(text: str) -> None:
    """What a knob allows is drawn, and nothing that it forbids."""
    with using(parse_profile(text)):
        knobs = current()
        blocks = list(CopyGenerator(23, COPY_FORMS).blocks(3 * COUNT))
        live = [d for block in blocks for d in dma_descriptors(block) if not d.is_nop]
    loads = [desc for desc in live if desc.spec.source == "gm"]
    several = [desc for desc in loads if desc.n_burst > 1]
    again = [desc for desc in several if desc.ext_stride < desc.len]
    assert ({0, 1} <= {min(d.ext_stride, 1) for d in again}) == (knobs.row_repeat == "legal")
    assert (max(d.len for d in live if d.spec.name != "mte_l1_ub") > 65535) == (
        knobs.len_bits == 21
    )
    groups = [d for d in several if not d.pad_en and d.loc_stride == d.len and d.len % 32]
    assert bool(groups) == (knobs.compact == "legal")
    if groups:
        assert {d.spec.name for d in groups} == {"mte_gm_ub", "mte_gm_l1"}
        assert any(loop.count > 1 for d in groups for loop in d.loops)
        assert any(d.n_burst * d.len % 32 == 0 for d in groups)
        assert any(d.pad_legacy for d in groups)
        assert any(d.len < 8 for d in groups)
    far = [d for d in loads if d.pad_en and d.loc_stride > d.len + 4096]
    assert bool(far) or knobs.pad_end == "stride"
    types = {int(one) for block in blocks for one in block.dtype}
    assert types == set(range(len(DTYPES)))


def test_the_plain_checks_can_fail() -> None:
    """Each op is legal by one profile and rejected by the plain reading of another."""
    cases = (
        (MteGmUb(0, 0, 65536, 1, 0, 0), "L05", "a5", "seed"),
        (MteGmUb(0, 0, 5, 3, 8, 5), "L07", "a5", "seed"),
        (MteGmUb(0, 0, 32, 3, 0, 32), "L08", "a5", "seed"),
        (MteGmL1(0, 0, 33, 2, 33, 64, (Loop(2, 99, 32),)), "L13", None, "seed"),
        (MteGmL1(0, 0, 65, 1, 0, 0, (Loop(2, 99, 96), Loop(2, 8, 64))), "L13", None, "seed"),
        (MteGmUb(0, 0, 1, 1, 0, 0, (), None, 0, Ptr("i16", "gm"), Ptr("i16", "ub")), "L19",
         "seed", "a5"),
    )  # fmt: skip
    for op, rule, good, bad in cases:
        block = from_ops([op])
        if good:
            with using(parse_profile(good)):
                check_plain(block)
        with using(parse_profile(bad)), pytest.raises(BlockError, match=rule):
            check_plain(block)
    # A fill byte of one row is a data byte of another: nothing that aligned rows can do.
    desc = MteGmUb(0, 8, 5, 2, 8, 16)
    with using(parse_profile("seed, tail = fill")):
        assert undefined(read_descriptor(desc)) == 18
    with using(SEED):
        assert undefined(read_descriptor(desc)) == 0
