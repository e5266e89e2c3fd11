# SPDX-License-Identifier: Apache-2.0
"""The write-back of spec/fixpipe.md, element by element in exact fractions, to check examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tb.isa.fix.op import FixDescriptor
from tb.isa.fix.table import ATOMIC_TYPES, DST_BITS, FLOAT_DSTS, NZ2DN, NZ2NZ, SCALE_MASK
from tb.isa.spaces import Space

Read = Callable[[Space, int], int]
Write = Callable[[Space, int, int], None]


@dataclass(frozen=True)
class Real:
    """An IEEE value: ``kind`` is ``"nan"``, ``"inf"`` or ``"number"``, with its sign and size."""

    kind: str
    negative: bool
    size: Fraction = Fraction(0)

    @property
    def value(self) -> Fraction:
        """Signed value of a number."""
        return -self.size if self.negative else self.size


NAN = Real("nan", False)


@dataclass(frozen=True)
class Format:
    """A binary format: bits of the fraction, smallest and largest exponent, bits in all."""

    fraction: int
    low: int
    high: int
    bits: int
    nan: int

    def decode(self, code: int) -> Real:
        """Returns the value of a code of a format with infinities."""
        negative = bool(code >> (self.bits - 1))
        exponent = (code & ((1 << (self.bits - 1)) - 1)) >> self.fraction
        fraction = code & ((1 << self.fraction) - 1)
        if exponent == self.high - self.low + 2:
            return NAN if fraction else Real("inf", negative)
        if exponent:
            fraction |= 1 << self.fraction
        step = Fraction(2) ** (self.low - self.fraction + max(exponent - 1, 0))
        return Real("number", negative, fraction * step)

    def round(self, x: Real) -> tuple[Real, int]:
        """Returns x rounded to nearest even without overflow, and its code without the sign."""
        exponent = max(_log2(x.size), self.low) if x.size else self.low
        step = Fraction(2) ** (exponent - self.fraction)
        units = round(x.size / step)
        code = units + ((exponent - self.low) << self.fraction)
        return Real("number", x.negative, units * step), code

    def encode(self, x: Real) -> int:
        """Returns the code of x rounded to nearest even; overflow gives infinity."""
        sign = int(x.negative) << (self.bits - 1)
        infinity = (self.high - self.low + 2) << self.fraction
        if x.kind == "nan":
            return self.nan
        if x.kind == "inf":
            return sign | infinity
        return sign | min(self.round(x)[1], infinity)


def _log2(x: Fraction) -> int:
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1


F32 = Format(23, -126, 127, 32, 0x7FC00000)
F16 = Format(10, -14, 15, 16, 0x7E00)
BF16 = Format(7, -126, 127, 16, 0x7FC0)
E4M3 = Format(3, -6, 8, 8, 0x7F)
LARGEST = {2: 0x7BFF, 3: 0x7F7F, 5: 0x7E}
FORMATS = {2: F16, 3: BF16, 5: E4M3}


def _rounded(form: Format, x: Real) -> Real:
    return form.decode(form.encode(x))


def _product(a: Real, b: Real) -> Real:
    negative = a.negative != b.negative
    kinds = {a.kind, b.kind}
    if "nan" in kinds:
        return NAN
    if "inf" in kinds:
        zero = any(x.kind == "number" and not x.size for x in (a, b))
        return NAN if zero else Real("inf", negative)
    return _rounded(F32, Real("number", negative, a.size * b.size))


def _integer(value: int) -> Real:
    return Real("number", value < 0, Fraction(abs(value)))


def _half(x: Real) -> Real:
    """Steps H and HI: f16, saturating, NaN to +0."""
    if x.kind == "nan":
        return _integer(0)
    top = Real("number", x.negative, Fraction(65504))
    found = _rounded(F16, x) if x.kind == "number" else x
    return top if found.kind == "inf" else found


def _positive(x: Real) -> bool:
    return not x.negative and (x.kind == "inf" or (x.kind == "number" and x.size > 0))


def _relu(x: Real, code: int, alpha: Real) -> Real:
    if not code:
        return x
    if x.kind == "nan":
        return NAN
    if code == 1:
        return x if _positive(x) else _integer(0)
    at_least_0 = _positive(x) or (x.kind == "number" and not x.size)
    return x if at_least_0 else _product(alpha, x)


_RANGES = {
    "s4": (-8, 7), "s16": (-32768, 32767), "s32": (-(2**31), 2**31 - 1), "s8": (-128, 127),
    "u8": (0, 255),
}  # fmt: skip


def _narrow(x: Real, kind: str, offset: int, clip: int | None) -> int:
    low, high = _RANGES[kind]
    beyond = 1 << 200
    if x.kind == "nan":
        q = 0
    else:
        size = Fraction(beyond) if x.kind == "inf" else x.size
        value = -size if x.negative else size
        if kind not in ("s16", "s32"):
            value = min(max(value, Fraction(-256)), Fraction(255))
        q = round(value)
    q += offset
    if clip is not None:
        q = min(q, clip)
    return min(max(q, low), high)


def _convert(x: Real, dst: int, sat: int) -> int:
    form = FORMATS[dst]
    sign = int(x.negative) << (form.bits - 1)
    if x.kind == "nan":
        return 0 if sat == 0 else form.nan
    code = form.round(x)[1] if x.kind == "number" else 1 << 40
    if code <= LARGEST[dst]:
        return sign | code
    if sat < 2:
        return sign | LARGEST[dst]
    return sign | (0x7F if dst == 5 else LARGEST[dst] + 1 if dst == 2 else 0x7F80)


def _hif8(bits: int, sat: int, *, hybrid: bool) -> int:
    sign, exponent, f = bits >> 31 << 7, (bits >> 23 & 255) - 127, bits & 0x7FFFFF
    over = sign | (0x6F if sat == 2 else 0x6E)
    if exponent == 128 and f:
        return 0 if sat == 0 else 0x80
    if exponent > 15:
        return over
    threshold = f & 0x3FFF
    if exponent < -23:
        return 0
    if exponent == -23:
        up = not hybrid or (1 << 13 | f >> 10) >= threshold
        return sign | 1 if up else 0
    if exponent <= -16:
        up = f != 0 and f >> 9 >= threshold if hybrid else bool(f >> 22)
        exponent += up
        return sign | _hif8_code(exponent, 0)
    w = 3 if abs(exponent) <= 3 else 2 if abs(exponent) <= 7 else 1
    kept = f >> (23 - w)
    if not hybrid or w == 3:
        up = bool(f >> (22 - w) & 1)
    else:
        rest = f & ((1 << (23 - w)) - 1)
        up = rest != 0 and rest >> (9 - w) >= threshold
    kept += up
    if kept >> w:
        exponent, kept = exponent + 1, 0
    if exponent > 15 or (exponent == 15 and kept):
        return over
    return sign | _hif8_code(exponent, kept)


def _hif8_code(e: int, m: int) -> int:
    if e < -15:
        return e + 23
    size, s = abs(e), int(e < 0)
    if e == 0:
        return 0x08 | m
    if size == 1:
        return 0x10 | s << 3 | m
    if size <= 3:
        return 0x20 | s << 4 | (size & 1) << 3 | m
    if size <= 7:
        return 0x40 | s << 4 | (size & 3) << 2 | m
    return 0x60 | s << 4 | (size & 7) << 1 | m


def _element(desc: FixDescriptor, word: int, n: int, fb: Callable[[int, int], int]) -> int:
    """Returns the bits written for accumulator ``word`` of channel n."""
    mode, bits = desc.mode, desc.dst_bits
    signed = word - (1 << 32) if word >> 31 else word
    if not mode.scale and desc.acc:
        return max(signed, 0) & 0xFFFFFFFF if desc.relu else word
    if mode.stage == "bits" and not desc.relu:
        return word
    t = _integer(signed) if desc.acc else F32.decode(word)
    if mode.stage in ("H", "HI"):
        t = _half(t)
    t = _rounded(F32, t)
    offset, sign = 0, desc.dst_type == 7
    if mode.scale:
        scale = desc.quant_scale
        if mode.vector:
            record = fb(desc.quant_addr + 8 * n, 8)
            scale, sign = record & 0xFFFFFFFF, bool(record >> 46 & 1)
            offset = (record >> 37 & 0x1FF ^ 0x100) - 0x100
        t = _product(t, F32.decode(scale & SCALE_MASK))
    alpha = fb(desc.relu_addr + 4 * n, 4) if desc.relu == 3 else desc.relu_alpha
    t = _relu(t, desc.relu, F32.decode(alpha & SCALE_MASK))
    if desc.dst_type not in FLOAT_DSTS:
        kind = {9: "s4", 4: "s16", 1: "s32"}.get(desc.dst_type, "s8" if sign else "u8")
        return _narrow(t, kind, offset, desc.clip if desc.clip_en else None) & ((1 << bits) - 1)
    if desc.clip_en and t.kind != "nan":
        limit = F16.decode(desc.clip)
        if _positive(t) and (t.kind == "inf" or t.value > limit.value):
            t = limit
    if desc.dst_type == 6:
        return _hif8(F32.encode(t), desc.sat, hybrid=mode.narrow == "hif8_hybrid")
    return F32.encode(t) if desc.dst_type == 0 else _convert(t, desc.dst_type, desc.sat)


_ATOMICS = {code: name for name, code in ATOMIC_TYPES.items()}


def _update(desc: FixDescriptor, old: int, new: int) -> int:
    name, op = _ATOMICS[desc.atomic_type], desc.atomic_op
    if name.startswith("s"):
        bits = int(name[1:])
        i, j = (x - (1 << bits) if x >> (bits - 1) else x for x in (old, new))
        return (i + j, max(i, j), min(i, j))[op] & ((1 << bits) - 1)
    form = {"f32": F32, "f16": F16, "bf16": BF16}[name]
    a, b = form.decode(old), form.decode(new)
    if "nan" in (a.kind, b.kind):
        return form.nan
    if op == 0:
        if "inf" in (a.kind, b.kind):
            infinite = [x for x in (a, b) if x.kind == "inf"]
            return form.nan if len({x.negative for x in infinite}) > 1 else form.encode(infinite[0])
        total = a.value + b.value
        negative = total < 0 or (not total and a.negative and b.negative)
        return form.encode(Real("number", negative, abs(total)))

    def key(x: Real) -> tuple[Fraction, bool]:
        size = Fraction(2) ** 200 if x.kind == "inf" else x.size
        return (-size if x.negative else size, not x.negative)

    return form.encode((max if op == 1 else min)((a, b), key=key))


def execute_fix(desc: FixDescriptor, read: Read, write: Write) -> None:
    """Executes a legal write-back on memories given as functions of (space, address)."""

    def load(space: Space, address: int, size: int) -> int:
        return int.from_bytes(bytes(read(space, address + k) for k in range(size)), "little")

    bits = DST_BITS[desc.dst_type]
    group = 8 if desc.split else 16
    for r, m, n in product(range(desc.repeats), range(desc.m), range(desc.n)):
        k = desc.k if desc.layout == NZ2DN else 1
        words = r * desc.loop3_src + n // 16 * desc.src_stride + m * k
        accumulator = load(Space.L0C, desc.src_addr + 64 * words + 4 * (n % 16), 4)
        value = _element(desc, accumulator, n, lambda at, size: load(Space.FB, at, size))
        space, row, column = Space.GM, m, n
        if desc.spec.destination == "l1":
            space = Space.L1
        elif desc.spec.destination == "ub":
            half = desc.ub_sub
            if desc.ub_mode == 1:
                half, row = divmod(m, desc.m // 2)
            elif desc.ub_mode == 2:
                half, column = divmod(n, desc.n // 2)
            space = Space.UB1 if half else Space.UB0
        if desc.layout == NZ2NZ:
            index = n // group * desc.dst_stride + m * group + n % group
        elif desc.layout == NZ2DN:
            index = r * desc.loop3_dst + n * desc.dst_stride + m
        else:
            index = r * desc.loop3_dst + row * desc.dst_stride + column
        address = desc.dst_addr + index * bits // 8
        if bits == 4:
            byte = read(space, address)
            write(space, address, byte & 0x0F | value << 4 if index % 2 else byte & 0xF0 | value)
            continue
        if desc.atomic_type:
            value = _update(desc, load(space, address, bits // 8), value)
        for k, byte in enumerate(value.to_bytes(bits // 8, "little")):
            write(space, address + k, byte)
