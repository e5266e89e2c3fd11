# SPDX-License-Identifier: Apache-2.0
"""The pto dialect for xdsl: types, op classes in both forms, and what an op was written with."""
