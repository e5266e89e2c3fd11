# SPDX-License-Identifier: Apache-2.0
"""Random legal copies: sizes, strides and dependencies."""
