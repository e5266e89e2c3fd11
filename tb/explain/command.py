# SPDX-License-Identifier: Apache-2.0
"""``pto-dv explain``: prints what is to be said of an op, or of the ops of a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from tb.common.errors import PtoError
from tb.common.text import comma_list
from tb.isa.profile import SEED, Profile, parse_profile, using

if TYPE_CHECKING:
    from tb.explain.op import Explained
    from tb.explain.query import Question
    from tb.explain.steps import UNIT, Chosen

SHOW = "rules,bytes,registers,descriptor,profiles"
"""Sections that are printed by default: all."""

MOST_ROWS = 12
"""Ranges that are listed by default."""

PICTURES = (".svg", ".html", ".htm")
"""Suffixes of pictures."""


@dataclass(frozen=True)
class Options:
    """Options of the command, as texts.

    Attributes:
        lines, ops: Lines and numbers of the ops of a program.
        run: Which execution of an op.
        args: ``N=VALUE``.
        function: Function of a program.
        values: ``NAME=VALUE`` for names of an op as text.
        element: Element types of an op without types.
        bytes: Questions about bytes.
        show: Sections, separated by commas.
        rows: Ranges to list.
        ubuf_to_ubuf: ``bytes`` or ``blocks``.
        quant_codes: ``ptoas`` or ``spec``.
        profile: Profile.
        json: File, ``-`` for standard output, or empty.
        picture: File, or empty.
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
    from tb.explain.text import SECTIONS, answer_lines, op_lines, show

    shown = comma_list(options.show, "--show", "--show", ", ".join(SECTIONS))
    for name in shown:
        if name not in SECTIONS:
            raise PtoError(
                f"section {name!r} is unknown", where="--show", legal=", ".join(SECTIONS)
            )
    for name, number in (("--rows", options.rows), ("--run", options.run)):
        if number < 1:
            raise PtoError(f"{name} is {number}", where=name, legal="1 and above")
    asked = [question(text) for text in options.bytes]
    picture = _picture_path(options.picture)
    with using(_profile(options.profile)):
        chosen = _chosen(what, options)
        if picture and picture.suffix == ".svg" and len(chosen) > 1:
            raise PtoError(
                f"a picture of {len(chosen)} ops", where=f"--picture {picture}",
                legal="one op in an .svg, any number in an .html",
                remedy="choose one with --line or --op",
            )  # fmt: skip
        told = [explain(one) for one in chosen]
    written = _files(options.json, picture, told, asked)
    if options.json != "-":
        for number, op in enumerate(told):
            lines = [("", "")] if number else []
            lines += list(op_lines(op, shown, options.rows))
            for each in asked:
                for answer in answers(op, each):
                    lines += list(answer_lines(answer, max(options.rows, MOST_ROWS)))
            show(lines)
        print("".join(f"{line}\n" for line in written), end="")
    return 0


def _profile(text: str) -> Profile:
    if not text.strip():
        return SEED
    try:
        return parse_profile(text)
    except ValueError as error:
        raise PtoError(str(error), where="--profile") from None


def _chosen(what: str, options: Options) -> list[Chosen]:
    """Returns the ops to explain."""
    from tb.explain.programs import of_file
    from tb.explain.raw import CODES
    from tb.explain.steps import of_text

    if options.ubuf_to_ubuf not in ("bytes", "blocks"):
        raise PtoError(
            f"--ubuf-to-ubuf is {options.ubuf_to_ubuf!r}", where="--ubuf-to-ubuf",
            legal="bytes, blocks",
        )  # fmt: skip
    unit: UNIT = "blocks" if options.ubuf_to_ubuf == "blocks" else "bytes"
    if options.quant_codes not in get_args(CODES):
        raise PtoError(
            f"--quant-codes is {options.quant_codes!r}", where="--quant-codes",
            legal=", ".join(get_args(CODES)),
        )  # fmt: skip
    codes: CODES = "spec" if options.quant_codes == "spec" else "ptoas"
    path = _path(what)
    if path is None:
        for name, given in (
            ("--line", options.lines), ("--op", options.ops), ("--arg", options.args),
            ("--function", options.function), ("--run", options.run > 1),
        ):  # fmt: skip
            if given:
                raise PtoError(f"{name} goes with a program file", where=name)
        text = sys.stdin.read() if what == "-" else what
        values = dict(_pair("--value", one) for one in options.values)
        return of_text(text, values, options.element, unit, codes)
    for name, given in (("--value", options.values), ("--element", options.element)):
        if given:
            raise PtoError(f"{name} goes with an op as text", where=name)
    arguments = {}
    for one in options.args:
        number, value = _pair("--arg", one)
        arguments[_integer("--arg", one, number)] = _integer("--arg", one, value)
    return of_file(
        path, arguments=arguments, function=options.function, lines=options.lines,
        numbers=options.ops, run=options.run, ubuf_to_ubuf=unit,
        quant_codes=codes,
    )  # fmt: skip


def _path(what: str) -> Path | None:
    """Returns the program file that ``what`` names, or None for an op."""
    if not what.strip():
        return None
    try:
        path = Path(what)
        if path.is_dir():
            raise PtoError(
                f"{what} is a folder", where="WHAT", legal="an op as text, or one program file"
            )
        if path.is_file() or (path.suffix == ".pto" and len(what.split()) == 1):
            return path
    except (OSError, ValueError):  # A text that is no name of a file: too long, a null byte.
        return None
    return None


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        shape = "N=VALUE" if option == "--arg" else "NAME=VALUE"
        raise PtoError(f"{option} is {text!r}", where=option, legal=shape)
    return name.strip(), value.strip()


def _integer(option: str, text: str, number: str) -> int:
    try:
        return int(number, 0)
    except ValueError:
        raise PtoError(
            f"{number!r} is no integer", where=f"{option} {text}",
            legal="number of an argument = an integer, an address or the bits of a float",
        ) from None  # fmt: skip


def _picture_path(text: str) -> Path | None:
    if not text:
        return None
    path = Path(text)
    if path.suffix not in PICTURES:
        raise PtoError(
            f"{text} is no picture", where="--picture", legal=f"a file with {', '.join(PICTURES)}"
        )
    return path


def _files(
    target: str, picture: Path | None, told: Sequence[Explained], asked: Sequence[Question]
) -> list[str]:
    """Writes JSON, to standard output for ``-``, and the picture; returns where they are."""
    from tb.common.files import write_bytes

    found = []
    if target:
        text = _json(told, asked)
        if target == "-":
            sys.stdout.write(text)
        else:
            write_bytes(Path(target), text.encode())
            found.append(f"as JSON in {target}")
    if picture:
        from tb.explain.picture import page, svg

        shown = svg(told[0]) if picture.suffix == ".svg" else page(told)
        write_bytes(picture, shown.encode())
        found.append(f"picture in {picture}")
    return found


def _json(told: Sequence[Explained], asked: Sequence[Question]) -> str:
    import json

    from tb.explain.data import op_data
    from tb.explain.query import answers

    ops = [op_data(op, [one for each in asked for one in answers(op, each)]) for op in told]
    return json.dumps({"ops": ops}, indent=1) + "\n"
