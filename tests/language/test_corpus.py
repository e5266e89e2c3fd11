# SPDX-License-Identifier: Apache-2.0
"""Every file of the corpus is judged as it says of itself: accepted, or refused with its rule."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.language.reader import read_file
from tests.language.corpus import Case, cases, findings, fits, read_case

CASES = cases()

ALSO = {
    "illegal/fix_l09_loop3": ["FIX-L10"],
    "illegal/l05_pad_count": ["DMA-L09"],
    "illegal/lowest_rule_first": ["DMA-L07", "DMA-L08", "DMA-L12"],
    "illegal/two_errors": ["DMA-L15"],
}
"""What else is wrong with some of them; nothing with the others."""


@pytest.mark.parametrize("case", [x for x in CASES if x.wanted == ("legal",)], ids=lambda x: x.name)
def test_legal_programs_have_no_finding(case: Case) -> None:
    assert [str(finding) for finding in findings(case)] == []


@pytest.mark.parametrize("case", [x for x in CASES if x.wanted != ("legal",)], ids=lambda x: x.name)
def test_illegal_programs_are_refused_with_rule_and_place(case: Case) -> None:
    found = findings(case)
    assert found, f"nothing is found, expected {case.wanted}"
    first = found[0]
    assert fits(case.wanted, first), f"expected {case.wanted}:\n{first}"
    assert first.place.line == case.line or not case.line, str(first)
    assert first.place.column == case.column or not case.column, str(first)
    assert first.message.strip(), "a finding has a sentence"
    others = [finding.rule for finding in found if not fits(case.wanted, finding)]
    assert others == ALSO.get(case.name, []), [str(finding) for finding in found]


def test_a_legal_program_that_is_broken_is_refused(tmp_path: Path) -> None:
    """The two tests above can fail: the same text with one wrong stride is judged otherwise."""
    folder = tmp_path / "legal"
    folder.mkdir()
    good = next(case for case in CASES if case.name == "legal/gm_ub_plain")
    broken = folder / "broken.pto"
    broken.write_text(
        good.text.replace("%c128_i64 = arith.constant 128", "%c128_i64 = arith.constant 120")
    )
    assert [finding.rule for finding in findings(read_case(broken))] == ["DMA-L07"]


def test_what_is_expected_is_checked(tmp_path: Path) -> None:
    folder = tmp_path / "illegal"
    folder.mkdir()
    path = folder / "x.pto"
    for first in (
        "// expect: nonsense at 3:1",
        "// expect: legal",
        "// nothing",
        "// expect: X-L01",
    ):
        path.write_text(f"{first}\n// Words.\nmodule {{}}\n")
        with pytest.raises(ValueError, match="expect"):
            read_case(path)


@pytest.mark.parametrize("case", CASES[::8], ids=lambda x: x.name)
def test_lines_may_end_as_on_windows(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.path.name
    path.write_bytes(case.text.replace("\n", "\r\n").encode())

    def said(one: Case) -> list[str]:
        return [str(finding).replace(str(one.path), "") for finding in findings(one)]

    assert said(replace(case, path=path)) == said(case)


TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|[%@#!^]?[\w.$-]+|\s+|.', re.DOTALL)


def mutants(seed: int, count: int) -> list[tuple[Case, str]]:
    """Returns texts of the corpus with a token left out, doubled, replaced or the last one."""
    rng = random.Random(seed)
    tokens = [TOKEN.findall(case.text) for case in CASES]
    made = []
    for _ in range(count):
        number = rng.randrange(len(CASES))
        text = [*tokens[number]]
        at = rng.randrange(len(text))
        text[at : at + 1] = rng.choice(
            ([], text[at : at + 1] * 2, [rng.choice(rng.choice(tokens))], [text[at - 1], text[at]])
        )
        made.append((CASES[number], "".join(text[: at + 1] if rng.random() < 0.2 else text)))
    return made


def test_broken_programs_are_findings_or_pto_errors(tmp_path: Path) -> None:
    """Whatever text says, no other exception comes out, and every finding has its sentence."""
    refused = 0
    for case, text in mutants(1, 150):
        path = tmp_path / "mutant.pto"
        path.write_text(text)
        try:
            found = findings(replace(case, path=path))
        except PtoError:
            found = []
        assert all(finding.message.strip() for finding in found), text
        refused += bool(found)
    assert refused > 75


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"// nothing but words\n", "op"),
        (b"module {\n\0}\n", "NUL"),
        ("module {}".encode("utf-16"), "UTF-8"),
        (b"module {\n  \xff\n}\n", "UTF-8"),
        (b"\x7fELF\x02\x01\x01", r"x\.pto:1:1"),
    ],
)
def test_files_that_are_no_programs(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pto"
    path.write_bytes(data)
    with pytest.raises(PtoError, match=said) as error:
        read_file(path)
    assert str(path) in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.pto", tmp_path):
        with pytest.raises(PtoError, match="cannot be read") as error:
            read_file(path)
        assert str(path) in str(error.value)
