# SPDX-License-Identifier: Apache-2.0
"""Errors, paths, files and processes, for use in every room."""
