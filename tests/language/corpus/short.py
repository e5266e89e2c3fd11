# SPDX-License-Identifier: Apache-2.0
"""What a short case of the corpus omits: module, function, constants, arguments and buffers.

A case without ``func.func`` is the body of a function that has the name of the case. A value that
no line of it defines is what its name says, in the type that the first op with it gives:

- ``%c16_i64`` and ``%c16`` are the constant 16, ``%c-1_i64`` is -1, ``%true`` and ``%false`` those
  of ``i1``, ``%one`` and ``%zero`` 1 and 0;
- a pointer with ``_at_4096`` at the end of its name is cast from that address, and another pointer
  into a buffer from address 0;
- another pointer into GM, a memref or a number without a known value, such as ``%n`` and ``%rows``,
  is an argument, in the order of the first uses.

``F16_GM`` is ``!pto.ptr<f16, gm>``, and ``I64x3`` is ``i64, i64, i64``.

Any other value stays undefined. A number is an index where no op gives a type. A case with
``func.func`` has its modules, functions and arguments; constants and buffers are supplied as above,
at the end of the line that opens the function. A case without an op is complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"//[^\n]*")
_VALUE = re.compile(r"%[\w$.-]+")
_DEFINED = re.compile(r"(%[\w$.-]+)(?::\d+ =| =|: )")
_FUNCTION = re.compile(r"^(?= *func\.func )", re.MULTILINE)
_OPENED = re.compile(r"\A *func\.func [^\n]*\{$", re.MULTILINE)
_OP = re.compile(r'^ *(?=(?:%\S+(?:, %\S+)* = )?"?[a-z_]+\.[a-z])', re.MULTILINE)
_RESULT = re.compile(r"^%\S+(?:, %\S+)* = ")
_ATTRIBUTES = re.compile(r"<?\{[^{}]*\}>?")
_TYPE = re.compile(
    r"!pto\.ptr<(?:[^<>]|<[^<>]*>)*>|memref<(?:[^<>]|<[^<>]*>)*>|![\w.]+"
    r"|\b(?:index|[su]?i\d+|bf16|tf32|hif8|f\d+\w*)\b"
)
_CONSTANT = re.compile(r"%c(-?\d+)(?:_(i\d+))?")
_ADDRESS = re.compile(r"_at_(\d+)$")
_WORDS = {"%one": "1", "%zero": "0"}
_NUMBERS = ("%i", "%k", "%m", "%n", "%r", "%rows", "%size", "%start", "%stride")


def spelled(text: str) -> str:
    """Returns a text with its short names of types written out."""
    text = re.sub(r"\bI64x(\d+)\b", lambda found: ", ".join(["i64"] * int(found[1])), text)
    pointers = r"\b((?:[SU]?I|B?F|HIF)\d+)_(GM|UB|L1|L0[ABC]|FB|BT)\b"
    return re.sub(pointers, lambda x: f"!pto.ptr<{x[1].lower()}, {x[2].lower()}>", text)


def complete(name: str, text: str) -> tuple[str, int]:
    """Returns the program of a case, and how many of its lines were put before ``text``."""
    if not _OP.search(text):
        return text, 0
    text = spelled(text)
    if "func.func" in text:
        return "".join(map(_with_values, _FUNCTION.split(text))), 0
    arguments, constants, casts = _supplied(text)
    head = f"func.func @{name}({', '.join(arguments)}) {{"
    before = ["module {", head, *constants, *casts]
    return "".join(f"{line}\n" for line in before) + text + "return\n}\n}\n", len(before)


def _with_values(function: str) -> str:
    """Returns a function with the constants and buffers that it omits, on its first line."""
    opened = _OPENED.search(function)
    if opened is None:
        return function
    _, constants, casts = _supplied(function)
    values = "".join(f" {line}" for line in (*constants, *casts))
    return function[: opened.end()] + values + function[opened.end() :]


def _supplied(text: str) -> tuple[list[str], list[str], list[str]]:
    """Returns the arguments, and the lines of constants and of casts, that a text omits."""
    arguments, constants, casts = [], [], []
    for value, kind in _undefined(text).items():
        if constant := _constant(value, kind):
            constants.append(constant)
        elif address := _address(value, kind):
            constants.append(f"{address} = arith.constant {address[2:-4]} : i64")
            casts.append(f"{value} = pto.castptr {address} : i64 -> {kind}")
        elif kind.startswith(("!pto.ptr<", "memref<")) or value in _NUMBERS:
            arguments.append(f"{value}: {kind}")
    return arguments, list(dict.fromkeys(constants)), casts


def _address(value: str, kind: str) -> str:
    """Returns the constant that a pointer is cast from; empty for arguments and other values."""
    found = _ADDRESS.search(value)
    if not kind.startswith("!pto.ptr<") or not (found or not kind.endswith(" gm>")):
        return ""
    return f"%c{found[1] if found else 0}_i64"


def _constant(value: str, kind: str) -> str:
    """Returns the line that defines a value named after a constant; empty if it is another."""
    if value in ("%true", "%false"):
        return f"{value} = arith.constant {value[1:]}"
    if found := _CONSTANT.fullmatch(value):
        return f"{value} = arith.constant {found[1]} : {found[2] or kind}"
    if value in _WORDS:
        number = _WORDS[value] + ("" if "i" in kind else ".0")
        return f"{value} = arith.constant {number} : {kind}"
    return ""


def _undefined(text: str) -> dict[str, str]:
    """Returns the type of each value that no line defines, in the order of the first uses."""
    code = _COMMENT.sub("", text)
    defined = set(_DEFINED.findall(code))
    types: dict[str, str] = {}
    for op in _OP.split(code):
        for value, kind in _typed(op):
            types[value] = types.get(value) or kind
    return {value: kind or "index" for value, kind in types.items() if value not in defined}


def _typed(op: str) -> Iterator[tuple[str, str]]:
    """Yields the operands of an op with the types written at its end; empty where none is."""
    operands, _, types = " ".join(_ATTRIBUTES.sub("", op).split()).partition(" : ")
    kinds = _TYPE.findall(re.split(" -> | to ", types)[0])
    values = _VALUE.findall(_RESULT.sub("", operands))
    for number, value in enumerate(values):
        yield value, kinds[number] if number < len(kinds) else ""
