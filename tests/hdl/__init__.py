# SPDX-License-Identifier: Apache-2.0
"""Tests of the simulation side: C memory, mailbox, memory models, protocol checkers."""
