# SPDX-License-Identifier: Apache-2.0
"""Initial bytes of a program's memory: from files, or by a text such as ``zeros:4096``.

======================= =================================================================
text                    bytes
======================= =================================================================
``in.npy``              an array of numpy, in C order
``in.bin``              any other file as it is
``zeros:BYTES``         zeros
``ones:BYTES``          elements of value 1 of the argument's type
``empty:BYTES``         unchanged memory contents
``random:BYTES``        random bytes, from the seed
``pattern:SEED:BYTES``  P(SEED) of docs/spec/examples.md: byte i is 7i + 13(i >> 8) + 29 SEED + 3
``hex:DIGITS``          the bytes of the digits, in the order of memory
======================= =================================================================

A suffix ``@ADDRESS`` gives the address of an argument's buffer, ``@align:N`` its alignment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tb.common.errors import PtoError
from tb.common.files import regular
from tb.isa.dtypes import ELEMENT_BYTES, NIBBLE_DTYPES
from tb.isa.spaces import GM_ADDR_BITS
from tb.programs.arrays import array_bytes

Bytes = NDArray[np.uint8]

MOST_BYTES = 1 << 28
"""Bytes of a file or buffer; the memories are compared byte by byte."""

MOST_ALIGNMENT = 512
MAKERS: tuple[str, ...] = ("zeros", "ones", "empty", "random", "pattern", "hex")
LEGAL = (
    "a file, zeros:BYTES, ones:BYTES, empty:BYTES, random:BYTES, pattern:SEED:BYTES, hex:DIGITS; "
    "@ADDRESS or @align:N after it"
)

_ONES: dict[str, int] = {
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "f32": 0x3F80_0000,
    "f8E4M3FN": 0x38,
    "hif8": 0x08,
    **dict.fromkeys(NIBBLE_DTYPES, 0x11),
}
"""Bits of the value 1, of two elements where they are packed; 1 where not given."""


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed data text.

    Attributes:
        text: The text.
        maker: One of :data:`MAKERS`; empty for a file.
        path: The file.
        length: Bytes; 0 for a file, not opened yet.
        seed: Seed of a pattern.
        digits: The bytes of ``hex:``.
        address: Address of the buffer, None for any.
        align: Alignment of its address; 0 for the element size.
    """

    text: str
    maker: str = ""
    path: Path = Path()
    length: int = 0
    seed: int = 0
    digits: bytes = b""
    address: int | None = None
    align: int = 0


def integer(text: str) -> int | None:
    """Returns an integer in any base of Python's notation, None when it is none."""
    try:
        return int(text, 0) if text.isascii() else None
    except ValueError:
        return None


def parse_source(text: str, where: str, folder: Path = Path()) -> Source:
    """Parses a data text; files are relative to ``folder`` and not opened.

    Raises:
        PtoError: the text has no known form.
    """
    text = text.strip()
    body, address, align = _place(text, where)
    if not body:
        raise PtoError("no data given", where=where, legal=LEGAL)
    maker, colon, rest = body.partition(":")
    if not colon or maker not in MAKERS:
        if colon and re.fullmatch(r"[a-z]+", maker) and not (folder / body).exists():
            raise PtoError(f"{maker!r} makes no data", where=where, legal=LEGAL)
        return Source(text, path=folder / body, address=address, align=align)
    made = Source(text, maker, address=address, align=align)
    if maker == "hex":
        digits = _digits(rest, where)
        return replace(made, length=_length(str(len(digits)), where), digits=digits)
    if maker != "pattern":
        return replace(made, length=_length(rest, where))
    first, colon, rest = rest.partition(":")
    seed = integer(first)
    if seed is None or not colon or not 0 <= seed < 1 << 32:
        legal = "pattern:SEED:BYTES, SEED 0..2^32-1"
        raise PtoError(f"{text!r} is not a pattern", where=where, legal=legal)
    return replace(made, length=_length(rest, where), seed=seed)


def _digits(text: str, where: str) -> bytes:
    try:
        return bytes.fromhex(re.sub(r"[\s_]", "", text))
    except ValueError:
        legal = "two digits 0..9 a..f for each byte, in the order of memory"
        what = f"{text!r} are not bytes in hexadecimal"
        raise PtoError(what, where=where, legal=legal) from None


def _length(text: str, where: str) -> int:
    length = integer(text)
    if length is None or not 1 <= length <= MOST_BYTES:
        raise PtoError(
            f"a length of {text!r} bytes", where=where, legal=f"an integer 1..{MOST_BYTES}"
        )
    return length


def _place(text: str, where: str) -> tuple[str, int | None, int]:
    """Returns a text without the suffix after its last ``@``, the address and the alignment."""
    body, at, place = text.rpartition("@")
    if not at:
        return text, None, 0
    if place.startswith("align:"):
        align = integer(place.removeprefix("align:"))
        if align is None or not 1 <= align <= MOST_ALIGNMENT or align & (align - 1):
            raise PtoError(
                f"an alignment of {place.removeprefix('align:')!r} bytes",
                where=where,
                legal=f"a power of two, 1..{MOST_ALIGNMENT}",
            )
        return body, None, align
    address = integer(place)
    if address is None:  # A file may have any name.
        if re.match(r"[0-9-]", place):
            raise PtoError(
                f"{place!r} is not an address",
                where=where,
                legal=f"an integer 0..2^{GM_ADDR_BITS}-1 after @",
            )
        return text, None, 0
    if not 0 <= address < 1 << GM_ADDR_BITS:
        raise PtoError(f"address {place} is not in GM", where=where, legal=f"0..2^{GM_ADDR_BITS}-1")
    return body, address, 0


def content(
    source: Source, where: str, *, dtype: str = "", seed: tuple[int, ...] = (0,)
) -> Bytes | None:
    """Returns the bytes, ``uint8[n]``, None for unchanged memory contents.

    Args:
        source: The parsed text.
        where: Name in messages.
        dtype: Element type that arrays must have; empty if unknown.
        seed: Seed of random bytes.

    Raises:
        PtoError: a file cannot be used, holds another type, or is not a whole number of elements.
    """
    if source.maker == "empty":
        return None
    if source.maker:
        return _made(source, where, dtype, seed)
    data = read_data(source.path, where)
    if source.path.suffix == ".npz":
        raise PtoError(
            f"{source.path.name} is an archive of arrays",
            where=where,
            legal=".npy for one array; any other file is taken as it is",
            remedy="write one array with numpy.save",
        )
    return array_bytes(data, source.path, where, dtype) if source.path.suffix == ".npy" else data


def _made(source: Source, where: str, dtype: str, seed: tuple[int, ...]) -> Bytes:
    length = source.length
    if source.maker == "zeros":
        return np.zeros(length, dtype=np.uint8)
    if source.maker == "hex":
        return np.frombuffer(source.digits, dtype=np.uint8)
    if source.maker == "random":
        return np.random.default_rng(seed).integers(0, 256, length, dtype=np.uint8)
    if source.maker == "pattern":
        return pattern(source.seed, length)
    if not dtype:
        raise PtoError(
            "ones: needs an element type, which only the buffer of an argument has",
            where=where,
            legal=LEGAL,
        )
    size = ELEMENT_BYTES.get(dtype, 1)
    if length % size:
        raise PtoError(
            f"{length} bytes are not a whole number of {dtype}",
            where=where,
            legal=f"a multiple of {size}",
        )
    one = np.frombuffer(_ONES.get(dtype, 1).to_bytes(size, "little"), dtype=np.uint8)
    return np.tile(one, length // size)


def pattern(seed: int, length: int) -> Bytes:
    """Returns P(``seed``) of docs/spec/examples.md, ``uint8[length]``."""
    i = np.arange(length, dtype=np.int64)
    return ((7 * i + 13 * (i >> 8) + 29 * seed + 3) & 0xFF).astype(np.uint8)


def read_data(path: Path, where: str) -> Bytes:
    """Returns a file's bytes, ``uint8[n]``.

    Raises:
        PtoError: it cannot be read, is empty or too large.
    """
    remedy = "name a file that can be read; paths are relative to where you are, or to a setup file"
    try:
        length = path.stat().st_size
        if length > MOST_BYTES:
            raise PtoError(
                f"{path} has {length} bytes", where=where, legal=f"at most {MOST_BYTES} bytes"
            )
        data = regular(path).read_bytes()
    except OSError as error:
        raise PtoError(
            f"cannot read {path}: {error.strerror}", where=where, remedy=remedy
        ) from None
    except ValueError as error:  # A null byte in its name.
        raise PtoError(f"cannot read {path}: {error}", where=where, remedy=remedy) from None
    if not data:
        raise PtoError(
            f"{path} is empty", where=where, remedy="write empty:BYTES to leave the memory as it is"
        )
    return np.frombuffer(data, dtype=np.uint8)
