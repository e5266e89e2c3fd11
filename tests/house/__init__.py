# SPDX-License-Identifier: Apache-2.0
"""Tests of the repository: architecture, documents, Makefile, CI examples."""
