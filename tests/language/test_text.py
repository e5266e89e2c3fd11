# SPDX-License-Identifier: Apache-2.0
"""Any text is read, walked and checked soon, with a PtoError or without an error."""

from __future__ import annotations

import gc
import random
import re

import pytest

from tb.common.errors import PtoError
from tb.language.collector import collector_off
from tb.language.order.order import order
from tb.language.place import Finding, ProgramError
from tb.language.reader import read
from tb.language.rules.check import check
from tb.language.run.walk import trace
from tests.language.corpus import cases
from tests.language.programs import short
from tests.language.test_cube import CASES, OTHERS
from tests.processor import processor_seconds

TOKEN = re.compile(r"%[\w$.-]+|[\w.!#]+|\s+|.", re.DOTALL)
NUMBERS = ("-1", "0", "1", "65536", str(1 << 32), str(1 << 63), str((1 << 64) - 1))
ODD = [*'(){}<>[]:,=%"#!^@', "->", "0x", "-", "9" * 30, "\N{SECTION SIGN}", "\t"]
MUTANTS = 2500


def _mutant(rng: random.Random, texts: list[str], pool: list[str]) -> str:
    """Returns a text with up to four tokens omitted, doubled, swapped, cut or replaced."""
    tokens = TOKEN.findall(rng.choice(texts))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(tokens))
        match rng.randrange(7):
            case 0:
                tokens[at] = ""
            case 1:
                tokens.insert(at, rng.choice(pool))
            case 2:
                tokens[at] = rng.choice(pool)
            case 3:
                other = rng.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 4:
                tokens[at] = rng.choice(ODD)
            case 5:
                tokens[at] = tokens[at][: rng.randrange(len(tokens[at]) + 1)]
            case _:
                numbers = [k for k, token in enumerate(tokens) if token.isdigit()]
                if numbers:
                    tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
    return "".join(tokens[: at + 1] if rng.random() < 0.1 else tokens)


def _findings(text: str, static: bool) -> tuple[list[Finding], bool]:
    """Returns the findings in a program, and whether it could be walked."""
    try:
        steps = trace(read(text, "x.pto"), static=static, foreign="skip", limit=100_000)
    except ProgramError as error:
        return list(error.findings), False
    except PtoError:
        return [], False
    return [*steps.findings, *check(steps), *order(steps).findings], True


@pytest.mark.long
def test_mutants_raise_only_pto_errors() -> None:
    """Reader, walk, rules and order raise no other exception, and end; each error has a place."""
    texts = [case.text for case in cases()]
    texts += [short(op) for op, _ in (*CASES, *OTHERS)]
    pool = [token for text in texts for token in TOKEN.findall(text) if not token.isspace()]
    rng = random.Random(7)
    walked = 0
    for number in range(MUTANTS):
        text = _mutant(rng, texts, pool)
        with processor_seconds(10):
            found, legal = _findings(text, static=number % 2 == 0)
        assert all(x.message.strip() and x.place.line > 0 for x in found), text
        walked += legal
    assert MUTANTS // 12 < walked < MUTANTS // 2, "some mutants are legal programs"


@pytest.mark.parametrize(
    "text",
    [
        '"',
        'func.func @k() {\n  "',
        'func.func @k() {\n  %x = arith.constant "',
        'module attributes {a = "',
    ],
)
def test_a_string_that_is_not_closed_is_found_at_once(text: str) -> None:
    """For any length of its line."""
    with processor_seconds(5), pytest.raises(ProgramError, match="string"):
        read(text + "ab" * 5000, "x.pto")


def test_blanks_in_any_number_are_read_at_once() -> None:
    """Before invalid text, where a regular expression could backtrack."""
    blanks = " \n" * 2000
    with processor_seconds(5):
        source = read(f"func.func @k() {{{blanks}func.return{blanks}}}{blanks}", "x.pto")
        assert trace(source).steps == ()


LONG = "1" * 10_000
KERNEL = "func.func @k() {{\n  %a = arith.constant {} : {}\n  return\n}}\n"
NAMED = "func.func @k() {{\n  %{}\n  return\n}}\n"
I8, I64 = "-128..255", "-9223372036854775808..18446744073709551615"


@pytest.mark.parametrize(
    ("text", "says", "legal"),
    [
        (KERNEL.format(LONG, "i64"), r"^x.pto:2:23: .*\(10000 char.* range for type i64", I64),
        (KERNEL.format("0x" + LONG, "i64"), r"^x.pto:2:23: .*\(10002 char.* for type i64", I64),
        (KERNEL.format(LONG, "index"), "^x.pto:2:23: .* out of range for type index", I64),
        (KERNEL.format("256", "i8"), "^x.pto:2:23: .*256 is out of range for type i8", I8),
        (KERNEL.format("-129", "i8"), "^x.pto:2:23: .*-129 is out of range for type i8", I8),
        (KERNEL.format(LONG, "f32"), "^x.pto:2:23: ", "numbers up to 3.4028e38"),
        (KERNEL.format(f"dense<{LONG}>", "vector<4xi64>"), "more than 4300 digits$", ""),
        (short("pto.get_buf 0, 0").replace("0, 0", LONG), "^x.pto:9:13: .*10000 char", ""),
        (NAMED.format(f"a = pto.mte_gm_ub {LONG}, %b"), "^x.pto:2:22: .*10000", "at most 100"),
        (NAMED.format("\u00e9 = arith.constant 0 : i64"), "^x.pto:2:3: .*'%\u00e9' is no", "a..z"),
        (NAMED.format("a\u00e9b = arith.constant 0 : i64"), "^x.pto:2:3: .*'%a\u00e9b' is no", "A"),
    ],
)  # fmt: skip
def test_a_number_or_name_that_cannot_be_read_has_place_and_legal_range(
    text: str, says: str, legal: str
) -> None:
    with processor_seconds(1), pytest.raises(ProgramError, match=says) as found:
        read(text, "x.pto")
    (only,) = found.value.findings
    assert legal in only.legal
    assert len(only.message) < 200


def test_numbers_up_to_the_ends_of_their_type_are_read() -> None:
    for literal in ("-128", "255", "0xFF"):
        read(KERNEL.format(literal, "i8"), "x.pto")


def test_the_collector_pauses_and_is_as_before() -> None:
    assert gc.isenabled()
    with collector_off():
        assert not gc.isenabled()
        with collector_off():
            pass
        assert not gc.isenabled(), "an inner pause does not end the outer one"
    assert gc.isenabled()
    with pytest.raises(PtoError):
        read("func.func", "x.pto")
    assert gc.isenabled()
