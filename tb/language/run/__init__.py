# SPDX-License-Identifier: Apache-2.0
"""Executes a program: loops, conditions, arithmetic; what is left is a list of steps."""
