# SPDX-License-Identifier: Apache-2.0
"""Allocation: where in the memories the ops of a block go, and blocks merged on disjoint parts."""
