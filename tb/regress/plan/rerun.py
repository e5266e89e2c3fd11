# SPDX-License-Identifier: Apache-2.0
"""Settings for the rerun of a failing run, with waves and timeline."""

from __future__ import annotations

from tb.record.record import RunRecord
from tb.record.settings import RunSettings

CLOCKS_BEFORE = 2000
"""Clocks of waves before the op of the first failure was accepted."""

CLOCKS_BEHIND = 500
"""Clocks of waves after its end; messages of checkers come no later."""

CLOCKS_OF_A_CRASH = 20_000
"""Clocks of waves before the end of a run without a place of its failure, and of a hang."""

PATIENCE = 4.0
"""How many times as long a run may take when waves and transactions are written."""


def rerun_settings(record: RunRecord) -> RunSettings:
    """Returns the settings of a run that shows the first failure of ``record`` and stops there.

    Waves cover the time around the failure, the timeline all transactions. A run without any
    clock to go by, such as one that did not start, is recorded whole.
    """
    begin, end = window(record)
    settings = record.settings
    return settings.model_copy(
        update={
            "waves": True,
            "waves_from": begin,
            "waves_to": end,
            "timeline": True,
            "code_coverage": False,
            "mismatch_limit": 1,
            "wall_limit": settings.wall_limit * PATIENCE,
            "time_limit": 0.0,
        }
    )


def window(record: RunRecord) -> tuple[int, int]:
    """Returns the clocks from and to which the first failure is seen; (0, 0) is the whole run."""
    first = record.details[0] if record.details else None
    if first is None or not first.end_clock:
        return max(0, record.clocks - CLOCKS_OF_A_CRASH), 0
    begin = first.begin_clock or max(0, first.end_clock - CLOCKS_OF_A_CRASH)
    end = first.end_clock + CLOCKS_BEHIND
    if first.kind == "hang":  # nothing moves any more, for as long as the watchdog waited
        end = min(end, begin + CLOCKS_OF_A_CRASH)
    return max(0, begin - CLOCKS_BEFORE), end
