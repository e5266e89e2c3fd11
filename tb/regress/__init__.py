# SPDX-License-Identifier: Apache-2.0
"""Regressions: plan, workers, results database, merged coverage; without a simulator."""
