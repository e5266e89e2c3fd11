# SPDX-License-Identifier: Apache-2.0
"""pytest suites of the examples: each runs through its manifest."""
