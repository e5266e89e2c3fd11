# SPDX-License-Identifier: Apache-2.0
"""Injects many bugs into one copy of the engines, each with a switch that a run selects.

A separate build for each bug costs far more than the few transactions that catch it. Here each
place that a bug changes is written twice, and the number in the plusarg ``+pto_bug=N`` decides
which is used; 0 is the unchanged engine. The places are:

- a statement inside ``always``, ``initial`` or a function: both forms, each in a branch of ``if``;
- ``assign`` and a net declared with its value: one net of the same width for each form, and a
  choice between them;
- the expression at an input of an instance: a choice between both expressions.

Any other change of a bug (parameters, outputs of an instance, several items at once) cannot be
switched, and needs a separate build: see :func:`switchable`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

SWITCH = "pto_bug"
"""Name of the variable in the engines, and of the plusarg."""

_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|`(?:include|default_nettype|ifdef|ifndef|undef|timescale)"
    r"[^\n]*|`(?:else|endif)\b[^\n]*|`define(?:[^\n]*\\\n)*[^\n]*)"
    r'|(?P<token>"(?:\\.|[^"\\])*"|\d*\'[sS]?[bodhBODH][0-9a-fA-FxXzZ_?]+|[`$]?[A-Za-z_][\w$]*|\d[\d_]*'
    r"|<<<|>>>|===|!==|\(\*|\*\)|<=|>=|==|!=|&&|\|\||<<|>>|\+:|-:|[^\s])",
    re.S,
)
_OPEN = {"(": ")", "[": "]", "{": "}"}
_DECLARES = {"wire", "reg", "integer", "genvar", "localparam", "parameter", "input", "output"}


class CannotSwitchError(Exception):
    """A change is not one of the places that can be written twice."""


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    end: int


@dataclass
class _Place:
    """Part of a source that can be written twice.

    Attributes:
        kind: ``statement``, ``assign``, ``net`` or ``input``.
        start, end: Its position, in characters.
    """

    kind: str
    start: int
    end: int


@lru_cache(maxsize=64)  # A source is read again for each of its bugs.
def _tokens(text: str) -> list[_Token]:
    return [
        _Token(match["token"], match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if match["token"] is not None
    ]


@dataclass
class _Reader:
    """Walks through one source and notes the places."""

    text: str
    tokens: list[_Token] = field(init=False)
    places: list[_Place] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)
    """Position of the body of each module, in characters."""

    def __post_init__(self) -> None:
        self.tokens = _tokens(self.text)
        self.at = 0
        while self.at < len(self.tokens):
            self._item()

    def _peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def _next(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _group(self) -> None:
        """Skips from an opening bracket past the closing one."""
        close = _OPEN[self._next().text]
        while self._peek() != close:
            if self._peek() in _OPEN:
                self._group()
            else:
                self._next()
        self._next()

    def _until(self, *ends: str) -> None:
        """Skips to the next of ``ends`` outside brackets."""
        while self._peek() not in ends:
            if self._peek() in _OPEN:
                self._group()
            else:
                self._next()

    def _note(self, kind: str, first: int) -> None:
        start, end = self.tokens[first].start, self.tokens[self.at - 1].end
        self.places.append(_Place(kind, start, end))

    def _item(self) -> None:
        """Reads one item of a module, or of a file."""
        first, word = self.at, self._peek()
        if word == "module":
            self._until(";")
            self.headers.append(self._next().end)
        elif word in ("always", "initial"):
            self._next()
            self._statement()
        elif word == "function":
            self._function()
        elif word == "assign":
            self._until(";", ",")
            plain = self._peek() == ";"
            self._until(";")
            self._next()
            if plain:
                self._note("assign", first)
        elif word in _DECLARES:
            self._until(";", ",")
            plain = self._peek() == ";" and word == "wire"
            self._until(";")
            self._next()
            if plain and "=" in [token.text for token in self.tokens[first : self.at]]:
                self._note("net", first)
        elif word in ("for", "if"):
            self._next()
            self._group()
        elif word == "begin":
            self._next()
            if self._peek() == ":":
                self.at += 2
        elif word in ("generate", "endgenerate", "end", "else", "endmodule", ";"):
            self._next()
        else:
            self._instance()

    def _function(self) -> None:
        self._until(";")
        self._next()
        while self._peek() != "endfunction":
            self._statement()
        self._next()

    def _instance(self) -> None:
        """Reads an instance and notes the expressions at its inputs, which are named ``*_i``."""
        while self._peek() not in (";", ""):
            if self._peek() != "(":
                self._next()
                continue
            self._next()
            while self._peek() != ")":
                if self._peek() == ".":
                    self._next()
                    port = self._next().text
                    if self._peek() == "(":  # Else a net of the same name.
                        self._connection(port)
                else:
                    self._next()
            self._next()
        if self._peek():
            self._next()

    def _connection(self, port: str) -> None:
        first = self.at
        self._group()
        if port.endswith("_i") and self.at - first > 2:
            start, end = self.tokens[first + 1].start, self.tokens[self.at - 2].end
            self.places.append(_Place("input", start, end))

    def _statement(self) -> None:
        first, word = self.at, self._peek()
        if word == "@":
            self._next()
            if self._peek() == "(":
                self._group()
            else:
                self._next()
            self._statement()
            return
        if word == "begin":
            self._next()
            if self._peek() == ":":
                self.at += 2
            while self._peek() != "end":
                self._statement()
            self._next()
        elif word == "if":
            self._next()
            self._group()
            self._statement()
            if self._peek() == "else":
                self._next()
                self._statement()
        elif word in ("for", "while", "repeat"):
            self._next()
            self._group()
            self._statement()
        elif word in ("case", "casez", "casex"):
            self._next()
            self._group()
            while self._peek() != "endcase":
                self._until(":")
                self._next()
                self._statement()
            self._next()
        else:
            self._until(";")
            self._next()
            if word in _DECLARES:
                return
        self._note("statement", first)


@lru_cache(maxsize=64)
def _read(text: str) -> _Reader:
    return _Reader(text)


@dataclass(frozen=True)
class _Hunk:
    """One change: characters ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


def _hunks(before: str, after: str) -> list[_Hunk]:
    """Returns the changes between two texts, token by token, with positions in the first."""
    old, new = _tokens(before), _tokens(after)
    head = 0
    while head < min(len(old), len(new)) and old[head].text == new[head].text:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail].text == new[-1 - tail].text:
        tail += 1
    olds, news = ([token.text for token in side[head : len(side) - tail]] for side in (old, new))
    found = []
    for tag, a, b, c, d in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        a, b, c, d = (index + head for index in (a, b, c, d))
        if tag == "equal":
            continue
        text = after[new[c].start : new[d - 1].end] if d > c else ""
        if b > a:
            found.append(_Hunk(old[a].start, old[b - 1].end, text))
        else:  # An insertion belongs to the token before it.
            found.append(_Hunk(old[a - 1].end, old[a - 1].end, f" {text}"))
    return found


class _Source:
    """One source file and the changes that its bugs make."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._reader = _read(text)
        self._wanted: list[tuple[_Place, int, _Hunk]] = []

    def add(self, number: int, find: str, replace: str) -> None:
        """Notes the change that bug ``number`` makes.

        Raises:
            CannotSwitchError: it is not inside places that can be written twice.
        """
        wanted = []
        for hunk in _hunks(self.text, self.text.replace(find, replace, 1)):
            around = [
                place
                for place in self._reader.places
                if place.start <= hunk.start and hunk.end <= place.end
            ]
            if not around:
                raise CannotSwitchError(f"no statement, net or input around `{hunk.text.strip()}`")
            place = min(around, key=lambda place: place.end - place.start)
            wanted.append((place, number, hunk))
        for place, _, _ in wanted:  # Raises if it cannot be written.
            texts = self._forms(place, wanted)
            _written(place, texts, 0)
        self._wanted += wanted

    def _forms(self, place: _Place, wanted: Sequence[tuple[_Place, int, _Hunk]]) -> dict[int, str]:
        """Returns the text of ``place`` for each bug that changes it; 0 is the unchanged one."""
        forms = {0: self.text[place.start : place.end]}
        for number in dict.fromkeys(number for _, number, _ in wanted):
            text = forms[0]
            for inner, other, hunk in sorted(wanted, key=lambda one: -one[2].start):
                if other == number and place.start <= inner.start and inner.end <= place.end:
                    a, b = hunk.start - place.start, hunk.end - place.start
                    text = text[:a] + hunk.text + text[b:]
            if text != forms[0]:
                forms[number] = text
        return forms

    def switched(self) -> str:
        """Returns the text with every change switched; the switch is not declared yet."""
        spans = {(place.start, place.end): place for place, _, _ in self._wanted}
        outer = [
            place
            for (start, end), place in spans.items()
            if not any((a, b) != (start, end) and a <= start and end <= b for a, b in spans)
        ]
        text = self.text
        for place in sorted(outer, key=lambda place: -place.start):
            forms = self._forms(place, self._wanted)
            text = text[: place.start] + _written(place, forms, place.start) + text[place.end :]
        return text


def _written(place: _Place, forms: dict[int, str], name: int) -> str:
    """Returns a place written once for each of ``forms``, by number of the bug.

    Raises:
        CannotSwitchError: the forms differ in more than a value.
    """
    numbers = sorted(forms, reverse=True)
    if place.kind == "statement":
        branches = [
            f"if ({SWITCH} == {number}) begin {forms[number]} end else" for number in numbers[:-1]
        ]
        return "\n".join(["begin", *branches, f"begin {forms[0]} end end"])
    if place.kind == "input":
        return _choice({number: f"({form})" for number, form in forms.items()})
    parts = {number: part for number, form in forms.items() if (part := _ASSIGNED.fullmatch(form))}
    targets = {part[1] for part in parts.values()}
    if len(parts) != len(forms) or len(targets) != 1:
        raise CannotSwitchError(f"more than a value differs in `{forms[0]}`")
    (target,) = targets
    kind = f"wire [$bits({target.removeprefix('assign').strip()})-1:0]"
    if place.kind == "net":
        kind = re.sub(r"\w+$", "", target)
    nets = {number: f"{SWITCH}_{name}_{number}" for number in numbers}
    lines = [f"{kind} {nets[number]} = {parts[number][2]};" for number in numbers]
    return "\n".join([*lines, f"{target} = {_choice(nets)};"])


_ASSIGNED = re.compile(r"((?:assign|wire)\b[^=]*?)\s*=(?!=)\s*(.*);", re.S)


def _choice(forms: dict[int, str]) -> str:
    chosen = forms[0]
    for number, form in sorted(forms.items()):
        if number:
            chosen = f"{SWITCH} == {number} ? {form} : {chosen}"
    return f"({chosen})"


def switchable(text: str, find: str, replace: str) -> bool:
    """Returns whether the change of a source of this text can be switched."""
    try:
        _Source(text).add(1, find, replace)
    except CannotSwitchError:
        return False
    return True


def plant_switched(top: Path, changes: Iterable[tuple[int, str, str, str]]) -> None:
    """Changes the sources below ``top``, each change switched by its number.

    Args:
        top: Folder that the files are relative to.
        changes: Number, file, text that occurs in it once, and its replacement.

    Raises:
        CannotSwitchError: a change is not of a place that can be written twice.
    """
    sources: dict[Path, _Source] = {}
    for number, file, find, replace in changes:
        path = top / file
        if path not in sources:
            sources[path] = _Source(path.read_text())
        sources[path].add(number, find, replace)
    for path, source in sources.items():
        # The switch is constant from time 0 on: functions that are not inlined may read it.
        path.write_text(f"// verilator lint_off IMPURE\n{source.switched()}")
    for path in sorted((*top.rglob("*.v"), *top.rglob("*.sv"))):
        text = path.read_text()
        included = {path.name, *re.findall(r'`include "([^"]+)"', text)}
        if included & {source.name for source in sources}:
            path.write_text(_with_switch(text))


def _with_switch(text: str) -> str:
    """Declares the switch at the beginning of every module."""
    declared = (
        f"\n  reg [31:0] {SWITCH};\n"
        f'  initial if (!$value$plusargs("{SWITCH}=%d", {SWITCH})) {SWITCH} = 0;\n'
    )
    for end in sorted(_Reader(text).headers, reverse=True):
        text = text[:end] + declared + text[end:]
    return text
