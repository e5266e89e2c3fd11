# SPDX-License-Identifier: Apache-2.0
"""The ``mad`` family: products on the matrix unit, which the host computes.

Source: docs/spec/l0_loads.md, section 6; the text is that of docs/spec/dialect.md, section 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.isa.dtypes import Ptr, element_bits
from tb.isa.l0.op import bits_of
from tb.isa.l0.table import C0_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, NIBBLE_DTYPES, SCALE_RATIO
from tb.isa.spaces import SIZES, Space, memory_range

FP8: tuple[str, ...] = ("f8E4M3FN", "f8E5M2")
FP4: tuple[str, ...] = NIBBLE_DTYPES
FLOATS: tuple[str, ...] = ("f16", "bf16", "f32", "hif8")
"""Factors of equal types whose accumulators are f32."""

MOST_EXTENT = 4095
"""Largest m, n and k (MD-L02)."""

MX_GROUP = 64
"""What k of scaled factors is a multiple of."""

ZERO, ACC, BIAS = "", "acc", "bias"
"""Initial values of the accumulators: 0, those in L0C, a bias of each column."""

CHECK_ONLY, CHECK_AND_SET = "check_only", "check_and_set"

FLAG_CODES: dict[int, str] = {2: CHECK_ONLY, 3: CHECK_AND_SET}
"""Bits 56:55 of Xt to the clause ``unit_flag``."""

VECTOR_BYTES = 512
"""Unit of the bytes of a vector in L0A."""

ACCUMULATOR = 4
GROUP = 16
ROW_BYTES = ACCUMULATOR * GROUP
"""Bytes of an accumulator, columns of a group, bytes of a row of a group."""

_TF32_BIT, _AWAY_BIT, _NOSAT_BIT = 46, 47, 48


@dataclass(frozen=True, slots=True)
class Mad:
    """A product: C[m, n] = I + sum over k of A[m, k] * B[k, n]; addresses in bytes.

    Attributes:
        lhs, rhs, dst: In L0A, L0B and L0C.
        m, n, k: Extents in elements.
        lhs_type, rhs_type, dst_type: Pointer types.
        initial: I: ``ZERO``, ``ACC`` or ``BIAS``.
        bias, bias_type: In BT, with ``BIAS``.
        mx: The factors are scaled in groups of 32 k.
        unit_flag: ``""``, ``CHECK_ONLY`` or ``CHECK_AND_SET``; a code in Xt without a name is its
            number, which is illegal.
        disable_gemv: With m = 1 L0A holds fractals, not a vector.
        sat: ``"sat"``, ``"nosat"``, or ``""`` where CTRL decides.
        tf32: ``"round_even"``, ``"round_away"``, or ``""``.
        n_dir: Changes no result.
        ctrl: CTRL at the issue.
        raw: Written with a word Xt: bits 46 and 47 of CTRL decide about TF32. Another op sets them
            for itself (docs/spec/order_and_atomics.md, CT-07).
    """

    lhs: int
    rhs: int
    dst: int
    m: int
    n: int
    k: int
    lhs_type: Ptr
    rhs_type: Ptr
    dst_type: Ptr
    initial: str = ZERO
    bias: int = 0
    bias_type: Ptr | None = None
    mx: bool = False
    unit_flag: str = ""
    disable_gemv: bool = False
    sat: str = ""
    tf32: str = ""
    n_dir: bool = False
    ctrl: int = 0
    raw: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        """Mnemonic without ``pto.``."""
        return "_".join(filter(None, ("mad", "mx" * self.mx, self.initial)))

    @property
    def vector(self) -> bool:
        """Whether the left factor is a vector."""
        return self.m == 1 and not self.disable_gemv

    @property
    def is_nop(self) -> bool:
        """Whether an extent is 0."""
        return not (self.m and self.n and self.k)

    @property
    def saturates(self) -> bool:
        """Whether infinities become the largest number and NaN 0."""
        return self.sat == "sat" or (not self.sat and not self.ctrl >> _NOSAT_BIT & 1)

    @property
    def rounding(self) -> str:
        """Rounding of factors of f32 to TF32, or nothing."""
        if self.lhs_type.dtype != "f32" or not self.raw:
            return self.tf32
        away = self.ctrl >> _AWAY_BIT & 1
        return ("round_away" if away else "round_even") if self.ctrl >> _TF32_BIT & 1 else ""


def accumulators(lhs: str, rhs: str, *, mx: bool = False) -> str:
    """Returns the element type of the accumulators of two factors; empty for no legal pair."""
    if mx:
        same = (lhs in FP8 and rhs in FP8) or (lhs in FP4 and rhs in FP4)
        return "f32" if same else ""
    if lhs == rhs == "i8":
        return "i32"
    both = (lhs in FP8 and rhs in FP8) or (lhs == rhs and lhs in FLOATS)
    return "f32" if both else ""


def lanes(dtype: str) -> int:
    """Returns C0, the elements in 32 bytes."""
    return 8 * C0_BYTES // bits_of(dtype)


def over(value: int, unit: int) -> int:
    """Returns a quotient rounded up."""
    return -(-value // unit)


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes that a product reads or writes: all of its whole fractals.

    Attributes:
        role: ``lhs``, ``rhs``, ``scales of lhs``, ``scales of rhs``, ``bias`` or ``dst``.
        memory: ``l0a``, ``l0b``, ``l0a_mx``, ``l0b_mx``, ``bt`` or ``l0c``.
        start, length: Bytes of that memory.
    """

    role: str
    memory: str
    start: int
    length: int


def parts(op: Mad) -> tuple[Part, ...]:
    """Returns what a product accesses, the destination last; nothing for a NOP."""
    if op.is_nop:
        return ()
    rows, columns = over(op.m, FRACTAL_ROWS), over(op.n, FRACTAL_ROWS)
    left = over(op.k, lanes(op.lhs_type.dtype)) * rows * FRACTAL_BYTES
    if op.vector:
        bits = bits_of(op.lhs_type.dtype)
        left = over(op.k * bits // 8, VECTOR_BYTES) * VECTOR_BYTES
    right = over(op.k, lanes(op.rhs_type.dtype)) * columns * FRACTAL_BYTES
    found = [Part("lhs", "l0a", op.lhs, left), Part("rhs", "l0b", op.rhs, right)]
    if op.mx:
        row = over(op.k, MX_GROUP) * C0_BYTES
        found += [
            Part("scales of lhs", "l0a_mx", op.lhs // SCALE_RATIO, rows * row),
            Part("scales of rhs", "l0b_mx", op.rhs // SCALE_RATIO, columns * row),
        ]
    if op.initial == BIAS:
        found.append(Part("bias", "bt", op.bias, ACCUMULATOR * op.n))
    length = columns * rows * FRACTAL_ROWS * ROW_BYTES
    return (*found, Part("dst", "l0c", op.dst, length))


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a product: rule, sentence, legal range."""

    rule: str
    message: str
    legal: str


def problems(op: Mad) -> list[Problem]:
    """Returns the rules MD-L01 to MD-L04 that a product breaks, the first kind alone.

    Raises:
        UndecidedError: an operand is not known.
    """
    return _types(op) or _extents(op) or _addresses(op)


def _types(op: Mad) -> list[Problem]:
    found = []
    pointers = [("left", op.lhs_type, "l0a"), ("right", op.rhs_type, "l0b"),
                ("result", op.dst_type, "l0c")]  # fmt: skip
    if op.bias_type is not None:
        pointers.append(("bias", op.bias_type, "bt"))
    for role, pointer, space in pointers:
        if pointer.space != space:
            found.append(Problem("MD-L01", f"{role} pointer is in {pointer.space}", space))
    lhs, rhs, dst = op.lhs_type.dtype, op.rhs_type.dtype, op.dst_type.dtype
    wanted = accumulators(lhs, rhs, mx=op.mx)
    if not wanted:
        pairs = "f8 with f8, FP4 with FP4" if op.mx else (
            "two of i8, f16, bf16, f32 or hif8, or any two of f8E4M3FN and f8E5M2"
        )  # fmt: skip
        found.append(Problem("MD-L01", f"elements of the factors are {lhs} and {rhs}", pairs))
    elif dst != wanted:
        found.append(Problem("MD-L01", f"accumulators of {lhs} are {dst}", wanted))
    if op.bias_type is not None and op.bias_type.dtype != dst:
        found.append(Problem("MD-L01", f"elements of the bias are {op.bias_type.dtype}", dst))
    if op.unit_flag and op.unit_flag not in FLAG_CODES.values():
        legal = "0 without, " + ", ".join(f"{code} {word}" for code, word in FLAG_CODES.items())
        found.append(Problem("MD-L01", f"unit flag of Xt (bits 56:55) is {op.unit_flag}", legal))
    return found


def _extents(op: Mad) -> list[Problem]:
    found = [
        Problem("MD-L02", f"{name} is {value}", f"0..{MOST_EXTENT}")
        for name, value in (("m", op.m), ("n", op.n), ("k", op.k))
        if not 0 <= value <= MOST_EXTENT
    ]
    if op.mx and op.k % MX_GROUP:
        found.append(Problem("MD-L02", f"k is {op.k}", f"a multiple of {MX_GROUP}"))
    return found


def _addresses(op: Mad) -> list[Problem]:
    rows = [("left", op.lhs, 512), ("right", op.rhs, 512), ("result", op.dst, 64)]
    if op.initial == BIAS:
        rows.append(("bias", op.bias, 64))
    found = [
        Problem("MD-L03", f"{role} address is {address:#x}", f"a multiple of {unit}")
        for role, address, unit in rows
        if address % unit
    ]
    for part in () if found else parts(op):
        size = len(memory_range(part.memory)[1])
        if part.start + part.length > size:
            message = f"{part.role} reaches {part.memory} {part.start + part.length:#x}"
            found.append(Problem("MD-L04", message, f"addresses below {size:#x}"))
    return found


def flag_blocks(op: Mad) -> range | list[int]:
    """Returns the numbers of the 512-byte blocks of L0C that a product writes, ascending.

    Nothing for a NOP, or for extents that break MD-L02, which may be of any size.
    """
    if op.is_nop or max(op.m, op.n) > MOST_EXTENT:
        return []
    rows = over(op.m, FRACTAL_ROWS) * FRACTAL_ROWS
    starts = {
        (op.dst + (group * rows + row) * ROW_BYTES) // FLAG_BYTES
        for group in range(over(op.n, GROUP))
        for row in range(op.m)
    }
    return sorted(starts)


FLAG_BYTES = 512
"""Bytes of L0C with one unit flag."""

assert element_bits("f8E8M0") == 8, "a scale is a byte"
assert SIZES[Space.BT] == len(memory_range("bt")[1]), "bt is one memory"
