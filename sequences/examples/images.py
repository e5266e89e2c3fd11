# SPDX-License-Identifier: Apache-2.0
"""Worked examples with an image, and ops that are refused, from their rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequences.examples.encode import accumulators, pack, record, records
from sequences.examples.example import BACKGROUNDS, Data, Example, Fill, Image, RuleExample
from sequences.examples.worked import EXAMPLES, Row, rows
from tb.isa.ctrl import CtrlOp, SetCtrl
from tb.isa.dma.legacy import LegacySet
from tb.isa.fix.op import FixOp
from tb.isa.profile import A5, SEED, Profile
from tb.isa.spaces import Space, memory_range
from tb.isa.text import AnyOp
from tb.language.literal.ops import ops_of

FORMS = ("legacy", "v06", "ctrl")
"""Keys of programs: legacy ops, ops without registers, and ops under CTRL."""

WORD = 64
"""Bytes from the results of one op to those of the next, where a row lists them."""

_TILES: Mapping[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "100 m + n": lambda m, n: 100.0 * m + n,
    "m - n / 4": lambda m, n: m - 0.25 * n,
    "(n + 3 m) mod 16 - 8": lambda m, n: (n + 3 * m) % 16 - 8.0,
}
"""Accumulators of row m and column n."""


def _place(memory: str, start: int = 0) -> tuple[Space, int]:
    """Returns the space of a memory such as ``l0a_mx``, and an address of it in the space."""
    space, addresses = memory_range(memory)
    return space, addresses.start + start


def _tile(op: FixOp, name: str) -> bytes:
    """Returns the accumulators that an op reads, where it reads them in L0C."""
    groups, step = -(-op.n // 16), op.k or 1
    words = np.zeros(((groups - 1) * op.src_stride + (op.m - 1) * step + 1, 16), dtype="<f4")
    values = _TILES[name](np.arange(op.m)[:, None], np.arange(op.n))
    for group in range(groups):
        part = values[:, 16 * group : 16 * group + 16]
        words[group * op.src_stride + step * np.arange(op.m), : part.shape[1]] = part
    return words.tobytes()


def _row(acc: list[float], op: FixOp) -> bytes:
    """Returns accumulators of one row, repeated up to the columns of an op."""
    return accumulators(np.resize(acc, op.n).tolist(), op.src_type.dtype)


def _numbers(fill: Row) -> bytes:
    """Returns the elements of a fill: given, or ``count`` of them that run from ``first`` on."""
    if "values" in fill:
        values = np.resize(fill["values"], fill.get("count", len(fill["values"])))
    else:
        values = fill.get("first", 0) + np.arange(fill["count"])
    return bytes(values.astype(f"<{fill['dtype']}").tobytes())


def _fill(fill: Row) -> Fill | Data:
    space, start = _place(fill["in"], fill.get("start", 0))
    if "pattern" in fill:
        return Fill(space, fill["pattern"], fill["size"], start)
    return Data(space, bytes.fromhex(fill["hex"]) if "hex" in fill else _numbers(fill), start)


def _parameters(row: Row, op: FixOp) -> Iterator[Data]:
    """Yields the accumulators and the records of a write-back."""
    acc = row["acc"]
    data = _tile(op, acc) if isinstance(acc, str) else _row(acc, op)
    yield Data(Space.L0C, data)
    if "records" in row:
        given = row["records"]
        values = {"offsets": [0], "signs": [1], "scale": [1.0], **given}
        keys = ("scale", "offsets", "signs")
        scales, offsets, signs = (np.resize(values[key], op.n) for key in keys)
        words = (
            record(float(scale), int(offset), bool(sign), op.dst_type.dtype)
            for scale, offset, sign in zip(scales, offsets, signs, strict=True)
        )
        yield Data(Space.FB, records(words))


def _fills(row: Row, op: AnyOp) -> tuple[Fill | Data, ...]:
    own = _parameters(row, op) if isinstance(op, FixOp) and "acc" in row else ()
    return (*own, *map(_fill, row.get("fills", ())))


def _listed(row: Row, op: FixOp) -> bytes:
    """Returns the image of a row that lists the results of its ops, each at its own address."""
    background = BACKGROUNDS[Space.GM]
    dtype = op.dst_type.dtype
    parts = (pack(codes, dtype) for codes in row["want"])
    return b"".join(part.ljust(WORD, bytes([background])) for part in parts)


def _images(row: Row, op: AnyOp, crc: int | None = None) -> list[Image]:
    if "images" in row:
        places = [(_place(to, start), size, code) for to, start, size, code in row["images"]]
        return [Image(space, size, code, start) for (space, start), size, code in places]
    space, start = _place(row["to"])
    if "want" in row:
        assert isinstance(op, FixOp)
        image = _listed(row, op)
        return [Image(space, len(image), zlib.crc32(image), start)]
    return [Image(space, row["size"], row["crc"] if crc is None else crc, start)]


def _example(name: str, row: Row, knobs: Row, crc: int | None = None) -> Example:
    types = row.get("types", "")
    forms = {form: ops_of(row[form], types) for form in FORMS if form in row}
    moves = [op for ops in forms.values() for op in ops if not isinstance(op, SetCtrl)]
    op = moves[-1]
    first, *others = _images(row, op, crc)
    backgrounds = {memory_range(key)[0]: value for key, value in row.get("backgrounds", {}).items()}
    return Example(
        name, forms, _fills(row, op), first.space, first.length, first.crc,
        {**BACKGROUNDS, **backgrounds}, tuple(others), knobs, first.start,
    )  # fmt: skip


def _of_profile(row: Row, profile: Profile, count: int | None = None) -> Mapping[str, int | str]:
    return {knob: getattr(profile, knob) for knob in row["knobs"][:count]}


def _outcomes(name: str, row: Row) -> Iterator[Example | RuleExample]:
    """Yields what becomes of an op in both profiles; a rule depends on the first knob alone."""
    program = next(row[form] for form in FORMS if form in row)
    legal = [key for key in ("seed", "a5") if not isinstance(row[key], str)]
    for key, profile in (("seed", SEED), ("a5", A5)):
        if key not in legal:
            knobs = _of_profile(row, profile, 1)
            yield _refused(name, {**row, "op": program, "rule": row[key], "knobs": knobs})
            continue
        knobs = _of_profile(row, profile)
        (knob, value), *_ = knobs.items()
        title = name if key == legal[0] else f"{name}, {knob} = {value}"
        if isinstance(row[key], int):
            yield _example(title, row, knobs, row[key])
        else:
            yield _example(title, {**row, "want": row[key]}, knobs)


def _refused(name: str, row: Row) -> RuleExample:
    ops = ops_of(row["op"], row.get("types", ""))
    (op,) = (each for each in ops if not isinstance(each, CtrlOp | LegacySet))
    ctrl = next((each.value for each in ops if isinstance(each, SetCtrl)), 0)
    return RuleExample(name, op, int(row["rule"][-2:]), ctrl, row.get("knobs", {}))


def image_examples() -> list[Example | RuleExample]:
    """Returns the examples of all files with images, and the ops that one profile refuses."""
    found: list[Example | RuleExample] = []
    for name, row in (each for file in EXAMPLES for each in rows(file)):
        if "seed" in row:
            found += _outcomes(name, row)
        else:
            found.append(_example(name, row, row.get("knobs", {})))
    return found


def rule_examples(issued: bool = True) -> list[RuleExample]:
    """Returns the ops of ``rules.toml`` that are issued, or those that are not."""
    found = ((name, row) for name, row in rows("rules") if row.get("issued", True) == issued)
    return [_refused(name, row) for name, row in found]
