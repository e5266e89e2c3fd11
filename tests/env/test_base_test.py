# SPDX-License-Identifier: Apache-2.0
"""What the base of the simulator tests says to one that is not finished."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tb.common.errors import PtoError
from tb.env.base_test import PtoTestBase


def test_a_test_without_stimulus_is_told_what_to_define() -> None:
    unfinished = PtoTestBase.stimulate(cast("Any", SimpleNamespace()))
    with pytest.raises(PtoError, match=r"does not say what it sends[\s\S]*async def stimulate"):
        unfinished.send(None)
