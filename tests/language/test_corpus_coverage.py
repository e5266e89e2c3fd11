# SPDX-License-Identifier: Apache-2.0
"""The corpus has every rule, op, clause, mode, type, space and form at least once."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest

from tb.isa.dtypes import ALL_DTYPES, PAD_DTYPES
from tb.isa.fix.table import ATOMIC_DST, ATOMIC_OPS, CLIP_TYPES, DST_CODES, QUANT_MODES, RELU_MODES
from tb.isa.pipes import EVENTS, PIPES, Pipe
from tb.isa.rules import RULES
from tb.language.dialect.sync import SYNC, FenceOp, SetFftsOp
from tests.language.corpus import HAZARD, SYNC_RULES, WORDS, cases

CASES = cases()
LEGAL = [case for case in CASES if not case.expected]
ILLEGAL = [case for case in CASES if case.expected]

OPS = {
    **dict.fromkeys(PIPES),
    **dict.fromkeys(("set_flag", "wait_flag", "pipe_barrier", "barrier", "castptr", "addptr")),
    **dict.fromkeys(kind.name.removeprefix("pto.") for kind in SYNC),
}
"""Ops of the dialect that the tools execute, and all that synchronize."""

WRITE_BACKS = ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")
CLAUSES = ("unit_flag", "pre_quant", "pre_relu", "layout", "loop3", "sat", "atomic")
CLAUSE = re.compile(
    r"\b(unit_flag|pre_quant|pre_relu|nz2nd|nz2dn|nz2nz|loop3|sat|nosat|atomic)\b(?! *=)"
)
SPACES = [
    *("gm", "ub", "vec", "l1", "mat", "cbuf", "l0a", "left", "l0b", "right", "l0c", "acc"),
    *("bt", "bias", "fb", "scaling"),
]
"""Names of the memories (docs/spec/README.md, "Memories"), and those of the factors' buffers."""

ISSUE_WORDS = (
    "syntax unknown-op undefined type space not-constant unbounded hazard deadlock foreign"
)
"""Bad input that no numbered rule covers."""


LEGAL_TEXT = re.sub(r"//[^\n]*", "", "\n".join(case.text for case in LEGAL))
"""Every legal case without its comments."""


def ops_of(name: str) -> list[str]:
    """Returns each legal op of a name in the pretty form, up to its types."""
    return re.findall(rf"(?<!\")\bpto\.{name}\b(?!\")([^:]*):", LEGAL_TEXT)


@pytest.mark.parametrize("rule", [*RULES, *SYNC_RULES])
def test_every_rule_has_a_case_of_its_own(rule: str) -> None:
    assert [case.name for case in ILLEGAL if case.expected == (rule,)]


@pytest.mark.parametrize("word", [*ISSUE_WORDS.split(), HAZARD])
def test_every_kind_of_bad_input_has_a_case(word: str) -> None:
    assert word in WORDS or word == HAZARD
    assert [case.name for case in ILLEGAL if word in case.expected]


@pytest.mark.parametrize("op", OPS)
def test_every_op_is_in_both_forms(op: str) -> None:
    assert re.search(rf"(?<!\")\bpto\.{op}\b(?!\")", LEGAL_TEXT), "the pretty form"
    assert f'"pto.{op}"(' in LEGAL_TEXT, "the generic form"


@pytest.mark.parametrize(
    "op",
    [
        *sorted(PIPES),
        *("set_flag", "wait_flag", "pipe_barrier", "castptr", "scf.for", "scf.if"),
        *(kind.name for kind in SYNC if not issubclass(kind, FenceOp | SetFftsOp)),
    ],
)
def test_every_op_is_refused_somewhere(op: str) -> None:
    name = op if op.startswith(("scf.", "pto.")) else f"pto.{op}"
    lines = [case.lines[case.line - case.start] for case in ILLEGAL if case.line]
    assert any(re.search(rf"{re.escape(name)}\b", line) for line in lines)


def loops_and_pads(text: str) -> tuple[int, int]:
    """Returns the number of loops of an op, and of operands of its padding."""
    pads = re.findall(r"\bpad\(([^)]*)\)", text)
    return len(re.findall(r"\bloop\(", text)), pads[0].count(",") + 1 if pads else 0


@pytest.mark.parametrize("op", ["mte_gm_ub", "mte_ub_gm", "mte_gm_l1", "mte_l1_ub"])
def test_every_number_of_loops_with_every_padding(op: str) -> None:
    pads = (0, 1, 3) if op == "mte_gm_ub" else (0,)
    assert {*product(range(4), pads)} <= {loops_and_pads(text) for text in ops_of(op)}


def test_a_store_with_and_without_its_hint() -> None:
    """Its older form has the hint as a fourth operand."""
    stores = ops_of("mte_ub_gm")
    assert {3, 4} <= {text.partition("nburst")[0].count("%") for text in stores}
    hints = {(text.count("l2_cache_ctl("), loops_and_pads(text)[0] > 0) for text in stores}
    assert {*product((0, 1), (False, True))} <= hints


def clauses_of(text: str) -> set[str]:
    """Returns the kinds of clauses of a write-back."""
    kinds = {"nz2nd": "layout", "nz2dn": "layout", "nz2nz": "layout", "nosat": "sat"}
    return {kinds.get(word, word) for word in CLAUSE.findall(text)}


@pytest.mark.parametrize("op", WRITE_BACKS)
def test_every_pair_of_clauses(op: str) -> None:
    found = [clauses_of(text) for text in ops_of(op)]
    assert set() in found, "no clause at all"
    names = CLAUSES if op == "mte_l0c_gm" else CLAUSES[:-1]
    for name in names:
        assert any(name in one for one in found), name
    for pair in combinations(names, 2):
        allowed = {*pair, "layout"} if "loop3" in pair else {*pair}
        assert any({*pair} <= one <= allowed for one in found), pair


def test_every_destination_with_a_clip_has_one() -> None:
    clipped = re.findall(r"clip = [^:]*:[^:]*?!pto\.ptr<\w+, \w+>, !pto\.ptr<(\w+),", LEGAL_TEXT)
    assert {*DST_CODES.values()} & {*CLIP_TYPES} <= {DST_CODES[dtype] for dtype in clipped}


def test_the_source_of_a_fractal_load_has_one_stride_or_two() -> None:
    counts = {text.count(",") for text in re.findall(r"src_layout\((%[^)]*)\)", LEGAL_TEXT)}
    assert counts == {0, 1}


RELUS = [mode for mode in RELU_MODES if mode != "pwl"]
FACTORS = ("i8", "f16", "bf16", "f32", "!pto.hif8", "f8E4M3FN")
WORDS_OF_CLAUSES = [
    *("unit_flag(check_only)", "unit_flag(check_and_clear)", ", nz2nd", "nz2dn(%c1)"),
    *("nz2dn(%c2)", "nz2nz :", "nz2nz(%c0)", "nz2nz(%c1)", ", sat\n"),
    *("sat(preserve_nan)", ", nosat", "dst_mode(split_m)", "dst_mode(split_n)"),
    *("dst_mode(%c0)", "dst_mode(%c1)", ", split_m", ", split_n"),
    *("nd2nz, shape(", "dn2nz, shape(", "%true)"),
]
NEEDED = [
    *(rf"pre_quant\([^)]*mode = {mode}\)" for mode in QUANT_MODES),
    *(rf"pre_relu\([^)]*mode = {mode}\)" for mode in RELUS),
    *(rf"pre_relu\([^)]*mode = {mode}, clip = %\w+\)" for mode in RELUS),
    *(rf"atomic\(type = {kind}, op = {op}\)" for kind in ATOMIC_DST for op in ATOMIC_OPS),
    *map(re.escape, WORDS_OF_CLAUSES),
    *(rf"!pto\.ptr<{re.escape(dtype)}, " for dtype in ALL_DTYPES),
    *(rf"\bpad {dtype}\b" for dtype in PAD_DTYPES),
    *(rf"pto\.set_mov_pad_val %\S+ : {dtype}\b" for dtype in PAD_DTYPES),
    *(f", {space}>" for space in SPACES),
    *(f'pto.pipe_barrier "{pipe.value}"' for pipe in Pipe),
    *(f'"EVENT_ID{event}"]' for event in range(EVENTS)),
    *(
        rf"!pto\.ptr<{dtype}, (l0a|left)>, !pto\.ptr<({dtype}|f8E5M2), (l0b|right)>"
        for dtype in FACTORS
    ),
]


@pytest.mark.parametrize("pattern", NEEDED)
def test_every_mode_word_type_memory_pipe_and_event(pattern: str) -> None:
    assert re.search(pattern, LEGAL_TEXT)


def test_cases_are_short_and_have_unique_names() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert len(case.text.splitlines()) <= 130, case.name
        assert case.text.endswith("\n"), case.name
        assert "\t" not in case.text, case.name
