# SPDX-License-Identifier: Apache-2.0
"""The pseudo code of the spec, executed byte by byte, to check the examples without a model."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tb.isa.burst.op import BurstDescriptor
from tb.isa.dma.op import DmaDescriptor
from tb.isa.fix.op import FixDescriptor
from tb.isa.lower import Descriptor
from tb.isa.nz.op import NzDescriptor
from tb.isa.spaces import Space
from tests.sequences.execute_fix import execute_fix

Read = Callable[[Space, int], int]
Write = Callable[[Space, int, int], None]


def _space(keyword: str, sub: int) -> Space:
    return Space[f"UB{sub}"] if keyword == "ub" else Space[keyword.upper()]


def _dma(desc: DmaDescriptor, read: Read, write: Write) -> None:
    src, dst = _space(desc.spec.source, desc.ub_sub), _space(desc.spec.destination, desc.ub_sub)
    store = desc.spec.name == "mte_ub_gm"
    for steps in product(*[range(loop.count) for loop in desc.loops], range(desc.n_burst)):
        *loops, row = steps
        ext = desc.ext_addr + row * desc.ext_stride
        loc = desc.loc_addr + row * desc.loc_stride
        for count, loop in zip(loops, desc.loops, strict=True):
            ext, loc = ext + count * loop.ext_stride, loc + count * loop.loc_stride
        if desc.pad_en:
            value = desc.pad_value.to_bytes(8, "little")
            for address in range(loc, loc + desc.loc_stride):
                write(dst, address, value[address % desc.elem_bytes])
        for byte in range(desc.len):
            source, place = (loc, ext) if store else (ext, loc + desc.left_bytes)
            write(dst, place + byte, read(src, source + byte))


def _widen(bits: int, code: int) -> int:
    if code == 0:
        return bits
    if code == 1:
        return bits << 16
    sign, exponent, fraction = bits >> 15, bits >> 10 & 31, bits & 1023
    if exponent == 31:
        exponent, fraction = 255, fraction << 13
    elif exponent:
        exponent, fraction = exponent + 112, fraction << 13
    elif fraction:
        lead = fraction.bit_length() - 1
        exponent, fraction = lead + 103, fraction << (23 - lead) & 0x7FFFFF
    return sign << 31 | exponent << 23 | fraction


def _burst(desc: BurstDescriptor, read: Read, write: Write) -> None:
    src, dst = _space(desc.spec.source, desc.ub_sub), _space(desc.spec.destination, desc.ub_sub)
    bias = desc.spec.name == "mte_l1_bt"
    unit = {"mte_l1_bt": 2 if desc.widen else 4, "mte_l1_fb": 64}.get(desc.spec.name, 32)
    for burst, item in product(range(desc.n_burst), range(desc.len)):
        source = desc.src_addr + unit * (burst * (desc.len + desc.src_gap) + item)
        place = desc.dst_addr + (4 if bias else unit) * (burst * (desc.len + desc.dst_gap) + item)
        data = bytes(read(src, source + k) for k in range(unit))
        if bias:
            data = _widen(int.from_bytes(data, "little"), desc.widen).to_bytes(4, "little")
        for k, byte in enumerate(data):
            write(dst, place + k, byte)


def _nz(desc: NzDescriptor, read: Read, write: Write) -> None:
    size, per_block = desc.elem_bytes, 32 // desc.elem_bytes
    for g in range(desc.group_count):
        if desc.small_c0:
            base = desc.loc_addr + 32 * g * desc.dst_loop4
            for k in range(-(-desc.n_value * 4 * size // 32) * 32):
                write(Space.L1, base + k, 0)
        for n, d in product(range(desc.n_value), range(-(-desc.d_value // per_block) * per_block)):
            outer, inner = (d, n) if desc.mode else (n, d)
            source = desc.ext_addr + g * desc.outer_stride + outer * desc.inner_stride
            block = g * desc.dst_loop4 + d // per_block * desc.dst_loop3 + n * desc.dst_loop2
            place = desc.loc_addr + 32 * block + d % per_block * size
            if desc.small_c0:
                place = base + (n * 4 + d) * size
                if d >= 4:
                    continue
            for k in range(size):
                lives = d < desc.d_value
                write(Space.L1, place + k, read(Space.GM, source + inner * size + k) * lives)


def execute(desc: Descriptor, read: Read, write: Write) -> None:
    """Executes a legal op on memories given as functions of (space, address)."""
    if isinstance(desc, NzDescriptor):
        _nz(desc, read, write)
    elif isinstance(desc, BurstDescriptor):
        _burst(desc, read, write)
    elif isinstance(desc, FixDescriptor):
        execute_fix(desc, read, write)
    else:
        _dma(desc, read, write)
