# SPDX-License-Identifier: Apache-2.0
"""``pto-dv explain``: rules, bytes, registers and descriptor of an op, without a simulator."""
