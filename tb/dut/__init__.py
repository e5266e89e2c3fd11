# SPDX-License-Identifier: Apache-2.0
"""User input: manifests, file lists, constraints and tests, and the checks on them."""
