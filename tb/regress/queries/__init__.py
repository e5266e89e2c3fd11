# SPDX-License-Identifier: Apache-2.0
"""Queries of the results database, as values, text and JUnit."""
