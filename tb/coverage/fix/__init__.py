# SPDX-License-Identifier: Apache-2.0
"""Coverage of the write-backs."""
