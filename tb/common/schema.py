# SPDX-License-Identifier: Apache-2.0
"""Sentences about data that break a schema of pydantic."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tb.common.text import meant


def breach(first: Mapping[str, Any], name: str, keys: Collection[str]) -> tuple[str, str]:
    """Returns a sentence on one breach, and what is legal, which may be empty.

    Args:
        first: An entry of ``ValidationError.errors()``.
        name: What is wrong, such as ``key n of the entry``.
        keys: Keys of the table that it is in.
    """
    kind, legal = first["type"], ", ".join(keys)
    if kind == "missing":
        return f"{name} is missing", legal
    if kind == "extra_forbidden":
        return f"{name} is unknown{meant(str(first['loc'][-1]), list(keys))}", legal
    given = first["input"]
    shown = f" is {given!r}" if isinstance(given, str | int | float | bool) else ""
    if kind == "literal_error":
        return f"{name}{shown}", first["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    return f"{name}{shown}: {first['msg']}", ""


def keys_of(model: Any) -> list[str]:
    """Returns the keys of a table that a file may have; its own path is none."""
    return [name for name in model.model_fields if name != "path"]
