# SPDX-License-Identifier: Apache-2.0
"""``pto-dv explain`` on text of the compiler: code that is not taken, vector cores, raw words."""

from __future__ import annotations

from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.explain.programs import NOT_TAKEN
from tb.isa.fix.table import QUANT_CODES
from tests.explain.records import record, records
from tests.explain.test_command import line_of
from tests.explain.test_command import program as short

LOAD = (
    "pto.mte_gm_ub {}, {}, %c0_i64, %c32_i64 nburst(%c1_i64, %c0_i64, %c0_i64) "
    ": I8_GM, I8_UB, I64x5"
)
COPY = (
    "pto.copy_gm_to_ubuf %g, %u_at_64, %c0_i64, %c1_i64, %c32_i64, %c0_i64, %c0_i64, %false, "
    "%c0_i64, %c0_i64, %c0_i64 : I8_GM, I8_UB, I64x5, i1, I64x3\n"
)
SIZE = "pto.set_loop_size_outtoub %c32_i64, %c1_i64 : I64x2\n"
USES = "%g0 = pto.addptr %g, %c0 : I8_GM -> I8_GM\n%n0 = arith.addi %n, %n : i64\n"
"""First uses of the arguments, in their order."""


def program(text: str) -> str:
    """Returns a program of the arguments %g and %n with a body in the short form of the corpus."""
    return short(USES + text)


INSIDE = f"""
  %q = pto.addptr %g, %c64 : I8_GM -> I8_GM
  {LOAD.format("%q", "%u_at_64")}
"""
"""An op whose address in GM is computed where it is not executed."""

UNTAKEN = {
    "a constant": f"scf.if %false {{{INSIDE}}}\n",
    "an argument": f"%z = arith.cmpi eq, %n, %c1_i64 : i64\nscf.if %z {{{INSIDE}}}\n",
    "the other way": f"%z = arith.cmpi eq, %n, %c0_i64 : i64\nscf.if %z {{}} else {{{INSIDE}}}\n",
    "a case": f"scf.index_switch %c0 case 1 {{{INSIDE} scf.yield }} default {{ scf.yield }}\n",
    "a loop": f"scf.for %i = %c0 to %c0 step %c1 {{{INSIDE}}}\n",
    "a loop of a condition": "scf.while (%x = %c0) : (index) -> index {\n"
    "  scf.condition(%false) %x : index\n} do {\n^bb0(%y: index):\n"
    f"{INSIDE}  scf.yield %y : index\n}}\n",
    "a call": "scf.if %false {\n  func.call @f(%g, %n) : (I8_GM, i64) -> ()\n}\n",
    "nested": f"scf.if %false {{ scf.if %false {{{INSIDE}}} }}\n",
}


@pytest.mark.parametrize("case", UNTAKEN)
def test_an_op_that_is_not_taken_is_explained(case: str) -> None:
    """With values from before it; it changes no count and no register of what is executed."""
    text = program(UNTAKEN[case].replace(INSIDE, INSIDE + SIZE) + COPY)
    if case == "a call":
        called = program(INSIDE).replace("@kernel", "@f").removeprefix("module {\n")
        text = text.removesuffix("}\n") + called
    found = records(text, args=("0=0x1000", "1=0"))
    if case == "a call":
        found.reverse()
    dead, live = found
    assert (dead["status"], dead["run"], dead["notes"]) == ("legal", "", [NOT_TAKEN])
    assert (dead["parts"][0]["src"], dead["parts"][0]["dst"]) == (0x1040, 64)
    assert (live["op"], live["notes"]) == ("copy_gm_to_ubuf", [])
    assert sum(part["bytes"] for part in live["parts"]) == 32


def test_what_is_not_known_of_code_that_is_not_taken() -> None:
    """Constants are left where the walk ends with an error; an unknown operand is named."""
    inside = INSIDE.replace("%c32_i64 nburst", "%n nburst")
    text = program(f"scf.if %false {{{inside}}}\n")
    line = line_of(text, "pto.mte_gm_ub")
    with pytest.raises(PtoError, match="--arg 1=VALUE"):
        records(text, lines=(line,))
    (found,) = records(text, lines=(line,), args=("1=32",))
    assert (found["status"], found["notes"][-1]) == ("legal", NOT_TAKEN)
    inside = """%bad = arith.divsi %c1_i64, %z : i64
  pto.mte_ub_ub %u, %v_at_4096, %c1_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : I8_UB, I8_UB, I64x4
"""
    before = "%z = arith.subi %n, %n : i64\n"
    (dead,) = records(program(f"{before}scf.if %false {{{inside}}}\n"), args=("1=0",))
    assert (dead["parts"][0]["dst"], dead["notes"][-1]) == (4096, NOT_TAKEN)
    with pytest.raises(PtoError, match=r"--run is 2"):
        records(program(UNTAKEN["a constant"]), run=2)


LOADS = LOAD.replace("(%c1_i64, %c0_i64, %c0_i64)", "(%k, %c32_i64, %c32_i64)")
CORES = program(f"""pto.section.vector {{
  %s = pto.get_subblock_idx
  %k = pto.get_subblock_num
  %w = arith.muli %s, %c4096_i64 : i64
  %a = arith.index_cast %w : i64 to index
  %p = pto.addptr %g, %a : I8_GM -> I8_GM
  scf.for %i = %c0 to %c2 step %c1 {{
    {LOAD.format("%p", "%u_at_64")}
  }}
  %z = arith.cmpi eq, %s, %c1_i64 : i64
  scf.if %z {{
    {LOADS.format("%g", "%u_at_64")}
  }}
  {SIZE}}}
""")


def test_ops_of_both_vector_cores() -> None:
    ops = records(CORES, args=("0=0x1000", "1=0"), run=2)
    shown = [
        (one["run"], [*one["memories"]], one["parts"][0]["src"], one["parts"][0]["dst"])
        for one in ops
    ]
    assert shown == [
        ("vector core 0, execution 2 of 2", ["ub0"], 0x1000, 64),
        ("vector core 1, execution 2 of 2", ["ub1"], 0x2000, 64),
        ("vector core 1", ["ub1"], 0x1000, 64),
    ]
    assert ops[2]["layout"][0] == "2 rows of 32 B"
    (write,) = records(CORES, lines=(line_of(CORES, "pto.set_loop_size"),))
    assert (write["op"], write["run"]) == ("set_loop_size_outtoub", "")


RAW = {
    "mte_l0c_gm 0, 0x1000, 18, 40, 32, 48, 1, 3, unit_flag(check_only), nz2nd": "f32",
    "mte_l0c_gm 64, 0, 18, 40, 32, 48, 0, 0, pre_quant(0.1, mode = qf322f16_pre_scalar), nz2nd, "
    "loop3(2, 16, 4096)": "f32,f16",
    "mte_l0c_gm 0, 0, 18, 40, 32, 48, 1, 3, pre_quant(0x80, mode = qs322bf16_pre_vec), "
    "pre_relu(0x10040, mode = vector_relu), nz2dn(2), loop3(2, 16, 4096)": "i32,bf16",
    "mte_l0c_l1 0, 0, 16, 32, 16, 320, pre_relu(0.25, mode = scalar_relu), nz2nz(0)": "f32",
    "mte_l0c_l1 0, 0, 18, 32, 32, 160, nz2nz(1)": "f32",
    "mte_l0c_ub 0, 0, 8, 32, 16, 32, dst_mode(1), pre_quant(0.0, mode = f32_bf16), "
    "pre_relu(mode = normal_relu), nz2nd": "f32,bf16",
    "mte_gm_l1_frac 64, 32, nd2nz, shape(6, 3), src_layout(6, 36), dst_group(2, 1, 1, 4), "
    "ctrl(3, true)": "f16",
    "mte_gm_l1_frac 0, 0, dn2nz, shape(8, 10), src_layout(32), dst_group(1, 1, 16, 16), "
    "ctrl(0, false)": "f32",
    "mte_l1_bt 0, 64, 4 nburst(2, 1, 4)": "f16,f32",
}
"""Ops, and their element types."""


def expansion(op: dict[str, Any]) -> str:
    """Returns the expansion of an op as text, without the names of its operands."""
    (form,) = (form for form in op["forms"] if form["title"] == "expansion of the compiler")
    lines = []
    for line in form["lines"]:
        name, operands = line.split(" ", 1)
        lines.append(f"{name} {', '.join(one.split()[-1] for one in operands.split(', '))}")
    return "; ".join(lines)


@pytest.mark.parametrize("text", RAW)
def test_an_expansion_is_read_back(text: str) -> None:
    """To the op, its words and its bytes."""
    first = record(text, element=RAW[text])
    again = record(expansion(first), element=RAW[text])
    assert again["op"].startswith("copy_")
    assert any("no run executes" in note for note in again["notes"])
    if text.startswith("mte_l0c"):
        assert {word["name"]: word["value"] for word in first["words"]} == {
            word["name"]: word["value"] for word in again["words"]
        }
    (form,) = again["forms"]
    named = record(form["lines"][0])
    for key in ("descriptor", "parts", "verdict", "pipe"):
        assert named[key] == again[key] == first[key], key


def test_raw_words_of_a_program() -> None:
    """Registers are those of program order; a word that is not known is said to be so."""
    body = """%xm = arith.constant 549756862720 : i64
%xt = arith.constant 4398046511120 : i64
%d = pto.castptr %g : I8_GM -> F32_GM
%e = arith.constant 8796093022224 : i64
pto.set_loop3_para %c1_i64, %n : I64x2
pto.set_fix_clip_relu %c1_i64 : i64
pto.copy_matrix_cc_to_gm %l, %d, %xm, %xt : F32_L0C, F32_GM, I64x2
scf.if %false {
  pto.copy_matrix_cc_to_gm %l, %d, %xm, %e : F32_L0C, F32_GM, I64x2
}
"""
    nz, dead = records(program(body))
    assert (nz["status"], nz["pipe"]) == ("legal", "PIPE_FIX")
    assert "nz2nz(%c1_i64)" in nz["forms"][0]["lines"][0]
    assert [word["name"] for word in nz["words"]] == ["CTRL", "Xm", "Xt"]
    assert NOT_TAKEN in dead["notes"]
    assert "the op uses LOOP3_PARA, and its value is not known" in dead["notes"][-1]
    _, known = records(program(body), args=("1=0",))
    assert "loop3(%c1_i64, %c0_i64, %c0_i64)" in known["forms"][0]["lines"][0]
    line = line_of(program(body), "pto.set_fix_clip")
    (unspecified,) = records(program(body), lines=(line,))
    assert (unspecified["words"], unspecified["status"]) == ([], "no bytes")
    line = line_of(program(body), "pto.set_loop3")
    (write,) = records(program(body), args=("1=1",), lines=(line,))
    assert [int(word["value"], 16) for word in write["words"]] == [1 << 40 | 1]


def test_registers_of_other_branches_and_cores_are_not_read() -> None:
    text = program(f"scf.if %false {{\n{SIZE}}}\nscf.if %false {{\n{COPY}}}\n")
    (dead,) = records(text)
    assert sum(part["bytes"] for part in dead["parts"]) == 32
    text = program(
        "pto.section.cube {\npto.set_mte2_nz_para %c1_i64 : i64\n}\npto.section.vector {\n"
        "pto.copy_gm_to_cbuf_multi_nd2nz %l_at_0, %d, %c0_i64, %c1_i64, %c0_i64, %c1_i64, %c1_i64, "
        "%c1_i64, %false : F16_GM, F16_L1, I64x6, i1\n}\n"
    )
    (other,) = records(text)
    assert "no pto.set_mte2_nz_para is before it" in other["notes"][-1]


XM = 48 << 32 | 18 << 16 | 32 << 4
NO_FORM = {
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0x40000000": "Xt enables a clip",
    "copy_matrix_cc_to_ub 0, 0, {xm}, 0x10000": "codes of the dual mode are not specified: it is 1",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0x4000080000000000": "Xt selects nz2nd and nz2dn",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0x4000000000000000": "no pto.set_channel_para is before it",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0x2800000000":
        "the op uses FPC, and no pto.set_fpc is before it",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0x10000000000": "no pto.set_relu_alpha is before it",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0x28000000000": "relu code 5 is none: 0..4",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0xc00000000": "no pto.set_quant_pre is before it",
    "set_quant_pre 0x400000000000; copy_matrix_cc_to_gm 0, 0, {xm}, 0xc00000000":
        "QUANT_PRE has an offset or a sign",
    "copy_matrix_cc_to_gm 0, 0, {xm}, 0xfc20000000": "quant code 63 is none of the table ptoas",
    "copy_gm_to_cbuf_multi_nd2nz 0, 0, 0, 100, 0, 20, 40, 0, false": "no pto.set_mte2_nz_para",
}  # fmt: skip


@pytest.mark.parametrize("text", NO_FORM)
def test_words_without_a_v06_op(text: str) -> None:
    found = record(text.format(xm=XM))
    assert found["status"] == "no bytes"
    assert NO_FORM[text] in found["notes"][-1]
    assert found["forms"] == []
    if "matrix" in text:
        assert {"Xm", "Xt"} <= {word["name"] for word in found["words"]}


def test_bits_in_no_field_are_told() -> None:
    (word,) = record("set_fpc 0x8000000000010102")["words"]
    assert [value for *_, value in (one.values() for one in word["fields"])] == [1, 1, 2]
    assert word["note"].endswith("bits 0x10000 are in no field")


@pytest.mark.long
@pytest.mark.parametrize("table", QUANT_CODES)
def test_quant_codes_of_both_tables(table: str) -> None:
    """docs/spec/fixpipe.md, sections 4 and 12."""
    for code, mode in QUANT_CODES[table].items():
        text = (
            f"set_quant_pre 0x3f800000; set_fpc 0; copy_matrix_cc_to_gm 0, 0, {XM}, "
            f"{1 << 43 | (code & 31) << 34 | (code >> 5) << 29 | 32}"
        )
        dst = mode.dst[0] if mode.dst else "f32"
        element = f"{mode.acc or 'f32'},{dst}"
        found = record(text, element=element, quant_codes=table)
        (line,) = found["forms"][0]["lines"]
        assert (f"mode = {mode.name})" in line) == bool(code), (code, line)
        assert found["status"] == "legal", found["verdict"]


WORKED_CODES = {
    "req8": (9, 8, 3, 2), "deqf16": (11, 10, 5, 4), "req4": (22, 21, 17, 18),
    "deqs16": (28, 27, 19, 20), "qf322b8_pre": (24, 23, 24, 23),
    "qf322hif8_pre": (3, 2, 25, 28), "qf322fp8_pre": (13, 12, 26, 37),
    "qf322f32_pre": (15, 14, 27, 38), "qf322f16_pre": (32, 31, 32, 33),
    "qf322bf16_pre": (34, 33, 34, 36), "qs322bf16_pre": (36, 35, 35, 39),
}  # fmt: skip
"""Codes with a scalar and with parameters per channel: ptoas, then spec."""


def test_the_worked_table_of_quant_codes() -> None:
    assert len(QUANT_CODES["spec"]) == 3 + 2 * len(WORKED_CODES)
    for name, codes in WORKED_CODES.items():
        tables = ("ptoas", "ptoas", "spec", "spec")
        kinds = ("scalar", "vec", "scalar", "vec")
        for table, kind, code in zip(tables, kinds, codes, strict=True):
            assert QUANT_CODES[table][code].name == f"{name}_{kind}"
    for code, name in ((0, "no_convert"), (1, "f32_f16"), (16, "f32_bf16")):
        assert {QUANT_CODES[table][code].name for table in QUANT_CODES} == {name}
