# SPDX-License-Identifier: Apache-2.0
"""What an op IS: operands, widths, legality rules, descriptor packing and text form.

Knows numpy and nothing else of the project. The tables in :mod:`tb.isa.dma.table` are the one
source of every width; :mod:`tb.isa.verilog` generates the Verilog header from them.
"""
