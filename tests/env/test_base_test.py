# SPDX-License-Identifier: Apache-2.0
"""The base class of the simulator tests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tb.common.errors import PtoError
from tb.env.base_test import PtoTestBase
from tests.wording import pattern


def test_the_error_of_a_test_without_stimulus_names_the_method() -> None:
    unfinished = PtoTestBase.stimulate(cast("Any", SimpleNamespace()))
    with pytest.raises(PtoError, match=pattern("not sends async def stimulate")):
        unfinished.send(None)
