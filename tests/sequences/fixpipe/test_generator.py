# SPDX-License-Identifier: Apache-2.0
"""Random write-backs are legal, disjoint, filled with data, and reach every mode and shape."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequences.constraints import (
    FB_SIZE,
    FIX_NAMES,
    GM_SIZE,
    L0C_SIZE,
    L1_SIZE,
    OP_NAMES,
    UB_SIZE,
    GmWindow,
    OpConstraints,
)
from sequences.fixpipe.generator import FixGenerator
from sequences.fixpipe.kinds import CODES, KINDS
from tb.env.schedule import flags_to_set
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cL1, MteL0cUb
from tb.isa.fix.table import (
    ATOMIC_OPS,
    ATOMIC_TYPES,
    CLIP_CODES,
    CLIP_LIMITS,
    CLIP_TYPES,
    DST_BITS,
    DST_CODES,
    MTE_L0C_GM,
    MTE_L0C_UB,
    NZ2DN,
    NZ2NZ,
)
from tb.isa.footprint import destinations, flag_blocks, parameters, source
from tb.isa.op import replace
from tb.isa.program import moving
from tb.isa.spaces import SEGMENTS, Space
from tests.sequences.fix_checks import check_fills, check_flags
from tests.sequences.reference import (
    check_disjoint,
    check_legal,
    check_programs,
    check_rows_disjoint,
    descriptors,
)

Op = tuple[OpBlock, int, FixOp]


@pytest.mark.long
def test_blocks_keep_their_contract(fix_blocks: list[OpBlock]) -> None:
    assert sum(map(len, fix_blocks)) == 5000
    for block in fix_blocks:
        check_legal(block)
        check_rows_disjoint(block)
        check_flags(block)
        check_fills(block)
        check_programs(block, DmaRegisters())
        assert block.expected_rule is not None
        assert not block.expected_rule.any()


@pytest.mark.long
def test_each_flag_is_set_for_its_waiting_ops(fix_blocks: list[OpBlock]) -> None:
    """Every flag is set, or set again, once for the ops that wait for it, and for no others."""
    again = late = 0
    for block in fix_blocks:
        flags = dict.fromkeys(range(512), False)
        answers: Counter[int] = Counter()
        delays: dict[int, int] = {}
        for one in flags_to_set(block):
            again += one.again * len(one.blocks)
            if one.again:
                answers.update(one.blocks.tolist())
                assert one.delay >= 0
                continue
            for flag in one.blocks.tolist():
                # A late flag has a single op; a flag that is not late stays so.
                assert delays.setdefault(flag, one.delay) == one.delay
                late += one.delay >= 0
                flags[flag] = True
        for desc in descriptors(block):
            if not isinstance(desc, FixOp) or desc.is_nop or not desc.unit_flag:
                continue
            for flag in flag_blocks(desc).tolist():
                assert flags[flag]
                if desc.unit_flag == 3:
                    flags[flag] = answers[flag] > 0
                    answers[flag] -= answers[flag] > 0
        assert not answers.total()
    assert again > 1000
    assert late > 1000


@pytest.mark.long
def test_byte_by_byte() -> None:
    limits = OpConstraints(max_bytes=1024, max_gm_bytes=16384, tile_rows=12, tile_columns=40)
    for block in FixGenerator(12, constraints=limits, links=OP_NAMES).blocks(400):
        check_disjoint(block)


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    names=st.sets(st.sampled_from(FIX_NAMES), min_size=1),
    links=st.sets(st.sampled_from(OP_NAMES)),
    count=st.integers(1, 200),
)
def test_any_choice(seed: int, names: set[str], links: set[str], count: int) -> None:
    limits = OpConstraints(
        max_bytes=8192, max_gm_bytes=65536, l0c_range=GmWindow(4096, 65536),
        fb_range=GmWindow(1024, 1024), ub_range=GmWindow(64, 65536), max_ub_bytes=65536,
        l1_range=GmWindow(32, 65536), max_l1_bytes=65536, flag=0.6, share_l0c=0.5,
    )  # fmt: skip
    generator = FixGenerator(seed, tuple(sorted(names)), limits, sorted(links))
    total = 0
    for block in generator.blocks(count):
        total += len(block)
        check_legal(block)
        check_rows_disjoint(block)
        check_flags(block)
        check_fills(block)
        for desc in descriptors(block):
            if isinstance(desc, FixOp) and not desc.is_nop:
                assert source(desc).base >= 4096
                assert source(desc).end <= 4096 + 65536
                for rows in parameters(desc):
                    start = rows.base & 0xFFFF
                    assert 1024 <= start < start + rows.bytes <= 2048
                assert all(x.base >= 32 for x in destinations(desc) if x.space is not Space.GM)
    assert total == count


@pytest.mark.long
def test_smallest_memories() -> None:
    limits = OpConstraints(
        max_bytes=64, max_gm_bytes=64, l0c_range=GmWindow(8192, 8192), max_ub_bytes=256,
        fb_range=GmWindow(FB_SIZE - 512, 512), ub_range=GmWindow(4096, 4096), max_l1_bytes=256,
        l1_range=GmWindow(4096, 4096), big_tile=0.5, windows=(GmWindow(0, 1 << 15),),
    )  # fmt: skip
    for limited in (limits, replace(limits, max_bytes=65536, max_gm_bytes=65536,
                                    windows=(GmWindow(0, 1 << 18),))):  # fmt: skip
        for block in FixGenerator(20, constraints=limited, links=OP_NAMES).blocks(600):
            check_legal(block)
            check_rows_disjoint(block)
            check_flags(block)
            check_fills(block)


class TestReach:
    """Every mode, type and shape is in a draw of a few thousand."""

    def test_modes_and_types(self, fix_ops: list[Op]) -> None:
        seen = Counter(
            (desc.quant, desc.acc, int(block.pad_dtype[number])) for block, number, desc in fix_ops
        )
        assert set(seen) == {(code, *kind) for code in CODES for kind in KINDS[code]}
        assert min(seen.values()) >= 8
        codes = Counter(desc.quant for _, _, desc in fix_ops)
        rest = [codes[code] for code in CODES if code not in (0, 14, 15)]
        assert max(rest) < 1.6 * min(rest)
        names = Counter(desc.spec.name for _, _, desc in fix_ops)
        assert max(names.values()) < 1.15 * min(names.values())

    def test_modes_of_each_op(self, fix_ops: list[Op]) -> None:
        seen = {(desc.spec.name, desc.quant, desc.dst_code) for _, _, desc in fix_ops}
        wanted = {
            (name, code, DST_CODES[ALL_DTYPES[dst]])
            for name in FIX_NAMES
            for code in CODES
            for _, dst in KINDS[code]
        }
        assert seen == wanted

    @pytest.mark.long
    def test_clauses(self, fix_ops: list[Op]) -> None:
        program = {id(block): block.program() for block, _, _ in fix_ops}
        quants, relus, sats, hints = set(), set(), set(), set()
        pointers = set()
        for block, number, desc in fix_ops:
            op = moving(program[id(block)][number])
            assert isinstance(op, MteL0cGm | MteL0cL1 | MteL0cUb)
            sats.add((desc.sat, desc.dst_code))
            if isinstance(op, MteL0cGm):
                hints.add((op.sid, op.l2_cache_ctrl))
            if op.pre_quant is None:
                quants.add(("absent", ""))
            else:
                assert op.pre_quant.payload is not None
                kind = type(op.pre_quant.payload).__name__
                quants.add((kind + "*" * (not desc.mode.scale), op.pre_quant.payload.dtype))
                if not desc.mode.scale and isinstance(op.pre_quant.payload, FbPtr):
                    pointers.add(op.pre_quant.mode)
            if op.pre_relu is None:
                relus.add(("absent", ""))
            else:
                payload = op.pre_relu.payload
                relus.add((op.pre_relu.mode, payload.dtype if payload else ""))
        types = ("f32", "f16", "bf16")
        kinds = ("Scalar", "FbPtr", "Scalar*", "FbPtr*")
        assert quants == {("absent", "")} | {(kind, t) for kind in kinds for t in types}
        # Of the modes without a scale only no_convert takes a pointer.
        assert pointers == {"no_convert"}
        plain = {("absent", ""), ("no_relu", ""), ("normal_relu", "")}
        assert relus == plain | {(m, t) for m in ("scalar_relu", "vector_relu") for t in types}
        assert {(sat, dst) for sat in range(3) for dst in range(10)} == sats
        assert {sid for sid, _ in hints} == set(range(4))
        assert {l2 for _, l2 in hints} == set(range(16))

    def test_relu_with_modes(self, fix_live: list[FixOp]) -> None:
        seen = {(desc.relu, desc.acc, desc.mode.narrow) for desc in fix_live}
        for narrow in {desc.mode.narrow for desc in fix_live}:
            assert {relu for relu, acc, kind in seen if kind == narrow} == {0, 1, 2, 3}
        assert {relu for relu, acc, kind in seen if acc and kind == "none"} == {0, 1}

    def test_clips(self, fix_ops: list[Op]) -> None:
        clips: dict[int, set[int]] = {}
        pairs = set()
        for block, number, desc in fix_ops:
            if desc.clip_en:
                clips.setdefault(desc.dst_code, set()).add(desc.clip)
                pairs.add((desc.dst_code, CLIP_CODES[block.column("clip_type")[number]]))
                assert block.column("relu_type")[number] > 0
        assert set(clips) == set(CLIP_LIMITS)
        for dst, values in clips.items():
            assert {1, CLIP_LIMITS[dst]} <= values
            assert len(values) >= 7
        assert pairs == {(dst, name) for dst, names in CLIP_TYPES.items() for name in names}

    def test_atomics(self, fix_live: list[FixOp]) -> None:
        updates = Counter(
            (desc.atomic_type, desc.atomic_op) for desc in fix_live if desc.spec is MTE_L0C_GM
        )
        pairs = {(t, op) for t in ATOMIC_TYPES.values() for op in ATOMIC_OPS.values()}
        # Without a type the op comes from CTRL, and has no meaning.
        assert set(updates) == pairs | {(0, op) for op in range(4)}
        others = [desc for desc in fix_live if desc.spec is not MTE_L0C_GM]
        assert {(desc.atomic_type, desc.atomic_op) for desc in others} == {(0, 0)}
        assert {desc.layout for desc in fix_live if desc.atomic_type} == {0, 1, 2, 3}

    def test_layouts(self, fix_live: list[FixOp]) -> None:
        seen = {(d.spec.name, d.layout, d.split, d.ub_mode, d.loop3_en) for d in fix_live}
        for name in FIX_NAMES:
            mine = {key[1:] for key in seen if key[0] == name}
            plain = {(0, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 1), (2, 0, 0, 0), (2, 0, 0, 1)}
            wanted = plain | {(3, split, 0, 0) for split in (0, 1)}
            if name == "mte_l0c_ub":
                wanted |= {(layout, 0, mode, 0) for layout in (0, 1) for mode in (1, 2)}
            assert mine == wanted
        subs = {d.ub_sub for d in fix_live if d.spec is MTE_L0C_UB}
        assert subs == {0, 1}

    def test_shapes(self, fix_live: list[FixOp]) -> None:
        assert {desc.n % 16 for desc in fix_live if desc.layout == 2} == set(range(16))
        assert {desc.n % 16 for desc in fix_live if desc.layout < 2} == set(range(16))
        assert {1, 2, 15, 16, 17, 32, 33, 64} <= {desc.m for desc in fix_live}
        assert {1, 2, 8, 15, 16, 17, 32, 33, 64} <= {desc.n for desc in fix_live}
        assert max(desc.n for desc in fix_live) == 4095
        assert max(desc.m for desc in fix_live) == 4096
        assert any(desc.m % 2 for desc in fix_live)
        wide = [desc for desc in fix_live if desc.n > 16]
        claims = {
            "groups that are one": sum(d.src_stride == 0 for d in wide),
            "groups that overlap": sum(0 < d.src_stride < d.m for d in wide),
            "tight groups": sum(d.src_stride == -(-d.m // 16) * 16 for d in wide),
            "dummy rows": sum(d.src_stride > d.m + 16 for d in wide),
            "stride of one group": sum(d.src_stride % 16 > 0 for d in fix_live if d.n <= 16),
            "K": sum(d.k > 1 and d.m > 1 for d in fix_live),
            "far K": sum(d.k > 16 and d.m > 1 for d in fix_live),
        }
        assert min(claims.values()) > 15, claims

    def test_destination_strides(self, fix_live: list[FixOp]) -> None:
        many = [d for d in fix_live if destinations(d)[0].counts[0] > 1]
        to_gm = [destinations(d)[0] for d in many if d.spec is MTE_L0C_GM]
        assert sum(row.strides[0] == row.length for row in to_gm) > 0.4 * len(to_gm)
        on_chip = [destinations(d)[0] for d in many if d.spec is not MTE_L0C_GM]
        assert sum(row.strides[0] == row.length for row in on_chip) > 0.1 * len(on_chip)
        assert sum(destinations(d)[0].strides[0] > 4096 for d in many) > 50
        assert sum(destinations(d)[0].strides[0] > 1 << 32 for d in many) > 3
        assert max(d.dst_stride for d in fix_live) == (1 << 32) - 1

    def test_strides_next_to_powers_of_two(self, fix_live: list[FixOp]) -> None:
        # Rows and repeats at a distance of their length and a power of two: adjacent in low bits.
        rows: dict[str, set[int]] = {name: set() for name in FIX_NAMES}
        repeats: dict[str, set[int]] = {name: set() for name in FIX_NAMES}
        for desc in fix_live:
            write = destinations(desc)[0]
            bits = DST_BITS[desc.dst_code]
            if write.counts[0] > 1:
                rows[desc.spec.name].add(desc.dst_stride - write.length * 8 // bits)
            if desc.repeats > 1:
                row = desc.m if desc.layout == NZ2DN else desc.n
                lines = desc.n if desc.layout == NZ2DN else desc.m
                stride = desc.dst_stride if lines > 1 else row
                repeats[desc.spec.name].add(desc.loop3_dst - lines * stride)
        steps = {1 << k for k in (8, 12, 16, 20, 24, 31)}
        assert steps <= rows["mte_l0c_gm"]
        assert len(steps & repeats["mte_l0c_gm"]) > 3
        for name in FIX_NAMES[1:]:
            assert {1 << 8, 1 << 12} <= rows[name], name
            assert steps & repeats[name], name

    def test_loop3(self, fix_live: list[FixOp]) -> None:
        loops = [d for d in fix_live if d.loop3_en]
        several = [d for d in loops if d.repeats > 1]
        assert {1, 2, 3, 4, 5} <= {d.repeats for d in loops}
        spans = [(d, source(replace(d, loop3_count=1)), destinations(d)[0]) for d in several]
        claims = {
            "one tile again": sum(d.loop3_src == 0 for d in several),
            "overlapping tiles": sum(0 < 64 * d.loop3_src < s.end - s.base for d, s, _ in spans),
            "gaps at the source": sum(64 * d.loop3_src > s.end - s.base for d, s, _ in spans),
            "between rows": sum(0 < w.strides[1] < w.strides[0] for _, _, w in spans),
            "after rows": sum(w.strides[1] > (w.counts[0] - 1) * w.strides[0] for *_, w in spans),
            "unused strides": sum(d.loop3_src > 4096 for d in loops if d.repeats == 1),
        }
        assert min(claims.values()) > 15, claims

    def test_places(self, fix_live: list[FixOp]) -> None:
        ends: Counter[Space] = Counter()
        starts: Counter[Space] = Counter()
        sizes = {Space.GM: GM_SIZE, Space.L1: L1_SIZE, Space.UB0: UB_SIZE, Space.UB1: UB_SIZE,
                 Space.L0C: L0C_SIZE, Space.FB: FB_SIZE}  # fmt: skip
        for desc in fix_live:
            for side in (source(desc), *parameters(desc), *destinations(desc)):
                ends[side.space] += -(-side.end // 32) * 32 == sizes[side.space]
                starts[side.space] += side.base == 0
        for part in SEGMENTS[Space.FB]:
            mine = [p for d in fix_live for p in parameters(d) if p.base in part]
            assert sum(-(-p.end // 32) * 32 == part.stop for p in mine) >= 3, part
            assert sum(p.base == part.start for p in mine) >= 3, part
        apart = [d.relu_addr >> 16 for d in fix_live if d.vector_relu]
        assert 0.1 < apart.count(0) / len(apart) < 0.4
        assert set(ends) == set(sizes)
        assert min(ends.values()) >= 3, ends
        # In GM the next alignment decides the address of an op: 0 occurs occasionally.
        assert starts.pop(Space.GM) >= 1
        assert min(starts.values()) >= 3, starts
        rows = [destinations(desc)[0] for desc in fix_live if desc.spec is MTE_L0C_GM]
        assert {row.base % 32 for row in rows} == set(range(32))
        crossing = [row for row in rows if row.base // 4096 < (row.base + row.length - 1) // 4096]
        assert len(crossing) > 100
        assert sum(row.base < 1 << 32 < row.end for row in rows) > 5
        inside = OpConstraints().windows
        far = [row for row in rows if not any(w.start <= row.base < w.end for w in inside)]
        assert len(far) > 50

    def test_flags(self, fix_ops: list[Op]) -> None:
        delays = []
        for block, number, desc in fix_ops:
            assert block.flag_delay is not None
            delay = int(block.flag_delay[number])
            if desc.unit_flag:
                delays.append((desc.unit_flag, desc.is_nop, min(delay, 0)))
        assert set(delays) == {
            (flag, nop, when) for flag in (2, 3) for nop, when in ((0, 0), (0, -1), (1, -1))
        }
        every = np.concatenate([b.flag_delay for b, _, _ in fix_ops if b.flag_delay is not None])
        assert every.max() > 1500
        assert (every == 0).any()
        counts = {len(flag_blocks(d)) for _, _, d in fix_ops if d.unit_flag and not d.is_nop}
        assert {1, 2, 3} <= counts
        assert max(counts) > 100
        assert any(d.layout == NZ2DN for _, _, d in fix_ops if d.unit_flag)

    @pytest.mark.long
    def test_flags_set_again(self, fix_blocks: list[OpBlock]) -> None:
        chains: Counter[str] = Counter()
        delays = set()
        for block in fix_blocks:
            assert block.flag_delay is not None
            clears: dict[int, list[int]] = {}
            for number, desc in enumerate(descriptors(block)):
                if not isinstance(desc, FixOp) or desc.is_nop or not desc.unit_flag:
                    continue
                flags = flag_blocks(desc).tolist()
                before = [clears[flag] for flag in flags if flag in clears]
                if before:
                    delays.add(min(int(block.flag_delay[number]), 0))
                    chains[f"flag {desc.unit_flag}"] += 1
                    chains["next op"] += any(ops[-1] == number - 1 for ops in before)
                    chains["twice"] += any(len(ops) > 1 for ops in before)
                    chains["many flags"] += len(before) > 2
                    chains["other flags, too"] += len(before) < len(flags)
                if desc.unit_flag == 3:
                    for flag in flags:
                        clears.setdefault(flag, []).append(number)
        assert delays == {-1, 0}
        assert min(chains.values()) > 10, chains
        assert len(chains) == 6, chains
        none = FixGenerator(11, constraints=OpConstraints(flag_again=0.0))
        for block in none.blocks(500):
            gone: set[int] = set()
            for desc in descriptors(block):
                if isinstance(desc, FixOp) and not desc.is_nop:
                    assert not gone & set(flag_blocks(desc).tolist())
                    gone.update(flag_blocks(desc).tolist() if desc.unit_flag == 3 else ())

    def test_nops(self, fix_ops: list[Op]) -> None:
        nops = [desc for _, _, desc in fix_ops if desc.is_nop]
        assert 0.03 < len(nops) / len(fix_ops) < 0.08
        zeros = {(d.m == 0, d.n == 0, bool(d.loop3_en and not d.loop3_count)) for d in nops}
        assert {(1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)} <= zeros
        assert max(d.m for d in nops) == 65535
        assert max(d.m for d in nops if d.layout != NZ2NZ) == 8192
        assert max(d.n for d in nops) == 4095
        assert any(d.quant_addr + 8 * d.n > FB_SIZE for d in nops if d.vector_quant)
        sizes = {"gm": GM_SIZE, "l1": L1_SIZE, "ub": UB_SIZE}
        outside = {d.spec.name for d in nops if d.dst_addr >= sizes[d.spec.destination]}
        assert outside == set(FIX_NAMES)
