# SPDX-License-Identifier: Apache-2.0
"""Single ops as text whose operands are numbers, or names that say their value.

Read without xdsl, which loads slowly: by ``pto-dv explain`` and by the worked examples.
"""
