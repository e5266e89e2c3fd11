# SPDX-License-Identifier: Apache-2.0
"""Whole write-backs against the loops of the spec; NOPs, unit flags, rules and large tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.model import fixpipe_layout
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.fixpipe import write_back
from scoreboards.model.fixpipe_atomic import combine
from scoreboards.model.fixpipe_stages import MODES
from scoreboards.model.registers import Registers
from tb.isa.descriptor import field_values
from tb.isa.dtypes import Ptr
from tb.isa.events import FixEvent
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.fix.table import ATOMIC_DST, DST_CODES, QUANT_MODES
from tb.isa.footprint import Footprint, destinations, flag_blocks, parameters, source
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.rules import d_predicates, s_violations
from tb.isa.spaces import SIZES, Space
from tb.isa.status import Status
from tests.model import naive_fix as naive
from tests.model.naive_fix_op import BITS, execute

WINDOW = 1 << 16
SPECIALS = [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 0x00000001, 0x3F800000,
            0xC0200000, 0x40200000, 0x47800000, 0x007FFFFF, 0x43810000]  # fmt: skip


class Side:
    """Memories with accumulators of typical values, and a model on them."""

    def __init__(self, seed: int = 0, gm: int = WINDOW) -> None:
        rng = np.random.default_rng(seed)
        self.images: dict[Space, NDArray[np.uint8]] = {
            space: rng.integers(0, 256, min(size, gm), dtype=np.uint8)
            for space, size in SIZES.items()
        }
        self.images[Space.L0C] = np.zeros(SIZES[Space.L0C], dtype=np.uint8)
        values = (rng.standard_normal(1 << 16) * 20).astype(np.float32)
        values = np.where(rng.random(1 << 16) < 0.4, np.round(values * 2) / 2, values)
        words = values.astype(np.float32).view(np.uint32)
        self.images[Space.L0C].view("<u4")[:] = words
        special = rng.integers(0, 1 << 16, 6000)
        self.images[Space.L0C].view("<u4")[special] = rng.choice(SPECIALS, 6000)
        # Records and alphas: moderate scales, any other bits.
        fb = self.images[Space.FB].view("<u8")
        scale = rng.choice([0x3F000000, 0x3F800000, 0x3DCCCCCD, 0xBE801FFF, 0x41200000], fb.size)
        fb[:] = rng.integers(0, 1 << 31, fb.size) << 32 | scale
        self.flags = np.ones(512, dtype=np.uint8)
        self.model = ReferenceModel(self.images, unit_flags=self.flags)

    def integers(self) -> None:
        """Makes the accumulators integers."""
        rng = np.random.default_rng(9)
        self.images[Space.L0C].view("<i4")[:] = rng.integers(-3000, 3000, 1 << 16)


def drawn(rng: np.random.Generator) -> FixOp:
    """Returns a legal write-back, small enough for the second reading."""

    def pick(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    kind = pick(MteL0cGm, MteL0cL1, MteL0cUb)
    name = pick("", "no_convert", *MODES)
    mode = MODES.get(name)
    accumulator = mode.accumulator if mode else pick("f32", "i32")
    target = pick(*sorted(mode.targets)) if mode else accumulator
    bits = BITS[target]
    layouts = ["", "nz2nd", "nz2dn"] + (["nz2nz"] * 3 if target == "f32" else [])
    layout = pick(*layouts)
    split = pick(None, 0, 1) if layout == "nz2nz" else None
    m, n = int(rng.integers(1, 9)), int(rng.integers(1, 40))
    if bits == 4:
        m, n = m + m % 2, n + n % 2
    if layout == "nz2nz":
        columns = 8 if split else 16
        n = columns * int(rng.integers(1, 4))
    k = int(rng.integers(1, 4)) if layout == "nz2dn" else None
    group = 16 * int(rng.integers(2, 4))
    block = 1 if kind is MteL0cGm else 256 // bits
    inner = m * (8 if split else 16) if layout == "nz2nz" else m if layout == "nz2dn" else n
    stride = -(-inner // block) * block + block * int(rng.integers(0, 3))
    if bits == 4:
        stride += stride % 2
    rows = n if layout == "nz2dn" else m
    loop3 = None
    if layout in ("nz2nd", "nz2dn") and rng.random() < 0.4:
        loop3 = Loop3(pick(1, 2, 3), 16 * int(rng.integers(0, 9)), stride * rows + stride)
    quant = None
    if name:
        scalar = Scalar(*pick(("f32", 0x3F000000), ("f16", 0xB400), ("bf16", 0x3DCC)))
        pointer = FbPtr(pick("f32", "f16", "bf16"), 128 * int(rng.integers(0, 8)))
        vector = rng.random() < 0.5
        suffix = ("_vec" if vector else "_scalar") if mode and mode.scaled else ""
        quant = PreQuant(name + suffix, pointer if suffix == "_vec" else scalar)
    relu = None
    if rng.random() < 0.6:
        scaled = accumulator == "f32" or (mode is not None and mode.scaled)
        relus = ["no_relu", "normal_relu"] + (["scalar_relu", "vector_relu"] if scaled else [])
        style = pick(*relus)
        payload: Scalar | FbPtr | None = None
        if style == "scalar_relu":
            payload = Scalar("bf16", pick(0x3E80, 0xBF00, 0x0000))
        elif style == "vector_relu":
            payload = FbPtr("f32", 64 * int(rng.integers(0, 8)))
        clips = {"f16": Scalar("f16", 0x4200), "ui8": Scalar("ui16", 200), "i4": Scalar("i4", 3),
                 "i8": Scalar("si8", 50), "i16": Scalar("i16", 900)}  # fmt: skip
        clip = clips.get(target.removeprefix("s"))
        relu = PreRelu(style, payload, clip if rng.random() < 0.5 else None)
    more: dict[str, Any] = {}
    if kind is MteL0cGm:
        kinds = [kind for kind, targets in ATOMIC_DST.items() if target in targets]
        if kinds and rng.random() < 0.5:
            more["atomic"] = Atomic(kinds[0], pick("add", "max", "min"))
    elif kind is MteL0cUb:
        plain = quant is None and relu is None and loop3 is None
        more["sub_block"] = pick(0, 1)
        if plain and layout in ("", "nz2nd"):
            more |= {"sub_block": 0, "ub_split": pick("split_m", "split_n")}
            m, n = m + m % 2, 32 if more["ub_split"] == "split_n" else n
            stride = 48
            group = 32
    space = {MteL0cGm: "gm", MteL0cL1: "l1", MteL0cUb: "ub"}[kind]
    element = max(1, bits // 8)
    dst = element * int(rng.integers(0, 64)) if kind is MteL0cGm else 32 * int(rng.integers(9))
    op: FixOp = kind(
        64 * int(rng.integers(0, 32)), dst, m, n, group, stride, pre_quant=quant, pre_relu=relu,
        layout=layout, k=k, split=split, loop3=loop3, sat=pick("", "sat", "preserve_nan", "nosat"),
        src_type=Ptr(accumulator, "l0c"), dst_type=Ptr(target, space), **more,
    )  # fmt: skip
    return op


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_write_backs_are_those_of_the_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(10):
        op = drawn(rng)
        assert not s_violations(op), op
        side = Side(seed)
        if op.src_type.dtype == "i32":
            side.integers()
        old = {space: image.copy() for space, image in side.images.items()}
        expected = {space: image.copy() for space, image in side.images.items()}
        written = execute(op, expected, old)
        outcome = side.model.execute(op)
        assert outcome.status is Status.OK, (number, op, outcome)
        for space, image in expected.items():
            wrong = np.flatnonzero(side.images[space] != image)
            assert not wrong.size, f"{op}: {space.name} {int(wrong[0]):#x}"
        regions = {
            (region.space, int(start) + byte)
            for region in outcome.regions
            for start in region.row_starts()
            for byte in range(region.length)
        }
        assert regions == written
        assert outcome.bytes_written == len(written)


def test_footprints_are_those_of_the_descriptor() -> None:
    def normal(rows: tuple[Footprint, ...]) -> list[tuple[object, ...]]:
        """Returns footprints without axes of one step."""
        found = []
        for one in rows:
            pairs = zip(one.counts, one.strides, strict=True)
            found.append((*one[:3], *(pair for pair in pairs if pair[0] > 1)))
        return found

    rng = np.random.default_rng(77)
    for _ in range(150):
        op = replace(drawn(rng))
        desc = lower(op)
        if op.layout_name != "nz2dn" or op.k == 1:
            op = replace(op, unit_flag=3)
        outcome = write_back(op, False, Registers())
        assert normal(outcome.regions) == normal(destinations(desc))
        atomic = destinations(desc) if getattr(op, "atomic", None) else ()
        assert outcome.reads == (source(desc), *parameters(desc), *atomic)
        if op.unit_flag:
            assert outcome.flags is not None
            assert outcome.flags.blocks.tolist() == flag_blocks(desc).tolist()
            assert outcome.flags.clears


# --- atomics ---

VALUES = {
    "f32": [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
            0xFF800000, 0x7FC00001, 0xFFA00000, 0x00000001, 0x80000001, 0x33800000, 0x34000001,
            0x73800000, 0x3F800001],
    "f16": [0x0000, 0x8000, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01, 0xFD00, 0x0001,
            0x8001, 0x03FF, 0x0400, 0x1000, 0x1001, 0x4C00, 0x3C01],
    "bf16": [0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC1, 0xFFA0, 0x0001,
             0x8001, 0x007F, 0x0080, 0x3B80, 0x3B81, 0x3F81, 0x7E80],
    "s8": [0, 1, 0x7F, 0x80, 0xFF, 0x55],
    "s16": [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1234],
    "s32": [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678],
}  # fmt: skip
TYPES = {"f32": np.uint32, "s32": np.uint32, "s8": np.uint8}


@pytest.mark.long
@pytest.mark.parametrize("c48", [False, True])
@pytest.mark.parametrize("op", ["add", "max", "min"])
@pytest.mark.parametrize("kind", VALUES)
def test_atomics_are_those_of_exact_arithmetic(kind: str, op: str, c48: bool) -> None:
    rng = np.random.default_rng(4)
    dtype: Any = TYPES.get(kind, np.uint16)
    more = rng.integers(0, 1 << 8 * np.dtype(dtype).itemsize, 60).tolist()
    values = VALUES[kind] + more
    pairs = np.array([(a, b) for a in values for b in values], dtype=dtype)
    found, _ = combine(kind, op, pairs[:, 0].copy(), pairs[:, 1].copy(), ieee=c48)
    for (old, new), result in zip(pairs.tolist(), found.tolist(), strict=True):
        assert result == naive.atomic(kind, op, old, new, c48=c48), (hex(old), hex(new))


@pytest.mark.parametrize(
    ("kind", "op", "old", "new", "events"),
    [
        ("f16", "add", 0x3C00, 0x1000, FixEvent.ATOMIC_ROUNDED),
        ("f16", "add", 0x3C00, 0x3C00, FixEvent(0)),
        (
            "f16",
            "add",
            0x7BFF,
            0x7BFF,
            FixEvent.ATOMIC_INF | FixEvent.ATOMIC_ROUNDED | FixEvent.ATOMIC_OVERFLOW,
        ),
        ("f32", "add", 0x3F800000, 0x33000000, FixEvent.ATOMIC_ROUNDED),
        ("f32", "add", 0x7F800000, 0xFF800000, FixEvent.ATOMIC_NAN),
        ("bf16", "max", 0x0000, 0x8000, FixEvent.ATOMIC_ZEROS | FixEvent.ATOMIC_KEPT),
        ("bf16", "min", 0x0000, 0x8000, FixEvent.ATOMIC_ZEROS | FixEvent.ATOMIC_TAKEN),
        ("f32", "max", 0x7FC00000, 0x3F800000, FixEvent.ATOMIC_NAN),
        ("s8", "add", 0x7F, 0x01, FixEvent.ATOMIC_WRAPPED),
        ("s8", "add", 0x7E, 0x01, FixEvent(0)),
        ("s8", "max", 0x80, 0x7F, FixEvent.ATOMIC_TAKEN),
        ("s8", "min", 0x80, 0x7F, FixEvent.ATOMIC_KEPT),
    ],
)
def test_events_of_atomics(kind: str, op: str, old: int, new: int, events: FixEvent) -> None:
    dtype: Any = TYPES.get(kind, np.uint16)
    _, found = combine(kind, op, np.array([old], dtype=dtype), np.array([new], dtype=dtype))
    assert FixEvent(found) == events


def test_an_unknown_atomic_is_refused() -> None:
    one = np.zeros(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="FIX-L11"):
        combine("u8", "add", one, one)


# --- NOPs and unit flags ---

WHOLE = MteL0cGm(0, 0, 16, 32, 16, 32)


@pytest.mark.parametrize(
    "op",
    [replace(WHOLE, m=0), replace(WHOLE, n=0),
     replace(WHOLE, layout="nz2nd", loop3=Loop3(0, 0, 0))],
)  # fmt: skip
@pytest.mark.parametrize("flag", [0, 2, 3])
def test_nops_touch_nothing(op: FixOp, flag: int) -> None:
    side = Side()
    side.flags[:] = 0
    old = {space: image.copy() for space, image in side.images.items()}
    outcome = side.model.execute(replace(op, unit_flag=flag))
    assert (outcome.status, outcome.regions, outcome.reads) == (Status.OK, (), ())
    assert outcome.flags is None
    assert not side.flags.any()
    for space, image in old.items():
        assert np.array_equal(side.images[space], image)


@pytest.mark.parametrize(("flag", "left"), [(0, 512), (2, 512), (3, 508)])
def test_only_check_and_clear_clears_the_touched_flags(flag: int, left: int) -> None:
    side = Side()
    side.model.execute(replace(WHOLE, src=1024, unit_flag=flag))
    assert int(side.flags.sum()) == left
    if flag == 3:
        assert np.flatnonzero(side.flags == 0).tolist() == [2, 3, 4, 5]


def test_touched_blocks_follow_the_strides() -> None:
    side = Side()
    op = replace(WHOLE, m=1, n=17, src=512, src_stride=48, unit_flag=3)
    outcome = side.model.execute(op)
    assert outcome.flags is not None
    assert outcome.flags.blocks.tolist() == [1, 1 + 48 * 64 // 512]


def test_an_op_without_its_flags_never_runs() -> None:
    side = Side()
    side.flags[3] = 0
    with pytest.raises(ValueError, match="block 3"):
        side.model.execute(replace(WHOLE, src=1024, unit_flag=2))


def test_an_illegal_op_keeps_flags() -> None:
    side = Side()
    outcome = side.model.execute(replace(WHOLE, dst_stride=0, unit_flag=3))
    assert (outcome.status, outcome.rule, outcome.flags) == (Status.RULE, 14, None)
    assert side.flags.all()


# --- rules ---


def test_the_lowest_rule_of_the_table_is_reported() -> None:
    side = Side()
    for op, rule in (
        (replace(WHOLE, unit_flag=1), 14),
        (replace(WHOLE, src_stride=20, src=32), 15),
        (replace(WHOLE, src=32), 16),
        (replace(WHOLE, dst=2), 16),
        (replace(WHOLE, src=SIZES[Space.L0C] - 1024), 23),
        (replace(WHOLE, pre_quant=PreQuant("qf322f32_pre_vec", FbPtr("f32", 3968))), 22),
        (MteL0cUb(0, 0, 2, 16, 16, 16, sub_block=2), 14),
        (MteL0cUb(0, 0, 2, 16, 16, 16, ub_split="split_n"), 21),
        (MteL0cL1(0, 0, 2, 16, 16, 20), 17),
    ):
        outcome = side.model.issue(op)
        first = next(r for r, broken in d_predicates(lower(op)).items() if broken(lower(op)))
        assert (outcome.status, outcome.rule, first.number) == (Status.RULE, rule, rule)


F16 = Ptr("f16", "gm")


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (replace(WHOLE, src_type=Ptr("f16", "l0c")), "FIX-L02"),
        (replace(WHOLE, pre_quant=PreQuant("qf322f16_pre", Scalar("f32", 0))), "FIX-L03"),
        (replace(WHOLE, pre_quant=PreQuant("f32_f16_vec", FbPtr("f32", 0))), "FIX-L03"),
        (replace(WHOLE, pre_quant=PreQuant("qf322f32_pre_vec", Scalar("f32", 0))), "FIX-L03"),
        (replace(WHOLE, pre_quant=PreQuant("qf322f32_pre_scalar", FbPtr("f32", 0))), "FIX-L03"),
        (replace(WHOLE, dst_type=F16), "FIX-L04"),
        (replace(WHOLE, pre_quant=PreQuant("f32_bf16", Scalar("f32", 0)), dst_type=F16), "FIX-L04"),
        (replace(WHOLE, pre_relu=PreRelu("pwl")), "FIX-L05"),
        (replace(WHOLE, pre_relu=PreRelu("scalar_relu", FbPtr("f32", 0))), "FIX-L05"),
        (replace(WHOLE, src_type=Ptr("i32", "l0c"), dst_type=Ptr("i32", "gm"),
                 pre_relu=PreRelu("scalar_relu", Scalar("f32", 0))), "FIX-L05"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("legal", [False, True])
def test_violations_of_front_end_rules_are_errors(op: FixOp, rule: str, legal: bool) -> None:
    with pytest.raises(ValueError, match=rule):
        Side().model.issue(op, legal=legal)


def test_other_front_end_rules_are_checked_with_the_rules() -> None:
    for op, rule in (
        (replace(WHOLE, pre_relu=PreRelu("no_relu", clip=Scalar("f16", 1))), "FIX-L06"),
        (replace(WHOLE, k=1), "FIX-L08"),
        (replace(WHOLE, layout="nz2nz", loop3=Loop3(1, 0, 0)), "FIX-L09"),
        (replace(WHOLE, atomic=Atomic("f16", "add")), "FIX-L11"),
    ):
        with pytest.raises(ValueError, match=rule):
            Side().model.issue(op)


def test_a_hint_out_of_range_is_left_to_the_engine() -> None:
    outcome = Side().model.issue(replace(WHOLE, sid=4))
    assert (outcome.status, outcome.rule) == (Status.RULE, 14)


CLIPPED = replace(WHOLE, pre_quant=PreQuant("deqs16_scalar", Scalar("f32", 0)),
                  src_type=Ptr("i32", "l0c"), dst_type=Ptr("i16", "gm"))  # fmt: skip


@pytest.mark.parametrize(
    ("clip", "rule"),
    [
        (Scalar("i16", 0), 7), (Scalar("i16", 1), 0), (Scalar("i16", 32767), 0),
        (Scalar("i16", 0xFFFF), 7), (Scalar("i8", 0x80), 7), (Scalar("si8", 127), 0),
        (Scalar("i4", 7), 0), (Scalar("si4", 8), 7), (Scalar("i16", 0x8000), 7),
    ],
)  # fmt: skip
def test_clips_are_positive(clip: Scalar, rule: int) -> None:
    outcome = Side().model.issue(replace(CLIPPED, pre_relu=PreRelu("no_relu", clip=clip)))
    assert outcome.rule == rule


_CLIP_BITS = {"i4": 4, "si4": 4, "i8": 8, "si8": 8}


def converted(op: FixOp) -> dict[str, int]:
    """Returns the fields that are not operand as it is written, by a reading of its own."""
    found = dict.fromkeys(("quant_addr", "relu_addr", "clip_en", "clip", "quant", "relu"), 0)
    for name, clause in (("quant", op.pre_quant), ("relu", op.pre_relu)):
        if clause is not None and isinstance(clause.payload, FbPtr):
            found[f"{name}_addr"] = clause.payload.address
    if op.pre_quant is not None:
        found["quant"] = QUANT_MODES[op.pre_quant.mode].code
    if op.pre_relu is not None:
        words = ("no_relu", "normal_relu", "scalar_relu", "vector_relu")
        found["relu"] = words.index(op.pre_relu.mode)
        clip = op.pre_relu.clip
        if clip is not None:
            bits = _CLIP_BITS.get(clip.dtype, 16)
            ones = 0xFFFF << bits & 0xFFFF if clip.bits >> bits - 1 & 1 else 0
            found |= {"clip_en": 1, "clip": ones | clip.bits & (1 << bits) - 1}
    loop3 = op.loop3 or Loop3(0, 0, 0)
    found |= {"loop3_en": int(op.loop3 is not None), "loop3_count": loop3.count,
              "loop3_src": loop3.src_stride, "loop3_dst": loop3.dst_stride}  # fmt: skip
    found["layout"] = ("", "nz2nd", "nz2dn", "nz2nz").index(op.layout_name)
    found["acc"] = int(op.src_type.dtype == "i32")
    found["dst_type"] = DST_CODES[op.dst_type.dtype]
    return found


def test_fields_are_those_of_a_second_reading_of_the_clauses() -> None:
    rng = np.random.default_rng(31)
    clips = 0
    for _ in range(800):
        op = drawn(rng)
        if op.pre_relu is not None and op.pre_relu.clip is not None and rng.random() < 0.5:
            clip = replace(op.pre_relu.clip, bits=int(rng.integers(1 << 16)))
            op = replace(op, pre_relu=replace(op.pre_relu, clip=clip))
            clips += 1
        wanted = converted(op)
        assert wanted.items() <= field_values(lower(op)).items(), op
    assert clips > 20


# --- large tiles and far places ---


@pytest.mark.parametrize(
    "op",
    [
        MteL0cUb(0, 0, 500, 64, 512, 64),
        MteL0cUb(0, 0, 32, 512, 32, 512, ub_split="split_n"),
        MteL0cUb(0, 0, 600, 64, 608, 64, ub_split="split_m"),
        replace(WHOLE, m=500, n=64, src_stride=512, dst_stride=500, layout="nz2dn", k=1),
        replace(WHOLE, m=500, n=64, src_stride=512, dst_stride=8192, layout="nz2nz"),
        replace(WHOLE, m=30, n=20, src_stride=32, dst_stride=20, layout="nz2nd",
                loop3=Loop3(24, 64, 600)),
        replace(WHOLE, m=300, n=64, src_stride=304, dst_stride=300, layout="nz2dn", k=1,
                dst_type=Ptr("si4", "gm"),
                pre_quant=PreQuant("qf322s4_pre_scalar", Scalar("f32", 0x3F000000))),
    ],
)  # fmt: skip
def test_tiles_may_be_converted_in_parts(op: FixOp, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Side(5, 1 << 20)
    one = whole.model.execute(op)
    monkeypatch.setattr(fixpipe_layout, "_CHUNK", 7000)
    parts = Side(5, 1 << 20)
    two = parts.model.execute(op)
    assert one.events == two.events
    for space, image in whole.images.items():
        assert np.array_equal(parts.images[space], image)


def test_the_last_place_of_every_memory_can_be_written() -> None:
    side = Side(1, 1 << 20)
    end = SIZES[Space.L1]
    outcome = side.model.execute(
        MteL0cL1(SIZES[Space.L0C] - 1024, end - 1024, 16, 16, 16, 16, unit_flag=3)
    )
    assert outcome.status is Status.OK
    assert outcome.flags is not None
    assert outcome.flags.blocks.tolist() == [510, 511]
    expected = side.images[Space.L0C][-1024:]
    assert np.array_equal(side.images[Space.L1][end - 1024 : end], expected)


def test_plain_copies_keep_nan_payloads() -> None:
    side = Side()
    words = side.images[Space.L0C].view("<u4")
    words[:4] = [0x7F800001, 0xFFC12345, 0x80000000, 0x00000001]
    for clauses in ({}, {"pre_quant": PreQuant("no_convert", Scalar("f32", 0x40000000))},
                    {"pre_relu": PreRelu("no_relu")}):  # fmt: skip
        side.model.execute(replace(WHOLE, m=1, n=4, **clauses))
        assert np.array_equal(side.images[Space.GM][:16].view("<u4"), words[:4])
    side.model.execute(replace(WHOLE, m=1, n=4, pre_relu=PreRelu("normal_relu")))
    found = side.images[Space.GM][:16].view("<u4").tolist()
    assert found == [0x7FC00000, 0x7FC00000, 0x00000000, 0x00000001]


def test_lanes_after_the_last_channel_have_no_events() -> None:
    side = Side()
    words = side.images[Space.L0C].view("<f4")
    words[:16] = 1.0
    words[5:16] = np.nan
    half = PreQuant("f32_f16", Scalar("f32", 0))
    outcome = side.model.execute(replace(WHOLE, m=1, n=5, pre_quant=half, dst_type=F16))
    assert FixEvent(outcome.events) == FixEvent.EXACT
