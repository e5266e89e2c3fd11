# SPDX-License-Identifier: Apache-2.0
"""Single values of the worked examples, where the spec lists them beside the image's CRC.

docs/spec/nd2nz.md section 5, docs/spec/bias_fb.md section 4, docs/spec/examples.md sections 3 and
6, and layouts of docs/spec/fixpipe.md section 11.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from sequences.examples.catalog import EXAMPLES
from tb.isa.spaces import Space
from tb.isa.status import Status


def halves(*values: int) -> bytes:
    return np.array(values, "<u2").tobytes()


def words(*values: int) -> bytes:
    return np.array(values, "<u4").tobytes()


def floats(*values: float) -> bytes:
    return np.array(values, "<f4").tobytes()


def pattern(seed: int, offsets: Iterable[int]) -> bytes:
    """Bytes of P(seed) of the conventions."""
    return bytes((7 * i + 13 * (i >> 8) + 29 * seed + 3) % 256 for i in offsets)


NO_L1, NO = b"\xee", b"\xaa"

VALUES: dict[str, dict[int, bytes]] = {
    "ND-E1": {
        0x0: halves(0),
        0x1E: halves(15),
        0x3FE: halves(511),
        0x800: halves(512),
        0xBFE: halves(1023),
        1024: NO_L1 * 1024,
    },
    "ND-E2": {
        0x4FE: halves(1965),
        0x600: halves(16),
        0xCE2: halves(383),
        0x16E2: halves(1999),
        3 * 48 * 32: halves(48, 49, *[0] * 14),
        40 * 32: NO_L1 * 256,
    },
    "ND-E3": {519: b"\x88\0"},
    "ND-E4": {512: words(8, 9, 10, 0, 0, 0, 0, 0)},
    "ND-E5": {32: halves(*range(1, 146, 16), *[0] * 6)},
    "ND-E6": {512: halves(1, 17, 33, 49, 65, 0)},
    "ND-E7": {0: halves(*range(48)), 96: NO_L1 * 32},
    "ND-E8": {
        0: halves(0, 1, 2, 0, 3, 4, 5, 0),
        40: halves(15, 16, 17, 0, *[0] * 8),
        64: NO_L1 * 64,
        128: halves(18, 19, 20, 0),
    },
    "ND-E9": {
        0: bytes((1, 6, 11, 16, 2, 7, 12, 17, 3, 8, 13, 18, 4, 9, 14, 19, 5, 10, 15, 20)),
        20: bytes(12),
        32: NO_L1 * 32,
    },
    "ND-E10": {0: words(1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0), 64: NO_L1 * 32},
    "BT-E1": {0: words(0x3F800000, 0xC0200000, 0x3EAAA000, 0x477FE000), 16: NO * 48},
    "BT-E2": {
        0: words(0x3F800000, 0xC0200000),
        8: NO * 8,
        16: words(0x477FE000, 0x33800000),
        24: NO * 8,
        32: words(0x7F800000, 0x387FC000),
    },
    "BT-E3": {0: words(0x3F800000, 0xC0000000, 0x7FC10000, 0x00010000)},
    "FB-E1": {0: pattern(5, range(512)), 512: NO * 512},
    "FB-E2": {0: pattern(5, range(128)), 128: NO * 192, 320: pattern(5, range(192, 320))},
    "UU-E1": {
        0: pattern(2, range(64)),
        64: NO * 64,
        128: pattern(2, range(96, 160)),
        256: pattern(2, range(192, 256)),
    },
    "GL-E1": {32 * r: pattern(0, range(64 * r, 64 * r + 32)) for r in range(4)},
    "LU-E1": {0: pattern(3, range(64)), 64: pattern(3, range(128, 192))},
}
VALUES |= {
    "FX-E1": {0xD5C: floats(1739)},
    "FX-E2": {0xEE4: floats(1739)},
    "FX-E3": {0x97C: floats(1731)},
    "FX-E4": {0x9BC: floats(1731)},
    "FX-E5": {0x1FC: floats(715)},
    "FX-E6": {4 * 80: floats(256), 4 * (80 + 3 * 20 + 15): floats(319)},
    "FX-E7": {0: bytes.fromhex("98BADCFE10325476")},
    "S-L0CGM": {
        2 * (32 * m + n): np.array([result], "<f2").tobytes()
        for m, n, result in ((0, 0, 0), (0, 31, -6.25), (15, 0, 17), (15, 31, 7.25), (7, 16, 4))
    },
}
VALUES["UU-E2"] = VALUES["UU-E1 in L1"] = VALUES["UU-E1"]

BY_NAME = {example.name: example for example in EXAMPLES}


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize("name", VALUES)
def test_listed_values(name: str, legal: bool) -> None:
    example = BY_NAME[name]
    for program in example.forms.values():
        golden = GoldenMemory(example.initial)
        golden.ensure(Space.GM, 0, example.length)
        before = {space: golden[space].copy() for space in golden if space is not Space.GM}
        model = ReferenceModel(
            golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
        )
        for op in program:
            assert model.execute(op, legal=legal).status is Status.OK
        size = example.length if example.space is Space.GM else None
        image = golden[example.space][:size].tobytes()
        for start, value in VALUES[name].items():
            assert image[start : start + len(value)] == value, hex(start)
        for space, content in before.items():
            if space is example.space:
                content[: example.length] = golden[space][: example.length]
            assert np.array_equal(golden[space], content), space
        assert bool(golden.written_pages()) == (example.space is Space.GM)
