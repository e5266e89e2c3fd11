# SPDX-License-Identifier: Apache-2.0
"""Allocation of memories to the ops of a block, and merging of blocks on disjoint parts."""
