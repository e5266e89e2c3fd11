# SPDX-License-Identifier: Apache-2.0
"""Write-backs under CTRL and under other profiles: legality, and what a draw reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from sequences.constraints import FIX_NAMES, OP_NAMES, OpConstraints
from sequences.corner.fixpipe import fix_blocks as corner_blocks
from sequences.fixpipe.ctrl import ctrl_of
from sequences.fixpipe.generator import FixGenerator
from sequences.fixpipe.parameters import Records, split_records
from sequences.illegal.generator import IllegalGenerator
from sequences.op_filter import without
from sequences.place.merge import merge
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, FbPtr, FixOp, MteL0cGm, MteL0cL1, PreQuant, Scalar
from tb.isa.fix.table import QUANT_MODES, SCALE_MASK
from tb.isa.footprint import source
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.profile import A5, Profile, parse_profile, using
from tb.isa.program import moving
from tb.isa.rules import first_d_violation, s_violations, t_violations
from tb.isa.spaces import Space
from tests.sequences.fix_checks import check_ctrl, check_fills, check_flags, check_modes, filled
from tests.sequences.reference import (
    BlockError,
    check_legal,
    check_programs,
    check_rows_disjoint,
    descriptors,
    rule_of,
)

PROFILES = ("seed", "a5", "a5, modes = all", "seed, alpha = replace", "a5, tail = keep")
Op = tuple[OpBlock, int, FixOp]


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> Iterator[Profile]:
    found = parse_profile(request.param)
    with using(found):
        yield found


def check(block: OpBlock) -> None:
    check_legal(block)
    check_rows_disjoint(block)
    check_flags(block)
    check_fills(block)
    check_programs(block, DmaRegisters())
    check_ctrl(block)
    check_modes(block)


class TestProfiles:
    """Blocks keep their contract under every profile."""

    @pytest.mark.long
    def test_draws(self, profile: Profile) -> None:
        codes = set()
        for block in FixGenerator(31, links=OP_NAMES).blocks(800):
            check(block)
            codes |= {d.quant for d in descriptors(block) if isinstance(d, FixOp)}
        every = {mode.code for mode in QUANT_MODES.values()}
        listed = {mode.code for mode in QUANT_MODES.values() if mode.a5}
        assert codes == (every if profile.modes == "all" else listed)
        assert len(listed) == 23

    @pytest.mark.long
    @pytest.mark.parametrize("text", ["seed", "a5"])
    def test_corners(self, text: str) -> None:
        with using(parse_profile(text)):
            kinds: Counter[str] = Counter()
            total = 0
            for block in corner_blocks(16, FIX_NAMES):
                check(block)
                kinds += check_ctrl(block)
                total += len(block)
            assert total > 4000
            assert {f"sat {sat} by CTRL" for sat in range(3)} <= set(kinds)
            assert min(kinds.values()) > 3

    @pytest.mark.long
    def test_illegal(self, profile: Profile) -> None:
        rules: Counter[int] = Counter()
        for block in IllegalGenerator(32, FIX_NAMES).blocks(1500):
            assert block.expected_rule is not None
            check_modes(block)
            for desc, rule in zip(descriptors(block), block.expected_rule.tolist(), strict=True):
                assert rule_of(desc) == rule
                rules[rule] += 1
        # Without 4-bit elements nothing breaks their rule.
        wanted = {0, 7, 14, 15, 16, 17, 19, 20, 21, 22, 23, 26}
        assert set(rules) == (wanted | {18} if profile.modes == "all" else wanted)

    def test_the_check_of_modes_fails(self) -> None:
        found = 0
        for block in FixGenerator(33).blocks(300):
            with using(A5):
                if any(not d.mode.a5 and not d.is_nop for d in _fix(block)):
                    found += 1
                    with pytest.raises(BlockError, match="A5 has not"):
                        check_modes(block)
        assert found


def _fix(block: OpBlock) -> list[FixOp]:
    return [desc for desc in descriptors(block) if isinstance(desc, FixOp)]


class TestCtrl:
    """CTRL decides where a clause is left out."""

    @pytest.mark.long
    def test_reach(self, fix_blocks: list[OpBlock]) -> None:
        found: Counter[str] = Counter()
        for block in fix_blocks:
            found += check_ctrl(block)
        assert set(found) == {
            "SetCtrl", "SetAtomic", "no type", "atomic clause", "atomic by CTRL",
            "illegal type or op under a clause", "op without a type", "ignored atomic",
            "ignored illegal atomic", "sat 0 by CTRL", "sat 1 by CTRL", "sat 2 by CTRL",
            "sat clause", "sat against CTRL", "bit 50 with bit 48", "stored bits",
        }  # fmt: skip
        assert min(found.values()) > 10, found
        total = sum(len(block.legacy) for block in fix_blocks)
        fix = sum(len(_fix(block)) for block in fix_blocks)
        assert 0.2 < total / fix < 0.3

    def test_share(self) -> None:
        for share, wanted in ((0.0, 0), (1.0, 200)):
            limits = OpConstraints(ctrl=share)
            blocks = list(FixGenerator(34, constraints=limits).blocks(200))
            assert sum(len(block.legacy) for block in blocks) == wanted
            assert not any(block.legacy_forms for block in blocks)

    def test_wrong_columns_are_found(self) -> None:
        limits = OpConstraints(ctrl=1.0, nop=0.0)
        block = next(FixGenerator(35, constraints=limits).blocks(40))
        for name in ("sat", "atomic_op"):
            columns = {**block.columns, name: (block.column(name) + 1) % 3}
            with pytest.raises(BlockError, match="written as"):
                check_ctrl(replace(block, columns=columns))
        cut = {number: ops[:-1] for number, ops in block.legacy.items()}
        with pytest.raises(BlockError, match="is written as"):
            check_ctrl(replace(block, legacy=cut))
        with pytest.raises(BlockError, match="after the op"):
            check_programs(replace(block, legacy=cut), DmaRegisters())

    def test_entries_follow_their_ops(self) -> None:
        """Parts, merged blocks and blocks with dropped ops keep each entry at its op."""
        one, other = (next(FixGenerator(s).blocks(40)) for s in (36, 37))
        both = merge(np.random.default_rng(1), one, other)
        assert len(both.legacy) == len(one.legacy) + len(other.legacy)
        kept = np.arange(len(both)) % 3 > 0
        for block in (both, without(both, kept, {}), one.take(0, 17)):
            assert block.legacy
            check_programs(block, DmaRegisters())
            for number, op in enumerate(map(moving, block.program())):
                assert op.spec.opcode == block.opcode[number]

    def test_no_legacy_form(self) -> None:
        """CTRL makes no legacy form of an op: engines without these take it."""
        block = next(FixGenerator(38, constraints=OpConstraints(ctrl=1.0)).blocks(30))
        from tb.dut.limits import capability_filters
        from tb.dut.manifest import Capabilities

        can = Capabilities(ops=("mte_l0c_gm",), legacy=False)
        (found,) = (one for one in capability_filters({"fix": can}) if one.name == "fix_legacy")
        assert found(block).all()


def test_rules_of_ctrl() -> None:
    """FIX-L26 is for the engine to report, FIX-L27 for the stimulus to keep."""
    op = MteL0cGm(0, 0, 1, 16, 16, 16)
    clause = replace(op, atomic=Atomic("f32", "add"))
    for kind, what in ((7, 0), (7, 3), (1, 3), (6, 3)):
        desc = lower(op, ctrl_of("", kind, what))
        found = first_d_violation(desc)
        assert found is not None
        assert found.rule.name == "FIX-L26"
        assert first_d_violation(lower(clause, ctrl_of("", kind, what))) is None
        assert first_d_violation(lower(MteL0cL1(0, 0, 1, 16, 16, 16), kind << 6)) is None
    assert first_d_violation(lower(op, ctrl_of("", 0, 3))) is None
    for kind in range(1, 7):
        names = [one.rule.name for one in t_violations(lower(op, ctrl_of("", kind, 0)))]
        assert names == ([] if kind == 1 else ["FIX-L27"])


def test_front_end_rules_of_the_examples() -> None:
    """The S rows of docs/spec/examples_v2.md, section 8."""

    def rules(mode: str, dtype: str, acc: str, pointer: bool) -> list[str]:
        payload = FbPtr("f32", 0) if pointer else Scalar("f32", 0)
        quant = PreQuant(mode, payload) if mode else None
        op = MteL0cGm(
            0, 0, 1, 16, 16, 16, pre_quant=quant, src_type=Ptr(acc, "l0c"),
            dst_type=Ptr(dtype, "gm"),
        )  # fmt: skip
        return [one.rule.name for one in s_violations(op)]

    assert rules("", "ui32", "i32", False) == []
    assert rules("", "i32", "f32", False) == ["FIX-L04"]
    assert rules("f32_f16", "f16", "f32", True) == ["FIX-L03"]
    assert rules("f32_bf16", "bf16", "f32", True) == ["FIX-L03"]
    assert rules("no_convert", "f32", "f32", True) == []
    for mode, dtype, acc in (
        ("deqs16_vec", "i16", "i32"), ("qf322s4_pre_vec", "i4", "f32"),
        ("qf162b8_pre_vec", "i8", "f32"),
    ):  # fmt: skip
        assert rules(mode, dtype, acc, True) == []
        with using(A5):
            assert rules(mode, dtype, acc, True) == ["FIX-L04"]


class TestIntegers:
    """Data reach the limits of the integer stages, with the offset of each width."""

    def test_offsets(self) -> None:
        records = Records(np.random.default_rng(3))
        for width, narrow in ((5, "s4"), (9, "b8"), (9, "s32"), (17, "s16")):
            words = records.quant[width].view(np.uint32)
            _, offset = split_records(words, narrow)
            end = 1 << (width - 1)
            assert {-end, end - 1, 0, 1, -1} <= set(offset.tolist())
            assert offset.min() == -end
            assert offset.max() == end - 1
            above = records.quant[width] >> np.uint64(37 + width)
            assert len(np.unique(above & np.uint64(0xFF))) == 256

    @pytest.mark.long
    def test_pushes(self, fix_ops: list[Op]) -> None:
        """Stages saturate at both ends, offsets leave the destination, specials bypass them."""
        ends = {"s4": (-16, 15, -8, 7), "b8": (-256, 255, -128, 255),
                "s16": (-65536, 65535, -32768, 32767)}  # fmt: skip
        seen: dict[str, Counter[str]] = {name: Counter() for name in (*ends, "s32")}
        for block, _, desc in fix_ops:
            narrow = desc.mode.narrow
            if narrow not in seen or desc.is_nop or not desc.vector_quant or desc.relu:
                continue
            s, t, offset = _scaled(block, desc)
            seen[narrow].update(_counts(s, t, offset, ends.get(narrow)))
        wide = {"finite overflow", "-0", "tie"}
        for narrow, found in seen.items():
            wanted = set(wide)
            if narrow != "s32":
                wanted |= {"low end", "high end", "pushed down", "pushed up"}
            wanted |= {"NaN", "+inf", "-inf"} if narrow in ("b8", "s4") else set()
            assert {name for name in wanted if found[name] < 3} <= {"-0"} - (
                {"-0"} if narrow in ("b8", "s4") else set()
            ), (narrow, found)


def _scaled(block: OpBlock, desc: FixOp) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns accumulators, products and offsets of row 0 of the first group, ``[16]`` each."""
    fb = filled(tuple(f for f in block.fills if f.space is Space.FB), (Space.FB,))[Space.FB]
    l0c = filled(tuple(f for f in block.fills if f.space is Space.L0C), (Space.L0C,))[Space.L0C]
    n = min(desc.n, 16)
    at, base = desc.quant_addr, source(desc).base
    rows = fb[at : at + 8 * n]
    if (rows < 0).any():
        # Loaded by an op.
        return np.zeros(0), np.zeros(0), np.zeros(0)
    scale, offset = split_records(rows.astype(np.uint8).view(np.uint32), desc.mode.narrow)
    cells = [l0c[base + 64 * k : base + 64 * k + 4 * n] for k in range(min(desc.m, 64))]
    words = np.concatenate(cells).astype(np.uint8).view(np.uint32).reshape(-1, n)
    with np.errstate(all="ignore"):
        s = words.view(np.int32).astype(np.float32) if desc.acc else words.view(np.float32)
        return s, s * scale, np.broadcast_to(offset, s.shape)


def _counts(
    s: np.ndarray, t: np.ndarray, offset: np.ndarray, ends: tuple[int, int, int, int] | None
) -> Counter[str]:
    zero = (t == 0) & np.signbit(t)
    found = Counter({
        "finite overflow": int((np.isinf(t) & np.isfinite(s)).sum()),
        "NaN": int((np.isnan(t) & (offset != 0)).sum()),
        "+inf": int((np.isposinf(t) & np.isinf(s) & (offset != 0)).sum()),
        "-inf": int((np.isneginf(t) & np.isinf(s) & (offset != 0)).sum()),
        "-0": int((zero & (offset != 0)).sum()),
        "tie": int((np.abs(np.nan_to_num(t)) % 1 == 0.5).sum()),
    })  # fmt: skip
    if ends:
        low, high, least, most = ends
        q = np.clip(np.rint(np.nan_to_num(t)), low, high)
        found["low end"] = int(((q == low) & (t < low)).sum())
        found["high end"] = int(((q == high) & (t > high)).sum())
        found["pushed down"] = int(((q >= least) & (q + offset < least)).sum())
        found["pushed up"] = int(((q <= most) & (q + offset > most)).sum())
    return found


@pytest.mark.long
def test_alphas_meet_negative_accumulators() -> None:
    """Under alpha = replace: both signs of scale and alpha, and -0, NaN and i32 below 0."""
    seen: Counter[tuple[int, bool, bool, str]] = Counter()
    with using(parse_profile("seed, alpha = replace")):
        limits = OpConstraints(share_l0c=0.0)
        for block in FixGenerator(41, constraints=limits).blocks(2500):
            l0c = filled(tuple(f for f in block.fills if f.space is Space.L0C), (Space.L0C,))[
                Space.L0C
            ]
            for desc in _fix(block):
                if desc.relu != 2 or desc.is_nop or desc.mode.vector or not desc.mode.scale:
                    continue
                base = source(desc).base
                words = l0c[base : base + 64 * min(desc.m, 16)].astype(np.uint8).view(np.uint32)
                signs = desc.quant_scale & SCALE_MASK >= 1 << 31, desc.relu_alpha >= 1 << 31
                negative = words.view(np.int32) < 0 if desc.acc else words.view(np.float32) < 0
                seen[(desc.acc, *signs, "negative")] += int(negative.sum())
                if not desc.acc:
                    seen[(0, *signs, "-0")] += int((words == 1 << 31).sum())
                    seen[(0, *signs, "NaN")] += int(np.isnan(words.view(np.float32)).sum())
    assert len(seen) == 16
    assert min(seen.values()) > 0, seen
