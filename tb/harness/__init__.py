# SPDX-License-Identifier: Apache-2.0
"""The Verilog harness from Python: memories, mailbox, knobs, protocol rules, hang report."""
