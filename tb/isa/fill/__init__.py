# SPDX-License-Identifier: Apache-2.0
"""The fill of L1."""
