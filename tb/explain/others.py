# SPDX-License-Identifier: Apache-2.0
"""Ops without a byte map, which no engine executes: a sentence, and register words.

``SENTENCES`` has a row for each kind of op of docs/spec/dialect.md that has no byte map.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tb.explain.raw import COPIES
from tb.explain.words import WordValue, coded, decoded, word_named
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import OUTTOUB, DmaRegisters, LegacySet, SetLoopSize, SetMovPadVal
from tb.isa.dtypes import element_bytes
from tb.isa.mad import ACC, Mad, parts, problems
from tb.isa.ops import LEGACY_FORMS, OPS, TEXT_FORMS
from tb.language.foreign import foreign_words
from tb.language.unknown import UndecidedError

_SKIPPED = "it is known and not executed"

_BUFFERS = r"(get|rls)_buf(_dyn)?"
_FLAGS = r"(set|wait)_flag(_dyn)?|(record|wait)_event"
_BARRIERS = r"(pipe_)?barrier|barrier_sync"
_IN_BLOCK = r"(set|wait)_intra_block"
_SYNC = r"sync\.(set|wait)"
_ALL_BLOCKS = r"(set|wait)_cross_block|syncall"

_QUIET = r"set_ffts|mem_bar|dsb|dcci|cmo\.cacheinvalid|fence\.barrier_all"

_PASSED = re.compile("|".join((_FLAGS, _BARRIERS, _BUFFERS, _IN_BLOCK, _SYNC, _ALL_BLOCKS, _QUIET)))
"""Names of ops that order pipes, cores or accesses and need no register."""

_RUN = "in a run it is executed between the cube core and the vector cores"

_KINDS = ("", "_acc", "_bias", "_mx", "_mx_acc", "_mx_bias")
_RAWS = ("", "_bias", "_mx", "_mx_bias")

_HOST = (
    "no engine executes it and no descriptor holds it; in a run the host computes it from the "
    "simulated memories: the sum is exact and rounded once to f32, or modulo 2^32 to i32 [rule "
    "MD-1, docs/spec/l0_loads.md, section 6]"
)
_WORD = (
    "m, n, k and clauses are in the word Xt, and so is I: bit 63 0, bit 62 the bias, neither old C"
)


def _formula(kind: str, start: str) -> str:
    scaled = ", each factor times its scale in L0A_MX, L0B_MX" if "mx" in kind else ""
    bias = " and the bias in BT" if "bias" in kind else ""
    total = f"{start}sum over k of A[m][k]*B[k][n]"
    return f"writes C[m][n] = {total}{scaled}; A is in L0A, B in L0B, C in L0C{bias}"


def _start(kind: str) -> str:
    if kind.endswith("acc"):
        return "old C[m][n] + "
    return "bias[n] + " if kind.endswith("bias") else ""


PRODUCTS: tuple[tuple[str, str], ...] = (
    *((f"mad{kind}", f"{_formula(kind, _start(kind))}; {_HOST}") for kind in _KINDS),
    *((f"mad{kind}_raw", f"{_formula(kind, 'I + ')}; {_WORD}; {_HOST}") for kind in _RAWS),
)
"""Names of the products, and the notes on them."""

SENTENCES: tuple[tuple[str, str], ...] = (
    (_FLAGS, "orders two pipes; it touches no byte"),
    (_BARRIERS, "holds a pipe until its earlier ops are done; it touches no byte"),
    (_BUFFERS, "orders the pipes of a core; it touches no byte"),
    (_IN_BLOCK, f"orders the cores of a block; {_RUN}; it touches no byte"),
    (
        _SYNC,
        f"orders the cores of a block, in mode 0 of all blocks; {_RUN}; it touches no byte",
    ),
    (
        _ALL_BLOCKS,
        f"orders the cores of all blocks; {_RUN} of the one block of a program; it touches no byte",
    ),
    ("set_ffts", "names the workspace of signals; it has no effect on pipes and touches no byte"),
    (
        _QUIET,
        "orders scalar or vector accesses, or a cache; it has no effect on pipes and touches no "
        "byte",
    ),
    *PRODUCTS,
    (
        r"set_(loop[12]_stride|loop_size|pad_val)_outtol1|set_mte2_nz_para",
        f"writes a register of copies from GM to L1; {_SKIPPED}",
    ),
    (
        r"set_(loop3_para|channel_para|quant_pre|relu_alpha|fix_clip_relu|fpc)",
        f"writes a register of the raw write-backs; {_SKIPPED}",
    ),
    (r"set_store_atomic_cfg", f"writes a register of stores; {_SKIPPED}"),
    *(
        (raw.name, f"is the register form of pto.{raw.op}, which can be explained; {_SKIPPED}")
        for raw in COPIES.values()
    ),
    (r"get_ctrl|sbitset[01]", "reads CTRL or changes a bit of a number; it touches no byte"),
    (r"load_scalar|store_scalar|ld_dev|st_dev", f"accesses one element; {_SKIPPED}"),
    (r"castptr|addptr|ptrtoint|get_(sub)?block_\w+", "computes a number; it touches no byte"),
)
"""Names as a regular expression, and the note, in the order of search."""

_MOVERS = re.compile(r"mte_|copy_|load_cbuf|mad|set_loop|set_mov_pad")
"""How names begin that must not pass for foreign ones, as for ``verify``."""


def sentence(name: str, *, foreign: bool = False) -> str:
    """Returns the note on an op without a byte map, or nothing for any other name.

    Args:
        name: Mnemonic without ``pto.``.
        foreign: Whether the name is in the dialect, so that an unknown one is foreign.
    """
    for names, words in SENTENCES:
        if re.fullmatch(names, name):
            return f"pto.{name} {words}"
    known = name in OPS or name in LEGACY_FORMS or name in TEXT_FORMS
    known = known or name == "set_ctrl" or name.startswith("set_atomic_")
    if known or not foreign or _MOVERS.match(name):
        return ""
    return f"pto.{name} is {foreign_words(name)}"


def passed_over(name: str) -> bool:
    """Returns whether an op is executed in a run and changes no byte map of later ops."""
    return _PASSED.fullmatch(name) is not None or name in dict(PRODUCTS)


def written_words(
    op: LegacySet | CtrlOp, registers: DmaRegisters, ctrl: int
) -> tuple[WordValue, ...]:
    """Returns the word that an op writes, from the registers after it; none if it is not known."""
    try:
        if isinstance(op, CtrlOp):
            word = decoded(word_named("CTRL", "mte_l0c_gm"), ctrl)
            return (replace(word, note="its other bits are storage"),)
        return (coded(word_named(_word(op)), _written(op, registers)),)
    except UndecidedError:
        return ()


def _written(op: LegacySet, registers: DmaRegisters) -> tuple[int, ...]:
    """Returns the fields of the word of an op, the highest bits first."""
    if isinstance(op, SetMovPadVal):
        return (registers.pad_value & (1 << 8 * element_bytes(op.dtype)) - 1,)
    loops = registers.loops(op.direction)
    if isinstance(op, SetLoopSize):
        return loops.counts[::-1]
    source, target = loops.strides[op.level - 1]
    return (target, source) if op.direction == OUTTOUB else (source, target)


def _word(op: LegacySet) -> str:
    if isinstance(op, SetMovPadVal):
        return "MOV_PAD_VAL"
    return "LOOP_SIZE" if isinstance(op, SetLoopSize) else f"LOOP{op.level}_STRIDE"


def effect(op: LegacySet | CtrlOp) -> str:
    """Returns what an op does that writes a register."""
    if isinstance(op, CtrlOp):
        return (
            "writes CTRL, which decides about saturation and atomic updates of later ops without a "
            "clause for them; it touches no byte"
        )
    load = isinstance(op, SetMovPadVal) or op.direction == OUTTOUB
    reader = "copy_gm_to_ubuf" if load else "copy_ubuf_to_gm"
    return f"writes {_word(op)}, which later pto.{reader} read; it touches no byte"


def product_notes(op: Mad) -> tuple[str, ...]:
    """Returns the rules that a product breaks, else the bytes that it touches: whole fractals.

    Nothing is returned for operands that are not known.
    """
    try:
        wrong = problems(op)
        touched = () if wrong else parts(op)
    except UndecidedError:
        return ()
    if wrong:
        return tuple(f"{one.rule}: {one.message}; legal: {one.legal}" for one in wrong)
    if not touched:
        return ("a NOP: an extent is 0, no byte is touched",)
    written = "reads and writes" if op.initial == ACC else "writes"
    return tuple(
        f"{written if part.role == 'dst' else 'reads'} {part.role}: {part.memory.upper()} "
        f"{part.start:#x}..{part.start + part.length - 1:#x}"
        for part in touched
    )
