# SPDX-License-Identifier: Apache-2.0
"""The numpy reference model, which imports ``tb.isa`` and numpy alone."""
