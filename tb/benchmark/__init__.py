# SPDX-License-Identifier: Apache-2.0
"""``make bench``: speed of the bench as ratios, and the tests that it measures."""
