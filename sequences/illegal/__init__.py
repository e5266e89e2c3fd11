# SPDX-License-Identifier: Apache-2.0
"""Illegal ops: every D rule broken in many ways, and every limit just kept."""
