# SPDX-License-Identifier: Apache-2.0
"""An op in its normal form, whatever form it was written in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tb.isa.grammar import LOOPS, Clause, Row
from tb.language.grammar.fault import Fault

FLAGS = {"": 0, "check_only": 2, "check_and_clear": 3}
"""Codes of the words of ``unit_flag`` of a write-back."""


@dataclass(slots=True)
class Written:
    """An op in its normal form; what the text leaves out is in none of its parts.

    Attributes:
        name: Without ``pto.``.
        operands: By the field names of the op classes in :mod:`tb.isa`: SSA values, of a single op
            what its text has. Strides and counts of ``nburst`` are ``n_burst``, ``src_stride``,
            ``dst_stride`` (``src_gap``, ``dst_gap``), K of ``nz2dn`` is ``k``.
        loops: (count, src_stride, dst_stride) of each ``loop``, the innermost first.
        words: Every property of the op's row, ``""`` where the text has none. ``sat`` is ``""``,
            ``"sat"``, ``"preserve_nan"`` or ``"nosat"``; ``unit_flag`` of a write-back is 0,
            2 check_only, 3 check_and_clear, or a number as written.
        attributes: The other attributes as Python values: ``ub_sub``, ``pto_dv.gap``.
    """

    name: str
    operands: dict[str, Any]
    loops: list[tuple[Any, Any, Any]] = field(default_factory=list)
    words: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)


def normal(row: Row, groups: dict[str, list[Any]], words: dict[str, Any]) -> Written:
    """Returns an op of operands by name and of its properties."""
    single = {group.name: groups[group.name][0] for group in row.groups if groups.get(group.name)}
    lists = [groups.get(name, []) for name in LOOPS] if LOOPS[0] in single else []
    for name in LOOPS if lists else ():
        single.pop(name, None)
    found = Written(row.name, single, [*zip(*lists, strict=False)] if lists else [])
    found.words = {name: words.get(name, "") for name in row.words}
    if row.rule and "unit_flag" in found.words:
        found.words["unit_flag"] = FLAGS.get(found.words["unit_flag"], found.words["unit_flag"])
    return found


def incomplete(row: Row, groups: dict[str, list[Any]], words: dict[str, Any]) -> Fault | None:
    """Returns what is wrong with the clauses of an op in the generic form."""
    sizes = [len(groups.get(name, [])) for name in LOOPS]
    if len({*sizes}) > 1:
        message = (
            f"loops have {sizes[0]} counts, {sizes[1]} source strides and "
            f"{sizes[2]} destination strides"
        )
        return Fault(message, "DMA-L01", legal="one triple for each loop")
    flag = words.get("unit_flag", "")
    if row.rule and not isinstance(FLAGS.get(flag, flag), int):
        return Fault(f"unit_flag is {flag!r}", "FIX-L14", legal="check_only, check_and_clear")
    found = (_of_clause(clause, groups, words) for clause in row.clauses)
    return next(filter(None, (*found, *_wrong_words(row, words))), None)


def _wrong_words(row: Row, words: dict[str, Any]) -> Iterator[Fault]:
    """Yields the words that no clause has; those of write-backs are a matter of rules."""
    for clause in row.clauses if not row.rule else ():
        for part in clause.parts:
            if part.word and words.get(part.name) and words[part.name] not in part.legal:
                legal = " or ".join(part.legal)
                yield Fault(f"{part.name} is {words[part.name]!r}", legal=legal)
        names = [x.name for x in row.clauses if x.word == clause.word]
        value = words.get(clause.word, "")
        if clause.word and value and value not in (names if len(names) > 1 else (True,)):
            legal = " or ".join(names) if len(names) > 1 else f"{clause.name} alone"
            yield Fault(f"{clause.word} is {value!r}", legal=legal)


def _of_clause(clause: Clause, groups: dict[str, list[Any]], words: dict[str, Any]) -> Fault | None:
    words_alone = all(one.word and not one.other for one in clause.parts)
    if clause.word or clause.times == "*" or words_alone:  # Rules judge the words.
        return None
    given = [
        bool(words.get(one.name) if one.word else groups.get(one.name)) for one in clause.parts
    ]
    if clause.free:
        both = [given[0], bool(groups.get(clause.parts[0].other))]
        if sum(both) != 1:
            return Fault("takes either a sub-block or one of split_m, split_n")
        return None
    if not any(given):
        return None
    pairs = list(zip(clause.parts, given, strict=True))
    if any(one.key == "clip" and there for one, there in pairs) and not any(
        there for one, there in pairs if one.word
    ):
        return Fault("clip is outside pre_relu", "FIX-L06")
    together = any(there for one, there in pairs if one.optional and not one.key)
    lacking = [
        one.name
        for one, there in pairs
        if not there and (not one.optional or (together and not one.key))
    ]
    if not lacking:
        return None
    return Fault(f"{clause.name} has no {', '.join(lacking)}", clause.rule, legal=clause.shape)
