# SPDX-License-Identifier: Apache-2.0
"""The text of every op, a row each: operands, then clauses, then the types of the operands.

``pto.name head clauses {attributes} : types``. One reader (:mod:`tb.language.grammar.matching`) and
one printer (:mod:`tb.isa.text`) work on the rows. Sources: docs/spec/dialect.md,
docs/spec/README.md, the grammar of each op in its file.

The parts of a head and of a clause are written as a list of words:

* ``m``: an operand, an SSA value with a type; ``m?`` may be absent,
* ``:mode(nd2nz|dn2nz)``: a word, one of those; ``:type`` any word; ``|#`` also a number,
* ``clip=clip``, ``mode=:pre_quant_mode``: the same after a key and ``=``,
* ``sub_block/:ub_split(split_m|split_n)``: either of two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tb.isa.burst.table import BURSTS
from tb.isa.ctrl import ATOMIC_WORDS
from tb.isa.dma.table import STRIDED
from tb.isa.fields import OpSpec
from tb.isa.fill.op import FILLS as FILL_ROWS
from tb.isa.fix.table import WRITE_BACKS
from tb.isa.l0.table import LOADS, LoadSpec
from tb.isa.nz.table import MODES, MTE_GM_L1_FRAC, REPACKS

POINTER, BUFFER, INTEGER, FLAG, NUMBER = "pointer", "buffer", "integer", "flag", "number"
PAYLOAD, CLIP = "payload", "clip"
"""Kinds of an operand: pointers; pointers and memrefs; i64; i1; integers and floats; signless
integers, floats and pointers; numbers and pointers, which a rule refuses."""

_POINTERS = re.compile(r"(?:\w+_)?(?:src|dst)|lhs|rhs|bias")
_KINDS = {
    **dict.fromkeys(("smallc0_en", "data_select_bit", "conv_control"), FLAG),
    **dict.fromkeys(("pad_value", "raw"), NUMBER),
    **dict.fromkeys(("pre_quant_payload", "pre_relu_payload"), PAYLOAD),
    "clip": CLIP,
}
"""Operand to its kind; of others, pointers have names of their own, and the rest is i64."""

PART = re.compile(r"(?:(\w+)=)?(?:(\w+)/)?(:?)(\w+)(?:\(([\w|#]+)\))?(\??)")


@dataclass(frozen=True, slots=True)
class Part:
    """One operand or word.

    Attributes:
        name: Field name of the op class in :mod:`tb.isa`, or of a property.
        word: Whether it is a word; else an SSA value.
        key: Key before it, or empty.
        legal: Legal words where only some are; ``#`` is a number.
        optional: Whether it may be absent.
        other: Operand that may stand in place of the word, or empty.
    """

    name: str
    word: bool
    key: str = ""
    legal: tuple[str, ...] = ()
    optional: bool = False
    other: str = ""

    @property
    def shape(self) -> str:
        """How it is written, for messages."""
        text = "|".join(x for x in self.legal if x != "#") or f"<{self.key or self.name}>"
        text = text if self.word else f"%{self.name.removesuffix('s')}"
        text = f"%{self.other}|{text}" if self.other else text
        return f"{self.key} = {text}" if self.key else text


def parts(text: str) -> tuple[Part, ...]:
    """Returns the parts of a list."""
    found = []
    for one in text.split():
        match = PART.fullmatch(one)
        if match is None:
            raise ValueError(f"{one!r} is not a part of a grammar")
        key, other, word, name, legal, optional = match.groups()
        words = tuple(legal.split("|")) if legal else ()
        found.append(Part(name, bool(word), key or "", words, bool(optional), other or ""))
    return tuple(found)


@dataclass(frozen=True)
class Clause:
    """A clause of an op.

    Attributes:
        name: Word that begins it.
        inside: Its parts, as text; without any it has no parentheses.
        rule: Rule that wrong parts break, or empty.
        times: ``"1"``, ``"?"`` or ``"*"``.
        tag: Where its name stands among the types: nowhere, before its types (``"word"``), or
            around them (``"paren"``).
        word: Property that is the clause's name where no part gives another word; clauses of one
            property exclude each other.
        clash: Rule that two of them break; empty for that of the order.
        free: Whether it may be anywhere among the clauses; its types follow those of the head.
    """

    name: str
    inside: str = ""
    rule: str = ""
    times: str = "?"
    tag: str = ""
    word: str = ""
    clash: str = ""
    free: bool = False
    parts: tuple[Part, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", parts(self.inside))

    @property
    def slot(self) -> str:
        """Name that clauses which exclude each other share."""
        return self.word or self.name

    @property
    def shape(self) -> str:
        """How it is written, for messages."""
        first = bool(self.parts) and self.parts[0].optional and len(self.parts) > 1
        text = f"[{self.parts[0].shape}, ]" if first else ""
        for one in self.parts[first:]:
            comma = ", " if text and text[-1] != "]" else ""
            text += f"[{comma}{one.shape}]" if one.optional else f"{comma}{one.shape}"
        text = text.replace("][", ", ")
        return f"{self.name}({text})" if text else self.name


@dataclass(frozen=True, slots=True)
class Group:
    """Operands of one name, as the generic form counts them; ``most`` is -1 for any number."""

    name: str
    kind: str
    least: int = 1
    most: int = 1


@dataclass(frozen=True)
class Row:
    """How an op is written.

    Attributes:
        name: Without ``pto.``.
        start: Parts before the clauses, as text.
        clauses: In their order.
        rule: Rule that another order breaks, or empty.
        commas: Whether clauses follow commas; else no comma follows a clause.
        attributes: Properties that are attributes in the text.
        choices: Groups of operands of which the op has exactly one, after the head or as clauses
            with their names.
        memrefs: Whether a pointer may be a memref.
        executed: Whether a program runs it.
        kinds: Operands whose kind differs from that of their name.
        head: Parts before the clauses.
        groups: All operands, in the order of the generic form.
        kind_of: Operand to its kind.
        words: Properties.
        open: Whether the number of operands varies.
        names: Of the clauses.
        head_words: Words that may stand before the clauses.
        slots: Places of the clauses that have one, in their order.
    """

    name: str
    start: str
    clauses: tuple[Clause, ...] = ()
    rule: str = ""
    commas: bool = False
    attributes: tuple[str, ...] = ()
    choices: tuple[tuple[str, ...], ...] = ()
    memrefs: bool = True
    executed: bool = True
    kinds: tuple[tuple[str, str], ...] = ()
    head: tuple[Part, ...] = field(init=False)
    groups: tuple[Group, ...] = field(init=False)
    kind_of: dict[str, str] = field(init=False, compare=False)
    words: tuple[str, ...] = field(init=False)
    open: bool = field(init=False)
    names: frozenset[str] = field(init=False)
    head_words: frozenset[str] = field(init=False)
    slots: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        head = parts(self.start)
        groups = [self._group(one) for one in head if not one.word]
        words = [one.name for one in head if one.word]
        for clause in self.clauses:
            for one in clause.parts:
                operand = one.other if one.word else one.name
                if operand and all(operand != group.name for group in groups):
                    groups.append(self._group(one, clause))
            words += [clause.word, *(one.name for one in clause.parts if one.word)]
        groups += [Group(name, self._kind(name), 0) for choice in self.choices for name in choice]
        words += self.attributes
        free = [one for clause in self.clauses if clause.free for one in clause.parts]
        for name, value in (
            ("head", head),
            ("groups", tuple(groups)),
            ("kind_of", {one.name: one.kind for one in groups}),
            ("words", tuple(dict.fromkeys(filter(None, words)))),
            ("open", any(one.least != one.most for one in groups)),
            ("names", frozenset(clause.name for clause in self.clauses)),
            ("head_words", frozenset(x for one in (*head, *free) for x in one.legal)),
            ("slots", tuple(dict.fromkeys(x.slot for x in self.clauses if not x.free))),
        ):
            object.__setattr__(self, name, value)

    def _kind(self, name: str) -> str:
        """Returns the kind of an operand."""
        if name in dict(self.kinds):
            return dict(self.kinds)[name]
        if _POINTERS.fullmatch(name):
            return BUFFER if self.memrefs else POINTER
        return _KINDS.get(name, INTEGER)

    def _group(self, part: Part, clause: Clause | None = None) -> Group:
        name = part.other if part.word else part.name
        if clause is not None and clause.times == "*":
            return Group(name, self._kind(name), 0, -1)
        always = clause is None or clause.times == "1"
        return Group(name, self._kind(name), int(always and not part.optional and not part.word))

    @property
    def order(self) -> str:
        """The clauses in their order, for messages."""
        found = {
            slot: "|".join(dict.fromkeys(x.name for x in self.clauses if x.slot == slot))
            for slot in self.slots
        }
        return (", " if self.commas else " ").join(found.values()) or "no clause at all"


# --- copies ---------------------------------------------------------------------------------------

L2 = "l2_cache_ctl"
"""The hint of a store, which is a clause; a load has it among its operands."""

LOOPS = ("loop_counts", "loop_src_strides", "loop_dst_strides")
"""Operands of the loops of a strided copy. The generic form has all counts before all source
strides, and those before all destination strides, the order in which the compiler counts them."""

_HINT = Clause(L2, L2)
_LOOP = Clause("loop", " ".join(LOOPS), "DMA-L01", "*", tag="word")
_PAD = Clause("pad", "pad_value left_padding_count? right_padding_count?", "DMA-L02", tag="word")


def _copy(spec: OpSpec) -> Row:
    """Returns the row of a strided or a burst copy from the operands of its table."""
    names = [operand.name for operand in spec.operands]
    if spec.destination == "gm":
        names.remove(L2)
    first = names.index("n_burst")
    rule = "DMA-L01" if spec in STRIDED or spec.source == "ub" else ""
    clauses = [Clause("nburst", " ".join(names[first : first + 3]), rule, "1")]
    clauses += [_HINT] if spec.destination == "gm" else []
    clauses += [_LOOP] if "loop_count" in names else []
    clauses += [_PAD] if "pad_value" in names else []
    inside = spec.source == "ub" and spec.destination != "gm"
    return Row(spec.name, " ".join(names[:first]), tuple(clauses), memrefs=not inside)


_FRACTAL = Row(
    MTE_GM_L1_FRAC.name,
    f"gm_src l1_dst :mode({'|'.join(MODES)})",
    (
        Clause("shape", "n_value d_value", "", "1", "word"),
        Clause("src_layout", "src_inner_stride src_outer_stride?", "ND-L02", "1", "paren"),
        Clause(
            "dst_group", "group_count dst_loop2_stride dst_loop3_stride dst_loop4_stride",
            "ND-L02", "1", "word",
        ),
        Clause("ctrl", "l2_cache_ctrl smallc0_en", "", "1", "word"),
    ),
    commas=True,
)  # fmt: skip

# --- write-backs ----------------------------------------------------------------------------------

LOOP3 = ("loop3_count", "loop3_src_stride", "loop3_dst_stride")
"""Operands of the repetition of a write-back."""

_WRITE_BACK = (
    Clause("unit_flag", ":unit_flag(check_only|check_and_clear|#)"),
    Clause("pre_quant", "pre_quant_payload? mode=:pre_quant_mode", "FIX-L03"),
    Clause("pre_relu", "pre_relu_payload? mode=:pre_relu_mode clip=clip?", "FIX-L05"),
    Clause("nz2nd", "", "FIX-L08", word="layout"),
    Clause("nz2nz", "split?", "FIX-L08", word="layout"),
    Clause("nz2dn", "k", "FIX-L08", word="layout"),
    Clause("loop3", " ".join(LOOP3), "FIX-L01"),
    Clause("sat", ":sat(preserve_nan)?", "FIX-L10", word="sat", clash="FIX-L10"),
    Clause("nosat", "", "FIX-L10", word="sat", clash="FIX-L10"),
)
_ATOMIC = Clause("atomic", "type=:atomic_type op=:atomic_op", "FIX-L11")
_DST_MODE = Clause("dst_mode", "sub_block/:ub_split(split_m|split_n)", times="1", free=True)
_TILE = "src dst m n src_stride dst_stride"


def _write_back(spec: OpSpec) -> Row:
    hints = " ".join(name for name in ("sid", "l2_cache_ctrl") if spec.has(name))
    clauses = (*[_DST_MODE] * (spec.destination == "ub"), *_WRITE_BACK, *[_ATOMIC] * spec.updates)
    return Row(spec.name, f"{_TILE} {hints}".strip(), clauses, "FIX-L01", commas=True)


# --- loads and products ---------------------------------------------------------------------------

TRANSPOSE = "transpose"
CONTROLS = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
SCALE_CONTROLS = ("x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride")
"""Operands of the control form of a load of factors, and of their scales."""

_LOAD = f"src dst {' '.join(CONTROLS)}"
_SCALES = f"src dst {' '.join(SCALE_CONTROLS)}"


def _load(spec: LoadSpec) -> Row:
    choices = spec.shape, SCALE_CONTROLS if spec.scales else CONTROLS
    words = () if spec.scales else (TRANSPOSE,)
    return Row(spec.name, "src dst", attributes=words, choices=choices)


_MAD = (
    Clause("unit_flag", ":unit_flag(check_only|check_and_set)"),
    Clause("disable_gemv", word="disable_gemv"),
    Clause("sat", word="sat"),
    Clause("nosat", word="sat"),
    Clause("tf32_mode", ":tf32_mode(round_even|round_away)"),
    Clause("n_dir", word="n_dir"),
)


def _mad(name: str) -> Row:
    """Returns the row of an op of the matrix unit."""
    bias = "bias " if name.endswith("_bias") else ""
    clauses = tuple(x for x in _MAD if x.name != "tf32_mode" or not name.startswith("mad_mx"))
    return Row(name, f"lhs rhs dst {bias}m n k", clauses, memrefs=False)


# --- forms with operands alone --------------------------------------------------------------------


def _plain(name: str, start: str = "", *, memrefs: bool = False, **more: object) -> Row:
    return Row(name, start, memrefs=memrefs, **more)  # type: ignore[arg-type]


_REGISTERS = (
    *(
        _plain(f"set_loop_size_{way}", "loop1_count loop2_count")
        for way in ("outtoub", "ubtoout")
    ),
    *(
        _plain(
            f"set_loop{level}_stride_{way}", "src_stride dst_stride",
        )
        for level in (1, 2)
        for way in ("outtoub", "ubtoout")
    ),
    _plain("set_mov_pad_val", "value", kinds=(("value", NUMBER),)),
    _plain("set_ctrl", "value"),
    *(_plain(f"set_atomic_{what}") for what in ATOMIC_WORDS),
)  # fmt: skip
_COPIES = (
    _plain(
        "copy_gm_to_ubuf",
        "gm_src ub_dst sid n_burst len_burst left_padding right_padding data_select_bit "
        "l2_cache_ctl src_stride dst_stride",
        memrefs=True,
    ),
    _plain(
        "copy_ubuf_to_gm",
        "ub_src gm_dst sid n_burst len_burst l2_cache_ctl dst_stride src_stride",
        memrefs=True,
    ),
    _plain("copy_ubuf_to_ubuf", "src dst sid n_burst len_burst src_stride dst_stride"),
    _plain("copy_gm_to_cbuf", "gm_src l1_dst n_burst len_burst src_stride dst_stride"),
    _plain("copy_cbuf_to_ubuf", "l1_src ub_dst sid n_burst len_burst src_gap dst_gap"),
    _plain("copy_ubuf_to_cbuf", "ub_src l1_dst sid n_burst len_burst src_gap dst_gap"),
    _plain("copy_cbuf_to_fbuf", "l1_src fb_dst n_burst len_burst src_gap dst_gap"),
)

FILLS = (*(spec.name for spec in FILL_ROWS), "create_cbuf_matrix")
"""Ops that write a pattern to L1."""

_PATTERN = ("fill_word_bits",)

ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        *(_copy(spec) for spec in (*STRIDED, *BURSTS.values())),
        *(replace(_FRACTAL, name=spec.name) for spec in REPACKS),
        *map(_write_back, WRITE_BACKS),
        *_REGISTERS,
        *_COPIES,
        *(_plain(spec.name, "dst byte_offset raw repeat blocks gap", memrefs=True,
                 attributes=_PATTERN) for spec in FILL_ROWS),
        _plain("create_cbuf_matrix", "dst raw repeat blocks gap", attributes=_PATTERN),
        *map(_load, LOADS.values()),
        *(_plain(f"load_cbuf_to_{to}", _LOAD, attributes=(TRANSPOSE,)) for to in ("ca", "cb")),
        *(_plain(f"load_cbuf_to_{to}_s4", f"{_LOAD} {TRANSPOSE}") for to in ("ca", "cb")),
        *(_plain(f"load_cbuf_to_{to}_mx", _SCALES) for to in ("ca", "cb")),
        *(_mad(f"mad{what}") for what in ("", "_acc", "_bias", "_mx", "_mx_acc", "_mx_bias")),
        *(_plain(f"mad{what}_raw", "lhs rhs dst xt") for what in ("", "_mx")),
        *(_plain(f"mad{what}_bias_raw", "lhs rhs dst bias xt") for what in ("", "_mx")),
    )
}  # fmt: skip
"""Every op that moves data, writes a register of one that does, or feeds or is the multiplier."""


def _known(name: str, start: str = "value") -> Row:
    return _plain(name, start, executed=False)


KNOWN_ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        *(
            _known(f"set_{name}")
            for name in (
                *("loop1_stride_outtol1", "loop2_stride_outtol1", "loop_size_outtol1"),
                *("mte2_nz_para", "pad_val_outtol1", "quant_pre", "relu_alpha"),
                *("fix_clip_relu", "fpc", "store_atomic_cfg"),
            )
        ),
        _known("set_loop3_para", "low high"),
        _known("set_channel_para", "low high"),
        *(
            _known(
                f"copy_gm_to_cbuf_multi_{mode}",
                "gm_src l1_dst sid loop1_src_stride l2_cache_ctl n_value d_value "
                "loop4_src_stride smallc0_en",
            )
            for mode in MODES
        ),
        _known("copy_cbuf_to_bt", "src dst conv_control n_burst len_burst src_gap dst_gap"),
        *(_known(f"copy_matrix_cc_to_{to}", "src dst xm xt") for to in ("gm", "cbuf", "ub")),
    )
}
"""Ops that move data or write its registers and are read and not executed."""
