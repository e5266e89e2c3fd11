# SPDX-License-Identifier: Apache-2.0
"""The commands about ``.pto`` programs: ``pto-dv program`` and ``pto-dv verify``.

What a program is given, where its buffers lie, and what the simulation is told; the language itself
is in :mod:`tb.language`.
"""
