# SPDX-License-Identifier: Apache-2.0
"""Meaning of the pretty form of the movement ops: which operand is which, and what text breaks.

Rules that text alone can break are decided here: DMA-L01, DMA-L02, ND-L02, FIX-L01, and FIX-L03,
L05, L06, L08, L10 and L11 as far as they speak of operands that a clause has or lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.lexer import Span

from tb.isa.nz_table import MODES
from tb.language.dialect import SEGMENTS, Fault, MoveOp, OpError, segment_sizes, string, written
from tb.language.dialect_forms import Form
from tb.language.dialect_types import type_name
from tb.language.syntax import Clause, Item, OpText, read_op, standing


@dataclass
class Reading:
    """What is understood of an op so far.

    Attributes:
        text: The op as written.
        form: What it may consist of.
        groups: Operands of each group.
        order: Operands in the order of the text, which is that of the types.
        words: Properties.
        faults: What is wrong.
    """

    text: OpText
    form: Form
    groups: dict[str, list[Item]] = field(default_factory=dict)
    order: list[Item] = field(default_factory=list)
    words: dict[str, Attribute] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def put(self, name: str, item: Item) -> None:
        """Adds an operand to a group."""
        if item.kind != "value":
            self.fault(f"{item.text!r} in pto.{self.form.name} is no SSA value", at=item.at)
            return
        self.groups.setdefault(name, []).append(item)
        self.order.append(item)

    def fault(self, message: str, rule: str = "", at: int = -1, legal: str = "") -> None:
        """Notes what is wrong; each rule once."""
        if not rule or all(fault.rule != rule for fault in self.faults):
            self.faults.append(Fault(message, rule, -1 if rule else at, legal))

    def exactly(self, clause: Clause, names: tuple[str, ...], rule: str, shape: str) -> None:
        """Takes the operands of a clause that has as many as there are names."""
        if len(clause.items) != len(names) or any(item.key for item in clause.items):
            self.fault(
                f"{clause.name} has {len(clause.items)} operands of {len(names)}",
                rule,
                clause.at,
                shape,
            )
            return
        for name, item in zip(names, clause.items, strict=True):
            self.put(name, item)


# --- operands before the clauses -----------------------------------------------------------------


def _head(reading: Reading) -> None:
    form, items = reading.form, reading.text.head
    values = [item for item in items if item.kind != "word"]
    words = [item for item in items if item.kind == "word"]
    names = list(form.head)
    if form.name == "mte_ub_gm" and len(values) == len(names) - 1:
        names.remove("l2_cache_ctl")
    if form.name == "mte_l0c_ub" and words:
        names.remove("sub_block")
        reading.words["ub_split"] = string(words.pop(0).text)
    if form.family == "nz":
        if words:
            reading.words["mode"] = string(words.pop(0).text)
        else:
            reading.fault(
                f"pto.{form.name} lacks the layout of its source",
                at=reading.text.at,
                legal=" or ".join(MODES),
            )
    if words:
        at = words[0].at
        reading.fault(f"{words[0].text!r} in pto.{form.name} is no operand", at=at)
    if len(values) != len(names):
        more = ", ".join(f"%{name}" for name in form.head)
        reading.fault(
            f"pto.{form.name} has {len(values)} operands, it takes {len(names)}",
            at=reading.text.at,
            legal=more,
        )
        return
    for name, item in zip(names, values, strict=True):
        reading.put(name, item)


# --- clauses of each family ----------------------------------------------------------------------


def _unknown(reading: Reading, clause: Clause, legal: str) -> None:
    reading.fault(
        f"pto.{reading.form.name} has no clause {clause.name!r}", at=clause.at, legal=legal
    )


def _nbursts(reading: Reading, names: tuple[str, ...], rule: str) -> None:
    found = [clause for clause in reading.text.clauses if clause.name == "nburst"]
    shape = f"nburst({', '.join('%' + name for name in names)})"
    if len(found) != 1:
        reading.fault(
            f"pto.{reading.form.name} has {len(found)} nburst clauses of 1",
            rule,
            reading.text.at,
            shape,
        )
    if found:
        reading.exactly(found[0], names, rule, shape)


def _dma(reading: Reading) -> None:
    legal = "nburst(...) loop(...)" + (" pad(...)" if reading.form.name == "mte_gm_ub" else "")
    known = {"nburst": 0, "loop": 1}
    if reading.form.name == "mte_gm_ub":
        known["pad"] = 2
    _nbursts(reading, ("n_burst", "src_stride", "dst_stride"), "DMA-L01")
    reached, pads = 0, 0
    for clause in reading.text.clauses:
        place = known.get(clause.name)
        if place is None:
            _unknown(reading, clause, legal)
            continue
        if place < reached:
            reading.fault(
                f"{clause.name} stands too late in pto.{reading.form.name}",
                at=clause.at,
                legal=legal,
            )
        reached = place
        if clause.name == "loop":
            names = ("loop_counts", "loop_src_strides", "loop_dst_strides")
            shape = "loop(%count, %src_stride, %dst_stride)"
            reading.exactly(clause, names, "DMA-L01", shape)
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
            _unknown(reading, clause, "nburst(%count, %src_gap, %dst_gap)")


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
            _unknown(reading, clause, ", ".join(f"{name}(...)" for name in _NZ))
            continue
        place = order.index(clause.name)
        if place <= reached:
            reading.fault(
                f"{clause.name} stands too late or twice", at=clause.at, legal=", ".join(_NZ)
            )
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
                f"pto.{reading.form.name} lacks {name}({', '.join('%' + part for part in parts)})",
                "ND-L02" if name in ("src_layout", "dst_group") else "",
                reading.text.at,
            )


_FIX_ORDER = ("unit_flag", "pre_quant", "pre_relu", "layout", "loop3", "sat", "atomic")
_FIX_KIND = {
    **{name: name for name in _FIX_ORDER if name != "layout"},
    **dict.fromkeys(("nz2nd", "nz2dn", "nz2nz"), "layout"),
    "nosat": "sat",
}
_FIX_LEGAL = "unit_flag, pre_quant, pre_relu, nz2nd|nz2dn|nz2nz, loop3, sat|nosat, atomic"


def _fix(reading: Reading) -> None:
    reached = -1
    for clause in reading.text.clauses:
        kind = _FIX_KIND.get(clause.name)
        if clause.name == "clip":
            reading.fault("clip stands outside pre_relu", "FIX-L06", legal="pre_relu(mode, clip)")
            continue
        if kind is None:
            _unknown(reading, clause, _FIX_LEGAL)
            continue
        if kind == "atomic" and reading.form.name != "mte_l0c_gm":
            reading.fault(
                f"pto.{reading.form.name} takes no atomic", "FIX-L11", legal="mte_l0c_gm alone"
            )
            continue
        place = _FIX_ORDER.index(kind)
        if place == reached and kind == "sat" and _saturation(clause) != reading.words.get("sat"):
            reading.fault(
                "two saturation clauses exclude each other",
                "FIX-L10",
                legal="one of sat, sat(preserve_nan), nosat",
            )
            continue
        if place <= reached:
            how = "twice" if place == reached else "too late"
            reading.fault(f"{clause.name} stands {how}", "FIX-L01", legal=_FIX_LEGAL)
            continue
        reached = place
        _FIX_READERS[kind](reading, clause)


def _keys(reading: Reading, clause: Clause, rule: str, keys: tuple[str, ...], shape: str) -> bool:
    """Tells whether a clause has each key at most once and no other one, and notes if not."""
    for item in clause.items:
        if item.key and (item.key not in keys or len(clause.keyed(item.key)) > 1):
            reading.fault(f"{clause.name} has {item.key!r} wrongly", rule, legal=shape)
            return False
    return True


def _unit_flag(reading: Reading, clause: Clause) -> None:
    item = clause.items[0] if len(clause.items) == 1 else None
    if item and item.kind == "word" and item.text in ("check_only", "check_and_clear"):
        reading.words["unit_flag"] = string(item.text)
    elif item and item.kind == "number" and item.text.isdigit() and int(item.text) < 1 << 31:
        reading.words["unit_flag"] = IntegerAttr(int(item.text), i32)
    else:
        reading.fault(
            "unit_flag says none of its modes", at=clause.at, legal="check_only, check_and_clear"
        )


def _payload(reading: Reading, clause: Clause, rule: str, shape: str) -> bool:
    """Takes mode and payload of ``pre_quant`` and ``pre_relu``."""
    modes, values = clause.keyed("mode"), clause.values
    keys = ("mode", "clip") if clause.name == "pre_relu" else ("mode",)
    if not _keys(reading, clause, rule, keys, shape):
        return False
    if not modes or modes[0].kind == "value":
        reading.fault(f"{clause.name} has no mode", rule, legal=shape)
        return False
    if len(values) > 1:
        reading.fault(f"{clause.name} has {len(values)} payloads", rule, legal=shape)
        return False
    for value in values:
        reading.put(f"{clause.name}_payload", value)
    reading.words[f"{clause.name}_mode"] = string(modes[0].text)
    return True


def _pre_quant(reading: Reading, clause: Clause) -> None:
    _payload(reading, clause, "FIX-L03", "pre_quant(%payload, mode = <mode>)")


def _pre_relu(reading: Reading, clause: Clause) -> None:
    shape = "pre_relu([%payload, ]mode = <mode>[, clip = %clip])"
    if _payload(reading, clause, "FIX-L05", shape):
        for item in clause.keyed("clip"):
            reading.put("clip", item)


def _layout(reading: Reading, clause: Clause) -> None:
    most = {"nz2nd": 0, "nz2dn": 1, "nz2nz": 1}[clause.name]
    least = 1 if clause.name == "nz2dn" else 0
    if not least <= len(clause.items) <= most or any(item.key for item in clause.items):
        reading.fault(
            f"{clause.name} has {len(clause.items)} operands",
            "FIX-L08",
            legal="nz2nd, nz2dn(%loop0_src_stride), nz2nz, nz2nz(%split)",
        )
    else:
        for item in clause.items:
            reading.put("k" if least else "split", item)
    reading.words["layout"] = string(clause.name)


def _loop3(reading: Reading, clause: Clause) -> None:
    names = ("loop3_count", "loop3_src_stride", "loop3_dst_stride")
    reading.exactly(clause, names, "FIX-L01", "loop3(%count, %src_stride3, %dst_stride3)")


def _saturation(clause: Clause) -> Attribute:
    """Returns what a saturation clause says."""
    return string("preserve_nan" if clause.items else clause.name)


def _sat(reading: Reading, clause: Clause) -> None:
    inside = [item.text for item in clause.items]
    if inside and (clause.name == "nosat" or inside != ["preserve_nan"]):
        reading.fault(
            f"{clause.name} has {', '.join(inside)} in it",
            "FIX-L10",
            legal="sat, sat(preserve_nan), nosat",
        )
    reading.words["sat"] = _saturation(clause)


def _atomic(reading: Reading, clause: Clause) -> None:
    shape = "atomic(type = <type>, op = add|max|min)"
    if not _keys(reading, clause, "FIX-L11", ("type", "op"), shape):
        return
    for key in ("type", "op"):
        found = clause.keyed(key)
        if not found or clause.values:
            reading.fault(f"atomic lacks {key}", "FIX-L11", legal=shape)
            return
        reading.words[f"atomic_{key}"] = string(found[0].text)


_FIX_READERS: dict[str, Callable[[Reading, Clause], None]] = {
    "unit_flag": _unit_flag,
    "pre_quant": _pre_quant,
    "pre_relu": _pre_relu,
    "layout": _layout,
    "loop3": _loop3,
    "sat": _sat,
    "atomic": _atomic,
}


def _plain(reading: Reading) -> None:
    for clause in reading.text.clauses:
        _unknown(reading, clause, "no clause at all")


_FAMILIES: dict[str, Callable[[Reading], None]] = {
    "dma": _dma,
    "burst": _burst,
    "nz": _nz,
    "fix": _fix,
    "plain": _plain,
}


# --- the op --------------------------------------------------------------------------------------


def resolve(parser: Parser, item: Item, kind: Attribute) -> SSAValue:
    """Returns the value of an operand that is written with a type."""
    name, _, index = item.text.partition("#")
    span = Span(item.at, item.at + len(name), parser.lexer.input)
    return parser.resolve_operand(UnresolvedOperand(span, int(index or 0)), kind)


def read_move(cls: type[MoveOp], parser: Parser) -> MoveOp:
    """Returns the op whose name the parser has just gone past.

    Raises:
        OpError: a rule of the text is broken; the parser stands behind the op.
        ParseError: the text is no such op.
    """
    form = cls.form
    name = f"pto.{form.name}"
    start = parser.lexer.input.content.rfind(name, 0, standing(parser))
    text = read_op(parser, form.name, start, form.head_words)
    reading = Reading(text, form)
    _head(reading)
    _FAMILIES[form.family](reading)
    if reading.faults:
        raise OpError(*reading.faults)
    if len(text.types) != len(reading.order):
        kinds = ", ".join(type_name(kind) for kind, _ in text.types)
        raise OpError(
            Fault(
                f"type mismatch: {name} has {len(reading.order)} operands and "
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
    if form.open:
        properties[SEGMENTS] = segment_sizes(tuple(map(len, taken)))
    op = cls.create(
        operands=[value for group in taken for value in group],
        properties=properties,
        attributes=attributes,
    )
    _check_segments(given, op)
    written(op)
    return op


def _check_segments(given: Attribute | None, op: MoveOp) -> None:
    """Refuses a trailing ``operandSegmentSizes`` that cannot be of this op."""
    get = getattr(given, "get_values", None)
    if given is None:
        return
    total = sum(get()) if get else -1
    if total != len(op.operands):
        raise OpError(
            Fault(f"{SEGMENTS} of {op.name} counts {total} operands of {len(op.operands)}")
        )
