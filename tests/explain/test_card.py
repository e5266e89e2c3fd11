# SPDX-License-Identifier: Apache-2.0
"""``explain --rule``: entries of docs/spec with their class, their examples and an op."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequences.blocks import lower_program
from tb.common.errors import PtoError
from tb.explain import card
from tb.explain.card import CHECKED, counter_example, entries, rule_card
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.rules import RULES, first_d_violation
from tests.house.test_spec import index
from tests.wording import line_says

LEGACY_ALONE = {"DMA-L03", "DMA-L11", "ND-L01"}


def lines(name: str) -> dict[str, str]:
    """Returns the parts of a card by label, without the ops."""
    found: dict[str, str] = {}
    label = ""
    for line in rule_card(name).splitlines()[1:]:
        if not line.startswith("    pto.") and line[:15].strip():
            label = line[:15].strip()
        if not line.startswith("    pto."):
            found[label] = f"{found.get(label, '')} {line[15:].strip()}".strip()
    return found


@pytest.mark.parametrize("name", sorted({RULES[x].family for x in RULES}))
def test_every_rule_of_a_family_has_a_card(name: str) -> None:
    for rule in (one for one in RULES.values() if one.family == name):
        entry = entries()[rule.name]
        assert rule.kind in entry.kind, rule.name
        assert entry.where.startswith("docs/spec/"), rule.name
        assert dict(entry.texts).keys() & {"rule", "constraint", "text"}, (rule.name, entry.texts)


def test_every_rule_of_the_index_has_an_entry_of_a_page() -> None:
    assert [name for name in index() if "README" in entries()[name].where] == ["MD-1"]


def test_a_card_has_text_class_place_knobs_and_examples() -> None:
    found = lines("dma-l05")
    assert rule_card("dma-l05").startswith("DMA-L05  every field fits its width\n")
    assert found["class"] == "D, P"
    assert found["checked by"] == CHECKED["D"]
    assert found["text"].startswith("every field fits its width (section 1, section 4); len and n")
    assert found["where"] == "docs/spec/dma.md, section 5"
    assert found["knobs"] == "len_bits, pad_unselected"
    assert "len_bits = 16" in found["example"]
    assert rule_card("DMA-L05").count("\n    pto.") == card.MOST_EXAMPLES + 1


@pytest.mark.parametrize(
    ("name", "column", "text"),
    [
        ("MD-L02", "checked by", "the run, before the host computes the product"),
        ("FL-02", "text", "One outstanding set per flag"),
        ("DI-13", "text", "they are issued in place"),
        ("DI-05", "class", "W"),
        ("A-05", "resolution", "knob pad_end"),
        ("DF-10", "text", "K must be a constant 1"),
        ("TL-L01", "class", "S"),
        ("DMA-L13", "checked by", "nothing at run time"),
    ],
)
def test_other_entries(name: str, column: str, text: str) -> None:
    assert text in lines(name)[column]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.kind == "D"])
def test_the_op_of_a_card_breaks_its_rule(name: str) -> None:
    program = counter_example(name)
    if not program:
        assert name in LEGACY_ALONE
        return
    lowered, _ = lower_program(program, DmaRegisters(), RULES[name].number)
    violation = first_d_violation(lowered.descriptor)
    assert violation is not None
    assert violation.rule.name == name


@pytest.mark.parametrize("name", ["DMA-L99", "", "dma", "../README"])
def test_an_unknown_id_is_refused(name: str) -> None:
    with pytest.raises(PtoError) as caught:
        rule_card(name)
    assert line_says(str(caught.value), f"the specification has no {name.upper()!r}")
    assert caught.value.legal
    assert caught.value.remedy


def test_without_the_pages_the_rule_has_its_title(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(card, "SPEC", tmp_path)
    entries.cache_clear()
    try:
        assert rule_card("DMA-L06").startswith("DMA-L06  UB base addresses are multiples of 32\n")
        with pytest.raises(PtoError):
            rule_card("FL-02")
    finally:
        entries.cache_clear()
