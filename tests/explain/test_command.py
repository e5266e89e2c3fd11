# SPDX-License-Identifier: Apache-2.0
"""``pto-dv explain``: ops as text and as programs, sections, questions, bad input."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.explain.command import Options, explain_command
from tb.explain.programs import NOT_TAKEN
from tb.isa.ops import LEGACY_FORMS, OPS
from tests.explain.records import output, record, records
from tests.language.corpus.short import complete

LOAD = "mte_gm_ub 0x1000, 0, 0, 10 nburst(2, 16, 64) pad(1.0)"
EVERY_OP = {
    "mte_gm_ub": LOAD,
    "mte_ub_gm": "mte_ub_gm 0, 0x1000, 96 nburst(4, 128, 512) loop(2, 512, 4096)",
    "mte_gm_l1": "mte_gm_l1 0x1000, 0, 20 nburst(3, 100, 32)",
    "mte_l1_ub": "mte_l1_ub 0, 0, 2 nburst(3, 1, 2) loop(2, 1024, 512)",
    "mte_ub_ub": "mte_ub_ub 0, 4096, 2 nburst(3, 1, 0)",
    "mte_ub_l1": "mte_ub_l1 0, 0, 2 nburst(3, 1, 0)",
    "mte_l1_bt": "mte_l1_bt 0, 0, 4 nburst(2, 1, 4) ",
    "mte_l1_fb": "mte_l1_fb 0, 0x10040, 1 nburst(2, 0, 1)",
    "mte_gm_l1_frac": "mte_gm_l1_frac 0, 0, nd2nz, shape(40, 50), src_layout(100), "
    "dst_group(1, 1, 48, 0), ctrl(0, false)",
    "mte_l1_l0a": "mte_l1_l0a 0, 0, 2, 2, 2, 3, 5, 3",
    "mte_l1_l0b": "mte_l1_l0b 0, 0, 32, 16, 0, 0 {transpose = true}",
    "mte_l1_l0a_mx": "mte_l1_l0a_mx 0, 1024, 16, 64, 0, 0",
    "mte_l1_l0b_mx": "mte_l1_l0b_mx 0, 0, 1, 1, 2, 2, 4, 3",
    "raw_fill_l1": "raw_fill_l1 0, 32, 0x1234, 3, 1, 2 {fill_word_bits = 16 : i64}",
    "mte_l0c_gm": "mte_l0c_gm 0, 0, 18, 40, 32, 48, 0, 0, nz2nd",
    "mte_l0c_l1": "mte_l0c_l1 0, 0, 18, 32, 32, 320, nz2nz(0)",
    "mte_l0c_ub": "mte_l0c_ub 0, 0, 8, 32, 16, 32, dst_mode(split_m)",
    "copy_gm_to_ubuf": "set_loop_size_outtoub 2, 1; set_loop1_stride_outtoub 512, 256\n"
    "set_mov_pad_val 0x5A; copy_gm_to_ubuf 0, 0, 0, 2, 10, 0, 0, true, 0, 16, 64",
    "copy_ubuf_to_gm": "copy_ubuf_to_gm 0, 0, 0, 2, 10, 0, 16, 64",
    "copy_ubuf_to_ubuf": "copy_ubuf_to_ubuf 0, 4096, 0, 2, 64, 64, 96",
}
"""Every op with literals and without types; legal in both profiles."""

ELEMENTS = {"mte_gm_ub": "f16", "mte_l1_bt": "bf16,f32", "mte_l0c_gm": "f32"}


def test_every_op_and_legacy_form_is_here() -> None:
    assert set(EVERY_OP) == {*OPS, *LEGACY_FORMS}


@pytest.mark.parametrize("profile", ["seed", "a5"])
@pytest.mark.parametrize("name", EVERY_OP)
def test_every_op_is_explained_in_both_profiles(name: str, profile: str, tmp_path: Path) -> None:
    element = ELEMENTS.get(name, "")
    found = record(EVERY_OP[name], profile=profile, element=element)
    assert (found["op"], found["status"], found["profile"]) == (name, "legal", profile)
    assert found["parts"]
    assert all(part["bytes"] > 0 for part in found["parts"])
    assert found["forms"], "every op has a register form or a v0.6 form"
    spec = OPS[LEGACY_FORMS.get(name, name)]
    fields = {one["name"]: one for one in found["descriptor"]["fields"]}
    assert set(fields) == {"opcode", *spec.layout}
    # The packed words have the values at the bits that are told.
    number = sum(int(w, 16) << 32 * k for k, w in enumerate(found["descriptor"]["words"]))
    for one in fields.values():
        width = one["msb"] - one["lsb"] + 1
        assert number >> one["lsb"] & ((1 << width) - 1) == one["value"], one
    rules = {rule["rule"]: rule for rule in found["rules"]}
    kinds = {"S", "D"} if name == "raw_fill_l1" else {"S", "D", "T"}
    assert {rule["kind"] for rule in rules.values()} == kinds
    assert {rule["state"] for rule in rules.values()} == {"holds"}
    wanted = set() if name == "copy_ubuf_to_ubuf" else set(spec.rule_names)
    assert wanted <= set(rules)
    for rule in rules.values():
        file, section = re.fullmatch(r"docs/spec/(\w+)\.md, section (\d+)", rule["source"]).groups()  # type: ignore[union-attr]
        assert file in ("dma", "nd2nz", "bias_fb", "fixpipe", "l0_loads")
        assert int(section) in (5, 6, 9, 10)
    text = output(EVERY_OP[name], profile=profile, element=element)
    for part in ("verdict: legal", "rules", "bytes", "registers", "descriptor", "profiles"):
        assert part in text
    picture = tmp_path / "x.svg"
    explain_command(EVERY_OP[name], Options(profile=profile, element=element, picture=str(picture)))
    rects = ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}rect")
    assert any(len(rect) for rect in rects), "a cell has a title"


# The loops of copy_gm_to_ubuf are in registers, which the line does not have.
@pytest.mark.parametrize("name", [name for name in EVERY_OP if name != "copy_gm_to_ubuf"])
def test_the_text_of_an_explanation_can_be_explained(name: str) -> None:
    """The line that is printed has the names of reports, which are read back."""
    first = record(EVERY_OP[name], element=ELEMENTS.get(name, ""))
    again = record(first["text"])
    assert again == first


def test_the_legacy_form_writes_the_same_bytes() -> None:
    for text in (
        "mte_gm_ub 0x1000, 0, 0, 10 nburst(2, 16, 64) loop(2, 512, 256) loop(3, 7, 1024) pad(1.0)",
        EVERY_OP["mte_ub_gm"],
        EVERY_OP["mte_ub_ub"],
    ):
        element = "f16" if "pad" in text else ""
        first = record(text, element=element)
        lines = next(form["lines"] for form in first["forms"] if form["title"] == "legacy")
        again = record("\n".join(lines))
        assert again["memories"] == first["memories"]
        (new,) = next(form["lines"] for form in again["forms"] if form["title"] == "v0.6")
        assert record(new)["memories"] == first["memories"]


def test_the_differences_of_the_profiles() -> None:
    """The small examples of docs/spec/profiles.md."""
    found = record("mte_gm_ub 0, 0, 0, 12 nburst(2, 16, 32)", element="f32")
    whole, tail = found["profiles"]
    assert (whole["what"], whole["there"], tail["what"]) == ("profile", "a5", "tail")
    assert [(one["start"], one["stop"]) for one in tail["changes"]] == [(12, 32), (44, 64)]
    assert {one["here"] for one in tail["changes"]} == {"untouched"}
    text = "mte_gm_ub 0, 0, 0, 12 nburst(2, 16, 32) loop(2, 64, 0)"
    found = record(text, element="f32", profile="tail = fill")
    assert found["status"] == "undefined", "its bytes are compared all the same"
    assert [(one["bytes_here"], one["bytes_there"]) for one in found["profiles"]] == [(128, 48)] * 2
    found = record("mte_gm_ub 0, 0, 0, 5 nburst(3, 8, 5)")
    assert found["status"] == "error"
    assert {one["what"] for one in found["profiles"]} == {"profile", "compact"}
    assert found["profiles"][0]["rules_here"] == ["DMA-L07"]
    assert found["profiles"][0]["bytes_there"] == 32
    found = record("mte_gm_ub 0, 0, 0, 65536 nburst(1, 0, 0)")
    assert {one["what"] for one in found["profiles"]} == {"profile", "len_bits"}
    relu = "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, pre_quant(0.5, mode = qf322f32_pre_scalar), "
    found = record(f"{relu}pre_relu(0.25, mode = scalar_relu)")
    assert [one["what"] for one in found["profiles"]] == ["profile", "alpha"]
    found = record(relu.rstrip(", "))
    assert found["profiles"] == []
    text = "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, pre_quant(0.5, mode = deqs16_scalar)"
    found = record(text, element="i32,i16")
    assert found["profiles"][-1]["rules_there"] == ["FIX-L04"]
    assert record(text, element="i32,i16", profile="a5")["status"] == "refused"


def test_questions_about_bytes() -> None:
    asked = ("ub:8..0x10", "gm 0x1008..0x1012", "l1:0")
    answers = record(LOAD, element="f16", bytes=asked)["answers"]
    written = [
        (one["kind"], one["start"], one["size"], one["from"]) for one in answers[0]["written"]
    ]
    assert written == [("data", 8, 2, [[0x1008, 2]]), ("pad", 10, 7, [])]
    read = [(one["to"], one["start"], one["size"], one["from"]) for one in answers[1]["read"]]
    assert read == [("ub0", 8, 2, [[0x1008, 2]]), ("ub0", 64, 3, [[0x1010, 3]])]
    assert answers[1]["unread"] == [[0x100A, 0x100F]]
    assert answers[2]["written"] == answers[2]["read"] == []
    text = output(LOAD, element="f16", bytes=asked, show="bytes")
    assert "0x00008..0x00009  data       GM 0x0000001008..0x0000001009" in text
    assert "0x000000100a..0x000000100f  not read" in text
    assert "touches no byte" in text


def test_parameters_in_fb_are_read() -> None:
    op = "mte_l0c_gm 0, 0, 4, 40, 16, 40, 0, 0, pre_quant(0x80, mode = qf322b8_pre_vec)"
    (answer,) = record(op, element="f32,i8", bytes=("fb:0x88..0x97",))["answers"]
    assert answer["parameters"] == ["0x00088..0x00097: pre_quant record of channel n, n = 1..2"]


def test_bytes_of_an_illegal_op_are_not_told() -> None:
    found = record("mte_gm_ub 0, 16, 0, 10 nburst(2, 16, 20)")
    broken = {rule["rule"]: rule for rule in found["rules"] if rule["state"] == "broken"}
    assert set(broken) == {"DMA-L06", "DMA-L07"}
    assert found["verdict"].startswith("DMA-L06")
    assert broken["DMA-L07"]["legal"] == "a multiple of 32"
    assert found["parts"] == []
    assert record("mte_gm_ub 0, 0, 0, 0 nburst(2, 16, 32)")["status"] == "NOP"
    overlap = record("mte_ub_ub 0, 32, 2 nburst(1, 0, 0)")
    assert (overlap["status"], len(overlap["parts"])) == ("undefined", 1)


def test_ctrl_decides_what_an_op_leaves_out() -> None:
    op = "set_atomic_f32; set_atomic_max; mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0"
    found = record(op)
    fields = {one["name"]: one["value"] for one in found["descriptor"]["fields"]}
    assert (fields["atomic_type"], fields["atomic_op"]) == (1, 1)
    assert "atomic max as f32" in found["parts"][0]["how"]


@pytest.mark.long
def test_very_large_ops_are_explained_at_once() -> None:
    op = "mte_ub_gm 0, 0, 32 nburst(4000, 32, 64) loop(2000000, 0, 256000)"
    found = record(op, bytes=("gm:0x1000000..0x1000100",))
    assert found["status"] == "legal"
    assert found["parts"][0]["bytes"] == 32 * 4000 * 2_000_000
    assert not found["memories"]["gm"]["complete"]
    assert sum(one["size"] for one in found["answers"][0]["written"]) == 129


def program(body: str) -> str:
    """Returns a program of a body in the short form of the corpus."""
    return complete("kernel", body)[0]


def line_of(text: str, what: str) -> int:
    return text[: text.index(what)].count("\n") + 1


PROGRAM = program("""scf.for %i = %c0 to %c3 step %c1 {
  %k = arith.index_cast %i : index to i64
  %a = arith.muli %k, %c32_i64 : i64
  %p = pto.castptr %a : i64 -> F16_UB
  pto.mte_gm_ub %g, %p, %c0_i64, %c32_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : F16_GM, F16_UB, I64x5
}
pto.mte_ub_gm %u, %g, %n nburst(%c1_i64, %c0_i64, %c0_i64) : F16_UB, F16_GM, I64x4
""")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "x.pto"
    path.write_text(PROGRAM)
    return str(path)


def test_the_ops_of_a_program() -> None:
    args = ("0=0x1000", "1=64")
    ops = records(PROGRAM, args=args)
    assert [one["op"] for one in ops] == ["mte_gm_ub", "mte_ub_gm"]
    assert ops[0]["run"] == "execution 1 of 3"
    assert record(PROGRAM, args=args, ops=(2,))["parts"][0]["dst"] == 0x1000
    again = record(PROGRAM, args=args, lines=(line_of(PROGRAM, "pto.mte_gm_ub"),), run=3)
    assert (again["run"], again["parts"][0]["dst"]) == ("execution 3 of 3", 64)
    assumed = record(PROGRAM, args=("1=64",), ops=(2,))
    assert "%g is not given" in assumed["notes"][0]


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((ROOT / "examples/programs").glob("*.pto")), ids=str)
def test_programs_of_the_examples(path: Path) -> None:
    if path.stem == "double_buffer":
        with pytest.raises(PtoError, match="--arg 2=VALUE"):
            explain_command(str(path), Options(json="-"))
        return
    for op in records(str(path)):
        assert op["status"] in ("legal", "NOP", "not known"), op["text"]


FILE = "PROGRAM"
BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "no op": ("hello", {}, "'hello' is not an op"),
    "empty": ("", {}, "is not an op"),
    "an unknown op": ("pto.mte_gm_xx 1, 2", {}, "mte_gm_xx"),
    "a name without a value": ("mte_ub_ub %a, %b, %n nburst(1, 0, 0)", {}, "%n has no value"),
    "a value of no name": (EVERY_OP["mte_l1_ub"], {"values": ("x=1",)}, "the text has no %x"),
    "no value": (LOAD, {"values": ("x",)}, "--value is 'x'"),
    "types": ("mte_ub_ub 0, 32, 1 nburst(1, 0, 0) : !pto.ptr<i8, ub>", {}, "6 operands"),
    "element": (LOAD, {"element": "f17"}, "element type 'f17' is unknown"),
    "elements": (LOAD, {"element": "f16,f16,f16"}, "3 element types"),
    "a clause": ("mte_ub_ub 0, 32, 1 nburst(1, 0)", {}, "DMA-L01"),
    "a value": ("mte_ub_ub 0, 32, -1 nburst(1, 0, 0)", {}, "DMA-L05: len_burst"),
    "a memory": (LOAD, {"bytes": ("xx:0..3",)}, "memory 'xx' is unknown"),
    "a shape": (LOAD, {"bytes": ("ub",)}, "'ub' names no bytes"),
    "a range": (LOAD, {"bytes": ("ub:8..3",)}, "bytes 0x8..0x3 of ub"),
    "outside": (LOAD, {"bytes": ("bt:4096",)}, "bytes 0x1000..0x1000 of bt"),
    "much": (LOAD, {"bytes": ("gm:0..0x10000000",)}, "268435457 bytes at once"),
    "a section": (LOAD, {"show": "bits"}, "section 'bits' is unknown"),
    "no section": (LOAD, {"show": ","}, "--show is ','"),
    "rows": (LOAD, {"rows": 0}, "--rows is 0"),
    "runs": (LOAD, {"run": 0}, "--run is 0"),
    "a run of a text": (LOAD, {"run": 2}, "--run goes with a program"),
    "a profile": (LOAD, {"profile": "b6"}, "profile 'b6' is unknown"),
    "a unit": (LOAD, {"ubuf_to_ubuf": "bits"}, "--ubuf-to-ubuf is 'bits'"),
    "a picture": (LOAD, {"picture": "x.png"}, "x.png is not a picture"),
    "a line of a text": (LOAD, {"lines": (3,)}, "--line goes with a program"),
    "a file": ("missing.pto", {}, "missing.pto cannot be read"),
    "a null byte": ("mte_ub_ub\0", {}, ""),
    "no such line": (FILE, {"lines": (2,)}, "no op that moves data begins in line 2"),
    "no such op": (FILE, {"ops": (3,)}, "there is no op 3"),
    "a run of a file": (FILE, {"run": 4}, "--run is 4"),
    "an argument": (FILE, {"args": ("x=1",)}, "'x' is not an integer"),
    "no such argument": (FILE, {"args": ("7=1",)}, "argument 7"),
    "no such function": (FILE, {"function": "f"}, "@f"),
    "a value of a file": (FILE, {"values": ("a=1",)}, "--value goes with an op as text"),
    "a picture of two": (FILE, {"picture": "x.svg"}, "a picture of 2 ops"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str, file: str) -> None:
    what, options, message = BAD[case]
    if what == FILE:
        what, options = file, {"args": ("1=64",), **options}
    with pytest.raises(PtoError) as error:
        explain_command(what, Options(**options))
    first, *rest = str(error.value).splitlines()
    assert message in str(error.value)
    assert error.value.exit_code == 2
    assert len(rest) <= 3
    assert (
        error.value.legal
        or error.value.remedy
        or "goes with" in first
        or rest
        or case in ("a null byte", "no such argument")
    )


MORE = program("""pto.set_loop_size_outtoub %c2_i64, %c1_i64 : I64x2
pto.mte_gm_ub %g, %b_at_20, %c0_i64, %c6_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : F16_GM, F16_UB, I64x5
pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
pto.mte_gm_ub %g, %u, %c0_i64, %c6_i64 nburst(%c2_i64, %c6_i64, %c6_i64) : F16_GM, F16_UB, I64x5
scf.if %false {
  pto.mte_ub_gm %u, %g, %c6_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : F16_UB, F16_GM, I64x4
}
""")  # noqa: E501


def test_illegal_and_other_ops_of_a_program() -> None:
    """An illegal op, one that a profile alone permits, ops without bytes, one in a dead branch."""
    first = line_of(MORE, "pto.set_loop_size")
    wrong = record(MORE, lines=(first + 1,))
    assert (wrong["status"], wrong["verdict"].partition(":")[0]) == ("error", "DMA-L06")
    narrow = record(MORE, ops=(2,))
    assert (narrow["status"], narrow["profiles"][0]["rules_there"]) == ("error", [])
    assert record(MORE, ops=(2,), profile="a5")["status"] == "legal"
    register = record(MORE, lines=(first,))
    assert int(register["words"][0]["value"], 16) == 1 << 21 | 2
    assert "orders two pipes" in record(MORE, lines=(first + 3,))["verdict"]
    dead = record(MORE, ops=(3,))
    assert (dead["status"], dead["run"], dead["notes"][-1]) == ("legal", "", NOT_TAKEN)
    assert len(records(MORE)) == 3


def test_no_file_is_written_where_something_is_wrong(file: str, tmp_path: Path) -> None:
    """Bad options, a target that is a folder, a file that is not text."""
    binary = tmp_path / "b.pto"
    binary.write_bytes(bytes(range(256)))
    before = sorted(tmp_path.iterdir())
    target = str(tmp_path / "y.json")
    for what, options in (
        (str(binary), {"json": target}),
        (file, {"json": target, "args": ("1=64",), "bytes": ("ub:0x50000",)}),
        (file, {"json": target, "ops": (2,), "picture": str(tmp_path / "y.svg")}),
        (file, {"json": str(tmp_path), "args": ("1=64",)}),
        (str(tmp_path), {"json": target}),
    ):
        with pytest.raises(PtoError) as error:
            explain_command(what, Options(**options))
        assert error.value.exit_code == 2
        assert sorted(tmp_path.iterdir()) == before


def test_an_op_with_unknown_operands_names_the_argument(file: str) -> None:
    with pytest.raises(PtoError, match="--arg 1=VALUE"):
        explain_command(file, Options(ops=(2,)))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(EVERY_OP["mte_ub_ub"]))
    assert record("-")["op"] == "mte_ub_ub"


def test_a_page_has_every_op(file: str, tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    explain_command(file, Options(args=("1=64",), picture=str(page)))
    text = page.read_text()
    assert text.count("<svg") == 2
    assert len(set(re.findall(r'id="(\w+)"', text))) == 4


ORDERED = program("""pto.get_buf "PIPE_MTE3", 3, 0
pto.mte_ub_gm %u, %g, %c20_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : F16_UB, F16_GM, I64x4
pto.rls_buf "PIPE_MTE3", 3, 0
pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %c1]
pto.sync.set <PIPE_MTE2>, 3
pto.fence.barrier_all
pto.section.cube {
  scf.for %i = %c0 to %c2 step %c1 {
    %k = arith.index_cast %i : index to i64
    pto.mad_acc %a, %b, %c, %c20_i64, %c20_i64, %k : F16_L0A, F16_L0B, F32_L0C, I64x3
  }
  pto.set_intra_block <PIPE_FIX>, 17
  pto.mad %d_at_20, %b, %c, %c1_i64, %c1_i64, %c1_i64 : F16_L0A, F16_L0B, F32_L0C, I64x3
  pto.mad %a, %b, %c, %c1_i64, %c1_i64, %n : F16_L0A, F16_L0B, F32_L0C, I64x3
}
""")


def test_every_op_of_a_line_has_its_own_name() -> None:
    """Buffers, computed flags, signals and fences, which are steps of a run or none."""
    for number, line in enumerate(ORDERED.splitlines(), 1):
        op = re.match(r"\s*(?:%\w+ = )?pto\.([a-z_0-9.]+)", line)
        if op is None or op.group(1) in ("section.cube", "mte_ub_gm", "mad", "mad_acc"):
            continue
        found = record(ORDERED, lines=(number,))
        assert (found["op"], found["status"]) == (op.group(1), "no bytes")
        assert found["verdict"].startswith(f"pto.{op.group(1)} ")


def test_a_product_of_a_program_has_its_bytes_or_its_rule() -> None:
    """20 x 20 elements are 2 x 2 fractals in L0C; of k = 1 a column of 2 fractals at each side."""
    line = line_of(ORDERED, "pto.mad_acc")
    first = record(ORDERED, lines=(line,))
    assert first["notes"] == ["a NOP: an extent is 0, no byte is touched"]
    second = record(ORDERED, lines=(line,), run=2)
    assert (second["run"], second["pipe"]) == ("execution 2 of 2", "PIPE_M")
    assert second["notes"] == [
        "reads lhs: L0A 0x0..0x3ff",
        "reads rhs: L0B 0x0..0x3ff",
        "reads and writes dst: L0C 0x0..0xfff",
    ]
    (wrong,) = record(ORDERED, lines=(line + 3,))["notes"]
    assert wrong.startswith("MD-L03: left address is 0x14; legal: a multiple of 512")
    assert record(ORDERED, lines=(line + 4,))["notes"] == []


@pytest.mark.long
def test_many_writes_of_the_same_bytes_are_explained() -> None:
    """More of them than are listed: the map is given by its parts alone."""
    text = "mte_ub_gm 0, 0, 8 nburst(1, 0, 0) loop(100000, 0, 0)"
    shown = output(text, show="bytes")
    assert "loop0 0..99999, 8 B each: UB0 0x0 -> GM 0x0" in shown
    assert "... 800000 more bytes" in shown
    assert record(text)["memories"]["gm"] == {"ranges": [], "complete": False}
