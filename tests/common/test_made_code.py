# SPDX-License-Identifier: Apache-2.0
"""Code of dataclasses that is kept in a file: the classes are the same with and without it."""

from __future__ import annotations

import dataclasses
import importlib.util
import marshal
import sys
from pathlib import Path
from typing import Any

import pytest

import tb.common.made_code
from tb.common.made_code import code_file, kept_code


def some_class() -> Any:
    @dataclasses.dataclass(frozen=True, order=True)
    class Some:
        """A class."""

        number: int
        name: str = "x"
        more: tuple[int, ...] = dataclasses.field(default=(), compare=False)

    return Some


@pytest.fixture(autouse=True)
def written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytecode may be written, whatever the environment says."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that are compiled."""
    texts: list[str] = []

    def counting(text: str, *names: Any, **options: Any) -> Any:
        texts.append(text)
        return compile(text, *names, **options)

    monkeypatch.setattr(tb.common.made_code, "compile", counting, raising=False)
    return texts


def test_the_second_time_nothing_is_compiled(tmp_path: Path, compiled: list[str]) -> None:
    path = tmp_path / "codes"
    with kept_code(path):
        first = some_class()
    assert compiled
    compiled.clear()
    with kept_code(path):
        second = some_class()
    assert compiled == []
    plain = some_class()
    for kind in (first, second, plain):
        assert repr(kind(1)) == f"{kind.__qualname__}(number=1, name='x', more=())"
        assert kind(1) < kind(2)
        assert hash(kind(1, "y", (2,))) == hash(kind(1, "y", (3,)))
        assert kind.__init__.__annotations__ == plain.__init__.__annotations__
        with pytest.raises(dataclasses.FrozenInstanceError):
            kind(1).number = 2


@pytest.mark.parametrize("data", [b"", b"x", marshal.dumps((b"other", {})), marshal.dumps(7)])
def test_a_file_that_cannot_be_used_is_made_again(
    tmp_path: Path, compiled: list[str], data: bytes
) -> None:
    path = tmp_path / "codes"
    path.write_bytes(data)
    with kept_code(path):
        some_class()
    assert compiled
    compiled.clear()
    with kept_code(path):
        some_class()
    assert compiled == []
    assert [one.name for one in tmp_path.iterdir()] == ["codes"]


def test_a_file_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "codes").mkdir()
    with kept_code(tmp_path / "codes"):
        assert some_class()(1).number == 1


def test_a_file_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tb.common.made_code, "MOST_TEXTS", 4)
    for fields in ("a", "b", "c"):
        with kept_code(tmp_path / "codes"):
            dataclasses.make_dataclass("Made", [(fields, int)])
    _, codes = marshal.loads((tmp_path / "codes").read_bytes())
    assert not [text for text in codes if "self.a" in text]


def test_nothing_is_written_where_bytecode_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with kept_code(tmp_path / "codes"):
        some_class()
    assert not list(tmp_path.iterdir())


def test_the_function_of_the_language_comes_back(tmp_path: Path) -> None:
    hidden = []

    def fails() -> None:
        with kept_code(tmp_path / "codes"):
            hidden.append("exec" in vars(dataclasses))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert hidden == [True]
    assert "exec" not in vars(dataclasses)


def test_the_file_is_with_the_bytecode() -> None:
    place = Path(importlib.util.cache_from_source(tb.common.made_code.__file__))
    assert code_file().parent == place.parent
