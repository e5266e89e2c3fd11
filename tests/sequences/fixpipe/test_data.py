# SPDX-License-Identifier: Apache-2.0
"""Data for write-backs, dependent ops, constraints, order of blocks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from sequences.constraints import (
    FIX_NAMES,
    GM_UB_NAMES,
    OP_NAMES,
    ConstraintError,
    OpConstraints,
)
from sequences.draw.copies import CopyGenerator
from sequences.fixpipe.generator import FixGenerator
from sequences.place.merge import merge
from tb.isa.block import OpBlock
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import FLAG_CHECK, FLAG_CLEAR, NZ2NZ, SCALE_MASK
from tb.isa.footprint import Footprint, destinations, parameters, source
from tb.isa.op import replace
from tb.isa.spaces import Space
from tests.sequences.fix_checks import check_fills, check_flags, filled, old_values
from tests.sequences.reference import (
    BlockError,
    descriptors,
)

Op = tuple[OpBlock, int, FixOp]


class TestParameters:
    """Scales, offsets and alphas, in descriptors and in FB."""

    @pytest.mark.long
    def test_scalars(self, fix_live: list[FixOp]) -> None:
        scales = {d.quant_scale for d in fix_live if d.mode.scale and not d.mode.vector}
        alphas = {d.relu_alpha for d in fix_live if d.relu == 2}
        for numbers in (scales, alphas):
            exponents = {number >> 23 & 255 for number in numbers}
            assert 0 in exponents
            assert 254 in exponents
            assert {number >> 31 for number in numbers} == {0, 1}
            assert any(number & ~SCALE_MASK for number in numbers)
            assert {0x3F800000 & SCALE_MASK, 0} & {number & SCALE_MASK for number in numbers}
        assert any(d.quant_scale & SCALE_MASK == d.quant_scale for d in fix_live if d.mode.scale)

    @pytest.mark.long
    def test_records_differ_in_every_channel(self, fix_ops: list[Op]) -> None:
        offsets, signs, ignored = set(), set(), 0
        for block, _, desc in fix_ops:
            if not desc.vector_quant or desc.is_nop or desc.n < 8:
                continue
            fb = filled(block.fills, (Space.FB,))[Space.FB]
            data = fb[desc.quant_addr : desc.quant_addr + 8 * desc.n]
            if (data < 0).any():
                continue
            words = data.astype(np.uint8).view("<u8")
            assert len(np.unique(words)) > desc.n // 2
            field = (words >> np.uint64(37) & np.uint64(511)).astype(np.int64)
            offsets.update(((field ^ 256) - 256).tolist())
            signs.update((words >> np.uint64(46) & np.uint64(1)).tolist())
            ignored |= int(np.bitwise_or.reduce(words))
        assert {-256, 255, 0, 1, -1} <= offsets
        assert len(offsets) > 300
        assert signs == {0, 1}
        assert ignored == (1 << 64) - 1

    @pytest.mark.long
    def test_rows_are_shared_and_change(self, fix_blocks: list[OpBlock]) -> None:
        same = other = 0
        for block in fix_blocks:
            before: FixOp | None = None
            for desc in descriptors(block):
                if isinstance(desc, FixOp) and desc.vector_quant and not desc.is_nop:
                    if before is not None:
                        same += before.quant_addr == desc.quant_addr
                        other += before.quant_addr != desc.quant_addr
                    before = desc
        assert same > 50
        assert other > 200

    @pytest.mark.long
    def test_loaded_rows(self, fix_blocks: list[OpBlock]) -> None:
        found = 0
        for block in fix_blocks:
            descs = descriptors(block)
            for number, after in enumerate(block.after.tolist()):
                if after >= 0 and descs[after].spec.name == "mte_l1_fb":
                    mine = descs[number]
                    assert isinstance(mine, FixOp)
                    assert any(
                        _meet(destinations(descs[after])[0], rows) for rows in parameters(mine)
                    )
                    found += 1
        assert found > 60


def _meet(one: Footprint, other: Footprint) -> bool:
    return one.base < other.end and other.base < one.end


class TestLinks:
    """Ops around write-backs wait for the ops that they depend on."""

    @pytest.mark.long
    def test_results_are_read(self, fix_blocks: list[OpBlock]) -> None:
        pairs = Counter[tuple[str, str]]()
        for block in fix_blocks:
            descs = descriptors(block)
            for number, after in enumerate(block.after.tolist()):
                if after >= 0:
                    pairs[descs[after].spec.name, descs[number].spec.name] += 1
        wanted = {
            ("mte_l0c_gm", "mte_gm_ub"), ("mte_l0c_gm", "mte_gm_l1"),
            ("mte_l0c_gm", "mte_gm_l1_frac"), ("mte_l0c_l1", "mte_l1_ub"),
            ("mte_l0c_l1", "mte_l1_bt"), ("mte_l0c_ub", "mte_ub_gm"),
            ("mte_l0c_ub", "mte_ub_ub"), ("mte_l0c_ub", "mte_ub_l1"),
            ("mte_l0c_gm", "mte_l0c_gm"), *(("mte_l1_fb", name) for name in FIX_NAMES),
        }  # fmt: skip
        assert set(pairs) == wanted
        assert min(pairs.values()) > 5, pairs

    def test_without_links(self) -> None:
        for block in FixGenerator(13).blocks(300):
            assert set(block.family.tolist()) == {3}


class TestData:
    """Fills are made for their ops."""

    @pytest.mark.long
    def test_ties_of_integers(self, fix_ops: list[Op]) -> None:
        ties = total = 0
        for block, _, desc in fix_ops:
            if desc.mode.name in ("qf322b8_pre_scalar", "qf322s4_pre_scalar") and not desc.is_nop:
                bits = np.array([desc.quant_scale & SCALE_MASK], dtype=np.uint32)
                with np.errstate(all="ignore"):
                    scaled = _tile(block, desc).view(np.float32) * bits.view(np.float32)
                    ties += int((np.abs(scaled) % 1 == 0.5).sum())
                total += scaled.size
        assert total > 10000
        assert ties > 0.1 * total

    @pytest.mark.long
    def test_tiles_hold_all_kinds(self, fix_ops: list[Op]) -> None:
        words = [_tile(b, d) for b, _, d in fix_ops if not d.acc and not d.is_nop and d.mode.scale]
        every = np.concatenate(words)
        values = every.view(np.float32)
        exponent = every >> 23 & 255
        assert np.isposinf(values).any()
        assert np.isneginf(values).any()
        assert len(np.unique(every[np.isnan(values)])) > 5
        assert ((exponent == 0) & (every << 1 > 0)).any()
        assert {0, 0x80000000} <= set(every[exponent == 0].tolist())
        whole = np.concatenate([_tile(b, d) for b, _, d in fix_ops if d.acc and not d.is_nop])
        assert {0x7FFFFFFF, 0x80000000, 1 << 24, (1 << 24) + 1} <= set(whole.tolist())

    def test_rows_and_columns_differ(self, fix_ops: list[Op]) -> None:
        alike = total = 0
        for block, _, desc in fix_ops:
            if not desc.is_nop and source(desc).rows >= 4:
                words = _tile(block, desc).reshape(-1, 16)
                alike += int((words[1:] == words[:-1]).all(axis=1).sum())
                total += len(words) - 1
        assert alike < 0.001 * total

    @pytest.mark.long
    def test_old_values(self, fix_ops: list[Op]) -> None:
        found: dict[int, list[NDArray[np.uint8]]] = {}
        for block, number, desc in fix_ops:
            if desc.atomic_type and not desc.is_nop and destinations(desc)[0].bytes < 2000:
                data = old_values(block, number, desc)
                assert data is not None
                found.setdefault(desc.atomic_type, []).append(data)
        special = {1: [0x7F800000, 0, 0x80000000], 2: [0x7C00, 0x8000], 6: [0x7F80, 0x8000],
                   3: [0x7FFF, 0x8000], 4: [0x7FFFFFFF, 0x80000000], 5: [0x7F, 0x80]}  # fmt: skip
        sizes = {1: 4, 4: 4, 2: 2, 3: 2, 6: 2, 5: 1}
        for code, values in special.items():
            data = np.concatenate(found[code])
            have = set(data[: len(data) // 4 * 4].view(f"<u{sizes[code]}").tolist())
            assert set(values) <= have

    def test_noise_only(self) -> None:
        limits = OpConstraints(corner_data=0.0, share_l0c=0.0)
        values = [
            _tile(block, desc)
            for block in FixGenerator(14, constraints=limits).blocks(200)
            for desc in descriptors(block)
            if isinstance(desc, FixOp) and not desc.is_nop
        ]
        every = np.concatenate(values)
        assert abs(np.unpackbits(every.view(np.uint8)).mean() - 0.5) < 0.01


def _tile(block: OpBlock, desc: FixOp) -> NDArray[np.uint32]:
    """Returns the words of L0C from the first to the last that an op reads, ``uint32``."""
    side = source(desc)
    for fill in block.fills:
        if fill.space is Space.L0C and fill.start <= side.base < fill.start + len(fill.data):
            return fill.data[side.base - fill.start : side.end - fill.start].view(np.uint32)
    raise BlockError("no tile with a fill")


class TestConstraints:
    """Each constraint has its effect."""

    def test_shares(self) -> None:
        limits = OpConstraints(
            flag=0.0, atomic=0.0, loop3=0.0, clip=0.0, nz2nz=0.0, ub_split=0.0, nop=0.0,
            big_tile=0.0, share_fb=0.0, dependent=0.0, tile_rows=5, tile_columns=7, far=0.0,
        )  # fmt: skip
        for block in FixGenerator(15, constraints=limits, links=OP_NAMES).blocks(500):
            for name in ("unit_flag", "atomic_type", "loop3_en", "clip_en", "ub_mode"):
                assert not block.column(name).any()
            assert not (block.column("layout") == NZ2NZ).any()
            assert block.column("m").max() <= 8 * 5
            assert block.column("n").max() <= 8 * 7
            assert (block.after == -1).all()

    def test_flags(self) -> None:
        limits = OpConstraints(flag=1.0, late_flag=1.0, max_flag_delay=50, nop=0.0, flag_again=0.0)
        for block in FixGenerator(16, constraints=limits).blocks(200):
            assert block.flag_delay is not None
            flags = block.column("unit_flag") > 0
            assert ((block.flag_delay >= 0) == flags).all()
            assert block.flag_delay.max() <= 50

    def test_unknown_ops(self) -> None:
        for names in ((), ("mte_gm_ub",)):
            with pytest.raises(ConstraintError, match="mte_l0c_ub"):
                FixGenerator(1, names)
        with pytest.raises(ValueError, match="count is -1"):
            FixGenerator(1).draw(-1)


@pytest.mark.long
def test_same_seed_same_blocks() -> None:
    one, other, third = (list(FixGenerator(s, links=OP_NAMES).blocks(600)) for s in (5, 5, 6))
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert (a.pack() == b.pack()).all()
        assert (a.after == b.after).all()
        assert a.flag_delay is not None
        assert (a.flag_delay == b.flag_delay).all()
        assert len(a.fills) == len(b.fills)
        for x, y in zip(a.fills, b.fills, strict=True):
            assert (x.space, x.start) == (y.space, y.start)
            assert x.data.tobytes() == y.data.tobytes()
    pairs = zip(one, third, strict=False)
    assert any(len(a) != len(b) or (a.pack() != b.pack()).any() for a, b in pairs)


def test_take_and_merge_keep_fills_and_flags() -> None:
    block = FixGenerator(17).draw(200)[0]
    assert block.flag_delay is not None
    part = block.take(0, len(block) - 1)
    assert part.fills == block.fills
    assert part.flag_delay is not None
    assert (part.flag_delay == block.flag_delay[:-1]).all()
    copies = CopyGenerator(1, GM_UB_NAMES).draw(40)[0]
    for one, other in ((block, copies), (copies, block)):
        mixed = merge(np.random.default_rng(3), one, other)
        assert mixed.fills == (*one.fills, *other.fills)
        assert mixed.flag_delay is not None
        mine = np.isin(mixed.opcode, np.unique(block.opcode))
        assert (mixed.flag_delay[mine] == block.flag_delay).all()
        assert (mixed.flag_delay[~mine] == -1).all()


class TestChecks:
    """The checks of this file find errors."""

    def test_fills(self) -> None:
        for block in FixGenerator(18).draw(100):
            if any(fill.space is Space.L0C for fill in block.fills):
                spoiled = tuple(fill for fill in block.fills if fill.space is not Space.L0C)
                with pytest.raises(BlockError, match="accumulators without a fill"):
                    check_fills(replace(block, fills=spoiled))
            if any(fill.space is Space.FB for fill in block.fills):
                ones = tuple(
                    replace(fill, data=np.full_like(fill.data, 255))
                    if fill.space is Space.FB
                    else fill
                    for fill in block.fills
                )
                with pytest.raises(BlockError, match="infinite or NaN"):  # FIX-L25
                    check_fills(replace(block, fills=ones))

    def test_flags(self) -> None:
        limits = OpConstraints(flag=1.0, late_flag=0.0, nop=0.0, share_l0c=0.0, block_ops=4)
        tried = 0
        for block in FixGenerator(19, constraints=limits).draw(60):
            flags = block.column("unit_flag")
            number = int(np.argmax(flags == FLAG_CLEAR))
            if number == len(block) - 1 or flags[number] != FLAG_CLEAR:
                continue
            tried += 1
            columns = dict(block.columns)
            columns["src_addr"] = np.zeros(len(block), dtype=np.int64)
            columns["unit_flag"] = np.where(np.arange(len(block)) > number, 0, flags)
            with pytest.raises(BlockError, match="after the clear of its flag"):
                check_flags(replace(block, columns=columns))
            # All may wait; of them only the op after the clear may have a delay.
            columns["unit_flag"] = np.full(len(block), FLAG_CHECK)
            columns["unit_flag"][0] = FLAG_CLEAR
            delay = np.full(len(block), -1)
            equal = {name: np.full(len(block), column[0]) for name, column in columns.items()}
            equal["unit_flag"] = columns["unit_flag"]
            same = replace(block, columns=equal, flag_delay=delay)
            check_flags(same)
            delay[1] = 7
            check_flags(same)
            delay[0] = 7
            check_flags(same)
            if len(block) > 2:
                delay[2] = 7
                with pytest.raises(BlockError, match="that are set already"):
                    check_flags(same)
                equal["unit_flag"][:2] = FLAG_CHECK
                delay[:] = -1
                delay[1] = 7
                with pytest.raises(BlockError, match="that is set late"):
                    check_flags(same)
        assert tried > 5
