# SPDX-License-Identifier: Apache-2.0
"""Unit proofs of the write-back arithmetic: reference, Verilated functions, planted faults."""
