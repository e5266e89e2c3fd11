# SPDX-License-Identifier: Apache-2.0
"""The settings of a run and its result, as data: what is written to record.json."""
