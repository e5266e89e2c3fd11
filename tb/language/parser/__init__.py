# SPDX-License-Identifier: Apache-2.0
"""The parser of ``.pto`` text: xdsl ops with places, foreign ops, recovery after errors."""
