# SPDX-License-Identifier: Apache-2.0
"""Expected results: the numpy reference model, golden memories and comparison functions."""
