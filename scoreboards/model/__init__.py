# SPDX-License-Identifier: Apache-2.0
"""The numpy reference model: knows ``tb.isa`` and numpy, nothing of the engines or the bench."""
