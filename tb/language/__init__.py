# SPDX-License-Identifier: Apache-2.0
"""The ``.pto`` language: MLIR text with the pto dialect, read with xdsl, walked, checked, printed.

The only package that imports xdsl. Needs no simulator.
"""
