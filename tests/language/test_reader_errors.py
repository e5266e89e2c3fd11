# SPDX-License-Identifier: Apache-2.0
"""Errors of programs: position, rule and the facts of the message."""

from __future__ import annotations

import pytest

from tb.language.place import Finding, ProgramError
from tb.language.reader import read, written
from tests.language.programs import BEFORE, EVERY_OP, only, program
from tests.wording import says

DMA = "i64, i64, i64, i64, i64"

LOAD = "pto.mte_gm_ub %gm, %ub, %m, %n nburst(%n, %m, %m)"
LOAD_TYPES = f": !pto.ptr<f16, gm>, !pto.ptr<f16, ub>, {DMA}"
PAD_OF_TWO = f"{LOAD} pad(%p, %n) {LOAD_TYPES}, pad f16, i64"
WRONG_ORDER = (
    "pto.mte_l0c_gm %l0c, %out, %n, %m, %n, %m, %n, %m, nz2nd, unit_flag(check_only) "
    ": !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
)
NZ = "pto.mte_gm_l1_frac %gm, %l1, nd2nz, shape(%n, %m), src_layout(%m), dst_group(%n, %m, %n, %m)"
NZ_TYPES = ": !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64, i64, i64, i64, i64, i1"
GENERIC = '"pto.mte_l0c_l1"(%l0c, %l1f, %n, %n, %n, %n)'
GENERIC_TYPES = "(!pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64) -> ()"
SIZES = "array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>"


def refused(body: str) -> list[Finding]:
    with pytest.raises(ProgramError) as caught:
        program(body)
    assert "the parser cannot go on" not in str(caught.value)
    return list(caught.value.findings)


SYNTAX: dict[str, tuple[str, str]] = {
    # What the corpus lacks: text with ~ before the place of the error (else it is the op), facts.
    "used too early": ("%x = arith.addi ~%y, %n : i64\n%y = arith.constant 1 : i64", "%y not"),
    "type": (f"{LOAD.replace('%n n', '~%h n')} {LOAD_TYPES}", "type mismatch %h type i32"),
    "no types": (f"{LOAD}~\npto.barrier PIPE_ALL", "expected ':' types"),
    "no types, a result": (f"{LOAD}~\n%x = arith.constant 3 : i8", "expected ':' types"),
    "no comma": ("pto.set_loop_size_outtoub %n ~%m : i64, i64", "expected ':' types operands"),
    "two commas": ("pto.mte_gm_ub %gm,~, %ub", "expected operand found ','"),
    "no mode": (f"{NZ.replace(' nd2nz,', '')}, ctrl(%n, %yes) {NZ_TYPES}", "mode missing"),
    "other mode": (
        f"{NZ}, ctrl(%n, %yes) {NZ_TYPES.replace('l1>,', 'l1>, ~dn2nz,')}",
        "types say dn2nz",
    ),
    "unknown type": (f"{LOAD} : !pto.ptr<f16, gm>, ~what, i64", "expected type found 'what'"),
    "no pointer": ("%q = pto.castptr %n : i64 -> ~!pto.ptr<[], ub>", "pointer type"),
    "space of a generic type": (
        '%q = "pto.castptr"(%n) : (i64) -> ~!pto.ptr<f16, l2>',
        "address space 'l2'",
    ),
    "cast of a float": ("%q = ~pto.castptr %s : f32 -> !pto.ptr<f16, l1>", "cast f32"),
    "cast of nothing": ("%q = ~pto.castptr %n : i64 -> i32", "type mismatch cast"),
    "offset of a number": ("%q = ~pto.addptr %n, %n : i64", "type mismatch"),
    "offset to another type": (
        "%q = ~pto.addptr %ub, %i : !pto.ptr<f16, ub> -> !pto.ptr<i8, ub>",
        r"no !pto.ptr<i8,\sub>",
    ),
    "flag of all pipes": ("pto.set_flag[PIPE_ALL, PIPE_V, EVENT_ID0]", "pipe 'PIPE_ALL'"),
    "computed event": (
        "pto.set_flag[PIPE_S, PIPE_V, ~%n]",
        "event_id word number set_flag_dyn value",
    ),
    "results": ("%x, %y = arith.addi %n, %n : i64", "1 results not 2"),
    "results of a flag": ("%x = pto.barrier PIPE_ALL", "0 results not 1"),
    "twice": ("%n = arith.constant 1 : i64", "%n defined twice"),
    "part of a result": ("%x = arith.addi ~%n#1, %n : i64", "%n#1 not defined"),
    "dialect": ("%x = ~buffer.alloc() : memref<4xf32>", "unknown op 'buffer.alloc'"),
    "generic dialect": ('%x = ~"a.b"(%n) : (i64) -> i64', "unknown op 'a.b'"),
    "bounds": ("scf.for %k = ~%s to %s step %s {\n}", "written type index"),
    "condition": ("scf.if ~%n {\n}", "written type i1"),
    "signed constant": ("%x = ~arith.constant 3 : si8", "signless"),
    "no constant": ("%x = arith.constant ~abc : i8", "attribute expected"),
    "number alone": ("42", "expected op '}' found '42'"),
    "character": ("\N{SECTION SIGN}", "expected op found"),
    "lone sign": ("!", "expected name right after sign '!'"),
    "comment of another language": ("~# words", "expected name right after sign '#'"),
    "float too large": ("%x = arith.constant ~1.0e6 : f16", "1.0e6 larger f16"),
    "bits of a float": ("%x = arith.constant ~0x123456789 : f32", "more bits f32"),
    "float of an integer": ("%x = arith.constant ~1.5 : i64", "1.5 no integer"),
    "float without a dot": ("%x = arith.constant ~1e400 : f32", "1e400 lacks dot float"),
    "generic float too large": (
        '%x = ~"arith.constant"() <{value = 1.0e6 : f16}> : () -> f16',
        "float larger type",
    ),
    "arith of two types": (
        '%x = ~"arith.addi"(%n, %h) : (i64, i32) -> i64',
        "attribute i64 expected variable 'T' but got i32",
    ),
    "generic, too few types": (
        '"pto.mte_l0c_l1"(%l0c, %l1f) : ~(!pto.ptr<f32, l0c>) -> ()',
        "2 operands 1 types",
    ),
    "generic, no types": ('"pto.mte_l0c_l1"(%l0c, %l1f)', "expected ':' types op"),
    "no sign": (f"{LOAD.replace('%gm', '~gm')} {LOAD_TYPES}", "'gm' no operand mean %gm"),
    "misspelled type": (
        f"{LOAD} {LOAD_TYPES.replace('!pto.ptr<f16, gm', '~!pto.prt<f16, gm')}",
        "type !pto.prt unknown mean !pto.ptr",
    ),
    "call with too much": (
        "func.call @kernel(%n) : (i64) -> ()",
        "@kernel takes 24 operands not 1",
    ),
    "barrier of nothing": ("pto.pipe_barrier~\npto.barrier PIPE_ALL", "expected pipe after"),
    "generic, too few operands": (
        '"pto.mte_l0c_l1"(%l0c, %l1f) : (!pto.ptr<f32, l0c>, !pto.ptr<f32, l1>) -> ()',
        "2 operands least 6 needed",
    ),
    "twice in a row": (
        "%x = arith.addi %n, %n : i64\n~%x = arith.addi %n, %n : i64",
        "%x defined twice first line 2",
    ),
    "open string": ('"' + "a" * 60, "string without closing sign"),
    "brace too many": ("}\n~}", "expected op found '}'"),
    "attributes": (f"{LOAD} {{gap = ~}} {LOAD_TYPES}", "attribute expected"),
    "segments of a text": (
        f"{LOAD} {{operandSegmentSizes = array<i32: 1, 1>}} {LOAD_TYPES}",
        "operandSegmentSizes length 2 counts 2 operands length 13 7",
    ),
    "segments missing": (
        '"pto.mte_l0c_l1"(%l0c, %l1f, %n, %n, %n, %n, %n) : (!pto.ptr<f32, l0c>, '
        "!pto.ptr<f32, l1>, i64, i64, i64, i64, i64) -> ()",
        "lacks operandSegmentSizes 7 operands 6 without any clause",
    ),
    "segments of another length": (
        '"pto.mte_l0c_l1"(%l0c, %l1f, %n, %n, %n, %n) {operandSegmentSizes = array<i32: 6>} : '
        "(!pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64) -> ()",
        "length 1 counts 6 operands 14 groups",
    ),
    "operands of the generic form": (
        '"pto.set_loop_size_outtoub"(%n) : (i64) -> ()',
        "takes 2 operands not 1",
    ),
    "result of the generic form": (
        '%x = ~"pto.set_loop_size_outtoub"(%n, %n) : (i64, i64) -> i64',
        "no results",
    ),
    "property of another op": (
        f'{GENERIC} <{{~atomic_op = "add", operandSegmentSizes = {SIZES}}}> : {GENERIC_TYPES}',
        "property 'atomic_op' unknown",
    ),
    "property with a prefix": (
        f'{GENERIC} <{{~x.layout = "nz2nd", operandSegmentSizes = {SIZES}}}> : {GENERIC_TYPES}',
        "property 'x.layout' unknown",
    ),
    "property in the dictionary": (
        f'{GENERIC} {{~unitflag = "check_only", operandSegmentSizes = {SIZES}}} : {GENERIC_TYPES}',
        "attribute 'unitflag' unknown mean unit_flag",
    ),
    "property of a flag": (
        '"pto.set_flag"() <{src_pipe = "PIPE_S", dst_pipe = "PIPE_V", event_id = "EVENT_ID0", '
        "~event = 1}> : () -> ()",
        "property 'event' unknown mean event_id",
    ),
    "sub-block": (f"{LOAD} {{~ub_sb = 1}} {LOAD_TYPES}", "'ub_sb' unknown mean ub_sub"),
    "sub-block of all": (f"{LOAD} {{~pto.ub_sub = 1}} {LOAD_TYPES}", "'pto.ub_sub' unknown"),
    "sub-block of a section": (
        "pto.section.vector attributes {~pto.ub_sb = 1} {\n}",
        "'pto.ub_sb' unknown mean pto.ub_sub",
    ),
    "timing": (f"{LOAD} {LOAD_TYPES} {{~pto_dv.gpa = 5}}", "'pto_dv.gpa' unknown mean pto_dv.gap"),
    "timing of a loop": ("scf.for %k = %i to %i step %i {\n} {~pto_dv.unroll}", "'pto_dv.unroll'"),
    "type of the generic form": (
        '"pto.set_loop_size_outtoub"(%n, ~%h) : (i64, i64) -> ()',
        "type mismatch %h type i32",
    ),
}


@pytest.mark.parametrize("name", SYNTAX)
def test_other_errors_have_the_position_of_the_wrong_part(name: str) -> None:
    text, facts = SYNTAX[name]
    before = text.partition("~")[0] if "~" in text else ""
    first = refused(text.replace("~", ""))[0]
    assert says(first.message, facts), first.message
    line = before.count("\n")
    column = len(before) - (before.rfind("\n") + 1) + 1
    assert (first.place.line, first.place.column) == (2 + line, column)
    assert not first.rule


def test_attributes_of_other_dialects_are_ignored() -> None:
    """Any name is legal with the prefix of another dialect, or on a foreign op."""
    op = only(f"  {LOAD} {{llvm.note = 1, pto.tile = 2, ub_sub = 1, pto_dv.gap = 3}} {LOAD_TYPES}")
    assert op.attributes["ub_sub"] == 1
    program('  "pto.vadd"() <{mask = 1}> {pto_dv_x.y = 1, lanes = 4} : () -> ()')
    program(
        f'  {GENERIC} <{{layout = "nz2nd", operandSegmentSizes = {SIZES}}}> '
        f"{{mlir.tag = 1, unit_flag = 2}} : {GENERIC_TYPES}"
    )


def test_attributes_that_mean_nothing_are_noted() -> None:
    """What is near to no name of an op is ignored, as by the compiler."""
    source = program(f"  {LOAD} {{fill = 1, transpose = true}} {LOAD_TYPES}")
    first, second = source.notes
    assert says(first, r"x.pto:2:\d+ note pto.mte_gm_ub attribute 'fill' ignored")
    assert says(second, "note pto.mte_gm_ub attribute 'transpose' ignored")


def test_older_operands_are_noted() -> None:
    types = "!pto.ptr<f32, l0c>, !pto.ptr<f16, ub>, i64, i64, i64, i64"
    source = program(
        "  pto.mte_ub_gm %ub, %gm, %m, %n nburst(%n, %m, %m) "
        ": !pto.ptr<f16, ub>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64\n"
        f"  pto.mte_l0c_ub %l0c, %ub, %n, %m, %n, %m, %m : {types}, i64\n"
        f"  pto.mte_l0c_ub %l0c, %ub, %n, %m, %n, %m, split_m : {types}\n"
        f"  pto.mte_l0c_ub %l0c, %ub, %n, %m, %n, %m, dst_mode(split_m) : {types}"
    )
    assert len(source.notes) == 3
    assert says(source.notes[0], r"x.pto:2:\d+ older form l2_cache_ctl")
    assert says(source.notes[1], r"x.pto:3:\d+ older form dst_mode")
    assert says(source.notes[2], r"x.pto:4:\d+ older form dst_mode split_m")


def test_an_error_has_the_legal_values() -> None:
    (finding,) = refused("%q = pto.castptr %n : i64 -> !pto.ptr<f16, l2>")
    assert "cbuf" in finding.legal
    (finding,) = refused("pto.set_flag[PIPE_X, PIPE_V, EVENT_ID0]")
    assert "PIPE_MTE2" in finding.legal


SIZES_OF_ALL = r"src\s1,\sdst\s1,\sm\s1,\sn\s1,\ssrc_stride\s1,\sdst_stride\s1,\spre_\w+"


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("comment of another language", "comment //"),
        ("float too large", "65504.0 infinity 0x7C00"),
        ("float without a dot", "1.0e400"),
        ("type", "i32"),
        ("generic, too few operands", SIZES_OF_ALL),
        ("segments missing", SIZES_OF_ALL),
    ],
)
def test_an_error_of_an_op_has_the_legal_values(name: str, legal: str) -> None:
    assert says(refused(SYNTAX[name][0].replace("~", ""))[0].legal, legal)


def test_floats_are_legal_up_to_those_that_round_to_infinity() -> None:
    program("  %x = arith.constant 65519.0 : f16\n  %y = arith.constant 3.4028e+38 : f32")
    refused("%x = arith.constant 65520.0 : f16")


@pytest.mark.parametrize("text", ["c.br ^bb1\n^bb1:\n", "pto.pipe_barrier\npto.barrier PIPE_ALL"])
def test_no_second_error_follows_from_the_first(text: str) -> None:
    assert len(refused(text)) == 1


def test_a_region_that_is_never_closed_ends_with_the_file() -> None:
    (finding,) = refused("pto.section.vector {")
    assert says(finding.message, "expected op '}' found end file")
    assert (finding.place.line, finding.place.column) == (5, 1)


def test_later_ops_are_read_after_an_error() -> None:
    found = refused(
        "  pto.mte_gm_ub %gm, %ub\n"
        f"  {PAD_OF_TWO}\n"
        "  %x = arith.addi %n, %h : i64\n"
        "  %y = arith.addi %x, %x : i64\n"
        f"  {WRONG_ORDER}\n"
        "  pto.mte_ub_gm %ub, %gm, %x nburst(%y, %none, %none) : !pto.ptr<f16, ub>, "
        "!pto.ptr<f16, gm>, i64, i64, i64, i64"
    )
    assert [finding.place.line for finding in found] == [2, 3, 4, 6, 7]
    assert [finding.rule for finding in found] == ["", "DMA-L02", "", "FIX-L01", ""]
    assert "%none" in found[-1].message


def test_broken_rules_may_be_collected_as_findings() -> None:
    found: list[Finding] = []
    text = f"{BEFORE}{PAD_OF_TWO}\n{EVERY_OP['mte_gm_l1']}\nreturn\n}}"
    source = read(text, "x.pto", found)
    assert [finding.rule for finding in found] == ["DMA-L02"]
    assert [move.name for op in source.module.walk() if (move := written(op))] == ["mte_gm_l1"]
    with pytest.raises(ProgramError) as caught:
        read(text.replace("return", "%x = a.b"), "x.pto", [])
    assert len(caught.value.findings) == 2


def test_many_regions_inside_each_other_are_an_error() -> None:
    found = refused("scf.if %yes {\n" * 3000)
    assert "nested too deeply" in found[-1].message
