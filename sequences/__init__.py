# SPDX-License-Identifier: Apache-2.0
"""Stimulus: random, directed, corner and illegal blocks of ops."""
