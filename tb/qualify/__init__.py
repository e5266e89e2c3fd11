# SPDX-License-Identifier: Apache-2.0
"""``pto-dv qualify``: the share of planted faults of an engine that the bench finds."""
