# SPDX-License-Identifier: Apache-2.0
"""Illegal ops: every D rule broken in many ways, and legal ops at every limit."""
