# SPDX-License-Identifier: Apache-2.0
"""The values of spec/profiles.md and spec/examples_v2.md, sections 7 and 8, under whole profiles.

The images of section 7 are those of the catalog's ops, which has them knob by knob.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import DmaOp, ReferenceModel
from sequences.examples.catalog import EXAMPLES, Example
from tb.isa.burst.op import MteL1Fb
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, CopyUbufToUbuf
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, FbPtr, FixOp, MteL0cGm, PreQuant, PreRelu, Scalar
from tb.isa.profile import A5, SEED, using
from tb.isa.rules import s_violations
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.model.test_worked_values import pattern

PROFILES = {"seed": SEED, "a5": A5}
BY_NAME = {example.name: example for example in EXAMPLES}

IMAGES: dict[str, tuple[int, int]] = {
    "PK-1": (5, 0x5B784B5F),
    "PK-1b": (5, 0x838E7D59),
    "PK-1c": (5, 0x3A73AD1C),
    "PK-2": (0x202712F7, 0xF615E18C),
    "PK-3": (0xA817D1EA, 0x27A7BD87),
    "PK-4": (0x9088CF6A, 0xC049B823),
    "PK-5": (0x9EC45FFF, 0x6FEEDF60),
    "PK-6": (0x5E853391, 0x3C4D4AE0),
    "PK-7": (0xB9BF8F65, 0xC9156F33),
    "PK-8": (8, 0x6F69953E),
    "PK-8b": (8, 0x68E35EEE),
    "PK-9": (7, 0xCFDA78DE),
    "PK-10": (7, 0xC0E7B2A2),
    "PK-10b": (7, 0x15D47E4B),
    "PK-11": (7, 0x17F8A6FC),
    "PK-12": (0x98F4079F, 0xCF3FCACD),
    "PK-12b": (0x74CEEA68, 0x679DBE5B),
    "PK-12c": (0x86F878CB, 0x5E45961F),
    "EX3": (0xF3771B43, 0x66B10886),
    "EX3b": (0xB7D42B96, 0xC541E728),
    "EX3c": (0xD0CFFF9A, 0x2C7B882B),
    "GU-E3": (0xC427217C, 0x5F4C9A43),
    "GU-E1": (0x183875E9, 0x183875E9),
    "GU-E2": (0x922F90EE, 0x922F90EE),
    "GU-E4": (0x8840989E, 0x8840989E),
}
"""Section 7: CRC-32 or rule number with profile seed, and CRC-32 with profile a5."""


def bench(example: Example) -> tuple[GoldenMemory, ReferenceModel]:
    golden = GoldenMemory(example.initial)
    golden.ensure(example.space, 0, example.length)
    return golden, ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )


@pytest.mark.parametrize("number", [0, 1], ids=PROFILES)
@pytest.mark.parametrize("name", IMAGES)
def test_images_of_both_profiles(name: str, number: int) -> None:
    example, want = BY_NAME[name], IMAGES[name][number]
    for program in example.forms.values():
        golden, model = bench(example)
        with using(list(PROFILES.values())[number]):
            outcomes = [model.execute(op) for op in program]
        if want < 256:
            assert (outcomes[-1].status, outcomes[-1].rule) == (Status.RULE, want)
            want_crc = zlib.crc32(example.initial(example.space, 0, example.length).tobytes())
        else:
            assert {outcome.status for outcome in outcomes} == {Status.OK}
            want_crc = want
        assert zlib.crc32(golden[example.space][: example.length].tobytes()) == want_crc


@pytest.mark.parametrize("name", ["PK-13", "PK-13b"])
def test_modes_that_a5_does_not_have(name: str) -> None:
    ((op,),) = BY_NAME[name].forms.values()
    assert isinstance(op, MteL0cGm)
    with using(A5):
        assert [violation.rule.name for violation in s_violations(op)] == ["FIX-L04"]
        with pytest.raises(ValueError, match="FIX-L04"):
            bench(BY_NAME[name])[1].execute(op)


# --- bytes of the small examples of spec/profiles.md ---


def g(start: int, stop: int) -> bytes:
    """GM bytes start..stop, the last one included."""
    return pattern(0, range(start, stop + 1))


def no(count: int) -> bytes:
    """Bytes that are not written."""
    return b"\xaa" * count


F16_ONE = b"\x00\x3c"
SMALL: dict[str, tuple[bytes, bytes]] = {
    "PK-2": (
        g(0, 9) + F16_ONE * 27 + g(16, 25) + F16_ONE * 27,
        g(0, 9) + F16_ONE * 11 + no(32) + g(16, 25) + F16_ONE * 11 + no(32),
    ),
    "PK-3": (g(0, 29) + F16_ONE * 33, g(0, 29) + F16_ONE * 17 + no(32)),
    "PK-4": (
        g(0, 11) + no(20) + g(16, 27) + no(20),
        g(0, 11) + g(0, 3) * 5 + g(16, 27) + g(16, 19) * 5,
    ),
    "PK-5": (g(0, 4) + no(27), g(0, 4) + g(1, 1) + (g(0, 0) + g(1, 1)) * 13),
    "PK-6": (g(0, 19) + no(12), g(0, 19) + bytes(12)),
    "PK-7": (
        g(0, 32) + no(31) + g(40, 72) + no(31),
        g(0, 32) + g(0, 0) * 31 + g(40, 72) + g(40, 40) * 31,
    ),
    "PK-8": (b"", g(0, 31) * 3),
    "PK-9": (b"", g(0, 4) + g(8, 12) + g(16, 20) + g(16, 16) * 17),
    "PK-10": (b"", g(0, 17) + g(12, 13) * 7),
    "PK-11": (b"", g(0, 17) + bytes(14)),
}
"""First bytes of the destination with profile seed (none where it is a violation) and with a5."""

PAD = Pad("f16", 0x3C00)
F16, F32 = (Ptr("f16", "gm"), Ptr("f16", "ub")), (Ptr("f32", "gm"), Ptr("f32", "ub"))
SMALL_OPS: dict[str, MteGmUb | MteGmL1] = {
    "PK-2": MteGmUb(0, 0, 10, 2, 16, 64, pad=PAD, src_type=F16[0], dst_type=F16[1]),
    "PK-3": MteGmUb(
        0, 0, 30, 1, 32, 96, pad=Pad("f16", 0x3C00, 0, 2), src_type=F16[0], dst_type=F16[1]
    ),
    "PK-4": MteGmUb(0, 0, 12, 2, 16, 32, src_type=F32[0], dst_type=F32[1]),
    "PK-5": MteGmUb(0, 0, 5, 1, 0, 0, src_type=F16[0], dst_type=F16[1]),
    "PK-6": MteGmL1(0, 0, 20, 1, 0, 0, src_type=F16[0], dst_type=Ptr("f16", "l1")),
    "PK-7": MteGmUb(0, 0, 33, 1, 0, 0, (Loop(2, 40, 64),)),
    "PK-8": MteGmUb(0, 0, 32, 3, 0, 32),
    "PK-9": MteGmUb(0, 0, 5, 3, 8, 5),
    "PK-10": MteGmUb(0, 0, 6, 3, 6, 6, src_type=F16[0], dst_type=F16[1]),
    "PK-11": MteGmL1(0, 0, 6, 3, 6, 6, src_type=F16[0], dst_type=Ptr("f16", "l1")),
}


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize("number", [0, 1], ids=PROFILES)
@pytest.mark.parametrize("name", SMALL)
def test_small_examples_of_the_profiles(name: str, number: int, legal: bool) -> None:
    op, want = SMALL_OPS[name], SMALL[name][number]
    golden, model = bench(BY_NAME[name])
    with using(list(PROFILES.values())[number]):
        outcome = model.execute(op, legal=legal and bool(want))
    assert (outcome.status is Status.RULE) == (not want)
    memory: NDArray[np.uint8] = golden[Space.L1 if isinstance(op, MteGmL1) else Space.UB0]
    assert memory[: len(want) + 256].tobytes() == want + no(256)


@pytest.mark.parametrize("name", ["PK-4", "PK-5", "PK-6", "PK-7", "PK-9", "PK-10", "PK-11"])
def test_fill_bytes_are_in_the_footprint(name: str) -> None:
    with using(A5):
        outcome = bench(BY_NAME[name])[1].issue(SMALL_OPS[name])
    assert outcome.bytes_written == len(SMALL[name][1])


# --- section 8 ---

BOTH, ONLY_SEED, ONLY_A5 = ("seed", "a5"), ("seed",), ("a5",)
GM = MteL0cGm(0, 0, 1, 1, 16, 16)
I64 = Ptr("i64", "gm"), Ptr("i64", "ub")


def in_i64(n: int, select: int, ub_dst: int = 0) -> CopyGmToUbuf:
    return CopyGmToUbuf(0, ub_dst, 0, n, 32, 0, 0, select, 0, 32, 32, *I64)


def ctrl(kind: int, what: int = 0) -> SetCtrl:
    return SetCtrl(kind << 6 | what << 9)


def quant(pointer: int, n: int = 1) -> MteL0cGm:
    scales = PreQuant("qf322f32_pre_vec", FbPtr("f32", pointer))
    return replace(GM, n=n, pre_quant=scales)


def alphas(pointer: int) -> MteL0cGm:
    return replace(GM, pre_relu=PreRelu("vector_relu", FbPtr("f32", pointer)))


Row = tuple[str, int, tuple[str, ...], tuple[DmaOp, ...]]

D_ROWS: tuple[Row, ...] = (
    ("l1_ub count 4096", 5, BOTH, (MteL1Ub(0, 0, 1, 4096, 0, 0),)),
    ("l1_ub src_gap 65536", 5, BOTH, (MteL1Ub(0, 0, 1, 1, 65536, 0),)),
    ("l1_ub src 16", 6, BOTH, (MteL1Ub(16, 0, 1, 1, 0, 0),)),
    ("l1_ub loop(2, 80, 64)", 7, BOTH, (MteL1Ub(0, 0, 2, 1, 0, 0, (Loop(2, 80, 64),)),)),
    ("l1_ub loop(1, 80, 64)", 0, BOTH, (MteL1Ub(0, 0, 2, 1, 0, 0, (Loop(1, 80, 64),)),)),
    ("l1_ub len 8192, n 2", 12, BOTH, (MteL1Ub(0, 0, 8192, 2, 0, 0),)),
    ("l1_ub len 3, n 2", 0, BOTH, (MteL1Ub(0, 0, 3, 2, 0, 0),)),
    ("ubuf_to_ubuf src 16", 6, BOTH, (CopyUbufToUbuf(16, 0, 0, 2, 40, 40, 40),)),
    ("ubuf_to_ubuf strides", 8, BOTH, (CopyUbufToUbuf(0, 0, 0, 2, 40, 32, 64),)),
    ("ubuf_to_ubuf len 40", 11, BOTH, (CopyUbufToUbuf(0, 0, 0, 1, 40, 0, 0),)),
    ("ubuf_to_ubuf len 40, n 0", 11, BOTH, (CopyUbufToUbuf(0, 0, 0, 0, 40, 0, 0),)),
    ("ubuf_to_ubuf dst", 12, BOTH, (CopyUbufToUbuf(0, 262080, 0, 2, 64, 64, 64),)),
    ("ubuf_to_gm l2 15", 0, BOTH, (CopyUbufToGm(0, 0, 0, 1, 32, 15, 32, 32),)),
    ("ubuf_to_gm l2 16", 5, BOTH, (CopyUbufToGm(16, 0, 0, 1, 32, 16, 32, 32),)),
    ("gm_to_ubuf E 8", 3, BOTH, (in_i64(1, 1),)),
    ("gm_to_ubuf E 8, n 0", 3, BOTH, (in_i64(0, 1, 16),)),
    ("gm_to_ubuf E 8, select 0", 6, BOTH, (in_i64(1, 0, 16),)),
    ("l1_fb dst 0xFC0, len 2", 4, BOTH, (MteL1Fb(0, 0xFC0, 2, 1, 0, 0),)),
    ("l1_fb dst 0xFC0, len 1", 0, BOTH, (MteL1Fb(0, 0xFC0, 1, 1, 0, 0),)),
    ("l1_fb dst 0x20000", 4, BOTH, (MteL1Fb(0, 0x20000, 1, 1, 0, 0),)),
    ("l1_fb dst 0x11000", 4, BOTH, (MteL1Fb(0, 0x11000, 1, 1, 0, 0),)),
    ("l1_fb dst 0x20000, len 0", 4, BOTH, (MteL1Fb(0, 0x20000, 0, 1, 0, 0),)),
    ("quant pointer 0x10000", 22, BOTH, (quant(0x10000),)),
    ("quant pointer 0xF80, n 17", 22, BOTH, (quant(0xF80, 17),)),
    ("quant pointer 0xF80, n 16", 0, BOTH, (quant(0xF80, 16),)),
    ("relu pointer 0x20000", 22, BOTH, (alphas(0x20000),)),
    ("relu pointer 0x10020", 22, BOTH, (alphas(0x10020),)),
    ("relu pointer 0x40", 0, BOTH, (alphas(0x40),)),
    ("CTRL type 1, op 3", 26, BOTH, (ctrl(1, 3), GM)),
    ("CTRL type 7", 26, BOTH, (ctrl(7), GM)),
    ("CTRL type 7, n 0", 26, BOTH, (ctrl(7), replace(GM, n=0))),
    ("CTRL op 3", 0, BOTH, (ctrl(0, 3), GM)),
    ("clause, CTRL 7", 0, BOTH, (ctrl(7), replace(GM, atomic=Atomic("f32", "add")))),
    (
        "i32 to ui32", 0, BOTH,
        (replace(GM, src_type=Ptr("i32", "l0c"), dst_type=Ptr("ui32", "gm")),),
    ),
    ("no_convert", 0, BOTH, (replace(GM, pre_quant=PreQuant("no_convert", FbPtr("f32", 0))),)),
    ("gm_ub len 65536", 5, ONLY_SEED, (MteGmUb(0, 0, 65536, 1, 0, 0),)),
    ("gm_ub len 2097152", 5, ONLY_A5, (MteGmUb(0, 0, 2097152, 1, 0, 0),)),
    ("gm_ub dst_stride 5", 7, ONLY_SEED, (MteGmUb(0, 0, 5, 3, 8, 5),)),
    ("gm_ub dst_stride 6", 7, ONLY_A5, (MteGmUb(0, 0, 5, 3, 8, 6),)),
    ("gm_ub strides 0 / 32", 8, ONLY_A5, (MteGmUb(0, 0, 64, 2, 0, 32),)),
    ("ub_gm dst_stride 0", 8, ONLY_A5, (MteUbGm(0, 0, 64, 2, 64, 0),)),
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("row", D_ROWS, ids=lambda row: row[0])
def test_rule_checks(row: Row, profile: str) -> None:
    _, rule, profiles, program = row
    if profile not in profiles:
        return
    golden = GoldenMemory(lambda _space, _start, length: b"\x55" * length)
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    golden.ensure(Space.GM, 0, 4096)
    with using(PROFILES[profile]):
        outcome = [model.execute(op) for op in program][-1]
    assert (outcome.status, outcome.rule) == (Status.RULE if rule else Status.OK, rule)
    assert bool(outcome.regions) == (rule == 0)
    if rule:
        assert not golden.written_pages()
        assert all(bool(np.all(image[:4096] == 0x55)) for _, image in golden.items())


I32_S16 = replace(
    GM, pre_quant=PreQuant("deqs16_scalar", Scalar("f32", 0)), src_type=Ptr("i32", "l0c"),
    dst_type=Ptr("i16", "gm"),
)  # fmt: skip
S_ROWS: tuple[tuple[str, str, tuple[str, ...], FixOp], ...] = (
    ("f32 to i32", "FIX-L04", BOTH, replace(GM, dst_type=Ptr("i32", "gm"))),
    *(
        (
            f"{mode} with an fb pointer", "FIX-L03", BOTH,
            replace(GM, pre_quant=PreQuant(mode, FbPtr("f32", 0)), dst_type=Ptr(dtype, "gm")),
        )
        for mode, dtype in (("f32_f16", "f16"), ("f32_bf16", "bf16"))
    ),
    ("deqs16", "FIX-L04", ONLY_A5, I32_S16),
    *(
        (
            mode, "FIX-L04", ONLY_A5,
            replace(
                GM, n=2, pre_quant=PreQuant(f"{mode}_pre_scalar", Scalar("f32", 0)),
                dst_type=Ptr(dtype, "gm"),
            ),
        )
        for mode, dtype in (("qf322s4", "i4"), ("qf162b8", "i8"))
    ),
)  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("name", "rule", "profiles", "op"), S_ROWS)
def test_front_end_rule_checks(
    name: str, rule: str, profiles: tuple[str, ...], op: FixOp, profile: str
) -> None:
    model = ReferenceModel({space: np.zeros(1 << 17, np.uint8) for space in Space})
    with using(PROFILES[profile]):
        if profile not in profiles:
            assert not s_violations(op)
            assert model.execute(op).status is Status.OK
            return
        assert rule in [violation.rule.name for violation in s_violations(op)], name
        with pytest.raises(ValueError, match=rule):
            model.execute(op)
