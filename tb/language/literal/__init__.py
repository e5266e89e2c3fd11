# SPDX-License-Identifier: Apache-2.0
"""Single ops as text with numbers as operands, or names with their value in them.

Read without xdsl, which loads slowly: by ``pto-dv explain`` and by the worked examples.
"""
