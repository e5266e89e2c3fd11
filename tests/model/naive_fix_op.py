# SPDX-License-Identifier: Apache-2.0
"""A second reading of the write-back's addressing: the loops of docs/spec/fixpipe.md, section 2.

Every element is found, converted and stored by itself, in images of the memories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from numpy.typing import NDArray

from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cL1, MteL0cUb, Scalar
from tb.isa.profile import current
from tb.isa.spaces import Space
from tests.model import naive_fix as naive

BITS = {
    "f32": 32, "i32": 32, "si32": 32, "ui32": 32, "f16": 16, "bf16": 16, "i16": 16, "si16": 16,
    "i8": 8, "si8": 8, "ui8": 8, "f8E4M3FN": 8, "hif8": 8, "i4": 4, "si4": 4,
}  # fmt: skip

Images = Mapping[Space, NDArray]  # type: ignore[type-arg]


def word(image: NDArray, address: int, size: int) -> int:  # type: ignore[type-arg]
    return int.from_bytes(image[address : address + size].tobytes(), "little")


def widened(number: Scalar) -> int:
    """Returns a scalar as f32 bits."""
    if number.dtype == "f32":
        return number.bits
    if number.dtype == "bf16":
        return number.bits << 16
    return naive.f32(naive.number(number.bits, 5, 10))


def clip_number(clip: Scalar) -> Fraction:
    if clip.dtype == "f16":
        value = naive.number(clip.bits, 5, 10)
        assert isinstance(value, Fraction)
        return value
    return Fraction(clip.bits)  # legal ones are positive


class Element(NamedTuple):
    """An element: its channel, its accumulator in L0C, and where it goes."""

    n: int
    src: int
    space: Space
    at: int


def elements(op: FixOp) -> Iterator[Element]:
    """Yields the elements of a legal op in the order of the specification."""
    repeats, s3, d3 = 1, 0, 0
    if op.loop3 is not None:
        repeats, s3, d3 = op.loop3.count, op.loop3.src_stride, op.loop3.dst_stride
    k = op.k if op.layout_name == "nz2dn" else 1
    assert k is not None
    for r in range(repeats):
        for m in range(op.m):
            for n in range(op.n):
                a = op.src + 64 * (r * s3 + n // 16 * op.src_stride + m * k) + 4 * (n % 16)
                yield Element(n, a, *place(op, r * d3, m, n))


def place(op: FixOp, base: int, m: int, n: int) -> tuple[Space, int]:
    """Returns memory and index of I(r, m, n)."""
    space = Space.L1 if isinstance(op, MteL0cL1) else Space.GM
    if isinstance(op, MteL0cUb):
        half = op.sub_block
        if op.ub_split == "split_m":
            half, m = divmod(m, op.m // 2)
        elif op.ub_split == "split_n":
            half, n = divmod(n, op.n // 2)
        space = (Space.UB0, Space.UB1)[half]
    ds = op.dst_stride
    if op.layout_name == "nz2dn":
        return space, base + n * ds + m
    if op.layout_name == "nz2nz" and op.split:
        return space, n // 8 * ds + m * 8 + n % 8
    if op.layout_name == "nz2nz":
        return space, n // 16 * ds + m * 16 + n % 16
    return space, base + m * ds + n


def bytes_of(op: FixOp, element: Element) -> range:
    """Returns the addresses that an element is in."""
    bits = BITS[op.dst_type.dtype]
    first = op.dst + element.at * bits // 8
    return range(first, first + max(1, bits // 8))


def execute(op: FixOp, images: Images, old: Images) -> set[tuple[Space, int]]:
    """Executes a legal op on ``images``; returns the bytes it wrote.

    Args:
        op: The op.
        images: Memories from address 0 on, changed in place.
        old: The memories before the op.
    """
    touched: set[tuple[Space, int]] = set()
    for element in elements(op):
        y = value(op, element.n, word(old[Space.L0C], element.src, 4), old[Space.FB])
        store(op, element, y, images, old)
        touched.update((element.space, address) for address in bytes_of(op, element))
    return touched


def value(op: FixOp, n: int, accumulator: int, fb: NDArray) -> int:  # type: ignore[type-arg]
    """Returns the element of channel ``n``."""
    mode, scale, offset = "", None, 0
    target, signed, alpha = op.dst_type.dtype, op.dst_type.dtype != "ui8", 0
    signed &= current().b8_scalar_sign == "type"
    quant, relu = op.pre_quant, op.pre_relu
    if quant is not None and quant.mode != "no_convert":
        mode = quant.mode
        if mode.endswith("_vec"):
            assert isinstance(quant.payload, FbPtr)
            record = word(fb, quant.payload.address + 8 * n, 8)
            width = naive.OFFSET_WIDTHS.get(target, 9)
            scale, offset = record & 0xFFFFFFFF, record >> 37 & 2**width - 1
            offset -= 2**width if offset >> width - 1 else 0
            signed = record >> 46 & 1 == 1
        elif mode.endswith("_scalar"):
            assert isinstance(quant.payload, Scalar)
            scale = widened(quant.payload)
        mode = mode.replace("_vec", "").replace("_scalar", "")
    if relu is not None and isinstance(relu.payload, FbPtr):
        alpha = word(fb, relu.payload.address + 4 * n, 4)
    elif relu is not None and isinstance(relu.payload, Scalar):
        alpha = widened(relu.payload)
    clip = None if relu is None or relu.clip is None else clip_number(relu.clip)
    kind = "i32" if op.src_type.dtype == "i32" and not mode else target
    return naive.element(
        accumulator, mode, kind, scale=scale, offset=offset, signed=signed,
        relu="" if relu is None else relu.mode, alpha=alpha, clip=clip,
        sat=saturation(op.sat_name or "sat", mode, target),
        replace=current().alpha == "replace",
    )  # fmt: skip


def saturation(clause: str, mode: str, target: str) -> str:
    """Returns the clause that is left for the conversion (section 7, knob ``sat_scope``)."""
    nosat, keeps_nan = clause == "nosat", clause == "preserve_nan"
    if current().sat_scope == "a5" and target in ("f16", "bf16"):
        nosat, keeps_nan = nosat and mode not in ("f32_bf16", "deqf16"), False
    return "nosat" if nosat else "preserve_nan" if keeps_nan else "sat"


def store(op: FixOp, element: Element, y: int, images: Images, old: Images) -> None:
    """Puts one element at its place."""
    places, image = bytes_of(op, element), images[element.space]
    address, size = places.start, len(places)
    if BITS[op.dst_type.dtype] == 4:
        keep, y = (0xF0, y) if element.at % 2 == 0 else (0x0F, y << 4)
        image[address] = int(image[address]) & keep | y
        return
    atomic = op.atomic if isinstance(op, MteL0cGm) else None
    if atomic is not None:
        before = word(old[element.space], address, size)
        y = naive.atomic(atomic.type, atomic.op, before, y, c48=op.sat_name == "nosat")
    image[address : address + size] = list(y.to_bytes(size, "little"))
