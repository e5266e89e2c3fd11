# SPDX-License-Identifier: Apache-2.0
"""The text of one op read by its row of :mod:`tb.isa.grammar`, without xdsl, which loads slowly."""
