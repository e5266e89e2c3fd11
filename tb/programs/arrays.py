# SPDX-License-Identifier: Apache-2.0
"""Numpy arrays as bytes of memory and back, and numbers as the bits of an argument."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tb.common.errors import PtoError
from tb.common.text import one_of
from tb.isa.dtypes import ELEMENT_BYTES
from tb.language.run.values import INDEX_BITS, rounded_bits

_FLOATS: dict[str, str] = {"f16": "f2", "f32": "f4", "f64": "f8"}


def _numpy_types(dtype: str) -> tuple[str, ...]:
    """Returns the array types that hold elements of a type, as numpy's kind and size."""
    size = ELEMENT_BYTES.get(dtype, 1)
    if dtype in _FLOATS:
        return (_FLOATS[dtype],)
    if dtype.startswith("si"):
        return (f"i{size}",)
    if dtype.startswith("ui"):
        return (f"u{size}",)
    if dtype.startswith("i"):
        return (f"i{size}", f"u{size}")
    return (f"u{size}", f"V{size}")  # Formats that numpy does not have: their bits.


def _names(types: tuple[str, ...]) -> str:
    names = (np.dtype(name) for name in types)
    return ", ".join(f"V{one.itemsize}" if one.kind == "V" else one.name for one in names)


def array_bytes(data: NDArray[np.uint8], path: Path, where: str, dtype: str) -> NDArray[np.uint8]:
    """Returns the bytes in memory of an array of a ``.npy`` file, ``uint8[n]``.

    Args:
        data: The file.
        path: Its name.
        where: Place that names it, for messages.
        dtype: Required element type; empty for any.

    Raises:
        PtoError: it is not an array, or of another type.
    """
    try:
        array = np.load(io.BytesIO(data.tobytes()), allow_pickle=False)
    except Exception as error:
        raise PtoError(
            f"{path} is not an array of numpy: {error}",
            where=where,
            remedy="write it with numpy.save, or give raw bytes another suffix",
        ) from None
    if not isinstance(array, np.ndarray) or not array.size:
        raise PtoError(f"{path} holds no elements", where=where)
    if array.dtype.hasobject:
        raise PtoError(f"{path} holds objects", where=where, legal="numbers")
    types = _numpy_types(dtype) if dtype else ()
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    if dtype and kind not in types:
        how = "convert it with astype"
        if "V" in types[-1]:
            how = f"numpy has no {dtype}: give the bits of its values as {_names(types[:1])}"
        raise PtoError(
            f"{path} holds {array.dtype.name}, the argument's elements are {dtype}",
            where=where,
            legal=_names(types),
            remedy=f"{how}, or give raw bytes in a file of another suffix",
        )
    plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return np.frombuffer(plain.tobytes(), dtype=np.uint8)


def file_bytes(data: bytes, path: Path, dtype: str) -> bytes:
    """Returns the contents of an output file: an array for ``.npy``, else the raw bytes."""
    if path.suffix != ".npy":
        return data
    name = _numpy_types(dtype)[0] if dtype else "u1"
    array = np.frombuffer(data, dtype=np.dtype(name).newbyteorder("<"))
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


def scalar_bits(value: object, kind: str, where: str) -> int:
    """Returns a number as an argument of a type: an integer, or the bits of a float.

    Args:
        value: Number, or its text; ``bits:0x3C00`` for the bits of a float.
        kind: Type in MLIR notation: ``i64``, ``si8``, ``index``, ``f16``.
        where: Name in messages.

    Raises:
        PtoError: it is not a number, or not one of the type.
    """
    text = str(value).strip().lower() if not isinstance(value, bool) else str(int(value))
    text = {"true": "1", "false": "0"}.get(text, text)
    if not text.isascii():
        text = ascii(text)  # Python takes the digits of any alphabet.
    bits = float_width(kind)
    if bits:
        return _float_bits(text, kind, bits, where)
    low, high = integer_range(kind, where)
    try:
        number = int(text.removeprefix("bits:"), 0)
    except ValueError:
        raise PtoError(
            f"{value!r} is not {one_of(kind)}", where=where, legal=f"an integer {low}..{high}"
        ) from None
    if not low <= number <= high:
        raise PtoError(
            f"{text} is not {one_of(kind)}", where=where, legal=f"an integer {low}..{high}"
        )
    return number


def is_number(text: str) -> bool:
    """Returns whether a text is a number of some type of :func:`scalar_bits`."""
    for kind in ("i128", "f64"):
        try:
            scalar_bits(text, kind, "")
        except PtoError:
            continue
        return True
    return False


def float_width(kind: str) -> int:
    """Returns the bits of a float type, 0 for another type."""
    return {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8e4m3fn": 8, "hif8": 8}.get(
        kind.lower().removeprefix("!pto."), 0
    )


def integer_range(kind: str, where: str) -> tuple[int, int]:
    """Returns least and greatest integer of a type; one without a sign may be read with or without.

    Raises:
        PtoError: no values of the type can be given.
    """
    if kind == "index":
        return -(1 << (INDEX_BITS - 1)), (1 << INDEX_BITS) - 1
    found = re.fullmatch(r"(s|u|)i(\d+)", kind)
    if not found or not 1 <= int(found[2]) <= 128:
        raise PtoError(
            f"an argument of type {kind} cannot be given a value",
            where=where,
            legal="pointers to gm, integers, index, f16, bf16, f32, f64",
        )
    width = int(found[2])
    low = 0 if found[1] == "u" else -(1 << (width - 1))
    high = (1 << (width - 1)) - 1 if found[1] == "s" else (1 << width) - 1
    return low, high


def _float_bits(text: str, kind: str, width: int, where: str) -> int:
    if text.startswith("bits:"):
        try:
            bits = int(text.removeprefix("bits:"), 0)
        except ValueError:
            bits = -1
        if not 0 <= bits < 1 << width:
            raise PtoError(
                f"{text!r} are not bits of {kind}",
                where=where,
                legal=f"bits:0..{(1 << width) - 1:#x}",
            )
        return bits
    if width == 8:
        raise PtoError(
            f"{text!r} for an argument of type {kind}",
            where=where,
            legal="its bits, as in bits:0x38",
        )
    try:
        number = float(int(text, 0)) if re.fullmatch(r"[+-]?0[xob]\w+", text) else float(text)
    except (ValueError, OverflowError):
        raise PtoError(
            f"{text!r} is not {one_of(kind)}",
            where=where,
            legal="a number such as 1.5, inf, nan, or its bits as in bits:0x3C00",
        ) from None
    rounded = rounded_bits(number, kind)
    assert rounded is not None, f"{kind} has 16, 32 or 64 bits"
    if math.isfinite(number) and rounded == rounded_bits(math.copysign(math.inf, number), kind):
        raise PtoError(
            f"{text} is beyond {kind}", where=where, legal=f"at most {_greatest(kind):g}, or inf"
        )
    return rounded


def _greatest(kind: str) -> float:
    return {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38}.get(
        kind, 1.7976931348623157e308
    )
