# SPDX-License-Identifier: Apache-2.0
"""Products of the matrix unit, which the host computes (spec/l0_loads.md, section 6)."""

from __future__ import annotations

from tb.isa.mad import ACC, Mad, parts, problems
from tb.language.unknown import UndecidedError

_KINDS = ("", "_acc", "_bias", "_mx", "_mx_acc", "_mx_bias")
_RAW = ("", "_bias", "_mx", "_mx_bias")

_HOST = (
    "no engine executes it and no descriptor holds it; in a run the host computes it from the "
    "simulated memories: the sum is exact and rounded once to f32, or modulo 2^32 to i32 [rule "
    "MD-1, spec/l0_loads.md, section 6]"
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
    *((f"mad{kind}_raw", f"{_formula(kind, 'I + ')}; {_WORD}; {_HOST}") for kind in _RAW),
)
"""Names of the products, and what is to be said of them."""


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
    found = []
    for part in touched:
        verb = "reads"
        if part.role == "dst":
            verb = "reads and writes" if op.initial == ACC else "writes"
        end = part.start + part.length - 1
        found.append(f"{verb} {part.role}: {part.memory.upper()} {part.start:#x}..{end:#x}")
    return tuple(found)
