# SPDX-License-Identifier: Apache-2.0
"""Operands of every movement op, in the order of its generic form, and their groups.

A group holds a fixed number of operands, none or one, or any number. ``operandSegmentSizes`` of
the generic form counts the operands of each group; ops without groups of open size need none. The
order is that of the text, but for the loops of the strided ops: all counts are before all source
strides and those before all destination strides. It is the order in which the compiler counts them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tb.isa.burst.table import BURSTS
from tb.isa.ctrl import ATOMIC_WORDS as SET_ATOMIC_WORDS
from tb.isa.dma.table import STRIDED
from tb.isa.fields import OpSpec

POINTER, BUFFER, INTEGER, FLAG, NUMBER = "pointer", "buffer", "integer", "flag", "number"
PAYLOAD, CLIP = "payload", "clip"
"""Kinds of a group: pointers; pointers and memrefs; i64; i1; integers and floats; signless
integers, floats and pointers; numbers and pointers, which a rule refuses."""

FLAGS = ("smallc0_en", "data_select_bit", "conv_control")
"""Operands of type i1."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of operands.

    Attributes:
        name: Field name of the op class in :mod:`tb.isa`, or name of a clause's part.
        kind: One of the constants above.
        least, most: How many operands it holds; ``most`` is -1 for any number.
    """

    name: str
    kind: str = INTEGER
    least: int = 1
    most: int = 1


@dataclass(frozen=True)
class Form:
    """How an op is written.

    Attributes:
        name: Without ``pto.``.
        family: ``"dma"``, ``"burst"``, ``"nz"``, ``"fix"``, ``"load"``, ``"mad"``, ``"plain"``:
            which reading fits.
        head: Names of the operands before the clauses.
        groups: All groups of operands, those of the head first.
        words: Properties that are keywords or numbers, with what they are called in errors.
        head_words: Words among the operands.
        executed: Whether a program runs it.
    """

    name: str
    family: str
    head: tuple[str, ...]
    groups: tuple[Group, ...]
    words: tuple[str, ...] = ()
    head_words: tuple[str, ...] = ()
    executed: bool = True
    open: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "open", any(x.least != x.most for x in self.groups))


def _fixed(names: str, *, pointers: int = 2, pointer: str = BUFFER) -> tuple[Group, ...]:
    """Returns groups of one operand: some pointers, then integers and flags."""
    return tuple(
        Group(name, pointer if k < pointers else FLAG if name in FLAGS else INTEGER)
        for k, name in enumerate(names.split())
    )


def _optional(name: str, kind: str = INTEGER) -> Group:
    return Group(name, kind, 0, 1)


L2 = "l2_cache_ctl"
"""The hint of a store, which is a clause; a load has it among its operands."""

LOOPS = (
    Group("loop_counts", INTEGER, 0, -1),
    Group("loop_src_strides", INTEGER, 0, -1),
    Group("loop_dst_strides", INTEGER, 0, -1),
)
PADS = (
    _optional("pad_value", NUMBER),
    _optional("left_padding_count"),
    _optional("right_padding_count"),
)
_CLAUSES = (
    _optional("pre_quant_payload", PAYLOAD),
    _optional("pre_relu_payload", PAYLOAD),
    _optional("clip", CLIP),
    _optional("split"),
    _optional("k"),
    _optional("loop3_count"),
    _optional("loop3_src_stride"),
    _optional("loop3_dst_stride"),
)
FIX_WORDS = ("pre_quant_mode", "pre_relu_mode", "layout", "sat", "unit_flag")
ATOMIC_WORDS = ("atomic_type", "atomic_op")
SPLITS = ("split_m", "split_n")


def _rows(spec: OpSpec, family: str) -> Form:
    """Returns the form of a strided or a burst copy: its operands up to the gaps or strides.

    Loops and pad, where the op has them, are optional groups of their own.
    """
    names = [operand.name for operand in spec.operands]
    hints = [_optional(L2)] if spec.name == "mte_ub_gm" else []
    if hints:
        names.remove(L2)
    head = names[: names.index("n_burst")]
    inside = "gm" not in (spec.source, spec.destination) and spec.source == "ub"
    pointer = POINTER if inside else BUFFER
    groups = [*_fixed(" ".join(names[: len(head) + 3]), pointer=pointer), *hints]
    groups += LOOPS if "loop_count" in names else ()
    groups += PADS if "pad_value" in names else ()
    return Form(spec.name, family, tuple(head), tuple(groups))


def _nz() -> Form:
    groups = (
        *_fixed("gm_src l1_dst n_value d_value src_inner_stride"),
        _optional("src_outer_stride"),
        *_fixed(
            "group_count dst_loop2_stride dst_loop3_stride dst_loop4_stride "
            "l2_cache_ctrl smallc0_en",
            pointers=0,
        ),
    )
    return Form("mte_gm_l1_frac", "nz", ("gm_src", "l1_dst"), groups, ("mode",), ("nd2nz", "dn2nz"))


def _fix(name: str, more: str = "") -> Form:
    head = f"src dst m n src_stride dst_stride {more}"
    groups = list(_fixed(head))
    words: tuple[str, ...] = FIX_WORDS
    head_words: tuple[str, ...] = ()
    if name == "mte_l0c_gm":
        words = (*FIX_WORDS, *ATOMIC_WORDS)
    elif name == "mte_l0c_ub":
        groups.append(_optional("sub_block"))
        words, head_words = (*FIX_WORDS, "ub_split"), SPLITS
    return Form(name, "fix", tuple(head.split()), (*groups, *_CLAUSES), words, head_words)


def _plain(name: str, operands: str, pointers: int = 2) -> Form:
    pointer = BUFFER if name in _TAKE_MEMREFS else POINTER
    groups = _fixed(operands, pointers=pointers, pointer=pointer)
    return Form(name, "plain", tuple(operands.split()), groups)


FILLS = ("raw_fill_l1", "create_cbuf_matrix")
"""Ops that write a pattern to L1."""


def _fill(name: str, operands: str) -> Form:
    """Returns the form of an op that writes a pattern to L1."""
    form = _plain(name, operands, 1)
    groups = (Group("raw", NUMBER) if one.name == "raw" else one for one in form.groups)
    return replace(form, groups=tuple(groups), words=("fill_word_bits",))


_TAKE_MEMREFS = ("copy_gm_to_ubuf", "copy_ubuf_to_gm", "raw_fill_l1")

SHAPES: dict[str, tuple[str, ...]] = {
    "mte_l1_l0a": ("m", "k", "start_row", "start_col"),
    "mte_l1_l0b": ("k", "n", "start_row", "start_col"),
}
"""Operands of the shape form of a load of L0A or L0B; its ``_mx`` form has the same."""

TRANSPOSE = "transpose"


def _load(name: str, control: str) -> Form:
    """Returns the form of a load from L1 to L0A or L0B: one of two groups of operands."""
    shape = SHAPES[name.removesuffix("_mx")]
    optional = (_optional(each) for each in (*shape, *control.split()))
    groups = (*_fixed("src dst"), *optional)
    words = () if name.endswith("_mx") else (TRANSPOSE,)
    return Form(name, "load", ("src", "dst"), groups, words)


CONTROLS = "m_start k_start m_step k_step src_stride dst_stride"
SCALE_CONTROLS = "x_start y_start x_step y_step src_stride dst_stride"
"""Operands of the control form of a load of factors, and of their scales."""

_LOAD = f"src dst {CONTROLS}"
_SCALES = f"src dst {SCALE_CONTROLS}"

MAD_CLAUSES = ("unit_flag", "disable_gemv", "sat", "tf32_mode", "n_dir")
"""Properties of ``mad`` in the order of its clauses; ``sat`` is ``sat`` or ``nosat``."""


def _mad(name: str) -> Form:
    """Returns the form of an op of the matrix unit."""
    pointers = "lhs rhs dst bias" if name.endswith("_bias") else "lhs rhs dst"
    head = f"{pointers} m n k"
    groups = _fixed(head, pointers=len(pointers.split()), pointer=POINTER)
    words = tuple(x for x in MAD_CLAUSES if x != "tf32_mode" or not name.startswith("mad_mx"))
    return Form(name, "mad", tuple(head.split()), groups, words)


_STRIDES = tuple(
    _plain(f"set_loop{level}_stride_{way}", "src_stride dst_stride", 0)
    for level in (1, 2)
    for way in ("outtoub", "ubtoout")
)

FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        *(_rows(spec, "dma") for spec in STRIDED),
        *(_rows(spec, "burst") for spec in BURSTS.values()),
        _nz(),
        _fix("mte_l0c_gm", "sid l2_cache_ctrl"),
        _fix("mte_l0c_l1"),
        _fix("mte_l0c_ub"),
        _plain("set_loop_size_outtoub", "loop1_count loop2_count", 0),
        _plain("set_loop_size_ubtoout", "loop1_count loop2_count", 0),
        *_STRIDES,
        Form("set_mov_pad_val", "plain", ("value",), (Group("value", NUMBER),)),
        _plain("set_ctrl", "value", 0),
        *(_plain(f"set_atomic_{what}", "", 0) for what in SET_ATOMIC_WORDS),
        _plain(
            "copy_gm_to_ubuf",
            "gm_src ub_dst sid n_burst len_burst left_padding right_padding data_select_bit "
            "l2_cache_ctl src_stride dst_stride",
        ),
        _plain(
            "copy_ubuf_to_gm",
            "ub_src gm_dst sid n_burst len_burst l2_cache_ctl dst_stride src_stride",
        ),
        _plain("copy_ubuf_to_ubuf", "src dst sid n_burst len_burst src_stride dst_stride"),
        _plain("copy_gm_to_cbuf", "gm_src l1_dst n_burst len_burst src_stride dst_stride"),
        _plain("copy_cbuf_to_ubuf", "l1_src ub_dst sid n_burst len_burst src_gap dst_gap"),
        _plain("copy_ubuf_to_cbuf", "ub_src l1_dst sid n_burst len_burst src_gap dst_gap"),
        _plain("copy_cbuf_to_fbuf", "l1_src fb_dst n_burst len_burst src_gap dst_gap"),
        _fill(FILLS[0], "dst byte_offset raw repeat blocks gap"),
        _fill(FILLS[1], "dst raw repeat blocks gap"),
        *(_load(name, CONTROLS) for name in SHAPES),
        *(_load(f"{name}_mx", SCALE_CONTROLS) for name in SHAPES),
        *(replace(_plain(f"load_cbuf_to_{to}", _LOAD), words=(TRANSPOSE,)) for to in ("ca", "cb")),
        *(_plain(f"load_cbuf_to_{to}_s4", f"{_LOAD} transpose") for to in ("ca", "cb")),
        *(_plain(f"load_cbuf_to_{to}_mx", _SCALES) for to in ("ca", "cb")),
        *(_mad(f"mad{what}") for what in ("", "_acc", "_bias", "_mx", "_mx_acc", "_mx_bias")),
        *(_plain(f"mad{what}_raw", "lhs rhs dst xt", 3) for what in ("", "_mx")),
        *(_plain(f"mad{what}_bias_raw", "lhs rhs dst bias xt", 4) for what in ("", "_mx")),
    )
}
"""Every op that moves data, writes a register of one that does, or feeds or is the multiplier."""


def _known(name: str, operands: str, pointers: int = 2) -> Form:
    return replace(_plain(name, operands, pointers), executed=False)


KNOWN_FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        *(
            _known(f"set_{name}", "value", 0)
            for name in (
                *("loop1_stride_outtol1", "loop2_stride_outtol1", "loop_size_outtol1"),
                *("mte2_nz_para", "pad_val_outtol1", "quant_pre", "relu_alpha"),
                *("fix_clip_relu", "fpc", "store_atomic_cfg"),
            )
        ),
        _known("set_loop3_para", "low high", 0),
        _known("set_channel_para", "low high", 0),
        *(
            _known(
                f"copy_gm_to_cbuf_multi_{mode}",
                "gm_src l1_dst sid loop1_src_stride l2_cache_ctl n_value d_value "
                "loop4_src_stride smallc0_en",
            )
            for mode in ("nd2nz", "dn2nz")
        ),
        _known("copy_cbuf_to_bt", "src dst conv_control n_burst len_burst src_gap dst_gap"),
        *(_known(f"copy_matrix_cc_to_{to}", "src dst xm xt") for to in ("gm", "cbuf", "ub")),
    )
}
"""Ops that move data or write its registers and are read and not executed."""
