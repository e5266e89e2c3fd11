# SPDX-License-Identifier: Apache-2.0
"""The module that the simulator imports for a user's test: it loads the file by its path.

So the file may have any name, and modules next to it do not shadow installed ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyuvm
from cocotb.regression import Test

from tb.dut.user_code import USER_TEST_ENV, import_file, module_name
from tb.env.base_test import PtoTestBase

PATH = Path(os.environ[USER_TEST_ENV])
MODULE = import_file(PATH, module_name(PATH))


def _tests() -> dict[str, Any]:
    """Returns the tests of the user's file; those without ``@pyuvm.test()`` get it here."""
    found = {name: item for name, item in vars(MODULE).items() if isinstance(item, Test)}
    made = {item.name for item in found.values()}
    for name, item in list(vars(MODULE).items()):
        own = isinstance(item, type) and issubclass(item, PtoTestBase)
        if own and item.__module__ == MODULE.__name__ and name not in made:
            pyuvm.test()(item)
    return found


globals().update(_tests())
