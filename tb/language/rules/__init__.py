# SPDX-License-Identifier: Apache-2.0
"""The numbered rules, decided for the ops of a program as far as their operands are known."""
