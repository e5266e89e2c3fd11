# SPDX-License-Identifier: Apache-2.0
"""Status codes of the done channel (docs/contract.md)."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Status of a retired descriptor; the value is that of ``done_status_o``."""

    OK = 0
    RULE = 1
    RD_SLVERR = 2
    RD_DECERR = 3
    WR_SLVERR = 4
    WR_DECERR = 5
    LOCAL = 6
