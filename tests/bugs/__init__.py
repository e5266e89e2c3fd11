# SPDX-License-Identifier: Apache-2.0
"""Proof that the bench can fail: bugs planted in the engines, and a bench in trouble."""
