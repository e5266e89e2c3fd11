# SPDX-License-Identifier: Apache-2.0
"""The pto dialect for xdsl: types, op classes of both forms, and their source text."""
