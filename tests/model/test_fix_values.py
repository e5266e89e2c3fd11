# SPDX-License-Identifier: Apache-2.0
"""Values of the write-back against exact arithmetic, on constructed ties, limits and specials."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.model.fixpipe_float import (
    BF16,
    E4M3,
    F16,
    HIF8,
    FloatFormat,
    Saturation,
    convert,
    floats_of,
    half_stage,
    half_stage_i32,
    hif8_value,
    multiply,
    to_float,
    to_hif8,
)
from scoreboards.model.fixpipe_stages import KEPT, MODES, Parameters, Pipeline
from tb.isa.events import FixEvent
from tests.model import naive_fix as naive

INTEGER_STAGES = ("S5", "S9", "S17", "WIDE")
FORMATS = {"f16": F16, "bf16": BF16, "f8E4M3FN": E4M3}
SATS = {"sat": Saturation.SAT, "preserve_nan": Saturation.PRESERVE_NAN, "nosat": Saturation.NOSAT}

SPECIALS = (
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x3F800000,
    0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001,
    0xFFBFFFFF, 0x3F7FFFFF, 0x3F800001, 0x4B000000, 0x4B800001, 0x4F000000, 0xCF000000, 0xCF000001,
    0x33000000, 0x33000001, 0x32FFFFFF, 0x33800000, 0x38000000, 0x477FEFFF, 0x477FF000, 0x477FF001,
    0xC77FF000, 0x43E80000, 0x43E80001, 0x43E7FFFF, 0x471FFFFF, 0x47200000, 0x7F7F7FFF, 0x7F7F8000,
)  # fmt: skip


def words(values: list[int]) -> NDArray[np.uint32]:
    return np.array(values, dtype=np.uint32)


def around(form: str, every: int = 1) -> list[int]:
    """Returns all values of a format, the middles between neighbours, and the next numbers."""
    values = naive.values_of(form)
    found = set(SPECIALS)
    for low, high in [*list(itertools.pairwise(values))[::every], (values[-2], values[-1])]:
        for exact in (low, (low + high) / 2):
            bits = naive.f32(exact)
            found.update((bits, max(bits - 1, 0), bits + 1))
    return sorted(found | {bits ^ 0x80000000 for bits in found})


@pytest.mark.long
@pytest.mark.parametrize("sat", SATS)
@pytest.mark.parametrize(("form", "every"), [("f16", 97), ("bf16", 131), ("f8E4M3FN", 1)])
def test_narrow_floats_round_to_the_nearest_value(form: str, every: int, sat: str) -> None:
    inputs = around(form, every if sat == "sat" else 8 * every)
    codes, _ = to_float(floats_of(words(inputs)), FORMATS[form], SATS[sat])
    expected = [naive.convert(bits, form, sat) for bits in inputs]
    assert [hex(c) for c in codes.tolist()] == [hex(c) for c in expected]


@pytest.mark.parametrize("form", [F16, BF16, E4M3, HIF8], ids=lambda form: form.name)
def test_the_table_of_a_conversion_has_what_each_word_becomes(form: FloatFormat) -> None:
    """Every sign and exponent, fractions at random and around ties; as codes and as events."""
    rng = np.random.default_rng(11)
    fractions = rng.integers(0, 1 << 23, (512, 300)) & -1 << rng.integers(0, 24, (512, 300))
    fractions += rng.integers(-1, 2, (512, 300))
    found = np.arange(512)[:, None] << 23 | fractions & 0x7FFFFF
    bits = found.astype(np.uint32)
    for sat in Saturation:
        codes, flags = convert(bits, form, sat)
        for _ in range(4):  # the last times by the table
            assert np.array_equal(to_float(floats_of(bits), form, sat)[0], codes)
        for row, each in zip(bits, flags, strict=True):
            assert to_float(floats_of(row), form, sat)[1] == np.bitwise_or.reduce(each)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("sat", SATS)
def test_hif8_rounds_away_or_by_the_threshold(sat: str, hybrid: bool) -> None:
    rng = np.random.default_rng(8)
    inputs = around("hif8")
    exponents = rng.integers(100, 145, 3000)
    low = rng.choice([0, 1, 0x1FFF, 0x2000, 0x3FFF, 0x1234], 3000)
    inputs += (exponents << 23 | rng.integers(0, 512, 3000) << 14 | low).tolist()
    codes, _ = to_hif8(floats_of(words(inputs)), SATS[sat], hybrid=hybrid)
    expected = [naive.convert(bits, "hif8", sat, hybrid=hybrid) for bits in inputs]
    assert [hex(c) for c in codes.tolist()] == [hex(c) for c in expected]


def test_every_hif8_code_has_the_value_of_the_table() -> None:
    values = naive.hif8_values()
    assert len(values) == 127
    for value, code in values.items():
        assert hif8_value(code) == float(value)
        assert hif8_value(code | 0x80) == -float(value) or code == 0
    for code, number in {0x08: 1.0, 0x10: 2.0, 0x18: 0.5, 0x40: 16.0, 0x60: 256.0, 0x6E: 32768.0,
                        0x5F: 0.013671875, 0x01: 2.0**-22, 0x07: 2.0**-16, 0x7E: 2.0**-15,
                        0x6F: np.inf, 0xEF: -np.inf}.items():  # fmt: skip
        assert hif8_value(code) == number
    assert np.isnan(hif8_value(0x80))


def test_hif8_converts_its_own_values_exactly() -> None:
    for hybrid in (False, True):
        for code in set(range(256)) - {0x80, 0x6F, 0xEF}:
            value = np.array([hif8_value(code)], dtype=np.float32)
            found, events = to_hif8(value, Saturation.SAT, hybrid=hybrid)
            assert (int(found[0]), events & FixEvent.EXACT) == (code, FixEvent.EXACT)


@pytest.mark.long
def test_half_stage_rounds_once_and_saturates() -> None:
    inputs = around("f16", 53)
    found = half_stage(floats_of(words(inputs))).view(np.uint32)
    assert found.tolist() == [naive.to_half(naive.number(bits)) for bits in inputs]


def test_integer_half_stage_rounds_the_exact_integer_once() -> None:
    rng = np.random.default_rng(5)
    steps = [
        k * s + d for s in (2, 4, 8, 16, 32) for k in (1023, 1024, 1025, 2047) for d in (-1, 0, 1)
    ]
    inputs = [*steps, 65503, 65504, 65519, 65520, 65535, 2**31 - 1, 16777217, 0, 1]
    inputs += rng.integers(0, 70000, 500).tolist()
    signed = [*inputs, *[-x for x in inputs], -(2**31)]
    found = half_stage_i32(np.array(signed, dtype=np.int32).view(np.uint32)).view(np.uint32)
    exact = [naive.to_half(naive.Fraction(x)) for x in signed]
    assert found.tolist() == exact


def test_products_are_those_of_exact_arithmetic() -> None:
    rng = np.random.default_rng(3)
    one = words([*SPECIALS * 3, *rng.integers(0, 1 << 32, 2000).tolist()])
    two = words([*SPECIALS, *[0x3F000000] * len(SPECIALS), *SPECIALS[::-1],
                 *rng.integers(0, 1 << 32, 2000).tolist()])  # fmt: skip
    # Products around the least subnormal: exponents that add up to it.
    one[-800:] = one[-800:] & 0x807FFFFF | rng.integers(1, 80, 800).astype(np.uint32) << 23
    two[-800:] = two[-800:] & 0x807FFFFF | rng.integers(40, 60, 800).astype(np.uint32) << 23
    with np.errstate(all="ignore"):
        found = multiply(floats_of(one), floats_of(two)).view(np.uint32)
    expected = [naive.product(a, b) for a, b in zip(one.tolist(), two.tolist(), strict=True)]
    assert found.tolist() == expected


# --- whole pipelines ---

SCALES = (0x3F800000, 0x3F000000, 0x3E800000, 0x40000000, 0xBF000000, 0x3DCCCCCD, 0x00000000,
          0x80000000, 0x00402000, 0x7F000000, 0x42C80000, 0x3B801FFF)  # fmt: skip
ALPHAS = (0x3E800000, 0xBE800000, 0x00000000, 0x80000000, 0x3F800000, 0x40000000, 0x3DCCDFFF)
OFFSETS = {
    5: (0, 0, 5, -5, 15, -16, 8, -8),
    9: (0, 0, 5, -5, 255, -256, 128, -128),
    17: (0, 0, 5, -5, 65535, -65536, 40000, -32768),
}
"""Offsets by the bits of their field."""
CLIPS = {"f16": (1.5, 65504.0, 2.0**-24), "ui8": (1, 100, 255), "i4": (1, 7), "i8": (1, 127),
         "i16": (1, 300, 32767)}  # fmt: skip


def accumulators(accumulator: str, target: str) -> list[int]:
    rng = np.random.default_rng(len(target))
    if accumulator == "i32":
        edges = [k * s + d for s in (1, 2, 4) for k in (0, 1, 7, 8, 127, 128, 255, 256, 511, 32767,
                 65504, 65536, 2**24, 2**30) for d in (-1, 0, 1, 2, 3)]  # fmt: skip
        edges += [2**31 - 1, -(2**31), 16777217, -16777219, 123456789, 33554433, 33554435]
        edges += rng.integers(-70000, 70000, 60).tolist()
        return [x & 0xFFFFFFFF for x in (*edges, *[-x for x in edges])]
    found = list(SPECIALS)
    halves = [k + h for k in (0, 1, 2, 3, 6, 7, 8, 9, 126, 127, 128, 254, 255, 256, 257, 300)
              for h in (0.0, 0.25, 0.5, 0.50001, 0.75)]  # fmt: skip
    halves += (rng.standard_normal(60) * 40).tolist()
    bits = np.array([*halves, *[-x for x in halves]], dtype=np.float32)
    found += bits.view(np.uint32).tolist()
    if target in ("f16", "bf16", "f8E4M3FN", "hif8"):
        found += around(target, 999 if target in ("f16", "bf16") else 9)
    return found


def settings() -> list[tuple[str, str, str, str]]:
    """Returns (mode, target, relu, sat): every mode with every legal combination."""
    cases = []
    for name, mode in MODES.items():
        for target in sorted(mode.targets):
            narrow = mode.narrow not in INTEGER_STAGES
            relus = ("", "no_relu", "normal_relu", "scalar_relu", "vector_relu")
            sats = SATS if narrow and target != "f32" else ("sat",)
            for number, relu in enumerate(relus):
                if target.startswith("si") and relu != "vector_relu":
                    continue
                cases.append((name, target, relu, list(sats)[number % len(sats)]))
    cases += [
        ("", "f32", relu, "sat") for relu in ("", "normal_relu", "scalar_relu", "vector_relu")
    ]
    return [*cases, ("", "i32", "", "sat"), ("", "i32", "normal_relu", "sat")]


@pytest.mark.share("scoreboards/model")
@pytest.mark.long
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("name", "target", "relu", "sat"), settings())
def test_pipeline_is_the_second_reading(
    name: str, target: str, relu: str, sat: str, replace: bool
) -> None:
    mode = MODES[name] if name else KEPT[target]
    inputs = accumulators(mode.accumulator, target)
    n = len(inputs)
    vector = relu == "vector_relu" and mode.scaled
    scales = [SCALES[k * 5 % len(SCALES)] if vector else SCALES[len(name) % 6] for k in range(n)]
    offset_of = OFFSETS.get(naive.OFFSET_WIDTHS.get(target, 9), ())
    offsets = [offset_of[k * 3 % len(offset_of)] if vector else 0 for k in range(n)]
    signs = [(k * 7 >> 2) % 2 == 0 if vector else target != "ui8" for k in range(n)]
    alphas = [ALPHAS[k % len(ALPHAS)] if relu == "vector_relu" else ALPHAS[1] for k in range(n)]
    clips = CLIPS.get(target.removeprefix("s"), ()) if relu else ()
    clip = clips[len(relu) % len(clips)] if clips and relu != "no_relu" else None

    def masked(values: list[int]) -> NDArray[np.float32]:
        return floats_of(words(values) & np.uint32(0xFFFFE000))

    integer = mode.narrow in INTEGER_STAGES
    parameters = Parameters(
        masked(scales) if mode.scaled else None,
        np.array(offsets, dtype=np.int32) if integer else None,
        np.array(signs),
        masked(alphas) if relu in ("scalar_relu", "vector_relu") else None,
    )
    pipeline = Pipeline(mode, target, relu, clip, SATS[sat], replace)
    found, _ = pipeline.run(words(inputs), parameters)
    for k, bits in enumerate(inputs):
        expected = naive.element(
            bits, name, target, scale=scales[k] if mode.scaled else None, offset=offsets[k],
            signed=signs[k], relu=relu, alpha=alphas[k],
            clip=None if clip is None else naive.Fraction(clip), sat=sat, replace=replace,
        )  # fmt: skip
        assert int(found[k]) == expected, f"{bits:#x} * {scales[k]:#x} {offsets[k]} {signs[k]}"


def test_every_row_of_the_mode_table_is_tested() -> None:
    from tb.isa.fix.table import QUANT_MODES

    names = {mode + suffix for mode, row in MODES.items()
             for suffix in (("_vec", "_scalar") if row.scaled else ("",))}  # fmt: skip
    assert names | {"no_convert"} == set(QUANT_MODES)
    for name in names:
        row, mode = QUANT_MODES[name], MODES[name.removesuffix("_vec").removesuffix("_scalar")]
        assert (row.acc, frozenset(row.dst), row.scale) == (
            mode.accumulator, mode.targets, mode.scaled,
        )  # fmt: skip


# --- events ---


@pytest.mark.parametrize(
    ("value", "events"),
    [
        (1.0, FixEvent.EXACT),
        (1.0 + 2**-11, FixEvent.TIE_DOWN),
        (-(1.0 + 3 * 2**-11), FixEvent.TIE_UP),
        (1.0 + 2**-11 + 2**-20, FixEvent.ROUNDED_UP),
        (1.0 + 2**-12, FixEvent.ROUNDED_DOWN),
        (65520.0, FixEvent.SATURATED_HIGH),
        (-1e9, FixEvent.SATURATED_LOW),
        (np.inf, FixEvent.SATURATED_HIGH | FixEvent.INF),
        (np.nan, FixEvent.NAN),
        (2.0**-24, FixEvent.EXACT | FixEvent.SUBNORMAL_RESULT),
        (2.0**-25, FixEvent.TIE_DOWN | FixEvent.UNDERFLOW_TO_ZERO),
        (-(2.0**-26), FixEvent.ROUNDED_DOWN | FixEvent.UNDERFLOW_TO_ZERO | FixEvent.MINUS_ZERO),
        (-0.0, FixEvent.EXACT | FixEvent.MINUS_ZERO),
        (2.0**-130, FixEvent.ROUNDED_DOWN | FixEvent.UNDERFLOW_TO_ZERO | FixEvent.SUBNORMAL_INPUT),
    ],
)
def test_events_of_a_float(value: float, events: FixEvent) -> None:
    word = np.array([value], dtype=np.float32).view(np.uint32)
    _, found = Pipeline(MODES["f32_f16"], "f16").run(word, Parameters())
    assert FixEvent(found) == events


def test_nosat_and_clip_have_events() -> None:
    word = np.array([1e6], dtype=np.float32).view(np.uint32)
    mode = MODES["f32_f16"]
    _, found = Pipeline(mode, "f16", sat=Saturation.NOSAT).run(word, Parameters())
    assert found == FixEvent.OVERFLOW_SPECIAL
    _, found = Pipeline(mode, "f16", "no_relu", 2.0).run(word, Parameters())
    assert found == FixEvent.CLIPPED | FixEvent.EXACT


@pytest.mark.parametrize(
    ("value", "offset", "events"),
    [
        (2.5, 0, FixEvent.TIE_DOWN),
        (-3.5, 0, FixEvent.TIE_UP),
        (3.25, 1, FixEvent.ROUNDED_DOWN | FixEvent.OFFSET_MOVED),
        (3.75, 0, FixEvent.ROUNDED_UP),
        (0.5, 0, FixEvent.TIE_DOWN | FixEvent.UNDERFLOW_TO_ZERO),
        (200.5, 0, FixEvent.SATURATED_HIGH),
        (300.0, -200, FixEvent.STAGE_CLAMPED | FixEvent.OFFSET_MOVED | FixEvent.STAGE_RETURNED),
        (-300.0, 0, FixEvent.STAGE_CLAMPED | FixEvent.SATURATED_LOW),
        (np.inf, 0, FixEvent.INF | FixEvent.STAGE_CLAMPED | FixEvent.SATURATED_HIGH),
        (np.nan, 0, FixEvent.NAN),
    ],
)
def test_events_of_an_integer(value: float, offset: int, events: FixEvent) -> None:
    word = np.array([value], dtype=np.float32).view(np.uint32)
    values = Parameters(np.array([1], dtype=np.float32), np.array([offset], dtype=np.int32),
                        np.array([True]))  # fmt: skip
    _, found = Pipeline(MODES["qf322b8_pre"], "i8").run(word, values)
    assert FixEvent(found) == events


def test_relu_has_an_event_where_it_changes_a_value() -> None:
    mode = MODES["f32_bf16"]
    half = np.array([0.5], dtype=np.float32)
    for relu, alpha in (("normal_relu", None), ("scalar_relu", half)):
        for value, changed in ((-4.0, True), (4.0, False), (-0.0, False), (np.nan, False)):
            word = np.array([value], dtype=np.float32).view(np.uint32)
            _, found = Pipeline(mode, "bf16", relu).run(word, Parameters(alpha=alpha))
            assert bool(found & FixEvent.RELU_CHANGED) == changed
