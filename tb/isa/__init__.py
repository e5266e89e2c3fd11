# SPDX-License-Identifier: Apache-2.0
"""Definition of the ops: operands, widths, legality rules, descriptor packing and text form.

It imports numpy and no other package of the project. The tables, such as :mod:`tb.isa.dma.table`,
are the only source of widths; :mod:`tb.isa.verilog` generates the Verilog header from them.
"""
