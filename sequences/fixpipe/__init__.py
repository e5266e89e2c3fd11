# SPDX-License-Identifier: Apache-2.0
"""Random FIXPIPE write-backs: modes, shapes, parameters, and data made for them."""
