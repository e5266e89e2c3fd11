# SPDX-License-Identifier: Apache-2.0
"""Regressions at scale: plan, workers, results database, merged coverage; knows no simulator."""
