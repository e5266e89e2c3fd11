# SPDX-License-Identifier: Apache-2.0
"""Arguments on the command line: data of buffers, numbers, arrays, and their errors."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.common.errors import PtoError
from tb.isa.dtypes import ALL_DTYPES, ELEMENT_BYTES
from tb.programs.arrays import file_bytes, scalar_bits
from tb.programs.data import MAKERS, content, parse_source, pattern
from tb.programs.options import ProgramOptions
from tb.programs.request import option_layer
from tests.wording import line_says

WHERE = "--arg 0"


def data(text: str, dtype: str = "", folder: Path = Path()) -> bytes:
    found = content(parse_source(text, WHERE, folder), WHERE, dtype=dtype, seed=(1, 2))
    assert found is not None
    return found.tobytes()


def refused(text: str, dtype: str = "", folder: Path = Path()) -> str:
    with pytest.raises(PtoError) as error:
        data(text, dtype, folder)
    assert error.value.where == WHERE
    return str(error.value)


# --- data ----------------------------------------------------------------------------------------


def test_data_of_the_makers() -> None:
    assert data("zeros:5") == bytes(5)
    assert data("hex:00 3c_ff") == b"\x00\x3c\xff"
    assert data("random:64") == data("random:64@0x1000") != bytes(64)
    assert data("pattern:2:0x200") == bytes(
        (7 * i + 13 * (i >> 8) + 29 * 2 + 3) & 0xFF for i in range(512)
    )
    assert data("ones:8", "f16") == np.ones(4, np.float16).tobytes()
    assert data("ones:8", "f32") == np.ones(2, np.float32).tobytes()
    assert data("ones:8", "ui64") == np.ones(1, np.uint64).tobytes()
    assert data("ones:4", "bf16") == b"\x80\x3f" * 2
    assert content(parse_source("empty:16", WHERE), WHERE) is None


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_ones_of_every_type_have_whole_elements(dtype: str) -> None:
    assert len(data("ones:16", dtype)) == 16
    if ELEMENT_BYTES.get(dtype, 1) > 1:
        assert "not a whole number" in refused("ones:17", dtype)


def test_places_of_buffers() -> None:
    assert parse_source("zeros:4@0x1000", WHERE).address == 0x1000
    assert parse_source("a@b.npy@4096", WHERE).address == 4096
    assert parse_source("a@b.npy", WHERE).path == Path("a@b.npy")
    assert parse_source("zeros:4@align:512", WHERE).align == 512


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no data given", "zeros:BYTES"]),
        ("@0x1000", ["no data given"]),
        ("zeros", ["cannot read zeros"]),
        ("zeros:", ["a length of ''", "1..268435456"]),
        ("zeros:0", ["a length of '0'"]),
        ("zeros:-4", ["a length of '-4'"]),
        ("zeros:4.5", ["a length of '4.5'"]),
        ("zeros:many", ["a length of 'many'"]),
        ("zeros:268435457", ["a length of '268435457'"]),
        ("zero:64", ["'zero' makes no data", "zeros:BYTES"]),
        ("ones:4", ["needs an element type"]),
        ("pattern:64", ["not a pattern", "pattern:SEED:BYTES"]),
        ("pattern:x:64", ["not a pattern"]),
        ("pattern:-1:64", ["not a pattern"]),
        ("hex:0", ["not bytes in hexadecimal"]),
        ("hex:0g", ["not bytes in hexadecimal"]),
        ("hex:", ["a length of '0'"]),
        ("zeros:4@0x10000000000", ["is not in GM", "0..2^40-1"]),
        ("zeros:4@-1", ["is not in GM"]),
        ("zeros:4@0x1g", ["not an address"]),
        ("zeros:4@align:3", ["alignment of '3'", "power of two, 1..512"]),
        ("zeros:4@align:1024", ["alignment of '1024'"]),
        ("zeros:4@align:x", ["alignment of 'x'"]),
        ("missing.bin", ["cannot read", "missing.bin", "No such file"]),
        ("missing.npy", ["cannot read", "missing.npy", "No such file"]),
        (".", ["cannot read", "Is a directory"]),
        ("a\0b", ["cannot read"]),
    ],
)
def test_data_that_is_refused(text: str, words: list[str]) -> None:
    message = refused(text)
    for word in words:
        assert word in message, message


def test_files_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.bin").write_bytes(b"")
    assert "is empty" in refused("empty.bin", "", tmp_path)
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(1 << 29)
    assert "at most 268435456 bytes" in refused("large.bin", "", tmp_path)
    (tmp_path / "no.npy").write_bytes(b"no array")
    assert "not an array of numpy" in refused("no.npy", "f16", tmp_path)
    np.save(tmp_path / "f32.npy", np.zeros(3, np.float32))
    assert line_says(refused("f32.npy", "f16", tmp_path), "convert astype")
    message = refused("f32.npy", "bf16", tmp_path)
    assert "legal: uint16, V2" in message
    assert line_says(message, "numpy no bf16 bits uint16")
    np.savez(tmp_path / "more.npz", a=np.zeros(3))
    assert "archive of arrays" in refused("more.npz", "f16", tmp_path)
    np.save(tmp_path / "none.npy", np.zeros(0, np.float16))
    assert "holds no elements" in refused("none.npy", "f16", tmp_path)
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "not an array of numpy" in refused("objects.npy", "f16", tmp_path)
    cut = tmp_path / "cut.npy"
    np.save(cut, np.zeros(64, np.float16))
    cut.write_bytes(cut.read_bytes()[:-8])
    assert "not an array of numpy" in refused("cut.npy", "f16", tmp_path)


@pytest.mark.parametrize(
    ("kind", "dtype", "legal"),
    [
        ("<f2", "f16", ""),
        (">f2", "f16", ""),
        ("<f4", "f16", "float16"),
        ("<f8", "f32", "float32"),
        ("u1", "i8", ""),
        ("i1", "si8", ""),
        ("u1", "si8", "int8"),
        ("i4", "ui32", "uint32"),
        ("u2", "bf16", ""),
        ("f2", "bf16", "uint16"),
        ("u1", "hif8", ""),
        ("i8", "i64", ""),
        ("c8", "i64", "int64, uint64"),
        ("?", "i8", "int8, uint8"),
    ],
)
def test_types_of_arrays(tmp_path: Path, kind: str, dtype: str, legal: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(kind)
    np.save(tmp_path / "a.npy", np.asfortranarray(array))
    if legal:
        message = refused("a.npy", dtype, tmp_path)
        assert f"legal: {legal}" in message
        assert dtype in message
    else:
        little = array.astype(array.dtype.newbyteorder("<"))
        assert data("a.npy", dtype, tmp_path) == little.tobytes(), "C order, low byte first"


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_outputs_can_be_read_as_inputs(tmp_path: Path, dtype: str) -> None:
    content = pattern(3, 64).tobytes()
    for name in ("a.npy", "a.bin"):
        path = tmp_path / name
        path.write_bytes(file_bytes(content, path, dtype))
        assert data(name, dtype, tmp_path) == content


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        ("128", "i64", 128),
        (128, "index", 128),
        ("0x80", "ui8", 0x80),
        ("-1", "si8", -1),
        ("-128", "i8", -128),
        ("255", "i8", 255),
        (True, "i1", 1),
        ("false", "i1", 0),
        ("1.5", "f16", 0x3E00),
        ("2", "f32", 0x4000_0000),
        ("0x10", "f32", 0x4180_0000),
        ("-inf", "f32", 0xFF80_0000),
        ("1", "bf16", 0x3F80),
        ("1.00390625", "bf16", 0x3F80),
        ("1.01171875", "bf16", 0x3F82),
        ("1", "f64", 0x3FF0_0000_0000_0000),
        ("bits:0x7E01", "f16", 0x7E01),
        ("bits:0x38", "hif8", 0x38),
    ],
)
def test_numbers(value: object, kind: str, bits: int) -> None:
    assert scalar_bits(value, kind, WHERE) == bits


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("128", "si8", ["128 is not an si8", "-128..127"]),
        ("256", "i8", ["-128..255"]),
        ("-129", "i8", ["-128..255"]),
        ("-1", "ui32", ["0..4294967295"]),
        ("2", "i1", ["-1..1"]),
        (str(1 << 64), "i64", ["is not an i64"]),
        (str(1 << 64), "index", ["is not an index"]),
        ("1.5", "i64", ["'1.5' is not an i64", "an integer"]),
        ("in.npy", "i64", ["'in.npy' is not an i64"]),
        ("zeros:64", "f16", ["is not an f16", "a number such as 1.5"]),
        ("65520", "f16", ["beyond f16", "65504"]),
        ("1e39", "f32", ["beyond f32"]),
        ("-3.4e38", "bf16", ["beyond bf16"]),
        ("bits:0x10000", "f16", ["not bits of f16", "bits:0..0xffff"]),
        ("bits:x", "f16", ["not bits of f16"]),
        ("1.0", "hif8", ["its bits"]),
        ("1", "memref<4xf32>", ["cannot be given a value", "pointers to gm"]),
        ("1", "i129", ["cannot be given a value"]),
    ],
)
def test_numbers_that_are_refused(value: str, kind: str, words: list[str]) -> None:
    with pytest.raises(PtoError) as error:
        scalar_bits(value, kind, WHERE)
    for word in words:
        assert word in str(error.value), str(error.value)


@given(st.floats(width=64, allow_nan=False))
def test_bf16_is_rounded_once(number: float) -> None:
    try:
        bits = scalar_bits(repr(number), "bf16", WHERE)
    except PtoError:
        assert 3.38953139e38 < abs(number) < math.inf
        return
    found = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if math.isfinite(number):
        near = [struct.unpack("<f", struct.pack("<I", (bits + n) << 16))[0] for n in (-1, 0, 1)
                if 0 <= bits + n <= 0xFFFF and (bits + n) & 0x7FFF <= 0x7F7F]  # fmt: skip
        errors = [abs(one - number) for one in near]
        assert abs(found - number) == min(errors)
        assert errors.count(min(errors)) == 1 or not bits & 1 or found == 0, "ties go to even"


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"args": ("zeros:4",)}, ["--arg 'zeros:4'", "N=VALUE"]),
        ({"args": ("x=zeros:4",)}, ["--arg", "N=VALUE"]),
        ({"args": ("-1=4",)}, ["N=VALUE"]),
        ({"args": ("0=",)}, ["N=VALUE"]),
        ({"args": ("0=1", "0=2")}, ["argument 0 is given twice"]),
        ({"out": ("out.bin",)}, ["--out 'out.bin'", "N=VALUE"]),
        ({"load": ("ub0=x",) * 0 + ("x",)}, ["--load 'x'", "ub0@0x100=tile.npy"]),
        ({"load": ("moon@0=x",)}, ["memory 'moon' is unknown", "gm, ub0"]),
        ({"load": ("ub0@0x40000=x",)}, ["leave ub0", "262144"]),
        ({"load": ("ub0@y=x",)}, ["--load 'ub0@y=x'"]),
        ({"dump": ("ub0@0:0x40001=f",)}, ["leave ub0"]),
        ({"dump": ("gm@0=f",)}, ["has no length"]),
        ({"dump": ("arg0=f",)}, ["has no length", "--out 0=f"]),
        ({"dump": ("ub0@0:0=f",)}, ["length is 0", "where: --dump ub0@0:0=f"]),
        ({"dump": ("ub0@0:4=",)}, ["--dump"]),
        ({"knobs": ("stall=3",)}, ["knob 'stall' is unknown", "stall_r"]),
        ({"knobs": ("stall_r",)}, ["invalid --knobs 'stall_r'"]),
        ({"knobs": ("stall_r=x",)}, ["invalid --knobs 'stall_r=x'"]),
        ({"knobs": ("stall_r=256",)}, ["stall_r is 256", "0..255"]),
        ({"foreign": "run"}, ["--foreign is 'run'", "refuse, skip"]),
        ({"illegal": "yes"}, ["--illegal is 'yes'", "refuse, send"]),
    ],
)
def test_options_that_are_refused(options: dict[str, object], words: list[str]) -> None:
    with pytest.raises(PtoError) as error:
        option_layer(ProgramOptions(**options))  # type: ignore[arg-type]
    for word in words:
        assert word in str(error.value), str(error.value)


def test_options_are_read() -> None:
    setup = option_layer(
        ProgramOptions(
            args=("0=a=b.npy", "1= 4"),
            load=("vec@0x20=zeros:4", "arg0@8:4=a.bin"),
            dump=("ub1@8=ub.bin", "arg0@4:8=x.bin"),
            knobs=("stall_r=3,stall_w=4", "seed=1"),
        )
    ).setup
    assert setup.args == {0: "a=b.npy", 1: "4"}
    assert [(one.space, one.arg, one.address, one.length) for one in setup.load] == [
        ("ub0", None, 0x20, None),
        ("", 0, 8, 4),
    ]
    assert [(one.space, one.arg, one.address, one.size) for one in setup.dump] == [
        ("ub1", None, 8, 262136),
        ("", 0, 4, 8),
    ]
    assert setup.knobs == {"stall_r": 3, "stall_w": 4, "seed": 1}


def test_options_survive_the_command_line() -> None:
    options = ProgramOptions(args=("0=a b",), out=("0=c",), illegal="send", seed=0)
    assert options.words() == (
        *("--arg", "0=a b", "--out", "0=c", "--illegal", "send", "--seed", "0"),
    )


def test_every_maker_is_in_the_help() -> None:
    legal = refused("")
    assert all(f"{maker}:" in legal for maker in MAKERS)
