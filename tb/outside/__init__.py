# SPDX-License-Identifier: Apache-2.0
"""Comparison with outside results: verdicts, and the command ``pto-dv outside``."""
