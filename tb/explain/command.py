# SPDX-License-Identifier: Apache-2.0
"""``pto-dv explain``: prints the explanation of an op, or of the ops of a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tb.common.errors import PtoError
from tb.common.text import comma_list
from tb.isa.profile import SEED, Profile, parse_profile, using

if TYPE_CHECKING:
    from tb.explain.op import Explained
    from tb.explain.query import Answer
    from tb.explain.steps import Chosen, Unit

SHOW = "rules,bytes,registers,descriptor,profiles"
"""Sections that are printed by default: all."""

MOST_ROWS = 12
"""Ranges that are listed by default."""

PICTURES = (".svg", ".html", ".htm")
"""Suffixes of pictures."""


@dataclass(frozen=True)
class Options:
    """Options of the command as they are written: ``--help`` has their meaning and legal values.

    Attributes:
        lines, ops: Lines and numbers, from 1, of the ops of a program.
        args, values: ``N=VALUE`` for arguments of a program, ``NAME=VALUE`` for names of a text.
        bytes: Questions about bytes, such as ``ub:0..0x7f``.
        json, picture: File, of JSON also ``-`` for standard output, or empty.
    """

    lines: Sequence[int] = ()
    ops: Sequence[int] = ()
    run: int = 1
    args: Sequence[str] = ()
    function: str = ""
    values: Sequence[str] = ()
    element: str = ""
    bytes: Sequence[str] = ()
    show: str = SHOW
    rows: int = MOST_ROWS
    ubuf_to_ubuf: str = "bytes"
    quant_codes: str = "ptoas"
    profile: str = ""
    json: str = ""
    picture: str = ""


def op_table() -> str:
    """Returns formula, operands, descriptor bits and rules of every op, as Markdown."""
    from tb.explain.layouts import formulas
    from tb.isa.document import page_text

    return page_text(formulas)


def explain_command(what: str, options: Options) -> int:
    """Explains an op as text, a program file, or standard input (``-``); returns the exit code.

    Raises:
        PtoError: an option is wrong, or the op or program cannot be read.
    """
    from tb.explain.op import explain
    from tb.explain.query import answers, question
    from tb.explain.text import answer_lines, op_lines, show

    shown = _sections(options)
    questions = [question(text) for text in options.bytes]
    with using(_profile(options.profile)):
        chosen = _chosen(what, options)
        if options.picture.endswith(".svg") and len(chosen) > 1:
            raise PtoError(
                f"a picture of {len(chosen)} ops", where=f"--picture {options.picture}",
                legal="one op in an .svg, any number in an .html",
                remedy="choose one with --line or --op",
            )  # fmt: skip
        ops = [explain(one) for one in chosen]
    answered = [[x for one in questions for x in answers(op, one)] for op in ops]
    written = _files(options, ops, answered)
    if options.json == "-":
        return 0
    for number, (op, found) in enumerate(zip(ops, answered, strict=True)):
        lines = [("", "")] if number else []
        lines += op_lines(op, shown, options.rows)
        for answer in found:
            lines += answer_lines(answer, max(options.rows, MOST_ROWS))
        show(lines)
    print("".join(f"{line}\n" for line in written), end="")
    return 0


def _sections(options: Options) -> list[str]:
    """Returns the sections to show.

    Raises:
        PtoError: the value of an option is none of the legal ones.
    """
    from tb.explain.raw import CODES
    from tb.explain.steps import UNITS
    from tb.explain.text import SECTIONS

    sections = ", ".join(SECTIONS)
    shown = comma_list(options.show, "--show", "--show", sections)
    for name in shown:
        _check(name in SECTIONS, f"section {name!r} is unknown", "--show", sections)
    _check(options.rows >= 1, f"--rows is {options.rows}", "--rows", "1 and above")
    _check(options.run >= 1, f"--run is {options.run}", "--run", "1 and above")
    unit, codes, picture = options.ubuf_to_ubuf, options.quant_codes, options.picture
    _check(unit in UNITS, f"--ubuf-to-ubuf is {unit!r}", "--ubuf-to-ubuf", ", ".join(UNITS))
    _check(codes in CODES, f"--quant-codes is {codes!r}", "--quant-codes", ", ".join(CODES))
    drawn = not picture or picture.endswith(PICTURES)
    _check(drawn, f"{picture} is not a picture", "--picture", f"a file with {', '.join(PICTURES)}")
    return shown


def _check(holds: object, what: str, where: str, legal: str = "") -> None:
    if not holds:
        raise PtoError(what, where=where, legal=legal)


def _profile(text: str) -> Profile:
    if not text.strip():
        return SEED
    try:
        return parse_profile(text)
    except ValueError as error:
        raise PtoError(
            str(error),
            where="--profile",
            legal="seed, a5, or one of them with single knobs",
            remedy="write it as in 'a5, alpha = sequential'",
        ) from None


def _chosen(what: str, options: Options) -> list[Chosen]:
    """Returns the ops to explain."""
    from tb.explain.programs import of_file
    from tb.explain.steps import of_text

    unit, codes = cast("Unit", options.ubuf_to_ubuf), options.quant_codes
    path = _path(what)
    others: dict[str, object] = {"--value": options.values, "--element": options.element}
    if path is None:
        others = {
            "--line": options.lines, "--op": options.ops, "--arg": options.args,
            "--function": options.function, "--run": options.run > 1,
        }  # fmt: skip
    for name, given in others.items():
        kind = "an op as text" if path else "a program file"
        _check(not given, f"{name} goes with {kind}", name, f"{name} together with {kind}")
    if path is None:
        text = sys.stdin.read() if what == "-" else what
        values = dict(_pair("--value", one) for one in options.values)
        return of_text(text, values, options.element, unit, codes)
    pairs = [(one, *_pair("--arg", one)) for one in options.args]
    return of_file(
        path, function=options.function, lines=options.lines, numbers=options.ops, run=options.run,
        arguments={_integer(one, name): _integer(one, value) for one, name, value in pairs},
        ubuf_to_ubuf=unit, quant_codes=codes,
    )  # fmt: skip


def _path(what: str) -> Path | None:
    """Returns the program file that ``what`` names, or None for an op."""
    path = Path(what)
    try:
        is_folder = what.strip() and path.is_dir()
        is_file = path.is_file() or (path.suffix == ".pto" and len(what.split()) == 1)
    except (OSError, ValueError):  # A text that is not a name of a file: too long, a null byte.
        return None
    _check(not is_folder, f"{what} is a folder", "WHAT", "an op as text, or one program file")
    return path if is_file else None


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    shape = "N=VALUE" if option == "--arg" else "NAME=VALUE"
    _check(equals and name.strip() and value.strip(), f"{option} is {text!r}", option, shape)
    return name.strip(), value.strip()


def _integer(text: str, number: str) -> int:
    try:
        if number.isascii():
            return int(number, 0)
        raise ValueError
    except ValueError:
        raise PtoError(
            f"{number!r} is not an integer", where=f"--arg {text}",
            legal="number of an argument = an integer, an address or the bits of a float",
        ) from None  # fmt: skip


def _files(
    options: Options, ops: Sequence[Explained], answered: Sequence[Sequence[Answer]]
) -> list[str]:
    """Writes JSON, to standard output for ``-``, and the picture; returns where they are."""
    from tb.common.files import write_bytes

    written = []
    if options.json:
        from tb.explain.data import op_data

        data = [op_data(op, found) for op, found in zip(ops, answered, strict=True)]
        text = json.dumps({"ops": data}, indent=1) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        else:
            write_bytes(Path(options.json), text.encode())
            written.append(f"as JSON in {options.json}")
    if options.picture:
        from tb.explain.picture import page, svg

        picture = svg(ops[0]) if options.picture.endswith(".svg") else page(ops)
        write_bytes(Path(options.picture), picture.encode())
        written.append(f"picture in {options.picture}")
    return written
