# SPDX-License-Identifier: Apache-2.0
"""The files of outside results: those of the repository, or one at another place."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.files import regular

DATA = Path(__file__).parent / "data"
"""Files of the repository, with a page about their sources."""


def read(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Returns the rows of a CSV file.

    Raises:
        PtoError: the file cannot be read, lacks a column, or has no row.
    """
    try:
        with regular(path).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PtoError(
            f"cannot read outside results: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            legal=f"CSV with a header and the columns {', '.join(columns)}",
            remedy="name a CSV file that can be read",
        ) from None
    if missing := [name for name in columns if not rows or name not in rows[0]]:
        raise PtoError(
            f"outside results lack {', '.join(missing)}",
            where=str(path),
            legal=f"CSV with a header and the columns {', '.join(columns)}",
            remedy=f"follow the files in {DATA.name}/ of sequences/outside",
        )
    return rows


def project(source: str) -> str:
    """Returns the project of a source, without the place in it; a package keeps its version."""
    package = re.match(r"\w+ \d[\d.]*$", source)
    found = package or re.match(r"seed documents|[\w-]+", source)
    return found[0] if found else source
