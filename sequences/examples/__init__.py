# SPDX-License-Identifier: Apache-2.0
"""The worked examples of the ISA documents, with the resulting memory contents."""
