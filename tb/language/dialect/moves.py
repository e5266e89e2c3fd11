# SPDX-License-Identifier: Apache-2.0
"""Operands of the pretty form of the movement ops, and its errors.

Rules that text alone can break are decided here: DMA-L01, DMA-L02, ND-L02, FIX-L01, and FIX-L03,
L05, L06, L08, L10 and L11 as far as they speak of operands that a clause has or lacks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.lexer import Span

from tb.isa.nz.table import MODES
from tb.language.dialect.cube import check_load, check_mad, read_load, read_mad
from tb.language.dialect.forms import FILLS, FORMS, KNOWN_FORMS, L2, Form
from tb.language.dialect.ops import SEGMENTS, Fault, MoveOp, OpError, segment_sizes, string, written
from tb.language.dialect.reading import Reading, unknown_clause
from tb.language.dialect.refusals import check_known
from tb.language.dialect.types import type_name
from tb.language.dialect.write_backs import read_clauses
from tb.language.parser.syntax import TYPE_WORDS, Item, OpText, read_op, standing

# --- operands before the clauses -----------------------------------------------------------------


def _head(reading: Reading) -> None:
    form, items = reading.form, reading.text.head
    values = [item for item in items if item.kind != "word"]
    words = [item for item in items if item.kind == "word"]
    names = list(form.head)
    _old_operand(reading, names, values, words)
    if form.family == "nz":
        _mode(reading, words)
    if words:
        at = words[0].at
        reading.fault(f"{words[0].text!r} is no operand", at=at)
    if len(values) != len(names):
        more = ", ".join(f"%{name}" for name in form.head)
        reading.fault(
            f"takes {len(names)} operands before its clauses, not {len(values)}",
            at=reading.text.at,
            legal=more,
        )
        return
    for name, item in zip(names, values, strict=True):
        reading.put(name, item)


_OLD: dict[str, tuple[str, int, str]] = {
    "mte_ub_gm": (L2, 2, "l2_cache_ctl(%l2) after nburst(...)"),
    "mte_l0c_ub": ("sub_block", 6, "dst_mode(%sub_block)"),
}
"""Operands that an older form had before its clauses: name, position, and how they are written."""


def _old_operand(reading: Reading, names: list[str], values: list[Item], words: list[Item]) -> None:
    """Takes the operand of an older form, which is a clause today, with a note."""
    if reading.form.name not in _OLD:
        return
    name, place, today = _OLD[reading.form.name]
    if name == "sub_block" and words:
        word = words.pop(0)
        reading.words["ub_split"] = string(word.text)
        reading.note(f"{word.text} is written in an older form: dst_mode({word.text})", word.at)
    elif len(values) == len(names) + 1:
        names.insert(place, name)
        reading.note(f"{name} is written in an older form: {today}", values[place].at)


def _mode(reading: Reading, words: list[Item]) -> None:
    """Takes the word that names the source layout of the NZ repack."""
    legal = " or ".join(MODES)
    if words:
        reading.words["mode"] = string(words.pop(0).text)
        return
    first = reading.text.clauses[0] if reading.text.clauses else None
    if first is not None and not first.items and first.name not in _NZ:
        reading.text.clauses.pop(0)
        reading.fault(f"mode {first.name!r} is unknown", at=first.at, legal=legal)
    else:
        reading.fault("the mode is missing", at=reading.text.at, legal=legal)


# --- clauses of each family ----------------------------------------------------------------------


def _nbursts(reading: Reading, names: tuple[str, ...], rule: str) -> None:
    found = [clause for clause in reading.text.clauses if clause.name == "nburst"]
    shape = f"nburst({', '.join('%' + name for name in names)})"
    if len(found) != 1:
        reading.fault(
            f"there are {len(found)} nburst clauses" if found else "the nburst clause is missing",
            rule,
            reading.text.at,
            shape,
        )
    if found:
        reading.exactly(found[0], names, rule, shape)


def _dma(reading: Reading) -> None:
    legal, known = "nburst(...) loop(...)", {"nburst": 0, "loop": 2}
    if reading.form.name == "mte_gm_ub":
        legal, known["pad"] = f"{legal} pad(...)", 3
    if reading.form.name == "mte_ub_gm":
        legal, known[L2] = f"nburst(...) {L2}(...) loop(...)", 1
    step = "gap" if any(group.name == "src_gap" for group in reading.form.groups) else "stride"
    _nbursts(reading, ("n_burst", f"src_{step}", f"dst_{step}"), "DMA-L01")
    reached, pads = 0, 0
    for clause in reading.text.clauses:
        place = known.get(clause.name)
        if place is None:
            unknown_clause(reading, clause, legal)
            continue
        if place < reached:
            reading.fault(
                f"{clause.name} is too late",
                at=clause.at,
                legal=legal,
            )
        reached = place
        if clause.name == "loop":
            names = ("loop_counts", "loop_src_strides", "loop_dst_strides")
            shape = "loop(%count, %src_stride, %dst_stride)"
            reading.exactly(clause, names, "DMA-L01", shape)
        elif clause.name == L2:
            if L2 in reading.groups:
                reading.fault(f"{L2} is twice", at=clause.at, legal=legal)
                continue
            reading.exactly(clause, (L2,), "", f"{L2}(%l2)")
        elif clause.name == "pad":
            pads += 1
            shape = "one pad(%value) or pad(%value, %left, %right)"
            if len(clause.items) not in (1, 3) or pads > 1:
                count = f"{len(clause.items)} operands" if pads == 1 else "a second clause"
                reading.fault(f"pad has {count}", "DMA-L02", legal=shape)
                continue
            names = ("pad_value", "left_padding_count", "right_padding_count")
            reading.exactly(clause, names[: len(clause.items)], "DMA-L02", shape)


def _burst(reading: Reading) -> None:
    rule = "DMA-L01" if reading.form.name.startswith("mte_ub") else ""
    _nbursts(reading, ("n_burst", "src_gap", "dst_gap"), rule)
    for clause in reading.text.clauses:
        if clause.name != "nburst":
            unknown_clause(reading, clause, "nburst(%count, %src_gap, %dst_gap)")


_NZ: dict[str, tuple[str, ...]] = {
    "shape": ("n_value", "d_value"),
    "src_layout": ("src_inner_stride", "src_outer_stride"),
    "dst_group": ("group_count", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride"),
    "ctrl": ("l2_cache_ctrl", "smallc0_en"),
}
"""Clauses of ``mte_gm_l1_frac`` in their order."""


def _nz(reading: Reading) -> None:
    mode = reading.words.get("mode")
    for word, at in reading.text.words:
        if word in MODES and mode is not None and string(word) != mode:
            reading.fault(f"the types say {word}, the op {mode}", at=at)
    order = list(_NZ)
    reached = -1
    for clause in reading.text.clauses:
        if clause.name not in _NZ:
            unknown_clause(reading, clause, ", ".join(f"{name}(...)" for name in _NZ))
            continue
        place = order.index(clause.name)
        if place <= reached:
            reading.fault(f"{clause.name} is too late or twice", at=clause.at, legal=", ".join(_NZ))
            continue
        reached = place
        names = _NZ[clause.name]
        shape = f"{clause.name}({', '.join('%' + name for name in names)})"
        if clause.name == "src_layout":
            shape = "src_layout(%src_inner_stride[, %src_outer_stride])"
            if len(clause.items) == 1:
                names = names[:1]
        rule = "ND-L02" if clause.name in ("src_layout", "dst_group") else ""
        reading.exactly(clause, names, rule, shape)
    present = {clause.name for clause in reading.text.clauses}
    for name, parts in _NZ.items():
        if name not in present:
            reading.fault(
                f"{name}({', '.join('%' + part for part in parts)}) is missing",
                "ND-L02" if name in ("src_layout", "dst_group") else "",
                reading.text.at,
            )


def _plain(reading: Reading) -> None:
    for clause in reading.text.clauses:
        unknown_clause(reading, clause, "no clause at all")


_FAMILIES: dict[str, Callable[[Reading], None]] = {
    "dma": _dma,
    "burst": _burst,
    "nz": _nz,
    "fix": read_clauses,
    "load": read_load,
    "mad": read_mad,
    "plain": _plain,
}


# --- the op --------------------------------------------------------------------------------------


def resolve(parser: Parser, item: Item, kind: Attribute) -> SSAValue:
    """Returns the value of an operand that is written with a type."""
    name, _, index = item.text.partition("#")
    span = Span(item.at, item.at + len(name), parser.lexer.input)
    return parser.resolve_operand(UnresolvedOperand(span, int(index or 0)), kind)


def read_move(cls: type[MoveOp], parser: Parser) -> MoveOp:
    """Reads the op with the name before the parser's offset.

    Raises:
        OpError: a rule of the text is broken; the parser is after the op.
        ParseError: the text is no such op.
    """
    form = cls.form
    name = f"pto.{form.name}"
    start = parser.lexer.input.content.rfind(name, 0, standing(parser))
    commas = form.family in ("nz", "fix")
    bare = not form.groups
    loose = form.name.startswith(("mte_", "mad"))
    text = read_op(
        parser,
        form.name,
        start,
        form.head_words,
        commas=commas,
        loose=loose,
        bare=bare,
        mixed=form.family == "load",
        apart=form.family in ("dma", "burst"),
    )
    if form.family == "dma":
        _one_name(text)
    reading = Reading(text, form)
    if form.family != "load":
        _head(reading)
    _FAMILIES[form.family](reading)
    for word, at in text.words:
        if word not in TYPE_WORDS and not reading.faults:
            reading.fault(f"expected a type, found {word!r}", at=at)
    _check_words(reading)
    if reading.faults:
        raise OpError(*reading.faults)
    if len(text.types) != len(reading.order):
        kinds = ", ".join(type_name(kind) for kind, _ in text.types)
        raise OpError(
            Fault(
                f"type mismatch: {len(reading.order)} operands are written with "
                f"{len(text.types)} types: {kinds}",
                at=start,
                legal="one type for each operand, in the order of the text",
            )
        )
    values = {
        id(item): resolve(parser, item, kind)
        for item, (kind, _) in zip(reading.order, text.types, strict=True)
    }
    taken = [[values[id(x)] for x in reading.groups.get(group.name, ())] for group in form.groups]
    properties = dict(reading.words)
    attributes = text.attributes
    given = attributes.pop(SEGMENTS, None)
    if form.open and not reading.old:
        properties[SEGMENTS] = segment_sizes(tuple(map(len, taken)))
    op = cls.create(
        operands=[value for group in taken for value in group],
        properties=properties,
        attributes=attributes,
    )
    _check_segments(given, op)
    verify_move(op)
    notes = getattr(parser, "notes", None)
    if notes is not None:
        notes += [(name, message, at) for message, at in reading.notes]
    return op


_LOOP = re.compile(r"loop\d+")
"""Other names of ``loop``."""


def _one_name(text: OpText) -> None:
    """Renames ``loop1`` and ``loop2``, and ``loopN`` among the types."""
    for clause in text.clauses:
        if clause.name in ("loop1", "loop2"):
            clause.name = "loop"
    text.words = [("loop" if _LOOP.fullmatch(word) else word, at) for word, at in text.words]


def _check_words(reading: Reading) -> None:
    """Refuses words among the types that are not those of the clauses.

    Loops and pads have their word before their types; a write-back has none.
    """
    family, words = reading.form.family, [word for word, _ in reading.text.words]
    if family in ("dma", "burst") and not reading.faults:
        for name in ("loop", "pad"):
            count = sum(clause.name == name for clause in reading.text.clauses)
            if words.count(name) < count:
                message = f"the types lack the word {name} before those of the clause"
                reading.fault(message, legal=f"{name} i64, i64, i64" if name == "loop" else "pad T")
    if family == "fix" and words and not reading.faults:
        reading.fault(
            f"the types have the word {words[0]}",
            at=reading.text.words[0][1],
            legal="types alone, in the order of the operands",
        )
    clauses = Counter(clause.name for clause in reading.text.clauses)
    clauses["clip"] += clauses["pre_relu"]
    clauses["split"] += clauses["nz2nz"]
    for word, at in reading.text.words:
        if word in MODES or reading.faults or (family == "nz" and word not in TYPE_WORDS):
            continue
        clauses[word] -= 1
        if clauses[word] < 0:
            message = f"the types speak of {word} more often than the op has such a clause"
            reading.fault(message, at=at)


def _check_segments(given: Attribute | None, op: MoveOp) -> None:
    """Refuses ``operandSegmentSizes`` that are not those of the text.

    The compiler prints them for the strided copies; of other ops only their sum is compared.
    """
    get = getattr(given, "get_values", None)
    if given is None:
        return
    sizes = tuple(get()) if get else ()
    own = op.properties.get(SEGMENTS)
    groups = own.get_values() if isinstance(own, DenseArrayBase) else (1,) * len(op.operands)
    counted = tuple(map(int, groups))
    if sizes == counted or (sum(sizes) == sum(counted) and op.form.family != "dma"):
        return
    message = (
        f"{SEGMENTS} of length {len(sizes)} counts {sum(sizes)} operands otherwise than the "
        f"clauses, of length {len(counted)} and {sum(counted)} operands"
    )
    legal = f"{', '.join(map(str, counted))}, or no {SEGMENTS}: text needs none"
    raise OpError(Fault(message, legal=legal))


def verify_move(op: MoveOp) -> None:
    """Refuses operands and types that an op cannot have.

    Raises:
        OpError: it has some.
    """
    text = written(op)
    assert text is not None, "it is an op that moves data"
    if op.form.family == "load":
        check_load(op, text)
    elif op.form.family == "mad":
        check_mad(op, text)
    elif not op.form.executed or op.form.name.startswith(("load_cbuf_to_", *FILLS)):
        check_known(text)


def _make(form: Form) -> type[MoveOp]:
    name = "".join(part.capitalize() for part in form.name.split("_"))
    doc = f"``pto.{form.name}``."
    members = {
        "name": f"pto.{form.name}",
        "form": form,
        "parse": classmethod(read_move),
        "__doc__": doc,
    }
    return type(f"{name}Op", (MoveOp,), members)


MOVES: dict[str, type[MoveOp]] = {name: _make(form) for name, form in (FORMS | KNOWN_FORMS).items()}
"""Op classes by name without ``pto.``."""
