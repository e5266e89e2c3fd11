# SPDX-License-Identifier: Apache-2.0
"""pyuvm tests that run in a simulator; ``tests/plan.toml`` names them."""
