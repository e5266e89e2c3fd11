# SPDX-License-Identifier: Apache-2.0
"""xdsl's parser with what ``.pto`` text needs beside it: places, foreign ops, clauses of ops."""
