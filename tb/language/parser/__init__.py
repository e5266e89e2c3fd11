# SPDX-License-Identifier: Apache-2.0
"""xdsl's parser with extensions for ``.pto`` text: places, foreign ops, clauses of ops."""
