# SPDX-License-Identifier: Apache-2.0
"""Errors of the results database; that there is none is found without its library."""

from __future__ import annotations

from pathlib import Path

from tb.common.errors import PtoError

PLACE = "give another URL of the results database"


class StoreError(PtoError):
    """The results database cannot be used, or a row that was named is not in it."""


def no_results(where: str) -> StoreError:
    """Returns the error of a database that is not there."""
    return StoreError(
        "there are no results yet",
        where=where,
        remedy=f"run a regression first (make nightly), or {PLACE}",
    )


def require_file(url: str) -> None:
    """Checks that the file of an SQLite database is there; the library checks everything else.

    Raises:
        StoreError: it is not.
    """
    path = url.removeprefix("sqlite:///")
    if path != url and "?" not in path and not Path(path).exists():
        raise no_results(path)
