# SPDX-License-Identifier: Apache-2.0
"""``explain --rule``: what docs/spec and the bench have on a rule, an ambiguity or an example."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from sequences.examples.catalog import RULE_EXAMPLES, UBUF_RULE_EXAMPLES
from tb.common.errors import PtoError
from tb.common.paths import ROOT, relative
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import KNOBS
from tb.isa.rules import RULES
from tb.isa.text import AnyOp, op_name, to_text

SPEC = ROOT / "docs/spec"
WIDTH = 100
MOST_EXAMPLES = 3

CHECKED = {
    "S": "the front end, before the op is issued: pto-dv verify FILE",
    "D": "the engine, which retires the op with this number or a lower one that is broken too and "
    "changes nothing: make TEST=illegal; pto-dv verify FILE",
    "T": "nothing at run time, its result is undefined; stimulus obeys it: pto-dv verify FILE",
    "P": "the parser: pto-dv verify FILE",
    "C": "the front end, as the compiler does: pto-dv verify FILE",
    "W": "nothing: it is the form of printed text",
    "N": "the front end; the compiler does not: pto-dv verify FILE",
}
"""Class of a rule to what checks it (docs/spec/README.md, section 2)."""

PRODUCTS = "the run, before the host computes the product: pto-dv verify FILE"
"""The same for class D of products, which no engine executes."""

_ROW = re.compile(r"^\| *([A-Z]+-[A-Z]?\d+)(?: ([PCWN]))? *\|(.*)\|\s*$")
_PROSE = re.compile(r"^([A-Z]+-[A-Z]?\d+)(?: ([PCWN]))?: (.*)$")
_HEADING = re.compile(r"^## (\d+)\. ")


class Entry:
    """An entry of the specification.

    Attributes:
        kind: Its class, such as ``D, P``; empty if it has none.
        where: Page and section, as ``docs/spec/dma.md, section 5``.
        texts: Column of its table and text, or no column for a sentence of a page.
    """

    def __init__(self, kind: str, where: str, texts: tuple[tuple[str, str], ...]) -> None:
        self.kind, self.where, self.texts = kind, where, texts


@cache
def entries() -> dict[str, Entry]:
    """Returns the rules, ambiguities and examples of docs/spec by id.

    The index of README.md counts for those that no other page has.
    """
    found: dict[str, Entry] = {}
    pages = sorted(SPEC.glob("*.md"), key=lambda path: (path.name == "README.md", path.name))
    for path in pages:
        for name, entry in _of_page(path):
            found.setdefault(name, entry)
    return found


def _of_page(path: Path) -> Iterator[tuple[str, Entry]]:
    section, header = "", []
    before: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.match(line):
            section = f", section {heading[1]}"
        if line.startswith(("|--", "| --")):
            header = before
        where = f"{relative(path)}{section}"
        if row := _ROW.match(line):
            cells = [cell.strip() for cell in row[3].replace(r"\|", "\0").split("|")]
            cells = [cell.replace("\0", "|") for cell in cells]
            named = dict(zip(header[1:], cells, strict=False))
            kind = row[2] or named.pop("class", "")
            yield row[1], Entry(kind, where, tuple(x for x in named.items() if x[1]))
        elif prose := _PROSE.match(line):
            yield prose[1], Entry(prose[2] or "", where, (("", prose[3]),))
        before = [cell.strip().lower() for cell in line.strip("|").split("|")]


def rule_card(name: str) -> str:
    """Returns what is known about a rule, an ambiguity or a worked example.

    Args:
        name: Its id, such as ``DMA-L05``, in any case.

    Raises:
        PtoError: the specification has no such id, or is not there.
    """
    name = name.upper()
    entry = entries().get(name)
    rule = RULES.get(name)
    if entry is None and rule is None:
        names = list(entries()) or list(RULES)
        near = get_close_matches(name, names, 3, 0.6)
        raise PtoError(
            f"the specification has no {name!r}",
            where="--rule",
            legal="an id of docs/spec, such as DMA-L05, FIX-L17, FL-02, DI-07, A-05",
            remedy=f"did you mean {', '.join(near)}?"
            if near
            else "docs/spec/README.md, section 11, is the index",
        )
    title = rule.title if rule is not None else ""
    kind = entry.kind if entry is not None else rule.kind if rule is not None else ""
    lines = [f"{name}  {title}".rstrip()]
    if kind and kind[0] in CHECKED:
        product = name.startswith("MD-") and kind == "D"
        lines += _part("class", kind)
        lines += _part("checked by", PRODUCTS if product else CHECKED[kind[0]])
    if entry is not None:
        for column, text in entry.texts:
            label = re.sub(r"\(.*|[`,].*", "", column.strip("`")).strip()
            label = "text" if label in ("", "rule", "c rule") else label
            lines += _part(label, text.replace("**", "").replace("`", ""))
        lines += _part("where", entry.where)
    if rule is not None:
        knobs = [knob.name for knob in KNOBS.values() if name in knob.rules]
        lines += _part("knobs", ", ".join(knobs)) if knobs else []
        lines += [*_examples(name)]
    return "\n".join(lines) + "\n"


def _part(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"  {label:<12} ", subsequent_indent=" " * 15,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _family(op: AnyOp) -> str:
    name = op_name(op)
    return OPS[LEGACY_FORMS.get(name, name)].rules if name in (*OPS, *LEGACY_FORMS) else ""


def _examples(name: str) -> Iterator[str]:
    """Yields worked examples that break a rule, and an op of the illegal stimulus that does."""
    rule = RULES[name]
    shown = [
        one
        for one in (*RULE_EXAMPLES, *UBUF_RULE_EXAMPLES)
        if one.rule == rule.number and _family(one.op) == rule.family
    ]
    for one in shown[:MOST_EXAMPLES]:
        under = "".join(f", {knob} = {value}" for knob, value in one.knobs.items())
        yield from _part("example", f"{one.name}{under}:")
        yield f"    {to_text(one.op)}"
    if len(shown) > MOST_EXAMPLES:
        yield from _part("", f"and {len(shown) - MOST_EXAMPLES} more")
    if rule.kind == "D" and (program := counter_example(name)):
        yield from _part("refused op", "of TEST=illegal:")
        yield from (f"    {to_text(op)}" for op in program)


def counter_example(name: str) -> tuple[AnyOp, ...]:
    """Returns an op of the illegal stimulus whose lowest broken rule is the one named.

    With the writes of CTRL around it, if it is issued under one. Empty for a rule of legacy
    forms alone.
    """
    import numpy as np

    from sequences.illegal.cases import all_cases

    rule = RULES[name]
    rng = np.random.default_rng(1)
    for form in OPS:
        if OPS[form].rules != rule.family:
            continue
        for case in all_cases(rng, form):
            if case.rule == rule.number:
                return case.program
    return ()
