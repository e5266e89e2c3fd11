# SPDX-License-Identifier: Apache-2.0
"""What a test notes of a bug for the tables at the end of the session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.bugs.campaign import Bug, Outcome
from tests.bugs.table import CAUGHT, Row


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[Bug, Outcome], None]:
    """Notes a bug and its result."""

    def note(bug: Bug, outcome: Outcome) -> None:
        check = outcome.check if outcome.caught else f"NOT CAUGHT ({outcome.record.status})"
        row = Row(bug.name, bug.test, outcome.transactions, check, outcome.caught)
        record_property(CAUGHT, list(row))  # Workers send plain types alone.

    return note
