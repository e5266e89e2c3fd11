# SPDX-License-Identifier: Apache-2.0
"""``make bench``: speed of the testbench as ratios, and the tests that it measures."""
