# SPDX-License-Identifier: Apache-2.0
"""Coverage of the loads to L0."""
