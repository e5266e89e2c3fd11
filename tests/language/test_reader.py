# SPDX-License-Identifier: Apache-2.0
"""Reading programs: types, spellings and places of ops, both forms, errors and wrong files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.isa.dtypes import Ptr, element_text
from tb.language.dialect.others import BlockQueryOp
from tb.language.dialect.sections import SectionOp
from tb.language.dialect.types import pointer_of, type_name
from tb.language.grammar.pointers import ELEMENTS, SPACES
from tb.language.place import Finding, ProgramError
from tb.language.reader import read, read_file, written
from tb.language.run.walk import trace
from tests.language.corpus.short import spelled
from tests.language.programs import BEFORE, LOAD_L1, generic, moves, names, only, program
from tests.wording import pattern, says

ELEMENT_TEXTS = [*ELEMENTS, "i24", "si7", "ui128", "vector<2xf32>", "vector<4x8xf8E5M2>"]
POINTERS: list[tuple[str, Ptr | None]] = [
    *((f"!pto.ptr<f16, {name}>", Ptr("f16", space)) for name, space in SPACES.items()),
    *(
        (f"!pto.ptr<f16, #pto.address_space<{name}>>", Ptr("f16", space))
        for name, space in SPACES.items()
    ),
    *(
        (f"!pto.ptr<{blank}{element}{blank}, ub>", Ptr(element, "ub"))
        for element in ELEMENT_TEXTS
        for blank in ("", " ")
    ),
    ("!pto.ptr<!pto.hif8, vec>", Ptr("hif8", "ub")),
    ("!pto.ptr< si8 ,acc >", Ptr("si8", "l0c")),
    ("!pto.ptr<bf16>", Ptr("bf16", "gm")),
    ("!tile", Ptr("f16", "ub")),
    ("memref<16xf32, #pto.address_space<gm>>", Ptr("f32", "gm")),
    ("memref<?x8xf16, #pto.address_space<vec>>", Ptr("f16", "ub")),
    ("memref<4xi8, #pto.address_space<scaling>>", Ptr("i8", "fb")),
    ("memref<4xbf16, strided<[1], offset: ?>, #pto.address_space<mat>>", Ptr("bf16", "l1")),
    *(
        (f"memref<4xf32, {number}>", Ptr("f32", space))
        for number, space in enumerate(("gm", "l1", "l0a", "l0b", "l0c", "ub", "bt", "fb"), 1)
    ),
    ("memref<4xf32>", Ptr("f32", "gm")),
    ("memref<4xf32, 9>", None),
    ("memref<4xf32, #pto.address_space<l2>>", None),
]
"""Types and what they point to: every name of a memory, elements of any width, vectors."""


@pytest.mark.parametrize(("text", "pointer"), POINTERS)
def test_types_of_pointers(text: str, pointer: Ptr | None) -> None:
    source = read(
        f"!tile = !pto.ptr<f16, ub>\nfunc.func @k(%a: {text}) {{\n  return\n}}\n", "x.pto"
    )
    (function,) = source.functions()
    kind = function.body.block.args[0].type
    assert pointer_of(kind) == pointer
    if pointer and text.startswith("!pto"):
        assert type_name(kind) == f"!pto.ptr<{element_text(pointer.dtype)}, {pointer.space}>"


BACK = "pto.mte_l0c_gm %l0c, %out, %n, %m, %n, %m, %n, %m, pre_relu(mode = {}) "
SPELLINGS = {
    **{
        f"{op}_flag": [
            f'pto.{op}_flag["PIPE_MTE2", "PIPE_FIX", "EVENT_ID3"]',
            f'pto.{op}_flag["PIPE_MTE2", "PIPE_FIXP", "EVENT_ID3"]',
            f"pto.{op}_flag [<PIPE_MTE2>, <PIPE_FIX>, <EVENT_ID3>]",
            f"pto.{op}_flag[PIPE_MTE2, PIPE_FIX, EVENT_ID3]",
            f"pto.{op}_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_FIX>, #pto.event<EVENT_ID3>]",
            f"pto.{op}_flag[PIPE_MTE2, PIPE_FIX, 3]",
            f'"pto.{op}_flag"() {{src_pipe = #pto.pipe<PIPE_MTE2>, dst_pipe = "PIPE_FIX", '
            "event_id = 3 : i32} : () -> ()",
        ]
        for op in ("set", "wait")
    },
    **{
        f"{name} {pipe}": [
            f"pto.{name} {form.format(pipe)}"
            for form in ('"{}"', "<{}>", "#pto.pipe<{}>", "{}", "[{}]")
        ]
        + [f'"pto.{name}"() <{{pipe = "{pipe}"}}> : () -> ()']
        for name in ("pipe_barrier", "barrier")
        for pipe in ("PIPE_V", "PIPE_ALL")
    },
    "addptr": [
        f"%q = pto.addptr %ub, %i : {types}"
        for types in (
            "F16_UB",
            "F16_UB -> F16_UB",
            "F16_UB, index",
            "F16_UB, index -> F16_UB",
        )
    ],
    "pre_relu": [
        BACK.format(word) + ": F32_L0C, F32_GM, I64x6"
        for word in ("normal_relu", "<normal_relu>", '"normal_relu"', "#pto.relu<normal_relu>")
    ],
}
"""The same op in different words; the first is in OTHERS or test_build, with what it means."""


@pytest.mark.parametrize("name", SPELLINGS)
def test_ops_are_written_in_many_ways(name: str) -> None:
    sources = [program(f"  {spelled(text)}") for text in SPELLINGS[name]]
    meant = [trace(source, static=True).steps or generic(source) for source in sources]
    assert all(one == meant[0] for one in meant)


def test_sections_keep_their_name_and_attributes() -> None:
    source = program(
        "  pto.section.vector attributes {pto.ub_sub = 1 : i32} {\n"
        f"    {LOAD_L1}\n  }}\n  pto.section.cube {{\n  }}"
    )
    sections = [op for op in source.module.walk() if isinstance(op, SectionOp)]
    assert [op.name for op in sections] == ["pto.section.vector", "pto.section.cube"]
    assert "pto.ub_sub" in sections[0].attributes


def test_one_block_runs() -> None:
    source = program(
        "  %a = pto.get_block_idx : i64\n  %b = pto.get_subblock_idx() : () -> i32\n"
        "  %c = pto.get_block_num -> index\n  %d = pto.get_subblock_num"
    )
    queries = [op for op in source.module.walk() if isinstance(op, BlockQueryOp)]
    assert [op.value for op in queries] == [0, 0, 1, 1]
    assert [type_name(op.results[0].type) for op in queries] == ["i64", "i32", "index", "i64"]


def test_the_place_of_an_op_is_that_of_its_name() -> None:
    source = program(
        "  // a comment, with.a.dot (and brackets]\n"
        "  %q = // another one\n    pto.castptr %n : i64 -> !pto.ptr<f16, ub>\n"
        "  %k, %o = scf.if %yes -> (i64, i64) { scf.yield %n, %m : i64, i64 } else {\n"
        "    scf.yield %m, %n : i64, i64 }\n"
        '  "pto.set_loop_size_outtoub"(%k, %o) : (i64, i64) -> ()'
    )
    places = {op.name: str(source.place(op)) for op in source.module.walk()}
    assert places["pto.castptr"] == "x.pto:4:5"
    assert places["scf.if"] == "x.pto:5:12"
    assert places["pto.set_loop_size_outtoub"] == "x.pto:7:3"
    assert places["func.func"] == "x.pto:1:1"
    # The module is not in the text.
    assert places["builtin.module"] == "x.pto:1:1"


def test_an_op_without_text_has_the_place_of_its_parent() -> None:
    source = program("  scf.for %k = %n to %m step %n : i64 {\n  }")
    (end,) = (op for op in source.module.walk() if op.name == "scf.yield")
    assert str(source.place(end)) == "x.pto:2:3"


LOCATIONS = """\
#loc = loc("k.cc":1:1)
module {
  func.func @k(%a: !pto.ptr<f16, gm> loc("x)":1:2), %n: i64 loc(#loc2)) {
    %c = arith.constant 64 : i64 loc(#loc1)
    %d = arith.addi %c, %c : i64 loc(callsite("f"("a.c":1:2) at "b.c":3:4))
    pto.barrier #pto.pipe<PIPE_ALL> loc(#loc)
    %e = pto.foo %c : i64 -> i32 loc(unknown)
    "pto.set_loop_size_outtoub"(%c, %d) : (i64, i64) -> () loc(fused["a", "b"])
    scf.for %i = %c to %c step %c : i64 {
    } loc(#loc1)
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("k.cc":2:3)
#loc2 = loc("k.cc":2:4)
"""


def test_locations_as_compilers_write_them_are_skipped() -> None:
    source = read(LOCATIONS, "x.pto")
    (move,) = moves(source)
    assert names(move.operands.values()) == ["c", "d"]
    with pytest.raises(ProgramError, match="'\\(' is never closed"):
        read(LOCATIONS.replace("unknown)", "unknown"), "x.pto")


def test_functions_in_the_order_of_the_text() -> None:
    source = read(
        'module attributes {pto.target = "a5"} {\n  func.func private @there(i64)\n'
        "  func.func @here(%a: i64 {pto.x}) attributes {pto.entry, pto.kind = #pto.kind<v>} {\n"
        "    func.call @there(%a) : (i64) -> ()\n    return\n  }\n}\n",
        "x.pto",
    )
    assert [function.sym_name.data for function in source.functions()] == ["there", "here"]


# --- errors; those of one text are cases of illegal/syntax.pto and illegal/generic.pto -----------

LOAD = "pto.mte_gm_ub %gm, %ub, %m, %n nburst(%n, %m, %m)"
LOAD_TYPES = spelled(": F16_GM, F16_UB, I64x5")
PAD_OF_TWO = f"{LOAD} pad(%p, %n) {LOAD_TYPES}, pad f16, i64"
WRONG_ORDER = spelled(
    "pto.mte_l0c_gm %l0c, %out, %n, %m, %n, %m, %n, %m, nz2nd, unit_flag(check_only) "
    ": F32_L0C, F32_GM, I64x6"
)
GENERIC = '"pto.mte_l0c_l1"(%l0c, %l1f, %n, %n, %n, %n)'
GENERIC_TYPES = spelled("(F32_L0C, F32_L1, I64x4) -> ()")
SIZES = "array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>"


def refused(body: str) -> list[Finding]:
    with pytest.raises(ProgramError) as caught:
        program(body)
    assert "the parser cannot go on" not in str(caught.value)
    return list(caught.value.findings)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("%n = arith.constant 1 : i64", "%n defined twice"),
        ("scf.for %k = ~%s to %s step %s {\n}", "written type index"),
        ("42", "expected op '}' found '42'"),
        ('"pto.mte_l0c_l1"(%l0c, %l1f)', "expected ':' types op"),
        ("func.call @kernel(%n) : (i64) -> ()", "@kernel takes 24 operands not 1"),
        ("}\n~}", "expected op found '}'"),
        (f"{LOAD} {{~pto.ub_sub = 1}} {LOAD_TYPES}", "'pto.ub_sub' unknown"),
        ("pto.section.vector attributes {~pto.ub_sb = 1} {\n}", "'pto.ub_sb' mean pto.ub_sub"),
    ],
)
def test_errors_have_the_position_of_the_wrong_part(text: str, facts: str) -> None:
    """The place of the error follows ``~``; without it, it is that of the op."""
    before = text.partition("~")[0] if "~" in text else ""
    first = refused(text.replace("~", ""))[0]
    assert says(first.message, facts), first.message
    place = 2 + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1
    assert (first.place.line, first.place.column, first.rule) == (*place, "")


def test_attributes_of_other_dialects_are_ignored() -> None:
    """Any name is legal with the prefix of another dialect, or on a foreign op."""
    op = only(f"  {LOAD} {{llvm.note = 1, pto.tile = 2, ub_sub = 1, pto_dv.gap = 3}} {LOAD_TYPES}")
    assert op.attributes["ub_sub"] == 1
    program('  "pto.vadd"() <{mask = 1}> {pto_dv_x.y = 1, lanes = 4} : () -> ()')
    program(
        f'  {GENERIC} <{{layout = "nz2nd", operandSegmentSizes = {SIZES}}}> '
        f"{{mlir.tag = 1, unit_flag = 2}} : {GENERIC_TYPES}"
    )


def test_attributes_and_forms_are_noted() -> None:
    """An attribute that is near to no name of an op is ignored, as by the compiler."""
    back = "  pto.mte_l0c_ub %l0c, %ub, %n, %m, %n, %m"
    types = spelled(": F32_L0C, F16_UB, I64x4")
    source = program(
        f"  {LOAD} {{fill = 1, transpose = true}} {LOAD_TYPES}\n  pto.mte_ub_gm %ub, %gm, %m, %n "
        f"nburst(%n, %m, %m) {spelled(': F16_UB, F16_GM, I64x5')}\n"
        f"{back}, %m {types}, i64\n{back}, split_m {types}\n{back}, dst_mode(split_m) {types}"
    )
    facts = [
        r"x.pto:2:\d+ note pto.mte_gm_ub attribute 'fill' ignored",
        r"x.pto:2:\d+ note pto.mte_gm_ub attribute 'transpose' ignored",
        r"x.pto:3:\d+ older form l2_cache_ctl",
        r"x.pto:4:\d+ older form dst_mode",
        r"x.pto:5:\d+ older form dst_mode split_m",
    ]
    for note, words in zip(source.notes, facts, strict=True):
        assert says(note, words)


@pytest.mark.parametrize("text", ["c.br ^bb1\n^bb1:\n", "pto.pipe_barrier\npto.barrier PIPE_ALL"])
def test_no_second_error_follows_from_the_first(text: str) -> None:
    assert len(refused(text)) == 1


def test_regions_that_are_never_closed() -> None:
    (finding,) = refused("pto.section.vector {")
    assert says(finding.message, "expected op '}' found end file")
    assert (finding.place.line, finding.place.column) == (5, 1)
    assert "nested too deeply" in refused("scf.if %yes {\n" * 3000)[-1].message


def test_later_ops_are_read_after_an_error() -> None:
    found = refused(
        f"  pto.mte_gm_ub %gm, %ub\n  {PAD_OF_TWO}\n  %x = arith.addi %n, %h : i64\n"
        f"  %y = arith.addi %x, %x : i64\n  {WRONG_ORDER}\n  pto.mte_ub_gm %ub, %gm, %x "
        f"nburst(%y, %none, %none) {spelled(': F16_UB, F16_GM, I64x4')}"
    )
    assert [finding.place.line for finding in found] == [2, 3, 4, 6, 7]
    assert [finding.rule for finding in found] == ["", "DMA-L02", "", "FIX-L01", ""]
    assert "%none" in found[-1].message


def test_broken_rules_may_be_collected_as_findings() -> None:
    found: list[Finding] = []
    text = f"{BEFORE}{PAD_OF_TWO}\n{LOAD_L1}\nreturn\n}}"
    source = read(text, "x.pto", found)
    assert [finding.rule for finding in found] == ["DMA-L02"]
    assert [move.name for op in source.module.walk() if (move := written(op))] == ["mte_gm_l1"]
    with pytest.raises(ProgramError) as caught:
        read(text.replace("return", "%x = a.b"), "x.pto", [])
    assert len(caught.value.findings) == 2


# --- files ---------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match=pattern("none.pto cannot read No such file")):
        read_file(tmp_path / "none.pto")
    with pytest.raises(PtoError, match=pattern("cannot read Is a directory")):
        read_file(tmp_path)


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        (b"", "1:1", "the file is empty"),
        (b" \n\n", "1:1", "the file is empty"),
        (b"// nothing but words\n", "1:1", "the file has no op"),
        (b"func\n ab\xffc\n", "2:4", "is not UTF-8"),
        (b"module {\n\0}", "2:1", "NUL character"),
        ("module {}".encode("utf-16"), "1:1", "is not UTF-8"),
        (b"\x7fELF\x02\x01\x01", "1:1", "NUL|expected an op"),
        (b"\xef\xbb\xbfmodule {", "1:9", "the end of the file"),
    ],
)
def test_a_file_that_is_no_program(tmp_path: Path, data: bytes, where: str, words: str) -> None:
    path = tmp_path / "x.pto"
    path.write_bytes(data)
    with pytest.raises(ProgramError, match=words) as caught:
        read_file(path)
    assert str(caught.value).startswith(f"{path}:{where}: error: ")


# --- Ops without data movement, printed by xdsl in the generic form, and read again

OTHERS = {
    "%q = pto.castptr %n : i64 -> !pto.ptr<f16, ub>": '"pto.castptr"(%n) : '
    "(i64) -> !pto.ptr<f16, ub>",
    "%q = pto.addptr %ub, %i : !pto.ptr<f16, ub>, index -> !pto.ptr<f16, ub>": '"pto.addptr"'
    "(%ub, %i) : (!pto.ptr<f16, ub>, index) -> !pto.ptr<f16, ub>",
    'pto.set_flag["PIPE_MTE2", "PIPE_FIX", "EVENT_ID3"]': '"pto.set_flag"() '
    '<{src_pipe = "PIPE_MTE2", dst_pipe = "PIPE_FIX", event_id = "EVENT_ID3"}> : () -> ()',
    'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"] {pto_dv.gap = 3 : i64}': '"pto.set_flag"() '
    '<{src_pipe = "PIPE_MTE2", dst_pipe = "PIPE_V", event_id = "EVENT_ID7"}> '
    "{pto_dv.gap = 3 : i64} : () -> ()",
    'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"]': '"pto.wait_flag"() '
    '<{src_pipe = "PIPE_MTE2", dst_pipe = "PIPE_V", event_id = "EVENT_ID7"}> : () -> ()',
    'pto.pipe_barrier "PIPE_ALL"': '"pto.pipe_barrier"() <{pipe = "PIPE_ALL"}> : () -> ()',
    'pto.barrier "PIPE_V"': '"pto.barrier"() <{pipe = "PIPE_V"}> : () -> ()',
    "%q = pto.get_subblock_num : i32": '"pto.get_subblock_num"() : () -> i32',
    "pto.section.vector attributes {pto.ub_sub = 1 : i32} {\n  }": '"pto.section.vector"() ({\n'
    "    }) {pto.ub_sub = 1 : i32} : () -> ()",
    '"pto_dv.foreign"() <{mnemonic = "pto.vadd"}> : () -> ()': '"pto_dv.foreign"() '
    '<{mnemonic = "pto.vadd"}> : () -> ()',
}
"""The pretty form of ops without data movement, and their generic form."""


@pytest.mark.parametrize(("text", "expected"), OTHERS.items())
def test_any_other_op_is_the_same_in_both_forms(text: str, expected: str) -> None:
    printed = generic(program(f"  {text}"))
    assert expected in printed
    assert generic(read(printed, "generic")) == printed
