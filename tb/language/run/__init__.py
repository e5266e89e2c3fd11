# SPDX-License-Identifier: Apache-2.0
"""Executes a program: loops, conditions, arithmetic; the result is a list of steps."""
