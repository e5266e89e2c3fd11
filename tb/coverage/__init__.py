# SPDX-License-Identifier: Apache-2.0
"""Functional coverage counted in arrays: definitions, sampling, merging, export, tables."""
