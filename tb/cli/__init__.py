# SPDX-License-Identifier: Apache-2.0
"""The command line: one module for each family of commands."""

import os
import sys

from tb.common.environment import own_modules_first

# Container images set it, see the Makefile. Without bytecode every command compiles what it
# imports, which takes longer than to check a hundred programs.
if os.environ.get("PYTHONDONTWRITEBYTECODE"):
    sys.dont_write_bytecode = False

own_modules_first()
