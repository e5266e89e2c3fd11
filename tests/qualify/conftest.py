# SPDX-License-Identifier: Apache-2.0
"""What tests of ``pto-dv qualify`` need."""

from tests.prove.conftest import yosys

__all__ = ["yosys"]
