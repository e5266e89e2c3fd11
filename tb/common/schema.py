# SPDX-License-Identifier: Apache-2.0
"""Sentences about data that break a schema of pydantic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tb.common.text import meant

_KINDS = {
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "string": "a text",
    "tuple": "a list",
    "list": "a list",
    "dict": "a table",
    "model": "a table",
    "date": "a date",
}
"""What is legal, by the first word of pydantic's name of a breach."""

_BOUNDS = {
    "greater_than": ("above {}", "gt"),
    "greater_than_equal": ("{} or more", "ge"),
    "less_than": ("below {}", "lt"),
    "less_than_equal": ("{} or less", "le"),
}


def breach(first: Mapping[str, Any], name: str, model: Any) -> tuple[str, str]:
    """Returns a sentence on one breach, and what is legal, which may be empty.

    Args:
        first: An entry of ``ValidationError.errors()``.
        name: What is wrong, such as ``key n of the entry``.
        model: The model of the table that it is in; None for a value that is in none.
    """
    keys = keys_of(model)
    kind, legal = first["type"], ", ".join(keys)
    if kind == "missing":
        return f"{name} is missing", legal
    if kind == "extra_forbidden":
        return f"{name} is unknown{meant(str(first['loc'][-1]), keys)}", legal
    given = first["input"]
    shown = f" is {given!r}" if isinstance(given, str | int | float | bool) else ""
    if kind == "literal_error":
        return f"{name}{shown}", first["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    if kind == "string_too_short":
        return f"{name}{shown}", f"a text of {first['ctx']['min_length']} or more characters"
    if kind == "string_pattern_mismatch":
        return f"{name}{shown}", f"a text that matches {first['ctx']['pattern']}"
    if legal := _range(first, model) or _KINDS.get(kind.partition("_")[0], ""):
        return f"{name}{shown or ' is something else'}", legal
    return f"{name}{shown}: {re.sub('^Value error, ', '', first['msg'])}", ""


def _range(first: Mapping[str, Any], model: Any) -> str:
    """Returns the range of a number that is out of it, nothing of another breach."""
    if first["type"] not in _BOUNDS:
        return ""
    field = model.model_fields.get(str(first["loc"][-1]))
    ends: dict[str, Any] = {}
    for one in field.metadata if field else ():
        ends |= {end: getattr(one, end) for _, end in _BOUNDS.values() if hasattr(one, end)}
    end = _BOUNDS[first["type"]][1]
    ends = ends or {end: first["ctx"][end]}
    if isinstance(ends.get("lt"), int) and isinstance(ends.get("ge"), int):
        ends["le"] = ends.pop("lt") - 1
    if {"ge", "le"} == set(ends):
        return f"{ends['ge']}..{ends['le']}"
    return ", ".join(text.format(ends[end]) for text, end in _BOUNDS.values() if end in ends)


def keys_of(model: Any) -> list[str]:
    """Returns the keys of a table that a file may have; its own path is none."""
    return [name for name in getattr(model, "model_fields", ()) if name != "path"]
