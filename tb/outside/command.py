# SPDX-License-Identifier: Apache-2.0
"""``pto-dv outside``: the model against outside results, without a simulator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sequences.outside.catalog import outside_cases
from tb.common.errors import PtoError
from tb.isa.profile import current, parse_profile, using
from tb.outside.verdict import check
from tb.record.outside import VERDICTS, OutsideGroup, OutsideRow, counts_text
from tb.record.settings import DEFAULT_PROFILE


def outside_command(profile: str, writeback: Path | None, output: Path | None) -> int:
    """Judges every row under a profile and prints the verdicts.

    Args:
        profile: Text of the profile, empty for the default.
        writeback: A file to read in place of the writeback.csv of the repository.
        output: Where to write the verdicts as JSON, or None.

    Returns:
        0, or 1 when a row is unexplained.

    Raises:
        PtoError: a file cannot be read or written.
    """
    with using(parse_profile(profile or DEFAULT_PROFILE)):
        groups = check(outside_cases(writeback))
        for line in lines(groups):
            print(line)
    counts = {verdict: sum(group.count(verdict) for group in groups) for verdict in VERDICTS}
    if output is not None:
        _write(output, {"profile": profile or DEFAULT_PROFILE, "counts": counts}, groups)
    return 1 if counts["unexplained"] else 0


def lines(groups: Sequence[OutsideGroup]) -> list[str]:
    """Returns a line for each source with its counts, one for each row that does not agree."""
    found = []
    for group in groups:
        found.append(group.line)
        found += [f"  {_heading(row)}: {row.text}" for row in group.rows]
    word = "FAIL" if any(group.count("unexplained") for group in groups) else "PASS"
    return [*found, f"{word} {counts_text(groups)}, profile {current()}"]


def _heading(row: OutsideRow) -> str:
    if row.verdict == "differs":
        return f"{row.name} differs by {row.why}"
    return f"{row.name} {row.verdict} ({row.why})"


def _write(path: Path, head: dict[str, object], groups: Sequence[OutsideGroup]) -> None:
    data = {**head, "groups": [group.model_dump() for group in groups]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=2) + "\n")
    except OSError as error:
        raise PtoError(f"cannot write the verdicts: {error.strerror}", where=str(path)) from None
