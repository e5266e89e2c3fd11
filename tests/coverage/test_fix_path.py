# SPDX-License-Identifier: Apache-2.0
"""Group ``fixpipe``: modes, payloads, parameters, flags, events and order of hand-made ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tb.coverage.fix.events import IMPOSSIBLE
from tb.coverage.fix.path import NAME
from tb.coverage.fix.values import CONVERTING, RESULTS
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import GroupCounts
from tb.coverage.view import FORMS
from tb.isa.block import from_ops
from tb.isa.burst.op import MteL1Fb
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dtypes import Ptr
from tb.isa.events import FIX_EVENT_NOTES, FixEvent
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.fix.table import (
    ATOMIC_DST,
    ATOMIC_OPS,
    ATOMIC_TYPES,
    CLIP_TYPES,
    DST_CODES,
    QUANT_MODES,
    QuantMode,
)
from tb.isa.op import Op, replace
from tests.coverage.counting import Made, all_hits, bins, block_of, cover, hits, labels, made

COPIES = ("f32", "i32", "si32", "ui32")
ONE = Scalar("f32", 0x3F800000)
COPY = MteL0cGm(0, 0, 4, 16, 16, 32)
ATOMIC_EVENTS = tuple(event for event in FixEvent if event.name and event.name[:6] == "ATOMIC")


def counts_of(ops: Sequence[Op], events: int | Sequence[int] = 0, name: str = NAME) -> GroupCounts:
    """Returns the counts of one block of ops in a group."""
    return cover(from_ops(ops), events).groups[name]


def op_of(mode: QuantMode, dst: str, *, written: bool = True, **changes: Any) -> MteL0cGm:
    """Returns a write-back in a mode of section 4."""
    acc = mode.acc or ("f32" if dst == "f32" else "i32")
    payload = FbPtr("bf16", 128) if mode.vector else Scalar("f16", 0x3C00)
    return replace(
        COPY,
        src_type=Ptr(acc, "l0c"),
        dst_type=Ptr(dst, "gm"),
        pre_quant=PreQuant(mode.name, payload) if written else None,
        **changes,
    )


SECTION_4 = [(mode, dst) for mode in QUANT_MODES.values() for dst in mode.dst or COPIES]
"""Modes with each destination."""


@pytest.mark.long
def test_every_mode_and_destination_has_its_bin() -> None:
    ops = [op_of(mode, dst) for mode, dst in SECTION_4]
    ops += [op_of(QUANT_MODES["no_convert"], dst, written=False) for dst in COPIES]
    counts = counts_of(ops)
    want = {f"{mode.name} to {dst}": 1 for mode, dst in SECTION_4}
    want |= {f"absent to {dst}": 1 for dst in COPIES}
    assert hits(counts, "mode") == want
    assert counts.holes("mode") == []
    assert set(hits(counts, "kind")) == {
        "none", "f32 to float", "f32 to integer", "i32 to float", "i32 to integer",
    }  # fmt: skip
    assert counts.holes("stage") == []
    assert sum(hits(counts, "stage").values()) == sum(
        mode.narrow in ("b8", "s4", "s16", "s32") for mode, _ in SECTION_4
    )


def test_saturation_by_mode() -> None:
    ops = [
        op_of(mode, dst, sat=sat)
        for mode, dst in SECTION_4
        for sat in ("", "preserve_nan", "nosat")
    ]
    counts = counts_of(ops)
    assert counts.holes("convert") == counts.holes("sat_ignored") == counts.holes("float_sat") == []
    assert set(hits(counts, "convert").values()) == {1}
    assert len(CONVERTING) == 16
    names = {label.split()[0] for label in counts.group.by_name["convert"].labels}
    floats = {"f16", "bf16", "f8E4M3FN", "hif8"}
    assert names == {m.name for m in QUANT_MODES.values() if m.dst and set(m.dst) <= floats}


CONVERTED = op_of(QUANT_MODES["f32_f16"], "f16")
CHECK = replace(COPY, unit_flag=2)
ALPHA = replace(COPY, pre_relu=PreRelu("scalar_relu", ONE))


def clipped(mode: str, dst: str, clip: Scalar) -> MteL0cGm:
    return op_of(QUANT_MODES[mode], dst, pre_relu=PreRelu("no_relu", clip=clip))


def vectors(quant: int, relu: int, n: int) -> MteL0cGm:
    """Returns an op with records and alphas at addresses of fb."""
    records = PreQuant("qf322f32_pre_vec", FbPtr("f16", quant))
    alphas = PreRelu("vector_relu", FbPtr("bf16", relu))
    return replace(COPY, n=n, dst_stride=4096, pre_quant=records, pre_relu=alphas)


def ignoring(payload: Scalar | FbPtr) -> MteL0cGm:
    return replace(COPY, pre_quant=PreQuant("no_convert", payload))


def number(payload: Scalar, value: str, sign: str, low: str = "") -> Made:
    """Returns a row of an op with a number as its scale and as its alpha."""
    quant, relu = PreQuant("qf322f32_pre_scalar", payload), PreRelu("scalar_relu", payload)
    want: dict[str, Any] = {
        "quant_type": f"scalar {payload.dtype}",
        "relu_type": f"scalar {payload.dtype}",
    }
    for name in ("scale", "alpha"):
        want |= {name: value, f"{name}_sign": sign} | ({f"{name}_low": low} if low else {})
    without = "" if low else "scale_low alpha_low"
    return made(replace(COPY, pre_quant=quant, pre_relu=relu), without, **want)


ROWS = [
    made(CONVERTED, relu="absent"),
    made(replace(CONVERTED, pre_relu=PreRelu("no_relu")), relu="no_relu", clip="no"),
    made(replace(CONVERTED, pre_relu=PreRelu("normal_relu")), relu="normal_relu", clip="no"),
    made(replace(CONVERTED, pre_relu=PreRelu("scalar_relu", ONE)), relu="scalar_relu", clip="no"),
    made(replace(CONVERTED, pre_relu=PreRelu("vector_relu", FbPtr("f16", 64))),
         relu="vector_relu", clip="no"),
    made(replace(CONVERTED, pre_relu=PreRelu("no_relu", clip=Scalar("f16", 1))),
         relu="no_relu", clip="yes"),
    made(clipped("f32_f16", "f16", Scalar("f16", 1)),
         clip_type="f16 to f16", clip_value="f16 1"),
    made(clipped("f32_f16", "f16", Scalar("f16", 0x7BFF)),
         clip_type="f16 to f16", clip_value="f16 limit"),
    made(clipped("req8_scalar", "ui8", Scalar("ui16", 255)),
         clip_type="ui16 to u8", clip_value="u8 limit"),
    made(clipped("req8_scalar", "ui8", Scalar("i16", 127)),
         clip_type="i16 to u8", clip_value="u8 other"),
    made(clipped("req8_scalar", "si8", Scalar("si4", 1)),
         clip_type="si4 to s8", clip_value="s8 1"),
    made(clipped("req8_scalar", "i8", Scalar("i8", 127)),
         clip_type="i8 to s8", clip_value="s8 limit"),
    made(clipped("req4_scalar", "i4", Scalar("i16", 7)),
         clip_type="i16 to s4", clip_value="s4 limit"),
    made(clipped("deqs16_scalar", "i16", Scalar("si16", 32767)),
         clip_type="si16 to i16", clip_value="i16 limit"),
    made(clipped("deqs16_scalar", "si16", Scalar("si8", 2)),
         clip_type="si8 to i16", clip_value="i16 other"),
    number(Scalar("f32", 0x00001FFF), "0", "+", "other"),
    number(Scalar("f32", 0x00002000), "subnormal", "+", "0"),
    number(Scalar("f32", 0x3F801FFF), "1", "+", "other"),
    number(Scalar("f32", 0xC0000000), "power of 2", "-", "0"),
    number(Scalar("f16", 0x3E00), "other", "+"),
    number(Scalar("bf16", 0x8000), "0", "-"),
    made(vectors(0, 4032, 16), quant_rows="first rows", relu_rows="last rows",
         quant_type="pointer to f16", relu_type="pointer to bf16", channels="1..16",
         parameters="both"),
    made(vectors(4096 - 256, 0, 17), quant_rows="last rows", relu_rows="first rows",
         channels="17..64"),
    made(vectors(0, 0x10000 + 4032, 16), relu_rows="last rows", relu_segment="1"),
    made(vectors(0, 0, 16), relu_segment="0"),
    made(vectors(0, 64, 497), "scale alpha", quant_rows="whole", relu_rows="inside"),
    made(COPY, "scale alpha ignored flag flag_delay flag_blocks", delay=5),
    made(ignoring(Scalar("f32", 0)), ignored="no_convert 0"),
    made(ignoring(Scalar("bf16", 1)), ignored="no_convert number"),
    made(ignoring(FbPtr("f32", 8)), ignored="no_convert pointer"),
    made(op_of(QUANT_MODES["deqf16_vec"], "f16"), "ignored"),
    made(CHECK, flag="check, set"),
    made(replace(COPY, unit_flag=3), delay=16,
         flag="clear, late", flag_delay="16..255", flag_blocks="1"),
    made(replace(CHECK, m=8), flag_blocks="1"),
    made(replace(CHECK, src=448, m=2), flag_blocks="2"),
    made(replace(CHECK, m=256), flag_blocks="3..32"),
    made(replace(CHECK, n=17, src_stride=256, dst_stride=64), flag_blocks="33.."),
    made(replace(CHECK, m=0), "flag", delay=5),
    made(ALPHA, event=FixEvent.NAN, copied_nan="scalar_relu"),
    made(COPY, event=FixEvent.NAN, copied_nan="bits"),
    made(ALPHA, event=FixEvent.RELU_CHANGED, relu_changed="scalar_relu"),
    made(op_of(QUANT_MODES["no_convert"], "i32", pre_relu=PreRelu("normal_relu")),
         event=FixEvent.RELU_CHANGED, relu_changed="normal_relu of i32"),
]  # fmt: skip

NOSAT, KEEP = 1 << 48, 1 << 50
BITS = ((KEEP, "0, 1"), (NOSAT, "1, 0"), (NOSAT | KEEP, "1, 1"))
SUM = replace(COPY, atomic=Atomic("f32", "add"))
ADDED = replace(CONVERTED, atomic=Atomic("f16", "add"))
LARGEST = replace(CONVERTED, sat="nosat", atomic=Atomic("f16", "max"))
UPDATED = FixEvent.ATOMIC_NAN | FixEvent.ATOMIC_INF | FixEvent.ATOMIC_OVERFLOW
# Saturation and atomics from a clause or from CTRL.
UNDER_CTRL = [
    made(COPY, sat_source="CTRL 0, 0", set_ctrl="no", restored="no", atomic_source="none"),
    made(replace(COPY, sat="nosat"), sat_source="nosat"),
    made(replace(COPY, sat="preserve_nan"), sat_source="sat(preserve_nan)"),
    *[made(CONVERTED, writes=(SetCtrl(value),),
           sat_source=f"CTRL {under}", set_ctrl="yes", restored="yes")
      for value, under in BITS],
    *[made(replace(CONVERTED, sat="sat"), writes=(SetCtrl(value),),
           sat_source="sat", sat_under=under)
      for value, under in BITS],
    # A write of CTRL makes no legacy form of the op.
    made(COPY, writes=(SetCtrl(NOSAT),), op="mte_l0c_gm", nop="live"),
    made(SUM, atomic_source="clause"),
    made(COPY, writes=(SetAtomic("f32"), SetAtomic("max")),
         atomic_source="CTRL", atomic_ctrl="f32 max", atomic="f32 max",
         set_atomic_type="yes", set_atomic_op="yes"),
    made(COPY, "atomic_ctrl", writes=(SetAtomic("f32"), SetAtomic("min"), SetAtomic("none")),
         atomic_source="none", atomic_idle="2", set_atomic_none="yes"),
    made(COPY, writes=(SetCtrl(3 << 9),), atomic_idle="3"),
    made(SUM, writes=(SetAtomic("f32"),), atomic_under="same type"),
    made(SUM, writes=(SetAtomic("s8"),), atomic_under="other type"),
    made(SUM, writes=(SetCtrl(NOSAT),), atomic_under="off"),
    made(CONVERTED,
         writes=(SetCtrl(ATOMIC_TYPES["f16"] << 6 | ATOMIC_OPS["min"] << 9),),
         atomic_ctrl="f16 min"),
    # Bit 48 of updates of f16.
    made(ADDED, event=UPDATED, f16_nan="add c48 0", f16_inf="add c48 0", f16_overflow="add c48 0"),
    made(LARGEST, event=UPDATED, without="f16_overflow",
         f16_nan="max c48 1", f16_inf="max c48 1"),
    made(SUM, event=UPDATED, without="f16_nan"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_bins_of_an_op(row: Made) -> None:
    row.check(NAME)


@pytest.mark.parametrize("row", UNDER_CTRL)
def test_bins_of_an_op_under_ctrl(row: Made) -> None:
    row.check(NAME, "mte_l0c_gm")


@pytest.mark.parametrize(("value", "under"), BITS)
def test_clauses_are_crossed_with_ctrl(value: int, under: str) -> None:
    block = block_of(replace(CONVERTED, sat="sat"), (SetCtrl(value),))
    found = bins(cover(block, forms=("mte_l0c_gm",)).groups[NAME])
    assert found["sat_clause x sat_under"] == f"sat_clause=sat x sat_under={under}"


def test_every_type_and_op_of_ctrl() -> None:
    group = FunctionalCoverage(forms=("mte_l0c_gm",)).groups["mte_l0c_gm"].group
    assert len(group.by_name["atomic_ctrl"].labels) == len(ATOMIC_TYPES) * len(ATOMIC_OPS)


@pytest.mark.parametrize("ctrl", [7 << 6, 1 << 6 | 3 << 9])
def test_codes_of_ctrl_without_a_meaning(ctrl: int) -> None:
    rules = cover(block_of(COPY, (SetCtrl(ctrl),), rule=26), illegal=True).groups["rules"]
    assert hits(rules, "form x rule") == {"form=mte_l0c_gm x rule=FIX-L26": 1}


def test_clips_and_payloads_that_cannot_be() -> None:
    counts = FunctionalCoverage().groups[NAME]
    cells = labels(counts, "relu x clip x dst", counts.group.reachable["relu x clip x dst"])
    assert len(cells) == 5 * 10 + 4 * len(CLIP_TYPES)
    assert "relu=absent x clip=yes x dst=f16" not in cells
    assert "relu=no_relu x clip=yes x dst=bf16" not in cells
    assert [one.name for one in counts.group.by_name["ignored"].bins if one.unreachable] == [
        "f32_f16 pointer", "f32_bf16 pointer",
    ]  # fmt: skip


def result_of(mode: QuantMode, dst: str) -> str:
    return "hif8 hybrid" if "hybrid" in mode.narrow else RESULTS[DST_CODES[dst]]


@pytest.mark.long
@pytest.mark.parametrize("event", list(IMPOSSIBLE))
def test_events_by_destination(event: FixEvent) -> None:
    rows = [
        (mode, dst)
        for mode, dst in SECTION_4
        if result_of(mode, dst) not in IMPOSSIBLE[event]
        # Only a source stage that keeps infinities has one to pass on, or one without a clamp.
        and (event is not FixEvent.INF_BYPASSED or mode.stage == "x" or dst == "i32")
    ]
    name = f"met_{event.name}".lower()
    sat = "nosat" if event is FixEvent.OVERFLOW_SPECIAL else "preserve_nan"
    counts = counts_of([op_of(mode, dst, sat=sat) for mode, dst in rows], event)
    found = {point: set(bins) for point, bins in all_hits(counts).items() if point[:4] == "met_"}
    assert found == {name: {result_of(mode, dst) for mode, dst in rows}}
    assert counts.holes(name) == []


def test_every_event_has_a_bin() -> None:
    alphas = {FixEvent.ALPHA_NEGATIVE, FixEvent.ALPHA_MINUS_ZERO}
    assert set(IMPOSSIBLE) | set(ATOMIC_EVENTS) | alphas == set(FIX_EVENT_NOTES)


def test_an_impossible_event_is_reported() -> None:
    coverage = FunctionalCoverage()
    mode = QUANT_MODES["qf322hif8_pre_scalar"]
    coverage.sample(from_ops([op_of(mode, "hif8")]), None, np.array([FixEvent.TIE_DOWN]))
    coverage.flush()
    assert coverage.impossible == [f"{NAME}.met_tie_down: hif8"]


@pytest.mark.long
def test_events_against_saturation_and_stage() -> None:
    f16 = op_of(QUANT_MODES["deqf16_scalar"], "f16", sat="nosat")
    counts = counts_of([f16], FixEvent.NAN | FixEvent.OVERFLOW_SPECIAL)
    assert set(hits(counts, "float_sat x nan")) == {"float_sat=f16 nosat x nan=met"}
    assert len(hits(counts, "float_sat x special")) == 1
    assert not hits(counts, "float_sat x high")
    both = FixEvent.STAGE_CLAMPED | FixEvent.TIE_UP
    counts = counts_of([op_of(QUANT_MODES["qf162b8_pre_vec"], "ui8")], both)
    assert set(hits(counts, "stage x tie up")) == {"stage=f16 of f32 x tie_up=met"}
    assert set(hits(counts, "stage x clamp")) == {"stage=f16 of f32 x stage_clamped=met"}
    assert int(counts.group.reachable["stage x clamp"].sum()) == 5, "all but WIDE"
    assert int(counts.group.reachable["stage x inf"].sum()) == 2, (
        "f32 has an infinite s, WIDE a product"
    )


FLOATS = (
    FixEvent.ATOMIC_NAN, FixEvent.ATOMIC_INF, FixEvent.ATOMIC_ZEROS, FixEvent.ATOMIC_ROUNDED,
    FixEvent.ATOMIC_OVERFLOW,
)  # fmt: skip
ADDS = (FixEvent.ATOMIC_ROUNDED, FixEvent.ATOMIC_WRAPPED, FixEvent.ATOMIC_OVERFLOW)
CHOOSES = (FixEvent.ATOMIC_KEPT, FixEvent.ATOMIC_TAKEN)


def shown(event: FixEvent, kind: str, op: str) -> bool:
    """Returns whether an update of a type can show an event."""
    if (kind[0] == "s" and event in FLOATS) or (
        kind[0] != "s" and event is FixEvent.ATOMIC_WRAPPED
    ):
        return False
    return event not in (ADDS if op != "add" else CHOOSES)


@pytest.mark.long
@pytest.mark.parametrize("event", ATOMIC_EVENTS)
def test_atomic_events(event: FixEvent) -> None:
    ops = {}
    for kind, (dst, *_) in ATOMIC_DST.items():
        mode = next(mode for mode in QUANT_MODES.values() if dst in (mode.dst or ("f32",)))
        for op in ATOMIC_OPS:
            if shown(event, kind, op):
                ops[f"{kind} {op}"] = op_of(mode, dst, atomic=Atomic(kind, op))
    name = f"met_{event.name}".lower()
    counts = counts_of(list(ops.values()), event, "mte_l0c_gm")
    assert hits(counts, name) == dict.fromkeys(ops, 1)
    assert counts.holes(name) == []
    assert hits(counts_of([COPY], event, "mte_l0c_gm"), name) == {}


def records(address: int) -> MteL0cGm:
    """Returns an op with records at an address of fb."""
    return replace(COPY, pre_quant=PreQuant("qf322f32_pre_vec", FbPtr("f32", address)))


BOTH = replace(records(128), pre_relu=PreRelu("vector_relu", FbPtr("f32", 64)), unit_flag=3)
COLUMNS = MteL0cUb(0, 0, 4, 16, 16, 16, layout="nz2dn", k=1)


@pytest.mark.long
def test_order_of_ops() -> None:
    load = MteL1Fb(0, 0, 1, 1, 0, 0)
    vector = records(128)
    ops: list[Op] = [
        COPY, vector, BOTH, load, vector, replace(COPY, m=0), COLUMNS, COLUMNS
    ]  # fmt: skip
    found = all_hits(counts_of(ops))
    want: dict[str, dict[tuple[str, str], int]] = {
        "op": {("mte_l0c_gm", "mte_l0c_gm"): 3, ("mte_l0c_gm", "mte_l1_fb"): 1,
               ("mte_l0c_ub", "mte_l0c_gm"): 1, ("mte_l0c_ub", "mte_l0c_ub"): 1},
        "parameters": {("quant", "none"): 1, ("both", "quant"): 1, ("none", "none"): 1},
        "flags": {("none", "none"): 2, ("clear", "none"): 1},
        "rows": {("rows", "rows"): 2, ("columns", "columns"): 1},
    }  # fmt: skip
    for name, pairs in want.items():
        cells = {f"{name}={one} x {name}_before={before}": n for (one, before), n in pairs.items()}
        assert found[f"{name} x {name}_before"] == cells
    assert found["nops"] == {"live, live": 3, "live, NOP": 1, "NOP, live": 1}
    assert found["records"] == {"same": 1}
    assert found["loaded"] == {"quant": 1}


@pytest.mark.parametrize(("address", "want"), [(128, "same"), (0, "others")])
def test_records_of_the_op_before(address: int, want: str) -> None:
    assert hits(counts_of([records(128), records(address)]), "records") == {want: 1}


def test_order_restarts_in_every_block_and_after_illegal_ops() -> None:
    coverage = FunctionalCoverage()
    for _ in range(2):
        coverage.sample(from_ops([COPY]))
    coverage.sample(from_ops([COPY, replace(COPY, dst=1), COPY], expected_rule=[0, 16, 0]))
    coverage.flush()
    assert hits(coverage.groups[NAME], "op x op_before") == {}
    assert hits(coverage.groups[NAME], "op") == {"mte_l0c_gm": 4}


@pytest.mark.parametrize(
    ("forms", "pairs", "loaded"),
    [(("mte_l0c_l1",), 1, 0), (("mte_l0c_l1", "mte_l1_fb"), 2, 4), (FORMS, 12, 4)],
)
def test_scope(forms: tuple[str, ...], pairs: int, loaded: int) -> None:
    counts = FunctionalCoverage(forms=forms).groups[NAME]
    assert counts.wanted("op x op_before").sum() == pairs
    assert counts.wanted("loaded").sum() == loaded
    assert NAME not in FunctionalCoverage(forms=("mte_gm_ub",)).groups


def test_ops_of_other_forms_do_not_count() -> None:
    ops: list[Op] = [
        COPY,
        MteL0cL1(0, 0, 4, 16, 16, 16),
        MteL0cUb(0, 0, 4, 16, 16, 16, ub_split="split_m"),
    ]
    counts = cover(from_ops(ops), forms=("mte_l0c_l1", "mte_l0c_ub")).groups[NAME]
    assert hits(counts, "op") == {"mte_l0c_l1": 1, "mte_l0c_ub": 1}
