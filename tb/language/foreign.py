# SPDX-License-Identifier: Apache-2.0
"""Notes on ops of the pto dialect that are not executed here."""

from __future__ import annotations

_TILE_MOVERS = (
    *("tload", "tstore", "textract", "tinsert", "tmov", "tpush", "tpop", "mgather", "mscatter"),
)
"""How names of foreign ops begin that move tiles between memories: an engine sees none of it."""


def moves_tiles(name: str) -> bool:
    """Returns whether a foreign op moves data between memories, by its name."""
    return name.removeprefix("pto.").startswith(_TILE_MOVERS)


def foreign_words(name: str, *, moves: bool = False) -> str:
    """Returns the note on a foreign op; ``moves``: one inside moves data."""
    moves = moves or moves_tiles(name)
    what = "data, which no engine and no model sees," if moves else "no data"
    return f"foreign: it moves {what} and is not executed"
