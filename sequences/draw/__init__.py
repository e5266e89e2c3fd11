# SPDX-License-Identifier: Apache-2.0
"""Random legal copies: how much they move, with which strides, and who waits for whom."""
