# SPDX-License-Identifier: Apache-2.0
"""The specification in docs/spec against the rest: what is cited exists, what it rules is checked.

Every id and section of the specification that a file cites is in it. Every rule of its index is
cited by a test or by a case of a test, or :data:`PROOFS` names the tests that check it without its
id, or :data:`ABSENT` has the reason why nothing does.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.isa.rules import RULES
from tests.language.corpus import cases

SPEC = ROOT / "docs/spec"
HERE = str(Path(__file__).relative_to(ROOT))
TEXT = {".py", ".md", ".toml", ".pto", ".sv", ".v", ".vh", ".h", ".c", ".cpp", ".j2", ".svh"}
ID = re.compile(r"(?<![\w-])([A-Z]{1,4}-(?:[A-Z]{1,2})?\d+[a-z]?)(?![\w-])")
SECTIONS = re.compile(r"docs/spec/(\w+\.md),? sections? (\d+)(?:(?:,| and| to) (\d+))?")
ROW = re.compile(r"^\| ([A-Z]+-[A-Z]?\d+) \| ([^|]*) \|", re.MULTILINE)

MADE_UP = {
    "DMA-L99": "tests/",
    "DMA-L77": "tests/house/",
    "ND-E11": "tests/regress/",
    "FIX-L011": "tests/regress/",
}
"""Ids of nothing, and where a test needs them."""

PROOFS: Mapping[str, tuple[str, ...]] = {
    "OR-01": ("tests/programs/test_schedules.py::test_every_dependency_is_kept",),
    "OR-03": ("legal/hazard_that_is_switched_off", "illegal/hazard_in_mte2"),
    "IB-06": ("tests/programs/test_cores.py::test_signals_are_between_these_cores",),
    "CT-01": ("legal/ctrl_pretty", "legal/bits_of_ctrl"),
    "CT-02": ("tests/model/test_ctrl.py::test_an_op_samples_ctrl_when_it_is_issued",),
    "CT-03": ("tests/model/test_ctrl.py::test_types_and_ops_are_set_apart",),
    "CT-04": ("tests/model/test_ctrl.py::test_a_sat_clause_replaces_both_bits",),
    "AT-01": ("tests/model/test_atomic_store.py::test_elements_one_by_one",),
    "AT-02": ("tests/model/test_ctrl.py::test_only_c48_acts_on_an_atomic_of_f16",),
    "DI-13": ("legal/vector_interval",),
    "DF-04": ("illegal/fix_l04_accumulator", "illegal/fix_l04_integer_accumulator"),
    "DF-05": ("illegal/fix_l04_destination", "illegal/fix_l04_unsigned_16_bits"),
    "DF-06": ("illegal/fix_l04_no_clause", "illegal/fix_l04_no_convert"),
    "OR-02": ("tests/scoreboards/test_failure.py::test_no_op_of_the_generators_is_unordered",),
    "OR-05": ("legal/barrier_of_all_pipes", "legal/barriers"),
    "FL-05": ("illegal/hazard_wrong_flag", "legal/several_sections_of_flags"),
    "CT-06": ("tests/model/test_ctrl.py::test_the_other_bits_of_ctrl_are_kept",),
    "AT-04": ("legal/atomic_store_by_ctrl",),
    "AT-06": (
        "tests/model/test_atomic_store.py::test_rows_that_meet_in_one_element_are_added_in_order",
    ),
    "DI-01": ("legal/free_of_blanks_and_lines", "legal/comments_and_spaces"),
    "DI-02": ("legal/attributes_after_the_types", "illegal/fix_l01_order"),
    "DI-03": ("legal/pointer_types_as_parsed", "illegal/space_missing"),
    "DI-04": ("legal/space_aliases", "illegal/space_unknown"),
    "DI-05": (
        "tests/language/test_cube.py::test_programs_are_printed_in_the_form_of_the_compiler",
    ),
    "DI-06": ("legal/pointer_types_as_parsed",),
    "DI-07": ("legal/memref_operands", "illegal/memref_of_a_copy_inside"),
    "DI-08": ("legal/constants_as_parsed", "illegal/constant_too_large"),
    "DI-09": ("legal/if_with_results", "illegal/part_of_a_result"),
    "DI-10": ("legal/load_without_commas", "illegal/two_commas"),
    "DI-11": ("illegal/count_of_32_bits", "illegal/switch_of_64_bits"),
    "DI-14": ("legal/sections_of_both_cores",),
    "DI-15": ("legal/operand_segment_sizes", "illegal/generic_segments_of_another_sum"),
    "DF-02": ("illegal/fix_l03_no_payload", "illegal/fix_l03_no_mode"),
    "DF-03": ("illegal/fix_l03_vector_with_a_number", "illegal/fix_l03_scalar_with_a_pointer"),
    "DF-07": ("illegal/fix_l06_clip_type", "illegal/fix_l06_clip_outside"),
    "DF-08": ("illegal/fix_l05_pwl", "illegal/fix_l05_vector_relu_number"),
    "DF-09": ("illegal/fix_l08_nz2dn_alone", "illegal/fix_l09_type"),
    "DF-10": ("illegal/fix_l20_unknown_k", "illegal/fix_l20_unit_flag"),
    "DF-11": ("illegal/fix_l11_to_l1", "illegal/fix_l11_no_op"),
    "DF-13": ("illegal/fix_l13_sid", "illegal/fix_l14_n"),
}
"""Rules to tests, ``file::function``, and cases of tests/language/corpus that check them."""

_TILES = "text on tiles is refused: no op of it is known"
_NEWER = "text of other editions of the compiler: not read yet"
ABSENT: Mapping[str, str] = {
    **{f"TL-L{number:02}": _TILES for number in range(1, 21)},
    "OR-06": _TILES,
    "MD-L06": "operands of run time are refused: there is no clause of this name",
    **dict.fromkeys(("DI-16", "DI-17", "DI-18", "DI-19", "DI-20"), _NEWER),
    "IB-08": "a permission: a run raises signals in the order of the program",
}
"""Rules that nothing checks, and why."""


@cache
def texts() -> dict[str, str]:
    """Returns the text files of the repository but the specification, by path."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [Path(line) for line in done.stdout.splitlines()]
    return {
        str(path): (ROOT / path).read_text()
        for path in paths
        if path.suffix in TEXT and SPEC not in (ROOT / path).parents and (ROOT / path).is_file()
    }


@cache
def pages() -> dict[str, str]:
    """Returns the pages of the specification by name."""
    return {path.name: path.read_text() for path in sorted(SPEC.glob("*.md"))}


def prefix(name: str) -> str:
    """Returns the family of an id."""
    return re.split(r"\d", name)[0]


def index() -> dict[str, str]:
    """Returns the rules of the index and their classes, without ambiguities."""
    page = pages()["README.md"]
    start, end = page.index("## 11. Index of rules"), page.index("### Ambiguity entries")
    return {found[1]: found[2] for found in ROW.finditer(page[start:end])}


@cache
def cited() -> Mapping[str, set[str]]:
    """Returns the files that cite each id whose family the specification has."""
    known = {prefix(name) for page in pages().values() for name in ID.findall(page)}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path, text in texts().items():
        for name in ID.findall(text):
            if prefix(name) in known:
                found[name].add(path)
    return found


def unknown(files: Mapping[str, set[str]], spec: str) -> dict[str, list[str]]:
    """Returns ids that are not in a specification, and the files that cite them."""
    there = set(ID.findall(spec))
    found = {
        name: sorted(file for file in of - {HERE} if not file.startswith(MADE_UP.get(name, "\0")))
        for name, of in files.items()
        if name not in there
    }
    return {name: of for name, of in found.items() if of}


def unchecked(rules: Mapping[str, str], files: Mapping[str, set[str]]) -> list[str]:
    """Returns rules that no test cites, and that are in neither table."""
    tested = {
        name
        for name, of in files.items()
        if any(path.startswith(("tests/", "sequences/examples/")) and path != HERE for path in of)
    }
    return sorted(set(rules) - tested - set(PROOFS) - set(ABSENT))


def test_every_id_that_is_cited_is_in_the_specification() -> None:
    assert unknown(cited(), "\n".join(pages().values())) == {}
    assert len(cited()) > 350


@pytest.mark.parametrize("name", ["DMA-L05", "A-03", "FX-E1", "AT-03"])
def test_an_id_that_is_gone_is_found(name: str) -> None:
    spec = re.sub(rf"\b{name}\b", "", "\n".join(pages().values()))
    assert list(unknown(cited(), spec)) == [name]


def test_every_section_that_is_cited_exists() -> None:
    missing, count = [], 0
    for path, text in texts().items():
        for page, *numbers in SECTIONS.findall(text):
            for number in filter(None, numbers):
                count += 1
                if not re.search(rf"^## {number}\. ", pages().get(page, ""), re.MULTILINE):
                    missing.append(f"{path}: {page} section {number}")
    assert missing == []
    assert count > 250


def test_every_page_that_is_cited_exists() -> None:
    names = {name for text in texts().values() for name in re.findall(r"docs/spec/(\w+\.md)", text)}
    assert names <= set(pages())
    old = [path for path, text in texts().items() if re.search(r"(?<![\w/(])spec/\w+\.md", text)]
    assert old == []


def test_every_page_that_a_header_of_an_engine_names_exists() -> None:
    pattern = re.compile(r"Spec:((?:.*?\n?//)?.*)")
    named = {
        (path, name)
        for path, text in texts().items()
        if path.startswith("rtl_stubs/")
        for line in pattern.findall(text)
        for name in re.findall(r"(?:docs/)?(\w+\.md)", line)
    }
    assert len(named) > 60
    assert [
        x for x in named if not ((SPEC / x[1]).exists() or (ROOT / "docs" / x[1]).exists())
    ] == []


def test_every_rule_of_the_specification_is_checked() -> None:
    assert unchecked(index(), cited()) == []
    assert unchecked({**index(), "DMA-L77": "D"}, cited()) == ["DMA-L77"]
    assert len(index()) == 174


def test_the_tables_of_rules_are_no_longer_than_they_need_to_be() -> None:
    assert set(PROOFS).isdisjoint(ABSENT)
    known = {case.name for case in cases()}
    for name, places in PROOFS.items():
        for place in places:
            file, _, function = place.partition("::")
            assert place in known or f"def {function}(" in (ROOT / file).read_text(), (name, place)
    assert set(PROOFS) | set(ABSENT) <= set(index())


def test_the_rules_of_ops_have_the_classes_of_the_index() -> None:
    families = {rule.family for rule in RULES.values()}
    ours = {name: rule.kind for name, rule in RULES.items()}
    theirs = {name: kind for name, kind in index().items() if name.split("-")[0] in families}
    assert set(ours) == set(theirs)
    assert {name: kind for name, kind in ours.items() if kind not in theirs[name]} == {}
