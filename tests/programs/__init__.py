# SPDX-License-Identifier: Apache-2.0
"""Programs in PTO text, replayed."""
