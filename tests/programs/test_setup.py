# SPDX-License-Identifier: Apache-2.0
"""Setup files: their keys, and errors with the line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scoreboards.faults import Fault, FaultKind
from tb.common.errors import PtoError
from tb.isa.spaces import Space, memory_range
from tb.language.grammar.pointers import SPACES as KEYWORDS
from tb.language.place import Finding, Place, refuse
from tb.programs.files import find_programs
from tb.programs.reasons import MOST_WORDS, SHOWN, grouped, reason, reason_of, table
from tb.programs.request import place_of, read_setup, setup_beside
from tb.programs.setup import SPACES, Setup, check_range, space_name
from tests.wording import says

FULL = """
function = "kernel"
seed = 7
stall_seed = 3
illegal = "send"
foreign = "skip"
[args]
0 = "in.npy"
1 = 128
2 = 1.5
3 = true
[out]
0 = "out.bin"
[backgrounds]
gm = 0x55
vec = 0xAA
[knobs]
stall_r = 40
[[load]]
space = "ub"
address = 0x100
data = "memory.bin"
offset = 16
length = 4096
[[check]]
arg = 0
length = 64
crc32 = 0x3411E7F9
[[dump]]
space = "l0c"
length = 64
file = "l0c.bin"
[[fault]]
space = "gm"
address = 0x1000
kind = "decerr"
sides = "write"
slots = ["mte3", "fix"]
"""


def setup_of(folder: Path, text: str) -> Setup:
    path = folder / "x.toml"
    path.write_text(text)
    return read_setup(path).setup


def refused(folder: Path, text: str) -> str:
    with pytest.raises(PtoError) as error:
        setup_of(folder, text)
    return str(error.value)


def test_everything_is_read(tmp_path: Path) -> None:
    setup = setup_of(tmp_path, FULL)
    assert setup.args == {0: "in.npy", 1: 128, 2: 1.5, 3: True}
    assert setup.out == {0: "out.bin"}
    assert setup.backgrounds == {"gm": 0x55, "ub0": 0xAA}
    assert (setup.load[0].space, setup.load[0].offset) == ("ub0", 16)
    assert (setup.check[0].arg, setup.check[0].space) == (0, "")
    assert (setup.seed, setup.stall_seed, setup.illegal, setup.foreign) == (7, 3, "send", "skip")


def test_a_fault_is_one_of_the_scoreboard(tmp_path: Path) -> None:
    table = setup_of(tmp_path, FULL).fault[0]
    words = table.keywords("gm", 0x1000)
    fault = Fault(**{**words, "space": Space(words["space"]), "kind": FaultKind(words["kind"])})
    assert fault == Fault(Space.GM, 0x1000, FaultKind.DECERR, 1, 2, 0, 0b1100)


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    assert setup_of(tmp_path, "") == Setup()


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("\nsed = 1", ["key sed", "mean seed", "x.toml:2", "legal: illegal, backgrounds"]),
        ('[args]\n0 = "a"\nx = 2', ["'x'", "number of an argument", "x.toml:3"]),
        ("[args]\n0 = 3\n00 = 4", ["'00'", "number of an argument", "x.toml:3"]),
        ("[args]\n0 = [1]", ["args.0", "a text or a number", "x.toml:2"]),
        ("args = 3", ["args is 3", "x.toml:1"]),
        ("[out]\n0 = 3", ["out.0 is 3", "x.toml:2"]),
        ('[out]\n0 = ""', ["out.0", "x.toml:2"]),
        ('[[load]]\nspace = "ub"\nadress = 3\ndata = "s"', ["adress of [[load]]", "mean address?"]),
        (
            '[[load]]\nspace = "ub0"\ndata = "x"\n[[load]]\ndata = "x"\nspace = "uc"',
            ["memory 'uc' is unknown", "gm, ub0, ub1", "x.toml:6"],
        ),
        ('[[load]]\ndata = "x"', ["neither space nor arg", "x.toml:1, [[load]]"]),
        ('[[load]]\nspace = "gm"\narg = 0\ndata = "x"', ["space and arg", "x.toml:1"]),
        ('[[load]]\nspace = "gm"', ["key data of [[load]]", "missing", "x.toml:1"]),
        ("load = 3", ["load is 3", "x.toml:1"]),
        ('[[dump]]\nspace = "gm"\naddress = -3\nlength = 1\nfile = "x"', ["is -3", "x.toml:3"]),
        ('[[dump]]\nspace = "gm"\nlength = 0\nfile = "x"', ["length", "is 0", "x.toml:3"]),
        (
            '[[dump]]\nspace = "bt"\naddress = 4090\nlength = 7\nfile = "x"',
            ["7 bytes at 0xffa leave bt", "4096", "x.toml:3, [[dump]]"],
        ),
        ('[[dump]]\narg = 0\nfile = "x"', ["no length", "--out 0=x", "x.toml:1, [[dump]]"]),
        ('[[check]]\nspace = "gm"\nlength = 3', ["length and crc32, or data", "x.toml:1"]),
        ('[[check]]\nspace = "gm"\ncrc32 = 3', ["length and crc32, or data", "x.toml:1"]),
        ('[[check]]\nspace = "gm"\nlength = 3\ncrc32 = 3\ndata = "x"', ["or data", "x.toml:1"]),
        ('[[check]]\nspace = "gm"\nlength = 3\ncrc32 = 0x100000000', ["crc32", "x.toml:4"]),
        ('[[fault]]\nspace = "fb"\nkind = "slverr"', ["fault of fb is slverr", "x.toml:3"]),
        ('[[fault]]\narg = 0\nkind = "local"', ["fault of gm is local", "x.toml:3"]),
        ('[[fault]]\narg = 0\nkind = "odd"', ["kind of [[fault]] is 'odd'", "slverr", "x.toml:3"]),
        ('[[fault]]\narg = 0\nkind = "slverr"\nslots = ["mte9"]', ["slots", "mte9", "x.toml:4"]),
        ('[[fault]]\narg=0\nkind="slverr"\n' * 9, ["9 faults", "at most 8"]),
        ("[knobs]\nstall_q = 3", ["'stall_q' is unknown", "stall_", "x.toml:2"]),
        ("[knobs]\nstall_r = 300", ["stall_r is 300", "0..255", "x.toml:2"]),
        ('[knobs]\nstall_r = "3"', ["stall_r", "x.toml:2"]),
        ("[backgrounds]\ngm = 256", ["backgrounds.gm is 256", "255", "x.toml:2"]),
        ("[backgrounds]\nl2 = 0", ["memory 'l2' is unknown", "x.toml:2"]),
        ("seed = -1", ["seed is -1", "x.toml:1"]),
        ('seed = "1"', ["seed is '1'", "x.toml:1"]),
        ("stall_seed = 0x100000000", ["stall_seed", "x.toml:1"]),
        ('illegal = "maybe"', ["illegal is 'maybe'", "legal: refuse, send", "x.toml:1"]),
        ('foreign = "run"', ["foreign is 'run'", "legal: refuse, skip", "x.toml:1"]),
        ("seed = 1\na b", ["not TOML", "x.toml:2:3"]),
    ],
)
def test_errors_have_the_line(tmp_path: Path, text: str, facts: list[str]) -> None:
    message = refused(tmp_path, text)
    for fact in facts:
        assert fact in message, message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match="No such file"):
        read_setup(tmp_path / "x.toml")
    with pytest.raises(PtoError, match="Is a directory"):
        read_setup(tmp_path)
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PtoError, match="not UTF-8"):
        read_setup(tmp_path / "x.toml")


def test_the_setup_file_of_a_program_is_found(tmp_path: Path) -> None:
    assert setup_beside(tmp_path / "x.pto") is None
    (tmp_path / "x.toml").write_text("")
    assert setup_beside(tmp_path / "x.pto") == tmp_path / "x.toml"
    assert read_setup(tmp_path / "x.toml").folder == tmp_path


@pytest.mark.parametrize("name", [*KEYWORDS, "GM", "Ub1"])
def test_aliases_of_memories(name: str) -> None:
    assert space_name(name) in SPACES


def test_memories_of_l0_are_parts_of_one_space(tmp_path: Path) -> None:
    space, addresses = memory_range("l0b")
    assert (space, addresses) == (Space.L0, range(0x20000, 0x30000))
    with pytest.raises(PtoError, match="l0a_mx has 4096 bytes"):
        check_range("l0a_mx", 4096, 1)
    check_range("l0b", 65535, 1)
    assert setup_of(tmp_path, "backgrounds = {l0 = 1}").backgrounds == {"l0": 1}
    assert "'l0a' is unknown" in refused(tmp_path, "backgrounds = {l0a = 1}")


def test_places_of_keys() -> None:
    text = '# a\n[args]\n"0" = 1\n[[load]]\na = 1\n[[load]]\nspace = 1\n[knobs]\na = 1\n'
    path = Path("x.toml")
    for loc, line in (
        (("args", "0"), 3),
        (("load", 0, "a"), 5),
        (("load", 1, "space"), 7),
        (("load", 1, "a"), 6),
        (("knobs", "a"), 9),
    ):
        assert place_of(text, path, loc) == f"x.toml:{line}"
    assert place_of(text, path, ("seed",)) == "x.toml"
    assert os.fspath(path) == place_of(text, path, ())


# --- Reasons for which programs are refused: equal for equal mistakes, without names and numbers

AT = Place("x.pto", 3, 5)


@pytest.mark.parametrize(
    ("op", "rule", "message", "expected"),
    [
        ("pto.mte_gm_ub", "DMA-L05", "len_burst is 70000", "DMA-L05"),
        ("pto.mte_gm_ub", "A-14", "hazard: writes ub0 0x0..0x3f (64 B), which", "A-14: hazard"),
        ("pto.mte_ub_gm", "", "hazard: reads ub0 0x0..0x3f (64 B), which", "hazard"),
        ("", "", "%length is not defined", "... is not defined"),
        ("", "", "takes 4 operands, not 3", "takes N operands, not N"),
        ("", "", "expected ':' after 'i64', found '->'", "expected ... after ..., found ..."),
        ("arith.power", "", "unknown op 'arith.power'", "arith.power: unknown op 'arith.power'"),
        ("pto.vadd", "", "this op is foreign: it moves no data", "pto.vadd: this op is foreign"),
        ("pto.wait_flag", "", "deadlock: no set_flag sets event 2 of PIPE_V", "deadlock"),
        ("", "", "byte 0xe9 is not UTF-8: the file is not a text", "byte N is not UTF-8"),
        ("", "", "it has 104857600 bytes: too long for a program", "it has N bytes"),
        ("", "", "calls at y.pto:7:5 are nested", "calls at ... are nested"),
    ],
)  # fmt: skip
def test_words(op: str, rule: str, message: str, expected: str) -> None:
    assert reason_of(Finding(AT, op, rule, message)) == expected
    assert reason(refuse(AT, message, op=op, rule=rule)) == expected
    if not op and not rule:
        assert reason(PtoError(message)) == expected


def test_long_sentences_are_cut() -> None:
    words = reason(PtoError("word " * 100))
    assert len(words) <= MOST_WORDS
    assert words.endswith("word...")


def test_the_most_frequent_reason_comes_first() -> None:
    found = grouped([("b", "1"), ("a", "2"), ("c", "3"), ("c", "4")])
    assert [(one.text, one.count, one.first) for one in found] == [
        ("c", 2, "3"), ("a", 1, "2"), ("b", 1, "1"),
    ]  # fmt: skip
    assert table(found)[0] == "     2  c, such as 3"


def test_a_long_table_ends_with_the_number_of_the_others() -> None:
    pairs = [(f"reason {number:02}", "x") for number in range(SHOWN + 3)]
    lines = table(grouped([*pairs, pairs[-1]]))
    assert len(lines) == SHOWN + 1
    assert lines[0] == f"     2  reason {SHOWN + 2}, such as x"
    assert lines[-1].split() == ["3", "for", "3", "other", "reasons"]


# --- Files, folders and links that are named as programs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with programs at three depths and other files."""
    for name in ("b.pto", "a.pto", "deep/er/c.pto", "folder.pto/d.pto", "deep/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("module {}\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "gone.pto").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*given: str) -> list[str]:
    return [str(path) for path in find_programs(given)]


def test_a_folder_means_the_files_below_it(folder: Path) -> None:
    assert names(".") == ["a.pto", "b.pto", "deep/er/c.pto", "folder.pto/d.pto"]
    assert names("folder.pto") == ["folder.pto/d.pto"]
    assert names(str(folder / "deep")) == [str(folder / "deep/er/c.pto")]


def test_order_is_that_of_the_names_given(folder: Path) -> None:
    assert names("b.pto", "deep", "a.pto") == ["b.pto", "deep/er/c.pto", "a.pto"]


def test_each_file_counts_once_under_any_name(folder: Path) -> None:
    (folder / "link.pto").symlink_to("a.pto")
    assert names("a.pto", "./a.pto", str(folder / "a.pto"), "deep/../a.pto") == ["a.pto"]
    assert names("link.pto", "a.pto") == ["link.pto"]
    assert names("a.pto", ".") == ["a.pto", "b.pto", "deep/er/c.pto", "folder.pto/d.pto"]


def test_a_file_that_is_named_may_have_any_name(folder: Path) -> None:
    assert names("deep/notes.txt") == ["deep/notes.txt"]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ((), "no program is named"),
        (("a.pto", "no.pto"), "no.pto does not exist"),
        (("gone.pto",), "gone.pto does not exist"),
        (("empty",), "folder empty holds no .pto file"),
        (("/dev/null",), "/dev/null is a device or a pipe"),
        (("x" * 5000,), "File name too long"),
        (("a\0b",), "a\0b"),
    ],
)
def test_wrong_names(folder: Path, given: tuple[str, ...], facts: str) -> None:
    with pytest.raises(PtoError) as error:
        find_programs(given)
    assert facts in str(error.value)
    assert says(error.value.remedy, ".pto files folders")
