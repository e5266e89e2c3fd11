# SPDX-License-Identifier: Apache-2.0
"""What the compiler refuses of a write-back is refused with the rule that says the same (DF-01
to DF-12 of spec/dialect.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.language.place import Finding
from tb.language.verify import verify_file

POINTERS = {
    **{f"c_{dtype}": (dtype, "l0c") for dtype in ("f32", "i32", "si32")},
    **{
        f"g_{dtype}": (dtype, "gm")
        for dtype in ("f32", "f16", "bf16", "i8", "ui16", "i4", "i32", "ui32", "f8E4M3FN")
    },
    "u": ("f32", "ub"),
    "l": ("f32", "l1"),
    "fb": ("f32", "fb"),
    "fb_i64": ("i64", "fb"),
}
TYPES = {
    **{name: f"!pto.ptr<{dtype}, {space}>" for name, (dtype, space) in POINTERS.items()},
    "zero": "i64",
    "one": "i64",
    "two": "i64",
    "m": "i64",
    "k": "i64",
    "s": "f32",
    "h": "f16",
    "short": "i16",
}
BEFORE = "\n".join(
    [
        "func.func @kernel(%k: i64) {",
        *(f"  %{x} = arith.constant {v} : i64" for x, v in
          {"zero": 0, "one": 1, "two": 2, "m": 16}.items()),
        "  %s = arith.constant 1.0 : f32",
        "  %h = arith.constant 1.0 : f16",
        "  %short = arith.constant 5 : i16",
        *(f"  %{name} = pto.castptr %zero : i64 -> {TYPES[name]}" for name in POINTERS),
        "",
    ]
)  # fmt: skip


def refused(folder: Path, op: str, operands: str, clauses: str = "", more: str = "") -> Finding:
    """Returns the only finding in a write-back; ``more`` are the operands of its clauses."""
    head = operands.split()
    kinds = ", ".join(TYPES[name] for name in (*head, *more.split()))
    values = ", ".join(f"%{name}" for name in head)
    text = f"  pto.{op} {values}{', ' if clauses else ''}{clauses} : {kinds}"
    path = folder / "x.pto"
    path.write_text(f"{BEFORE}{text}\n  return\n}}\n")
    (finding,) = verify_file(path).findings
    return finding


ROWS = "m m m m"
GM = f"{ROWS} zero zero"

REFUSED: dict[str, tuple[str, str, str, str]] = {
    "DF-01 destination": ("FIX-L02", "c_f32 u", "", ""),
    "DF-01 source": ("FIX-L02", "g_f32 g_f32", "", ""),
    "DF-02 no mode": ("FIX-L03", "c_f32 g_f16", "pre_quant(%s)", "s"),
    "DF-02 no payload": ("FIX-L03", "c_f32 g_f16", "pre_quant(mode = f32_f16)", ""),
    "DF-03 scalar of a vector mode": (
        "FIX-L03", "c_f32 g_f16", "pre_quant(%s, mode = qf322f16_pre_vec)", "s",
    ),
    "DF-03 pointer of a scalar mode": (
        "FIX-L03", "c_f32 g_bf16", "pre_quant(%fb, mode = f32_bf16)", "fb",
    ),
    "DF-03 pointee": (
        "FIX-L03", "c_f32 g_f16", "pre_quant(%fb_i64, mode = qf322f16_pre_vec)", "fb_i64",
    ),
    "DF-03 pointer into gm": (
        "FIX-L03", "c_f32 g_f16", "pre_quant(%g_f32, mode = qf322f16_pre_vec)", "g_f32",
    ),
    "DF-03 integer": (
        "FIX-L03", "c_f32 g_f16", "pre_quant(%one, mode = qf322f16_pre_scalar)", "one",
    ),
    "DF-04 i32 with a float mode": ("FIX-L04", "c_i32 g_f16", "pre_quant(%s, mode = f32_f16)", "s"),
    "DF-04 f32 with an integer mode": (
        "FIX-L04", "c_f32 g_i8", "pre_quant(%s, mode = req8_scalar)", "s",
    ),
    "DF-04 si32 with a mode": (
        "FIX-L02", "c_si32 g_i8", "pre_quant(%s, mode = req8_scalar)", "s",
    ),
    "DF-05 unsigned 16 bits": (
        "FIX-L04", "c_i32 g_ui16", "pre_quant(%s, mode = deqs16_scalar)", "s",
    ),
    "DF-05 f32": ("FIX-L04", "c_f32 g_f32", "pre_quant(%s, mode = f32_f16)", "s"),
    "DF-07 clip outside": (
        "FIX-L06", "c_f32 g_f16", "pre_quant(%s, mode = f32_f16), clip(%h)", "s h",
    ),
    "DF-07 destination": ("FIX-L06", "c_f32 g_f32", "pre_relu(mode = no_relu, clip = %h)", "h"),
    "DF-07 payload": (
        "FIX-L06", "c_f32 g_f16",
        "pre_quant(%s, mode = f32_f16), pre_relu(mode = normal_relu, clip = %short)", "s short",
    ),
    "DF-08 payload": ("FIX-L05", "c_f32 g_f32", "pre_relu(%s, mode = normal_relu)", "s"),
    "DF-08 no scalar": ("FIX-L05", "c_f32 g_f32", "pre_relu(mode = scalar_relu)", ""),
    "DF-08 no pointer": ("FIX-L05", "c_f32 g_f32", "pre_relu(%s, mode = vector_relu)", "s"),
    "DF-08 pwl": ("FIX-L05", "c_f32 g_f32", "pre_relu(mode = pwl)", ""),
    "DF-09 nz2dn without K": ("FIX-L08", "c_f32 g_f32", "nz2dn", ""),
    "DF-09 split of nz2nd": ("FIX-L08", "c_f32 g_f32", "nz2nd(%zero)", "zero"),
    "DF-09 loop3 alone": ("FIX-L10", "c_f32 g_f32", "loop3(%one, %m, %m)", "one m m"),
    "DF-09 loop3 of two": ("FIX-L01", "c_f32 g_f32", "nz2nd, loop3(%one, %m)", "one m"),
    "DF-09 nz2nz of f16": (
        "FIX-L09", "c_f32 g_f16", "pre_quant(%s, mode = f32_f16), nz2nz", "s",
    ),
    "DF-10 K of two": ("FIX-L20", "c_f32 g_f32", "unit_flag(check_only), nz2dn(%two)", "two"),
    "DF-10 K of an argument": ("FIX-L20", "c_f32 g_f32", "unit_flag(check_only), nz2dn(%k)", "k"),
    "DF-11 no op": ("FIX-L11", "c_f32 g_f32", "atomic(type = f32)", ""),
    "order": ("FIX-L01", "c_f32 g_f32", "sat, nz2nd", ""),
    "twice": ("FIX-L01", "c_f32 g_f32", "nosat, nosat", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_write_back_to_gm(name: str, tmp_path: Path) -> None:
    rule, pointers, clauses, more = REFUSED[name]
    finding = refused(tmp_path, "mte_l0c_gm", f"{pointers} {GM}", clauses, more)
    assert finding.rule == rule
    assert not finding.ours


@pytest.mark.parametrize(
    ("rule", "clauses", "more"),
    [
        ("FIX-L14", "dst_mode(%two)", "two"),
        ("FIX-L12", "dst_mode(split_m), pre_quant(%s, mode = no_convert)", "s"),
        ("FIX-L12", "dst_mode(split_m), pre_relu(mode = normal_relu)", ""),
        ("FIX-L12", "dst_mode(split_n), nz2dn(%one)", "one"),
        ("FIX-L12", "dst_mode(split_m), nz2nd, loop3(%one, %m, %m)", "one m m"),
        ("FIX-L21", "dst_mode(split_n)", ""),
        ("FIX-L11", "dst_mode(%one), atomic(type = f32, op = add)", "one"),
    ],
)
def test_a_write_back_to_ub(rule: str, clauses: str, more: str, tmp_path: Path) -> None:
    finding = refused(tmp_path, "mte_l0c_ub", f"c_f32 u {ROWS}", clauses, more)
    assert (finding.rule, finding.ours) == (rule, False)


def test_an_atomic_to_l1(tmp_path: Path) -> None:
    found = refused(tmp_path, "mte_l0c_l1", f"c_f32 l {ROWS}", "atomic(type = f32, op = add)")
    assert (found.rule, found.ours) == ("FIX-L11", False)


@pytest.mark.parametrize(
    ("rule", "pointers", "clauses", "more"),
    [
        ("FIX-L02", "c_si32 g_i32", "", ""),
        ("FIX-L04", "c_f32 g_f16", "", ""),
        ("FIX-L04", "c_f32 g_f8E4M3FN", "pre_quant(%s, mode = qf322hif8_pre_scalar)", "s"),
        ("FIX-L04", "c_i32 g_ui32", "pre_quant(%s, mode = deqs32_int_scalar)", "s"),
        ("FIX-L11", "c_f32 g_f32", "atomic(type = f16, op = add)", ""),
    ],
)
def test_what_only_the_specification_refuses(
    rule: str, pointers: str, clauses: str, more: str, tmp_path: Path
) -> None:
    finding = refused(tmp_path, "mte_l0c_gm", f"{pointers} {GM}", clauses, more)
    assert (finding.rule, finding.ours) == (rule, True)


def test_a_mode_that_only_the_model_has_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "x.pto"
    kinds = ", ".join(TYPES[x] for x in ("c_i32", "g_i4", *GM.split(), "s"))
    values = ", ".join(f"%{x}" for x in ("c_i32", "g_i4", *GM.split()))
    text = f"  pto.mte_l0c_gm {values}, pre_quant(%s, mode = req4_scalar) : {kinds}"
    path.write_text(f"{BEFORE}{text}\n  return\n}}\n")
    verified = verify_file(path)
    assert not verified.findings
    assert "the compiler refuses pre_quant req4_scalar" in verified.notes[0]
