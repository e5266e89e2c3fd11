# SPDX-License-Identifier: Apache-2.0
"""The commands about ``.pto`` programs: ``pto-dv program`` and ``pto-dv verify``.

Arguments, places of buffers, and the input of the simulation; the language is in
:mod:`tb.language`.
"""
