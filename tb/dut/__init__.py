# SPDX-License-Identifier: Apache-2.0
"""What a user brings: manifests, file lists, constraints and tests, and the checks on them."""
