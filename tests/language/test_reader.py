# SPDX-License-Identifier: Apache-2.0
"""Reading programs: normal form and place of each op, and files that are errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr

from tb.common.errors import PtoError
from tb.isa.dtypes import Ptr, element_text
from tb.isa.grammar import LOOP3, ROWS
from tb.isa.pipes import Pipe
from tb.language.dialect.others import BlockQueryOp
from tb.language.dialect.pointers import AddPtrOp, CastPtrOp
from tb.language.dialect.sections import SectionOp
from tb.language.dialect.sync import BarrierOp, FlagOp
from tb.language.dialect.types import ELEMENTS, SPACES, PtrType, pointer_of, type_name
from tb.language.place import ProgramError
from tb.language.reader import Source, Written, read, read_file
from tests.language.programs import BEFORE, EVERY_OP, generic, moves, names, only, program
from tests.wording import pattern


def test_a_grouped_load_has_the_operand_names_of_its_op_class() -> None:
    op = only(EVERY_OP["mte_gm_ub"])
    assert op.name == "mte_gm_ub"
    assert list(op.operands) == [
        *("gm_src", "ub_dst", "l2_cache_ctl", "len_burst", "n_burst", "src_stride", "dst_stride"),
        *("pad_value", "left_padding_count", "right_padding_count"),
    ]
    assert names(op.operands.values()) == [
        *("gm", "ub", "m", "n", "n", "m", "m"),
        *("p", "n", "m"),
    ]
    assert [names(loop) for loop in op.loops] == [["n", "m", "m"], ["m", "n", "n"]]


def test_a_pad_may_be_a_value_alone() -> None:
    assert list(only(EVERY_OP["mte_gm_ub, pad alone"]).operands)[-1] == "pad_value"


def test_a_store_may_omit_the_l2_hint() -> None:
    assert "l2_cache_ctl" not in only(EVERY_OP["mte_ub_gm without l2"]).operands
    op = only(EVERY_OP["mte_ub_gm"])
    assert names(op.operands[name] for name in ("l2_cache_ctl", "len_burst")) == ["m", "n"]
    assert op.attributes == {"ub_sub": 1}


def test_the_matrix_repack_has_a_mode_and_may_lack_the_outer_stride() -> None:
    op = only(EVERY_OP["mte_gm_l1_frac"])
    assert op.words == {"mode": "dn2nz"}
    assert names(op.operands.values()) == [
        *(["gm", "l1", "n", "m", "m", "n", "n", "m", "n", "m", "m", "yes"])
    ]
    assert "src_outer_stride" not in only(EVERY_OP["mte_gm_l1_frac of one matrix"]).operands


def test_a_write_back_with_every_clause() -> None:
    op = only(EVERY_OP["mte_l0c_gm"])
    found = dict(zip(op.operands, names(op.operands.values()), strict=True))
    assert list(found.values())[:8] == ["l0c", "out", "n", "m", "n", "m", "n", "m"]
    assert (found["pre_relu_payload"], found["clip"], found["k"]) == ("fb", "h", "m")
    assert [found[name] for name in LOOP3] == ["n", "m", "n"]
    assert op.words == {
        "unit_flag": 2,
        "pre_quant_mode": "qf322f32_pre_scalar",
        "pre_relu_mode": "vector_relu",
        "layout": "nz2dn",
        "sat": "preserve_nan",
        "atomic_type": "f32",
        "atomic_op": "add",
    }


def test_a_write_back_without_clauses() -> None:
    op = only(EVERY_OP["mte_l0c_gm, no clause"])
    assert len(op.operands) == 8
    assert op.words.pop("unit_flag") == 0
    assert set(op.words.values()) == {""}


def test_a_write_back_to_ub_names_a_sub_block_or_a_split() -> None:
    assert only(EVERY_OP["mte_l0c_ub"]).operands["sub_block"].name_hint == "m"
    op = only(EVERY_OP["mte_l0c_ub, split"])
    assert op.words["ub_split"] == "split_n"
    assert "sub_block" not in op.operands


def test_an_explicit_default_saturation_and_an_illegal_flag_code_are_kept() -> None:
    assert only(EVERY_OP["mte_l0c_ub"]).words["sat"] == "sat"
    assert only(EVERY_OP["mte_l0c_l1"]).words["unit_flag"] == 1


@pytest.mark.parametrize("word", ["<normal_relu>", '"normal_relu"', "#pto.relu<normal_relu>"])
def test_a_mode_may_be_written_as_an_attribute(word: str) -> None:
    op = only(
        f"pto.mte_l0c_gm %l0c, %out, %n, %m, %n, %m, %n, %m, pre_relu(mode = {word}) : "
        "!pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
    )
    assert op.words["pre_relu_mode"] == "normal_relu"


def test_a_copy_of_the_old_form_keeps_the_order_of_its_operands() -> None:
    op = only(EVERY_OP["copy_ubuf_to_gm"])
    assert list(op.operands)[-2:] == ["dst_stride", "src_stride"]
    assert len(only(EVERY_OP["copy_gm_to_ubuf"]).operands) == 11


@pytest.mark.parametrize(("keyword", "space"), SPACES.items())
def test_every_space_and_alias(keyword: str, space: str) -> None:
    for text in (keyword, f"#pto.address_space<{keyword}>"):
        source = program(f"  %q = pto.castptr %n : i64 -> !pto.ptr<f16, {text}>")
        (op,) = (op for op in source.module.walk() if isinstance(op, CastPtrOp))
        assert op.results[0].type == PtrType(Ptr("f16", space))


@pytest.mark.parametrize(
    "element", [*ELEMENTS, "i24", "si7", "ui128", "vector<2xf32>", "vector<4x8xf8E5M2>"]
)
def test_elements_of_every_type_any_width_and_vectors(element: str) -> None:
    for text in (f"<{element}, ub>", f"< {element} , ub>"):
        source = program(f"  %q = pto.castptr %n : i64 -> !pto.ptr{text}")
        (op,) = (op for op in source.module.walk() if isinstance(op, CastPtrOp))
        assert type_name(op.results[0].type) == f"!pto.ptr<{element_text(element)}, ub>"


def test_an_element_type_of_the_dialect_and_an_alias_of_a_type() -> None:
    text = f"!tile = !pto.ptr<f16, ub>\n{BEFORE}" + (
        "  %q = pto.castptr %n : i64 -> !tile\n"
        "  %r = pto.castptr %n : i64 -> !pto.ptr<!pto.hif8, vec>\n  return\n}\n"
    )
    casts = [op for op in read(text, "x.pto").module.walk() if isinstance(op, CastPtrOp)]
    kinds = [type_name(op.results[0].type) for op in casts]
    assert kinds == ["!pto.ptr<f16, ub>", "!pto.ptr<!pto.hif8, ub>"]


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
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
        ("!pto.ptr<bf16>", Ptr("bf16", "gm")),
    ],
)
def test_a_memref_points_to_its_begin(text: str, pointer: Ptr | None) -> None:
    source = read(f"func.func @k(%a: {text}) {{\n  return\n}}\n", "x.pto")
    (function,) = source.functions()
    assert pointer_of(function.body.block.args[0].type) == pointer


@pytest.mark.parametrize(
    "types",
    [
        "!pto.ptr<f16, ub>",
        "!pto.ptr<f16, ub> -> !pto.ptr<f16, ub>",
        "!pto.ptr<f16, ub>, index",
        "!pto.ptr<f16, ub>, index -> !pto.ptr<f16, ub>",
    ],
)
def test_an_offset_pointer_is_written_in_four_ways(types: str) -> None:
    source = program(f"  %q = pto.addptr %ub, %i : {types}")
    (op,) = (op for op in source.module.walk() if isinstance(op, AddPtrOp))
    assert (op.pointer.name_hint, op.offset.name_hint) == ("ub", "i")
    assert op.results[0].type == op.pointer.type


@pytest.mark.parametrize(
    "parts",
    [
        '["PIPE_MTE2", "PIPE_FIXP", "EVENT_ID3"]',
        " [<PIPE_MTE2>, <PIPE_FIX>, <EVENT_ID3>]",
        "[PIPE_MTE2, PIPE_FIX, EVENT_ID3]",
        "[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_FIX>, #pto.event<EVENT_ID3>]",
        "[PIPE_MTE2, PIPE_FIX, 3]",
    ],
)
def test_flags_are_written_in_many_ways(parts: str) -> None:
    source = program(f"  pto.set_flag{parts}\n  pto.wait_flag{parts}")
    flags = [op for op in source.module.walk() if isinstance(op, FlagOp)]
    assert [op.name for op in flags] == ["pto.set_flag", "pto.wait_flag"]
    assert {(op.src, op.dst, op.event) for op in flags} == {(Pipe.MTE2, Pipe.FIX, 3)}


@pytest.mark.parametrize(
    "what", ['"PIPE_V"', "<PIPE_V>", "#pto.pipe<PIPE_V>", "PIPE_V", "[PIPE_V]"]
)
@pytest.mark.parametrize("name", ["pto.pipe_barrier", "pto.barrier"])
def test_barriers_are_written_in_many_ways(name: str, what: str) -> None:
    source = program(f"  {name} {what}\n  {name} PIPE_ALL")
    barriers = [op for op in source.module.walk() if isinstance(op, BarrierOp)]
    assert [op.pipe for op in barriers] == [Pipe.V, None]


def test_flags_and_barriers_in_the_generic_form() -> None:
    source = program(
        '  "pto.set_flag"() {src_pipe = #pto.pipe<PIPE_V>, dst_pipe = "PIPE_S", event_id = 2 : i32}'
        ' : () -> ()\n  "pto.barrier"() <{pipe = "PIPE_ALL"}> : () -> ()'
    )
    flag, barrier = (op for op in source.module.walk() if isinstance(op, FlagOp | BarrierOp))
    assert isinstance(flag, FlagOp)
    assert (flag.src, flag.dst, flag.event) == (Pipe.V, Pipe.S, 2)
    assert isinstance(barrier, BarrierOp)
    assert barrier.pipe is None


def test_sections_keep_their_name_and_attributes() -> None:
    source = program(
        "  pto.section.vector attributes {pto.ub_sub = 1 : i32} {\n"
        f"    {EVERY_OP['mte_ub_gm']}\n  }}\n  pto.section.cube {{\n  }}"
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


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("128 : i64", 128),
        ("-1 : i64", -1),
        ("0x10 : index", 16),
        ("255 : i8", -1),
        ("true", -1),
        ("false", 0),
    ],
)
def test_constants(text: str, number: int) -> None:
    source = program(f"  %c = arith.constant {text}")
    (op,) = (op for op in source.module.walk() if isinstance(op, ConstantOp))
    assert isinstance(op.value, IntegerAttr)
    assert op.value.value.data == number


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
        (b"func\n ab\xffc\n", "2:4", "is no UTF-8"),
        (b"module {\n\0}", "2:1", "NUL character"),
        ("module {}".encode("utf-16"), "1:1", "is no UTF-8"),
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


# --- Every op read in its pretty form, printed by xdsl in the generic form, and read again

OTHERS = {
    "%q = pto.castptr %n : i64 -> !pto.ptr<f16, ub>": '"pto.castptr"(%n) : '
    "(i64) -> !pto.ptr<f16, ub>",
    "%q = pto.addptr %ub, %i : !pto.ptr<f16, ub>, index -> !pto.ptr<f16, ub>": '"pto.addptr"'
    "(%ub, %i) : (!pto.ptr<f16, ub>, index) -> !pto.ptr<f16, ub>",
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


def contents(source: Source) -> list[str]:
    """Returns the content of each movement op, values by their names."""

    def content(move: Written) -> str:
        values = [getattr(value, "name_hint", value) for value in move.values()]
        kept = (move.name, list(move.operands), len(move.loops), values, move.words)
        return repr((kept, move.attributes))

    return [content(move) for move in moves(source)]


def test_every_op_is_listed() -> None:
    assert {name.partition(",")[0].partition(" ")[0] for name in EVERY_OP} == set(ROWS)


@pytest.mark.parametrize("text", EVERY_OP.values())
def test_a_movement_op_is_equal_in_both_forms(text: str) -> None:
    source = program(f"  {text}")
    printed = generic(source)
    name = text.partition(" ")[0]
    assert f'"{name}"(' in printed
    assert f"{name} " not in printed, "the pretty form is gone"
    again = read(printed, "generic")
    assert contents(again) == contents(source) != []
    assert generic(again) == printed


@pytest.mark.parametrize(("text", "expected"), OTHERS.items())
def test_any_other_op_is_the_same_in_both_forms(text: str, expected: str) -> None:
    printed = generic(program(f"  {text}"))
    assert expected in printed
    assert generic(read(printed, "generic")) == printed
