# SPDX-License-Identifier: Apache-2.0
"""The testplan and its regressions, expanded into jobs."""
