# SPDX-License-Identifier: Apache-2.0
"""Plan, workers, database and coverage of regressions."""
