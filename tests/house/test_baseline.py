# SPDX-License-Identifier: Apache-2.0
"""The record of what a rewrite must not change: every kind of difference is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import baseline
from tests.house.baseline import Entries, differences, main

PART: Entries = {"b": None, "a/y": ["p", "q"], "a/x": 1, "c": "x" * 300}


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Entries:
    """Replaces the parts by one, ``bins``, whose entries a test may change."""
    entries = dict(PART)
    monkeypatch.setattr(baseline, "PARTS", {"bins": lambda _before: dict(entries)})
    return entries


@pytest.fixture
def folder(part: Entries, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A record of the part."""
    path = tmp_path / "record"
    assert main(["record", str(path)]) == 0
    assert "bins: 4 entries, 0 s" in capsys.readouterr().out
    return path


def test_a_record_has_one_sorted_entry_a_line(folder: Path) -> None:
    assert [path.name for path in folder.parent.iterdir()] == ["record"]
    text = (folder / "bins.json").read_text()
    assert json.loads(text) == PART
    assert [line.partition(":")[0] for line in text.splitlines()[1:-1]] == [
        '"a/x"', '"a/y"', '"b"', '"c"',
    ]  # fmt: skip


def test_nothing_moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["nothing moved: bins, 4 entries"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"a/x": 2}, "a/x: 1 -> 2"),
        ({"a/y": ["q", "r"]}, 'a/y: ["p"] -> ["r"]'),
        ({"a/y": ["q", "p"]}, 'a/y: ["p", "q"] -> ["q", "p"]'),
        ({"d": 0}, "d: none -> 0"),
        ({"b": 0}, "b: null -> 0"),
        ({"c": "x" * 200 + "y" * 100}, f"c: ...{'x' * 100}... -> ...{'x' * 25}{'y' * 75}..."),
    ],
)
def test_a_changed_entry_is_found(
    change: Entries, line: str, part: Entries, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part.update(change)
    assert main(["compare", str(folder)]) == 1
    printed = capsys.readouterr().out
    assert printed.splitlines()[1:3] == [f"bins: {line}", "bins: 1 difference"]
    later = Path(printed.split()[-2]).parent
    assert json.loads((later / "bins.json").read_text()) == part
    (later / "bins.json").unlink()
    later.rmdir()


def test_an_entry_that_went_is_found() -> None:
    assert differences(PART, {key: value for key, value in PART.items() if key != "b"}) == [
        "b: null -> none"
    ]


def test_an_interrupted_record_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_before: Entries) -> Entries:
        raise KeyboardInterrupt

    monkeypatch.setattr(baseline, "PARTS", {"bins": baseline.bins, "verify": interrupted})
    assert main(["record", str(tmp_path / "record")]) == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "are required: command, FOLDER"),
        ("keep {}", "invalid choice: 'keep'"),
        ("record {}", "record exists"),
        ("record {}/no/x", "there is no folder"),
        ("compare {}/no", "part bins: No such file"),
        ("compare {} --only verify", "part 'verify' is unknown"),
        ("compare {} --only ,", "--only is ','"),
    ],
)
def test_bad_input(
    words: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.format(folder).split()) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "\n  where: " in printed
    assert "\n  legal: " in printed


@pytest.mark.long
@pytest.mark.parametrize("build", [baseline.bins, baseline.verify, baseline.explain])
def test_two_calls_are_equal(
    build: Callable[[Entries], Entries], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "EXPLAINED", 1)
    assert (first := build({}))
    assert differences(first, build({})) == []
    assert differences(first, build(first)) == []
